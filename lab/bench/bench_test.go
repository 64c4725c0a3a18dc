package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// TestMain is also the process of clients.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == clientsCommand {
		runClients(os.Args[2:], os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// Benchmark runs the bodies of all groups.
func Benchmark(b *testing.B) {
	for _, g := range groups {
		b.Run(g.name, func(b *testing.B) {
			s := &stage{}
			defer s.close()
			for _, c := range g.setup(s) {
				b.Run(c.name, func(b *testing.B) {
					b.SetBytes(int64(c.bytes))
					b.ReportAllocs()
					from := cpuTime()
					for b.Loop() {
						c.run()
					}
					if c.cpu {
						b.ReportMetric(float64(cpuTime()-from)/float64(b.N), "cpu-ns/op")
					}
				})
			}
		})
	}
}

// TestContenders runs every body and checks its result, and that gdwire allocates only where it may. Goals, tables and
// the plot find their contenders.
func TestContenders(t *testing.T) {
	found := results{}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			s := &stage{short: true}
			t.Cleanup(s.close)
			for _, c := range g.setup(s) {
				require.Nil(t, found[g.name][c.name], c.name)
				found.add(g.name, []string{c.name})
				require.NotZero(t, c.bytes, c.name)
				for range 2 { // the second time with the state of the first
					require.Equal(t, c.want, c.run(), c.name)
					if c.verify != nil {
						require.NoError(t, c.verify(), c.name)
					}
				}
				if c.ours && !c.allocates {
					least := 1.0 // the runtime allocates occasionally as well
					for range 3 {
						least = min(least, testing.AllocsPerRun(10, func() { c.run() }))
					}
					require.Zero(t, least, c.name)
				}
			}
		})
	}
	for _, needed := range []results{published(false).addGoals(timeGoals), published(true).addGoals(countGoals)} {
		for group, contenders := range needed {
			for name := range contenders {
				require.Contains(t, found[group], name, group)
			}
		}
	}
}

// TestTranslation: all contenders read the same document.
func TestTranslation(t *testing.T) {
	for name, doc := range map[string]*document{"saved game": game(), "dialog": dialog(), "small packet": smallPacket()} {
		t.Run(name, func(t *testing.T) {
			for _, c := range append(builders(doc), ourWriting(doc), oursReading(doc.godot, "", doc.sum, readValues)[1]) {
				require.Equal(t, c.want, c.run(), c.name)
				if c.verify != nil {
					require.NoError(t, c.verify(), c.name)
				}
			}
		})
	}
	require.Len(t, smallPacket().godot, 64)
}

// TestMeasure: the benchmarks of two builds.
func TestMeasure(t *testing.T) {
	o := &publication{rounds: 2, layouts: 2, slot: 1}
	which := results{
		"64 bytes": {"gdwire tokens, bytes": {}, "cbor Wellformed": {}}, "skip": {"cbor Wellformed": {}},
		"compressed file, zstd": {"klauspost/compress DecodeAll": {}},
	}
	o.measure(which, t.TempDir(), io.Discard)
	m := which["64 bytes"]["gdwire tokens, bytes"]
	require.Equal(t, 64, m.Bytes)
	require.Len(t, m.Rounds, 4)
	require.Len(t, m.layouts(o.layouts), 2)
	err := testenv.Try(func() { o.measure(results{"64 bytes": {"nobody": {}}}, t.TempDir(), io.Discard) })
	require.EqualError(t, err, "64 bytes: nobody was not measured")
}

// TestAddTimes: rounds that layouts measured in turns.
func TestAddTimes(t *testing.T) {
	m := new(measurement)
	r := results{"a group": {"m": m}}
	for _, line := range []string{"1 5000 ns/op 1000 MB/s", "1 10 ns/op 6 MB/s", "1 7000 ns/op", "1 12 ns/op 6 cpu-ns/op"} {
		r.addTimes([]byte("Benchmark/a_group/m-2 " + line + "\nBenchmark/a_group/n-2 1 1 ns/op\nPASS\n"))
	}
	require.InDeltaSlice(t, []float64{5000, 10, 7000, 6}, m.Rounds, 1e-6)
	require.InDeltaSlice(t, []float64{6000, 8}, m.layouts(2), 1e-6)
	var out strings.Builder
	r.writeGoals(&out, []goal{{"it", 0.9, "a group", "m", []string{"m", "missing"}}, {"not measured", 1, "a group", "m", []string{"x"}}})
	require.Equal(t, "| | measured | goal | |\n|---|--:|--:|---|\n| it | 1.00 | ≤ 0.9 | **missed** (m) |\n", out.String())
}

// TestPoints: the lines of the plot run from small to large packets.
func TestPoints(t *testing.T) {
	r := results{}
	for size, name := range map[int]string{345: "size 1 × 345 B", 4140: "size 12 × 345 B", 1035: "size 3 × 345 B", 7: "skip"} {
		r[name] = map[string]*measurement{"m": {Bytes: size, Rounds: []float64{2 * float64(size)}}}
	}
	require.Equal(t, plotter.XYs{{X: 345, Y: 2}, {X: 1035, Y: 2}, {X: 4140, Y: 2}}, r.points("m"))
}

func TestBenchNumbers(t *testing.T) {
	require.Equal(t, 2.0, quantile([]float64{3, 1, 2}, 0.5))
	require.Equal(t, 2.5, quantile([]float64{4, 3, 1, 2}, 0.5))
	require.Equal(t, 1.0, quantile([]float64{1}, 0.75))
	require.Equal(t, 2.0, ratio(&measurement{Rounds: []float64{2, 100, 6}}, &measurement{Rounds: []float64{1, 1, 3}}))
	for ns, want := range map[float64]string{
		0.5: "0.50 ns", 1: "1.00 ns", 12.34: "12.3 ns", 999: "999 ns", 1000: "1.00 µs", 1.5e6: "1.50 ms", 2e10: "20.0 s",
	} {
		require.Equal(t, want, duration(ns))
	}
}

// TestCounting: every round ends with a mark, and one mark is before the first.
func TestCounting(t *testing.T) {
	marks = 0
	var out bytes.Buffer
	require.NoError(t, counting([]string{"false", "^64 bytes$"}, &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Equal(t, "64 bytes\tgdwire tokens, bytes\t4096", lines[0])
	require.Equal(t, "64 bytes\tjsontext ReadToken\t0", lines[len(lines)-1]) // a peer
	require.Equal(t, 4*(1+countRounds), marks)
}

// TestCountTree: counts of the same tree differ by less than 0.3 %.
func TestCountTree(t *testing.T) {
	if !canCount() {
		t.Skip("needs valgrind on amd64")
	}
	var all [2]results
	for i := range all {
		all[i] = countTree(".", t.TempDir(), "^64 bytes$", false)
		require.Positive(t, all[i]["64 bytes"]["gdwire tokens, bytes"].median())
		require.Zero(t, all[i]["64 bytes"]["cbor Wellformed"].median()) // a peer
	}
	var out bytes.Buffer
	require.Empty(t, compare(&out, all[0], all[1]))
	require.Equal(t, "no count changed by more than 0.3 %\n", out.String())
}

func TestCompare(t *testing.T) {
	countsOf := func(grown, shrunk, same float64) results {
		r := results{}
		for name, n := range map[string]float64{"grown": grown, "shrunk": shrunk, "same": same, "new": grown - 1000} {
			r.add("g", []string{name}, n)
		}
		return r
	}
	for _, c := range []struct {
		before, now results
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
	ofMaps := func(n float64) results {
		return results{mapGroups[0].name: {"tree": {Rounds: []float64{n}}}}
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
		grown := compareAgain(io.Discard, countsOf(1000, 1000, 1000), countsOf(1100, 1000, 1000), func() results {
			n := c.later[0]
			c.later = c.later[1:]
			return countsOf(n, 1000, 1000)
		})
		require.ElementsMatch(t, c.grown, grown)
		require.Empty(t, c.later)
	}
}

// TestCountFile: the file contains every counted contender.
func TestCountFile(t *testing.T) {
	r := testenv.Must(readReport(countFile))(t)
	require.Equal(t, string(testenv.Must(os.ReadFile(countFile))(t)), string(r.encode()))
	for _, g := range groups {
		if !g.counted {
			continue
		}
		s := &stage{short: true}
		for _, contender := range g.setup(s) {
			require.Positive(t, r.Instructions[g.name][contender.name].median(), contender.name)
		}
		s.close()
	}
}
