package main

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// endless is a Reader of n bytes of text.
func endless(n int64) io.Reader { return io.LimitReader(letters{}, n) }

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	return copy(p, block), nil
}

var block = strings.Repeat("x", 1<<16)

// TestCommandMemory: values and packets can be larger than memory.
func TestCommandMemory(t *testing.T) {
	size := testenv.Cases(4<<20, 64<<20)
	values := map[string][]byte{
		"packed": wire(29, size),
		"string": wire(4, size),
	}
	const frame = " -frame u32 -max-packet -1"
	for command, most := range map[string]uint64{
		"json": 1 << 20, "check": 1 << 20, "check -json": 1 << 20, "recode": 1 << 20, "recode -to u32": 2 << 20, "flat": 1 << 20, "get [0]": 1 << 20, "get $": 1 << 20,
		"json" + frame: 1 << 20, "flat" + frame: 1 << 20, "get $" + frame: 1 << 20, "check" + frame: 1 << 20, "check -json" + frame: 1 << 20,
		"tokens": uint64(size / 4), "tokens" + frame: uint64(size / 4), // all lines together; none is kept
	} {
		if testenv.Race {
			most *= 2 // a sync.Pool drops buffers at random then
		}
		for name, head := range values {
			if strings.HasSuffix(command, frame) {
				head = append(wire(len(head)+size), head...)
			}
			t.Run(command+" "+name, func(t *testing.T) {
				in := io.MultiReader(bytes.NewReader(head), endless(int64(size)))
				args := append(strings.Fields(command), "-max-string", "-1")
				var status int
				allocated := testenv.Allocated(func() { status = run(fixed(args), in, io.Discard, io.Discard) })
				if command == "get [0]" && name == "string" {
					require.Equal(t, statusBad, status, "a String has no elements")
				} else {
					require.Zero(t, status)
				}
				require.Less(t, allocated, most)
			})
		}
	}
}

// TestLossyMemory: a conversion to Godot 3 keeps no text or packed array in memory.
func TestLossyMemory(t *testing.T) {
	size := 4 << 20
	for name, head := range map[string][]byte{"StringName": wire(21, size), "PackedInt64Array": wire(31, size/8), "PackedVector4Array": wire(38, size/16)} {
		t.Run(name, func(t *testing.T) {
			in := io.MultiReader(bytes.NewReader(head), endless(int64(size)))
			args := strings.Fields("recode -format godot4 -frame none -to godot3 -lossy -max-string -1 -max-elements -1")
			allocated := testenv.Allocated(func() { require.Zero(t, run(args, in, io.Discard, io.Discard)) })
			require.Less(t, allocated, uint64(2<<20))
		})
	}
}

// TestMemoryLarge runs commands as processes of their own over 4 GiB, which are
// generated, or 40 MiB in the quick tests, and looks at the most memory that they had.
func TestMemoryLarge(t *testing.T) {
	size := int64(4<<30) - 1<<20
	if !testenv.Full() || strconv.IntSize == 32 {
		size = 40 << 20
	}
	elements := int(size / (1 << 20))
	for _, args := range []string{"flat", "json", "check", "check -json", "get [" + strconv.Itoa(elements-1) + "]", "recode -to u32 -o /dev/null", "recode"} {
		t.Run(args, func(t *testing.T) {
			if strings.Contains(args, "u32") { // a packet is in memory unless its file can seek
				args = strings.Replace(args, "/dev/null", filepath.Join(t.TempDir(), "out"), 1)
				elements := elements / 8 // of disk space
				require.Less(t, peak(t, args, array(elements)), maxPeak)
				return
			}
			elements := elements
			if args == "json" { // which takes longest
				elements /= 8
			}
			require.Less(t, peak(t, args, array(elements)), maxPeak)
		})
	}
}

// TestMemoryCompressed is the same for a compressed file, of which engines write
// blocks of 4 KiB.
func TestMemoryCompressed(t *testing.T) {
	elements := 1023
	if !testenv.Full() || strconv.IntSize == 32 {
		elements = 40
	}
	b := compressed(t, elements)
	for _, args := range []string{"unwrap -max-content none", "check -max-content none", "flat -max-content none"} {
		t.Run(args, func(t *testing.T) {
			require.Less(t, peak(t, args, slices.Values([][]byte{b})), maxPeak)
		})
	}
}

// compressed returns a compressed file of array.
func compressed(t *testing.T, elements int) []byte {
	var file bytes.Buffer
	w := must(fileaccess.NewCompressedWriter(&file, fileaccess.Zstd, 0))(t)
	for b := range array(elements) {
		must(w.Write(b))(t)
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

// TestMemoryFile: commands that read a file several times hold no more of it.
func TestMemoryFile(t *testing.T) {
	const records, size = 8 << 10, 8 << 10
	const fileSize = records * size >> 10 // in KiB
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data)
	file := wire(27, 1, 4, "list", 28, records)
	for i := range records {
		file = append(append(file, wire(27, 2, 4, "id", 2, i+1, 4, "data", 29, size)...), data...)
	}
	name := filepath.Join(t.TempDir(), "save")
	require.NoError(t, os.WriteFile(name, file, 0o600))
	password, out := filepath.Join(t.TempDir(), "password"), filepath.Join(t.TempDir(), "out")
	require.NoError(t, os.WriteFile(password, []byte("hunter2"), 0o600))
	for _, args := range []string{"struct", "diff -max-memory 30M " + name, "recode -to zstd", "recode -to zstd -o " + out, "recode -to encrypted -password-file " + password} {
		t.Run(strings.Fields(args)[0], func(t *testing.T) {
			c, peak := measured(t, append(strings.Fields(args), "-q", name)...)
			require.NoError(t, c.Run())
			require.Less(t, peak(), fileSize/2)
		})
	}
}

// TestMemoryEncode: encode holds its text and the value, and while it reads the text, half of it
// twice.
func TestMemoryEncode(t *testing.T) {
	text := "[" + strings.Repeat(`{"name":"some text","position":[1.5,2.5],"id":1},`, 16<<20/50) + "null]"
	c, peak := measured(t, "encode", "-q", "-plain")
	c.Stdin = strings.NewReader(text)
	out := must(c.StdoutPipe())(t)
	require.NoError(t, c.Start())
	value := must(io.Copy(io.Discard, out))(t)
	require.NoError(t, c.Wait())
	require.Less(t, peak(), (3*len(text)/2+int(value))>>10+maxPeak)
}

// maxPeak is the most memory that a command may have, in KiB.
const maxPeak = 24 << 10

// array returns the bytes of an Array of PackedByteArrays of 1 MiB each.
func array(elements int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		more := yield(wire(28, elements))
		element := append(wire(29, 1<<20), make([]byte, 1<<20)...)
		for i := 0; i < elements && more; i++ {
			more = yield(element)
		}
	}
}

// peak runs the command with pieces of input and returns the most memory that it had, in KiB.
func peak(t *testing.T, args string, pieces iter.Seq[[]byte]) int {
	words := strings.Fields(args)
	if words[0] != "unwrap" {
		words = append(words, "-format", "godot4", "-frame", "none")
	}
	return peakOf(t, words, pieces)
}

// peakOf returns the peak memory of a command without additional flags.
func peakOf(t *testing.T, words []string, pieces iter.Seq[[]byte]) int {
	c, peak := measured(t, words...)
	in := must(c.StdinPipe())(t)
	var errs bytes.Buffer
	c.Stderr = &errs
	require.NoError(t, c.Start())
	for b := range pieces {
		if _, err := in.Write(b); err != nil {
			break // it saw enough
		}
	}
	require.NoError(t, in.Close())
	require.NoError(t, c.Wait(), errs.String())
	return peak()
}

// memoryVariable names the file to which a process writes the most memory that it had, in KiB.
const memoryVariable = "GDWIRE_MEMORY"

// measuredMain is main for the processes of tests.
func measuredMain() {
	status := program.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if name := os.Getenv(memoryVariable); name != "" {
		_ = os.WriteFile(name, fmt.Append(nil, testenv.Peak()), 0o600)
	}
	os.Exit(status)
}

// measured returns a process of the command, and after its end, the most memory that it had, in KiB.
func measured(t *testing.T, args ...string) (c *exec.Cmd, peak func() int) {
	if testenv.Race {
		t.Skip("skipped: the race detector needs memory of its own")
	}
	name := filepath.Join(t.TempDir(), "memory")
	c = exec.CommandContext(t.Context(), "gdwire", args...)
	c.Env = append(os.Environ(), memoryVariable+"="+name, testenv.PeakLimit)
	return c, func() (kib int) {
		must(fmt.Sscan(string(must(os.ReadFile(name))(t)), &kib))(t)
		return kib
	}
}
