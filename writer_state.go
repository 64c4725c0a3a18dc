package gdwire

// This file is temporary: the state machine of the Encoder until it has moved to
// hotState. Then hotState and hotFrame become state and frame.

import "strconv"

// state is where a Decoder or Encoder stands: the stack of what is open. It
// knows what may come next and when something is complete; it does not know how
// anything looks on the wire.
type state struct {
	top   *frame  // the innermost; nil before the first Reset
	stack []frame // stack[0] is the top level, stack[depth] is top
	depth int
}

// A frame is something open: a container, a path, a packed array, a string
// between its chunks; or, at the bottom, the top level.
type frame struct {
	// mark is a position. In a Decoder it is where the latest key or property
	// name starts, before the first of them and in other frames where the value
	// starts. In an Encoder it is where an Unknown count will be set.
	mark  uint64
	left  uint32 // what is still to come: elements, pairs, names, bytes
	count uint32 // what was announced
	names uint32 // of a NodePath, the rest are sub-names; of a string the NULs an Encoder owes
	kind  Kind   // of the Start token, or StringChunk; 0: the top level
	typ   Type   // of the value, or what a string is part of
	want  want   // what comes next
	elem  Type   // what elements or keys must be; 0: anything
	unit  unit   // of packed data
	size  uint8  // of an element of it
	flags tokenFlags
}

// places says, for each want, where what it means is: which element the token before it
// belongs to, counted from those that are done, and which the token itself.
var places = [16]struct{ last, this place }{
	wantElem:     {last: place{-1, partElem}, this: place{0, partElem}},
	wantDictKey:  {last: place{-1, partValue}, this: place{0, partKey}},
	wantKey:      {last: place{0, partKey}, this: place{0, partKey}},
	wantValue:    {last: place{0, partKey}, this: place{0, partValue}},
	wantProperty: {last: place{-1, partValue}, this: place{0, partKey}},
	wantField:    {last: place{0, partValue}, this: place{0, partValue}},
	wantName:     {last: place{-1, partElem}, this: place{0, partElem}},
}

// firstWant is what comes first in what a token of that kind opens. Frames of
// packed strings want names instead of chunks.
var firstWant = [128]want{
	KindArrayStart:    wantElem,
	KindDictStart:     wantDictKey,
	KindObjectStart:   wantProperty,
	KindNodePathStart: wantName,
	KindPackedStart:   wantChunk,
	KindImageStart:    wantChunk,
	KindStringChunk:   wantText,
}

func (s *state) reset() {
	if s.stack == nil {
		s.stack = make([]frame, 16)
	}
	s.depth, s.top = 0, &s.stack[0]
	*s.top = frame{want: wantTop, left: 1, count: 1}
}

// shut leaves nothing that could come next, and does not keep a stack that was
// needed for one deep value.
func (s *state) shut() {
	if len(s.stack) > 2048 {
		s.stack = nil
	}
	s.reset()
	s.top.want = wantNothing
}

// current returns the innermost frame, also of a Decoder or Encoder that is zero.
func (s *state) current() *frame {
	if s.top == nil {
		s.shut()
	}
	return s.top
}

// Depth returns how much is open: containers, paths, packed arrays, and a string
// between its chunks. At 0 the value is complete.
func (s *state) Depth() int { return s.depth }

// step notes that what the innermost frame wanted has come, or has begun: what is
// wanted then, and whether one of its count is done. Where a key's marker is wanted
// it may be the key itself, from callers who write by position.
//
// A table would say the same, but each step would wait for the one before: the
// processor foresees branches, and no loads.
func (s *state) step() {
	f := s.top
	switch f.want {
	case wantElem, wantName:
		f.left--
	case wantDictKey, wantKey:
		f.want = wantValue
		return
	case wantValue:
		f.want = wantDictKey
		f.left--
	case wantProperty:
		f.want = wantField
		return
	case wantField:
		f.want = wantProperty
		f.left--
	case wantText, wantChunk:
		f.want = wantNothing
	}
	if f.left == 0 {
		f.want = wantEnd
	}
}

// push steps, and opens a frame for n of what a token of that kind announces.
func (s *state) push(k Kind, t Type, n uint32) *frame {
	s.step()
	depth := s.depth + 1
	if depth == len(s.stack) {
		s.stack = append(make([]frame, 0, 2*depth), s.stack...)[:2*depth]
	}
	f := &s.stack[depth]
	s.depth, s.top = depth, f
	*f = frame{} // then field by field: a whole one would be built elsewhere first
	f.kind, f.typ, f.left, f.count = k, t, n, n
	f.want = firstWant[k&127]
	if n == 0 {
		f.want = wantEnd
	}
	return f
}

// pop closes the innermost frame.
func (s *state) pop() {
	s.depth--
	s.top = &s.stack[s.depth]
}

// frame returns frame i; 0 is the top level, Depth() the innermost.
func (s *state) frame(i int) *frame { return &s.stack[i] }

// admits reports whether a typed container lets that type come next. Values of
// typed dictionaries are not looked at: engines keep wrong ones.
func (f *frame) admits(t Type) bool {
	return f.elem == 0 || t == f.elem || f.elem == TypeObject && t == TypeNil ||
		f.want != wantElem && f.want != wantKey && f.want != wantDictKey
}

// place returns the element, pair, property or name that the latest token
// belongs to, or if next is set the coming one, -1 if to none.
func (f *frame) place(next bool) (index int64, p part) {
	pl := places[f.want].last
	switch {
	case next:
		pl = places[f.want].this
	case f.want == wantEnd:
		pl = places[f.first()].last
	}
	index = int64(f.count-f.left) + int64(pl.offset)
	if index < 0 || pl.part == partNone {
		return -1, partNone
	}
	return index, pl.part
}

// first returns what the frame wanted first.
func (f *frame) first() want {
	if f.typ == TypePackedStringArray && f.kind == KindPackedStart {
		return wantName
	}
	return firstWant[f.kind]
}

// StackIndex describes what is open at level i, from 1, the outermost, to
// Depth(): the kind of token that opened it, the index of the element, pair,
// property or name that was reached (-1 before the first), and how many were
// announced, [Unknown] where an Encoder was not told. Packed data and strings
// have no elements of their own here: their index is -1.
//
// Level 0 is around all values: of kind 0, with index and count -1.
func (s *state) StackIndex(i int) (kind Kind, index, count int64) {
	if i == 0 {
		return 0, -1, -1
	}
	f := s.frame(i)
	index, _ = f.place(false)
	count = int64(f.count)
	if f.has(flagUnknown) {
		count = Unknown
	}
	return f.kind, index, count
}

func (f *frame) has(flag tokenFlags) bool { return f.flags&flag != 0 }

// A place is where in its frame a token is: how far from the number of elements
// done, and in which part of the element.
type place struct {
	offset int8
	part   part
}

// A part is a part of a container.
type part uint8

const (
	partNone  part = iota
	partElem       // an element, name or packed string
	partKey        // a key, or a property's name
	partValue      // a key's or property's value
)

// appendPath appends the path of the latest token or, if next is set, of the
// coming one. keyText gives the start of the string that is the latest key or
// property name of frame i, false if it is no string.
func (s *state) appendPath(dst []byte, next bool, keyText func(i int) ([]byte, bool)) []byte {
	start := len(dst)
	dst = append(dst, '$')
	for i := 1; i <= s.depth && len(dst)-start < maxPath; i++ {
		index, part := s.frame(i).place(next && i == s.depth)
		switch part {
		case partElem:
			dst = append(dst, '[')
			dst = strconv.AppendInt(dst, index, 10)
			dst = append(dst, ']')
		case partKey:
			dst = appendCall(dst, ".key(", index)
		case partValue:
			key, ok := keyText(i)
			if !ok {
				dst = appendCall(dst, ".value(", index)
				break
			}
			dst = append(dst, '[')
			dst = strconv.AppendQuote(dst, string(cutKey(key)))
			dst = append(dst, ']')
		}
	}
	return dst[:min(len(dst), start+maxPath)]
}
