package gdwire

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWriteShortNodePath writes NodePaths at the top level and in an Array, where short ones
// take the fast path. The bytes must be the same.
func TestWriteShortNodePath(t *testing.T) {
	texts := []string{""}
	for from := 0; len(texts) < 5000; from++ {
		for _, c := range []string{"a", "/", ":", "longer name", "é", "\xff"} {
			texts = append(texts, texts[from]+c)
		}
	}
	for n := 50; n < 80; n++ {
		for _, part := range []string{"a", "a/", "abcd/", "eight888/", "nine99999:", "/"} {
			texts = append(texts, strings.Repeat(part, n)[:n])
		}
	}
	var top, inArray bytes.Buffer
	for _, text := range texts {
		top.Reset()
		inArray.Reset()
		e := NewEncoder(&top, nil)
		wantErr := e.WriteNodePath(text)
		e.Release()

		e = NewEncoder(&inArray, nil)
		require.NoError(t, e.BeginArray(1))
		err := e.WriteNodePath(text)
		if wantErr != nil {
			require.EqualError(t, err, strings.Replace(wantErr.Error(), "offset 0, $:", "offset 8, $[0]:", 1), "%q", text)
			continue
		}
		require.NoError(t, err, "%q", text)
		require.NoError(t, e.End())
		require.Equal(t, top.String(), inArray.String()[8:], "%q", text)
		e.Release()
	}
}

// WriteNodePath has the result of NodePath(text) in Godot 3.2.3 and in the official 4.6. Text
// that both call invalid is ErrRange.
func TestWriteNodePathAsEngines(t *testing.T) {
	for text, want := range nodePathsOfGodot3 {
		var b bytes.Buffer
		e := NewEncoder(&b, &EncoderOptions{Format: Godot3})
		err := e.WriteNodePath(text)
		if want == "" {
			require.ErrorIs(t, err, ErrRange, text)
			require.Empty(t, b.Bytes(), text)
		} else {
			require.NoError(t, err, text)
			require.Equal(t, want, hex.EncodeToString(b.Bytes()), text)
		}
		e.Release()
	}
}

// nodePathsOfGodot3 are packets as var2bytes(NodePath(text)) made them, with zeros
// for the content of memory that it leaves as padding. Of an invalid path it
// prints an error and makes an empty one.
var nodePathsOfGodot3 = map[string]string{
	"":            "0f000000000000800000000000000000",
	"/":           "0f000000000000800000000001000000",
	":":           "0f000000000000800000000000000000",
	"::":          "",
	"a":           "0f0000000100008000000000000000000100000061000000",
	"/a":          "0f0000000100008000000000010000000100000061000000",
	"a/":          "0f0000000100008000000000000000000100000061000000",
	"/a/":         "0f0000000100008000000000010000000100000061000000",
	"a//b":        "0f00000002000080000000000000000001000000610000000100000062000000",
	"//a":         "0f0000000100008000000000010000000100000061000000",
	"a//":         "0f0000000100008000000000000000000100000061000000",
	"//":          "0f000000000000800000000001000000",
	"///":         "0f000000000000800000000001000000",
	"a:":          "0f0000000100008000000000000000000100000061000000",
	":a":          "0f0000000000008001000000000000000100000061000000",
	"a:b":         "0f00000001000080010000000000000001000000610000000100000062000000",
	"a:b:":        "0f00000001000080010000000000000001000000610000000100000062000000",
	"a:b:c":       "0f000000010000800200000000000000010000006100000001000000620000000100000063000000",
	"a::b":        "",
	"::a":         "",
	"a::":         "",
	"a:b::":       "",
	"a:b::c":      "",
	":a:b":        "0f00000000000080020000000000000001000000610000000100000062000000",
	":a:":         "0f0000000000008001000000000000000100000061000000",
	"a/:b":        "0f00000001000080010000000000000001000000610000000100000062000000",
	"/:a":         "0f0000000000008001000000010000000100000061000000",
	"/:":          "0f000000000000800000000001000000",
	"/a:b":        "0f00000001000080010000000100000001000000610000000100000062000000",
	"a/b:c/d":     "0f0000000200008001000000000000000100000061000000010000006200000003000000632f6400",
	"a:/b":        "0f0000000100008001000000000000000100000061000000020000002f620000",
	"a:b/":        "0f000000010000800100000000000000010000006100000002000000622f0000",
	"a: :b":       "0f000000010000800200000000000000010000006100000001000000200000000100000062000000",
	" a ":         "0f0000000100008000000000000000000300000020612000",
	".":           "0f000000010000800000000000000000010000002e000000",
	"..":          "0f000000010000800000000000000000020000002e2e0000",
	"../a":        "0f000000020000800000000000000000020000002e2e00000100000061000000",
	"./a:b":       "0f000000020000800100000000000000010000002e00000001000000610000000100000062000000",
	"/root/..":    "0f00000002000080000000000100000004000000726f6f74020000002e2e0000",
	"a/../b":      "0f0000000300008000000000000000000100000061000000020000002e2e00000100000062000000",
	"a:/":         "0f0000000100008001000000000000000100000061000000010000002f000000",
	":/":          "0f000000000000800100000000000000010000002f000000",
	"/a/:":        "0f0000000100008000000000010000000100000061000000",
	"a/::b":       "",
	"é/ü:ö":       "0f00000002000080010000000000000002000000c3a9000002000000c3bc000002000000c3b60000",
	"@a@1/b":      "0f00000002000080000000000000000004000000406140310100000062000000",
	"%a/b":        "0f00000002000080000000000000000002000000256100000100000062000000",
	"a b/c d:e f": "0f000000020000800100000000000000030000006120620003000000632064000300000065206600",
	"a:b/c:d":     "0f000000010000800200000000000000010000006100000003000000622f63000100000064000000",
	"a\\b":        "0f00000001000080000000000000000003000000615c6200",
	":::":         "",
	"a:::b":       "",
	"/::":         "",
	"//:":         "0f000000000000800000000001000000",
	"a//:b":       "0f00000001000080010000000000000001000000610000000100000062000000",
	"a//b//c:d":   "0f0000000300008001000000000000000100000061000000010000006200000001000000630000000100000064000000",
	"x:::":        "",
	":a::":        "",
	"/a/b/":       "0f00000002000080000000000100000001000000610000000100000062000000",
	"/a//b:c":     "0f000000020000800100000001000000010000006100000001000000620000000100000063000000",
}

func TestNodePathCallErrors(t *testing.T) {
	names := newToken(KindNodePathStart, TypeNodePath, 0, 1<<31)
	testCallErrors(t, []callError{
		{name: "two colons", call: func(e *Encoder) error { return e.WriteNodePath("a::b") }, is: ErrRange, text: "offset 0, $: NodePath with two colons in a row"},
		{name: "negative count of names", call: path(1, -1), is: ErrRange, text: "offset 0, $: NodePath of 1 names and -1 sub-names"},
		{name: "more names than 31 bits count", call: token(names), is: ErrRange, text: "offset 0, $: NodePath of 2147483648 names and 0 sub-names"},
		{name: "more names than an int64 counts", call: path(1, math.MaxInt), is: ErrRange, text: fmt.Sprintf("offset 0, $: NodePath of 1 names and %d sub-names", math.MaxInt)},
		{name: "more names than an int64 counts, on the fast path", before: []step{array(1)}, call: path(1, math.MaxInt), is: ErrRange, text: fmt.Sprintf("offset 8, $[0]: NodePath of 1 names and %d sub-names", math.MaxInt)},
		{name: "form of one string", call: token(newToken(KindNodePathStart, TypeNodePath, flagOldNodePath, 1)), is: ErrType, text: "offset 0, $: godot4 has no NodePath of one string"},
	})
}
