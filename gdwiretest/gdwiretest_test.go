package gdwiretest_test

import (
	"bytes"
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// onlyNull contains the formats whose only object is null, which is written as nil.
var onlyNull = map[gdwire.Format]bool{gdwire.Godot2: true, gdwire.Manual3: true, gdwire.Manual30: true}

// There is a valid packet in every format of each of its types, and default programs read it.
func TestGdwiretestPackets(t *testing.T) {
	for _, format := range gdwire.Formats() {
		o := variant.Options{Decoder: gdwire.DecoderOptions{Format: format, Strict: true}}
		types := map[gdwire.Type]bool{}
		for packet := range gdwiretest.Packets(format) {
			require.NoError(t, variant.Validate(packet, o), "%v: %x", format, packet)
			first := testenv.Must(gdwire.NewDecoder(bytes.NewReader(packet), &o.Decoder).ReadToken())(t)
			types[first.Type()] = true
		}
		for _, typ := range gdwire.Types() {
			if !onlyNull[format] || typ != gdwire.TypeObject {
				assert.Equal(t, format.Has(typ), types[typ], "%v has a packet of %v", format, typ)
			}
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

// Seeds adds all packets, and serialized objects for programs that read such.
func FuzzObject(f *testing.F) {
	gdwiretest.Seeds(f)
	packets, objects := 0, 0
	f.Fuzz(func(t *testing.T, packet []byte) {
		var o *variant.Object
		if variant.Unmarshal(packet, &o, variant.Options{Decoder: gdwire.DecoderOptions{AllowObjects: true}}) == nil && o != nil {
			require.ErrorIs(t, variant.Validate(packet), gdwire.ErrObject)
			objects++
		}
		packets++
	})
	if flag.Lookup("test.fuzz").Value.String() == "" {
		for range gdwiretest.Packets(gdwire.Godot4) {
			packets--
		}
		require.Equal(f, [2]int{2, 1}, [2]int{packets, objects})
	}
}
