//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// terminated is the signal that ends a program.
const terminated = syscall.SIGTERM

// isClosedPipe reports whether the reader of the output is gone.
func isClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// keepOwner sets the owner of a file to that of the file it replaces, if permitted.
func keepOwner(name string, info os.FileInfo) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = os.Chown(name, int(s.Uid), int(s.Gid))
	}
}

// syncFolder makes a renamed file survive a power failure.
func syncFolder(name string) {
	if f, err := os.Open(name); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// openTerminal opens the user's terminal.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
