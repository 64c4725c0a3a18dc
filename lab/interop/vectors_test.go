package interop

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdscript"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/suite"
	"github.com/gdwire/gdwire/variant"
)

// TestVectors: the engine answers the packets of spec/vectors as it is said to. Ids and padding differ
// in each run, so of what it writes only the length is compared.
func TestVectors(t *testing.T) {
	script := must(os.ReadFile("../../spec/others/godot4.gd"))(t)
	packets := must(suite.Packets())(t)
	packets = slices.DeleteFunc(packets, func(p suite.Packet) bool {
		_, known := p.Engines["4.6"]
		return !known
	})
	require.Greater(t, len(packets), 500)
	var lines strings.Builder
	for _, p := range packets {
		lines.WriteString(hex.EncodeToString(p.Hex) + "\n")
	}
	out, err := browser.Run(t.Context(), Program{Files: map[string]string{"main.gd": string(script), "lines": lines.String()}, Args: []string{"judge"}})
	require.NoError(t, err)
	answers := slices.DeleteFunc(out.Lines, func(line string) bool { return !strings.HasPrefix(line, "{") })
	require.Len(t, answers, len(packets))
	for i, p := range packets {
		var got suite.Answer
		require.NoError(t, json.Unmarshal([]byte(answers[i]), &got))
		want := p.Engines["4.6"]
		require.Equal(t, want.Accept, got.Accept, p.ID)
		require.Equal(t, want.Size, got.Size, p.ID)
		require.Len(t, got.Reencoded, len(want.Reencoded), p.ID)
	}
}

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

// TestGDScript lets the engine read packets by a script of package gdscript: a valid one, one that is nested too deeply, and
// values of all types in each key. It refuses them, or writes what Unmarshal accepts.
func TestGDScript(t *testing.T) {
	type Item struct {
		Name string `gd:",required"`
		Tags []string
	}
	type Packet struct {
		HP     int
		Pos    variant.Vector2
		Item   Item `gd:",omitzero"`
		Items  []Item
		ByName map[string]*Item
		Grid   [2][]float64
		Next   *Packet `gd:",omitzero"`
		Any    any
	}
	var script bytes.Buffer
	require.NoError(t, gdscript.Write(&script, Packet{}))
	valid := Packet{HP: -1, Pos: variant.Vector2{X: 1}, Items: []Item{{"a", nil}, {"b", []string{"c"}}}, ByName: map[string]*Item{"n": nil, "i": {Name: "é"}}, Next: &Packet{Any: "x"}}
	var deep Packet
	for range 90 {
		deep = Packet{Next: &Packet{Next: deep.Next}}
	}
	packets := [][]byte{gdwiretest.Encode(t, valid), gdwiretest.Encode(t, deep)}
	for packet := range gdwiretest.Packets(gdwire.Godot4) {
		for key := range strings.FieldsSeq("hp pos item items by_name grid next any") {
			packets = append(packets, gdwiretest.Encode(t, map[string]any{key: variant.Raw{Data: packet}}))
		}
	}
	files := scripts(t, "gdscript.gd")
	files["messages.gd"], files[classCache] = script.String(), noClasses
	all := &variant.Array{}
	for _, p := range packets {
		all.Values = append(all.Values, p)
	}
	out := must(browser.Run(t.Context(), Program{Files: files, Args: []string{hex.EncodeToString(gdwiretest.Encode(t, all))}}))(t)
	for _, err := range out.Errors { // the engine would write the id of this object, and not the one that was read
		require.Regexp(t, `Packet\.any: <EncodedObjectAsID#-?\d+> is no message|^ *at: push_error`, err)
	}
	lines := out.Lines[len(out.Lines)-len(packets):]
	require.Equal(t, strings.Repeat(".next", 21)+": nested too deeply", lines[1])
	accepted := 0
	for i, line := range lines {
		if b, err := hex.DecodeString(line); err == nil {
			accepted++
			var p Packet
			require.NoError(t, variant.Unmarshal(b, &p), "%x", packets[i])
			if i == 0 {
				require.Equal(t, packets[0], gdwiretest.Encode(t, p))
			}
		} else {
			require.Regexp(t, `^\.\w+.*: .+`, line)
		}
	}
	require.Greater(t, accepted, len(packets)/8)
}
