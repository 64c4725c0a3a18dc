package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"path"
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

// A selection contains contenders, by their groups.
type selection map[string][]string

// add adds a contender.
func (s selection) add(group, name string) {
	if name != "" && !s.has(group, name) {
		s[group] = append(s[group], name)
	}
}

// addTables adds the contenders of tables.
func (s selection) addTables(tables []table) {
	for _, t := range tables {
		for _, r := range t.rows {
			for _, name := range r.names {
				s.add(r.group, name)
			}
		}
	}
}

func (s selection) has(group, name string) bool { return slices.Contains(s[group], name) }

// addGoals adds the contenders that goals are about.
func (s selection) addGoals(goals []goal) {
	for _, g := range goals {
		for _, name := range append([]string{g.against}, g.of...) {
			s.add(g.group, name)
		}
	}
}

// groups returns a regular expression that matches the names of the groups.
func (s selection) groups() *regexp.Regexp {
	return regexp.MustCompile(anyOf(slices.Collect(maps.Keys(s))))
}

// benchmarks returns the value of -test.bench for the benchmarks of s. Package testing compares names up to a slash.
func (s selection) benchmarks() string {
	names := slices.Concat(slices.Collect(maps.Values(s))...)
	for i, name := range names {
		names[i], _, _ = strings.Cut(name, "/")
	}
	return strings.ReplaceAll("^Benchmark$/"+anyOf(slices.Collect(maps.Keys(s)))+"/"+anyOf(names), " ", "_")
}

// anyOf returns a regular expression that matches the names.
func anyOf(names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	for i := range names {
		names[i] = regexp.QuoteMeta(names[i])
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// publishedTimes returns the contenders whose time is published.
func publishedTimes() selection {
	s := selection{}
	for _, p := range pages {
		s.addTables(p.times)
	}
	for _, g := range sizeGroups() {
		for _, l := range lines {
			s[g.name] = append(s[g.name], l.name)
		}
	}
	return s
}

// publishedInstructions returns the contenders whose instructions are published.
func publishedInstructions() selection {
	s := selection{}
	for _, p := range pages {
		s.addTables(p.instructions)
	}
	return s
}

// newFigures returns figures of what is published of some measurements, with four digits of each time.
func newFigures(commit string, times *report, instructions map[string]map[string]float64) *figures {
	f := &figures{commit, times, map[string]map[string]float64{}}
	published := publishedTimes()
	for i := range times.Groups {
		g := &times.Groups[i]
		g.Measurements = slices.DeleteFunc(g.Measurements, func(m *measurement) bool { return !published.has(g.Name, m.Name) })
		for _, m := range g.Measurements {
			for _, all := range [][]float64{m.Rounds, m.Layouts} {
				for j, x := range all {
					all[j], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
				}
			}
			m.Median = quantile(m.Rounds, 0.5)
			m.Quartiles = [2]float64{quantile(m.Rounds, 0.25), quantile(m.Rounds, 0.75)}
		}
	}
	times.Groups = slices.DeleteFunc(times.Groups, func(g found) bool { return len(g.Measurements) == 0 })
	for group, names := range publishedInstructions() {
		f.Instructions[group] = map[string]float64{}
		for _, name := range names {
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
	if all[plotFile], err = f.Times.draw(); err != nil {
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
func (f *figures) render(p *page, text string) ([]byte, error) {
	for title, table := range f.tables(p) {
		var err error
		if text, err = replaceTable(text, title, table); err != nil {
			return nil, err
		}
	}
	return []byte(text), nil
}

// tables returns the headings of a page and the tables after them.
func (f *figures) tables(p *page) iter.Seq2[string, string] {
	return func(yield func(title, table string) bool) {
		for _, t := range p.times {
			t.head = strings.ReplaceAll(t.head, "COMMIT", f.Commit)
			if !yield(t.title, f.Times.table(&t)) {
				return
			}
		}
		counted := (&counts{Groups: f.Instructions}).report()
		for _, t := range p.instructions {
			if !yield(t.title, counted.table(&t)) {
				return
			}
		}
		if p.run != "" {
			yield(p.run, f.run())
		}
	}
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
	rounds, builds := 0, 1
	for _, g := range f.Times.Groups {
		for _, m := range g.Measurements {
			rounds, builds = len(m.Rounds), max(1, len(m.Layouts))
			middle = append(middle, 100*(m.Quartiles[1]-m.Quartiles[0])/m.Median)
			if m.Layouts != nil {
				layouts = append(layouts, 100*(slices.Max(m.Layouts)/slices.Min(m.Layouts)-1))
			}
		}
	}
	peers := []string{}
	for _, p := range f.Times.Peers {
		module, version, _ := strings.Cut(p, " ")
		if name := path.Base(module); !regexp.MustCompile(`^v\d+$`).MatchString(name) {
			module = name
		} else {
			module = path.Base(path.Dir(module))
		}
		peers = append(peers, module+" "+version)
	}
	m := f.Times.Machine
	rows := [][2]string{
		{"commit", f.Commit},
		{"Go", fmt.Sprintf("%s, %s/%s", m.Go, m.OS, m.Arch)},
		{"machine", fmt.Sprintf("%d × %s", m.Cores, m.CPU)},
		{"peers", strings.Join(peers, ", ")},
		{"rounds", fmt.Sprintf("%d in each of %d builds with random layouts", rounds/builds, builds)},
		{"the middle half of the rounds spans", spread(middle)},
	}
	if layouts != nil {
		rows = append(rows, [2]string{"the medians of the builds differ by", spread(layouts)})
	}
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", r[0], r[1])
	}
	return b.String()
}

// spread describes differences in percent.
func spread(percent []float64) string {
	return fmt.Sprintf("%.1f %% in half of the figures, %.1f %% in nine of ten, %.0f %% at most", quantile(percent, 0.5), quantile(percent, 0.9), slices.Max(percent))
}
