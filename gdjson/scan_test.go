package gdjson

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// texts contains edge cases of JSON, valid and invalid.
var texts = []string{
	``, ` `, `n`, `nul`, `null`, `nulll`, ` true `, `false,`, `[]`, `[`, `]`, `{}`, `{`, `}`, `[}`, `{]`, `[,]`, `[1,]`, `[1 2]`, `{,}`,
	`{"a"}`, `{"a":}`, `{"a":1,}`, `{"a" : 1 , "b":[ ]}`, `{1:2}`, `{"a":1 "b":2}`, `{"a":{"b":[[],{}]}}`, `[[]`, `[]]`, "\u00a0null", "\fnull",
	`""`, `"`, `"\`, `"\"`, `"\\"`, `"\x"`, `"\u0041"`, `"\u00e9\uABCD"`, `"\u004"`, `"\u00g1"`, `"\u001 "`, "\"\\u\x10\x11\x12\x13\"",
	`"\ud800"`, `"\ud83d\ude00"`, `"\ud83d\ud83d"`, `"\ude00"`, `"\ud83dxxxxxx"`, `"\ud83d\n"`, `"\ud83d`,
	"\"\x1f\"", "\"a\x01\x02b\n\"", `"\v\v"`, "\"\\v\x00\\\\v\"", "[\"\x01\",\x01]", "{\"\x01\":[1,\"\t\"]}", "\"\\\x01\"", "\"\x7f\"", "\"é\"", "\"\xff\"", "\"12345678\xff\"", "\"12345678\xc3", "\"\xed\xa0\x80\"",
	`"1234567"`, `"12345678"`, `"1234567\""`, `"12345678\n90"`, "\"1234567\n\"", `0`, `-0`, `00`, `01`, `-`, `1.`, `.1`, `1.5`, `-.5`, `-.`, `1..5`, `0.0.`, `1.2.3.4`, `01.5.5`, `-.e5`, `-01.50e5`, `1.e5`, `00`, `-00.`, `.`, `0.`, "[1,\t]", `[1,,]`, `{"a":1,}`, `[,1]`, `[1,}`, "[\x011\x02,\x03]", "{\x01\"a\"\x02:\x031}", `1e`, `1e+`, `1E-5`, `1e5x`, `+1`,
	strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
}

// FuzzScan: scan accepts the texts that jsontext accepts once they are standardized, and its
// nodes are the objects and arrays that jsontext's tokens begin and end.
func FuzzScan(f *testing.F) {
	for _, s := range texts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkScan(t, b) })
}

func checkScan(t *testing.T, b []byte) {
	for _, lenient := range []bool{false, true} {
		checkScanAs(t, b, lenient)
		checkSameLength(t, b, lenient)
	}
}

func checkScanAs(t *testing.T, b []byte, lenient bool) {
	std, shifts := standardize(b, lenient)
	d := jsontext.NewDecoder(bytes.NewBuffer(bytes.Clone(std)), jsontext.AllowDuplicateNames(true))
	var nodes []node
	var open []int
	var err error
	pointers := map[int64]string{} // of values and names, by offset
	for values := 0; ; {
		var tok jsontext.Token
		start := d.InputOffset()
		for start < int64(len(std)) && (std[start] == ',' || std[start] == ':' || std[start] <= ' ') {
			start++
		}
		if tok, err = d.ReadToken(); err != nil {
			if err == io.EOF && values == 1 {
				err = nil
			}
			break
		}
		if k := tok.Kind(); k != '}' && k != ']' && len(open) < 10 {
			pointers[fromStandard(shifts, start)] = string(d.StackPointer())
		}
		switch tok.Kind() {
		case '{', '[':
			open = append(open, len(nodes))
			nodes = append(nodes, node{})
		case '}', ']':
			n := &nodes[open[len(open)-1]]
			n.end, n.next = uint32(fromStandard(shifts, d.InputOffset())), uint32(len(nodes))
			open = open[:len(open)-1]
		}
		if k, n := d.StackIndex(d.StackDepth()); len(open) > 0 {
			if k == '{' {
				n = (n + 1) / 2
			}
			nodes[open[len(open)-1]].count = uint32(n)
		}
		if d.StackDepth() == 0 {
			values++
		}
	}
	scanned := text{json: b, lenient: lenient}
	require.Equal(t, err == nil, scanned.scan(), "%q: %v", b, err)
	if err != nil {
		return
	}
	require.Equal(t, []string{trimmed(b, lenient)}, split(t, b, lenient, whole))
	require.Equal(t, len(nodes), len(scanned.nodes))
	for i := range nodes {
		require.Equal(t, nodes[i], scanned.nodes[i], "%q", b)
	}
	for offset, want := range pointers {
		require.Equal(t, want, scanned.pointer(offset), "%q", b)
	}
}

func TestJSONScan(t *testing.T) {
	for _, s := range texts {
		checkScan(t, []byte(s))
		for _, before := range []string{`[`, `["k",`, `{"k":`, ` {"k":1,"l":[],"m": `} {
			for _, after := range []string{`]`, `}`, `,1]`, `,"n":1}`, ` ] `, ` } `, ``} {
				checkScan(t, []byte(before+s+after))
			}
		}
	}
}

func TestAppendUnquoted(t *testing.T) {
	for text, want := range map[string]string{
		``: "", `abc`: "abc", `\"\\\/\b\f\n\r\t\v`: "\"\\/\b\f\n\r\t\v", `a\u0041\u00e9\uABCDz`: "aA\u00e9\uABCDz", `\ud83d\ude00!`: "\U0001F600!",
	} {
		require.Equal(t, "x"+want, string(appendUnquoted([]byte("x"), []byte(text))))
	}
}

// TestParseShort compares parseShort with strconv.
func TestParseShort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"0", "-0", "0.0", "-0.0", "999999999999999", "1000000000000000", "0.000000000000001", "0.00000000000001", "123456789012345.6", "1e5", "-1.5E3"}
	for range 100_000 {
		x := float64(r.Int64N(1<<r.IntN(60)+1)) / math.Pow10(r.IntN(17)) * float64(1-2*r.IntN(2))
		texts = append(texts, strconv.FormatFloat(x, 'f', -1, 64))
	}
	short := 0
	for _, s := range texts {
		want := testenv.Must(strconv.ParseFloat(s, 64))(t)
		if x, ok := parseShort([]byte(s)); ok {
			short++
			require.Equal(t, math.Float64bits(want), math.Float64bits(x), s)
		}
		require.Equal(t, math.Float64bits(want), math.Float64bits(testenv.Must(parseReal([]byte(s)))(t)), s)
	}
	require.Greater(t, short, 50_000)
}
