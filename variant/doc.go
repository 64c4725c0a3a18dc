// Package variant reads Variants into Go values and writes Go values as Variants:
// structs, maps, slices, and types for what only Godot has.
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//		"os"
//
//		"github.com/gdwire/gdwire/variant"
//	)
//
//	type Save struct {
//		Version int
//		Player  struct {
//			Name     string
//			MaxHP    int // "max_hp"
//			Position variant.Vector3
//		}
//		Inventory []Item
//	}
//
//	type Item struct {
//		ID    int64 `gd:"item_id"`
//		Count int   `gd:",omitzero"`
//	}
//
//	func main() {
//		data, err := os.ReadFile("save.var") // of var_to_bytes
//		if err != nil {
//			log.Fatal(err)
//		}
//		var save Save
//		if err := variant.Unmarshal(data, &save, nil); err != nil {
//			log.Fatal(err)
//		}
//		save.Player.MaxHP += 10
//		if data, err = variant.Marshal(save, nil); err != nil {
//			log.Fatal(err)
//		}
//		if err := os.WriteFile("save.var", data, 0o666); err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(save.Player.Name)
//	}
//
// [Unmarshal] and [Marshal] work on a packet in memory. [UnmarshalDecode] and
// [MarshalEncode] work anywhere in a stream, such as that of a *stream.Conn.
// [Elements] and [Entries] read containers of any size one record at a time.
//
// # Types
//
// The type on the wire decides how a value is read, the Go type how it is written.
//
//	Variant            into any               also into, and from
//	nil                nil                    the zero value of anything; from nil
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
// What Unmarshal puts into an any is written as the same bytes.
//
// A slice of byte, int32, int64, float32, float64, string, Vector2, Vector3,
// Vector4, Color or [2], [3] or [4] floats is written as that packed array where
// the format has it, any other slice as an Array. An array of 2, 3, 9, 12 or 16
// floats, or of 2 or 3 int32, is written as the math type of as many components,
// which are in the order of the wire: those of a Basis row by row. Arrays of 4 or 6
// floats or of 4 int32 need a tag that says which type they are.
//
// # Structs
//
// A struct is a Dictionary. Its exported fields are keys; their names are those of
// the fields in Godot's snake_case (MaxHP is max_hp, HTTPServer http_server, Slot1
// slot_1) or those of their tags, and have to match exactly. A key may be a String
// or a StringName. The fields of embedded structs are as if they were fields of the
// struct itself.
//
//	Field int `gd:"name"`              the key is "name"
//	Field int `gd:"'a, b'"`            the key has a comma
//	Field int `gd:"-"`                 the field is ignored
//	Field int `gd:",omitzero"`         left out if zero, or if its method IsZero says so
//	Field [4]float32 `gd:",type=Color"`   written as a Color
//	Field []int32 `gd:",type=Array"`   written as an Array
//	Rest *variant.Dictionary `gd:",embed"`   collects unknown keys; also map[string]T
//	_ struct{} `gd:",array"`           the struct is an Array of its fields in order
//
// Keys that no field has are skipped in constant memory, or refused with
// [Options].RejectUnknown. A key that comes twice is an error; in a Dictionary the
// last value counts, as in engines. A positional struct leaves fields zero that the
// Array has no element for.
//
// Mistakes in tags and types that cannot be written or read are errors when a type
// is first used.
//
// # Methods
//
// A type that is a [Marshaler] or [Unmarshaler] writes or reads itself. Then come
// the types of this package, then encoding.TextMarshaler, and TextUnmarshaler where
// the wire has text, then the kind of the type. Keys do not use Marshaler and
// Unmarshaler.
//
// # Errors
//
// What the input is to blame for is a [*gdwire.Error] with offset and path; around
// a [*TypeError] if a Go variable cannot hold it:
//
//	gdwire: offset 52, $["player"]["hp"]: String into Go int32 (Player.HP)
//
// # Memory
//
// [gdwire.Limits] bound what the Decoder accepts, [Options].Memory what values take
// in memory: 4 bytes on the wire can be an element of a large struct. Slices and maps
// grow with what has arrived, never from a count.
//
// Unmarshal uses the memory of slices again, those in elements of slices included.
// Pointers and maps in elements are new, so that what was kept of them is not
// changed.
//
// # Beside encoding/json/v2
//
//	                        json/v2                      variant
//	field names             as in Go                     snake_case, as in GDScript
//	case of names           must match                   must match
//	name of a tag           "name", "'a,b'", "-"         the same
//	omitzero                zero or IsZero               the same
//	omitempty, string, …    options                      none; type= chooses the Variant type
//	unknown keys            ,embed of map or RawValue    ,embed of *Dictionary or map
//	RejectUnknownMembers    option                       Options.RejectUnknown
//	duplicate names         error                        error; *Dictionary: the last value counts
//	equal names of fields   error                        error
//	nil slice, nil map      [], {}                       empty Array or packed array, empty Dictionary
//	nil pointer             null                         nil
//	null into anything      zero                         zero
//	map order               random, or Deterministic     sorted
//	keys                    strings                      any type that Go can compare
//	[]byte                  base64                       PackedByteArray
//	number into any         float64                      int64 or float64, as on the wire
//	object into any         map[string]any               *Dictionary, ordered
//	array too long, short   error                        error
//	elements of slices      zeroed first                 the same, but memory is used again
//	entries of maps         merged                       merged
//	MarshalJSONTo           one value, checked           MarshalVariant: one value, checked
package variant
