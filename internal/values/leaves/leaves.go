// Package leaves reads the values in saves leaf by leaf, in constant memory.
package leaves

import (
	"fmt"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/text"
)

// An OmissionError reports values left out of the output.
type OmissionError struct {
	packet, values int64
}

func (e *OmissionError) Error() string {
	return fmt.Sprintf("%s: values left out because of their long paths: %d; get shows them", text.AppendPacket(nil, e.packet), e.values)
}

// A Reader reads the values of packets leaf by leaf and calls the functions below with Path as the path of a leaf.
// A leaf is a value without inner values, or an empty, typed or packed container, or an object. The reader holds
// only the path and one token in memory.
type Reader struct {
	Path []byte       // of the current value
	Line text.Printer // of the current leaf
	// Leaf shows a leaf, or the declaration of a container with values. AppendLeaf appends its text to Line.
	Leaf func() error
	// Elements says that the elements of all packed arrays are leaves, and not only Strings.
	Elements bool
	// Skip, if not nil, reports whether to leave out the bytes at Path, a PackedByteArray or Image.
	Skip func() bool
	// Open, if not nil, is called for a container that is no leaf, before its values.
	Open func() error

	*save.Packet
	key     text.Step // of the value at Path
	hasKey  bool
	opener  explain.Opener
	inBytes int    // the number of PackedByteArrays around the value
	free    []byte // for the bytes of an array
	long    int64  // the sum of the lengths of all long paths of leaves
	omitted int64  // the number of omitted values of the packet
	numbers [16]float64

	// Of a leaf: the first token, or an element without tokens, or a NodePath of which before was read.
	first   gdwire.Token
	element text.Value
	path    *text.NodePathReader
	before  []byte
}

// AppendLeaf reads the leaf, and appends its text to Line.
func (v *Reader) AppendLeaf() error {
	switch {
	case v.path != nil:
		return v.Line.NodePath(v.path, v.before)
	case v.element.Type != 0:
		v.Line.Buf = v.element.Append(v.Line.Buf)
		return nil
	}
	return v.Line.Leaf(v.first)
}

// The lengths of paths, in bytes. Without a limit, each value in a container with a long
// path would repeat the path, and the output would grow with the square of the input.
const (
	MaxPath = 64 << 10 // of any path

	shortPath = 256      // of a path shown in any case
	longPaths = 64 << 20 // of all paths longer than shortPath together, and
	longPerIn = 16       // so much more for each byte of the input
)

// Key returns the step to the value at Path if the step is a key or the name of a property, or nil. The step is valid
// until the next value is read.
func (v *Reader) Key() *text.Step {
	if v.hasKey {
		return &v.key
	}
	return nil
}

// Read reads the leaves of a packet.
func (v *Reader) Read(p *save.Packet) error {
	v.Packet, v.Line.Decoder = p, p.Decoder
	v.Path = text.AppendPacket(v.Path[:0], p.Index)
	v.omitted, v.hasKey = 0, false
	err := p.Err
	if err == nil {
		err = p.Finish(v.value())
	}
	if err == nil && v.omitted > 0 {
		err = &OmissionError{p.Index, v.omitted}
	}
	return err
}

// omit reports whether the path is too long for its value to be shown, and counts values
// left out.
func (v *Reader) omit() bool {
	n := len(v.Path)
	if n > MaxPath || n > shortPath && v.long > longPaths+longPerIn*v.ReadOffset() {
		v.omitted++
		return true
	}
	return false
}

// value reads the next value.
func (v *Reader) value() error {
	if v.omit() {
		return v.SkipValue()
	}
	t, err := v.ReadToken()
	if err != nil {
		return err
	}
	return v.token(t)
}

// token reads the value starting with t.
func (v *Reader) token(t gdwire.Token) error {
	switch t.Kind() {
	case gdwire.KindArrayStart:
		return v.array(t)
	case gdwire.KindDictStart:
		return v.dictionary(t)
	case gdwire.KindObjectStart:
		return v.object(t)
	case gdwire.KindPackedStart:
		if t.Type() != gdwire.TypePackedByteArray {
			return v.packed(t)
		}
	}
	return v.leaf(t)
}

// leaf calls Leaf.
func (v *Reader) leaf(t gdwire.Token) error {
	v.count()
	isArray := t.Kind() == gdwire.KindPackedStart && t.Type() == gdwire.TypePackedByteArray
	skip := (isArray || t.Kind() == gdwire.KindImageStart) && v.Skip != nil && v.Skip()
	v.first = t
	switch {
	case isArray && t.Len() <= MaxBytes && v.inBytes < maxInBytes:
		return v.bytes(skip)
	case skip:
		return v.SkipTo(v.Depth() - 1)
	}
	return v.Leaf()
}

// MaxBytes is the maximum size of a PackedByteArray whose bytes are searched for values.
const MaxBytes = 1 << 20

// maxInBytes is the maximum number of arrays in the bytes of each other whose values are read.
const maxInBytes = 3

// bytes reads a PackedByteArray, which is no leaf if skip is set, and then the values in its bytes.
func (v *Reader) bytes(skip bool) (err error) {
	b := v.free
	v.free = nil // values in the bytes have others
	defer func() { v.free = b[:0] }()
	add := func(part []byte) { b = append(b, part...) }
	if skip {
		for t := v.first; err == nil && t.Kind() != gdwire.KindEnd; add(t.Bytes()) {
			t, err = v.ReadToken()
		}
	} else {
		v.Line.Bytes = add
		err = v.Leaf()
		v.Line.Bytes = nil
	}
	if err != nil {
		return err
	}
	parse := v.opener.Open(b, v.Options().Format)
	if parse == nil {
		return nil
	}
	outer := v.Packet
	v.inBytes++
	defer func() { v.inBytes, v.Packet, v.Line.Decoder = v.inBytes-1, outer, outer.Decoder }()
	for i, value := range parse.Values() {
		in, o := *outer, outer.Options()
		in.Decoder = gdwire.NewDecoder(nil, &o)
		in.ResetBytes(value)
		v.Packet, v.Line.Decoder = &in, in.Decoder
		err := v.inside(func(dst []byte) []byte { return text.AppendInside(dst, int64(i)) })
		in.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// count adds to the sum of long paths.
func (v *Reader) count() {
	if len(v.Path) > shortPath {
		v.long += int64(len(v.Path))
	}
}

// start calls Leaf for an empty or declared container, and otherwise Open.
func (v *Reader) start(t gdwire.Token) error {
	switch {
	case t.Len() == 0 || t.KeyElem() != (gdwire.Elem{}) || t.Elem() != (gdwire.Elem{}):
		return v.leaf(t)
	case v.Open != nil:
		return v.Open()
	}
	return nil
}

// inside reads the next value, at the path extended by step.
func (v *Reader) inside(step func(dst []byte) []byte) error {
	v.hasKey = false
	n := len(v.Path)
	v.Path = step(v.Path)
	err := v.value()
	v.Path = v.Path[:n]
	return err
}

// child reads the next value, at the path extended by a key.
func (v *Reader) child(step *text.Step) error {
	v.key, v.hasKey = *step, true
	n := len(v.Path)
	v.Path = step.Append(v.Path)
	err := v.value()
	v.Path = v.Path[:n]
	return err
}

// array reads the elements of an Array.
func (v *Reader) array(t gdwire.Token) error {
	n := t.Len()
	if err := v.start(t); err != nil {
		return err
	}
	for i := range n {
		if err := v.inside(func(dst []byte) []byte { return text.AppendIndex(dst, i) }); err != nil {
			return err
		}
	}
	return v.end()
}

// end reads the End of a container.
func (v *Reader) end() error {
	_, err := v.ReadToken()
	return err
}

// object reads the properties of an Object.
func (v *Reader) object(t gdwire.Token) error {
	n := t.Len()
	if err := v.leaf(t); err != nil {
		return err
	}
	for range n {
		name, err := v.ReadToken()
		if err != nil {
			return err
		}
		if err := v.child(&text.Step{Key: text.FromToken(name, nil)}); err != nil {
			return err
		}
	}
	return v.end()
}

// dictionary reads the pairs of a Dictionary.
func (v *Reader) dictionary(t gdwire.Token) error {
	n := t.Len()
	if err := v.start(t); err != nil {
		return err
	}
	for i := range n {
		if _, err := v.ReadToken(); err != nil { // DictKey
			return err
		}
		if err := v.pair(i); err != nil {
			return err
		}
	}
	return v.end()
}

// pair reads pair i of a Dictionary. A key that cannot be part of a path is a value at a path of its own.
func (v *Reader) pair(i int64) error {
	t, err := v.ReadToken()
	if err != nil {
		return err
	}
	step, ok, err := text.KeyStep(v.Decoder, t, v.numbers[:0], func(r *text.NodePathReader, value []byte) error {
		return v.longKey(i, t, r, value)
	})
	if err != nil {
		return err
	}
	if !ok {
		return v.inside(func(dst []byte) []byte { return text.AppendValueAt(dst, i) })
	}
	return v.child(&step)
}

// longKey reads a key starting with t. start is the part already read.
func (v *Reader) longKey(i int64, t gdwire.Token, r *text.NodePathReader, start []byte) error {
	v.hasKey = false
	n := len(v.Path)
	v.Path = text.AppendKeyAt(v.Path, i)
	defer func() { v.Path = v.Path[:n] }()
	if r != nil {
		v.count()
		v.path, v.before = r, start
		defer func() { v.path = nil }()
		return v.Leaf()
	}
	return v.token(t)
}

// packed reads a packed array.
func (v *Reader) packed(t gdwire.Token) error {
	base, depth, isText := len(v.Path), v.Depth()-1, t.Type() == gdwire.TypePackedStringArray
	if err := v.leaf(t); err != nil {
		return err
	}
	if !v.Elements && !isText {
		return v.SkipTo(depth)
	}
	v.hasKey = false
	defer func() { v.Path, v.element = v.Path[:base], text.Value{} }()
	for i := int64(0); ; {
		if v.Path = v.Path[:base]; v.omit() {
			return v.SkipTo(depth)
		}
		t, err := v.ReadToken()
		switch {
		case err != nil:
			return err
		case t.Kind() == gdwire.KindEnd:
			return nil
		case t.Kind() == gdwire.KindStringChunk:
			v.Path = text.AppendIndex(v.Path, i)
			if err := v.leaf(t); err != nil {
				return err
			}
			i++
			continue
		}
		size := int(int64(len(t.Bytes())) / max(t.Len(), 1))
		for b := t.Bytes(); len(b) > 0; b = b[size:] {
			if v.Path = text.AppendIndex(v.Path[:base], i); v.omit() {
				return v.SkipTo(depth)
			}
			v.element = text.Element(t, b[:size], v.numbers[:0])
			v.count()
			if err := v.Leaf(); err != nil {
				return err
			}
			i++
		}
	}
}
