package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// A report contains all measurements of a run.
type report struct {
	Machine  machine   `json:"machine"`
	Peers    []string  `json:"peers"` // module and version
	Groups   []found   `json:"groups"`
	Peaks    []peak    `json:"peaks,omitempty"`
	Verdicts []verdict `json:"goals,omitempty"`
}

// found contains the measurements of a group.
type found struct {
	Name         string        `json:"name"`
	About        string        `json:"about"`
	Measurements []measurement `json:"measurements"`
}

type machine struct {
	Go    string `json:"go"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	CPU   string `json:"cpu,omitempty"`
	Cores int    `json:"cores"`
}

// peers are the modules of the other codecs.
var peers = []string{
	"github.com/tinylib/msgp", "github.com/fxamacker/cbor/v2", "github.com/vmihailenco/msgpack/v5", "github.com/go-json-experiment/json",
	"google.golang.org/protobuf", "github.com/planetscale/vtprotobuf",
}

// serverPeers are those of the groups of servers.
var serverPeers = []string{"github.com/coder/websocket"}

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

// add adds the rounds of a report of the same groups, measured in another layout.
func (r *report) add(other *report) error {
	for i := range r.Groups {
		for j := range r.Groups[i].Measurements {
			m := &r.Groups[i].Measurements[j]
			o := other.find(r.Groups[i].Name, m.Name)
			if o == nil {
				return fmt.Errorf("%s: %s was measured in one layout alone", r.Groups[i].Name, m.Name)
			}
			if m.Layouts == nil {
				m.Layouts = []float64{m.Median}
			}
			m.Layouts = append(m.Layouts, o.Median)
			m.Rounds = append(m.Rounds, o.Rounds...)
			m.Allocs = max(m.Allocs, o.Allocs)
			m.summarize()
		}
	}
	for i := range min(len(r.Peaks), len(other.Peaks)) {
		r.Peaks[i].MiB = max(r.Peaks[i].MiB, other.Peaks[i].MiB)
	}
	return nil
}

// find returns a measurement, or nil if there is none.
func (r *report) find(group, name string) *measurement {
	for _, f := range r.Groups {
		if f.Name != group {
			continue
		}
		for i := range f.Measurements {
			if f.Measurements[i].Name == name {
				return &f.Measurements[i]
			}
		}
	}
	return nil
}

// markdown writes the report as Markdown.
func (r *report) markdown(w io.Writer) error {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "%s, %s/%s, %d × %s.\n%s, and %s's standard library.\n", m.Go, m.OS, m.Arch, m.Cores, m.CPU, strings.Join(r.Peers, ", "), m.Go)
	if len(r.Verdicts) > 0 {
		b.WriteString("\n## Goals\n\n")
		writeVerdicts(&b, r.Verdicts)
	}
	r.summary(&b)
	for _, f := range r.Groups {
		f.markdown(&b)
	}
	if len(r.Peaks) > 0 {
		b.WriteString("\n## memory\n\nPeak of `gdwire check`.\n\n| | MiB |\n|---|--:|\n")
		for _, p := range r.Peaks {
			fmt.Fprintf(&b, "| %s | %.1f |\n", p.Name, p.MiB)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeVerdicts writes a table of goals and whether each was met.
func writeVerdicts(b io.Writer, all []verdict) {
	fmt.Fprint(b, "| | measured | goal | |\n|---|--:|--:|---|\n")
	for _, v := range all {
		where := v.Where
		if where != "" {
			where = " (" + where + ")"
		}
		fmt.Fprintf(b, "| %s | %.2f %s | %s | %s%s |\n", v.Goal, v.Measured, v.Unit, v.bound(), v.result(), where)
	}
}

func (f *found) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n", f.Name)
	if f.About != "" {
		fmt.Fprintf(b, "%s\n\n", f.About)
	}
	b.WriteString("| | median | middle half | layouts | MB/s | allocations | of the first |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, m := range f.Measurements {
		layouts := ""
		if m.Layouts != nil {
			layouts = duration(slices.Min(m.Layouts)) + " to " + duration(slices.Max(m.Layouts))
		}
		fmt.Fprintf(b, "| %s | %s | %s to %s | %s | %.0f | %.0f | × %.2f |\n", m.Name, duration(m.Median), duration(m.Quartiles[0]), duration(m.Quartiles[1]), layouts,
			float64(m.Bytes)/m.Median*1e3, m.Allocs, ratio(m.Rounds, f.Measurements[0].Rounds))
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

// digits returns the number of digits of x before the decimal point, minus one.
func digits(x float64) int {
	n := 0
	for ; x >= 10; x /= 10 {
		n++
	}
	return n
}

// json writes the report as JSON.
func (r *report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
