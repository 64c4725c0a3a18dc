package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
)

// A group is what is compared: its contenders do the same work, and their rounds
// are interleaved.
type group struct {
	name  string
	about string // one line for a person
	// setup makes the contenders. The first is what the others are shown against.
	setup func(s *stage) []contender
	// measure, if it is set, is done in place of the function measure.
	measure func(o *options) ([]found, error)
}

// A contender is one way of doing a group's work. The command, the benchmarks of
// go test and its tests all run this very body.
type contender struct {
	name  string
	ours  bool // is gdwire, and so must not allocate
	bytes int  // what one run gets through, for MB/s
	// run does the work once and returns what it saw or made: that has to be want.
	run  func() int
	want int
	// verify, if it is set, tells more of what the last run did. Tests ask it.
	verify func() error
}

// A stage is what a group is set up on.
type stage struct {
	short    bool // the bodies are run once, by a test: be small
	cleanups []func()
}

// cleanup calls f when the group is done.
func (s *stage) cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *stage) close() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
	s.cleanups = nil
}

// scale is n, or small in a test.
func (s *stage) scale(n, small int) int {
	if s.short {
		return small
	}
	return n
}

// check panics: the bodies of benchmarks have nobody to return an error to.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// must is check for calls that return something, too.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// A measurement is what was found out about a contender. Times are of one run, in
// ns.
type measurement struct {
	Name      string     `json:"name"`
	Ours      bool       `json:"ours"`
	Bytes     int        `json:"bytes"` // that one run gets through
	Rounds    []float64  `json:"rounds"`
	Median    float64    `json:"median"`
	Quartiles [2]float64 `json:"quartiles"` // the rounds in the middle lie between these
	Allocs    float64    `json:"allocs"`
}

// measure runs a group: in each round every contender for a slot's time, one
// after the other, and the next round backwards. What is slow now and fast then,
// such as a machine with other things to do, so meets all of them alike.
func measure(g group, o *options) found {
	s := &stage{}
	defer s.close()
	contenders := g.setup(s)
	all := make([]measurement, len(contenders))
	runs := make([]int, len(contenders))
	for i, c := range contenders {
		if got := c.run(); got != c.want {
			panic(fmt.Sprintf("%s: %s: got %d, want %d", g.name, c.name, got, c.want))
		}
		runs[i] = calibrate(c, o.slot)
		all[i] = measurement{Name: c.name, Ours: c.ours, Bytes: c.bytes, Allocs: allocs(c, runs[i])}
	}
	for round := range o.rounds {
		for i := range contenders {
			if round%2 == 1 {
				i = len(contenders) - 1 - i
			}
			runtime.GC() // nobody pays for what others left behind
			all[i].Rounds = append(all[i].Rounds, fastest(contenders[i], runs[i], o.slot))
		}
	}
	for i := range all {
		all[i].summarize()
	}
	return found{g.name, g.about, all}
}

// summarize sets what follows from the rounds.
func (m *measurement) summarize() {
	m.Median = quantile(m.Rounds, 0.5)
	m.Quartiles = [2]float64{quantile(m.Rounds, 0.25), quantile(m.Rounds, 0.75)}
}

// parts is into how many parts a slot falls. The fastest of them counts: a machine
// that does something else meanwhile seldom does in all of them.
const parts = 5

// fastest returns what a run took in the fastest part of a slot, which n runs fill.
// Of what takes longer there are as many parts as three slots have room for, and
// one at least.
func fastest(c contender, n int, slot time.Duration) float64 {
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
	start := time.Now()
	for range n {
		c.run()
	}
	return time.Since(start)
}

// calibrate returns how many runs take a slot's time.
func calibrate(c contender, slot time.Duration) int {
	for n := 1; ; {
		took := timed(c, n)
		if took >= slot/4 {
			return max(1, int(float64(n)*float64(slot)/float64(took)))
		}
		n *= 2
	}
}

// allocs returns how often one run allocates, in steady state: as
// testing.AllocsPerRun does, rounded down, and the least of three times, since the
// runtime allocates now and then on its own account.
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

// quantile returns what a part q of v is below of. It leaves v as it is.
func quantile(v []float64, q float64) float64 {
	v = slices.Sorted(slices.Values(v))
	at := q * float64(len(v)-1)
	i := int(at)
	if i+1 == len(v) {
		return v[i]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

// ratio is the median of what a takes of b's time, round by round.
func ratio(a, b []float64) float64 {
	var v []float64
	for i := range min(len(a), len(b)) {
		v = append(v, a[i]/b[i])
	}
	return quantile(v, 0.5)
}
