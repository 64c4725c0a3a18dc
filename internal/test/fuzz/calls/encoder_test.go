package calls_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/hook"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// An encoderCall makes a call on an Encoder from four bytes of a script.
type encoderCall struct {
	name string
	make func(a *arguments) func(e *gdwire.Encoder) error
}

// arguments are the bytes of a script for one call.
type arguments struct {
	b      [4]byte
	format gdwire.Format
}

// count is small, Unknown or invalid.
func (a *arguments) count(i int) int {
	switch b := a.b[i]; {
	case b >= 0xE0:
		return gdwire.Unknown
	case b == 0xDF:
		return -2
	default:
		return int(b % 4)
	}
}

func (a *arguments) typ(i int) gdwire.Type { return gdwire.Type(a.b[i] % 44) }

func choose[T any](a *arguments, i int, from []T) T { return from[int(a.b[i])%len(from)] }

func (a *arguments) elem(i int) gdwire.Elem {
	return choose(a, i, []gdwire.Elem{{}, {}, {Type: gdwire.TypeInt}, {Type: gdwire.TypeString}, {Class: "Node"}, {Script: "res://a.gd"}})
}

func (a *arguments) text(i int) string {
	return choose(a, i, []string{"", "a", "text", "é", "\U0001F600", "\xff", "a text that is longer than small buffers", "nul\x00nul", strings.Repeat("€", 40)})
}

func (a *arguments) bytes(i int) []byte {
	return []byte(choose(a, i, []string{"", "a", "\xc3", "\xa9", "abcd", "abcdefgh", "0123456789abcdef0123456789abcdef", strings.Repeat("0123456789ab", 10)}))
}

func (a *arguments) int(i int) int64 {
	return choose(a, i, []int64{0, 1, -1, math.MaxInt32, math.MinInt32, math.MaxInt32 + 1, math.MinInt64, 5})
}

func (a *arguments) float(i int) float64 {
	return choose(a, i, []float64{0, 1.5, 0.1, math.Inf(1), 1e300, math.Copysign(0, -1), math.SmallestNonzeroFloat32, 7})
}

// packet returns a known packet of this or of another format.
func (a *arguments) packet(i int) ([]byte, fuzz.Seed) {
	in := seedPackets[(int(a.b[i])<<8|int(a.b[i+1]))%len(seedPackets)]
	return in.Packet, in.Seed
}

var seedPackets = fuzz.Seeds()

type encoderFunc = func(e *gdwire.Encoder) error

// encoderCalls contains every call that writes. A new one is a line here.
var encoderCalls = []encoderCall{
	{"WriteNil", func(*arguments) encoderFunc { return (*gdwire.Encoder).WriteNil }},
	{"WriteBool", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteBool(a.b[0] > 9) }
	}},
	{"WriteInt", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteInt(a.int(0)) }
	}},
	{"WriteToken(Int32)", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteToken(gdwire.Int32(int32(a.int(0)))) }
	}},
	{"WriteToken(Int64)", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteToken(gdwire.Int64(a.int(0))) }
	}},
	{"WriteFloat", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteFloat(a.float(0)) }
	}},
	{"WriteToken(Float32)", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteToken(gdwire.Float32(float32(a.float(0)))) }
	}},
	{"WriteToken(Float64)", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteToken(gdwire.Float64(a.float(0))) }
	}},
	{"WriteString", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteString(a.text(0)) }
	}},
	{"WriteKey or WriteString", func(a *arguments) encoderFunc {
		text := a.text(0)
		key := hook.NewKey(text)
		return func(e *gdwire.Encoder) error {
			if writeKey(e, &key) {
				return nil
			}
			return e.WriteString(text)
		}
	}},
	{"WriteStringName", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteStringName(a.text(0)) }
	}},
	{"WriteNodePath", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error {
			return e.WriteNodePath(choose(a, 0, []string{"", "/", "a", "/a/bb:c:d", ":x", "a//b", "a/\xff", strings.Repeat("/name", 20)}))
		}
	}},
	{"WriteRID", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteRID(uint64(a.int(0))) }
	}},
	{"WriteObjectID", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteObjectID(uint64(a.int(0))) }
	}},
	{"WriteCallable", func(*arguments) encoderFunc { return (*gdwire.Encoder).WriteCallable }},
	{"WriteSignal", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteSignal(a.text(0), uint64(a.int(1))) }
	}},
	{"WriteComponents of float64", func(a *arguments) encoderFunc {
		c := make([]float64, a.b[1]%18)
		for i := range c {
			c[i] = a.float(2)
		}
		return func(e *gdwire.Encoder) error { return gdwire.WriteComponents(e, a.typ(0), c) }
	}},
	{"WriteComponents of int32", func(a *arguments) encoderFunc {
		c := make([]int32, a.b[1]%6)
		return func(e *gdwire.Encoder) error { return gdwire.WriteComponents(e, a.typ(0), c) }
	}},
	{"WriteInputEvent", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteInputEvent(uint32(a.b[0]%10), 7, a.bytes(1)) }
	}},
	{"WriteProperty", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteProperty(a.text(0)) }
	}},
	{"BeginArray", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.BeginArray(a.count(0)) }
	}},
	{"BeginTypedArray", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.BeginTypedArray(a.count(0), a.elem(1)) }
	}},
	{"BeginDict", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.BeginDict(a.count(0)) }
	}},
	{"BeginTypedDict", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.BeginTypedDict(a.count(0), a.elem(1), a.elem(2)) }
	}},
	{"BeginObject", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.BeginObject(a.text(1), a.count(0)) }
	}},
	{"BeginString", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.BeginString(gdwire.TypeString, int64(a.count(0))) }
	}},
	{"BeginPacked", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.BeginPacked(a.typ(1), int64(a.count(0))) }
	}},
	{"BeginPacked of float32", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error {
			return e.BeginPacked(gdwire.TypePackedFloat32Array, int64(a.count(0)*8))
		}
	}},
	{"BeginNodePath", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.BeginNodePath(int(a.b[0]%3), int(a.b[1]%3), a.b[2] > 99) }
	}},
	{"BeginImage", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.BeginImage(1, 2, 3, 4, int64(a.count(0))) }
	}},
	{"End", func(*arguments) encoderFunc { return (*gdwire.Encoder).End }},
	{"End", func(*arguments) encoderFunc { return (*gdwire.Encoder).End }},
	{"Write", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { _, err := e.Write(a.bytes(0)); return err }
	}},
	{"WritePacked of float32", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return gdwire.WritePacked(e, make([]float32, a.b[0]%9)) }
	}},
	{"WritePacked of float64", func(a *arguments) encoderFunc {
		c := make([]float64, a.b[0]%9)
		for i := range c {
			c[i] = a.float(1)
		}
		return func(e *gdwire.Encoder) error { return gdwire.WritePacked(e, c) }
	}},
	{"WritePacked of byte", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return gdwire.WritePacked(e, a.bytes(0)) }
	}},
	{"WriteToken of DictKey", func(*arguments) encoderFunc {
		return func(e *gdwire.Encoder) error { return e.WriteToken(gdwire.DictKey()) }
	}},
	{"WriteToken", func(a *arguments) encoderFunc {
		tok := choose(a, 0, []gdwire.Token{
			gdwire.Nil(), gdwire.Int32(5), gdwire.Float64(0.1), gdwire.String(a.text(1)), gdwire.StringName(a.text(1)), gdwire.End(),
			gdwire.ArrayStart(int(a.b[1]%3), a.elem(2)), gdwire.DictStart(int(a.b[1]%3), a.elem(2), a.elem(3)), {},
		})
		return func(e *gdwire.Encoder) error { return e.WriteToken(tok) }
	}},
	{"WriteRaw", func(a *arguments) encoderFunc {
		p, _ := a.packet(0)
		return func(e *gdwire.Encoder) error { return e.WriteRaw(p) }
	}},
	{copying, func(a *arguments) encoderFunc {
		p, s := a.packet(0)
		o := s.Options()
		o.AllowObjects, o.MaxChunk = true, 16
		d := gdwire.NewDecoder(nil, &o)
		d.ResetBytes(p)
		return copyTokens(d)
	}},
	{"Fail", func(a *arguments) encoderFunc {
		return func(e *gdwire.Encoder) error {
			if a.b[0] > 20 {
				return e.Err() // mostly go on
			}
			return e.Fail(io.ErrClosedPipe)
		}
	}},
	{"Flush", func(*arguments) encoderFunc { return (*gdwire.Encoder).Flush }},
}

const copying = "copying"

// copyTokens returns a call that copies the first value of d token by token.
func copyTokens(d *gdwire.Decoder) encoderFunc {
	return func(e *gdwire.Encoder) error {
		for {
			t, err := d.ReadToken()
			if err == nil {
				err = e.WriteToken(t)
			}
			if err != nil || d.Depth() == 0 {
				return err
			}
		}
	}
}

// A chosenCall is a call in a script.
type chosenCall struct {
	*encoderCall
	a arguments
}

func (c chosenCall) start() func(e *gdwire.Encoder) error {
	a := c.a
	return c.make(&a)
}

// chosenCalls returns the calls of a script.
func chosenCalls(script []byte, f gdwire.Format) (all []chosenCall) {
	for ; len(script) >= 5; script = script[5:] {
		c := chosenCall{&encoderCalls[int(script[0])%len(encoderCalls)], arguments{format: f}}
		copy(c.a.b[:], script[1:])
		all = append(all, c)
	}
	return all
}

// A failingWriter fails once, after left bytes, with an error or with a short count.
type failingWriter struct {
	left  int // negative: never
	short bool
	b     []byte
}

func (w *failingWriter) Write(p []byte) (int, error) {
	n := len(p)
	if w.left < 0 || w.left >= n {
		w.b = append(w.b, p...)
		w.left = max(w.left-n, min(w.left, 0))
		return n, nil
	}
	n, w.left = w.left, -1
	w.b = append(w.b, p[:n]...)
	if w.short {
		return n, nil
	}
	return n, fuzz.ErrTemporary
}

func isTemporary(err error) bool { return err == fuzz.ErrTemporary || err == io.ErrShortWrite }

func encoderOptions(s fuzz.Seed) *gdwire.EncoderOptions {
	return &gdwire.EncoderOptions{Format: s.Format(), DoubleReals: s.Has(fuzz.Double), AllowInvalidUTF8: s.Has(fuzz.AllowInvalidUTF8), Depth: 6, MaxBuffered: 1 << 10}
}

// A writing contains the results of calls on an Encoder.
type writing struct {
	out   []byte
	notes []string // the error of each call before the Writer failed, and the position of the Encoder after it
	final error    // of the Writer
}

// write makes calls in order and recovers from invalid ones. After an error of the Writer,
// all calls must return that and write nothing.
func write(t testing.TB, calls []chosenCall, s fuzz.Seed, w io.Writer, out func() []byte) (all writing) {
	e := gdwire.NewEncoder(w, encoderOptions(s))
	defer e.Close()
	for _, c := range calls {
		offset := e.OutputOffset()
		err := c.start()(e)
		if all.final != nil {
			if err != all.final && c.name != copying || e.OutputOffset() != offset || e.ClearError() != all.final {
				t.Fatalf("%s returned %v after %v, and is at %d after %d", c.name, err, all.final, e.OutputOffset(), offset)
			}
			continue
		}
		if isTemporary(err) {
			all.final = err
			continue
		}
		if e.OutputOffset() < offset || err != nil && c.name != copying && e.OutputOffset() != offset {
			t.Fatalf("%s moved the Encoder from %d to %d, error %v", c.name, offset, e.OutputOffset(), err)
		}
		if err != nil && c.name != copying && fuzz.ErrorText(e.Err()) != fuzz.ErrorText(err) {
			t.Fatalf("%s returned %v, and Err %v", c.name, err, e.Err())
		}
		all.notes = append(all.notes, fmt.Sprintf("%s %v %d %d %s", c.name, err, e.OutputOffset(), e.Depth(), e.AppendPath(nil)))
		e.ClearError()
	}
	if err := e.Flush(); isTemporary(err) {
		all.final = err
	}
	all.out = out()
	return all
}

// requireEncoderCalls makes the calls of a script in several ways. The output is
// always a prefix of a valid encoding, however the Writer fails.
func requireEncoderCalls(t testing.TB, script []byte, s fuzz.Seed) {
	calls := chosenCalls(script, s.Format())
	defer func() {
		if r := recover(); r != nil || t.Failed() {
			for _, c := range calls {
				t.Logf("%s %x", c.name, c.a.b)
			}
			if r != nil {
				panic(r)
			}
		}
	}()
	var good bytes.Buffer
	want := write(t, calls, s, &good, good.Bytes)
	requirePrefix(t, s, want.out)
	random := rand.New(rand.NewPCG(uint64(s), 1))

	if s.Choose(3) == 0 { // the first error stays
		requireErrorStays(t, calls, s)
		return
	}
	failing := &failingWriter{left: random.IntN(len(want.out) + 1), short: random.IntN(2) == 0}
	at := failing.left
	got := write(t, calls, s, failing, func() []byte { return failing.b })
	for i := range got.notes {
		if got.notes[i] != want.notes[i] {
			t.Fatalf("before the Writer failed: %s, not %s", got.notes[i], want.notes[i])
		}
	}
	if (got.final == nil) != (at == len(want.out)) || !bytes.Equal(got.out, want.out[:at]) {
		t.Fatalf("Writer failing at %d, %v: wrote\n%x, not\n%x", at, got.final, got.out, want.out)
	}
}

// requireErrorStays makes calls until the first error, which every later call
// returns without writing anything.
func requireErrorStays(t testing.TB, calls []chosenCall, s fuzz.Seed) {
	var out bytes.Buffer
	e := gdwire.NewEncoder(&out, encoderOptions(s))
	var stays error
	var offset int64
	for _, c := range calls {
		err := c.start()(e)
		if c.name == copying && err != nil && e.Err() == nil {
			continue // an error of the Decoder
		}
		if stays == nil {
			if stays, offset = err, e.OutputOffset(); fuzz.ErrorText(e.Err()) != fuzz.ErrorText(err) {
				t.Fatalf("%s returned %v, and Err %v", c.name, err, e.Err())
			}
			continue
		}
		if c.name == "Fail" { // it may replace an error that could be recovered
			stays = e.Err()
			continue
		}
		if fuzz.ErrorText(err) != fuzz.ErrorText(stays) && c.name != copying || e.OutputOffset() != offset {
			t.Fatalf("%s returned %v after %v, and is at %d after %d", c.name, err, stays, e.OutputOffset(), offset)
		}
	}
	if err := e.Close(); stays != nil && fuzz.ErrorText(err) != fuzz.ErrorText(stays) || e.Close() != nil || e.Err() != gdwire.ErrClosed {
		t.Fatalf("Close returned %v after %v, and then Err %v", err, stays, e.Err())
	}
	requirePrefix(t, s, out.Bytes())
	out.Reset()
	e.Reset(&out)
	if err := e.WriteNil(); err != nil || e.Close() != nil {
		t.Fatalf("after Reset: %v", err)
	}
}

// requirePrefix requires whole values, of which the last can be incomplete.
func requirePrefix(t testing.TB, s fuzz.Seed, p []byte) {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{
		Format: s.Format(), DoubleReals: s.Has(fuzz.Double), AllowObjects: true, AllowInvalidUTF8: s.Has(fuzz.AllowInvalidUTF8),
		Limits: gdwire.NoLimits,
	})
	defer d.Release()
	d.Reset(plain(p))
	for {
		_, err := d.ReadToken()
		if err == io.EOF {
			return
		}
		if err != nil {
			if e, ok := err.(*gdwire.Error); !ok || e.Err != io.ErrUnexpectedEOF {
				t.Fatalf("wrote %x: %v", p, err)
			}
			return
		}
	}
}

// TestEncoderCalls makes random calls.
func TestEncoderCalls(t *testing.T) {
	n := *sequences
	if !testenv.Full() {
		n = min(n, 2_000)
	}
	random := rand.New(rand.NewPCG(9, 10))
	for i := range n {
		s := fuzz.Seed(random.Uint64())
		script := make([]byte, 5*(1+random.IntN(40)))
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		if !t.Run(fmt.Sprint(i), func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil || t.Failed() {
					t.Logf("seed %#x, script %x", uint64(s), script)
					if r != nil {
						panic(r)
					}
				}
			}()
			requireEncoderCalls(t, script, s)
		}) {
			break
		}
	}
}

// FuzzEncoderCalls makes the calls that the input chooses.
func FuzzEncoderCalls(f *testing.F) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		script := make([]byte, 5*(1+random.IntN(20)))
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		f.Add(script, random.Uint64())
	}
	f.Fuzz(func(t *testing.T, script []byte, n uint64) {
		if len(script) > 300 {
			return
		}
		requireEncoderCalls(t, script, fuzz.Seed(n))
	})
}
