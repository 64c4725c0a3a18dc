package edit

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/save"
)

// TestRepairLongText: the length of a text in an array can be more than an int of 32 bits.
func TestRepairLongText(t *testing.T) {
	var b []byte
	for _, word := range []uint32{32, 28, 3, 34, 2, 1<<31 + 1, 0, 2, 5} {
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	r := &save.Reading{Frame: save.U32, Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}}
	repaired, err := Repair(save.NewContent(bytes.NewReader(b), int64(len(b)), r), int64(len(b)))
	require.ErrorIs(t, err, gdwire.ErrLimit)
	require.Equal(t, int64(len(b)), repaired.Size)
}
