//go:build unix && !aix && !solaris

package outfile

import (
	"os"
	"syscall"
)

// lock waits until no other program is about to replace the file, and returns a function to unlock
// the file.
func lock(name string) (unlock func()) {
	unlock, _ = flock(name, syscall.LOCK_EX)
	return unlock
}

// tryLock locks a file if no other program does.
func tryLock(name string) (unlock func(), ok bool) {
	return flock(name, syscall.LOCK_EX|syscall.LOCK_NB)
}

func flock(name string, how int) (unlock func(), ok bool) {
	f, err := os.Open(name)
	if err != nil {
		return func() {}, false
	}
	err = syscall.Flock(int(f.Fd()), how) // some network drives cannot
	return func() { _ = f.Close() }, err == nil
}
