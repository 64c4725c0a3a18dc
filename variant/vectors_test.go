package variant

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/suite"
)

// An engine describes an engine with vectors in spec/vectors.
type engine struct {
	name   string // of its vectors
	folder string // in the module's testdata
	format gdwire.Format
	double bool // its math types have 64 bits
	dirty  bool // it leaves memory content after the names of a NodePath
}

var engines = []engine{
	{name: "3.2.3", folder: "godot3.2.3", format: gdwire.Godot3, dirty: true},
	{name: "4.3", folder: "godot4.3", format: gdwire.Godot4, dirty: true},
	{name: "4.6", folder: "godot4.6", format: gdwire.Godot4, dirty: true},
	{name: "4.7-dev", folder: "godot4.7-dev", format: gdwire.Godot4},
	{name: "4.7-dev-double", folder: "godot4.7-dev-double", format: gdwire.Godot4, double: true},
}

// options returns the options for the engine's format.
func (e *engine) options() *Options {
	return &Options{
		Decoder: gdwire.DecoderOptions{Format: e.format, AllowObjects: true},
		Encoder: gdwire.EncoderOptions{Format: e.format, DoubleReals: e.double},
	}
}

// packet returns bytes of the engine, with zeros in the padding of NodePath names.
func (e *engine) packet(t testing.TB, p []byte) []byte {
	if !e.dirty {
		return p
	}
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: e.format, AllowObjects: true})
	defer d.Release()
	d.ResetBytes(append([]byte(nil), p...))
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		if tok.Kind() == gdwire.KindStringChunk && tok.Type() == gdwire.TypeNodePath && tok.Last() {
			end := int(d.InputOffset())
			clear(p[end-int(-tok.Len()&3) : end])
		}
	}
	return p
}

// forVectors runs a test for each vector of each engine.
func forVectors(t *testing.T, test func(t *testing.T, e *engine, packet []byte)) {
	for i := range engines {
		e := &engines[i]
		values := must(suite.ValuesOf(e.name))(t)
		require.NotEmpty(t, values)
		for _, v := range values {
			t.Run(e.name+"/"+v.Name, func(t *testing.T) { test(t, e, e.packet(t, v.Hex)) })
		}
	}
}

func TestVectorsRoundTrip(t *testing.T) {
	forVectors(t, func(t *testing.T, e *engine, packet []byte) {
		o := e.options()
		var v any
		require.NoError(t, Unmarshal(packet, &v, *o))
		require.Equal(t, hex.EncodeToString(packet), hex.EncodeToString(must(Marshal(v, *o))(t)), "%#v", v)
	})
}

// A value in an any is encoded as the bytes that an engine wrote, of either precision, with the
// precision that a Raw reports.
func TestVariantDoubleReals(t *testing.T) {
	found := map[string]bool{}
	forVectors(t, func(t *testing.T, e *engine, packet []byte) {
		o := *e.options()
		o.Encoder.DoubleReals = false
		var r Raw
		require.NoError(t, Unmarshal(packet, &r, o))
		var v any
		require.NoError(t, r.Unmarshal(&v, o))
		o.Encoder.DoubleReals = r.DoubleReals()
		require.Equal(t, hex.EncodeToString(packet), hex.EncodeToString(must(Marshal(v, o))(t)), "%#v", v)
		require.False(t, r.DoubleReals() && !e.double)
		found[e.folder] = found[e.folder] || r.DoubleReals()
	})
	for i := range engines {
		require.Equal(t, engines[i].double, found[engines[i].folder])
	}

	vector := append([]byte{5, 0, 1, 0}, make([]byte, 16)...) // a Vector2 of 64 bits
	array := func(elements ...[]byte) Raw {
		return Raw{Data: append([]byte{28, 0, 0, 0, byte(len(elements)), 0, 0, 0}, bytes.Join(elements, nil)...)}
	}
	for _, c := range []struct {
		name string
		raw  Raw
		want bool
	}{
		{"nil", Raw{}, false},
		{"vector", Raw{Data: vector}, true},
		{"after a nil", array(make([]byte, 4), vector), true},
		{"before damage", array(vector, []byte{99, 0, 0, 0}), true},
		{"after damage", array([]byte{99, 0, 0, 0}, vector), false},
		{"float and int", array(append([]byte{3, 0, 1, 0}, make([]byte, 8)...), append([]byte{2, 0, 1, 0}, make([]byte, 8)...)), false},
		{"PackedFloat64Array", Raw{Data: append([]byte{33, 0, 0, 0, 1, 0, 0, 0}, make([]byte, 8)...)}, false},
		{"PackedVector2Array", Raw{Data: append([]byte{35, 0, 1, 0, 1, 0, 0, 0}, make([]byte, 16)...)}, true},
	} {
		require.Equal(t, c.want, c.raw.DoubleReals(), c.name)
	}
}

// What doc.go says is not kept in an any.
func TestNotKept(t *testing.T) {
	for _, c := range []struct {
		name   string
		packet []byte
		want   []byte
		format gdwire.Format
		any    bool // AllowInvalidUTF8
	}{
		{name: "int in 64 bits", packet: []byte{2, 0, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0}, want: []byte{2, 0, 0, 0, 5, 0, 0, 0}},
		{name: "float in 64 bits", packet: []byte{3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xE0, 0x3F}, want: []byte{3, 0, 0, 0, 0, 0, 0, 0x3F}},
		{name: "padding", packet: []byte{4, 0, 0, 0, 1, 0, 0, 0, 'a', 1, 2, 3}, want: []byte{4, 0, 0, 0, 1, 0, 0, 0, 'a', 0, 0, 0}},
		{name: "flag", packet: []byte{4, 0, 1, 0, 0, 0, 0, 0}, want: []byte{4, 0, 0, 0, 0, 0, 0, 0}},
		{name: "shared", packet: []byte{21, 0, 0, 0, 0, 0, 0, 0x80}, want: []byte{21, 0, 0, 0, 0, 0, 0, 0}, format: gdwire.Godot2},
		{name: "NUL is kept on request", any: true, packet: []byte{4, 0, 0, 0, 3, 0, 0, 0, 'a', 0, 'b', 0}, want: []byte{4, 0, 0, 0, 3, 0, 0, 0, 'a', 0, 'b', 0}},
		{name: "object without a class", packet: []byte{24, 0, 0, 0, 0, 0, 0, 0}, want: []byte{0, 0, 0, 0}},
		{name: "equal keys", packet: []byte{27, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0},
			want: []byte{27, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}},
		{name: "width without DoubleReals", packet: append([]byte{5, 0, 1, 0}, make([]byte, 16)...), want: append([]byte{5, 0, 0, 0}, make([]byte, 8)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Decoder: gdwire.DecoderOptions{Format: c.format, AllowObjects: true}, Encoder: gdwire.EncoderOptions{Format: c.format, AllowInvalidUTF8: c.any}}
			var v any
			require.NoError(t, Unmarshal(c.packet, &v, o))
			require.Equal(t, c.want, must(Marshal(v, o))(t))
		})
	}
}
