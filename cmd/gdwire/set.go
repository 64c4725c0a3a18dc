package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// An editing holds the options of set, add, delete and copy.
type editing struct {
	op    editOp
	lines []string  // on the command line: path = value, or path
	input []byte    // standard input for several files, which contains lines if there are no others
	exact bool      // values keep the type that they are written with, as with -force
	from  text.Path // of copy: the path of the source; lines is the target
}

// setFlags defines the flags of set.
func setFlags(fs *flag.FlagSet, o *options) {
	editsFlags(fs, o)
	fs.BoolVar(&o.edit.exact, "force", false, "replace values by values of another type")
}

// printValues prints how values are written, for the help.
func printValues(w io.Writer) {
	fmt.Fprint(w, `Values are written as in GDScript: 10, "text", Vector2(1, 2), [1, {"a": 2}]; += and -= change a number.
What get prints, in double quotes or as {"type": …}, is that value, too: "i:10", "s:text"; 's:text' is a text.
A value takes the type of the old one, as 2 becomes 2.0 for a float, or is refused. null takes any type, and
so does what is written with its type: i:10, f:2.5, b:true, s:text, sn:name, np:path. Lines from standard
input keep their types, as flat prints them.

`)
}

// setCheck parses the edits of set on the command line, if there are any.
func setCheck(o *options) error { return o.editCheck(opSet) }

// addCheck parses the edits of add on the command line, if there are any.
func addCheck(o *options) error { return o.editCheck(opAdd) }

// deleteCheck parses the paths of delete.
func deleteCheck(o *options) error { return o.editCheck(opDelete) }

// copyCheck parses the paths of copy.
func copyCheck(o *options) (err error) {
	if o.edit.from, err = wholePath(text.Parse(o.operands[0])); err != nil {
		return withOperandHint(o, err)
	}
	o.operands = o.operands[1:]
	return o.editCheck(opPut)
}

// editCheck parses the operands before the files.
func (o *options) editCheck(op editOp) error {
	o.writes = true
	o.edit.op = op
	files := o.firstFile()
	if err := o.checkNames(files); err != nil {
		return err
	}
	o.edit.lines = o.operands[:files]
	if len(o.edit.lines) == 0 {
		if o.edit.exact = true; o.file() == "-" {
			return errors.New("standard input cannot be both the file and the lines")
		}
		return nil
	}
	if _, err := o.edit.tree(nil); err != nil {
		return withOperandHint(o, err)
	}
	o.operands = o.operands[files:]
	return nil
}

// firstFile returns the index of the operand that is the first file to edit: the last one, or with
// -i the first one that is there.
func (o *options) firstFile() int {
	for i, name := range o.operands {
		if o.inPlace && (i > 0 || o.edit.hasLines()) && isThere(name) {
			return i
		}
	}
	return len(o.operands) - 1
}

// hasLines reports whether the edits are lines, path = value, and not paths.
func (e *editing) hasLines() bool { return e.op == opSet || e.op == opAdd }

// checkNames returns an error if the operands from index files on, the files, contain an edit.
func (o *options) checkNames(files int) error {
	if !o.edit.hasLines() {
		return nil
	}
	last := len(o.operands) - 1
	for i, name := range o.operands[files:] {
		_, value, err := text.CutLine(name, nil)
		isEdit := err == nil || value != "" // an edit with a wrong value is one
		switch {
		case !isEdit:
		case isThere(name):
			if err == nil && files+i < last {
				return fmt.Errorf("%q is an edit and the name of a file: write ./%[1]s for the file, or one more space around = for the edit", name)
			}
		case files == last:
			return withOperandHint(o, fmt.Errorf("FILE is missing: %q is an edit", name))
		default:
			return fmt.Errorf("%q is an edit, and edits precede the files", name)
		}
	}
	return nil
}

// isThere reports whether there is a file of this name.
func isThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// withOperandHint returns err. If the first operand is a file, it adds the hint that the file
// must be the last operand.
func withOperandHint(o *options, err error) error {
	if _, failed := os.Stat(o.operands[0]); err != nil && failed == nil {
		return fmt.Errorf("%w; the file %s must be the last operand", err, o.operands[0])
	}
	return err
}

// tree returns the paths and values of the lines on the command line, or else in r.
func (e *editing) tree(r io.Reader) (*text.Tree, error) {
	tree := &text.Tree{}
	if len(e.lines) == 0 {
		return tree, readLines(r, tree)
	}
	for _, line := range e.lines {
		var err error
		if e.op == opDelete || e.op == opPut {
			err = addPath(tree, line)
		} else {
			err = addOperand(tree, line)
		}
		if err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// tree returns the paths and values of an edit.
func (s *stdio) tree(o *options) (*text.Tree, error) {
	if len(o.edit.lines) > 0 || !o.several {
		return o.edit.tree(s.in)
	}
	return o.edit.tree(bytes.NewReader(o.edit.input))
}

// addPath adds a path to a tree.
func addPath(tree *text.Tree, value string) error {
	p, err := wholePath(text.Parse(value))
	if err == nil {
		_, err = tree.Add(p, "")
	}
	return err
}

// addLine adds a line, path = value. It returns the steps of the path, for the next line.
func addLine(tree *text.Tree, line string, steps []text.Step) ([]text.Step, error) {
	p, value, err := text.CutLine(line, steps)
	if p, err = wholePath(p, err); err == nil {
		_, err = tree.Add(p, value)
	}
	return p.Steps, err
}

// addOperand adds a line of the command line, whose value can be native JSON.
func addOperand(tree *text.Tree, line string) error {
	if p, value, err := text.SplitLine(line); err == nil {
		if value, ok := nativeValue(value); ok {
			if p, err = wholePath(p, nil); err == nil {
				_, err = tree.Add(p, value)
			}
			return err
		}
	}
	_, err := addLine(tree, line, nil)
	return err
}

// nativeFormats contains formats that know all types together.
var nativeFormats = []gdwire.Format{gdwire.Godot4, gdwire.Godot2}

// nativeValue returns the value of a text in native JSON, as get prints it, as the value of a line. Other
// texts that begin with a double quote, bracket or brace are no native JSON, but for numbers, texts and
// Dictionaries that look so, such as "s:text".
func nativeValue(value string) (string, bool) {
	if value == "" || strings.IndexByte(`"[{`, value[0]) < 0 {
		return "", false
	}
	for _, format := range nativeFormats {
		e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{Format: format, DoubleReals: true, Depth: text.MaxNesting})
		e.ResetBytes(nil)
		err := gdjson.FromJSON(e, strings.NewReader(value), gdjson.Options{AllowObjects: true})
		b := e.Bytes()
		_ = e.Close() // into memory
		if err != nil {
			continue
		}
		d := gdwire.NewDecoder(bytes.NewReader(b), &gdwire.DecoderOptions{Format: format, AllowObjects: true, Limits: gdwire.NoLimits})
		p := text.Printer{Decoder: d}
		err = p.Next(0)
		d.Release()
		return string(p.Buf), err == nil
	}
	return "", false
}

// wholePath returns an error for a path that ends in "…".
func wholePath(p text.Path, err error) (text.Path, error) {
	if err == nil && slices.ContainsFunc(p.Steps, func(s text.Step) bool { return s.Op == text.All }) {
		err = fmt.Errorf("%v leads to several values, which only get shows", p)
	}
	if err == nil && p.Cut {
		err = fmt.Errorf("%v is only the start of a path", p)
	}
	return p, err
}

// editFile edits values in a file and keeps all other bytes.
func editFile(s *stdio, o *options) error {
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // a million lines stay: less garbage beside them
	tree, err := s.tree(o)
	if err != nil {
		return err
	}
	c, closer, err := s.openContent(o.file(), o)
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	if err := checkZeros(save.DisplayName(o.file()), c, o); err != nil {
		return err
	}
	plan, err := o.edit.plan(c, tree)
	if isTypeError(err) {
		return fmt.Errorf("%w; -force sets another type", err)
	}
	if err != nil {
		return err
	}
	if len(plan.Changes) == 0 {
		if !o.several {
			s.infof(o, "nothing changed: %s contains these values already", save.DisplayName(o.file()))
		}
		if s.unchanged = s.replaces; s.unchanged {
			return nil
		}
	}
	err = s.writeContainer(o, func(w io.Writer) error {
		_, err := plan.WriteTo(w)
		return err
	})
	if err == nil {
		s.noteChanges(o, plan)
	}
	return err
}

// noteChanges adds a note for each change of a plan. Notes are shown when the output is complete.
func (s *stdio) noteChanges(o *options, plan *editPlan) {
	if o.quiet {
		return
	}
	for _, c := range plan.Changes {
		switch {
		case c.Was == "":
			s.noteAtEnd("%s: %s, was not there", c.Path, c.Text)
		case c.Text == "":
			s.noteAtEnd("%s: was %s, is not there", c.Path, c.Was)
		default:
			s.noteAtEnd("%s: %s, was %s", c.Path, c.Text, c.Was)
		}
	}
	if plan.More > 0 {
		s.noteAtEnd("and %d more", plan.More)
	}
}
