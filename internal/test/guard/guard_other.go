//go:build !linux

package guard

import "testing"

// New returns a Memory for inputs of up to size bytes.
func New(_ testing.TB, size int) *Memory {
	whole := make([]byte, size+8)
	return &Memory{whole[:size], whole}
}
