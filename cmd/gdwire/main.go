// Command gdwire shows, checks and rewrites values of Godot's Variant format.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// The exit status.
const (
	statusGood  = 0
	statusBad   = 1 // bad input, or a file that cannot be opened, read or written
	statusUsage = 2
)

// A command is a subcommand.
type command struct {
	name, operand, summary string
	flags                  func(*flag.FlagSet, *options) // what it has beside the flags of all; nil: none
	run                    func(*screen, *options) error
}

var commands = []command{
	{name: "tokens", operand: "[FILE]", summary: "show what is in it, a line for each token", run: show(newTokenView)},
	{name: "json", operand: "[FILE]", summary: "show each value as a line of JSON, as Godot's JSON.from_native does", run: show(newJSONView)},
	{name: "check", operand: "[FILE]", summary: "say whether it is good, and what is in it", flags: checkFlags, run: show(newCheckView)},
	{name: "recode", operand: "[FILE]", summary: "read it and write it again", run: show(newRecodeView)},
}

// errBad: some input was bad, and that has been said.
var errBad = errors.New("bad input")

// A usageError is a command line that cannot be understood.
type usageError struct{ error }

// run is the command: it returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	t := newScreen(stdin, stdout, stderr)
	err := start(args, t)
	if e := t.out.Flush(); err == nil || err == errBad {
		err = errors.Join(err, e)
	}
	var usage usageError
	switch {
	case err == nil:
		return statusGood
	case errors.As(err, &usage):
		t.report(err)
		return statusUsage
	case err != errBad && !errors.Is(err, syscall.EPIPE): // whoever closed the pipe has had enough
		t.report(err)
	}
	return statusBad
}

// start runs the subcommand that args name.
func start(args []string, t *screen) error {
	if len(args) == 0 {
		printUsage(t.errs)
		return usageError{errors.New("which command?")}
	}
	name, args := args[0], args[1:]
	if helps[name] {
		printUsage(t.out)
		return nil
	}
	for _, c := range commands {
		if c.name == name {
			return c.start(args, t)
		}
	}
	printUsage(t.errs)
	return usageError{fmt.Errorf("no command %q", name)}
}

var helps = map[string]bool{"help": true, "-h": true, "-help": true, "--help": true}

// start runs the subcommand with its flags and operand.
func (c *command) start(args []string, t *screen) error {
	o := newOptions()
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are reported like all others
	o.define(fs)
	if c.flags != nil {
		c.flags(fs, o)
	}
	err := fs.Parse(args)
	if err == flag.ErrHelp {
		c.printUsage(t.out, fs)
		return nil
	}
	if err == nil && fs.NArg() > 1 {
		err = fmt.Errorf("one file at a time, and flags before it: %s", strings.Join(fs.Args(), " "))
	}
	if err != nil {
		c.printUsage(t.errs, fs)
		return usageError{err}
	}
	o.operand = fs.Arg(0)
	return c.run(t, o)
}

func printUsage(w io.Writer) {
	fmt.Fprintln(w, "Usage: gdwire COMMAND [flags] [FILE]")
	fmt.Fprintln(w)
	for _, c := range commands {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.summary)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "gdwire COMMAND -h lists its flags. No FILE or - is standard input.")
}

func (c *command) printUsage(w io.Writer, fs *flag.FlagSet) {
	fmt.Fprintf(w, "Usage: gdwire %s [flags] %s\n\n%s.\n\n", c.name, c.operand, capital(c.summary))
	fs.SetOutput(w)
	fs.PrintDefaults()
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
