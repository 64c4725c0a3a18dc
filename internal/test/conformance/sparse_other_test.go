//go:build !unix

package conformance

import "testing"

// sparse returns n zeros.
func sparse(_ *testing.T, n int64) []byte { return make([]byte, n) }
