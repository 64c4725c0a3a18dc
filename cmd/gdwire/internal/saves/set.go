// Package saves contains the commands that show, compare, edit and convert saved games.
package saves

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdjson"
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

// errEmpty reports input without values.
var errEmpty = errors.New("the input is empty; nothing was written")

// An output describes how to write values.
type output struct {
	save.Reading
	container fileaccess.Info
	key       *fileaccess.Key // of an encrypted input, or nil
	stack     *save.Stack     // the layers around the values
}

// A target holds the properties of the output set by -to. nil keeps the property of the input.
type target struct {
	format    *gdwire.Format
	frame     *save.Frame
	container *fileaccess.Info
}

// containers maps the names in -to to containers.
var containers = map[string]fileaccess.Info{}

func init() {
	all := []fileaccess.Info{{}, {Container: fileaccess.Encrypted}, {Base64: fileaccess.Base64{Text: true}}}
	for _, m := range open.Modes {
		all = append(all, fileaccess.Info{Container: fileaccess.Compressed, Mode: m}, fileaccess.Info{Container: fileaccess.Raw, Mode: m})
	}
	for _, i := range all {
		containers[i.String()] = i
	}
}

// flag defines -to.
func (t *target) flag(f *shell.Flags) {
	f.Choices("to", partNames()...)
	f.Func("to", "`PARTS` of the output, separated by commas: a format; none, u32 or u32be; plain, fastlz, deflate, zstd, gzip, encrypted, raw-fastlz, … as scripts compress, or base64. Other parts are as in the input. A pipe gets compressed or encrypted output when it is complete", func(s string) error {
		for part := range strings.SplitSeq(s, ",") {
			if err := t.add(strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		return nil
	})
}

// partNames returns the parts of -to.
func partNames() (all []string) {
	for _, f := range gdwire.Formats() {
		all = append(all, f.String())
	}
	for _, f := range open.Frames {
		all = append(all, f.String())
	}
	return append(all, slices.Sorted(maps.Keys(containers))...)
}

// add adds a part of -to. A second part of the same kind is an error.
func (t *target) add(part string) error {
	if f := new(gdwire.Format); f.UnmarshalText([]byte(part)) == nil {
		return setOnce(&t.format, f, "format", part)
	}
	for _, f := range open.Frames {
		if f.String() == part {
			return setOnce(&t.frame, &f, "length", part)
		}
	}
	info, ok := containers[part]
	if !ok {
		return fmt.Errorf("%q is no part: want any of %s", part, strings.Join(partNames(), ", "))
	}
	return setOnce(&t.container, &info, "container", part)
}

// setOnce sets *dst, or returns an error if it is not nil.
func setOnce[T any](dst **T, v *T, kind, part string) error {
	if *dst != nil {
		return fmt.Errorf("%q is a second %s", part, kind)
	}
	*dst = v
	return nil
}

// apply returns the output with the properties in t, and the other properties of the input.
func (t *target) apply(w output) output {
	if t.format != nil {
		w.Decoder.Format = *t.format
	}
	if t.frame != nil {
		w.Frame = *t.frame
	}
	if t.container != nil {
		w.container = *t.container
	}
	if w.container.Container == fileaccess.Encrypted && (t.container != nil || t.format != nil) {
		w.container.Layout = fileaccess.LayoutGodot4
		if f := w.Decoder.Format; f == gdwire.Godot3 || f == gdwire.Godot2 {
			w.container.Layout = fileaccess.LayoutGodot3
		}
	}
	return w
}

// Tokens defines the flags of tokens.
var Tokens = shows(open.NewTokenPrinter)

// Flat defines the flags of flat.
var Flat = shows(open.NewFlatPrinter)

// shows returns the flags of a command showing the packets of a file.
func shows(newPrinter open.NewPrinter) func(*shell.Flags) shell.Action {
	return func(f *shell.Flags) shell.Action {
		var o open.Flags
		o.ReadFlags(f, true)
		f.OutputFlag()
		return shell.Action{Run: func(s *shell.Stdio) error { return o.ShowFile(s, f.File(), newPrinter) }}
	}
}

// JSON defines the flags of json.
func JSON(f *shell.Flags) shell.Action {
	var o open.Flags
	o.ReadFlags(f, true)
	j := jsonFlags(f)
	return shell.Action{File: func(s *shell.Stdio, name string) error { return o.ShowFile(s, name, open.NewJSONPrinter(*j)) }}
}

// indent begins a line once for each container around its value.
const indent = "  "

// jsonFlags defines the flags of a command showing JSON.
func jsonFlags(f *shell.Flags) *gdjson.Options {
	f.OutputFlag()
	o := &gdjson.Options{}
	f.BoolVar(&o.Plain, "plain", false, "plain JSON, for people and jq; it is lossy")
	f.BoolFunc("indent", "a line for each element", func(string) error {
		o.Indent = indent
		return nil
	})
	return o
}

// Check defines the flags of check.
func Check(f *shell.Flags) shell.Action {
	o := open.Flags{NonEmpty: true}
	o.ReadFlags(f, false)
	lines := f.Bool("json", false, "a line of JSON for each value or packet")
	return shell.Action{
		Check: func() (err error) { f.Operands, err = filesOf(f.Operands); return err },
		File:  func(s *shell.Stdio, name string) error { return check(s, &o, name, *lines) },
	}
}

// filesOf returns names, with the files in a folder in place of the folder.
func filesOf(names []string) (all []string, err error) {
	for _, name := range names {
		inside, notFolder := os.ReadDir(name)
		if notFolder != nil {
			all = append(all, name)
			continue
		}
		before := len(all)
		for _, file := range inside {
			if file.Type().IsRegular() {
				all = append(all, filepath.Join(name, file.Name()))
			}
		}
		if len(all) == before {
			return nil, fmt.Errorf("there are no files in the folder %s", name)
		}
	}
	return all, nil
}

// check validates a file. A file without values is an error.
func check(s *shell.Stdio, o *open.Flags, name string, lines bool) error {
	var n int64
	err := o.ShowFile(s, name, func(s *shell.Stdio, in *open.Input) open.Printer {
		return open.NewCheckPrinter(lines)(s, in).Counting(&n)
	})
	if err == nil && n == 0 {
		return fmt.Errorf("%s is empty", save.DisplayName(name))
	}
	return err
}

// Unwrap defines the flags of unwrap.
func Unwrap(f *shell.Flags) shell.Action {
	var o open.Flags
	o.FileFlags(f)
	o.SkipFlag(f)
	f.OutputFlag()
	return shell.Action{Run: func(s *shell.Stdio) error { return unwrap(s, &o, f.File()) }}
}

// unwrap writes the content of a compressed or encrypted file, or the values inside the bytes of a game.
func unwrap(s *shell.Stdio, o *open.Flags, name string) error {
	in, err := o.OpenStack(s, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if in.IsPlain() {
		return fmt.Errorf("%s is neither compressed nor encrypted as by Godot", in.Name)
	}
	if around := in.Around(); around != "" && in.Container().IsPlain() {
		s.Infof("%s contains values %s", in.Name, around)
	}
	content := in.Unwrapped()
	n, err := io.Copy(s.Out, s.Progress(content.Reader(), content.Size))
	s.Clear()
	if save.IsContainerError(err) && n > 0 {
		return &shell.PartError{Err: err, Bytes: n}
	}
	return err
}

// Wrap defines the flags of wrap.
func Wrap(f *shell.Flags) shell.Action {
	o := &open.Flags{Writes: true}
	o.FileFlags(f)
	o.SkipFlag(f)
	f.SaveFlag()
	like := f.String("like", "", "compress and encrypt as `FILE` is, with its key")
	check := func() error {
		if *like == "" {
			return errors.New("wrap needs -like FILE, a file that is compressed or encrypted")
		}
		return nil
	}
	return shell.Action{Check: check, Run: func(s *shell.Stdio) error { return wrap(s, o, *like, f.File()) }}
}

// wrap writes what unwrap writes, edited, as it is in another file.
func wrap(s *shell.Stdio, o *open.Flags, like, name string) error {
	outside, err := o.OpenStack(s, like)
	if err != nil {
		return err
	}
	defer func() { _ = outside.Close() }()
	if outside.IsPlain() {
		return fmt.Errorf("%s is neither compressed nor encrypted as by Godot", outside.Name)
	}
	in, err := open.File(s, name, false)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	return o.Rewrite(s, outside.Wrapping(), outside.Container(), outside.Key(), func(w io.Writer) error {
		_, err := io.Copy(w, in.Reader())
		return err
	})
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
	e := &editor{op: op, open: open.Flags{Writes: true, Packets: true}}
	e.open.EditFlags(f)
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
	open  open.Flags
	op    edit.Op
	lines []string  // on the command line: path = value, or path
	input []byte    // standard input with the lines for several files, if lines is empty
	force bool      // -force
	exact bool      // values keep the type as written, as with -force
	from  text.Path // of copy and move: the path of the source; lines is the target
}

// PrintValues prints how to write values, and how a file is replaced, for the help.
func PrintValues(w io.Writer) {
	fmt.Fprint(w, `Values are written as in GDScript, and as get prints them: 10, "text", Vector2(1, 2), [1, {"a": 2}], 1_000,
0xff, Color("#ff8000") or Color.RED, by Godot 4's names. (1, 2) is a vector of the type of the old one. +=, -=, *= and /=
change a number.
A value takes the type of the old one: 2 becomes 2.0 for a float, and text in place of a number is refused.
A value of any type replaces null, and a value written with its type replaces any: i:10, f:2.5, b:true, s:text,
sn:name, np:path. Lines from standard input keep their types, as flat prints them.
-i and -o write a new file in place of the old one: other hard links of the old one keep it.

`)
	PrintPaths(w)
}

// PrintPaths prints how to write the path of several values, and of a value in bytes, for the help.
func PrintPaths(w io.Writer) {
	fmt.Fprint(w, `items[-1] is the last element, items[*].hp the hp of each element, items[0:3] the first three elements, $1 the second
value of a file, and $*.hp the hp of each. Keys other than names are written ["my key"] or [7].
data.value().hp is in the value that the bytes of data, a PackedByteArray, contain, also compressed; data.value()$2
is the third of several. If it changes, the bytes are written anew as the game wrote them.

`)
}

// check parses the operands before the files.
func (e *editor) check(f *shell.Flags) (err error) {
	e.exact = e.force
	if program := map[edit.Op]string{edit.Put: "cp", edit.Move: "mv"}[e.op]; program != "" && len(f.Operands) == 2 {
		from, to := text.Operand(f.Operands[0]), text.Operand(f.Operands[1])
		return fmt.Errorf("want PATH TO FILE and not %s %s; for whole files: %s %[1]s %[2]s", from, to, program)
	}
	if !e.hasLines() {
		filesLast(f)
	} else {
		sortOperands(f, func(name string) bool { return !isEdit(name) || isThere(name) })
	}
	if e.op == edit.Put || e.op == edit.Move {
		if e.from, err = edit.WholePath(text.Parse(f.Operands[0])); err != nil {
			return err
		}
		f.Operands = f.Operands[1:]
	}
	files := e.firstFile(f)
	if err := e.checkNames(f, files); err != nil {
		return err
	}
	e.lines = f.Operands[:files]
	if len(e.lines) == 0 {
		if e.exact = true; f.File() == "-" {
			return errors.New("standard input cannot be both the file and the lines")
		}
		return nil
	}
	if _, err := e.tree(nil); err != nil {
		return cmp.Or(e.unquoted(), err)
	}
	f.Operands = f.Operands[files:]
	return nil
}

// firstFile returns the index of the first operand that is a file to edit: the last operand, or the first existing file, if it can
// be neither an edit nor a path.
func (e *editor) firstFile(f *shell.Flags) int {
	for i, name := range f.Operands {
		isFile := (f.InPlace || f.DryRun) && i > 0 || e.hasLines() && (f.InPlace || f.DryRun || !isEdit(name))
		if isFile && isThere(name) {
			return i
		}
	}
	return len(f.Operands) - 1
}

// hasLines reports whether the edits are lines, path = value, and not paths.
func (e *editor) hasLines() bool { return e.op == edit.Set || e.op == edit.Add }

// isEdit reports whether an operand is a line, path = value, also with a wrong value.
func isEdit(operand string) bool {
	_, value, err := text.CutLine(operand, nil)
	return err == nil || value != ""
}

// checkNames returns an error if the operands from index files on, the files, contain an edit.
func (e *editor) checkNames(f *shell.Flags, files int) error {
	if !e.hasLines() {
		return nil
	}
	last := len(f.Operands) - 1
	for i, name := range f.Operands[files:] {
		switch {
		case !isEdit(name):
		case !isThere(name):
			return fmt.Errorf("FILE is missing: %q is an edit", name)
		case files+i < last:
			return fmt.Errorf("%q is an edit and the name of a file: write ./%[1]s for the file, or one more space around = for the edit", name)
		}
	}
	return nil
}

// unquoted returns an error for an edit split into operands by a shell: hp = 5, or hp 5.
func (e *editor) unquoted() error {
	for i, line := range e.lines {
		if i == 0 || !e.hasLines() || isEdit(line) || isEdit(e.lines[i-1]) {
			continue
		}
		all := []string{e.lines[i-1], "=", line}
		switch op := strings.TrimLeft(line, "+-*/"); {
		case op == "=":
			all = e.lines[i-1 : min(i+2, len(e.lines))]
		case strings.HasPrefix(op, "="):
			all = e.lines[i-1 : i+1]
		default:
			if _, err := text.ParseValue(line); err != nil {
				all[2] = string(text.AppendQuoted(nil, line))
			}
		}
		return fmt.Errorf("an edit is one operand, in quotes: %s", text.Operand(strings.Join(all, " ")))
	}
	return nil
}

// isFile reports whether there is a file of this name, and no folder.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// isThere reports whether there is a file of this name.
func isThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// filesLast moves the files to the end if the last operand is none: people name the file first, too.
func filesLast(f *shell.Flags) {
	if last := f.File(); last != "-" && !isThere(last) {
		sortOperands(f, isThere)
	}
}

// sortOperands moves the operands that are files to the end.
func sortOperands(f *shell.Flags, isFile func(string) bool) {
	others := slices.DeleteFunc(slices.Clone(f.Operands), isFile)
	files := slices.DeleteFunc(f.Operands, func(name string) bool { return !isFile(name) })
	f.Operands = append(others, files...)
}

// withFileHint returns err. For an error about standard input, if the first operand is a file, the
// error says that the file must be the last operand.
func withFileHint(err error, name, first string) error {
	if err != nil && name == "" && isThere(first) {
		return fmt.Errorf("%w; the file %s must be the last operand", err, first)
	}
	return err
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
			err = edit.AddPath(tree, line)
		} else {
			_, err = edit.AddLine(tree, line, nil, e.op)
		}
		if err != nil {
			return nil, err
		}
	}
	return tree, nil
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
	if err := e.checkSecret(s, in); err != nil {
		return err
	}
	plan, err := e.plan(c, tree)
	if err != nil {
		return e.withHint(c, in.Choice(err))
	}
	if len(plan.Changes) == 0 {
		if !s.Several {
			s.Infof("nothing changed: %s contains these values already", in.Name)
		}
		if s.Keep() {
			return nil
		}
	}
	if err := e.checkChecksum(s, in, edit.Checksum(c, plan.Changed(tree))); err != nil {
		return err
	}
	out := s
	if s.DryRun { // errors of the bytes around the values, too
		dry := *s
		out, dry.Out = &dry, bufio.NewWriter(io.Discard)
	}
	err = e.open.Rewrite(out, in.Stack, in.Container(), in.Key(), func(w io.Writer) error {
		_, err := plan.WriteTo(w)
		return err
	})
	if err == nil {
		noteChanges(s, in.Name, plan)
	}
	return err
}

// checkSecret reports wrong checksums, and bytes that look like a checksum with a secret. For more than a few such
// bytes, set returns an error unless forced: a few can also be the name of a save.
func (e *editor) checkSecret(s *shell.Stdio, in *open.Input) error {
	for _, err := range in.Faults() {
		s.Infof("%v; it stays unless these are changed", err)
	}
	at, n := in.Secret()
	const name = 16
	switch text := fmt.Sprintf("%s: %d bytes at offset %d look like a checksum that cannot be computed, with a secret perhaps: the game may refuse the edited file", in.Name, n, at); {
	case n == 0:
	case n > name && e.op == edit.Set && !e.force:
		return fmt.Errorf("%s; -force writes it", text)
	default:
		s.Infof("%s", text)
	}
	return nil
}

// checkChecksum reports a checksum among the values. With one, set returns an error unless forced.
func (e *editor) checkChecksum(s *shell.Stdio, in *open.Input, checksum string) error {
	if checksum == "" {
		return nil
	}
	if e.op == edit.Set && !e.force {
		return fmt.Errorf("%s: %s; -force writes it", in.Name, checksum)
	}
	s.Infof("%s: %s", in.Name, checksum)
	return nil
}

// withHint returns an error of an edit, with a hint if there is one.
func (e *editor) withHint(c *save.Content, err error) error {
	var missing *text.NotFoundError
	end := e.appends(c, err)
	switch {
	case errors.As(err, &missing):
		hinted := edit.WithPlaces(c, err)
		if hinted == err && e.op == edit.Set && !missing.Similar && edit.CanAdd(c, missing.Path) {
			return fmt.Errorf("%w; gdwire add adds it", err)
		}
		return hinted
	case errors.As(err, new(*edit.ValueError)) && len(e.lines) > 0:
		return shell.Choicef("%w%s", err, end)
	case errors.As(err, new(*edit.ExistsError)) && e.op == edit.Add:
		return fmt.Errorf("%w; set changes it%s", err, end)
	case e.op == edit.Set, e.op == edit.Put:
		if err = edit.WithHint(err, "-force sets another type"); end != "" {
			return fmt.Errorf("%w%s", err, end)
		}
		return err
	}
	return edit.WithHint(err, "")
}

// appends returns the hint for the error of a value at the path of an array, which can be meant to get another element, or "".
func (e *editor) appends(c *save.Content, err error) string {
	var (
		wrong  *edit.TypeError
		exists *edit.ExistsError
		value  *edit.ValueError
		at, v  string
	)
	switch {
	case errors.As(err, &wrong) && strings.HasPrefix(wrong.Old, gdwire.TypeArray.String()):
		at, v = wrong.Path, wrong.Text
	case errors.As(err, &exists):
		at, v = exists.Path, exists.Text
	case errors.As(err, &value) && strings.HasPrefix(value.Err.Text, "+="):
		at, v = value.Path, value.Err.Text
	}
	if at == "" || !edit.CanAdd(c, at+"[+]") {
		return ""
	}
	if e.hasLines() {
		return "; to append, gdwire add " + text.Operand(at+"[+] = "+strings.TrimSpace(strings.TrimPrefix(v, "+=")))
	}
	return "; to append, " + text.Operand(at+"[+]")
}

// plan returns the plan of the edits in a tree.
func (e *editor) plan(c *save.Content, tree *text.Tree) (*edit.Plan, error) {
	switch e.op {
	case edit.Put:
		return edit.Copy(c, e.from, tree, e.force)
	case edit.Move:
		return edit.MoveTo(c, e.from, tree)
	}
	return edit.Edit(c, e.op, tree, e.exact)
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
