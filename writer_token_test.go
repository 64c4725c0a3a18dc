package gdwire

import (
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

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
