package testenv

import "runtime"

// MaxMemory returns the bytes that reading or writing a value of any size may allocate.
func MaxMemory() uint64 {
	if Race { // it drops some pooled buffers
		return 256 << 10
	}
	return 64 << 10
}

// Allocated returns how many bytes f allocates in all. Other goroutines count, too.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
