//go:build !(linux || darwin)

package main

// limitMemory does nothing on this system.
func limitMemory(uint64) error { return nil }
