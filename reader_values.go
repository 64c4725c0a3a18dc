package gdwire

import (
	"bytes"
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/wire"
)

// strict sets an error at bytes after the start of the token, with Strict, if the input differs from
// what engines write.
func (l *lookahead) strict(differs bool, at int, text string) {
	if differs && l.s.options.Strict {
		l.fail(at, notCanonical(text))
	}
}

// checkLimit checks the field at offset at, which declares n.
func (l *lookahead) checkLimit(x limit, at int, n uint64) { l.fail(at, l.s.bounds.check(x, n)) }

// checkLength checks whether n bytes can follow the length field at offset at. It makes a length
// that is too large for the input or for Limits.Bytes an error at once, before any of the bytes: a
// sender who declares much and sends nothing is not waited for.
func (l *lookahead) checkLength(at int, n uint64) {
	s := l.s
	if end := s.pos() + uint64(at) + 4 + n; end > s.valueEnd {
		l.checkLimit(limitBytes, at, end-s.valueStart)
		l.fail(at, io.ErrUnexpectedEOF)
	}
}

// checkBytes checks the length field at offset at of a name or of packed data, n bytes.
func (l *lookahead) checkBytes(x limit, at int, n uint64) {
	l.checkLimit(x, at, n)
	l.checkLength(at, n)
}

// checkCount checks a count of n elements, each of at least size bytes and of the given
// number of values. It adds the values to d.values, so no field can follow that the Reader
// might interrupt: the repeated call would add them again. The products fit 64 bits, because n is
// at most 33 bits long.
func (l *lookahead) checkCount(at int, n, values, size uint64) {
	s := l.s
	total := s.values + n*values
	l.checkLimit(limitElements, at, n)
	l.checkLimit(limitValues, at, total)
	l.checkLength(at, n*size)
	if !l.failed() {
		s.setValues(total)
	}
}

// signed reads a count that engines read as an int32, and as 0 if it is negative. A larger
// value read here would be a container that no engine sees.
func (l *lookahead) signed() uint32 {
	n := l.uint32()
	if n > math.MaxInt32 && l.s.format.engine { // programs written from a manual have no such rule
		l.strict(true, l.at-4, "negative count")
		return 0
	}
	return n
}

// name reads a name with its length and padding, and returns the length. A token holds its name as
// a whole, so all of it is waited for, and NameBytes limits it instead of StringBytes.
func (l *lookahead) name() int {
	at := l.at
	n := l.uint32()
	l.checkBytes(limitName, at, uint64(n))
	if uint64(l.at)+wire.Padded(n) > math.MaxInt-bufferSize { // possible with two names and ints of 32 bits
		l.fail(at, wrapf(ErrRange, "name of %d bytes", n))
	}
	b := l.bytes(int(wire.Padded(n)))
	if l.failed() {
		return 0
	}
	l.checkText(at+4, b[:n])
	l.checkPadding(at+4+int(n), b[n:])
	return int(n)
}

// take consumes the fields, a whole value or name. It returns t with a payload of n bytes at
// offset at, or without one if at is 0.
func (l *lookahead) take(t Token, at, n int) Token {
	if l.failed() {
		return Token{}
	}
	l.s.countAt(l.s.pos())
	return l.finish(t, at, n)
}

// open consumes the fields and pushes a frame for count elements. It returns the Start token, with
// a payload as take does.
func (l *lookahead) open(count uint32, at, n int) Token {
	if l.failed() {
		return Token{}
	}
	s, form := l.s, l.form
	s.push(&form.content, count, s.pos()) // with the position of the header, before finish passes it
	t := l.finish(Token{head: form.head, bits: uint64(count)}, at, n)
	s.startFast()
	return t
}

// finish consumes the fields for take and open, which have counted the value: that needs the
// position before it.
func (l *lookahead) finish(t Token, at, n int) Token {
	s := l.s
	s.pass(s.r+l.at, s.pos())
	if at > 0 {
		t = t.at(&s.tokenSource, at, n)
	}
	return t
}

// fixed reads a number or math type. A number is in the token itself; components are its payload.
func (l *lookahead) fixed() Token {
	form := l.form
	t := Token{head: form.head}
	if form.shape == shapeMath {
		l.bytes(int(form.size))
		return l.take(t, 4, int(form.size))
	}
	t.bits = l.word(int(form.size))
	l.checkNumber(t.bits)
	return l.take(t, 0, 0)
}

// checkNumber checks, with Strict, that engines write the number in these bits.
func (l *lookahead) checkNumber(bits uint64) {
	if l.s.options.Strict {
		l.fail(0, l.s.format.canonicalNumber(l.form, bits))
	}
}

// sharedBit is bit 31 of an array's or dictionary's count. Godot 2 keeps it with the value; other
// engines ignore it.
const sharedBit = 1 << 31

// container reads the start of an Array or Dictionary: the declared types, if the flags
// have any, and the count. The encoded types are the payload of the token, so that reading them
// allocates nothing: Token.Elem decodes them again.
func (l *lookahead) container() Token {
	s, from, flags := l.s, l.at, l.header()>>16&uint32(l.form.headerFlags)
	// An Array declares the type of its elements in bits 16 and 17, a Dictionary also that of its values
	// in the two bits after them; in an Array these are 0.
	elem := l.declared(containerKind(flags & 3)) // of elements or keys
	if elem == 0 {                               // type id 0 declares nothing, so the payload begins after it
		flags, from = flags&^3, l.at
	}
	to := l.at
	if l.declared(containerKind(flags>>2)) == 0 { // of values
		flags &= 3
	} else {
		to = l.at
	}
	at := l.at // the count is last, because checkCount must be
	n, shared := l.uint32(), tokenFlags(0)
	if n&sharedBit != 0 {
		n &^= sharedBit
		if s.format.shared {
			shared = flagShared
		}
		l.strict(shared == 0, at, "shared bit of a count")
	}
	values := uint64(1) << l.form.pairs
	l.checkCount(at, uint64(n), values, 4*values)
	if to == from {
		from = 0 // no payload
	}
	t := l.open(n, from, to-from)
	if !l.failed() {
		s.top().setElem(elem)
		t.head |= uint64(shared)<<16 | uint64(flags)<<(16+elemShift)
	}
	return t
}

// declared reads a declared type. It returns the type of the elements, or 0 for any. A declared
// class or script is followed by its name, and its elements are Objects. Engines refuse an unknown
// id, too, but take id 0 for no type. Only Strict and the Encoder compare the elements with the
// type.
func (l *lookahead) declared(k containerKind) Type {
	at, f := l.at, l.s.format
	switch k {
	case containerUntyped:
		return 0
	case containerBuiltin:
		id := l.uint32()
		t := f.typeOf(id)
		switch t {
		case 0:
			l.fail(at, wrapf(ErrType, "elements of unknown %v type id %d", f, id))
		case TypeNil:
			l.strict(true, at, "elements of type id 0")
			t = 0
		}
		return t
	default:
		l.strict(l.name() == 0, at, "elements of a class without a name")
		return TypeObject
	}
}

// object reads the start of a serialized object: the name of its class, and the number of its
// properties. Each property is a Property token, the name, and a value.
func (l *lookahead) object() Token {
	s := l.s
	null := s.format.nullObject // the format includes null objects, which need no permission
	if !s.options.AllowObjects && !null {
		l.fail(0, ErrObject) // before the name, so that none is waited for
	}
	n := l.name()
	if n > 0 && !s.options.AllowObjects { // an object, and not null
		l.fail(0, ErrObject)
	}
	l.strict(n == 0 && !null, 0, "object without a class")
	count := uint32(0)
	if n > 0 { // an object with an empty class name is null and without a count
		count = l.signed()
		l.checkCount(l.at-4, uint64(count), 2, 8)
	}
	return l.open(count, 8, n)
}

// nodePath reads the start of a NodePath. Bit 31 of its first word tells two counts and flags from
// the form before Godot 3, in which the word is the length of one string.
func (l *lookahead) nodePath() Token {
	s, format := l.s, l.s.format
	s.setNodePath(true)
	names, subnames, flags := uint32(1), uint64(0), flagOldNodePath
	if n := l.uint32(); n&newNodePathBit != 0 {
		names, subnames, flags = l.nodePathCounts(n &^ newNodePathBit)
	} else {
		if !format.oldNodePath {
			l.fail(4, wrapf(ErrType, "NodePath in one string, which %v does not have", format))
		}
		l.strict(format.engine, 4, "NodePath as one string")
		l.checkCount(4, 1, 1, 0)
		l.at = 4 // the word is the length of the string, which follows in the form of a name
	}
	t := l.open(names+uint32(subnames), 0, 0)
	if !l.failed() {
		s.top().setNames(names, flags)
		t.head |= uint64(flags) << 16
		t.bits = uint64(names) | subnames<<32
	}
	return t
}

// nodePathCounts reads the number of sub-names and the flags of a NodePath with this number
// of names. The counts that it returns are those that engines use: with the property that only a
// flag counts, and with an overflow of 32 bits.
func (l *lookahead) nodePathCounts(names uint32) (uint32, uint64, tokenFlags) {
	format, word := l.s.format, l.word(8)
	subnames, bits := uint64(uint32(word)), uint32(word>>32)
	known := uint32(nodePathAbsolute) // the flags that engines write
	if format.keepProperty {
		known |= nodePathProperty
	}
	if l.s.options.Strict && bits&^known != 0 {
		l.fail(12, notCanonical("NodePath flags %#x", bits))
	}
	flags := tokenFlags(bits&nodePathAbsolute) * flagAbsolute
	if bits&nodePathProperty != 0 && format.property {
		flags |= flagProperty
		subnames++
	}
	total := uint64(names) + subnames
	if format.engine && total > math.MaxUint32 { // engines add in 32 bits
		if l.s.options.Strict {
			l.fail(4, notCanonical("NodePath of %d names", total))
		}
		total &= math.MaxUint32
		names = uint32(min(uint64(names), total))
		subnames = total - uint64(names)
	}
	l.checkCount(4, total, 1, 4)
	l.checkLength(4, 8+4*total) // after the number of sub-names and the flags
	if total > math.MaxUint32 {
		l.fail(4, wrapf(ErrRange, "NodePath of %d names", total))
	}
	return names, subnames, flags
}

// packed reads the start of a packed array. The elements of one with numbers are limited by
// PackedBytes, and not by Elements and Values: nothing is created for each of them.
func (l *lookahead) packed() Token {
	var n uint32
	if l.form.shape == shapePackedStrings {
		n = l.signed()
		l.checkCount(4, uint64(n), 1, 4)
	} else {
		n = l.uint32()
		l.checkBytes(limitPacked, 4, uint64(n)*uint64(l.form.size))
	}
	return l.open(n, 0, 0)
}

// signal reads a Signal.
func (l *lookahead) signal() Token {
	n := l.name()
	object := l.word(8)
	return l.take(Token{head: l.form.head, bits: object}, 8, n)
}

// image reads the start of an Image of Godot 2. Its fields are the payload of the token; the data
// follows as Chunks.
func (l *lookahead) image() Token {
	const fields = 16 // format, mipmaps, width, height
	b := l.bytes(fields + 4)
	if b == nil {
		return Token{}
	}
	n := le.Uint32(b[fields:])
	l.checkBytes(limitPacked, 4+fields, uint64(n))
	return l.open(n, 4, fields)
}

// event reads an InputEvent of Godot 2.
func (l *lookahead) event() Token {
	b := l.bytes(wire.EventHead) // type, device, and the size of all that follows the header
	if b == nil {
		return Token{}
	}
	event, device, size := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])
	rest := size - wire.EventHead // size includes the fields before it; if it is less, the first check fails
	n := wire.EventSize(event, rest)
	if uint64(size) < wire.EventHead+uint64(n) {
		l.fail(12, wrapf(ErrRange, "InputEvent of type %d needs more than %d bytes", event, size))
	}
	l.checkBytes(limitName, 12, uint64(rest))
	l.strict(rest != uint32(n), 12, "InputEvent longer than its type needs")
	l.bytes(int(rest))
	return l.take(Token{head: l.form.head, bits: uint64(event) | uint64(device)<<32}, 4+wire.EventHead, n)
}

// A textPart is a chunk of a string.
type textPart struct {
	at     int    // the offset of the text, from the start of its token
	n      int    // bytes of text
	size   int    // bytes of text, of the header and length before it, and of padding
	length uint64 // Token.Len
	flags  tokenFlags
}

// text reads the next chunk of a string as a token. The length field is next before the first
// chunk. A bulk read can continue after it. typ is the type of the string, or of the NodePath or
// array that it is part of.
func (l *lookahead) text(typ Type) Token {
	s := l.s
	pos := s.pos()
	part := l.takeText(typ)
	if l.failed() {
		return Token{}
	}
	s.markToken(pos)
	return newToken(KindStringChunk, typ, part.flags, part.length).at(&s.tokenSource, part.at, part.n)
}

// takeText consumes the next chunk of a string, for text and for bulk reads, which need no token.
// A string in one chunk, as most are, opens no frame; a longer one is open from its first chunk
// to its last. The first chunk counts the string in the container around it.
func (l *lookahead) takeText(typ Type) textPart {
	s, at, f := l.s, l.at, l.s.top()
	left, total, first := s.remaining, f.count, f.kind != KindStringChunk
	if first {
		total = l.uint32()
		left = uint64(total)
		// StringBytes limits the text. The NUL of engines is no part of it.
		l.checkLimit(limitString, at, uint64(total-min(total, s.format.nul(typ))))
		l.checkLength(at, uint64(total))
	}
	part := l.textPart(typ, left, total)
	if l.failed() {
		return part
	}
	// All checks passed and all bytes are buffered: from here on nothing can fail, so the call is
	// either repeated from its start or counts the text exactly once.
	last := part.flags&flagLast != 0
	switch {
	case first && last: // no frame is needed
		s.countAt(s.pos())
	case first:
		s.push(&content{kind: KindStringChunk, typ: typ}, total, s.pos())
	case last:
		s.pop()
	}
	if !last { // in the frame of the string, which the last chunk closed
		s.count(uint64(part.n))
	}
	if first != last { // a frame was opened or closed, perhaps by a bulk read
		s.startFast() // a bulk read switches it off again, see bulk.peek
	}
	s.consume(part.size)
	return part
}

// textPart reads the next chunk of a string of total bytes; left bytes are still to
// come. Where a chunk ends depends only on maxChunk and the text, never on how the bytes arrive, so
// that the tokens of an input are always the same.
func (l *lookahead) textPart(typ Type, left uint64, total uint32) textPart {
	if l.failed() {
		return textPart{}
	}
	s, at, nul := l.s, l.at, l.s.format.nul(typ)
	n, pad, flags := s.maxChunk, 0, tokenFlags(0)
	last := left <= uint64(s.maxChunk)+uint64(nul) // whether the NUL fits, too, must not decide about a chunk
	if last {
		n, pad, flags = int(left), wire.Padding(total), flagLast
	}
	pad, cut := l.padded(typ, at+n, pad)
	if cut.kind == ofReader {
		s.fault = cut
		return textPart{}
	}
	// If the input or Limits.Bytes ends inside the chunk or its padding, the received part is
	// checked first, because with smaller chunks an error in it would be reported.
	b := s.buf[s.r:s.limit]
	text := b[min(at, len(b)):min(at+n, len(b))]
	ended := last && nul > 0 && n > 0 && len(text) == n && text[n-1] == 0
	if ended { // the NUL that engines write is no part of the text; any other NUL is
		text = text[:n-1]
	}
	if cut.kind != noFault || !last { // the next chunk begins with a rune that this one would split
		text = text[:wire.WholeRunes(text, len(text))]
	}
	if l.checkText(at, text); !l.failed() && cut.kind != noFault {
		s.fault = cut
	}
	if l.failed() {
		return textPart{}
	}
	if !last { // the bytes of a split rune are left for the next chunk
		n = len(text)
	}
	if s.options.Strict {
		l.strict(last && nul > 0 && !ended, at+n, "packed string without a NUL")
		if typ != TypeNodePath || !s.format.engine { // most engine versions leave memory content in this padding
			l.checkPadding(at+n, b[at+n:at+n+pad])
		}
	}
	part := textPart{at: at, n: len(text), size: at + n + pad, length: uint64(total), flags: flags}
	if nul > 0 && uint64(total) <= uint64(s.maxChunk)+1 {
		part.length = uint64(part.n)
	} else if nul > 0 { // whether there is a NUL, only the last chunk can tell
		part.flags |= flagNUL
	}
	return part
}

// checkText checks that text, at offset at, is UTF-8 and, with Strict, that it contains no
// NUL. The first of several errors counts, as with smaller chunks.
func (l *lookahead) checkText(at int, text []byte) {
	valid := len(text)
	if !l.s.options.AllowInvalidUTF8 && !wire.Valid(text) {
		valid = wire.InvalidAt(text)
	}
	if l.s.options.Strict {
		i := bytes.IndexByte(text[:valid], 0)
		l.strict(i >= 0, at+i, "NUL in a string")
	}
	if valid < len(text) {
		l.fail(at+valid, ErrUTF8)
	}
}

// checkPadding checks, with Strict, that padding is zero, if engines write zeros.
func (l *lookahead) checkPadding(at int, pad []byte) {
	for _, c := range pad {
		l.strict(c != 0 && !l.s.format.garbagePadding, at, "padding other than zero")
	}
}

// padded waits for n bytes and pad bytes of padding, without reading them. It returns the number
// of bytes of padding, which can be missing at the end of the input if engines accept that. Where
// Limits.Bytes ends in the padding, it waits for one byte more to learn whether the input ends.
func (l *lookahead) padded(typ Type, n, pad int) (int, fault) {
	s, o := l.s, &l.s.options
	// Engines accept these types if the packet ends before their padding.
	if pad > 0 && s.limit-s.r < n+pad && !o.Strict && !o.wholePadding && o.Format.mayLackPadding(typ) {
		most := s.valueStart + uint64(s.bounds[limitBytes]) - s.pos()
		if need := int(min(uint64(n+pad), most+1)); s.end-s.r < need {
			if err := s.fetch(need); err == io.EOF && s.end-s.r >= n {
				pad = s.end - s.r - n
			} else if err != nil {
				return pad, s.readFault(err)
			}
		}
	}
	return pad, l.wait(n + pad)
}

// chunk reads the next elements of packed data as a token.
func (l *lookahead) chunk() Token {
	s := l.s
	pos, f := s.pos(), s.top()
	n := l.takeChunk(math.MaxInt)
	if l.failed() {
		return Token{}
	}
	s.markToken(pos)
	return newToken(KindChunk, f.typ, tokenFlags(f.unit), uint64(n/int(f.size))).at(&s.tokenSource, 0, n)
}

// takeChunk consumes the next elements of packed data, at most this number, and the
// padding after the last element. It returns the number of bytes without padding.
//
// Both are consumed at once: after an error of the Reader between them, nothing would say
// that only padding is missing.
func (l *lookahead) takeChunk(most int) int {
	s, f := l.s, l.s.top()
	n, pad := min(max(s.maxChunk/int(f.size), 1), most), 0
	if s.remaining <= uint64(n) {
		n = int(s.remaining)
		if f.unit == wire.Byte {
			pad = wire.Padding(f.count)
		}
	}
	size := n * int(f.size) // fits an int: at most MaxChunk, or one element
	pad, cut := l.padded(f.typ, size, pad)
	if cut.kind != noFault {
		s.fault = cut
		return 0
	}
	if l.checkPadding(size, s.buf[s.r+size:s.r+size+pad]); l.failed() {
		return 0
	}
	s.count(uint64(n))
	s.consume(size + pad)
	return size
}

// strictSeen is the set of alternatives that Strict saw in a top-level value. An engine
// uses only one of two alternatives in a value: math types of 32 or of 64 bits, and
// serialized objects or ids. Each class occupies two bits.
type strictSeen uint32

// both adds an alternative of class c, the wide one if wide is 1, and reports whether the other was
// seen, too.
func (s *strictSeen) both(c widthClass, wide uint32) bool {
	*s |= 1 << wide << (2 * c)
	return *s>>(2*c)&3 == 3
}

// notCanonical returns the error for input that engines accept but never write.
func notCanonical(format string, args ...any) error {
	return wrapf(ErrStrict, "not canonical: "+format, args...)
}
