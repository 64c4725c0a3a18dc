// Package shell runs the subcommands of a program: flags, help, exit statuses, standard streams,
// output files, progress, passwords and completion, all independent of the values in the files.
package shell

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A Program is a command line with subcommands.
type Program struct {
	Groups []Group
	// Words contains answers to the command names of other programs.
	Words []Word
	// ErrorText returns the text of an error, with a hint at the flag that helps.
	ErrorText func(error) string
	// Complete returns the paths in a file with the prefix word.
	Complete func(file, word string) []string
}

// A Word is the answer to command names of other programs.
type Word struct {
	Names  string // separated by spaces
	Answer string
}

// A Group contains the commands under a heading of the usage.
type Group struct {
	Heading  string
	Commands []Command
}

// A Command is a subcommand.
type Command struct {
	Name     string
	Operands string                // as the usage shows them
	Summary  string                // the usage shows its first sentence
	Min, Max int                   // number of operands; Max is -1 for no maximum
	Binary   bool                  // the output is binary
	Edits    bool                  // the output is an edited save, and -o can name the input
	Compares bool                  // StatusBad reports different inputs, and StatusUsage other errors
	Examples []string              // command lines
	Details  func(io.Writer)       // prints more of the help, if not nil
	Words    []string              // operands to complete, or nil
	New      func(f *Flags) Action // defines the flags
}

// An Action runs a Command: by Run, or by File if the command takes several files.
type Action struct {
	// Check, if not nil, checks flags and operands. Check can take operands out of Flags.Operands, or complete them.
	Check func() error
	Run   func(s *Stdio) error
	// File handles one file, or standard input if the name is "". The command goes on with the next file
	// after an error.
	File func(s *Stdio, name string) error
}

// Flags are the flags and operands of a command line.
type Flags struct {
	*flag.FlagSet
	Operands []string
	Output   string // -o
	InPlace  bool   // -i
	Quiet    bool   // -q
	Binary   bool   // the output is binary

	program *Program
	given   map[string]bool     // names of the flags on the command line
	limits  map[string]bool     // names of the flags for limits
	choices map[string][]string // values of flags by name, for completion
}

// newFlags returns the flags of a command and its Action.
func (c *Command) newFlags(p *Program) (*Flags, Action) {
	fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // Run reports errors of fs
	f := &Flags{FlagSet: fs, Binary: c.Binary, program: p, given: map[string]bool{}, limits: map[string]bool{}, choices: map[string][]string{}}
	return f, c.New(f)
}

// Given reports whether a flag is on the command line.
func (f *Flags) Given(name string) bool { return f.given[name] }

// File returns the last operand, the name of the input, or "" without operands.
func (f *Flags) File() string {
	if len(f.Operands) == 0 {
		return ""
	}
	return f.Operands[len(f.Operands)-1]
}

// commands iterates over all commands.
func (p *Program) commands(yield func(*Command) bool) {
	for _, g := range p.Groups {
		for i := range g.Commands {
			if !yield(&g.Commands[i]) {
				return
			}
		}
	}
}

// find returns the command of the given name, or nil.
func (p *Program) find(name string) *Command {
	for c := range p.commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// parseAll parses flags and operands in any order. After -- there are operands only.
func (f *Flags) parseAll(args []string) error {
	for {
		if err := f.Parse(args); err != nil {
			return err
		}
		rest := f.Args()
		if len(rest) == 0 {
			break
		}
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			f.Operands = append(f.Operands, rest...)
			break
		}
		f.Operands = append(f.Operands, rest[0])
		args = rest[1:]
	}
	f.Visit(func(one *flag.Flag) { f.given[one.Name] = true })
	return nil
}

// printUsage prints a description of the program.
func (p *Program) printUsage(w io.Writer) error {
	t := NewTable(w)
	fmt.Fprintf(t, "Usage: gdwire COMMAND [flags] [FILE]\n\n")
	for _, g := range p.Groups {
		heading := g.Heading
		for _, c := range g.Commands {
			summary, _, _ := strings.Cut(c.Summary, ". ")
			fmt.Fprintf(t, "%s\t%s\t%s.\n", heading, c.Name, strings.TrimSuffix(summary, "."))
			heading = ""
		}
	}
	fmt.Fprintf(t, "\nNo FILE, or -, is standard input. gdwire help COMMAND shows examples and flags, and gdwire help limits the limits.\n")
	return t.Flush()
}

// printShort prints how to list the commands.
func printShort(w io.Writer) error {
	_, err := fmt.Fprintln(w, "Usage: gdwire COMMAND [flags] [FILE]\ngdwire help lists the commands, and gdwire help COMMAND shows examples and flags of one.")
	return err
}

// limitsName is the operand of help for the limits.
const limitsName = "limits"

// printLimits prints the flags for limits of all commands.
func (p *Program) printLimits(w io.Writer) error {
	t := NewTable(w)
	fmt.Fprintf(t, "Limits of the input. Each command takes the limits of what it reads.\n\n")
	shown := map[string]bool{}
	for c := range p.commands {
		f, _ := c.newFlags(p)
		f.print(t, func(name string) bool {
			is := f.limits[name] && !shown[name]
			shown[name] = true
			return is
		})
	}
	fmt.Fprintf(t, "\n%s; 0 is the default, none is no limit.\n", sizeText)
	return t.Flush()
}

// sizeText says how numbers are written.
const sizeText = "N may be 10K or 16MiB (K is 1024)"

// usage returns the form of a command line.
func (c *Command) usage() string {
	return strings.TrimSuffix(fmt.Sprintf("gdwire %s [flags] %s", c.Name, c.Operands), " ")
}

// printUsage prints a short description of the subcommand.
func (c *Command) printUsage(w io.Writer) error {
	_, err := fmt.Fprintf(w, "Usage: %s\ngdwire %s -h shows examples and flags.\n", c.usage(), c.Name)
	return err
}

// printHelp prints a description of the subcommand with its flags.
func (c *Command) printHelp(w io.Writer, f *Flags) error {
	t := NewTable(w)
	fmt.Fprintf(t, "Usage: %s\n\n%s\n\n", c.usage(), c.Summary)
	for _, example := range c.Examples {
		fmt.Fprintf(t, "    %s\n", example)
	}
	fmt.Fprintln(t)
	if c.Details != nil {
		c.Details(t)
	}
	n := f.print(t, func(name string) bool { return !f.limits[name] })
	if n == 0 {
		return t.Flush()
	}
	fmt.Fprintf(t, "\nFlags may follow operands. %s.", sizeText)
	if len(f.limits) > 0 {
		fmt.Fprintf(t, " gdwire help %s lists flags for limits.", limitsName)
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// print prints the flags with names accepted by show, and returns how many.
func (f *Flags) print(w io.Writer, show func(name string) bool) (n int) {
	f.VisitAll(func(one *flag.Flag) {
		if show(one.Name) {
			n++
			value, text := flag.UnquoteUsage(one)
			fmt.Fprintf(w, "  -%s %s\t%s\n", one.Name, value, text)
		}
	})
	return n
}

// NewTable returns a Writer aligning columns separated by tabs.
func NewTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 8, 2, ' ', 0) }
