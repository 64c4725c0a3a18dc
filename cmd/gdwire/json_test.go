package main

import (
	"math"
	"testing"
)

// TestJSON pins the contract; package gdjson tests all types.
func TestJSON(t *testing.T) {
	inf := float32(math.Inf(1))
	runCases(t, []testCase{
		{name: "scalars", args: "json",
			in:  wire(0, 1, 0, 1, 1, 2, -5, 0x10002, int64(math.MinInt64), 3, inf, 4, "a\"\\\n\x00<é😀", 21, "sn"),
			out: "null\nfalse\ntrue\n\"i:-5\"\n\"i:-9223372036854775808\"\n\"f:inf\"\n\"s:a\\\"\\\\\\n\\u0000<é😀\"\n\"sn:sn\"\n"},
		{name: "infinities in args", args: "json", in: wire(5, inf, -inf), out: "{\"type\":\"Vector2\",\"args\":[1e99999,-1e99999]}\n"},
		{name: "containers", args: "json",
			in:  wire(28, 3, 2, 1, 28, 1, 0, 4, "x", 27, 1, 4, "a", 5, float32(1), float32(2)),
			out: "[\"i:1\",[null],\"s:x\"]\n{\"type\":\"Dictionary\",\"args\":[\"s:a\",{\"type\":\"Vector2\",\"args\":[1.0,2.0]}]}\n"},
		{name: "serialized objects", args: "json", in: wire(24, "Resource", 1, "name", 4, "x"), out: "{\"type\":\"Resource\",\"props\":[\"name\",\"s:x\"]}\n"},
		{name: "no serialized objects", args: "json -objects=false", in: wire(24, "Resource", 1, "name", 4, "x"), out: "\n", status: statusBad, err: "object"},
		{name: "plain", args: "json -plain", in: wire(27, 1, 4, "a", 5, float32(1), float32(2)), out: "{\"a\":[1.0,2.0]}\n"},
		{name: "indent", args: "json -plain -indent", in: wire(28, 2, 2, 1, 2, 2), out: "[\n  1,\n  2\n]\n"},
		{name: "control characters", args: "json", in: wire(4, "\x7f\u009b\u202e"), out: "\"s:\\u007f\\u009b\\u202e\"\n"},
	})
}

// TestJSONCutOff: each value and packet is on a line, valid or not.
func TestJSONCutOff(t *testing.T) {
	five, bad := wire(2, 5), wire(28, 2, 2, 1, 99)
	runCases(t, []testCase{
		{name: "value", args: "json", in: bad, out: "[\"i:1\"\n", status: statusBad, err: "gdwire: offset 16, $[1]: unknown godot4 type id"},
		{name: "second value", args: "json", in: append(wire(2, 5), bad...), out: "\"i:5\"\n[\"i:1\"\n", status: statusBad, err: "offset 24, $[1]"},
		{name: "header", args: "json", in: wire(99), out: "\n", status: statusBad, err: "offset 0, $: unknown godot4 type id"},
		{name: "left over", args: "json", in: append(wire(2, 5), 1, 2), out: "\"i:5\"\n\n", status: statusBad, err: "offset 10, $: unexpected EOF"},
		{name: "frames", args: "json -frame u32", in: framed(five, bad, nil, five),
			out: "\"i:5\"\n[\"i:1\"\n\n\"i:5\"\n", status: statusBad,
			err: "gdwire: offset 32, $[1]: unknown godot4 type id 99\ngdwire: offset 40, $: empty packet: unexpected EOF\n"},
		{name: "frame too long", args: "json -frame u32 -max-packet 10", in: framed(five, bad, five), out: "\"i:5\"\n\n\"i:5\"\n",
			status: statusBad, err: "offset 16: packet of 20 bytes exceeds"},
		{name: "frame too long and cut", args: "json -frame u32 -max-packet 10", in: framed(five, bad)[:20], out: "\"i:5\"\n\n",
			status: statusBad, err: "offset 16: packet of 20 bytes exceeds"},
		{name: "frame cut", args: "json -frame u32", in: framed(five, five)[:20], out: "\"i:5\"\n\n", status: statusBad, err: "gdwire: offset 20, $: the packet is cut: 4 of its 8 bytes are missing: unexpected EOF\n"},
		{name: "length cut", args: "json -frame u32", in: framed(five, five)[:14], out: "\"i:5\"\n\n", status: statusBad, err: "gdwire: offset 14, $: unexpected EOF\n"},
		{name: "big-endian", args: "json -frame u32be", in: framedBig(five, nil, five), out: "\"i:5\"\n\n\"i:5\"\n", status: statusBad, err: "offset 16, $"},
		{name: "bytes after the value", args: "json -frame u32", in: framed(wire(2, 5, 0), five), out: "\"i:5\"\n\"i:5\"\n"},
		{name: "bytes after the value, strict", args: "json -frame u32 -strict", in: framed(wire(2, 5, 0), five), out: "\"i:5\"\n\"i:5\"\n",
			status: statusBad, err: "gdwire: offset 12, $: not canonical"},
	})
}
