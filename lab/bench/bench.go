// Command bench counts the instructions of gdwire and its peers, and publishes figures. It is run
// in its own folder:
//
//	go run . count      compare instructions with those of a commit
//	go run . publish    measure what the documents show, and write it there
//
// Everything else is done with go test and benchstat, see README.md.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/gdwire/gdwire"
)

// groups contains the groups in the order of the benchmarks.
var groups = slices.Concat(
	documentGroups,
	variantGroups,
	recordGroups,
	mapGroups,
	[]group{fieldGroup},
	textGroups,
	[]group{typedGroup, smallGroup, growthGroup},
	packetGroups,
	clientGroups,
	bulkGroups(),
	[]group{fileGroup, saveGroup, compressedGroup},
	sizeGroups(),
	gdjsonGroups,
)

// A group is a comparison: its contenders do the same work.
type group struct {
	name    string
	counted bool // by bench count
	// setup returns the contenders. The others are compared with the first.
	setup func(s *stage) []contender
}

// A contender is one way to do a group's work, the body of a benchmark. Instructions are counted of the same body.
type contender struct {
	name      string
	ours      bool // gdwire, which must not allocate unless allocates
	allocates bool
	cpu       bool // run is measured in CPU time of this process
	bytes     int  // processed by one run
	// run does the work once and returns a result, which must be want.
	run  func() int
	want int
	// verify, if set, checks the last run. Tests call it.
	verify func() error
}

// counted returns a group whose instructions are counted.
func counted(name string, contenders func() []contender) group {
	return group{name: name, counted: true, setup: func(*stage) []contender { return contenders() }}
}

// peer returns a contender of another codec.
func peer(name string, bytes, want int, run func() int) contender {
	return contender{name: name, bytes: bytes, want: want, run: run}
}

// ours returns a contender of gdwire.
func ours(name string, bytes, want int, run func() int) contender {
	return contender{name: name, ours: true, bytes: bytes, want: want, run: run}
}

// encoding returns a contender of gdwire that writes size bytes.
func encoding(name string, size int, write func(e *gdwire.Encoder)) contender {
	var to drain
	e := gdwire.NewEncoder(&to, nil)
	return ours(name, size, size, func() int {
		to.n = 0
		e.Reset(&to)
		write(e)
		check(e.Flush())
		return to.n
	})
}

// bytesOf returns what write writes.
func bytesOf(write func(*gdwire.Encoder)) []byte {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	write(e)
	check(e.Close())
	return b.Bytes()
}

// marshaling returns a contender of another codec that encodes a value of size bytes in gdwire.
func marshaling(name string, size int, marshal func() ([]byte, error)) contender {
	return peer(name, size, len(must(marshal())), func() int { return len(must(marshal())) })
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

func main() {
	err := errors.New("the commands are count and publish")
	if len(os.Args) > 1 {
		switch args := os.Args[2:]; os.Args[1] {
		case "count":
			err = count(args, os.Stdout, os.Stderr)
		case "publish":
			err = publish(args, os.Stdout, os.Stderr)
		case countingCommand:
			err = counting(args, os.Stdout)
		}
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
