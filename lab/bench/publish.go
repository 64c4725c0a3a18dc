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
	"slices"
	"strings"
	"time"
)

// A publication holds the values of the flags of bench publish.
type publication struct {
	options
	dry, render bool
}

func parsePublish(args []string) (*publication, error) {
	times := publishedTimes()
	o := &publication{options: options{rounds: 11, slot: 50 * time.Millisecond, layouts: 3, run: times.groups(), published: true}}
	short := false
	fs := flag.NewFlagSet("bench publish", flag.ContinueOnError)
	fs.BoolVar(&o.dry, "dry", false, "print the tables and write no files; the tree may have changes")
	fs.BoolVar(&short, "short", false, "measure in one layout, imprecisely")
	fs.BoolVar(&o.render, "render", false, "measure nothing and write the figures of "+figuresFile+" into the documents again")
	if err := fs.Parse(args); err != nil {
		return nil, errors.Join(errUsage, err) // which Parse printed
	}
	if fs.NArg() > 0 {
		fmt.Fprintln(fs.Output(), "bench publish: no arguments")
		fs.Usage()
		return nil, errUsage
	}
	if short {
		o.layouts, o.rounds, o.slot = 1, 9, 5*time.Millisecond
	}
	return o, nil
}

// publish measures what the documents show and writes figuresFile, the tables and the plot.
func (o *publication) publish(out, progress io.Writer) error {
	var f *figures
	var err error
	if o.render {
		f, err = readFigures()
	} else {
		f, err = o.figures(out, progress)
	}
	if err != nil {
		return err
	}
	files, err := f.files()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		old, _ := os.ReadFile(name) // not there before the first publication
		switch {
		case bytes.Equal(old, files[name]):
			fmt.Fprintf(progress, "%s is the same\n", name)
		case o.dry:
			fmt.Fprintf(progress, "%s would change\n", name)
		default:
			if err := os.WriteFile(name, files[name], 0o644); err != nil {
				return err
			}
			fmt.Fprintf(progress, "wrote %s\n", name)
		}
	}
	if o.dry {
		for _, p := range pages {
			for title, table := range f.tables(&p) {
				fmt.Fprintf(out, "\n## %s\n\n%s", title, table)
			}
		}
	}
	return nil
}

// figures measures times and instructions of one commit, and writes which goals are met.
func (o *publication) figures(out, progress io.Writer) (*figures, error) {
	commit, err := o.commit()
	if err != nil {
		return nil, err
	}
	if !canCount() {
		return nil, errors.New("counting instructions needs valgrind on amd64")
	}
	if err := latestPeers(); err != nil {
		return nil, err
	}
	start := time.Now()
	fmt.Fprintf(progress, "%s at %s\n", commit, start.Format(time.TimeOnly))
	times, err := o.measureLayouts(progress)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(progress, "instructions, after %v\n", time.Since(start).Round(time.Second))
	dir, err := os.MkdirTemp("", "gdwire-bench")
	if err != nil {
		return nil, err
	}
	defer remove(dir)
	counted, err := countTree(".", dir, publishedInstructions().groups(), true)
	if err != nil {
		return nil, err
	}
	if now, err := o.commit(); err != nil || now != commit {
		return nil, errors.Join(errors.New("the tree has changed meanwhile"), err)
	}
	fmt.Fprintf(progress, "measured in %v\n", time.Since(start).Round(time.Second))
	writeVerdicts(out, append(judge(times, allGoals()), judge(counted.report(), countGoals)...))
	return newFigures(commit, times, counted), nil
}

// commit returns the short hash of the commit, or an error if the tree has changes.
func (o *publication) commit() (string, error) {
	if changes := git("status", "--porcelain"); changes != "" && !o.dry {
		return "", fmt.Errorf("figures are those of a commit, and the tree has changes:\n%s", changes)
	}
	commit := git("log", "-1", "--format=%h")
	if commit == "" {
		return "", errors.New("no commit of Git")
	}
	return commit, nil
}

// latestPeers returns an error if a peer has a later release than go.mod requires.
func latestPeers() error {
	cmd := exec.Command("go", slices.Concat([]string{"list", "-m", "-u", "-f", "{{with .Update}}{{.Path}}@{{.Version}}{{end}}"}, peers, serverPeers)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list -m -u: %w\n%s", err, &stderr)
	}
	if later := strings.Fields(string(b)); len(later) > 0 {
		return fmt.Errorf("peers have later releases. Before this, as a commit of its own:\n\tgo get %s && go mod tidy && go generate ./... && go test ./... && go run . count -write", strings.Join(later, " "))
	}
	return nil
}
