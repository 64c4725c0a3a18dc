// Package saves contains the commands that show, compare, edit and convert saved games.
package saves

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/text"
)

// readLines adds the lines of flat to a tree.
func readLines(r io.Reader, tree *text.Tree, op edit.Op) error {
	lines := bufio.NewReaderSize(shell.DecodeText(r), 1<<16)
	var steps []text.Step
	for i := 1; ; i++ {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if value := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"); value != "" {
			var bad error
			if steps, bad = edit.AddLine(tree, value, steps, op); bad != nil {
				return fmt.Errorf("line %d: %w", i, bad)
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// Set defines the flags of set.
func Set(f *shell.Flags) shell.Action { return edits(f, edit.Set) }

// Add defines the flags of add.
func Add(f *shell.Flags) shell.Action { return edits(f, edit.Add) }

// Delete defines the flags of delete.
func Delete(f *shell.Flags) shell.Action { return edits(f, edit.Delete) }

// Copy defines the flags of copy.
func Copy(f *shell.Flags) shell.Action { return edits(f, edit.Put) }

// Move defines the flags of move.
func Move(f *shell.Flags) shell.Action { return edits(f, edit.Move) }

// edits defines the flags of a command editing files.
func edits(f *shell.Flags, op edit.Op) shell.Action {
	e := &editor{flags: f, op: op, open: open.Flags{Writes: true, Packets: true}}
	e.open.EditFlags(f, true) // objects that are in the file stay, and those on the command line are typed on purpose
	f.EditFlags()
	f.DryFlag()
	switch op {
	case edit.Set:
		f.BoolVar(&e.force, "force", false, "replace values by values of another type, and edit a file with a checksum that cannot be computed")
	case edit.Put:
		f.BoolVar(&e.force, "force", false, "replace a value by one of another type")
	}
	return shell.Action{Check: func() error { return e.check(f) }, File: e.run}
}

// An editor sets, adds, deletes or copies values.
type editor struct {
	flags *shell.Flags
	open  open.Flags
	op    edit.Op
	lines []string  // on the command line: path = value, or path
	input []byte    // standard input with the lines for several files, if lines is empty
	force bool      // -force
	exact bool      // values keep the type as written, as with -force
	from  text.Path // of copy and move: the path of the source; lines is the target
	first bool      // paths are in the first packet because they name none
	bare  string    // an edit that begins as what a shell leaves of "$3.hp" without quotes, or ""
}

// PrintValues prints how to write values, and how a file is replaced, for the help.
func PrintValues(w io.Writer) {
	fmt.Fprint(w, `Values are written as in GDScript, and as get prints them: 10, "text", Vector2(1, 2), [1, {"a": 2}], 1_000,
0xff, Color("#ff8000") or Color.RED, by Godot 4's names. (1, 2) is a vector of the type of the old one. +=, -=, *= and /=
change a number, a vector or a color, and += text. @FILE is the bytes of a file, as a PackedByteArray.
A value takes the type of the old one: 2 becomes 2.0 for a float, and text in place of a number is refused.
A name is a key in braces: {id = 3, name = "bow"}. add with an Array as its PATH appends to it.
A value of any type replaces null, and a value written with its type replaces any: i:10, f:2.5, b:true, s:text,
sn:name, np:path. Lines from standard input keep their types, as flat prints them.
-i and -o write a new file in place of the old one: other hard links of the old one keep it.

`)
	PrintPaths(w)
}

// PrintPaths prints how to write the path of several values, and of a value in bytes, for the help.
func PrintPaths(w io.Writer) {
	fmt.Fprint(w, `items[-1] is the last element, items[*].hp the hp of each element, items[0:3] the first three elements, $1 the second
value of a file, and $*.hp the hp of each. Keys other than names are written ["my key"] or [7]; a path that can only
mean another key, by its text, is taken for it.
data.value().hp is in the value that the bytes of data, a PackedByteArray, contain, also compressed; data.value()$2
is the third of several. If it changes, the bytes are written anew as the game wrote them.

`)
}

// check parses the operands before the files.
func (e *editor) check(f *shell.Flags) (err error) {
	e.exact = e.force
	e.first = !slices.ContainsFunc(f.Operands, func(operand string) bool { return strings.HasPrefix(operand, "$") })
	for _, operand := range f.Operands {
		if e.bare == "" && bare.MatchString(operand) && !isThere(operand) {
			e.bare = operand
		}
	}
	if program := map[edit.Op]string{edit.Put: "cp", edit.Move: "mv"}[e.op]; program != "" && len(f.Operands) == 2 {
		from, to := text.Operand(f.Operands[0]), text.Operand(f.Operands[1])
		return fmt.Errorf("want PATH TO FILE and not %s %s; for whole files: %s %[1]s %[2]s", from, to, program)
	}
	if e.hasLines() {
		return e.split(f)
	}
	filesLast(f)
	if e.op == edit.Put || e.op == edit.Move {
		if e.from, err = edit.WholePath(text.Parse(f.Operands[0])); err != nil {
			return err
		}
		f.Operands = f.Operands[1:]
	}
	files := len(f.Operands) - 1
	if i := slices.IndexFunc(f.Operands[:files], isThere); i > 0 && (f.InPlace || f.DryRun) {
		files = i
	}
	e.lines, f.Operands = f.Operands[:files], f.Operands[files:]
	_, err = e.tree(nil)
	return err
}

// bare matches the start of a path without its $ and number.
var bare = regexp.MustCompile(`^(?:\.[^ =./]|\[)`)

// checkDollar returns an error for an edit of a file of several values that can be of another one than the first: a shell takes $3 out of
// "$3.hp".
func (e *editor) checkDollar(c *save.Content) error {
	if e.bare == "" || edit.Find(c, text.Path{Packet: 1}) != nil {
		return nil
	}
	at := func(packet string) string { return text.Operand(packet + e.bare) }
	return shell.Choicef("%q may have lost its $ and number, which a shell takes without quotes: %s is in the first value, %s in the second and %s in each",
		e.bare, at("$"), at("$1"), at("$*"))
}

// split separates the lines from the files among the operands. Without lines, they are in standard input.
func (e *editor) split(f *shell.Flags) (err error) {
	var files []string
	for i, name := range f.Operands {
		isFile, isLast := name == "-" || isThere(name), i == len(f.Operands)-1
		switch {
		case isFile && isEdit(name) && !isLast:
			return fmt.Errorf("%q is an edit and the name of a file: write ./%[1]s for the file, or one more space around = for the edit", name)
		case isFile, isLast && files == nil && !isEdit(name):
			files = append(files, name)
		default:
			e.lines = append(e.lines, name)
		}
	}
	if files == nil {
		if files = []string{"-"}; !f.HasInput || f.InPlace {
			return fmt.Errorf("FILE is missing: %q is an edit; - is standard input", f.File())
		}
	}
	f.Operands = files
	if len(e.lines) == 0 {
		if e.exact = true; f.File() == "-" {
			return errors.New("standard input cannot be both the file and the lines")
		}
		e.open.Decoder.AllowObjects = e.open.Decoder.AllowObjects && f.Given("objects") // of lines that others wrote perhaps
		return nil
	}
	e.join()
	for i, line := range e.lines {
		if ext := filepath.Ext(line); !isEdit(line) && slices.ContainsFunc(files, func(name string) bool { return ext != "" && filepath.Ext(name) == ext }) {
			return fmt.Errorf("there is no file %s", line)
		}
		if i > 0 && !isEdit(line) && isEdit(e.lines[i-1]) {
			words := e.lines[i-1:]
			if n := slices.IndexFunc(words[1:], isEdit); n > 0 {
				words = words[:1+n]
			}
			return fmt.Errorf("%q is no edit; a value with spaces is in quotes: %s", line, text.Operand(strings.Join(words, " ")))
		}
	}
	_, err = e.tree(nil)
	return err
}

// hasLines reports whether the edits are lines, path = value, and not paths.
func (e *editor) hasLines() bool { return e.op == edit.Set || e.op == edit.Add }

// isEdit reports whether an operand is a line, path = value, also a wrong one.
func isEdit(operand string) bool {
	isName := strings.HasPrefix(operand, "/") || strings.HasPrefix(operand, "./") || strings.HasPrefix(operand, "../")
	return !isName && strings.Index(strings.TrimLeft(operand, "+-*"), "=") > 0
}

// join makes lines of edits that are several operands: hp = 5, hp +=5, or hp 5 if it is the only one.
func (e *editor) join() {
	var lines []string
	for rest := e.lines; len(rest) > 0; {
		n := 1
		if len(rest) > 1 && !isEdit(rest[0]) {
			switch op := strings.TrimLeft(rest[1], "+-*/"); {
			case op == "=":
				n = min(3, len(rest))
			case strings.HasPrefix(op, "="):
				n = 2
			}
		}
		lines, rest = append(lines, strings.Join(rest[:n], " ")), rest[n:]
	}
	if len(lines) == 2 && !slices.ContainsFunc(lines, isEdit) {
		lines = []string{strings.Join(lines, " = ")}
	}
	e.lines = lines
}

// isThere reports whether there is a file of this name, and no folder, which has the name of a key perhaps.
func isThere(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// filesLast moves the operands that are files to the end if the last one is none: people name the file first, too.
func filesLast(f *shell.Flags) {
	if last := f.File(); last != "-" && !isThere(last) {
		files := slices.DeleteFunc(slices.Clone(f.Operands), func(name string) bool { return !isThere(name) })
		f.Operands = append(slices.DeleteFunc(f.Operands, isThere), files...)
	}
}

// takeFirst takes the first operand, what a command looks for, out of the operands. A file alone is none, unless there is standard input.
func takeFirst(f *shell.Flags, what string) (string, error) {
	filesLast(f)
	first := f.Operands[0]
	if len(f.Operands) == 1 && isThere(first) && (!f.HasInput || strings.ContainsAny(first, "./")) {
		return first, fmt.Errorf("%s is missing: gdwire %s %[1]s %[3]s; gdwire flat %[3]s shows all values", what, f.Name(), first)
	}
	f.Operands = f.Operands[1:]
	return first, nil
}

// tree returns the paths and values of the lines on the command line, or else in r.
func (e *editor) tree(r io.Reader) (*text.Tree, error) {
	tree := &text.Tree{}
	if len(e.lines) == 0 {
		return tree, readLines(r, tree, e.op)
	}
	for _, line := range e.lines {
		var err error
		if !e.hasLines() {
			err = edit.AddPath(tree, line, e.op)
		} else if line, err = withFile(line); err == nil {
			_, err = edit.AddLine(tree, line, nil, e.op)
		}
		if err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// withFile returns a line, with the bytes of FILE in place of a value @FILE, as in curl, if there is such a file.
func withFile(line string) (string, error) {
	const most = 64 << 20 // bytes
	_, value, _ := text.CutLine(line, nil)
	name, ok := strings.CutPrefix(value, "@")
	info, err := os.Stat(name)
	switch {
	case !ok || err != nil:
		return line, nil
	case !info.Mode().IsRegular() || info.Size() > most: // a pipe can wait, and a device has no end
		return "", fmt.Errorf("%s is no regular file of at most 64 MiB", name)
	}
	b, err := os.ReadFile(name)
	return strings.TrimSuffix(line, value) + text.Value{Type: gdwire.TypePackedByteArray, Text: string(b)}.String(), err
}

// treeFor returns the paths and values for a file. Standard input is read once for several files.
func (e *editor) treeFor(s *shell.Stdio) (tree *text.Tree, err error) {
	if len(e.lines) > 0 || !s.Several {
		return e.tree(s.In)
	}
	if e.input == nil {
		if e.input, err = io.ReadAll(s.In); err != nil {
			return nil, err
		}
	}
	return e.tree(bytes.NewReader(e.input))
}

// run edits values in a file and keeps all other bytes.
func (e *editor) run(s *shell.Stdio, name string) error {
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // a million lines stay: less garbage beside them
	tree, err := e.treeFor(s)
	if err != nil {
		return err
	}
	in, c, err := e.open.OpenContent(s, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if err := in.CheckZeros(c); err != nil {
		return err
	}
	if err := cmp.Or(e.checkDollar(c), e.checkSecret(s, in)); err != nil {
		return err
	}
	tree, plan, err := e.plan(s, c, e.from, tree)
	if err != nil {
		return e.withHint(c, name, in.Choice(err))
	}
	if len(plan.Changes) == 0 {
		if !s.Several {
			s.Infof("nothing changed: %s contains these values already", in.Name)
		}
		if s.Keep() {
			return nil
		}
	}
	if sum := edit.Checksum(c, plan.Changed(tree)); sum != "" {
		if err := e.warn(s, in, sum, true); err != nil {
			return err
		}
	}
	out := s
	if s.DryRun { // errors of the bytes around the values, too
		dry := *s
		out, dry.Out = &dry, bufio.NewWriter(io.Discard)
	}
	if err = e.open.Rewrite(out, in.Stack, in.Container(), in.Key(), plan.Content().CopyTo); err == nil {
		noteChanges(s, in.Name, plan)
	}
	if err == nil && in.Path != "" && s.ToPipe() && !s.IsQuiet() {
		s.NoteAtEnd("%s stays as it was; -i replaces it, and -o FILE writes another", in.Name)
	}
	return err
}

// checkSecret reports wrong checksums, and bytes that look like a checksum with a secret. For more than a few such
// bytes, set returns an error unless forced: a few can also be the name of a save.
func (e *editor) checkSecret(s *shell.Stdio, in *open.Input) error {
	for _, err := range in.Faults() {
		s.Infof("%v; it stays unless these are changed", err)
	}
	at, n := in.Explained().Secret()
	if n == 0 {
		return nil
	}
	const least = 16 // as an MD5
	return e.warn(s, in, save.SecretText(at, n)+"; the game may refuse the edited file", n >= least)
}

// warn says what can be a checksum. If it likely is one, set returns an error unless forced.
func (e *editor) warn(s *shell.Stdio, in *open.Input, checksum string, likely bool) error {
	if likely && e.op == edit.Set && !e.force {
		return fmt.Errorf("%s: %s; -force writes it", in.Name, checksum)
	}
	s.Infof("%s: %s", in.Name, checksum)
	return nil
}

// withHint returns an error of an edit of a file, with a hint if there is one.
func (e *editor) withHint(c *save.Content, name string, err error) error {
	other, there := "", (*edit.ExistsError)(nil)
	if e.op == edit.Set || e.op == edit.Put {
		other = "-force sets another type"
	}
	hint := edit.Hint(c, err, other)
	if !errors.As(err, new(*text.NotFoundError)) || hint == "" || strings.HasSuffix(hint, " elements") {
		hint += e.adds(c, name, err)
	}
	switch {
	case errors.As(err, new(*edit.ValueError)) && len(e.lines) > 0:
		return shell.Choicef("%w%s", err, hint)
	case errors.As(err, &there) && e.op == edit.Add && !strings.HasPrefix(there.Text, "+="):
		at, value := there.Target()
		hint = "; " + e.flags.EditLine("set", []string{at + " = " + value}, name) + " changes it" + hint
	}
	return fmt.Errorf("%w%s", err, hint)
}

// adds returns the hint for the error of a value that is meant to be added perhaps: with a new key, or at the path of an array, or of
// an element after its last, as another element. Otherwise, adds returns "".
func (e *editor) adds(c *save.Content, name string, err error) string {
	var target interface{ Target() (path, value string) }
	var missing *text.NotFoundError
	var wrong *edit.TypeError
	if !errors.As(err, &target) || errors.As(err, &missing) && (!e.hasLines() || missing.Similar != "") ||
		errors.As(err, &wrong) && !strings.HasPrefix(wrong.Old, gdwire.TypeArray.String()) {
		return ""
	}
	at, typed := target.Target()
	path, _ := text.Parse(at)
	hint, end, last := "; to append,", "[+]", len(path.Steps)-1
	switch {
	case missing == nil:
	case edit.CanAdd(c, at):
		hint, end = "; to add it,", ""
	case last >= 0 && path.Steps[last].Key.Type == gdwire.TypeInt:
		path.Steps = path.Steps[:last]
		at = path.String()
	}
	value, failed := text.ParseValue(typed)
	switch {
	case !edit.CanAdd(c, at+end):
		return ""
	case !e.hasLines():
		return hint + " " + text.Operand(at+end)
	case failed != nil:
		return ""
	}
	all := []text.Value{value}
	if value.Type == gdwire.TypeArray && !value.Bare && end != "" && (value.Change != "" || e.op == edit.Add) { // as in GDScript
		all = value.Items
	}
	var edits []string
	for i := range all {
		edits = append(edits, at+end+" = "+shell.Cut(all[i].String(), shell.PlainWidth))
	}
	if edits == nil {
		return ""
	}
	return hint + " " + e.flags.EditLine("add", edits, name)
}

// plan returns the plan of the edits in a tree, and the tree with other paths where those can mean nothing else.
func (e *editor) plan(s *shell.Stdio, c *save.Content, from text.Path, tree *text.Tree) (_ *text.Tree, plan *edit.Plan, err error) {
	switch e.op {
	case edit.Put:
		plan, err = edit.Copy(c, from, tree, e.force)
	case edit.Move:
		plan, err = edit.MoveTo(c, from, tree)
	default:
		plan, err = edit.Edit(c, e.op, tree, e.exact)
	}
	at, path, value := e.meant(c, from, err)
	if at == "" {
		return tree, plan, err
	}
	if at == from.String() {
		was, to := from.Packet, tree.Targets[0].String()
		if from, err = text.Parse(path); from.Packet != was {
			tree, err = tree.With(to, strings.Replace(to, "$", string(text.AppendPacket(nil, from.Packet)), 1), "")
		}
	} else {
		tree, err = tree.With(at, path, value)
	}
	if err == nil {
		tree, plan, err = e.plan(s, c, from, tree)
	}
	if err == nil && path != at+"[+]" {
		s.Infof(onlyText, at, text.Operand(path))
	}
	return tree, plan, err
}

// onlyText says which path is taken for another.
const onlyText = "there is no %s, only %s"

// meant returns the path of an error, and the only one that the path can mean, with the text of the value: with a key of the same text,
// or the end of an Array, for what is no Array. The path is "" if there is none.
func (e *editor) meant(c *save.Content, from text.Path, err error) (at, path, value string) {
	if len(e.lines) == 0 {
		return "", "", ""
	}
	var missing *text.NotFoundError
	var there interface{ Target() (path, value string) }
	switch {
	case errors.As(err, &missing):
		if e.op != edit.Add {
			path = edit.Meant(c, missing, e.first)
		}
		at, value = missing.Path, missing.Value
	case e.op != edit.Set && errors.As(err, &there):
		at, value = there.Target()
		v, failed := text.ParseValue(value)
		isList := e.hasLines() && failed == nil && v.Type == gdwire.TypeArray && !v.Bare || !e.hasLines() && edit.CanAdd(c, from.String()+"[+]")
		if !isList && edit.CanAdd(c, at+"[+]") {
			path, value = at+"[+]", strings.TrimPrefix(value, "+=")
		}
	}
	if path == "" {
		at = ""
	}
	return at, path, value
}

// changeText describes a change of a value. A value that is not there is "".
func changeText(path, old, value string) string {
	switch {
	case old == "":
		return path + ": " + value + ", was not there"
	case value == "":
		return path + ": was " + old + ", is not there"
	}
	return path + ": " + value + ", was " + old
}

// noteChanges adds a note for each change of a plan. Notes are shown when the output is complete, and with -n are the output.
func noteChanges(s *shell.Stdio, name string, plan *edit.Plan) {
	note := s.NoteAtEnd
	if s.DryRun {
		note = func(format string, args ...any) {
			if s.Several {
				format, args = "%s: "+format, append([]any{name}, args...)
			}
			fmt.Fprintln(s.Out, shell.Printable(fmt.Sprintf(format, args...)))
		}
	} else if s.IsQuiet() {
		return
	}
	for _, c := range plan.Changes {
		note("%s", changeText(c.Path, c.Was, c.Text))
	}
	if plan.More > 0 {
		note("and %d more", plan.More)
	}
}
