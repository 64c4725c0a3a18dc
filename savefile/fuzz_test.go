package savefile

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/variant"
)

// addSeeds adds a save of each kind.
func addSeeds(f *testing.F, add func(b []byte)) {
	for _, kind := range kinds {
		d := content()
		if kind.Format == gdwire.Godot3 {
			d.Delete("floats") // of a declared type
		}
		n := must(New(kind, d, 5))(f)
		var b bytes.Buffer
		require.NoError(f, errOf(n.WriteTo(&b)))
		add(b.Bytes())
		add(b.Bytes()[:b.Len()-9])
	}
}

// FuzzOpen: any bytes are a file or an error. What is opened is written as it was, unless it is encrypted, and
// a repaired file can be read.
func FuzzOpen(f *testing.F) {
	addSeeds(f, func(b []byte) { f.Add(b, false); f.Add(b, true) })
	f.Fuzz(func(t *testing.T, b []byte, repair bool) {
		o := &Options{Repair: repair, Container: fileaccess.Options{Limits: fileaccess.Limits{Size: 1 << 20}}}
		s, err := read(b, o)
		if err != nil {
			return
		}
		_, err = values(s)
		if repair {
			require.True(t, err == nil || errors.Is(err, gdwire.ErrLimit) || errors.Is(err, gdwire.ErrObject), "%v", err)
		}
		if s.Info.Damage == nil && s.Info.Container.Container == fileaccess.Plain {
			require.Equal(t, b, written(t, s))
		}
	})
}

// FuzzConvert: every value of Godot 4 can be converted to Godot 3, and what differs after converting it back was
// reported.
func FuzzConvert(f *testing.F) {
	for packet := range gdwiretest.Packets(gdwire.Godot4) {
		f.Add(packet)
	}
	for packet := range gdwiretest.Objects(gdwire.Godot4) {
		f.Add(packet)
	}
	for _, c := range slices.Concat(conversions, doubles) {
		keys := new(variant.Dictionary)
		keys.Set(c.value, 1)
		b, err := variant.Marshal([]any{c.value, keys}, variant.Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}})
		if require.NoError(f, err); len(b) < 1<<10 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		do := gdwire.DecoderOptions{Format: gdwire.Godot4, AllowObjects: true, AllowInvalidUTF8: true}
		if variant.Validate(b, variant.Options{Decoder: do}) != nil {
			return
		}
		convert := func(b []byte, from, to gdwire.Format, lost func(*gdwire.Decoder, string, string)) []byte {
			d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: from, AllowObjects: true, AllowInvalidUTF8: true, Limits: gdwire.NoLimits})
			d.ResetBytes(b)
			e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{Format: to, AllowInvalidUTF8: true, Depth: -1})
			e.ResetBytes(nil)
			require.NoError(t, (&save.Converter{Lost: lost}).Copy(e, d))
			return e.Bytes()
		}
		var losses []Loss
		three := convert(b, gdwire.Godot4, gdwire.Godot3, func(d *gdwire.Decoder, value, becomes string) {
			losses = append(losses, lossAt(d, value, becomes))
		})
		back := convert(three, gdwire.Godot3, gdwire.Godot4, nil)
		differ, reported := compared(t, b, back, losses)
		require.Empty(t, locations(differ, reported), "differ, but were not reported")
	})
}

// FuzzSaveEdit: an edit, at any path, of a file changes the value at that path and no other bytes than an
// edit of the content in memory.
func FuzzSaveEdit(f *testing.F) {
	addSeeds(f, func(b []byte) { f.Add(b, "hp", "items[0]", int64(7)); f.Add(b, "$.items[+]", "pos.x", int64(1)) })
	f.Fuzz(func(t *testing.T, b []byte, path, other string, n int64) {
		o := &Options{Container: fileaccess.Options{Limits: fileaccess.Limits{Size: 1 << 20}}}
		s, err := read(b, o)
		if err != nil || !s.Info.Sure {
			return
		}
		before := s.content
		if err := s.Edit(Set(path, n), Set(other, "text"), Delete(path)); err == nil {
			s.content = before
		}
		require.Same(t, before, s.content)
		if s.Edit(Set(path, n)) != nil {
			return
		}
		edited := must(io.ReadAll(io.NewSectionReader(s.content, 0, s.content.Size)))(t)
		plain := s.Info
		plain.Container = fileaccess.Info{}
		again := must(read(edited, given(plain)))(t)
		var got any
		if err := again.Get(path, &got); err != nil { // [+], or a path of several values
			return
		}
		switch v := got.(type) {
		case int64:
			if n == int64(int32(n)) && again.content.Size == before.Size {
				require.Equal(t, n, v)
			}
		case float64:
			require.InDelta(t, float64(n), v, 1+float64(n)/1e6)
		default:
			t.Fatalf("%T", got)
		}
	})
}
