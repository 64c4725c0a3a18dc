package main

import (
	"bytes"
	_ "embed" // the tables
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gdwire/gdwire/internal/base/checked"
	"golang.org/x/perf/benchfmt"
)

// What a release publishes: the tables of the documents, and the command that measures
// what they show.

// figuresFile contains what was published last.
const figuresFile = "figures.json"

// A table of figures is the first after a heading of a document. It has a row for each job and a column for each codec, ours
// first. The table without columns is about the run.
type table struct {
	File, Title  string
	Head         string // of the first column
	Columns      []string
	Rows         [][]string // a job, a group, and its contender for each column, or ""
	Instructions bool       // in place of times
	Alone        bool       // without ratios to the first figure of a row
}

//go:embed tables.json
var tablesFile []byte

// tables contains all tables of figures.
var tables = func() (all []table) {
	check(json.Unmarshal(tablesFile, &all))
	return all
}()

// published returns the contenders in tables whose time is published, or whose instructions are.
func published(instructions bool) times {
	r := times{}
	for _, t := range tables {
		for _, row := range t.Rows {
			for _, name := range row[2:] {
				if name != "" && t.Instructions == instructions {
					r.set(row[1], name, nil)
				}
			}
		}
	}
	return r
}

// files returns the contents of all files with figures, by their names.
func (r *report) files() (map[string][]byte, error) {
	all := map[string][]byte{figuresFile: r.encode()}
	for _, t := range tables {
		b, err := all[t.File], error(nil)
		if b == nil {
			b, err = os.ReadFile(t.File)
		}
		if err == nil {
			b, err = replaceTable(b, t.Title, r.table(&t))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.File, err)
		}
		all[t.File] = b
	}
	return all, nil
}

// replaceTable returns text with table in place of the first table after the heading title.
func replaceTable(text []byte, title, table string) ([]byte, error) {
	section := regexp.MustCompile(`(?m)^#+ ` + regexp.QuoteMeta(title) + `\n(?:[^#|\n].*\n|\n)*((?:\|.*\n)+)`)
	found := section.FindAllSubmatchIndex(text, -1)
	if len(found) != 1 || table == "" {
		return nil, fmt.Errorf("%d sections %q with a table, and %d bytes of a new one", len(found), title, len(table))
	}
	return slices.Concat(text[:found[0][2]], []byte(table), text[found[0][3]:]), nil
}

// run returns the table that tells how the figures were measured.
func (r *report) run() string {
	var middle, layouts []float64 // differences in percent
	rounds := 0
	for group, contenders := range published(false) {
		for name := range contenders {
			of := r.Times[group][name]
			if of == nil {
				continue // a new row of a table
			}
			rounds = len(of)
			middle = append(middle, 100*(quantile(of, 0.75)-quantile(of, 0.25))/median(of))
			medians := ofLayouts(of, r.Layouts)
			layouts = append(layouts, 100*(slices.Max(medians)/slices.Min(medians)-1))
		}
	}
	peers := slices.Clone(r.Peers)
	for i, p := range peers {
		peers[i] = peerName.ReplaceAllString(p, "$1 ")
	}
	return fmt.Sprintf(`| | |
|---|---|
| commit | %s |
| Go | %s, %s/%s |
| machine | %d × %s |
| peers | %s |
| rounds | %d in each of %d builds with random layouts |
| the middle half of the rounds spans | %s |
| the medians of the builds differ by | %s |
`, r.Commit, r.Machine.Go, r.Machine.OS, r.Machine.Arch, r.Machine.Cores, r.Machine.CPU, strings.Join(peers, ", "),
		rounds/r.Layouts, r.Layouts, spread(middle), spread(layouts))
}

// peerName matches the path of a module, up to its name, without its major version.
var peerName = regexp.MustCompile(`^.*?([^/ ]+)(/v\d+)? `)

// spread describes differences in percent.
func spread(percent []float64) string {
	return fmt.Sprintf("%.1f %% in half of the figures, %.1f %% in nine of ten, %.0f %% at most", quantile(percent, 0.5), quantile(percent, 0.9), slices.Max(percent))
}

// table returns a table as Markdown, without the rows whose first figure was not measured, or "" if
// none was.
func (r *report) table(t *table) string {
	if t.Columns == nil {
		return r.run()
	}
	unit, measured := duration, func(group, name string) []float64 { return r.Times[group][name] }
	if t.Instructions {
		unit, measured = instructions, func(group, name string) []float64 {
			return slices.DeleteFunc([]float64{r.Instructions[group][name]}, func(n float64) bool { return n == 0 })
		}
	}
	var rows strings.Builder
	for _, row := range t.Rows {
		job, group, names := row[0], row[1], row[2:]
		ours := measured(group, names[0])
		if len(ours) == 0 {
			continue
		}
		texts := make([]string, len(t.Columns))
		for i, name := range names {
			of := measured(group, name)
			if len(of) == 0 {
				continue
			}
			texts[i] = unit(median(of) / records(group))
			switch {
			case t.Alone:
			case i == 0:
				texts[i] = "**" + texts[i] + "**"
			default:
				texts[i] += fmt.Sprintf(" (× %.2g)", ratio(of, ours))
			}
		}
		fmt.Fprintf(&rows, "| %s | %s |\n", job, strings.Join(texts, " | "))
	}
	if rows.Len() == 0 {
		return ""
	}
	head := strings.ReplaceAll(t.Head, "COMMIT", r.Commit)
	return fmt.Sprintf("| %s | %s |\n|---%s|\n%s", head, strings.Join(t.Columns, " | "), strings.Repeat("|--:", len(t.Columns)), rows.String())
}

// records returns how many records a run of a group processes: figures are of one.
func records(of string) float64 {
	i := slices.IndexFunc(groups, func(g group) bool { return g.name == of })
	return float64(max(1, groups[i].records))
}

// publish measures what the documents show and writes figuresFile and the tables.
func publish(args []string, progress io.Writer) error {
	fs := flag.NewFlagSet("bench publish", flag.ContinueOnError)
	render := fs.Bool("render", false, "measure nothing and write the figures of "+figuresFile+" into the documents again")
	if err := fs.Parse(args); err != nil {
		return err
	}
	return checked.Try(func() {
		read := func() (*report, error) { return figures(progress), nil }
		if *render {
			read = func() (*report, error) { return readReport(figuresFile) }
		}
		files := checked.Must(checked.Must(read()).files())
		for _, name := range slices.Sorted(maps.Keys(files)) {
			checked.Check(os.WriteFile(name, files[name], 0o644))
			fmt.Fprintln(progress, "wrote", name)
		}
	})
}

// A plan tells how times are measured: in how many rounds of how many builds, each of a slot for a contender.
type plan struct {
	rounds, layouts int
	slot            time.Duration
}

// figures measures times and instructions of one commit.
func figures(progress io.Writer) *report {
	commit, p := headCommit(), plan{rounds: 11, layouts: 3, slot: 50 * time.Millisecond}
	if !canCount() {
		checked.Check(errors.New("counting instructions needs valgrind on amd64"))
	}
	args := append([]string{"list", "-m", "-u", "-f", "{{with .Update}}{{.Path}}@{{.Version}}{{end}}"}, peers...)
	if later := bytes.Fields(output(exec.Command("go", args...))); len(later) > 0 {
		checked.Check(fmt.Errorf("peers have later releases. Before this, as a commit of its own:\n\tgo get %s && go mod tidy && go generate ./... && go test ./... && go run . count -write", bytes.Join(later, []byte(" "))))
	}
	start := time.Now()
	fmt.Fprintf(progress, "%s at %s\n", commit, start.Format(time.TimeOnly))
	dir := checked.Must(os.MkdirTemp("", "gdwire-bench"))
	defer remove(dir)
	r := newReport()
	r.Commit, r.Layouts, r.Times = commit, p.layouts, published(false)
	p.measure(r.Times, dir, progress)
	fmt.Fprintf(progress, "instructions, after %v\n", time.Since(start).Round(time.Second))
	r.Instructions = countTree(".", dir, published(true).pattern(), true)
	if now := headCommit(); now != commit {
		checked.Check(fmt.Errorf("the tree has changed meanwhile, and is at %s", now))
	}
	fmt.Fprintf(progress, "measured in %v\n", time.Since(start).Round(time.Second))
	return r
}

// measure measures the times of contenders: of several builds of the benchmarks, each with its functions in another
// random order, which run in turns, so that changes of the machine's speed affect all alike.
func (p *plan) measure(which times, dir string, progress io.Writer) {
	programs := make([]string, p.layouts)
	for i := range programs {
		programs[i] = filepath.Join(dir, fmt.Sprint("bench", i+1))
		output(exec.Command("go", "test", "-c", "-vet=off", fmt.Sprintf("-ldflags=-randlayout=%d", i+1), "-o", programs[i], "."))
	}
	bodies := strings.ReplaceAll("-test.bench=^Benchmark$/"+which.pattern(), " ", "_")
	for layout, program := range slices.Repeat(programs, p.rounds) {
		fmt.Fprintf(progress, "run %d of %d\n", layout+1, p.rounds*p.layouts)
		addTimes(which, output(exec.Command(program, "-test.run=^$", bodies, "-test.benchtime="+p.slot.String(), "-test.timeout=1h")))
	}
	for group, contenders := range which {
		for name, rounds := range contenders {
			if len(rounds) == 0 {
				checked.Check(fmt.Errorf("%s: %s was not measured", group, name))
			}
		}
	}
}

// addTimes adds the time of each benchmark in the output of go test, in ns with four digits.
func addTimes(r times, output []byte) {
	all := map[string][2]string{} // groups and names, by the names of benchmarks
	for group, contenders := range r {
		for name := range contenders {
			all["/"+strings.ReplaceAll(group+"/"+name, " ", "_")] = [2]string{group, name}
		}
	}
	for lines := benchfmt.NewReader(bytes.NewReader(output), ""); lines.Scan(); {
		line, ok := lines.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		if of, ok := all[processors.ReplaceAllString(string(line.Name), "")]; ok {
			sec, _ := line.Value("sec/op")
			ns := must(strconv.ParseFloat(fmt.Sprintf("%.4g", 1e9*sec), 64))
			r.set(of[0], of[1], append(r[of[0]][of[1]], ns))
		}
	}
}

// processors matches the end of a benchmark's name.
var processors = regexp.MustCompile(`-\d+$`)

// headCommit returns the short hash of the commit of a tree without changes.
func headCommit() string {
	if changes := git("status", "--porcelain"); changes != "" {
		checked.Check(fmt.Errorf("figures are those of a commit, and the tree has changes:\n%s", changes))
	}
	commit := git("log", "-1", "--format=%h")
	if commit == "" {
		checked.Check(errors.New("no commit of Git"))
	}
	return commit
}
