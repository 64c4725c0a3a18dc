package calls

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// Inputs of unknown and of known length. The others are compared with the first of
// each.
var (
	openInputs = []struct {
		name  string
		start func(d *gdwire.Decoder, p []byte)
	}{
		{"a Reader", func(d *gdwire.Decoder, p []byte) { d.Reset(plain(p)) }},
		{"one byte at a time", func(d *gdwire.Decoder, p []byte) { d.Reset(iotest.OneByteReader(plain(p))) }},
		{"io.EOF with the last bytes", func(d *gdwire.Decoder, p []byte) { d.Reset(iotest.DataErrReader(plain(p))) }},
		{"temporary errors", func(d *gdwire.Decoder, p []byte) { d.Reset(&fuzz.FlakyReader{R: iotest.OneByteReader(plain(p))}) }},
	}
	knownInputs = []struct {
		name  string
		start func(d *gdwire.Decoder, p []byte)
	}{
		{"ResetBytes", func(d *gdwire.Decoder, p []byte) { d.ResetBytes(p) }},
		{"ResetN", func(d *gdwire.Decoder, p []byte) { d.ResetN(plain(p), int64(len(p))) }},
		{"half at a time", func(d *gdwire.Decoder, p []byte) { d.ResetN(iotest.HalfReader(plain(p)), int64(len(p))) }},
		{"one byte at a time", func(d *gdwire.Decoder, p []byte) { d.ResetN(iotest.OneByteReader(plain(p)), int64(len(p))) }},
		{"ResetN with temporary errors", func(d *gdwire.Decoder, p []byte) { d.ResetN(&fuzz.FlakyReader{R: plain(p)}, int64(len(p))) }},
	}
)

// runCalls makes the calls of a script on one kind of input.
func runCalls(t testing.TB, o gdwire.DecoderOptions, start func(d *gdwire.Decoder), script []byte, anyWindow bool) *Caller {
	d := gdwire.NewDecoder(nil, &o)
	e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{Format: o.Format, DoubleReals: o.DoubleReals, AllowInvalidUTF8: true, Depth: -1})
	c := &Caller{t: t, d: d, e: e, start: start, script: script, anyWindow: anyWindow}
	defer d.Release()
	defer e.Close()
	defer func() {
		if r := recover(); r != nil || t.Failed() {
			t.Logf("calls: %s", strings.Join(c.log, ", "))
			if r != nil {
				panic(r)
			}
		}
	}()
	start(d)
	for len(c.script) > 0 {
		c.next()
	}
	return c
}

func compareCalls(t testing.TB, name string, want, got *Caller) {
	wantTrace, gotTrace := want.trace, got.trace
	if got.lost {
		wantTrace, gotTrace = want.places, got.places
	}
	if bytes.Equal(wantTrace, gotTrace) {
		if got.failing || want.anyWindow { // errors of the Reader, and offsets inside texts, differ
			return
		}
		wantTrace, gotTrace = want.errs, got.errs
	}
	if bytes.Equal(wantTrace, gotTrace) {
		return
	}
	t.Logf("%s, calls: %s", name, strings.Join(got.log, ", "))
	wants, gots := bytes.Split(wantTrace, []byte("\n")), bytes.Split(gotTrace, []byte("\n"))
	for i := range min(len(wants), len(gots)) {
		if !bytes.Equal(wants[i], gots[i]) {
			t.Fatalf("after %q\nwant  %q\ngot   %q", wants[max(i-1, 0)], wants[i], gots[i])
		}
	}
	t.Fatalf("%d calls instead of %d", len(gots), len(wants))
}

// requireCalls makes the calls of a script on a packet from different Readers and requires
// the same results. The seed chooses the Readers.
func requireCalls(t testing.TB, p []byte, s fuzz.Seed, script []byte) {
	o := s.Options()
	begin := func(f func(d *gdwire.Decoder, p []byte)) func(d *gdwire.Decoder) {
		return func(d *gdwire.Decoder) { f(d, p) }
	}
	switch s.Choose(3) {
	case 0:
		want := runCalls(t, o, begin(openInputs[0].start), script, false)
		for _, in := range openInputs[1:] {
			if in.name == "temporary errors" && want.loops > 0 {
				continue // loops do not resume
			}
			compareCalls(t, in.name, want, runCalls(t, o, begin(in.start), script, false))
		}
	case 1:
		for _, in := range knownInputs[1:] {
			o.MaxChunk = max(o.MaxChunk, len(p), 16) // in memory nothing is cut
			want := runCalls(t, o, begin(knownInputs[0].start), script, false)
			if in.name == "ResetN with temporary errors" && want.loops > 0 {
				continue
			}
			compareCalls(t, in.name, want, runCalls(t, o, begin(in.start), script, false))
		}
	default:
		want := runCalls(t, o, begin(openInputs[0].start), script, true)
		for _, size := range []int{0, 16, 23, 64} {
			o.MaxChunk = size
			compareCalls(t, fmt.Sprint("read buffer of ", size), want, runCalls(t, o, begin(openInputs[0].start), script, true))
		}
	}
}

// compose puts packets of one format into nested containers, so that calls are made at every
// kind of position.
func compose(random *rand.Rand, all []fuzz.Input, s fuzz.Seed, depth int) []byte {
	pick := func() []byte {
		for range 20 {
			if in := all[random.IntN(len(all))]; in.Seed.Format() == s.Format() && len(in.Packet) < 300 {
				return in.Packet
			}
		}
		return nil
	}
	var out bytes.Buffer
	e := gdwire.NewEncoder(&out, &gdwire.EncoderOptions{Format: s.Format(), DoubleReals: s.Has(fuzz.Double)})
	var value func(depth int)
	value = func(depth int) {
		kind := random.IntN(4)
		if depth == 0 {
			kind = 3
		}
		n := random.IntN(4)
		switch kind {
		case 0:
			e.BeginArray(n)
			for range n {
				value(depth - 1)
			}
			e.End()
		case 1, 2:
			e.BeginDict(n)
			for i := range n {
				if random.IntN(5) > 0 {
					e.WriteString(strings.Repeat("k", i*7))
				} else {
					value(depth - 1)
				}
				value(depth - 1)
			}
			e.End()
		default:
			if e.WriteRaw(pick()) != nil {
				e.ClearError()
				e.WriteNil()
			}
		}
	}
	value(depth)
	e.Close()
	return out.Bytes()
}

var sequences = flag.Int("sequences", 20_000, "how many random sequences of calls tests make")

// TestDecoderCalls makes random calls on random packets.
func TestDecoderCalls(t *testing.T) {
	n := testenv.Cases(min(*sequences, 700), *sequences)
	random := rand.New(rand.NewPCG(5, 6))
	all := fuzz.Seeds()
	for i := range n {
		s := fuzz.Seed(random.Uint64())
		if random.IntN(3) > 0 {
			s &^= fuzz.Limits
		}
		p := compose(random, all, s, 3)
		for range random.IntN(3) {
			if random.IntN(4) == 0 && len(p) > 0 {
				p[random.IntN(len(p))] ^= 1 << random.IntN(8)
			}
			if random.IntN(8) == 0 {
				p = p[:random.IntN(len(p)+1)]
			}
		}
		script := make([]byte, 1+random.IntN(30))
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		if !t.Run(fmt.Sprint(i), func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil || t.Failed() {
					t.Logf("packet %x, seed %#x, script %x", p, uint64(s), script)
					if r != nil {
						panic(r)
					}
				}
			}()
			requireCalls(t, p, s, script)
		}) {
			break
		}
	}
}

// TestPairsOfDecoderCalls makes every call after every other, inside a string, a packed
// array and containers.
func TestPairsOfDecoderCalls(t *testing.T) {
	var out bytes.Buffer
	e := gdwire.NewEncoder(&out, nil)
	e.BeginArray(5)
	e.WriteString("short")
	e.WriteFloat(-1.5) // which is no integer
	e.WriteString(strings.Repeat("text", 10))
	e.BeginPacked(gdwire.TypePackedByteArray, 41)
	gdwire.WritePacked(e, bytes.Repeat([]byte{7}, 41))
	e.End()
	e.BeginDict(2)
	e.WriteString("position")
	gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{1, 2})
	e.WriteString("path")
	e.WriteNodePath("/root/Player:position")
	e.End()
	e.End()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	payload := slices.IndexFunc(Reads, func(c Read) bool { return c.name == "Payload" })
	for i := range Reads {
		for j := range Reads {
			for tokens := range 9 {
				for variation := range 6 { // with Payload before the calls or without, on three kinds of input
					if (i+j+tokens+variation)%71 > 0 && !testenv.Full() {
						continue
					}
					script := make([]byte, tokens, tokens+4) // of ReadToken
					if variation%2 > 0 {
						script = append(script, byte(payload))
					}
					script = append(script, byte(i), byte(j), 0)
					requireCalls(t, out.Bytes(), fuzz.Rest*fuzz.Seed(variation/2), script)
				}
			}
		}
	}
}

// FuzzDecoderCalls makes the calls that the input chooses.
func FuzzDecoderCalls(f *testing.F) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, in := range fuzz.Seeds() {
		script := make([]byte, 12)
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		f.Add(in.Packet, uint64(in.Seed)+uint64(random.IntN(3))*uint64(fuzz.Rest), script)
	}
	f.Fuzz(func(t *testing.T, p []byte, n uint64, script []byte) {
		if len(script) > 60 {
			return
		}
		requireCalls(t, p, fuzz.Seed(n), script)
	})
}
