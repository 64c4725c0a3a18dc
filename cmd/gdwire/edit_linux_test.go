package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// runProcess runs the command as a process of its own and returns the most memory that it
// had, in KiB.
func runProcess(t *testing.T, stdin string, args ...string) int64 {
	if raceEnabled {
		t.Skip("skipped: the race detector needs memory of its own")
	}
	c := exec.CommandContext(t.Context(), "gdwire", args...)
	var errs bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader(stdin), &errs
	require.NoError(t, c.Run(), "%.1000s", errs.String())
	return c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
}

// A file is edited in pieces, however large it is.
func TestEditLarge(t *testing.T) {
	size := 3 << 29
	if testing.Short() || strconv.IntSize == 32 {
		size = 64 << 20
	}
	file := filepath.Join(t.TempDir(), "large")
	head := wire(size+32, 28, 3, 29, size)
	tail := wire(2, 5, 2, 6)
	f, err := os.Create(file)
	require.NoError(t, err)
	_, err = f.Write(head)
	require.NoError(t, err)
	_, err = f.WriteAt(tail, int64(len(head)+size)) // the array is a hole
	require.NoError(t, err)
	require.NoError(t, f.Close())
	for _, args := range [][]string{
		{"set", "[1] = 7", "[2] = s:text"}, {"delete", "[1]"}, {"add", "[+] = 8"}, {"copy", "[0][5]", "[0][7]"}, {"copy", "[0]", "[+]"},
	} {
		t.Run(args[0], func(t *testing.T) {
			args := append(args, file, "-format", "godot4", "-frame", "u32", "-o", "/dev/null")
			require.Less(t, runProcess(t, "", args...), int64(maxPeak))
		})
	}
}

// The lines of flat for each value of a save need memory by their number, and time.
func TestSetManyLines(t *testing.T) {
	n, most := 1_000_000, int64(512<<10)
	if testing.Short() {
		n, most = n/10, most/5
	}
	packets := make([][]byte, n)
	var lines strings.Builder
	array := wire(28, n)
	for i := range n {
		packets[i] = wire(2, i)
		array = append(array, packets[i]...)
		fmt.Fprintf(&lines, "$[%d] = %d\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "file")
	out := filepath.Join(t.TempDir(), "out")
	t.Run("values", func(t *testing.T) {
		require.NoError(t, os.WriteFile(file, framed(array), 0o600))
		require.Less(t, runProcess(t, lines.String(), "set", file, "-format", "godot4", "-frame", "u32", "-o", out), most)
		got, err := os.ReadFile(out)
		require.NoError(t, err)
		require.True(t, bytes.Equal(framed(array), got))
	})
	t.Run("packets", func(t *testing.T) {
		lines.Reset()
		want := make([][]byte, n/20)
		for i := range want {
			want[i] = wire(2, i+1)
			fmt.Fprintf(&lines, "$%d = %d\n", i, i+1)
		}
		require.NoError(t, os.WriteFile(file, framed(packets[:len(want)]...), 0o600))
		require.Less(t, runProcess(t, lines.String(), "set", file, "-q", "-format", "godot4", "-frame", "u32", "-o", out), most)
		got, err := os.ReadFile(out)
		require.NoError(t, err)
		require.True(t, bytes.Equal(framed(want...), got))
	})
}
