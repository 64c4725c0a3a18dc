package variant

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/stretchr/testify/require"
)

// An engine describes an engine that has vectors in the module's testdata.
type engine struct {
	folder string
	format *gdwire.Format
	double bool // its math types have 64 bits
	dirty  bool // it leaves memory content after the names of a NodePath
}

var engines = []engine{
	{folder: "godot3.2.3", format: gdwire.Godot3, dirty: true},
	{folder: "godot4.3", format: gdwire.Godot4, dirty: true},
	{folder: "godot4.6", format: gdwire.Godot4, dirty: true},
	{folder: "godot4.7-dev", format: gdwire.Godot4},
	{folder: "godot4.7-dev-double", format: gdwire.Godot4, double: true},
}

// options returns the options for the engine's format.
func (e *engine) options() *Options {
	return &Options{
		Decoder: gdwire.DecoderOptions{Format: e.format, AllowObjects: true},
		Encoder: gdwire.EncoderOptions{Format: e.format, DoubleReals: e.double},
	}
}

// A vector is a line of vectors.jsonl.
type vector struct {
	Name string
	Hex  string
}

// packet returns the engine's bytes, with zeros in the padding of NodePath names.
func (v *vector) packet(t testing.TB, e *engine) []byte {
	p, err := hex.DecodeString(v.Hex)
	require.NoError(t, err)
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
		f, err := os.Open(filepath.Join("..", "testdata", e.folder, "vectors.jsonl"))
		require.NoError(t, err)
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<24)
		n := 0
		for ; lines.Scan(); n++ {
			var v vector
			require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
			t.Run(e.folder+"/"+v.Name, func(t *testing.T) { test(t, e, v.packet(t, e)) })
		}
		require.NoError(t, lines.Err())
		require.NotZero(t, n)
	}
}

func TestVectorsRoundTrip(t *testing.T) {
	forVectors(t, func(t *testing.T, e *engine, packet []byte) {
		o := e.options()
		var v any
		require.NoError(t, Unmarshal(packet, &v, *o))
		got, err := Marshal(v, *o)
		require.NoError(t, err)
		require.Equal(t, hex.EncodeToString(packet), hex.EncodeToString(got), "%#v", v)
	})
}

func TestVectorsRaw(t *testing.T) {
	forVectors(t, func(t *testing.T, e *engine, packet []byte) {
		o := e.options()
		var v Raw
		require.NoError(t, Unmarshal(packet, &v, *o))
		require.Equal(t, Raw{Format: e.format, Data: packet}, v)
		got, err := Marshal(v, *o)
		require.NoError(t, err)
		require.Equal(t, packet, got)
	})
}

func TestSaveGameRoundTrip(t *testing.T) {
	for _, i := range []int{0, 3} {
		e := &engines[i]
		packet, err := os.ReadFile(filepath.Join("..", "testdata", e.folder, "save_game_large.bin"))
		require.NoError(t, err)
		var v any
		require.NoError(t, Unmarshal(packet, &v, *e.options()))
		got, err := Marshal(v, *e.options())
		require.NoError(t, err)
		require.Equal(t, packet, got)
	}
}
