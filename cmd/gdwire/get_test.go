package main

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/text"
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

// contains reports whether the value of a line of flat, or a key, contains a text or number.
func contains(v *text.Value, wanted string) bool {
	number, isFloat := 0.0, false
	if w, err := text.ParseValue(wanted); err == nil {
		if w, ok := w.Fit(gdwire.TypeFloat); ok {
			number, isFloat = w.Numbers[0], true
		}
	}
	switch {
	case v.Type == gdwire.TypeInt:
		return isFloat && float64(v.Int) == number
	case isFloat && slices.ContainsFunc(v.Numbers, func(x float64) bool { return x == number || math.IsNaN(x) && math.IsNaN(number) }):
		return true
	case v.Type == gdwire.TypePackedByteArray || v.Type == gdwire.TypeImage || v.Form != text.Whole:
		return false
	}
	return strings.Contains(strings.ToLower(v.Text), strings.ToLower(wanted)) || strings.EqualFold(v.String(), wanted)
}

// foundIn returns the lines that find shows, made of those of flat.
func foundIn(t *testing.T, flat, wanted string) (found []string) {
	var last []text.Step
	isKey := func(s *text.Step) bool {
		return s.Op == text.Child && s.Key.Type != gdwire.TypeInt && contains(&s.Key, wanted)
	}
	for line := range strings.Lines(flat) {
		line = strings.TrimSuffix(line, "\n")
		p, v := must2(text.ParseLine(line))(t)
		same := 0
		for same < min(len(p.Steps), len(last)) && string(p.Steps[same].Append(nil)) == string(last[same].Append(nil)) {
			same++
		}
		last = p.Steps
		for i := same; i < len(p.Steps)-1; i++ {
			if isKey(&p.Steps[i]) {
				found = append(found, text.Path{Packet: p.Packet, Steps: p.Steps[:i+1]}.String()+": a key")
			}
		}
		if contains(&v, wanted) || len(p.Steps) > 0 && isKey(&p.Steps[len(p.Steps)-1]) {
			found = append(found, line)
		}
	}
	return found
}

// TestFind: find shows the lines of flat that contain a text or number, in values that engines wrote and random saves.
func TestFind(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	file := filepath.Join(t.TempDir(), "save")
	hits := 0
	check := func(b []byte, format, wanted string) {
		require.NoError(t, os.WriteFile(file, b, 0o600))
		flags := []string{"-format", format, "-frame", "u32", "--"}
		want := foundIn(t, runWith(nil, slices.Concat([]string{"flat"}, flags, []string{file})...).out, wanted)
		r := runWith(nil, slices.Concat([]string{"find"}, flags, []string{wanted, file})...)
		require.Equal(t, strings.Join(append(want, ""), "\n"), r.out, wanted)
		require.Equal(t, len(want) > 0, r.status == statusGood)
		hits += len(want)
	}
	texts := []string{"a", "1", "-1", "0.5", "true", "NULL", `"a"`, "é", "Vector2(1.0, 2.0)", "Node", "root", "x", "nan", "255", "0.1", `&"a"`, `^"a"`}
	for _, folder := range slices.Sorted(maps.Keys(engines)) { // in one order: a failure can be repeated
		format := engines[folder]
		for i, v := range sample(t, folder) {
			if v.Name == "dict_equal_keys" {
				continue
			}
			for j, wanted := range texts {
				if testenv.Full() || i%len(texts) == j {
					check(framed([]byte(v.Hex)), format, wanted)
				}
			}
		}
	}
	for range 100 {
		check(framed(gdwiretest.Encode(t, randomSave(random, 3))), "godot4", []string{"a", "gold", "items", "1", "Ada", "0.5", "true", "s"}[random.IntN(8)])
	}
	long := strings.Repeat("0123456789", 10_000)
	check(framed(wire(27, 2, 4, long+"KEY", 4, long+"Value", 4, "b", 28, 2, 4, long+"needle"+long, 22, uint32(0x80000001), 0, 0, long+"needle")), "godot4", "Needle")
	check(framed(wire(27, 1, 4, long+"KEY", 4, long+"Value")), "godot4", "9key")
	require.Greater(t, hits, 300)
}

// TestFindAtOnce: find shows what it has found before it waits for more input.
func TestFindAtOnce(t *testing.T) {
	in, feed := io.Pipe()
	shown, out := io.Pipe()
	status := make(chan int)
	go func() {
		status <- run([]string{"find", "Ada", "-format", "godot4", "-frame", "none"}, in, out, io.Discard)
		_ = out.Close()
	}()
	must(feed.Write(wire(28, 3, 4, "Ada", 4, "Bob")))(t)
	lines := bufio.NewReader(shown)
	line := must(lines.ReadString('\n'))(t)
	require.Equal(t, "$[0] = \"Ada\"\n", line)
	must(feed.Write(wire(4, "ada")))(t)
	require.NoError(t, feed.Close())
	line = must(lines.ReadString('\n'))(t)
	require.Equal(t, "$[2] = \"ada\"\n", line)
	require.Zero(t, <-status)
}
