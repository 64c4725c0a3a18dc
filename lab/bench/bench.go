package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
)

// A group is a comparison: its contenders do the same work, and their rounds are
// interleaved.
type group struct {
	name    string
	about   string // one line of description
	counted bool   // by bench count
	// setup returns the contenders. The others are compared with the first.
	setup func(s *stage) []contender
	// measure, if set, replaces the function measure.
	measure func(o *options) ([]found, error)
}

// A contender is one way to do a group's work. The command, the benchmarks and the
// tests run the same body.
type contender struct {
	name      string
	ours      bool // gdwire, which must not allocate unless allocates
	allocates bool
	cpu       bool // run is measured in CPU time of this process
	bytes     int  // processed by one run, for MB/s
	// run does the work once and returns a result, which must be want.
	run  func() int
	want int
	// verify, if set, checks the last run. Tests call it.
	verify func() error
}

// allocating returns c as a contender of gdwire that may allocate.
func (c contender) allocating() contender {
	c.ours, c.allocates = true, true
	return c
}

// A stage holds the resources of a group.
type stage struct {
	short    bool // a test runs the bodies once, on small data
	cleanups []func()
}

// cleanup registers a call of f for the end of the group.
func (s *stage) cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *stage) close() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
	s.cleanups = nil
}

// scale returns n, or small in a test.
func (s *stage) scale(n, small int) int {
	if s.short {
		return small
	}
	return n
}

// check panics on an error, because bodies of benchmarks cannot return errors.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// must is check for calls that return a value.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// A measurement contains the times of a contender, in ns per run.
type measurement struct {
	Name      string     `json:"name"`
	Ours      bool       `json:"ours"`
	Allocates bool       `json:"allocates,omitempty"` // by its contract
	Bytes     int        `json:"bytes"`               // processed by one run
	Rounds    []float64  `json:"rounds"`
	Median    float64    `json:"median"`
	Quartiles [2]float64 `json:"quartiles"`         // the middle half of the rounds is between these
	Layouts   []float64  `json:"layouts,omitempty"` // the median of each layout, if there are several
	Allocs    float64    `json:"allocs"`
}

// measure measures a group: each round runs every contender for one slot, and
// another contender is the first of each round, and every second round is in reverse
// order, so that changes of the machine's speed and the previous work affect all
// contenders alike.
func measure(g group, o *options) found {
	s := &stage{}
	defer s.close()
	contenders := g.setup(s)
	if o.published {
		published := publishedTimes()
		contenders = slices.DeleteFunc(contenders, func(c contender) bool { return !published.has(g.name, c.name) })
	}
	all := make([]measurement, len(contenders))
	runs := make([]int, len(contenders))
	for i, c := range contenders {
		if got := c.run(); got != c.want {
			panic(fmt.Sprintf("%s: %s: got %d, want %d", g.name, c.name, got, c.want))
		}
		runs[i] = calibrate(c, o.slot)
		all[i] = measurement{Name: c.name, Ours: c.ours, Allocates: c.allocates, Bytes: c.bytes, Allocs: allocs(c, runs[i])}
	}
	for round := range o.rounds {
		for i := range contenders {
			i = (i + round/2) % len(contenders)
			if round%2 == 1 {
				i = len(contenders) - 1 - i
			}
			runtime.GC() // no contender pays for the garbage of another
			all[i].Rounds = append(all[i].Rounds, fastest(contenders[i], runs[i], o.slot))
		}
	}
	for i := range all {
		all[i].summarize()
	}
	return found{g.name, g.about, all}
}

// summarize sets the values computed from the rounds.
func (m *measurement) summarize() {
	m.Median = quantile(m.Rounds, 0.5)
	m.Quartiles = [2]float64{quantile(m.Rounds, 0.25), quantile(m.Rounds, 0.75)}
}

// parts is the number of parts of a slot. The fastest counts, because other work
// of the machine seldom affects all parts.
const parts = 5

// fastest returns the time of a run in the fastest part of a slot of n runs. For
// long runs there are as many parts as fit three slots, at least one.
//
// A run before the slot is not counted: the first after a garbage collection takes
// memory from the system or clears it.
func fastest(c contender, n int, slot time.Duration) float64 {
	c.run()
	n = max(1, n/parts)
	best, spent := math.Inf(1), time.Duration(0)
	for i := 0; i < parts && spent < 3*slot; i++ {
		took := timed(c, n)
		best = min(best, float64(took)/float64(n))
		spent += took
	}
	return best
}

func timed(c contender, n int) time.Duration {
	now := elapsed
	if c.cpu {
		now = cpuTime
	}
	start := now()
	for range n {
		c.run()
	}
	return now() - start
}

var started = time.Now()

// elapsed returns the time since the start of this process.
func elapsed() time.Duration { return time.Since(started) }

// calibrate returns the number of runs in a slot.
func calibrate(c contender, slot time.Duration) int {
	for n := 1; ; {
		took := timed(c, n)
		if took >= slot/4 {
			return max(1, int(float64(n)*float64(slot)/float64(took)))
		}
		n *= 2
	}
}

// allocs returns the allocations of one run in steady state: as
// testing.AllocsPerRun does, rounded down, and the minimum of three measurements,
// because the runtime allocates occasionally as well.
func allocs(c contender, runs int) float64 {
	n := min(max(runs/4, 1), 100)
	least := math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			c.run()
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64((after.Mallocs-before.Mallocs)/uint64(n)))
		if least == 0 {
			break
		}
	}
	return least
}

// quantile returns the quantile q of v. It does not change v.
func quantile(v []float64, q float64) float64 {
	v = slices.Sorted(slices.Values(v))
	at := q * float64(len(v)-1)
	i := int(at)
	if i+1 == len(v) {
		return v[i]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

// ratio returns the median of the ratios of a to b, round by round.
func ratio(a, b []float64) float64 {
	var v []float64
	for i := range min(len(a), len(b)) {
		v = append(v, a[i]/b[i])
	}
	return quantile(v, 0.5)
}
