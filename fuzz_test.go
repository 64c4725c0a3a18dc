package gdwire_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/bits"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/fuzz"
	"github.com/stretchr/testify/require"
)

// knownInputs are all packets that the tests know: the engines' vectors and
// verdicts, and the tables of valid and invalid packets of each format.
func knownInputs(t testing.TB) (all []fuzz.Input) {
	add := func(p []byte, format *gdwire.Format, double bool) {
		s := fuzz.SeedOf(format, fuzz.Objects)
		if double {
			s |= fuzz.Double
		}
		all = append(all, fuzz.Input{Packet: p, Seed: s}, fuzz.Input{Packet: p, Seed: s | fuzz.Strict | fuzz.Window | 3*fuzz.Rest})
	}
	for i := range engines {
		e := &engines[i]
		for _, v := range e.vectors(t) {
			add(v.Hex, e.format, false)
		}
		if e.double {
			continue
		}
		for _, v := range e.verdicts(t) {
			add(v.Hex, e.format, false)
		}
	}
	for i := range packets {
		for _, name := range strings.Fields(packets[i].formats) {
			format := formatNamed(t, name)
			add(build(t, format, packets[i].packet), format, packets[i].double)
		}
	}
	for _, r := range invalidPackets {
		for _, name := range strings.Fields(r.formats) {
			format := formatNamed(t, name)
			add(build(t, format, r.packet), format, false)
		}
	}
	return all
}

// A feature of an input is a kind of token in a format, a payload of some
// magnitude after a kind of token, or a validation error.
type feature struct {
	format   *gdwire.Format
	kind     gdwire.Kind
	after    gdwire.Kind
	typ      gdwire.Type
	width    int
	log2Size int
	reason   string
}

var numbersInText = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)

func features(in fuzz.Input, add func(feature)) {
	o := in.Seed.Options()
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(in.Packet)
	var last gdwire.Kind
	for {
		tok, err := d.ReadToken()
		if e := (*gdwire.Error)(nil); errors.As(err, &e) {
			add(feature{reason: numbersInText.ReplaceAllString(e.Err.Error(), "#"), width: int(in.Seed & fuzz.Strict)})
		}
		if err != nil {
			return
		}
		add(feature{format: o.Format, kind: tok.Kind(), typ: tok.Type(), width: tok.Width()})
		add(feature{kind: tok.Kind(), after: last, log2Size: bits.Len(uint(len(tok.Bytes())))})
		last = tok.Kind()
	}
}

var writeSeeds = flag.Bool("write-seeds", false, "choose the seeds of the fuzz targets anew")

// The seeds of the fuzz targets are those of knownInputs, shortest first, that
// have a feature which none before them has: 504 of 7,276, which reach all
// but a few of the Decoder's statements that all of them reach. A target runs
// every seed before it tries anything new, so more of them only cost time.
// go test -run TestSeeds -write-seeds chooses them anew.
func TestSeeds(t *testing.T) {
	all := knownInputs(t)
	slices.SortStableFunc(all, func(a, b fuzz.Input) int { return cmp.Compare(len(a.Packet), len(b.Packet)) })
	seen := map[feature]bool{}
	var chosen []byte
	for _, in := range all {
		before := len(seen)
		features(in, func(f feature) { seen[f] = true })
		if len(seen) > before {
			chosen = fmt.Appendf(chosen, "%v %#x %x\n", in.Seed.Format(), uint64(in.Seed&^7), in.Packet)
		}
	}
	if *writeSeeds {
		require.NoError(t, os.WriteFile("internal/fuzz/seeds.txt", chosen, 0o666))
		return
	}
	got := map[feature]bool{}
	for _, in := range fuzz.Seeds() {
		features(in, func(f feature) { got[f] = true })
	}
	require.Greater(t, len(got), len(seen)*9/10, "the seeds are out of date: go test -run TestSeeds -write-seeds")
}

// addSeeds gives a target its seeds.
func addSeeds(f *testing.F) {
	for _, in := range fuzz.Seeds() {
		f.Add(in.Packet, uint64(in.Seed))
	}
}

// A step is the result of one ReadToken.
type step struct {
	kind  gdwire.Kind
	text  string
	path  string
	end   int64 // the offset after it
	depth int
	last  bool // of a string's chunk
}

// A flakyReader fails before every read.
type flakyReader struct {
	r      io.Reader
	failed bool
}

func (r *flakyReader) Read(p []byte) (int, error) {
	if r.failed = !r.failed; r.failed {
		return 0, errTemporary
	}
	return r.r.Read(p)
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
		if err == errTemporary {
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

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// FuzzReaders reads packets from Readers that cut them in different ways, with
// and without a known length: the tokens are the same.
func FuzzReaders(f *testing.F) {
	addSeeds(f)
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
			{"temporary errors", &flakyReader{r: iotest.OneByteReader(bytes.NewReader(p))}, true},
		} {
			d.Reset(c.r)
			got, err := steps(t, d, c.peek)
			require.Equal(t, want, got, c.name)
			require.Equal(t, errorText(fault), errorText(err), c.name)
		}

		d.ResetBytes(p)
		want, fault = steps(t, d, true)
		d.ResetN(iotest.HalfReader(io.MultiReader(bytes.NewReader(p), neverReader{t})), int64(len(p)))
		got, err := steps(t, d, false)
		require.Equal(t, want, got)
		require.Equal(t, errorText(fault), errorText(err))
	})
}

// FuzzSkips skips and copies from any token: it ends where reading on does.
func FuzzSkips(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		s := fuzz.Seed(n)
		o := s.Options()
		d := gdwire.NewDecoder(bytes.NewReader(p), &o)
		defer d.Release()
		want, fault := steps(t, d, false)
		requireSkips(t, s, want, fault, func(d *gdwire.Decoder) {
			d.Reset(&flakyReader{r: iotest.OneByteReader(bytes.NewReader(p))})
		})
		requireSkips(t, s, want, fault, func(d *gdwire.Decoder) { d.Reset(bytes.NewReader(p)) })
		d.ResetBytes(p)
		want, fault = steps(t, d, false)
		requireSkips(t, s, want, fault, func(d *gdwire.Decoder) { d.ResetBytes(p) })
	})
}

// FuzzWindows reads the values of packets with read buffers of several sizes, by
// tokens and in bulk: they are the same.
func FuzzWindows(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, p []byte, n uint64) { requireAnyWindow(t, p, fuzz.Seed(n).Options()) })
}

// FuzzMemory reads packets in every way that keeps nothing: memory follows the
// bytes received.
func FuzzMemory(f *testing.F) {
	addSeeds(f)
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
			require.NoError(t, again(func() error { _, err := d.ReadToken(); return err }))
		}
		return d
	}
	depth := 0
	if at > 0 {
		depth = all[at-1].depth
	}
	check := func(name string, d *gdwire.Decoder, err error, end int) {
		if end > len(all) {
			require.Equal(t, errorText(fault), errorText(err), name)
			return
		}
		require.NoError(t, err, name)
		if end > 0 {
			require.Equal(t, all[end-1].end, d.InputOffset(), name)
			require.Equal(t, all[end-1].depth, d.Depth(), name)
		}
		rest, err := steps(t, d, false)
		require.Equal(t, append([]step(nil), all[end:]...), rest, name)
		require.Equal(t, errorText(fault), errorText(err), name)
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
				err := again(func() (err error) { tok, err = d.ReadToken(); return err })
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
			err := again(func() error {
				err := gdwire.CopyValue(e, d)
				if errors.Is(e.Err(), errTemporary) {
					return e.Err() // inside the value
				}
				return err
			})
			lost := errors.Is(err, errTemporary)
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
			e2.Release()
		}
		d.Release()
		e.Release()
	}

	to := s.Choose(97) % (depth + 1)
	end := at
	for end <= len(all) && (end == at && depth > to || end > at && all[end-1].depth > to) {
		end++
	}
	d = start()
	check("SkipTo", d, again(func() error { return d.SkipTo(to) }), end)
	d.Release()
}

// skipAgain is SkipValue, continued after temporary errors.
func skipAgain(d *gdwire.Decoder) error {
	depth := d.Depth()
	return again(func() error {
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
	defer e.Release()
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

// requireAnyWindow expects the same values for every size of the read buffer,
// whether the length is known or not.
func requireAnyWindow(t *testing.T, p []byte, o gdwire.DecoderOptions) {
	for _, known := range []bool{true, false} {
		var want []value
		var fault error
		for i, size := range []int{0, 16, 17, 23, 64} {
			o.MaxChunk = size
			d := gdwire.NewDecoder(bytes.NewReader(p), &o)
			if known {
				d.ResetBytes(p)
			}
			got, err := readValues(d, readValue)
			if i == 0 {
				want, fault = got, err
			}
			require.Equal(t, want, got, "window %d", size)
			require.Equal(t, errorText(fault), errorText(err), "window %d, length known: %v", size, known)

			d.Reset(&flakyReader{r: iotest.OneByteReader(bytes.NewReader(p))})
			if known {
				d.ResetN(&flakyReader{r: bytes.NewReader(p)}, int64(len(p)))
			}
			got, err = readValues(d, readBulk)
			d.Release()
			require.Equal(t, want, got, "in bulk, window %d", size)
			require.Equal(t, errorText(fault), errorText(err), "in bulk, window %d, length known: %v", size, known)
		}
	}
}

// readValues reads values until an error.
func readValues(d *gdwire.Decoder, read func(*gdwire.Decoder) (value, error)) (all []value, err error) {
	for {
		v, err := read(d)
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
}

// FuzzRecode reads packets as values and writes them again: the values are the
// same, and so are the bytes if they were canonical.
func FuzzRecode(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		from := fuzz.Seed(n).Options()
		v, size, err := decodeBytes(p, from)
		if err != nil {
			return
		}
		to := gdwire.EncoderOptions{Format: from.Format, DoubleReals: from.DoubleReals, AllowInvalidUTF8: from.AllowInvalidUTF8, Depth: -1}
		copied, err := copyValue(p[:size], from, to)
		require.NoError(t, err)
		got, err := rewriteTokens(p[:size], from, to)
		if !from.Strict && errors.Is(err, gdwire.ErrType) && v.holds(wronglyTyped) {
			got, err = copied, nil // the one case that WriteToken rejects
		}
		require.NoError(t, err)
		if from.Limits == (gdwire.Limits{}) { // with other buffer sizes it may be normalized less
			require.Equal(t, got, copied)
		}
		back := from
		back.Limits = noLimits
		w, n2, err := decodeBytes(got, back)
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
			want = cleanPaths(t, want, from.Format)
		}
		require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got))
	})
}

// wronglyTyped reports whether an element or key has another type than declared.
func wronglyTyped(v *value) bool {
	for i := range v.Items {
		item, must := &v.Items[i], v.must(i)
		if must != "" && item.Type != must && (must != "Object" || item.Type != "ObjectID" && item.Type != "Nil") {
			return true
		}
	}
	return false
}

// FuzzReference compares the Decoder with a second one that is written for
// simplicity alone.
func FuzzReference(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		o := fuzz.Seed(n).Options()
		o.Strict, o.AllowInvalidUTF8 = false, false
		requireReference(t, p, o)
	})
}
