package gdjson

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStandardize(t *testing.T) {
	for _, c := range []struct {
		name    string
		text    string
		want    string
		lenient string // "" if it is the same
	}{
		{"JSON", `{"a": [1, -0.5e3, "b\n"]}`, `{"a": [1, -0.5e3, "b\n"]}`, ""},
		{"control characters", "[\"a\x01\nb\"]", `["a\u0001\u000ab"]`, ""},
		{"\\v", `["\v"]`, `["\u000b"]`, ""},
		{"escaped backslash", `["\\v"]`, `["\\v"]`, ""},
		{"last comma", `[1, ]`, `[1, ]`, `[1  ]`},
		{"last comma of an object", `{"a":1,}`, `{"a":1,}`, `{"a":1 }`},
		{"comma alone", `[,]`, `[,]`, ""},
		{"two commas", `[1,,]`, `[1,,]`, ""},
		{"control character between", "[\x01\v1]", "[\x01\v1]", "[  1]"},
		{"zeros", `[007, -01.50, 00]`, `[007, -01.50, 00]`, `[7, -1.50, 0]`},
		{"no fraction", `[1., 1.e5]`, `[1., 1.e5]`, `[1, 1e5]`},
		{"no digits", `[-]`, `[-]`, ""},
		{"no whole part", `[-.5]`, `[-.5]`, `[-0.5]`},
		{"string that does not end", `["a`, `["a`, ""},
		{"backslash at the end", `["a\`, `["a\`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.lenient == "" {
				c.lenient = c.want
			}
			got, _ := standardize([]byte(c.text), false)
			require.Equal(t, c.want, string(got))
			got, _ = standardize([]byte(c.text), true)
			require.Equal(t, c.lenient, string(got))
		})
	}
}

// Offsets of the standardized text are those of the text, less what was added before.
func TestFromStandard(t *testing.T) {
	text := "[\"\x01\", \"\\v\", 007, 5]"
	std, shifts := standardize([]byte(text), true)
	require.Equal(t, `["\u0001", "\u000b", 7, 5]`, string(std))
	for _, c := range []struct {
		name      string
		at, start int64 // in the standardized text, and in the text
	}{
		{"bracket", 0, 0},
		{"first string", 1, 1},
		{"second string", 11, 6},
		{"7", 21, 12},
		{"5", 24, 17},
		{"end", 25, 18},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.start, fromStandard(shifts, c.at)) })
	}
}
