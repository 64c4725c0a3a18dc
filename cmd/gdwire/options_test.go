package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "5000": 5000, "10K": 10 << 10, "10KiB": 10 << 10, "16MiB": 16 << 20, "16M": 16 << 20, "2G": 2 << 30, "1TB": 1 << 40, "none": -1, "-1": -1,
	} {
		t.Run(text, func(t *testing.T) {
			n, err := parseSize(text)
			require.NoError(t, err)
			require.Equal(t, want, n)
		})
	}
	for _, text := range []string{"", "K", "-2", "-1K", "1.5M", "1k", "x", "9223372036854775807K", "10 000"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			_, err := parseSize(text)
			require.ErrorContains(t, err, "want a number", text)
		})
	}
}

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

	file := filepath.Join(t.TempDir(), "large")
	large := framed(wire(29, 9<<20, make([]byte, 9<<20))) // beyond 8 MiB
	require.NoError(t, os.WriteFile(file, large, 0o600))
	require.Equal(t, statusGood, runWith(nil, "check", "-frame", "u32", file).status)
	require.Equal(t, statusBad, runWith(large, "check", "-frame", "u32").status)
}

// TestFlagOrder has flags after operands, and operands that look like flags.
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
