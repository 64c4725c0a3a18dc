package gdjson_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

// value returns a function that writes v.
func value(v any) func(*gdwire.Encoder) {
	return func(e *gdwire.Encoder) {
		if err := variant.MarshalEncode(e, v); err != nil {
			panic(err)
		}
	}
}

func array(values ...any) func(*gdwire.Encoder) { return value(values) }

func dict(pairs ...any) *variant.Dictionary {
	d := &variant.Dictionary{}
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i], pairs[i+1])
	}
	return d
}

// node returns a serialized object with a property.
func node(class, property string, v any) func(*gdwire.Encoder) {
	return value(&variant.Object{Class: class, Properties: []variant.Property{{Name: property, Value: v}}})
}

// encode returns the bytes that write writes.
func encode(t testing.TB, o *gdwire.EncoderOptions, write func(e *gdwire.Encoder)) []byte {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, o)
	write(e)
	require.NoError(t, e.Close())
	return b.Bytes()
}

var errTest = errors.New("test")

// A fullWriter accepts n bytes. It panics if it is used after its error.
type fullWriter struct {
	n    int
	err  error
	full bool
}

func (w *fullWriter) Write(p []byte) (int, error) {
	if w.full {
		panic("written after an error")
	}
	if len(p) <= w.n {
		w.n -= len(p)
		return len(p), nil
	}
	w.full = true
	return w.n, w.err
}

var infinity = math.Inf(1)

// nan returns the NaN with the given bits.
func nan(bits uint64) float64 { return math.Float64frombits(bits) }

func packed[T gdwire.Packable](typ gdwire.Type, elements []T) func(*gdwire.Encoder) {
	return func(e *gdwire.Encoder) {
		e.BeginPacked(typ, int64(len(elements)))
		gdwire.WritePacked(e, elements)
		e.End()
	}
}

// toJSON converts the first value of data to JSON.
func toJSON(wire []byte, from *gdwire.DecoderOptions, o *gdjson.Options) (string, error) {
	d := gdwire.NewDecoder(bytes.NewReader(wire), from)
	defer d.Release()
	var b strings.Builder
	err := gdjson.ToJSON(&b, d, *cmp.Or(o, new(gdjson.Options)))
	return b.String(), err
}

var allow = &gdjson.Options{AllowObjects: true}

var engines = []engine{
	{folder: "godot3.2.3", format: gdwire.Godot3},
	{folder: "godot4.3", format: gdwire.Godot4},
	{folder: "godot4.6", format: gdwire.Godot4},
	{folder: "godot4.7-dev", format: gdwire.Godot4},
	{folder: "godot4.7-dev-double", format: gdwire.Godot4, double: true},
}

// fromJSON converts text and returns the bytes.
func fromJSON(text string, to *gdwire.EncoderOptions, o *gdjson.Options) ([]byte, error) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, to)
	err := cmp.Or(gdjson.FromJSON(e, strings.NewReader(text), *cmp.Or(o, new(gdjson.Options))), e.Close())
	return b.Bytes(), err
}

// A toCase is a value in native and in plain JSON.
type toCase struct {
	name          string
	write         func(e *gdwire.Encoder)
	native, plain string
}

// testToJSON converts each value to native and plain JSON, with strings and packed data in one
// chunk and in several.
func testToJSON(t *testing.T, cases []toCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			wire := encode(t, nil, c.write)
			for _, window := range []int{0, 16} {
				from := &gdwire.DecoderOptions{AllowObjects: true, MaxChunk: window}
				got, err := toJSON(wire, from, nil)
				require.NoError(t, err)
				require.Equal(t, c.native, got)
				require.True(t, json.Valid([]byte(got)))
				got, err = toJSON(wire, from, &gdjson.Options{Plain: true})
				require.NoError(t, err)
				require.Equal(t, c.plain, got)
				require.True(t, json.Valid([]byte(got)))
			}
		})
	}
}
