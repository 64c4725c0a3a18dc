package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// A report contains measurements, and where they were made.
type report struct {
	Machine machine  `json:"machine"`
	Peers   []string `json:"peers"` // module and version
	Groups  []found  `json:"groups"`
}

type machine struct {
	Go    string `json:"go"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	CPU   string `json:"cpu,omitempty"`
	Cores int    `json:"cores"`
}

// found contains the measurements of a group.
type found struct {
	Name         string         `json:"name"`
	Measurements []*measurement `json:"measurements"`
}

// A measurement contains the times of a contender, in ns per run, or its instructions.
type measurement struct {
	Name      string     `json:"name"`
	Bytes     int        `json:"bytes"` // processed by one run
	Rounds    []float64  `json:"rounds"`
	Median    float64    `json:"median"`
	Quartiles [2]float64 `json:"quartiles"`         // the middle half of the rounds is between these
	Layouts   []float64  `json:"layouts,omitempty"` // the median of each layout
}

// peers are the modules of the other codecs.
var peers = []string{
	"github.com/tinylib/msgp", "github.com/fxamacker/cbor/v2", "github.com/vmihailenco/msgpack/v5", "github.com/go-json-experiment/json",
	"github.com/planetscale/vtprotobuf", "github.com/coder/websocket",
}

func newReport() *report {
	r := &report{Machine: machine{runtime.Version(), runtime.GOOS, runtime.GOARCH, cpu(), runtime.NumCPU()}}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if slices.Contains(peers, m.Path) {
				r.Peers = append(r.Peers, m.Path+" "+m.Version)
			}
		}
	}
	return r
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

// find returns a measurement, or nil if there is none.
func (r *report) find(group, name string) *measurement {
	for _, f := range r.Groups {
		for _, m := range f.Measurements {
			if f.Name == group && m.Name == name {
				return m
			}
		}
	}
	return nil
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

// A goal is a limit on the worst ratio of contenders of a group to another one.
type goal struct {
	text           string
	limit          float64
	group, against string
	of             []string
}

// writeGoals writes a table of the goals that were measured, and whether each was met.
func (r *report) writeGoals(out io.Writer, goals []goal) {
	fmt.Fprint(out, "| | measured | goal | |\n|---|--:|--:|---|\n")
	for _, g := range goals {
		worst, where := 0.0, ""
		for _, name := range g.of {
			m, other := r.find(g.group, name), r.find(g.group, g.against)
			if m == nil || other == nil {
				continue
			}
			if x := ratio(m.Rounds, other.Rounds); x > worst {
				worst, where = x, name
			}
		}
		if where == "" {
			continue
		}
		result := "met"
		if worst > g.limit {
			result = "**missed**"
		}
		fmt.Fprintf(out, "| %s | %.2f | ≤ %g | %s (%s) |\n", g.text, worst, g.limit, result, where)
	}
}

// duration formats ns with three digits.
func duration(ns float64) string {
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= u.ns {
			return fmt.Sprintf("%.*f %s", max(0, 2-digits(ns/u.ns)), ns/u.ns, u.name)
		}
	}
	return fmt.Sprintf("%.*f ns", max(0, 2-digits(ns)), ns)
}

// instructions formats a number of instructions, millions with three digits.
func instructions(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.*f M", max(0, 2-digits(n/1e6)), n/1e6)
	case n >= 9999.5:
		return fmt.Sprintf("%.1f k", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}

// digits returns the number of digits of x before the decimal point, minus one.
func digits(x float64) int {
	n := 0
	for ; x >= 10; x /= 10 {
		n++
	}
	return n
}
