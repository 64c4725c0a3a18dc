package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandEncode(t *testing.T) {
	runCases(t, []testCase{
		{name: "native", args: "encode -q", in: []byte(`{"args":["s:a","i:5"],"type":"Dictionary"}`), out: string(wire(27, 1, 4, "a", 2, 5))},
		{name: "plain", args: "encode -q -plain", in: []byte(`{"a":5}`), out: string(wire(27, 1, 4, "a", 2, 5))},
		{name: "lenient", args: "encode -q -lenient", in: []byte(`"i:5.7"`), out: string(wire(2, 5))},
		{name: "control characters in strings, as engines write them", args: "encode -q", in: []byte("\"s:\\v\x01\x1f\""), out: string(wire(4, "\v\x01\x1f"))},
		{name: "numbers that engines read", args: "encode -q -lenient -plain", in: []byte(`[01,-.5,1.,]`), out: string(wire(28, 3, 2, 1, 3, float32(-.5), 2, 1))},
		{name: "numbers that engines read, in args", args: "encode -q -lenient", in: []byte(`{"args":[01,-.5,],"type":"Vector2",}`), out: string(wire(5, float32(1), float32(-.5)))},
		{name: "control characters between values", args: "encode -q -lenient -plain -frame none", in: []byte("\x01 1\v02\f"), out: string(wire(2, 1, 2, 2))},
		{name: "one number, not two", args: "encode -q -plain -frame none", in: []byte(`01`), status: statusBad, err: "offset 1"},
		{name: "one number, lenient", args: "encode -q -plain -lenient", in: []byte(`01`), out: string(wire(2, 1))},
		{name: "a comma between values", args: "encode -q -plain -frame none", in: []byte(`"a", "b"`), status: statusBad, err: "offset 3"},
		{name: "values without space", args: "encode -q -plain -frame none", in: []byte(`"a"[]{}"b"`), out: string(wire(4, "a", 28, 0, 27, 0, 4, "b"))},
		{name: "the offset in a later value", args: "encode -q -frame none", in: []byte(" \"i:5\"\n  [\"i:x\"]"), status: statusBad, err: "standard input: gdjson: offset 10, \"/0\": "},
		{name: "white space after the values", args: "encode -q", in: []byte(" null \n\t "), out: string(wire(0))},
		{name: "not lenient", args: "encode -q", in: []byte(`"i:5.7"`), status: statusBad, err: "5.7"},
		{name: "several, with lengths", args: "encode -frame u32", in: []byte("\"i:5\"\n\"i:6\"\n"), out: string(framed(wire(2, 5), wire(2, 6)))},
		{name: "several, without", args: "encode -frame none", in: []byte("\"i:5\"\n\"i:6\"\n"), out: string(wire(2, 5, 2, 6))},
		{name: "several, not said how", args: "encode", in: []byte(`"i:5" "i:6"`), status: statusUsage, err: "the input has 2 values; with -frame u32"},
		{name: "format", args: "encode -q -format godot3", in: []byte(`[null]`), out: string(wire(19, 1, 0))},
		{name: "parts of the output", args: "encode -to godot3,u32be", in: []byte(`[null]`), out: string(framedBig(wire(19, 1, 0)))},
		{name: "a note for get_var", args: "encode", in: []byte(`null`), out: string(wire(0)), err: "this is what bytes_to_var reads; get_var needs -frame u32"},
		{name: "serialized objects", args: "encode -q", in: []byte(`{"type":"Node","props":[]}`), status: statusBad, err: "object"},
		{name: "serialized objects, allowed", args: "encode -q -objects", in: []byte(`{"type":"Node","props":[]}`), out: string(wire(24, "Node", 0))},
		{name: "empty", args: "encode", status: statusBad, err: "the input is empty; nothing was written"},
		{name: "not JSON", args: "encode", in: []byte(`"i:5" {"a"`), status: statusBad, err: "standard input: "},
		{name: "byte order mark and CRLF", args: "encode -q", in: []byte("\ufeff\"s:x\"\r\n"), out: string(wire(4, "x"))},
		{name: "UTF-16", args: "encode -q", in: []byte("\xfe\xff\x00\"\x00s\x00:\x00\xe9\x00\""), out: string(wire(4, "é"))},
	})
}

// TestEncodeLike keeps everything but the values of a file, and refuses a file of which
// JSON would lose a part.
func TestEncodeLike(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	double := framed(wire(27, 2, 4, "a", 0x10005, 0.1, 2.0, 4, "b", 2, 1))
	for _, c := range []struct {
		name   string
		like   []byte
		in     string
		flags  []string
		out    []byte
		status int
		err    string
	}{
		{"width of math types", double, `{"type":"Dictionary","args":["s:a",{"type":"Vector2","args":[0.1,3.0]},"s:b","i:1"]}`, nil,
			framed(wire(27, 2, 4, "a", 0x10005, 0.1, 3.0, 4, "b", 2, 1)), statusGood, "$.a: Vector2(0.1, 3.0), was Vector2(0.1, 2.0)"},
		{"added and removed", double, `{"type":"Dictionary","args":["s:a",{"type":"Vector2","args":[0.1,2.0]},"s:c","i:1"]}`, nil,
			framed(wire(27, 2, 4, "a", 0x10005, 0.1, 2.0, 4, "c", 2, 1)), statusGood, "gdwire: $.c: 1, was not there\ngdwire: $.b: was 1, is not there\n"},
		{"nothing changed", framed(wire(2, math.MaxInt32), wire(4, "some text to be sure")), "\"i:2147483647\"\n\"s:some text to be sure\"", nil,
			framed(wire(2, math.MaxInt32), wire(4, "some text to be sure")), statusGood, "no value changed"},
		{"another number of values", double, `"i:1" "i:2"`, nil, nil, statusBad, "has 1, the input 2"},
		{"invalid packets", framed(wire(2, 5), wire(99), wire(4, "some text to be sure")), `"i:5" null "s:x"`, []string{"-format", "godot4", "-frame", "u32"}, nil, statusBad, "offset 16, $1: "},
		{"bytes after values, confirmed", framed(wire(27, 1, 4, "some text to be sure", 2, 5, 0, 0)), `null`, []string{"-format", "godot4", "-frame", "u32"}, nil, statusBad, "8 bytes follow the value of packet 0, which JSON would lose"},
		{"bytes after values", framed(wire(27, 2, 4, "some text to be sure", 2, 5, 4, "b", 2, 6, 0, 0)), `null`, nil, nil, statusUsage, "confirm this with"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, c.like, 0o600))
			r := runWith([]byte(c.in), append([]string{"encode", "-like", file}, c.flags...)...)
			require.Equal(t, c.status, r.status, r.err)
			require.Contains(t, r.err, c.err)
			require.Equal(t, string(c.out), r.out)
		})
	}
}
