package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/suite"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// atOnce is how many programs are measured at once.
const atOnce = 8

// A program is a line of spec/results.md.
type program struct {
	name, version string
	formats       []gdwire.Format
	npm           string   // the package that it needs
	encoder       bool     // it writes
	command       []string // without the format, which replaces FORMAT
}

// others are sources of GitHub, whose checkouts are in the directory of the environment variable
// GDWIRE_OTHERS, by owner+name.
var others = []struct {
	name, folder string
	formats      []gdwire.Format
}{
	{"PlayGodot", "Randroids-Dojo+PlayGodot", []gdwire.Format{gdwire.Godot4}},
	{"auto-godot", "Wundrfull+auto-godot", []gdwire.Format{gdwire.Godot4}},
	{"gdtype-python", "anetczuk+gdtype-python", []gdwire.Format{gdwire.Godot4, gdwire.Godot3}},
}

// programs returns all lines. The current directory is root.
func programs(root string) ([]program, error) {
	spec := func(name string) string { return filepath.Join(root, "spec", name) }
	python, node := versionBy("python3", "--version"), versionBy("node", "--version")
	all := []program{
		{name: "[reader.py](reader.py), reading", version: "this commit, " + python, formats: gdwire.Formats(), command: []string{"python3", spec("reader.py"), "FORMAT"}},
		{name: "[reader.mjs](reader.mjs), reading", version: "this commit, Node.js " + node, formats: gdwire.Formats(), command: []string{"node", spec("reader.mjs"), "FORMAT"}},
		{name: "[alone.py](others/alone.py), reading", version: "its first run, " + python, formats: gdwire.Formats(), command: []string{"python3", spec("others/alone.py"), "FORMAT"}},
	}
	for _, e := range engines {
		all = append(all, program{name: "Godot, reading", version: e.version, formats: []gdwire.Format{e.format}, command: e.command})
	}
	for _, p := range []program{
		{name: "@gd-com/utils", version: "5.0.0", formats: []gdwire.Format{gdwire.Godot4, gdwire.Manual4}},
		{name: "@gd-com/utils", version: "3.0.0", formats: []gdwire.Format{gdwire.Godot3}},
		{name: "godot-binary-serialization", version: "0.1.6", formats: []gdwire.Format{gdwire.Godot3}},
	} {
		name := p.name
		p.npm = name + "@" + p.version
		p.name, p.command = name+", reading", []string{"node", spec("others/npm.mjs"), "FORMAT", name}
		all = append(all, p)
		p.name, p.command, p.encoder = name+", writing", []string{"node", spec("others/npm-write.mjs"), name}, true
		all = append(all, p)
	}
	folder := os.Getenv("GDWIRE_OTHERS")
	if folder == "" {
		return nil, errors.New("the environment variable GDWIRE_OTHERS is not set")
	}
	for _, o := range others {
		source := filepath.Join(folder, o.folder)
		commit, err := exec.Command("git", "-C", source, "log", "-1", "--format=%h of %cs").Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		link := "https://github.com/" + strings.ReplaceAll(o.folder, "+", "/")
		all = append(all, program{name: "[" + o.name + "](" + link + "), reading", version: strings.TrimSpace(string(commit)), formats: o.formats,
			command: []string{"python3", spec("others/packages.py"), "FORMAT", o.name, source}})
	}
	return all, nil
}

// versionBy returns the first line that a program prints, or the error.
func versionBy(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

const resultsHead = `<!-- SPDX-License-Identifier: MIT-0 -->

# Results

What [conform](conform) counts, as right answers / lines: *valid* lines have a value, *invalid* ones must be refused, or for
writers are values that must be refused. The levels are those of section 18 of SPEC.md. Vectors on which engines differ are not counted.
` + "`go -C lab run ./measure results`" + ` ran all of this and wrote this page, on %s.

`

const resultsNotes = `
The first two readers were written with the vectors at hand: they say that the suite and SPEC.md agree. gdwire's own tests read and write all vectors. alone.py was written by somebody who had SPEC.md and no vectors.
When it first ran, it read one vector otherwise, an object without a class, as nil; SPEC.md and the suite allow that since.
A vector added later, an event of Godot 2 of a length that is refused, shows a fault of it.

Engines run [godot3.gd](others/godot3.gd) and [godot4.gd](others/godot4.gd), which ask the engine for each packet and print its value by its own methods. They are asked for the short vectors.
They wrote most of them, and fail where a value is of another build: components of 64 bits are narrowed in single precision, a serialized object is refused if the engine lacks its class, and gets
the properties of the engine's own class. 3.2.3 reads an empty absolute path as one that is not absolute, and has no limit of levels. Where the vectors come from other engines or from rules, the answers here confirm them.

Packages of npm run [npm.mjs](others/npm.mjs) and [npm-write.mjs](others/npm-write.mjs), those in Python [packages.py](others/packages.py). These say what they do in favor of values, which are plain values without the
type that a packet told. @gd-com/utils 5.0.0 has the table of types of manual4, so it is measured in both formats. godot-binary-serialization leaves memory content in the padding of text, so its score in writing varies.
Sources of others were run where they were fetched, and nothing of them is here.

## What each misses
`

// A report is what conform prints of a program in a format.
type report struct {
	*program
	format gdwire.Format
	err    error

	Levels []suite.LevelScore
	Faults []struct{ ID, Kind string }
}

var levels = []string{"core", "typed containers", "objects", "odd input"}

// results runs all programs and writes spec/results.md.
func results() {
	dir := testenv.Checked(os.MkdirTemp("", "measure"))
	defer func() { _ = os.RemoveAll(dir) }()
	conform := filepath.Join(dir, "conform")
	if text, err := exec.Command("go", "build", "-o", conform, "./spec/conform").CombinedOutput(); err != nil {
		testenv.Check(fmt.Errorf("%w\n%s", err, text))
	}
	for i := range engines {
		engines[i].check()
	}
	all := testenv.Checked(programs(testenv.Checked(os.Getwd())))
	var page, faults strings.Builder
	fmt.Fprintf(&page, resultsHead, time.Now().UTC().Format(time.DateOnly))
	page.WriteString("| program | version | format | valid | invalid | core | typed containers | objects | odd input |\n|---|---|---|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range measureAll(all, conform, dir) {
		if r.err != nil {
			testenv.Check(fmt.Errorf("%s %s: %w", r.name, r.version, r.err))
		}
		page.WriteString(r.row())
		if len(r.Faults) > 0 {
			fmt.Fprintf(&faults, "\n%s %s, %v:\n\n%s", r.name, r.version, r.format, r.missed())
		}
	}
	testenv.Check(os.WriteFile("spec/results.md", []byte(page.String()+resultsNotes+faults.String()), 0o644))
}

// measureAll measures programs in all their formats, several at once.
func measureAll(all []program, conform, dir string) (reports []report) {
	for i := range all {
		for _, f := range all[i].formats {
			reports = append(reports, report{program: &all[i], format: f})
		}
	}
	var running sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i := range reports {
		r := &reports[i]
		places <- struct{}{}
		running.Go(func() {
			r.err = r.measure(conform, dir)
			fmt.Fprintf(os.Stderr, "%s, %v: %d faults\n", r.name, r.format, len(r.Faults))
			<-places
		})
	}
	running.Wait()
	return reports
}

// row returns the line of the table.
func (r *report) row() string {
	cells, all := make([]string, len(levels)), suite.Sum(r.Levels)
	for _, l := range r.Levels {
		cells[slices.Index(levels, l.Level)] = strings.Trim(fmt.Sprintf("%v %v", l.Valid, l.Invalid), " -")
	}
	return fmt.Sprintf("| %s | %s | %v | %v | %v | %s |\n", r.name, r.version, r.format, all.Valid, all.Invalid, strings.Join(cells, " | "))
}

// missed lists the vectors with wrong answers by their kinds.
func (r *report) missed() string {
	var kinds []string
	ids := map[string][]string{}
	for _, f := range r.Faults {
		if ids[f.Kind] == nil {
			kinds = append(kinds, f.Kind)
		}
		ids[f.Kind] = append(ids[f.Kind], f.ID)
	}
	var b strings.Builder
	for _, kind := range kinds {
		fmt.Fprintf(&b, "- %s: %s\n", kind, strings.Join(ids[kind], " "))
	}
	return b.String()
}

// install installs the package that p needs in a directory of dir, and returns its name.
func (p *program) install(dir string, f gdwire.Format) (string, error) {
	if p.npm == "" {
		return "", nil
	}
	dir, err := os.MkdirTemp(dir, f.String())
	if err != nil {
		return "", err
	}
	c := exec.Command("npm", "install", "--silent", "--ignore-scripts", "--prefix", dir, p.npm)
	if text, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install %s: %w\n%s", p.npm, err, text)
	}
	return dir, nil
}

// measure sets what conform reports.
func (r *report) measure(conform, dir string) error {
	p, f := r.program, r.format
	dir, err := p.install(dir, f)
	if err != nil {
		return err
	}
	args := []string{"-json", "-timeout", "20s", "-format", f.String()}
	if p.encoder {
		args = append(args, "-encoder")
	}
	if strings.HasPrefix(p.name, "Godot,") { // scripts take minutes for long values, and answer all lines at the end
		args = append(args, "-skip", "l*", "-timeout", "10m")
	}
	args = append(args, "--")
	for _, arg := range p.command {
		args = append(args, strings.ReplaceAll(arg, "FORMAT", f.String()))
	}
	c := exec.Command(conform, args...)
	c.Env = append(os.Environ(), "LIMIT=600")
	c.Dir = dir
	var errs bytes.Buffer
	c.Stderr = &errs
	text, err := c.Output()
	if failed := json.Unmarshal(text, r); failed != nil {
		return errors.Join(failed, err, errors.New(errs.String()))
	}
	return nil
}
