package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// A comparison holds the values of the flags of bench time.
type comparison struct {
	options        // of each turn
	turns   int    // of each tree in each layout
	against string // a commit
}

// timedGroups matches the groups with loops that carry a load: the next position depends on the
// value loaded at the current position. The number of instructions does not tell their time.
const timedGroups = "^(skip|copy|packets, memory)$"

func parseTime(args []string) (*comparison, error) {
	// Rounds are many and short, so that other work of the machine does not affect all of them.
	o := &comparison{options: options{rounds: 9, slot: time.Millisecond, run: regexp.MustCompile(timedGroups)}, turns: 6}
	fs := flag.NewFlagSet("bench time", flag.ContinueOnError)
	fs.IntVar(&o.layouts, "layouts", 3, "compare in `n` builds with random layouts")
	fs.StringVar(&o.against, "against", "", "compare with this `commit` (default HEAD, or HEAD^ if nothing has changed since HEAD)")
	fs.Func("run", "compare groups whose name matches `regexp` (default "+timedGroups+")", func(s string) (err error) {
		o.run, err = regexp.Compile(s)
		return err
	})
	if err := fs.Parse(args); err != nil {
		return nil, errors.Join(errUsage, err) // which Parse printed
	}
	if fs.NArg() > 0 || o.layouts < 1 {
		fmt.Fprintln(fs.Output(), "bench time: no arguments, and at least one layout")
		fs.Usage()
		return nil, errUsage
	}
	if o.against == "" {
		o.against = "HEAD"
		if git("diff", "--stat", "HEAD") == "" {
			o.against = "HEAD^"
		}
	}
	return o, nil
}

// compare writes a table of the times of a commit and of this tree.
func (o *comparison) compare(out, progress io.Writer) error {
	dir, err := os.MkdirTemp("", "gdwire-bench")
	if err != nil {
		return err
	}
	defer remove(dir)
	base := filepath.Join(dir, "base")
	if err := extract(o.against, base); err != nil {
		return err
	}
	fmt.Fprintf(progress, "comparing with %s\n", git("log", "-1", "--format=%h %s", o.against))
	trees := []string{filepath.Join(base, "lab", "bench"), "."}
	var before, now []*report // by layout
	for i := 1; i <= o.layouts; i++ {
		fmt.Fprintf(progress, "layout %d of %d\n", i, o.layouts)
		all, err := o.alternate(trees, dir, i)
		if err != nil {
			return err
		}
		before, now = append(before, all[0]), append(now, all[1])
	}
	writeTimes(out, before, now)
	return nil
}

// alternate builds the bench modules in the folders trees in a layout, measures them in turns and
// returns the report of each.
func (o *comparison) alternate(trees []string, dir string, layout int) ([]*report, error) {
	commands := make([]string, len(trees))
	for i, tree := range trees {
		commands[i] = filepath.Join(dir, fmt.Sprint("bench", i))
		if err := buildLayout(tree, commands[i], layout); err != nil {
			return nil, err
		}
	}
	all := make([]*report, len(trees))
	for turn := range o.turns {
		for i := range trees {
			i = (i + turn) % len(trees)
			r, err := o.measureBy(commands[i], trees[i], io.Discard)
			if err != nil {
				return nil, err
			}
			if all[i] == nil {
				all[i] = r
			} else if err := all[i].add(r); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// writeTimes writes a table of the contenders that are in all reports, which are in the order of
// the layouts.
func writeTimes(out io.Writer, before, now []*report) {
	fmt.Fprint(out, "| time | before | now | | layouts |\n|---|--:|--:|--:|--:|\n")
	for _, f := range now[0].Groups {
		for _, m := range f.Measurements {
			was, is := leasts(before, f.Name, m.Name), leasts(now, f.Name, m.Name)
			if was == nil {
				continue
			}
			changes := make([]float64, len(is))
			for i := range is {
				changes[i] = 100 * (is[i]/was[i] - 1)
			}
			fmt.Fprintf(out, "| %s: %s | %s | %s | %+.1f %% | %+.1f to %+.1f |\n", f.Name, m.Name, duration(quantile(was, 0.5)), duration(quantile(is, 0.5)),
				quantile(changes, 0.5), slices.Min(changes), slices.Max(changes))
		}
	}
}

// leasts returns the time of the fastest round of a contender in each report, or nil if it is not
// in all of them.
func leasts(all []*report, group, name string) (times []float64) {
	for _, r := range all {
		m := r.find(group, name)
		if m == nil {
			return nil
		}
		times = append(times, slices.Min(m.Rounds))
	}
	return times
}
