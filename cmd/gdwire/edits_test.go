package main

import (
	"testing"

	"github.com/gdwire/gdwire/internal/paths"
	"github.com/stretchr/testify/require"
)

func editsOf(t *testing.T, lines ...string) (all []edit) {
	for _, line := range lines {
		p, err := paths.Parse(line)
		require.NoError(t, err)
		all = append(all, edit{path: p})
	}
	return all
}

// Paths with the same start share their places, and those of other packets have none.
func TestPlaces(t *testing.T) {
	root, err := places(editsOf(t, "$.a.b", "$.a[1]", "$1.c", `$["a cut…"]`), 0)
	require.NoError(t, err)
	require.Equal(t, "$", root.path)
	require.Len(t, root.inner, 2)
	a := root.inner[".a"]
	require.Nil(t, a.edit)
	require.Len(t, a.inner, 2)
	require.Equal(t, "$.a.b", a.inner[".b"].path)
	require.NotNil(t, a.inner["[1]"].edit)
	require.Len(t, root.cut, 1)
	require.Equal(t, "a cut", root.cut[0].prefix)

	_, err = places(editsOf(t, "$.a", ".a"), 0)
	require.EqualError(t, err, "$.a is set twice")
}

func TestMissing(t *testing.T) {
	root, err := places(editsOf(t, "$.a.b"), 0)
	require.NoError(t, err)
	require.Equal(t, "$.a.b", root.missing().path)
	root.inner[".a"].inner[".b"].hits = 1
	require.Nil(t, root.missing())
}
