package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/stretchr/testify/require"
)

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
					for b.Loop() {
						c.run()
					}
				})
			}
		})
	}
}

// TestContenders runs every body and checks its result, and that gdwire allocates only where it may. Tables
// find their contenders.
func TestContenders(t *testing.T) {
	found := results[bool]{}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			s := &stage{short: true}
			t.Cleanup(s.close)
			for _, c := range g.setup(s) {
				require.False(t, found[g.name][c.name], c.name)
				found.set(g.name, c.name, true)
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
	for _, needed := range []times{published(false), published(true)} {
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
	p := &plan{rounds: 2, layouts: 2, slot: 1}
	which := times{
		"64 bytes": {"gdwire tokens, bytes": {}, "cbor Wellformed": {}}, "skip": {"cbor Wellformed": {}},
	}
	p.measure(which, t.TempDir(), io.Discard)
	require.Len(t, which["64 bytes"]["gdwire tokens, bytes"], 4)
	p.layouts = 1
	err := checked.Try(func() { p.measure(times{"64 bytes": {"nobody": nil}}, t.TempDir(), io.Discard) })
	require.EqualError(t, err, "64 bytes: nobody was not measured")
}

// TestAddTimes: rounds that layouts measured in turns.
func TestAddTimes(t *testing.T) {
	r := times{"a group": {"m": nil}}
	for _, line := range []string{"1 5000 ns/op 1000 MB/s", "1 10 ns/op 6 MB/s", "1 7000 ns/op", "1 6 ns/op"} {
		addTimes(r, []byte("Benchmark/a_group/m-2 "+line+"\nBenchmark/a_group/n-2 1 1 ns/op\nPASS\n"))
	}
	rounds := r["a group"]["m"]
	require.InDeltaSlice(t, []float64{5000, 10, 7000, 6}, rounds, 1e-6)
	require.InDeltaSlice(t, []float64{6000, 8}, ofLayouts(rounds, 2), 1e-6)
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
	var all [2]counts
	for i := range all {
		all[i] = countTree(".", t.TempDir(), "^64 bytes$", false)
		require.Positive(t, all[i]["64 bytes"]["gdwire tokens, bytes"])
		require.Zero(t, all[i]["64 bytes"]["cbor Wellformed"]) // a peer
	}
	var out bytes.Buffer
	require.Empty(t, compare(&out, all[0], all[1]))
	require.Equal(t, "no count changed by more than 0.3 %\n", out.String())
}

func TestCompare(t *testing.T) {
	countsOf := func(grown, shrunk, same float64) counts {
		r := counts{}
		for name, n := range map[string]float64{"grown": grown, "shrunk": shrunk, "same": same, "new": grown - 1000} {
			r.set("g", name, n)
		}
		return r
	}
	for _, c := range []struct {
		before, now counts
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
	ofMaps := func(n float64) counts {
		return counts{mapGroups[0].name: {"tree": n}}
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
		grown := compareAgain(io.Discard, countsOf(1000, 1000, 1000), countsOf(1100, 1000, 1000), func() counts {
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
			require.Positive(t, r.Instructions[g.name][contender.name], contender.name)
		}
		s.close()
	}
}

// The documents show the figures of figuresFile.
func TestPublished(t *testing.T) {
	r := testenv.Must(readReport(figuresFile))(t)
	files := testenv.Must(r.files())(t)
	for name, want := range files {
		got := testenv.Must(os.ReadFile(name))(t)
		require.True(t, bytes.Equal(want, got), "%s does not show %s: run \"go run . publish -render\"", name, figuresFile)
	}
	if git("rev-parse", "--is-shallow-repository") == "false" {
		require.NoError(t, exec.Command("git", "merge-base", "--is-ancestor", r.Commit, "HEAD").Run(), "%s is of a commit that is not before this one: %s", figuresFile, r.Commit)
	}
}

// madeUp returns a report of all that is published, and the median or count of each group and contender: no two
// are the same, and all have four digits.
func madeUp() (r *report, number map[[2]string]float64) {
	number = map[[2]string]float64{}
	n := 1000.0
	next := func(c [2]string) float64 {
		if number[c] == 0 {
			n *= 1.013
			number[c] = must(strconv.ParseFloat(fmt.Sprintf("%.4g", n), 64))
		}
		return number[c]
	}
	r = &report{
		Commit: "abc1234", Machine: machine{Go: "go1", OS: "os", Arch: "arch", CPU: "CPU", Cores: 3}, Peers: []string{"a.b/peer/v2 v2.1.0", "a.b/c v1.0.0"},
		Layouts: 3, Times: published(false), Instructions: counts{},
	}
	for group, contenders := range r.Times {
		for name := range contenders {
			x := next([2]string{group, name})
			contenders[name] = []float64{x, x / 2, 2 * x}
		}
	}
	for group, contenders := range published(true) {
		for name := range contenders {
			r.Instructions.set(group, name, next([2]string{group, name}))
		}
	}
	return r, number
}

// shown returns the cells of the table after a heading, by their jobs and columns.
func shown(t *testing.T, document, title string) map[[2]string]string {
	_, section, ok := strings.Cut(document, "# "+title+"\n")
	require.True(t, ok, title)
	section, _, _ = strings.Cut(section, "\n#")
	all := map[[2]string]string{}
	var columns []string
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		fields := strings.Split(strings.Trim(line, "|\n"), "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if columns == nil {
			columns = fields
			continue
		}
		for i, text := range fields[1:] {
			all[[2]string{fields[0], columns[i+1]}] = text
		}
	}
	return all
}

// What is published is what was measured, after it was written to a file and read again.
func TestPublishMadeUp(t *testing.T) {
	r, number := madeUp()
	dir := t.TempDir()
	for _, of := range tables {
		b := testenv.Must(os.ReadFile(of.File))(t)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "lab", "bench"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "lab", "bench", of.File), b, 0o600))
	}
	t.Chdir(filepath.Join(dir, "lab", "bench"))
	files := testenv.Must(r.files())(t)
	require.NoError(t, os.WriteFile(figuresFile, files[figuresFile], 0o600))

	require.NoError(t, publish([]string{"-render"}, io.Discard))
	for name, want := range files {
		require.True(t, bytes.Equal(want, testenv.Must(os.ReadFile(name))(t)), name)
	}

	cells := 0
	for _, table := range tables {
		unit := duration
		if table.Instructions {
			unit = instructions
		}
		for _, row := range table.Rows {
			got := shown(t, string(files[table.File]), table.Title)
			job, group, names := row[0], row[1], row[2:]
			ours := number[[2]string{group, names[0]}]
			for j, name := range names {
				if name == "" {
					continue
				}
				cells++
				n := number[[2]string{group, name}]
				each := 1.0
				if strings.HasPrefix(group, "texts") || strings.HasPrefix(group, "small records") {
					each = 1000
				}
				want, text := unit(n/each), got[[2]string{job, table.Columns[j]}]
				if !table.Alone && j > 0 {
					want += fmt.Sprintf(" (× %.2g)", n/ours)
				}
				require.Equal(t, want, strings.Trim(text, "*"), "%s: %s, %s", table.Title, job, table.Columns[j])
			}
		}
	}
	require.Greater(t, cells, 200)
	require.Contains(t, string(files["../../README.md"]), "at commit abc1234")
	run := shown(t, string(files["README.md"]), "The run")
	require.Equal(t, "peer v2.1.0, c v1.0.0", run[[2]string{"peers", ""}])
	require.Equal(t, "abc1234", run[[2]string{"commit", ""}])
	require.Contains(t, run[[2]string{"the medians of the builds differ by", ""}], "300 % at most")
}

func TestInstructions(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 73.4: "73", 9999.4: "9999", 9999.6: "10.0 k", 123456: "123.5 k", 1234567: "1.23 M", 1.2e8: "120 M"} {
		require.Equal(t, want, instructions(n))
	}
}

func TestReplaceTable(t *testing.T) {
	const old = "# a\n\nText.\n\n| x |\n|---|\n| 1 |\n\n| kept |\n\n# b\n\nText.\n"
	got := testenv.Must(replaceTable([]byte(old), "a", "| new |\n"))(t)
	require.Equal(t, "# a\n\nText.\n\n| new |\n\n| kept |\n\n# b\n\nText.\n", string(got))
	for _, c := range []struct{ text, title, table string }{
		{old, "b", "| new |\n"},       // no table
		{old, "c", "| new |\n"},       // no heading
		{old + old, "a", "| new |\n"}, // two of them
		{old, "a", ""},                // nothing measured
	} {
		_, err := replaceTable([]byte(c.text), c.title, c.table)
		require.ErrorContains(t, err, c.title)
	}
}

// Figures are those of a commit.
func TestPublishCommit(t *testing.T) {
	t.Chdir(t.TempDir())
	require.EqualError(t, checked.Try(func() { headCommit() }), "no commit of Git")
	for _, args := range [][]string{
		{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		out, err := exec.Command("git", args...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	clean := headCommit()
	require.Len(t, clean, 7)
	require.NoError(t, os.WriteFile("change", nil, 0o600))
	require.ErrorContains(t, checked.Try(func() { headCommit() }), "?? change")
}
