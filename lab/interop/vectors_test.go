package interop

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/suite"
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
