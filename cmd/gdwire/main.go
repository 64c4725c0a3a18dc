// Command gdwire shows, checks and rewrites values of Godot's Variant format, from
// a file or standard input:
//
//	gdwire tokens|json|check|recode [flags] [FILE]
//	gdwire listen [flags] ADDR
//
// Its status is 0 if all is good, 1 if some input is bad or a file cannot be
// opened, read or written, 2 if the command line cannot be understood.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"text/tabwriter"
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
	check                  func(*options) error          // whether the command line makes sense; nil: it does
	run                    func(*screen, *options) error
}

var commands = []command{
	{name: "tokens", operand: "[FILE]", summary: "Show what is in it, a line for each token.", run: show(newTokenView)},
	{name: "json", operand: "[FILE]", summary: "Show each value as a line of JSON, as Godot's JSON.from_native does.", run: show(newJSONView)},
	{name: "check", operand: "[FILE]", summary: "Say whether it is good, and how much of what is in it.", flags: checkFlags, run: show(newCheckView)},
	{name: "recode", operand: "[FILE]", summary: "Read it and write it again, as engines would.", run: show(newRecodeView)},
	{name: "listen", operand: "ADDR", summary: "Accept connections and show the packets that come.", flags: listenFlags, check: listenCheck, run: listen},
}

// errBad: some input was bad, and that has been said.
var errBad = errors.New("bad input")

// A usageError is a command line that cannot be understood.
type usageError struct {
	error
	print func(io.Writer) error // what could be
}

// run is the command: it returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := newScreen(stdin, stdout, stderr)
	err := start(args, s)
	if failed := s.out.Flush(); failed != nil && (err == nil || err == errBad) {
		err = failed
	}
	var usage usageError
	switch {
	case err == nil:
		return statusGood
	case errors.As(err, &usage):
		s.report(err)
		_ = usage.print(s.errs) // nobody is left to tell
		return statusUsage
	case err != errBad && !errors.Is(err, syscall.EPIPE): // whoever closed the pipe has had enough
		s.report(err)
	}
	return statusBad
}

// start runs the subcommand that args name.
func start(args []string, s *screen) error {
	if len(args) == 0 {
		return usageError{errors.New("which command?"), printUsage}
	}
	name, args := args[0], args[1:]
	if helps[name] {
		return printUsage(s.out)
	}
	for _, c := range commands {
		if c.name == name {
			return c.start(args, s)
		}
	}
	return usageError{fmt.Errorf("no command %q", name), printUsage}
}

var helps = map[string]bool{"help": true, "-h": true, "-help": true, "--help": true}

// start runs the subcommand with its flags and operand.
func (c *command) start(args []string, s *screen) error {
	o := newOptions()
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are reported like all others
	o.define(fs)
	if c.flags != nil {
		c.flags(fs, o)
	}
	err := fs.Parse(args)
	if err == flag.ErrHelp {
		return c.printHelp(s.out, fs)
	}
	if err == nil && fs.NArg() > 1 {
		err = fmt.Errorf("flags come first, then one operand, and not %s", strings.Join(fs.Args(), " "))
	}
	o.operand = fs.Arg(0)
	if err == nil && c.check != nil {
		err = c.check(o)
	}
	if err != nil {
		return usageError{err, c.printUsage}
	}
	return c.run(s, o)
}

// printUsage describes the command.
func printUsage(w io.Writer) error {
	t := newTable(w)
	fmt.Fprintf(t, "Usage: gdwire COMMAND [flags] [FILE]\n\n")
	for _, c := range commands {
		fmt.Fprintf(t, "  %s\t%s\n", c.name, c.summary)
	}
	fmt.Fprintf(t, "\nNo FILE, or -, is standard input. gdwire COMMAND -h lists the flags.\n")
	return t.Flush()
}

// printUsage describes the subcommand in short.
func (c *command) printUsage(w io.Writer) error {
	_, err := fmt.Fprintf(w, "Usage: gdwire %s [flags] %s\ngdwire %[1]s -h lists the flags.\n", c.name, c.operand)
	return err
}

// printHelp describes the subcommand with its flags.
func (c *command) printHelp(w io.Writer, fs *flag.FlagSet) error {
	t := newTable(w)
	fmt.Fprintf(t, "Usage: gdwire %s [flags] %s\n\n%s\n\n", c.name, c.operand, c.summary)
	fs.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		fmt.Fprintf(t, "  -%s %s\t%s\n", f.Name, value, text)
	})
	fmt.Fprintln(t, "\nIn place of N, 0 is the default, -1 no limit.")
	return t.Flush()
}

// newTable aligns what stands behind tabs.
func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 8, 2, ' ', 0) }
