package edit

import (
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// A Request is one of several edits: Put or Delete.
type Request struct {
	Op    Op
	Path  text.Path
	Value *Value // of Put
}

// Apply returns the content after edits in their order. It reads the content once for as many of
// them as do not depend on each other.
func Apply(c *save.Content, all []Request) (*save.Content, error) {
	return c.Edit(func(c *save.Content) (*save.Content, error) { return apply(c, all) })
}

func apply(c *save.Content, all []Request) (*save.Content, error) {
	for len(all) > 0 {
		n := independent(all)
		next, err := applyAll(c, all[:n])
		if err != nil {
			return nil, err
		}
		c, all = next, all[n:]
	}
	return c, nil
}

// independent returns the number of requests at the start of all that can be made at once: the result,
// if there is one, is the same as if they were made one after the other.
func independent(all []Request) int {
	for i := range all {
		if all[i].Op != all[0].Op || !all[i].isIndependent() {
			return max(i, 1)
		}
	}
	return len(all)
}

// isIndependent reports whether the path leads to the same value after other independent requests of
// the same kind. Deleting an element moves those after it, and adding one those that are counted from the end; a
// pair can have several paths by its number, and if its key is a StringName.
func (r *Request) isIndependent() bool {
	for i := range r.Path.Steps {
		s := &r.Path.Steps[i]
		isIndex, last := s.Key.Type == gdwire.TypeInt, i == len(r.Path.Steps)-1
		switch {
		case s.Op != text.Child && s.Op != text.End, s.Key.Type == gdwire.TypeStringName,
			isIndex && (s.Key.Int < 0 || last && r.Op == Delete):
			return false
		}
	}
	return true
}

// applyAll makes independent requests at once. If that fails, because one is in the value of
// another or for any other reason, it makes those of the first half before the others.
func applyAll(c *save.Content, all []Request) (*save.Content, error) {
	next, err := applyOnce(c, all)
	if err == nil || len(all) == 1 {
		return next, err
	}
	half := len(all) / 2
	if c, err = applyAll(c, all[:half]); err != nil {
		return nil, err
	}
	return applyAll(c, all[half:])
}

// applyOnce makes requests of the same kind in one walk.
func applyOnce(c *save.Content, all []Request) (*save.Content, error) {
	var tree text.Tree
	values := make([]*Value, len(all))
	for i := range all {
		if _, err := tree.Add(all[i].Path, ""); err != nil {
			return nil, err
		}
		values[i] = all[i].Value
	}
	e := &editor{content: c, op: all[0].Op, source: ofGo(values)}
	err := e.run(&tree)
	if err != nil {
		return nil, err
	}
	return c.Edited(e.edited, e.edited.size), nil
}
