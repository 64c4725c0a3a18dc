//go:build !linux

package fileaccess

import "os"

// appends returns false: an *os.File returns an error if it was opened with os.O_APPEND.
func appends(*os.File) bool { return false }
