package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gdwire/gdwire/internal/edit"
	"github.com/gdwire/gdwire/internal/input"
	"github.com/gdwire/gdwire/internal/paths"
)

// An editing holds the options of set, add, delete and copy.
type editing struct {
	op    edit.Op
	tree  *paths.Tree // nil if the lines come from standard input
	exact bool        // values keep the type that they are written with
	from  paths.Path  // of copy: the path of the source; the only path of tree is the target
}

// setCheck parses the edits of set on the command line, if there are any.
func setCheck(o *options) error { return linesCheck(o, edit.Set) }

// addCheck parses the edits of add on the command line, if there are any.
func addCheck(o *options) error { return linesCheck(o, edit.Add) }

// linesCheck parses operands of the form path = value.
func linesCheck(o *options, op edit.Op) error {
	o.edit.op = op
	lines, err := editCheck(o)
	if len(lines) == 0 {
		if err == nil && o.file() == "-" {
			err = errors.New("standard input cannot be both the file and the lines")
		}
		return err
	}
	for _, line := range lines {
		if err == nil {
			_, err = addLine(o.edit.tree, line, nil)
		}
	}
	return withOperandHint(o, err)
}

// editCheck returns the operands before the file.
func editCheck(o *options) ([]string, error) {
	o.writes = true
	all := o.operands[:len(o.operands)-1]
	if len(all) > 0 {
		o.edit.tree = &paths.Tree{}
	}
	return all, nil
}

// withOperandHint returns err. If the first operand is a file, it adds the hint that the file
// must be the last operand.
func withOperandHint(o *options, err error) error {
	if _, failed := os.Stat(o.operands[0]); err != nil && failed == nil {
		return fmt.Errorf("%w; the file %s must be the last operand", err, o.operands[0])
	}
	return err
}

// deleteCheck parses the paths of delete.
func deleteCheck(o *options) error {
	o.edit.op = edit.Delete
	all, err := editCheck(o)
	for _, text := range all {
		if err == nil {
			err = addPath(o.edit.tree, text)
		}
	}
	return withOperandHint(o, err)
}

// copyCheck parses the paths of copy.
func copyCheck(o *options) error {
	all, err := editCheck(o)
	if err == nil {
		o.edit.op = edit.Put
		if o.edit.from, err = wholePath(paths.Parse(all[0])); err == nil {
			err = addPath(o.edit.tree, all[1])
		}
	}
	return withOperandHint(o, err)
}

// addPath adds a path to a tree.
func addPath(tree *paths.Tree, text string) error {
	p, err := wholePath(paths.Parse(text))
	if err == nil {
		_, err = tree.Add(p, "")
	}
	return err
}

// addLine adds a line, path = value. It returns the steps of the path, for the next line.
func addLine(tree *paths.Tree, line string, steps []paths.Step) ([]paths.Step, error) {
	p, text, err := paths.CutLine(line, steps)
	if p, err = wholePath(p, err); err == nil {
		_, err = tree.Add(p, text)
	}
	return p.Steps, err
}

// wholePath returns an error for a path that ends in "…".
func wholePath(p paths.Path, err error) (paths.Path, error) {
	if err == nil && p.Cut {
		err = fmt.Errorf("%v is only the start of a path", p)
	}
	return p, err
}

// editFile edits values in a file and keeps all other bytes.
func editFile(s *stdio, o *options) error {
	if o.edit.tree == nil {
		o.edit.tree, o.edit.exact = &paths.Tree{}, true
		if err := readLines(s.in, o.edit.tree); err != nil {
			return err
		}
	}
	c, closer, err := s.openContent(o.file(), o)
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	var plan *edit.Plan
	if o.edit.op == edit.Put {
		plan, err = c.Copy(o.edit.from, o.edit.tree)
	} else {
		plan, err = c.Edit(o.edit.op, o.edit.tree, o.edit.exact)
	}
	if err != nil {
		return err
	}
	if len(plan.Changes) == 0 {
		s.infof(o, "nothing changed: %s contains these values already", input.DisplayName(o.file()))
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
func (s *stdio) noteChanges(o *options, plan *edit.Plan) {
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
