package calls

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// An Write makes a call on the Encoder of a recorder with arguments from a script, and records
// its events.
type Write struct {
	name   string
	silent bool // it records no events
	call   func(r *recorder, a *arguments) error
}

// arguments are four bytes of a script for one call.
type arguments struct {
	b      [4]byte
	format gdwire.Format
	data   []byte // nil, or all text and bytes
}

// Function returns the name of the exported function that is called.
func (op *Write) Function() string {
	name, _, _ := strings.Cut(op.name, " ")
	switch name {
	case "WritePacked", "WriteComponents", "CopyValue":
		return "gdwire." + name
	}
	name, _, _ = strings.Cut(name, "(")
	return "gdwire.Encoder." + name
}

// Run makes the call with data as its text or bytes.
func (op *Write) Run(e *gdwire.Encoder, data []byte) error {
	return op.call(&recorder{e: e}, &arguments{format: e.Options().Format, data: data})
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

// tokens is count for a token, which cannot have an invalid one.
func (a *arguments) tokens(i int) int { return max(a.count(i), gdwire.Unknown) }

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
	if a.data != nil {
		return wire.String(a.data)
	}
	return choose(a, i, []string{"", "a", "text", "é", "\U0001F600", "\xff", "a text that is longer than small buffers", "nul\x00nul", strings.Repeat("€", 40), strings.Repeat("é", 300)})
}

func (a *arguments) bytes(i int) []byte {
	if a.data != nil {
		return a.data
	}
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
	if a.data != nil {
		return nodePath{text: wire.String(a.data)}
	}
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
	if a.data != nil {
		return a.data
	}
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

// Writes contains every call that writes. A new one is a line here or, if a token says what it writes, in tokenWrites.
var Writes = slices.Concat(byTokens(), []Write{
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
		return r.took(err, "RID %d", int64(v))
	}},
	{name: "WriteCallable", call: func(r *recorder, _ *arguments) error { return r.took(r.e.WriteCallable(), "Callable") }},
	{name: "WriteSignal", call: func(r *recorder, a *arguments) error {
		name, id := a.text(0), uint64(a.int(1))
		return r.took(r.e.WriteSignal(name, id), "Signal %q %d", name, int64(id))
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
		return r.took(r.e.WriteInputEvent(kind, 7, data), "InputEvent type %d, device 7: %x", kind, data[:min(n, len(data))])
	}},
	{name: "WriteProperty", call: func(r *recorder, a *arguments) error {
		return r.took(r.e.WriteProperty(a.text(0)), "Property %q", a.text(0))
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
	{name: "Write", call: func(r *recorder, a *arguments) error { return r.write(a.bytes(0)) }},
	{name: "WritePacked of integers", call: func(r *recorder, a *arguments) error {
		if a.data != nil {
			return gdwire.WritePacked(r.e, a.data)
		}
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
	{name: "CopyValue", call: func(r *recorder, _ *arguments) error {
		e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{Format: r.seed.Format()})
		e.ResetBytes(nil)
		e.WriteInt(7)
		d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: r.seed.Format()})
		defer d.Release()
		d.ResetBytes(e.Bytes())
		return r.took(gdwire.CopyValue(r.e, d), "int 7")
	}},
	{name: "Fail", silent: true, call: func(r *recorder, a *arguments) error {
		if a.b[0] > 20 {
			return r.e.Err() // mostly go on
		}
		return r.e.Fail(io.ErrClosedPipe)
	}},
})

// tokenWrites contains the calls that write a token, and what is written only as a token.
var tokenWrites = []struct {
	name  string
	call  func(e *gdwire.Encoder, a *arguments) error
	token func(a *arguments) gdwire.Token
}{
	{"WriteNil", func(e *gdwire.Encoder, _ *arguments) error { return e.WriteNil() }, func(*arguments) gdwire.Token { return gdwire.Nil() }},
	{"WriteBool", func(e *gdwire.Encoder, a *arguments) error { return e.WriteBool(a.b[0] > 9) }, func(a *arguments) gdwire.Token { return gdwire.Bool(a.b[0] > 9) }},
	{"WriteInt", func(e *gdwire.Encoder, a *arguments) error { return e.WriteInt(a.int(0)) }, func(a *arguments) gdwire.Token { return gdwire.Int64(a.int(0)) }},
	{"WriteFloat", func(e *gdwire.Encoder, a *arguments) error { return e.WriteFloat(a.float(0)) }, func(a *arguments) gdwire.Token { return gdwire.Float64(a.float(0)) }},
	{"WriteString", func(e *gdwire.Encoder, a *arguments) error { return e.WriteString(a.text(0)) }, func(a *arguments) gdwire.Token { return gdwire.String(a.text(0)) }},
	{"WriteStringName", func(e *gdwire.Encoder, a *arguments) error { return e.WriteStringName(a.text(0)) }, func(a *arguments) gdwire.Token { return gdwire.StringName(a.text(0)) }},
	{"WriteKey or WriteString", func(e *gdwire.Encoder, a *arguments) error {
		if key := export.NewKey(a.text(0)); export.WriteKey(e, &key) {
			return nil
		}
		return e.WriteString(a.text(0))
	}, func(a *arguments) gdwire.Token { return gdwire.String(a.text(0)) }},
	{"WriteObjectID", func(e *gdwire.Encoder, a *arguments) error { return e.WriteObjectID(uint64(a.int(0))) }, func(a *arguments) gdwire.Token { return gdwire.ObjectID(uint64(a.int(0))) }},
	{"BeginArray", func(e *gdwire.Encoder, a *arguments) error { return e.BeginArray(a.count(0)) }, func(a *arguments) gdwire.Token { return gdwire.ArrayStart(a.tokens(0), gdwire.Elem{}) }},
	{"BeginTypedArray", func(e *gdwire.Encoder, a *arguments) error { return e.BeginTypedArray(a.count(0), a.elem(1)) }, func(a *arguments) gdwire.Token { return gdwire.ArrayStart(a.tokens(0), a.elem(1)) }},
	{"BeginDict", func(e *gdwire.Encoder, a *arguments) error { return e.BeginDict(a.count(0)) }, func(a *arguments) gdwire.Token { return gdwire.DictStart(a.tokens(0), gdwire.Elem{}, gdwire.Elem{}) }},
	{"BeginTypedDict", func(e *gdwire.Encoder, a *arguments) error { return e.BeginTypedDict(a.count(0), a.elem(1), a.elem(2)) }, func(a *arguments) gdwire.Token { return gdwire.DictStart(a.tokens(0), a.elem(1), a.elem(2)) }},
	{"End", func(e *gdwire.Encoder, _ *arguments) error { return e.End() }, func(*arguments) gdwire.Token { return gdwire.End() }},
	{"DictKey", nil, func(*arguments) gdwire.Token { return gdwire.DictKey() }},
	{"Int32", nil, func(a *arguments) gdwire.Token { return gdwire.Int32(int32(a.int(0))) }},
	{"Float32", nil, func(a *arguments) gdwire.Token { return gdwire.Float32(float32(a.float(0))) }},
}

// byTokens returns the calls of tokenWrites, and WriteToken for each.
func byTokens() (all []Write) {
	for _, w := range tokenWrites {
		if w.call != nil {
			all = append(all, Write{name: w.name, call: func(r *recorder, a *arguments) error { return r.tookToken(w.call(r.e, a), w.token(a)) }})
		}
		all = append(all, Write{name: "WriteToken(" + w.name + ")", call: func(r *recorder, a *arguments) error {
			t := w.token(a)
			return r.tookToken(r.e.WriteToken(t), t)
		}})
	}
	return all
}

const copying = "copying"

// A recorder records the events of calls on an Encoder. An event is a call or a token of a Decoder as
// text, without counts: the position of the end shows them.
type recorder struct {
	e      *gdwire.Encoder
	seed   fuzz.Seed
	keeps  bool // the events
	events []string
	open   []string // text, data, path, strings or container
	typ    gdwire.Type
	data   []byte // written so far into open text or data of that type
}

func newRecorder(w io.Writer, s fuzz.Seed) *recorder {
	return &recorder{seed: s, e: gdwire.NewEncoder(w, options(s))}
}

// options returns the options of an Encoder.
func options(s fuzz.Seed) *gdwire.EncoderOptions {
	return &gdwire.EncoderOptions{
		Format: s.Format(), DoubleReals: s.Has(fuzz.Double), AllowInvalidUTF8: s.Has(fuzz.AllowInvalidUTF8), Depth: 6, MaxBuffered: 1 << 10,
	}
}

// took records an event if the call succeeded.
func (r *recorder) took(err error, format string, args ...any) error {
	if err == nil && r.keeps {
		r.events = append(r.events, fmt.Sprintf(format, args...))
	}
	return err
}

// tookToken records what is written by a token. A token of text can be the last chunk of an open text.
func (r *recorder) tookToken(err error, t gdwire.Token) error {
	switch k := t.Kind(); {
	case err != nil, k == gdwire.KindDictKey:
		return err
	case k == gdwire.KindStringChunk && r.inside() == "text":
		r.data = append(r.data, t.Bytes()...)
		fallthrough
	case k == gdwire.KindEnd:
		return r.ended(nil)
	case k == gdwire.KindStringChunk:
		return r.took(nil, "%v %q", r.textType(t.Type()), t.Bytes())
	case k == gdwire.KindArrayStart, k == gdwire.KindDictStart:
		return r.began(nil, "container", 0, "%s", event(t))
	}
	return r.took(nil, "%s", event(t))
}

// began records the start of a container, string or packed array.
func (r *recorder) began(err error, what string, typ gdwire.Type, format string, args ...any) error {
	if err == nil && r.keeps {
		r.open = append(r.open, what)
		r.typ, r.data = typ, nil
	}
	return r.took(err, format, args...)
}

func (r *recorder) beginPacked(typ gdwire.Type, n int) error {
	what := "data"
	if typ == gdwire.TypePackedStringArray {
		what = "strings"
	}
	return r.began(r.e.BeginPacked(typ, int64(n)), what, typ, "%v", typ)
}

// ended records an End. Text that was written is part of the string's event.
func (r *recorder) ended(err error) error {
	if err != nil || !r.keeps {
		return err
	}
	last := len(r.open) - 1
	switch r.open[last] {
	case "text":
		r.events[len(r.events)-1] += fmt.Sprintf("%q", r.data)
	case "data":
		r.took(nil, "data %x", r.data)
		fallthrough
	default:
		r.took(nil, "end")
	}
	r.open = r.open[:last]
	return nil
}

// textType returns the type of text that is written now: typ, or that of the open
// NodePath or PackedStringArray.
func (r *recorder) textType(typ gdwire.Type) gdwire.Type {
	switch r.inside() {
	case "path":
		return gdwire.TypeNodePath
	case "strings":
		return gdwire.TypePackedStringArray
	}
	return typ
}

func (r *recorder) inside() string {
	if len(r.open) == 0 {
		return ""
	}
	return r.open[len(r.open)-1]
}

func (r *recorder) write(data []byte) error {
	n, err := r.e.Write(data)
	r.data = append(r.data, data[:n]...)
	return err
}

// writePacked writes elements, whose numbers are bits, into data of any type.
func writePacked[T gdwire.Packable](r *recorder, bits []uint64, elements []T) error {
	err := gdwire.WritePacked(r.e, elements)
	if err != nil || len(bits) == 0 || !r.keeps {
		return err
	}
	v := tagged.Value{Type: r.typ.String(), Numbers: bits, Wide: r.wide(r.typ)}
	if r.typ == gdwire.TypePackedByteArray {
		v.Data, v.Numbers = tagged.AsNumbers(bits, func(b uint64) byte { return byte(b) }), nil
	}
	r.data = append(r.data, v.Encoding()...)
	return nil
}

// wide reports whether the numbers of a type are written in 64 bits.
func (r *recorder) wide(typ gdwire.Type) bool {
	switch f := r.seed.Format(); {
	case typ == gdwire.TypePackedInt64Array, typ == gdwire.TypePackedFloat64Array:
		return true
	case model.RealComponents[typ.String()] == 0, f == gdwire.Godot3, f == gdwire.Godot2:
		return false
	case f == gdwire.Godot4 && (typ == gdwire.TypeColor || typ == gdwire.TypePackedColorArray):
		return false
	}
	return r.seed.Has(fuzz.Double)
}

// rounded returns the bits of components after writing.
func (r *recorder) rounded(typ gdwire.Type, x []float64) (all []uint64) {
	for _, x := range x {
		if r.wide(typ) {
			all = append(all, math.Float64bits(x))
		} else {
			all = append(all, tagged.Widened(math.Float32bits(float32(x))))
		}
	}
	return all
}

// decodedEvents returns the events of calls that write the values of an input, until an error.
func decodedEvents(s fuzz.Seed, in io.Reader) (all []string, err error) {
	d := gdwire.NewDecoder(in, &gdwire.DecoderOptions{
		Format: s.Format(), DoubleReals: s.Has(fuzz.Double), AllowObjects: true, AllowInvalidUTF8: s.Has(fuzz.AllowInvalidUTF8),
		Limits: gdwire.NoLimits, MaxChunk: 16,
	})
	defer d.Release()
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	var data []byte
	packed := false
	for {
		t, err := d.ReadToken()
		if err != nil {
			return all, err
		}
		switch t.Kind() {
		case gdwire.KindStringChunk:
			typ := t.Type()
			text, err := (&tagged.Reader{Decoder: d, Temporary: fuzz.ErrTemporary}).Joined(t)
			if err != nil {
				return all, err
			}
			add("%v %q", typ, text)
		case gdwire.KindDictKey:
		case gdwire.KindPackedStart:
			data, packed = nil, t.Type() != gdwire.TypePackedStringArray
			add("%s", event(t))
		case gdwire.KindImageStart:
			data, packed = nil, true
			add("%s", event(t))
		case gdwire.KindChunk:
			data = append(data, t.Bytes()...)
		case gdwire.KindEnd:
			if packed {
				add("data %x", data)
				packed = false
			}
			add("end")
		default:
			add("%s", event(t))
		}
	}
}

// event returns the event of a token: its text, but for the sizes that the caller chose.
func event(t gdwire.Token) string {
	switch t.Kind() {
	case gdwire.KindInt32, gdwire.KindInt64:
		return fmt.Sprint("int ", t.Int())
	case gdwire.KindFloat32:
		return fmt.Sprintf("float %x", tagged.FloatBits(t))
	case gdwire.KindFloat64:
		return fmt.Sprintf("float %x", math.Float64bits(t.Float()))
	case gdwire.KindNodePathStart:
		names, subnames, absolute := t.NodePath()
		return fmt.Sprintf("path %d %d %v", names, subnames, absolute)
	case gdwire.KindObjectStart:
		return fmt.Sprintf("object %q", t.Text())
	case gdwire.KindArrayStart:
		return fmt.Sprintf("array %v", t.Elem())
	case gdwire.KindDictStart:
		return fmt.Sprintf("dict %v %v", t.KeyElem(), t.Elem())
	case gdwire.KindPackedStart:
		return t.Type().String()
	case gdwire.KindImageStart:
		f, m, w, h := t.Image()
		return fmt.Sprintf("image %d %d %d %d", f, m, w, h)
	}
	if t.Components() > 0 {
		return fmt.Sprintf("%v %x", t.Type(), tagged.Numbers(t.Type().String(), t.Bytes(), t.Width() == 64))
	}
	return t.String()
}
