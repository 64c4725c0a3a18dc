package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/variant"
)

func diffFlags(fs *flag.FlagSet, o *options) {
	outputFlag(fs, o)
	fs.BoolVar(&o.lines, "json", false, "a line of JSON for each difference")
	sizeFlag(fs, "max-memory", "at most `N` bytes of memory for the values of each file; larger files are compared by position [256 MiB]", func(n int64) { o.maxMemory = n })
}

// diffCheck checks the operands of diff.
func diffCheck(o *options) error {
	if save.IsStdin(o.operands[0]) && save.IsStdin(o.operands[1]) {
		return errors.New("standard input is only one file: name the other")
	}
	return nil
}

// A differ shows the differences between two files.
type differ struct {
	*stdio
	options    *options
	json       *json.Encoder
	old, value *side
	found      bool
}

// diff shows the differences between two files.
func diff(s *stdio, o *options) error {
	v := &differ{stdio: s, options: o, json: json.NewEncoder(s.out)}
	v.json.SetEscapeHTML(false)
	var sides [2]*side
	for i, name := range o.operands {
		one := *o
		one.Candidates = nil
		content, closer, err := s.openContent(name, &one)
		if err != nil {
			return err
		}
		defer func() { _ = closer.Close() }()
		if err := checkZeros(save.DisplayName(name), content, &one); err != nil {
			return err
		}
		sides[i] = &side{name: save.DisplayName(name), r: content, size: content.Size, options: &one}
		o.key = one.key // probably that of the second file, too
	}
	v.old, v.value = sides[0], sides[1]
	c := comparer{tree: v.change, leaf: v.leaf, byPosition: func(limit int64) {
		s.logf("the values need more memory than %s: from here on they are compared by position, without aligning elements; -max-memory raises the limit",
			humanize.IBytes(uint64(limit)))
	}}
	err := c.compare(sides[0], sides[1])
	if err == nil && v.found {
		err = errBad
	}
	return err
}

// A comparer calls its functions for each difference between two files: in two trees or, where these
// would need too much memory, between two leaves, of which one can be nil.
type comparer struct {
	tree       func(c variant.Change) error
	leaf       func(old, value *leaf) error
	byPosition func(limit int64) // is called before the first leaves
}

// compare compares two files.
func (c *comparer) compare(a, b *side) error {
	at, err := c.trees(a, b)
	if limit := (*gdwire.LimitError)(nil); errors.As(err, &limit) && limit.Name == "MaxMemory" {
		c.byPosition(limit.Max)
		err = c.leaves(a, b, at)
	}
	return err
}

// A side is one of two files.
type side struct {
	name    string
	r       io.ReaderAt
	size    int64
	options *options
}

// packets returns a function that returns the next packet, or nil after the last one.
func (f *side) packets() (next func() *save.Packet, stop func()) {
	pull, stop := iter.Pull(f.options.Packets(io.NewSectionReader(f.r, 0, f.size)))
	return func() *save.Packet {
		p, _ := pull()
		return p
	}, stop
}

// value returns the value of a packet as a tree.
func (f *side) value(p *save.Packet) (v any, err error) {
	if err = p.Err; err == nil {
		err = variant.UnmarshalDecode(p.Decoder, &v, variant.Options{MaxMemory: f.options.maxMemory})
		err = p.Finish(err)
	}
	if err != nil {
		err = prefixed(f.name, err)
	}
	return v, err
}

// trees compares the values of two files, each pair in memory. After an error, it returns the number
// of the packet.
func (c *comparer) trees(a, b *side) (packet int64, err error) {
	nextA, stopA := a.packets()
	defer stopA()
	nextB, stopB := b.packets()
	defer stopB()
	for i := int64(0); ; i++ {
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
			err = c.tree(variant.Change{OldPath: path, NewPath: path, Old: old, New: value, Added: p == nil, Removed: q == nil})
		} else {
			for change := range variant.Diff(old, value) {
				change.OldPath = path + strings.TrimPrefix(change.OldPath, "$")
				change.NewPath = path + strings.TrimPrefix(change.NewPath, "$")
				if err = c.tree(change); err != nil {
					break
				}
			}
		}
		if err != nil {
			return i, err
		}
	}
}

// absent stands for a value that is not there.
const absent = "not there"

// change shows a difference between two trees.
func (v *differ) change(c variant.Change) error {
	if v.options.lines {
		return v.changeJSON(&c)
	}
	path, old, value := c.NewPath, absent, absent
	var err error
	switch {
	case c.Removed:
		path = c.OldPath
	case !c.Added && c.OldPath != c.NewPath:
		path = c.OldPath + " -> " + c.NewPath
	}
	if !c.Added {
		old, err = v.old.text(c.Old)
	}
	if !c.Removed && err == nil {
		value, err = v.value.text(c.New)
	}
	return cmp.Or(err, v.line(path, old, value))
}

// line shows a difference.
func (v *differ) line(path, old, value string) error {
	v.found = true
	_, err := fmt.Fprintf(v.out, "%s: %s -> %s\n", printable(path), v.colors.bad.Sprint(cut(old, plainWidth)), v.colors.good.Sprint(cut(value, plainWidth)))
	return err
}

// A changeLine is a line of diff -json.
type changeLine struct {
	Path    string          `json:"path"`              // in the second file, or in the first if the value was removed
	OldPath string          `json:"oldPath,omitempty"` // in the first file, if it is another one
	Old     json.RawMessage `json:"old,omitempty"`
	New     json.RawMessage `json:"new,omitempty"`
	Leaf    bool            `json:"leaf,omitempty"` // old and new are text, as in flat
}

// changeJSON shows a difference between two trees as a line of JSON.
func (v *differ) changeJSON(c *variant.Change) (err error) {
	v.found = true
	line := changeLine{Path: c.NewPath}
	switch {
	case c.Removed:
		line.Path = c.OldPath
	case !c.Added && c.OldPath != c.NewPath:
		line.OldPath = c.OldPath
	}
	if !c.Added {
		line.Old, err = v.old.json(c.Old)
	}
	if !c.Removed && err == nil {
		line.New, err = v.value.json(c.New)
	}
	if err == nil {
		err = v.json.Encode(line)
	}
	return err
}

// treeOptions selects an encoding of trees that loses nothing.
var treeOptions = variant.Options{
	Encoder: gdwire.EncoderOptions{AllowInvalidUTF8: true, DoubleReals: true, Depth: -1},
}

// decodeTree calls read with a Decoder of a value in a tree of the file, whose format encodes it.
func (f *side) decodeTree(v any, read func(d *gdwire.Decoder) error) error {
	o := treeOptions
	o.Encoder.Format = f.options.Decoder.Format
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
func (f *side) json(v any) (json.RawMessage, error) {
	var value bytes.Buffer
	err := f.decodeTree(v, func(d *gdwire.Decoder) error {
		return gdjson.ToJSON(&value, d, gdjson.Options{EscapeForTerminal: true})
	})
	return value.Bytes(), err
}

// text returns a value in a tree of the file as text.
func (f *side) text(v any) (value string, err error) {
	err = f.decodeTree(v, func(d *gdwire.Decoder) error {
		p := text.Printer{Decoder: d, Short: true}
		err := p.Next(0)
		value = string(p.Buf)
		return err
	})
	return value, err
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

// leaf shows a difference between two leaves.
func (v *differ) leaf(old, value *leaf) error {
	line := changeLine{Leaf: true}
	texts := [2]string{absent, absent}
	for i, l := range []*leaf{old, value} {
		if l == nil {
			continue
		}
		line.Path, texts[i] = l.path, l.text
		quoted, err := json.Marshal(l.text)
		if err != nil {
			return err
		}
		*[]*json.RawMessage{&line.Old, &line.New}[i] = quoted
	}
	if v.options.lines {
		v.found = true
		return v.json.Encode(line)
	}
	return v.line(line.Path, texts[0], texts[1])
}

// A leaf is a line of flat.
type leaf struct {
	path, text string // text is cut after maxLeafText bytes
	sum        uint64 // of the whole text
}

// The bounds of what is held in memory of each file that is compared leaf by leaf.
const (
	maxLeafText  = 4 << 10
	maxLookahead = 1000 // leaves that are read to find one that is at the same path
)

// lines iterates over the leaves of a file from a packet on, as flat shows them.
func (f *side) lines(from int64, seed maphash.Seed) iter.Seq2[*leaf, error] {
	return func(yield func(*leaf, error) bool) {
		w := &leafWriter{yield: func(l *leaf) bool { return yield(l, nil) }}
		w.sum.SetSeed(seed)
		s := newStdio(nil, w, io.Discard)
		v := newFlatPrinter(s, f.options)
		for p := range f.options.Packets(io.NewSectionReader(f.r, 0, f.size)) {
			var err error
			if p.Index < from {
				err = skip(p)
			} else {
				err = cmp.Or(v.show(p), s.out.Flush())
			}
			if w.ended {
				return
			}
			if err != nil {
				yield(nil, prefixed(f.name, err))
				return
			}
		}
	}
}

// A leafWriter makes leaves of lines.
type leafWriter struct {
	yield func(*leaf) bool
	ended bool   // yield has returned false
	start []byte // of the line
	sum   maphash.Hash
}

// maxLeafLine is the maximum number of bytes of a line that are kept.
const maxLeafLine = maxPath + maxLeafText

func (w *leafWriter) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if w.ended {
			return 0, errLoopEnded
		}
		part, rest, whole := bytes.Cut(b, []byte("\n"))
		_, _ = w.sum.Write(part)
		w.start = append(w.start, part[:min(len(part), maxLeafLine-len(w.start))]...)
		b = rest
		if whole {
			l := &leaf{sum: w.sum.Sum64()}
			l.path, l.text = splitLine(string(w.start))
			w.sum.Reset()
			w.start = w.start[:0]
			w.ended = !w.yield(l)
		}
	}
	return n, nil
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

// distance returns the number of leaves before the one at a path, or maxLookahead if it is not near.
func (q *leafQueue) distance(path string) int {
	q.fill(maxLookahead)
	if n, ok := q.at[path]; ok {
		return n - q.first
	}
	return maxLookahead
}
