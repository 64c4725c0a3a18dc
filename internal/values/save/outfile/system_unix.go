//go:build unix

package outfile

import (
	"os"
	"syscall"
)

// endings are the signals that end a program.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// writeFailures are the signals of a failed write.
var writeFailures = []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ}

// keepOwner gives a file the owner and group of the replaced file, as far as permitted, and reports
// whether the group is the same.
func keepOwner(name string, old os.FileInfo) bool {
	s, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	_ = os.Chown(name, -1, int(s.Gid))
	_ = os.Chown(name, int(s.Uid), -1)
	var now syscall.Stat_t
	return syscall.Stat(name, &now) == nil && now.Gid == s.Gid
}

// syncFolder makes a renamed file survive a power failure.
func syncFolder(name string) {
	if f, err := os.Open(name); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}
