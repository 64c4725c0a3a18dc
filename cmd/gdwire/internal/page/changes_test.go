package page

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/values/save"
)

// The page compares as diff does, and large files by position.
func TestCompareSources(t *testing.T) {
	sourcesOf := func(values ...any) (sources []*Source) {
		for _, value := range values {
			s := &Source{Store: save.InMemory(gdwiretest.Encode(t, value))}
			s.Format, s.Frame = gdwire.Godot4, save.Bare
			sources = append(sources, s)
		}
		return sources
	}
	list := []any{"a", 5, "b"}
	sources := sourcesOf([]any{1, list, 2}, []any{list[:1], 2})
	compare := func() (changes []Change, note string) {
		note = must(compareSources(t.Context(), sources[0], sources[1], func(c Change) bool {
			changes = append(changes, c)
			return true
		}))(t)
		return changes, note
	}
	inside, _ := compare()
	require.Equal(t, []Change{{Path: "$[0]", Old: "1"}, {Path: "$[1][1]", At: "$[0][1]", Old: "5"}, {Path: "$[1][2]", At: "$[0][2]", Old: `"b"`}}, inside)
	sources = sourcesOf([]any{1, "a", 2}, []any{"a", 3})
	aligned, note := compare()
	require.Equal(t, []Change{{Path: "$[0]", Old: "1"}, {Path: "$[1]", From: "$[2]", Old: "2", New: "3"}}, aligned)
	require.Empty(t, note)

	defer func(n int64) { maxAligned = n }(maxAligned)
	maxAligned = 1
	byPosition, note := compare()
	require.Equal(t, []Change{{Path: "$[0]", Old: "1", New: `"a"`}, {Path: "$[1]", Old: `"a"`, New: "3"}, {Path: "$[2]", Old: "2"}}, byPosition)
	require.Equal(t, "large files are compared by position", note)

	n := 0
	must(compareSources(t.Context(), sources[0], sources[1], func(Change) bool { n++; return false }))(t)
	require.Equal(t, 1, n)
}
