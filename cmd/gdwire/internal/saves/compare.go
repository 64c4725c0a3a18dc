package saves

import (
	"bytes"
	"cmp"
	"errors"
	"hash/maphash"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/variant"
)

// A comparer calls its functions for each difference between two files: in two trees or, where trees
// would need too much memory, between two leaves. One leaf can be nil.
type comparer struct {
	tree       func(c variant.Change) error
	leaf       func(old, value *leaf) error
	byPosition func(limit int64) // called before the first leaves
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
		a.equal, b.equal = equalSpans(a, b, at)
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
		for p := range f.reading.Packets(io.NewSectionReader(f.r, 0, f.size)) {
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
		v := open.NewLeafPrinter(s, skipSpans(f.equal))
		for p := range f.reading.Packets(f.reader()) {
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
