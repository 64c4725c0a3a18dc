package savefile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/gdwire/gdwire/variant"
)

// TestDoubleInfo: Info says how many bits math types have, whatever comes before them.
func TestDoubleInfo(t *testing.T) {
	const x = 123456789.123
	for name, before := range map[string]any{
		"nothing": nil, "Color": variant.Color{R: 1}, "Vector2i": variant.Vector2i{X: 1}, "colors": []variant.Color{{R: 1}},
		"long": make([]byte, 100_000), "many": make([]byte, 3<<20),
	} {
		t.Run(name, func(t *testing.T) {
			for _, double := range []bool{false, true} {
				for _, later := range []any{variant.Vector2{X: x}, []variant.Vector3{}, variant.Transform3D{}} {
					b, _ := file(t, Info{DoubleReals: double}, before, later)
					f := must(read(b, given(Info{Format: gdwire.Godot4, Lengths: LittleEndian})))(t)
					require.Equal(t, double, f.Info.DoubleReals)
					again := must(New(f.Info, variant.Vector2{X: x}))(t)
					var v variant.Vector2
					require.NoError(t, again.Get("$", &v))
					require.Equal(t, double, v.X == x)
				}
			}
		})
	}
}

// TestDoublePackets: a value that is added has the width of others in its packet, or in other packets,
// or of those that were deleted before.
func TestDoublePackets(t *testing.T) {
	const x = 0.1
	v, color := variant.Vector2{X: x}, variant.Color{R: 0.5}
	for _, l := range []Lengths{NoLengths, LittleEndian, BigEndian} {
		for _, double := range []bool{false, true} {
			for name, edits := range map[string][]Edit{
				"in the packet":           {Set("$1.new", v)},
				"in another packet":       {Set("$0.new", v)},
				"after its deletion":      {Delete("$1.v"), Set("$1.new", v)},
				"after all deletions":     {Delete("$1.v"), Delete("$2[0]"), Set("$1.new", v)},
				"instead of null":         {Set("$0.null", v)},
				"in an Array":             {Set("$0.new", []any{v})},
				"in a packed array":       {Set("$0.new", []variant.Vector2{v})},
				"as a key":                {Set("$0.new", map[variant.Vector2]int{v: 1})},
				"as a key that is a path": {Set(fmt.Sprintf("$0[%v]", v), v)},
				"as an element":           {Set("$1.points[+]", v)},
				"in place of a Vector2i":  {Set("$1.v", variant.Vector2i{X: 7})},
				"a component":             {Set("$1.v.x", x)},
			} {
				f, err := New(Info{Lengths: l, DoubleReals: double}, map[string]any{"null": nil, "color": color},
					map[string]any{"color": color, "v": v, "points": []variant.Vector2{v}}, []any{v})
				require.NoError(t, err)
				b := written(t, f)
				f, err = read(b, given(Info{Format: gdwire.Godot4, Lengths: l}))
				require.NoError(t, err)
				require.NoError(t, f.Edit(edits...), name)
				for d, err := range f.Values() {
					require.NoError(t, err)
					for token, err := range d.Tokens() {
						require.NoError(t, err)
						if n, integers := token.Type().Components(); n > 0 && !integers && token.Type() != gdwire.TypeColor {
							require.Equal(t, double, token.Width() == 64, name)
						}
					}
				}
			}
		}
	}
}

// randomReal returns a number that 32 bits hold, or not.
func (m *maker) randomReal() float64 {
	x := (m.Float64() - 0.5) * math.Pow10(m.IntN(12)-4)
	if m.IntN(2) == 0 {
		x = float64(float32(x))
	}
	return x
}

// realKey returns a key with real numbers.
func (m *maker) realKey() any {
	r := m.randomReal
	switch m.IntN(6) {
	case 0:
		return variant.Vector3{X: r(), Y: r(), Z: r()}
	case 1:
		return variant.Color{R: float32(r()), G: float32(r()), B: 1, A: 1}
	case 2:
		return variant.Rect2{Position: variant.Vector2{X: r(), Y: r()}, Size: variant.Vector2{X: r(), Y: r()}}
	case 3:
		return variant.Quaternion{X: r(), Y: r(), Z: r(), W: r()}
	}
	return variant.Vector2{X: r(), Y: r()}
}

// TestRealKeys: the path of a decoded key, and that with all digits, leads to its value, in a tree and in
// a file of either width, and an edit there replaces the value.
func TestRealKeys(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(21, 22))}
	for i := range testenv.Cases(20, 500) {
		double := i%2 == 0
		d := new(variant.Dictionary)
		for n := range 1 + m.IntN(12) {
			d.Set(m.realKey(), n)
		}
		b, _ := file(t, Info{DoubleReals: double}, d)
		f := must(read(b, given(Info{Format: gdwire.Godot4, Lengths: LittleEndian})))(t)
		var decoded variant.Dictionary
		require.NoError(t, f.Unmarshal(&decoded))
		n := 0
		for key, value := range decoded.All() {
			for _, path := range []string{fmt.Sprintf("[%v]", key), text.Path{Steps: []text.Step{{Key: digits(t, key)}}}.String()} {
				got, err := variant.Get(&decoded, path)
				require.NoError(t, err, path)
				require.Equal(t, value, got)
				var now int
				require.NoError(t, f.Get(path, &now), path)
				require.EqualValues(t, value, now)
				n--
				require.NoError(t, f.Edit(Set(path, n)))
				require.NoError(t, f.Get(path, &now))
				require.Equal(t, n, now)
				require.NoError(t, f.Edit(Set(path, value)))
			}
		}
		require.Equal(t, b, written(t, f))
		written := variant.Vector2{X: 0.7287158, Y: -0.0316664938608372}
		require.NoError(t, f.Edit(Set(fmt.Sprintf("[%v]", written), 5), Set(fmt.Sprintf("[%v]", written), 6)))
		require.NoError(t, f.Unmarshal(&decoded))
		got := must(variant.Get(&decoded, fmt.Sprintf("[%v]", written)))(t)
		require.Equal(t, int64(6), got)
		require.Equal(t, d.Len()+1, decoded.Len())
	}
}

// digits returns a key with all digits of its numbers.
func digits(t *testing.T, key any) text.Value {
	b := gdwiretest.Encode(t, key, variant.Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}})
	d := gdwire.NewDecoder(nil, nil)
	defer d.Release()
	d.ResetBytes(b)
	v := must(text.Read(d))(t)
	v.Single = false
	return v
}

// TestRealKeysOfOnePair: of two keys that are printed alike without their width, a path with all digits means
// the one with these digits.
func TestRealKeysOfOnePair(t *testing.T) {
	rounded := float64(float32(0.1))
	d := new(variant.Dictionary)
	d.Set(variant.Vector2{X: rounded}, "rounded")
	d.Set(variant.Vector2{X: 0.1}, "exact")
	f := must(New(Info{DoubleReals: true}, d))(t)
	for path, want := range map[string]string{
		"[Vector2(0.1, 0)]":                 "exact",
		"[Vector2(0.10000000149011612, 0)]": "rounded",
	} {
		var got string
		require.NoError(t, f.Get(path, &got))
		require.Equal(t, want, got)
		value := must(variant.Get(d, path))(t)
		require.Equal(t, want, value)
		require.NoError(t, f.Edit(Set(path, want+"!")))
		require.NoError(t, f.Get(path, &got))
		require.Equal(t, want+"!", got)
	}
}
