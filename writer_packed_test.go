package gdwire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// A chunk converted in pieces keeps its elements.
func TestConvertedChunksInPieces(t *testing.T) {
	wide, narrow := bytesOf(idVectors2|bit16, 9), bytesOf(24, 9)
	for i := range 18 {
		wide = append(wide, bytesOf(float64(i)+0.5)...)
	}
	narrow = append(narrow, reals(18)...)
	for size := 8; size < 80; size += 4 {
		var b bytes.Buffer
		e := smallEncoder(&b, Godot3, size)
		d := NewDecoder(plain(wide), nil)
		require.NoError(t, CopyValue(e, d))
		require.Equal(t, narrow, b.Bytes(), "buffer of %d", size)
		d.Release()
		e.Release()
	}
}

func TestPackedCallErrors(t *testing.T) {
	packed := packedOf(TypePackedFloat32Array, 2)
	one := func(e *Encoder) error { return WritePacked(e, []float32{1}) }
	testCallErrors(t, []callError{
		{name: "no packed array", call: packedOf(TypeInt, 0), is: ErrType, text: "offset 0, $: int is not a packed array type"},
		{name: "Write after the last element", before: []step{packed, floats}, call: write("1"), is: ErrCount, text: "offset 16, $: 1 bytes after the declared 2 × 4"},
		{name: "Write after the last byte", before: []step{text(TypeString, 3), write("abc")}, call: write("d"), is: ErrCount, text: "offset 11, $: 1 bytes after the declared 3 × 1"},
		{name: "Write of too many elements", before: []step{packed, one}, call: write("12345"), is: ErrCount, text: "offset 12, $: 5 bytes after 1 of the declared 2 elements"},
		{name: "Write of too many bytes", before: []step{text(TypeString, 3), write("a")}, call: write("bcd"), is: ErrCount, text: "offset 9, $: 3 bytes after 1 of the declared 3"},
		{name: "Write at the top level", call: write("x"), is: ErrMisplacedKey, text: "offset 0, $: Write where a value is expected"},
		{name: "WritePacked at the top level", call: floats, is: ErrMisplacedKey, text: "offset 0, $: WritePacked where a value is expected"},
		{name: "other elements", before: []step{packedOf(TypePackedVector2Array, 1)}, call: one, is: ErrType, text: "offset 8, $: got elements of 1 × float32, want 2 × float32"},
		{name: "too many numbers", before: []step{packed, one}, call: floats, is: ErrCount, text: "offset 12, $: 2 elements after 1 of the declared 2"},
		{name: "element too large", before: []step{packed}, call: func(e *Encoder) error { return WritePacked(e, []float64{1e300}) }, is: ErrRange, text: "offset 8, $: element does not fit 32 bits"},
	})
}
