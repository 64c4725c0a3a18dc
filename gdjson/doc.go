// Package gdjson converts Variants to JSON and JSON to Variants.
//
// [ToJSON] writes the next value of a gdwire.Decoder, in constant memory.
// [FromJSON] reads one JSON value and writes it to a gdwire.Encoder. Both know two
// kinds of JSON.
//
// # Native JSON
//
// The default has the shape of JSON.from_native, which Godot 4.4 and later write
// and read with JSON.to_native. It says the type of every value:
//
//	nil, bool                     null, true
//	int, float                    "i:5", "f:1.0", "f:inf", "f:nan"
//	String, StringName, NodePath  "s:text", "sn:name", "np:/a/b:c"
//	Vector2 … Color               {"type":"Vector2","args":[1.0,2.0]}
//	Array                         ["i:1","s:two"]
//	  typed                       {"type":"Array","elem_type":"int","args":["i:1"]}
//	Dictionary                    {"type":"Dictionary","args":["s:key","i:1"]}
//	  typed                       … "key_type":"String","value_type":"int" …
//	packed arrays                 {"type":"PackedInt32Array","args":[1,2]}
//	  of vectors                  {"type":"PackedVector2Array","args":[1.0,2.0,3.0,4.0]}
//	  of strings                  {"type":"PackedStringArray","args":["a","b"]}
//	RID, Callable                 {"type":"RID","id":"5"}, {"type":"Callable"}
//	Signal                        {"type":"Signal","name":"hit","object":"5"}
//	Object, its id                {"type":"ObjectID","id":"5"}
//	Object, serialized            {"type":"Node","props":["name","s:n"]}
//	Image, InputEvent (Godot 2)   {"type":"Image","format":…,"data":[…]}
//
// args list a Basis by columns, as the engine does; the wire has it by rows.
// Infinity in args is 1e99999, NaN is null, and an integer beyond 2^53 is a string
// of its digits, because the engine's JSON numbers are float64.
//
// The engine drops some of what a value holds; gdjson does not, so that every value
// of an engine comes back as the same bytes:
//
//   - Floats are the shortest decimal that reads back the same float64. The engine
//     writes 14 decimals.
//   - Ids, and the names of signals, are members that the engine does not write.
//   - A NaN other than the usual one has its sign and payload, as in WebAssembly's
//     text format: "f:-nan", and in args "nan:0x4000000000001". In args a signaling
//     NaN comes back quiet.
//   - elem_type, key_type and value_type are the name of a built-in type, a class
//     or a res:// path. Where the engine would take one for another, they are an
//     object that says which: {"builtin":"Object"}, {"class":"int"} or
//     {"script":"user://a.gd"}.
//
// What JSON does not tell is written as engines write it: numbers in as few bits as
// hold them, math types in the width of gdwire.EncoderOptions.DoubleReals, counts
// without Godot 2's shared bit, and NodePaths in today's form. ToJSON refuses a
// NodePath whose names the text would not give back, such as "a/b" as one name, and
// text that is not UTF-8.
//
// # Reading native JSON
//
// FromJSON takes the members of an object in any order: engines sort them, so that
// args come before the type. Numbers are read from their text, exactly. What is not
// exact is an [Error] with offset and JSON pointer: a number that is out of range, a
// wrong count, another type, an unknown, missing or duplicate member, a string
// without a prefix.
//
// [Options].Lenient reads what the engine reads:
//
//   - "i:0x10" is 10, "i:5.7" is 5, and "f:1.5px" is 1.5
//   - in args, integers wrap around and lose fractions; true is 1, a string is the
//     number at its start, and what is no number is 0
//   - reals too large for their place are infinite
//   - args and props that are no array are an empty one
//   - of duplicate members the last counts, and unknown ones are skipped
//   - any other fault of a value makes it null, and the value around it goes on
//
// Text that is not JSON stays an error, and so do more than one value, what the
// Encoder's limits or format refuse, and elements of another type than declared,
// which the engine keeps. What is exact keeps its meaning, such as ids and null in
// args, which the engine reads as 0. FromJSON knows no classes, and no files of
// scripts; the engine makes values null that name others than its own.
//
// # Plain JSON
//
// [Options].Plain is for people, and for tools such as jq. It is lossy:
//
//	bool, int, float              true, 5, 1.0
//	String, StringName, NodePath  "text"
//	Vector2 … Color               [1.0,2.0]
//	Array                         [1,"two"]
//	Dictionary                    {"key":1}
//	PackedByteArray               "AAEC" (base64)
//	other packed arrays           [1,2], [[1.0,2.0],[3.0,4.0]], ["a","b"]
//	RID, Object's id              5
//	Signal                        {"name":"hit","object":5}
//	Object, serialized            {"class":"Node","name":"n"}
//	Callable, NaN                 null
//
// A key that is neither String nor StringName is named by its GDScript text, such as
// "Vector2i(1, 2)" or "1", and so two keys can have one name. Components of 32 bits
// are the shortest decimal for 32 bits.
//
// FromJSON makes of plain JSON a Dictionary with String keys, Array, String, int,
// float, bool or nil. A number without point and exponent is an int, and has to fit
// 64 bits.
//
// # Untrusted input
//
// ToJSON has the limits of its Decoder, and keeps a few bytes for each level.
// FromJSON keeps the text, at most gdwire.EncoderOptions.Buffered bytes of it, and
// an index that is at most eight times as long; the levels of containers are those of
// gdwire.EncoderOptions.Depth, and no more than 10,000 in JSON. Its time is
// proportional to the text, however deep and in whatever order it is. Serialized
// objects are refused unless [Options].AllowObjects is set.
//
// With the tag purego nothing unsafe is used.
package gdjson
