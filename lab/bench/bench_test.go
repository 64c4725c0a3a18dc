package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
)

// TestMain is also the process of clients.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == clientsCommand {
		runClients(os.Args[2:], os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// TestContenders runs every body and checks its result.
func TestContenders(t *testing.T) {
	for _, g := range groups {
		if g.setup == nil {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			s := &stage{short: true}
			t.Cleanup(s.close)
			for _, c := range g.setup(s) {
				require.NotZero(t, c.bytes, c.name)
				for range 2 { // the second time with the state of the first
					require.Equal(t, c.want, c.run(), c.name)
					if c.verify != nil {
						require.NoError(t, c.verify(), c.name)
					}
				}
			}
		})
	}
}

// All contenders read the same document.
func TestTranslation(t *testing.T) {
	for name, doc := range map[string]*document{"saved game": game(), "dialog": dialog(), "small packet": smallPacket()} {
		t.Run(name, func(t *testing.T) {
			for _, c := range append(builders(doc), ourWriting(doc), oursReading(doc, "", doc.sum, readValues)[1]) {
				require.Equal(t, c.want, c.run(), c.name)
				if c.verify != nil {
					require.NoError(t, c.verify(), c.name)
				}
			}
		})
	}
	require.Len(t, smallPacket().godot, 64)
}

// Benchmark runs the bodies of the command for benchstat.
func Benchmark(b *testing.B) {
	for _, g := range groups {
		if g.setup == nil {
			continue
		}
		b.Run(g.name, func(b *testing.B) {
			s := &stage{}
			defer s.close()
			for _, c := range g.setup(s) {
				b.Run(c.name, func(b *testing.B) {
					b.SetBytes(int64(c.bytes))
					b.ReportAllocs()
					for b.Loop() {
						c.run()
					}
				})
			}
		})
	}
}

// every returns a report in which peers take ten times as long as gdwire.
func every() *report {
	r := newReport()
	for _, g := range groups {
		if g.setup == nil {
			continue
		}
		s := &stage{short: true}
		f := found{Name: g.name, About: g.about}
		for _, c := range g.setup(s) {
			m := measurement{Name: c.name, Ours: c.ours, Allocates: c.allocates, Bytes: c.bytes, Rounds: []float64{10}}
			if c.ours {
				m.Rounds[0] = 1
			}
			m.summarize()
			f.Measurements = append(f.Measurements, m)
		}
		s.close()
		r.Groups = append(r.Groups, f)
		if strings.Contains(g.name, "Packed, ") {
			f.Name = portable + f.Name
			r.Groups = append(r.Groups, f)
		}
	}
	r.Peaks = []peak{{"it", 1}}
	return r
}

// TestReport checks that goals, summary and plot find their contenders.
func TestReport(t *testing.T) {
	r := every()
	r.Verdicts = judge(r, allGoals())
	require.Len(t, r.Verdicts, len(allGoals()))
	for _, v := range r.Verdicts {
		require.True(t, v.Met, v.Goal)
	}
	for _, table := range summary {
		for _, row := range table.rows {
			require.LessOrEqual(t, len(row.cells), len(table.columns), row.job)
			for _, c := range row.cells {
				if c != (cell{}) {
					require.NotNil(t, r.find(c.group, c.name), c)
				}
			}
		}
	}
	dir := t.TempDir()
	o := &options{json: filepath.Join(dir, "run.json"), plot: filepath.Join(dir, "decode.svg")}
	var out bytes.Buffer
	require.NoError(t, o.write(r, &out))
	require.Contains(t, out.String(), "| CopyValue, of ReadToken | 1.00")
	for _, file := range []string{o.json, o.plot} {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotContains(t, string(b), "NaN")
	}
}

func TestMeasure(t *testing.T) {
	n := 0
	var kept []byte
	f := measure(group{name: "g", setup: func(s *stage) []contender {
		s.cleanup(func() { n = -1 })
		return []contender{
			{name: "slow", bytes: 1, run: func() int {
				for range 1000 {
					n++
				}
				return 0
			}},
			{name: "allocating", bytes: 1, want: 5, run: func() int {
				kept = make([]byte, 5)
				return len(kept)
			}},
		}
	}}, &options{rounds: 9, slot: 1000})
	require.Equal(t, -1, n)
	require.Len(t, f.Measurements, 2)
	require.Zero(t, f.Measurements[0].Allocs)
	require.EqualValues(t, 1, f.Measurements[1].Allocs)
	require.Len(t, f.Measurements[1].Rounds, 9)
	require.Positive(t, f.Measurements[1].Median)
}

// The rounds of several layouts are put together.
func TestLayouts(t *testing.T) {
	reportOf := func(name string, rounds ...float64) *report {
		m := measurement{Name: name, Rounds: rounds}
		m.summarize()
		return &report{Groups: []found{{Name: "g", Measurements: []measurement{m}}}}
	}
	r := reportOf("m", 1, 1, 1)
	require.NoError(t, r.add(reportOf("m", 3, 3, 3, 3)))
	require.Len(t, r.Groups[0].Measurements[0].Rounds, 7)
	require.Equal(t, 3.0, r.Groups[0].Measurements[0].Median)
	require.Equal(t, []float64{1, 3}, r.Groups[0].Measurements[0].Layouts)
	require.EqualError(t, r.add(reportOf("other", 1)), "g: m was measured in one layout alone")
}

// TestGraphs reads the table of graphs and draws them.
func TestGraphs(t *testing.T) {
	all, err := graphsOf(filepath.Join(graphsFolder, "README.md"))
	require.NoError(t, err)
	require.Len(t, all, 4)
	for i := range all {
		all[i].points = plotter.XYs{{X: 0, Y: 0}, {X: 2.5, Y: 0.0005 * float64(i+1)}, {X: 5, Y: 0}}
	}
	file := filepath.Join(t.TempDir(), "graphs.svg")
	require.NoError(t, drawGraphs(all, file))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, g := range all {
		require.Contains(t, string(b), ">"+g.title+"<")
	}
	require.NotContains(t, string(b), "NaN")
}

func TestBenchNumbers(t *testing.T) {
	require.Equal(t, 2.0, quantile([]float64{3, 1, 2}, 0.5))
	require.Equal(t, 2.5, quantile([]float64{4, 3, 1, 2}, 0.5))
	require.Equal(t, 1.0, quantile([]float64{1}, 0.75))
	require.Equal(t, 2.0, ratio([]float64{2, 100, 6}, []float64{1, 1, 3}))
	for ns, want := range map[float64]string{
		0.5: "0.50 ns", 1: "1.00 ns", 12.34: "12.3 ns", 999: "999 ns", 1000: "1.00 µs", 1.5e6: "1.50 ms", 2e10: "20.0 s",
	} {
		require.Equal(t, want, duration(ns))
	}
}

func TestFlags(t *testing.T) {
	o, err := parse([]string{"-quick", "-run", "^skip$", "-rounds", "9"})
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, o.bench(&out, io.Discard))
	require.Contains(t, out.String(), "| gdwire SkipValue, bytes |")
	require.NotContains(t, out.String(), "64 bytes")
}

// Every round of counting ends with a mark, and one mark is before the first.
func TestCounting(t *testing.T) {
	marks = 0
	var out bytes.Buffer
	require.NoError(t, counting([]string{"false", "^64 bytes$"}, &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Equal(t, "64 bytes\tgdwire tokens, bytes\t4096", lines[0])
	require.Equal(t, "64 bytes\tjsontext ReadToken\t0", lines[len(lines)-1]) // a peer
	require.Equal(t, 4*(1+countRounds), marks)
}

// Two trees are measured in turns, in the same layout.
func TestAlternate(t *testing.T) {
	o, err := parseTime([]string{"-run", "^copy$"})
	require.NoError(t, err)
	o.turns = 2
	all, err := o.alternate([]string{".", "."}, t.TempDir(), 1)
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, r := range all {
		require.Len(t, r.Groups, 1)
		require.Len(t, r.find("copy", "gdwire CopyValue, bytes").Rounds, 2*o.rounds)
	}
}

func TestWriteTimes(t *testing.T) {
	reportsOf := func(name string, layouts ...[]float64) (all []*report) {
		for _, rounds := range layouts {
			all = append(all, &report{Groups: []found{{Name: "g", Measurements: []measurement{
				{Name: name, Rounds: rounds},
			}}}})
		}
		return all
	}
	var out bytes.Buffer
	writeTimes(&out, reportsOf("m", []float64{30, 10}, []float64{20}, []float64{10}), reportsOf("m", []float64{11}, []float64{90, 24}, []float64{9}))
	require.Contains(t, out.String(), "| g: m | 10.0 ns | 11.0 ns | +10.0 % | -10.0 to +20.0 |\n")
	out.Reset()
	writeTimes(&out, reportsOf("m", []float64{1}), reportsOf("n", []float64{1}))
	require.Equal(t, 2, strings.Count(out.String(), "\n")) // the head of the table
}

func TestTimeFlags(t *testing.T) {
	o, err := parseTime(nil)
	require.NoError(t, err)
	require.Equal(t, 3, o.layouts)
	var timed []string
	for _, g := range groups {
		if o.run.MatchString(g.name) {
			timed = append(timed, g.name)
		}
	}
	require.Equal(t, []string{"skip", "copy", "packets, memory"}, timed)
	for _, args := range [][]string{{"-layouts", "0"}, {"skip"}, {"-run", "("}} {
		_, err = parseTime(args)
		require.ErrorIs(t, err, errUsage, args)
	}
}

// Counts of the same tree differ by less than 0.3 %.
func TestCountTree(t *testing.T) {
	if !canCount() {
		t.Skip("needs valgrind on amd64")
	}
	var all [2]*counts
	for i := range all {
		var err error
		all[i], err = countTree(".", t.TempDir(), regexp.MustCompile("^64 bytes$"), false)
		require.NoError(t, err)
		require.Positive(t, all[i].Groups["64 bytes"]["gdwire tokens, bytes"])
		require.Zero(t, all[i].Groups["64 bytes"]["cbor Wellformed"]) // a peer
	}
	var out bytes.Buffer
	require.Empty(t, compare(&out, all[0], all[1]))
	require.Equal(t, "no count changed by more than 0.3 %\n", out.String())
}

func TestCompare(t *testing.T) {
	countsOf := func(grown, shrunk, same float64) *counts {
		return &counts{Groups: map[string]map[string]float64{"g": {"grown": grown, "shrunk": shrunk, "same": same, "new": grown - 1000}}}
	}
	for _, c := range []struct {
		before, now *counts
		grown       []string
		out         string
	}{
		{nil, countsOf(1000, 1000, 1000), nil, ""},
		{countsOf(1000, 1000, 1000), countsOf(1009, 1003, 1000), nil, "| g: grown | 1000 | 1009 | +0.9 % |\n"},
		{
			countsOf(1000, 1000, 1000), countsOf(1011, 900, 1001),
			[]string{"g: grown"}, "| g: grown | 1000 | 1011 | +1.1 % |\n| g: shrunk | 1000 | 900 | -10.0 % |\n",
		},
	} {
		var out bytes.Buffer
		require.Equal(t, c.grown, compare(&out, c.before, c.now))
		_, rows, _ := strings.Cut(out.String(), "|---|--:|--:|--:|\n")
		require.Equal(t, c.out, rows)
	}
	ofMaps := func(n float64) *counts {
		return &counts{Groups: map[string]map[string]float64{mapGroups[0].name: {"tree": n}}}
	}
	require.Empty(t, compare(io.Discard, ofMaps(1000), ofMaps(1029)))
	require.NotEmpty(t, compare(io.Discard, ofMaps(1000), ofMaps(1031)))

	for _, c := range []struct {
		later []float64
		grown []string
	}{
		{[]float64{1000}, nil},
		{[]float64{1100, 1000}, nil},
		{[]float64{1100, 1100}, []string{"g: grown"}},
	} {
		grown, err := compareAgain(io.Discard, countsOf(1000, 1000, 1000), countsOf(1100, 1000, 1000), func() (*counts, error) {
			n := c.later[0]
			c.later = c.later[1:]
			return countsOf(n, 1000, 1000), nil
		})
		require.NoError(t, err)
		require.ElementsMatch(t, c.grown, grown)
		require.Empty(t, c.later)
	}
	_, err := compareAgain(io.Discard, countsOf(1, 1, 1), countsOf(2, 1, 1), func() (*counts, error) { return nil, io.EOF })
	require.Equal(t, io.EOF, err)
}

// The file contains what the goals are about.
func TestCountFile(t *testing.T) {
	b, err := os.ReadFile(countFile)
	require.NoError(t, err)
	var c counts
	require.NoError(t, json.Unmarshal(b, &c))
	require.Len(t, judge(c.report(), countGoals), len(countGoals))
	for _, g := range groups {
		if !g.counted {
			continue
		}
		s := &stage{short: true}
		for _, contender := range g.setup(s) {
			require.Positive(t, c.Groups[g.name][contender.name], contender.name)
		}
		s.close()
	}
}

func TestMemory(t *testing.T) {
	found, err := peaks(4 << 20)
	require.NoError(t, err)
	if runtime.GOOS == "linux" {
		require.Len(t, found, len(stresses))
	}
}

func TestEngine(t *testing.T) {
	path, err := exec.LookPath(engineCommand)
	if err != nil {
		t.Skip(engineCommand + " is not installed")
	}
	times, err := askEngine(path, game().godot3(), 2)
	require.NoError(t, err)
	require.Len(t, times, 2, fmt.Sprint(times))
}
