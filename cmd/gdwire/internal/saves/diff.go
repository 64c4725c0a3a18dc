package saves

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/gdwire/gdwire/variant"
)

// A side is one of two files.
type side struct {
	name string
	r    io.ReaderAt
	size int64

	reading   save.Reading
	maxMemory int64                     // in bytes, for the values
	progress  func(io.Reader) io.Reader // shows how much was read, if not nil
}

// reader returns a Reader of the file.
func (f *side) reader() io.Reader {
	var r io.Reader = io.NewSectionReader(f.r, 0, f.size)
	if f.progress != nil {
		r = f.progress(r)
	}
	return r
}

// packets returns a function returning the next packet, or nil after the last.
func (f *side) packets() (next func() *save.Packet, stop func()) {
	pull, stop := iter.Pull(open.Packets(&f.reading, f.reader()))
	return func() *save.Packet {
		p, _ := pull()
		return p
	}, stop
}

// A comparer calls its functions for each difference between two files: in two trees or, where trees
// would need too much memory, between two leaves.
type comparer struct {
	show       func(f *side, v any) ([]byte, error) // returns a value in a tree of a file as text
	differ     func(d *difference) error
	byPosition func(limit int64) // called before the first leaves
}

// A difference is a line of diff -json. The values are text as of show, or nil if there is none.
type difference struct {
	Path    string          `json:"path"`              // in the second file, or in the first if the value was removed
	OldPath string          `json:"oldPath,omitempty"` // in the first file, if different
	Old     json.RawMessage `json:"old,omitempty"`
	New     json.RawMessage `json:"new,omitempty"`
	Leaf    bool            `json:"leaf,omitempty"` // old and new are text, as in flat

	place string // of a removed value: where it would be now, as far as only its containers have moved, or ""
}

// change reports a difference between two trees.
func (c *comparer) change(a, b *side, change *variant.Change) (err error) {
	d := difference{Path: change.NewPath}
	switch {
	case change.Removed:
		d.Path, d.place = change.OldPath, placeOf(change)
	case !change.Added && change.OldPath != change.NewPath:
		d.OldPath = change.OldPath
	}
	if !change.Added {
		d.Old, err = c.show(a, change.Old)
	}
	if !change.Removed && err == nil {
		d.New, err = c.show(b, change.New)
	}
	return cmp.Or(err, c.differ(&d))
}

// leaf reports a difference between two leaves, one of which can be nil.
func (c *comparer) leaf(old, value *leaf) error {
	d := difference{Leaf: true}
	if old != nil {
		d.Path, d.Old = old.path, []byte(old.text)
	}
	if value != nil {
		d.Path, d.New = value.path, []byte(value.text)
	}
	return c.differ(&d)
}

// compare compares two files.
func (c *comparer) compare(a, b *side) error {
	large := a.large()
	if large > 0 {
		large = min(large, b.large())
	}
	at, err := c.trees(a, b, large)
	if limit := (*gdwire.LimitError)(nil); errors.As(err, &limit) && limit.Name == maxMemory {
		c.byPosition(limit.Max)
		err = c.leaves(a, b, at)
	}
	return err
}

// maxMemory is the name of the limit of the memory of trees.
const maxMemory = "MaxMemory"

// memory returns the limit in bytes.
func (f *side) memory() int64 {
	const standard = 256 << 20
	return cmp.Or(f.maxMemory, standard)
}

// large returns the number of the first packet too large for the limit as a tree, by the least memory needed for its
// tokens: decoding would take as much memory to find the packet. If there is none, or after an error, large returns
// math.MaxInt64. A small file is not read.
func (f *side) large() int64 {
	const small = 4 // as a part of the limit
	if limit := f.memory(); limit >= 0 && f.size > limit/small {
		for p := range open.Packets(&f.reading, io.NewSectionReader(f.r, 0, f.size)) {
			n := int64(0)
			for t, err := range p.AllTokens {
				if n += leastMemory(t); err != nil {
					return math.MaxInt64
				} else if n > limit {
					return p.Index
				}
			}
		}
	}
	return math.MaxInt64
}

// leastMemory returns the least memory needed for a token in a tree, in bytes.
func leastMemory(t gdwire.Token) (n int64) {
	const word, array, dictionary = 16, 64, 128 // bytes of an interface or header, and of empty containers
	if t.IsValue() {
		n = word
	}
	switch t.Kind() {
	case gdwire.KindArrayStart:
		return n + array
	case gdwire.KindDictStart:
		return n + dictionary
	case gdwire.KindInt32, gdwire.KindInt64, gdwire.KindFloat32, gdwire.KindFloat64:
		return n + word
	}
	return n + int64(len(t.Bytes()))
}

// value returns the value of a packet as a tree.
func (f *side) value(p *save.Packet) (v any, err error) {
	if err = p.Err; err == nil {
		err = variant.UnmarshalDecode(p.Decoder, &v, variant.Options{MaxMemory: f.maxMemory})
		err = p.Finish(err)
	}
	if err != nil {
		err = shell.Prefixed(f.name, err)
	}
	return v, err
}

// trees compares the values of two files, each pair in memory, up to the packet large. After an error, trees returns the
// number of the packet.
func (c *comparer) trees(a, b *side, large int64) (packet int64, err error) {
	nextA, stopA := a.packets()
	defer stopA()
	nextB, stopB := b.packets()
	defer stopB()
	for i := int64(0); ; i++ {
		if i == large {
			return i, &gdwire.LimitError{Name: maxMemory, Max: a.memory()}
		}
		p, q := nextA(), nextB()
		if p == nil && q == nil {
			return i, nil
		}
		var old, value any
		if p != nil {
			if old, err = a.value(p); err != nil {
				return i, err
			}
		}
		if q != nil {
			if value, err = b.value(q); err != nil {
				return i, err
			}
		}
		path := string(text.AppendPacket(nil, i))
		if p == nil || q == nil {
			err = c.change(a, b, &variant.Change{OldPath: path, NewPath: path, Old: old, New: value, Added: p == nil, Removed: q == nil})
		} else {
			for change := range variant.Diff(old, value) {
				change.OldPath = path + strings.TrimPrefix(change.OldPath, "$")
				change.NewPath = path + strings.TrimPrefix(change.NewPath, "$")
				if err = c.change(a, b, &change); err != nil {
					break
				}
			}
		}
		if err != nil {
			return i, err
		}
	}
}

// treeOptions selects a lossless encoding of trees.
var treeOptions = variant.Options{
	Encoder: gdwire.EncoderOptions{AllowInvalidUTF8: true, DoubleReals: true, Depth: -1},
}

// decodeTree calls read with a Decoder of a value in a tree of the file, encoded in the format of the file.
func (f *side) decodeTree(v any, read func(d *gdwire.Decoder) error) error {
	o := treeOptions
	o.Encoder.Format = f.reading.Decoder.Format
	data, err := variant.Marshal(v, o)
	if err != nil {
		return err
	}
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{
		Format: o.Encoder.Format, AllowObjects: true, AllowInvalidUTF8: true, DoubleReals: o.Encoder.DoubleReals, Limits: gdwire.NoLimits,
	})
	defer d.Release()
	d.ResetBytes(data)
	return read(d)
}

// json returns a value in a tree of the file as Godot's native JSON.
func (f *side) json(v any) ([]byte, error) {
	var value bytes.Buffer
	err := f.decodeTree(v, func(d *gdwire.Decoder) error {
		return gdjson.ToJSON(&value, d, gdjson.Options{EscapeForTerminal: true})
	})
	return value.Bytes(), err
}

// text returns a value in a tree of the file as text.
func (f *side) text(v any) ([]byte, error) {
	p := text.Printer{Short: true}
	err := f.decodeTree(v, func(d *gdwire.Decoder) error {
		p.Decoder = d
		return p.Next(0)
	})
	return p.Buf, err
}

// leaves compares two files leaf by leaf, from a packet on.
func (c *comparer) leaves(a, b *side, packet int64) error {
	seed := maphash.MakeSeed()
	nextA, stopA := iter.Pull2(a.lines(packet, seed))
	defer stopA()
	nextB, stopB := iter.Pull2(b.lines(packet, seed))
	defer stopB()
	x, y := leafQueue{next: nextA, at: map[string]int{}}, leafQueue{next: nextB, at: map[string]int{}}
	for {
		p, q := x.peek(), y.peek()
		if err := cmp.Or(x.err, y.err); err != nil {
			return err
		}
		var err error
		switch {
		case p == nil && q == nil:
			return nil
		case p != nil && q != nil && p.path == q.path:
			if *p != *q {
				err = c.leaf(p, q)
			}
			x.drop()
			y.drop()
		case q == nil || p != nil && y.distance(p.path) >= x.distance(q.path):
			err = c.leaf(p, nil)
			x.drop()
		default:
			err = c.leaf(nil, q)
			y.drop()
		}
		if err != nil {
			return err
		}
	}
}

// A leaf is a line of flat.
type leaf struct {
	path, text string // text is cut after maxLeafText bytes
	sum        uint64 // of the whole text
}

// The bounds of memory for each file compared leaf by leaf.
const (
	maxLeafText  = 4 << 10
	maxLookahead = 1000 // leaves read to find one at the same path
)

// lines iterates over the leaves of a file from a packet on, as shown by flat.
func (f *side) lines(from int64, seed maphash.Seed) iter.Seq2[*leaf, error] {
	return func(yield func(*leaf, error) bool) {
		ended := false // yield returned false
		w := &shell.LineWriter{Most: open.MaxPath + maxLeafText}
		w.Sum.SetSeed(seed)
		w.Line = func(line string) error {
			l := &leaf{sum: w.Sum.Sum64()}
			l.path, l.text = open.SplitLine(line)
			if ended = !yield(l, nil); ended {
				return errLoopEnded
			}
			return nil
		}
		s := shell.Capture(w)
		v := open.NewFlatPrinter(s, nil)
		for p := range open.Packets(&f.reading, f.reader()) {
			var err error
			if p.Index < from {
				err = skip(p)
			} else {
				err = cmp.Or(v.Show(p), s.Out.Flush())
			}
			if ended {
				return
			}
			if err != nil {
				yield(nil, shell.Prefixed(f.name, err))
				return
			}
		}
	}
}

// errLoopEnded ends the printer of lines that nobody reads.
var errLoopEnded = errors.New("the loop has ended")

// A leafQueue contains the next leaves of a file.
type leafQueue struct {
	next  func() (*leaf, error, bool)
	all   []*leaf
	first int            // the number of the first leaf
	at    map[string]int // the number of the latest leaf at each path
	err   error
}

// fill reads leaves until there are n or no more follow.
func (q *leafQueue) fill(n int) {
	for q.err == nil && len(q.all) < n {
		l, err, ok := q.next()
		if q.err = err; !ok || err != nil {
			return
		}
		q.at[l.path] = q.first + len(q.all)
		q.all = append(q.all, l)
	}
}

// peek returns the next leaf, or nil if there is none.
func (q *leafQueue) peek() *leaf {
	q.fill(1)
	if len(q.all) == 0 {
		return nil
	}
	return q.all[0]
}

// drop drops the next leaf.
func (q *leafQueue) drop() {
	if path := q.all[0].path; q.at[path] == q.first {
		delete(q.at, path)
	}
	q.all = q.all[1:]
	q.first++
}

// distance returns the number of leaves before the leaf at a path, or maxLookahead if the leaf is not near.
func (q *leafQueue) distance(path string) int {
	q.fill(maxLookahead)
	if n, ok := q.at[path]; ok {
		return n - q.first
	}
	return maxLookahead
}

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
	json       *json.Encoder
	old, value *side
	found      bool
}

// run shows the differences between two files.
func (v *differ) run(s *shell.Stdio, names []string) error {
	v.Stdio, v.json = s, json.NewEncoder(s.Out)
	v.json.SetEscapeHTML(false)
	var sides [2]*side
	for i, name := range names {
		in, content, err := v.open.OpenContent(s, name)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		if err := in.CheckZeros(content); err != nil {
			return err
		}
		sides[i] = &side{name: in.Name, r: content, size: content.Size, reading: in.Reading, maxMemory: v.maxMemory}
		v.open.Keys.Use(in.Key()) // probably also the key of the second file
	}
	v.old, v.value = sides[0], sides[1]
	v.showProgress()
	defer s.Clear()
	c := comparer{show: (*side).text, differ: v.show, byPosition: func(limit int64) {
		s.Logf("the values need more memory than %s: from here on they are compared by position, without aligning elements; -max-memory raises the limit",
			humanize.IBytes(uint64(limit)))
		v.showProgress() // from the start of both files
	}}
	if v.lines {
		c.show = (*side).json
	}
	err := c.compare(sides[0], sides[1])
	if err == nil && v.found {
		err = shell.ErrBad
	}
	return err
}

// showProgress shows the progress of reading both files from here on.
func (v *differ) showProgress() {
	progress := v.ProgressOf(v.old.size + v.value.size)
	v.old.progress, v.value.progress = progress, progress
}

// show shows a difference.
func (v *differ) show(line *difference) (err error) {
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
