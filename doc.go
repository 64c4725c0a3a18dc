// Package gdwire reads and writes the binary Variant format of Godot, Redot and
// their relatives as a stream. Most programs need only its package variant:
//
//	// answer takes bytes of var_to_bytes and returns bytes for bytes_to_var.
//	func answer(request []byte) ([]byte, error) {
//		var player struct {
//			Name  string
//			MaxHP int // "max_hp"
//		}
//		if err := variant.Unmarshal(request, &player); err != nil {
//			return nil, err // gdwire: offset 24, $.max_hp: String into Go int (struct.MaxHP)
//		}
//		return variant.Marshal(map[string]any{"hello": player.Name})
//	}
//
// A [Decoder] reads values from an io.Reader, an [Encoder] writes them to an
// io.Writer. Each uses a buffer of 16 KiB from a pool and 32 bytes for every
// open container, and never holds a whole value in memory. Every count is
// checked against [Limits] before it is used, and no allocation is sized by one.
// Engines use the format in var_to_bytes, put_var and store_var.
//
// You can work at three levels, and mix them on one Decoder or Encoder:
//
//   - Go values: package variant reads and writes structs, slices and maps in one
//     call, as encoding/json does.
//   - Typed calls: [Decoder.ReadInt], [Decoder.Fields], [Encoder.WriteInt] and
//     [Encoder.BeginDict] handle messages of a known shape without reflection.
//   - Tokens: [Decoder.ReadToken], [Encoder.WriteToken] and [CopyValue] handle
//     values of any shape, in filters, proxies and inspectors.
//
// A call that takes a whole input (Unmarshal, UnmarshalRead, Validate, Receive, File.Unmarshal of
// package savefile) returns an error if bytes follow its values. A call that takes a Decoder reads the next
// value. Constructors take a pointer to options, nil for the defaults; other calls take any number of
// options and merge them field by field.
//
// Other packages of this module build on this one: stream provides length-prefixed packets,
// connections and servers; gdjson converts to Godot's JSON and back; fileaccess reads and writes
// the engines' compressed and encrypted files, and savefile saved games of any kind; gdwiretest
// helps tests.
//
// # Reading
//
// Typed reads mirror the typed writes. Each reads the next value:
//
//	d := gdwire.NewDecoder(conn, nil)
//	defer d.Release()
//	for key, err := range d.Fields() {
//		if err != nil {
//			return err // gdwire: offset 34, $.player.inventory[3]: …
//		}
//		switch string(key) {
//		case "name":
//			p.Name, err = d.ReadString()
//		case "pos":
//			err = gdwire.ReadComponents(d, gdwire.TypeVector3, p.Pos[:])
//		}
//		if err != nil {
//			return err
//		}
//	}
//
// A value of another type is an [Error] that consumes nothing, so the value can
// be read in another way or skipped. [Decoder.Fields] and [Decoder.Elements]
// skip every value not read by the body of the loop.
//
// Which call reads what:
//
//	an int                         ReadInt; ReadInteger[int32] if the Go type is smaller
//	text                           ReadString; AppendString into memory of the caller
//	an Array                       Elements; ReadArray and ReadEnd if its count is needed
//	a Dictionary                   Fields if its keys are text, Pairs for other keys
//	a packed array                 AppendPacked; ReadPacked or Payload in pieces; Elements for each
//	a math type                    ReadComponents
//	a value of any type            PeekKind, then a call of this table; or ReadToken
//	a value that is not needed     SkipValue
//
// [Decoder.ReadToken] and [Decoder.Tokens] return one [Token] after another
// instead and need no knowledge of the value:
//
//	for t, err := range d.Tokens() {
//		if err != nil {
//			return err
//		}
//		fmt.Printf("%s: %v\n", d.AppendPath(nil), t)
//	}
//
// # Writing
//
// The number of elements precedes the elements of a container, so Begin calls
// take a count, or [Unknown] if it is not known yet:
//
//	e := gdwire.NewEncoder(conn, nil)
//	e.BeginDict(2)
//	e.WriteString("name")
//	e.WriteString("Ada")
//	e.WriteString("pos")
//	gdwire.WriteComponents(e, gdwire.TypeVector3, []float64{1, 2, 3})
//	e.End()
//	return e.Close()
//
// An invalid call returns an [Error] and writes nothing. Errors are sticky, so a program can
// ignore the error of each call and check the one returned by [Encoder.Close], as with
// bufio.Writer.
//
// # Tokens
//
// A value of fixed size is one token. Every other value is a Start token, its
// content and an End token:
//
//	nil, bool, int, float     Nil; Bool; Int32 or Int64; Float32 or Float64
//	Vector2 … Projection      one token of that kind
//	String, StringName        StringChunk, …; Token.Last reports the last chunk
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
// A string of up to [DecoderOptions].MaxChunk bytes is one chunk, so the token of a
// short string holds all of its text, and [Token.Last] is true. Chunks never end
// inside a rune. DictKey marks the start of a key, because a key can be any value.
// [Decoder.AppendString], [Decoder.Payload], [ReadPacked] and [AppendPacked] read
// the content of a string, packed array or image in bulk, up to and including the
// End.
//
// # Formats
//
// A [Format] is a number, and 0 selects the default, [Godot4]. [Godot3] and [Godot2] are the formats of
// older engines. Tokens do not depend on the format: [CopyValue] converts from one format to another
// and returns [ErrRange] or [ErrType] for a value that the other cannot represent.
//
//	                 Godot4                 Godot3           Godot2
//	engines          Godot 4, Redot, Xogot  Godot 3          Godot 2, Mole
//	types            39                     27               29
//	int, float       32 or 64 bits          32 or 64 bits    32 bits
//	math types       32 or 64 bits          32 bits          32 bits
//	declared types   all three kinds        none             none
//	objects          id, serialized         id, serialized   null
//	RID              id                     no id            no id
//	NodePath         new form               new form         both forms, property flag
//	packed strings   end in NUL             end in NUL       end in NUL
//	only here        Callable, Signal,                       Image, InputEvent,
//	                 StringName, Vector4,                    shared bit of a count
//	                 Projection, integer
//	                 vectors
//
// # Leniency
//
// By default a Decoder accepts everything that engines accept: a bool other than 0
// and 1, numbers in 64 bits that fit 32, text after a NUL, padding of any content,
// unknown flags, bit 31 of a count, negative counts of properties and packed
// strings (they mean 0), typed containers with elements of other types, and a last
// PackedByteArray (in Godot 2 also String or Image) without its padding. The
// Decoder returns a leading U+FEFF and the text after a NUL; engines drop both.
//
// A Decoder is stricter than engines in one respect: all text must be UTF-8 as
// Godot 4 defines it. Godot 3 accepts surrogates and overlong forms, and no
// engine checks the text after a NUL. [DecoderOptions].AllowInvalidUTF8 accepts
// them.
//
// [CopyValue] and [Encoder.WriteToken] write values as they were read. An engine
// that rewrites a packet changes more: it cuts strings at a NUL, drops a leading
// U+FEFF, writes numbers in the fewest bits (a NaN in 64) and math types in its own
// precision, replaces ids and classes of unknown objects, writes nil for object id
// 0, drops array elements not of the declared type, and keeps of equal keys the
// first with the last value. CopyValue also copies elements not of the declared
// type, and text with a NUL; WriteToken and the typed calls refuse both.
//
// [DecoderOptions].Strict refuses input that the engines of a format never write:
//
//   - an int or float in 64 bits that fits 32, except an int of Godot 3, because the
//     first version wrote all ints so; in engine formats, a NaN in 32 bits
//   - a bool other than 0 and 1
//   - bits 8 to 15 of a header, and flags that the type does not have
//   - math types of both widths in one value; objects both as ids and serialized
//   - an object with id 0 or without a class, because engines write nil
//   - bit 31 of a count; negative counts
//   - padding other than zero, except after the names of a NodePath and in Godot 2,
//     where engines leave memory content; missing padding (io.ErrUnexpectedEOF)
//   - a NUL in a string; a packed string that does not end in exactly one NUL
//   - NodePath flags other than the first (in Godot 2 also the second), a NodePath
//     in the form of one string, and name counts that overflow 32 bits
//   - array elements and dictionary keys that are not of the declared type; a
//     declared type with id 0; a declared class with an empty name
//   - an InputEvent longer than its type requires
//   - bytes after the value, if the length of the input is known
//
// Strict accepts equal keys, because finding them would require memory: Godot 4
// never writes equal keys, but Godot 3 compares Dictionaries and RIDs by identity
// and writes a dictionary with two keys {}. Strict does not check class names, nor
// which engine version introduced a type.
//
// # Untrusted input
//
// Invalid input returns an [Error] with its offset and path and never causes a
// panic. Apart from the read buffer, memory grows with the bytes received and
// never with a declared count: 32 bytes for each open container, and 35 more once
// its latest key leaves the buffer. Serialized objects name classes and scripts
// of the sender's choice, so they are refused unless
// [DecoderOptions].AllowObjects is set. Methods of [Token] return the zero value
// for tokens of other kinds, because the sender chooses the kind.
//
// The only panic is a programming error: using the payload of a token after the next call on its
// Decoder.
//
// # Errors of the Reader
//
// Errors of the Reader are returned unchanged. After a temporary one, such as a timeout,
// reading can go on:
//
//	call                            state                        what to do
//	ReadToken, PeekKind, SkipTo,    nothing was consumed         call again
//	typed reads of one token
//	AppendString, Payload,          the result contains what     call again with it
//	ReadPacked, AppendPacked        was read
//	Fields, Elements, Pairs         the loop is over             SkipTo leaves the container
//	any call after a loop was left  the rest of the loop's       call again
//	                                value is not skipped yet
//	SkipValue                       Depth is as before           call again
//	                                Depth is larger              SkipTo with the Depth before
//	ReadString, ReadNodePath        Depth is as before           call again
//	                                Depth is larger: some text   SkipTo leaves the value
//	                                is lost
//	CopyValue                       Encoder.Err is nil           call again
//	                                Encoder.Err is not nil: the  SkipTo leaves the value
//	                                output stays incomplete      in the Decoder
//
// # Formats of manuals
//
// [Manual4], [Manual3] and [Manual30] are the formats described by the manuals of the engines and used
// by programs written from a manual. No engine writes them.
//
//	                 Manual4                     Manual3              Manual30
//	manual           4.x of Redot and Xogot      3.x                  3.0
//	types            29                          27                   27
//	int, float       32 or 64 bits               64 bits, 32 bits     32 bits
//	math types       32 bits; 64 with            the same             the same
//	                 DoubleReals, without a flag
//	objects          id, serialized              null                 null
//	RID              no id                       no id                no id
//	NodePath         both forms                  both forms           both forms
//	packed strings   without NUL                 without NUL          without NUL
//
// # Build tags
//
// With the build tag purego, and on big-endian machines, the package does not use
// unsafe.
package gdwire
