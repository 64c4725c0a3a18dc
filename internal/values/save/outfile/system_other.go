//go:build !unix

package outfile

import (
	"os"
	"syscall"
)

// endings are the signals that end a program.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM}

// writeFailures are the signals of a failed write.
var writeFailures []os.Signal

// keepOwner does nothing: the owner is the writer of the file, or its folder decides.
func keepOwner(string, os.FileInfo) bool { return true }

// syncFolder does nothing: folders cannot be synced.
func syncFolder(string) {}
