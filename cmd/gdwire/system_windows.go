package main

import (
	"errors"
	"os"
	"syscall"
)

// terminated is the signal by which systems and service managers end a program.
const terminated = syscall.SIGTERM

const (
	errBrokenPipe   syscall.Errno = 109
	errNoData       syscall.Errno = 232
	errNotConnected syscall.Errno = 233
)

// isClosedPipe reports whether err says that the reader of the output closed it.
func isClosedPipe(err error) bool {
	for _, closed := range []error{syscall.EPIPE, errBrokenPipe, errNoData, errNotConnected} {
		if errors.Is(err, closed) {
			return true
		}
	}
	return false
}

// ignoreClosedPipe lets the program go on when nobody reads its messages.
func ignoreClosedPipe() {}

// openTerminal opens the user's console.
func openTerminal() (*os.File, error) { return os.OpenFile("CONIN$", os.O_RDWR, 0) }
