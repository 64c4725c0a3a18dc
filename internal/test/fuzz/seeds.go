// Package fuzz contains the seeds of all fuzz targets. Its tests are the fuzz targets
// with cheap checks: after each execution, go test -fuzz compares the counters of
// every function in the test binary, which takes 80 µs with testify and its
// dependencies, so these tests import only the codec. The package calls contains the
// targets that compare sequences of calls.
package fuzz

import (
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
)

// Seeds of all fuzz targets, and what the targets share.

// A Seed chooses how a packet is read. Its bits are the format, the options and, from
// Rest on, the other choices of a target.
type Seed uint64

// The bits of a Seed after the three bits of the format. Window takes three bits.
const (
	Strict Seed = 1 << (iota + 3)
	Objects
	Double
	AllowInvalidUTF8
	Limits
	Window
	Rest = Window << 3
)

// Has reports whether the given bit is set.
func (s Seed) Has(bit Seed) bool { return s&bit != 0 }

var formats = gdwire.Formats()

// Format returns the format that s chooses.
func (s Seed) Format() gdwire.Format { return formats[int(s&7)%len(formats)] }

// SeedOf returns a Seed of format f with the given bits set.
func SeedOf(f gdwire.Format, bits Seed) Seed {
	for s := range Seed(len(formats)) {
		if s.Format() == f {
			return s | bits
		}
	}
	panic(f)
}

// Options returns the options that s chooses.
func (s Seed) Options() gdwire.DecoderOptions {
	o := gdwire.DecoderOptions{
		Format: s.Format(), Strict: s.Has(Strict), AllowObjects: s.Has(Objects),
		DoubleReals: s.Has(Double), AllowInvalidUTF8: s.Has(AllowInvalidUTF8),
		MaxChunk: []int{0, 16, 17, 19, 32, 61, 100, 1000}[s/Window&7],
	}
	if s.Has(Limits) {
		o.Limits = gdwire.Limits{Depth: 3, Elements: 5, Values: 12, StringBytes: 40, NameBytes: 10, PackedBytes: 48, Bytes: 150}
	}
	return o
}

// Choose returns a number in [0, n) that depends on s.
func (s Seed) Choose(n int) int { return int(uint64(s/Rest) % uint64(n)) }

// An Input is a packet and the Seed with which it is read.
type Input struct {
	Packet []byte
	Seed   Seed
}

//go:embed seeds.txt
var seeds string

// Seeds returns the seed corpus of the targets. TestSeeds in internal/test/conformance
// chooses it.
func Seeds() (all []Input) {
	for line := range strings.Lines(seeds) {
		fields := strings.Fields(line)
		bits, err := strconv.ParseUint(fields[1], 0, 64)
		if err != nil {
			panic(err)
		}
		var format gdwire.Format
		if err := format.UnmarshalText([]byte(fields[0])); err != nil {
			panic(err)
		}
		p, err := hex.DecodeString(strings.Join(fields[2:], ""))
		if err != nil {
			panic(err)
		}
		all = append(all, Input{p, SeedOf(format, Seed(bits))})
	}
	return all
}

// AddSeeds calls add, the method of a testing.F, for each seed.
func AddSeeds(add func(args ...any)) {
	for _, in := range Seeds() {
		add(in.Packet, uint64(in.Seed))
	}
}

// AppendToken appends the content of a token: all that its methods return. Those of other kinds return 0.
func AppendToken(b []byte, t gdwire.Token) []byte {
	names, subnames, absolute := t.NodePath()
	event, device := t.Event()
	b = append(b, byte(t.Kind()), byte(t.Type()), byte(t.Width()), bit(t.Last()), bit(absolute), bit(t.Bool()))
	for _, n := range [...]uint64{
		uint64(t.Len()), uint64(t.Int()), t.ID(), math.Float64bits(t.Float()), uint64(names), uint64(subnames), uint64(event), uint64(device),
	} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	if k := t.Kind(); k != gdwire.KindArrayStart && k != gdwire.KindDictStart {
		return append(b, t.Bytes()...)
	}
	for _, e := range [...]gdwire.Elem{t.KeyElem(), t.Elem()} { // without the padding of names
		b = append(b, byte(e.Type), byte(len(e.Class)), byte(len(e.Script)))
		b = append(append(b, e.Class...), e.Script...)
	}
	return b
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// ErrTemporary is the error of a FlakyReader.
var ErrTemporary = errors.New("try again")

// A FlakyReader fails before every read from R.
type FlakyReader struct {
	R      io.Reader
	failed bool
}

func (r *FlakyReader) Read(p []byte) (int, error) {
	if r.failed = !r.failed; r.failed {
		return 0, ErrTemporary
	}
	return r.R.Read(p)
}

// ErrorText returns the text of err, or "" for nil.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
