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
	_ "embed" // the programs
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
	"regexp"
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

// A program is a line of spec/results.md for each of its formats.
type program struct {
	Name, Version string
	Ask           []string // a command whose output follows Version
	Formats       []gdwire.Format
	NPM           string // the package that it needs
	Writes        bool
	Command       []string // with $FORMAT, and the directories $SPEC and $GDWIRE_OTHERS, which has the checkouts of sources of GitHub
}

//go:embed programs.json
var programsFile []byte

// programs returns all programs, with the engines before those of others. The current directory is the root of the repository.
func programs() (all []program) {
	checked.Check(json.Unmarshal(programsFile, &all))
	checked.Check(os.Setenv("SPEC", filepath.Join(checked.Must(os.Getwd()), "spec")))
	if os.Getenv("GDWIRE_OTHERS") == "" {
		checked.Check(errors.New("the environment variable GDWIRE_OTHERS is not set"))
	}
	for i := range all {
		p := &all[i]
		if ask := expanded(p.Ask, ""); ask != nil {
			text, err := exec.Command(ask[0], ask[1:]...).Output()
			if err != nil {
				checked.Check(fmt.Errorf("%s: %w", p.Name, err))
			}
			p.Version += string(bytes.TrimSpace(text))
		}
	}
	const readers = 3
	for i, e := range engines {
		all = slices.Insert(all, readers+i, program{Name: "Godot, reading", Version: e.version, Formats: []gdwire.Format{e.format}, Command: e.command})
	}
	return all
}

// expanded returns arguments with the values of variables.
func expanded(args []string, format string) (all []string) {
	for _, arg := range args {
		all = append(all, os.Expand(arg, func(name string) string {
			if name == "FORMAT" {
				return format
			}
			return os.Getenv(name)
		}))
	}
	return all
}

// A report is what conform prints of a program in a format.
type report struct {
	*program
	format gdwire.Format
	err    error

	Levels []suite.LevelScore
	Faults []struct{ ID, Kind string }
}

var levels = []string{"core", "typed containers", "objects", "odd input"}

// results runs all programs and replaces what spec/results.md says about them: the day, the table and what each misses.
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
	var rows, faults strings.Builder
	for _, r := range measureAll(programs(), conform, dir) {
		if r.err != nil {
			checked.Check(fmt.Errorf("%s %s: %w", r.Name, r.Version, r.err))
		}
		rows.WriteString(r.row())
		if len(r.Faults) > 0 {
			fmt.Fprintf(&faults, "\n%s %s, %v:\n\n%s", r.Name, r.Version, r.format, r.missed())
		}
	}
	page := checked.Must(os.ReadFile("spec/results.md"))
	checked.Check(os.WriteFile("spec/results.md", replaced(page, time.Now().UTC().Format(time.DateOnly), rows.String(), faults.String()), 0o644))
}

// replaced returns a page with another day, other rows of its table and another last section.
func replaced(page []byte, day, rows, faults string) []byte {
	for pattern, text := range map[string]string{
		`, on \d{4}-\d\d-\d\d\.\n`:        ", on " + day + ".\n",
		`(?m)(^\|---.*\n)(?:^\|.*\n)+`:    "${1}" + strings.ReplaceAll(rows, "$", "$$"),
		`(?s)(\n## What each misses\n).*`: "${1}" + strings.ReplaceAll(faults, "$", "$$"),
	} {
		page = regexp.MustCompile(pattern).ReplaceAll(page, []byte(text))
	}
	return page
}

// measureAll measures programs in all their formats, several at once.
func measureAll(all []program, conform, dir string) (reports []report) {
	for i := range all {
		for _, f := range all[i].Formats {
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
			fmt.Fprintf(os.Stderr, "%s, %v: %d faults\n", r.Name, r.format, len(r.Faults))
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
	return fmt.Sprintf("| %s | %s | %v | %v | %v | %s |\n", r.Name, r.Version, r.format, all.Valid, all.Invalid, strings.Join(cells, " | "))
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
	dir, err := os.MkdirTemp(dir, f.String())
	if err != nil {
		return "", err
	}
	c := exec.Command("npm", "install", "--silent", "--ignore-scripts", "--prefix", dir, p.NPM)
	if text, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install %s: %w\n%s", p.NPM, err, text)
	}
	return dir, nil
}

// measure sets what conform reports.
func (r *report) measure(conform, dir string) (err error) {
	args := []string{"-json", "-timeout", "20s", "-format", r.format.String()}
	if r.Writes {
		args = append(args, "-encoder")
	}
	if strings.HasPrefix(r.Name, "Godot,") { // scripts take minutes for long values, and answer all lines at the end
		args = append(args, "-skip", "l*", "-timeout", "10m")
	}
	c := exec.Command(conform, append(append(args, "--"), expanded(r.Command, r.format.String())...)...)
	c.Env = append(os.Environ(), "LIMIT=600")
	if r.NPM != "" {
		if c.Dir, err = r.install(dir, r.format); err != nil {
			return err
		}
	}
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
