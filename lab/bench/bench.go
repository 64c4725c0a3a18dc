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
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
)

// The commands count and publish, and what they measure: groups of contenders, and their results.

// groups contains the groups in the order of the benchmarks.
var groups = slices.Concat(
	documentGroups,
	variantGroups,
	recordGroups,
	mapGroups,
	shapeGroups,
	mapShapeGroups,
	[]group{fieldGroup},
	textGroups,
	[]group{typedGroup, smallGroup},
	packetGroups,
	bulkGroups(),
	[]group{fileGroup, saveGroup, containerGroup},
	sizeGroups(),
)

// A group is a comparison: its contenders do the same work.
type group struct {
	name    string
	counted bool // by bench count
	records int  // in a run, if figures are of one of them
	// setup returns the contenders. The others are compared with the first.
	setup func(s *stage) []contender
}

// A contender is one way to do a group's work, the body of a benchmark. Instructions are counted of the same body.
type contender struct {
	name      string
	ours      bool // gdwire, which must not allocate unless allocates
	allocates bool
	bytes     int // processed by one run
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

// of returns g, whose runs process a number of records: what is published is of one.
func (g group) of(records int) group {
	g.records = records
	return g
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

// check and must panic on an error, because bodies of benchmarks cannot return errors. They panic with err itself: what is
// counted of bodies contains them.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

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
			err = publish(args, os.Stderr)
		case countingCommand:
			err = counting(args, os.Stdout)
		}
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A report contains what was measured at a commit, and where.
type report struct {
	Commit       string   `json:"commit"` // or the one that a counted tree was based on
	Machine      machine  `json:"machine"`
	Peers        []string `json:"peers"`             // module and version
	Layouts      int      `json:"layouts,omitempty"` // builds that ran in turns
	Times        times    `json:"times,omitempty"`
	Instructions counts   `json:"instructions"`
}

type machine struct {
	Go    string `json:"go"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	CPU   string `json:"cpu,omitempty"`
	Cores int    `json:"cores"`
}

// results are the results of contenders, by their groups and names.
type results[T any] map[string]map[string]T

// set sets the result of a contender.
func (r results[T]) set(group, name string, v T) {
	if r[group] == nil {
		r[group] = map[string]T{}
	}
	r[group][name] = v
}

// pattern returns a regular expression that matches the names of the groups.
func (r results[T]) pattern() string {
	names := slices.Sorted(maps.Keys(r))
	for i := range names {
		names[i] = regexp.QuoteMeta(names[i])
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// The results of a report: the times in all rounds, in ns per run, and counts of instructions.
type (
	times  = results[[]float64]
	counts = results[float64]
)

// ofLayouts returns the medians of n layouts, which ran in turns.
func ofLayouts(rounds []float64, n int) (all []float64) {
	for layout := range n {
		var of []float64
		for i := layout; i < len(rounds); i += n {
			of = append(of, rounds[i])
		}
		all = append(all, median(of))
	}
	return all
}

// peers are the modules of the other codecs.
var peers = []string{
	"github.com/tinylib/msgp", "github.com/fxamacker/cbor/v2", "github.com/vmihailenco/msgpack/v5", "github.com/go-json-experiment/json",
	"github.com/planetscale/vtprotobuf",
}

// newReport returns an empty report of this toolchain and machine.
func newReport() *report {
	r := &report{Machine: machine{runtime.Version(), runtime.GOOS, runtime.GOARCH, cpu(), runtime.NumCPU()}, Instructions: counts{}}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if slices.Contains(peers, m.Path) {
				r.Peers = append(r.Peers, m.Path+" "+m.Version)
			}
		}
	}
	return r
}

// readReport reads figuresFile or countFile.
func readReport(name string) (*report, error) {
	r := new(report)
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// array matches an array of numbers.
var array = regexp.MustCompile(`\[[-+.\de\s,]+\]`)

// encode returns the contents of a file for readReport, with each array of numbers in a line.
func (r *report) encode() []byte {
	return append(array.ReplaceAllFunc(must(json.MarshalIndent(r, "", "\t")), func(numbers []byte) []byte {
		return bytes.Join(bytes.Fields(numbers), nil)
	}), '\n')
}

// cpu returns the name of the processor on Linux.
func cpu() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
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

func median(v []float64) float64 { return quantile(v, 0.5) }

// ratio returns the median of the ratios of a to b, round by round.
func ratio(a, b []float64) float64 {
	var v []float64
	for i := range min(len(a), len(b)) {
		v = append(v, a[i]/b[i])
	}
	return median(v)
}

// duration formats ns with three digits.
func duration(ns float64) string {
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= u.ns {
			return threeDigits(ns/u.ns) + " " + u.name
		}
	}
	return threeDigits(ns) + " ns"
}

// instructions formats a number of instructions, millions with three digits.
func instructions(n float64) string {
	switch {
	case n >= 1e6:
		return threeDigits(n/1e6) + " M"
	case n >= 9999.5:
		return fmt.Sprintf("%.1f k", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}

// threeDigits formats a number with three digits, or all before the decimal point.
func threeDigits(x float64) string {
	digits := 2
	for y := x; y >= 10 && digits > 0; y /= 10 {
		digits--
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}
