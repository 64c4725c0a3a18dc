package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/wire"
)

// A typedValue is one value of a type.
type typedValue struct {
	name   string // the type; ObjectID for an object that is encoded as its id
	text   string // the result of a typed read
	double bool   // DoubleReals changes its width
	write  func(e *Encoder)
}

// typedValues has a value of each type, in each of its widths.
var typedValues = slices.Concat([]typedValue{
	{name: "Nil", text: "nil", write: func(e *Encoder) { e.WriteNil() }},
	{name: "bool", text: "false", write: func(e *Encoder) { e.WriteBool(false) }},
	{name: "bool", text: "true", write: func(e *Encoder) { e.WriteBool(true) }},
	{name: "int", text: "7", write: func(e *Encoder) { e.WriteToken(Int32(7)) }},
	{name: "int", text: "-1", write: func(e *Encoder) { e.WriteToken(Int32(-1)) }},
	{name: "int", text: "9007199254740993", write: func(e *Encoder) { e.WriteToken(Int64(1<<53 + 1)) }},
	{name: "float", text: "0.5", write: func(e *Encoder) { e.WriteToken(Float32(0.5)) }},
	{name: "float", text: "255", write: func(e *Encoder) { e.WriteToken(Float32(255)) }},
	{name: "float", text: "0.1", write: func(e *Encoder) { e.WriteToken(Float64(0.1)) }},
	{name: "String", text: "text", write: func(e *Encoder) { e.WriteString("text") }},
	{name: "String", text: "", write: func(e *Encoder) { e.WriteString("") }},
	{name: "StringName", text: "a name", write: func(e *Encoder) { e.WriteStringName("a name") }},
	{name: "NodePath", text: "/a/b:c", write: func(e *Encoder) { e.WriteNodePath("/a/b:c") }},
	{name: "RID", text: "9", write: func(e *Encoder) { e.WriteRID(9) }},
	{name: "ObjectID", text: "5", write: func(e *Encoder) { e.WriteObjectID(5) }},
	{name: "ObjectID", text: "0", write: func(e *Encoder) { e.WriteObjectID(0) }},
	{name: "Object", write: func(e *Encoder) { e.BeginObject("Node", 1); e.WriteProperty("p"); e.WriteNil(); e.End() }},
	{name: "Callable", text: "nil", write: func(e *Encoder) { e.WriteCallable() }},
	{name: "Signal", text: "hit 8", write: func(e *Encoder) { e.WriteSignal("hit", 8) }},
	{name: "Array", text: "2", write: func(e *Encoder) { e.BeginArray(2); e.WriteNil(); e.WriteString("x"); e.End() }},
	{name: "Array", text: "0", write: func(e *Encoder) { e.BeginTypedArray(0, Elem{Type: TypeInt}); e.End() }},
	{name: "Array", text: "1", write: func(e *Encoder) { e.BeginTypedArray(1, Elem{Script: "res://a.gd"}); e.WriteObjectID(5); e.End() }},
	{name: "Dictionary", text: "1", write: func(e *Encoder) { e.BeginDict(1); e.WriteString("k"); e.WriteInt(2); e.End() }},
	{name: "Dictionary", text: "1", write: func(e *Encoder) {
		e.BeginTypedDict(1, Elem{Type: TypeString}, Elem{Class: "Node"})
		e.WriteString("k")
		e.WriteNil()
		e.End()
	}},
	{name: "PackedStringArray", text: "2", write: func(e *Encoder) {
		e.BeginPacked(TypePackedStringArray, 2)
		e.WriteString("a")
		e.WriteString("")
		e.End()
	}},
	{name: "Image", write: func(e *Encoder) { e.BeginImage(1, 0, 2, 1, 6); e.Write([]byte("pixels")); e.End() }},
	{name: "InputEvent", write: func(e *Encoder) { e.WriteInputEvent(6, 0, []byte{1, 0, 0, 0}) }},
	{name: "Vector3", text: "[-0 0 0]", double: true, write: func(e *Encoder) { e.WriteReals(TypeVector3, math.Copysign(0, -1), 0, 0) }}, // as the head of a NodePath
	packedValue(TypePackedByteArray, false, []byte{1, 2, 3}),
	packedValue(TypePackedInt32Array, false, []int32{1, -2}),
	packedValue(TypePackedInt64Array, false, []int64{1, -2}),
	packedValue(TypePackedFloat32Array, false, []float32{0.5, 1.5}),
	packedValue(TypePackedFloat64Array, false, []float64{0.5, 1.5}),
	packedValue(TypePackedVector2Array, true, [][2]float32{{0.5, 1.5}}),
	packedValue(TypePackedVector3Array, true, [][3]float32{{0.5, 1.5, 2.5}}),
	packedValue(TypePackedVector4Array, true, [][4]float32{{0.5, 1.5, 2.5, 3.5}}),
	packedValue(TypePackedColorArray, true, [][4]float32{{0.5, 1.5, 2.5, 3.5}}),
}, mathValues())

func packedValue[T Packable](typ Type, double bool, v []T) typedValue {
	return typedValue{typ.String(), fmt.Sprint(v), double, func(e *Encoder) {
		e.BeginPacked(typ, int64(len(v)))
		WritePacked(e, v)
		e.End()
	}}
}

func mathValues() (all []typedValue) {
	for t := range numTypes {
		v := typedValue{name: t.String()}
		switch n := int(layouts[t].n); {
		case !layouts[t].isMath():
			continue
		case layouts[t].units[0] == wire.Int32:
			c := []int32{1, -2, 3, -4}[:n]
			v.text, v.write = fmt.Sprint(c), func(e *Encoder) { e.WriteInts(t, c...) }
		default:
			c := make([]float64, n)
			for i := range c {
				c[i] = float64(i) + 0.5
			}
			v.text, v.double, v.write = fmt.Sprint(c), true, func(e *Encoder) { e.WriteReals(t, c...) }
		}
		all = append(all, v)
	}
	return all
}

// A typedRead is a typed read, with the names of the typedValues that it accepts. At all
// others it returns ErrType.
type typedRead struct {
	name    string
	accepts string
	read    func(d *Decoder) (any, error)
	// holds reports whether the result of the call can be the number with that text.
	// If not, the call returns ErrRange.
	holds func(text string) bool
}

var typedReads = slices.Concat([]typedRead{
	{name: "ReadNil", accepts: "Nil", read: func(d *Decoder) (any, error) { return "nil", d.ReadNil() }},
	{name: "ReadBool", accepts: "bool", read: func(d *Decoder) (any, error) { return d.ReadBool() }},
	{name: "ReadInt", accepts: "int float", read: func(d *Decoder) (any, error) { return d.ReadInt() }, holds: fitsInt(64)},
	{name: "ReadInteger[int16]", accepts: "int float", read: func(d *Decoder) (any, error) { return ReadInteger[int16](d) }, holds: fitsInt(16)},
	{name: "ReadInteger[int64]", accepts: "int float", read: func(d *Decoder) (any, error) { return ReadInteger[int64](d) }, holds: fitsInt(64)},
	{name: "ReadInteger[uint8]", accepts: "int float", read: func(d *Decoder) (any, error) { return ReadInteger[uint8](d) }, holds: fitsUint(8)},
	{name: "ReadInteger[uint64]", accepts: "int float", read: func(d *Decoder) (any, error) { return ReadInteger[uint64](d) }, holds: fitsUint(64)},
	{name: "ReadFloat", accepts: "int float", read: func(d *Decoder) (any, error) { return d.ReadFloat() },
		holds: func(text string) bool { return text != "9007199254740993" }},
	{name: "ReadFloat32", accepts: "int float", read: func(d *Decoder) (any, error) { return d.ReadFloat32() },
		holds: func(text string) bool { return text != "9007199254740993" }},
	{name: "ReadString", accepts: "String StringName", read: func(d *Decoder) (any, error) { return d.ReadString() }},
	{name: "ReadText", accepts: "String StringName", read: func(d *Decoder) (any, error) {
		text, ok, err := d.ReadText()
		if !ok && err == nil {
			return nil, errNoText
		}
		return string(text), err
	}},
	{name: "AppendString", accepts: "String StringName NodePath", read: func(d *Decoder) (any, error) {
		text, err := d.AppendString(nil)
		return string(text), err
	}},
	{name: "ReadNodePath", accepts: "NodePath", read: func(d *Decoder) (any, error) { return d.ReadNodePath() }},
	{name: "ReadRID", accepts: "RID", read: func(d *Decoder) (any, error) { return d.ReadRID() }},
	{name: "ReadObjectID", accepts: "ObjectID", read: func(d *Decoder) (any, error) { return d.ReadObjectID() }},
	{name: "ReadSignal", accepts: "Signal", read: func(d *Decoder) (any, error) {
		name, object, err := d.ReadSignal()
		return fmt.Sprint(name, " ", object), err
	}},
	{name: "ReadCallable", accepts: "Callable", read: func(d *Decoder) (any, error) { return "nil", d.ReadCallable() }},
	{name: "ReadArray", accepts: "Array", read: func(d *Decoder) (any, error) { return readItems(d, d.ReadArray, 1) }},
	{name: "ReadDict", accepts: "Dictionary", read: func(d *Decoder) (any, error) { return readItems(d, d.ReadDict, 2) }},
	{name: "Elements", accepts: "Array PackedStringArray PackedByteArray PackedInt32Array PackedInt64Array PackedFloat32Array " +
		"PackedFloat64Array PackedVector2Array PackedVector3Array PackedVector4Array PackedColorArray", read: loopElements},
	{name: "Fields", accepts: "Dictionary", read: func(d *Decoder) (any, error) { return iterations(d.Fields()) }},
	{name: "Pairs", accepts: "Dictionary", read: func(d *Decoder) (any, error) { return iterations(d.Pairs()) }},
	appendsPacked[byte]("PackedByteArray"),
	appendsPacked[int32]("PackedInt32Array PackedByteArray"),
	appendsPacked[int64]("PackedInt64Array PackedInt32Array PackedByteArray"),
	appendsPacked[float32]("PackedFloat32Array PackedFloat64Array"),
	appendsPacked[float64]("PackedFloat64Array PackedFloat32Array"),
	appendsPacked[[2]float32]("PackedVector2Array"),
	appendsPacked[[3]float64]("PackedVector3Array"),
	appendsPacked[[4]float32]("PackedVector4Array PackedColorArray"),
}, mathCalls())

// errNoText stands for the result of ReadText for a value that is no text.
var errNoText = errors.New("no text")

func fitsInt(bits int) func(text string) bool {
	return func(text string) bool { _, err := strconv.ParseInt(text, 10, bits); return err == nil }
}

func fitsUint(bits int) func(text string) bool {
	return func(text string) bool { _, err := strconv.ParseUint(text, 10, bits); return err == nil }
}

func iterations[T any](loop iter.Seq2[T, error]) (n int, err error) {
	for _, err := range loop {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// loopElements returns the elements of a packed array of numbers, and of other values their number.
func loopElements(d *Decoder) (any, error) {
	switch t, _ := d.PeekType(); t {
	case TypePackedByteArray:
		return packedElements[byte](d)
	case TypePackedInt32Array:
		return packedElements[int32](d)
	case TypePackedInt64Array:
		return packedElements[int64](d)
	case TypePackedFloat32Array, TypePackedFloat64Array:
		return packedElements[float64](d)
	case TypePackedVector2Array:
		return packedElements[[2]float32](d)
	case TypePackedVector3Array:
		return packedElements[[3]float64](d)
	case TypePackedVector4Array, TypePackedColorArray:
		return packedElements[[4]float32](d)
	}
	return iterations(d.Elements())
}

func packedElements[T Packable](d *Decoder) (all []T, err error) {
	for _, err := range d.Elements() {
		if err != nil {
			return all, err
		}
		var one [1]T
		if _, err := ReadPacked(d, one[:]); err != nil {
			return all, err
		}
		all = append(all, one[0])
	}
	return all, nil
}

func appendsPacked[T Packable](accepts string) typedRead {
	return typedRead{name: fmt.Sprintf("AppendPacked[%T]", *new(T)), accepts: accepts,
		read: func(d *Decoder) (any, error) { return AppendPacked[T](d, nil) }}
}

func mathCalls() (all []typedRead) {
	for t := range numTypes {
		c := typedRead{accepts: t.String()}
		switch n := layouts[t].n; {
		case !layouts[t].isMath():
			continue
		case layouts[t].units[0] == wire.Int32:
			c.name = "ReadInts " + c.accepts
			c.read = func(d *Decoder) (any, error) { v := make([]int32, n); return v, d.ReadInts(t, v) }
		default:
			c.name = "ReadReals " + c.accepts
			c.read = func(d *Decoder) (any, error) { v := make([]float64, n); return v, d.ReadReals(t, v) }
			narrow := typedRead{name: "ReadReals32 " + c.accepts, accepts: c.accepts}
			narrow.read = func(d *Decoder) (any, error) { v := make([]float32, n); return v, d.ReadReals32(t, v) }
			all = append(all, narrow)
		}
		all = append(all, c)
	}
	return all
}

// want returns the error that the call returns at v, or nil.
func (c *typedRead) want(v *typedValue) error {
	switch {
	case !slices.Contains(strings.Fields(c.accepts), v.name) && c.name == "ReadText":
		return errNoText
	case !slices.Contains(strings.Fields(c.accepts), v.name):
		return ErrType
	case c.holds != nil && !c.holds(v.text):
		return ErrRange
	}
	return nil
}

// typedPlaces are the places of a value in a packet.
var typedPlaces = []struct {
	name   string
	before func(e *Encoder)
	after  func(e *Encoder)
	tokens int // before the value
	path   string
}{
	{"top level", func(*Encoder) {}, writesInt, 0, "$"},
	{"element", func(e *Encoder) { e.BeginArray(2) }, func(e *Encoder) { e.WriteInt(1); e.End() }, 1, "$[0]"},
	{"DictKey", func(e *Encoder) { e.BeginDict(1) }, func(e *Encoder) { e.WriteInt(1); e.End() }, 1, "$.key(0)"},
	{"key", func(e *Encoder) { e.BeginDict(1) }, func(e *Encoder) { e.WriteInt(1); e.End() }, 2, "$.key(0)"},
	{"value", func(e *Encoder) { e.BeginDict(1); e.WriteInt(5) }, func(e *Encoder) { e.End() }, 3, "$[5]"},
	{"property", func(e *Encoder) { e.BeginObject("Node", 1); e.WriteProperty("p") }, func(e *Encoder) { e.End() }, 2, "$.p"},
}

func writesInt(e *Encoder) { e.WriteInt(1) }

// Each typed read is tried at each type of each format in each place. It reads the value,
// or returns an error that consumes nothing and does not stay.
func TestTypedReadsOfEveryType(t *testing.T) {
	for _, f := range formats {
		for _, double := range []bool{false, true} {
			for _, strict := range []bool{false, true} {
				for _, memory := range []bool{false, true} {
					t.Run(fmt.Sprintf("%v/double %v/strict %v/memory %v", f, double, strict, memory), func(t *testing.T) {
						o := &DecoderOptions{Format: f, AllowObjects: true, DoubleReals: double, Strict: strict, MaxChunk: minWindow}
						if memory {
							o.MaxChunk = 0
						}
						testTypedReads(t, o, memory)
					})
				}
			}
		}
	}
}

// At an End, no typed read takes the value that follows the container.
func TestTypedReadsBeforeEnd(t *testing.T) {
	d := NewDecoder(nil, &DecoderOptions{AllowObjects: true})
	defer d.Release()
	var b bytes.Buffer
	e := NewEncoder(nil, nil)
	defer e.Release()
	for i := range typedValues {
		v := &typedValues[i]
		b.Reset()
		e.Reset(&b)
		e.BeginArray(2)
		e.BeginArray(0)
		e.End()
		v.write(e)
		if e.End(); e.Close() != nil {
			continue // Godot4 does not have it
		}
		packet := append(b.Bytes(), make([]byte, fastSize)...)
		for _, call := range typedReads {
			d.ResetBytes(packet)
			readTo(t, d, 2)
			_, err := call.read(d)
			requireError(t, err, 16, "$[0]", ErrCount)
			require.NoError(t, d.ReadEnd(), call.name)
		}
	}
}

func testTypedReads(t *testing.T, o *DecoderOptions, memory bool) {
	d := NewDecoder(nil, o)
	defer d.Release()
	var b bytes.Buffer
	e := NewEncoder(nil, &EncoderOptions{Format: o.Format, DoubleReals: o.DoubleReals})
	defer e.Release()
	tried := map[string]bool{}
	for i := range typedValues {
		v := &typedValues[i]
		if o.DoubleReals && !v.double {
			continue
		}
		for _, place := range typedPlaces {
			b.Reset()
			e.Reset(&b)
			place.before(e)
			start := e.OutputOffset()
			v.write(e)
			end := e.OutputOffset()
			place.after(e)
			if e.Close() != nil {
				continue // the format does not have the value, or no properties
			}
			packet := b.Bytes()
			reset := func() { d.Reset(&slowReader{packet}) }
			if memory {
				packet = append(packet, make([]byte, fastSize)...)
				reset = func() { d.ResetBytes(packet) }
			}
			a := typedAttempt{d: d, v: v, place: place.name, path: place.path, start: start, end: end}
			a.reset = func() { reset(); readTo(t, d, place.tokens) }
			a.reset()
			if o.Strict && errors.Is(d.SkipValue(), ErrStrict) {
				continue // id 0, or an id in a serialized object
			}
			tried[v.name] = true
			a.reset()
			a.kind, a.depth, a.offset = d.PeekKind(), d.Depth(), d.InputOffset()
			a.want = appendValue(nil, d)
			for j := i % stride(); j < len(typedReads); j += stride() {
				a.try(t, &typedReads[j], &typedReads[(j+1)%len(typedReads)])
			}
		}
	}
	for _, typ := range o.Format.types {
		require.True(t, tried[typ.String()] || o.DoubleReals || typ == TypeObject && !o.Format.ids, typ)
	}
	require.True(t, tried["ObjectID"] || o.DoubleReals)
}

// A typedAttempt is a value in a packet at which typed reads are tried.
type typedAttempt struct {
	d     *Decoder
	reset func() // reads up to the value
	v     *typedValue
	place string
	path  string // of the value
	start int64
	end   int64

	// State before the value, and its tokens.
	kind   Kind
	depth  int
	offset int64
	want   []byte
}

// try makes a call and, if it is of another type than the value, a second one.
func (a *typedAttempt) try(t *testing.T, call, second *typedRead) {
	d, v := a.d, a.v
	a.reset()
	got, err := call.read(d)
	name := func() string { return fmt.Sprintf("%s of %s as %s: %v", call.name, v.name, a.place, err) }
	want := call.want(v)
	if want == nil {
		text := v.text
		if v.name == "RID" && d.options.Format != Godot4 {
			text = "0" // the id is not encoded
		}
		if err != nil || fmt.Sprint(got) != text {
			t.Fatal(name(), got)
		}
	} else {
		if e, ok := err.(*Error); want != errNoText && (!ok || e.Offset != a.start || e.Path != a.path) || !errors.Is(err, want) {
			t.Fatal(name())
		}
		if k := d.PeekKind(); k != a.kind || d.Depth() != a.depth || d.InputOffset() != a.offset {
			t.Fatal(name(), k, d.Depth(), d.InputOffset())
		}
		second.read(d)
		if d.InputOffset() == a.offset {
			require.Equal(t, a.want, appendValue(nil, d), name())
		}
	}
	if d.Depth() != a.depth || d.InputOffset() != a.end {
		t.Fatal(name(), d.Depth(), d.InputOffset())
	}
}

// appendValue appends the tokens of the next value.
func appendValue(dst []byte, d *Decoder) []byte {
	depth := d.Depth()
	for {
		t, err := d.ReadToken()
		if err != nil {
			return append(dst, err.Error()...)
		}
		dst = append(le.AppendUint64(append(dst, byte(t.Kind()), byte(t.Type())), t.bits), t.Bytes()...)
		if t.Kind() != KindDictKey && d.Depth() == depth {
			return dst
		}
	}
}
