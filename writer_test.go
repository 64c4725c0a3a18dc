package gdwire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// An invalid call writes nothing, and after ClearError a valid one can follow.
func TestInvalidCalls(t *testing.T) {
	for _, c := range []struct {
		name   string
		before []step
		refuse []misuse
		after  []step
		want   []byte
	}{
		{"nothing open", nil, []misuse{
			{"End", end, ErrCall},
			{"Write", write("x"), ErrMisplacedKey},
			{"WritePacked", floats, ErrMisplacedKey},
			{"WriteProperty", property, ErrMisplacedKey},
			{"DictKey", dictKey, ErrMisplacedKey},
			{"no token", token(Token{}), ErrCall},
			{"an array's count", array(-2), ErrRange},
			{"a dictionary's count", dict(-2), ErrRange},
			{"a string's length", text(TypeString, -2), ErrRange},
			{"a string too long for engines", text(TypeString, math.MaxInt32+1), ErrRange},
			{"a packed array's count", packedOf(TypePackedByteArray, -2), ErrRange},
			{"more elements than engines count", packedOf(TypePackedByteArray, math.MaxInt32+1), ErrRange},
			{"a path's names", path(-1, 0), ErrRange},
			{"a path's sub-names", path(0, -1), ErrRange},
			{"more names than there are numbers", path(math.MaxInt32, 1), ErrRange},
			{"an int as string", text(TypeInt, 1), ErrCall},
			{"a type of Godot 2", packedOf(TypeImage, 1), ErrType},
			{"no type", text(0, 1), ErrType},
			{"a type that does not exist", packedOf(200, 1), ErrType},
			{"a path as string", text(TypeNodePath, 1), ErrCall},
			{"an array as packed array", packedOf(TypeArray, 1), ErrCall},
			{"bad text", func(e *Encoder) error { return e.WriteString("a\xff") }, ErrUTF8},
			{"a bad StringName", func(e *Encoder) error { return e.WriteStringName("\xc3") }, ErrUTF8},
			{"a bad signal", func(e *Encoder) error { return e.WriteSignal("\xc3", 0) }, ErrUTF8},
			{"a bad path", func(e *Encoder) error { return e.WriteNodePath("a/\xc3") }, ErrUTF8},
			{"a bad class", func(e *Encoder) error { return e.BeginObject("\xc3", 0) }, ErrUTF8},
			{"properties of null", func(e *Encoder) error { return e.BeginObject("", 1) }, ErrCount},
			{"null of unknown size", func(e *Encoder) error { return e.BeginObject("", Unknown) }, ErrCount},
			{"too few components", func(e *Encoder) error { return WriteComponents(e, TypeVector3, []float64{1, 2}) }, ErrCall},
			{"too many components", func(e *Encoder) error { return WriteComponents(e, TypeVector2i, []int32{1, 2, 3}) }, ErrCall},
			{"reals of ints", func(e *Encoder) error { return WriteComponents(e, TypeVector2i, []float64{1, 2}) }, ErrCall},
			{"ints of reals", func(e *Encoder) error { return WriteComponents(e, TypeVector2, []int32{1, 2}) }, ErrCall},
			{"reals of a string", func(e *Encoder) error { return WriteComponents(e, TypeString, []float64{}) }, ErrCall},
			{"a component too large", func(e *Encoder) error { return WriteComponents(e, TypeVector2, []float64{1, math.MaxFloat64}) }, ErrRange},
			{"an Image", func(e *Encoder) error { return e.BeginImage(0, 0, 1, 1, 1) }, ErrType},
			{"an InputEvent", func(e *Encoder) error { return e.WriteInputEvent(0, 0, nil) }, ErrType},
			{"no raw value", func(e *Encoder) error { return e.WriteRaw(nil) }, ErrCount},
			{"two raw values", func(e *Encoder) error { return e.WriteRaw(bytesOf(idNil, idNil)) }, ErrCount},
			{"a chunk of elements", token(elements(TypePackedByteArray, wire.Byte, 1, []byte{1})), ErrMisplacedKey},
			{"a first chunk that is no text", token(chunkOf(TypeString, 9, "\xff", false)), ErrUTF8},
			{"a first chunk that is more than all", token(chunkOf(TypeString, 2, "abc", false)), ErrCount},
			{"a first chunk of a bad length", token(chunkOf(TypeString, -2, "abc", false)), ErrRange},
			{"a first chunk of a path", token(chunkOf(TypeNodePath, 9, "abc", false)), ErrCall},
			{"an object's count", func(e *Encoder) error { return e.BeginObject("A", -2) }, ErrRange},
		}, []step{intSeven}, integer(7)},

		{"an array full", []step{array(1), writeNil}, []misuse{
			{"another element", writeNil, ErrCount},
			{"another string", stringX, ErrCount},
			{"another raw value", raw, ErrCount},
			{"a key", dictKey, ErrMisplacedKey},
			{"a property", property, ErrCount},
			{"Write", write("x"), ErrCount},
			{"Write of nothing", write(""), ErrCount},
			{"WritePacked", floats, ErrCount},
			{"WritePacked of nothing", func(e *Encoder) error { return WritePacked[byte](e, nil) }, ErrCount},
		}, []step{end}, bytesOf(idArray, 1, idNil)},

		{"an array not full", []step{array(2), writeNil}, []misuse{
			{"End", end, ErrCount},
			{"a key", dictKey, ErrMisplacedKey},
			{"a property", property, ErrMisplacedKey},
			{"Write", write("x"), ErrMisplacedKey},
			{"WritePacked", floats, ErrMisplacedKey},
		}, []step{writeNil, end}, bytesOf(idArray, 2, idNil, idNil)},

		{"a dictionary between pairs", []step{dict(2), stringX, writeNil}, []misuse{
			{"End", end, ErrCount},
			{"a property", property, ErrMisplacedKey},
			{"Write", write("x"), ErrMisplacedKey},
		}, []step{dictKey, stringX, writeNil, end}, bytesOf(idDict, 2, str("x"), idNil, str("x"), idNil)},

		{"a dictionary after a marker", []step{dict(1), dictKey}, []misuse{
			{"another marker", dictKey, ErrMisplacedKey},
			{"End", end, ErrMisplacedKey},
			{"a property", property, ErrMisplacedKey},
		}, []step{stringX, writeNil, end}, bytesOf(idDict, 1, str("x"), idNil)},

		{"a dictionary after a key", []step{dict(1), stringX}, []misuse{
			{"a marker", dictKey, ErrMisplacedKey},
			{"End", end, ErrMisplacedKey},
		}, []step{writeNil, end}, bytesOf(idDict, 1, str("x"), idNil)},

		{"a dictionary of unknown size after a key", []step{dict(Unknown), stringX}, []misuse{
			{"a marker", dictKey, ErrMisplacedKey},
			{"End", end, ErrMisplacedKey},
		}, []step{writeNil, end}, bytesOf(idDict, 1, str("x"), idNil)},

		{"a dictionary of unknown size after a marker", []step{dict(Unknown), dictKey}, []misuse{
			{"another marker", dictKey, ErrMisplacedKey},
			{"End", end, ErrMisplacedKey},
		}, []step{stringX, writeNil, end}, bytesOf(idDict, 1, str("x"), idNil)},

		{"a dictionary full", []step{dict(1), stringX, writeNil}, []misuse{
			{"another key", stringX, ErrCount},
			{"a marker", dictKey, ErrMisplacedKey},
		}, []step{end}, bytesOf(idDict, 1, str("x"), idNil)},

		{"an object", []step{func(e *Encoder) error { return e.BeginObject("A", 1) }}, []misuse{
			{"a value without a name", writeNil, ErrMisplacedKey},
			{"a string as name", stringX, ErrMisplacedKey},
			{"a marker", dictKey, ErrMisplacedKey},
			{"End", end, ErrCount},
			{"a bad name", func(e *Encoder) error { return e.WriteProperty("\xc3") }, ErrUTF8},
		}, []step{property, writeNil, end}, bytesOf(idObject, "A", 1, "p", idNil)},

		{"an object after a name", []step{func(e *Encoder) error { return e.BeginObject("A", Unknown) }, property}, []misuse{
			{"another name", property, ErrMisplacedKey},
			{"End", end, ErrMisplacedKey},
		}, []step{writeNil, end}, bytesOf(idObject, "A", 1, "p", idNil)},

		{"null", []step{func(e *Encoder) error { return e.BeginObject("", 0) }}, []misuse{
			{"a property", property, ErrCount},
		}, []step{end}, bytesOf(idObject, "")},

		{"a path", []step{path(1, 1)}, []misuse{
			{"a number", intSeven, ErrCall},
			{"a raw string", func(e *Encoder) error { return e.WriteRaw(str("x")) }, ErrCall},
			{"End", end, ErrCount},
			{"bad text", func(e *Encoder) error { return e.WriteString("\xc3") }, ErrUTF8},
		}, []step{stringX, text(TypeString, 1), write("y"), end, end}, bytesOf(idPath, newPath(1), 1, 0, "x", "y")},

		{"a path full", []step{path(1, 0), stringX}, []misuse{
			{"another name", stringX, ErrCount},
		}, []step{end}, bytesOf(idPath, newPath(1), 0, 0, "x")},

		{"packed strings", []step{packedOf(TypePackedStringArray, 1)}, []misuse{
			{"a number", intSeven, ErrCall},
			{"Write", write("x"), ErrCall},
			{"WritePacked", floats, ErrCall},
			{"End", end, ErrCount},
		}, []step{stringX, end}, bytesOf(idStrings, 1, "x\x00")},

		{"packed strings full", []step{packedOf(TypePackedStringArray, 1), stringX}, []misuse{
			{"a string", stringX, ErrCount},
			{"WritePacked", floats, ErrCount},
		}, []step{end}, bytesOf(idStrings, 1, "x\x00")},

		{"a packed string in chunks", []step{packedOf(TypePackedStringArray, 1), token(chunkOf(TypePackedStringArray, 3, "ab", false))}, []misuse{
			{"a byte in the NUL's place", token(chunkOf(TypePackedStringArray, 3, "cd", true)), ErrCount},
			{"a byte in its place that is not the last", token(chunkWithNUL(4, "cd", false)), ErrCount},
		}, []step{token(chunkOf(TypePackedStringArray, 3, "c", true)), end}, bytesOf(idStrings, 1, "abc\x00")},

		{"no packed strings", []step{packedOf(TypePackedStringArray, 0)}, []misuse{
			{"a string", stringX, ErrCount},
			{"a string in pieces", text(TypeString, 1), ErrCount},
		}, []step{end}, bytesOf(idStrings, 0)},

		{"a string", []step{text(TypeString, 3), write("a")}, []misuse{
			{"too much", write("bcd"), ErrCount},
			{"too much in a chunk", token(chunkOf(TypeString, 3, "bcd", true)), ErrCount},
			{"too little in the last chunk", token(chunkOf(TypeString, 3, "b", true)), ErrCount},
			{"End", end, ErrCount},
			{"a value", intSeven, ErrIncomplete},
			{"a string", text(TypeString, 1), ErrIncomplete},
			{"WritePacked", floats, ErrIncomplete},
			{"bytes that are no text", write("\xff"), ErrUTF8},
			{"a chunk that is no text", token(chunkOf(TypeString, 3, "\xff", false)), ErrUTF8},
			{"a rune that does not fit", write("b\xc3"), ErrUTF8},
			{"elements", token(elements(TypePackedByteArray, wire.Byte, 1, []byte{1})), ErrIncomplete},
		}, []step{write(""), write("bc"), write(""), end}, str("abc")},

		{"a string whose first chunk is all of it", []step{token(chunkOf(TypeString, 3, "abc", false))}, []misuse{
			{"another chunk", token(chunkOf(TypeString, 3, "d", true)), ErrCount},
		}, []step{token(chunkOf(TypeString, 3, "", true))}, str("abc")},

		{"a string full", []step{text(TypeString, 1), write("a")}, []misuse{
			{"more", write("b"), ErrCount},
			{"a value", intSeven, ErrCount},
		}, []step{end}, str("a")},

		{"inside a rune", []step{text(TypeString, Unknown), write("\xe2\x82")}, []misuse{
			{"End", end, ErrUTF8},
			{"a byte that does not complete it", write("x"), ErrUTF8},
			{"another rune", write("\xe2"), ErrUTF8},
			{"a chunk", token(chunkOf(TypeString, 3, "x", true)), ErrUTF8},
			{"a chunk that completes it", token(chunkOf(TypeString, 3, "\xac", true)), ErrUTF8},
		}, []step{write("\xac"), end}, str("€")},

		{"packed numbers", []step{packedOf(TypePackedFloat32Array, 2), write("abc")}, []misuse{
			{"too much", write("123456"), ErrCount},
			{"End", end, ErrCount},
			{"elements inside one", func(e *Encoder) error { return WritePacked(e, []float32{1}) }, ErrCount},
			{"a chunk inside one", token(elements(TypePackedFloat32Array, wire.Float32, 1, bytesOf(0))), ErrCount},
			{"a value", intSeven, ErrIncomplete},
		}, []step{write("d"), func(e *Encoder) error { return WritePacked(e, []float32{1}) }, end}, bytesOf(idFloats, 2, []byte("abcd"), float32(1))},

		{"packed numbers of unknown size", []step{packedOf(TypePackedFloat32Array, Unknown), write("abc")}, []misuse{
			{"End", end, ErrCount},
		}, []step{write("d"), end}, bytesOf(idFloats, 1, []byte("abcd"))},

		{"packed numbers from slices", []step{packedOf(TypePackedFloat32Array, 2)}, []misuse{
			{"ints", func(e *Encoder) error { return WritePacked(e, []int32{1}) }, ErrCall},
			{"no ints", func(e *Encoder) error { return WritePacked(e, []int32{}) }, ErrCall},
			{"vectors", func(e *Encoder) error { return WritePacked(e, [][2]float32{{1, 2}}) }, ErrCall},
			{"too large a number", func(e *Encoder) error { return WritePacked(e, []float64{1, -math.MaxFloat64}) }, ErrRange},
			{"too many", func(e *Encoder) error { return WritePacked(e, []float64{1, 2, 3}) }, ErrCount},
			{"a chunk of too many", token(elements(TypePackedFloat32Array, wire.Float32, 3, make([]byte, 12))), ErrCount},
			{"a chunk of ints", token(elements(TypePackedInt32Array, wire.Int32, 1, make([]byte, 4))), ErrCall},
			{"a chunk of vectors", token(elements(TypePackedVector2Array, wire.Float32, 1, make([]byte, 8))), ErrCall},
			{"a chunk whose numbers would change", token(elements(TypePackedFloat64Array, wire.Float64, 1, bytesOf(0.1))), ErrRange},
		}, []step{token(elements(TypePackedFloat64Array, wire.Float64, 1, bytesOf(0.5))), func(e *Encoder) error { return WritePacked(e, []float64{1}) }, end},
			bytesOf(idFloats, 2, float32(0.5), float32(1))},

		{"packed vectors", []step{packedOf(TypePackedVector2Array, 2)}, []misuse{
			{"numbers", floats, ErrCall},
			{"vectors too large", func(e *Encoder) error { return WritePacked(e, [][2]float64{{1, 1e300}}) }, ErrRange},
			{"more than there are", func(e *Encoder) error { return WritePacked(e, make([][2]float64, 3)) }, ErrCount},
		}, []step{func(e *Encoder) error { return WritePacked(e, make([][2]float64, 2)) }, end}, bytesOf(idVectors2, 2, uint64(0), uint64(0))},

		{"packed numbers full", []step{packedOf(TypePackedFloat32Array, 1), write("abcd")}, []misuse{
			{"more", write("e"), ErrCount},
			{"more elements", floats, ErrCount},
			{"a value", intSeven, ErrCount},
		}, []step{write(""), func(e *Encoder) error { return WritePacked[float32](e, nil) }, end}, bytesOf(idFloats, 1, []byte("abcd"))},

		{"packed numbers full from a slice", []step{packedOf(TypePackedFloat32Array, 2), floats}, []misuse{
			{"a value", intSeven, ErrCount},
			{"more elements", floats, ErrCount},
			{"a chunk", token(elements(TypePackedFloat32Array, wire.Float32, 1, bytesOf(0))), ErrCount},
		}, []step{end}, bytesOf(idFloats, 2, float32(1), float32(2))},

		{"ints into ints", []step{packedOf(TypePackedInt32Array, 1)}, []misuse{
			{"wider ones", func(e *Encoder) error { return WritePacked(e, []int64{1}) }, ErrCall},
			{"reals", floats, ErrCall},
			{"a chunk of reals", token(elements(TypePackedFloat64Array, wire.Float64, 1, bytesOf(0.5))), ErrCall},
		}, []step{func(e *Encoder) error { return WritePacked(e, []byte{200}) }, end}, bytesOf(idInts, 1, 200)},

		{"a typed array", []step{typedArray(1, Elem{Type: TypeString})}, []misuse{
			{"another type", intSeven, ErrType},
			{"a StringName", stringName, ErrType},
			{"nil", writeNil, ErrType},
			{"a raw int", raw, ErrType},
			{"a StringName by BeginString", text(TypeStringName, 1), ErrType},
			{"a chunk of another type", token(chunkOf(TypeStringName, 1, "x", true)), ErrType},
			{"an array", emptyArray, ErrType},
		}, []step{stringX, end}, bytesOf(idArray|typedBy*1, idString, 1, str("x"))},

		{"an array of a class", []step{typedArray(2, Elem{Class: "Node"})}, []misuse{
			{"an int", intSeven, ErrType},
			{"a string", stringX, ErrType},
		}, []step{writeNil, func(e *Encoder) error { return e.WriteObjectID(5) }, end},
			bytesOf(idArray|typedBy*2, "Node", 2, idNil, idObject|bit16, uint64(5))},

		{"a typed dictionary", []step{typedDict(1, Elem{Type: TypeInt}, Elem{Type: TypeString})}, []misuse{
			{"another key", stringX, ErrType},
			{"a nil key", writeNil, ErrType},
		}, []step{dictKey, intSeven, intSeven, end}, // engines do not check the types of values
			bytesOf(idDict|typedBy*1|valuesBy*1, idInt, idString, 1, integer(7), integer(7))},

		{"a typed dictionary after its marker", []step{typedDict(1, Elem{Type: TypeInt}, Elem{}), dictKey}, []misuse{
			{"another key", stringX, ErrType},
		}, []step{intSeven, intSeven, end}, bytesOf(idDict|typedBy*1, idInt, 1, integer(7), integer(7))},

		{"absurd declarations", nil, []misuse{
			{"nil", typedArray(0, Elem{Type: TypeNil}), ErrType},
			{"a type of Godot 2", typedArray(0, Elem{Type: TypeImage}), ErrType},
			{"no type there is", typedArray(0, Elem{Type: 200}), ErrType},
			{"no key type there is", typedDict(0, Elem{Type: 200}, Elem{}), ErrType},
			{"no value type there is", typedDict(0, Elem{}, Elem{Type: TypeInputEvent}), ErrType},
			{"bad text", typedArray(0, Elem{Class: "\xff"}), ErrUTF8},
			{"a bad script", typedDict(0, Elem{}, Elem{Script: "\xff"}), ErrUTF8},
			{"a token of nil", token(ArrayStart(0, Elem{Type: TypeNil})), ErrType},
			{"a token of no type", token(ArrayStart(0, Elem{Type: 200})), ErrType},
			{"a token of no value type", token(DictStart(0, Elem{}, Elem{Type: 200})), ErrType},
			{"a token of bad text", token(ArrayStart(0, Elem{Class: "\xff"})), ErrUTF8},
			{"a token of bad text after a type", token(DictStart(0, Elem{Type: TypeInt}, Elem{Class: "\xff"})), ErrUTF8},
			{"a token of no type after a class", token(DictStart(0, Elem{Class: "A"}, Elem{Type: 200})), ErrType},
			{"a token of a bad count", token(ArrayStart(-2, Elem{})), ErrRange},
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
				m.rejects(t, e)
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
			m.rejects(t, e)
		}
	}
	bigInt := step(func(e *Encoder) error { return e.WriteInt(1 << 31) })
	tenth := step(func(e *Encoder) error { return e.WriteFloat(0.1) })
	object := step(func(e *Encoder) error { return e.BeginObject("Node", 0) })
	objectID := step(func(e *Encoder) error { return e.WriteObjectID(5) })
	wideVector := newToken(KindVector2, TypeVector2, tokenFlags(wire.Float64), 0).withPayload(bytesOf(0.1, 0.2))
	oldNodePath := newToken(KindNodePathStart, TypeNodePath, flagOldNodePath, 1)

	refuse(Godot3,
		misuse{"a StringName", stringName, ErrType},
		misuse{"packed int64", packedOf(TypePackedInt64Array, 0), ErrType},
		misuse{"a typed array", typedArray(0, Elem{Type: TypeInt}), ErrType},
		misuse{"a typed array's token", token(ArrayStart(0, Elem{Type: TypeInt})), ErrType},
		misuse{"a typed dictionary's token", token(DictStart(0, Elem{}, Elem{Type: TypeInt})), ErrType},
		misuse{"a wide vector", token(wideVector), ErrRange},
		misuse{"a Signal", func(e *Encoder) error { return e.WriteSignal("x", 0) }, ErrType},
		misuse{"a Callable", (*Encoder).WriteCallable, ErrType},
		misuse{"a path of one string", token(oldNodePath), ErrType},
	)
	refuse(Godot2,
		misuse{"an int of 64 bits", bigInt, ErrRange},
		misuse{"an Int64", func(e *Encoder) error { return e.WriteToken(Int64(math.MinInt64)) }, ErrRange},
		misuse{"a float of 64 bits", tenth, ErrRange},
		misuse{"a NaN with more than 32 bits", token(Float64(math.Float64frombits(0x7FF8000000000001))), ErrRange},
		misuse{"an object", object, ErrType},
		misuse{"an object's id", objectID, ErrRange},
		misuse{"an event with too little", func(e *Encoder) error { return e.WriteInputEvent(1, 0, []byte("abc")) }, ErrRange},
		misuse{"an image's size", func(e *Encoder) error { return e.BeginImage(0, 0, 1, 1, -2) }, ErrRange},
	)
	refuse(Manual30,
		misuse{"an int of 64 bits", bigInt, ErrRange},
		misuse{"a float of 64 bits", tenth, ErrRange},
		misuse{"an object", object, ErrType},
	)
	refuse(Manual3, misuse{"a float of 64 bits", tenth, ErrRange})

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
