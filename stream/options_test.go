package stream

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
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

// TestDeadlineTimer sets deadlines in every order and compares when the timer expires.
func TestDeadlineTimer(t *testing.T) {
	type set struct{ at, deadline int } // in seconds; a deadline of 0 is none
	for name, c := range map[string]struct {
		sets []set
		want []int
	}{
		"once":              {[]set{{0, 5}}, []int{5}},
		"later":             {[]set{{0, 5}, {1, 7}, {2, 9}}, []int{9}},
		"earlier":           {[]set{{0, 9}, {1, 5}}, []int{5}},
		"none":              {[]set{{0, 5}, {1, 0}}, nil},
		"none, then later":  {[]set{{0, 5}, {1, 0}, {2, 9}}, []int{9}},
		"none, then sooner": {[]set{{0, 9}, {1, 0}, {2, 5}}, []int{5}},
		"again":             {[]set{{0, 5}, {6, 8}}, []int{5, 8}},
		"passed":            {[]set{{3, 1}}, []int{3}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var rings []int
				a := deadlineTimer{expire: func() { rings = append(rings, int(time.Since(begin).Seconds())) }}
				for _, s := range c.sets {
					time.Sleep(time.Duration(s.at)*time.Second - time.Since(begin))
					if s.deadline == 0 {
						a.set(time.Time{})
					} else {
						a.set(begin.Add(time.Duration(s.deadline) * time.Second))
					}
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, c.want, rings)
				a.set(time.Now().Add(time.Second))
				a.stop()
				time.Sleep(time.Minute)
				require.Equal(t, c.want, rings)
			})
		})
	}
}
