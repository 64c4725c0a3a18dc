package interop

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
)

// TestTypedTags assigns containers with the declared types of tags to typed variables of the engine,
// which writes them as the same bytes.
func TestTypedTags(t *testing.T) {
	type record struct{ HP int }
	save := struct {
		Scores  []int64                     `gd:",type=Array[int]"`
		Speeds  []int                       `gd:",type=Array[float]"`
		Names   []string                    `gd:",type=Array[StringName]"`
		Points  []variant.Vector2           `gd:",type=Array[Vector2]"`
		Records []record                    `gd:",type=Array[Dictionary]"`
		Nodes   []variant.ObjectID          `gd:",type=Array[Node2D]"`
		Items   []*variant.Object           `gd:",type=Array['res://item.gd']"`
		Ids     map[string]int64            `gd:",type=Dictionary[StringName, int]"`
		Grid    map[variant.Vector2i]string `gd:",type=Dictionary[Vector2i, String]"`
	}{
		Scores: []int64{1, 1 << 40}, Speeds: []int{2}, Names: []string{"a", "é"}, Points: []variant.Vector2{{X: 1, Y: 2}},
		Records: []record{{5}, {6}}, Nodes: []variant.ObjectID{0}, Items: []*variant.Object{nil},
		Ids: map[string]int64{"a": 1, "b": 2}, Grid: map[variant.Vector2i]string{{X: 1, Y: 2}: "wall"},
	}
	b := gdwiretest.Encode(t, save)
	files := scripts(t, "typed.gd")
	files["item.gd"] = "extends Resource\n"
	out := must(browser.Run(t.Context(), Program{Files: files, Args: []string{hex.EncodeToString(b)}}))(t)
	require.Equal(t, hex.EncodeToString(b), out.Lines[len(out.Lines)-1], "%q", out.Lines)
}
