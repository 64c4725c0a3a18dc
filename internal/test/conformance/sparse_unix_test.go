//go:build unix

package conformance

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// sparse returns n zeros, of which only pages that are read or written take memory.
func sparse(t *testing.T, n int64) []byte {
	t.Helper()
	b := must(syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE))(t)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(b)) })
	return b
}
