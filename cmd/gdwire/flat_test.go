package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/text"
)

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
	nested := bytes.Repeat(wire(28, 1), 1<<20)
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
