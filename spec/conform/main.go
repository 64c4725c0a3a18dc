// Conform measures a reader or writer of Godot's Variant format, in any language, by the vectors of
// the specification: see README.md of the directory spec.
//
//	go run github.com/gdwire/gdwire/spec/conform@latest -format godot4 -- ./mine
//
// Conform starts the program and writes one packet on each line, in hexadecimal. The program answers
// each line with the value as JSON, or with an error. With -encoder the lines are JSON and the
// answers hexadecimal. Section 18 of SPEC.md describes both. Without a program, package gdwire is measured.
//
// The exit status is 0 if all answers are right, 1 if some are wrong, and 2 if nothing could be measured.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
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

// measure runs the program of c, or package gdwire, over the vectors of a format.
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
	if len(c.program) > 0 && !c.encoder {
		more, err := extraExercises(c, p.abilities())
		if err != nil {
			return nil, err
		}
		exercises = append(exercises, more...)
	}
	if exercises, r.Skipped, err = without(exercises, c); err != nil {
		return nil, err
	}
	answer := r.judge
	if len(c.program) == 0 {
		for i := range exercises {
			answer(&exercises[i], own(c, exercises[i].Line))
		}
		return r, nil
	}
	r.Restarts, err = p.run(exercises, answer, r.fault)
	return r, err
}
