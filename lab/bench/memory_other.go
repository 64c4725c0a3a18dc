//go:build !unix

package main

import (
	"os"
	"time"
)

// maxRSS returns nothing on this system.
func maxRSS(*os.ProcessState) (int64, bool) { return 0, false }

// cpuTime returns the time since the start of this process, because this system has no getrusage.
func cpuTime() time.Duration { return elapsed() }
