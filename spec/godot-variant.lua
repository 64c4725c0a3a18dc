-- SPDX-License-Identifier: MIT-0
-- A dissector for Wireshark and tshark of values in the formats godot4 and godot3 of SPEC.md, beside this
-- file. The letters with numbers in comments and messages are the rules there.
--
-- "Godot Variant" is one packet: a UDP datagram or a WebSocket message. "Godot Variant stream" is packets
-- after their lengths, as over TCP (F1). Both are chosen by the ports in the preferences of "Godot Variant"
-- or by Decode as; a binary WebSocket message that is one whole packet is also found without.
--
-- What a packet breaks is expert information of severity error, with the number of the rule. What readers
-- accept and no engine writes is a note, and a serialized object (O3) a warning.
--
-- A capture can begin inside a packet of a stream: without the beginning of the connection, bytes before the
-- first whole packet that is written as engines write it are skipped, which is a warning.
--
-- It differs from the rules here:
--   T5, T10  text of godot3 that only 3.2.3 accepts is an error
--   T6, T7   text after a NUL is shown, and not checked; a NUL is shown as the sign U+2400
--   B6       a value is shown once its packet is whole
--   C5       equal keys are shown as they are
--   C11      typed containers of 4.3 and later are expected
--   F5       a length of more bytes than follow waits for them, since a capture does not say where a stream
--            ends; from the preference "Longest packet" on it is an error
--   S8       of a float only its double is compared, so the payload of a NaN is to be seen in the bytes
-- The rules of other formats (chapter G, appendix A), files (K) and JSON (J) do not apply.

local proto = Proto("godot", "Godot Variant")
local stream = Proto("godot_stream", "Godot Variant stream")

local max_level = 1024    -- B7
local max_shown = 200     -- levels in the tree: Wireshark gives up at 500 items below each other, and a level takes two
local max_elements = 1000 -- items of a packed array of numbers

-- Field names to filter by: a value is one godot.value with a godot.type and what it contains below it.
local f = {
	value = ProtoField.none("godot.value", "Value"),
	pair = ProtoField.none("godot.pair", "Pair"),
	type = ProtoField.string("godot.type", "Type"),
	flags = ProtoField.uint16("godot.flags", "Flags", base.HEX),
	declared = ProtoField.string("godot.declared", "Declared type"),
	bool = ProtoField.bool("godot.bool", "bool"),
	int = ProtoField.int64("godot.int", "int"),
	float = ProtoField.double("godot.float", "float"),
	string = ProtoField.string("godot.string", "String"),
	bytes = ProtoField.bytes("godot.bytes", "Bytes"),
	id = ProtoField.int64("godot.id", "Id"),
	class = ProtoField.string("godot.class", "Class"),
	property = ProtoField.string("godot.property", "Property"),
	name = ProtoField.string("godot.name", "Name"),
	subname = ProtoField.string("godot.subname", "Sub-name"),
	absolute = ProtoField.bool("godot.absolute", "Absolute"),
	count = ProtoField.uint32("godot.count", "Count"),
	padding = ProtoField.bytes("godot.padding", "Padding"),
	rest = ProtoField.bytes("godot.rest", "Bytes after the value"),
}
proto.fields = f

local expert_malformed = ProtoExpert.new("godot.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
local expert_object = ProtoExpert.new("godot.object", "Serialized object", expert.group.SECURITY, expert.severity.WARN)
local expert_odd = ProtoExpert.new("godot.odd", "No engine writes this", expert.group.PROTOCOL, expert.severity.NOTE)
local expert_limit = ProtoExpert.new("godot.limit", "Not dissected", expert.group.UNDECODED, expert.severity.WARN)
proto.experts = { expert_malformed, expert_object, expert_odd, expert_limit }

local length_field = ProtoField.uint32("godot_stream.length", "Length")
local expert_length = ProtoExpert.new("godot_stream.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
local expert_empty = ProtoExpert.new("godot_stream.empty", "Empty packet", expert.group.PROTOCOL, expert.severity.WARN)
local expert_part = ProtoExpert.new("godot_stream.part", "Part of a packet", expert.group.REASSEMBLE, expert.severity.WARN)
stream.fields = { length_field }
stream.experts = { expert_length, expert_empty, expert_part }

local prefs = proto.prefs
prefs.format = Pref.enum("Format", 4, "The release of the engine that writes", { { 1, "Godot 4", 4 }, { 2, "Godot 3", 3 } }, false)
prefs.tcp = Pref.range("TCP ports", "", "Ports of packets after their lengths: put_var of a StreamPeer", 65535)
prefs.udp = Pref.range("UDP ports", "", "Ports of packets without a length: put_var of a PacketPeerUDP", 65535)
prefs.ws = Pref.range("WebSocket ports", "", "TCP ports of WebSockets with a packet in each message: put_var of a WebSocketPeer", 65535)
prefs.big_endian = Pref.bool("Big-endian lengths", false, "The lengths in a TCP stream are big-endian (F2)")
prefs.longest = Pref.uint("Longest packet", 8 * 1024 * 1024, "In a TCP stream, in bytes: a larger length is an error (F5)")
prefs.items = Pref.uint("Tree items of a packet", 20000, "The rest of a packet with more is not dissected")

-- Types by id (section 3).
local function by_id(names)
	local types = {}
	for name in names:gmatch("%S+") do
		types[types[0] and #types + 1 or 0] = name
	end
	return types
end

local types_of = {
	[4] = by_id [[Nil bool int float String Vector2 Vector2i Rect2 Rect2i Vector3 Vector3i Transform2D Vector4 Vector4i
		Plane Quaternion AABB Basis Transform3D Projection Color StringName NodePath RID Object Callable Signal Dictionary
		Array PackedByteArray PackedInt32Array PackedInt64Array PackedFloat32Array PackedFloat64Array PackedStringArray
		PackedVector2Array PackedVector3Array PackedColorArray PackedVector4Array]],
	[3] = by_id [[Nil bool int float String Vector2 Rect2 Vector3 Transform2D Plane Quaternion AABB Basis Transform3D
		Color NodePath RID Object Dictionary Array PackedByteArray PackedInt32Array PackedFloat32Array PackedStringArray
		PackedVector2Array PackedVector3Array PackedColorArray]],
}

-- Components of math types (section 6) and of elements of packed arrays, in the order of their bytes.
local components = {}
for name, list in pairs {
	Vector2 = "x y", Rect2 = "position.x position.y size.x size.y", Vector3 = "x y z", Vector4 = "x y z w",
	Transform2D = "x.x x.y y.x y.y origin.x origin.y", Plane = "normal.x normal.y normal.z d", Quaternion = "x y z w",
	AABB = "position.x position.y position.z size.x size.y size.z",
	Basis = "x.x y.x z.x x.y y.y z.y x.z y.z z.z",
	Transform3D = "x.x y.x z.x x.y y.y z.y x.z y.z z.z origin.x origin.y origin.z",
	Projection = "x.x x.y x.z x.w y.x y.y y.z y.w z.x z.y z.z z.w w.x w.y w.z w.w",
	Color = "r g b a", Vector2i = "x y", Rect2i = "position.x position.y size.x size.y", Vector3i = "x y z", Vector4i = "x y z w",
	PackedVector2Array = "x y", PackedVector3Array = "x y z", PackedVector4Array = "x y z w", PackedColorArray = "r g b a",
} do
	components[name] = by_id(list)
end

-- Flags with a meaning (B3), the lowest ones.
local flags_of = { [4] = { Array = 3, Dictionary = 15 }, [3] = {} }
for _, name in ipairs { "int", "float", "Object" } do
	flags_of[4][name], flags_of[3][name] = 1, 1
end
for name in pairs(components) do
	if not name:find("i$") and not name:find("Color") then
		flags_of[4][name] = 1 -- M2
	end
end

-- counted returns a number of things for a label.
local function counted(n, unit, units) return ("%d %s"):format(n, n == 1 and unit or units or unit .. "s") end

-- A packet being dissected: bytes from start to stop of tvb are its own, those before at are read. parent is
-- the item of the value that is being read. Functions get tree, to which they add items, which is nil where
-- the tree is too deep or only the verdict counts.

-- fail ends the dissection of the packet because of the byte that is so many before p.at, 0 unless given.
local function fail(p, rule, text, before)
	local offset = p.at - p.start - (before or 0)
	error({ expert = expert_malformed, rule = rule, text = ("%s at offset %d: %s"):format(rule, offset, text) }, 0)
end

-- Rules that a packet only seems to break if the capture holds its beginning alone.
local too_short = { B4 = true, T2 = true, T4 = true, C4 = true, N8 = true, O8 = true, P7 = true }

-- count_item bounds what a packet costs.
local function count_item(p)
	p.items = p.items + 1
	if p.items > prefs.items then
		error({ expert = expert_limit, text = ("from offset %d on: more than %d items"):format(p.at - p.start, prefs.items) }, 0)
	end
end

-- add adds an item of a field, bytes and perhaps a value, and returns it unless there is no tree. Without a
-- label the item has that of its field.
local function add(p, tree, label, ...)
	count_item(p)
	local item = tree and tree:add(...)
	if item and label then
		item:set_text(label)
	end
	return item
end

local function explain(p, info, text)
	count_item(p)
	p.notes = p.notes + 1
	if p.parent then
		p.parent:add_proto_expert_info(info, text)
	end
end

-- odd notes what readers accept and engines never write (section 13).
local function odd(p, is, rule, text)
	if is then
		explain(p, expert_odd, rule .. ": " .. text)
	end
end

local function left(p) return p.stop - p.at end

-- take returns the next n bytes, of which there must be at least one.
local function take(p, n)
	if n > left(p) then
		fail(p, "B4", ("%s needed, %d left"):format(counted(n, "byte"), left(p)))
	end
	local range = p.tvb(p.at, n)
	p.at = p.at + n
	return range
end

-- count reads a u32 and adds it to the tree.
local function count(p, tree, label)
	local range = take(p, 4)
	local n = range:le_uint()
	add(p, tree, ("%s: %d"):format(label, n), f.count, range, n)
	return n
end

-- padding skips the bytes up to a multiple of 4 after n bytes.
local function padding(p, tree, n, may_miss, may_hold)
	local pad = -n % 4
	if may_miss and pad > left(p) then
		odd(p, true, "P2", "padding is missing")
		pad = left(p)
	elseif pad > left(p) then
		fail(p, "T4", "padding is missing")
	end
	if pad == 0 then
		return
	end
	local range = take(p, pad)
	if range:raw():find("[^%z]") then
		add(p, tree, nil, f.padding, range)
		odd(p, not may_hold, "T3", "padding that is not zero")
	end
end

-- Forms of UTF-8, as patterns of Lua by the first byte (T5).
local utf8_forms = {}
for _, form in ipairs {
	{ 0xC2, 0xDF, "^.[\128-\191]" },
	{ 0xE0, 0xE0, "^.[\160-\191][\128-\191]" },
	{ 0xE1, 0xEF, "^.[\128-\191][\128-\191]" },
	{ 0xED, 0xED, "^.[\128-\159][\128-\191]" },
	{ 0xF0, 0xF0, "^.[\144-\191][\128-\191][\128-\191]" },
	{ 0xF1, 0xF3, "^.[\128-\191][\128-\191][\128-\191]" },
	{ 0xF4, 0xF4, "^.[\128-\143][\128-\191][\128-\191]" },
} do
	for first = form[1], form[2] do
		utf8_forms[first] = form[3]
	end
end

-- bad_utf8 returns the index of the first byte of s that is not UTF-8, or nil.
local function bad_utf8(s)
	local at = s:find("[\128-\255]")
	while at do
		local form = utf8_forms[s:byte(at)]
		local _, last = s:find(form or "^$", at)
		if not last then
			return at
		end
		at = s:find("[\128-\255]", last + 1)
	end
end

-- quoted returns text for a label.
local function quoted(s)
	if #s > 60 then
		s = s:sub(1, 60):gsub("[\192-\255][\128-\191]*$", "") .. "…"
	end
	s = s:gsub("[%z\1-\31\127]", function(c) return ("\\x%02x"):format(c:byte()) end)
	return '"' .. s .. '"'
end

-- text reads a string (section 5) and adds it to the tree. Modes: "packed", an element of a packed array
-- (P4); "name" of a NodePath, whose padding can hold anything (N6).
local function text(p, tree, field, label, mode)
	local start = p.at
	local n = take(p, 4):le_uint()
	if n > left(p) then
		fail(p, "T2", ("length %d, but %d bytes follow"):format(n, left(p)), 4)
	end
	local s = n > 0 and take(p, n):raw() or ""
	local engines = s:match("^%Z*") -- what engines read
	local bad = bad_utf8(engines)
	if bad then
		fail(p, "T5", "invalid UTF-8", n - bad + 1)
	end
	if mode == "packed" then
		odd(p, #engines ~= n - 1, "P5", "a packed string without one NUL at its end")
		odd(p, #engines < n - 1, "T6", "text after a NUL")
		if s:sub(-1) == "\0" then
			s = s:sub(1, -2)
		end
	else
		odd(p, #engines < n, "T6", "a NUL in text")
	end
	padding(p, tree, n, false, mode == "name")
	if bad_utf8(s) then -- T7
		s = engines
	end
	s = s:gsub("%z", "\226\144\128")
	add(p, tree, label .. ": " .. quoted(s), field, p.tvb(start, p.at - start), s)
	return s
end

-- shortest returns the decimal digits that a float of a width needs.
local widths = { [4] = { "<f", 6, 9 }, [8] = { "<d", 15, 17 } }
local function shortest(x, width)
	local pack, from, to = widths[width][1], widths[width][2], widths[width][3]
	local bytes = Struct.pack(pack, x)
	for digits = from, to do
		local s = ("%." .. digits .. "g"):format(x)
		if digits == to or Struct.pack(pack, tonumber(s) or x) == bytes then
			return s
		end
	end
end

-- Readers of numbers: each adds an item and returns the text of the number.
local function real(width)
	return function(p, tree, label)
		local range = take(p, width)
		local x = range:le_float()
		local s = shortest(x, width)
		add(p, tree, label .. ": " .. s, f.float, range, x)
		return s, x
	end
end

local function integer(width, field)
	return function(p, tree, label)
		local range = take(p, width)
		local n = range:le_int64()
		add(p, tree, label .. ": " .. tostring(n), field or f.int, range, n)
		return tostring(n), n
	end
end

local real32, real64, int32, int64, id64 = real(4), real(8), integer(4), integer(8), integer(8, f.id)

-- math_type reads the components of a math type.
local function math_type(p, tree, read, names)
	local parts = {}
	for i = 0, #names do
		parts[i + 1] = read(p, tree, names[i])
	end
	return (" (%s)"):format(table.concat(parts, ", "))
end

-- components_of returns the reader of components of a type and their width.
local function components_of(p, name, wide)
	if name:find("i$") then
		return int32, 4
	elseif name:find("Color") then
		return real32, 4 -- M3
	end
	p.widths[wide] = true
	odd(p, p.widths[true] and p.widths[false], "M5", "components of both widths in one packet")
	if wide then
		return real64, 8
	end
	return real32, 4
end

-- packed reads an array of n numbers for each element.
local function packed(p, tree, read, width, names)
	local n = count(p, tree, "Elements")
	local total = n * (names and #names + 1 or 1)
	if total * width > left(p) then
		fail(p, "P7", ("%s of %d bytes, but %d bytes follow"):format(counted(n, "element"), total / n * width, left(p)), 4)
	end
	local stop = p.at + total * width
	for i = 0, math.min(total, max_elements) - 1 do
		local label = ("[%d]"):format(names and math.floor(i / (#names + 1)) or i)
		read(p, tree, names and label .. "." .. names[i % (#names + 1)] or label)
	end
	if p.at < stop then
		add(p, tree, ("and %d numbers more"):format(total - max_elements), f.bytes, take(p, stop - p.at))
	end
	return ", " .. counted(n, "element")
end

-- declared reads the declared type of a container (C6, C7), and returns the type that elements must be of.
local function declared(p, tree, kind, label)
	if kind == 0 then
		return nil
	elseif kind > 1 then
		local s = text(p, tree, f.declared, label .. (kind == 2 and " of class" or " of script"))
		odd(p, s == "", "C9", "an empty class or script")
		return "Object"
	end
	local range = take(p, 4)
	local name = types_of[4][range:le_uint()]
	if not name then
		fail(p, "C8", ("%s of unknown type %d"):format(label, range:le_uint()), 4)
	end
	add(p, tree, label .. " of type: " .. name, f.declared, range, name)
	odd(p, name == "Nil", "C9", "type 0 is declared")
	return name ~= "Nil" and name or nil
end

local value -- defined below

-- element reads a value in a container.
local function element(p, tree, label, level, must)
	if p.at == p.stop then
		fail(p, "C4", "the packet ends before all elements of the count")
	end
	local name, summary = value(p, tree, label, level)
	odd(p, must and name ~= must and not (must == "Object" and name == "Nil"), "C10", ("%s in a container of %s"):format(name, must))
	return name .. summary
end

-- container_count reads the count of an Array or Dictionary.
local function container_count(p, tree, label)
	local n = count(p, tree, label)
	odd(p, n >= 2 ^ 31, "C3", "bit 31 of the count, which is ignored")
	return n % 2 ^ 31
end

-- Readers of payloads, by type. Each gets whether the lowest flag is set, the level of the value and the flags
-- with a meaning. It returns a summary to follow the name of the type.
local payload = {}

function payload.Nil() return "" end
payload.Callable = payload.Nil -- R2

function payload.bool(p, tree)
	local range = take(p, 4)
	local n = range:le_uint()
	add(p, tree, "value: " .. tostring(n ~= 0), f.bool, range, n ~= 0)
	odd(p, n > 1, "S3", "a bool that is neither 0 nor 1")
	return " " .. tostring(n ~= 0)
end

function payload.int(p, tree, wide)
	local s, n = (wide and int64 or int32)(p, tree, "value")
	odd(p, wide and p.format ~= 3 and n >= Int64(-2 ^ 31) and n < Int64(2 ^ 31), "S6", "64 bits for a number that fits in 32")
	return " " .. s
end

function payload.float(p, tree, wide)
	local s, x = (wide and real64 or real32)(p, tree, "value")
	odd(p, not wide and x ~= x, "S10", "a NaN of 32 bits")
	odd(p, wide and Struct.unpack("<f", Struct.pack("<f", x)) == x, "S9", "64 bits for a float that fits in 32")
	return " " .. s
end

function payload.String(p, tree) return " " .. quoted(text(p, tree, f.string, "value")) end
payload.StringName = payload.String -- T9

function payload.NodePath(p, tree)
	local first = take(p, 4):le_uint()
	if first < 2 ^ 31 then
		fail(p, "N4", "a NodePath in its old form", 4)
	end
	local names = first - 2 ^ 31
	add(p, tree, ("Names: %d"):format(names), f.count, p.tvb(p.at - 4, 4), names)
	local subnames = count(p, tree, "Sub-names")
	local range = take(p, 4)
	local flags = range:le_uint()
	local absolute = flags % 2 == 1
	add(p, tree, "Absolute: " .. tostring(absolute), f.absolute, range, absolute)
	odd(p, flags >= 4, "N7", "unknown flags of a NodePath")
	if flags % 4 >= 2 then
		odd(p, true, "N3", "one sub-name more than their number")
		subnames = subnames + 1
	end
	local total = (names + subnames) % 2 ^ 32
	odd(p, total ~= names + subnames, "N5", "counts of names that overflow")
	local parts = {}
	for i = 1, total do
		if p.at == p.stop then
			fail(p, "N8", "the packet ends before all names")
		elseif i <= names then
			parts[#parts + 1] = (i > 1 or absolute) and "/" or ""
			parts[#parts + 1] = text(p, tree, f.name, "Name", "name")
		else
			parts[#parts + 1] = ":"
			parts[#parts + 1] = text(p, tree, f.subname, "Sub-name", "name")
		end
	end
	return " " .. quoted(table.concat(parts))
end

function payload.RID(p, tree)
	if p.format == 3 then
		return "" -- R1
	end
	return " " .. id64(p, tree, "id")
end

function payload.Signal(p, tree)
	local name = text(p, tree, f.name, "Name")
	return (" %s of object %s"):format(quoted(name), (id64(p, tree, "Object")))
end

-- object_form notes a form of objects.
local function object_form(p, form)
	p.forms[form] = true
	odd(p, p.forms.id and p.forms.serialized, "O9", "ids and serialized objects in one packet")
end

function payload.Object(p, tree, is_id, level)
	if is_id then
		local s, n = id64(p, tree, "id")
		object_form(p, "id")
		odd(p, n == Int64(0), "O6", "the id of no object")
		return " id " .. s
	end
	explain(p, expert_object, "O3: a serialized object, which readers refuse unless it is allowed")
	local class = text(p, tree, f.class, "Class")
	if class == "" then
		odd(p, true, "O4", "an object without a class")
		return " without a class"
	end
	object_form(p, "serialized")
	local n = count(p, tree, "Properties")
	if n >= 2 ^ 31 then
		odd(p, true, "O5", "a negative count of properties")
		n = 0
	end
	for _ = 1, n do
		if p.at == p.stop then
			fail(p, "O8", "the packet ends before all properties")
		end
		local name = text(p, tree, f.property, "Property")
		value(p, tree, name, level + 1)
	end
	return (" %s, %s"):format(class, counted(n, "property", "properties"))
end

-- content returns the summary of a container: what it declares and how much it contains.
local function content(n, unit, ...)
	local types = table.concat({ ... }, ", ")
	return (types ~= "" and " of " .. types or "") .. ", " .. counted(n, unit)
end

function payload.Array(p, tree, _, level, flags)
	local must = declared(p, tree, flags % 4, "Elements")
	local n = container_count(p, tree, "Elements")
	for i = 1, n do
		element(p, tree, ("[%d]"):format(i - 1), level + 1, must)
	end
	return content(n, "element", must)
end

function payload.Dictionary(p, tree, _, level, flags)
	local key_type = declared(p, tree, flags % 4, "Keys")
	local value_type = declared(p, tree, math.floor(flags / 4) % 4, "Values")
	local n = container_count(p, tree, "Pairs")
	for i = 1, n do
		local start = p.at
		local pair = level < max_shown and left(p) > 0 and add(p, tree, "Pair", f.pair, p.tvb(start, left(p))) or nil
		local key = element(p, pair, "key", level + 1, key_type)
		local what = element(p, pair, "value", level + 1) -- of any type (C10)
		if pair then
			pair:set_len(p.at - start)
			pair:set_text(key .. ": " .. what)
		end
	end
	return content(n, "pair", key_type or value_type and "any", value_type)
end

function payload.PackedByteArray(p, tree)
	local n = count(p, tree, "Bytes")
	if n > left(p) then
		fail(p, "P7", ("%s, but %d follow"):format(counted(n, "byte"), left(p)), 4)
	elseif n > 0 then
		add(p, tree, nil, f.bytes, take(p, n))
	end
	padding(p, tree, n, true)
	return ", " .. counted(n, "byte")
end

function payload.PackedStringArray(p, tree)
	local n = count(p, tree, "Strings")
	if n >= 2 ^ 31 then
		odd(p, true, "P6", "a negative count of strings, which means none")
		n = 0
	end
	for i = 1, n do
		if p.at == p.stop then
			fail(p, "P7", "the packet ends before all strings of the count")
		end
		text(p, tree, f.string, ("[%d]"):format(i - 1), "packed")
	end
	return ", " .. counted(n, "string")
end

for name, read in pairs { Int32 = int32, Int64 = int64, Float32 = real32, Float64 = real64 } do
	payload["Packed" .. name .. "Array"] = function(p, tree)
		return packed(p, tree, read, tonumber(name:sub(-2)) / 8)
	end
end

for name in pairs(components) do
	payload[name] = function(p, tree, wide)
		local read, width = components_of(p, name, wide)
		if name:find("^Packed") then
			return packed(p, tree, read, width, components[name])
		end
		return math_type(p, tree, read, components[name])
	end
end

-- value reads a value, adds its item to the tree and returns the name of its type and a summary.
value = function(p, tree, label, level)
	if level > max_level then
		fail(p, "B7", "more than 1024 levels")
	end
	local start, outer = p.at, p.parent
	local header = take(p, 4)
	local id, ignored, flags = header(0, 1):uint(), header(1, 1):uint(), header(2, 2):le_uint()
	local name = types_of[p.format][id]
	if not name then
		fail(p, "B2", ("unknown type %d"):format(id), 4)
	end
	if tree and level > max_shown then
		if not p.hidden then
			p.hidden = true
			explain(p, expert_limit, ("levels below %d are not shown"):format(max_shown))
		end
		tree = nil
	end
	local node = add(p, tree, label .. ": " .. name, f.value, p.tvb(start, p.stop - start))
	p.parent = node or outer
	add(p, node, ("Type: %s (%d)"):format(name, id), f.type, header, name)
	if flags ~= 0 then
		add(p, node, ("Flags: 0x%x"):format(flags), f.flags, header(2, 2), flags)
	end
	odd(p, ignored ~= 0, "B1", "bits 8 to 15 of a header, which are ignored")
	local known = flags % ((flags_of[p.format][name] or 0) + 1)
	odd(p, known ~= flags, "B3", ("flags 0x%x without a meaning"):format(flags - known))
	local summary = payload[name](p, node, known % 2 == 1, level, known)
	if node then
		node:set_len(p.at - start)
		node:set_text(label .. ": " .. name .. summary)
	end
	p.parent = outer
	return name, summary
end

-- dissect reads the packet of n bytes at an offset of tvb into the tree, and returns its summary and whether
-- nothing about it is strange.
local function dissect(tvb, at, n, tree)
	local p = {
		tvb = tvb, start = at, at = at, stop = at + n, format = prefs.format,
		parent = tree, hidden = false, items = 0, notes = 0, widths = {}, forms = {},
	}
	local ok, name, summary = pcall(value, p, tree, "Value", 0)
	if not ok then
		local failure = name
		if type(failure) ~= "table" then
			error(failure, 0) -- a fault of this file
		end
		if too_short[failure.rule] and tvb:len() < tvb:reported_len() then
			failure = { expert = expert_limit, text = "the capture holds only a part of the packet" }
		end
		if p.parent then
			p.parent:add_proto_expert_info(failure.expert, failure.text)
		end
		return failure.text, false
	end
	if p.at < p.stop then
		local range = tvb(p.at, p.stop - p.at)
		if tree then
			tree:add(f.rest, range)
		end
		odd(p, true, "B5", counted(range:len(), "byte") .. " after the value")
	end
	return name .. summary, p.notes == 0
end

-- show dissects a packet into an item of its own.
local function show(tvb, at, n, root)
	local tree = root:add(proto, tvb(at, n))
	local summary = dissect(tvb, at, n, tree)
	tree:append_text(", " .. summary)
	return summary
end

-- set_columns adds to the list what a call dissects. Other calls can follow for the same frame.
local function set_columns(pinfo, info)
	pinfo.cols.protocol = "Godot"
	local before = pinfo.private.godot
	pinfo.private.godot = before and before .. "; " .. info or info
	pinfo.cols.info:clear_fence()
	pinfo.cols.info = pinfo.private.godot
end

local opcode = Field.new("websocket.opcode")

-- Packets without lengths. Those that the capture holds in part only are shown up to there.
function proto.dissector(tvb, pinfo, root)
	local opcodes = { opcode() } -- the last one is that of this message
	if tvb:len() == 0 or #opcodes > 0 and opcodes[#opcodes].value == 1 then
		return 0 -- not a packet: nothing, or a text message
	end
	set_columns(pinfo, show(tvb, 0, tvb:len(), root))
	return tvb:len()
end

local tcp_stream, completeness = Field.new("tcp.stream"), Field.new("tcp.completeness")

-- What was skipped before the first packet, in bytes: by frame, and by stream and port until it is found.
local skipped, lost = {}, {}
function stream.init() skipped, lost = {}, {} end

-- begins_at reports whether a packet after its length, as engines write it, is at an offset of tvb.
local function begins_at(tvb, at)
	if tvb:len() - at < 8 then
		return false
	end
	local range, header = tvb(at, 4), tvb(at + 4, 4)
	local n = prefs.big_endian and range:uint() or range:le_uint()
	local name = types_of[prefs.format][header(0, 1):uint()]
	if n < 4 or n > prefs.longest or not name or header(1, 1):uint() ~= 0 or header(2, 2):le_uint() > (flags_of[prefs.format][name] or 0) then
		return false
	end
	if n > tvb:len() - at - 4 then
		return n > 4 -- the rest follows
	end
	local _, fine = dissect(tvb, at + 4, n, nil)
	return fine
end

-- synchronize returns how many bytes to skip in a frame of a connection whose beginning was not captured.
local function synchronize(tvb, pinfo)
	local connection, seen = tcp_stream(), completeness()
	if not connection or not seen or skipped[pinfo.number] then
		return skipped[pinfo.number] or 0
	end
	local key = connection.value .. ":" .. pinfo.src_port
	if lost[key] == nil then
		lost[key] = seen.value % 2 == 0 -- no SYN
	end
	if pinfo.visited or not lost[key] then
		return 0
	end
	local at = 0
	while at < tvb:len() and not begins_at(tvb, at) do
		at = at + 1
	end
	lost[key], skipped[pinfo.number] = at == tvb:len(), at
	return at
end

-- Packets after their lengths.
function stream.dissector(tvb, pinfo, root)
	local at, summaries = synchronize(tvb, pinfo), {}
	if at > 0 then
		local text = ("the capture begins within a packet: %s skipped"):format(counted(at, "byte"))
		root:add(stream, tvb(0, at)):add_proto_expert_info(expert_part, text)
		set_columns(pinfo, text)
	end
	local function wait(n, have) -- for n bytes more, if Wireshark reassembles
		if pinfo.can_desegment > 0 then
			pinfo.desegment_offset, pinfo.desegment_len = at, n
		else
			root:add(stream, tvb(at)):add_proto_expert_info(expert_part, have .. "; the rest is not reassembled")
		end
	end
	while at < tvb:len() do
		local here = tvb:len() - at
		if here < 4 then
			wait(DESEGMENT_ONE_MORE_SEGMENT, "a part of a length")
			break
		end
		local range = tvb(at, 4)
		local n = prefs.big_endian and range:uint() or range:le_uint() -- F2
		if n <= prefs.longest and n > here - 4 then
			wait(n + 4 - here, ("%d bytes of a packet of %d"):format(here - 4, n))
			break
		end
		local item = root:add(stream, range):append_text((", %d bytes"):format(n))
		item:add(length_field, range, n)
		if n > prefs.longest then
			item:add_proto_expert_info(expert_length, ("F5: a length of %d; or the capture began within a packet"):format(n))
			summaries[#summaries + 1] = "Malformed length"
			break
		elseif n == 0 then
			item:add_proto_expert_info(expert_empty, "F4: a packet without a value")
			summaries[#summaries + 1] = "Empty"
		else
			summaries[#summaries + 1] = show(tvb, at + 4, n, root)
		end
		at = at + 4 + n
	end
	if #summaries > 0 then
		local more = #summaries > 5 and ("; and %d more"):format(#summaries - 5) or ""
		set_columns(pinfo, table.concat(summaries, "; ", 1, math.min(5, #summaries)) .. more)
	end
	return tvb:len()
end

-- A binary message that is one value, written as engines write it, is taken for one.
local function heuristic(tvb, pinfo, root)
	if tvb:len() < 4 or tvb:len() < tvb:reported_len() then
		return false
	end
	local _, fine = dissect(tvb, 0, tvb:len(), nil)
	if fine then
		proto.dissector(tvb, pinfo, root)
	end
	return fine
end
proto:register_heuristic("ws", heuristic)

DissectorTable.get("tcp.port"):add_for_decode_as(stream)
DissectorTable.get("udp.port"):add_for_decode_as(proto)

-- The ports that are registered, by preference.
local ports = { tcp = { "tcp.port", stream, "" }, udp = { "udp.port", proto, "" }, ws = { "ws.port", proto, "" } }
function proto.prefs_changed()
	for pref, port in pairs(ports) do
		local dissectors, with, old, new = DissectorTable.get(port[1]), port[2], port[3], tostring(prefs[pref])
		if old ~= new then
			if old ~= "" then
				dissectors:remove(old, with)
			end
			if new ~= "" then
				dissectors:add(new, with)
			end
			port[3] = new
		end
	end
end
