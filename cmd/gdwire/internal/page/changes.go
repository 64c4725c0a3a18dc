package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/compare"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/text"
)

// An Edit is an edit requested by the page, in the words of the command of the same name.
type Edit struct {
	Op   string `json:"op"`   // set, add or delete
	Line string `json:"line"` // path = value, or the path to delete

	with bool // made with the edit before, or not at all
}

// A Change is a difference between two Sources.
type Change struct {
	Path string `json:"path"`           // in the newer Source, or in the older if the value is gone
	At   string `json:"at,omitempty"`   // the place in the newer Source, if not Path
	From string `json:"from,omitempty"` // the path in the older Source, if not Path
	Old  string `json:"old"`            // as text, perhaps cut; "" if the value was added
	New  string `json:"new"`            // "" if the value is gone
}

// errLoopEnded ends a comparison that nobody reads.
var errLoopEnded = errors.New("the loop has ended")

// compareSources compares two versions as diff does, until yield returns false. note says how they were compared, if not element by
// element.
func compareSources(ctx context.Context, before, after *Source, yield func(Change) bool) (note string, err error) {
	var files [2]*compare.File
	for i, source := range []*Source{before, after} {
		r := &save.Reading{Decoder: source.Options, Frame: source.Frame}
		r.Decoder.Format, r.Decoder.AllowObjects, r.Decoder.OneValue = source.Format, true, false
		content := save.NewContent(&wantedAt{source.ReaderAt(), ctx}, source.Size, r)
		files[i] = &compare.File{ReaderAt: content, Name: source.Name, Size: source.Size, Packets: compare.Packets(content), Reading: r}
	}
	c := compare.Comparer{
		Show: (*compare.File).Text,
		Differ: func(d *compare.Difference) error {
			change := Change{Path: d.Path, At: d.Place, From: d.OldPath, Old: short(d.Old), New: short(d.New)}
			if ctx.Err() != nil || !yield(change) {
				return errLoopEnded
			}
			return nil
		},
		ByPosition: func(int64) { note = "large files are compared by position" },
	}
	if max(before.Size, after.Size) > maxAligned {
		c.ByPosition(0)
		err = c.Leaves(files[0], files[1], 0)
	} else {
		err = c.Compare(files[0], files[1])
	}
	if err == errLoopEnded {
		err = ctx.Err()
	}
	return note, err
}

// ops contains the edits of a
var ops = map[string]edit.Op{"set": edit.Set, "add": edit.Add, "delete": edit.Delete}

// applyEdit makes an edit of c like the command of its name, and returns the content after it and the changes: none if c contains
// these values already.
func applyEdit(c *save.Content, e Edit) (*save.Content, []Change, error) {
	op, ok := ops[e.Op]
	if !ok {
		return nil, nil, fmt.Errorf("there is no edit %q", e.Op)
	}
	tree := &text.Tree{}
	var err error
	if op == edit.Delete {
		err = edit.AddPath(tree, e.Line, op)
	} else {
		_, err = edit.AddLine(tree, e.Line, nil, op)
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
		return nil, nil, fmt.Errorf("%w%s", err, edit.Hint(c, err, ""))
	}
	var changes []Change
	for _, c := range plan.Changes {
		changes = append(changes, Change{Path: c.Path, Old: short([]byte(c.Was)), New: short([]byte(c.Text))})
	}
	return plan.Content(), changes, nil
}

// question returns what is asked before a value is set or added: whether a new key is meant that is of another type than
// all other keys of its Dictionary, and whether the file is edited although it contains a checksum. It returns "" if there is
// nothing to ask.
func question(c *save.Content, e Edit) string {
	op, ok := ops[e.Op]
	if !ok || op == edit.Delete {
		return ""
	}
	var tree text.Tree
	if _, err := edit.AddLine(&tree, e.Line, nil, op); err != nil {
		return ""
	}
	text := edit.Checksum(c, edit.Targets(&tree))
	if text != "" {
		text += "."
	}
	if op == edit.Add {
		text = cmp.Or(otherKeys(c, &tree), text)
	}
	return text
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

// A wantedAt reads until a request is done.
type wantedAt struct {
	io.ReaderAt
	ctx context.Context
}

func (r *wantedAt) ReadAt(p []byte, off int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReaderAt.ReadAt(p, off)
}

// maxAligned is the size in bytes of the largest file compared by the page with aligned elements.
// Tests change it.
var maxAligned = int64(save.MaxVersion)

// short returns text, or the beginning of a long one.
func short(text []byte) string {
	if len(text) <= maxPreview {
		return string(text)
	}
	return string(cutText(text)) + "…"
}
