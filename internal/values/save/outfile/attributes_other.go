//go:build !linux

package outfile

// keepAttributes does nothing.
func keepAttributes(string, string) bool { return true }
