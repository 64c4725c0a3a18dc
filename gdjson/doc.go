// Package gdjson converts Variants to JSON and JSON to Variants.
//
//	// show writes the next value of r as JSON, for people and jq: {"name":"Ada","hp":7}
//	func show(w io.Writer, r io.Reader) error {
//		d := gdwire.NewDecoder(r, nil)
//		defer d.Release()
//		return gdjson.ToJSON(w, d, gdjson.Options{Plain: true})
//	}
//
// [ToJSON] writes the next value of a gdwire.Decoder, in constant memory. [FromJSON] reads one JSON
// value and writes the value to a gdwire.Encoder; [SplitValues] splits text of several. ToJSON and
// FromJSON support two forms of JSON, native and plain.
//
// # Native JSON
//
// The default is the form returned by JSON.from_native of Godot 4.4 and later and accepted by
// JSON.to_native, with the type of every value:
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
// args list a Basis by columns, as in the engine; the binary format stores it by
// rows. In args, infinity is 1e99999, NaN is null, and an integer beyond 2^53 is a
// string of its digits, because the engine's JSON numbers are float64.
//
// The engine's JSON loses parts of some values. gdjson writes more, so that every
// value of an engine is read back as the same bytes:
//
//   - Floats are the shortest decimal that reads back as the same float64. The engine writes 14
//     decimals.
//   - Ids and the names of signals are additional members.
//   - A NaN other than the default NaN is written with its sign and payload, as in WebAssembly's
//     text format: "f:-nan", and in args "nan:0x4000000000001". In args, FromJSON makes a signaling
//     NaN quiet.
//   - elem_type, key_type and value_type are the name of a built-in type, a class
//     or a res:// path. Where the engine would confuse these, they are an object
//     with the kind of the name: {"builtin":"Object"}, {"class":"int"} or
//     {"script":"user://a.gd"}.
//
// FromJSON chooses details missing in JSON as engines do: numbers have the fewest bits that hold
// them, math types the width of gdwire.EncoderOptions.DoubleReals, counts no shared bit of Godot 2,
// and NodePaths the current form. ToJSON returns an error for invalid UTF-8, and for a NodePath
// that cannot be read back from its text, such as a NodePath with the single name "a/b".
//
// # Reading native JSON
//
// FromJSON accepts the members of an object in any order: engines sort them, so args precede the
// type. Numbers are parsed exactly, not by way of a float64. Input outside the table above is an
// [Error] with offset and JSON pointer: a number out of range, a wrong count, a wrong type, an
// unknown, missing or duplicate member, a string without a prefix. Strings may contain control
// characters and \v, as written by the engine's JSON.stringify although they are not JSON.
//
// [Options].Lenient accepts the same input as the engine, with the same result:
//
//   - "i:0x10" is 10, "i:5.7" is 5, and "f:1.5px" is 1.5
//   - in args, integers wrap around and fractions are truncated; a string is the
//     number at its start, true is 1, and other values are 0
//   - a real that is too large for its type is infinity
//   - args and props other than arrays are read as empty arrays
//   - the last of several members with the same name is used; unknown members are
//     skipped
//   - a value with any other error is replaced by null
//   - a comma may follow the last element or member, any control character is white
//     space, and 01, 1. and -.5 are numbers
//
// The following are errors even so: other text that is not JSON, more than one value, values
// excluded by the Encoder's limits or format, and elements of another type than the declared one
// (the engine keeps these). FromJSON remains more exact than the engine: the engine reads ids, and
// null in args, as 0. FromJSON does not check that classes and scripts exist; the engine replaces a
// value with an unknown class or script by null.
//
// # Plain JSON
//
// [Options].Plain selects a lossy form for people and for tools such as jq:
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
// A key that is neither String nor StringName is written as its GDScript text, such
// as "Vector2i(1, 2)" or "1", so two different keys can become equal. Components of
// 32 bits are the shortest decimal that reads back as the same float32.
//
// FromJSON converts plain JSON to a Dictionary with String keys, Array, String, int, float, bool or
// nil. A number without point and exponent is an int and must fit in 64 bits, but -0 is a float, to
// keep the sign.
//
// # Untrusted input
//
// ToJSON is subject to the limits of the Decoder and keeps a few bytes for each open container.
// FromJSON keeps the text, at most gdwire.EncoderOptions.MaxBuffered bytes, and an index. Together
// they need at most nine times MaxBuffered at any moment, by default 72 MiB.
// gdwire.EncoderOptions.Depth limits the nesting of the value, and the JSON can be nested at most
// 10,000 levels deep. The time is proportional to the length of the text for any nesting and any
// order of members. Serialized objects are refused unless [Options].AllowObjects is set.
//
// With the build tag purego, the package does not use unsafe.
package gdjson
