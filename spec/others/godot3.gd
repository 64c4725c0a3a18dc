# Answers for Godot 3, as godot4.gd does for Godot 4.
extends SceneTree

const NAMES = ["Nil", "bool", "int", "float", "String", "Vector2", "Rect2", "Vector3", "Transform2D", "Plane", "Quaternion", "AABB", "Basis",
	"Transform3D", "Color", "NodePath", "RID", "Object", "Dictionary", "Array", "PackedByteArray", "PackedInt32Array", "PackedFloat32Array",
	"PackedStringArray", "PackedVector2Array", "PackedVector3Array", "PackedColorArray"]

func _init():
	var mode = OS.get_environment("MODE")
	if mode == "version":
		print(JSON.print(Engine.get_version_info()))
		return quit()
	var lines = File.new()
	if lines.open(OS.get_environment("LINES_FILE"), File.READ) != OK:
		return quit(1)
	while lines.get_position() < lines.get_len():
		var text = answer(lines.get_line(), mode)
		if text == null:
			text = '{"accept":false}' if mode == "judge" else '{"error":"bytes2var failed"}'
		print(text)
	quit()

# Returns null for an invalid packet: an error of bytes2var ends the function.
func answer(line, mode):
	var words = line.strip_edges().split(" ")
	var objects = words.size() > 1
	var v = bytes2var(bytes(words[0]), objects)
	if mode == "judge":
		return '{"accept":true,"reencoded":"%s"}' % hex(var2bytes(v, objects))
	return tagged(v)

func bytes(digits):
	var all = PoolByteArray()
	for i in range(0, digits.length(), 2):
		all.append(("0x" + digits.substr(i, 2)).hex_to_int())
	return all

func hex(bytes):
	var all = PoolStringArray()
	for b in bytes:
		all.append("%02x" % b)
	return all.join("")

# Values can be nested deeper than calls.
func tagged(root):
	var out = PoolStringArray()
	var todo = [[root]]  # texts, and values in arrays of one; the last is the next
	while todo:
		var next = todo.pop_back()
		if next is String:
			out.append(next)
		else:
			var all = parts(next[0])
			all.invert()
			todo += all
	return out.join("")

func parts(v):
	var all = []
	match typeof(v):
		TYPE_ARRAY:
			for x in v:
				all += ["," if all else "", [x]]
			return ['{"t":"Array","v":['] + all + ["]}"]
		TYPE_DICTIONARY:
			var values = v.values()
			for k in v.keys():
				all += [",[" if all else "[", [k], ",", [values.pop_front()], "]"]
			return ['{"t":"Dictionary","v":['] + all + ["]}"]
		TYPE_OBJECT:
			if v is EncodedObjectAsID:
				return ['{"t":"ObjectID","v":"%d"}' % v.object_id]
			if v != null:
				for p in v.get_property_list():
					if p.usage & PROPERTY_USAGE_STORAGE:
						all += [(",[%s," if all else "[%s,") % text(p.name), [v.get(p.name)], "]"]
				return ['{"t":"Object","class":%s,"properties":[' % text(v.get_class())] + all + ["]}"]
	return ['{"t":"%s"%s}' % [NAMES[typeof(v)] if v != null else "Nil", content(v)]]

func content(v):
	match typeof(v):
		TYPE_NIL, TYPE_OBJECT, TYPE_RID:
			return ""
		TYPE_BOOL:
			return ',"v":' + ("true" if v else "false")
		TYPE_INT:
			return ',"v":"%s"' % v
		TYPE_REAL:
			return ',"v":' + number(v)
		TYPE_STRING:
			return ',"v":' + text(v)
		TYPE_NODE_PATH:
			var names = []
			for i in v.get_name_count():
				names.append(v.get_name(i))
			var subnames = []
			for i in v.get_subname_count():
				subnames.append(v.get_subname(i))
			return ',"absolute":%s,"names":%s,"subnames":%s' % ["true" if v.is_absolute() else "false", list(names, "text"), list(subnames, "text")]
		TYPE_RAW_ARRAY:
			return ',"v":"%s"' % hex(v)
		TYPE_INT_ARRAY:
			return ',"v":' + list(v, "decimal")
		TYPE_STRING_ARRAY:
			return ',"v":' + list(v, "text")
	return ',"v":' + list(components(v), "number")

func components(v):
	match typeof(v):
		TYPE_VECTOR2:
			return [v.x, v.y]
		TYPE_VECTOR3:
			return [v.x, v.y, v.z]
		TYPE_QUAT:
			return [v.x, v.y, v.z, v.w]
		TYPE_COLOR:
			return [v.r, v.g, v.b, v.a]
		TYPE_PLANE:
			return components(v.normal) + [v.d]
		TYPE_RECT2, TYPE_AABB:
			return components(v.position) + components(v.size)
		TYPE_TRANSFORM2D:
			return components(v.x) + components(v.y) + components(v.origin)
		TYPE_BASIS:
			return [v.x.x, v.y.x, v.z.x, v.x.y, v.y.y, v.z.y, v.x.z, v.y.z, v.z.z]
		TYPE_TRANSFORM:
			return components(v.basis) + components(v.origin)
		TYPE_VECTOR2_ARRAY, TYPE_VECTOR3_ARRAY, TYPE_COLOR_ARRAY:
			var all = []
			for x in v:
				all += components(x)
			return all
	return Array(v)

func list(all, method):
	var texts = PoolStringArray()
	for x in all:
		texts.append(call(method, x))
	return "[" + texts.join(",") + "]"

func decimal(x):
	return str(x)

func text(s):
	var escaped = PoolStringArray()
	for i in s.length():
		var c = s.ord_at(i)
		escaped.append("\\u%04x" % c if c < 32 or c == 34 or c == 92 else s[i])
	return '"' + escaped.join("") + '"'

# Returns all digits of a number, which the engine itself does not write.
func number(x):
	if is_nan(x):
		return '"NaN"'
	if is_inf(x):
		return '"Infinity"' if x > 0 else '"-Infinity"'
	var buffer = StreamPeerBuffer.new()
	buffer.put_double(x)
	buffer.seek(0)
	var bits = buffer.get_64()
	var fraction = bits & ((1 << 52) - 1)
	var exponent = (bits >> 52) & 0x7ff
	if exponent > 0:
		fraction |= 1 << 52
	exponent = (exponent if exponent > 1 else 1) - 1075
	while fraction != 0 and fraction & 1 == 0:
		fraction >>= 1
		exponent += 1
	var digits = power(fraction, 5, -exponent) + "e%d" % exponent if exponent < 0 else power(fraction, 2, exponent) + ".0"
	return ("-" if bits < 0 else "") + (digits if fraction != 0 else "0.0")

# Returns the digits of n * base ** exponent.
func power(n, base, exponent):
	var parts = [n % 1000000000, n / 1000000000]  # of nine digits, the last first
	while exponent > 0:
		var step = 12 if exponent > 12 else exponent
		exponent -= step
		var carry = 0
		for i in parts.size():
			carry += parts[i] * int(pow(base, step))
			parts[i] = carry % 1000000000
			carry /= 1000000000
		if carry > 0:
			parts.append(carry)
	var digits = ""
	for part in parts:
		digits = "%09d" % part + digits
	return digits.lstrip("0")
