package guard

import (
	"os"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// New returns a Memory for inputs of up to size bytes. Until the end of the test, reading memory
// that is not readable is a panic of the test's goroutine.
func New(t testing.TB, size int) *Memory {
	page := os.Getpagesize()
	size = (size + page - 1) / page * page
	whole, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	require.NoError(t, syscall.Mprotect(whole[size:], syscall.PROT_NONE))
	old := debug.SetPanicOnFault(true)
	t.Cleanup(func() {
		debug.SetPanicOnFault(old)
		require.NoError(t, syscall.Munmap(whole))
	})
	return &Memory{whole[:size], whole}
}
