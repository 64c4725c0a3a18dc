package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// An invalid call writes nothing, and after ClearError a valid one can follow. Its error says where it would have been, and why.
func TestInvalidCalls(t *testing.T) {
	for _, c := range []struct {
		name   string
		before []step
		refuse []misuse
		after  []step
		want   []byte
	}{
		{"nothing open", nil, []misuse{
			{"$: End without a matching Begin", end, ErrCall},
			{"$: Write where a value is expected", write("x"), ErrMisplacedKey},
			{"$: WritePacked where a value is expected", floats, ErrMisplacedKey},
			{"$: Property where a value is expected", property, ErrMisplacedKey},
			{"$: DictKey where no key is expected", dictKey, ErrMisplacedKey},
			{"$: not a token", token(Token{}), ErrCall},
			{"$: count of -2 is out of range", array(-2), ErrRange},
			{"$: count of -2 is out of range", dict(-2), ErrRange},
			{"$: count of -2 is out of range", text(TypeString, -2), ErrRange},
			{"$: count of 2147483648 is out of range", text(TypeString, math.MaxInt32+1), ErrRange},
			{"$: count of -2 is out of range", packedOf(TypePackedByteArray, -2), ErrRange},
			{"$: count of 2147483648 is out of range", packedOf(TypePackedByteArray, math.MaxInt32+1), ErrRange},
			{"$: NodePath of -1 names and 0 sub-names", path(-1, 0), ErrRange},
			{"$: NodePath of 0 names and -1 sub-names", path(0, -1), ErrRange},
			{"$: NodePath of 2147483647 names and 1 sub-names", path(math.MaxInt32, 1), ErrRange},
			{fmt.Sprintf("$: NodePath of 1 names and %d sub-names", math.MaxInt), path(1, math.MaxInt), ErrRange},
			{"$: NodePath of 2147483648 names and 0 sub-names", token(newToken(KindNodePathStart, TypeNodePath, 0, 1<<31)), ErrRange},
			{"$: NodePath with two colons in a row", func(e *Encoder) error { return e.WriteNodePath("a::b") }, ErrRange},
			{"$: godot4 has no NodePath of one string", token(newToken(KindNodePathStart, TypeNodePath, flagOldNodePath, 1)), ErrType},
			{"$: int is not a string type", text(TypeInt, 1), ErrCall},
			{"$: godot4 has no Image", packedOf(TypeImage, 1), ErrType},
			{"$: godot4 has no Type(0)", text(0, 1), ErrType},
			{"$: godot4 has no Type(200)", packedOf(200, 1), ErrType},
			{"$: NodePath is not a string type", text(TypeNodePath, 1), ErrCall},
			{"$: Array is not a packed array type", packedOf(TypeArray, 1), ErrCall},
			{"$: invalid UTF-8", func(e *Encoder) error { return e.WriteString("a\xff") }, ErrUTF8},
			{"$: invalid UTF-8", func(e *Encoder) error { return e.WriteStringName("\xc3") }, ErrUTF8},
			{"$: invalid UTF-8", func(e *Encoder) error { return e.WriteSignal("\xc3", 0) }, ErrUTF8},
			{"$: invalid UTF-8", func(e *Encoder) error { return e.WriteNodePath("a/\xc3") }, ErrUTF8},
			{"$: invalid UTF-8", func(e *Encoder) error { return e.BeginObject("\xc3", 0) }, ErrUTF8},
			{"$: properties of an object without a class", func(e *Encoder) error { return e.BeginObject("", 1) }, ErrCount},
			{"$: properties of an object without a class", func(e *Encoder) error { return e.BeginObject("", Unknown) }, ErrCount},
			{"$: Vector3 has 3 components, not 2", func(e *Encoder) error { return WriteComponents(e, TypeVector3, []float64{1, 2}) }, ErrCall},
			{"$: Vector2i has 2 components, not 3", func(e *Encoder) error { return WriteComponents(e, TypeVector2i, []int32{1, 2, 3}) }, ErrCall},
			{"$: Vector2i has no such components", func(e *Encoder) error { return WriteComponents(e, TypeVector2i, []float64{1, 2}) }, ErrCall},
			{"$: Vector2 has no such components", func(e *Encoder) error { return WriteComponents(e, TypeVector2, []int32{1, 2}) }, ErrCall},
			{"$: String has no such components", func(e *Encoder) error { return WriteComponents(e, TypeString, []float64{}) }, ErrCall},
			{"$: 1.7976931348623157e+308 does not fit 32 bits", func(e *Encoder) error { return WriteComponents(e, TypeVector2, []float64{1, math.MaxFloat64}) }, ErrRange},
			{"$: godot4 has no Image", func(e *Encoder) error { return e.BeginImage(0, 0, 1, 1, 1) }, ErrType},
			{"$: godot4 has no InputEvent", func(e *Encoder) error { return e.WriteInputEvent(0, 0, nil) }, ErrType},
			{"$: empty raw value", func(e *Encoder) error { return e.WriteRaw(nil) }, ErrCount},
			{"$: 4 bytes after the raw value", func(e *Encoder) error { return e.WriteRaw(bytesOf(idNil, idNil)) }, ErrCount},
			{"$: Chunk where a value is expected", token(elements(TypePackedByteArray, wire.Byte, 1, []byte{1})), ErrMisplacedKey},
			{"$: invalid UTF-8", token(chunkOf(TypeString, 9, "\xff", false)), ErrUTF8},
			{"$: chunk of 3 bytes in a string of 2", token(chunkOf(TypeString, 2, "abc", false)), ErrCount},
			{"$: count of -2 is out of range", token(chunkOf(TypeString, -2, "abc", false)), ErrRange},
			{"$: NodePath is not a string type", token(chunkOf(TypeNodePath, 9, "abc", false)), ErrCall},
			{"$: count of -2 is out of range", func(e *Encoder) error { return e.BeginObject("A", -2) }, ErrRange},
		}, []step{intSeven}, integer(7)},

		{"an array full", []step{array(1), writeNil}, []misuse{
			{"$: Nil after the declared 1 elements", writeNil, ErrCount},
			{"$: String after the declared 1 elements", stringX, ErrCount},
			{"$: int after the declared 1 elements", raw, ErrCount},
			{"$: DictKey where no key is expected", dictKey, ErrMisplacedKey},
			{"$: Property after the declared 1 elements", property, ErrCount},
			{"$: Write after the declared 1 elements", write("x"), ErrCount},
			{"$: Write after the declared 1 elements", write(""), ErrCount},
			{"$: WritePacked after the declared 1 elements", floats, ErrCount},
			{"$: WritePacked after the declared 1 elements", func(e *Encoder) error { return WritePacked[byte](e, nil) }, ErrCount},
		}, []step{end}, bytesOf(idArray, 1, idNil)},

		{"an array not full", []step{array(2), writeNil}, []misuse{
			{fmt.Sprintf("$[1]: NodePath of 1 names and %d sub-names", math.MaxInt), path(1, math.MaxInt), ErrRange}, // on the fast path
			{"$[1]: End after 1 of the declared 2", end, ErrCount},
			{"$[1]: DictKey where no key is expected", dictKey, ErrMisplacedKey},
			{"$[1]: Property where a value is expected", property, ErrMisplacedKey},
			{"$[1]: Write where a value is expected", write("x"), ErrMisplacedKey},
			{"$[1]: WritePacked where a value is expected", floats, ErrMisplacedKey},
		}, []step{writeNil, end}, bytesOf(idArray, 2, idNil, idNil)},

		{"a dictionary between pairs", []step{dict(2), stringX, writeNil}, []misuse{
			{"$.key(1): End after 1 of the declared 2", end, ErrCount},
			{"$.key(1): Property where a value is expected", property, ErrMisplacedKey},
			{"$.key(1): Write where a value is expected", write("x"), ErrMisplacedKey},
		}, []step{dictKey, stringX, writeNil, end}, bytesOf(idDict, 2, str("x"), idNil, str("x"), idNil)},

		{"a dictionary after a marker", []step{dict(1), dictKey}, []misuse{
			{"$.key(0): DictKey where no key is expected", dictKey, ErrMisplacedKey},
			{"$.key(0): End after a key without a value", end, ErrMisplacedKey},
			{"$.key(0): Property where a value is expected", property, ErrMisplacedKey},
		}, []step{stringX, writeNil, end}, bytesOf(idDict, 1, str("x"), idNil)},

		{"a dictionary after a key", []step{dict(1), stringX}, []misuse{
			{"$.value(0): DictKey where no key is expected", dictKey, ErrMisplacedKey},
			{"$.value(0): End after a key without a value", end, ErrMisplacedKey},
		}, []step{writeNil, end}, bytesOf(idDict, 1, str("x"), idNil)},

		{"a dictionary of unknown size after a key", []step{dict(Unknown), stringX}, []misuse{
			{"$.value(0): DictKey where no key is expected", dictKey, ErrMisplacedKey},
			{"$.value(0): End after a key without a value", end, ErrMisplacedKey},
		}, []step{writeNil, end}, bytesOf(idDict, 1, str("x"), idNil)},

		{"a dictionary of unknown size after a marker", []step{dict(Unknown), dictKey}, []misuse{
			{"$.key(0): DictKey where no key is expected", dictKey, ErrMisplacedKey},
			{"$.key(0): End after a key without a value", end, ErrMisplacedKey},
		}, []step{stringX, writeNil, end}, bytesOf(idDict, 1, str("x"), idNil)},

		{"a dictionary full", []step{dict(1), stringX, writeNil}, []misuse{
			{"$: String after the declared 1 pairs", stringX, ErrCount},
			{"$: DictKey where no key is expected", dictKey, ErrMisplacedKey},
		}, []step{end}, bytesOf(idDict, 1, str("x"), idNil)},

		{"an object", []step{func(e *Encoder) error { return e.BeginObject("A", 1) }}, []misuse{
			{"$.key(0): Nil where a property name is expected", writeNil, ErrMisplacedKey},
			{"$.key(0): String where a property name is expected", stringX, ErrMisplacedKey},
			{"$.key(0): DictKey where no key is expected", dictKey, ErrMisplacedKey},
			{"$.key(0): End after 0 of the declared 1", end, ErrCount},
			{"$.key(0): invalid UTF-8", func(e *Encoder) error { return e.WriteProperty("\xc3") }, ErrUTF8},
		}, []step{property, writeNil, end}, bytesOf(idObject, "A", 1, "p", idNil)},

		{"an object after a name", []step{func(e *Encoder) error { return e.BeginObject("A", Unknown) }, property}, []misuse{
			{"$.value(0): Property where a value is expected", property, ErrMisplacedKey},
			{"$.value(0): End after a key without a value", end, ErrMisplacedKey},
		}, []step{writeNil, end}, bytesOf(idObject, "A", 1, "p", idNil)},

		{"null", []step{func(e *Encoder) error { return e.BeginObject("", 0) }}, []misuse{
			{"$: Property after the declared 0 properties", property, ErrCount},
		}, []step{end}, bytesOf(idObject, "")},

		{"a path", []step{path(1, 1)}, []misuse{
			{"$[0]: int where a string of a NodePath is expected", intSeven, ErrCall},
			{"$[0]: String where a string of a NodePath is expected", func(e *Encoder) error { return e.WriteRaw(str("x")) }, ErrCall},
			{"$[0]: End after 0 of the declared 2", end, ErrCount},
			{"$[0]: invalid UTF-8", func(e *Encoder) error { return e.WriteString("\xc3") }, ErrUTF8},
		}, []step{stringX, text(TypeString, 1), write("y"), end, end}, bytesOf(idPath, newPath(1), 1, 0, "x", "y")},

		{"a path full", []step{path(1, 0), stringX}, []misuse{
			{"$: String after the declared 1 names", stringX, ErrCount},
		}, []step{end}, bytesOf(idPath, newPath(1), 0, 0, "x")},

		{"packed strings", []step{packedOf(TypePackedStringArray, 1)}, []misuse{
			{"$[0]: int where a string of a PackedStringArray is expected", intSeven, ErrCall},
			{"$[0]: Write where a string of a PackedStringArray is expected", write("x"), ErrCall},
			{"$[0]: WritePacked where a string of a PackedStringArray is expected", floats, ErrCall},
			{"$[0]: End after 0 of the declared 1", end, ErrCount},
		}, []step{stringX, end}, bytesOf(idStrings, 1, "x\x00")},

		{"packed strings full", []step{packedOf(TypePackedStringArray, 1), stringX}, []misuse{
			{"$: String after the declared 1 elements", stringX, ErrCount},
			{"$: WritePacked after the declared 1 elements", floats, ErrCount},
		}, []step{end}, bytesOf(idStrings, 1, "x\x00")},

		{"a packed string in chunks", []step{packedOf(TypePackedStringArray, 1), token(chunkOf(TypePackedStringArray, 3, "ab", false))}, []misuse{
			{"$[0]: chunk of 2 bytes where 1 are left", token(chunkOf(TypePackedStringArray, 3, "cd", true)), ErrCount},
			{"$[0]: chunk of 2 bytes where 1 are left", token(chunkWithNUL(4, "cd", false)), ErrCount},
		}, []step{token(chunkOf(TypePackedStringArray, 3, "c", true)), end}, bytesOf(idStrings, 1, "abc\x00")},

		{"no packed strings", []step{packedOf(TypePackedStringArray, 0)}, []misuse{
			{"$: String after the declared 0 elements", stringX, ErrCount},
			{"$: String after the declared 0 elements", text(TypeString, 1), ErrCount},
		}, []step{end}, bytesOf(idStrings, 0)},

		{"a string", []step{text(TypeString, 3), write("a")}, []misuse{
			{"$: 3 bytes after 1 of the declared 3", write("bcd"), ErrCount},
			{"$: chunk of 3 bytes where 2 are left", token(chunkOf(TypeString, 3, "bcd", true)), ErrCount},
			{"$: chunk of 1 bytes where 2 are left", token(chunkOf(TypeString, 3, "b", true)), ErrCount},
			{"$: End after 1 of the declared 3", end, ErrCount},
			{"$: int inside a String", intSeven, ErrIncomplete},
			{"$: String inside a String", text(TypeString, 1), ErrIncomplete},
			{"$: WritePacked inside a String", floats, ErrIncomplete},
			{"$: invalid UTF-8", write("\xff"), ErrUTF8},
			{"$: invalid UTF-8", token(chunkOf(TypeString, 3, "\xff", false)), ErrUTF8},
			{"$: invalid UTF-8", write("b\xc3"), ErrUTF8},
			{"$: Chunk inside a String", token(elements(TypePackedByteArray, wire.Byte, 1, []byte{1})), ErrIncomplete},
		}, []step{write(""), write("bc"), write(""), end}, str("abc")},

		{"a string whose first chunk is all of it", []step{token(chunkOf(TypeString, 3, "abc", false))}, []misuse{
			{"$: chunk of 1 bytes where 0 are left", token(chunkOf(TypeString, 3, "d", true)), ErrCount},
		}, []step{token(chunkOf(TypeString, 3, "", true))}, str("abc")},

		{"a string full", []step{text(TypeString, 1), write("a")}, []misuse{
			{"$: 1 bytes after the declared 1 × 1", write("b"), ErrCount},
			{"$: int after the declared 1 bytes", intSeven, ErrCount},
		}, []step{end}, str("a")},

		{"inside a rune", []step{text(TypeString, Unknown), write("\xe2\x82")}, []misuse{
			{"$: End inside a rune", end, ErrUTF8},
			{"$: invalid UTF-8", write("x"), ErrUTF8},
			{"$: invalid UTF-8", write("\xe2"), ErrUTF8},
			{"$: invalid UTF-8", token(chunkOf(TypeString, 3, "x", true)), ErrUTF8},
			{"$: invalid UTF-8", token(chunkOf(TypeString, 3, "\xac", true)), ErrUTF8},
		}, []step{write("\xac"), end}, str("€")},

		{"packed numbers", []step{packedOf(TypePackedFloat32Array, 2), write("abc")}, []misuse{
			{"$: 6 bytes after 0 of the declared 2 elements", write("123456"), ErrCount},
			{"$: End after 0 of the declared 2", end, ErrCount},
			{"$: 1 elements after 0 of the declared 2", func(e *Encoder) error { return WritePacked(e, []float32{1}) }, ErrCount},
			{"$: 1 elements after 0 of the declared 2", token(elements(TypePackedFloat32Array, wire.Float32, 1, bytesOf(0))), ErrCount},
			{"$: int inside a PackedFloat32Array", intSeven, ErrIncomplete},
		}, []step{write("d"), func(e *Encoder) error { return WritePacked(e, []float32{1}) }, end}, bytesOf(idFloats, 2, []byte("abcd"), float32(1))},

		{"packed numbers of unknown size", []step{packedOf(TypePackedFloat32Array, Unknown), write("abc")}, []misuse{
			{"$: End inside an element", end, ErrCount},
		}, []step{write("d"), end}, bytesOf(idFloats, 1, []byte("abcd"))},

		{"packed numbers from slices", []step{packedOf(TypePackedFloat32Array, 2)}, []misuse{
			{"$: got elements of 1 × int32, want 1 × float32", func(e *Encoder) error { return WritePacked(e, []int32{1}) }, ErrCall},
			{"$: got elements of 1 × int32, want 1 × float32", func(e *Encoder) error { return WritePacked(e, []int32{}) }, ErrCall},
			{"$: got elements of 2 × float32, want 1 × float32", func(e *Encoder) error { return WritePacked(e, [][2]float32{{1, 2}}) }, ErrCall},
			{"$: element does not fit 32 bits", func(e *Encoder) error { return WritePacked(e, []float64{1, -math.MaxFloat64}) }, ErrRange},
			{"$: 3 elements after 0 of the declared 2", func(e *Encoder) error { return WritePacked(e, []float64{1, 2, 3}) }, ErrCount},
			{"$: 3 elements after 0 of the declared 2", token(elements(TypePackedFloat32Array, wire.Float32, 3, make([]byte, 12))), ErrCount},
			{"$: chunk of a PackedInt32Array in a PackedFloat32Array", token(elements(TypePackedInt32Array, wire.Int32, 1, make([]byte, 4))), ErrCall},
			{"$: chunk of a PackedVector2Array in a PackedFloat32Array", token(elements(TypePackedVector2Array, wire.Float32, 1, make([]byte, 8))), ErrCall},
			{"$: 0.1 does not fit 32 bits", token(elements(TypePackedFloat64Array, wire.Float64, 1, bytesOf(0.1))), ErrRange},
		}, []step{token(elements(TypePackedFloat64Array, wire.Float64, 1, bytesOf(0.5))), func(e *Encoder) error { return WritePacked(e, []float64{1}) }, end},
			bytesOf(idFloats, 2, float32(0.5), float32(1))},

		{"packed vectors", []step{packedOf(TypePackedVector2Array, 2)}, []misuse{
			{"$: got elements of 1 × float32, want 2 × float32", floats, ErrCall},
			{"$: element does not fit 32 bits", func(e *Encoder) error { return WritePacked(e, [][2]float64{{1, 1e300}}) }, ErrRange},
			{"$: 3 elements after 0 of the declared 2", func(e *Encoder) error { return WritePacked(e, make([][2]float64, 3)) }, ErrCount},
		}, []step{func(e *Encoder) error { return WritePacked(e, make([][2]float64, 2)) }, end}, bytesOf(idVectors2, 2, uint64(0), uint64(0))},

		{"packed numbers full", []step{packedOf(TypePackedFloat32Array, 1), write("abcd")}, []misuse{
			{"$: 1 bytes after the declared 1 × 4", write("e"), ErrCount},
			{"$: WritePacked after the declared 1 elements", floats, ErrCount},
			{"$: int after the declared 1 elements", intSeven, ErrCount},
		}, []step{write(""), func(e *Encoder) error { return WritePacked[float32](e, nil) }, end}, bytesOf(idFloats, 1, []byte("abcd"))},

		{"packed numbers full from a slice", []step{packedOf(TypePackedFloat32Array, 2), floats}, []misuse{
			{"$: int after the declared 2 elements", intSeven, ErrCount},
			{"$: WritePacked after the declared 2 elements", floats, ErrCount},
			{"$: Chunk after the declared 2 elements", token(elements(TypePackedFloat32Array, wire.Float32, 1, bytesOf(0))), ErrCount},
		}, []step{end}, bytesOf(idFloats, 2, float32(1), float32(2))},

		{"ints into ints", []step{packedOf(TypePackedInt32Array, 1)}, []misuse{
			{"$: got elements of 1 × int64, want 1 × int32", func(e *Encoder) error { return WritePacked(e, []int64{1}) }, ErrCall},
			{"$: got elements of 1 × float32, want 1 × int32", floats, ErrCall},
			{"$: chunk of a PackedFloat64Array in a PackedInt32Array", token(elements(TypePackedFloat64Array, wire.Float64, 1, bytesOf(0.5))), ErrCall},
		}, []step{func(e *Encoder) error { return WritePacked(e, []byte{200}) }, end}, bytesOf(idInts, 1, 200)},

		{"a typed array", []step{typedArray(1, Elem{Type: TypeString})}, []misuse{
			{"$[0]: int in a container of String", intSeven, ErrType},
			{"$[0]: StringName in a container of String", stringName, ErrType},
			{"$[0]: Nil in a container of String", writeNil, ErrType},
			{"$[0]: int in a container of String", raw, ErrType},
			{"$[0]: StringName in a container of String", text(TypeStringName, 1), ErrType},
			{"$[0]: StringName in a container of String", token(chunkOf(TypeStringName, 1, "x", true)), ErrType},
			{"$[0]: Array in a container of String", emptyArray, ErrType},
		}, []step{stringX, end}, bytesOf(idArray|typedBy*1, idString, 1, str("x"))},

		{"an array of a class", []step{typedArray(2, Elem{Class: "Node"})}, []misuse{
			{"$[0]: int in a container of Object", intSeven, ErrType},
			{"$[0]: String in a container of Object", stringX, ErrType},
		}, []step{writeNil, func(e *Encoder) error { return e.WriteObjectID(5) }, end},
			bytesOf(idArray|typedBy*2, "Node", 2, idNil, idObject|bit16, uint64(5))},

		{"a typed dictionary", []step{typedDict(1, Elem{Type: TypeInt}, Elem{Type: TypeString})}, []misuse{
			{"$.key(0): String in a container of int", stringX, ErrType},
			{"$.key(0): Nil in a container of int", writeNil, ErrType},
		}, []step{dictKey, intSeven, intSeven, end}, // engines do not check the types of values
			bytesOf(idDict|typedBy*1|valuesBy*1, idInt, idString, 1, integer(7), integer(7))},

		{"a typed dictionary after its marker", []step{typedDict(1, Elem{Type: TypeInt}, Elem{}), dictKey}, []misuse{
			{"$.key(0): String in a container of int", stringX, ErrType},
		}, []step{intSeven, intSeven, end}, bytesOf(idDict|typedBy*1, idInt, 1, integer(7), integer(7))},

		{"absurd declarations", nil, []misuse{
			{"$: godot4 has no containers of Nil", typedArray(0, Elem{Type: TypeNil}), ErrType},
			{"$: godot4 has no containers of Image", typedArray(0, Elem{Type: TypeImage}), ErrType},
			{"$: godot4 has no containers of Type(200)", typedArray(0, Elem{Type: 200}), ErrType},
			{"$: godot4 has no containers of Type(200)", typedDict(0, Elem{Type: 200}, Elem{}), ErrType},
			{"$: godot4 has no containers of InputEvent", typedDict(0, Elem{}, Elem{Type: TypeInputEvent}), ErrType},
			{"$: invalid UTF-8", typedArray(0, Elem{Class: "\xff"}), ErrUTF8},
			{"$: invalid UTF-8", typedDict(0, Elem{}, Elem{Script: "\xff"}), ErrUTF8},
			{"$: container of an unknown type", token(ArrayStart(0, Elem{Type: TypeNil})), ErrType},
			{"$: container of an unknown type", token(ArrayStart(0, Elem{Type: 200})), ErrType},
			{"$: container of an unknown type", token(DictStart(0, Elem{}, Elem{Type: 200})), ErrType},
			{"$: invalid UTF-8", token(ArrayStart(0, Elem{Class: "\xff"})), ErrUTF8},
			{"$: invalid UTF-8", token(DictStart(0, Elem{Type: TypeInt}, Elem{Class: "\xff"})), ErrUTF8},
			{"$: container of an unknown type", token(DictStart(0, Elem{Class: "A"}, Elem{Type: 200})), ErrType},
			{"$: count of -2 is out of range", token(ArrayStart(-2, Elem{})), ErrRange},
		}, []step{token(DictStart(0, Elem{Type: TypeInt}, Elem{Script: "res://a"})), end},
			bytesOf(idDict|typedBy*1|valuesBy*3, idInt, "res://a", 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			e := NewEncoder(&b, nil)
			run := func(steps []step) {
				for i, s := range steps {
					require.NoError(t, s(e), "step %d", i)
				}
			}
			run(c.before)
			for _, m := range c.refuse {
				m.fails(t, e)
			}
			run(c.after)
			require.NoError(t, e.Close())
			require.Equal(t, c.want, b.Bytes())
		})
	}
}

// Types that a format does not have are errors, and those it has instead are
// written.
func TestTypesTheFormatLacks(t *testing.T) {
	allow := func(f Format, s ...step) []byte {
		return encoded(t, &EncoderOptions{Format: f}, func(e *Encoder) {
			for _, s := range s {
				require.NoError(t, s(e))
			}
		})
	}
	refuse := func(f Format, m ...misuse) {
		e := NewEncoder(io.Discard, &EncoderOptions{Format: f})
		defer e.Close()
		for _, m := range m {
			m.fails(t, e)
		}
	}
	bigInt := step(func(e *Encoder) error { return e.WriteInt(1 << 31) })
	tenth := step(func(e *Encoder) error { return e.WriteFloat(0.1) })
	object := step(func(e *Encoder) error { return e.BeginObject("Node", 0) })
	objectID := step(func(e *Encoder) error { return e.WriteObjectID(5) })
	wideVector := newToken(KindVector2, TypeVector2, tokenFlags(wire.Float64), 0).withPayload(bytesOf(0.1, 0.2))
	oldNodePath := newToken(KindNodePathStart, TypeNodePath, flagOldNodePath, 1)

	refuse(Godot3,
		misuse{"$: godot3 has no StringName", stringName, ErrType},
		misuse{"$: godot3 has no PackedInt64Array", packedOf(TypePackedInt64Array, 0), ErrType},
		misuse{"$: godot3 has no typed containers", typedArray(0, Elem{Type: TypeInt}), ErrType},
		misuse{"$: godot3 has no typed containers", token(ArrayStart(0, Elem{Type: TypeInt})), ErrType},
		misuse{"$: godot3 has no typed containers", token(DictStart(0, Elem{}, Elem{Type: TypeInt})), ErrType},
		misuse{"$: Vector2 [0.1 0.2] does not fit 32 bits", token(wideVector), ErrRange},
		misuse{"$: godot3 has no Signal", func(e *Encoder) error { return e.WriteSignal("x", 0) }, ErrType},
		misuse{"$: godot3 has no Callable", (*Encoder).WriteCallable, ErrType},
		misuse{"$: godot3 has no NodePath of one string", token(oldNodePath), ErrType},
	)
	refuse(Godot2,
		misuse{"$: int 2147483648 does not fit 32 bits", bigInt, ErrRange},
		misuse{"$: int -9223372036854775808 does not fit 32 bits", func(e *Encoder) error { return e.WriteToken(Int64(math.MinInt64)) }, ErrRange},
		misuse{"$: float 0.1 does not fit 32 bits", tenth, ErrRange},
		misuse{"$: float NaN does not fit 32 bits", token(Float64(math.Float64frombits(0x7FF8000000000001))), ErrRange},
		misuse{"$: godot2 has no serialized objects", object, ErrType},
		misuse{"$: godot2 has no object ids", objectID, ErrRange},
		misuse{"$: InputEvent of type 1 needs more than 3 bytes", func(e *Encoder) error { return e.WriteInputEvent(1, 0, []byte("abc")) }, ErrRange},
		misuse{"$: count of -2 is out of range", func(e *Encoder) error { return e.BeginImage(0, 0, 1, 1, -2) }, ErrRange},
	)
	refuse(Manual30,
		misuse{"$: int 2147483648 does not fit 32 bits", bigInt, ErrRange},
		misuse{"$: float 0.1 does not fit 32 bits", tenth, ErrRange},
		misuse{"$: manual30 has no serialized objects", object, ErrType},
	)
	refuse(Manual3, misuse{"$: float 0.1 does not fit 32 bits", tenth, ErrRange})

	require.Equal(t, bytesOf(2, 7), allow(Godot2, func(e *Encoder) error { return e.WriteToken(Int64(7)) }))
	require.Equal(t, bytesOf(3, float32(0.5)), allow(Godot2, func(e *Encoder) error { return e.WriteToken(Float64(0.5)) }))
	require.Equal(t, bytesOf(2, uint64(7)), allow(Manual3, intSeven))
	require.Equal(t, bytesOf(18), allow(Godot2, func(e *Encoder) error { return e.WriteObjectID(0) }))
	require.Equal(t, bytesOf(16), allow(Godot3, func(e *Encoder) error { return e.WriteRID(7) }))
	require.Equal(t, bytesOf(5, reals(2)), allow(Godot3, func(e *Encoder) error { return WriteComponents(e, TypeVector2, []float64{0.5, 1.5}) }))
	require.Equal(t, bytesOf(16, "a/b"), allow(Godot2, token(oldNodePath), func(e *Encoder) error { return e.WriteString("a/b") }, end))
	require.Equal(t, bytesOf(15, 0, 0, 1, 1, 5, []byte("abcde\x00\x00\x00")), allow(Godot2, func(e *Encoder) error {
		return e.BeginImage(0, 0, 1, 1, Unknown)
	}, write("ab"), write("cde"), end))
	require.Equal(t, bytesOf(15, 0, 0, 1, 1, 1, []byte("a\x00\x00\x00")), allow(Godot2, func(e *Encoder) error {
		return e.BeginImage(0, 0, 1, 1, 1)
	}, func(e *Encoder) error {
		misuse{"WritePacked into an image", func(e *Encoder) error { return WritePacked(e, []byte("a")) }, ErrIncomplete}.rejects(t, e)
		return nil
	}, write("a"), end))
	require.Equal(t, bytesOf(19, 3, 4, wire.EventHead+4, 5), allow(Godot2, func(e *Encoder) error {
		return e.WriteInputEvent(3, 4, bytesOf(5, 6, 7))
	}))

	e := newEncoder(t, io.Discard, &EncoderOptions{Format: Manual4})
	require.NoError(t, packedOf(TypePackedStringArray, 1)(e))
	require.NoError(t, token(chunkWithNUL(4, "ab", false))(e))
	misuse{"$[0]: packed string without a NUL in manual4", token(chunkWithNUL(4, "cd", true)), ErrCount}.fails(t, e)
}

func TestEncoderOptions(t *testing.T) {
	require.Equal(t, Godot4, new(Encoder).Options().Format)
	o := EncoderOptions{Format: Godot3, MaxBuffered: -1}
	require.Equal(t, o, NewEncoder(nil, &o).Options())
}

// Close returns the first error, ends all calls until Reset, and loses bytes only with an error.
func TestEncoderClose(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		steps  []step
		err    string // "" if there is none
		is     error
		output []byte
	}{
		{"nothing", nil, "", nil, nil},
		{"a value", []step{intSeven}, "", nil, integer(7)},
		{"an array", []step{array(1), writeNil, end}, "", nil, bytesOf(idArray, 1, idNil)},
		{"an open array", []step{intSeven, array(1), writeNil}, "gdwire: offset 20, $: ArrayStart without its End", ErrIncomplete, integer(7)},
		{"an open dictionary", []step{dict(1)}, "gdwire: offset 8, $.key(0): DictStart without its End", ErrIncomplete, nil},
		{"a key alone", []step{dict(1), stringX}, "gdwire: offset 20, $.value(0): DictStart without its End", ErrIncomplete, nil},
		{"an unknown count", []step{array(Unknown), intSeven}, "gdwire: offset 16, $[1]: ArrayStart without its End", ErrIncomplete, nil},
		{"a string", []step{text(TypeString, 3), write("a")}, "gdwire: offset 9, $: StringChunk without its End", ErrIncomplete, nil},
		{"flushed", []step{array(1), (*Encoder).Flush}, "gdwire: offset 8, $[0]: ArrayStart without its End", ErrIncomplete, bytesOf(idArray, 1)},
		{"an invalid call", []step{intSeven, end}, "gdwire: offset 8, $: End without a matching Begin", ErrCall, integer(7)},
		{"Fail", []step{intSeven, func(e *Encoder) error { return e.Fail(broken) }}, "gdwire: offset 8, $: broken", broken, integer(7)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, start := range map[string]func(e *Encoder) (output func() []byte){
				"Reset": func(e *Encoder) func() []byte {
					var b bytes.Buffer
					e.Reset(&b)
					return b.Bytes
				},
				"ResetBytes": func(e *Encoder) func() []byte {
					e.ResetBytes([]byte("head"))
					return func() []byte { return bytes.TrimPrefix(e.Bytes(), []byte("head")) }
				},
			} {
				e := new(Encoder)
				for range 2 { // closed Encoders can be used again
					output := start(e)
					for _, s := range c.steps {
						_ = s(e)
					}
					err := e.Close()
					if c.err == "" {
						require.NoError(t, err)
					} else {
						require.EqualError(t, err, c.err)
						require.ErrorIs(t, err, c.is)
					}
					require.NoError(t, e.Close(), "again")
					require.Nil(t, e.buffer, "it is in the pool")
					if name == "Reset" {
						require.Equal(t, string(c.output), string(output()))
						require.Nil(t, e.w)
					} else { // nothing is flushed, so that nothing is lost
						require.Equal(t, string(c.output), string(output()[:len(c.output)]))
					}
					require.Equal(t, ErrClosed, e.WriteNil())
					require.Equal(t, ErrClosed, e.Err())
					require.Equal(t, ErrClosed, e.ClearError())
					require.Equal(t, ErrClosed, e.Fail(broken))
					require.Zero(t, e.Depth())
				}
			}
		})
	}
	e := NewEncoder(writerFunc(func([]byte) (int, error) { return 0, broken }), nil)
	require.NoError(t, e.BeginArray(0)) // not flushed before its End
	require.Equal(t, broken, e.End())
	require.Equal(t, broken, e.Close())
	require.NoError(t, e.Close())
	require.Equal(t, ErrClosed, e.WriteNil())
}

// encode makes every typed call.
func encode(e *Encoder, c *encodeData) {
	check(e.BeginArray(27))
	check(e.WriteNil())
	check(e.WriteBool(true))
	check(e.WriteInt(1 << 40))
	check(e.WriteToken(Int32(7)))
	check(e.WriteToken(Int64(7)))
	check(e.WriteFloat(0.1))
	check(e.WriteToken(Float32(0.1)))
	check(e.WriteToken(Float64(0.1)))
	check(e.WriteRID(5))
	check(e.WriteObjectID(5))
	check(e.WriteCallable())
	check(e.WriteString(c.text))
	check(e.WriteStringName(c.text))
	check(e.WriteSignal(c.text, 7))
	check(e.WriteNodePath(c.path))
	check(WriteComponents(e, TypeVector3, []float64{1, 2, 3}))
	check(WriteComponents(e, TypeProjection, c.reals))
	check(WriteComponents(e, TypeRect2i, []int32{1, 2, 3, 4}))
	check(e.WriteRaw(c.raw))

	check(e.BeginTypedDict(1, Elem{Type: TypeString}, Elem{Class: c.name}))
	check(e.WriteToken(DictKey()))
	check(e.WriteString(c.text))
	check(e.BeginObject(c.name, 1))
	check(e.WriteProperty(c.name))
	check(e.BeginTypedArray(c.count, Elem{Script: c.path}))
	check(e.End())
	check(e.End())
	check(e.End())

	check(e.BeginNodePath(1, 1, true))
	check(e.WriteString(c.text))
	check(e.BeginString(TypeString, int64(c.count)))
	_, err := e.Write(c.bytes[:0])
	check(err)
	check(e.End())
	check(e.End())

	check(e.BeginString(TypeString, int64(c.length)))
	_, err = e.Write(c.bytes)
	check(err)
	check(e.End())

	check(e.BeginPacked(TypePackedFloat32Array, int64(c.length)))
	check(WritePacked(e, c.floats))
	check(e.End())
	check(e.BeginPacked(TypePackedFloat32Array, int64(c.length)))
	check(WritePacked(e, c.doubles))
	check(e.End())
	check(e.BeginPacked(TypePackedVector3Array, int64(c.length)))
	check(WritePacked(e, c.vectors))
	check(e.End())
	check(e.BeginPacked(TypePackedByteArray, int64(c.length)))
	check(WritePacked(e, c.bytes))
	check(e.End())
	check(e.BeginPacked(TypePackedStringArray, 2))
	check(e.WriteString(c.text))
	check(e.WriteString(""))
	check(e.End())
	check(e.End())
}

type encodeData struct {
	text, path, name string
	raw, bytes       []byte
	reals, doubles   []float64
	floats           []float32
	vectors          [][3]float64
	count, length    int
}

func TestEncodingAllocatesNothing(t *testing.T) {
	known := &encodeData{
		text: strings.Repeat(longText, 3), path: "/root/Player:position:x", name: "Node3D",
		raw: bytesOf(idDict, 1, str("k"), nested(3)), bytes: []byte("0123456789"), length: 10,
		reals: make([]float64, 16), doubles: make([]float64, 10), floats: make([]float32, 10), vectors: make([][3]float64, 10),
	}
	unknown := *known
	unknown.count, unknown.length = Unknown, Unknown
	for _, c := range []*encodeData{known, &unknown} {
		for _, size := range []int{64, bufferSize} {
			e := NewEncoder(io.Discard, nil)
			e.buf = e.buf[:size:size]
			e.setLimit()
			e.updateFastPath()
			requireNoAllocs(t, func() {
				e.Reset(io.Discard)
				encode(e, c)
				check(e.Close())
			})
		}
	}
}
