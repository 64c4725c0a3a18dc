package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gdwire/gdwire/internal/base/checked"
)

// countFile contains the counts of the latest commit that changed it.
const countFile = "instructions.json"

// countOptions are the values of the flags of bench count.
type countOptions struct {
	write bool
	run   string
}

// count compares the instructions of this tree with those of the commit that
// changed countFile last and fails if a contender of gdwire grew.
func count(args []string, out, progress io.Writer) error {
	o := new(countOptions)
	fs := flag.NewFlagSet("bench count", flag.ContinueOnError)
	fs.BoolVar(&o.write, "write", false, "rewrite "+countFile+", also the counts of peers if they, Go or the processor have changed")
	fs.Func("run", "count only groups whose name matches `regexp`", func(s string) error {
		o.run = s
		_, err := regexp.Compile(s)
		return err
	})
	if err := fs.Parse(args); err != nil {
		return err
	}
	if o.write && o.run != "" {
		return errors.New("count -write counts all groups")
	}
	if !canCount() {
		fmt.Fprintln(out, "instructions are not counted: that needs valgrind on amd64")
		return nil
	}
	return checked.Try(func() { o.count(out, progress) })
}

func (o *countOptions) count(out, progress io.Writer) {
	dir := checked.Must(os.MkdirTemp("", "gdwire-bench"))
	defer remove(dir)
	file := checked.Must(readReport(countFile))
	peers := o.write && !file.similar()

	// The commit is counted at the same time.
	var base sync.WaitGroup
	var before, now counts
	var failed error
	base.Go(func() {
		failed = checked.Try(func() { before = o.countBase(file, filepath.Join(dir, "base"), progress) })
	})
	count := func() { now = countTree(".", filepath.Join(dir, "now"), o.run, peers) }
	err := checked.Try(count)
	base.Wait()
	checked.Check(errors.Join(err, failed))
	if o.write {
		compare(out, before, now)
		for g, contenders := range now {
			for name, n := range contenders {
				contenders[name] = cmp.Or(n, file.Instructions[g][name]) // of a peer
			}
		}
		r := newReport()
		r.Commit, r.Instructions = git("log", "-1", "--format=%h %s"), now
		checked.Check(os.WriteFile(countFile, r.encode(), 0o644))
		return
	}
	grown := compareAgain(out, before, now, func() counts {
		fmt.Fprintln(progress, "counting again")
		count()
		return now
	})
	if len(grown) > 0 {
		checked.Check(fmt.Errorf("more than %g %% more instructions, or %g %% with maps: %s\nIf that is intended, run \"go run . count -write\" and commit %s with it",
			100*maxGrowth, 100*maxMapGrowth, strings.Join(grown, "; "), countFile))
	}
}

// canCount reports whether callgrind can run this program.
func canCount() bool {
	_, err := exec.LookPath("valgrind")
	return err == nil && runtime.GOARCH == "amd64"
}

// countBase returns the counts to compare with: those of the commit that changed
// countFile last, made with today's toolchain, or else those in file if they were made
// with the same toolchain and processor. It returns nil if there are none.
func (o *countOptions) countBase(file *report, dir string, progress io.Writer) counts {
	commit := git("log", "-1", "--format=%H", "--", countFile)
	switch {
	case commit == "" || git("rev-parse", "--is-shallow-repository") != "false":
		fmt.Fprintf(progress, "no history to find the commit of %s in\n", countFile)
	case git("status", "--porcelain", "--", countFile) != "":
		fmt.Fprintf(progress, "%s is not committed\n", countFile)
	case git("diff", "--stat", commit) == "":
		fmt.Fprintf(progress, "this is the commit of %s\n", countFile)
	case o.write && file.similar():
	default:
		fmt.Fprintf(progress, "comparing with %s\n", git("log", "-1", "--format=%h %s", commit))
		output(exec.Command("sh", "-c", `mkdir -p "$2" && git -C ../.. archive "$1" | tar -x -C "$2"`, "sh", commit, dir))
		return countTree(filepath.Join(dir, "lab", "bench"), dir, o.run, false)
	}
	if !file.similar() {
		fmt.Fprintf(progress, "nothing to compare with: the file is about %s on %s\n", file.Machine.Go, file.Machine.CPU)
		return nil
	}
	fmt.Fprintf(progress, "comparing with the counts in %s\n", countFile)
	return file.Instructions
}

// git returns the output of a git command, or "" if it fails.
func git(args ...string) string {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// output runs a command and returns its output.
func output(c *exec.Cmd) []byte {
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		checked.Check(fmt.Errorf("%s: %w\n%s%s", c, err, out, &stderr))
	}
	return out
}

// similar reports whether new counts can be compared with r.
func (r *report) similar() bool {
	now := newReport()
	return r.Machine.Go == now.Machine.Go && r.Machine.CPU == now.Machine.CPU && slices.Equal(r.Peers, now.Peers)
}

// countTree builds the bench module in the folder bench and counts the instructions
// of our contenders, and the peers' if peers is set. The other counts are 0.
func countTree(bench, dir, run string, peers bool) counts {
	dir = checked.Must(filepath.Abs(filepath.Join(dir, "count")))
	checked.Check(os.MkdirAll(dir, 0o755))
	program := filepath.Join(dir, "bench")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-o", program, ".")
	build.Dir = bench
	output(build)
	profile := filepath.Join(dir, "callgrind")
	cmd := exec.Command("valgrind", "-q", "--tool=callgrind", "--callgrind-out-file="+profile, "--combine-dumps=yes", "--dump-before="+markName,
		program, countingCommand, strconv.FormatBool(peers), run)
	cmd.Dir = bench
	// No collector, scheduler or background goroutine changes the counts.
	cmd.Env = append(os.Environ(), "GOGC=off", "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1")
	lines := output(cmd)
	return readCounts(lines, checked.Must(os.ReadFile(profile)))
}

// countingCommand makes this program run the contenders for callgrind, which writes
// a profile before each call of mark.
const (
	countingCommand = "counting"
	markName        = "main.mark"
)

//go:noinline
func mark() { marks++ }

var marks int

// Rounds of a contender are counted one by one, and the least counts: the runtime adds
// instructions now and then.
const countRounds = 3

// counting runs the contenders of the counted groups. It calls mark before the first
// round and after each, and writes a line with the runs in a round for each contender.
func counting(args []string, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("counting is for bench count")
	}
	peers, run := must(strconv.ParseBool(args[0])), regexp.MustCompile(args[1])
	runtime.MemProfileRate = 0
	for _, g := range groups {
		if !g.counted || !run.MatchString(g.name) {
			continue
		}
		s := &stage{short: true}
		for _, c := range g.setup(s) {
			n := 0
			if peers || c.ours {
				n = max(1, countedBytes/c.bytes)
				if got := c.run(); got != c.want { // and it fills pools and plans
					return fmt.Errorf("%s: %s: got %d, want %d", g.name, c.name, got, c.want)
				}
				mark()
				for range countRounds {
					for range n {
						c.run()
					}
					mark()
				}
			}
			fmt.Fprintf(out, "%s\t%s\t%d\n", g.name, c.name, n)
		}
		s.close()
	}
	return nil
}

// countedBytes is about how many bytes a round processes.
const countedBytes = 256 << 10

// readCounts returns the counts of the contenders in lines, which counting wrote. The profile contains what was executed
// before the first mark, between two marks, and after the last.
func readCounts(lines, profile []byte) counts {
	var totals []float64
	for _, m := range regexp.MustCompile(`(?m)^summary: (\d+)$`).FindAllSubmatch(profile, -1) {
		totals = append(totals, must(strconv.ParseFloat(string(m[1]), 64)))
	}
	r := counts{}
	for line := range strings.Lines(string(lines)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			checked.Check(fmt.Errorf("counting wrote %q", line))
		}
		least := 0.0 // for contenders that were not counted
		if n := must(strconv.ParseFloat(fields[2], 64)); n > 0 {
			if len(totals) <= countRounds {
				checked.Check(fmt.Errorf("the profile ends before the rounds of %s", fields[1]))
			}
			least = slices.Min(totals[1:1+countRounds]) / n // the first is before the first round
			totals = totals[1+countRounds:]
		}
		r.set(fields[0], fields[1], math.Round(least))
	}
	return r
}

// Growth of more than maxGrowth fails, changes of more than minChange are printed. Go hashes keys with a
// seed of the process, which moves the counts of maps by up to 1.5 %.
const (
	maxGrowth    = 0.01
	maxMapGrowth = 0.03
	minChange    = 0.003
)

// compareAgain returns the contenders that grew too much in now and in two more counts: the runtime adds instructions
// now and then.
func compareAgain(out io.Writer, before, now counts, again func() counts) []string {
	grown := compare(out, before, now)
	for n := 0; n < 2 && len(grown) > 0; n++ {
		more := compare(out, before, again())
		grown = slices.DeleteFunc(grown, func(one string) bool { return !slices.Contains(more, one) })
	}
	return grown
}

// compare prints the counts that changed, with their change in percent, and returns
// the contenders that grew too much. If before is nil, it does nothing.
func compare(out io.Writer, before, now counts) (grown []string) {
	if before == nil {
		return nil
	}
	rows := 0
	for _, g := range slices.Sorted(maps.Keys(now)) {
		most := maxGrowth
		if slices.ContainsFunc(slices.Concat(mapGroups, mapShapeGroups), func(of group) bool { return of.name == g }) {
			most = maxMapGrowth
		}
		for _, name := range slices.Sorted(maps.Keys(now[g])) {
			was, is := before[g][name], now[g][name]
			change := is/was - 1
			if was == 0 || is == 0 || math.Abs(change) <= minChange {
				continue
			}
			if rows++; rows == 1 {
				fmt.Fprint(out, "| instructions | before | now | |\n|---|--:|--:|--:|\n")
			}
			fmt.Fprintf(out, "| %s: %s | %.0f | %.0f | %+.1f %% |\n", g, name, was, is, 100*change)
			if change > most {
				grown = append(grown, g+": "+name)
			}
		}
	}
	if rows == 0 {
		fmt.Fprintf(out, "no count changed by more than %g %%\n", 100*minChange)
	}
	return grown
}
