package interop

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdscript"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
)

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
	require.Empty(t, out.Errors)
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
