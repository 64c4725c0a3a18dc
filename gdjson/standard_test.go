package gdjson

import (
	"bytes"
	"regexp"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// A shift says that the bytes after offset at of a text are grown bytes further on in
// the standardized text.
type shift struct {
	at, grown int64
}

// A standardizer converts a text to standard JSON, of another length. It is the reference for
// scan and standardJSON.
type standardizer struct {
	text   []byte
	std    []byte // text[:done], converted
	done   int
	shifts []shift
}

// standardize converts the JSON that the engine writes, and if lenient is set the JSON
// that it reads, to standard JSON. It returns text itself if there is nothing to
// convert. Text that is not JSON either way stays so.
func standardize(text []byte, lenient bool) (std []byte, shifts []shift) {
	s := standardizer{text: text}
	last := byte(0) // the latest byte that is not white space
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			i = s.string(i + 1)
		case !lenient:
		case c < ' ' && c != '\t' && c != '\n' && c != '\r':
			s.replace(i, i+1, " ")
		case c == ',':
			next := skipSpace(text, i+1)
			if next < len(text) && (text[next] == ']' || text[next] == '}') && last != '[' && last != '{' && last != ',' {
				s.replace(i, i+1, " ")
			}
		case c == '-' || '0' <= c && c <= '9':
			i = s.number(i)
		}
		if i < len(text) && text[i] > ' ' {
			last = text[i]
		}
	}
	if s.std == nil {
		return text, nil
	}
	return append(s.std, text[s.done:]...), s.shifts
}

// replace replaces text[from:to].
func (s *standardizer) replace(from, to int, by string) {
	s.std = append(append(s.std, s.text[s.done:from]...), by...)
	s.done = to
	if grown := int64(len(s.std) - to); len(s.shifts) == 0 && grown != 0 || len(s.shifts) > 0 && grown != s.shifts[len(s.shifts)-1].grown {
		s.shifts = append(s.shifts, shift{int64(to - 1), grown})
	}
}

// string converts the string whose content begins at i, and returns the offset of its
// end.
func (s *standardizer) string(i int) int {
	const hex = "0123456789abcdef"
	for ; i < len(s.text) && s.text[i] != '"'; i++ {
		c, from := s.text[i], i
		if c == '\\' {
			if i++; i == len(s.text) || s.text[i] != 'v' {
				continue
			}
			c = '\v'
		}
		if c < ' ' {
			s.replace(from, i+1, `\u00`+hex[c>>4:c>>4+1]+hex[c&15:c&15+1])
		}
	}
	return i
}

// number converts the number that begins at i, but for its exponent, and returns the
// offset of its last byte.
func (s *standardizer) number(i int) int {
	start := i
	if s.text[i] == '-' {
		i++
	}
	point := digits(s.text, i)
	whole, end := s.text[i:point], point
	var fraction []byte
	if point < len(s.text) && s.text[point] == '.' {
		end = digits(s.text, point+1)
		fraction = s.text[point+1 : end]
	}
	switch {
	case len(whole)+len(fraction) == 0:
		return start
	case end < len(s.text) && s.text[end] == '.':
		return end
	}
	std := append([]byte(nil), s.text[start:i]...)
	if whole = bytes.TrimLeft(whole, "0"); len(whole) == 0 {
		whole = []byte("0")
	}
	std = append(std, whole...)
	if len(fraction) > 0 {
		std = append(append(std, '.'), fraction...)
	}
	if !bytes.Equal(std, s.text[start:end]) {
		s.replace(start, end, string(std))
	}
	return end + len(exponent.Find(s.text[end:])) - 1
}

var exponent = regexp.MustCompile(`^[eE][+-]?[0-9]*`)

// fromStandard returns the offset in the text of an offset in the standardized text.
func fromStandard(shifts []shift, offset int64) int64 {
	for _, s := range slices.Backward(shifts) {
		if s.at+s.grown < offset {
			return offset - s.grown
		}
	}
	return offset
}

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
			for _, lenient := range []bool{false, true} {
				checkSameLength(t, []byte(c.text), lenient)
			}
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

// checkSameLength checks that standardJSON returns text that is valid if the standardized text
// is, and otherwise invalid at the same offset.
func checkSameLength(t *testing.T, text []byte, lenient bool) {
	std, shifts := standardize(text, lenient)
	same := standardJSON(text, lenient)
	require.Len(t, same, len(text))
	offset := func(text []byte) int64 {
		d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
		for {
			if _, err := d.ReadToken(); err != nil {
				if s, ok := err.(*jsontext.SyntacticError); ok {
					return s.ByteOffset
				}
				return -1 // no value, or one
			}
		}
	}
	require.Equal(t, fromStandard(shifts, offset(std)), offset(same), "%q, %q, %q", text, std, same)
}

// FuzzScan compares standardJSON with an independent conversion.
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
		require.Equal(t, c.want, string(standardJSON(text, false)))
		require.Equal(t, c.lenient, string(standardJSON(text, true)))
		require.Equal(t, c.text, string(text), "the text stays")
	}
}

func TestStandardNumber(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "-0", "00": "0", "-00": "-0", "007": "7", "-01.50": "-1.50", "1.": "1", "1.e5": "1e5", "-.5": "-0.5", "-.5e-3": "-0.5e-3",
		"0.5": "0.5", "00.5": "0.5", "10": "10", "0e5": "0e5", "00e5": "0e5", "-": "-", "true": "true", "1.50": "1.50",
	} {
		_, got := standardNumber(nil, []byte(text))
		require.Equal(t, want, string(got), text)
	}
}
