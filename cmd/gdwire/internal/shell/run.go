package shell

import (
	"cmp"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/schollz/progressbar/v3"
)

// checkFiles returns an error if several files would be written to one, or standard input in place.
func (c *Command) checkFiles(f *Flags) error {
	switch {
	case f.InPlace && f.Given("o"):
		return errors.New("-i replaces each FILE, and -o names another: choose one")
	case f.InPlace && (len(f.Operands) == 0 || slices.ContainsFunc(f.Operands, isStdin)):
		return errors.New("-i needs the names of files")
	case !f.InPlace && !f.DryRun && c.Edits && len(f.Operands) > 1:
		return errors.New("several files are edited in place: use -i")
	}
	return nil
}

// runFiles runs a command for each file, and goes on with the next file after an error.
func (s *Stdio) runFiles(f *Flags, run func(s *Stdio, name string) error) error {
	if s.Edits {
		s.skipBackups(f)
		seen := map[string]bool{} // a file that is named twice is edited once; a hard link is another file
		f.Operands = slices.DeleteFunc(f.Operands, func(name string) bool {
			at, _ := filepath.EvalSymlinks(name)
			at, _ = filepath.Abs(cmp.Or(at, name))
			was := seen[at]
			seen[at] = true
			return was
		})
	}
	if len(f.Operands) <= 1 && !f.InPlace {
		if s.Edits && sameFile(f.File(), f.Output) {
			if err := checkRegular(f.Output); err != nil {
				return err
			}
		}
		return s.runTo(f.Output, func() error { return run(s, f.File()) })
	}
	one := func(name string) error {
		if !f.InPlace {
			return run(s, name)
		}
		if err := checkRegular(name); err != nil {
			return err
		}
		return s.runTo(name, func() error { return run(s, name) })
	}
	if len(f.Operands) == 1 {
		return one(f.Operands[0])
	}
	s.Several = true
	return s.runTo(f.Output, func() error { return s.runAll(f, one) })
}

// backups matches the name of a backup, and of its file, perhaps with a number.
var backups = regexp.MustCompile(`^((.+?)(?:\.\d+)?)(?:` + regexp.QuoteMeta(backupEnd) + "|" + regexp.QuoteMeta(undoneEnd) + ")$")

// skipBackups drops the backups of other operands: a pattern of the shell matches those, too.
func (s *Stdio) skipBackups(f *Flags) {
	all := f.Operands
	isBackup := func(name string) bool {
		m := backups.FindStringSubmatch(name)
		return m != nil && (slices.Contains(all, m[1]) || slices.Contains(all, m[2]))
	}
	f.Operands = slices.DeleteFunc(slices.Clone(all), isBackup)
	if n := len(all) - len(f.Operands); n > 0 {
		s.Infof("backups stay as they are: %d, the first %s", n, all[slices.IndexFunc(all, isBackup)])
	}
}

// sameFile reports whether two names lead to the same file.
func sameFile(a, b string) bool {
	one, errA := os.Stat(a)
	other, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(one, other)
}

// checkRegular returns an error if the file of the given name cannot be replaced, such as a pipe: opening a pipe
// to write waits for a reader.
func checkRegular(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("%s is no regular file", name)
	}
	return nil
}

// A tally counts the files of a command by result.
type tally struct{ good, unchanged, bad int }

// runAll runs a command for each of several files, shows a line for each edited file, and the
// totals.
func (s *Stdio) runAll(f *Flags, run func(name string) error) error {
	s.countFiles(len(f.Operands))
	var all tally
	for _, name := range f.Operands {
		s.notes, s.replaces, s.Unchanged, s.Damaged = nil, false, false, false
		err := run(name)
		if err == nil && s.Damaged {
			err = ErrBad
		}
		switch {
		case err != nil:
			s.missing = (s.missing || all.bad == 0) && s.isMissing(err)
			all.bad++
			if err != ErrBad && !strings.Contains(err.Error(), name) {
				err = Prefixed(name, err)
			}
			if err != ErrBad {
				s.Report(err)
			}
		case s.Unchanged:
			all.unchanged++
		default:
			all.good++
		}
		s.showFileNotes(name)
		if s.counts {
			_ = s.bar.Add(1)
		}
	}
	s.Clear()
	s.bar, s.counts, s.notes = nil, false, nil
	s.Infof("%s", all.text(f.InPlace))
	if all.bad > 0 {
		return ErrBad
	}
	return nil
}

// text describes the tally.
func (t *tally) text(inPlace bool) string {
	text := fmt.Sprintf("%s files: %s good", humanize.Comma(int64(t.good+t.unchanged+t.bad)), humanize.Comma(int64(t.good)))
	if inPlace {
		text += fmt.Sprintf(", %s unchanged", humanize.Comma(int64(t.unchanged)))
	}
	return text + fmt.Sprintf(", %s bad", humanize.Comma(int64(t.bad)))
}

// showFileNotes shows the notes of one of several files in a line.
func (s *Stdio) showFileNotes(name string) {
	switch n := len(s.notes); n {
	case 0:
	case 1:
		s.Logf("%s: %s", name, s.notes[0])
	default:
		s.Logf("%s: %s, and %s more changes", name, s.notes[0], humanize.Comma(int64(n-1)))
	}
}

// manyFiles is the minimum number of files for a progress bar.
const manyFiles = 20

// countFiles shows a progress bar for n files, unless lines are shown in the same terminal.
func (s *Stdio) countFiles(n int) {
	if !s.MessagesShown() || s.IsTerminal || n < manyFiles {
		return
	}
	s.counts = true
	s.bar = progressbar.NewOptions(n, progressbar.OptionSetWriter(s.Errs), progressbar.OptionThrottle(barInterval),
		progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(), progressbar.OptionFullWidth())
}

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

// isMissing reports whether an error says that there is no value at the path of get.
func (s *Stdio) isMissing(err error) bool { return s.gets && errors.As(err, new(*text.NotFoundError)) }

// failure returns the exit status after an error, or after damage.
func (s *Stdio) failure(err error) int {
	if s.missing || s.isMissing(err) {
		return StatusMissing
	}
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
	c := p.find(name)
	if _, err := os.Stat(name); c == nil && (err == nil || name == "-") {
		if len(args) > 0 && p.find(args[0]) != nil {
			return usageError{fmt.Errorf("the command is first: %s", commandLine(args[0], append(args[1:], name))), printShort}
		}
		c, args = p.find(p.Shows), append([]string{name}, args...)
	}
	if w := p.word(name); c == nil && w != nil && w.Command != "" {
		s.Logf("%s is %s", name, commandLine(w.Command, args))
		return p.execute(append(strings.Fields(w.Command), args...), s)
	}
	if c != nil {
		return c.execute(p, args, s)
	}
	if strings.ContainsAny(name, `./\`) {
		return fmt.Errorf("there is no file %s", name)
	}
	return usageError{p.noCommand(name, args), printShort}
}

// word returns the word of other programs with a name, or nil.
func (p *Program) word(name string) *Word {
	i := slices.IndexFunc(p.Words, func(w Word) bool { return slices.Contains(strings.Fields(w.Names), strings.ToLower(name)) })
	if i < 0 {
		return nil
	}
	return &p.Words[i]
}

// noCommand returns the error for a name of no command, with the command line that is meant perhaps.
func (p *Program) noCommand(name string, args []string) error {
	if w := p.word(name); w != nil && w.Answer != "" {
		return fmt.Errorf("no command %q; %s", name, w.Answer)
	}
	for c := range p.commands {
		if text.Similar(name, c.Name) {
			return fmt.Errorf("no command %q; did you mean %s?", name, commandLine(c.Name, args))
		}
	}
	if len(args) == 1 {
		if _, err := os.Stat(args[0]); err == nil {
			return fmt.Errorf("no command %q; %s shows the value at a path", name, commandLine("get", append([]string{name}, args...)))
		}
	}
	return fmt.Errorf("no command %q", name)
}

// Check returns an error if a command line is invalid. No command is run.
func (p *Program) Check(args []string) error {
	c := p.find(args[0])
	if c == nil {
		return p.noCommand(args[0], args[1:])
	}
	f, action := c.newFlags(p)
	return c.parse(f, &action, args[1:], false)
}

// execute runs the subcommand with its flags and operands.
func (c *Command) execute(p *Program, args []string, s *Stdio) error {
	f, action := c.newFlags(p)
	if in, ok := s.In.(*os.File); ok {
		info, err := in.Stat()
		f.HasInput = err == nil && info.Mode()&os.ModeDevice == 0
	}
	err := c.parse(f, &action, args, s.IsTerminal)
	if err == flag.ErrHelp {
		return c.printHelp(s.Out, f)
	}
	if err != nil {
		return usageError{err, c.printUsage}
	}
	s.gets = c.Gets
	s.Edits, s.compares, s.quiet, s.DryRun, s.backup = c.Edits, c.Compares, f.Quiet, f.DryRun, f.Backup
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
		err = c.wrongOperands(f)
	}
	if err == nil && isTerminal && c.Edits && action.File != nil && f.Output == "" && !f.DryRun && !f.InPlace && !isStdin(f.Operands[len(f.Operands)-1]) {
		f.InPlace, f.Backup = true, true // bytes are nothing to see, and people type this to change the file
	}
	if err == nil && action.Check != nil {
		err = action.Check()
	}
	if err == nil && isTerminal && c.Binary && f.Output != "" && !sameFile(f.File(), f.Output) {
		f.Backup = true // another file, which is forgotten perhaps
	}
	if err == nil && action.File != nil {
		err = c.checkFiles(f)
	}
	if f.DryRun {
		f.InPlace, f.Output = false, ""
	} else if err == nil && !f.InPlace {
		err = c.checkOutput(f, isTerminal)
	}
	return err
}

// wrongOperands returns the error for a wrong number of operands.
func (c *Command) wrongOperands(f *Flags) error {
	operands := f.Operands
	switch {
	case len(operands) == 0:
		return fmt.Errorf("%s needs %s", c.Name, c.Operands)
	case c.Max == 0:
		return fmt.Errorf("%s takes no operands and not %q", c.Name, operands)
	case c.Max == 1 && strings.Contains(strings.Join(operands[1:], ""), "="):
		return fmt.Errorf("%s changes no values; %s", c.Name, commandLine("set -i", operands))
	}
	hint := ""
	if c.Max == 1 && c.Binary && len(operands) == 2 {
		line := []string{operands[0], "-o", operands[1]}
		if _, err := os.Stat(operands[1]); err == nil && f.Lookup("like") != nil {
			line = append([]string{"-like", operands[1]}, line...)
		}
		hint = "; " + commandLine(c.Name, line)
	}
	return fmt.Errorf("%s takes %s and not %q%s", c.Name, c.Operands, operands, hint)
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
	if word, is := f.program.FlagWords[name]; is && word == "" {
		return fmt.Errorf("%w; %s", err, commandLine(f.Name(), slices.DeleteFunc(slices.Clone(f.args), func(arg string) bool { return strings.TrimLeft(arg, "-") == name && arg != name })))
	}
	var similar *flag.Flag
	f.VisitAll(func(one *flag.Flag) {
		if similar == nil && (text.Similar(name, one.Name) || strings.HasPrefix(one.Name, name)) {
			similar = one
		}
	})
	similar = cmp.Or(f.Lookup(f.program.FlagWords[name]), similar)
	if similar == nil {
		return err
	}
	err = fmt.Errorf("%w; did you mean -%s?", err, similar.Name)
	if line := f.pipedPassword(name); similar.Name == "password-file" && line != "" {
		return fmt.Errorf("%w It names a file. Without one: %s", err, line)
	}
	if value, usage := flag.UnquoteUsage(similar); value != "" {
		err = fmt.Errorf("%w Its value: %s", err, usage)
	}
	return err
}

// checkOutput checks that binary output does not go to a terminal.
func (c *Command) checkOutput(f *Flags, isTerminal bool) error {
	switch {
	case f.Backup && f.Output == "":
		return errors.New("-backup keeps a file that is replaced: use -i, or -o FILE")
	case f.Output != "" || !isTerminal:
	case c.Edits:
		return errors.New("nothing was saved: use -i, or -o FILE")
	case f.Binary:
		return ErrBinary
	}
	return nil
}

// ErrBinary reports bytes that are not for a terminal.
var ErrBinary = errors.New("the output is binary and not for a terminal: use -o FILE")

// scripts are those for completion in shells, by gdwire complete.
//
//go:embed complete
var scripts embed.FS

// Version defines the flags of version.
func Version(*Flags) Action { return Action{Run: version} }

// version shows the version of the module.
func version(s *Stdio) error {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	_, err := fmt.Fprintln(s.Out, "gdwire", v)
	return err
}

// Undo defines the flags of undo.
func Undo(f *Flags) Action {
	redo := f.Bool("redo", false, "take back the latest undo")
	f.QuietFlag()
	return Action{File: func(s *Stdio, name string) error { return s.undo(name, *redo) }}
}

// undo replaces a file by its newest backup, and keeps the file beside it. With redo, undo takes that back.
func (s *Stdio) undo(name string, redo bool) error {
	i, from, to, hint := newest(name), backupEnd, undoneEnd, "; edits with -backup keep one, as "+
		commandLine("set", []string{"-i", "-backup", "PATH = VALUE", name})+", and the messages of others show short old values, to set or add again"
	if redo {
		i, from, to, hint = i+1, to, from, ""
	}
	source, kept := copyName(name, i, from), copyName(name, i, to)
	if m := backups.FindStringSubmatch(name); i == 0 && m != nil {
		return fmt.Errorf("%s is a backup: %s", name, commandLine("undo", m[2:]))
	}
	in, err := os.Open(source)
	if i == 0 || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no %s to go back to%s", copyName(name, max(i, 1), from), hint)
	} else if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	later := ""
	isBefore := func(copied string) bool {
		other, err := os.Stat(copied)
		info, failed := os.Stat(name)
		return err != nil || failed == nil && other.ModTime().Before(info.ModTime())
	}
	if !redo && isBefore(source) && isBefore(copyName(name, i+1, to)) { // and no undo wrote it
		later = ", with later changes that kept no backup"
	}
	if err := cmp.Or(checkRegular(name), copyFile(name, kept, os.O_TRUNC)); err != nil {
		return err
	}
	err = s.runTo(name, func() error {
		_, err := io.Copy(s.Out, in)
		return err
	})
	if err != nil {
		return errors.Join(err, os.Remove(kept))
	}
	_ = os.Chtimes(kept, time.Time{}, time.Now()) // not before that of name
	s.Infof("%s is what %s was, and %s is the file before%s", name, source, kept, later)
	return os.Remove(source)
}

// Complete defines the flags of complete.
func Complete(f *Flags) Action {
	return Action{Run: func(s *Stdio) error { return complete(s, f) }}
}

// complete prints the script for a shell. Called by the scripts, with the number of a word and all words
// of the line as operands, complete prints the words with the prefix so far.
func complete(s *Stdio, f *Flags) error {
	if script, err := scripts.ReadFile("complete/" + f.Operands[0]); err == nil {
		_, err = s.Out.Write(script)
		return err
	}
	i, err := strconv.Atoi(f.Operands[0])
	words := f.Operands[1:]
	if err != nil || i < 1 || len(words) == 0 {
		return usageError{errors.New("want one of bash, zsh, fish, powershell"), func(io.Writer) error { return nil }}
	}
	word := ""
	if i < len(words) {
		word = words[i]
	}
	for _, fit := range f.program.candidates(words, i, word) {
		if strings.HasPrefix(fit, word) {
			fmt.Fprintln(s.Out, fit)
		}
	}
	return nil
}

// candidates returns words for word i of a line.
func (p *Program) candidates(words []string, i int, word string) (all []string) {
	if i == 1 || i == 2 && helps[words[1]] {
		for c := range p.commands {
			all = append(all, c.Name)
		}
		return append(all, map[bool]string{true: "help", false: limitsName}[i == 1])
	}
	c := p.find(words[1])
	if c == nil {
		return nil
	}
	f, _ := c.newFlags(p)
	if name, takes := f.takesValue(words[i-1]); takes && i > 2 {
		return f.valuesOf(name, "", word)
	}
	name, value, hasValue := strings.Cut(word, "=")
	_, isFlag := f.takesValue(name)
	switch {
	case hasValue && isFlag:
		return f.valuesOf(strings.TrimLeft(name, "-"), name+"=", value)
	case strings.HasPrefix(word, "-"):
		f.VisitAll(func(one *flag.Flag) { all = append(all, "-"+one.Name) })
		return all
	case c.Words != nil:
		return c.Words
	case strings.Contains(c.Operands, "PATH"):
		for j, name := range words {
			if info, err := os.Stat(name); j > 1 && j != i && err == nil && info.Mode().IsRegular() {
				return p.Complete(name, word)
			}
		}
	}
	return nil
}

// takesValue returns the name of the flag in word, and reports whether a value follows the flag.
func (f *Flags) takesValue(word string) (name string, takes bool) {
	name = strings.TrimLeft(word, "-")
	one := f.Lookup(name)
	if one == nil || name == word {
		return name, false
	}
	b, ok := one.Value.(interface{ IsBoolFlag() bool })
	return name, !ok || !b.IsBoolFlag()
}

// valuesOf returns the values of a flag, each after a prefix and the value so far up to its last comma.
func (f *Flags) valuesOf(name, prefix, value string) (all []string) {
	prefix += value[:strings.LastIndex(value, ",")+1]
	for _, one := range f.choices[name] {
		all = append(all, prefix+one)
	}
	return all
}
