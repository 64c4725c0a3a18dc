package enginejson

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzScan of gdjson compares Standard with an independent conversion.
func TestStandard(t *testing.T) {
	for _, c := range []struct{ text, want, lenient string }{
		{`{"a": [1, -0.5e3, "b\n", "\\v"]}`, `{"a": [1, -0.5e3, "b\n", "\\v"]}`, `{"a": [1, -0.5e3, "b\n", "\\v"]}`},
		{"[\"a\x01\nb\\v\"]", `["a  b\t"]`, `["a  b\t"]`},
		{"[1,\x01]", "[1,\x01]", "[1  ]"},
		{`[007, -01.50, 1., -.5e5, "00"]`, `[007, -01.50, 1., -.5e5, "00"]`, `[111, -11111, 11, -11e5, "00"]`},
		{`[,] [1,,] [-] [1..5]`, `[,] [1,,] [-] [1..5]`, `[,] [1,,] [-] [1..5]`},
		{`["a\`, `["a\`, `["a\`},
	} {
		text := []byte(c.text)
		require.Equal(t, c.want, string(Standard(text, false)))
		require.Equal(t, c.lenient, string(Standard(text, true)))
		require.Equal(t, c.text, string(text), "the text stays")
	}
}

func TestStandardNumber(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "-0", "00": "0", "-00": "-0", "007": "7", "-01.50": "-1.50", "1.": "1", "1.e5": "1e5", "-.5": "-0.5", "-.5e-3": "-0.5e-3",
		"0.5": "0.5", "00.5": "0.5", "10": "10", "0e5": "0e5", "00e5": "0e5", "-": "-", "true": "true", "1.50": "1.50",
	} {
		_, got := StandardNumber(nil, []byte(text))
		require.Equal(t, want, string(got), text)
	}
}
