package gdwire_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/testsize"
)

// An engine is one whose vectors are in testdata.
type engine struct {
	folder string
	format *gdwire.Format
	double bool // its math types have 64 bits
	dirty  bool // its padding after the names of a NodePath is old memory content
}

var engines = []engine{
	{folder: "godot3.2.3", format: gdwire.Godot3, dirty: true},
	{folder: "godot4.3", format: gdwire.Godot4, dirty: true},
	{folder: "godot4.6", format: gdwire.Godot4, dirty: true}, // the official build
	{folder: "godot4.7-dev", format: gdwire.Godot4},
	{folder: "godot4.7-dev-double", format: gdwire.Godot4, double: true},
}

// singles are the engines whose math types have 32 bits. The others have
// vectors alone.
var singles = slices.DeleteFunc(slices.Clone(engines), func(e engine) bool { return e.double })

// A vector is a line of vectors.jsonl.
type vector struct {
	Name        string
	Hex         hexBytes
	FullObjects bool `json:"full_objects"`
	Value       value
}

type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	p, err := hex.DecodeString(text)
	*h = p
	return err
}

// readLines reads a file of one JSON object a line.
func readLines[T any](t testing.TB, path ...string) (all []T) {
	f, err := os.Open(filepath.Join(append([]string{"testdata"}, path...)...))
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var v T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v), lines.Text())
		all = append(all, v)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, all)
	return all
}

func readFile(t testing.TB, path ...string) []byte {
	b, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	require.NoError(t, err)
	return b
}

func (e *engine) vectors(t testing.TB) []vector {
	return readLines[vector](t, e.folder, "vectors.jsonl")
}

// forVectors runs a test for each vector of each engine.
func forVectors(t *testing.T, test func(t *testing.T, e *engine, v *vector)) {
	for i := range engines {
		e := &engines[i]
		for _, v := range e.vectors(t) {
			t.Run(e.folder+"/"+v.Name, func(t *testing.T) { test(t, e, &v) })
		}
	}
}

func TestVectorsDecode(t *testing.T) {
	forVectors(t, func(t *testing.T, e *engine, v *vector) {
		for _, window := range []int{0, 16} {
			for _, strict := range []bool{false, true} {
				o := gdwire.DecoderOptions{Format: e.format, AllowObjects: v.FullObjects, MaxChunk: window, Strict: strict}
				d := gdwire.NewDecoder(bytes.NewReader(v.Hex), &o)
				got, err := readValue(d)
				require.NoError(t, err)
				require.Equal(t, v.Value.plain().anyNaN(), got.plain().anyNaN())
				require.EqualValues(t, len(v.Hex), d.InputOffset())
				require.Zero(t, d.Depth())
				d.Release()
			}
		}
	})
}

// A build of an engine writes all reals in one width.
func TestVectorsWidth(t *testing.T) {
	real := map[string]bool{
		"Vector2": true, "Rect2": true, "Vector3": true, "Transform2D": true, "Vector4": true, "Plane": true, "Quaternion": true, "AABB": true,
		"Basis": true, "Transform3D": true, "Projection": true, "PackedVector2Array": true, "PackedVector3Array": true, "PackedVector4Array": true,
	}
	seen := map[bool]int{}
	forVectors(t, func(t *testing.T, e *engine, v *vector) {
		got, _, err := decodeBytes(v.Hex, gdwire.DecoderOptions{Format: e.format, AllowObjects: true})
		require.NoError(t, err)
		got.holds(func(v *value) bool {
			if real[v.Type] && len(v.Numbers) > 0 {
				assert.Equal(t, e.double, v.Wide, v.Type)
				seen[v.Wide]++
			}
			if v.Type == "Color" || v.Type == "PackedColorArray" {
				assert.False(t, v.Wide, v.Type)
			}
			return false
		})
	})
	assert.NotZero(t, seen[true])
	assert.NotZero(t, seen[false])
}

func TestVectorsReencode(t *testing.T) {
	forVectors(t, func(t *testing.T, e *engine, v *vector) {
		from := gdwire.DecoderOptions{Format: e.format, AllowObjects: v.FullObjects}
		to := gdwire.EncoderOptions{Format: e.format, DoubleReals: e.double}
		narrow := from
		narrow.MaxChunk = 16
		want := v.Hex
		if e.dirty {
			want = cleanPaths(t, v.Hex, e.format)
		}
		tree, _, err := decodeBytes(v.Hex, from)
		require.NoError(t, err)
		for name, write := range map[string]func() ([]byte, error){
			"tokens":         func() ([]byte, error) { return rewriteTokens(v.Hex, from, to) },
			"small tokens":   func() ([]byte, error) { return rewriteTokens(v.Hex, narrow, to) },
			"copy":           func() ([]byte, error) { return copyValue(v.Hex, from, to) },
			"small copy":     func() ([]byte, error) { return copyValue(v.Hex, narrow, to) },
			"calls":          func() ([]byte, error) { return encodeValue(&tree, to, false) },
			"unknown counts": func() ([]byte, error) { return encodeValue(&tree, to, true) },
		} {
			got, err := write()
			require.NoError(t, err, name)
			require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got), name)
		}
	})
}

// cleanPaths returns p with zeros as padding of NodePath names. The offsets of
// tokens show where that is.
func cleanPaths(t testing.TB, p []byte, f *gdwire.Format) []byte {
	p = bytes.Clone(p)
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: f, AllowObjects: true, AllowInvalidUTF8: true, Limits: noLimits})
	d.ResetBytes(bytes.Clone(p))
	for tok, err := range d.Tokens() {
		if err != nil {
			break // a damaged packet: nothing after it is read
		}
		if tok.Kind() == gdwire.KindStringChunk && tok.Type() == gdwire.TypeNodePath && tok.Last() {
			end := int(d.InputOffset())
			clear(p[end-int(-tok.Len()&3) : end])
		}
	}
	return p
}

func TestVectorsObjectsNotAllowed(t *testing.T) {
	objects := 0
	forVectors(t, func(t *testing.T, e *engine, v *vector) {
		full := v.Value.holds(func(v *value) bool { return v.Type == "Object" })
		_, size, err := decodeBytes(v.Hex, gdwire.DecoderOptions{Format: e.format})
		if !full {
			require.NoError(t, err)
			return
		}
		objects++
		require.ErrorIs(t, err, gdwire.ErrObject)
		var fault *gdwire.Error
		require.ErrorAs(t, err, &fault)
		assert.Equal(t, size, fault.Offset, "nothing of the object is consumed")
		header := map[*gdwire.Format]uint32{gdwire.Godot3: 17, gdwire.Godot4: 24}[e.format]
		assert.Equal(t, header, le.Uint32(v.Hex[fault.Offset:]))
	})
	assert.NotZero(t, objects)
}

// put_var and store_var write length-prefixed packets.
func TestVectorsFrames(t *testing.T) {
	packed := func(e *engine) value {
		v := value{Type: "PackedInt64Array", Wide: true, Numbers: []uint64{1, 2}}
		if e.format == gdwire.Godot3 {
			v.Type, v.Wide = "PackedInt32Array", false
		}
		return v
	}
	float := value{Type: "float", Bits: widened(0x40600000)}
	vector2 := value{Type: "Vector2", Numbers: []uint64{widened(0x3F800000), widened(0x40000000)}}
	for i := range singles {
		e := &singles[i]
		want := []value{
			{Type: "int", Bits: 1},
			{Type: "String", Text: "two"},
			{Type: "Dictionary", Items: []value{
				{Type: "String", Text: "three"},
				{Type: "Array", Items: []value{float, vector2}},
			}},
			packed(e),
			{Type: "Nil"},
		}
		for _, name := range []string{"put_var.bin", "store_var.bin"} {
			if _, err := os.Stat(filepath.Join("testdata", e.folder, name)); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			t.Run(e.folder+"/"+name, func(t *testing.T) {
				var got []value
				for b := readFile(t, e.folder, name); len(b) > 0; {
					n := le.Uint32(b)
					v, size, err := decodeBytes(b[4:4+n], gdwire.DecoderOptions{Format: e.format, Strict: true})
					require.NoError(t, err)
					require.EqualValues(t, n, size)
					got, b = append(got, v), b[4+n:]
				}
				require.Equal(t, want, got)
			})
		}
	}
}

func TestVectorsSaveGame(t *testing.T) {
	for _, e := range engines {
		if e.folder != "godot3.2.3" && e.folder != "godot4.7-dev" {
			continue
		}
		t.Run(e.folder, func(t *testing.T) {
			p := readFile(t, e.folder, "save_game_large.bin")
			from := gdwire.DecoderOptions{Format: e.format, Strict: true}
			v, size, err := decodeBytes(p, from)
			require.NoError(t, err)
			require.EqualValues(t, len(p), size)
			require.Equal(t, "Dictionary", v.Type)

			from.MaxChunk = 100
			to := gdwire.EncoderOptions{Format: e.format}
			for name, write := range map[string]func() ([]byte, error){
				"tokens":         func() ([]byte, error) { return rewriteTokens(p, from, to) },
				"copy":           func() ([]byte, error) { return copyValue(p, from, to) },
				"calls":          func() ([]byte, error) { return encodeValue(&v, to, false) },
				"unknown counts": func() ([]byte, error) { return encodeValue(&v, to, true) },
			} {
				t.Run(name, func(t *testing.T) {
					got, err := write()
					require.NoError(t, err)
					require.True(t, bytes.Equal(p, got))
				})
			}
		})
	}
}

// All short vectors as elements of one Array, so that every kind of token crosses
// the ends of buffers.
func TestVectorsInOneArray(t *testing.T) {
	for i := range engines {
		e := &engines[i]
		t.Run(e.folder, func(t *testing.T) {
			var elements []byte
			n := 1
			vectors := e.vectors(t)
			for len(elements) < 100<<10 {
				for _, v := range vectors {
					if len(v.Hex) < 200 {
						elements = append(elements, cleanPaths(t, v.Hex, e.format)...)
						n++
					}
				}
			}
			from := gdwire.DecoderOptions{Format: e.format, AllowObjects: true}
			to := gdwire.EncoderOptions{Format: e.format, DoubleReals: e.double}
			step := 16
			if !testsize.Full() {
				step *= 7
			}
			for shift := 0; shift < 512; shift += step {
				p := build(t, e.format, "<Array>")
				p = le.AppendUint32(p, uint32(n))
				p = append(p, build(t, e.format, "<String>")...)
				p = le.AppendUint32(p, uint32(shift))
				p = append(p, bytes.Repeat([]byte{'x'}, shift)...)
				p = append(p, elements...)

				from.MaxChunk = shift
				got, err := rewriteTokens(p, from, to)
				require.NoError(t, err)
				require.True(t, bytes.Equal(p, got), "tokens, shift %d", shift)
				v, _, err := decodeBytes(p, from)
				require.NoError(t, err)
				got, err = encodeValue(&v, to, shift%64 == 0)
				require.NoError(t, err)
				require.True(t, bytes.Equal(p, got), "calls, shift %d", shift)
			}
		})
	}
}
