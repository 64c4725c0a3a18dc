package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/tagged"
	"github.com/gdwire/gdwire/stream"
)

// forVectors runs a test for each vector of each engine.
func forVectors(t *testing.T, test func(t *testing.T, e *model.Engine, v *model.Vector)) {
	for i := range model.Engines {
		e := &model.Engines[i]
		for _, v := range e.Vectors(t) {
			t.Run(e.Folder+"/"+v.Name, func(t *testing.T) { test(t, e, &v) })
		}
	}
}

func TestVectorsDecode(t *testing.T) {
	forVectors(t, func(t *testing.T, e *model.Engine, v *model.Vector) {
		for _, window := range []int{0, 16} {
			for _, strict := range []bool{false, true} {
				o := gdwire.DecoderOptions{Format: e.Format, AllowObjects: v.FullObjects, MaxChunk: window, Strict: strict}
				d := gdwire.NewDecoder(bytes.NewReader(v.Hex), &o)
				require.Equal(t, v.Value.Plain().AnyNaN(), must(model.Read(d))(t).Plain().AnyNaN())
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
	forVectors(t, func(t *testing.T, e *model.Engine, v *model.Vector) {
		got, _ := must2(model.Decode(v.Hex, gdwire.DecoderOptions{Format: e.Format, AllowObjects: true}))(t)
		got.Holds(func(v *tagged.Value) bool {
			if real[v.Type] && len(v.Numbers) > 0 {
				assert.Equal(t, e.Double, v.Wide, v.Type)
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
	forVectors(t, func(t *testing.T, e *model.Engine, v *model.Vector) {
		from := gdwire.DecoderOptions{Format: e.Format, AllowObjects: v.FullObjects}
		to := gdwire.EncoderOptions{Format: e.Format, DoubleReals: e.Double}
		narrow := from
		narrow.MaxChunk = 16
		want := v.Hex
		if e.Dirty {
			want = model.CleanPaths(v.Hex, e.Format)
		}
		tree, _ := must2(model.Decode(v.Hex, from))(t)
		for name, write := range map[string]func() ([]byte, error){
			"tokens":       func() ([]byte, error) { return model.Rewrite(v.Hex, from, to) },
			"small tokens": func() ([]byte, error) { return model.Rewrite(v.Hex, narrow, to) },
			"copy":         func() ([]byte, error) { return model.Copy(v.Hex, from, to) },
			"small copy":   func() ([]byte, error) { return model.Copy(v.Hex, narrow, to) },
			"calls":        func() ([]byte, error) { return model.Encode(&tree, to) },
		} {
			got, err := write()
			require.NoError(t, err, name)
			require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got), name)
		}
	})
}

func TestVectorsObjectsNotAllowed(t *testing.T) {
	objects := 0
	forVectors(t, func(t *testing.T, e *model.Engine, v *model.Vector) {
		full := v.Value.Holds(func(v *tagged.Value) bool { return v.Type == "Object" })
		_, size, err := model.Decode(v.Hex, gdwire.DecoderOptions{Format: e.Format})
		if !full {
			require.NoError(t, err)
			return
		}
		objects++
		require.ErrorIs(t, err, gdwire.ErrObject)
		var fault *gdwire.Error
		require.ErrorAs(t, err, &fault)
		assert.Equal(t, size, fault.Offset, "nothing of the object is consumed")
		header := map[gdwire.Format]uint32{gdwire.Godot3: 17, gdwire.Godot4: 24}[e.Format]
		assert.Equal(t, header, le.Uint32(v.Hex[fault.Offset:]))
	})
	assert.NotZero(t, objects)
}

// put_var and store_var write length-prefixed packets.
func TestVectorsFrames(t *testing.T) {
	packed := func(e *model.Engine) tagged.Value {
		v := tagged.Value{Type: "PackedInt64Array", Wide: true, Numbers: []uint64{1, 2}}
		if e.Format == gdwire.Godot3 {
			v.Type, v.Wide = "PackedInt32Array", false
		}
		return v
	}
	float := tagged.Value{Type: "float", Bits: tagged.Widened(0x40600000)}
	vector2 := tagged.Value{Type: "Vector2", Numbers: []uint64{tagged.Widened(0x3F800000), tagged.Widened(0x40000000)}}
	for i := range model.Singles {
		e := &model.Singles[i]
		want := []tagged.Value{
			{Type: "int", Bits: 1},
			{Type: "String", Text: "two"},
			{Type: "Dictionary", Items: []tagged.Value{
				{Type: "String", Text: "three"},
				{Type: "Array", Items: []tagged.Value{float, vector2}},
			}},
			packed(e),
			{Type: "Nil"},
		}
		for _, name := range []string{"put_var.bin", "store_var.bin"} {
			if _, err := os.Stat(model.Testdata(e.Folder, name)); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			t.Run(e.Folder+"/"+name, func(t *testing.T) {
				var got []tagged.Value
				b := model.ReadFile(t, e.Folder, name)
				r := stream.NewReader(bytes.NewReader(b), &stream.Options{Decoder: gdwire.DecoderOptions{Format: e.Format, Strict: true}})
				d, err := r.Next()
				for ; err == nil; d, err = r.Next() {
					got = append(got, must(model.Read(d))(t))
				}
				require.Equal(t, io.EOF, err)
				require.Equal(t, want, got)
				require.EqualValues(t, len(b), must(stream.ScanComplete(bytes.NewReader(b)))(t))
			})
		}
	}
}

func TestVectorsSaveGame(t *testing.T) {
	for _, e := range model.Engines {
		if e.Folder != "godot3.2.3" && e.Folder != "godot4.7-dev" {
			continue
		}
		t.Run(e.Folder, func(t *testing.T) {
			p := model.ReadFile(t, e.Folder, "save_game_large.bin")
			from := gdwire.DecoderOptions{Format: e.Format, Strict: true}
			v, size := must2(model.Decode(p, from))(t)
			require.EqualValues(t, len(p), size)
			require.Equal(t, "Dictionary", v.Type)

			from.MaxChunk = 100
			to := gdwire.EncoderOptions{Format: e.Format}
			for name, write := range map[string]func() ([]byte, error){
				"tokens": func() ([]byte, error) { return model.Rewrite(p, from, to) },
				"copy":   func() ([]byte, error) { return model.Copy(p, from, to) },
				"calls":  func() ([]byte, error) { return model.Encode(&v, to) },
			} {
				t.Run(name, func(t *testing.T) {
					require.True(t, bytes.Equal(p, must(write())(t)))
				})
			}
		})
	}
}

// All short vectors as elements of one Array, so that every kind of token crosses
// the ends of buffers.
func TestVectorsInOneArray(t *testing.T) {
	for i := range model.Engines {
		e := &model.Engines[i]
		t.Run(e.Folder, func(t *testing.T) {
			var elements []byte
			n := 1
			vectors := e.Vectors(t)
			for len(elements) < 100<<10 {
				for _, v := range vectors {
					if len(v.Hex) < 200 {
						elements = append(elements, model.CleanPaths(v.Hex, e.Format)...)
						n++
					}
				}
			}
			from := gdwire.DecoderOptions{Format: e.Format, AllowObjects: true}
			to := gdwire.EncoderOptions{Format: e.Format, DoubleReals: e.Double}
			step := 16
			if !testenv.Full() {
				step *= 7
			}
			for shift := 0; shift < 512; shift += step {
				p := model.Build(t, e.Format, "<Array>")
				p = le.AppendUint32(p, uint32(n))
				p = append(p, model.Build(t, e.Format, "<String>")...)
				p = le.AppendUint32(p, uint32(shift))
				p = append(p, bytes.Repeat([]byte{'x'}, shift)...)
				p = append(p, elements...)

				from.MaxChunk = shift
				got := must(model.Rewrite(p, from, to))(t)
				require.True(t, bytes.Equal(p, got), "tokens, shift %d", shift)
				v, _ := must2(model.Decode(p, from))(t)
				got = must(model.Encode(&v, to))(t)
				require.True(t, bytes.Equal(p, got), "calls, shift %d", shift)
			}
		})
	}
}

var le = binary.LittleEndian

// TestReleasesWriteTheSame: 4.6 and both builds of 4.7-dev write the same bytes for the same values,
// except for memory content in the padding of names, ids of objects, and the properties of a class.
func TestReleasesWriteTheSame(t *testing.T) {
	vectors := map[string][]model.Vector{}
	for i := range model.Engines {
		vectors[model.Engines[i].Name] = model.Engines[i].Vectors(t)
	}
	for _, build := range []string{"4.7-dev", "4.7-dev-debug"} {
		newer := map[string][]string{} // in hex, by name
		for _, v := range vectors[build] {
			newer[v.Name] = append(newer[v.Name], hex.EncodeToString(v.Hex))
		}
		same, ids := 0, 0
		for _, v := range vectors["4.6"] {
			switch {
			case v.Name == "object_full_in_array": // a Curve has more properties in 4.7-dev
			case v.Value.Holds(func(v *tagged.Value) bool { return v.Type == "ObjectID" || v.Type == "Signal" && v.Bits != 0 }):
				require.Len(t, newer[v.Name][0], 2*len(v.Hex), v.Name)
				ids++
			default:
				require.Contains(t, newer[v.Name], hex.EncodeToString(model.CleanPaths(v.Hex, gdwire.Godot4)), "%s %s", build, v.Name)
				same++
			}
		}
		require.Equal(t, 5, ids)
		require.Greater(t, same, 120)
	}
}
