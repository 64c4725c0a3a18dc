package saves

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/page"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/values/compare"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/text"
)

// Diff defines the flags of diff.
func Diff(f *shell.Flags) shell.Action {
	v := &differ{}
	v.open.ReadFlags(f, true)
	f.OutputFlag()
	f.BoolVar(&v.lines, "json", false, "a line of JSON for each difference")
	f.Size("max-memory", "at most `N` bytes of memory for the values of each file; larger files are compared by position [256 MiB]", func(n int64) { v.maxMemory = n })
	return shell.Action{
		Check: func() error {
			if save.IsStdin(f.Operands[0]) && save.IsStdin(f.Operands[1]) {
				return errors.New("standard input is only one file: name the other")
			}
			return nil
		},
		Run: func(s *shell.Stdio) error { return v.run(s, f.Operands) },
	}
}

// A differ shows the differences between two files.
type differ struct {
	open      open.Flags
	lines     bool // -json
	maxMemory int64

	*shell.Stdio
	json     *json.Encoder
	progress func(io.Reader) io.Reader // of both files, if not nil
	found    bool
}

// run shows the differences between two files.
func (v *differ) run(s *shell.Stdio, names []string) error {
	v.Stdio, v.json = s, json.NewEncoder(s.Out)
	v.json.SetEscapeHTML(false)
	var files [2]*compare.File
	for i, name := range names {
		in, content, err := v.open.OpenContent(s, name)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		if err := in.CheckZeros(content); err != nil {
			return err
		}
		files[i] = v.file(in, content)
		v.open.Keys.Use(in.Key()) // probably also the key of the second file
	}
	defer s.Clear()
	c := compare.Comparer{Show: (*compare.File).Text, Differ: v.show, Start: func() { v.progress = s.ProgressOf(files[0].Size + files[1].Size) }}
	c.ByPosition = func(limit int64) {
		s.Logf("the values need more memory than %s: from here on they are compared by position, without aligning elements; -max-memory raises the limit",
			humanize.IBytes(uint64(limit)))
	}
	if v.lines {
		c.Show = showJSON
	}
	err := c.Compare(files[0], files[1])
	if err == nil && v.found {
		err = shell.ErrBad
	}
	return err
}

// file returns one of the compared files.
func (v *differ) file(in *open.Input, content *save.Content) *compare.File {
	f := &compare.File{Name: in.Name, Size: content.Size, Reading: &in.Reading, MaxMemory: v.maxMemory}
	f.Packets = func(yield func(*save.Packet) bool) {
		var r io.Reader = io.NewSectionReader(content, 0, content.Size)
		if v.progress != nil {
			r = v.progress(r)
		}
		open.Packets(&in.Reading, r)(yield)
	}
	return f
}

// showJSON returns a value in a tree of a file as Godot's native JSON.
func showJSON(f *compare.File, v any) ([]byte, error) {
	var value bytes.Buffer
	err := f.DecodeTree(v, func(d *gdwire.Decoder) error {
		return gdjson.ToJSON(&value, d, gdjson.Options{EscapeForTerminal: true})
	})
	return value.Bytes(), err
}

// show shows a difference.
func (v *differ) show(line *compare.Difference) (err error) {
	v.found = true
	if v.lines {
		for _, one := range []*json.RawMessage{&line.Old, &line.New} {
			if line.Leaf && *one != nil && err == nil {
				*one, err = json.Marshal(string(*one))
			}
		}
		return cmp.Or(err, v.json.Encode(line))
	}
	path := line.Path
	if line.OldPath != "" {
		path = line.OldPath + " -> " + path
	}
	text := func(value []byte) string { return shell.Cut(cmp.Or(string(value), "not there"), shell.PlainWidth) }
	_, err = fmt.Fprintf(v.Out, "%s: %s -> %s\n", shell.Printable(path), v.Colors.Bad.Sprint(text(line.Old)), v.Colors.Good.Sprint(text(line.New)))
	return err
}

// errLoopEnded ends a comparison that nobody reads.
var errLoopEnded = errors.New("the loop has ended")

// Compare compares two files of a page as diff does.
func Compare(ctx context.Context, before, after *page.Source, yield func(page.Change) bool) (note string, err error) {
	var files [2]*compare.File
	for i, source := range []*page.Source{before, after} {
		r := &save.Reading{Decoder: source.Options, Frame: source.Frame}
		r.Decoder.Format, r.Decoder.AllowObjects, r.Decoder.OneValue = source.Format, true, false
		content := save.NewContent(source.ReaderAt(), source.Size, r)
		files[i] = &compare.File{Name: source.Name, Size: source.Size, Packets: compare.Packets(content), Reading: r}
	}
	cut := func(value []byte) string { return shell.Cut(string(value), shell.PlainWidth) }
	c := compare.Comparer{
		Show: (*compare.File).Text,
		Differ: func(d *compare.Difference) error {
			change := page.Change{Path: d.Path, At: d.Place, From: d.OldPath, Old: cut(d.Old), New: cut(d.New)}
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

// ops contains the edits of a page.
var ops = map[string]edit.Op{"set": edit.Set, "add": edit.Add, "delete": edit.Delete}

// Apply makes an edit of a page like the command of its name.
func Apply(c *save.Content, e page.Edit) (*save.Content, []page.Change, error) {
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
	var changes []page.Change
	for _, c := range plan.Changes {
		changes = append(changes, page.Change{Path: c.Path, Old: shell.Cut(c.Was, shell.PlainWidth), New: shell.Cut(c.Text, shell.PlainWidth)})
	}
	return plan.Content(), changes, nil
}

// Question returns what a page asks before a value is set or added: whether a new key is meant that is of another type than
// all other keys of its Dictionary, and whether the file is edited although it contains a checksum. It returns "" if there is
// nothing to ask.
func Question(c *save.Content, e page.Edit) string {
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

// maxAligned is the size in bytes of the largest file compared by the page with aligned elements.
// Tests change it.
var maxAligned = int64(save.MaxVersion)
