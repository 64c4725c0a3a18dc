package gdwire

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// Unknown is the count of a container, string or packed array of unknown length, accepted only by an
// Encoder. The count precedes the elements, so the Encoder keeps everything from the count on in
// memory until the End of the outermost container of Unknown count; see [EncoderOptions].MaxBuffered.
const Unknown = -1

// A Token is one element of an encoded value: a number, a chunk of text, or the start
// or end of a container. [Decoder.ReadToken] returns Tokens, and [Encoder.WriteToken]
// writes them.
//
// A Token holds numbers, counts and ids. Text, names, components and chunks are its
// payload and remain in the Decoder's buffer. [Token.Bytes], and all other methods
// reading the payload, panic after the next call on the Decoder, including Reset and
// Release. [Token.Clone] returns a Token that stays valid.
//
// Methods return the zero value for Tokens of other kinds instead of panicking,
// because the sender chooses the kind.
type Token struct {
	// head holds the kind in bits 0 to 7, the type in 8 to 15, flags in 16 to 31
	// and the length of the payload in 32 to 63. A Token is four words long,
	// because the compiler passes no more in registers.
	head uint64
	bits uint64       // the number's bits, the id or the count
	src  *tokenSource // the buffer with the payload
	pos  mark         // equals src.mark while the payload is valid
}

func newToken(k Kind, t Type, f tokenFlags, bits uint64) Token {
	return Token{head: tokenHead(k, t, f), bits: bits}
}

// withPayloadAt returns t with a payload of n bytes at offset in w's latest token.
func (t Token) withPayloadAt(w *tokenSource, offset, n int) Token {
	t.head |= uint64(n)<<32 | uint64(flagOffset(offset))<<16
	t.src, t.pos = w, w.mark
	return t
}

// withPayload returns t with payload p. The payload stays valid, because no Decoder moves the mark
// of its tokenSource.
func (t Token) withPayload(p []byte) Token { return t.withPayloadAt(&tokenSource{buf: p}, 0, len(p)) }

func (t Token) flags() tokenFlags { return tokenFlags(t.head >> 16) }

func (t Token) has(f tokenFlags) bool { return t.flags()&f != 0 }

func (t Token) unit() wire.Unit { return wire.Unit(t.flags() & flagUnit) }

func (t Token) payloadLen() int { return int(t.head >> 32) }

// offset returns the offset of the payload in the encoded token, the inverse of
// flagOffset.
func (t Token) offset() uint64 { return 2 << (t.flags() >> offsetShift) &^ 3 }

func (t Token) elemKind() containerKind { return containerKind(t.flags() >> elemShift & 3) }

func (t Token) valueKind() containerKind { return containerKind(t.flags() >> valueShift & 3) }

// Kind returns the kind of the token.
func (t Token) Kind() Kind { return Kind(t.head) }

// Type returns the type of the value that the token is or is part of: for a
// StringChunk, String, StringName, NodePath or PackedStringArray; for a Chunk, the type
// of the array or Image; for a Property, Object; for a DictKey, Dictionary; for an End,
// the type of the ended container.
func (t Token) Type() Type { return Type(t.head >> 8) }

// Clone returns a copy of the token and its payload, independent of the Decoder.
func (t Token) Clone() Token {
	if t.payloadLen() == 0 { // nothing to copy; without src, the copy does not keep the buffer in memory
		t.src, t.pos = nil, 0
		return t
	}
	p := slices.Clone(t.Bytes())
	t.head &= 1<<32 - 1 - 3<<(16+offsetShift) // without length and offset; withPayload adds them
	return t.withPayload(p)
}

// Bytes returns the token's payload without copying it: the text of a StringChunk, the
// name of a Property or Signal, the class of an ObjectStart, the elements of a Chunk or
// the components of a math type in little-endian order, or the data of an InputEvent.
// The slice is valid until the next call on the Decoder, and must not be modified.
func (t Token) Bytes() []byte {
	n := t.payloadLen()
	if n == 0 {
		return nil
	}
	if t.src.mark != t.pos { // positions never repeat, so no later token gets the same mark
		panic("gdwire: token used after the next call on its Decoder; Clone it to keep it")
	}
	i := t.pos.pos() - t.src.base + t.offset()
	return t.src.buf[i : i+uint64(n) : i+uint64(n)]
}

// Text returns [Token.Bytes] as a string: the text of a StringChunk, the name of a
// Property or Signal, or the class of an ObjectStart.
func (t Token) Text() string { return string(t.Bytes()) }

// Len returns the number of elements of an ArrayStart or PackedStart, of pairs of a
// DictStart, of properties of an ObjectStart, of names and sub-names of a NodePathStart,
// and of bytes of an ImageStart. For a Chunk, Len is the number of elements in the
// chunk, and for a StringChunk the number of bytes in the whole string. Len is [Unknown]
// only in tokens created for an Encoder.
//
// For a packed string split into several chunks, Len includes the terminating NUL
// written by engines, because only the last chunk shows whether there is one.
func (t Token) Len() int64 {
	switch t.Kind() {
	case KindNodePathStart:
		return int64(t.bits&math.MaxUint32 + t.bits>>32)
	case KindStringChunk, KindObjectStart, KindDictStart, KindArrayStart, KindPackedStart, KindImageStart, KindChunk:
		return int64(t.bits)
	}
	return 0
}

// declaredCount returns the declared count of a Start token, which can be Unknown.
func (t Token) declaredCount() int64 {
	if t.has(flagUnknown) {
		return Unknown
	}
	return int64(t.bits)
}

// Last reports whether the token is the last StringChunk of its string.
func (t Token) Last() bool { return t.Kind() == KindStringChunk && t.has(flagLast) }

// IsValue reports whether the token represents a value. Each value, also inside a container or as a
// key, is represented by one of its tokens: the only one, the Start of a container, NodePath or Image,
// or the last StringChunk of a String or StringName. Names of NodePaths and properties, chunks, the
// elements of packed arrays, DictKey and End represent no value.
func (t Token) IsValue() bool {
	switch t.Kind() {
	case 0, KindDictKey, KindProperty, KindChunk, KindEnd:
		return false
	case KindStringChunk:
		return t.Last() && (t.Type() == TypeString || t.Type() == TypeStringName)
	}
	return true
}

// Bool returns the value of a Bool.
func (t Token) Bool() bool { return t.Kind() == KindBool && t.bits != 0 }

// Int returns the value of an int. For a float, Int returns the value without
// its fraction, limited to the range of int64, and 0 for NaN.
func (t Token) Int() int64 {
	switch t.Kind() {
	case KindInt32:
		return int64(int32(t.bits))
	case KindInt64:
		return int64(t.bits)
	case KindFloat32, KindFloat64:
		switch x := t.Float(); { // Go's conversion of these depends on the processor
		case x != x:
			return 0
		case x >= 1<<63:
			return math.MaxInt64
		case x < -1<<63:
			return math.MinInt64
		default:
			return int64(x)
		}
	}
	return 0
}

// Float returns the value of a float, or the float64 nearest to an int.
func (t Token) Float() float64 {
	switch t.Kind() {
	case KindFloat32:
		return float64(math.Float32frombits(uint32(t.bits)))
	case KindFloat64:
		return math.Float64frombits(t.bits)
	case KindInt32, KindInt64:
		return float64(t.Int())
	}
	return 0
}

// ID returns the id of an ObjectID or RID, or of the object of a Signal. The id of an
// RID is 0 in all formats but Godot4, because they do not encode it.
func (t Token) ID() uint64 {
	switch t.Kind() {
	case KindObjectID, KindRID, KindSignal:
		return t.bits
	}
	return 0
}

// Width returns the number of encoded bits of an int, a float, a component of a math
// type, or a component of an element of a PackedStart or Chunk, and 0 for tokens
// without numbers.
func (t Token) Width() int { return t.unit().Size() * 8 }

// wide returns the index of the form of a math type or packed array: 1 for components of 64 bits.
func (t Token) wide() int { return bit(t.unit() == wire.Float64) }

// NodePath returns the numbers of names and sub-names of a NodePathStart, and whether the
// NodePath is absolute. In the form before Godot 3, a NodePath is one string, counted as
// its only name.
func (t Token) NodePath() (names, subnames int64, absolute bool) {
	if t.Kind() != KindNodePathStart {
		return 0, 0, false
	}
	return int64(t.bits & math.MaxUint32), int64(t.bits >> 32), t.has(flagAbsolute)
}

// Image returns the format, the number of mipmaps, and the width and height in pixels
// of an ImageStart.
func (t Token) Image() (format, mipmaps, width, height uint32) {
	if t.Kind() != KindImageStart {
		return
	}
	b := t.Bytes()
	return le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
}

// Event returns the type and the device of an InputEvent. [Token.Bytes] returns its
// data.
func (t Token) Event() (event, device uint32) {
	if t.Kind() != KindInputEvent {
		return
	}
	return uint32(t.bits), uint32(t.bits >> 32)
}

// Components returns the number of components of a math type, and 0 for other kinds.
func (t Token) Components() int {
	return int(layouts[t.Kind()].components) // the kinds of math types have the numbers of their types
}

// AppendComponents appends the components of a math type to dst in encoded order, such as
// the three rows of a Basis.
func (t Token) AppendComponents(dst []float64) []float64 {
	n := t.Components()
	if n == 0 {
		return dst
	}
	b, at := t.Bytes(), len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	if u := t.unit(); u == wire.Float32 { // inlined: -3 % of tokens with their values
		wire.WidenFloats(dst[at:], b)
	} else {
		wire.Floats(dst[at:], b, u)
	}
	return dst
}

// Elem returns the declared type of an ArrayStart's elements or a DictStart's values.
func (t Token) Elem() Elem {
	switch t.Kind() {
	case KindArrayStart:
		e, _ := readElem(t.Bytes(), t.elemKind())
		return e
	case KindDictStart: // the declared type of the keys comes first
		b := t.Bytes()
		_, n := readElem(b, t.elemKind())
		e, _ := readElem(b[n:], t.valueKind())
		return e
	}
	return Elem{}
}

// KeyElem returns the declared type of a DictStart's keys.
func (t Token) KeyElem() Elem {
	if t.Kind() != KindDictStart {
		return Elem{}
	}
	e, _ := readElem(t.Bytes(), t.elemKind())
	return e
}

// sharedText returns the text of bit 31 of a count of Godot 2.
func (t Token) sharedText() string {
	if t.has(flagShared) {
		return " shared"
	}
	return ""
}

// String returns a description of the token on one line, for messages.
func (t Token) String() string {
	k := t.Kind()
	if t.payloadLen() > 0 && t.src.mark != t.pos { // messages must not panic
		return k.String() + " (stale)"
	}
	switch k {
	case 0, KindNil, KindCallable, KindDictKey, KindEnd:
		return k.String()
	case KindBool:
		return fmt.Sprint("Bool ", t.Bool())
	case KindInt32, KindInt64, KindFloat32, KindFloat64:
		return fmt.Sprint(k, " ", t.numberValue())
	case KindRID, KindObjectID:
		return fmt.Sprint(k, " ", int64(t.ID()))
	case KindStringChunk:
		s := fmt.Sprintf("StringChunk %v %q", t.Type(), t.Bytes())
		if !t.Last() {
			s += fmt.Sprintf(" of %d bytes", t.Len())
		}
		return s
	case KindProperty:
		return fmt.Sprintf("Property %q", t.Bytes())
	case KindSignal:
		return fmt.Sprintf("Signal %q %d", t.Bytes(), int64(t.ID()))
	case KindObjectStart:
		return fmt.Sprintf("ObjectStart %q %d", t.Bytes(), t.Len())
	case KindNodePathStart:
		names, subnames, absolute := t.NodePath()
		s := fmt.Sprintf("NodePathStart %d:%d", names, subnames)
		if absolute {
			s += " absolute"
		}
		return s
	case KindArrayStart:
		return fmt.Sprint(k, " ", t.Len(), typed(t.Elem()), t.sharedText())
	case KindDictStart:
		return fmt.Sprint(k, " ", t.Len(), typed(t.KeyElem(), t.Elem()), t.sharedText())
	case KindPackedStart:
		return fmt.Sprint(k, " ", t.Type(), " ", t.Len())
	case KindChunk:
		return fmt.Sprintf("Chunk %v %d: %x", t.Type(), t.Len(), t.Bytes())
	case KindImageStart:
		f, m, w, h := t.Image()
		return fmt.Sprintf("ImageStart format %d, mipmaps %d, %dx%d, %d bytes", f, m, w, h, t.Len())
	case KindInputEvent:
		e, d := t.Event()
		return fmt.Sprintf("InputEvent type %d, device %d: %x", e, d, t.Bytes())
	default:
		return fmt.Sprint(k, t.AppendComponents(nil))
	}
}

// typed returns declared types in the form of GDScript, such as " [String, int]", or ""
// if no type is declared.
func typed(elems ...Elem) string {
	s, found := "[", false
	for i, e := range elems {
		if i > 0 {
			s += ", "
		}
		if e == (Elem{}) {
			s += "Variant"
		} else {
			name := strconv.Quote(e.String()) // the sender chooses the names of classes
			s += name[1 : len(name)-1]
			found = true
		}
	}
	if !found {
		return ""
	}
	return " " + s + "]"
}

// numberValue returns the value of an int or float, for messages.
func (t Token) numberValue() any {
	if t.Type() == TypeInt {
		return t.Int()
	}
	return t.Float()
}

// The constructors return tokens for an Encoder. They copy payloads, so the tokens stay valid. They
// return no errors: WriteToken returns the error for a token that the format cannot express.

// Nil returns the token of a nil.
func Nil() Token { return newToken(KindNil, TypeNil, 0, 0) }

// Bool returns the token of a bool.
func Bool(v bool) Token { return newToken(KindBool, TypeBool, tokenFlags(wire.Int32), uint64(bit(v))) }

// Int32 returns the token of an int encoded in 32 bits.
func Int32(v int32) Token {
	return newToken(KindInt32, TypeInt, tokenFlags(wire.Int32), uint64(uint32(v)))
}

// Int64 returns the token of an int encoded in 64 bits, if the format supports that.
func Int64(v int64) Token { return newToken(KindInt64, TypeInt, tokenFlags(wire.Int64), uint64(v)) }

// Float32 returns the token of a float encoded in 32 bits.
func Float32(v float32) Token {
	return newToken(KindFloat32, TypeFloat, tokenFlags(wire.Float32), uint64(math.Float32bits(v)))
}

// Float64 returns the token of a float encoded in 64 bits, if the format supports that.
func Float64(v float64) Token {
	return newToken(KindFloat64, TypeFloat, tokenFlags(wire.Float64), math.Float64bits(v))
}

// Vector returns the token of a value of math type t, with components in encoded order: a
// Basis is encoded by rows. Vector rounds them to 32 bits, as engines do. If t is not a
// math type with as many components, or a component is out of range, Vector returns the
// zero Token, refused by WriteToken.
func Vector(t Type, components ...float64) Token {
	if !layouts[t].isMath() || int(layouts[t].n) != len(components) {
		return Token{}
	}
	u, p := layouts[t].units[0], make([]byte, 0, 4*len(components))
	for _, x := range components {
		bits, ok := math.Float32bits(float32(x)), !wire.Overflows(x)
		if u == wire.Int32 {
			bits, ok = uint32(int32(x)), float64(int32(x)) == x
		}
		if !ok {
			return Token{}
		}
		p = le.AppendUint32(p, bits)
	}
	return newToken(Kind(t), t, tokenFlags(u), 0).withPayload(p)
}

// String returns the token of a String in one chunk.
func String(s string) Token { return textToken(TypeString, s) }

// StringName returns the token of a StringName in one chunk.
func StringName(s string) Token { return textToken(TypeStringName, s) }

func textToken(t Type, s string) Token {
	if len(s) > math.MaxInt32 { // the first chunk of a string that no Encoder writes: ErrRange
		return newToken(KindStringChunk, t, 0, uint64(len(s)))
	}
	return newToken(KindStringChunk, t, flagLast, uint64(len(s))).withPayload([]byte(s))
}

// ObjectID returns the token of an object as its instance id; 0 is null.
func ObjectID(id uint64) Token { return newToken(KindObjectID, TypeObject, tokenFlags(wire.Int64), id) }

// ArrayStart returns the token at the start of an Array of n elements. n can be
// [Unknown]. elem is the declared type of the elements, or the zero Elem.
func ArrayStart(n int, elem Elem) Token { return startToken(KindArrayStart, TypeArray, n, elem) }

// DictStart returns the token at the start of a Dictionary of n pairs. n can be
// [Unknown]. key and value are the declared types, or zero Elems.
func DictStart(n int, key, value Elem) Token {
	return startToken(KindDictStart, TypeDictionary, n, key, value)
}

func startToken(k Kind, t Type, n int, elems ...Elem) Token {
	var flags tokenFlags
	var p []byte
	for i, e := range elems {
		flags |= tokenFlags(e.kind()) << (elemShift + 2*i)
		p = appendElem(p, e)
	}
	if n == Unknown {
		flags |= flagUnknown
	}
	return newToken(k, t, flags, uint64(n)).withPayload(p)
}

// DictKey returns the token before a key.
func DictKey() Token { return newToken(KindDictKey, TypeDictionary, 0, 0) }

// End returns the token at the end of the innermost container.
func End() Token { return newToken(KindEnd, 0, 0, 0) }

// tokenSource holds the buffer with the payload of the latest token. Tokens refer to it.
type tokenSource struct {
	buf  []byte
	base uint64 // the position of buf[0]
	mark mark
}

// A mark identifies the latest token by the position of its first byte, with payloadBit if the
// token's payload is valid. DictKey and End consume nothing and have none.
type mark uint64

const payloadBit mark = 1 << 63

// markAt returns the mark of a token at pos with a payload.
func markAt(pos uint64) mark { return mark(pos) | payloadBit }

// pos returns the position of the token.
func (m mark) pos() uint64 { return uint64(m &^ payloadBit) }

// tokenPos returns the position of the latest token.
func (s *tokenSource) tokenPos() uint64 { return s.mark.pos() }

// hasPayload reports whether the payload of the latest token is valid.
func (s *tokenSource) hasPayload() bool { return s.mark&payloadBit != 0 }

// markToken makes a token at pos, with a payload, the latest.
func (s *tokenSource) markToken(pos uint64) { s.mark = markAt(pos) }

// markEmpty makes a token at pos, without a payload, the latest.
func (s *tokenSource) markEmpty(pos uint64) { s.mark = mark(pos) }

// drop invalidates the payload of the latest token.
func (s *tokenSource) drop() { s.mark &^= payloadBit }

// keepPayload makes the payload of the latest token valid, after a call that marked it as empty. The
// functions shared by typed reads and ReadToken mark tokens as empty, because typed reads return
// none; only ReadToken calls keepPayload.
func (s *tokenSource) keepPayload() { s.mark |= payloadBit }
