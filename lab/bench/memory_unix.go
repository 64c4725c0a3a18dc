//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// maxRSS returns the peak memory of an ended process, in bytes.
func maxRSS(p *os.ProcessState) (int64, bool) {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	n := int64(usage.Maxrss) //nolint:unconvert // an int32 on other systems
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		n <<= 10
	}
	return n, true
}

// cpuTime returns the CPU time of this process, of user and system.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
