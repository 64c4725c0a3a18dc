package calls_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/tagged"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// An encoderCall makes a call on the Encoder of a recorder with arguments from a script, and records
// its events.
type encoderCall struct {
	name   string
	silent bool // it records no events
	call   func(r *recorder, a *arguments) error
}

// arguments are four bytes of a script for one call.
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
		return int(b % 5)
	}
}

// length is a count of the elements of packed data.
func (a *arguments) length(i int) int {
	return choose(a, i, []int{gdwire.Unknown, gdwire.Unknown, -2, 0, 1, 2, 8, 12, 24, min(1<<40, math.MaxInt)})
}

// typ is mostly a type for which fits reports true, but can be any or invalid.
func (a *arguments) typ(i int, fits func(gdwire.Type) bool) gdwire.Type {
	all := gdwire.Types()
	if a.b[i] >= 88 {
		all = slices.DeleteFunc(all, func(t gdwire.Type) bool { return !fits(t) })
		return choose(a, i, all)
	}
	return gdwire.Type(a.b[i] % 44)
}

func isPacked(t gdwire.Type) bool { return t.Element() != 0 }
func isText(t gdwire.Type) bool   { return t == gdwire.TypeString || t == gdwire.TypeStringName }

// components returns a math type, as typ does, and mostly its number of components.
func (a *arguments) components(i int, integers bool) (typ gdwire.Type, n int) {
	typ = a.typ(i, func(t gdwire.Type) bool { n, ints := t.Components(); return n > 0 && ints == integers })
	if n, _ = typ.Components(); a.b[i+1] < 50 {
		n = int(a.b[i+1] % 18)
	}
	return typ, n
}

func choose[T any](a *arguments, i int, from []T) T { return from[int(a.b[i])%len(from)] }

func (a *arguments) elem(i int) gdwire.Elem {
	return choose(a, i, []gdwire.Elem{
		{}, {}, {}, {Type: gdwire.TypeInt}, {Type: gdwire.TypeString}, {Class: "Node"}, {Script: "res://a.gd"},
		{Type: gdwire.TypeNil}, {Class: "\xff"}, {Type: gdwire.TypeObject},
	})
}

func (a *arguments) text(i int) string {
	return choose(a, i, []string{"", "a", "text", "é", "\U0001F600", "\xff", "a text that is longer than small buffers", "nul\x00nul", strings.Repeat("€", 40), strings.Repeat("é", 300)})
}

func (a *arguments) bytes(i int) []byte {
	return []byte(choose(a, i, []string{
		"", "a", "\xc3", "\xa9", "\xf0\x9f", "\x98\x80", "abcd", "abcdefgh", "0123456789abcdef0123456789abcdef", strings.Repeat("0123456789ab", 10), strings.Repeat("z", 600),
	}))
}

var (
	someInts   = []int64{0, 1, -1, math.MaxInt32, math.MinInt32, math.MaxInt32 + 1, math.MinInt64, 5}
	someFloats = []float64{0, 1.5, 0.1, math.Inf(1), 1e300, math.Copysign(0, -1), math.NaN(), math.SmallestNonzeroFloat32, 7}
)

func (a *arguments) int(i int) int64     { return choose(a, i, someInts) }
func (a *arguments) float(i int) float64 { return choose(a, i, someFloats) }

// several returns n elements of from, the first of which is that of b[i]; b[i+1] chooses the others.
func several[T any](a *arguments, i, n int, from []T) (all []T) {
	for k := range n {
		all = append(all, from[(int(a.b[i])+k*int(a.b[i+1]))%len(from)])
	}
	return all
}

// A nodePath is a NodePath and its parts.
type nodePath struct {
	text            string
	absolute        bool
	names, subnames []string
}

func (a *arguments) nodePath(i int) nodePath {
	return choose(a, i, []nodePath{
		{"", false, nil, nil}, {"/", true, nil, nil}, {"a", false, []string{"a"}, nil},
		{"/a/bb:c:d", true, []string{"a", "bb"}, []string{"c", "d"}}, {":x", false, nil, []string{"x"}},
		{"a//b", false, []string{"a", "b"}, nil}, {"a/\xff", false, []string{"a", "\xff"}, nil},
		{strings.Repeat("/name", 20), true, slices.Repeat([]string{"name"}, 20), nil},
	})
}

// packet returns a known packet of this or of another format.
func (a *arguments) packet(i int) ([]byte, fuzz.Seed) {
	in := seedPackets[(int(a.b[i])<<8|int(a.b[i+1]))%len(seedPackets)]
	return in.Packet, in.Seed
}

var seedPackets = fuzz.Seeds()

// raw returns a known packet, or one value of this format, several, or a part of one.
func (a *arguments) raw() (p []byte) {
	if a.b[2] >= 128 {
		p, _ = a.packet(0)
		return p
	}
	array := uint32(slices.Index(model.TypeNames[a.format.String()], "Array"))
	for _, word := range choose(a, 3, [][]uint32{
		{0}, {1, 1}, {array, 1, 4, 1, 'a'}, {1}, {0, 0}, {}, {4, 1, 0xff}, {array, 1, array, 1, array, 1, array, 1, array, 1, 0},
	}) {
		p = binary.LittleEndian.AppendUint32(p, word)
	}
	return p
}

// encoderCalls contains every call that writes. A new one is a line here.
var encoderCalls = []encoderCall{
	{name: "WriteNil", call: func(r *recorder, _ *arguments) error { return r.took(r.e.WriteNil(), "nil") }},
	{name: "WriteBool", call: func(r *recorder, a *arguments) error {
		v := a.b[0] > 9
		return r.took(r.e.WriteBool(v), "bool %v", v)
	}},
	{name: "WriteInt", call: func(r *recorder, a *arguments) error {
		v := a.int(0)
		return r.took(r.e.WriteInt(v), "int %d", v)
	}},
	{name: "WriteToken(Int32)", call: func(r *recorder, a *arguments) error {
		v := int32(a.int(0))
		return r.took(r.e.WriteToken(gdwire.Int32(v)), "int %d", v)
	}},
	{name: "WriteToken(Int64)", call: func(r *recorder, a *arguments) error {
		v := a.int(0)
		return r.took(r.e.WriteToken(gdwire.Int64(v)), "int %d", v)
	}},
	{name: "WriteFloat", call: func(r *recorder, a *arguments) error {
		v := a.float(0)
		return r.took(r.e.WriteFloat(v), "float %x", math.Float64bits(v))
	}},
	{name: "WriteToken(Float32)", call: func(r *recorder, a *arguments) error {
		v := float32(a.float(0))
		return r.took(r.e.WriteToken(gdwire.Float32(v)), "float %x", tagged.Widened(math.Float32bits(v)))
	}},
	{name: "WriteToken(Float64)", call: func(r *recorder, a *arguments) error {
		v := a.float(0)
		return r.took(r.e.WriteToken(gdwire.Float64(v)), "float %x", math.Float64bits(v))
	}},
	{name: "WriteString", call: func(r *recorder, a *arguments) error {
		return r.tookText(r.e.WriteString(a.text(0)), gdwire.TypeString, a.text(0))
	}},
	{name: "WriteKey or WriteString", call: func(r *recorder, a *arguments) error {
		if key := export.NewKey(a.text(0)); export.WriteKey(r.e, &key) {
			return r.tookText(nil, gdwire.TypeString, a.text(0))
		}
		return r.tookText(r.e.WriteString(a.text(0)), gdwire.TypeString, a.text(0))
	}},
	{name: "WriteStringName", call: func(r *recorder, a *arguments) error {
		return r.tookText(r.e.WriteStringName(a.text(0)), gdwire.TypeStringName, a.text(0))
	}},
	{name: "WriteToken(String)", call: func(r *recorder, a *arguments) error {
		return r.tookChunk(r.e.WriteToken(gdwire.String(a.text(0))), gdwire.TypeString, a.text(0))
	}},
	{name: "WriteToken(StringName)", call: func(r *recorder, a *arguments) error {
		return r.tookChunk(r.e.WriteToken(gdwire.StringName(a.text(0))), gdwire.TypeStringName, a.text(0))
	}},
	{name: "WriteNodePath", call: func(r *recorder, a *arguments) error {
		p := a.nodePath(0)
		err := r.took(r.e.WriteNodePath(p.text), "path %d %d %v", len(p.names), len(p.subnames), p.absolute)
		for _, name := range slices.Concat(p.names, p.subnames) {
			r.took(err, "NodePath %q", name)
		}
		return r.took(err, "end")
	}},
	{name: "WriteRID", call: func(r *recorder, a *arguments) error {
		v := uint64(a.int(0))
		err := r.e.WriteRID(v)
		if a.format != gdwire.Godot4 {
			v = 0
		}
		return r.took(err, "rid %d", v)
	}},
	{name: "WriteObjectID", call: func(r *recorder, a *arguments) error {
		v := uint64(a.int(0))
		return r.took(r.e.WriteObjectID(v), "object id %d", v)
	}},
	{name: "WriteCallable", call: func(r *recorder, _ *arguments) error { return r.took(r.e.WriteCallable(), "callable") }},
	{name: "WriteSignal", call: func(r *recorder, a *arguments) error {
		name, id := a.text(0), uint64(a.int(1))
		return r.took(r.e.WriteSignal(name, id), "signal %q %d", name, id)
	}},
	{name: "WriteComponents of float64", call: func(r *recorder, a *arguments) error {
		typ, n := a.components(0, false)
		x := several(a, 2, n, someFloats)
		return r.took(gdwire.WriteComponents(r.e, typ, x), "%v %x", typ, r.rounded(typ, x))
	}},
	{name: "WriteComponents of int32", call: func(r *recorder, a *arguments) error {
		typ, n := a.components(0, true)
		x := tagged.AsNumbers(several(a, 2, n, someInts), func(n int64) int32 { return int32(n) })
		return r.took(gdwire.WriteComponents(r.e, typ, x), "%v %x", typ, tagged.AsNumbers(x, func(n int32) uint64 { return uint64(int64(n)) }))
	}},
	{name: "WriteInputEvent", call: func(r *recorder, a *arguments) error {
		kind, data := uint32(a.b[0]%10), a.bytes(1)
		n := map[uint32]int{1: 8, 3: 4, 4: 8, 5: 4, 6: 4}[kind]
		if kind == 4 && len(data) == 4 {
			n = 4
		}
		return r.took(r.e.WriteInputEvent(kind, 7, data), "event %d 7 %x", kind, data[:min(n, len(data))])
	}},
	{name: "WriteProperty", call: func(r *recorder, a *arguments) error {
		return r.took(r.e.WriteProperty(a.text(0)), "property %q", a.text(0))
	}},
	{name: "BeginArray", call: func(r *recorder, a *arguments) error {
		return r.began(r.e.BeginArray(a.count(0)), "container", 0, "array %v", gdwire.Elem{})
	}},
	{name: "BeginTypedArray", call: func(r *recorder, a *arguments) error {
		return r.began(r.e.BeginTypedArray(a.count(0), a.elem(1)), "container", 0, "array %v", a.elem(1))
	}},
	{name: "WriteToken(ArrayStart)", call: func(r *recorder, a *arguments) error {
		tok := gdwire.ArrayStart(max(a.count(0), gdwire.Unknown), a.elem(1))
		return r.began(r.e.WriteToken(tok), "container", 0, "array %v", a.elem(1))
	}},
	{name: "BeginDict", call: func(r *recorder, a *arguments) error {
		return r.began(r.e.BeginDict(a.count(0)), "container", 0, "dict %v %v", gdwire.Elem{}, gdwire.Elem{})
	}},
	{name: "BeginTypedDict", call: func(r *recorder, a *arguments) error {
		return r.began(r.e.BeginTypedDict(a.count(0), a.elem(1), a.elem(2)), "container", 0, "dict %v %v", a.elem(1), a.elem(2))
	}},
	{name: "WriteToken(DictStart)", call: func(r *recorder, a *arguments) error {
		tok := gdwire.DictStart(max(a.count(0), gdwire.Unknown), a.elem(1), a.elem(2))
		return r.began(r.e.WriteToken(tok), "container", 0, "dict %v %v", a.elem(1), a.elem(2))
	}},
	{name: "BeginObject", call: func(r *recorder, a *arguments) error {
		return r.began(r.e.BeginObject(a.text(1), a.count(0)), "container", 0, "object %q", a.text(1))
	}},
	{name: "BeginString", call: func(r *recorder, a *arguments) error {
		typ := a.typ(1, isText)
		return r.began(r.e.BeginString(typ, int64(a.count(0))), "text", 0, "%v ", r.textType(typ))
	}},
	{name: "BeginPacked", call: func(r *recorder, a *arguments) error { return r.beginPacked(a.typ(1, isPacked), a.length(0)) }},
	{name: "BeginPacked of float32", call: func(r *recorder, a *arguments) error {
		return r.beginPacked(gdwire.TypePackedFloat32Array, a.length(0))
	}},
	{name: "BeginNodePath", call: func(r *recorder, a *arguments) error {
		names, subnames, absolute := int(a.b[0]%4), int(a.b[1]%4), a.b[2] > 99
		return r.began(r.e.BeginNodePath(names, subnames, absolute), "path", 0, "path %d %d %v", names, subnames, absolute)
	}},
	{name: "BeginImage", call: func(r *recorder, a *arguments) error {
		return r.began(r.e.BeginImage(1, 2, 3, 4, int64(a.length(0))), "data", gdwire.TypePackedByteArray, "image 1 2 3 4")
	}},
	{name: "End", call: func(r *recorder, _ *arguments) error { return r.ended(r.e.End()) }},
	{name: "WriteToken(End)", call: func(r *recorder, _ *arguments) error { return r.ended(r.e.WriteToken(gdwire.End())) }},
	{name: "Write", call: func(r *recorder, a *arguments) error { return r.write(a.bytes(0)) }},
	{name: "WritePacked of integers", call: func(r *recorder, a *arguments) error {
		bits := tagged.AsNumbers(several(a, 2, int(a.b[1]%9), someInts), func(n int64) uint64 { return uint64(byte(n)) })
		switch a.b[0] % 3 {
		case 0:
			return writePacked(r, bits, tagged.AsNumbers(bits, func(b uint64) byte { return byte(b) }))
		case 1:
			return writePacked(r, bits, tagged.AsNumbers(bits, tagged.ToInt32))
		}
		return writePacked(r, bits, tagged.AsNumbers(bits, func(b uint64) int64 { return int64(b) }))
	}},
	{name: "WritePacked of floats", call: func(r *recorder, a *arguments) error {
		x, kind := several(a, 2, int(a.b[1]%9*12), someFloats), a.b[0]%5
		if kind == 1 || kind == 3 {
			x = tagged.AsNumbers(x, func(x float64) float64 { return float64(float32(x)) })
		}
		bits := tagged.AsNumbers(x, math.Float64bits)
		switch kind {
		case 0:
			return writePacked(r, bits[:len(x)/12], x[:len(x)/12])
		case 1:
			return writePacked(r, bits[:len(x)/12], tagged.AsNumbers(x[:len(x)/12], func(x float64) float32 { return float32(x) }))
		case 2:
			return writePacked(r, bits, tagged.Grouped(bits, 2, func(x []float64) [2]float64 { return [2]float64(x) }))
		case 3:
			return writePacked(r, bits, tagged.Grouped(bits, 3, func(x []float64) [3]float32 { return [3]float32{float32(x[0]), float32(x[1]), float32(x[2])} }))
		}
		return writePacked(r, bits, tagged.Grouped(bits, 4, func(x []float64) [4]float64 { return [4]float64(x) }))
	}},
	{name: "WriteToken(DictKey)", call: func(r *recorder, _ *arguments) error { return r.e.WriteToken(gdwire.DictKey()) }},
	{name: "WriteToken of none", call: func(r *recorder, _ *arguments) error {
		return r.took(r.e.WriteToken(gdwire.Token{}), "none")
	}},
	{name: "WriteRaw", call: func(r *recorder, a *arguments) error {
		p := a.raw()
		err := r.e.WriteRaw(p)
		if err == nil && r.keeps {
			events, _ := decodedEvents(r.seed, bytes.NewReader(p))
			r.events = append(r.events, events...)
		}
		return err
	}},
	{name: "Flush", call: func(r *recorder, _ *arguments) error { return r.e.Flush() }},
	{name: copying, silent: true, call: func(r *recorder, a *arguments) error {
		p, s := a.packet(0)
		o := s.Options()
		o.AllowObjects, o.MaxChunk = true, 16
		d := gdwire.NewDecoder(nil, &o)
		d.ResetBytes(p)
		for {
			t, err := d.ReadToken()
			if err == nil {
				err = r.e.WriteToken(t)
			}
			if err != nil || d.Depth() == 0 {
				return err
			}
		}
	}},
	{name: "Fail", silent: true, call: func(r *recorder, a *arguments) error {
		if a.b[0] > 20 {
			return r.e.Err() // mostly go on
		}
		return r.e.Fail(io.ErrClosedPipe)
	}},
}

const copying = "copying"

// A chosenCall is a call in a script.
type chosenCall struct {
	*encoderCall
	a arguments
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

// A writing contains the results of calls on an Encoder.
type writing struct {
	out   []byte
	notes []string // the error of each call before the Writer failed, and the position of the Encoder after it
	final error    // of the Writer
}

// write makes calls in order and recovers from invalid ones. After an error of the Writer,
// all calls must return that and write nothing.
func write(t testing.TB, calls []chosenCall, s fuzz.Seed, w io.Writer, out func() []byte) (all writing) {
	r := newRecorder(w, s)
	e := r.e
	defer e.Close()
	for _, c := range calls {
		offset := e.OutputOffset()
		err := c.call(r, &c.a)
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

// requireEncoderCalls makes the calls of a script in several ways. The output decodes to the events
// of the calls, and is always a prefix of a valid encoding, however the Writer fails.
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
	requireEvents(t, calls, s)
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
	r := newRecorder(&out, s)
	e := r.e
	var stays error
	var offset int64
	for _, c := range calls {
		err := c.call(r, &c.a)
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
	if _, err := decodedEvents(s, plain(p)); err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("wrote %x: %v", p, err)
	}
}

// requireEvents completes what the calls have left open: the output decodes to their events.
func requireEvents(t testing.TB, calls []chosenCall, s fuzz.Seed) {
	var out bytes.Buffer
	r := newRecorder(&out, s)
	r.keeps = true
	for _, c := range calls {
		if !c.silent {
			c.call(r, &c.a)
			r.e.ClearError()
		}
	}
	r.finish()
	open := r.e.Depth() > 0
	if err := r.e.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := r.e.Close(); errors.Is(err, gdwire.ErrIncomplete) != open {
		t.Fatalf("Close returned %v, open %v", err, open)
	}
	got, err := decodedEvents(s, plain(out.Bytes()))
	if open && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF || !open && (err != io.EOF || len(got) != len(r.events)) {
		t.Fatalf("wrote %x: %v, open %v\n%q, not\n%q", out.Bytes(), err, open, got, r.events)
	}
	for i := range got {
		if i >= len(r.events) || got[i] != r.events[i] {
			t.Fatalf("wrote %x: event %d is %q: %q, not\n%q", out.Bytes(), i, got[i], got, r.events)
		}
	}
}

// TestEncoderCalls makes random calls.
func TestEncoderCalls(t *testing.T) {
	n := testenv.Cases(min(*sequences, 3_000), *sequences)
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
