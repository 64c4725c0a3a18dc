package gdwire_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/test/calls"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// A step is the result of one ReadToken.
type step struct {
	kind  gdwire.Kind
	text  string
	path  string
	end   int64 // the offset after it
	depth int
	last  bool // of a string's chunk
}

// steps reads tokens until an error that is not temporary, with a PeekKind before
// each if peek is set.
func steps(t testing.TB, d *gdwire.Decoder, peek bool) (all []step, err error) {
	for {
		var next gdwire.Kind
		if peek {
			next = d.PeekKind()
		}
		tok, err := d.ReadToken()
		if err == fuzz.ErrTemporary {
			continue
		}
		if err != nil {
			return all, err
		}
		if peek {
			require.Equal(t, next, tok.Kind())
		}
		all = append(all, step{tok.Kind(), tok.String(), string(d.AppendPath(nil)), d.InputOffset(), d.Depth(), tok.Last()})
	}
}

// FuzzReaders reads packets from Readers that cut them in different ways, with
// and without a known length: the tokens are the same.
func FuzzReaders(f *testing.F) {
	fuzz.AddSeeds(f.Add)
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		o := fuzz.Seed(n).Options()
		d := gdwire.NewDecoder(bytes.NewReader(p), &o)
		defer d.Release()
		want, fault := steps(t, d, false)
		for _, c := range []struct {
			name string
			r    io.Reader
			peek bool
		}{
			{"one byte at a time", iotest.OneByteReader(bytes.NewReader(p)), true},
			{"error with bytes", iotest.DataErrReader(bytes.NewReader(p)), false},
			{"temporary errors", &fuzz.FlakyReader{R: iotest.OneByteReader(bytes.NewReader(p))}, true},
		} {
			d.Reset(c.r)
			got, err := steps(t, d, c.peek)
			require.Equal(t, want, got, c.name)
			require.Equal(t, fuzz.ErrorText(fault), fuzz.ErrorText(err), c.name)
		}

		d.ResetBytes(p)
		want, fault = steps(t, d, true)
		d.ResetN(iotest.HalfReader(io.MultiReader(bytes.NewReader(p), neverReader{t})), int64(len(p)))
		got, err := steps(t, d, false)
		require.Equal(t, want, got)
		require.Equal(t, fuzz.ErrorText(fault), fuzz.ErrorText(err))
	})
}

// FuzzSkips skips and copies from any token: it ends where reading on does.
func FuzzSkips(f *testing.F) {
	fuzz.AddSeeds(f.Add)
	f.Fuzz(requireAllSkips)
}

// TestSkips skips from several tokens of each seed.
func TestSkips(t *testing.T) {
	for _, in := range fuzz.Seeds() {
		for at := range testenv.Cases(6, 60) {
			requireAllSkips(t, in.Packet, uint64(in.Seed)+uint64(at)*uint64(fuzz.Rest))
		}
	}
}

func requireAllSkips(t *testing.T, p []byte, n uint64) {
	s := fuzz.Seed(n)
	o := s.Options()
	d := gdwire.NewDecoder(bytes.NewReader(p), &o)
	defer d.Release()
	want, fault := steps(t, d, false)
	requireSkips(t, s, want, fault, func(d *gdwire.Decoder) {
		d.Reset(&fuzz.FlakyReader{R: iotest.OneByteReader(bytes.NewReader(p))})
	})
	requireSkips(t, s, want, fault, func(d *gdwire.Decoder) { d.Reset(bytes.NewReader(p)) })
	d.ResetBytes(p)
	want, fault = steps(t, d, false)
	requireSkips(t, s, want, fault, func(d *gdwire.Decoder) { d.ResetBytes(p) })
	export := gdwire.Internal.Export(&internal.AllowInternalUse)
	for _, b := range [][]byte{p, append(slices.Clip(p), p...)} {
		if size, rest, _ := export.Measure(d, b, 1); rest == 0 && fault == nil && len(want) > 0 {
			require.Equal(t, want[valueEnd(want, 0, 0)-1].end, min(size, int64(len(p)))) // padding can be missing
		}
	}
}

// FuzzBufferSizes reads the values of packets with read buffers of several sizes, by
// tokens and in bulk: they are the same.
func FuzzBufferSizes(f *testing.F) {
	fuzz.AddSeeds(f.Add)
	f.Fuzz(func(t *testing.T, p []byte, n uint64) { requireAnyBufferSize(t, p, fuzz.Seed(n).Options()) })
}

// FuzzMemory reads packets in every way that keeps nothing: memory follows the
// bytes received.
func FuzzMemory(f *testing.F) {
	fuzz.AddSeeds(f.Add)
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		o := fuzz.Seed(n).Options()
		d := gdwire.NewDecoder(nil, &o)
		defer d.Release()
		requireSmall(t, p, d)
	})
}

// A neverReader must not be read.
type neverReader struct{ t testing.TB }

func (r neverReader) Read([]byte) (int, error) {
	r.t.Error("read after the end")
	return 0, io.EOF
}

// requireSkips skips and copies from the token that the seed chooses and expects
// to end where reading does.
func requireSkips(t *testing.T, s fuzz.Seed, all []step, fault error, reset func(*gdwire.Decoder)) {
	o := s.Options()
	at := s.Choose(len(all) + 1)
	start := func() *gdwire.Decoder {
		d := gdwire.NewDecoder(nil, &o)
		reset(d)
		for range at {
			require.NoError(t, model.Again(func() error { _, err := d.ReadToken(); return err }))
		}
		return d
	}
	depth := 0
	if at > 0 {
		depth = all[at-1].depth
	}
	check := func(name string, d *gdwire.Decoder, err error, end int) {
		if end > len(all) {
			require.Equal(t, fuzz.ErrorText(fault), fuzz.ErrorText(err), name)
			return
		}
		require.NoError(t, err, name)
		if end > 0 {
			require.Equal(t, all[end-1].end, d.InputOffset(), name)
			require.Equal(t, all[end-1].depth, d.Depth(), name)
		}
		rest, err := steps(t, d, false)
		require.Equal(t, append([]step(nil), all[end:]...), rest, name)
		require.Equal(t, fuzz.ErrorText(fault), fuzz.ErrorText(err), name)
	}
	d := start()
	err := skipAgain(d)
	if at < len(all) && all[at].kind == gdwire.KindEnd {
		require.ErrorIs(t, err, gdwire.ErrCount)
		check("SkipValue at an End", d, nil, at)
	} else {
		check("SkipValue", d, err, valueEnd(all, at, depth))
	}
	d.Release()
	if at < len(all) && all[at].kind != gdwire.KindEnd {
		// CopyValue at any place writes what WriteToken writes of the tokens that
		// SkipValue skips there.
		end := valueEnd(all, at, depth)
		eo := gdwire.EncoderOptions{Format: o.Format, DoubleReals: o.DoubleReals, AllowInvalidUTF8: true, Depth: -1}
		var copied, written bytes.Buffer
		write := func(out *bytes.Buffer, n int) (*gdwire.Encoder, *gdwire.Decoder, error) {
			e, d := gdwire.NewEncoder(out, &eo), gdwire.NewDecoder(nil, &o)
			reset(d)
			for range n {
				var tok gdwire.Token
				err := model.Again(func() (err error) { tok, err = d.ReadToken(); return err })
				if err == nil {
					err = e.WriteToken(tok)
				}
				if err != nil {
					return e, d, err
				}
			}
			return e, d, nil
		}
		e, d, err := write(&copied, at)
		if !errors.Is(err, gdwire.ErrType) { // of an element of another type
			require.NoError(t, err)
			err := model.Again(func() error {
				err := gdwire.CopyValue(e, d)
				if errors.Is(e.Err(), fuzz.ErrTemporary) {
					return e.Err() // inside the value
				}
				return err
			})
			lost := errors.Is(err, fuzz.ErrTemporary)
			if lost {
				require.ErrorIs(t, err, gdwire.ErrIncomplete)
			} else {
				check("CopyValue", d, err, end)
				require.NoError(t, e.Flush())
			}
			e2, d2, err := write(&written, end)
			if !lost && !errors.Is(err, gdwire.ErrType) {
				require.NoError(t, e2.Flush())
				require.Equal(t, written.Bytes(), copied.Bytes())
			}
			d2.Release()
			e2.Close()
		}
		d.Release()
		e.Close()
	}

	to := s.Choose(97) % (depth + 1)
	end := at
	for end <= len(all) && (end == at && depth > to || end > at && all[end-1].depth > to) {
		end++
	}
	d = start()
	check("SkipTo", d, model.Again(func() error { return d.SkipTo(to) }), end)
	d.Release()
}

// skipAgain is SkipValue, continued after temporary errors.
func skipAgain(d *gdwire.Decoder) error {
	depth := d.Depth()
	return model.Again(func() error {
		if d.Depth() > depth {
			return d.SkipTo(depth)
		}
		return d.SkipValue()
	})
}

// valueEnd returns the number of steps after which SkipValue ends if it is called
// before step at. It is larger than len(all) if an error comes first.
func valueEnd(all []step, at, depth int) int {
	kind := func(i int) gdwire.Kind {
		if i < len(all) {
			return all[i].kind
		}
		return 0
	}
	end := at + 1
	switch {
	case kind(at) == gdwire.KindProperty:
		return end
	case kind(at) == gdwire.KindDictKey:
		end++
	case kind(at) == gdwire.KindChunk:
		for kind(end) == gdwire.KindChunk {
			end++
		}
		if end == len(all) {
			return end + 1 // an error among the chunks
		}
		return end
	case at > 0 && all[at-1].kind == gdwire.KindStringChunk && !all[at-1].last:
		depth-- // the string that is open
	}
	for end <= len(all) && all[end-1].depth > depth {
		end++
	}
	return end
}

// requireSmall expects that reading, skipping and copying p allocates a constant
// and little for each byte.
func requireSmall(t *testing.T, p []byte, d *gdwire.Decoder) {
	e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{Depth: -1})
	defer e.Close()
	for name, read := range map[string]func() error{
		"ReadToken": func() error { _, err := d.ReadToken(); return err },
		"SkipValue": d.SkipValue,
		"CopyValue": func() error { return gdwire.CopyValue(e, d) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d.Reset(bytes.NewReader(p))
		for read() == nil {
		}
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<10+64*len(p)), name)
	}
}

// requireAnyBufferSize expects the same values for every size of the read buffer,
// whether the length is known or not.
func requireAnyBufferSize(t *testing.T, p []byte, o gdwire.DecoderOptions) {
	for _, known := range []bool{true, false} {
		var want []tagged.Value
		var fault error
		for i, size := range []int{0, 16, 17, 23, 64} {
			o.MaxChunk = size
			d := gdwire.NewDecoder(bytes.NewReader(p), &o)
			if known {
				d.ResetBytes(p)
			}
			got, err := readValues(d)
			if i == 0 {
				want, fault = got, err
			}
			require.Equal(t, want, got, "maxChunk %d", size)
			require.Equal(t, fuzz.ErrorText(fault), fuzz.ErrorText(err), "maxChunk %d, length known: %v", size, known)

			d.Reset(&fuzz.FlakyReader{R: iotest.OneByteReader(bytes.NewReader(p))})
			if known {
				d.ResetN(&fuzz.FlakyReader{R: bytes.NewReader(p)}, int64(len(p)))
			}
			got, err = readValues(d)
			d.Release()
			require.Equal(t, want, got, "after temporary errors, maxChunk %d", size)
			require.Equal(t, fuzz.ErrorText(fault), fuzz.ErrorText(err), "after temporary errors, maxChunk %d, length known: %v", size, known)
		}
	}
}

// readValues reads values until an error.
func readValues(d *gdwire.Decoder) (all []tagged.Value, err error) {
	for {
		v, err := model.Read(d)
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
}

// FuzzRecode reads packets as values and writes them again: the values are the
// same, and so are the bytes if they were canonical.
func FuzzRecode(f *testing.F) {
	fuzz.AddSeeds(f.Add)
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		from := fuzz.Seed(n).Options()
		v, size, err := model.Decode(p, from)
		if err != nil {
			return
		}
		to := gdwire.EncoderOptions{Format: from.Format, DoubleReals: from.DoubleReals, AllowInvalidUTF8: from.AllowInvalidUTF8, Depth: -1}
		copied := testenv.Must(model.Copy(p[:size], from, to))(t)
		got, err := model.Rewrite(p[:size], from, to)
		if !from.Strict && errors.Is(err, gdwire.ErrType) && v.Holds(tagged.HasWrongTypes) {
			got, err = copied, nil // WriteToken rejects it, CopyValue does not
		}
		if errors.Is(err, gdwire.ErrUTF8) && v.Holds(tagged.HasNUL) {
			got, err = copied, nil // the same
		}
		require.NoError(t, err)
		if from.Limits == (gdwire.Limits{}) { // with other buffer sizes it may be normalized less
			require.Equal(t, got, copied)
		}
		back := from
		back.Limits = gdwire.NoLimits
		w, n2, err := model.Decode(got, back)
		require.NoError(t, err, "%x", got)
		require.EqualValues(t, len(got), n2)
		require.Equal(t, v, w)
		if !from.Strict {
			return
		}
		want := p[:size]
		if from.Format == gdwire.Godot2 { // its padding is free
			require.Equal(t, len(want), len(got))
			return
		}
		if from.Format == gdwire.Godot3 || from.Format == gdwire.Godot4 {
			want = model.CleanPaths(want, from.Format)
		}
		require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got))
	})
}

// TestSmallBuffers makes random calls on Encoders with small buffers, where values and faults meet the end of a buffer.
func TestSmallBuffers(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for range testenv.Cases(1500, 20_000) {
		s, size := fuzz.Seed(random.Uint64()), []int{12, 16, 40, 64, 100}[random.IntN(5)]
		script := make([]byte, 5*(1+random.IntN(40)))
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		calls.RequireWrites(t, script, s, func(w io.Writer, o *gdwire.EncoderOptions) *gdwire.Encoder {
			return gdwire.SmallEncoder(w, o, size)
		})
	}
}

// FuzzReference compares the Decoder with a second one that is written for
// simplicity alone.
func FuzzReference(f *testing.F) {
	fuzz.AddSeeds(f.Add)
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		o := fuzz.Seed(n).Options()
		o.Strict, o.AllowInvalidUTF8 = false, false
		testenv.Must(model.Compare(p, o))(t)
	})
}

// FuzzExamples reads packets, each followed by the packet of player, by the functions in
// example_test.go. They return an error or the right result, and leave the Decoder at the right
// position.
func FuzzExamples(f *testing.F) {
	model.Replace(f, player(), func(packet []byte) { f.Add(packet) })
	f.Fuzz(func(t *testing.T, packet []byte) {
		input := append(bytes.Clone(packet), player()...)
		v, size, invalid := model.Decode(input, gdwire.DecoderOptions{})
		d := gdwire.NewDecoder(nil, nil)
		defer d.Release()
		// requireInStep reads the player that follows.
		requireInStep := func() {
			require.Equal(t, size, d.InputOffset())
			var p Player
			if size == int64(len(packet)) {
				require.NoError(t, p.read(d))
				require.Equal(t, Player{7, "Ada", [3]float64{1, 2, 3}}, p)
			}
		}

		d.Reset(bytes.NewReader(input))
		var p Player
		err := p.read(d)
		if invalid != nil {
			require.Error(t, err)
		} else if want, ok := wantPlayer(&v); ok {
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(p)) // NaN, too
			requireInStep()
		} else {
			require.ErrorAs(t, err, new(*gdwire.Error))
			require.NoError(t, d.SkipTo(0))
			if d.InputOffset() == 0 {
				require.NoError(t, d.SkipValue()) // nothing was consumed
			}
			requireInStep()
		}

		d.Reset(bytes.NewReader(input))
		if list, err := readStrings(d); invalid == nil && err == nil {
			if !strings.HasPrefix(v.Type, "Packed") || len(list) > 0 { // an empty list of anything is one of strings
				require.Contains(t, []string{"Array", "PackedStringArray"}, v.Type)
			}
			require.Len(t, list, max(len(v.Items), len(v.Names)))
			requireInStep()
		}

		d.Reset(bytes.NewReader(input))
		var edited bytes.Buffer
		e := gdwire.NewEncoder(&edited, &gdwire.EncoderOptions{AllowInvalidUTF8: true}) // a NUL
		defer e.Close()
		if err := setName(e, d, "Grace"); invalid != nil {
			require.Error(t, err)
		} else if want := withName(v, "Grace"); !errors.Is(err, gdwire.ErrType) || !want.Holds(tagged.HasWrongTypes) {
			require.NoError(t, err)
			requireInStep()
			got, _ := testenv.Must2(model.Decode(edited.Bytes(), gdwire.DecoderOptions{}))(t)
			require.Equal(t, want, got)
		}

		if err := checkPacket(bytes.NewReader(input)); invalid != nil {
			require.Error(t, err)
		}
	})
}

// wantPlayer returns the required result of (*Player).read for a value, and whether it must accept
// it.
func wantPlayer(v *tagged.Value) (p Player, ok bool) {
	if v.Type != "Dictionary" {
		return p, false
	}
	for i := 0; i < len(v.Items); i += 2 {
		key, item := &v.Items[i], &v.Items[i+1]
		if key.Type != "String" && key.Type != "StringName" {
			continue
		}
		switch key.Text {
		case "id":
			x := float64(int64(item.Bits))
			if item.Type == "float" {
				x = math.Float64frombits(item.Bits)
			}
			if item.Type != "int" && item.Type != "float" || x != math.Trunc(x) || x < math.MinInt32 || x > math.MaxInt32 {
				return p, false
			}
			p.ID = int32(x)
		case "name":
			if item.Type != "String" && item.Type != "StringName" {
				return p, false
			}
			p.Name = item.Text
		case "pos":
			if item.Type != "Vector3" {
				return p, false
			}
			for i := range p.Pos {
				p.Pos[i] = math.Float64frombits(item.Numbers[i])
			}
		}
	}
	return p, true
}

// withName returns a Dictionary in which the values of the keys "name" are another.
func withName(v tagged.Value, name string) tagged.Value {
	for i := 0; v.Type == "Dictionary" && i < len(v.Items); i += 2 {
		if key := &v.Items[i]; (key.Type == "String" || key.Type == "StringName") && key.Text == "name" {
			v.Items[i+1] = tagged.Value{Type: "String", Text: name}
		}
	}
	return v
}
