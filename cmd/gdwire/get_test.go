package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandGet(t *testing.T) {
	in := wire(27, 6, 4, "player", 27, 2, 4, "hp", 2, 10, 21, "name", 4, "Ada", 4, "list", 28, 3, 2, 1, 2, 2, 5, float32(1), float32(2),
		2, 7, 4, "seven", 28, 1, 2, 9, 4, "by container", 4, "packed", 34, 2, "a\x00", "b\x00", 4, "bytes", 29, 3, []byte{7, 8, 9, 0})
	runCases(t, []testCase{
		{name: "names", args: "get player.hp", in: in, out: "10\n"},
		{name: "StringName", args: "get $.player.name", in: in, out: "\"Ada\"\n"},
		{name: "StringName alone", args: "get [\"player\"][&\"name\"]", in: in, out: "\"Ada\"\n"},
		{name: "element", args: "get list[2]", in: in, out: "Vector2(1.0, 2.0)\n"},
		{name: "plain", args: "get -plain list", in: in, out: "[1,2,[1.0,2.0]]\n"},
		{name: "native JSON", args: "get -json list[2]", in: in, out: "{\"type\":\"Vector2\",\"args\":[1.0,2.0]}\n"},
		{name: "int key", args: "get [7]", in: in, out: "\"seven\"\n"},
		{name: "pair", args: "get .value(3)", in: in, out: "\"by container\"\n"},
		{name: "key of a pair", args: "get .key(3)[0]", in: in, out: "9\n"},
		{name: "packed string", args: "get packed[1]", in: in, out: "\"b\"\n"},
		{name: "raw packed string", args: "get packed[0] -raw", in: in, out: "a"},
		{name: "packed byte", args: "get bytes[2]", in: in, out: "9\n"},
		{name: "raw bytes", args: "get -raw bytes", in: in, out: "\x07\x08\x09"},
		{name: "all of it", args: "get $ -plain", in: wire(2, 5), out: "5\n"},
		{name: "a key that was cut", args: "get [\"play…\"].hp", in: in, out: "10\n"},
		{name: "no key", args: "get player.mp", in: in, status: statusBad, err: "gdwire: there is no $.player.mp\n"},
		{name: "no element", args: "get list[3]", in: in, status: statusBad, err: "there is no $.list[3]"},
		{name: "no container", args: "get player.hp.x", in: in, status: statusBad, err: "there is no $.player.hp.x"},
		{name: "no packet", args: "get $5", in: in, status: statusBad, err: "there is no $5"},
		{name: "second value", args: "get $1", in: wire(2, 5, 2, 6), out: "6\n"},
		{name: "second packet", args: "get $1 -frame u32", in: framed(wire(2, 5), wire(2, 6)), out: "6\n"},
		{name: "before what is bad", args: "get [0]", in: wire(28, 2, 2, 5, 99), out: "5\n"},
		{name: "after what is bad", args: "get [1]", in: wire(28, 2, 99), status: statusBad, err: "offset 8, $[0]"},
		{name: "property", args: "get name", in: wire(24, "Node", 1, "name", 4, "x"), out: "\"x\"\n"},
	})
}

// TestGetReadsNoFurther: get reads nothing after the value.
func TestGetReadsNoFurther(t *testing.T) {
	in, feed := io.Pipe()
	go func() { _, _ = feed.Write(wire(28, 1000, 2, 5)) }()
	var out bytes.Buffer
	require.Zero(t, run([]string{"get", "[0]", "-format", "godot4", "-frame", "none"}, in, &out, io.Discard))
	require.Equal(t, "5\n", out.String())
}
