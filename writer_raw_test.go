package gdwire

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteRawInvalidValues(t *testing.T) {
	e := NewEncoder(io.Discard, nil)
	defer e.Release()
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
	e.Release()
	require.Equal(t, ErrReleased, e.WriteRaw(bytesOf(99)), "also if invalid")
	any := NewEncoder(io.Discard, &EncoderOptions{AllowInvalidUTF8: true})
	defer any.Release()
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
			e.Release()
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
