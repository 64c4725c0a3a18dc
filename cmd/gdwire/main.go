// Command gdwire shows, checks, edits and converts values in the binary Variant format of
// Godot and its relatives: saved games, packets and network traffic. It recognizes the
// format, frame and container of a file.
//
//	gdwire tokens|flat [flags] [FILE]
//	gdwire json [flags] [FILE…]
//	gdwire get [flags] PATH [FILE…]
//	gdwire find [flags] TEXT|NUMBER [FILE…]
//	gdwire diff [flags] A B
//	gdwire set|add [flags] ['PATH = VALUE'…] FILE -o FILE, or -i FILE…
//	gdwire delete [flags] PATH… FILE -o FILE, or -i FILE…
//	gdwire copy [flags] PATH TO FILE -o FILE
//	gdwire check [flags] [FILE…]
//	gdwire encode [flags] [JSONFILE]
//	gdwire recode [flags] [FILE], or -i FILE…
//	gdwire unwrap [flags] [FILE]
//	gdwire repair [flags] FILE -o FILE
//	gdwire listen [flags] ADDR
//	gdwire proxy [flags] LISTEN TARGET
//	gdwire debug [flags] [ADDR] [COMMAND…] [-- GAME…]
//	gdwire view [flags] [[OLD] FILE]
//	gdwire struct [flags] FILE…
//	gdwire complete bash|zsh|fish|powershell
//	gdwire conform [-- PROGRAM]
//	gdwire version
//
// No FILE, or -, is standard input. gdwire help COMMAND lists the flags.
//
// The exit status is 0 if all input is valid; 1 if some input is invalid, a password is
// wrong, a path is not found, or a file cannot be opened, read or written; 2 if the command
// line is invalid, an input is ambiguous, or a password is missing. That of diff is 0 if the
// files contain the same, 1 if they differ, and 2 for all else.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/gdwire/gdwire/internal/text"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// The exit status.
const (
	statusGood  = 0
	statusBad   = 1 // bad input, or a file that cannot be opened, read or written
	statusUsage = 2 // an invalid command line, or a missing flag or password
)

// A command is a subcommand.
type command struct {
	group                   string                        // in the usage
	name, operands, summary string                        // the usage shows the first sentence of the summary
	min, max                int                           // number of operands; max is -1 for no maximum
	common                  flagGroup                     // flags shared with other commands
	flags                   func(*flag.FlagSet, *options) // defines additional flags, if not nil
	check                   func(*options) error          // checks flags and operands, if not nil
	run                     func(*stdio, *options) error
	details                 func(io.Writer) // prints more of the help, if not nil
	showsObjects            bool            // serialized objects are allowed by default
	many                    bool            // it takes several files
	binary                  bool            // its output is binary
	edits                   bool            // its output is an edited save, so -o can be the input
	compares                bool            // statusBad says that its inputs differ, and statusUsage reports other errors
}

// The groups of commands in the usage.
const (
	look   = "Look"
	change = "Change"
	watch  = "Watch"
	verify = "Check"
)

var commands = []command{
	{group: look, name: "tokens", operands: "[FILE]", max: 1, summary: "Show every token with its offset.",
		common: readFlags, flags: outputFlag, run: showCommand(newTokenPrinter), showsObjects: true},
	{group: look, name: "json", operands: "[FILE…]", max: -1, many: true, summary: "Show each value as a line of JSON, as Godot's JSON.from_native does.",
		common: readFlags, flags: jsonFlags, run: showCommand(newJSONPrinter), showsObjects: true},
	{group: look, name: "flat", operands: "[FILE]", max: 1, summary: "Show a line for each leaf, path = value, for grep and diff.",
		common: readFlags, flags: outputFlag, run: showCommand(newFlatPrinter), showsObjects: true},
	{group: look, name: "get", operands: "PATH [FILE…]", min: 1, max: -1, many: true, summary: "Show the value at a path, such as player.hp, as JSON.",
		common: readFlags, flags: getFlags, check: getCheck, run: get, showsObjects: true},
	{group: look, name: "find", operands: "TEXT|NUMBER [FILE…]", min: 1, max: -1, many: true, summary: "Show the path and value of each value, or key, that contains a text or number.",
		common: readFlags, flags: outputFlag, check: findCheck, run: findValues, showsObjects: true},
	{group: look, name: "diff", operands: "A B", min: 2, max: 2, summary: "Show the values that differ between two files: path: old -> new.",
		common: readFlags, flags: diffFlags, check: diffCheck, run: diff, showsObjects: true, compares: true},
	{group: look, name: "unwrap", operands: "[FILE]", max: 1, summary: "Write the content of a compressed or encrypted file.",
		common: fileFlags | skipFlags, flags: outputFlag, run: unwrap, binary: true},
	{group: look, name: "view", operands: "[[OLD] FILE]", max: 2, summary: "Show a file in a page of the browser, beside its bytes, or what differs from an older one.",
		common: valueFlags | fileFlags | skipFlags | quietFlags, flags: viewFlags, run: viewFile, showsObjects: true},
	{group: change, name: "set", operands: "['PATH = VALUE'…] FILE…", min: 1, max: -1, many: true, summary: "Replace values, and keep all other bytes. Without PATH = VALUE read such lines from standard input.",
		common: editFlags, flags: setFlags, check: setCheck, run: editFile, details: printValues, binary: true, edits: true},
	{group: change, name: "add", operands: "['PATH = VALUE'…] FILE…", min: 1, max: -1, many: true, summary: "Add keys of dictionaries, elements before [n], or elements at the end as [+].",
		common: editFlags, flags: editsFlags, check: addCheck, run: editFile, details: printValues, binary: true, edits: true},
	{group: change, name: "delete", operands: "PATH… FILE…", min: 2, max: -1, many: true, summary: "Delete keys of dictionaries and elements of arrays.",
		common: editFlags, flags: editsFlags, check: deleteCheck, run: editFile, binary: true, edits: true},
	{group: change, name: "copy", operands: "PATH TO FILE…", min: 3, max: -1, many: true, summary: "Copy the value at PATH to the path TO.",
		common: editFlags, flags: editsFlags, check: copyCheck, run: editFile, binary: true, edits: true},
	{group: change, name: "repair", operands: "FILE", min: 1, max: 1, summary: "Write what can be read of a damaged file, and say what is lost.",
		common: valueFlags | fileFlags | quietFlags | limitFlag, flags: outputFlag, check: repairCheck, run: repair, showsObjects: true, binary: true},
	{group: change, name: "encode", operands: "[JSONFILE]", max: 1, summary: "Write JSON as values. Up to 1 GiB.",
		common: valueFlags | fileFlags | quietFlags | limitFlag, flags: encodeFlags, check: encodeCheck, run: encode, binary: true, edits: true},
	{group: change, name: "recode", operands: "[FILE…]", max: -1, many: true, summary: "Decode and re-encode, in the same or another format.",
		common: readFlags, flags: recodeFlags, check: recodeCheck, run: recodeFile, binary: true, edits: true},
	{group: watch, name: "listen", operands: "ADDR", min: 1, max: 1, summary: "Accept connections and show the packets that arrive.",
		common: valueFlags | strictFlags | limitFlag, flags: listenFlags, check: listenCheck, run: listen, showsObjects: true},
	{group: watch, name: "proxy", operands: "LISTEN TARGET", min: 2, max: 2, summary: "Forward connections to a server and show the packets in both directions.",
		common: valueFlags | strictFlags | limitFlag, flags: proxyFlags, check: proxyCheck, run: proxy},
	{group: watch, name: "replay", operands: "PREFIX ADDR", min: 2, max: 2, summary: "Send what proxy -record kept to a server again, and show which answers differ and how long they take.",
		common: valueFlags | limitFlag, flags: replayFlags, check: replayCheck, run: replay},
	{group: watch, name: "debug", operands: "[ADDR] [COMMAND…] [-- GAME…]", max: -1, summary: "Show what a running game does, its nodes and variables, and change them.",
		common: limitFlag, flags: debugFlags, check: debugCheck, run: debugGame, details: printDebugCommands},
	{group: verify, name: "check", operands: "[FILE…]", max: -1, many: true, summary: "Validate the input and print statistics.",
		common: readFlags, flags: checkFlags, run: check},
	{group: verify, name: "struct", operands: "FILE…", min: 1, max: -1, summary: "Print Go types for saves, which give back every byte of them.",
		common: readFlags, flags: structFlags, check: structCheck, run: printStruct, showsObjects: true},
	{group: verify, name: "complete", operands: "bash|zsh|fish|powershell", min: 1, max: -1, summary: "Print a script that completes commands, flags and paths in a shell."},
	{group: verify, name: "conform", operands: "[-- PROGRAM [ARG…]]", max: -1, summary: "Measure a decoder or encoder, or gdwire itself, by the vectors of the specification.",
		flags: conformFlags, check: conformCheck, run: conformTo},
	{group: verify, name: "version", summary: "Show the version.", run: version},
}

// errBad reports invalid input after its details were shown.
var errBad = errors.New("bad input")

// errEmpty reports input without values.
var errEmpty = errors.New("the input is empty; nothing was written")

// A usageError reports an invalid command line.
type usageError struct {
	error
	print func(io.Writer) error // prints the usage
}

// A choiceError reports that the command needs flags or a password to go on.
type choiceError struct{ error }

// run runs the command and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := newStdio(stdin, stdout, stderr)
	err := execute(args, s)
	if failed := s.out.Flush(); failed != nil && (err == nil || err == errBad) {
		err = failed
	}
	var usage usageError
	var choice choiceError
	switch {
	case err == nil && s.damaged:
		return s.failure(nil)
	case err == nil:
		s.showNotes()
		return statusGood
	case errors.As(err, &usage):
		s.report(err)
		_ = usage.print(s.errs) // an error of errs cannot be reported
		return statusUsage
	case errors.As(err, &choice):
		s.report(err)
		return statusUsage
	case err != errBad && !isClosedPipe(err): // a closed pipe is not an error of the input
		s.report(err)
	}
	return s.failure(err)
}

// failure returns the exit status after an error, or after damage.
func (s *stdio) failure(err error) int {
	if s.compares && (err != errBad || s.damaged) {
		return statusUsage
	}
	return statusBad
}

// execute runs the subcommand in args.
func execute(args []string, s *stdio) error {
	if len(args) == 0 {
		return usageError{errors.New("which command?"), printUsage}
	}
	name, args := args[0], args[1:]
	if strings.TrimLeft(name, "-") == "version" {
		name = "version"
	}
	if helps[name] {
		if len(args) == 0 {
			return printUsage(s.out)
		}
		name, args = args[0], []string{"-h"}
	}
	if c := findCommand(name); c != nil {
		return c.execute(args, s)
	}
	return usageError{noCommand(name), printUsage}
}

// noCommand returns the error for a name of no command.
func noCommand(name string) error {
	if _, err := os.Stat(name); err == nil {
		return fmt.Errorf("no command %q; did you mean gdwire check %[1]s?", name)
	}
	for _, c := range commands {
		if text.Similar(name, c.name) {
			return fmt.Errorf("no command %q; did you mean %s?", name, c.name)
		}
	}
	return fmt.Errorf("no command %q", name)
}

var helps = map[string]bool{"help": true, "-h": true, "-help": true, "--help": true}

// execute runs the subcommand with its flags and operands.
func (c *command) execute(args []string, s *stdio) error {
	o := newOptions()
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run reports its errors
	o.define(fs, c.common, c.showsObjects)
	if c.flags != nil {
		c.flags(fs, o)
	}
	err := o.parse(fs, args)
	if err == flag.ErrHelp {
		return c.printHelp(s.out, fs)
	}
	if err != nil {
		err = withSimilarFlag(err, fs)
	}
	if n := len(o.operands); err == nil && (n < c.min || c.max >= 0 && n > c.max) {
		err = fmt.Errorf("%s takes %s and not %q", c.name, strings.Trim(c.operands+" and flags", " "), o.operands)
	}
	if err == nil && c.check != nil {
		err = c.check(o)
	}
	if err == nil && c.many {
		err = o.checkFiles(c)
	}
	if err == nil && !o.inPlace {
		err = o.checkOutput(c, s.isTerminal)
	}
	if err != nil {
		return usageError{err, c.printUsage}
	}
	s.edits, s.compares = c.edits, c.compares
	if c.many {
		return c.runFiles(s, o)
	}
	return s.runTo(o.output, func() error { return c.run(s, o) })
}

// withSimilarFlag returns err. If it is about a flag that there is not, it adds a similar one.
func withSimilarFlag(err error, fs *flag.FlagSet) error {
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return err
	}
	similar := ""
	fs.VisitAll(func(f *flag.Flag) {
		if similar == "" && text.Similar(name, f.Name) {
			similar = f.Name
		}
	})
	if similar == "" {
		return err
	}
	return fmt.Errorf("%w; did you mean -%s?", err, similar)
}

// checkOutput checks that binary output does not go to a terminal.
func (o *options) checkOutput(c *command, isTerminal bool) error {
	switch {
	case o.output != "" || !isTerminal:
	case c.edits:
		return errors.New("nothing was saved: use -i, or -o FILE")
	case c.binary || o.raw:
		return errors.New("the output is binary and not for a terminal: use -o FILE")
	}
	return nil
}

// parse parses flags and operands in any order. After -- there are operands only.
func (o *options) parse(fs *flag.FlagSet, args []string) error {
	for {
		if err := fs.Parse(args); err != nil {
			return err
		}
		rest := fs.Args()
		if len(rest) == 0 {
			break
		}
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			o.separator = len(o.operands)
			o.operands = append(o.operands, rest...)
			break
		}
		o.operands = append(o.operands, rest[0])
		args = rest[1:]
	}
	fs.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
	return nil
}

// printUsage prints a description of the command.
func printUsage(w io.Writer) error {
	t := newTable(w)
	fmt.Fprintf(t, "Usage: gdwire COMMAND [flags] [FILE]\n\n")
	group := ""
	for _, c := range commands {
		heading := ""
		if c.group != group {
			group, heading = c.group, c.group
		}
		summary, _, _ := strings.Cut(c.summary, ". ")
		fmt.Fprintf(t, "%s\t%s\t%s.\n", heading, c.name, strings.TrimSuffix(summary, "."))
	}
	fmt.Fprintf(t, "\nNo FILE, or -, is standard input. gdwire COMMAND -h lists the flags.\n")
	return t.Flush()
}

// printUsage prints a short description of the subcommand.
func (c *command) printUsage(w io.Writer) error {
	_, err := fmt.Fprintf(w, "Usage: gdwire %s [flags] %s\ngdwire %[1]s -h lists the flags.\n", c.name, c.operands)
	return err
}

// printHelp prints a description of the subcommand with its flags.
func (c *command) printHelp(w io.Writer, fs *flag.FlagSet) error {
	t := newTable(w)
	fmt.Fprintf(t, "Usage: gdwire %s [flags] %s\n\n%s\n\n", c.name, c.operands, c.summary)
	if c.details != nil {
		c.details(t)
	}
	printFlags(t, fs, func(f *flag.Flag) bool { return !isLimit(f) })
	if c.common&limitFlag != 0 {
		fmt.Fprintln(t, "\nLimits:")
	}
	printFlags(t, fs, isLimit)
	fmt.Fprintln(t, "\nFlags may follow operands. N may be 10K or 16MiB (K is 1024); 0 is the default, none is no limit.")
	return t.Flush()
}

// printFlags prints the flags that want accepts.
func printFlags(w io.Writer, fs *flag.FlagSet, want func(*flag.Flag) bool) {
	fs.VisitAll(func(f *flag.Flag) {
		if want(f) {
			value, text := flag.UnquoteUsage(f)
			fmt.Fprintf(w, "  -%s %s\t%s\n", f.Name, value, text)
		}
	})
}

// newTable returns a writer that aligns columns separated by tabs.
func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 8, 2, ' ', 0) }
