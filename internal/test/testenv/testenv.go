// Package testenv contains what tests of all packages share: how many cases they run, how much
// memory they may take, and a peer that stays silent.
package testenv

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
)

// Tests keep little of what they allocate. With fewer collections, those of all packages take a fifth less CPU time. A process
// whose memory is measured has a GOMEMLIMIT.
func init() {
	if os.Getenv("GOGC")+os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(400)
	}
}

// Full reports whether tests run every case, at full size: the environment variable
// GDWIRE_FULL is set. Otherwise they run a sample, the same in each run, which takes
// seconds.
func Full() bool { return os.Getenv("GDWIRE_FULL") != "" }

// Race reports whether the race detector is on, which needs memory of its own.
var Race = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// Cases returns how many cases a test runs: quick, or full with every case.
func Cases(quick, full int) int {
	if Full() {
		return full
	}
	return quick
}

// Must returns a function that returns v, or ends the test if err is an error:
//
//	b := testenv.Must(os.ReadFile(name))(t)
func Must[V any](v V, err error) func(t testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatalf("unexpected error: %v", err)
		}
		return v
	}
}

// Must2 is Must of two values.
func Must2[V, W any](v V, w W, err error) func(t testing.TB) (V, W) {
	return func(t testing.TB) (V, W) {
		t.Helper()
		return Must(v, err)(t), w
	}
}

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

// ErrWaits is the error of a Peer that sends nothing more. A connection would wait.
var ErrWaits = errors.New("the call waits for more than was sent")

// A Peer is a Reader of bytes that were sent, after which it stays testenv.
type Peer struct {
	b     []byte
	step  int
	waits bool
}

// NewPeer returns a Peer that sent b and returns up to step bytes at a time.
func NewPeer(b []byte, step int) *Peer { return &Peer{b: b, step: step} }

func (p *Peer) Read(dst []byte) (int, error) {
	if len(p.b) == 0 {
		p.waits = true
		return 0, ErrWaits
	}
	n := copy(dst, p.b[:min(p.step, len(p.b))])
	p.b = p.b[n:]
	return n, nil
}

// Waits reports whether more bytes were read than the Peer sent.
func (p *Peer) Waits() bool { return p.waits }
