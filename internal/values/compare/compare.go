// Package compare finds the differences between two saves: between trees of values or, where trees would need too much
// memory, between leaves.
package compare

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/leaves"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/gdwire/gdwire/variant"
)

// A File is one of two files.
type File struct {
	io.ReaderAt        // of the bytes in which packets have offsets
	Name        string // in errors, or ""
	Size        int64  // in bytes
	// Packets iterates over the packets, from the start each time.
	Packets   iter.Seq[*save.Packet]
	Reading   *save.Reading // of the packets
	MaxMemory int64         // for the values, in bytes; 0 selects 256 MiB, and -1 is no limit
}

// Packets returns an iterator over the packets of a content, for a File. After an error, the last packet has no value.
func Packets(c *save.Content) iter.Seq[*save.Packet] {
	return func(yield func(*save.Packet) bool) {
		next := int64(0)
		err := c.Packets(save.Every, func(p *save.Packet) (bool, error) {
			next = p.Index + 1
			return yield(p), nil
		})
		if err != nil {
			yield(&save.Packet{Index: next, Err: err})
		}
	}
}

// pull returns a function returning the next packet, or nil after the last.
func (f *File) pull() (next func() *save.Packet, stop func()) {
	pull, stop := iter.Pull(f.Packets)
	return func() *save.Packet {
		p, _ := pull()
		return p
	}, stop
}

// wrap adds the name of the file to an error.
func (f *File) wrap(err error) error {
	if err == nil || f.Name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", f.Name, err)
}

// A Comparer calls its functions for each difference between two files.
type Comparer struct {
	// Show returns a value in a tree of a file as text, such as Text.
	Show func(f *File, v any) ([]byte, error)
	// Differ is called for each difference. Compare returns its error.
	Differ func(*Difference) error
	// Start, if not nil, is called before both files are read from their starts, to be compared.
	Start func()
	// ByPosition is called before the first leaves are compared, with the exceeded limit in bytes.
	ByPosition func(limit int64)
}

// A Difference is a line of diff -json.
type Difference struct {
	Path    string          `json:"path"`              // in the second file, or in the first if the value was removed
	OldPath string          `json:"oldPath,omitempty"` // in the first file, if different
	Old     json.RawMessage `json:"old,omitempty"`     // as of Show, or nil if there is none
	New     json.RawMessage `json:"new,omitempty"`
	Leaf    bool            `json:"leaf,omitempty"` // old and new are text, as in flat

	// Place is the path of a removed value as if only its containers had moved, or "" if the path stays.
	Place string `json:"-"`
}

// change reports a difference between two trees.
func (c *Comparer) change(a, b *File, change *variant.Change) (err error) {
	d := Difference{Path: change.NewPath}
	switch {
	case change.Removed:
		d.Path, d.Place = change.OldPath, placeOf(change)
	case !change.Added && change.OldPath != change.NewPath:
		d.OldPath = change.OldPath
	}
	if !change.Added {
		d.Old, err = c.Show(a, change.Old)
	}
	if !change.Removed && err == nil {
		d.New, err = c.Show(b, change.New)
	}
	return cmp.Or(err, c.Differ(&d))
}

// placeOf returns the Place of a removed value.
func placeOf(c *variant.Change) string {
	p, err := text.Parse(c.OldPath)
	if n := len(p.Steps); err == nil && n > 0 {
		if place := string(p.Steps[n-1].Append([]byte(c.NewPath))); place != c.OldPath {
			return place
		}
	}
	return ""
}

// leaf reports a difference between two leaves, one of which can be nil.
func (c *Comparer) leaf(old, value *leaf) error {
	d := Difference{Leaf: true}
	if old != nil {
		d.Path, d.Old = old.path, old.text
	}
	if value != nil {
		d.Path, d.New = value.path, value.text
	}
	return c.Differ(&d)
}

func (c *Comparer) start() {
	if c.Start != nil {
		c.Start()
	}
}

// Compare compares two files.
func (c *Comparer) Compare(a, b *File) error {
	c.start()
	at, err := c.trees(a, b)
	if limit := (*gdwire.LimitError)(nil); errors.As(err, &limit) && limit.Name == maxMemory {
		c.ByPosition(limit.Max)
		err = c.Leaves(a, b, at)
	}
	return err
}

// maxMemory is the name of the limit of the memory of trees.
const maxMemory = "MaxMemory"

// memory returns the limit in bytes.
func (f *File) memory() int64 {
	const standard = 256 << 20
	return cmp.Or(f.MaxMemory, standard)
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
func (f *File) value(p *save.Packet) (v any, err error) {
	if err = p.Err; err == nil {
		err = variant.UnmarshalDecode(p.Decoder, &v, variant.Options{MaxMemory: f.MaxMemory})
		err = p.Finish(err)
	}
	return v, f.wrap(err)
}

// trees compares the values of two files, each pair in memory. After an error, trees returns the number of the packet.
func (c *Comparer) trees(a, b *File) (packet int64, err error) {
	nextA, stopA := a.pull()
	defer stopA()
	nextB, stopB := b.pull()
	defer stopB()
	for i := int64(0); ; i++ {
		p, q := nextA(), nextB()
		if p == nil && q == nil {
			return i, nil
		}
		changes, err := c.values(a, b, p, q)
		path := string(text.AppendPacket(nil, i))
		for change := range changes {
			change.OldPath = path + strings.TrimPrefix(change.OldPath, "$")
			change.NewPath = path + strings.TrimPrefix(change.NewPath, "$")
			if err = c.change(a, b, &change); err != nil {
				break
			}
		}
		if err != nil {
			return i, err
		}
	}
}

// values returns the differences between the values of two packets, one of which can be nil.
func (c *Comparer) values(a, b *File, p, q *save.Packet) (changes iter.Seq[variant.Change], err error) {
	changes = slices.Values([]variant.Change(nil))
	if p != nil && q != nil && a.hasOutline(p) && b.hasOutline(q) {
		all, err := c.outlined(a, b, p, q)
		return slices.Values(all), err
	}
	change := variant.Change{OldPath: "$", NewPath: "$", Added: p == nil, Removed: q == nil}
	if p != nil {
		if change.Old, err = a.value(p); err != nil {
			return changes, err
		}
	}
	if q != nil {
		if change.New, err = b.value(q); err != nil {
			return changes, err
		}
	}
	if p == nil || q == nil {
		return slices.Values([]variant.Change{change}), nil
	}
	return variant.Diff(change.Old, change.New), nil
}

// treeOptions selects a lossless encoding of trees.
var treeOptions = variant.Options{
	Encoder: gdwire.EncoderOptions{AllowInvalidUTF8: true, DoubleReals: true, Depth: -1},
}

// DecodeTree calls read with a Decoder of a value in a tree of the file, encoded in the format of the file.
func (f *File) DecodeTree(v any, read func(d *gdwire.Decoder) error) error {
	o := treeOptions
	o.Encoder.Format = f.Reading.Decoder.Format
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

// Text returns a value in a tree of the file as text.
func (f *File) Text(v any) ([]byte, error) {
	p := text.Printer{Short: true}
	err := f.DecodeTree(v, func(d *gdwire.Decoder) error {
		p.Decoder = d
		return p.Next(0)
	})
	return p.Buf, err
}

// Leaves compares two files leaf by leaf, from a packet on.
func (c *Comparer) Leaves(a, b *File, packet int64) error {
	c.start()
	seed := maphash.MakeSeed()
	nextA, stopA := iter.Pull2(a.leaves(packet, seed))
	defer stopA()
	nextB, stopB := iter.Pull2(b.leaves(packet, seed))
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
			if p.sum != q.sum {
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
	path string
	text []byte // cut
	sum  uint64 // of the whole text
}

// The bounds of memory for each file compared leaf by leaf.
const (
	maxLeaf      = leaves.MaxPath + 4<<10 // bytes of path and text
	maxLookahead = 1000                   // leaves read to find one at the same path
)

// errLoopEnded ends the reading of leaves that nobody wants.
var errLoopEnded = errors.New("the loop has ended")

// leaves iterates over the leaves of a file from a packet on.
func (f *File) leaves(from int64, seed maphash.Seed) iter.Seq2[*leaf, error] {
	return func(yield func(*leaf, error) bool) {
		var l *leaf
		var sum maphash.Hash
		sum.SetSeed(seed)
		v := &leaves.Reader{Elements: true}
		v.Line.Flush = func() error {
			_, _ = sum.Write(v.Line.Buf)
			l.text = append(l.text, v.Line.Buf[:min(len(v.Line.Buf), max(0, maxLeaf-len(l.path)-len(l.text)))]...)
			v.Line.Buf = v.Line.Buf[:0]
			return nil
		}
		v.Leaf = func() error {
			l = &leaf{path: string(v.Path)}
			sum.Reset()
			err := cmp.Or(v.AppendLeaf(), v.Line.Flush())
			if l.sum = sum.Sum64(); err == nil && !yield(l, nil) {
				return errLoopEnded
			}
			return err
		}
		for p := range f.Packets {
			var err error
			switch {
			case p.Index >= from:
				err = v.Read(p)
			case p.Err == nil && !p.Framed(): // reading the next packet skips a framed one
				err = p.SkipValue()
			default:
				err = p.Err
			}
			if errors.Is(err, errLoopEnded) {
				return
			}
			if err != nil {
				yield(nil, f.wrap(err))
				return
			}
		}
	}
}

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
