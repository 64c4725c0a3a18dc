package main

import (
	"bytes"
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
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// A publication holds the values of the flags of bench publish.
type publication struct {
	dry, render     bool
	rounds, layouts int
	slot            time.Duration // of a contender in a round
}

// publish measures what the documents show and writes figuresFile, the tables and the plot.
func publish(args []string, out, progress io.Writer) error {
	o := &publication{rounds: 11, layouts: 3, slot: 50 * time.Millisecond}
	fs := flag.NewFlagSet("bench publish", flag.ContinueOnError)
	fs.BoolVar(&o.dry, "dry", false, "measure in one layout, imprecisely, print the tables and write no files; the tree may have changes")
	fs.BoolVar(&o.render, "render", false, "measure nothing and write the figures of "+figuresFile+" into the documents again")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if o.dry {
		o.layouts, o.rounds, o.slot = 1, 3, 5*time.Millisecond
	}
	return testenv.Try(func() { o.run(out, progress) })
}

func (o *publication) run(out, progress io.Writer) {
	var r *report
	if o.render {
		r = testenv.Checked(readReport(figuresFile))
	} else {
		r = o.figures(out, progress)
	}
	files := testenv.Checked(r.files())
	for _, name := range slices.Sorted(maps.Keys(files)) {
		old, _ := os.ReadFile(name) // not there before the first publication
		switch {
		case bytes.Equal(old, files[name]):
			fmt.Fprintf(progress, "%s is the same\n", name)
		case o.dry:
			fmt.Fprintf(progress, "%s would change\n", name)
		default:
			testenv.Check(os.WriteFile(name, files[name], 0o644))
			fmt.Fprintf(progress, "wrote %s\n", name)
		}
	}
	if o.dry {
		for _, p := range pages {
			for _, t := range r.tables(&p) {
				fmt.Fprintf(out, "\n## %s\n\n%s", t[0], t[1])
			}
		}
	}
}

// figures measures times and instructions of one commit, and writes which goals are met.
func (o *publication) figures(out, progress io.Writer) *report {
	commit := o.commit()
	if !canCount() {
		testenv.Check(errors.New("counting instructions needs valgrind on amd64"))
	}
	checkPeers()
	start := time.Now()
	fmt.Fprintf(progress, "%s at %s\n", commit, start.Format(time.TimeOnly))
	dir := testenv.Checked(os.MkdirTemp("", "gdwire-bench"))
	defer remove(dir)
	r := newReport()
	r.Commit, r.Layouts, r.Times = commit, o.layouts, published(false).addGoals(timeGoals)
	o.measure(r.Times, dir, progress)
	fmt.Fprintf(progress, "instructions, after %v\n", time.Since(start).Round(time.Second))
	r.Instructions = countTree(".", dir, published(true).addGoals(countGoals).pattern(), true)
	if now := o.commit(); now != commit {
		testenv.Check(fmt.Errorf("the tree has changed meanwhile, and is at %s", now))
	}
	fmt.Fprintf(progress, "measured in %v\n", time.Since(start).Round(time.Second))
	r.Times.writeGoals(out, timeGoals)
	r.Instructions.writeGoals(out, countGoals)
	return r
}

// measure measures the times of contenders: of several builds of the benchmarks, each with its functions in another
// random order, which run in turns, so that changes of the machine's speed affect all alike.
func (o *publication) measure(which results, dir string, progress io.Writer) {
	programs := make([]string, o.layouts)
	for i := range programs {
		programs[i] = filepath.Join(dir, fmt.Sprint("bench", i+1))
		output(exec.Command("go", "test", "-c", "-vet=off", fmt.Sprintf("-ldflags=-randlayout=%d", i+1), "-o", programs[i], "."))
	}
	bodies := strings.ReplaceAll("-test.bench=^Benchmark$/"+which.pattern(), " ", "_")
	for layout, program := range slices.Repeat(programs, o.rounds) {
		fmt.Fprintf(progress, "run %d of %d\n", layout+1, o.rounds*o.layouts)
		which.addTimes(output(exec.Command(program, "-test.run=^$", bodies, "-test.benchtime="+o.slot.String(), "-test.timeout=1h")))
	}
	for group, contenders := range which {
		for name, m := range contenders {
			if len(m.Rounds) == 0 {
				testenv.Check(fmt.Errorf("%s: %s was not measured", group, name))
			}
		}
	}
}

// addTimes adds the time of each benchmark in the output of go test, in ns with four digits.
func (r results) addTimes(output []byte) {
	all := map[string]*measurement{} // by the names of benchmarks
	for group, contenders := range r {
		for name, m := range contenders {
			all["/"+strings.ReplaceAll(group+"/"+name, " ", "_")] = m
		}
	}
	for lines := benchfmt.NewReader(bytes.NewReader(output), ""); lines.Scan(); {
		line, ok := lines.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		m := all[processors.ReplaceAllString(string(line.Name), "")]
		if m == nil {
			continue
		}
		sec, _ := line.Value("sec/op")
		speed, _ := line.Value("B/s")
		m.Bytes = int(math.Round(sec * speed))
		if cpu, ok := line.Value("cpu-sec/op"); ok {
			sec = cpu
		}
		m.Rounds = append(m.Rounds, must(strconv.ParseFloat(fmt.Sprintf("%.4g", 1e9*sec), 64)))
	}
}

// processors matches the end of a benchmark's name.
var processors = regexp.MustCompile(`-\d+$`)

// commit returns the short hash of the commit of a tree without changes.
func (o *publication) commit() string {
	if changes := git("status", "--porcelain"); changes != "" && !o.dry {
		testenv.Check(fmt.Errorf("figures are those of a commit, and the tree has changes:\n%s", changes))
	}
	commit := git("log", "-1", "--format=%h")
	if commit == "" {
		testenv.Check(errors.New("no commit of Git"))
	}
	return commit
}

// checkPeers fails if a peer has a later release than go.mod requires.
func checkPeers() {
	args := append([]string{"list", "-m", "-u", "-f", "{{with .Update}}{{.Path}}@{{.Version}}{{end}}"}, peers...)
	if later := bytes.Fields(output(exec.Command("go", args...))); len(later) > 0 {
		testenv.Check(fmt.Errorf("peers have later releases. Before this, as a commit of its own:\n\tgo get %s && go mod tidy && go generate ./... && go test ./... && go run . count -write", bytes.Join(later, []byte(" "))))
	}
}
