// Package variant decodes Variants into Go values and encodes Go values as Variants:
// structs, maps, slices, and the package's own types for Variant types that Go lacks.
//
//	type Player struct {
//		Name     string
//		MaxHP    int `gd:",required"` // "max_hp"
//		Position variant.Vector3
//		Rest     *variant.Dictionary `gd:",embed"` // all other keys
//	}
//
//	// train takes bytes of var_to_bytes and returns bytes for bytes_to_var.
//	func train(data []byte) ([]byte, error) {
//		var p Player
//		if err := variant.Unmarshal(data, &p); err != nil {
//			return nil, err // gdwire: offset 44, $.max_hp: String into Go int (Player.MaxHP)
//		}
//		p.MaxHP += 10
//		return variant.Marshal(p)
//	}
//
// A call taking a whole input ([Unmarshal], [UnmarshalRead], [Validate], [Receive],
// File.Unmarshal of package savefile) returns an error if bytes follow the values. A call
// taking a Decoder reads the next value.
//
// [UnmarshalFirst] is for consecutive values in memory. [UnmarshalDecode] and [MarshalEncode] work
// anywhere in a stream. [Receive] and [Send] are for packets, such as those of a *stream.Conn.
// [Elements] and [Entries] read containers of any size one record at a time.
//
// # Types
//
// A Variant of each type can be decoded into an any and into several Go types. The
// same Go types are encoded as that type.
//
//	Variant            into any               also into, and from
//	nil                nil                    the zero value of any type; from nil
//	bool               bool                   any bool kind
//	int                int64                  any number kind that holds it
//	float              float64                any number kind that holds it; float32 rounds
//	String             string                 any string kind, TextUnmarshaler
//	StringName         StringName             the same
//	NodePath           NodePath               the same
//	Vector2 … Color    Vector2 … Color        arrays and structs of as many floats or int32
//	Array              *Array                 slices, arrays, positional structs
//	Dictionary         *Dictionary            maps, structs
//	packed arrays      []byte … []Color       slices and arrays of such elements
//	RID                RID
//	Object             ObjectID or *Object
//	Signal, Callable   Signal, Callable
//	Image, InputEvent  Image, InputEvent      (Godot 2)
//	any of these       —                      Raw
//
// Unmarshal into an any, and Marshal, restore the bytes of a value written by an engine, if Encoder.DoubleReals
// is the result of [Raw.DoubleReals] for the bytes. Types, declared types of elements, the order of pairs, and
// the bits of numbers are kept. The following are not kept: a width of 64 bits in numbers written by engines in
// 32 bits, a single NaN of 32 bits (engines never write one; Marshal writes a quiet NaN of 64 bits), the
// content of padding, flags without meaning in headers, the bit of Godot 2 for shared containers, an object
// without a class (encoded as nil), and of equal keys all values but the last.
//
// A slice of byte, int32, int64, float32, float64, string, Vector2, Vector3, Vector4, Color or
// [2], [3] or [4] floats is encoded as the corresponding packed array, and as an Array in a
// format without it. Other slices are encoded as an Array. An array of 2, 3, 9, 12 or 16
// floats, or of 2 or 3 int32, is encoded as the math type with this number of components.
// Several types have 4 or 6 floats or 4 int32, so arrays of these need a tag with the type.
// Other arrays are encoded like slices: a [n]Vector3 is a PackedVector3Array for every n, and
// takes no other math type. A struct takes no math type if one of the fields is ignored.
//
// # Choosing the Variant type
//
// A Go value is encoded as one type, even if it was decoded from another. A type= in the tag of a
// field selects the type:
//
//	Go                           encoded as           with type=
//	bool                         bool
//	integers                     int                  float
//	float32, float64             float                int
//	strings                      String               StringName, NodePath
//	text of TextMarshaler        String               StringName, NodePath
//	time.Time                    String, see Methods  StringName
//	[]byte … []Color             packed array         Array, Array[int], another packed array
//	[]string                     PackedStringArray    Array, Array[String], Array[StringName], …
//	other slices                 Array                Array[Dictionary], Array[Node2D], Array['res://a.gd'], …
//	[2]float32 … [16]float64     Vector2 … Projection another math type, Array, Array[float]
//	other arrays                 as slices            as slices
//	maps                         Dictionary           Dictionary[StringName, int], …
//	structs                      Dictionary           a math type with as many components
//	types of this package        that type            StringName, NodePath and String for each other
//	any                          the value inside
//
// Elements, keys and values of a container with declared types are encoded as these: the strings of an
// Array[StringName] are StringNames. GDScript assigns an Array[int] only to a variable of type Array
// or Array[int], so a field for a typed variable of a script needs the same type. Engines read the
// names of classes and scripts only with objects allowed, as get_var(true) does; 0 in an Array[Node2D]
// of ObjectIDs is null. Formats other than Godot4 have no declared types, and the container is
// untyped there. Unmarshal accepts the same values with and without a type=.
//
// A field of type any, *[Array], *[Dictionary] or [Raw] keeps the type of the decoded value. Unmarshal replaces
// the value of an any, also a pointer.
//
// # Structs
//
// A struct is a Dictionary with the names of the exported fields as keys. A field is named by its tag, or
// by its Go name in Godot's snake_case: MaxHP is max_hp, HTTPServer is http_server, Slot1 is slot_1. Names
// must match exactly. A key can be a String or a StringName. The fields of embedded structs are treated as
// fields of the struct itself, except those with the name of a less deeply embedded field that is not
// ignored. An embedded type of another kind needs a name in the tag, and is ignored if not exported.
//
//	Field int `gd:"name"`              the key is "name"
//	Field int `gd:"'a, b'"`            the key contains a comma; escapes are as in Go
//	Field int `gd:"-"`                 the field is ignored
//	Field int `gd:",omitzero"`         omitted if IsZero returns true or, without this method, if zero or -0.0
//	Field int `gd:",required"`         decoding is an error if the key is missing
//	Field [4]float32 `gd:",type=Color"`   encoded as a Color
//	Field []int32 `gd:",type=Array[int]"`   encoded as an Array[int]
//	Field int `gd:"name,was=old"`      the key "old" is read, too, and never written; several are possible
//	Field string `gd:",max=64"`        more bytes of text, elements or pairs are an error before they are read
//	Rest *variant.Dictionary `gd:",embed"`   collects unknown keys, encoded last; also map[string]T, map[StringName]T
//	_ struct{} `gd:",array"`           the struct is an Array of its fields in order
//
// A field keeps its value if the key is missing. For a required field, this is an error with the path of the
// key. A nil has no keys. Keys without a field, such as misspelt ones, are skipped in constant memory, or with
// [Options].RejectUnknown are an error naming a similar field. If all fields are pointers to structs with
// omitzero, such as one for each kind of message, a Dictionary of unknown keys alone is an error, too: it is
// a message of an unknown kind. A duplicate key, also a name and an old name, is an error for structs and
// maps, and so are two keys of a map encoded as the same key, such as a string and a StringName with the same
// text, and a key with a NaN, found by no map. A *Dictionary keeps the last value, as engines do, and all keys with
// NaNs. In a positional struct, fields beyond the end of the Array become zero.
//
// Invalid tags, and types that cannot be encoded or decoded, are errors when a type is first used,
// whatever the value: a test encoding and decoding a zero value finds them, as in the Example CheckTags.
// One such type is a struct of unexported fields without tags, such as a sync.Mutex, also if embedded.
//
// # Methods
//
// The first applicable rule decides how a type is encoded or decoded: the methods of [Marshaler] and
// [Unmarshaler], the types of this package, encoding.TextMarshaler and, for text,
// encoding.TextUnmarshaler, and the kind of the type. Marshaler and Unmarshaler are not used for keys.
//
// A time.Time is text in RFC 3339, as in encoding/json. Godot ignores the offset of a zone in such text, so
// encode times in UTC, by t.UTC(). Text from Godot without a zone is decoded as UTC: let the game send
// Time.get_datetime_string_from_system(true) + "Z", where true selects UTC.
//
// A list of a type with any of these methods is encoded as an Array. It is decoded from an Array
// or a PackedStringArray, but not from packed numbers or a math type, because methods cannot
// read components. A type= in a tag cannot replace MarshalVariant.
//
// The methods of embedded types are promoted to the struct: a struct with an embedded time.Time would be
// encoded as the text of the time alone. This is an error if the struct contains other fields, or embeds a
// pointer or interface, because the method would panic for nil.
//
// # Errors
//
// Invalid input is a [*gdwire.Error] with offset and path. If a Go variable cannot hold
// a value, this error wraps a [*TypeError]:
//
//	gdwire: offset 52, $.player.hp: String into Go int32 (Player.HP)
//
// If the data of Unmarshal, UnmarshalFirst or UnmarshalRead is no value but a file with lengths, a
// compressed or encrypted file, or JSON, the error also says how to read the data:
//
//	gdwire: offset 0, $: serialized objects are not allowed; the data is 2 values after their lengths: read them with package savefile
//
// # Memory
//
// [gdwire.Limits] bounds the input accepted by the Decoder, and [Options].MaxMemory the memory of
// the decoded values: 4 bytes of input can become an element of a large struct. Slices and maps
// grow with the elements received, never by a declared count. Values inside more than 10,000
// containers, pointers among them, are a [gdwire.LimitError] whatever the Decoder's limit.
//
// Unmarshal reuses the memory of slices, up to their capacity. Elements of slices and arrays are made
// zero first: Unmarshal allocates new memory for slices, pointers and maps inside elements, because
// other elements, and copies kept by a program, can refer to the old memory. A slice is allocated
// anew if the old memory overlaps a variable or another slice filled by the same call, and after 16
// of these. Outside elements, Unmarshal follows pointers and maps: two equal pointers or maps lead to
// one variable, set by the later value. An UnmarshalDecode called by an UnmarshalVariant counts as a
// separate call. Strings of up to 32 bytes are allocated in blocks of 128 bytes, and the variables of
// such strings and of numbers in interfaces in blocks of 64 bytes referring to no memory but these
// strings. A block stays in memory as long as any of its strings or numbers.
//
// # Comparison with encoding/json/v2
//
//	                         json/v2                      variant
//	field names              as in Go                     snake_case, as in GDScript
//	case of names            must match                   must match
//	names in tags            name                         name, 'a,b', '\t', '-'
//	omitzero                 zero or IsZero               the same
//	omitempty, string, …     options                      none; type= chooses the Variant type
//	unknown keys             ,embed of map or Value       ,embed of *Dictionary or map
//	  encoded                after the fields             after the fields
//	missing keys             no error                     no error, or required
//	unknown keys rejected    RejectUnknownMembers         Options.RejectUnknown
//	duplicate keys           error                        error; *Dictionary keeps the last value
//	equal keys of a map      error                        error
//	equal names of fields    error                        error
//	  in embedded structs    only a single tagged one     error
//	names at two depths      the outer hides the inner    the same
//	name of an ignored field hides none                   the same
//	embedded non-structs     need a name                  need a name, or are not exported
//	no exported fields       error                        error
//	methods of embedded      encode the whole struct      error if they leave out fields
//	nil slice, nil map       [], {}                       empty Array or packed array, empty Dictionary
//	nil pointer              null                         nil
//	null into a variable     zero                         zero
//	names from before        none                         was=
//	maximum lengths          none                         max=
//	map order                random, or Deterministic     sorted
//	keys of maps             text, numbers, any           text, numbers, bool, math types, any
//	[]byte                   base64                       PackedByteArray
//	number into any          float64                      int64 or float64, as encoded
//	pointer in an any        decoded into                 replaced
//	object into any          map[string]any               *Dictionary, ordered
//	array too long, short    error                        error
//	elements of slices       zeroed first                 the same
//	entries of maps          merged                       merged
//	MarshalJSONTo            must write one value         MarshalVariant must write one value
package variant
