package stream

import (
	"encoding/binary"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/stretchr/testify/require"
)

func TestOptions(t *testing.T) {
	for _, row := range []struct {
		name    string
		options *Options
		max     int64
		decoder gdwire.Format
		encoder gdwire.Format
		order   binary.ByteOrder
	}{
		{"nil", nil, DefaultMaxPacket, 0, 0, binary.LittleEndian},
		{"zero", &Options{}, DefaultMaxPacket, 0, 0, binary.LittleEndian},
		{"without a limit", &Options{MaxPacket: -1}, 1<<32 - 2, 0, 0, binary.LittleEndian},
		{"the reserved length", &Options{MaxPacket: 1<<32 - 1}, 1<<32 - 2, 0, 0, binary.LittleEndian},
		{"big-endian", &Options{MaxPacket: 9, BigEndianLength: true}, 9, 0, 0, binary.BigEndian},
		{"one format", &Options{Format: gdwire.Godot3}, DefaultMaxPacket, gdwire.Godot3, gdwire.Godot3, binary.LittleEndian},
		{"two formats", &Options{Format: gdwire.Godot3, Encoder: gdwire.EncoderOptions{Format: gdwire.Godot2}},
			DefaultMaxPacket, gdwire.Godot3, gdwire.Godot2, binary.LittleEndian},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newConfig(row.options)
			require.Equal(t, row.max, c.MaxPacket)
			require.Equal(t, row.decoder, c.Decoder.Format)
			require.Equal(t, row.encoder, c.Encoder.Format)
			require.Equal(t, row.order, c.order())
			require.True(t, c.Decoder.OneValue)
		})
	}
}
