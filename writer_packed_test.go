package gdwire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// A chunk converted in pieces keeps its elements.
func TestConvertedChunksInPieces(t *testing.T) {
	wide, narrow := wire(idVectors2|bit16, 9), wire(24, 9)
	for i := range 18 {
		wide = append(wide, wire(float64(i)+0.5)...)
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
