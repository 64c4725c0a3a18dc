package shell

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gdwire/gdwire/internal/text"
)

// Run runs the command in args and returns its exit status.
func (p *Program) Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := NewStdio(stdin, stdout, stderr)
	s.errorText = p.ErrorText
	err := p.execute(args, s)
	if failed := s.Out.Flush(); failed != nil && (err == nil || err == ErrBad) {
		err = failed
	}
	var usage usageError
	var choice ChoiceError
	switch {
	case err == nil && s.Damaged:
		return s.failure(nil)
	case err == nil:
		s.showNotes()
		return StatusGood
	case errors.As(err, &usage):
		s.Report(err)
		_ = usage.print(s.Errs) // an error of Errs cannot be reported
		return StatusUsage
	case errors.As(err, &choice):
		s.Report(err)
		return StatusUsage
	case err != ErrBad && !isClosedPipe(err): // a closed pipe is not an error of the input
		s.Report(err)
	}
	return s.failure(err)
}

// failure returns the exit status after an error, or after damage.
func (s *Stdio) failure(err error) int {
	if s.compares && (err != ErrBad || s.Damaged) {
		return StatusUsage
	}
	return StatusBad
}

var helps = map[string]bool{"help": true, "-h": true, "-help": true, "--help": true}

// execute runs the subcommand in args.
func (p *Program) execute(args []string, s *Stdio) error {
	if len(args) == 0 {
		return usageError{errors.New("which command?"), p.printUsage}
	}
	name, args := args[0], args[1:]
	if strings.TrimLeft(name, "-") == "version" || name == "-v" || name == "-V" {
		name = "version"
	}
	if helps[name] {
		if len(args) == 0 || helps[args[0]] {
			return p.printUsage(s.Out)
		}
		if name, args = args[0], []string{"-h"}; name == limitsName {
			return p.printLimits(s.Out)
		}
	}
	if c := p.find(name); c != nil {
		return c.execute(p, args, s)
	}
	return usageError{p.noCommand(name), printShort}
}

// noCommand returns the error for a name of no command.
func (p *Program) noCommand(name string) error {
	if _, err := os.Stat(name); err == nil {
		return fmt.Errorf("no command %q; did you mean gdwire check %[1]s?", name)
	}
	for _, w := range p.Words {
		if slices.Contains(strings.Fields(w.Names), strings.ToLower(name)) {
			return fmt.Errorf("no command %q; %s", name, w.Answer)
		}
	}
	for c := range p.commands {
		if text.Similar(name, c.Name) {
			return fmt.Errorf("no command %q; did you mean %s?", name, c.Name)
		}
	}
	return fmt.Errorf("no command %q", name)
}

// Check returns an error if a command line is invalid. No command is run.
func (p *Program) Check(args []string) error {
	c := p.find(args[0])
	if c == nil {
		return p.noCommand(args[0])
	}
	f, action := c.newFlags(p)
	return c.parse(f, &action, args[1:], false)
}

// execute runs the subcommand with its flags and operands.
func (c *Command) execute(p *Program, args []string, s *Stdio) error {
	f, action := c.newFlags(p)
	err := c.parse(f, &action, args, s.IsTerminal)
	if err == flag.ErrHelp {
		return c.printHelp(s.Out, f)
	}
	if err != nil {
		return usageError{err, c.printUsage}
	}
	s.Edits, s.compares, s.quiet = c.Edits, c.Compares, f.Quiet
	if action.File != nil {
		return s.runFiles(f, action.File)
	}
	return s.runTo(f.Output, func() error { return action.Run(s) })
}

// parse parses and checks the flags and operands.
func (c *Command) parse(f *Flags, action *Action, args []string, isTerminal bool) error {
	err := f.parseAll(args)
	if err != nil && err != flag.ErrHelp {
		err = withSimilarFlag(err, f)
	}
	if n := len(f.Operands); err == nil && (n < c.Min || c.Max >= 0 && n > c.Max) {
		err = c.wrongOperands(f.Operands)
	}
	if err == nil && action.Check != nil {
		err = action.Check()
	}
	if err == nil && action.File != nil {
		err = c.checkFiles(f)
	}
	if err == nil && !f.InPlace {
		err = c.checkOutput(f, isTerminal)
	}
	return err
}

// wrongOperands returns the error for a wrong number of operands.
func (c *Command) wrongOperands(operands []string) error {
	switch {
	case len(operands) == 0:
		return fmt.Errorf("%s needs %s", c.Name, c.Operands)
	case c.Max == 0:
		return fmt.Errorf("%s takes no operands and not %q", c.Name, operands)
	}
	return fmt.Errorf("%s takes %s and not %q", c.Name, c.Operands, operands)
}

// withSimilarFlag returns err, with the name of a similar flag if err reports an unknown flag.
func withSimilarFlag(err error, f *Flags) error {
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return err
	}
	if '0' <= name[0] && name[0] <= '9' {
		return fmt.Errorf("%w; -- precedes operands that begin with -", err)
	}
	similar := ""
	f.VisitAll(func(one *flag.Flag) {
		if similar == "" && (text.Similar(name, one.Name) || strings.HasPrefix(one.Name, name)) {
			similar = one.Name
		}
	})
	if similar == "" {
		return err
	}
	return fmt.Errorf("%w; did you mean -%s?", err, similar)
}

// checkOutput checks that binary output does not go to a terminal.
func (c *Command) checkOutput(f *Flags, isTerminal bool) error {
	switch {
	case f.Output != "" || !isTerminal:
	case c.Edits:
		return errors.New("nothing was saved: use -i, or -o FILE")
	case f.Binary:
		return errors.New("the output is binary and not for a terminal: use -o FILE")
	}
	return nil
}
