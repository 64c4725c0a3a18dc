// Package shell runs the subcommands of a program: flags, help, exit statuses, standard streams,
// output files, progress, passwords and completion, all independent of the values in the files.
package shell

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/base/address"
	"github.com/gdwire/gdwire/internal/values/text"
	"golang.org/x/term"
)

// A Program is a command line with subcommands.
type Program struct {
	Groups []Group
	// Shows is the name of the command that is run for a file in place of a command.
	Shows string
	// Words contains answers to the command names of other programs.
	Words []Word
	// FlagWords contains the names of flags by those that other programs have.
	FlagWords map[string]string
	// ErrorText returns the text of an error, with a hint at the flag that helps.
	ErrorText func(error) string
	// Complete returns the paths in a file with the prefix word.
	Complete func(file, word string) []string
}

// A Word is what command names of other programs mean.
type Word struct {
	Names   string // separated by spaces
	Command string // takes the same operands, or is ""
	Answer  string // without a Command
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
	Gets     bool                  // StatusMissing reports a path to no value
	Compares bool                  // StatusBad reports different inputs, and StatusUsage other errors
	Examples string                // command lines, after a line break each
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
	DryRun   bool   // -n
	Backup   bool   // -backup
	Quiet    bool   // -q
	Binary   bool   // the output is binary
	HasInput bool   // standard input is a pipe or a file

	program *Program
	args    []string            // flags and operands as typed
	typed   []string            // flags as typed
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

// find returns the command of the given name, in small or large letters, or nil.
func (p *Program) find(name string) *Command {
	for c := range p.commands {
		if strings.EqualFold(c.Name, name) {
			return c
		}
	}
	return nil
}

// parseAll parses flags and operands in any order. After -- there are operands only.
func (f *Flags) parseAll(args []string) error {
	f.args = args
	for {
		if err := f.Parse(args); err != nil {
			return err
		}
		rest := f.Args()
		f.typed = append(f.typed, args[:len(args)-len(rest)]...)
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
	fmt.Fprintf(t, "Usage: gdwire COMMAND [flags] [FILE]\n       gdwire FILE, as gdwire %s FILE\n\n", p.Shows)
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
	fmt.Fprintf(t, "Usage: %s\n\n%s\n%s\n\n", c.usage(), c.Summary, strings.ReplaceAll(c.Examples, "\n", "\n    "))
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

// Keys returns the keys of encrypted files.
type Keys struct {
	passwordFile, keyFile string
	key                   *fileaccess.Key // of the files, if known
	flags                 *Flags
}

// Flags defines the flags of a Keys.
func (k *Keys) Flags(f *Flags) {
	k.flags = f
	f.StringVar(&k.passwordFile, "password-file", "", "`FILE` with the password of an encrypted file, as by echo PASSWORD >FILE, or - for standard input")
	f.StringVar(&k.keyFile, "key-file", "", "`FILE` with the key of an encrypted file: 32 bytes or 64 hexadecimal digits")
}

// Line returns the flag that gives the key in a command line, to type, or "" if it was typed on the terminal.
func (k *Keys) Line() string {
	switch {
	case k.keyFile != "":
		return " -key-file " + text.Operand(k.keyFile)
	case k.passwordFile != "":
		return " -password-file " + text.Operand(k.passwordFile)
	}
	return ""
}

// commandLine returns the line that runs a command, to type.
func commandLine(name string, args []string) string {
	line := "gdwire " + name
	for _, arg := range args {
		line += " " + text.Operand(arg)
	}
	return line
}

// isStdin reports whether the name of a file means standard input.
func isStdin(name string) bool { return name == "" || name == "-" }

// EditLine returns the line that makes edits of a file by a command, to type, with the flags as typed.
func (f *Flags) EditLine(command string, edits []string, file string) string {
	typed := slices.DeleteFunc(slices.Clone(f.typed), func(arg string) bool { return arg == "--" || strings.TrimLeft(arg, "-") == "force" })
	if !isStdin(file) {
		edits = append(edits, file)
	}
	return commandLine(command, append(typed, edits...))
}

// pipedPassword returns the line that gives a password by a pipe, to type, where it is the value of a flag, or "".
func (f *Flags) pipedPassword(name string) string {
	for i, arg := range f.args {
		flag, password, whole := strings.Cut(arg, "=")
		rest := f.args[i+1:]
		if flag == arg && len(rest) > 0 {
			password, rest, whole = rest[0], rest[1:], true
		}
		if whole && strings.TrimLeft(flag, "-") == name && flag != name {
			return "printf %s " + text.Operand(password) + " | " + commandLine(f.Name(), slices.Concat(f.args[:i], []string{"-password-file", "-"}, rest))
		}
	}
	return ""
}

// Use sets the key of all other files, unless it is nil.
func (k *Keys) Use(key *fileaccess.Key) {
	if key != nil {
		k.key = key
	}
}

// Key returns the key of an encrypted file: from -password-file, -key-file, or a
// prompt on the terminal.
func (k *Keys) Key(s *Stdio, name string) (key *fileaccess.Key, err error) {
	switch {
	case k.key != nil:
		return k.key, nil
	case k.passwordFile != "" || k.keyFile != "":
		key, err = k.read(s)
		k.Use(key) // standard input is read once
		return key, err
	}
	if s.MessagesShown() {
		if tty, err := openTerminal(); err == nil {
			defer func() { _ = tty.Close() }()
			return prompt(tty, s.Errs, name)
		}
	}
	return nil, Choicef("%s is encrypted: give its password by -password-file FILE, as by echo PASSWORD >FILE, or its key by -key-file FILE", name)
}

// read returns the key from the flags.
func (k *Keys) read(s *Stdio) (*fileaccess.Key, error) {
	switch k.passwordFile {
	case "":
		return readKey(k.keyFile)
	case "-":
		if s.InputRead {
			return nil, errors.New("standard input cannot be both the password and the input")
		}
		return readPassword(s.In)
	}
	f, err := os.Open(k.passwordFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w; -password-file names a FILE with the password; without one: %s", err, k.flags.pipedPassword("password-file"))
	} else if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readPassword(f)
}

// readPassword reads a password in UTF-8, or in UTF-16 with a byte order mark as
// written by PowerShell.
func readPassword(r io.Reader) (*fileaccess.Key, error) {
	b, err := io.ReadAll(DecodeText(r))
	b = bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r")) // as added by editors and echo
	return fileaccess.PasswordKey(string(b)), err
}

// readKey reads a key of 32 bytes or 64 hexadecimal digits.
func readKey(name string) (*fileaccess.Key, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var key fileaccess.Key
	if len(b) == len(key) {
		copy(key[:], b)
		return &key, nil
	}
	if digits := bytes.TrimSpace(b); len(digits) == 2*len(key) {
		if _, err := hex.Decode(key[:], digits); err == nil {
			return &key, nil
		}
	}
	return nil, fmt.Errorf("%s contains neither 32 bytes nor 64 hexadecimal digits", name)
}

// prompt asks for a password without showing it. In the raw mode of the terminal,
// Ctrl-C and Ctrl-D are read, so that the terminal is restored.
func prompt(tty *os.File, errs io.Writer, name string) (*fileaccess.Key, error) {
	state, err := term.MakeRaw(int(tty.Fd()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = term.Restore(int(tty.Fd()), state) }()
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{tty, errs}, "")
	fmt.Fprintf(errs, "Password of %s: ", Printable(name)) // ReadPassword would break a long line
	password, err := t.ReadPassword("")
	if err == io.EOF {
		return nil, Choicef("no password was given")
	}
	if err != nil {
		return nil, err
	}
	return fileaccess.PasswordKey(password), nil
}

// Loopback is the host of addresses given as a port only.
const Loopback = "127.0.0.1"

// CompleteAddress adds the host to an address given as a port only. unix:PATH is complete.
func CompleteAddress(addr *string) error {
	if network, path := address.Split(*addr); network == "unix" {
		if path == "" {
			return errors.New("want the path of a socket: unix:PATH")
		}
		return nil
	}
	if !strings.Contains(*addr, ":") {
		*addr = ":" + *addr
	}
	host, port, err := net.SplitHostPort(*addr)
	if err != nil {
		return err
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("%q is no port: want PORT, HOST:PORT or unix:PATH", port)
	}
	*addr = net.JoinHostPort(cmp.Or(host, Loopback), port)
	return nil
}

// OutputFlag defines -o.
func (f *Flags) OutputFlag() {
	f.Func("o", "write to `FILE`, which is replaced after success", func(name string) error {
		if f.Output = name; name == "" {
			return errors.New("want the name of a file")
		}
		return nil
	})
}

// SaveFlag defines -o of a command writing an edited save.
func (f *Flags) SaveFlag() {
	f.OutputFlag()
	f.Lookup("o").Usage += "; it can be the input"
	f.BoolVar(&f.Backup, "backup", false, "keep a FILE that is replaced as FILE.bak, or FILE.2.bak and so on, for undo")
}

// DryFlag defines -n.
func (f *Flags) DryFlag() {
	f.BoolVar(&f.DryRun, "n", false, "show what would change, and write nothing")
}

// EditFlags defines -o and -i of a command editing saves.
func (f *Flags) EditFlags() {
	f.SaveFlag()
	f.BoolVar(&f.InPlace, "i", false, "replace each FILE, one after the other; in place of -o. On a terminal, where bytes are nothing to see, a FILE without -o and -i is replaced, and kept as by -backup")
}

// QuietFlag defines -q.
func (f *Flags) QuietFlag() {
	f.BoolVar(&f.Quiet, "q", false, "print no messages about recognized formats or changes")
}

// Size defines a flag with a number, such as a size in bytes.
func (f *Flags) Size(name, text string, set func(int64)) {
	f.Func(name, text, func(s string) error {
		n, err := parseSize(s)
		if err == nil {
			set(n)
		}
		return err
	})
}

// Limit defines a flag for a limit. The help lists these flags after the others.
func (f *Flags) Limit(name, text string, set func(int64)) {
	f.limits[name] = true
	f.Size(name, "at most `N` "+text, set)
}

var size = regexp.MustCompile(`^\s*([-+]?\d+)\s*(?:([KMGT])(?:i?B)?)?$`)

// parseSize parses a size: 5000, 10K, 16MiB, 0 for the default, or none or -1 for no limit.
func parseSize(s string) (int64, error) {
	if s == "none" {
		return -1, nil
	}
	if m := size.FindStringSubmatch(s); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		shift := 10 * strings.Index(" KMGT", m[2])
		if err == nil && n >= -1 && n <= math.MaxInt64>>shift && (n >= 0 || m[2] == "") {
			return n << shift, nil
		}
	}
	return 0, errors.New("want a number such as 5000, 10K or 16MiB, 0 for the default or none")
}

// Choose defines a flag for one of the choices. The first is the default.
func Choose[T any](f *Flags, name, text string, choices []T, dst *T, nameOf func(T) string) {
	var names []string
	for _, c := range choices {
		names = append(names, nameOf(c))
	}
	f.Choices(name, names...)
	list := strings.Join(names, ", ")
	f.Func(name, text+": "+list, func(s string) error {
		i := slices.Index(names, s)
		if i < 0 {
			return fmt.Errorf("want one of %s", list)
		}
		*dst = choices[i]
		return nil
	})
}

// Choices adds values of a flag, for completion.
func (f *Flags) Choices(name string, values ...string) {
	f.choices[name] = append(f.choices[name], values...)
}

// ExtraChoice adds a choice to a flag of Choose, and sets chosen if the choice is made.
func (f *Flags) ExtraChoice(name, choice string, chosen *bool) {
	f.Choices(name, choice)
	one := f.Lookup(name)
	one.Value, one.Usage = extraChoice{one.Value, choice, chosen}, one.Usage+", "+choice
}

// An extraChoice is the value of a flag with an additional choice.
type extraChoice struct {
	flag.Value
	choice string
	chosen *bool
}

func (e extraChoice) Set(s string) error {
	if *e.chosen = s == e.choice; *e.chosen {
		return nil
	}
	return e.Value.Set(s)
}
