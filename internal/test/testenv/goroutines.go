package testenv

import (
	"runtime"
	"testing"
)

// NoGoroutines returns a function that fails the test if more goroutines run than when
// NoGoroutines was called. One that has done its work may still have to end, also one of an
// earlier test, or a finalizer may run: the function gives them time.
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
