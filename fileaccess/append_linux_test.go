package fileaccess_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func init() {
	setAppend = func(t *testing.T, f *os.File) {
		_, _, err := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_SETFL, syscall.O_APPEND)
		require.Zero(t, err)
	}
}
