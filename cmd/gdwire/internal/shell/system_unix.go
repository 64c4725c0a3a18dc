//go:build unix

package shell

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// hangup is the signal of a closed terminal.
const hangup = syscall.SIGHUP

// isClosedPipe reports whether err says that a reader closed the output.
func isClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// ignoreClosedPipe lets the program go on when nobody reads its messages.
func ignoreClosedPipe() { signal.Ignore(syscall.SIGPIPE) }

// openTerminal opens the user's terminal.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
