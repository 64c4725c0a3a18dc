// Conform measures a reader or writer of Godot's Variant format, in any language, by the vectors of
// the specification: see README.md of the directory spec.
//
//	go run github.com/gdwire/gdwire/spec/conform@latest -format godot4 -- ./mine
//
// Conform starts the program and writes one packet on each line, in hexadecimal. The program answers
// each line with the value as JSON, or with an error. With -encoder the lines are JSON and the
// answers hexadecimal. Section 18 of SPEC.md describes both.
//
// The exit status is 0 if all answers are right, 1 if some are wrong, and 2 if nothing could be measured.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/suite"
)

// The exit statuses.
const (
	statusRight = iota
	statusWrong
	statusFailed
)

func main() { os.Exit(conform(os.Args[1:], os.Stdout, os.Stderr)) }

// conform runs a command line and returns the exit status.
func conform(args []string, out, errs io.Writer) int {
	c, err := parse(args, errs)
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(errs, "conform:", err)
		}
		return statusFailed
	}
	r, err := measure(c, errs)
	if err == nil {
		err = r.write(out, c)
	}
	switch {
	case err != nil:
		fmt.Fprintln(errs, "conform:", err)
		return statusFailed
	case len(r.Faults) > 0:
		return statusWrong
	}
	return statusRight
}

// measure runs the program of c over the vectors of a format.
func measure(c *config, errs io.Writer) (*report, error) {
	exercises, err := exercisesOf(c)
	if err != nil {
		return nil, err
	}
	r := &report{Format: c.format.String(), Encoder: c.encoder, Program: strings.Join(c.program, " ")}
	p := &program{args: c.program, timeout: c.timeout, errs: io.Discard}
	if c.verbose {
		p.errs = errs
	}
	if !c.encoder {
		more, err := extraExercises(c, p.abilities())
		if err != nil {
			return nil, err
		}
		exercises = append(exercises, more...)
	}
	if exercises, r.Skipped, err = without(exercises, c); err != nil {
		return nil, err
	}
	r.Restarts, err = p.run(exercises, r.judge, r.fault)
	return r, err
}

// A config is the command line.
type config struct {
	format  gdwire.Format
	encoder bool
	strict  bool
	json    bool
	verbose bool
	skip    []string
	files   string
	timeout time.Duration
	program []string
}

// parse returns the config of a command line, and prints the usage for -h and invalid flags.
func parse(args []string, errs io.Writer) (*config, error) {
	c := &config{format: gdwire.Godot4}
	fs := flag.NewFlagSet("conform", flag.ContinueOnError)
	fs.SetOutput(errs)
	fs.Usage = func() {
		fmt.Fprintln(errs, "usage: conform [flags] -- PROGRAM [ARG…]")
		fs.PrintDefaults()
	}
	fs.TextVar(&c.format, "format", gdwire.Godot4, "`FORMAT` of the packets: godot4, godot3, godot2, manual4, manual3 or manual30")
	fs.BoolVar(&c.encoder, "encoder", false, "measure a writer: it reads JSON and answers hexadecimal")
	fs.BoolVar(&c.strict, "strict", false, "measure a strict reader: it refuses what engines never write")
	fs.BoolVar(&c.json, "json", false, "print a report in JSON")
	fs.BoolVar(&c.verbose, "v", false, "show every wrong answer, and what the program prints as errors")
	fs.Func("skip", "leave out vectors: a `LIST` of rules, ids and types, such as T7,p4-0197,l*,Projection", func(s string) error {
		c.skip = append(c.skip, strings.Split(s, ",")...)
		return nil
	})
	fs.StringVar(&c.files, "files", ".", "the `DIRECTORY` with testdata, for programs that read files")
	fs.DurationVar(&c.timeout, "timeout", 10*time.Second, "wait at most `TIME` for each answer")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if c.program = fs.Args(); len(c.program) == 0 || !slices.Contains(args[:len(args)-len(c.program)], "--") {
		return nil, errors.New("the program to measure follows --")
	}
	if c.timeout <= 0 {
		return nil, errors.New("-timeout is not more than 0")
	}
	if c.strict && c.encoder {
		return nil, errors.New("-strict is for readers")
	}
	return c, nil
}

// maxAnswer is the maximum number of bytes of an answer.
const maxAnswer = 64 << 20

// mostStarts is the maximum number of starts of a program without an answer.
const mostStarts = 5

// A program is run over exercises, and started again after a crash.
type program struct {
	args    []string
	timeout time.Duration
	errs    io.Writer
}

// run writes all exercises to the program and calls answer for each answer, or fault for a missing answer.
// restarts is the number of times the program was started again.
func (p *program) run(all []exercise, answer func(*exercise, []byte), fault func(*exercise, string)) (restarts int, err error) {
	silent := 0
	for next := 0; next < len(all); restarts++ {
		answered, err := p.answers(all[next:], answer)
		if next += answered; next == len(all) {
			if err != nil {
				return restarts, fmt.Errorf("%s, after the last answer: %w", p.args[0], err)
			}
			return restarts, nil
		}
		if err == nil {
			err = errors.New("no answer")
		}
		if next == 0 {
			silent++
		}
		if silent == mostStarts || errors.As(err, new(*exec.Error)) {
			return restarts, fmt.Errorf("%s answers nothing: %w", p.args[0], err)
		}
		if silent > 0 && next == 0 {
			continue // the first line again: the program may only have failed to start
		}
		fault(&all[next], err.Error())
		next++
	}
	return restarts, nil
}

// answers starts the program and writes exercises until the program ends or is late. It returns the
// number of answers, and the error at the end of the program, if any.
func (p *program) answers(all []exercise, answer func(*exercise, []byte)) (answered int, err error) {
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	c := exec.CommandContext(ctx, p.args[0], p.args[1:]...)
	c.WaitDelay = time.Second // a child of the program can keep its output open
	last := &tail{}           // complete after Wait
	c.Stderr = io.MultiWriter(last, p.errs)
	in, err := c.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	go func() {
		w := bufio.NewWriter(in)
		for i := range all {
			if _, err := w.WriteString(all[i].Line + "\n"); err != nil {
				break // the program ended
			}
		}
		_ = w.Flush()
		_ = in.Close()
	}()
	late := time.AfterFunc(p.timeout, func() {
		kill()
		_ = out.Close()
	})
	defer late.Stop()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxAnswer)
	for lines.Scan() {
		if answered == len(all) {
			kill()
			_ = c.Wait()
			return answered, errors.New("more answers than lines")
		}
		answer(&all[answered], bytes.Clone(lines.Bytes()))
		answered++
		if !late.Reset(p.timeout) { // the answer was late
			late.Stop()
			break
		}
	}
	_ = out.Close() // a program that goes on writing ends
	err = cmp.Or(lines.Err(), c.Wait())
	if !late.Stop() {
		return answered, fmt.Errorf("nothing for %v; -timeout waits longer", p.timeout)
	}
	return answered, last.explain(err)
}

// A tail keeps the beginning of the errors printed by a program.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p[:min(len(p), 200-len(*t))]...)
	return len(p), nil
}

// explain adds the first line to an error.
func (t *tail) explain(err error) error {
	line, _, _ := bytes.Cut(*t, []byte("\n"))
	if err == nil || len(line) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, quote(line))
}

// abilities asks the program for its abilities besides reading packets. A program without an answer
// reads packets only.
func (p *program) abilities() (can []string) {
	question := []exercise{{Line: "can"}}
	_, _ = p.answers(question, func(_ *exercise, answer []byte) {
		var a struct{ Can []string }
		if json.Unmarshal(answer, &a) == nil {
			can = a.Can
		}
	})
	return can
}

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
	r.Faults = append(r.Faults, wrong{*e, text, cut(e.Line, 2000)})
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
