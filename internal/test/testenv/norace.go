//go:build !race

package testenv

// Race reports whether the race detector is on, which needs memory of its own.
const Race = false
