package main

import (
	"bytes"
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

// A page is a document with tables of figures, each the first after a heading.
type page struct {
	file   string
	tables []table
	run    string // the heading of the table about the run, or ""
}

// pages are the documents with figures.
var pages = []page{
	{file: "../../README.md", tables: []table{{
		title: "Speed", head: "reading structs, at commit COMMIT", columns: []string{"gdwire", "cbor", "json/v2"},
		rows: []row{
			rowOf("a saved game of 1 MB, with many numbers", "into structs", "variant", "cbor", "json v2"),
			rowOf("a dialog of 1 MB, a tree of text", "into structs, dialog", "variant", "cbor", "json v2"),
		},
	}}},
	{file: "README.md", tables: summary, run: "The run"},
}

// published returns the contenders in tables whose time is published, or whose instructions are.
func published(instructions bool) times {
	r := times{}
	for _, p := range pages {
		for _, t := range p.tables {
			for _, row := range t.rows {
				for _, name := range row.names {
					if name != "" && t.instructions == instructions {
						r.set(row.group, name, nil)
					}
				}
			}
		}
	}
	return r
}

// files returns the contents of all files with figures, by their names.
func (r *report) files() (map[string][]byte, error) {
	all := map[string][]byte{figuresFile: r.encode()}
	for _, p := range pages {
		b, err := os.ReadFile(p.file)
		text := string(b)
		for _, t := range r.tables(&p) {
			if err == nil {
				text, err = replaceTable(text, t[0], t[1])
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.file, err)
		}
		all[p.file] = []byte(text)
	}
	return all, nil
}

// tables returns the headings of a page and the tables after them.
func (r *report) tables(p *page) (all [][2]string) {
	for _, t := range p.tables {
		t.head = strings.ReplaceAll(t.head, "COMMIT", r.Commit)
		all = append(all, [2]string{t.title, r.table(&t)})
	}
	if p.run != "" {
		all = append(all, [2]string{p.run, r.run()})
	}
	return all
}

// replaceTable returns text with table in place of the first table after the heading title.
func replaceTable(text, title, table string) (string, error) {
	section := regexp.MustCompile(`(?m)^#+ ` + regexp.QuoteMeta(title) + `\n(?:[^#|\n].*\n|\n)*((?:\|.*\n)+)`)
	found := section.FindAllStringSubmatchIndex(text, -1)
	if len(found) != 1 || table == "" {
		return "", fmt.Errorf("%d sections %q with a table, and %d bytes of a new one", len(found), title, len(table))
	}
	return text[:found[0][2]] + table + text[found[0][3]:], nil
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

// A table contains a row for each job and a column for each codec, ours first.
type table struct {
	title        string // the heading above it
	head         string // of the first column
	columns      []string
	rows         []row
	instructions bool // in place of times
	alone        bool // without ratios to the first cell of a row
}

// A row contains measurements of a group.
type row struct {
	job, group string
	names      []string // the contender of each column, or ""
	per        float64  // the measurements are divided by it, unless 0
}

// rowOf returns a row of measurements that are not divided.
func rowOf(job, group string, names ...string) row { return row{job, group, names, 0} }

// sizeRow returns a row of tokens read from packets of a size.
func sizeRow(job, group string) row {
	names := []string{"gdwire tokens, bytes", "msgp walk, bytes.Reader", "cbor Wellformed", "jsontext ReadToken", "cbor Unmarshal"}
	if group == "64 bytes" {
		names = names[:4]
	}
	return rowOf(job, group, names...)
}

// summary contains the tables of the README.
var summary = []table{
	{title: "Saved game", columns: documentColumns, rows: documentRows("")},
	{title: "Dialog", columns: documentColumns, rows: documentRows(", dialog")},
	{title: "Saved game as structs", columns: structColumns, rows: structRows("")},
	{title: "Dialog as structs", columns: structColumns, rows: structRows(", dialog")},
	{
		title:   "Packets",
		columns: []string{"gdwire", "msgp", "cbor, checked", "jsontext", "cbor, into any"},
		rows: []row{
			sizeRow("64 bytes", "64 bytes"), sizeRow("345 bytes", sizeName(1)), sizeRow("4 KB", sizeName(12)), sizeRow("64 KB", sizeName(190)), sizeRow("4 MB", sizeName(12000)),
		},
	},
	{
		title:   "Bulk data",
		columns: []string{"gdwire", "copying"},
		rows: []row{
			rowOf("64 MiB of float32 in", "ReadPacked, 64 MiB", "gdwire float32", "io.ReadFull"),
			rowOf("64 MiB of float32 out", "WritePacked, 64 MiB", "gdwire float32", "Write"),
			rowOf("1 GiB from file to file", "1 GiB from file to file", "gdwire CopyValue", "io.CopyBuffer"),
		},
	},
	{title: "Instructions of structs", columns: structColumns, rows: append(instructionRows("saved game", ""), instructionRows("dialog", ", dialog")...), instructions: true},
	{title: "Instructions of texts", columns: textColumns(), rows: textRows(), instructions: true, alone: true},
	{
		title:   "Instructions of small records and maps",
		columns: []string{"variant", "cbor", "cbor, sorted", "msgpack", "json v2"},
		rows: []row{
			{"a struct by UnmarshalDecode", "small records in", []string{"UnmarshalDecode", "cbor.UnmarshalFirst"}, recordCount},
			{"a struct by Elements", "small records in", []string{"Elements", "cbor.UnmarshalFirst"}, recordCount},
			{"a struct by Marshal, by value", "small records out", []string{
				"variant.Marshal, by value", "cbor.Marshal, by value", "", "msgpack.Marshal, by value", "json v2, by value",
			}, recordCount},
			rowOf("a tree of maps with 12 values, written", "maps and trees out",
				"variant.Marshal, tree", "cbor.Marshal, tree", "cbor, sorted, tree", "msgpack.Marshal, tree", "json v2, tree"),
			rowOf("a tree of maps with 12 values, into any", "maps and trees in",
				"variant, tree into any", "cbor, tree into any", "", "msgpack, tree into any", "json v2, tree into any"),
		},
		instructions: true,
	},
}

var documentColumns = []string{"gdwire", "msgp", "cbor", "msgpack", "jsontext", "gob"}

// documentRows returns the rows of the groups of groupsOf.
func documentRows(suffix string) []row {
	tokens, skip, build, encode := "tokens"+suffix, "skip"+suffix, "build"+suffix, "encode"+suffix
	return []row{
		rowOf("read token by token", tokens, "gdwire tokens, bytes", "msgp walk, bytes.Reader", "", "", "jsontext ReadToken"),
		rowOf("the same from a Reader", tokens, "gdwire tokens, Reader", "msgp walk, Reader"),
		rowOf("the same, msgp by its functions for bytes", tokens, "gdwire tokens, bytes", "msgp walk, ReadXxxBytes"),
		rowOf("the same, each value taken", tokens, "gdwire tokens, values taken, bytes", "msgp walk, bytes.Reader"),
		rowOf("check and skip", skip, "gdwire SkipValue, bytes", "msgp Skip, Reader", "cbor Wellformed"),
		rowOf("read into any (gdwire: take each value)", build,
			"gdwire tokens, values taken, bytes", "msgp ReadIntf", "cbor Unmarshal", "msgpack DecodeInterface", "", "gob Decode"),
		rowOf("write", encode, "gdwire", "msgp", "cbor Marshal", "msgpack Encode", "jsontext WriteToken", "gob Encode"),
		rowOf("read and write again", "copy"+suffix, "gdwire CopyValue, bytes"),
	}
}

var structColumns = []string{"variant", "cbor", "msgpack", "json v2", "json v1", "vtprotobuf", "msgp"}

// structRows returns the rows of the groups of structGroups. vtprotobuf and msgp are generated code.
func structRows(suffix string) []row {
	return []row{
		rowOf("into new structs", "into structs"+suffix,
			"variant", "cbor", "msgpack", "json v2", "json v1", "vtprotobuf, generated", "msgp, generated"),
		rowOf("into structs whose memory is kept", "into structs, kept"+suffix,
			"variant", "cbor", "msgpack", "json v2", "json v1", "", "msgp, generated"),
		rowOf("from structs to bytes", "from structs"+suffix,
			"variant.Marshal", "cbor.Marshal", "msgpack.Marshal", "json v2", "json v1", "vtprotobuf, generated", "msgp, generated"),
		rowOf("into any", "into any"+suffix, "variant", "cbor", "msgpack", "json v2", "json v1"),
	}
}

// instructionRows returns the rows of structRows, and one for an Encoder, with jobs that name the document.
func instructionRows(document, suffix string) (rows []row) {
	for _, r := range structRows(suffix) {
		rows = append(rows, rowOf(document+", "+r.job, r.group, r.names...))
		if r.job == "from structs to bytes" {
			rows = append(rows, rowOf(document+", the same to an Encoder", r.group, append([]string{"variant.MarshalEncode"}, r.names[1:]...)...))
		}
	}
	return rows
}

func textColumns() (names []string) {
	for _, length := range textLengths {
		names = append(names, length.name)
	}
	return names
}

// textRows returns a row for each call and script, and of cbor's strings.
func textRows() (rows []row) {
	for _, way := range []struct{ job, group, codec string }{
		{"ReadText", "texts, ReadText", "gdwire"},
		{"ReadString", "texts, ReadString", "gdwire"},
		{"cbor.Unmarshal into strings", "texts, ReadString", "cbor"},
		{"SkipValue", "texts, SkipValue", "gdwire"},
		{"WriteString", "texts, WriteString", "gdwire"},
	} {
		for _, script := range scripts {
			if way.codec == "cbor" && script.packed {
				continue // it has one way to write strings
			}
			r := row{job: way.job + ", " + script.name, group: way.group, per: textCount}
			for _, length := range textLengths {
				r.names = append(r.names, way.codec+", "+length.name+", "+script.name)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// table returns a table as Markdown, without the rows whose first cell was not measured, or "" if
// none was.
func (r *report) table(t *table) string {
	unit, measured := duration, func(group, name string) []float64 { return r.Times[group][name] }
	if t.instructions {
		unit, measured = instructions, func(group, name string) []float64 {
			return slices.DeleteFunc([]float64{r.Instructions[group][name]}, func(n float64) bool { return n == 0 })
		}
	}
	var rows strings.Builder
	for _, row := range t.rows {
		ours := measured(row.group, row.names[0])
		if len(ours) == 0 {
			continue
		}
		texts := make([]string, len(t.columns))
		for i, name := range row.names {
			of := measured(row.group, name)
			if len(of) == 0 {
				continue
			}
			texts[i] = unit(median(of) / max(1, row.per))
			switch {
			case t.alone:
			case i == 0:
				texts[i] = "**" + texts[i] + "**"
			default:
				texts[i] += fmt.Sprintf(" (× %.2g)", ratio(of, ours))
			}
		}
		fmt.Fprintf(&rows, "| %s | %s |\n", row.job, strings.Join(texts, " | "))
	}
	if rows.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("| %s | %s |\n|---%s|\n%s", t.head, strings.Join(t.columns, " | "), strings.Repeat("|--:", len(t.columns)), rows.String())
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
