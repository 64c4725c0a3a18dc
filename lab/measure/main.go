// Measure runs engines and programs of others over the vectors of spec/vectors. In the folder lab:
//
//	go run ./measure vectors [-all] [-write] [ENGINE…]
//	go run ./measure results
//
// The first asks engines again and shows whose answers have changed; -write writes these to the
// vectors, and -all also those to vectors that the engine was not asked before. GDWIRE_WRITE_SPEC=1
// then completes the vectors: see spec/vectors/README.md. The second writes spec/results.md.
//
// The engines are Debian's godot3-server, Godot 4.6 in the browser of lab/interop, and the
// program of the environment variable GDWIRE_GODOT4, which runs a script: 4.7-dev.
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/values/suite"
)

func main() {
	fs := flag.NewFlagSet("measure", flag.ExitOnError)
	all := fs.Bool("all", false, "ask about all vectors of the format")
	write := fs.Bool("write", false, "write what has changed")
	command := ""
	if len(os.Args) > 1 {
		command = os.Args[1]
		_ = fs.Parse(os.Args[2:]) // exits on errors
	}
	err := checked.Try(func() {
		checked.Check(os.Chdir("..")) // the root of the repository
		switch command {
		case "vectors":
			vectors(fs.Args(), *all, *write)
		case "results":
			results()
		default:
			checked.Check(errors.New("the command is vectors or results"))
		}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// An engine answers lines of spec/others/godot3.gd or godot4.gd.
type engine struct {
	name    string // as vectors have it
	version string // the beginning of what the engine calls itself, and its hash
	format  gdwire.Format
	dirty   bool     // the padding of names is memory content
	command []string // runs the script
}

var engines = []engine{
	{"3.2.3", "3.2.3-stable", gdwire.Godot3, true, []string{"sh", "spec/others/engine.sh", "godot3-server", "-s", "spec/others/godot3.gd"}},
	{"4.6", "4.6-stable (official) 89cea1439", gdwire.Godot4, true, []string{"go", "-C", "lab", "run", "./interop/runner", "../spec/others/godot4.gd"}},
	{"4.7-dev-debug", "4.7-dev (custom_build) 54e130b9f", gdwire.Godot4, false, []string{"sh", "spec/others/engine.sh", os.Getenv("GDWIRE_GODOT4"), "spec/others/godot4.gd"}},
}

// start returns a command that runs the script of e in a mode.
func (e *engine) start(mode string) *exec.Cmd {
	c := exec.Command(e.command[0], e.command[1:]...)
	c.Env = append(os.Environ(), "MODE="+mode, "LIMIT=600")
	c.Stderr = os.Stderr
	return c
}

// check fails unless the engine runs and is the build that the vectors mean.
func (e *engine) check() {
	if slices.Contains(e.command, "") {
		checked.Check(fmt.Errorf("%s: the environment variable GDWIRE_GODOT4 is not set", e.name))
	}
	text, err := e.start("version").Output()
	version := ""
	if err == nil {
		version, err = versionOf(text)
	}
	if err != nil {
		checked.Check(fmt.Errorf("%s: %w", e.name, err))
	}
	if !strings.HasPrefix(version, e.version) {
		checked.Check(fmt.Errorf("the engine is %s, not %s", version, e.version))
	}
}

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
	dir := checked.Must(os.MkdirTemp("", "measure"))
	defer func() { _ = os.RemoveAll(dir) }()
	conform := filepath.Join(dir, "conform")
	if text, err := exec.Command("go", "build", "-o", conform, "./spec/conform").CombinedOutput(); err != nil {
		checked.Check(fmt.Errorf("%w\n%s", err, text))
	}
	for i := range engines {
		engines[i].check()
	}
	all := checked.Must(programs(checked.Must(os.Getwd())))
	var page, faults strings.Builder
	fmt.Fprintf(&page, resultsHead, time.Now().UTC().Format(time.DateOnly))
	page.WriteString("| program | version | format | valid | invalid | core | typed containers | objects | odd input |\n|---|---|---|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range measureAll(all, conform, dir) {
		if r.err != nil {
			checked.Check(fmt.Errorf("%s %s: %w", r.name, r.version, r.err))
		}
		page.WriteString(r.row())
		if len(r.Faults) > 0 {
			fmt.Fprintf(&faults, "\n%s %s, %v:\n\n%s", r.name, r.version, r.format, r.missed())
		}
	}
	checked.Check(os.WriteFile("spec/results.md", []byte(page.String()+resultsNotes+faults.String()), 0o644))
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

// versionOf returns the name and hash in an engine's answer about its version.
func versionOf(text []byte) (string, error) {
	var info struct{ String, Hash string }
	err := json.Unmarshal(text, &info)
	return info.String + " " + info.Hash, err
}

// vectors asks the named engines, or all, and shows the changed answers.
func vectors(names []string, all, write bool) {
	values, packets := checked.Must(suite.Values()), checked.Must(suite.Packets())
	for i := range engines {
		e := &engines[i]
		if len(names) > 0 && !slices.Contains(names, e.name) {
			continue
		}
		e.check()
		s := survey{engine: e, all: all}
		s.values(values)
		s.packets(packets)
		changes := checked.Must(s.run())
		for _, text := range changes {
			fmt.Println(text)
		}
		fmt.Printf("%s: %d of %d answers have changed; cannot judge %v\n", e.name, len(changes), len(s.questions), s.unjudged)
	}
	if write {
		writeLines("values", values)
		writeLines("packets", packets)
	}
}

func writeLines[T any](name string, all []T) {
	checked.Check(os.WriteFile("spec/vectors/"+name+".jsonl", checked.Must(suite.Lines(all)), 0o644))
}

// A survey asks an engine about vectors.
type survey struct {
	*engine
	all       bool
	questions []question
	unjudged  []string // ids of vectors about which answers say nothing
}

// A question is a packet and a function for the answer: note returns the change, or "".
type question struct {
	id, line string
	note     func(suite.Answer) string
}

func (s *survey) ask(id string, p []byte, objects bool, note func(suite.Answer) string) {
	line := hex.EncodeToString(p)
	if objects {
		line += " objects"
	}
	s.questions = append(s.questions, question{id, line, note})
}

// values asks whether the engine writes a value that it read as the same bytes. If it reads another
// value, such as an empty path that is not absolute, its answer says nothing.
func (s *survey) values(all []suite.Value) {
	for i := range all {
		v := &all[i]
		known := slices.Contains(v.Engines, s.name)
		if !slices.Contains(v.Formats, s.format.String()) || !known && !s.all {
			continue
		}
		s.ask(v.ID, v.Hex, v.Objects, func(a suite.Answer) string {
			same := a.Accept && s.same(v.Hex, a.Reencoded)
			switch {
			case same == known:
				return ""
			case a.Accept && !s.sameValue(v.Hex, a.Reencoded):
				s.unjudged = append(s.unjudged, v.ID)
				return ""
			case same:
				v.Engines = append(slices.Clone(v.Engines), s.name)
				return "writes it, too"
			}
			v.Engines = slices.DeleteFunc(slices.Clone(v.Engines), func(name string) bool { return name == s.name })
			return fmt.Sprintf("writes %x, not %x", a.Reencoded, v.Hex)
		})
	}
}

// packets asks about odd packets. Those with serialized objects are left out: their
// classes are no engine's.
func (s *survey) packets(all []suite.Packet) {
	for i := range all {
		p := &all[i]
		old, known := p.Engines[s.name]
		if !slices.Contains(p.Formats, s.format.String()) || !known && !s.all && !p.Objects {
			continue
		}
		if p.Objects {
			s.unjudged = append(s.unjudged, p.ID)
			continue
		}
		s.ask(p.ID, p.Hex, false, func(a suite.Answer) string {
			if known && a.Accept == old.Accept && a.Size == old.Size && s.same(old.Reencoded, a.Reencoded) {
				return ""
			}
			if p.Engines = maps.Clone(p.Engines); p.Engines == nil {
				p.Engines = map[string]suite.Answer{}
			}
			p.Engines[s.name] = a
			if !known {
				return fmt.Sprintf("accepts it: %v", a.Accept)
			}
			return fmt.Sprintf("accepted it: %v %d %x; now: %v %d %x", old.Accept, old.Size, old.Reencoded, a.Accept, a.Size, a.Reencoded)
		})
	}
}

// same reports whether packets are equal but for the bytes that differ in each run.
func (s *survey) same(a, b []byte) bool {
	return bytes.Equal(s.masked(a), s.masked(b))
}

// sameValue reports whether packets contain the same value but for ids of objects.
func (s *survey) sameValue(a, b []byte) bool {
	o := gdwire.DecoderOptions{Format: s.format, AllowObjects: true}
	x, _, err := model.Decode(s.masked(a), o)
	y, _, failed := model.Decode(s.masked(b), o)
	return err == nil && failed == nil && reflect.DeepEqual(x.Plain().AnyNaN(), y.Plain().AnyNaN())
}

// masked returns a packet with zeros in ids of objects, and in the padding of names if the engine leaves
// memory content there.
func (s *survey) masked(p []byte) []byte {
	if s.dirty {
		p = model.CleanPaths(p, s.format)
	}
	return model.Cleared(p, s.format, func(t gdwire.Token) int64 {
		if k := t.Kind(); k == gdwire.KindObjectID || k == gdwire.KindSignal {
			return 8
		}
		return 0
	})
}

// run asks all questions and returns the changes.
func (s *survey) run() (changes []string, err error) {
	if len(s.questions) == 0 {
		return nil, nil
	}
	var lines strings.Builder
	for _, q := range s.questions {
		lines.WriteString(q.line + "\n")
	}
	c := s.start("judge")
	c.Stdin = strings.NewReader(lines.String())
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	answers := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if len(answers) != len(s.questions) {
		return nil, fmt.Errorf("%s: %d answers to %d packets", s.name, len(answers), len(s.questions))
	}
	for i, q := range s.questions {
		var a suite.Answer
		if err := json.Unmarshal(answers[i], &a); err != nil {
			return nil, fmt.Errorf("%s: answer to %s: %w", s.name, q.id, err)
		}
		if text := q.note(a); text != "" {
			changes = append(changes, fmt.Sprintf("%s: %s %s", q.id, s.name, text))
		}
	}
	return changes, nil
}
