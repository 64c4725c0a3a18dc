package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// A report contains what was measured at a commit, and where.
type report struct {
	Commit       string   `json:"commit"` // or the one that a counted tree was based on
	Machine      machine  `json:"machine"`
	Peers        []string `json:"peers"`             // module and version
	Layouts      int      `json:"layouts,omitempty"` // builds that ran in turns
	Times        results  `json:"times,omitempty"`
	Instructions results  `json:"instructions"`
}

type machine struct {
	Go    string `json:"go"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	CPU   string `json:"cpu,omitempty"`
	Cores int    `json:"cores"`
}

// A measurement contains the times of a contender, in ns per run, or its instructions, one round without Bytes,
// which is a number in JSON.
type measurement struct {
	Bytes  int       `json:"bytes"` // processed by one run
	Rounds []float64 `json:"rounds"`
}

// MarshalJSON encodes a measurement as UnmarshalJSON decodes it.
func (m *measurement) MarshalJSON() ([]byte, error) {
	type rounds measurement
	if m.Bytes == 0 {
		return json.Marshal(m.median())
	}
	return json.Marshal((*rounds)(m))
}

// UnmarshalJSON decodes a measurement: of times, or a number of instructions.
func (m *measurement) UnmarshalJSON(text []byte) error {
	type rounds measurement
	if bytes.HasPrefix(text, []byte("{")) {
		return json.Unmarshal(text, (*rounds)(m))
	}
	m.Rounds = make([]float64, 1)
	return json.Unmarshal(text, &m.Rounds[0])
}

// median returns the median of the rounds, or 0 for a contender that was not measured.
func (m *measurement) median() float64 {
	if m == nil || len(m.Rounds) == 0 {
		return 0
	}
	return quantile(m.Rounds, 0.5)
}

// layouts returns the medians of n layouts.
func (m *measurement) layouts(n int) (all []float64) {
	for layout := range n {
		var rounds []float64
		for i := layout; i < len(m.Rounds); i += n {
			rounds = append(rounds, m.Rounds[i])
		}
		all = append(all, quantile(rounds, 0.5))
	}
	return all
}

// results are the measurements of contenders, by their groups and names.
type results map[string]map[string]*measurement

// add adds contenders unless the name is "", each with the rounds.
func (r results) add(group string, names []string, rounds ...float64) {
	for _, name := range names {
		if name == "" {
			continue
		}
		if r[group] == nil {
			r[group] = map[string]*measurement{}
		}
		r[group][name] = &measurement{Rounds: rounds}
	}
}

// pattern returns a regular expression that matches the names of the groups.
func (r results) pattern() string {
	names := slices.Sorted(maps.Keys(r))
	for i := range names {
		names[i] = regexp.QuoteMeta(names[i])
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// peers are the modules of the other codecs.
var peers = []string{
	"github.com/tinylib/msgp", "github.com/fxamacker/cbor/v2", "github.com/vmihailenco/msgpack/v5", "github.com/go-json-experiment/json",
	"github.com/planetscale/vtprotobuf", "github.com/coder/websocket",
}

// newReport returns an empty report of this toolchain and machine.
func newReport() *report {
	r := &report{Machine: machine{runtime.Version(), runtime.GOOS, runtime.GOARCH, cpu(), runtime.NumCPU()}, Instructions: results{}}
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

// ratio returns the median of the ratios of a to b, round by round.
func ratio(a, b *measurement) float64 {
	var v []float64
	for i := range min(len(a.Rounds), len(b.Rounds)) {
		v = append(v, a.Rounds[i]/b.Rounds[i])
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
func (r results) writeGoals(out io.Writer, goals []goal) {
	fmt.Fprint(out, "| | measured | goal | |\n|---|--:|--:|---|\n")
	for _, g := range goals {
		worst, where, result := 0.0, "", "met"
		for _, name := range g.of {
			m, other := r[g.group][name], r[g.group][g.against]
			if m == nil || other == nil {
				continue
			}
			if x := ratio(m, other); x > worst {
				worst, where = x, name
			}
		}
		if worst > g.limit {
			result = "**missed**"
		}
		if where != "" {
			fmt.Fprintf(out, "| %s | %.2f | ≤ %g | %s (%s) |\n", g.text, worst, g.limit, result, where)
		}
	}
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

// timeGoals are of bulk copies, whole programs and other work that instructions do not measure.
var timeGoals = slices.Concat([]goal{
	{"SkipValue, of msgp.Skip over bytes", 0.55, "skip", "msgp Skip, bytes", []string{"gdwire SkipValue, bytes"}},
	{"SkipValue, of cbor's Wellformed", 1, "skip", "cbor Wellformed", []string{"gdwire SkipValue, bytes"}},
	{"CopyValue, of ReadToken", 1.3, "copy", "gdwire tokens, bytes", []string{"gdwire CopyValue, bytes"}},
	{"CopyValue from a Reader, of ReadToken", 1.3, "copy", "gdwire tokens, Reader", []string{"gdwire CopyValue, Reader"}},
	{"ReadPacked 64 MiB, of io.ReadFull", 1.1, "ReadPacked, 64 MiB", "io.ReadFull", elementNames("")},
	{"ReadPacked 4 KiB, of io.ReadFull", 1.5, "ReadPacked, 4 KiB", "io.ReadFull", elementNames("")},
	{"AppendPacked 4 KiB from memory in one call, of io.ReadFull", 1.2, "ReadPacked, 4 KiB", "io.ReadFull", elementNames(", one call")},
	{"WritePacked 64 MiB, of one Write", 1.2, "WritePacked, 64 MiB", "Write", elementNames("")},
	{"WritePacked 4 KiB, of one Write", 1.35, "WritePacked, 4 KiB", "Write", elementNames("")},
	{"1 GiB from file to file, of io.CopyBuffer", 1.1, "1 GiB from file to file", "io.CopyBuffer", []string{"gdwire Payload to Write", "gdwire chunks", "gdwire CopyValue"}},
	{"a compressed file, zstd, of the zstd package on its blocks", 1.15, compressedGroup.name, "klauspost/compress DecodeAll", []string{"gdwire fileaccess"}},
	{"CPU time of a server with 500 clients, of bufio's with timeouts", 1.1, "server, 500 clients", "bufio, timeouts", []string{"stream.Server"}},
	{"CPU time of a server with 500 WebSockets, of coder/websocket's", 1.1, "server, 500 clients, WebSocket", "coder/websocket", []string{"stream.Server"}},
	{"CPU time of 10 packets at once to a Room of 500 members, of one Write by bufio for each", 1.1, "room, 500 members", "bufio", []string{"stream.Room", "stream.Room, BufferWrites"}},
	{"native JSON out, of jsontext", 1.3, "JSON out", "jsontext", []string{"gdjson"}},
	{"native JSON in, of jsontext", 1.3, "JSON in", "jsontext", []string{"gdjson", "gdjson, args before type"}},
	{"variant into structs, of cbor", 0.3, "into structs", "cbor", []string{"variant"}},
	{"variant into structs whose memory is kept, of by hand", 1.6, "into structs, kept", "by hand", []string{"variant"}},
	{"variant.MarshalEncode, of typed writes", 1.4, "from structs", "typed writes", []string{"variant.MarshalEncode"}},
	{"variant into any, of cbor", 0.5, "into any", "cbor", []string{"variant"}},
	{"variant into any, of msgpack", 0.8, "into any", "msgpack", []string{"variant"}},
}, growthGoals())

// elementNames returns the names of our contenders of bulkGroups.
func elementNames(suffix string) (names []string) {
	for _, e := range elements {
		names = append(names, "gdwire "+e.name+suffix)
	}
	return names
}

// growthGoals: ten times the data in one value takes at most 5 % more than ten values.
func growthGoals() (all []goal) {
	for _, way := range growthWays {
		all = append(all, goal{"10 MB of ten times 1 MB: " + way.name, 1.05, growthGroup.name, way.name + ", 10 × 1 MB", []string{way.name + ", 1 × 10 MB"}})
	}
	return all
}

// countGoals are in instructions.
var countGoals = []goal{
	{"tokens with values, of msgp.Reader's walk", 0.80, "tokens", "msgp walk, Reader", []string{"gdwire tokens, values taken, Reader"}},
	{"typed reads of any shape, of msgp's walk over bytes", 1.20, "typed reads", "msgp walk, ReadXxxBytes", []string{"gdwire typed reads, bytes"}},
	{"typed writes, of msgp.Writer", 0.83, "encode", "msgp", []string{"gdwire"}},
	{"Unmarshal into kept structs, of msgp generated", 1.40, "into structs, kept", "msgp, generated", []string{"variant"}},
	{"Marshal, of msgp generated", 1.35, "from structs", "msgp, generated", []string{"variant.Marshal"}},
	{"Marshal of the dialog, of msgp generated", 1.35, "from structs, dialog", "msgp, generated", []string{"variant.Marshal"}},
	{"Marshal, of vtprotobuf generated", 1.45, "from structs", "vtprotobuf, generated", []string{"variant.Marshal"}},
	{"Marshal of the dialog, of vtprotobuf generated", 1.45, "from structs, dialog", "vtprotobuf, generated", []string{"variant.Marshal"}},
	{"MarshalEncode, of vtprotobuf generated", 1.5, "from structs", "vtprotobuf, generated", []string{"variant.MarshalEncode"}},
	{"MarshalEncode of the dialog, of vtprotobuf generated", 1.5, "from structs, dialog", "vtprotobuf, generated", []string{"variant.MarshalEncode"}},
	{"Unmarshal into structs, of cbor", 0.23, "into structs", "cbor", []string{"variant"}},
	{"Unmarshal into structs, of json v2", 0.18, "into structs", "json v2", []string{"variant"}},
	{"Marshal of a small struct by value, of cbor", 1, "small records out", "cbor.Marshal, by value", []string{"variant.Marshal, by value"}},
	{"a tree of maps written, of msgpack", 0.8, "maps and trees out", "msgpack.Marshal, tree", []string{"variant.Marshal, tree", "variant.MarshalEncode, tree"}},
	{"a tree of maps into any, of cbor", 0.4, "maps and trees in", "cbor, tree into any", []string{"variant, tree into any"}},
	{"UnmarshalDecode of a small struct, of Elements", 1.3, "small records in", "Elements", []string{"UnmarshalDecode"}},
	{"a packet of 200 bytes found and checked, of bufio's finding", 5, "packets, memory", "bufio", []string{"stream Next and SkipValue"}},
	{"a packet of 64 bytes as tokens, of cbor's Wellformed", 1.05, "64 bytes", "cbor Wellformed", []string{"gdwire tokens, bytes"}},
}
