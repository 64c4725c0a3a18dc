//go:build unix && !aix && !solaris

package outfile

import (
	"os"
	"syscall"
)

// lock waits until no other program is about to replace the file, and returns a function to unlock
// the file.
func lock(name string) (unlock func()) {
	f, err := os.Open(name)
	if err != nil {
		return func() {}
	}
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX) // some network drives cannot
	return func() { _ = f.Close() }
}
