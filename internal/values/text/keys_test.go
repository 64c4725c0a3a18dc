package text

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// A key is a step of a path if it is short and of a type that paths have.
func TestKeyStep(t *testing.T) {
	longest := strings.Repeat("k", MaxKey)
	long := longest + "k"
	for _, row := range []struct {
		name string
		key  []byte
		want string // the step, or "" if the key is too long or of another type
	}{
		{"String", encode(4, "name"), ".name"},
		{"String with a space", encode(4, "a name"), `["a name"]`},
		{"StringName", encode(21, "name"), `[&"name"]`},
		{"int", encode(2, 7), "[7]"},
		{"Vector2i", encode(6, 1, 2), "[Vector2i(1, 2)]"},
		{"NodePath", encode(22, uint32(0x80000001), 1, 1, "a", "b"), `[^"/a:b"]`},
		{"empty absolute NodePath", encode(22, uint32(0x80000000), 0, 1), `[^"/"]`},
		{"NodePath with a separator in a name", encode(22, uint32(0x80000001), 0, 1, "a/b"), ""},
		{"NodePath with a separator in a sub-name", encode(22, uint32(0x80000001), 2, 0, "a", "b:c", "d"), ""},
		{"NodePath with a slash in a sub-name", encode(22, uint32(0x80000001), 1, 0, "a", "b/c"), `[^"a:b/c"]`},
		{"NodePath with an empty name", encode(22, uint32(0x80000001), 0, 1, ""), ""},
		{"longest String", encode(4, longest), "." + longest},
		{"longest NodePath", encode(22, uint32(0x80000001), 0, 0, longest), `[^"` + longest + `"]`},
		{"long String", encode(4, long), ""},
		{"long NodePath", encode(22, uint32(0x80000001), 0, 0, long), ""},
		{"Array", encode(28, 0), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := gdwire.NewDecoder(nil, nil)
			defer d.Release()
			d.ResetBytes(row.key)
			tok := testenv.Must(d.ReadToken())(t)
			called := false
			step, ok, err := KeyStep(d, tok, make([]float64, 0, 16), func(*NodePathReader, []byte) error {
				called = true
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, row.want != "", ok)
			require.Equal(t, !ok, called)
			if ok {
				require.Equal(t, row.want, string(step.Append(nil)))
			}
		})
	}
}

// Two keys of a Dictionary that differ have different paths.
func TestNodePathKeysDiffer(t *testing.T) {
	seen := map[string][]byte{}
	names := []string{"", "a", "b", "a/b", "a:b", "/", ":"}
	for flags := range 2 {
		for _, a := range names {
			for _, b := range names {
				for subnames := range 3 {
					key := encode(22, uint32(0x80000000)|uint32(2-subnames), subnames, flags, a, b)
					d := gdwire.NewDecoder(nil, nil)
					d.ResetBytes(key)
					step, ok, err := KeyStep(d, testenv.Must(d.ReadToken())(t), nil, func(*NodePathReader, []byte) error { return nil })
					require.NoError(t, err)
					if ok {
						text := string(step.Append(nil))
						require.Nil(t, seen[text], text)
						seen[text] = key
					}
					d.Release()
				}
			}
		}
	}
	require.Greater(t, len(seen), 20)
}

// Two float keys that differ have different paths. Keys of 32 and of 64 bits with the same
// value do not differ.
func TestFloatKeysDiffer(t *testing.T) {
	seen := map[string]float64{}
	add := func(key []byte) {
		d := gdwire.NewDecoder(nil, nil)
		defer d.Release()
		d.ResetBytes(key)
		tok := testenv.Must(d.ReadToken())(t)
		long := false
		step, ok, err := KeyStep(d, tok, nil, func(*NodePathReader, []byte) error {
			long = true
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, !ok, long)
		if !ok {
			require.True(t, tok.Float() != tok.Float())
			return
		}
		text := string(step.Append(nil))
		other, found := seen[text]
		require.True(t, !found || math.Float64bits(other) == math.Float64bits(tok.Float()), "%s is %x and %x", text, other, tok.Float())
		seen[text] = tok.Float()
		p := testenv.Must(Parse("$" + text))(t)
		require.Equal(t, math.Float64bits(tok.Float()), math.Float64bits(p.Steps[0].Key.Numbers[0]), text)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, x := range []float64{0, math.Copysign(0, -1), 1, 0.1, 1e15, 1e16, 1e21, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, x := range []float64{x, math.Nextafter(x, 2), math.Nextafter(x, -2)} {
			add(binary.LittleEndian.AppendUint64(encode(0x10003), math.Float64bits(x)))
			add(binary.LittleEndian.AppendUint32(encode(3), math.Float32bits(float32(x))))
		}
	}
	for range 1000 {
		add(binary.LittleEndian.AppendUint64(encode(0x10003), r.Uint64()))
		add(binary.LittleEndian.AppendUint32(encode(3), r.Uint32()))
		add(binary.LittleEndian.AppendUint64(encode(0x10003), 0x7FF8<<48|r.Uint64N(3))) // NaN
		add(binary.LittleEndian.AppendUint32(encode(3), 0x7FC0<<16|r.Uint32N(3)))
	}
	require.Contains(t, seen, "[nan]")
}

// encode encodes its parts: a number as 32 bits, and a string as length, text and padding.
func encode(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = binary.LittleEndian.AppendUint32(b, uint32(p))
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, p)
		case string:
			b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
			b = append(b, p...)
			for len(b)%4 != 0 {
				b = append(b, 0)
			}
		}
	}
	return b
}

func treeOf(t *testing.T, all ...string) *Tree {
	tree := &Tree{}
	for _, text := range all {
		testenv.Must(tree.Add(testenv.Must(Parse(text))(t), ""))(t)
	}
	return tree
}

// Paths with the same start share their nodes, and those of other packets have none.
func TestTree(t *testing.T) {
	tree := treeOf(t, "$.a.b", "$.a[1]", "$1.c", `$["a cut…"]`, "l[+]", "l[+]")
	root := tree.Root(0)
	require.Equal(t, "$", root.String())
	require.Len(t, slices.Collect(root.Inner), 3)
	a := root.child([]byte(".a"))
	require.False(t, a.IsTarget())
	require.Len(t, slices.Collect(a.Inner), 2)
	require.Equal(t, "$.a.b", a.child([]byte(".b")).String())
	require.True(t, a.child([]byte("[1]")).IsTarget())
	require.True(t, tree.HasCut())
	require.Len(t, slices.Collect(root.child([]byte(".l")).Inner), 2)
	require.Equal(t, "$.l[+]", tree.Targets[5].String())
	require.Equal(t, Step{Op: End}, tree.Targets[5].Step())
	require.Equal(t, 5, tree.Targets[5].Number())
	require.Nil(t, tree.Root(2))

	_, err := tree.Add(testenv.Must(Parse(".a.b"))(t), "")
	require.EqualError(t, err, "$.a.b occurs twice")
}

// A container finds each of its nodes, few or many, also after one was renamed.
func TestPlacesOfContainer(t *testing.T) {
	for _, n := range []int{1, 2, maxUnindexed, maxUnindexed + 1, 100} {
		paths := make([]string, n)
		for i := range paths {
			paths[i] = fmt.Sprintf("$.k%d", i)
		}
		tree := treeOf(t, paths...)
		root := tree.Root(0)
		root.rename(root.child([]byte(".k0")), ".new")
		require.Nil(t, root.child([]byte(".k0")))
		paths[0] = "$.new"
		for i, p := range paths {
			require.Equal(t, tree.Targets[i], root.child([]byte(p[1:])))
			require.Equal(t, p, tree.Targets[i].String())
		}
		require.ElementsMatch(t, tree.Targets, slices.Collect(root.Inner))
	}
}

// Exchanged letters are one mistake.
func TestSimilar(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want bool
	}{{"glod", "gold", true}, {"fromat", "format", true}, {"falt", "flat", true}, {"ab", "ba", false}, {"gold", "old", true}, {"gold", "god", true}, {"gold", "silver", false}, {"Zoë1", "zeö1", false}} {
		require.Equal(t, row.want, Similar(row.a, row.b), row)
	}
}

func TestNearest(t *testing.T) {
	longest := strings.Repeat("k", nearKey)
	for _, row := range []struct{ path, key, want string }{
		{"hpp", "hp", "there is no $.hpp; did you mean hp?"},
		{"a.b", "a.b", `there is no $.a.b; did you mean '$["a.b"]'?`},
		{"a.b.c", "a.b", `there is no $.a.b.c; did you mean '$["a.b"]'?`},
		{"HP", "hp", "there is no $.HP; did you mean hp?"},
		{"plyer.hp", "player", "there is no $.plyer.hp; did you mean '$.player'?"},
		{"hpp", "a b", "there is no $.hpp"},
		{"inventory", "inventroy", "there is no $.inventory; did you mean inventroy?"},
		{"position", "rotation", "there is no $.position"},
		{"x", "y", "there is no $.x"},
		{`["two word"]`, "two words", `there is no $["two word"]; did you mean '$["two words"]'?`},
		{"[7]", "8", "there is no $[7]"},
		{longest[1:] + "x", longest, "there is no $." + longest[1:] + "x; did you mean " + longest + "?"},
		{longest, longest + "k", "there is no $." + longest},
		{longest + "k", longest, "there is no $." + longest + "k"},
	} {
		t.Run(row.path, func(t *testing.T) {
			tree := treeOf(t, row.path)
			root := tree.Root(0)
			root.Hits = 1
			var n Nearest
			step := Step{Key: Value{Type: gdwire.TypeString, Text: row.key}}
			require.Nil(t, n.Key(root, &step))
			require.EqualError(t, n.NotFound(tree.Targets[0]), row.want)
		})
	}
}

func TestDistance(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"hp", "hp", 0}, {"hp", "HP", 0}, {"hp", "mp", 1}, {"hp", "h", 1}, {"kitten", "sitting", 3}, {"é", "e", 1}, {"abc", "", 3}} {
		require.Equal(t, row.want, distance(row.a, row.b, 9))
		require.Equal(t, row.want, distance(row.b, row.a, 9))
	}
	require.Equal(t, 3, distance("abcdef", "a", 2))
}
