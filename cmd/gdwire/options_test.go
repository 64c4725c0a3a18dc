package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

// TestLimitFlags: an error of a limit names the flag that raises it, and a regular
// file needs none.
func TestLimitFlags(t *testing.T) {
	for flag, in := range map[string][]byte{
		"max-elements": wire(28, 2, 0, 0), "max-string": wire(4, "abc"), "max-packed": wire(29, 4, []byte{1, 2, 3, 4}),
		"max-depth": wire(28, 1, 28, 1, 0), "max-values": wire(28, 1, 28, 1, 0), "max-name": wire(26, "abc", uint64(0)), "max-bytes": wire(4, "abc"),
	} {
		t.Run(flag, func(t *testing.T) {
			r := runWith(in, "json", "-"+flag, "1")
			require.Equal(t, statusBad, r.status)
			require.Contains(t, r.err, "; raise it with -"+flag+"\n")
		})
	}
	r := runWith(framed(wire(4, "abc")), "json", "-frame", "u32", "-max-packet", "5")
	require.Contains(t, r.err, "; raise it with -max-packet\n")
	var compressed bytes.Buffer
	w := must(fileaccess.NewCompressedWriter(&compressed, fileaccess.Zstd, 0))(t)
	_, err := w.Write(framed(wire(4, "abc")))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	r = runWith(compressed.Bytes(), "json", "-max-content", "5")
	require.Contains(t, r.err, "; raise it with -max-content\n")

	file := filepath.Join(t.TempDir(), "large")
	large := framed(wire(29, 9<<20, make([]byte, 9<<20))) // beyond 8 MiB
	require.NoError(t, os.WriteFile(file, large, 0o600))
	require.Equal(t, statusGood, runWith(nil, "check", "-frame", "u32", file).status)
	require.Equal(t, statusBad, runWith(large, "check", "-frame", "u32").status)
}

// TestFlagOrder tests flags after operands, and operands that look like flags.
func TestFlagOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "-five")
	require.NoError(t, os.WriteFile(file, wire(2, 5), 0o600))
	t.Chdir(filepath.Dir(file))
	runCases(t, []testCase{
		{name: "after", args: "get $ ./-five -plain", out: "5\n"},
		{name: "between", args: "get -plain $ -indent ./-five", out: "5\n"},
		{name: "after --", args: "get -plain -- $ -five", out: "5\n"},
	})
}

func TestCommandLimits(t *testing.T) {
	object := wire(24, "Resource", 1, "name", 4, "x")
	nested := wire(28, 1, 28, 1, 28, 1, 0)
	for _, c := range []struct {
		name, flags string
		in          []byte
		bad, good   string // flags beside
		err         string
	}{
		{"depth", "", nested, "-max-depth 2", "-max-depth 3", "Depth (2)"},
		{"elements", "", wire(28, 2, 0, 0), "-max-elements 1", "-max-elements 2", "Elements (1)"},
		{"values", "", nested, "-max-values 3", "-max-values 4", "Values (3)"},
		{"string", "", wire(4, "abcde"), "-max-string 4", "-max-string 5", "StringBytes (4)"},
		{"name", "", wire(26, "abcde", uint64(0)), "-max-name 4", "-max-name 5", "NameBytes (4)"},
		{"packed", "", wire(30, 2, 1, 2), "-max-packed 7", "-max-packed 8", "PackedBytes (7)"},
		{"bytes", "", wire(30, 2, 1, 2), "-max-bytes 15", "-max-bytes 16", "Bytes (15)"},
		{"objects", "", object, "", "-objects", "serialized objects"},
		{"strict", "", wire(1, 2), "-strict", "", "bool of 2"},
		{"utf8", "", wire(4, "\xff"), "", "-any-utf8", "invalid UTF-8"},
		{"format", "", wire(38, 0), "-format godot3", "-format godot4", "unknown godot3 type id 38"},
		{"double", "-format manual3", wire(5, 1.0, 1.0), "", "-double", "header has flags"},
	} {
		t.Run(c.name, func(t *testing.T) {
			commands := []string{"check", "check -json", "json -objects=false", "flat -objects=false", "tokens -objects=false", "recode"}
			if c.name == "utf8" { // JSON is UTF-8
				commands = slices.DeleteFunc(commands, func(s string) bool { return strings.HasPrefix(s, "json") })
			}
			for _, command := range commands {
				run := func(flags string) result {
					return runWith(c.in, strings.Fields(command+" "+c.flags+" "+flags)...)
				}
				r := run(c.bad)
				require.Equal(t, statusBad, r.status, command)
				require.Contains(t, r.out+r.err, c.err)
				r = run(c.good)
				require.Equal(t, statusGood, r.status, r.err)
			}
		})
	}
	t.Run("defaults and none", func(t *testing.T) {
		long := wire(26, strings.Repeat("x", 1025), uint64(0))
		require.Equal(t, statusBad, runWith(long, "check").status)
		require.Equal(t, statusBad, runWith(long, "check", "-max-name", "0").status)
		require.Equal(t, statusGood, runWith(long, "check", "-max-name", "-1").status)

		large := framed(wire(29, 8<<20, make([]byte, 8<<20)))
		require.Equal(t, statusBad, runWith(large, "check", "-frame", "u32").status)
		require.Equal(t, statusBad, runWith(large, "check", "-frame", "u32", "-max-packet", "0").status)
		require.Equal(t, statusGood, runWith(large, "check", "-frame", "u32", "-max-packet", "-1").status)
	})
}
