//go:build !linux

package conformance

import "testing"

// newGuardPage returns a guardPage for inputs of up to size bytes.
func newGuardPage(_ testing.TB, size int) *guardPage {
	whole := make([]byte, size+8)
	return &guardPage{whole[:size], whole}
}
