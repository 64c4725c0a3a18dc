package gdwiretest_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
)

// onlyNull has the ids of Object in formats whose only object is null, which is written as
// nil.
var onlyNull = map[*gdwire.Format]byte{gdwire.Godot2: 18, gdwire.Manual3: 17, gdwire.Manual30: 17}

// Every format has a valid packet of each of its types.
func TestPackets(t *testing.T) {
	counts := map[*gdwire.Format]int{
		gdwire.Godot4: 39, gdwire.Godot3: 27, gdwire.Godot2: 29,
		gdwire.Manual4: 29, gdwire.Manual3: 27, gdwire.Manual30: 27,
	}
	for _, format := range gdwire.Formats() {
		o := variant.Options{Decoder: gdwire.DecoderOptions{Format: format, Strict: true, AllowObjects: true}}
		ids := map[byte]bool{}
		for packet := range gdwiretest.Packets(format) {
			require.NoError(t, variant.Validate(packet, o), "%v: %x", format, packet)
			ids[byte(binary.LittleEndian.Uint32(packet))] = true
		}
		for id := range byte(counts[format]) {
			if null, ok := onlyNull[format]; ok && id == null {
				continue
			}
			assert.True(t, ids[id], "%v has no packet of type id %d", format, id)
		}
	}
}

func TestPacketsBreak(t *testing.T) {
	for range gdwiretest.Packets(gdwire.Godot4) {
		return
	}
	t.Fatal("no packet")
}

// A message of a game is fuzzed from a seed of every type.
func FuzzMessage(f *testing.F) {
	gdwiretest.Seeds(f)
	gdwiretest.Seeds(f, gdwire.Formats()...)
	f.Fuzz(func(t *testing.T, packet []byte) {
		var m struct {
			Name  string
			Value any
		}
		if variant.Unmarshal(packet, &m) != nil {
			return
		}
		packet, err := variant.Marshal(m)
		if err != nil {
			return // an element that its declared type excludes
		}
		require.NoError(t, variant.Unmarshal(packet, &m))
	})
}
