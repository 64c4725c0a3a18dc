package main

import (
	"fmt"
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

// A measurement is what was found out about a contender.
type measurement struct {
	Group  string    `json:"group"`
	Name   string    `json:"name"`
	Ours   bool      `json:"ours"`
	Bytes  int       `json:"bytes"`  // of one run
	Rounds []float64 `json:"rounds"` // ns of one run, a number for each round
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Allocs float64   `json:"allocs"` // of one run
}

// measure runs a group: in each round every contender for a slot's time, one
// after the other, and the next round backwards. What is slow now and fast then,
// such as a machine with other things to do, so meets all of them alike.
func measure(g group, rounds int, slot time.Duration) []measurement {
	s := &stage{}
	defer s.close()
	contenders := g.setup(s)
	found := make([]measurement, len(contenders))
	runs := make([]int, len(contenders))
	for i, c := range contenders {
		if got := c.run(); got != c.want {
			panic(fmt.Sprintf("%s: %s: got %d, want %d", g.name, c.name, got, c.want))
		}
		runs[i] = calibrate(c, slot)
		found[i] = measurement{Group: g.name, Name: c.name, Ours: c.ours, Bytes: c.bytes, Allocs: allocs(c, slot)}
	}
	for round := range rounds {
		for i := range contenders {
			if round%2 == 1 {
				i = len(contenders) - 1 - i
			}
			runtime.GC() // nobody pays for what others left behind
			found[i].Rounds = append(found[i].Rounds, float64(timed(contenders[i], runs[i]))/float64(runs[i]))
		}
	}
	for i := range found {
		m := &found[i]
		m.Median, m.Min, m.Max = median(m.Rounds), slices.Min(m.Rounds), slices.Max(m.Rounds)
	}
	return found
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

// allocs returns how often one run allocates, in steady state.
func allocs(c contender, slot time.Duration) float64 {
	n := min(100, calibrate(c, slot/2))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		c.run()
	}
	runtime.ReadMemStats(&after)
	// As testing.AllocsPerRun does, so that what the runtime itself now and then
	// allocates is nobody's.
	return float64((after.Mallocs - before.Mallocs) / uint64(n))
}

// median returns the middle of v, which it leaves as it is.
func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// ratio is the median of what a takes of b's time, round by round.
func ratio(a, b []float64) float64 {
	var v []float64
	for i := range min(len(a), len(b)) {
		v = append(v, a[i]/b[i])
	}
	return median(v)
}
