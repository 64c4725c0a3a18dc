package fileaccess

import (
	"os"
	"syscall"
)

// appends reports whether bytes are written to the end of f at any offset. An *os.File knows the flags it was opened with, and
// not those that were set later.
func appends(f *os.File) bool {
	var flags uintptr
	c, err := f.SyscallConn()
	if err == nil {
		err = c.Control(func(fd uintptr) { flags, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0) })
	}
	return err != nil || flags&syscall.O_APPEND != 0
}
