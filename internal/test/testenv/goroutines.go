package testenv

import (
	"runtime"
	"testing"
)

// NoGoroutines returns a function that fails the test if more goroutines run than when
// NoGoroutines was called. A goroutine of this or of an earlier test can be about to end, and
// finalizers can run: the function waits for them.
func NoGoroutines(t testing.TB) (check func()) {
	before := runtime.NumGoroutine()
	return func() {
		t.Helper()
		for range 10_000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			runtime.GC() // lets all others run
		}
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines are left, not %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
	}
}
