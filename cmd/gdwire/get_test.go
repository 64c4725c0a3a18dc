package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/mattn/go-runewidth"
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
		{name: "no key", args: "get player.mp", in: in, status: statusMissing, err: "gdwire: there is no $.player.mp\n"},
		{name: "no element", args: "get list[3]", in: in, status: statusMissing, err: "there is no $.list[3]"},
		{name: "no container", args: "get player.hp.x", in: in, status: statusMissing, err: "there is no $.player.hp.x"},
		{name: "no packet", args: "get $5", in: in, status: statusMissing, err: "there is no $5"},
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
		{name: "serialized objects", args: "json", in: wire(24, "Resource", 1, "name", 4, "x"), out: "{\"type\":\"Resource\",\"props\":[\"name\",\"s:x\"]}\n"},
		{name: "no serialized objects", args: "json -objects=false", in: wire(24, "Resource", 1, "name", 4, "x"), out: "\n", status: statusBad, err: "object"},
		{name: "plain", args: "json -plain", in: wire(27, 1, 4, "a", 5, float32(1), float32(2)), out: "{\"a\":[1.0,2.0]}\n"},
		{name: "indent", args: "json -plain -indent", in: wire(28, 2, 2, 1, 2, 2), out: "[\n  1,\n  2\n]\n"},
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

// TestCommandLive: a packet is shown before the next one arrives.
func TestCommandLive(t *testing.T) {
	for _, command := range []string{"tokens", "json", "check -json"} {
		t.Run(command, func(t *testing.T) {
			in, feed := io.Pipe()
			shown, out := io.Pipe()
			done := make(chan int)
			go func() {
				done <- run(fixed(append(strings.Fields(command), "-frame", "u32")), in, out, io.Discard)
				out.Close()
			}()
			line := make([]byte, 200)
			large := wire(34, 1, "x\x00", make([]byte, 40_000)) // bytes follow its value
			for _, packet := range [][]byte{wire(2, 5), large, wire(2, 5)} {
				must(feed.Write(framed(packet)))(t)
				must(shown.Read(line))(t)
			}
			feed.Close()
			go io.Copy(io.Discard, shown)
			require.Zero(t, <-done)
		})
	}
}

// TestCommandVerdicts: all printers agree on the valid packets, and show a line for each.
func TestCommandVerdicts(t *testing.T) {
	suitePackets := must(suite.Packets())(t)
	for _, folder := range []string{"godot3.2.3", "godot4.3", "godot4.7-dev"} {
		var packets [][]byte
		for _, p := range suitePackets {
			if _, ok := p.Engines[strings.TrimPrefix(folder, "godot")]; ok {
				packets = append(packets, p.Hex)
			}
		}
		for _, flags := range []string{"", "-strict", "-objects", "-any-utf8"} {
			lines := func(command string) []string {
				args := strings.Fields(command + " -frame u32 -format " + engines[folder] + " " + flags)
				r := runWith(framed(packets...), args...)
				require.Equal(t, statusBad, r.status)
				return strings.SplitAfter(strings.TrimSuffix(r.out, "\n"), "\n")
			}
			checked, shown := lines("check -json"), lines("json")
			require.Len(t, checked, len(packets))
			require.Len(t, shown, len(packets))
			tokens := strings.Join(lines("tokens"), "")
			require.Equal(t, len(packets), strings.Count(tokens, "packet "))
			good, noJSON := 0, 0
			for i, line := range checked {
				var v struct{ OK bool }
				require.NoError(t, json.Unmarshal([]byte(line), &v))
				if v.OK {
					good++
					if flags == "-any-utf8" {
						continue // JSON is UTF-8
					}
					if !json.Valid([]byte(shown[i])) { // a NodePath that cannot be read back from its text
						require.Contains(t, shown[i], `"np:`)
						noJSON++
					}
				}
			}
			require.Greater(t, good, 40)
			require.Less(t, noJSON, 5)
		}
	}
}

func TestFlat(t *testing.T) {
	runCases(t, []testCase{
		{name: "scalars", args: "flat", in: wire(0, 1, 1, 2, -5, 3, float32(0.5), 4, "a\n\"", 21, "n"),
			out: "$ = null\n$1 = true\n$2 = -5\n$3 = 0.5\n$4 = \"a\\n\\\"\"\n$5 = &\"n\"\n"},
		{name: "keys", args: "flat",
			in: wire(27, 9, 4, "hp", 2, 1, 4, "a b", 2, 2, 2, 7, 2, 3, 0x10003, 1.5, 2, 4, 0, 2, 5, 21, "s", 2, 6,
				6, 1, 2, 2, 7, 22, uint32(0x80000001), 1, 1, "a", "b", 2, 8, 28, 1, 2, 9, 2, 10),
			out: "$.hp = 1\n$[\"a b\"] = 2\n$[7] = 3\n$[1.5] = 4\n$[null] = 5\n$[&\"s\"] = 6\n$[Vector2i(1, 2)] = 7\n$[^\"/a:b\"] = 8\n" +
				"$.key(8)[0] = 9\n$.value(8) = 10\n"},
		{name: "empty and typed", args: "flat",
			in:  wire(28, 5, 28, 0, 27, 0, 0x1001c, 2, 1, 2, 5, 0x1001c, 2, 0, 0x5001b, 4, 2, 0),
			out: "$[0] = []\n$[1] = {}\n$[2] = Array[int]\n$[2][0] = 5\n$[3] = Array[int]([])\n$[4] = Dictionary[String, int]({})\n"},
		{name: "packed", args: "flat",
			in: wire(28, 5, 29, 3, []byte{1, 2, 255, 0}, 30, 0, 32, 1, float32(0.1), 34, 1, "a\x00", 35, 1, float32(1), float32(2)),
			out: "$[0] = PackedByteArray(\"0102ff\")\n$[1] = PackedInt32Array()\n$[2] = PackedFloat32Array\n$[2][0] = 0.1\n" +
				"$[3] = PackedStringArray\n$[3][0] = \"a\"\n$[4] = PackedVector2Array\n$[4][0] = Vector2(1.0, 2.0)\n"},
		{name: "objects", args: "flat", in: wire(24, "Node", 2, "name", 4, "x", "metadata/a", 0, 0x10018, int64(5), 23, uint64(7), 25, 26, "hit", uint64(3)),
			out: "$ = Object(\"Node\")\n$.name = \"x\"\n$[\"metadata/a\"] = null\n$1 = ObjectID(5)\n$2 = RID(7)\n$3 = Callable()\n$4 = Signal(\"hit\", 3)\n"},
		{name: "NodePaths", args: "flat",
			in:  wire(22, uint32(0x80000000), 0, 0, 22, uint32(0x80000000), 0, 1, 22, uint32(0x80000002), 2, 0, "a", "b", "c", "d"),
			out: "$ = ^\"\"\n$1 = ^\"/\"\n$2 = ^\"a/b:c:d\"\n"},
		{name: "godot2", args: "flat -format godot2", in: wire(15, 1, 2, 3, 4, 2, []byte{1, 2, 0, 0}, 19, 2, 4, 12, 17),
			out: "$ = Image(1, 2, 3, 4, \"0102\")\n$1 = InputEvent(2, 4, \"\")\n$2 = RID()\n"},
		{name: "control characters", args: "flat", in: wire(27, 1, 4, "\x1b[2J\u009b\u202e", 4, "\x7f"), out: "$[\"\\u001b[2J\\u009b\\u202e\"] = \"\\u007f\"\n"},
		{name: "cut", args: "flat", in: wire(28, 2, 2, 1, 4, 100), out: "$[0] = 1\n", status: statusBad, err: "unexpected EOF"},
		{name: "packets", args: "flat -frame u32", in: framed(wire(2, 5), wire(99), wire(2, 6)), out: "$ = 5\n$2 = 6\n", status: statusBad, err: "id 99"},
	})
}

// The output is bounded, however long the paths are, and says what is not in it.
func TestFlatHostile(t *testing.T) {
	var deep []any // 600 KB of keys in a path
	for range 600 {
		deep = append(deep, 27, 1, 4, strings.Repeat("k", 1000))
	}
	ints := make([]int32, 100_000)
	nested := bytes.Repeat(wire(28, 1), testenv.Cases(1<<17, 1<<20))
	for _, c := range []struct {
		name, flags string
		in          []byte
	}{
		{"many elements", "", wire(append(deep[:60:60], 28, len(ints), ints)...)},
		{"a path over the limit", "", wire(append(deep, 28, len(ints), ints)...)},
		{"packed", "", wire(append(deep[:60:60], 30, len(ints), ints)...)},
		{"deep", "-max-depth none -max-values none", append(nested, wire(28, 0)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runWith(append(c.in, wire(2, 5)...), strings.Fields("flat "+c.flags)...)
			require.Equal(t, statusBad, r.status)
			require.Less(t, len(r.out), 100<<20)
			require.Contains(t, r.err, "values left out because of their long paths: ")
			require.True(t, strings.HasSuffix(r.out, "$1 = 5\n"), r.err)
		})
	}
}

// Keys that differ have different paths, also where their text is the same.
func TestFlatNodePathKeys(t *testing.T) {
	in := wire(27, 2, 22, uint32(0x80000001), 0, 0, "a/b", 2, 1, 22, uint32(0x80000002), 0, 0, "a", "b", 2, 2)
	runCases(t, []testCase{
		{name: "flat", args: "flat", in: in, out: "$.key(0) = ^\"a/b\"\n$.value(0) = 1\n$[^\"a/b\"] = 2\n"},
		{name: "get", args: "get [^\"a/b\"]", in: in, out: "2\n"},
		{name: "get the other", args: "get .value(0)", in: in, out: "1\n"},
	})
}

// TestFlatLong tests strings, keys and NodePaths of several chunks.
func TestFlatLong(t *testing.T) {
	long := strings.Repeat("0123456789é\n", 5000)
	quoted := string(text.AppendQuoted(nil, long))
	nodePath := wire(22, uint32(0x80000002), 1, 1, long, "b", long)
	r := runWith(append(wire(27, 3, 4, long, 2, 1, nodePath, 2, 2, 4, strings.Repeat("k", 1024), 2, 3), nodePath...), "flat")
	require.Zero(t, r.status, r.err)
	for i, want := range []string{
		"$.key(0) = " + quoted, "$.value(0) = 1",
		"$.key(1) = ^\"/" + quoted[1:len(quoted)-1] + "/b:" + quoted[1:], "$.value(1) = 2",
		"$." + strings.Repeat("k", 1024) + " = 3",
		"$1 = ^\"/" + quoted[1:len(quoted)-1] + "/b:" + quoted[1:], "",
	} {
		got := strings.Split(r.out, "\n")[i]
		require.True(t, want == got, "line %d: %d bytes %.60q … %q, %d bytes %.60q … %q", i, len(want), want, want[max(len(want)-20, 0):], len(got), got, got[max(len(got)-20, 0):])
	}
}

// TestFlatVectors shows all vectors of engines: every line parses, every path is unique and
// leads to a value, and setting all lines changes no byte.
func TestFlatVectors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "value")
	for folder, format := range engines {
		for i, v := range vectors(t, folder) {
			b := framed([]byte(v.Hex))
			flags := []string{"-format", format, "-frame", "u32", "-objects"}
			r := runWith(b, append([]string{"flat"}, flags...)...)
			require.Zero(t, r.status, "%s: %s", v.Name, r.err)
			seen := map[string]bool{}
			lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
			for j, line := range lines {
				p, value := must2(text.ParseLine(line))(t)
				require.Equal(t, line, p.String()+" = "+value.String())
				if seen[p.String()] {
					require.Equal(t, "dict_equal_keys", v.Name, line)
				}
				seen[p.String()] = true
				if j%50 == i%50 && !strings.Contains(line, "^") {
					got := runWith(b, append([]string{"get", p.String()}, flags...)...)
					require.Zero(t, got.status, "%s %s: %s", v.Name, p, got.err)
				}
			}
			require.NoError(t, os.WriteFile(file, b, 0o600))
			r = runWith([]byte(r.out), append([]string{"set", "-q", file}, flags...)...)
			require.Zero(t, r.status, "%s: %s", v.Name, r.err)
			require.Empty(t, r.err)
			require.True(t, bytes.Equal(b, []byte(r.out)), v.Name)
		}
	}
}

// TestCommandErrorPaths: get finds the invalid value by the path in an error.
func TestCommandErrorPaths(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
	}{
		{"names", wire(27, 1, 4, "player", 27, 1, 4, "inventory", 28, 2, 2, 1, 99)},
		{"quotes", wire(27, 1, 4, "a \"b\"\n", 99)},
		{"int key", wire(27, 2, 2, 7, 0, 2, 8, 99)},
		{"vector key", wire(27, 1, 6, 1, 2, 99)},
		{"StringName key", wire(27, 1, 21, "s", 99)},
		{"long key", wire(27, 1, 4, strings.Repeat("long", 20), 28, 1, 99)},
		{"container key", wire(27, 1, 28, 1, 0, 99)},
		{"in a key", wire(27, 1, 28, 1, 99)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runWith(c.in, "check")
			_, rest, ok := strings.Cut(r.out, "offset ")
			require.True(t, ok, r.out)
			_, rest, _ = strings.Cut(rest, ", ")
			at, _, _ := strings.Cut(rest, ": unknown godot4 type id")
			at, _, _ = strings.Cut(at, ": unknown")
			got := runWith(c.in, "get", at)
			require.Equal(t, statusBad, got.status)
			require.Contains(t, got.err, "id 99", "get %s", at)
		})
	}
}

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

// TestValuesInBytes shows values in the bytes of PackedByteArrays in each command, to a depth of 3, and edits them.
func TestValuesInBytes(t *testing.T) {
	dir := t.TempDir()
	nested := wire(27, 2, 4, "hp", 2, 73, 4, "name", 4, "Ada Lovelace")
	for range 4 {
		nested = wire(27, 1, 4, "data", 29, len(nested), nested)
	}
	flat := "$.data = PackedByteArray(…)\n$.data.value().data = PackedByteArray(…)\n$.data.value().data.value().data = PackedByteArray(…)\n" +
		"$.data.value().data.value().data.value().data = PackedByteArray(…)\n"
	got := runWith(nested, "flat")
	require.Equal(t, flat, regexp.MustCompile(`"[0-9a-f]+"`).ReplaceAllString(got.out, "…"))
	inner := "data.value().data.value().data.value().data.value()"
	require.Equal(t, "73\n", runWith(nested, "get", inner+".hp").out) // which is deeper
	file := filepath.Join(dir, "save")
	require.NoError(t, os.WriteFile(file, nested, 0o600))
	r := runWith(nil, "set", "-i", inner+".hp += 1", inner+`.name = "Eve"`, file)
	require.Zero(t, r.status, r.err)
	require.Equal(t, `{"hp": 74, "name": "Eve"}`+"\n", runWith(nil, "get", inner, file).out)

	quests := wire(28, 1, 27, 2, 4, "quest_name", 4, "bread", 4, "money", 2, 10)
	quests = wire(27, 2, 4, "completed", 29, len(quests), quests, 4, "active", 29, 0)
	file = filepath.Join(dir, "report")
	require.NoError(t, os.WriteFile(file, framed(wire(27, 1, 4, "quests", 29, len(quests), quests)), 0o600))
	with := func(in string, args ...string) (string, string) {
		var out, errs bytes.Buffer
		require.Zero(t, run(append(args, file), strings.NewReader(in), &out, &errs), "%v", &errs)
		return out.String(), errs.String()
	}
	out := func(args ...string) string { out, _ := with("", args...); return out }
	require.Contains(t, out("check"), "in bytes  $.quests.value(): a value\n")
	require.Contains(t, out("check", "-json"), `"inside":["$.quests.value(): a value"]`)
	require.Equal(t, "$.quests.value().completed.value()[0].quest_name = \"bread\"\n", out("find", "bread"))
	require.Regexp(t, `^\$\.quests\.value\(\)\.completed = PackedByteArray\("[0-9a-f]+"\)\n$`, out("find", "completed"))
	_, errs := with(strings.Replace(out("flat"), "money = 10", "money = 25", 1), "set", "-i")
	require.Equal(t, "gdwire: $.quests.value().completed.value()[0].money: 25, was 10\n", errs)
}
