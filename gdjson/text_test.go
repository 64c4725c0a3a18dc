package gdjson

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// texts are at the edges of JSON.
var texts = []string{
	``, ` `, `n`, `nul`, `null`, `nulll`, ` true `, `false,`, `[]`, `[`, `]`, `{}`, `{`, `}`, `[}`, `{]`, `[,]`, `[1,]`, `[1 2]`, `{,}`,
	`{"a"}`, `{"a":}`, `{"a":1,}`, `{"a" : 1 , "b":[ ]}`, `{1:2}`, `{"a":1 "b":2}`, `{"a":{"b":[[],{}]}}`, `[[]`, `[]]`, "\u00a0null", "\fnull",
	`""`, `"`, `"\`, `"\"`, `"\"`, `"\\"`, `"\x"`, `"\u0041"`, `"\ud800"`, `"\ud83d\ude00"`, "\"\x1f\"", "\"\x7f\"", "\"é\"", "\"\xff\"", "\"12345678\xff\"",
	`"1234567"`, `"12345678"`, `"1234567\""`, `"12345678\n90"`, "\"1234567\n\"", `0`, `-0`, `00`, `01`, `-`, `1.`, `.1`, `1.5`, `1e`, `1e+`, `1E-5`, `1e5x`, `+1`,
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
}

// FuzzScan: what scan takes for JSON, jsontext does as well, and index finds the
// same nodes. What scan refuses though it is JSON has a \u in it.
func FuzzScan(f *testing.F) {
	for _, s := range texts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkScan(t, b) })
}

func checkScan(t *testing.T, b []byte) {
	d := jsontext.NewDecoder(bytes.NewBuffer(bytes.Clone(b)), jsontext.AllowDuplicateNames(true))
	_, err := d.ReadValue()
	valid := err == nil && len(bytes.Trim(d.UnreadBuffer(), " \t\r\n")) == 0

	scanned := text{json: b}
	if !scanned.scan() {
		require.False(t, valid && !bytes.Contains(b, []byte(`\u`)), "%q", b)
		return
	}
	require.True(t, valid, "%q", b)
	indexed := text{json: b}
	indexed.index()
	require.Equal(t, len(indexed.nodes), len(scanned.nodes))
	for i := range indexed.nodes {
		require.Equal(t, indexed.nodes[i], scanned.nodes[i])
	}
}

func TestScan(t *testing.T) {
	for _, s := range texts {
		checkScan(t, []byte(s))
		for _, before := range []string{`[`, `["k",`, `{"k":`, ` {"k":1,"l":[],"m": `} {
			for _, after := range []string{`]`, `}`, `,1]`, `,"n":1}`, ` ] `, ` } `, ``} {
				checkScan(t, []byte(before+s+after))
			}
		}
	}
}
