package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
)

func TestCommandTokens(t *testing.T) {
	runCases(t, []testCase{
		{name: "values", args: "tokens -objects",
			in: wire(27, 2, 4, "name", 4, "A\"\x1b", 4, "pos", 5, float32(1), float32(2.5), 0x1001c, 2, 1, 2, 5, 24, "Node", 1, "x", 0, 22, uint32(0x80000001), 1, 1, "a", "b", 30, 2, 7, -1, 0),
			out: `       0  DictStart  2
       8    DictKey
       8    StringChunk  String "name"
      20    StringChunk  String "A\"\x1b"
      32    DictKey
      32    StringChunk  String "pos"
      44    Vector2  [1 2.5]
      56  End
      56  ArrayStart  1 [int]
      68    Int32  5
      76  End
      76  ObjectStart  "Node" 1
      92    Property  "x"
     100    Nil
     104  End
     104  NodePathStart  1:1 absolute
     120    StringChunk  NodePath "a"
     128    StringChunk  NodePath "b"
     136  End
     136  PackedStart  PackedInt32Array 2
     144    Chunk  PackedInt32Array 2: 7 -1
     152  End
     152  Nil
`},
		{name: "frames", args: "tokens -frame u32", in: framed(wire(2, 5), nil, wire(28, 2, 0, 99), wire(2, 6)), status: statusBad,
			out: `packet 0, offset 4, 8 bytes
       4  Int32  5
packet 1, offset 16, 0 bytes
packet 2, offset 20, 16 bytes
      20  ArrayStart  2
      28    Nil
packet 3, offset 40, 8 bytes
      40  Int32  6
`,
			err: "gdwire: offset 16, $: empty packet: unexpected EOF\ngdwire: offset 32, $[1]: unknown godot4 type id 99\n"},
		{name: "godot2", args: "tokens -format godot2", in: wire(15, 1, 2, 3, 4, 5, []byte{1, 2, 3, 4, 5, 0, 0, 0}, 19, 3, 4, 16, 9),
			out: `       0  ImageStart  format 1, mipmaps 2, 3x4, 5 bytes
      24    Chunk  Image 5: 1 2 3 4 5
      32  End
      32  InputEvent  type 3, device 4: 09000000
`},
	})
}

// TestTokensCut: no line is wider than the screen.
func TestTokensCut(t *testing.T) {
	deep := wire()
	for range 200 {
		deep = append(deep, wire(28, 1)...)
	}
	in := append(wire(4, strings.Repeat("日本語", 100), 4, strings.Repeat("x", 40_000), 29, 100_000, make([]byte, 100_000),
		26, strings.Repeat("é", 400), uint64(1)), append(deep, wire(2, 5)...)...)
	r := runWith(in, "tokens")
	require.Zero(t, r.status, r.err)
	for line := range strings.Lines(r.out) {
		require.LessOrEqual(t, runewidth.StringWidth(line), shell.PlainWidth, line)
	}
	lines := strings.Split(r.out, "\n")
	require.Equal(t, `       0  StringChunk  String "`+strings.Repeat("日本語", 14)+`日本…`, lines[0])
	require.Contains(t, lines[1], `StringChunk  String 16256 of 40000 bytes "xxx`)
	require.Equal(t, strings.Index(lines[1], "S"), strings.Index(lines[3], "S"), "a string goes on as deep as it began")
	require.Contains(t, r.out, "[200] Int32  5\n")
}

// TestTokensColors: colors change nothing but colors, and take no columns.
func TestTokensColors(t *testing.T) {
	in := wire(27, 2, 4, "name", 4, strings.Repeat("日本語", 100), 4, "pos", 5, float32(1), float32(2.5))
	plain := runWith(in, "tokens")
	t.Setenv("CLICOLOR_FORCE", "1")
	colored := runWith(in, "tokens")
	require.Zero(t, colored.status, colored.err)
	require.Contains(t, colored.out, "\x1b[2m       8\x1b[22m    \x1b[2mDictKey\x1b[22m\n\x1b[2m       8\x1b[22m    \x1b[mStringChunk\x1b[m  \x1b[32mString \"name\"\x1b[0m\n")
	require.Equal(t, plain.out, regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(colored.out, ""))
}
