//go:build linux || darwin

package main

import "syscall"

// limitMemory limits the address space of this process.
func limitMemory(n uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: n, Max: n})
}
