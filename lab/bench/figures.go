package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

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

// plotFile contains the plot.
const plotFile = "decode.svg"

// published returns the contenders in tables and plot whose time is published, or whose instructions are.
func published(instructions bool) results {
	r := results{}
	for _, p := range pages {
		for _, t := range p.tables {
			for _, row := range t.rows {
				if t.instructions == instructions {
					r.add(row.group, row.names)
				}
			}
		}
	}
	for _, g := range sizeGroups() {
		for _, l := range lines {
			if !instructions {
				r.add(g.name, []string{l.name})
			}
		}
	}
	return r
}

// addGoals adds the contenders that goals are about.
func (r results) addGoals(goals []goal) results {
	for _, g := range goals {
		r.add(g.group, append([]string{g.against}, g.of...))
	}
	return r
}

// files returns the contents of all files with figures, by their names.
func (r *report) files() (map[string][]byte, error) {
	plot, err := r.Times.draw()
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{figuresFile: r.encode(), plotFile: plot}
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
			m := r.Times[group][name]
			if m == nil {
				continue // a new row of a table
			}
			rounds = len(m.Rounds)
			middle = append(middle, 100*(quantile(m.Rounds, 0.75)-quantile(m.Rounds, 0.25))/m.median())
			medians := m.layouts(r.Layouts)
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
