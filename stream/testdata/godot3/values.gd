# One value of every type of Godot 3, and nested ones.
extends Reference

static func all():
	return [
		null,
		true,
		false,
		0,
		-1,
		2147483647,
		-2147483648,
		2147483648,
		9223372036854775807,
		-9223372036854775807,
		0.0,
		-1.5,
		0.1,
		16777217.0,
		1e300,
		INF,
		-INF,
		NAN,
		"",
		"a",
		"four",
		"Zwölf Boxkämpfer 日本語 " + char(0x1F3AE),
		Vector2(1.5, -2),
		Rect2(1, 2, 3.25, 4),
		Vector3(1, 2.5, -3),
		Transform2D(Vector2(1, 2), Vector2(3, 4), Vector2(5, 6)),
		Plane(0, 1, 0, 7),
		Quat(0.5, -0.5, 0.5, 0.5),
		AABB(Vector3(1, 2, 3), Vector3(4, 5, 6)),
		Basis(Vector3(1, 2, 3), Vector3(4, 5, 6), Vector3(7, 8, 9)),
		Transform(Basis(Vector3(1, 2, 3), Vector3(4, 5, 6), Vector3(7, 8, 9)), Vector3(10, 11, 12)),
		Color(0.25, 0.5, 0.75, 1),
		NodePath(""),
		NodePath("a"),
		NodePath("/root/Player:position:x"),
		RID(),
		{},
		{"name": "Ada", 2: [3, 4.5], Vector2(1, 2): {"deep": {"deeper": null}}, true: "yes"},
		[],
		[1, [2, [3, [4, [NodePath("../x"), PoolByteArray([5])]]]]],
		PoolByteArray(),
		PoolByteArray([1, 2, 3, 4, 255]),
		PoolIntArray([1, -2, 2147483647]),
		PoolRealArray([0.5, -1.25, 1e30]),
		PoolStringArray(["", "a", "four", "ünï"]),
		PoolVector2Array([Vector2(1, 2), Vector2(3, 4)]),
		PoolVector3Array([Vector3(1, 2, 3), Vector3(4, 5, 6)]),
		PoolColorArray([Color(1, 0, 0, 1), Color(0, 1, 0, 0.5)]),
	]

# Values too large for a reader's buffer. A PacketPeerStream takes 64 KiB at most.
static func large():
	var bytes = PoolByteArray()
	bytes.resize(1000000)
	bytes[999999] = 7
	var reals = []
	for i in range(20000):
		reals.append({"i": i, "at": Vector2(i, -i)})
	return [bytes, reals, "0123456789".repeat(30000)]

# An object reads as its id, unless objects were let through in full.
static func object():
	var curve = Curve2D.new()
	curve.bake_interval = 7
	curve.add_point(Vector2(1, 2))
	return curve

# Whether a and b are of the same type and content, to the last bit.
static func same(a, b):
	if typeof(a) != typeof(b):
		return false
	match typeof(a):
		TYPE_ARRAY:
			if a.size() != b.size():
				return false
			for i in range(a.size()):
				if not same(a[i], b[i]):
					return false
			return true
		TYPE_DICTIONARY:
			return same(a.keys(), b.keys()) and same(a.values(), b.values())
		TYPE_NODE_PATH: # its padding holds memory content
			return a == b and a.is_absolute() == b.is_absolute() and a.get_subname_count() == b.get_subname_count()
	return var2bytes(a) == var2bytes(b)
