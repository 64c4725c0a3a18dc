package stream_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

// leftovers returns a function that checks that no more goroutines run and no more
// memory is in use than when leftovers was called.
func leftovers(t *testing.T) (check func()) {
	goroutines, heap := runtime.NumGoroutine(), heapInUse()
	return func() {
		t.Helper()
		assert.Less(t, heapInUse(), heap+1<<20)
		for range 1000 { // one that was waited for may still be at its last instruction
			if runtime.NumGoroutine() <= goroutines {
				return
			}
			runtime.GC()
		}
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines are left, not %d:\n%s", runtime.NumGoroutine(), goroutines, buf[:runtime.Stack(buf, true)])
	}
}

func heapInUse() uint64 {
	runtime.GC() // twice, for a pool keeps what it has for one more collection
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
