package saves

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/edit"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/variant"
)

// Compare compares two files of a page as diff does.
func Compare(ctx context.Context, before, after *view.Source, yield func(view.Change) bool) (note string, err error) {
	var sides [2]*side
	for i, source := range []*view.Source{before, after} {
		one := &side{name: source.Name, r: source.ReaderAt(), size: source.Size, maxMemory: maxCompared}
		one.reading = save.Reading{Decoder: source.Options, Frame: source.Frame, MaxPacket: math.MaxUint32}
		one.reading.Decoder.Format, one.reading.Decoder.AllowObjects = source.Format, true
		sides[i] = one
	}
	cut := func(value []byte) string { return shell.Cut(string(value), shell.PlainWidth) }
	c := comparer{
		show: (*side).text,
		differ: func(d *difference) error {
			change := view.Change{Path: d.Path, At: d.place, From: d.OldPath, Old: cut(d.Old), New: cut(d.New)}
			if ctx.Err() != nil || !yield(change) {
				return errLoopEnded
			}
			return nil
		},
		byPosition: func(int64) { note = "large files are compared by position" },
	}
	if max(sides[0].size, sides[1].size) > maxAligned {
		c.byPosition(0)
		err = c.leaves(sides[0], sides[1], 0)
	} else {
		err = c.compare(sides[0], sides[1])
	}
	if err == errLoopEnded {
		err = ctx.Err()
	}
	return note, err
}

// ops contains the edits of a page.
var ops = map[string]edit.Op{"set": edit.Set, "add": edit.Add, "delete": edit.Delete}

// Apply makes an edit of a page like the command of its name.
func Apply(c *save.Content, e view.Edit) (*save.Content, []view.Change, error) {
	op, ok := ops[e.Op]
	if !ok {
		return nil, nil, fmt.Errorf("there is no edit %q", e.Op)
	}
	tree := &text.Tree{}
	var err error
	if op == edit.Delete {
		err = addPath(tree, e.Line)
	} else {
		_, err = addLine(tree, e.Line, nil, op)
	}
	var plan *edit.Plan
	if err == nil {
		plan, err = edit.Edit(c, op, tree, false)
	}
	if wrong := (*text.SyntaxError)(nil); errors.As(err, &wrong) && !errors.As(err, new(*edit.ValueError)) { // the page shows the line
		err = errors.New(wrong.Reason)
	} else if ambiguous := (*save.AmbiguousError)(nil); errors.As(err, &ambiguous) {
		err = fmt.Errorf("the file %w", ambiguous)
	}
	if err != nil {
		return nil, nil, withValueHint(err, "")
	}
	var changes []view.Change
	for _, c := range plan.Changes {
		changes = append(changes, view.Change{Path: c.Path, Old: shell.Cut(c.Was, shell.PlainWidth), New: shell.Cut(c.Text, shell.PlainWidth)})
	}
	return plan.Content(), changes, nil
}

// Question returns what a page asks before a value is set or added: whether a new key is meant that is of another type than
// all other keys of its Dictionary, and whether the file is edited although it contains a checksum. It returns "" if there is
// nothing to ask.
func Question(c *save.Content, e view.Edit) string {
	op, ok := ops[e.Op]
	if !ok || op == edit.Delete {
		return ""
	}
	var tree text.Tree
	if _, err := addLine(&tree, e.Line, nil, op); err != nil {
		return ""
	}
	question := edit.Checksum(c, edit.Targets(&tree))
	if question != "" {
		question += "."
	}
	if op == edit.Add {
		question = cmp.Or(otherKeys(c, &tree), question)
	}
	return question
}

// otherKeys returns a question about the key of a value to add, or "".
func otherKeys(c *save.Content, tree *text.Tree) string {
	added := tree.Targets[0]
	var others []string
	key := added.Step().Key
	walker := &text.Walker{
		KeyType: func(in *text.Node, t gdwire.Type) {
			if name := t.String(); in == added.Parent() && !slices.Contains(others, name) {
				others = append(others, name)
			}
		},
		Leave: func(in *text.Node, c text.Container) error {
			if fit, ok := key.FitElem(c.Key); ok && in == added.Parent() {
				key = fit
			}
			return nil
		},
	}
	if err := edit.Walk(c, tree, walker); err != nil || len(others) == 0 || slices.Contains(others, key.Type.String()) {
		return ""
	}
	return fmt.Sprintf("The other keys are of type %s, and %v is of type %v.", strings.Join(others, " or "), &key, key.Type)
}

// placeOf returns the path of a removed value as if only its containers had moved since, or "" if
// the path stays.
func placeOf(c *variant.Change) string {
	p, err := text.Parse(c.OldPath)
	if n := len(p.Steps); err == nil && n > 0 {
		if place := string(p.Steps[n-1].Append([]byte(c.NewPath))); place != c.OldPath {
			return place
		}
	}
	return ""
}

// maxAligned is the size in bytes of the largest file compared by the page with aligned elements.
// Tests change it.
var maxAligned = int64(save.MaxVersion)

// maxCompared is the maximum memory in bytes for the values of each of two files compared as trees.
const maxCompared = 256 << 20
