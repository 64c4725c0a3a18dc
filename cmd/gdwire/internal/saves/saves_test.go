package saves

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/variant"
)

// BenchmarkGet compares finding the last value of a large save with skipping all of it.
func BenchmarkGet(b *testing.B) {
	saved := testenv.Must(os.ReadFile("../../../../testdata/godot4.7-dev/save_game_large.bin"))(b)
	p, err := text.Parse("seed")
	require.NoError(b, err)
	b.Run("get", func(b *testing.B) {
		d := gdwire.NewDecoder(nil, nil)
		v := &valuePrinter{get: &get{path: p, json: &gdjson.Options{}}, Stdio: shell.Capture(io.Discard)}
		for b.Loop() {
			d.Reset(bytes.NewReader(saved))
			var tree text.Tree
			_, err := tree.Add(p, "")
			if err == nil {
				err = v.find(&save.Packet{Decoder: d}, &tree, &text.Nearest{})
			}
			if err != text.ErrFound {
				b.Fatal(err)
			}
		}
	})
	b.Run("skip", func(b *testing.B) {
		d := gdwire.NewDecoder(nil, nil)
		for b.Loop() {
			d.Reset(bytes.NewReader(saved))
			if err := d.SkipValue(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

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

// The page compares as diff does, and large files by position.
func TestCompareSources(t *testing.T) {
	sourcesOf := func(values ...any) (sources []*view.Source) {
		for _, value := range values {
			s := &view.Source{Store: save.InMemory(gdwiretest.Encode(t, value))}
			s.Format, s.Frame = gdwire.Godot4, save.Bare
			sources = append(sources, s)
		}
		return sources
	}
	list := []any{"a", 5, "b"}
	sources := sourcesOf([]any{1, list, 2}, []any{list[:1], 2})
	compare := func() (changes []view.Change, note string) {
		note = testenv.Must(Compare(t.Context(), sources[0], sources[1], func(c view.Change) bool {
			changes = append(changes, c)
			return true
		}))(t)
		return changes, note
	}
	inside, _ := compare()
	require.Equal(t, []view.Change{{Path: "$[0]", Old: "1"}, {Path: "$[1][1]", At: "$[0][1]", Old: "5"}, {Path: "$[1][2]", At: "$[0][2]", Old: `"b"`}}, inside)
	sources = sourcesOf([]any{1, "a", 2}, []any{"a", 3})
	aligned, note := compare()
	require.Equal(t, []view.Change{{Path: "$[0]", Old: "1"}, {Path: "$[1]", From: "$[2]", Old: "2", New: "3"}}, aligned)
	require.Empty(t, note)

	defer func(n int64) { maxAligned = n }(maxAligned)
	maxAligned = 1
	byPosition, note := compare()
	require.Equal(t, []view.Change{{Path: "$[0]", Old: "1", New: `"a"`}, {Path: "$[1]", Old: `"a"`, New: "3"}, {Path: "$[2]", Old: "2"}}, byPosition)
	require.Equal(t, "large files are compared by position", note)

	n := 0
	testenv.Must(Compare(t.Context(), sources[0], sources[1], func(view.Change) bool { n++; return false }))(t)
	require.Equal(t, 1, n)
}
