// Package gdwire reads and writes the binary Variant format of Godot, Redot and
// their relatives as a stream: what var_to_bytes, put_var, store_var and the
// multiplayer and debugger protocols of these engines put on the wire.
//
// A [Decoder] turns an io.Reader into tokens, an [Encoder] tokens and typed calls
// into bytes. Neither ever holds a whole value: what they need is a window of
// 16 KiB and 32 bytes for each container that is open. [Limits] are asked before
// a count is believed, and nothing is allocated from one.
//
//	d := gdwire.NewDecoder(conn, nil)
//	defer d.Release()
//	for t, err := range d.Tokens() {
//		if err != nil {
//			return err // gdwire: offset 34, $["player"]["inventory"][3]: …
//		}
//		switch t.Kind() {
//		case gdwire.KindDictStart:
//			fmt.Println("a dictionary of", t.Len())
//		case gdwire.KindStringChunk:
//			fmt.Printf("%s: %s\n", d.AppendPath(nil), t.Bytes())
//		case gdwire.KindInt32, gdwire.KindInt64:
//			fmt.Printf("%s: %d\n", d.AppendPath(nil), t.Int())
//		}
//	}
//
// The way back:
//
//	e := gdwire.NewEncoder(conn, nil)
//	defer e.Release()
//	err := errors.Join(
//		e.BeginDict(2),
//		e.WriteString("name"), e.WriteString("Ada"),
//		e.WriteString("pos"), e.WriteReals(gdwire.TypeVector3, 1, 2, 3),
//		e.End(),
//	)
//
// How values lie behind a length on a connection or in a file is package
// stream's matter.
//
// # Tokens
//
// A number, vector or other value of fixed size is one token. Everything else is
// a Start token, what is in it, and End:
//
//	nil, bool, int, float     Nil; Bool; Int32 or Int64; Float32 or Float64
//	Vector2 … Projection      one token of that kind
//	String, StringName        StringChunk, …, the last one says so
//	NodePath                  NodePathStart, a string for each name and sub-name, End
//	RID, Callable, Signal     RID; Callable; Signal
//	Object                    ObjectID, or ObjectStart, for each property Property
//	                          and its value, End
//	Dictionary                DictStart, for each pair DictKey, the key, the value, End
//	Array                     ArrayStart, its elements, End
//	PackedStringArray         PackedStart, its strings, End
//	other packed arrays       PackedStart, Chunk, …, End
//	Image, InputEvent         ImageStart, Chunk, …, End; InputEvent (Godot 2)
//
// A string that fits the window is one chunk, and no chunk ends inside a rune.
// DictKey is a marker, since a key can be any value. The bulk reads take the
// place of a payload's tokens: [Decoder.AppendString], [Decoder.Payload],
// [ReadPacked] and [AppendPacked].
//
// # Formats
//
// [Godot4] is the default. [Godot3] and [Godot2] are what older engines speak,
// [Manual4], [Manual3] and [Manual30] what their manuals print, which differs.
// Tokens do not know formats: [CopyValue] copies from one to another, as far as
// values fit.
//
// # Leniency
//
// By default what engines read is read: a bool of 2, 64 bits where 32 would do,
// text behind a NUL, padding of any content, unknown flags, bit 31 of a count, a
// negative count of properties or packed strings as none, and a last
// PackedByteArray (in Godot 2 String or Image, too) without its padding. A leading
// U+FEFF and what follows a NUL are handed on, though engines drop them.
//
// In one thing the Decoder is stricter than some engines: text has to be UTF-8 as
// Godot 4 understands it, behind a NUL, too. Godot 3 lets surrogates and overlong
// forms pass and no engine looks behind a NUL; who wants what they let pass sets
// [DecoderOptions].AnyUTF8.
//
// Tokens are written again as they were read, where an engine that reads a packet
// and writes it changes more: it cuts strings at a NUL and drops a leading U+FEFF,
// gives numbers the fewest bits (a NaN 64) and maths types its own precision, has
// other ids and classes for objects it can't create and nil for one of id 0, leaves
// out what a typed array does not allow, and keeps one of equal keys.
//
// [DecoderOptions].Strict refuses what the format's engines never write:
//
//   - int and float in 64 bits that 32 can hold; from engines, a NaN of 32 bits
//   - a bool other than 0 and 1
//   - bits 8 to 15 of a header, and flags without a meaning for the type
//   - maths types of both widths in one value; objects both as ids and in full
//   - an object of id 0 or without a class: null is nil
//   - bit 31 of a count; negative counts
//   - padding that is not zero, but behind names of NodePaths and in Godot 2, where
//     engines leave memory content; missing padding, as io.ErrUnexpectedEOF
//   - a NUL in a string; a packed string without its one NUL at the end
//   - flags of a NodePath but the first (and the second in Godot 2), the form of
//     one string that engines only read, and names that 32 bits can't count
//   - array elements and dictionary keys that are not of the declared type; a
//     declared type of id 0; a class without a name
//   - an InputEvent longer than its type needs
//   - bytes behind the value where the input's length was given
//
// It does not look for equal keys, which would need memory, nor at the names of
// classes, nor at which version of an engine had a type first.
//
// # Untrusted input
//
// Bad input is an [Error] with its offset and path. It never panics, and beside
// the window it costs memory for what has arrived, never for what it claims: 32
// bytes for each level that is open, 35 more once a key of it has left the window.
// Objects in full are refused unless [DecoderOptions].AllowObjects is set. The
// methods of a [Token] give a zero when they do not fit its kind, which the sender
// chose.
//
// What panics is a mistake in the program: using the payload of a token after the
// Decoder has gone on.
//
// # Build tags
//
// With the tag purego, and on big-endian machines, nothing unsafe is used.
package gdwire
