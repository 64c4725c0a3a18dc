package shell

import (
	"errors"
	"os"
	"syscall"
)

// hangup is the signal of a closed terminal.
const hangup = syscall.SIGHUP

const (
	errBrokenPipe   syscall.Errno = 109
	errNoData       syscall.Errno = 232
	errNotConnected syscall.Errno = 233
)

// isClosedPipe reports whether err says that a reader closed the output.
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
