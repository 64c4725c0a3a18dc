# Answers for Godot 4: each line of a file is a packet in hexadecimal, and " objects" after it allows serialized objects.
# The mode is "version", "judge", which answers as engines in vectors/packets.jsonl, or "", for the runner conform.
extends Node

func _ready() -> void:
	Engine.print_error_messages = false
	var mode := OS.get_environment("MODE") + "".join(OS.get_cmdline_user_args())
	if mode == "version":
		print(JSON.stringify(Engine.get_version_info()))
	else:
		var file := OS.get_environment("LINES_FILE")
		for line in FileAccess.get_file_as_string(file if file else "res://lines").trim_suffix("\n").split("\n"):
			print(answer(line, mode))
	get_tree().quit()

func answer(line: String, mode: String) -> String:
	var words := line.strip_edges().split(" ")
	var objects := words.size() > 1
	var packet := words[0].hex_decode()
	var size := packet.decode_var_size(0, objects)
	if size == 0:
		return '{"accept":false}' if mode == "judge" else '{"error":"decode_var_size is 0"}'
	var v: Variant = packet.decode_var(0, objects)
	if mode == "judge":
		var again := var_to_bytes_with_objects(v) if objects else var_to_bytes(v)
		return '{"accept":true,"size":%d,"reencoded":"%s"}' % [size, again.hex_encode()]
	return tagged(v)

# Values can be nested deeper than calls.
func tagged(root: Variant) -> String:
	var out := PackedStringArray()
	var todo := [[root]]  # texts, and values in arrays of one; the last is the next
	while not todo.is_empty():
		var next: Variant = todo.pop_back()
		if next is String:
			out.append(next)
		else:
			var all := parts(next[0])
			all.reverse()
			todo.append_array(all)
	return "".join(out)

func parts(v: Variant) -> Array:
	match typeof(v):
		TYPE_ARRAY:
			var elem := declared("type", v.is_typed(), v.get_typed_builtin(), v.get_typed_class_name(), v.get_typed_script())
			return ['{"t":"Array"%s,"v":[' % elem] + separated(v.map(func(x): return [[x]])) + ["]}"]
		TYPE_DICTIONARY:
			var elem := declared("key_type", v.is_typed_key(), v.get_typed_key_builtin(), v.get_typed_key_class_name(), v.get_typed_key_script()) \
				+ declared("value_type", v.is_typed_value(), v.get_typed_value_builtin(), v.get_typed_value_class_name(), v.get_typed_value_script())
			return ['{"t":"Dictionary"%s,"v":[' % elem] + separated(v.keys().map(func(k): return ["[", [k], ",", [v[k]], "]"])) + ["]}"]
		TYPE_OBJECT:
			if v is EncodedObjectAsID:
				return ['{"t":"ObjectID","v":"%d"}' % v.object_id]
			if v != null:
				var stored: Array = v.get_property_list().filter(func(p): return p.usage & PROPERTY_USAGE_STORAGE)
				var properties := separated(stored.map(func(p): return ["[%s," % text(p.name), [v.get(p.name)], "]"]))
				return ['{"t":"Object","class":%s,"properties":[' % text(v.get_class())] + properties + ["]}"]
	return ['{"t":"%s"%s}' % [type_string(typeof(v)) if v != null else "Nil", content(v)]]

# Returns the elements of all lists, with commas between the lists.
func separated(lists: Array) -> Array:
	var all := []
	for one in lists:
		if not all.is_empty():
			all.append(",")
		all.append_array(one)
	return all

func content(v: Variant) -> String:
	match typeof(v):
		TYPE_NIL, TYPE_CALLABLE, TYPE_OBJECT:
			return ""
		TYPE_BOOL:
			return ',"v":%s' % v
		TYPE_INT:
			return ',"v":"%d"' % v
		TYPE_FLOAT:
			return ',"v":' + number(v)
		TYPE_STRING, TYPE_STRING_NAME:
			return ',"v":' + text(v)
		TYPE_RID:
			return ',"v":"%d"' % v.get_id()
		TYPE_SIGNAL:
			return ',"name":%s,"object":"%d"' % [text(v.get_name()), v.get_object_id()]
		TYPE_NODE_PATH:
			var names := range(v.get_name_count()).map(func(i): return v.get_name(i))
			var subnames := range(v.get_subname_count()).map(func(i): return v.get_subname(i))
			return ',"absolute":%s,"names":%s,"subnames":%s' % [v.is_absolute(), list(names, text), list(subnames, text)]
		TYPE_PACKED_BYTE_ARRAY:
			return ',"v":"%s"' % v.hex_encode()
		TYPE_PACKED_INT32_ARRAY, TYPE_VECTOR2I, TYPE_RECT2I, TYPE_VECTOR3I, TYPE_VECTOR4I:
			return ',"v":' + list(components(v), str)
		TYPE_PACKED_INT64_ARRAY:
			return ',"v":' + list(v, func(x): return '"%d"' % x)
		TYPE_PACKED_STRING_ARRAY:
			return ',"v":' + list(v, text)
	return ',"v":' + list(components(v), number)

func components(v: Variant) -> Array:
	match typeof(v):
		TYPE_VECTOR2, TYPE_VECTOR2I:
			return [v.x, v.y]
		TYPE_VECTOR3, TYPE_VECTOR3I:
			return [v.x, v.y, v.z]
		TYPE_VECTOR4, TYPE_VECTOR4I, TYPE_QUATERNION:
			return [v.x, v.y, v.z, v.w]
		TYPE_COLOR:
			return [v.r, v.g, v.b, v.a]
		TYPE_PLANE:
			return components(v.normal) + [v.d]
		TYPE_RECT2, TYPE_RECT2I, TYPE_AABB:
			return components(v.position) + components(v.size)
		TYPE_TRANSFORM2D:
			return components(v.x) + components(v.y) + components(v.origin)
		TYPE_BASIS:
			return [v.x.x, v.y.x, v.z.x, v.x.y, v.y.y, v.z.y, v.x.z, v.y.z, v.z.z]
		TYPE_TRANSFORM3D:
			return components(v.basis) + components(v.origin)
		TYPE_PROJECTION:
			return components(v.x) + components(v.y) + components(v.z) + components(v.w)
		TYPE_PACKED_VECTOR2_ARRAY, TYPE_PACKED_VECTOR3_ARRAY, TYPE_PACKED_VECTOR4_ARRAY, TYPE_PACKED_COLOR_ARRAY:
			var all := []
			for x in v:
				all += components(x)
			return all
	return Array(v)

func declared(member: String, typed: bool, builtin: int, type: String, script: Variant) -> String:
	if not typed:
		return ""
	if script != null:
		return ',"%s":{"script":%s}' % [member, text(script.resource_path)]
	return ',"%s":{"%s":%s}' % ([member, "class", text(type)] if type != "" else [member, "builtin", text(type_string(builtin))])

func list(all: Variant, f: Callable) -> String:
	return "[" + ",".join(PackedStringArray(Array(all).map(f))) + "]"

# The engine's own JSON escapes \v, and no other control characters.
func text(s: String) -> String:
	var escaped := '"'
	for c in s:
		escaped += "\\u%04x" % c.unicode_at(0) if c < " " or c in '"\\' else c
	return escaped + '"'

# Returns all digits of a number, which the engine itself does not write.
func number(x: float) -> String:
	if is_nan(x):
		return '"NaN"'
	if is_inf(x):
		return '"Infinity"' if x > 0 else '"-Infinity"'
	var bytes := PackedByteArray([0, 0, 0, 0, 0, 0, 0, 0])
	bytes.encode_double(0, x)
	var bits := bytes.decode_s64(0)
	var fraction := bits & ((1 << 52) - 1)
	var exponent := (bits >> 52) & 0x7ff
	if exponent > 0:
		fraction |= 1 << 52
	exponent = maxi(exponent, 1) - 1075
	while fraction != 0 and fraction & 1 == 0:
		fraction >>= 1
		exponent += 1
	var digits := power(fraction, 5, -exponent) + "e%d" % exponent if exponent < 0 else power(fraction, 2, exponent) + ".0"
	return ("-" if bits < 0 else "") + (digits if fraction != 0 else "0.0")

# Returns the digits of n * base ** exponent.
func power(n: int, base: int, exponent: int) -> String:
	var parts := [n % 1000000000, n / 1000000000]  # of nine digits, the last first
	while exponent > 0:
		var step := mini(exponent, 12)
		exponent -= step
		var carry := 0
		for i in parts.size():
			carry += parts[i] * int(pow(base, step))
			parts[i] = carry % 1000000000
			carry /= 1000000000
		if carry > 0:
			parts.append(carry)
	var digits := ""
	for part in parts:
		digits = "%09d" % part + digits
	return digits.lstrip("0")
