package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gdwire/gdwire"
)

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
	if c.program = fs.Args(); len(c.program) > 0 && !slices.Contains(args[:len(args)-len(c.program)], "--") {
		return nil, fmt.Errorf("the program follows --, not %s", c.program[0])
	}
	if c.timeout <= 0 {
		return nil, errors.New("-timeout is not more than 0")
	}
	if c.strict && c.encoder {
		return nil, errors.New("-strict is for readers")
	}
	return c, nil
}
