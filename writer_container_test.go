package gdwire

import (
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A container of Unknown count that no engine could read is not written.
func TestUnknownCountsAreLimited(t *testing.T) {
	for name, begin := range map[string]step{
		"Array":            array(Unknown),
		"Dictionary":       dict(Unknown),
		"String":           text(TypeString, Unknown),
		"PackedInt32Array": packedOf(TypePackedInt32Array, Unknown),
	} {
		t.Run(name, func(t *testing.T) {
			e := NewEncoder(io.Discard, nil)
			require.NoError(t, begin(e))
			e.remaining -= (math.MaxInt32 + 1) << e.pairs // as after so many values
			require.ErrorIs(t, e.End(), ErrRange)
			require.ErrorIs(t, e.ClearError(), ErrRange)
			e.remaining += 1 << e.pairs
			require.NoError(t, e.End())
		})
	}
}

func TestContainerCallErrors(t *testing.T) {
	object := func(class string, n int) step {
		return func(e *Encoder) error { return e.BeginObject(class, n) }
	}
	testCallErrors(t, []callError{
		{name: "type of another format", call: packedOf(TypeImage, 0), is: ErrType, text: "offset 0, $: godot4 has no Image"},
		{name: "another type", before: []step{typedArray(1, Elem{Type: TypeInt})}, call: writeNil, is: ErrType, text: "offset 12, $[0]: Nil in a container of int"},
		{name: "too many elements", before: []step{array(1), intSeven}, call: intSeven, is: ErrCount, text: "offset 16, $: int after the declared 1 elements"},
		{name: "too many pairs", before: []step{dict(0)}, call: intSeven, is: ErrCount, text: "offset 8, $: int after the declared 0 pairs"},
		{name: "value in place of a name", before: []step{object("A", 1)}, call: writeNil, is: ErrMisplacedKey, text: "offset 16, $.key(0): Nil where a property name is expected"},
		{name: "value in a NodePath", before: []step{path(1, 0)}, call: writeNil, is: ErrCall, text: "offset 16, $[0]: Nil where a string of a NodePath is expected"},
		{name: "value in a String", before: []step{text(TypeString, 1)}, call: writeNil, is: ErrIncomplete, text: "offset 8, $: Nil inside a String"},
		{name: "name in place of a value", call: property, is: ErrMisplacedKey, text: "offset 0, $: Property where a value is expected"},
		{name: "negative count", call: array(-2), is: ErrRange, text: "offset 0, $: count of -2 is out of range"},
		{name: "End at the top level", call: end, is: ErrCall, text: "offset 0, $: End without a matching Begin"},
		{name: "End after a key", before: []step{dict(1), stringX}, call: end, is: ErrMisplacedKey, text: "offset 20, $.value(0): End after a key without a value"},
		{name: "End before the last element", before: []step{array(2), writeNil}, call: end, is: ErrCount, text: "offset 12, $[1]: End after 1 of the declared 2"},
		{name: "End inside a rune", before: []step{text(TypeString, Unknown), write("\xc3")}, call: end, is: ErrUTF8, text: "offset 9, $: End inside a rune"},
		{name: "End inside an element", before: []step{packedOf(TypePackedFloat32Array, Unknown), write("abc")}, call: end, is: ErrCount, text: "offset 11, $: End inside an element"},
		{name: "declared type of another format", call: typedArray(0, Elem{Type: TypeImage}), is: ErrType, text: "offset 0, $: godot4 has no containers of Image"},
		{name: "typed in Godot 3", format: Godot3, call: typedArray(0, Elem{Type: TypeInt}), is: ErrType, text: "offset 0, $: godot3 has no typed containers"},
		{name: "token of no type", call: token(ArrayStart(0, Elem{Type: 200})), is: ErrType, text: "offset 0, $: container of an unknown type"},
		{name: "DictKey", call: dictKey, is: ErrMisplacedKey, text: "offset 0, $: DictKey where no key is expected"},
		{name: "object by a manual", format: Manual3, call: object("A", 0), is: ErrType, text: "offset 0, $: manual3 has no serialized objects"},
		{name: "properties without a class", call: object("", 1), is: ErrCount, text: "offset 0, $: properties of an object without a class"},
	})
}

func TestPackedCallErrors(t *testing.T) {
	packed := packedOf(TypePackedFloat32Array, 2)
	one := func(e *Encoder) error { return WritePacked(e, []float32{1}) }
	testCallErrors(t, []callError{
		{name: "no packed array", call: packedOf(TypeInt, 0), is: ErrCall, text: "offset 0, $: int is not a packed array type"},
		{name: "Write after the last element", before: []step{packed, floats}, call: write("1"), is: ErrCount, text: "offset 16, $: 1 bytes after the declared 2 × 4"},
		{name: "Write after the last byte", before: []step{text(TypeString, 3), write("abc")}, call: write("d"), is: ErrCount, text: "offset 11, $: 1 bytes after the declared 3 × 1"},
		{name: "Write of too many elements", before: []step{packed, one}, call: write("12345"), is: ErrCount, text: "offset 12, $: 5 bytes after 1 of the declared 2 elements"},
		{name: "Write of too many bytes", before: []step{text(TypeString, 3), write("a")}, call: write("bcd"), is: ErrCount, text: "offset 9, $: 3 bytes after 1 of the declared 3"},
		{name: "Write at the top level", call: write("x"), is: ErrMisplacedKey, text: "offset 0, $: Write where a value is expected"},
		{name: "WritePacked at the top level", call: floats, is: ErrMisplacedKey, text: "offset 0, $: WritePacked where a value is expected"},
		{name: "other elements", before: []step{packedOf(TypePackedVector2Array, 1)}, call: one, is: ErrCall, text: "offset 8, $: got elements of 1 × float32, want 2 × float32"},
		{name: "too many numbers", before: []step{packed, one}, call: floats, is: ErrCount, text: "offset 12, $: 2 elements after 1 of the declared 2"},
		{name: "element too large", before: []step{packed}, call: func(e *Encoder) error { return WritePacked(e, []float64{1e300}) }, is: ErrRange, text: "offset 8, $: element does not fit 32 bits"},
	})
}
