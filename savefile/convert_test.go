package savefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/variant"
)

// floats returns n floats as the elements of an Array.
func floats(n ...float64) (all []any) {
	for _, x := range n {
		all = append(all, x)
	}
	return all
}

// fifth is 0.2, rounded to 32 bits.
var fifth = float64(float32(0.2))

// conversions contains values of Godot 4 and what they become in Godot 3. If lost is "", the value stays.
var conversions = []struct {
	value         any
	lost, becomes string
	want          any
}{
	{value: nil}, {value: true}, {value: 7}, {value: int64(1) << 40}, {value: 0.5}, {value: 0.1}, {value: math.Inf(-1)}, {value: "a"},
	{value: variant.Vector2{X: 1, Y: 2}}, {value: variant.Rect2{Size: variant.Vector2{X: 2}}}, {value: variant.Vector3{X: 1}},
	{value: variant.Transform2D{X: variant.Vector2{X: 1}}}, {value: variant.Plane{D: 1}}, {value: variant.Quaternion{W: 1}},
	{value: variant.AABB{Size: variant.Vector3{X: 1}}}, {value: variant.Basis{X: variant.Vector3{Y: 1}}},
	{value: variant.Transform3D{Origin: variant.Vector3{X: 1}}}, {value: variant.Color{R: 1}},
	{value: variant.NodePath("/root/A:x")}, {value: variant.RID(0)}, {value: variant.ObjectID(6)},
	{value: map[string]int{"k": 1}}, {value: []any{1, "a"}},
	{value: []byte{1}}, {value: []int32{1}}, {value: []float32{1}}, {value: []string{"a"}},
	{value: []variant.Vector2{{X: 1}}}, {value: []variant.Vector3{{X: 1}}}, {value: []variant.Color{{R: 1}}},

	{variant.Vector2i{X: -3, Y: 1 << 30}, "Vector2i", "a Vector2", variant.Vector2{X: -3, Y: 1 << 30}},
	{variant.Vector2i{X: 3, Y: 1<<24 + 1}, "Vector2i of more than 24 bits", "a rounded Vector2", variant.Vector2{X: 3, Y: 1 << 24}},
	{variant.Rect2i{Size: variant.Vector2i{X: 3}}, "Rect2i", "a Rect2", variant.Rect2{Size: variant.Vector2{X: 3}}},
	{variant.Vector3i{X: 3, Z: -4}, "Vector3i", "a Vector3", variant.Vector3{X: 3, Z: -4}},
	{variant.Vector3i{Z: math.MinInt32 + 1}, "Vector3i of more than 24 bits", "a rounded Vector3", variant.Vector3{Z: math.MinInt32}},
	{variant.Vector4{X: 1, Y: 0.2, W: -1}, "Vector4", "an Array of 4 floats", floats(1, fifth, 0, -1)},
	{variant.Vector4i{X: 3, W: math.MaxInt32}, "Vector4i", "an Array of 4 ints", []any{3, 0, 0, math.MaxInt32}},
	{variant.Projection{X: variant.Vector4{Y: 1}, W: variant.Vector4{X: 2, W: 3}}, "Projection", "an Array of 16 floats",
		floats(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 3)},
	{variant.StringName("n"), "StringName", "a String", "n"},
	{variant.StringName(""), "StringName", "a String", ""},
	{variant.StringName(strings.Repeat("ä", 50_000)), "StringName", "a String", strings.Repeat("ä", 50_000)},
	{variant.RID(5), "RID with an id", "an RID without it", variant.RID(0)},
	{variant.Callable{}, "Callable", "null", nil},
	{variant.Signal{Name: "s", Object: 5}, "Signal", "null", nil},
	{&variant.Dictionary{Key: gdwire.Elem{Type: gdwire.TypeString}}, "typed Dictionary", "an untyped Dictionary", map[string]any{}},
	{&variant.Dictionary{Value: gdwire.Elem{Type: gdwire.TypeInt}}, "typed Dictionary", "an untyped Dictionary", map[string]any{}},
	{&variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}, Values: []any{1, 2}}, "typed Array", "an untyped Array", []any{1, 2}},
	{&variant.Array{Elem: gdwire.Elem{Class: "Node"}}, "typed Array", "an untyped Array", []any{}},
	{[]int64{1, 1 << 40}, "PackedInt64Array", "an Array of ints", []any{1, int64(1) << 40}},
	{[]int64{}, "PackedInt64Array", "an Array of ints", []any{}},
	{make([]int64, 20_000), "PackedInt64Array", "an Array of ints", slices.Repeat([]any{0}, 20_000)},
	{[]float64{1, 0.1}, "PackedFloat64Array", "an Array of floats", floats(1, 0.1)},
	{[]variant.Vector4{{X: 1}, {W: 0.2}}, "PackedVector4Array", "an Array of Arrays of 4 floats", []any{floats(1, 0, 0, 0), floats(0, 0, 0, fifth)}},
}

// doubles contains values of an engine of double precision, as conversions does.
var doubles = []struct {
	value         any
	lost, becomes string
	want          any
}{
	{value: variant.Vector2{X: 0.5}}, {value: []variant.Vector3{{X: 0.5}}}, {value: variant.Color{R: 0.2}},
	{variant.Vector2{X: 0.2}, "Vector2 of 64 bits", "a rounded Vector2", variant.Vector2{X: fifth}},
	{variant.AABB{Size: variant.Vector3{Z: -1e300}}, "AABB of 64 bits", "a rounded AABB", variant.AABB{Size: variant.Vector3{Z: math.Inf(-1)}}},
	{[]variant.Vector3{{X: 0.5}, {Y: 0.2}, {Y: 1e300}}, "PackedVector3Array of 64 bits", "a rounded PackedVector3Array",
		[]variant.Vector3{{X: 0.5}, {Y: fifth}, {Y: math.Inf(1)}}},
	{slices.Repeat([]variant.Vector2{{X: 0.2}}, 10_000), "PackedVector2Array of 64 bits", "a rounded PackedVector2Array",
		slices.Repeat([]variant.Vector2{{X: fifth}}, 10_000)},
	{variant.Vector4{X: 0.2}, "Vector4", "an Array of 4 floats", floats(0.2, 0, 0, 0)},
	{[]variant.Vector4{{Y: 0.2}}, "PackedVector4Array", "an Array of Arrays of 4 floats", []any{floats(0, 0.2, 0, 0)}},
}

// TestConvertTypes converts a value of each type from Godot 4 to Godot 3, with and without Lossy.
func TestConvertTypes(t *testing.T) {
	seen := map[gdwire.Type]bool{}
	for i, c := range slices.Concat(conversions, doubles) {
		info := Info{Lengths: []Lengths{NoLengths, LittleEndian, BigEndian}[i%3], DoubleReals: i >= len(conversions)}
		name := fmt.Sprintf("%T to %s", c.value, c.becomes)
		f, err := New(info, map[string]any{"v": c.value}) // where paths are not only $
		require.NoError(t, err, name)
		for d, err := range f.Values() {
			require.NoError(t, err)
			must(d.ReadDict())(t)
			require.NoError(t, d.SkipValue())
			typ := must(d.PeekType())(t)
			seen[typ] = true
		}
		f.Info.Format = gdwire.Godot3
		if c.lost == "" {
			c.want = c.value
		} else {
			n, err := f.WriteTo(io.Discard)
			require.ErrorContains(t, err, fmt.Sprintf(", $.v: godot3 has no %s; it would become %s", c.lost, c.becomes), name)
			require.False(t, errors.As(err, new(*DamageError)), "%s: %d bytes: %v", name, n, err)
			if strings.HasSuffix(c.lost, "of 64 bits") {
				require.ErrorIs(t, err, gdwire.ErrRange, name)
			} else {
				require.ErrorIs(t, err, gdwire.ErrType, name)
			}
			var losses []Loss
			f.Lossy = func(l Loss) { losses = append(losses, l) }
			_ = written(t, f)
			require.Len(t, losses, 1, name)
			require.Equal(t, fmt.Sprintf("$.v: %s becomes %s", c.lost, c.becomes), losses[0].String())
			at := new(gdwire.Error)
			require.ErrorAs(t, err, &at)
			require.Equal(t, at.Offset, losses[0].Offset, name)
		}
		want := must(variant.Marshal(map[string]any{"v": c.want}, variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}))(t)
		got := written(t, f)
		if info.Lengths != NoLengths {
			got = got[4:]
		}
		require.True(t, bytes.Equal(want, got), "%s: %x, want %x", name, got, want)
	}
	for _, typ := range gdwire.Types() {
		require.Equal(t, gdwire.Godot4.Has(typ), seen[typ], typ)
	}
}

// TestConvertDoc: doc.go lists all counterparts.
func TestConvertDoc(t *testing.T) {
	doc := must(os.ReadFile("doc.go"))(t)
	words := strings.Join(strings.Fields(strings.ReplaceAll(string(doc), "//", "")), " ")
	for _, c := range save.Counterparts {
		one, n := c.Value+" "+c.Becomes, 1
		switch c.Value { // in one line
		case "Vector2i", "Rect2i", "Vector3i":
			one, n = strings.TrimSuffix(c.Value, "i"), 2
		case "Callable", "Signal":
			one = "Callable, Signal null"
		}
		require.GreaterOrEqual(t, strings.Count(words, one), n, one)
	}
}

// A tree is a value, a name or a property.
type tree struct {
	offset int64
	path   string
	text   string // its type and content, without inner
	inner  []*tree
}

// A treeReader makes trees of the tokens of a value.
type treeReader struct {
	d    *gdwire.Decoder
	next gdwire.Token
}

// readTree returns the only value in b.
func readTree(t *testing.T, b []byte, f gdwire.Format) *tree {
	t.Helper()
	r := &treeReader{d: gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: f, AllowObjects: true, AllowInvalidUTF8: true, Limits: gdwire.NoLimits})}
	r.d.ResetBytes(b)
	r.read()
	v := r.tree()
	require.NoError(t, r.d.Err())
	require.EqualValues(t, len(b), r.d.InputOffset())
	return v
}

// read reads the next token, which stays valid until it is called again. After the last it is the zero Token.
func (r *treeReader) read() { r.next, _ = r.d.ReadToken() }

// tree returns the value that begins with the next token, and reads the token after it.
func (r *treeReader) tree() *tree {
	if r.next.Kind() == gdwire.KindDictKey {
		r.read()
	}
	at := r.d.WrapError(io.EOF).(*gdwire.Error)
	v := &tree{offset: at.Offset, path: at.Path}
	switch first := r.next.Kind(); first {
	case gdwire.KindInt32, gdwire.KindInt64, gdwire.KindFloat32, gdwire.KindFloat64: // of any width
		v.text = fmt.Sprint(r.next.Type(), r.next.Int(), r.next.Float())
	case gdwire.KindStringChunk:
		v.text = r.next.Type().String() + " "
		for ; ; r.read() {
			if v.text += r.next.Text(); r.next.Last() {
				break
			}
		}
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart, gdwire.KindNodePathStart, gdwire.KindPackedStart:
		v.text = fmt.Sprint(r.next.Type(), r.next.KeyElem(), r.next.Elem())
		for r.read(); r.next.Kind() != gdwire.KindEnd; {
			if r.next.Kind() != gdwire.KindChunk {
				v.inner = append(v.inner, r.tree())
				continue
			}
			b := r.next.Bytes()
			if r.next.Width() == 64 && r.next.Type() != gdwire.TypePackedInt64Array {
				b, _ = wire.ConvertReals(nil, b, wire.Float64, wire.Float32)
				if wide, same := wire.ConvertReals(nil, b, wire.Float32, wire.Float64); !same || !bytes.Equal(wide, r.next.Bytes()) {
					b = r.next.Bytes()
				}
			}
			v.text += fmt.Sprintf(" %x", b)
			r.read()
		}
	default:
		v.text = r.next.String()
	}
	r.read()
	return v
}

// each calls f for all trees in v.
func (v *tree) each(f func(*tree)) {
	f(v)
	for _, one := range v.inner {
		one.each(f)
	}
}

// differ calls f for each tree in v whose text differs from that in w. Those in a tree of another type, whose text
// begins otherwise, do not count.
func (v *tree) differ(w *tree, f func(*tree)) {
	if v.text != w.text {
		if f(v); len(v.inner) != len(w.inner) || strings.Fields(v.text)[0] != strings.Fields(w.text)[0] {
			return
		}
	}
	for i := range v.inner {
		v.inner[i].differ(w.inner[i], f)
	}
}

// convertible returns a random value of Godot 4, of up to depth containers in each other. If kept is set, all
// of its types are in Godot 3.
func convertible(r *rand.Rand, depth int, double, kept bool) any {
	inner := func() any { return convertible(r, r.IntN(depth), double, kept) }
	switch n := r.IntN(8); {
	case depth > 0 && n < 3:
		d := new(variant.Dictionary)
		if r.IntN(3) == 0 && !kept {
			d.Key.Type, d.Value.Type = gdwire.TypeStringName, gdwire.TypeInt
			d.Set(variant.StringName("n"), r.IntN(10))
			return d
		}
		for range r.IntN(5) {
			d.Set(inner(), inner())
		}
		return d
	case depth > 0 && n < 6:
		a := new(variant.Array)
		if r.IntN(3) == 0 && !kept {
			a.Elem.Type = gdwire.TypeVector2i
			a.Values = []any{variant.Vector2i{X: r.Int32(), Y: 1}, variant.Vector2i{}}
			return a
		}
		for range r.IntN(5) {
			a.Values = append(a.Values, inner())
		}
		return a
	case depth > 0 && n < 7:
		return &variant.Object{Class: "Node", Properties: []variant.Property{{Name: "a", Value: inner()}, {Name: "b", Value: inner()}}}
	}
	all := conversions
	if double && !kept {
		all = slices.Concat(conversions, doubles)
	}
	for {
		c := all[r.IntN(len(all))]
		v := reflect.ValueOf(c.value)
		isLong := v.IsValid() && (v.Kind() == reflect.Slice || v.Kind() == reflect.String) && v.Len() > 1000
		if (!kept || c.lost == "") && !(isLong && r.IntN(50) > 0) {
			return c.value
		}
	}
}

// convertAgain returns the content of f in a format.
func convertAgain(t *testing.T, f *File, format gdwire.Format) (*File, []byte) {
	t.Helper()
	f.Info.Format = format
	b := written(t, f)
	do := gdwire.DecoderOptions{Format: format, AllowObjects: true, AllowInvalidUTF8: true, Limits: gdwire.NoLimits}
	again := must(read(b, &Options{Lengths: NoLengths, Decoder: do}))(t)
	return again, b
}

// locations returns the paths and texts of the trees in all that are not in others.
func locations(all, others map[*tree]bool) (paths []string) {
	for v := range all {
		if !others[v] {
			paths = append(paths, v.path+": "+v.text[:min(len(v.text), 100)])
		}
	}
	return paths
}

// compared returns the values of was, of Godot 4, that differ from those in back, and those whose loss was reported.
func compared(t *testing.T, was, back []byte, losses []Loss) (differ, reported map[*tree]bool) {
	v := readTree(t, was, gdwire.Godot4)
	differ, reported = map[*tree]bool{}, map[*tree]bool{}
	v.differ(readTree(t, back, gdwire.Godot4), func(v *tree) { differ[v] = true })
	var all []*tree
	v.each(func(v *tree) { all = append(all, v) })
	for _, l := range losses {
		i, found := slices.BinarySearchFunc(all, l.Offset, func(v *tree, at int64) int { return cmp.Compare(v.offset, at) })
		if !found {
			i-- // in a packed array
		}
		require.Equal(t, all[i].path, l.Path)
		require.False(t, reported[all[i]], "reported twice: %v", l)
		reported[all[i]] = true
	}
	return differ, reported
}

// TestConvertRandom converts random values from Godot 4 to Godot 3 and back. What differs then was reported, all else is
// the same; and values of types that both have stay byte for byte.
func TestConvertRandom(t *testing.T) {
	n := testenv.Cases(500, 8_000)
	r := rand.New(rand.NewPCG(48, 11))
	lost := map[string]bool{}
	for range n {
		double := r.IntN(4) == 0
		f := must(New(Info{Lengths: NoLengths, DoubleReals: double}, convertible(r, 4, double, false)))(t)
		four := written(t, f)
		var losses []Loss
		f.Lossy = func(l Loss) {
			losses = append(losses, l)
			lost[l.Value] = true
		}
		f, _ = convertAgain(t, f, gdwire.Godot3)
		_, back := convertAgain(t, f, gdwire.Godot4) // without Lossy

		differ, reported := compared(t, four, back, losses)
		require.Empty(t, locations(differ, reported), "differ, but were not reported")
		require.Empty(t, locations(reported, differ), "were reported, but do not differ")

		kept := must(New(Info{Lengths: NoLengths}, convertible(r, 4, false, true)))(t)
		four = written(t, kept)
		kept, _ = convertAgain(t, kept, gdwire.Godot3)
		_, back = convertAgain(t, kept, gdwire.Godot4)
		require.True(t, bytes.Equal(four, back), "%x", four)
	}
	for _, c := range slices.Concat(conversions, doubles) {
		require.True(t, c.lost == "" || lost[c.lost], c.lost)
	}
}
