package edit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/text"
)

// Edits as people write them: path = value.

// AddPath adds a path to a tree.
func AddPath(tree *text.Tree, value string) error {
	p, err := WholePath(text.Parse(value))
	if err == nil {
		_, err = tree.Add(p, "")
	}
	return err
}

// AddLine adds a line, path = value, and returns the steps of the path, for the next line. An edit of old values reports
// a text that is no value, with the type of the old one.
func AddLine(tree *text.Tree, line string, steps []text.Step, op Op) ([]text.Step, error) {
	p, value, err := text.CutLine(line, steps)
	if op == Set && value != "" && value[0] != '=' {
		err = nil
	}
	if p, err = WholePath(p, err); err == nil {
		_, err = tree.Add(p, value)
	}
	return p.Steps, err
}

// WholePath returns an error for a path that ends in "…".
func WholePath(p text.Path, err error) (text.Path, error) {
	if err == nil && p.Cut {
		err = fmt.Errorf("%v is only the start of a path", p)
	}
	return p, err
}

// WithHint returns an error of an edit. The error of a value of another type is followed by how to write the value in the
// type of the old one, or by the other way.
func WithHint(err error, other string) error {
	var wrong *TypeError
	if !errors.As(err, &wrong) {
		return err
	}
	isText := func(t string) bool {
		return t == gdwire.TypeString.String() || t == gdwire.TypeStringName.String() || t == gdwire.TypeNodePath.String()
	}
	if wrong.In != "" {
		other = ""
	}
	var hints []string
	switch v, failed := text.ParseValue(wrong.Text); {
	case isText(wrong.Old) && !isText(wrong.New) && failed == nil && v.IsKey():
		hints = []string{fmt.Sprintf("text is in quotes: %s = %s", wrong.Path, text.AppendQuoted(nil, wrong.Text))}
	case wrong.Such != "":
		hints = []string{"write a value such as " + wrong.Such, other}
	default:
		hints = []string{other}
	}
	for _, hint := range hints {
		if hint != "" {
			err = fmt.Errorf("%w; %s", err, hint)
		}
	}
	return err
}

// MoveTo returns the plan for moving the value at a path to the only target of a tree, where no value is yet: a new key, [+], or
// [n], before which it is added. A pair or property that stays in its container keeps its place, and can be in one of several.
func MoveTo(c *save.Content, from text.Path, tree *text.Tree) (*Plan, error) {
	to, err := text.Parse(tree.Targets[0].String())
	last := len(to.Steps) - 1
	if last < 0 || len(from.Steps) == 0 || to.Steps[last].IsSeveral() || isIn(to.String(), from.String()) {
		return nil, cmp.Or(err, fmt.Errorf("%v cannot be moved to %v", from, to))
	}
	in, added := text.Path{Packet: to.Packet, Steps: to.Steps[:last]}.String(), to.Steps[last]
	return makePlan(c, func(c *save.Content, p *Plan) (*save.Content, error) {
		kind, err := kindAround(c, to)
		if err != nil {
			return nil, err
		}
		isArray := kind == gdwire.KindArrayStart || kind == gdwire.KindPackedStart
		through := isIn(from.String(), in)
		if through && len(from.Steps) == len(to.Steps) && !isArray && added.Op == text.Child && !from.Steps[last].IsSeveral() {
			e := &editor{content: c, op: Move, to: added.Key}
			return e.makeAt(from, p)
		}
		tree.Reset()
		e, err := copier(c, Add, from, tree)
		if err == nil {
			err = e.run(tree)
		}
		if c, err = e.edits(p, err); err != nil {
			return nil, err
		}
		gone := text.Path{Packet: from.Packet, Steps: slices.Clone(from.Steps)}
		if index := &gone.Steps[min(last, len(from.Steps)-1)].Key.Int; through && isArray {
			if *index < 0 || added.Key.Int < 0 {
				return nil, errors.New("indexes of elements that are moved count from the start")
			}
			if added.Op == text.Child && *index >= added.Key.Int { // it moved
				*index++
			}
		}
		return (&editor{content: c, op: Delete}).makeAt(gone, p)
	})
}

// kindAround returns the kind of the container that a path leads into.
func kindAround(c *save.Content, path text.Path) (kind gdwire.Kind, err error) {
	var tree text.Tree
	at, err := tree.Add(path, "")
	if err != nil {
		return 0, err
	}
	ResolveReals(c, &tree)
	err = Walk(c, &tree, &text.Walker{Leave: func(p *text.Node, in text.Container) error {
		if p == at.Parent() {
			kind = in.Kind
		}
		return nil
	}})
	return kind, err
}

// makeAt makes the edit at a path.
func (e *editor) makeAt(at text.Path, p *Plan) (*save.Content, error) {
	var tree text.Tree
	_, err := tree.Add(at, "")
	if err == nil {
		err = e.run(&tree)
	}
	return e.edits(p, err)
}
