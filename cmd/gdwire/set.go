package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gdwire/gdwire/internal/edit"
	"github.com/gdwire/gdwire/internal/paths"
)

// An editing is what set, add, delete and copy do.
type editing struct {
	op    edit.Op
	tree  *paths.Tree // nil if the lines come from standard input
	exact bool        // values keep the type that they are written with
	from  paths.Path  // of copy, and the only path of tree is its target
}

// setCheck parses the edits on the command line, if there are some.
func setCheck(o *options) error { return linesCheck(o, edit.Set) }

// addCheck is setCheck for add.
func addCheck(o *options) error { return linesCheck(o, edit.Add) }

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
	return swapped(o, err)
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

// swapped adds to an error that the file is the last operand, if the first one is a file.
func swapped(o *options, err error) error {
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
	return swapped(o, err)
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
	return swapped(o, err)
}

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
func editFile(s *screen, o *options) error {
	if o.edit.tree == nil {
		o.edit.tree, o.edit.exact = &paths.Tree{}, true
		if err := readLines(s.in, o.edit.tree); err != nil {
			return err
		}
	}
	c, closer, err := s.content(o.file(), o)
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
	err = s.seal(o, func(w io.Writer) error {
		_, err := plan.WriteTo(w)
		return err
	})
	if err == nil {
		s.noteChanges(o, plan)
	}
	return err
}

// noteChanges notes the changes of a plan, which are shown when the output is complete.
func (s *screen) noteChanges(o *options, plan *edit.Plan) {
	if o.quiet {
		return
	}
	for _, c := range plan.Changes {
		switch {
		case c.Was == "":
			s.later("%s: %s, was not there", c.Path, c.Text)
		case c.Text == "":
			s.later("%s: was %s, is not there", c.Path, c.Was)
		default:
			s.later("%s: %s, was %s", c.Path, c.Text, c.Was)
		}
	}
	if plan.More > 0 {
		s.later("and %d more", plan.More)
	}
}
