//go:build !unix && !windows

package shell

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
)

// hangup is the signal of a closed terminal.
const hangup = syscall.SIGTERM

// isClosedPipe reports whether err says that a reader closed the output.
func isClosedPipe(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) || err != nil && strings.Contains(err.Error(), "closed pipe")
}

// ignoreClosedPipe lets the program go on when nobody reads its messages.
func ignoreClosedPipe() {}

// openTerminal opens the user's console.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/cons", os.O_RDWR, 0) }
