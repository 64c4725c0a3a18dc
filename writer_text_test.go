package gdwire

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Text comes in any pieces, from any Reader.
func TestTextInPieces(t *testing.T) {
	const text = longText + "\uFFFD, which is no error"
	for size := range 20 {
		for _, n := range []int64{int64(len(text)), Unknown} {
			got := encoded(t, nil, func(e *Encoder) {
				require.NoError(t, e.BeginString(TypeString, n))
				written, err := io.CopyBuffer(e, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, size+1))
				require.NoError(t, err)
				require.EqualValues(t, len(text), written)
				require.NoError(t, e.End())
			})
			require.Equal(t, str(text), got)
		}
	}
}

// Every way to split bad text over two Writes is found, as soon as it can be.
func TestBadTextInPieces(t *testing.T) {
	for _, bad := range []string{"\xff", "\x80", "\xc0\x80", "\xe2\x28\xa1", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xf0\x9f\x98"} {
		text := "é" + bad + "xy"
		for i := range len(text) + 1 {
			for j := i; j <= len(text); j++ {
				e := NewEncoder(io.Discard, nil)
				require.NoError(t, e.BeginString(TypeString, Unknown))
				var err error
				for _, p := range []string{text[:i], text[i:j], text[j:]} {
					if err == nil {
						_, err = e.Write([]byte(p))
					}
				}
				if err == nil {
					err = e.End()
				}
				require.ErrorIs(t, err, ErrUTF8, "%q split at %d and %d", text, i, j)
				e.Release()
			}
		}
	}
}

// One byte that is no text is found wherever it stands.
func TestBadTextAtEveryByte(t *testing.T) {
	e := NewEncoder(io.Discard, nil)
	defer e.Release()
	for n := range 40 {
		for i := range n {
			text := []byte(strings.Repeat("x", n))
			text[i] = 0x80
			require.ErrorIs(t, e.WriteString(string(text)), ErrUTF8, "%q", text)
			require.ErrorIs(t, e.WriteToken(chunkOf(TypeString, n, string(text), true)), ErrUTF8, "%q", text)
			require.ErrorIs(t, e.WriteRaw(str(string(text))), ErrUTF8, "%q", text)
		}
	}
}
