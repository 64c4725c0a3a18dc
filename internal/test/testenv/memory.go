package testenv

import (
	"runtime"
	"runtime/debug"
)

// MaxMemory returns the bytes that reading or writing a value of any size may allocate.
func MaxMemory() uint64 {
	if Race { // it drops some pooled buffers
		return 256 << 10
	}
	return 64 << 10
}

// Allocated returns how many bytes f allocates in all. Other goroutines count, too. No collection empties the pools
// meanwhile.
func Allocated(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// PeakLimit is a variable for the environment of a process whose Peak is measured: beside other work the collector is late, and
// the process would take memory for garbage.
const PeakLimit = "GOMEMLIMIT=18MiB"

// Peak returns the memory in KiB that Go has taken from the system, which never becomes less. The kernel's counts
// contain pages of the program, which it drops at any time.
func Peak() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.Sys >> 10)
}
