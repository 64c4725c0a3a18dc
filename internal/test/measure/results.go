package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gdwire/gdwire"
)

// A program is a line of spec/results.md.
type program struct {
	name, version string
	formats       []gdwire.Format
	npm           string   // the package that it needs
	encoder       bool     // it writes
	command       []string // without the format, which replaces FORMAT; nil is gdwire itself
}

// programs returns all lines. The current directory is root.
func programs(root string) []program {
	spec := func(name string) string { return filepath.Join(root, "spec", name) }
	python, node := versionBy("python3", "--version"), versionBy("node", "--version")
	all := []program{
		{name: "gdwire, reading", version: "this commit", formats: gdwire.Formats()},
		{name: "gdwire, writing", version: "this commit", formats: gdwire.Formats(), encoder: true},
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
	return all
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

const resultsHead = `# Results

What ` + "`gdwire conform`" + ` counts, in the form right answers / exercises. An exercise is a vector of the format: each value, and each odd or damaged packet,
which must be refused or read as its value. Packets on which engines differ count as right either way, and components of 64 bits in formats of manuals are left out.
` + "`go run ./internal/test/measure results`" + ` ran all of this and wrote this page, on %s.

`

const resultsNotes = `
gdwire and the first two readers were written with the vectors at hand: they say that the suite and SPEC.md agree. alone.py was written by somebody who had SPEC.md and no vectors.
When it first ran, it read one vector otherwise, an object without a class, as nil; SPEC.md and the suite allow that since.
A second such reader was right in all at its first run.

Engines run [godot3.gd](others/godot3.gd) and [godot4.gd](others/godot4.gd), which ask the engine for each packet and print its value by its own methods. They wrote most vectors, and fail where a value
is of another build: components of 64 bits are narrowed in single precision, a serialized object is refused if the engine lacks its class, and gets the properties of the engine's own class. 3.2.3 reads an
empty absolute path as one that is not absolute. Where the vectors come from other engines or from rules, the answers here confirm them.

Packages of npm run [npm.mjs](others/npm.mjs) and [npm-write.mjs](others/npm-write.mjs), which say what they do in favor of values: these are plain values of JavaScript, without the type that a packet told. @gd-com/utils 5.0.0 has the table of
types of manual4, so it is measured in both formats. godot-binary-serialization leaves memory content in the padding of text, so its score in writing varies. No other package of npm that reads Variants was found.
Not run, because they could not be fetched: github.com/nathanielc/gdvariant for Go, and godot-binary-serialization for Rust.

## What fails

The rules are those that no right answer shows, or else all rules of the wrong ones. One answer can be wrong because of one rule among several.
`

var score = regexp.MustCompile(`(?m)^\w+: (\d+) of (\d+) right$`)

// results runs all programs and writes spec/results.md.
func results() error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	gdwireCommand := filepath.Join(dir, "gdwire")
	if text, err := exec.Command("go", "build", "-o", gdwireCommand, "./cmd/gdwire").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	for i := range engines {
		if err := engines[i].check(); err != nil {
			return err
		}
	}
	var page, faults strings.Builder
	fmt.Fprintf(&page, resultsHead, time.Now().UTC().Format(time.DateOnly))
	page.WriteString("| program | version |")
	for _, f := range gdwire.Formats() {
		fmt.Fprintf(&page, " %v |", f)
	}
	page.WriteString("\n|" + strings.Repeat("---|", 2+len(gdwire.Formats())) + "\n")
	for _, p := range programs(root) {
		if err := p.install(dir); err != nil {
			return err
		}
		fmt.Fprintf(&page, "| %s | %s |", p.name, p.version)
		for _, f := range gdwire.Formats() {
			cell, failed, err := p.measure(gdwireCommand, dir, f)
			if err != nil {
				return fmt.Errorf("%s %s: %w", p.name, p.version, err)
			}
			fmt.Fprintf(&page, " %s |", cell)
			if failed != "" {
				fmt.Fprintf(&faults, "\n%s %s, %v:\n\n```\n%s```\n", p.name, p.version, f, failed)
			}
		}
		page.WriteString("\n")
	}
	return os.WriteFile("spec/results.md", []byte(page.String()+resultsNotes+faults.String()), 0o644)
}

// install installs the package that p needs in dir.
func (p *program) install(dir string) error {
	if p.npm == "" {
		return nil
	}
	c := exec.Command("npm", "install", "--silent", "--ignore-scripts", "--prefix", dir, p.npm)
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install %s: %w\n%s", p.npm, err, text)
	}
	return nil
}

// measure returns the score of p in a format, and the table of its faults without the examples.
func (p *program) measure(gdwireCommand, dir string, f gdwire.Format) (cell, faults string, err error) {
	if !slices.Contains(p.formats, f) {
		return "", "", nil
	}
	args := []string{"conform", "-timeout", "5m", "-format", f.String()}
	if p.encoder {
		args = append(args, "-encoder")
	}
	if p.command != nil {
		args = append(args, "--")
	}
	for _, arg := range p.command {
		args = append(args, strings.ReplaceAll(arg, "FORMAT", f.String()))
	}
	c := exec.Command(gdwireCommand, args...)
	c.Env = append(os.Environ(), "LIMIT=600")
	if p.npm != "" {
		c.Dir = dir
	}
	var errs bytes.Buffer
	c.Stderr = &errs
	text, err := c.Output()
	m := score.FindSubmatchIndex(text)
	if m == nil {
		return "", "", errors.Join(errors.New("no score"), err, errors.New(errs.String()))
	}
	return string(text[m[2]:m[3]]) + "/" + string(text[m[4]:m[5]]), withoutExamples(string(text[:m[0]])), nil
}

// withoutExamples returns a table of faults without its last column.
func withoutExamples(table string) string {
	width := strings.Index(table, "for example")
	var out strings.Builder
	for line := range strings.Lines(table) {
		cells := []rune(strings.TrimSuffix(line, "\n")) // rules can end with …
		out.WriteString(strings.TrimRight(string(cells[:width]), " ") + "\n")
	}
	return out.String()
}
