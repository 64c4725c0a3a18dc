package save

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
)

// words returns 32-bit numbers in bytes.
func words(numbers ...uint32) (b []byte) {
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// framed returns packets after their lengths.
func framed(packets ...[]byte) (b []byte) {
	for _, p := range packets {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(p))), p...)
	}
	return b
}

// Packets that tell nothing, such as numbers, do not decide the format, and too many select the first candidate.
func TestUndecidedPackets(t *testing.T) {
	// Vector2i is the first type that decides; those before are the same in all, and do not count.
	o := Reading{Frame: recognize.U32, Candidates: []gdwire.Format{gdwire.Godot3, gdwire.Godot4}}
	for range maxUndecided + 1 {
		require.False(t, o.DecideFormat(words(5, 0, 0)))
	}
	require.NotEmpty(t, o.Candidates)
	require.True(t, o.DecideFormat(words(6, 1, 2)))
	require.Equal(t, gdwire.Godot4, o.Decoder.Format)

	// Too many that do not decide: the first candidate it is.
	o = Reading{Frame: recognize.U32, Candidates: []gdwire.Format{gdwire.Godot3, gdwire.Godot4}}
	o.Decoder.Format = gdwire.Godot3
	plane := words(14, 0, 0, 0, 0) // Color of Godot 3
	for range maxUndecided {
		require.False(t, o.DecideFormat(plane))
	}
	require.NotEmpty(t, o.Candidates)
	require.False(t, o.DecideFormat(plane))
	require.Empty(t, o.Candidates)
	require.Equal(t, gdwire.Godot3, o.Decoder.Format)
}

// Commands that edit say which packet is compressed. It is no damage, which they would remove.
func TestContentPacked(t *testing.T) {
	packed := must(fileaccess.Compress(nil, words(28, 1, 2, 7), fileaccess.FastLZ))(t)
	b := framed(words(2, 5), packed, words(2, 6))
	c := &Content{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Frame: U32}
	var read []int64
	see := func(p *Packet) (bool, error) {
		read = append(read, p.Index)
		return true, p.Finish(nil)
	}
	err := c.Packets(Every, see)
	require.EqualError(t, err, "packet 1 is compressed with fastlz as by a script: such packets can be shown and recoded, and not edited")
	require.False(t, IsDamage(err))
	require.NoError(t, c.Packets(func(index int64) bool { return index != 1 }, see))
	require.Equal(t, []int64{0, 0, 2}, read)
}
