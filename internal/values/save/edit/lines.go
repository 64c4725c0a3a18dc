package edit

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
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

// WholePath returns an error for a path to several values, or one that ends in "…".
func WholePath(p text.Path, err error) (text.Path, error) {
	if err == nil && slices.ContainsFunc(p.Steps, func(s text.Step) bool { return s.Op == text.All }) {
		err = fmt.Errorf("%v leads to several values, which only get shows", p)
	}
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
