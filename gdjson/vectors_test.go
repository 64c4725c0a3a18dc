package gdjson_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/values/suite"
)

// An engine describes an engine with vectors in spec/vectors.
type engine struct {
	folder string
	format gdwire.Format
	double bool // its math types have 64 bits
}

// A vector is a value that an engine wrote.
type vector struct{ suite.Value }

func (e *engine) vectors(t testing.TB) (all []vector) {
	values := must(suite.ValuesOf(strings.TrimPrefix(e.folder, "godot")))(t)
	require.NotEmpty(t, values)
	for _, v := range values {
		all = append(all, vector{v})
	}
	return all
}

// wire returns the vector's bytes, with zeros in the padding of NodePath names,
// where engines leave memory content.
func (v *vector) wire(t testing.TB, f gdwire.Format) []byte {
	wire := bytes.Clone(v.Hex)
	d := gdwire.NewDecoder(bytes.NewReader(bytes.Clone(wire)), &gdwire.DecoderOptions{Format: f, AllowObjects: true})
	defer d.Release()
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		if tok.Kind() == gdwire.KindStringChunk && tok.Type() == gdwire.TypeNodePath && tok.Last() {
			end := int(d.InputOffset())
			clear(wire[end-int(-tok.Len()&3) : end])
		}
	}
	return wire
}

func (e *engine) decoder() *gdwire.DecoderOptions {
	return &gdwire.DecoderOptions{Format: e.format, AllowObjects: true, Strict: true}
}

func (e *engine) encoder() *gdwire.EncoderOptions {
	return &gdwire.EncoderOptions{Format: e.format, DoubleReals: e.double}
}

// sorted returns JSON with the members of every object in alphabetical order, as
// the engine's JSON.stringify writes them: args come before type.
func sorted(t testing.TB, text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return string(must(json.MarshalIndent(v, " ", "\t"))(t))
}

// TestJSONVectors: every value of every engine is unchanged after conversion to JSON and
// back.
func TestJSONVectors(t *testing.T) {
	for _, e := range engines {
		for _, v := range e.vectors(t) {
			t.Run(e.folder+"/"+v.Name, func(t *testing.T) {
				want := v.wire(t, e.format)
				for _, o := range []gdjson.Options{{}, {Indent: "\t"}, {EscapeForTerminal: true}} {
					text := must(toJSON(want, e.decoder(), &o))(t)
					for _, text := range []string{text, sorted(t, text)} {
						got, err := fromJSON(text, e.encoder(), allow)
						require.NoError(t, err, text)
						require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got), text)
					}
				}
			})
		}
	}
}

func TestSaveGames(t *testing.T) {
	for _, e := range []engine{engines[0], engines[3]} {
		t.Run(e.folder, func(t *testing.T) {
			want := must(os.ReadFile(filepath.Join("..", "testdata", e.folder, "save_game_large.bin")))(t)
			text := must(toJSON(want, e.decoder(), nil))(t)
			for _, text := range []string{text, sorted(t, text)} {
				require.True(t, bytes.Equal(want, must(fromJSON(text, e.encoder(), nil))(t)))
			}
		})
	}
}

// lossy contains the values that the engine's own JSON does not represent exactly, and the reason.
// All other values are converted to the same bytes.
var lossy = map[string]string{
	"float_9":                     "digits", // 1e-45
	"float_12":                    "digits", // pi
	"float_bits_0000000000000080": "digits", // -0.0
	"float_bits_0100000000000000": "digits", // 5e-324
	"float_bits_000000000000a036": "digits", // the smallest of 32 bits
	"vector2_bits":                "digits", // -0.0
	"packed_float32":              "digits", // the smallest of 32 bits
	"save_game":                   "digits", // of an item's weight
	"float_bits_010000000000f87f": "payload of a NaN",
	"signal_changed":              "name and id",
	"object_id":                   "refused",
	"typed_array_class_as_id":     "refused",
	"typed_array_object_as_id":    "refused",
	"typed_dict_class_as_id":      "refused",
}

// TestNativeJSON converts the JSON that the engine wrote and compares the result with
// the bytes that it wrote, and compares the JSON of ToJSON with the engine's.
func TestNativeJSON(t *testing.T) {
	for _, e := range engines[2:] {
		same, reasons := 0, map[string]int{}
		for _, v := range e.vectors(t) {
			t.Run(e.folder+"/"+v.Name, func(t *testing.T) {
				require.NotNil(t, v.NativeJSON)
				want := v.wire(t, e.format)
				got := must(fromJSON(*v.NativeJSON, e.encoder(), allow))(t)
				reason, known := lossy[v.Name]
				require.Equal(t, !known, bytes.Equal(want, got), "%x", got)
				if known {
					reasons[reason]++
				} else {
					same++
				}
				if reason == "refused" {
					require.Equal(t, "null", *v.NativeJSON)
					return
				}
				alike(t, "", parse(t, *v.NativeJSON), parse(t, must(toJSON(want, e.decoder(), nil))(t)))
			})
		}
		require.Equal(t, 119, same)
		require.Equal(t, map[string]int{"digits": 8, "payload of a NaN": 1, "name and id": 1, "refused": 4}, reasons)
	}
}

func parse(t testing.TB, text string) (v any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	return v
}

// alike compares JSON of the engine with that of ToJSON, which is more exact.
func alike(t testing.TB, at string, engine, ours any) {
	switch e := engine.(type) {
	case map[string]any:
		require.IsType(t, e, ours, at)
		o := ours.(map[string]any)
		for k := range o {
			require.True(t, e[k] != nil || e["type"] == "RID" || e["type"] == "Signal", "%s has no %s", at, k)
		}
		for k := range e {
			alike(t, at+"."+k, e[k], o[k])
		}
	case []any:
		require.IsType(t, e, ours, at)
		require.Len(t, ours, len(e), at)
		for i := range e {
			alike(t, at+"["+strconv.Itoa(i)+"]", e[i], ours.([]any)[i])
		}
	case json.Number:
		if o, ok := ours.(string); ok { // an int beyond 2^53
			require.Equal(t, e.String(), o, at)
			return
		}
		require.IsType(t, e, ours, at)
		o := ours.(json.Number)
		require.Equal(t, strings.ContainsAny(e.String(), ".e"), strings.ContainsAny(o.String(), ".e"), "%s: int or float", at)
		closeTo(t, at, e.String(), o.String())
	case string:
		o, ok := ours.(string)
		if ok && strings.HasPrefix(e, "f:nan") {
			require.True(t, strings.HasPrefix(o, e), at)
		} else if ok && strings.HasPrefix(e, "f:") {
			closeTo(t, at, e[2:], strings.TrimPrefix(o, "f:"))
		} else {
			require.Equal(t, engine, ours, at)
		}
	default:
		require.Equal(t, engine, ours, at)
	}
}

// closeTo compares numbers to the precision of the engine's output, a relative or
// absolute error of 1e-14.
func closeTo(t testing.TB, at, engine, ours string) {
	if engine == ours { // also 1e99999
		return
	}
	e, err := strconv.ParseFloat(engine, 64)
	require.NoError(t, err, at)
	o, err := strconv.ParseFloat(ours, 64)
	require.NoError(t, err, at)
	require.LessOrEqual(t, math.Abs(e-o), 1e-14*math.Abs(o)+1e-14, "%s: %s, %s", at, engine, ours)
}
