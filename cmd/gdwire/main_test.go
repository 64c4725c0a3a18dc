package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUsage(t *testing.T) {
	for _, args := range []string{
		"", "frobnicate", "json -format godot5", "json -frame u64", "json -frame", "json -json", "json -n 3",
		"json -max-depth x", "json -max-depth -2", "json -max-depth 1.5K", "json -max-bytes 9999999999G", "json -max-bytes 99999999999999999999", "tokens a b", "get", "get [ FILE", "set", "set $.a FILE", "recode -to x", "recode -to godot4,godot3", "recode -to u32 -to none", "recode -to zstd,zstd", "unwrap -format godot4", "unwrap -max-depth 3", "unwrap -q", "encode -skip 3", "encode -strict", "listen -skip 3 1", "proxy -password-file x 1 2", "set -skip 3 a=1 x", "version -q", "check -max-content", "proxy 1", "proxy -frame none 1 2", "encode -plain -like x", "version x",
	} {
		t.Run(args, func(t *testing.T) {
			r := runWith(nil, strings.Fields(args)...)
			require.Equal(t, statusUsage, r.status)
			require.Empty(t, r.out)
			require.Contains(t, r.err, "Usage: gdwire ")
		})
	}
	for _, args := range []string{"help", "-h", "--help", "tokens -h", "json -help", "check --help", "recode -strict -h"} {
		t.Run(args, func(t *testing.T) {
			r := runWith(nil, strings.Fields(args)...)
			require.Equal(t, statusGood, r.status)
			require.Contains(t, r.out, "Usage: gdwire ")
			require.Empty(t, r.err)
		})
	}
	t.Run("limits are a group of their own", func(t *testing.T) {
		flags, limits, ok := strings.Cut(runWith(nil, "json", "-h").out, "\nLimits:\n")
		require.True(t, ok)
		require.NotContains(t, flags, "-max-")
		require.Equal(t, 9, strings.Count(limits, "  -max-"))
		require.NotContains(t, runWith(nil, "version", "-h").out, "Limits")
		require.Equal(t, 5, strings.Count(runWith(nil, "unwrap", "-h").out, "\n  -"))
		for _, group := range program.Groups {
			for _, c := range group.Commands {
				require.Equal(t, c.Edits, strings.Contains(runWith(nil, c.Name, "-h").out, "it can be the input"), c.Name)
			}
		}
	})
	t.Run("all flags are described", func(t *testing.T) {
		help := runWith(nil, "json", "-h").out
		for _, name := range strings.Fields(`format frame objects strict any-utf8 double
			max-depth max-elements max-values max-string max-name max-packed max-bytes max-packet max-content`) {
			require.Contains(t, help, "  -"+name+" ")
		}
		require.NotContains(t, help, "`")
	})
}

func TestCommandFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "five")
	require.NoError(t, os.WriteFile(file, wire(2, 5), 0o600))
	runCases(t, []testCase{
		{name: "file", args: "json " + file, out: "\"i:5\"\n"},
		{name: "standard input", args: "json", in: wire(2, 6), out: "\"i:6\"\n"},
		{name: "standard input by name", args: "json -", in: wire(2, 6), out: "\"i:6\"\n"},
		{name: "no file", args: "json " + file + "x", status: statusBad, err: "five"},
		{name: "empty", args: "json"},
		{name: "empty frames", args: "json -frame u32"},
		{name: "empty tokens", args: "tokens"},
		{name: "empty recode", args: "recode", status: statusBad, err: "the input is empty; nothing was written"},
	})
}
