package gdwire

import (
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// Tokens are written as they were read, byte for byte.
func TestTokensReencode(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := newDecoder(t, plain(s.packet), s.options(0))
		all := tokens(t, d)
		got := encoded(t, &EncoderOptions{Format: s.format}, func(e *Encoder) {
			for _, tok := range all {
				require.NoError(t, e.WriteToken(tok))
			}
		})
		require.Equal(t, s.packet, got)
	})
}

// Writing a token with a string that is too long for tokens is an error.
func TestTokenOfFourGigabytes(t *testing.T) {
	if strconv.IntSize == 32 || testenv.Race {
		t.Skip("skipped: needs 64 bits, and the race detector checks the pointer")
	}
	var b byte
	n := int64(1) << 32
	tok := String(unsafe.String(&b, int(n))) // its bytes are never read
	require.EqualValues(t, n, tok.Len())
	e := newEncoder(t, io.Discard, nil)
	require.ErrorIs(t, e.WriteToken(tok), ErrRange)
}

func TestTokenCallErrors(t *testing.T) {
	packed := packedOf(TypePackedFloat32Array, 2)
	wide := newToken(KindVector2, TypeVector2, tokenFlags(wire.Float64), 0).withPayload(bytesOf(1e300, 0.0))
	testCallErrors(t, []callError{
		{name: "zero Token", call: token(Token{}), is: ErrCall, text: "offset 0, $: not a token"},
		{name: "wide math", format: Godot3, call: token(wide), is: ErrRange, text: "offset 0, $: Vector2 [1e+300 0] does not fit 32 bits"},
		{name: "long first chunk", call: token(chunkOf(TypeString, 2, "abc", false)), is: ErrCount, text: "offset 0, $: chunk of 3 bytes in a string of 2"},
		{name: "long chunk", before: []step{text(TypeString, 3)}, call: token(chunkOf(TypeString, 3, "abcd", true)), is: ErrCount, text: "offset 8, $: chunk of 4 bytes where 3 are left"},
		{name: "packed string without a NUL by the manual", format: Manual4,
			before: []step{packedOf(TypePackedStringArray, 1), token(chunkWithNUL(4, "ab", false))},
			call:   token(chunkWithNUL(4, "cd", true)), is: ErrCount, text: "offset 14, $[0]: packed string without a NUL in manual4"},
		{name: "chunk of elements in place of a value", call: token(elements(TypePackedByteArray, wire.Byte, 1, []byte{1})), is: ErrMisplacedKey, text: "offset 0, $: Chunk where a value is expected"},
		{name: "chunk of other elements", before: []step{packed}, call: token(elements(TypePackedInt32Array, wire.Int32, 1, bytesOf(1))), is: ErrCall, text: "offset 8, $: chunk of a PackedInt32Array in a PackedFloat32Array"},
		{name: "chunk of too many elements", before: []step{packed}, call: token(elements(TypePackedFloat32Array, wire.Float32, 3, bytesOf(1, 2, 3))), is: ErrCount, text: "offset 8, $: 3 elements after 0 of the declared 2"},
		{name: "chunk with an element too large", before: []step{packed}, call: token(elements(TypePackedFloat64Array, wire.Float64, 1, bytesOf(1e300))), is: ErrRange, text: "offset 8, $: 1e+300 does not fit 32 bits"},
	})
}

func TestWriteRawInvalidValues(t *testing.T) {
	e := newEncoder(t, io.Discard, nil)
	for _, c := range []struct {
		name string
		b    []byte
		want error
	}{
		{"a header alone", bytesOf(idInt), io.ErrUnexpectedEOF},
		{"half an array", bytesOf(idArray, 2, idNil), io.ErrUnexpectedEOF},
		{"bytes without padding", bytesOf(idBytes, 1, []byte{1}), io.ErrUnexpectedEOF},
		{"no type", bytesOf(99), ErrType},
		{"bad text", str("\xff"), ErrUTF8},
		{"a count that cannot be true", bytesOf(idArray, math.MaxInt32), io.ErrUnexpectedEOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.ErrorIs(t, e.WriteRaw(c.b), c.want)
			require.ErrorIs(t, e.ClearError(), c.want)
			require.Zero(t, e.OutputOffset())
		})
	}
	require.NoError(t, e.WriteRaw(bytesOf(idObject, "Node", 0)))
	e.Close()
	require.Equal(t, ErrClosed, e.WriteRaw(bytesOf(99)), "also if invalid")
	any := newEncoder(t, io.Discard, &EncoderOptions{AllowInvalidUTF8: true})
	require.NoError(t, any.WriteRaw(str("\xff")))
	require.NoError(t, any.WriteString("\xff"))
	require.NoError(t, any.BeginTypedArray(0, Elem{Class: "\xff"}))
	require.NoError(t, any.End())
	require.NoError(t, any.BeginString(TypeString, 2))
	require.NoError(t, write("\xff")(any))
	require.NoError(t, write("\xc3")(any))
	require.NoError(t, any.End())
	require.NoError(t, any.WriteToken(chunkOf(TypeString, 2, "\xff", false)))
	require.NoError(t, any.WriteToken(chunkOf(TypeString, 2, "\xc3", true)))
}

// Raw values have no limit but the depth.
func TestWriteRawHasNoLimits(t *testing.T) {
	for name, packet := range map[string][]byte{
		"a name":   bytesOf(idSignal, strings.Repeat("x", 2<<10), uint64(0)),
		"elements": bytesOf(idArray, 1<<20+1, make([]byte, 4<<20+4)),
		"a string": str(strings.Repeat("x", 16<<20+1)),
		"bytes":    bytesOf(idBytes, 8, uint64(0)),
	} {
		t.Run(name, func(t *testing.T) {
			e := NewEncoder(io.Discard, nil)
			require.NoError(t, e.WriteRaw(packet))
			require.EqualValues(t, len(packet), e.OutputOffset())
			e.Close()
		})
	}
}

func TestWriteRawErrors(t *testing.T) {
	raw := func(p []byte) step { return func(e *Encoder) error { return e.WriteRaw(p) } }
	testCallErrors(t, []callError{
		{name: "empty", call: raw(nil), is: ErrCount, text: "offset 0, $: empty raw value"},
		{name: "two values", call: raw(bytesOf(idNil, idNil)), is: ErrCount, text: "offset 0, $: 4 bytes after the raw value"},
	})
}
