package gdwire

import (
	"math"
	"strconv"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// state holds the open containers of a Decoder or Encoder and decides which token may be next,
// independent of the encoding.
//
// The innermost open container is described by the integers remaining, pairs, marked and
// keyPos, read and written by every call; the frames hold those of the outer containers.
//
//	{"a": [1, 2, 3], …}, after the element 1:
//
//	stack[0]  top level    remaining: any number of values   spilled
//	stack[1]  Dictionary   remaining: 2·(pairs after "a")    spilled, keyPos at "a"
//	stack[2]  Array        remaining: 2, pairs: 0            in remaining, pairs, keyPos
//	          depth = 2
//
// remaining is the number of values still to come: elements, names, strings, packed
// elements, or bytes of a string. A key and its value are two values, and so are a
// property's name and its value. In a container of pairs, the next value is a key if
// remaining is even, and the value of the latest key if odd. If remaining is 0, End is
// next.
//
// push spills remaining and keyPos into the innermost frame and opens another frame; pop
// closes the innermost frame and restores them.
type state struct {
	remaining uint64  // values to come in the innermost container
	pairs     uint64  // 1 in a container of pairs, otherwise 0
	marked    uint64  // the value of remaining at which a DictKey was read or written, or noMark
	keyPos    uint64  // of a Decoder: the position of the latest key, or before it the container's own
	stack     []frame // stack[0] is the top level, stack[depth] the innermost; nil before Reset
	depth     int
}

// A frame is an open container: an Array, Dictionary, Object, NodePath, packed array,
// Image, or a String between its chunks. stack[0] is the top level.
type frame struct {
	remaining, keyPos uint64 // those of state, while another container is innermost
	count             uint32 // declared
	names             uint32 // of a NodePath, without sub-names
	content
}

const (
	// noMark is odd, and so never the value of remaining before a key.
	noMark = 1
	// unknownRemaining is the initial value of remaining if the count is not known. It is even,
	// because the lowest bit tells keys from values, and larger than the number of values in
	// any input, so that counting never reaches 0, where an End would be next.
	unknownRemaining = 1 << 62
)

// A want is the kind of the next token or value.
type want uint8

const (
	wantNothing want = iota // not Reset, released or closed
	// Values, up to lastValue.
	wantTop   // a top-level value
	wantElem  // an element of an array
	wantKey   // a key, after its DictKey
	wantValue // the value of a key
	wantField // the value of a property
	// Others.
	wantDictKey // in an Encoder and for typed reads, also the key
	wantProperty
	wantName  // a name of a NodePath, or a packed string
	wantText  // another chunk of a string
	wantChunk // another chunk of packed data
	wantEnd

	lastValue = wantField
)

// init opens the top level and keeps the stack of earlier values, so that Reset allocates no
// other.
func (s *state) init() {
	if s.stack == nil {
		s.stack = make([]frame, 16)
		s.stack[0].flags = flagUnknown
	}
	s.depth = 0
	s.remaining, s.pairs, s.marked, s.keyPos = unknownRemaining, 0, noMark, 0
}

// close makes want return wantNothing, and drops a stack that a deeply nested value made larger
// than 64 KiB, also the limit of buffers in the pool.
func (s *state) close() {
	if len(s.stack) > 2048 {
		s.stack = nil
	}
	s.depth = 0
	s.remaining, s.pairs, s.marked = 0, 0, noMark
}

// untouched reports, at the top level, whether no top-level value was begun.
func (s *state) untouched() bool { return s.remaining == unknownRemaining }

// top returns the innermost frame. Its remaining and keyPos are those of the state.
func (s *state) top() *frame { return &s.stack[s.depth] }

// want returns the kind of the next token or value. The slow paths call want before each token;
// the fast paths run only where a value or a name is next and test remaining and pairs.
func (s *state) want() want {
	if s.remaining == 0 {
		if s.depth == 0 { // only after close, because the number of top-level values is unknown
			return wantNothing
		}
		return wantEnd
	}
	f := s.top()
	switch f.kind {
	case KindArrayStart:
		return wantElem
	case KindDictStart:
		switch {
		case s.remaining&1 != 0:
			return wantValue
		case s.marked == s.remaining:
			return wantKey
		}
		return wantDictKey
	case KindObjectStart:
		if s.remaining&1 != 0 {
			return wantField
		}
		return wantProperty
	case KindStringChunk:
		return wantText
	case KindNodePathStart:
		return wantName
	case 0:
		return wantTop
	}
	if f.typ == TypePackedStringArray {
		return wantName
	}
	return wantChunk
}

// atKey reports whether a key or a property's name is next. At the End of a container of pairs,
// atKey also reports true: callers test remaining if they can be there.
func (s *state) atKey() bool { return s.remaining&1 == 0 && s.pairs != 0 }

// setRemaining sets remaining, for loops with a copy in a local variable.
func (s *state) setRemaining(remaining uint64) { s.remaining = remaining }

// setKey sets the position of the latest key, for the same loops.
func (s *state) setKey(pos uint64) { s.keyPos = pos }

// count counts n values, elements or bytes.
func (s *state) count(n uint64) { s.remaining -= n }

// countAt counts a value or name at pos and returns pos. A value is counted before its
// content, so that remaining tells keys from values.
func (s *state) countAt(pos uint64) uint64 {
	if s.atKey() { // before remaining changes
		s.keyPos = pos
	}
	s.remaining--
	return pos
}

// markKey notes that the DictKey before the next key was read or written. The note ends by itself:
// counting the key changes remaining, and remaining never returns to the same value in the
// container.
func (s *state) markKey() { s.marked = s.remaining }

// push counts a value at pos and opens a frame for its content: n elements, pairs,
// names or bytes. An Encoder keeps no positions and passes 0.
func (s *state) push(c *content, n uint32, pos uint64) *frame {
	stack, depth := s.stack, s.depth+1
	if depth >= len(stack) { // doubled, but only for containers received or begun
		stack = append(make([]frame, 0, 2*depth), stack...)[:2*depth]
		s.stack = stack
	}
	s.countAt(pos) // first, so that pop restores the state after the value
	around, f := &stack[depth-1], &stack[depth]
	around.remaining, around.keyPos = s.remaining, s.keyPos
	f.init(c, n)
	pairs := hasPairs[c.kind&127]
	f.pairs = pairs // already in a form, but not in a frame of the Encoder
	s.depth, s.pairs, s.remaining, s.marked, s.keyPos = depth, uint64(pairs), uint64(n)<<(pairs&1), noMark, pos
	return f
}

// setElem sets the declared type of the elements or keys of a typed container.
func (f *frame) setElem(t Type) { f.elem = t }

// setNames sets the fields of the frame of a NodePath.
func (f *frame) setNames(names uint32, flags tokenFlags) { f.names, f.flags = names, flags }

// init sets f for n elements, pairs, names or bytes of c. remaining and keyPos are not used
// while the frame is innermost.
func (f *frame) init(c *content, n uint32) {
	f.count, f.names = n, 0
	f.content = *c // in a statement of its own: together with the others, it is copied twice
}

// setDeclared sets the declared count of f, or returns an error if n is out of range. An Unknown count
// is written as 0 until its End.
func (f *frame) setDeclared(n int64, format *formatData) error {
	if n == Unknown {
		f.flags |= flagUnknown
		return nil
	}
	if n < 0 || n > f.maxCount(format) {
		return wrapf(ErrRange, "count of %d is out of range", n)
	}
	f.count = uint32(n)
	return nil
}

// maxCount returns the largest count of f. Engines read counts as int32. In the formats of manuals
// they have 32 bits, except for arrays and dictionaries, where bit 31 is no part of the count.
func (f *frame) maxCount(format *formatData) int64 {
	most := int64(math.MaxInt32)
	if !format.engine && f.kind != KindArrayStart && f.kind != KindDictStart {
		most = math.MaxUint32
	}
	if f.kind == KindStringChunk { // the encoded length includes the NUL
		most -= int64(f.nul())
	}
	return most
}

// enter is the part of push small enough to be inlined, without the position of the value, kept only by
// a Decoder. The caller finds the frame around, checks that the stack contains another frame, and sets
// this frame with init. values is the number of values in the container.
func (s *state) enter(around *frame, pairs, values uint64) {
	around.remaining = s.remaining - 1
	s.depth++
	s.pairs, s.remaining, s.marked = pairs, values, noMark
}

// enterAt is enter for a value at pos. Calling enter would take an instruction more: the
// compiler marks inlined code.
func (s *state) enterAt(around *frame, pairs, values, pos uint64) {
	if s.atKey() {
		s.keyPos = pos
	}
	around.remaining, around.keyPos = s.remaining-1, s.keyPos
	s.depth++
	s.pairs, s.remaining, s.marked, s.keyPos = pairs, values, noMark, pos
}

// pop closes the innermost frame and returns the frame around it, where push counted the value.
// After a container as a key, the value of the key is next.
func (s *state) pop() *frame {
	around := &s.stack[s.depth-1]
	s.leave(around)
	return around
}

// leave is pop where the caller found the frame around.
func (s *state) leave(around *frame) {
	s.depth--
	s.remaining, s.keyPos, s.marked, s.pairs = around.remaining, around.keyPos, noMark, uint64(around.pairs)
}

// unwind closes the frames down to depth, and no longer counts their value.
func (s *state) unwind(depth int) {
	around := &s.stack[depth]
	s.depth = depth + 1
	s.leave(around)
	s.remaining++
}

// spill stores the integers of the innermost container in its frame and returns frame i: 0 is the top
// level, depth the innermost. The stored integers are valid until the next call.
func (s *state) spill(i int) *frame {
	innermost := s.top()
	innermost.remaining, innermost.keyPos = s.remaining, s.keyPos
	return &s.stack[i]
}

// done returns the number of values of f read or written so far; a pair is two. A
// container counts in the frame around it as soon as it is opened.
func (f *frame) done() int64 {
	if f.has(flagUnknown) {
		return int64(unknownRemaining - f.remaining)
	}
	return int64(uint64(f.count)<<(f.pairs&1) - f.remaining)
}

// done returns the number of elements, pairs, names or bytes of the innermost frame read or
// written so far.
func (s *state) done() int64 { return s.spill(s.depth).done() >> s.pairs }

// holds returns a word for the content of f, for messages.
func (f *frame) holds() string {
	switch f.kind {
	case KindDictStart:
		return "pairs"
	case KindObjectStart:
		return "properties"
	case KindNodePathStart:
		return "names"
	case KindStringChunk:
		return "bytes"
	}
	return "elements"
}

// isUntyped reports whether f is an Array or Dictionary without a declared type of elements or keys.
func (f *frame) isUntyped() bool {
	return (f.kind == KindArrayStart || f.kind == KindDictStart) && f.elem == 0
}

// nul returns the number of NULs, 0 or 1, still to be written by an Encoder after the string f.
func (f *frame) nul() uint32 { return uint32(f.flags / flagNUL & 1) }

func (f *frame) has(flag tokenFlags) bool { return f.flags&flag != 0 }

// declared returns the type declared by the container for the next value, or 0 for any:
// also for the values of typed dictionaries, because engines keep values of other types.
func (s *state) declared() Type {
	f := s.top()
	if f.kind == KindDictStart && !s.atKey() {
		return 0
	}
	return f.elem
}

// admits reports whether t is allowed as the next value of a typed container.
func (s *state) admits(t Type) bool {
	elem := s.declared()
	return elem == 0 || t == elem || elem == TypeObject && t == TypeNil
}

// A span is the sequence of tokens covered by SkipValue, CopyValue or Tokens. It ends with
// the first token after which isOver reports true.
type span struct {
	open int  // ends when fewer than this number of containers are open; 0 for no span
	data bool // also ends after the packed data of the container at depth open
}

// span returns the span of the next value, or of the rest of a string or packed array read in part.
func (s *state) span() span {
	switch s.want() {
	case wantText:
		return span{open: s.depth}
	case wantChunk:
		return span{open: s.depth, data: true}
	default:
		return span{open: s.depth + 1}
	}
}

// isOver reports whether the tokens of x have been read, after at least one of them.
func (s *state) isOver(x span) bool { return s.depth < x.open || x.data && s.remaining == 0 }

// unexpected returns the cause of the error of a call not allowed at the current position. what
// names the call: a Type, a Kind or the name of a method.
func (s *state) unexpected(what any) error {
	f := s.top()
	switch s.want() {
	case wantEnd:
		return wrapf(ErrCount, "%v after the declared %d %s", what, f.count, f.holds())
	case wantProperty:
		return wrapf(ErrMisplacedKey, "%v where a property name is expected", what)
	case wantName:
		return wrapf(ErrCall, "%v where a string of a %v is expected", what, f.typ)
	case wantText, wantChunk:
		return wrapf(ErrIncomplete, "%v inside a %v", what, f.typ)
	default:
		return wrapf(ErrMisplacedKey, "%v where a value is expected", what)
	}
}

// A location is a kind of part of a container.
type location uint8

const (
	noLocation location = iota
	atElement           // an element, name or packed string
	atKey               // a key or a property's name
	atValue             // the value of a key or property
)

// locate returns the index of the element, pair, property or name of frame i that the
// latest token belongs to, or the next token if next is set, or -1 if there is none.
//
// In a Dictionary of two pairs:
//
//	latest token   done  its location  the next token's
//	DictStart      0     none          .key(0)
//	DictKey        0     .key(0)       .key(0)
//	the key "a"    1     .key(0)       .a
//	its value      2     .a            .key(1)
//	DictKey        2     .key(1)       .key(1)
//	the key "b"    3     .key(1)       .b
//	its value      4     .b            none, an End
func (s *state) locate(i int, next bool) (index int64, l location) {
	f := s.spill(i)
	done := f.done()
	switch f.kind {
	case KindArrayStart, KindNodePathStart, KindPackedStart:
		// Packed data contains no locations: its tokens are chunks of any number of elements.
		if f.size > 0 || next && f.remaining == 0 {
			return -1, noLocation
		}
		if !next {
			done--
		}
		l = atElement
	case KindDictStart, KindObjectStart:
		odd := done&1 != 0 // the key of a pair was read, but not its value
		done /= 2
		switch {
		case next && f.remaining == 0: // an End is next
			return -1, noLocation
		case next && odd, !next && odd && f.kind == KindObjectStart:
			l = atValue // a Property is at the location of its value, because the name is known
		case next, odd, i == s.depth && s.marked == s.remaining:
			l = atKey // a key, or the uncounted DictKey before it
		default: // the value of the latest complete pair
			done--
			l = atValue
		}
	default:
		return -1, noLocation
	}
	if done < 0 { // the latest token is the Start of f
		return -1, noLocation
	}
	return done, l
}

// stackIndex implements StackIndex of Decoder and Encoder.
func (s *state) stackIndex(i int) (kind Kind, index, count int64) {
	if i < 0 || i > s.depth || s.depth == 0 && s.remaining == 0 {
		return 0, -1, -1
	}
	f := s.spill(i)
	if i == 0 { // top-level values are not limited in number and have no path
		return 0, f.done() - 1, -1
	}
	index, _ = s.locate(i, false)
	count = int64(f.count)
	if f.has(flagUnknown) {
		count = Unknown
	}
	return f.kind, index, count
}

// maxPath is the maximum length of a path in bytes, and maxKey that of a key in a path. The
// sender chooses keys and depth, and errors are often logged.
const (
	maxPath = 200
	maxKey  = 32
)

// appendPath appends the path of the latest token, or of the next one if next is set. key
// returns the type of the latest key of frame i and its bytes, see slowPath.key. An Encoder passes
// noKey.
func (s *state) appendPath(dst []byte, next bool, key func(i int) (Type, []byte)) []byte {
	start := len(dst)
	dst = append(dst, '$')
	// Each step is at least three bytes long, so the cost of an error does not grow with the depth.
	for i := 1; i <= s.depth && len(dst)-start < maxPath; i++ {
		index, l := s.locate(i, next && i == s.depth) // outer frames have begun their value in both cases
		switch l {
		case atElement:
			dst = wire.AppendIndex(dst, index)
		case atKey:
			dst = wire.AppendKeyAt(dst, index)
		case atValue:
			if typ, data := key(i); typ != 0 {
				dst = appendKey(dst, typ, data)
			} else {
				dst = wire.AppendValueAt(dst, index)
			}
		}
	}
	if path := dst[start:]; len(path) > maxPath {
		dst = dst[:start+wire.WholeRunes(path, maxPath)]
	}
	return dst
}

// noKey returns no key, so that a path contains the index of each pair.
func noKey(int) (Type, []byte) { return 0, nil }

// appendKey appends the step to the value of a key: .name for a String without need of quotes,
// otherwise the key in brackets. data is the text of the key, or the payload of a key of fixed
// size. Text of more than maxKey bytes is cut.
func appendKey(dst []byte, typ Type, data []byte) []byte {
	if typ == TypeString && len(data) <= maxKey && wire.IsName(data) {
		return append(append(dst, '.'), data...)
	}
	dst = append(dst, '[')
	switch l := &layouts[typ]; typ {
	case TypeNil:
		dst = append(dst, "null"...)
	case TypeBool:
		dst = strconv.AppendBool(dst, le.Uint32(data) != 0)
	case TypeString:
		dst = wire.AppendQuoted(dst, data, maxKey)
	case TypeStringName:
		dst = wire.AppendQuoted(append(dst, '&'), data, maxKey)
	case TypeInt, TypeFloat: // 7 and 1.5 need no name of their type, unlike Vector2i(1, 2)
		dst = wire.AppendNumber(dst, data, l.unitOf(data))
	default:
		u := l.unitOf(data)
		dst = append(append(dst, l.name...), '(')
		for i := 0; i < len(data); i += u.Size() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = wire.AppendNumber(dst, data[i:], u)
		}
		dst = append(dst, ')')
	}
	return append(dst, ']')
}

// unitOf returns the unit of a number or math type from its size: 4 or 8 bytes for each component.
func (l *layout) unitOf(data []byte) wire.Unit { return l.units[len(data)/int(l.n)/8] }
