package savefile

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
)

// decoding returns options for a Decoder.
func decoding(o gdwire.DecoderOptions) variant.Options { return variant.Options{Decoder: o} }

// TestEditPacket: edits of a packet give the same bytes as those of a file, and leave the packet as it is.
func TestEditPacket(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(5, 6))}
	failed := 0
	for i := range 300 {
		kind := Info{Format: []gdwire.Format{gdwire.Godot3, gdwire.Godot4}[i%2], Lengths: NoLengths}
		b, _ := file(t, kind, m.save(NoLengths)...)
		var edits []Edit
		for range 1 + m.IntN(4) {
			switch path := m.ints[m.IntN(len(m.ints))]; m.IntN(4) {
			case 0:
				edits = append(edits, Delete(path))
			case 1:
				edits = append(edits, Set("$.new"+fmt.Sprint(m.IntN(3)), m.text()))
			default:
				edits = append(edits, Set(path, m.IntN(math.MaxInt32)))
			}
		}
		f := must(read(b, given(kind)))(t)
		want := f.Edit(edits...)
		before := bytes.Clone(b)
		got, err := EditPacket(b, edits, decoding(gdwire.DecoderOptions{Format: kind.Format}))
		require.Equal(t, before, b)
		if want != nil {
			require.EqualError(t, err, want.Error())
			require.Nil(t, got)
			failed++
			continue
		}
		require.NoError(t, err)
		whole := written(t, f)
		require.Equal(t, whole, got)
		clear(b) // the result is the caller's
		again := must(EditPacket(got, nil, decoding(gdwire.DecoderOptions{Format: kind.Format})))(t)
		require.Equal(t, whole, again)
	}
	require.Less(t, failed, 150)
}

func TestEditPacketBytes(t *testing.T) {
	packet := gdwiretest.Encode(t, content())
	longer := append(bytes.Clone(packet), "after"...)
	got := must(EditPacket(longer, []Edit{Set("hp", 7), Set("name", "Eva")}))(t)
	require.True(t, bytes.HasSuffix(got, []byte("after")), "bytes after the value stay")
	var v any
	require.NoError(t, variant.Unmarshal(got[:len(got)-5], &v))
	require.Contains(t, fmt.Sprint(v), `{"hp": 7, "speed": 1.5, "name": &"Eva", `)

	object := []byte{24, 0, 0, 0, 4, 0, 0, 0, 'N', 'o', 'd', 'e', 1, 0, 0, 0, 2, 0, 0, 0, 'h', 'p', 0, 0, 2, 0, 0, 0, 5, 0, 0, 0}
	changed := must(EditPacket(object, []Edit{Set("hp", 6)}, decoding(gdwire.DecoderOptions{AllowObjects: true})))(t)
	require.Equal(t, append(bytes.Clone(object[:28]), 6, 0, 0, 0), changed)

	for _, c := range []struct {
		packet []byte
		edit   Edit
		want   string
	}{
		{packet, Set("$1.hp", 1), "savefile: $1.hp is in another value, and a packet contains one"},
		{packet, Set("hp", "x"), "savefile: $.hp is of type int and not String"},
		{packet, Delete("mp"), "savefile: there is no $.mp"},
		{packet, Set("a b", 1), "unexpected"},
		{packet[:40], Set("items[0]", 1), "unexpected EOF"},
		{object, Set("hp", 6), "objects are not allowed"},
		{nil, Set("hp", 6), "there is no $"},
	} {
		got, err := EditPacket(c.packet, []Edit{c.edit})
		require.ErrorContains(t, err, c.want)
		require.Nil(t, got)
	}
	require.ErrorIs(t, errOf(EditPacket(packet, []Edit{Delete("mp")})), variant.ErrNotFound)
}

// FuzzEditPacket: an edit of any packet is an error, or gives a packet that the same edit does not change.
func FuzzEditPacket(f *testing.F) {
	addSeeds(f, func(b []byte) { f.Add(b, "hp", int64(7)); f.Add(b, "pos.x", int64(1)); f.Add(b, "items[0]", int64(2)) })
	f.Fuzz(func(t *testing.T, b []byte, path string, n int64) {
		o := decoding(gdwire.DecoderOptions{AllowInvalidUTF8: true})
		before := bytes.Clone(b)
		got, err := EditPacket(b, []Edit{Set(path, n)}, o)
		require.Equal(t, before, b)
		if err != nil || bytes.Contains([]byte(path), []byte("+")) {
			return
		}
		again := must(EditPacket(got, []Edit{Set(path, n)}, o))(t)
		require.Equal(t, got, again)
	})
}

func BenchmarkEditPacket(b *testing.B) {
	packet := gdwiretest.Encode(b, content())
	for b.Loop() {
		must(EditPacket(packet, []Edit{Set("hp", 7)}))(b)
	}
}
