package conformance

import (
	"os"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// newGuardPage returns a guardPage for inputs of up to size bytes. Until the end of the test, reading memory
// that is not readable is a panic of the test's goroutine.
func newGuardPage(t testing.TB, size int) *guardPage {
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
	return &guardPage{whole[:size], whole}
}

func TestGuardMemory(t *testing.T) {
	m := newGuardPage(t, 10)
	b := m.put([]byte("abc"))
	require.Equal(t, "abc", string(b))
	require.Panics(t, func() { _ = string(b[:4]) })
	require.Empty(t, m.put(nil))
}
