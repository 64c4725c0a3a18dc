# Random values of all types, from a seed.

var _rng := RandomNumberGenerator.new()
var _json: bool

# json: only values that native JSON can hold.
func _init(seed: int, json := false) -> void:
	_rng.seed = seed
	_json = json

# value returns a value of any type with up to depth containers inside each other.
func value(depth: int) -> Variant:
	if depth > 0 and _rng.randf() < 0.5:
		return of_type(TYPE_DICTIONARY if _rng.randf() < 0.5 else TYPE_ARRAY, depth)
	return of_type(_rng.randi_range(TYPE_NIL, TYPE_MAX - 1), depth)

func of_type(type: int, depth: int) -> Variant:
	match type:
		TYPE_BOOL: return _rng.randi() & 1 == 1
		TYPE_INT: return integer()
		TYPE_FLOAT: return real()
		TYPE_STRING: return text()
		TYPE_VECTOR2: return Vector2(real(), real())
		TYPE_VECTOR2I: return Vector2i(small(), small())
		TYPE_RECT2: return Rect2(real(), real(), real(), real())
		TYPE_RECT2I: return Rect2i(small(), small(), small(), small())
		TYPE_VECTOR3: return vector3()
		TYPE_VECTOR3I: return Vector3i(small(), small(), small())
		TYPE_TRANSFORM2D: return Transform2D(Vector2(real(), real()), Vector2(real(), real()), Vector2(real(), real()))
		TYPE_VECTOR4: return vector4()
		TYPE_VECTOR4I: return Vector4i(small(), small(), small(), small())
		TYPE_PLANE: return Plane(real(), real(), real(), real())
		TYPE_QUATERNION: return Quaternion(real(), real(), real(), real())
		TYPE_AABB: return AABB(vector3(), vector3())
		TYPE_BASIS: return Basis(vector3(), vector3(), vector3())
		TYPE_TRANSFORM3D: return Transform3D(vector3(), vector3(), vector3(), vector3())
		TYPE_PROJECTION: return Projection(vector4(), vector4(), vector4(), vector4())
		TYPE_COLOR: return Color(real(), real(), real(), real())
		TYPE_STRING_NAME: return StringName(text())
		TYPE_NODE_PATH: return NodePath(path())
		TYPE_RID: return RID() if _json else rid_from_int64(integer())
		TYPE_CALLABLE: return Callable()
		TYPE_SIGNAL: return Signal()
		TYPE_DICTIONARY: return dictionary(depth)
		TYPE_ARRAY: return array(depth)
		TYPE_PACKED_BYTE_ARRAY: return PackedByteArray(list(func(): return _rng.randi() & 255))
		TYPE_PACKED_INT32_ARRAY: return PackedInt32Array(list(small))
		TYPE_PACKED_INT64_ARRAY: return PackedInt64Array(list(integer))
		TYPE_PACKED_FLOAT32_ARRAY: return PackedFloat32Array(list(real))
		TYPE_PACKED_FLOAT64_ARRAY: return PackedFloat64Array(list(real))
		TYPE_PACKED_STRING_ARRAY: return PackedStringArray(list(text))
		TYPE_PACKED_VECTOR2_ARRAY: return PackedVector2Array(list(func(): return Vector2(real(), real())))
		TYPE_PACKED_VECTOR3_ARRAY: return PackedVector3Array(list(vector3))
		TYPE_PACKED_COLOR_ARRAY: return PackedColorArray(list(func(): return Color(real(), real(), real(), real())))
		TYPE_PACKED_VECTOR4_ARRAY: return PackedVector4Array(list(vector4))
	return null # also for TYPE_OBJECT

func integer() -> int:
	match _rng.randi_range(0, 3):
		0: return _rng.randi_range(-3, 300)
		1: return small()
		2: return (_rng.randi() << 32) | _rng.randi()
	return [0, -1, 1 << 31, (1 << 31) - 1, -(1 << 31), -(1 << 31) - 1, 1 << 53, 9223372036854775807, -9223372036854775808][_rng.randi_range(0, 8)]

# small returns 32 bits.
func small() -> int:
	return _rng.randi_range(-20, 20) if _rng.randi() & 1 else _rng.randi() - (1 << 31)

func real() -> float:
	var v := any_real()
	return 0.25 if _json and is_nan(v) else v

func any_real() -> float:
	match _rng.randi_range(0, 4):
		0: return _rng.randi_range(-1000, 1000) / 8.0
		1: return _rng.randfn()
		2: # any bits
			var bits := PackedByteArray()
			bits.resize(8)
			bits.encode_s64(0, (_rng.randi() << 32) | _rng.randi())
			return bits.decode_double(0)
		3: # any bits of a float32
			var bits := PackedByteArray()
			bits.resize(4)
			bits.encode_u32(0, _rng.randi())
			return bits.decode_float(0)
	return [0.0, -0.0, 0.1, 1.0 / 3.0, INF, -INF, NAN, 1e-40, 3.4028234663852886e38, 1.7976931348623157e308, 5e-324][_rng.randi_range(0, 10)]

func vector3() -> Vector3:
	return Vector3(real(), real(), real())

func vector4() -> Vector4:
	return Vector4(real(), real(), real(), real())

func text() -> String:
	var s := ""
	for i in _rng.randi_range(0, 12):
		match _rng.randi_range(0, 5):
			0: s += char(_rng.randi_range(0x80, 0x7FF))
			1: s += char(_rng.randi_range(0x800, 0xD7FF))
			2: s += char(_rng.randi_range(0x10000, 0x10FFFF))
			3: s += ["\"", "\\", "\n", "/", ":", "\u2028", "\u007f", "\u0001"][_rng.randi_range(0, 7)]
			_: s += char(_rng.randi_range(0x20, 0x7E))
	return s

func path() -> String:
	var s := "/" if _rng.randi() & 1 else ""
	for i in _rng.randi_range(0, 3):
		s += ("/" if i else "") + "node%d" % _rng.randi_range(0, 99)
	for i in _rng.randi_range(0, 2):
		s += ":prop%d" % _rng.randi_range(0, 99)
	return s

func list(element: Callable) -> Array:
	var a := []
	for i in _rng.randi_range(0, 6):
		a.append(element.call())
	return a

# element_type returns the type of a typed container: not TYPE_NIL, which is none, and
# not TYPE_OBJECT in JSON, which the engine does not read then.
func element_type() -> int:
	var type := _rng.randi_range(TYPE_BOOL, TYPE_MAX - 1)
	return TYPE_INT if _json and type == TYPE_OBJECT else type

func array(depth: int) -> Array:
	var a := []
	var type := TYPE_NIL if _rng.randi() & 1 else element_type()
	if type != TYPE_NIL:
		a = Array([], type, "EncodedObjectAsID" if type == TYPE_OBJECT else "", null)
	if depth > 0:
		for i in _rng.randi_range(0, 5):
			a.append(value(depth - 1) if type == TYPE_NIL else of_type(type, depth - 1))
	return a

func dictionary(depth: int) -> Dictionary:
	var d := {}
	var key := TYPE_NIL if _rng.randf() < 0.6 else element_type()
	var val := TYPE_NIL if _rng.randf() < 0.6 else element_type()
	if key != TYPE_NIL or val != TYPE_NIL:
		d = Dictionary({}, key, "EncodedObjectAsID" if key == TYPE_OBJECT else "", null, val, "EncodedObjectAsID" if val == TYPE_OBJECT else "", null)
	if depth > 0:
		for i in _rng.randi_range(0, 5):
			var k: Variant = value(0) if key == TYPE_NIL else of_type(key, 0)
			if _json and k is float: # two can become one in JSON: it writes 14 decimals
				k = i + 0.5
			d[k] = value(depth - 1) if val == TYPE_NIL else of_type(val, depth - 1)
	return d
