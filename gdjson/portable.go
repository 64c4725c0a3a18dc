//go:build purego

package gdjson

// alias returns b as a string.
func alias(b []byte) string { return string(b) }
