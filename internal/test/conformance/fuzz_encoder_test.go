package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/stretchr/testify/require"
)

// An event is a call on an Encoder or a token of a Decoder, without counts: the
// position of the end shows them.
type event string

// A script drives an Encoder with the bytes of a fuzz input. It knows the meaning of each call,
// to compare it with the output; FuzzEncoderCalls knows none, and so makes any call anywhere, with
// Writers that fail.
type script struct {
	p      []byte
	e      *gdwire.Encoder
	f      gdwire.Format
	double bool
	events []event
	open   []string // text, data, path, strings or container
	typ    gdwire.Type
	data   []byte // written so far into open text or data of that type
}

func newScript(p []byte, s fuzz.Seed, w io.Writer) *script {
	o := gdwire.EncoderOptions{Format: s.Format(), DoubleReals: s.Has(fuzz.Double), Depth: 6, MaxBuffered: 1 << 10}
	return &script{p: p, e: gdwire.NewEncoder(w, &o), f: o.Format, double: o.DoubleReals}
}

// run makes all calls of the script and those that complete what they opened.
func (c *script) run(t testing.TB) {
	for len(c.p) > 0 {
		c.call(t)
		c.e.ClearError()
	}
	c.finish()
}

// FuzzEncode makes the calls that the input chooses: the output decodes to them,
// and is a prefix of a valid encoding at any time.
func FuzzEncode(f *testing.F) {
	for format := range gdwire.Formats() {
		for _, p := range []string{
			"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f",
			"\x10\x02\x00\x02\x02\x11\x01\x06\x01\x00", "\x10\xff\x06\x03\x06\x04\x16", "\x12\x05\x02\x13\x00\x13\x01\x00",
			"\x14\xff\x05\x00\x17\x01\x17\x03\x16", "\x15\x03\x02\x17\x05\x16", "\x15\xff\x01\x18\x02\x18\x03\x16",
			"\x19\x02\x01\x06\x01\x06\x02\x06\x03\x16", "\x19\x01\x00\x01\x14\x00\x02\x1d\x03\x16", "\x11\x02\x02\x04\x06\x01\x02\x01\x1d\x06\x02\x02\x02\x16",
		} {
			f.Add([]byte(p), uint64(format))
			f.Add([]byte(p), uint64(format)|uint64(fuzz.Double))
		}
	}
	// Of random scripts, those with a new pair of consecutive events.
	random := rand.New(rand.NewPCG(3, 4))
	seen := map[[2]string]bool{}
	for range 1000 {
		p := make([]byte, 20+random.IntN(150))
		for i := range p {
			p[i] = byte(random.Uint32())
		}
		n := random.Uint64()
		c := newScript(p, fuzz.Seed(n), io.Discard)
		c.run(f)
		before, last := len(seen), ""
		for _, e := range c.events {
			word, _, _ := strings.Cut(string(e), " ")
			seen[[2]string{last, word}] = true
			last = word
		}
		if len(seen) > before {
			f.Add(p, n)
		}
		c.e.Close()
	}
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		var out bytes.Buffer
		c := newScript(p, fuzz.Seed(n), &out)
		c.run(t)
		open := c.e.Depth() > 0
		require.NoError(t, c.e.Flush())
		require.Equal(t, open, errors.Is(c.e.Close(), gdwire.ErrIncomplete))

		d := gdwire.NewDecoder(&out, &gdwire.DecoderOptions{
			Format: c.f, DoubleReals: c.double, AllowObjects: true, Limits: gdwire.NoLimits, MaxChunk: 16,
		})
		defer d.Release()
		got, err := decodedEvents(d)
		if !open {
			require.Equal(t, io.EOF, err)
			require.Equal(t, c.events, got)
			return
		}
		// The output is a prefix of a valid encoding.
		if err != io.EOF {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
		require.LessOrEqual(t, len(got), len(c.events))
		require.Equal(t, append([]event(nil), c.events[:len(got)]...), got)
	})
}

func (c *script) byte() byte {
	if len(c.p) == 0 {
		return 0
	}
	b := c.p[0]
	c.p = c.p[1:]
	return b
}

// took records an event if the call succeeded.
func (c *script) took(err error, format string, args ...any) {
	if err == nil {
		c.events = append(c.events, event(fmt.Sprintf(format, args...)))
	}
}

// begun records the start of a container, string or packed array.
func (c *script) begun(err error, what string, typ gdwire.Type, format string, args ...any) {
	if err == nil {
		c.open = append(c.open, what)
		c.typ, c.data = typ, nil
		c.took(nil, format, args...)
	}
}

// ended records an End. Text that was written is part of the string's event.
func (c *script) ended(err error) {
	if err != nil {
		return
	}
	last := len(c.open) - 1
	switch c.open[last] {
	case "text":
		c.events[len(c.events)-1] += event(fmt.Sprintf("%q", c.data))
	case "data":
		c.took(nil, "data %x", c.data)
		fallthrough
	default:
		c.took(nil, "end")
	}
	c.open = c.open[:last]
}

// textType returns the type of text that is written now: typ, or that of the open
// NodePath or PackedStringArray.
func (c *script) textType(typ gdwire.Type) gdwire.Type {
	switch c.inside() {
	case "path":
		return gdwire.TypeNodePath
	case "strings":
		return gdwire.TypePackedStringArray
	}
	return typ
}

func (c *script) inside() string {
	if len(c.open) == 0 {
		return ""
	}
	return c.open[len(c.open)-1]
}

var (
	scriptInts   = []int64{0, 1, -1, math.MaxInt32, math.MinInt32, math.MaxInt32 + 1, math.MinInt64, 5}
	scriptFloats = []float64{0, 1.5, 0.1, math.Inf(1), 1e300, math.Copysign(0, -1), math.NaN(), math.SmallestNonzeroFloat32}
	scriptTexts  = []string{"", "a", "text", "é", "\U0001F600", "\xff", "a longer text than the window has", "nul\x00nul"}
	scriptElems  = []gdwire.Elem{{}, {Type: gdwire.TypeInt}, {Type: gdwire.TypeString}, {Class: "Node"}, {Script: "res://a.gd"}, {Type: gdwire.TypeNil}, {Class: "\xff"}, {Type: gdwire.TypeObject}}
	scriptPaths  = []struct {
		path     string
		absolute bool
		names    []string
		subnames []string
	}{
		{"", false, nil, nil}, {"/", true, nil, nil}, {"a", false, []string{"a"}, nil}, {"/a/bb:c:d", true, []string{"a", "bb"}, []string{"c", "d"}},
		{":x", false, nil, []string{"x"}}, {"a//b", false, []string{"a", "b"}, nil},
	}
	scriptData = []string{"a", "\xc3", "\xa9", "abcdefgh", "\xf0\x9f", "\x98\x80", "1234", "0123456789abcdef0123456789abcdef"}
)

func pick[T any](c *script, from []T) T { return from[int(c.byte())%len(from)] }

// count returns a small count, Unknown or an invalid one.
func (c *script) count() int {
	switch b := c.byte(); b {
	case 0xFF:
		return gdwire.Unknown
	case 0xFE:
		return -2
	default:
		return int(b % 6)
	}
}

// anyType returns a type, which may be invalid.
func (c *script) anyType() gdwire.Type { return gdwire.Type(c.byte() % 44) }

// call makes the next call.
func (c *script) call(t testing.TB) {
	e := c.e
	switch op := c.byte() % 31; op {
	case 0:
		c.took(e.WriteNil(), "nil")
	case 1:
		v := c.byte()%2 == 0
		c.took(e.WriteBool(v), "bool %v", v)
	case 2:
		v := pick(c, scriptInts)
		c.took(e.WriteInt(v), "int %d", v)
	case 3:
		v := pick(c, scriptInts)
		c.took(e.WriteToken(gdwire.Int64(v)), "int %d", v)
	case 4:
		v := pick(c, scriptFloats)
		c.took(e.WriteFloat(v), "float %x", math.Float64bits(v))
	case 5:
		v := pick(c, scriptFloats)
		c.took(e.WriteToken(gdwire.Float32(float32(v))), "float %x", model.Widened(math.Float32bits(float32(v))))
	case 6:
		v := pick(c, scriptTexts)
		typ := c.textType(gdwire.TypeString)
		c.took(e.WriteString(v), "%v %q", typ, v)
	case 7:
		v := pick(c, scriptTexts)
		typ := c.textType(gdwire.TypeStringName)
		c.took(e.WriteStringName(v), "%v %q", typ, v)
	case 8:
		p := pick(c, scriptPaths)
		err := e.WriteNodePath(p.path)
		if err == nil {
			c.took(nil, "path %d %d %v", len(p.names), len(p.subnames), p.absolute)
			for _, name := range append(p.names[:len(p.names):len(p.names)], p.subnames...) {
				c.took(nil, "NodePath %q", name)
			}
			c.took(nil, "end")
		}
	case 9:
		v := uint64(pick(c, scriptInts))
		err := e.WriteRID(v)
		if c.f != gdwire.Godot4 {
			v = 0
		}
		c.took(err, "rid %d", v)
	case 10:
		v := uint64(pick(c, scriptInts))
		c.took(e.WriteObjectID(v), "object id %d", v)
	case 11:
		c.took(e.WriteCallable(), "callable")
	case 12:
		name, id := pick(c, scriptTexts), uint64(pick(c, scriptInts))
		c.took(e.WriteSignal(name, id), "signal %q %d", name, id)
	case 13:
		typ := c.anyType()
		x := make([]float64, c.byte()%18)
		for i := range x {
			x[i] = pick(c, scriptFloats)
		}
		err := gdwire.WriteComponents(e, typ, x)
		c.took(err, "%v %x", typ, c.rounded(typ, x))
	case 14:
		typ := c.anyType()
		x := make([]int32, c.byte()%6)
		bits := make([]uint64, len(x))
		for i := range x {
			x[i] = int32(pick(c, scriptInts))
			bits[i] = uint64(int64(x[i]))
		}
		c.took(gdwire.WriteComponents(e, typ, x), "%v %x", typ, bits)
	case 15:
		kind, data := uint32(c.byte()%10), []byte(pick(c, scriptData))
		err := e.WriteInputEvent(kind, 7, data)
		n := map[uint32]int{1: 8, 3: 4, 4: 8, 5: 4, 6: 4}[kind]
		if kind == 4 && len(data) == 4 {
			n = 4
		}
		c.took(err, "event %d 7 %x", kind, data[:min(n, len(data))])
	case 16:
		n, elem := c.count(), pick(c, scriptElems)
		c.begun(e.BeginTypedArray(n, elem), "container", 0, "array %v", elem)
	case 17:
		n, key, elem := c.count(), pick(c, scriptElems), pick(c, scriptElems)
		c.begun(e.BeginTypedDict(n, key, elem), "container", 0, "dict %v %v", key, elem)
	case 18:
		n, class := c.count(), pick(c, scriptTexts)
		c.begun(e.BeginObject(class, n), "container", 0, "object %q", class)
	case 19:
		name := pick(c, scriptTexts)
		c.took(e.WriteProperty(name), "property %q", name)
	case 20:
		typ, n := c.anyType(), c.count()
		name := c.textType(typ)
		c.begun(e.BeginString(typ, int64(n)), "text", 0, "%v ", name)
	case 21:
		typ, n := c.anyType(), c.count()
		err := e.BeginPacked(typ, int64(n))
		what := "data"
		if typ == gdwire.TypePackedStringArray {
			what = "strings"
		}
		c.begun(err, what, typ, "%v", typ)
	case 22:
		c.ended(e.End())
	case 23:
		c.write(pick(c, scriptData))
	case 24:
		c.writePacked(t)
	case 25:
		names, subnames, absolute := int(c.byte()%4), int(c.byte()%4), c.byte()%2 == 0
		c.begun(e.BeginNodePath(names, subnames, absolute), "path", 0, "path %d %d %v", names, subnames, absolute)
	case 26:
		n := c.count()
		c.begun(e.BeginImage(1, 2, 3, 4, int64(n)), "data", gdwire.TypePackedByteArray, "image 1 2 3 4")
	case 27:
		_ = e.WriteToken(gdwire.DictKey()) // valid only before a key
	case 28:
		n, elem := c.count(), pick(c, scriptElems)
		if n < gdwire.Unknown {
			return
		}
		c.begun(e.WriteToken(gdwire.ArrayStart(n, elem)), "container", 0, "array %v", elem)
	case 29:
		v := pick(c, scriptTexts)
		typ := c.textType(gdwire.TypeString)
		err := e.WriteToken(gdwire.String(v))
		if c.inside() != "text" {
			c.took(err, "%v %q", typ, v)
		} else if err == nil { // it was the last chunk
			c.data = append(c.data, v...)
			c.ended(nil)
		}
	case 30:
		c.writeRaw(t)
	}
}

// write writes bytes and reports whether any were taken.
func (c *script) write(data string) bool {
	n, err := c.e.Write([]byte(data))
	c.data = append(c.data, data[:n]...)
	return err == nil && n > 0
}

// writePacked writes elements of a type that the script chooses.
func (c *script) writePacked(t testing.TB) {
	kind := c.byte() % 8
	bits := make([]uint64, c.byte()%4*12)
	for i := range bits {
		if kind < 3 {
			bits[i] = uint64(int64(byte(pick(c, scriptInts))))
		} else {
			bits[i] = math.Float64bits(float64(float32(pick(c, scriptFloats))))
		}
	}
	narrow := func(bits uint64) float32 { return float32(math.Float64frombits(bits)) }
	var err error
	switch kind {
	case 0:
		err = gdwire.WritePacked(c.e, model.AsNumbers(bits, func(b uint64) byte { return byte(b) }))
	case 1:
		err = gdwire.WritePacked(c.e, model.AsNumbers(bits, model.ToInt32))
	case 2:
		err = gdwire.WritePacked(c.e, model.AsNumbers(bits, func(b uint64) int64 { return int64(b) }))
	case 3:
		err = gdwire.WritePacked(c.e, model.AsNumbers(bits, narrow))
	case 4:
		err = gdwire.WritePacked(c.e, model.AsNumbers(bits, math.Float64frombits))
	case 5:
		err = gdwire.WritePacked(c.e, model.Grouped(bits, 2, func(x []float64) [2]float64 { return [2]float64(x) }))
	case 6:
		err = gdwire.WritePacked(c.e, model.Grouped(bits, 3, func(x []float64) [3]float32 { return [3]float32{float32(x[0]), float32(x[1]), float32(x[2])} }))
	case 7:
		err = gdwire.WritePacked(c.e, model.Grouped(bits, 4, func(x []float64) [4]float64 { return [4]float64(x) }))
	}
	if err != nil || len(bits) == 0 {
		return
	}
	require.Equal(t, "data", c.inside())
	v := model.Value{Type: c.typ.String(), Numbers: bits, Wide: c.wide(c.typ)}
	if c.typ == gdwire.TypePackedByteArray {
		v.Data, v.Numbers = model.AsNumbers(bits, func(b uint64) byte { return byte(b) }), nil
	}
	c.data = append(c.data, v.Encoding()...)
}

// wide reports whether the numbers of such a type are written in 64 bits.
func (c *script) wide(typ gdwire.Type) bool {
	switch typ {
	case gdwire.TypePackedInt64Array, gdwire.TypePackedFloat64Array:
		return true
	}
	v := model.Value{Type: typ.String(), Wide: c.double}
	to := conversion{to: c.f.String(), double: c.double}
	return model.RealComponents[v.Type] > 0 && to.wide(&v)
}

// rounded returns the bits of components after writing.
func (c *script) rounded(typ gdwire.Type, x []float64) (all []uint64) {
	for _, x := range x {
		if c.wide(typ) {
			all = append(all, math.Float64bits(x))
		} else {
			all = append(all, model.Widened(math.Float32bits(float32(x))))
		}
	}
	return all
}

func (c *script) writeRaw(t testing.TB) {
	raw := model.Build(t, c.f, pick(c, []string{
		"<Nil>", "<bool> 01000000", "<Array> 01000000 <String> 01000000 61000000", "<bool>", "<Nil> <Nil>", "", "<String> 01000000 ff000000",
		"<Array> 01000000 <Array> 01000000 <Array> 01000000 <Array> 01000000 <Array> 01000000 <Nil>",
	}))
	if c.e.WriteRaw(raw) != nil {
		return
	}
	d := gdwire.NewDecoder(bytes.NewReader(raw), &gdwire.DecoderOptions{Format: c.f})
	defer d.Release()
	events, err := decodedEvents(d)
	require.Equal(t, io.EOF, err)
	c.events = append(c.events, events...)
}

// finish tries to complete all open containers.
func (c *script) finish() {
	for range 300 {
		if len(c.open) == 0 {
			return
		}
		c.e.ClearError()
		before := len(c.events)
		c.ended(c.e.End())
		for _, try := range []func(){
			func() { c.took(c.e.WriteNil(), "nil") },
			func() { c.took(c.e.WriteInt(1), "int 1") },
			func() { typ := c.textType(gdwire.TypeString); c.took(c.e.WriteString("z"), "%v %q", typ, "z") },
			func() { c.took(c.e.WriteProperty("z"), "property %q", "z") },
		} {
			if len(c.events) == before {
				c.e.ClearError()
				try()
			}
		}
		c.e.ClearError()
		if len(c.events) == before && !c.write("z") {
			c.e.ClearError()
			c.write("\x98") // this may be inside a rune
		}
	}
	c.e.ClearError()
}

// decodedEvents returns the events of a script that writes the values of d, until
// an error.
func decodedEvents(d *gdwire.Decoder) (all []event, err error) {
	add := func(format string, args ...any) { all = append(all, event(fmt.Sprintf(format, args...))) }
	var data []byte
	packed := false
	for {
		t, err := d.ReadToken()
		if err != nil {
			return all, err
		}
		switch k := t.Kind(); k {
		case gdwire.KindNil:
			add("nil")
		case gdwire.KindBool:
			add("bool %v", t.Bool())
		case gdwire.KindInt32, gdwire.KindInt64:
			add("int %d", t.Int())
		case gdwire.KindFloat32:
			add("float %x", model.FloatBits(t))
		case gdwire.KindFloat64:
			add("float %x", math.Float64bits(t.Float()))
		case gdwire.KindRID:
			add("rid %d", t.ID())
		case gdwire.KindObjectID:
			add("object id %d", t.ID())
		case gdwire.KindCallable:
			add("callable")
		case gdwire.KindSignal:
			add("signal %q %d", t.Text(), t.ID())
		case gdwire.KindInputEvent:
			kind, device := t.Event()
			add("event %d %d %x", kind, device, t.Bytes())
		case gdwire.KindStringChunk:
			typ := t.Type()
			text, err := (&model.Reader{D: d}).Joined(t)
			if err != nil {
				return all, err
			}
			add("%v %q", typ, text)
		case gdwire.KindNodePathStart:
			names, subnames, absolute := t.NodePath()
			add("path %d %d %v", names, subnames, absolute)
		case gdwire.KindObjectStart:
			add("object %q", t.Text())
		case gdwire.KindProperty:
			add("property %q", t.Text())
		case gdwire.KindArrayStart:
			add("array %v", t.Elem())
		case gdwire.KindDictStart:
			add("dict %v %v", t.KeyElem(), t.Elem())
		case gdwire.KindDictKey:
		case gdwire.KindPackedStart:
			data, packed = nil, t.Type() != gdwire.TypePackedStringArray
			add("%v", t.Type())
		case gdwire.KindImageStart:
			f, m, w, h := t.Image()
			data, packed = nil, true
			add("image %d %d %d %d", f, m, w, h)
		case gdwire.KindChunk:
			data = append(data, t.Bytes()...)
		case gdwire.KindEnd:
			if packed {
				add("data %x", data)
				packed = false
			}
			add("end")
		default:
			add("%v %x", t.Type(), model.Numbers(t.Type().String(), t.Bytes(), t.Width() == 64))
		}
	}
}
