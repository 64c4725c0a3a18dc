package saves

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// randomTree returns a tree with keys in order, some of which are missing.
func randomTree(r *rand.Rand, depth int) any {
	switch n := r.IntN(12); {
	case n < 4 && depth > 0:
		a := &variant.Array{}
		for range r.IntN(5) {
			a.Values = append(a.Values, randomTree(r, depth-1))
		}
		return a
	case n < 8 && depth > 0:
		d := new(variant.Dictionary)
		for i := range 5 {
			if r.IntN(4) > 0 {
				d.Set([]any{fmt.Sprint("key", i), i, variant.Vector2{X: float64(i)}, []any{i}, variant.NodePath(fmt.Sprint("a/", i))}[r.IntN(5)], randomTree(r, depth-1))
			}
		}
		return d
	case n == 8 && depth > 0:
		return &variant.Object{Class: "Node", Properties: []variant.Property{{Name: "a", Value: randomTree(r, depth-1)}, {Name: "b", Value: r.IntN(3)}}}
	}
	return []any{nil, r.IntN(3), 0.5, true, "text", variant.StringName("name"), variant.NodePath("a/b:c"), variant.Vector3{Y: 1}, []int64{1, 2}, []string{"a", "b"}, bytes.Repeat([]byte{1}, 9000), variant.RID(7)}[r.IntN(12)]
}

// changed returns a tree in which few values are others.
func changed(r *rand.Rand, v any) any {
	if r.IntN(40) == 0 {
		return randomTree(r, 2)
	}
	switch v := v.(type) {
	case int:
		return v + r.IntN(10)/9
	case *variant.Array:
		a := &variant.Array{}
		for _, one := range v.Values {
			a.Values = append(a.Values, changed(r, one))
		}
		return a
	case *variant.Dictionary:
		d := new(variant.Dictionary)
		for key, one := range v.All() {
			if r.IntN(40) > 0 {
				d.Set(key, changed(r, one))
			}
		}
		return d
	}
	return v
}

// TestEqualSpans compares random trees leaf by leaf: without the equal parts, the result is the same.
func TestEqualSpans(t *testing.T) {
	spans := 0
	for i := range testenv.Cases(200, 5000) {
		r := rand.New(rand.NewPCG(61, uint64(i)))
		frame := []save.Frame{save.Bare, save.U32}[i%2]
		var files [2]bytes.Buffer
		for range 1 + i%2*2 {
			v := randomTree(r, 5)
			for j, v := range []any{v, changed(r, v)} {
				b := testenv.Must(variant.Marshal(v))(t)
				if frame == save.U32 {
					files[j].Write(binary.LittleEndian.AppendUint32(nil, uint32(len(b))))
				}
				files[j].Write(b)
			}
		}
		var sides [2]*side
		for j := range files {
			b := files[j].Bytes()
			sides[j] = &side{r: bytes.NewReader(b), size: int64(len(b)), reading: save.Reading{Frame: frame, MaxPacket: math.MaxUint32, Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4, AllowObjects: true}}}
		}
		compare := func() (all []string) {
			c := comparer{leaf: func(old, value *leaf) error {
				change := ""
				for _, l := range []*leaf{old, value} {
					if l != nil {
						change += fmt.Sprintf("%s = %.20s", l.path, l.text)
					}
					change += "; "
				}
				all = append(all, change)
				return nil
			}}
			require.NoError(t, c.leaves(sides[0], sides[1], 0))
			slices.Sort(all) // the order can be another if keys are missing
			return all
		}
		want := compare()
		sides[0].equal, sides[1].equal = equalSpans(sides[0], sides[1], 0)
		require.Equal(t, want, compare(), "%d", i)
		spans += len(sides[0].equal)
	}
	require.Greater(t, spans, 100)
}
