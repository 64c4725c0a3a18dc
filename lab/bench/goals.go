package main

import (
	"fmt"
	"regexp"
	"slices"
)

// A goal is a limit on a ratio that is measured in one run.
type goal struct {
	text  string
	limit float64
	least bool // at least the limit instead of at most
	aim   bool // not met so far
	unit  string
	// measured returns the worst measurement and its contender, and false if there
	// is none.
	measured func(r *report) (worst float64, where string, ok bool)
}

// A verdict is a goal with its measurement.
type verdict struct {
	Goal     string  `json:"goal"`
	Limit    float64 `json:"limit"`
	Least    bool    `json:"least,omitempty"`
	Aim      bool    `json:"aim,omitempty"`
	Unit     string  `json:"unit,omitempty"`
	Measured float64 `json:"measured"`
	Where    string  `json:"where"`
	Met      bool    `json:"met"`
}

// packedGoals are the contenders that read packed arrays from a Reader or write
// them, packedMemoryGoals those that read them from memory in one call.
var (
	packedGoals       = []string{"gdwire float32", "gdwire int32", "gdwire int64", "gdwire float64", "gdwire [3]float32"}
	packedMemoryGoals = []string{
		"gdwire float32, one call", "gdwire int32, one call", "gdwire int64, one call", "gdwire float64, one call", "gdwire [3]float32, one call",
	}
)

// goals are in time: of bulk copies, whole programs and other work that instructions do not
// measure. countGoals contains the others.
var goals = []goal{
	{
		text: "SkipValue, of msgp.Skip over bytes", limit: 0.55,
		measured: timeOf("skip", "msgp Skip, bytes", "gdwire SkipValue, bytes"),
	},
	{
		text: "SkipValue, of cbor's Wellformed", limit: 1,
		measured: timeOf("skip", "cbor Wellformed", "gdwire SkipValue, bytes"),
	},
	{
		text: "CopyValue, of ReadToken", limit: 1.3,
		measured: timeOf("copy", "gdwire tokens, bytes", "gdwire CopyValue, bytes"),
	},
	{
		text: "CopyValue from a Reader, of ReadToken", limit: 1.3,
		measured: timeOf("copy", "gdwire tokens, Reader", "gdwire CopyValue, Reader"),
	},
	{
		text: "ReadPacked 64 MiB, of io.ReadFull", limit: 1.1,
		measured: timeOf("ReadPacked, 64 MiB", "io.ReadFull", packedGoals...),
	},
	{
		text: "ReadPacked 4 KiB, of io.ReadFull", limit: 1.5,
		measured: timeOf("ReadPacked, 4 KiB", "io.ReadFull", packedGoals...),
	},
	{
		text: "AppendPacked 4 KiB from memory in one call, of io.ReadFull", limit: 1.2,
		measured: timeOf("ReadPacked, 4 KiB", "io.ReadFull", packedMemoryGoals...),
	},
	{
		text: "WritePacked 64 MiB, of one Write", limit: 1.2,
		measured: timeOf("WritePacked, 64 MiB", "Write", packedGoals...),
	},
	{
		text: "WritePacked 4 KiB, of one Write", limit: 1.35,
		measured: timeOf("WritePacked, 4 KiB", "Write", packedGoals...),
	},
	{
		text: "portable ReadPacked 64 MiB, of io.ReadFull", limit: 4,
		measured: timeOf(portable+"ReadPacked, 64 MiB", "io.ReadFull", packedGoals...),
	},
	{
		text: "portable ReadPacked 4 KiB, of io.ReadFull", limit: 4,
		measured: timeOf(portable+"ReadPacked, 4 KiB", "io.ReadFull", packedGoals...),
	},
	{
		text: "portable WritePacked 64 MiB, of one Write", limit: 4,
		measured: timeOf(portable+"WritePacked, 64 MiB", "Write", packedGoals...),
	},
	{
		text: "portable WritePacked 4 KiB, of one Write", limit: 4,
		measured: timeOf(portable+"WritePacked, 4 KiB", "Write", packedGoals...),
	},
	{
		text: "1 GiB from file to file, of io.CopyBuffer", limit: 1.1,
		measured: timeOf("1 GiB from file to file", "io.CopyBuffer",
			"gdwire Payload to Write", "gdwire chunks", "gdwire CopyValue"),
	},
	compressedGoal,
	{
		text: "packets a second over TCP found and checked, of bufio's", limit: 0.65, least: true,
		measured: rateOf("packets, TCP", "bufio", "stream Next and SkipValue"),
	},
	{
		text: "packets a second over TCP found, of bufio's", limit: 0.8, least: true,
		measured: rateOf("packets, TCP", "bufio", "stream Next", "stream NextRaw"),
	},
	{
		text: "CPU time of a server with 500 clients, of bufio's with timeouts", limit: 1.1,
		measured: timeOf("server, 500 clients", "bufio, timeouts", "stream.Server"),
	},
	{
		text: "CPU time of a server with 500 WebSockets, of coder/websocket's", limit: 1.1,
		measured: timeOf("server, 500 clients, WebSocket", "coder/websocket", "stream.Server"),
	},
	{text: "10 MB, of 1 MB", limit: 10.5, measured: growthOf("^growth$")},
	{text: "allocations", limit: 0, measured: allocations},
	{text: "peak memory of gdwire check", limit: 24, unit: "MiB", measured: peakMemory},
}

// timeOf measures the worst ratio of contenders of a group to another contender.
func timeOf(group, against string, of ...string) func(*report) (float64, string, bool) {
	return func(r *report) (worst float64, where string, ok bool) {
		other := r.find(group, against)
		for _, name := range of {
			if m := r.find(group, name); m != nil && other != nil {
				if x := ratio(m.Rounds, other.Rounds); x > worst {
					worst, where, ok = x, name, true
				}
			}
		}
		return worst, where, ok
	}
}

// rateOf is timeOf for rates instead of times.
func rateOf(group, against string, of ...string) func(*report) (float64, string, bool) {
	time := timeOf(group, against, of...)
	return func(r *report) (float64, string, bool) {
		x, where, ok := time(r)
		return 1 / x, where, ok
	}
}

// growthOf measures the worst ratio of ten times the data in one value to a tenth of ten
// values, in the groups with names that match a regular expression.
func growthOf(groups string) func(*report) (float64, string, bool) {
	matches := regexp.MustCompile(groups)
	return func(r *report) (worst float64, where string, ok bool) {
		for _, f := range r.Groups {
			if !matches.MatchString(f.Name) {
				continue
			}
			for pair := range slices.Chunk(f.Measurements, 2) {
				if x := 10 * ratio(pair[1].Rounds, pair[0].Rounds); x > worst {
					worst, where, ok = x, f.Name+": "+pair[1].Name, true
				}
			}
		}
		return worst, where, ok
	}
}

// allocations returns the most allocations of a gdwire contender that must not allocate.
func allocations(r *report) (worst float64, where string, ok bool) {
	for _, f := range r.Groups {
		for _, m := range f.Measurements {
			if m.Ours && !m.Allocates && m.Allocs >= worst {
				if worst, ok = m.Allocs, true; worst > 0 {
					where = f.Name + ": " + m.Name
				}
			}
		}
	}
	return worst, where, ok
}

func peakMemory(r *report) (worst float64, where string, ok bool) {
	for _, p := range r.Peaks {
		if p.MiB > worst {
			worst, where, ok = p.MiB, p.Name, true
		}
	}
	return worst, where, ok
}

// allGoals returns the goals of all groups.
func allGoals() []goal { return slices.Concat(goals, gdjsonGoals, variantGoals) }

// judge returns a verdict on each goal that was measured.
func judge(r *report, goals []goal) (all []verdict) {
	for _, g := range goals {
		worst, where, ok := g.measured(r)
		if !ok {
			continue
		}
		met := worst <= g.limit
		if g.least {
			met = worst >= g.limit
		}
		all = append(all, verdict{g.text, g.limit, g.least, g.aim, g.unit, worst, where, met})
	}
	return all
}

// result returns "met", "missed" or, for an aim that is not met, "aim".
func (v *verdict) result() string {
	switch {
	case v.Met:
		return "met"
	case v.Aim:
		return "aim"
	}
	return "**missed**"
}

// bound formats the limit of a verdict.
func (v *verdict) bound() string {
	sign := "≤"
	if v.Least {
		sign = "≥"
	}
	return fmt.Sprintf("%s %g %s", sign, v.Limit, v.Unit)
}
