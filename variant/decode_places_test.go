package variant

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

// goVariables returns a variable of each kind of Go type, and of each type of this package.
func goVariables() (all []any) {
	for t := range ownTypes().types {
		all = append(all, reflect.New(t).Interface())
	}
	var pointer fmt.Stringer = &stringer{}
	return append(all, new(any), new(bool), new(int), new(int8), new(int64), new(uint), new(uint8), new(uintptr), new(float32), new(float64), new(string), new(myString),
		new([]int), new([]byte), new([]int64), new([]float32), new([][2]float32), new([]string), new([]any), new([]simple), new([]celsius),
		new([2]int), new([2]byte), new([1]any), new(vec2), new(vec3), new([4]float64), new([9]float32), new(ivec2),
		new(map[string]int), new(map[any]any), new(map[vec2]string), new(simple), new(point), new(row), new(extra), new(extraMap), new(node),
		new(*int), new(**string), new(*simple), new(*any), &pointer, new(celsius), new(*celsius), new(level), new(netip.Addr), new(*Dictionary), new(*Array), new(zoo))
}

// goValues returns values of all types that Marshal encodes.
func goValues() []any {
	return []any{nil, true, 5, -1, 300, 1 << 24, 1<<24 + 1, int64(1<<53 + 1), 0.5, 2.0, 1e300, math.Inf(1), "text", "level 5", "::1", StringName("n"), NodePath("/a:b"), RID(1), ObjectID(1),
		Vector2{1, 2}, Vector2{X: 1e300}, Vector2i{1, 2}, Vector3{1, 2, 3}, Color{1, 2, 3, 4}, Quaternion{1, 2, 3, 4}, Basis{}, Transform3D{}, Signal{"s", 1}, Callable{}, &Object{Class: "Node", Properties: []Property{{"p", 1}}},
		array(), array(1, 2), array("a", nil), dict(), dict("name", "a", 5, 6), []byte{1, 2}, []int32{1, -2}, []int64{1 << 40}, []float32{1}, []float64{1e300}, []string{"a", "b"}, []Vector2{{1e300, 2}}, []Vector3{{}}, []Color{{}}}
}

// A place is a position in a packet.
type place struct {
	name   string
	tokens int // before it
	write  func(e *gdwire.Encoder, v func())
}

// valuePlaces are places where a value is next.
var valuePlaces = []place{
	{"top level", 0, func(e *gdwire.Encoder, v func()) { v() }},
	{"element", 1, func(e *gdwire.Encoder, v func()) { e.BeginArray(2); v(); e.WriteInt(7); e.End() }},
	{"last element", 2, func(e *gdwire.Encoder, v func()) { e.BeginArray(2); e.WriteInt(7); v(); e.End() }},
	{"DictKey", 1, func(e *gdwire.Encoder, v func()) { e.BeginDict(1); v(); e.WriteInt(7); e.End() }},
	{"key", 2, func(e *gdwire.Encoder, v func()) { e.BeginDict(1); v(); e.WriteInt(7); e.End() }},
	{"value", 3, func(e *gdwire.Encoder, v func()) { e.BeginDict(1); e.WriteInt(7); v(); e.End() }},
	{"property", 2, func(e *gdwire.Encoder, v func()) { e.BeginObject("Node", 1); e.WriteProperty("p"); v(); e.End() }},
}

// packet returns the packet that contains v at p.
func (p *place) packet(t *testing.T, v any) []byte {
	e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{DoubleReals: true})
	e.ResetBytes(nil)
	e.BeginArray(2) // so that there is a next value
	e.BeginArray(1)
	p.write(e, func() { require.NoError(t, MarshalEncode(e, v)) })
	e.End()
	e.WriteString("next")
	require.NoError(t, e.End())
	return e.Bytes()
}

// decoder returns a Decoder at p, of the bytes at once or one by one.
func (p *place) decoder(packet []byte, slow bool) *gdwire.Decoder {
	d := gdwire.NewDecoder(&oneByteReader{packet}, &gdwire.DecoderOptions{AllowObjects: true, MaxChunk: 16})
	if !slow && p.name != "inside a String" {
		d.ResetBytes(packet)
	}
	for range p.tokens + 2 {
		if _, err := d.ReadToken(); err != nil {
			panic(err)
		}
	}
	return d
}

// rest returns the tokens that d still returns.
func rest(d *gdwire.Decoder) (all []string) {
	for {
		t, err := d.ReadToken()
		if err != nil {
			return append(all, err.Error())
		}
		all = append(all, fmt.Sprintf("%v %v %v %q at %d", t.Kind(), t, t.Len(), t.Bytes(), d.InputOffset()))
	}
}

// readsPastAny reads one value too many.
type readsPastAny struct{}

func (*readsPastAny) UnmarshalVariant(d *gdwire.Decoder) error {
	var v any
	return errors.Join(UnmarshalDecode(d, &v), UnmarshalDecode(d, &v))
}

func TestUnmarshalerReadsPast(t *testing.T) {
	var v []readsPastAny
	require.ErrorIs(t, Unmarshal(encoded(t, array(1), nil), &v), gdwire.ErrCount)
}

// UnmarshalDecode reads a value or key wherever it is. One of another type, or out of range,
// is an error that consumes nothing.
func TestUnmarshalDecodeAnywhere(t *testing.T) {
	for _, p := range valuePlaces {
		for _, value := range goValues() {
			packet := p.packet(t, value)
			for _, slow := range []bool{false, true} {
				want := p.decoder(packet, slow)
				start, depth := want.InputOffset(), want.Depth()
				tokens := rest(want)
				skipped := p.decoder(packet, slow)
				require.NoError(t, skipped.SkipValue())
				for _, v := range goVariables() {
					d := p.decoder(packet, slow)
					err := UnmarshalDecode(d, v)
					fatal := func() { t.Fatalf("%v: %#v into %T: %v", p.name, value, v, err) }
					if err == nil {
						if d.Depth() != depth || d.InputOffset() != skipped.InputOffset() {
							fatal()
						}
						continue
					}
					var typeError *TypeError
					var at *gdwire.Error
					if !errors.As(err, &typeError) || !errors.As(err, &at) || at.Offset < start {
						fatal()
					}
					same := at.Offset == start && (errors.Is(err, gdwire.ErrType) || errors.Is(err, gdwire.ErrRange))
					if same && !isConsumed(p.name, value, v) && !slices.Equal(tokens, rest(d)) {
						fatal()
					}
				}
			}
		}
	}
}

// isConsumed reports whether an error at value can consume it: if value is a packed array with
// elements that v cannot hold, whose location is the packed array, and for the DictKey
// before an object's id.
func isConsumed(place string, value, v any) bool {
	switch value.(type) {
	case []int32, []int64, []float64, []Vector2:
		k := reflect.TypeOf(v).Elem().Kind()
		return k == reflect.Slice || k == reflect.Array
	case ObjectID:
		_, ok := v.(*Object)
		return ok && place == "DictKey"
	}
	return false
}

// failing calls failingRead.
type failing struct{}

var failingRead func(d *gdwire.Decoder) error

func (f *failing) UnmarshalVariant(d *gdwire.Decoder) error { return failingRead(d) }

// The error of an Unmarshaler is wrapped in an Error and a TypeError, unless it is an error of
// the Decoder that stays or of its Reader. The Decoder's other errors keep their position, and
// errors of an inner Unmarshal get a second location.
func TestUnmarshalerErrors(t *testing.T) {
	inner := encoded(t, dict("to", "x"), nil)
	fails := func(d *gdwire.Decoder) error { return errOwn }
	for _, c := range []struct {
		name  string
		read  func(d *gdwire.Decoder) error
		wire  any
		cut   int // bytes of the packet that are missing
		err   string
		plain bool // not wrapped in a TypeError
	}{
		{name: "reads nothing", read: fails, wire: 5, err: "gdwire: offset 0, $: int into Go variant.failing: own error"},
		{name: "reads nothing in a list", read: fails, wire: array(1), err: "gdwire: offset 8, $[0]: int into Go variant.failing: own error"},
		{name: "value that is invalid", read: func(d *gdwire.Decoder) error { return errors.Join(d.SkipValue(), errOwn) }, wire: array("a"),
			err: "gdwire: offset 8, $[0]: String into Go variant.failing: own error"},
		{name: "last value of the input", read: func(d *gdwire.Decoder) error { return errors.Join(d.SkipValue(), errOwn) }, wire: "a",
			err: "gdwire: offset 0, $: String into Go variant.failing: own error"},
		{name: "wrong type", read: func(d *gdwire.Decoder) error { _, err := d.ReadInt(); return err }, wire: array("a"),
			err: "gdwire: offset 8, $[0]: Go variant.failing: got String, want int"},
		{name: "wrong type inside", read: func(d *gdwire.Decoder) error {
			_, err := d.ReadDict()
			_, keyErr := d.ReadString()
			_, valueErr := d.ReadInt()
			return errors.Join(err, keyErr, valueErr)
		}, wire: dict("to", "x"), err: "gdwire: offset 20, $.to: Go variant.failing: gdwire: offset 20, $.to: got String, want int"},
		{name: "UnmarshalDecode", read: func(d *gdwire.Decoder) error { return UnmarshalDecode(d, &struct{ To int }{}) }, wire: array(dict("to", "x")),
			err: "gdwire: offset 28, $[0].to: String into Go int (struct.To)"},
		{name: "inner Unmarshal", read: func(d *gdwire.Decoder) error {
			return errors.Join(d.SkipValue(), Unmarshal(inner, &struct{ To int }{}))
		}, wire: array(inner), err: "gdwire: offset 8, $[0]: PackedByteArray into Go variant.failing: gdwire: offset 20, $.to: String into Go int (struct.To)"},
		{name: "input", read: (*gdwire.Decoder).SkipValue, wire: array("abcd"), cut: 2, err: "gdwire: offset 18, $[0]: unexpected EOF", plain: true},
		{name: "Reader", read: (*gdwire.Decoder).SkipValue, wire: array("abcd"), cut: -2, err: "disk full", plain: true},
		{name: "error after an error of the input", read: func(d *gdwire.Decoder) error { d.SkipValue(); return errOwn }, wire: array("abcd"), cut: 2,
			err: "gdwire: offset 18, $[0]: String into Go variant.failing: own error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			packet := encoded(t, c.wire, nil)
			r := io.Reader(bytes.NewReader(packet[:len(packet)-max(c.cut, -c.cut)]))
			if c.cut < 0 {
				r = io.MultiReader(r, iotest.ErrReader(errDisk))
			}
			d := gdwire.NewDecoder(r, nil)
			defer d.Release()
			failingRead = c.read
			v := any(new(failing))
			if _, ok := c.wire.(*Array); ok {
				v = new([]failing)
			}
			err := UnmarshalDecode(d, v)
			require.EqualError(t, err, c.err)
			var typeError *TypeError
			require.Equal(t, !c.plain, errors.As(err, &typeError))
			var at *gdwire.Error
			require.Equal(t, c.cut >= 0, errors.As(err, &at))
			require.Equal(t, c.cut >= 0, stream.Skippable(err))
		})
	}
}
