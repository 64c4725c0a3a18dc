package main

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// endless is n bytes of text.
func endless(n int64) io.Reader { return io.LimitReader(letters{}, n) }

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	return copy(p, block), nil
}

var block = strings.Repeat("x", 1<<16)

// TestMemory: a value may be larger than memory, and so may a frame.
func TestMemory(t *testing.T) {
	size := 256 << 20
	if testing.Short() {
		size = 16 << 20
	}
	values := map[string][]byte{
		"packed": wire(29, size),
		"string": wire(4, size),
	}
	const frame = " -frame u32 -max-packet -1"
	for command, most := range map[string]uint64{
		"json": 1 << 20, "check": 1 << 20, "check -json": 1 << 20, "recode": 1 << 20,
		"json" + frame: 1 << 20, "check" + frame: 1 << 20, "check -json" + frame: 1 << 20,
		"tokens": uint64(size / 4), "tokens" + frame: uint64(size / 4), // all lines together; none is kept
	} {
		for name, head := range values {
			if strings.HasSuffix(command, frame) {
				head = append(wire(len(head)+size), head...)
			}
			t.Run(command+" "+name, func(t *testing.T) {
				in := io.MultiReader(bytes.NewReader(head), endless(int64(size)))
				args := append(strings.Fields(command), "-max-string", "-1")
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				require.Zero(t, run(fixed(args), in, io.Discard, io.Discard))
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, most)
			})
		}
	}
}
