//go:build unix

package shell

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// Terminated is the signal by which systems and service managers end a program.
const Terminated = syscall.SIGTERM

// hangup is the signal of a closed terminal.
const hangup = syscall.SIGHUP

// isClosedPipe reports whether err says that a reader closed the output.
func isClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// ignoreClosedPipe lets the program go on when nobody reads its messages.
func ignoreClosedPipe() { signal.Ignore(syscall.SIGPIPE) }

// openTerminal opens the user's terminal.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }

// OwnGroup lets a program run in a separate process group, not ended by Ctrl-C.
func OwnGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroup ends a program of OwnGroup and its child processes.
func KillGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
