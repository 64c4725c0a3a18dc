package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gdwire/gdwire/internal/suite"
)

// A wrong is a wrong answer.
type wrong struct {
	exercise
	Text string `json:"fault"`
	Line string `json:"line"`
}

// A report contains the results.
type report struct {
	Format   string             `json:"format"`
	Encoder  bool               `json:"encoder"`
	Program  string             `json:"program"`
	Levels   []suite.LevelScore `json:"levels"`
	Skipped  int                `json:"skipped"`
	Restarts int                `json:"restarts"`
	Faults   []wrong            `json:"faults"`

	counts map[string]int // exercises of each kind
}

// judge counts an answer.
func (r *report) judge(e *exercise, answer []byte) {
	if text := e.judge(answer); text != "" {
		r.fault(e, text)
		return
	}
	if !e.Any {
		r.count(e, 1)
	}
}

// fault counts a wrong or missing answer.
func (r *report) fault(e *exercise, text string) {
	r.count(e, 0)
	r.Faults = append(r.Faults, wrong{*e, text, cut(e.Line)})
}

// cut shortens a line too long to read.
func cut(line string) string {
	const most = 2000
	if len(line) > most {
		return line[:most] + "…"
	}
	return line
}

func (r *report) count(e *exercise, right int) {
	i := slices.IndexFunc(r.Levels, func(l suite.LevelScore) bool { return l.Level == e.Level })
	if i < 0 {
		i, r.Levels = len(r.Levels), append(r.Levels, suite.LevelScore{Level: e.Level})
	}
	s := &r.Levels[i].Invalid
	if e.Valid {
		s = &r.Levels[i].Valid
	}
	s.Add(suite.Score{Right: right, Of: 1})
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[e.Kind]++
}

// write prints the report in the form chosen by c.
func (r *report) write(out io.Writer, c *config) error {
	slices.SortFunc(r.Levels, func(a, b suite.LevelScore) int {
		return slices.Index(levels, a.Level) - slices.Index(levels, b.Level)
	})
	if c.json {
		if r.Faults == nil {
			r.Faults = []wrong{}
		}
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "\t")
		return e.Encode(r)
	}
	if c.verbose {
		for _, f := range r.Faults {
			if _, err := fmt.Fprintf(out, "%s %s\n  %s\n", f.ID, f.Text, f.Line); err != nil {
				return err
			}
		}
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	r.writeKinds(t)
	fmt.Fprintf(t, "%s\tvalid\tinvalid\n", r.Format)
	for _, l := range append(slices.Clone(r.Levels), suite.Sum(r.Levels)) {
		fmt.Fprintf(t, "%s\t%v\t%v\n", l.Level, l.Valid, l.Invalid)
	}
	if r.Skipped > 0 {
		fmt.Fprintf(t, "skipped\t%d\n", r.Skipped)
	}
	if r.Restarts > 0 {
		fmt.Fprintf(t, "restarts\t%d\n", r.Restarts)
	}
	return t.Flush()
}

// writeKinds prints a table of the faults by kind, in order of the first fault.
func (r *report) writeKinds(t io.Writer) {
	const most = 4 // ids
	var kinds []string
	of := map[string][]wrong{}
	for _, f := range r.Faults {
		if of[f.Kind] == nil {
			kinds = append(kinds, f.Kind)
		}
		of[f.Kind] = append(of[f.Kind], f)
	}
	if len(kinds) == 0 {
		return
	}
	fmt.Fprintln(t, "kind\twrong\tvectors\tfor example")
	for _, kind := range kinds {
		var ids []string
		for _, f := range of[kind] {
			ids = append(ids, f.ID)
		}
		if len(ids) > most {
			ids = append(ids[:most], "…")
		}
		first := of[kind][0]
		fmt.Fprintf(t, "%s\t%d/%d\t%s\t%s\n", kind, len(of[kind]), r.counts[kind], strings.Join(ids, " "), first.Text)
	}
	fmt.Fprintln(t)
}
