package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

func treeOf(t *testing.T, all ...string) *Tree {
	tree := &Tree{}
	for _, text := range all {
		p := testenv.Must(Parse(text))(t)
		_, err := tree.Add(p, "")
		require.NoError(t, err)
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

	p := testenv.Must(Parse(".a.b"))(t)
	_, err := tree.Add(p, "")
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
		{"a.b", "a.b", `there is no $.a.b; did you mean $["a.b"]?`},
		{"a.b.c", "a.b", `there is no $.a.b.c; did you mean $["a.b"]?`},
		{"HP", "hp", "there is no $.HP; did you mean hp?"},
		{"plyer.hp", "player", "there is no $.plyer.hp; did you mean $.player?"},
		{"hpp", "a b", "there is no $.hpp"},
		{"inventory", "inventroy", "there is no $.inventory; did you mean inventroy?"},
		{"position", "rotation", "there is no $.position"},
		{"x", "y", "there is no $.x"},
		{`["two word"]`, "two words", `there is no $["two word"]; did you mean $["two words"]?`},
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
			step := Step{Key: Value{Type: 4, Text: row.key}}
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
