package compare

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/variant"
)

// A generator makes random trees of values of all types.
type generator struct {
	*rand.Rand
	leaves []any
}

func newGenerator(t *testing.T, r *rand.Rand) *generator {
	g := &generator{r, []any{int64(1), int64(2), "text", strings.Repeat("long text ", 20), make([]byte, 9000), variant.NodePath("a/b:c")}}
	for packet := range gdwiretest.Packets(gdwire.Godot4) {
		var v any
		require.NoError(t, variant.Unmarshal(packet, &v))
		g.leaves = append(g.leaves, v)
	}
	return g
}

func (g *generator) tree(depth int) any {
	switch n := g.IntN(12); {
	case n < 4 && depth > 0:
		a := &variant.Array{}
		for range g.IntN(9) {
			a.Values = append(a.Values, g.tree(depth-1))
		}
		return a
	case n < 8 && depth > 0:
		d := &variant.Dictionary{}
		for range g.IntN(6) {
			key := g.leaves[g.IntN(len(g.leaves))]
			if g.IntN(2) > 0 {
				key = string(rune('a' + g.IntN(8)))
			}
			d.Set(key, g.tree(depth-1))
		}
		return d
	case n == 8 && depth > 0:
		return &variant.Object{Class: "Node", Properties: []variant.Property{{Name: "a", Value: g.tree(depth - 1)}, {Name: "b", Value: int64(g.IntN(3))}}}
	}
	return g.leaves[g.IntN(len(g.leaves))]
}

// changed returns a tree in which few values are others, have moved, or are gone.
func (g *generator) changed(v any) any {
	if g.IntN(60) == 0 {
		return g.tree(2)
	}
	switch v := v.(type) {
	case *variant.Array:
		if v.Elem != (gdwire.Elem{}) {
			return v
		}
		a := &variant.Array{}
		for _, value := range v.Values {
			if g.IntN(40) > 0 {
				a.Values = append(a.Values, g.changed(value))
			}
		}
		if n := len(a.Values); n > 0 && g.IntN(5) == 0 {
			i, j := g.IntN(n), g.IntN(n)
			one := a.Values[i]
			a.Values = slices.Insert(slices.Delete(a.Values, i, i+1), j, one)
		}
		return a
	case *variant.Dictionary:
		if v.Key != (gdwire.Elem{}) || v.Value != (gdwire.Elem{}) {
			return v
		}
		d := &variant.Dictionary{}
		for key, value := range v.All() {
			if g.IntN(40) > 0 {
				d.Set(key, g.changed(value))
			}
		}
		return d
	case *variant.Object:
		o := &variant.Object{Class: v.Class}
		for _, p := range v.Properties {
			o.Properties = append(o.Properties, variant.Property{Name: p.Name, Value: g.changed(p.Value)})
		}
		return o
	}
	return v
}

// fileOf returns a file of values.
func fileOf(t *testing.T, frame save.Frame, values ...any) *File {
	var all []byte
	for _, v := range values {
		b := testenv.Must(variant.Marshal(v))(t)
		if frame == save.U32 {
			all = binary.LittleEndian.AppendUint32(all, uint32(len(b)))
		}
		all = append(all, b...)
	}
	r := &save.Reading{Frame: frame, Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4, AllowObjects: true}}
	c := save.NewContent(bytes.NewReader(all), int64(len(all)), r)
	return &File{ReaderAt: c, Size: c.Size, Packets: Packets(c), Reading: r}
}

// TestOutlines: what large values have in common is no part of the trees, and the differences are the same.
func TestOutlines(t *testing.T) {
	defer func(value, part int64) { minOutlined, minPart = value, part }(minOutlined, minPart)
	pruned := 0
	for i := range testenv.Cases(300, 3000) {
		g := newGenerator(t, rand.New(rand.NewPCG(73, uint64(i))))
		before := []any{g.tree(6), g.tree(5)}
		after := []any{g.changed(before[0]), g.changed(before[1])}
		frame := []save.Frame{save.Bare, save.U32}[i%2]
		a, b := fileOf(t, frame, before...), fileOf(t, frame, after...)
		differences := func(least int64) (all []Difference) {
			minOutlined, minPart = least, []int64{1, 30, 128}[i%3]
			c := &Comparer{Show: (*File).Text, Differ: func(d *Difference) error {
				all = append(all, *d)
				return nil
			}}
			require.NoError(t, c.Compare(a, b))
			return all
		}
		want := differences(a.Size + b.Size)
		require.Equal(t, want, differences(0), "%d", i)
		if n := len(want); n > 0 {
			pruned++
		}
	}
	require.Greater(t, pruned, 30)
}

// TestDigests: values that differ, or are of other types, have other digests.
func TestDigests(t *testing.T) {
	seed, seen := maphash.MakeSeed(), map[uint64]any{}
	object := func(class, name string) any {
		return &variant.Object{Class: class, Properties: []variant.Property{{Name: name}}}
	}
	for _, v := range []any{
		nil, false, true, int64(0), int64(1), 0.5, 1.0, "", "a", "b", variant.StringName("a"), variant.RID(1), variant.RID(2), variant.ObjectID(1),
		variant.Signal{Name: "a", Object: 1}, variant.Signal{Name: "a", Object: 2}, variant.Vector2{X: 1}, variant.Vector2{Y: 1}, variant.Vector2i{X: 1},
		variant.NodePath("a/b"), variant.NodePath("/a/b"), variant.NodePath("a:b"), variant.NodePath("ab"), variant.NodePath("a/b:c"), variant.NodePath("a:b:c"),
		[]byte("a"), []byte("b"), []string{"ab", "c"}, []string{"a", "bc"}, []string{"abc"}, []float32{1, 2}, []float64{1, 2}, []int32{1, 2}, []int64{1, 2},
		&variant.Array{}, []any{nil}, []any{nil, nil}, []any{int64(1), int64(2)}, []any{int64(2), int64(1)}, []any{[]any{nil}}, &variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}},
		&variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeFloat}}, &variant.Dictionary{}, &variant.Dictionary{Key: gdwire.Elem{Type: gdwire.TypeInt}},
		&variant.Dictionary{Value: gdwire.Elem{Type: gdwire.TypeInt}}, map[string]int64{"a": 1}, map[string]int64{"b": 1}, map[string]int64{"a": 2},
		object("Node", "a"), object("Node", "b"), object("Node2D", "a"),
	} {
		f := fileOf(t, save.Bare, v)
		for p := range f.Packets {
			digest := testenv.Must(f.outline(p, seed))(t)[0].digest
			require.NotContains(t, seen, digest, "%v and %v", v, seen[digest])
			seen[digest] = v
		}
	}
	require.Greater(t, len(seen), 40)
}
