package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckJSON(t *testing.T) {
	five, bad := wire(2, 5), wire(28, 2, 2, 1, 99)
	bare := wire(29, 1, []byte{7}) // without its padding
	const noValues = "  values  0 good, 1 bad\n   bytes  0\n nesting  0\n   speed  0 B/s\n\n  errors  offset 0, $: "
	runCases(t, []testCase{
		{name: "empty", args: "check -json", status: statusBad, err: "standard input is empty"},
		{name: "an object", args: "check -frame none -format godot4", in: wire(24, 4, "Node", 0), status: statusBad, out: noValues + "serialized objects are not allowed; allow them with -objects\n"},
		{name: "text", args: "check -frame none -format godot4", in: []byte("some text"), status: statusBad, out: noValues + "unknown godot4 type id 115; the input is text: gdwire encode makes values of JSON\n"},
		{name: "text as packets", args: "json -frame u32 -format godot4", in: []byte("some text"), status: statusBad, out: "\n", err: "MaxPacket (8388608); the length is text"},
		{name: "other order", args: "json -frame u32be -format godot4", in: framed(wire(2, 5)), status: statusBad, out: "\n", err: "in the other byte order (see -frame), the length is 8 bytes"},
		{name: "empty frames", args: "check -json -frame u32", status: statusBad, err: "standard input is empty"},
		{name: "values", args: "check -json", in: append(wire(2, 5, 4, "abcde"), bare...), out: `{"index":0,"offset":0,"ok":true,"bytes":8,"trailing":0}
{"index":1,"offset":8,"ok":true,"bytes":16,"trailing":0}
{"index":2,"offset":24,"ok":true,"bytes":12,"trailing":0}
`},
		{name: "first error ends it", args: "check -json", in: append(append(wire(2, 5), bad...), five...), status: statusBad,
			out: `{"index":0,"offset":0,"ok":true,"bytes":8,"trailing":0}
{"index":1,"offset":8,"ok":false,"bytes":16,"error":"gdwire: offset 24, $[1]: unknown godot4 type id 99","at":24,"path":"$[1]"}
`},
		{name: "left over", args: "check -json", in: append(wire(2, 5), 1, 2, 3), status: statusBad,
			out: `{"index":0,"offset":0,"ok":true,"bytes":8,"trailing":0}
{"index":1,"offset":8,"ok":false,"bytes":3,"error":"gdwire: offset 11, $: unexpected EOF","at":11,"path":"$"}
`},
		{name: "cut", args: "check -json", in: wire(28, 2, 2, 1, 2), status: statusBad,
			out: `{"index":0,"offset":0,"ok":false,"bytes":20,"error":"gdwire: offset 20, $[1]: unexpected EOF","at":20,"path":"$[1]"}
`},
		{name: "path", args: "check -json", in: wire(27, 1, 4, "<a&\"b\">", 99), status: statusBad,
			out: `{"index":0,"offset":0,"ok":false,"bytes":24,"error":"gdwire: offset 24, $[\"<a&\\\"b\\\">\"]: unknown godot4 type id 99","at":24,"path":"$[\"<a&\\\"b\\\">\"]"}
`},
		{name: "frames", args: "check -json -frame u32", in: framed(five, bad, nil, wire(2, 5, 0, 0), bare, five), status: statusBad,
			out: `{"index":0,"offset":4,"ok":true,"bytes":8,"trailing":0}
{"index":1,"offset":16,"ok":false,"bytes":16,"error":"gdwire: offset 32, $[1]: unknown godot4 type id 99","at":32,"path":"$[1]"}
{"index":2,"offset":40,"ok":false,"bytes":0,"error":"gdwire: offset 40, $: empty packet: unexpected EOF","at":40,"path":"$"}
{"index":3,"offset":44,"ok":true,"bytes":8,"trailing":8}
{"index":4,"offset":64,"ok":true,"bytes":12,"trailing":0}
{"index":5,"offset":77,"ok":true,"bytes":8,"trailing":0}
`},
		{name: "strict", args: "check -json -frame u32 -strict", in: framed(wire(2, 5, 0, 0), bare, five), status: statusBad,
			out: `{"index":0,"offset":4,"ok":false,"bytes":8,"error":"gdwire: offset 12, $: not canonical: bytes after the value","at":12,"path":"$"}
{"index":1,"offset":24,"ok":false,"bytes":9,"error":"gdwire: offset 33, $: unexpected EOF","at":33,"path":"$"}
{"index":2,"offset":37,"ok":true,"bytes":8,"trailing":0}
`},
		{name: "frame too long", args: "check -json -frame u32 -max-packet 19", in: framed(five, bad, five), status: statusBad,
			out: `{"index":0,"offset":4,"ok":true,"bytes":8,"trailing":0}
{"index":1,"offset":16,"ok":false,"bytes":0,"error":"gdwire/stream: offset 16: packet of 20 bytes exceeds MaxPacket (19)","at":16,"path":"$"}
{"index":2,"offset":40,"ok":true,"bytes":8,"trailing":0}
`},
		{name: "frame too long and cut", args: "check -json -frame u32 -max-packet 10", in: framed(five, bad)[:20], status: statusBad,
			out: `{"index":0,"offset":4,"ok":true,"bytes":8,"trailing":0}
{"index":1,"offset":16,"ok":false,"bytes":0,"error":"gdwire/stream: offset 16: packet of 20 bytes exceeds MaxPacket (10)","at":16,"path":"$"}
`},
		{name: "no frame at all", args: "check -json -frame u32", in: []byte("garbage, of some length"), status: statusBad,
			out: `{"index":0,"offset":4,"ok":false,"bytes":0,"error":"gdwire/stream: offset 4: packet of 1651663207 bytes exceeds MaxPacket (8388608); the length is text","at":4,"path":"$"}
`},
		{name: "frame cut", args: "check -json -frame u32", in: framed(five, bad)[:30], status: statusBad,
			out: `{"index":0,"offset":4,"ok":true,"bytes":8,"trailing":0}
{"index":1,"offset":16,"ok":false,"bytes":14,"error":"gdwire: offset 30, $: the packet is cut: 6 of its 20 bytes are missing: unexpected EOF","at":30,"path":"$"}
`},
		{name: "length cut", args: "check -json -frame u32", in: framed(five, bad)[:13], status: statusBad,
			out: `{"index":0,"offset":4,"ok":true,"bytes":8,"trailing":0}
{"index":1,"offset":12,"ok":false,"bytes":1,"error":"gdwire: offset 13, $: unexpected EOF","at":13,"path":"$"}
`},
		{name: "InputEvents of any length", args: "check -json -format godot2", in: wire(19, 2, 2, 15, []byte{1, 2, 3}, 2, 5),
			out: "{\"index\":0,\"offset\":0,\"ok\":true,\"bytes\":19,\"trailing\":0}\n{\"index\":1,\"offset\":19,\"ok\":true,\"bytes\":8,\"trailing\":0}\n"},
		{name: "big-endian", args: "check -json -frame u32be", in: framedBig(five, wire(0)),
			out: `{"index":0,"offset":4,"ok":true,"bytes":8,"trailing":0}
{"index":1,"offset":16,"ok":true,"bytes":4,"trailing":0}
`},
	})
}

// TestCheckLargeFrames: packets that are read in parts have the same results.
func TestCheckLargeFrames(t *testing.T) {
	five := wire(2, 5)
	large := wire(29, 40_000, make([]byte, 40_000))
	bad := wire(28, 2, 99, make([]byte, 40_000))
	more := append(large[:len(large):len(large)], make([]byte, 20_000)...)
	runCases(t, []testCase{
		{name: "good", args: "check -json -frame u32", in: framed(large, more, five), out: `{"index":0,"offset":4,"ok":true,"bytes":40008,"trailing":0}
{"index":1,"offset":40016,"ok":true,"bytes":40008,"trailing":20000}
{"index":2,"offset":100028,"ok":true,"bytes":8,"trailing":0}
`},
		{name: "bad", args: "check -json -frame u32", in: framed(bad, five), status: statusBad,
			out: `{"index":0,"offset":4,"ok":false,"bytes":8,"error":"gdwire: offset 12, $[0]: unknown godot4 type id 99","at":12,"path":"$[0]"}
{"index":1,"offset":40020,"ok":true,"bytes":8,"trailing":0}
`},
		{name: "strict", args: "check -json -frame u32 -strict", in: framed(more, five), status: statusBad,
			out: `{"index":0,"offset":4,"ok":false,"bytes":40008,"error":"gdwire: offset 40012, $: not canonical: bytes after the value","at":40012,"path":"$"}
{"index":1,"offset":60016,"ok":true,"bytes":8,"trailing":0}
`},
		{name: "cut", args: "check -json -frame u32", in: framed(large)[:30_000], status: statusBad,
			out: `{"index":0,"offset":4,"ok":false,"bytes":29996,"error":"gdwire: offset 30000, $: the packet is cut: 10012 of its 40008 bytes are missing: unexpected EOF","at":30000,"path":"$"}
`},
		{name: "cut after the value", args: "check -json -frame u32", in: framed(five, more)[:60_000], status: statusBad,
			out: `{"index":0,"offset":4,"ok":true,"bytes":8,"trailing":0}
{"index":1,"offset":16,"ok":false,"bytes":59984,"error":"gdwire: offset 60000, $: the packet is cut: 24 of its 60008 bytes are missing: unexpected EOF","at":60000,"path":"$"}
`},
		{name: "bad and cut", args: "check -json -frame u32", in: framed(bad)[:30_000], status: statusBad,
			out: `{"index":0,"offset":4,"ok":false,"bytes":29996,"error":"gdwire: offset 30000, $: the packet is cut: 10016 of its 40012 bytes are missing: unexpected EOF","at":30000,"path":"$"}
`},
		{name: "dropped", args: "recode -frame u32", in: framed(bad, five, large, large)[:110_000], status: statusBad,
			out: string(framed(five, large)), err: "offset 110000, $: the packet is cut: 10052 of its 40008 bytes are missing: unexpected EOF"},
	})
	t.Run("input fails", func(t *testing.T) {
		for _, b := range [][]byte{large, bad, more} {
			t.Run(fmt.Sprint(len(b)), func(t *testing.T) {
				var out, errs bytes.Buffer
				in := io.MultiReader(bytes.NewReader(framed(five, b)[:len(b)]), &failingReader{})
				require.Equal(t, statusBad, run(fixed([]string{"check", "-json", "-frame", "u32"}), in, &out, &errs))
				require.Equal(t, `{"index":0,"offset":4,"ok":true,"bytes":8,"trailing":0}
{"index":1,"offset":16,"ok":false,"bytes":0,"error":"cable cut","at":16,"path":"$"}
`, out.String())
			})
		}
	})
}

// TestVerdictLines: each line of check -json contains all its members in order.
func TestVerdictLines(t *testing.T) {
	good := regexp.MustCompile(`^\{"index":\d+,"offset":\d+,"ok":true,"bytes":\d+,"trailing":\d+\}$`)
	bad := regexp.MustCompile(`^\{"index":\d+,"offset":\d+,"ok":false,"bytes":\d+,"error":".+","at":\d+,"path":"\$.*"\}$`)
	in := framed(wire(2, 5), wire(99), nil, wire(28, 1, 0, 0), wire(4, "a\xff"))
	for cut := range in {
		r := runWith(in[:cut], "check", "-json", "-frame", "u32")
		lines := strings.SplitAfter(r.out, "\n")
		require.Empty(t, lines[len(lines)-1])
		for i, line := range lines[:len(lines)-1] {
			line = strings.TrimSuffix(line, "\n")
			require.True(t, good.MatchString(line) || bad.MatchString(line), line)
			var v struct{ Index, Offset, Bytes, At int }
			require.NoError(t, json.Unmarshal([]byte(line), &v))
			require.Equal(t, i, v.Index)
			if bad.MatchString(line) {
				require.Equal(t, v.At-v.Offset, v.Bytes)
				require.Equal(t, statusBad, r.status)
			}
		}
	}
}

func TestSummary(t *testing.T) {
	in := framed(wire(27, 2, 4, "a", 28, 1, 2, 1, 21, "b", 34, 1, "x\x00"), wire(22, uint32(0x80000001), 0, 0, "n"), wire(2, 1, 0), wire(99), nil)
	r := runWith(in, "check", "-frame", "u32")
	require.Equal(t, statusBad, r.status)
	require.Empty(t, r.err)
	speed := regexp.MustCompile(`(?m)^   speed  .+/s$`)
	require.Regexp(t, speed, r.out)
	require.Equal(t, ` packets  3 good, 2 bad
   bytes  96, and 4 after values
 nesting  2

   types  2  int
          1  String
          1  StringName
          1  NodePath
          1  Dictionary
          1  Array
          1  PackedStringArray

  errors  offset 116, $: unknown godot4 type id 99
          offset 124, $: empty packet: unexpected EOF
`, strings.Replace(speed.ReplaceAllString(r.out, ""), "\n\n\n", "\n\n", 1))

	r = runWith(framed(make([][]byte, 12)...), "check", "-frame", "u32")
	require.Contains(t, r.out, "          and 2 more\n")

	r = runWith(nil, "check")
	require.Equal(t, statusBad, r.status)
	require.Contains(t, r.out, "  values  0 good, 0 bad\n")
}
