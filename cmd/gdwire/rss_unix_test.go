//go:build unix

package main

import (
	"os"
	"syscall"
)

// maxRSS returns the most memory that a process had, in KiB on Linux.
func maxRSS(s *os.ProcessState) int { return int(s.SysUsage().(*syscall.Rusage).Maxrss) }
