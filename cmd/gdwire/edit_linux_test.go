package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// runProcess runs the command as a process of its own. It returns the output, without its
// first skip bytes, and the most memory that the process had, in KiB.
func runProcess(t *testing.T, stdin string, skip int, args ...string) (out []byte, most int) {
	c, peak := measured(t, args...)
	var errs bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader(stdin), &errs
	pipe := must(c.StdoutPipe())(t)
	require.NoError(t, c.Start())
	_, err := io.CopyN(io.Discard, pipe, int64(skip))
	require.NoError(t, err, "%.1000s", &errs)
	out = must(io.ReadAll(pipe))(t)
	require.NoError(t, c.Wait(), "%.1000s", &errs)
	return out, peak()
}

// lastOutput is more than what the process wrote and nobody read.
const lastOutput = 160 << 10

// A file is edited in pieces, however large it is.
func TestEditLarge(t *testing.T) {
	size := 1 << 29
	if !full() || strconv.IntSize == 32 {
		size = 48 << 20
	}
	file := filepath.Join(t.TempDir(), "large")
	head := wire(size+32, 28, 3, 29, size)
	tail := wire(2, 5, 2, 6)
	f := must(os.Create(file))(t)
	must(f.Write(head))(t)
	_, err := f.WriteAt(tail, int64(len(head)+size)) // the array is a hole
	require.NoError(t, err)
	require.NoError(t, f.Close())
	for _, args := range [][]string{
		{"set", "[1] = 7", "[2] = s:text"}, {"delete", "[1]"}, {"add", "[+] = 8"}, {"copy", "[0][5]", "[0][7]"}, {"copy", "[0]", "[+]"},
	} {
		t.Run(args[0], func(t *testing.T) {
			args := append(args, file, "-format", "godot4", "-frame", "u32")
			_, most := runProcess(t, "", size-lastOutput, args...)
			require.Less(t, most, maxPeak)
		})
	}
}

// The lines of flat for each value of a save need memory by their number, and time.
func TestSetManyLines(t *testing.T) {
	n, most := 1_000_000, 512<<10
	if !full() {
		n, most = n/20, most/10
	}
	packets, edited := make([][]byte, n), make([][]byte, n)
	dicts := make([][]byte, n/2)
	var lines, packetLines, dictLines strings.Builder
	for i := range n {
		packets[i], edited[i] = wire(2, i), wire(2, i+1)
		fmt.Fprintf(&lines, "$[%d] = %d\n", i, i)
		if i < n/10 {
			fmt.Fprintf(&packetLines, "$%d = %d\n", i, i+1)
		}
		if i < n/2 {
			dicts[i] = wire(27, 2, 4, "a", 2, i, 4, "b", 2, i)
			fmt.Fprintf(&dictLines, "$[%d].a = %d\n$[%d].b = %d\n", i, i, i, i)
		}
	}
	arrayOfDicts := append(wire(28, n/2), bytes.Join(dicts, nil)...)
	array := append(wire(28, n), bytes.Join(packets, nil)...)
	for _, c := range []struct {
		name     string
		in, want []byte
		lines    string
	}{
		{"values", framed(array), framed(array), lines.String()},
		{"pairs", framed(arrayOfDicts), framed(arrayOfDicts), dictLines.String()},
		{"packets", framed(packets[:n/10]...), framed(edited[:n/10]...), packetLines.String()},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(file, c.in, 0o600))
			out, got := runProcess(t, c.lines, len(c.want)-lastOutput, "set", file, "-q", "-format", "godot4", "-frame", "u32")
			require.Less(t, got, most)
			require.True(t, bytes.HasSuffix(c.want, out))
		})
	}
}
