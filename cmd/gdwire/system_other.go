//go:build !unix && !windows

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// terminated is the signal by which systems and service managers end a program.
const terminated = syscall.SIGTERM

// hangup is the signal that the terminal was closed.
const hangup = terminated

// isClosedPipe reports whether err says that the reader of the output closed it.
func isClosedPipe(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) || err != nil && strings.Contains(err.Error(), "closed pipe")
}

// ignoreClosedPipe lets the program go on when nobody reads its messages.
func ignoreClosedPipe() {}

// openTerminal opens the user's console.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/cons", os.O_RDWR, 0) }

// ownGroup would let a program run in a process group of its own, which this system lacks.
func ownGroup(*exec.Cmd) {}

// killGroup ends a program.
func killGroup(p *os.Process) { _ = p.Kill() }
