package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// figuresFile contains what was published last.
const figuresFile = "figures.json"

// figures are what a run of bench publish has measured. The tables of the documents and the plot
// depend on nothing else.
type figures struct {
	Commit       string                        `json:"commit"`
	Times        *report                       `json:"times"`
	Instructions map[string]map[string]float64 `json:"instructions"` // of one run, by group and contender
}

// A page is a document with tables of figures, each the first after a heading.
type page struct {
	file                string
	times, instructions []table
	run                 string // the heading of the table about the run, or ""
}

// pages are the documents with figures.
var pages = []page{
	{file: "../../README.md", times: []table{{
		title: "Speed", head: "reading structs, at commit COMMIT", columns: []string{"gdwire", "cbor", "json/v2"},
		rows: []row{
			rowOf("a saved game of 1 MB, with many numbers", "into structs", "variant", "cbor", "json v2"),
			rowOf("a dialog of 1 MB, a tree of text", "into structs, dialog", "variant", "cbor", "json v2"),
		},
		unit: duration,
	}}},
	{file: "README.md", times: summary, instructions: instructionTables, run: "The run"},
}

// plotFile contains the plot.
const plotFile = "decode.svg"

// addTables adds the contenders of tables.
func (r results) addTables(tables []table) {
	for _, t := range tables {
		for _, row := range t.rows {
			r.add(row.group, row.names...)
		}
	}
}

// addGoals adds the contenders that goals are about.
func (r results) addGoals(goals []goal) {
	for _, g := range goals {
		r.add(g.group, append([]string{g.against}, g.of...)...)
	}
}

// groups returns a regular expression that matches the names of the groups.
func (r results) groups() *regexp.Regexp { return regexp.MustCompile(anyOf(maps.Keys(r))) }

// benchmarks returns the value of -test.bench for the benchmarks of r. Package testing compares names up to a slash.
func (r results) benchmarks() string {
	names := map[string]bool{}
	for _, contenders := range r {
		for name := range contenders {
			name, _, _ = strings.Cut(name, "/")
			names[name] = true
		}
	}
	return strings.ReplaceAll("^Benchmark$/"+anyOf(maps.Keys(r))+"/"+anyOf(maps.Keys(names)), " ", "_")
}

// anyOf returns a regular expression that matches the names.
func anyOf(names iter.Seq[string]) string {
	all := slices.Sorted(names)
	for i := range all {
		all[i] = regexp.QuoteMeta(all[i])
	}
	return "^(" + strings.Join(all, "|") + ")$"
}

// publishedTimes returns the contenders whose time is published.
func publishedTimes() results {
	r := published(func(p *page) []table { return p.times })
	for _, g := range sizeGroups() {
		for _, l := range lines {
			r.add(g.name, l.name)
		}
	}
	return r
}

// publishedInstructions returns the contenders whose instructions are published.
func publishedInstructions() results {
	return published(func(p *page) []table { return p.instructions })
}

// published returns the contenders in some tables of all pages.
func published(tables func(p *page) []table) results {
	r := results{}
	for i := range pages {
		r.addTables(tables(&pages[i]))
	}
	return r
}

// newFigures returns figures of what is published of some measurements, with four digits of each time.
func newFigures(commit string, times *report, instructions map[string]map[string]float64) *figures {
	f := &figures{commit, times, map[string]map[string]float64{}}
	published := publishedTimes()
	for group, contenders := range times.Groups {
		maps.DeleteFunc(contenders, func(name string, _ *measurement) bool { return published[group][name] == nil })
		for _, m := range contenders {
			for i, x := range m.Rounds {
				m.Rounds[i], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
			}
		}
	}
	maps.DeleteFunc(times.Groups, func(_ string, contenders map[string]*measurement) bool { return len(contenders) == 0 })
	for group, contenders := range publishedInstructions() {
		f.Instructions[group] = map[string]float64{}
		for name := range contenders {
			f.Instructions[group][name] = instructions[group][name]
		}
	}
	return f
}

// readFigures reads figuresFile.
func readFigures() (*figures, error) {
	b, err := os.ReadFile(figuresFile)
	if err != nil {
		return nil, err
	}
	f := new(figures)
	if err := json.Unmarshal(b, f); err != nil {
		return nil, fmt.Errorf("%s: %w", figuresFile, err)
	}
	return newFigures(f.Commit, f.Times, f.Instructions), nil
}

// numbers matches an array of numbers with a line for each.
var numbers = regexp.MustCompile(`\[[-+.\de\s,]+\]`)

// files returns the contents of all files with figures, by their names.
func (f *figures) files() (map[string][]byte, error) {
	b, err := json.MarshalIndent(f, "", "\t")
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{figuresFile: append(numbers.ReplaceAllFunc(b, func(array []byte) []byte {
		return []byte(strings.Join(strings.Fields(string(array)), ""))
	}), '\n')}
	if all[plotFile], err = f.Times.Groups.draw(); err != nil {
		return nil, err
	}
	for _, p := range pages {
		text, err := os.ReadFile(p.file)
		if err != nil {
			return nil, err
		}
		if all[p.file], err = f.render(&p, string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", p.file, err)
		}
	}
	return all, nil
}

// render returns the text of a page with the tables of f in place of its own.
func (f *figures) render(p *page, text string) (_ []byte, err error) {
	for _, t := range f.tables(p) {
		if text, err = replaceTable(text, t[0], t[1]); err != nil {
			return nil, err
		}
	}
	return []byte(text), nil
}

// tables returns the headings of a page and the tables after them.
func (f *figures) tables(p *page) (all [][2]string) {
	for _, t := range p.times {
		t.head = strings.ReplaceAll(t.head, "COMMIT", f.Commit)
		all = append(all, [2]string{t.title, f.Times.Groups.table(&t)})
	}
	counted := (&counts{Groups: f.Instructions}).results()
	for _, t := range p.instructions {
		all = append(all, [2]string{t.title, counted.table(&t)})
	}
	if p.run != "" {
		all = append(all, [2]string{p.run, f.run()})
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
func (f *figures) run() string {
	var middle, layouts []float64 // differences in percent
	rounds, t := 0, f.Times
	for _, contenders := range t.Groups {
		for _, m := range contenders {
			rounds = len(m.Rounds)
			middle = append(middle, 100*(quantile(m.Rounds, 0.75)-quantile(m.Rounds, 0.25))/m.median())
			medians := m.layouts(t.Layouts)
			layouts = append(layouts, 100*(slices.Max(medians)/slices.Min(medians)-1))
		}
	}
	peers := make([]string, len(t.Peers))
	for i, p := range t.Peers {
		peers[i] = peerName.ReplaceAllString(p, "$1 ")
	}
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	for _, r := range [][2]string{
		{"commit", f.Commit},
		{"Go", fmt.Sprintf("%s, %s/%s", t.Machine.Go, t.Machine.OS, t.Machine.Arch)},
		{"machine", fmt.Sprintf("%d × %s", t.Machine.Cores, t.Machine.CPU)},
		{"peers", strings.Join(peers, ", ")},
		{"rounds", fmt.Sprintf("%d in each of %d builds with random layouts", rounds/t.Layouts, t.Layouts)},
		{"the middle half of the rounds spans", spread(middle)},
		{"the medians of the builds differ by", spread(layouts)},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", r[0], r[1])
	}
	return b.String()
}

// peerName matches the path of a module, up to its name, without its major version.
var peerName = regexp.MustCompile(`^.*?([^/ ]+)(/v\d+)? `)

// spread describes differences in percent.
func spread(percent []float64) string {
	return fmt.Sprintf("%.1f %% in half of the figures, %.1f %% in nine of ten, %.0f %% at most", quantile(percent, 0.5), quantile(percent, 0.9), slices.Max(percent))
}
