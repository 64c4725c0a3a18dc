package gdwire

import (
	"bytes"
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// The slow path reads whatever the fast path does not: top-level values, containers with declared
// types, objects, texts in chunks, Strict, and every token that is not completely in the buffer.
//
// Calls enter the slow path by look: it returns the error of an earlier call or brings the Decoder into a plain
// state: no valid token, no active bulk read, no abandoned container. Then want returns the kind of the next
// field, and the lookahead from look reads the field. Bulk reads continue where an earlier call ended, so they
// have a door of their own, bulk.look. Only the slow path waits for bytes. It reports a fault, and the Decoder
// makes the error of the call from the fault: failure.

// ahead returns a lookahead at the next token.
func (s *slowPath) ahead() lookahead {
	s.fault.kind = noFault // alone, because this is one store
	return lookahead{s: s}
}

// A lookahead reads the fields of a token from the read buffer, in their order, without
// consuming them: the header, counts and names. Only open, take, takeText and takeChunk, number and
// the callers of math consume them, after all of them are buffered and checked. After a temporary
// error of the Reader, the same call therefore starts from the header again.
//
// The first fault stays in the slowPath, until another lookahead begins. After a fault, methods check
// nothing, consume nothing and return zeros, so that the functions for each type need not handle
// faults field by field. A lookahead of three words is passed in registers: -3 % of packets of 64
// bytes from a Reader.
type lookahead struct {
	s    *slowPath
	at   int   // the offset of the next field, from the start of the token
	form *form // of the value, after readHeader
}

// failed reports whether there is a fault.
func (l *lookahead) failed() bool { return l.s.fault.kind != noFault }

// beginValue prepares for a top-level value, if one is next. It can be called several times before
// the value, because PeekKind and typed reads also call it.
func (l *lookahead) beginValue() {
	s := l.s
	if s.depth > 0 {
		return
	}
	s.limitValue()
	switch {
	case s.untouched():
	case s.options.Strict && s.inputEnd != math.MaxUint64 && s.valueStart < s.inputEnd:
		l.fail(0, notCanonical("bytes after the value"))
	case s.options.OneValue:
		s.fault.kind = atEnd
	}
}

// readHeader reads the header of a value and finds its form. Without a form there is an error: for
// a known type id, the flags of the header are wrong, otherwise the id.
func (l *lookahead) readHeader() {
	s := l.s
	if l.beginValue(); l.failed() {
		return
	}
	h, f := l.uint32(), s.format
	l.form = s.forms.lookup(h)
	switch {
	case l.form != nil: // also after an error of the Reader
	case f.typeOf(h&0xFFFF) != 0: // only in formats with ids of more than 16 bits
		l.fail(0, wrapf(ErrFlags, "header has flags: %#x, %v has none", h, f))
	default:
		hint := ""
		if s.depth == 0 && s.untouched() { // the first bytes show if the input is of another kind
			hint = wire.Hint(h)
		}
		l.fail(0, wrapf(ErrType, "unknown %v type id %d%s", f, h&f.idMask, hint))
	}
}

// header returns the header read by readHeader, with its flags.
func (l *lookahead) header() uint32 { return le.Uint32(l.s.buf[l.s.r:]) }

// expect reads the header of the next value for a typed read. If the value is of another kind, nothing
// is consumed, not even a DictKey. accepts reports whether the form is wanted; nil accepts all values.
// want names the wanted value in the error. After expect, value reads the value, or nothing after a
// fault.
func (l *lookahead) expect(want any, accepts func(*form) bool) {
	s := l.s
	switch w := s.want(); {
	case w <= lastValue || w == wantDictKey: // a value
		if l.readHeader(); !l.failed() && accepts != nil && !accepts(l.form) {
			l.misfit(0, wrapf(ErrType, "got %v, want %v", l.form.typ, want))
		}
	case w == wantEnd:
		f := s.top()
		l.misfit(0, wrapf(ErrCount, "more %s than the declared %d", f.holds(), f.count))
	case w == wantProperty:
		l.misfit(0, wrapf(ErrType, "got the name of a property, want a value"))
	default:
		l.misfit(0, wrapf(ErrType, "got a part of a %v, want a value", s.top().typ))
	}
}

// checkHeader checks the depth of a value. With Strict, it also checks the flags of its header,
// the declared type of its container, and the alternatives in strictSeen. It is called before
// waiting for the rest of the value: an error of the header must not depend on a slow sender.
func (l *lookahead) checkHeader() {
	s, form := l.s, l.form
	if l.checkLimit(limitDepth, 0, uint64(s.depth)); l.failed() || !s.options.Strict {
		return
	}
	h := l.header()
	f := s.format
	// Bits 8 to 15 mean nothing, and bits 16 to 31 only as the type defines. With an idMask of
	// all bits, lookup finds only headers without flags.
	unknown := h &^ (0xFF | uint32(form.headerFlags)<<16)
	switch {
	case f.idMask != math.MaxUint32 && unknown != 0:
		l.fail(0, notCanonical("unknown bits %#x in header %#x", unknown, h))
	case !s.admits(form.typ):
		l.fail(0, notCanonical("%v in a container of %v", form.typ, s.top().elem))
	// An engine is built for one width of math types, and one call encodes all objects alike.
	case s.strictSeen.both(f, form.typ, h):
		both := "math types of both widths"
		if form.typ == TypeObject {
			both = "both ids of objects and serialized objects"
		}
		l.fail(0, notCanonical("%s", both))
	}
}

// bytes reads n bytes, waiting for all of them at once, because an error of Limits.Bytes
// contains the number. The bytes are valid until the next call: it can move them.
func (l *lookahead) bytes(n int) []byte {
	if l.failed() {
		return nil
	}
	if f := l.wait(l.at + n); f.kind != noFault {
		l.s.fault = f
		return nil
	}
	from := l.s.r + l.at
	l.at += n
	return l.s.buf[from : from+n]
}

// wait reads until at least n bytes of the token are buffered. Even if n exceeds Limits.Bytes, wait
// first reads up to the limit, because the input can end earlier. The error and its offset then do
// not depend on how the tokens are read.
func (l *lookahead) wait(n int) fault {
	s := l.s
	if s.limit-s.r >= n {
		return fault{}
	}
	err := s.bounds.check(limitBytes, s.pos()+uint64(n)-s.valueStart)
	at := n // bytes to wait for
	if err != nil {
		at = int(s.valueStart + uint64(s.bounds[limitBytes]) - s.pos())
	}
	if s.end-s.r < at {
		if err := s.fetch(at); err != nil {
			return s.readFault(err)
		}
	}
	if err != nil {
		return fault{err, at, inInput}
	}
	return fault{}
}

// word reads a number of n bytes, at most 8, or returns 0 after an error. The copy serves all
// sizes, and an error, without a branch.
func (l *lookahead) word(n int) uint64 {
	var word [8]byte
	copy(word[:], l.bytes(n))
	return le.Uint64(word[:])
}

func (l *lookahead) uint32() uint32 { return uint32(l.word(4)) }

// fail sets a fault in the input, at bytes after the start of the token, unless err is nil.
func (l *lookahead) fail(at int, err error) {
	if err != nil && !l.failed() {
		l.s.fault = fault{err, at, inInput}
	}
}

// misfit sets a fault in the call, at bytes after the start of the token.
func (l *lookahead) misfit(at int, err error) { l.s.fault = fault{err, at, inCall} }

// strict sets an error at bytes after the start of the token, with Strict, if the input differs from
// the bytes that engines write.
func (l *lookahead) strict(differs bool, at int, text string) {
	if differs && l.s.options.Strict {
		l.fail(at, notCanonical(text))
	}
}

// checkLimit checks the field at offset at, with a declared n.
func (l *lookahead) checkLimit(x limit, at int, n uint64) { l.fail(at, l.s.bounds.check(x, n)) }

// checkLength checks whether n bytes can follow the length field at offset at. A length too large
// for the input or for Limits.Bytes is an error at once, before any of the bytes, without waiting
// for a sender who declares much and sends nothing.
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
// number of values. It adds the values to s.values, so no field may follow: if the Reader
// interrupted it, the repeated call would add them again. The products fit 64 bits, because n is
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

// signed reads a count that engines read as an int32, or as 0 if negative. A larger value
// read here would be a container that no engine sees.
func (l *lookahead) signed() uint32 {
	n := l.uint32()
	if n > math.MaxInt32 && l.s.format.engine { // programs written from a manual have no such rule
		l.strict(true, l.at-4, "negative count")
		return 0
	}
	return n
}

// name reads a name with its length and padding, and returns the length. A token holds its name as
// a whole, so name waits for all bytes, and NameBytes is the limit instead of StringBytes.
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

// take consumes the fields, a whole value or name, and returns t with a payload of n bytes
// at offset at, or without one if at is 0.
func (l *lookahead) take(t Token, at, n int) Token {
	if l.failed() {
		return Token{}
	}
	l.s.countAt(l.s.pos())
	return l.consumeFields(t, at, n)
}

// open consumes the fields, pushes a frame for count elements, of the declared type elem, and returns
// the Start token, with a payload as take does.
func (l *lookahead) open(count uint32, elem Type, at, n int) Token {
	if l.failed() {
		return Token{}
	}
	s, form := l.s, l.form
	s.push(&form.content, count, s.pos()).setElem(elem) // with the position of the header, before consumeFields passes it
	t := l.consumeFields(Token{head: form.head, bits: uint64(count)}, at, n)
	s.startFast()
	return t
}

// consumeFields consumes the fields for take and open, after they counted the value from its
// position.
func (l *lookahead) consumeFields(t Token, at, n int) Token {
	s := l.s
	s.pass(s.r+l.at, s.pos())
	if at > 0 {
		t = t.withPayloadAt(&s.tokenSource, at, n)
	}
	return t
}

// checkNumber checks, with Strict, whether engines write the number in these bits.
func (l *lookahead) checkNumber(bits uint64) {
	if l.s.options.Strict {
		l.fail(0, l.s.format.canonicalNumber(l.form, bits))
	}
}

// checkText checks that text, at offset at, is UTF-8 and, with Strict, contains no NUL.
// The first of several errors counts, as with smaller chunks.
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

// padded waits for n bytes and pad bytes of padding, without reading them, and returns the number
// of bytes of padding: less than pad only at the end of the input, if engines accept that. Where
// Limits.Bytes ends in the padding, padded waits for one byte more to learn whether the input
// ends.
func (l *lookahead) padded(typ Type, n, pad int) (int, fault) {
	s, o := l.s, &l.s.options
	// Engines accept these types if the packet ends before their padding.
	if pad > 0 && s.limit-s.r < n+pad && !o.Strict && !o.wholePadding && s.format.mayLackPadding(typ) {
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

// token reads the next token.
func (l *lookahead) token() Token {
	s := l.s
	switch s.want() {
	case wantElem, wantKey, wantValue, wantField:
		return l.value()
	case wantTop:
		return l.topValue()
	case wantDictKey:
		return s.readDictKey()
	case wantEnd:
		return s.readEnd()
	case wantName, wantText:
		return l.text(s.top().typ)
	case wantProperty: // a name without a header
		n := l.name()
		return l.take(newToken(KindProperty, TypeObject, 0, 0), 4, n)
	default:
		return l.chunk()
	}
}

// topValue reads the first token of a top-level value.
func (l *lookahead) topValue() Token {
	s := l.s
	// Whether the input ends here must be known before beginValue, because beginValue can find
	// that no value is allowed. With OneValue or Strict, only beginValue decides, without
	// waiting for bytes.
	switch {
	case s.r < s.end: // there is a value
	case s.pos() == s.inputEnd && s.srcErr == nil: // never read more than the caller's n bytes from the Reader
		s.fault.kind = atEnd
		return Token{}
	case !s.options.OneValue && !s.options.Strict: // the usual end of a Reader
		if err := s.fetch(1); err != nil {
			s.fault = s.readFault(err)
			return Token{}
		}
	}
	if l.beginValue(); l.failed() {
		return Token{}
	}
	if form := s.startTop(); form != nil {
		n := le.Uint32(s.buf[s.r+4:])
		if opened := form.shape == shapePacked && s.openPacked(form, n) || form.shape != shapePacked && s.openFast(form, n); opened {
			return Token{head: form.head, bits: uint64(n)}
		}
		s.stopFast()
	}
	return l.value()
}

// value reads the first token of a value. The caller knows that a value or key is next. Each case
// reads its fields in the order of the encoding, and checks counts and lengths before waiting for the
// declared bytes. The error is then the same for every way in which the input arrives.
func (l *lookahead) value() Token {
	if l.form == nil && !l.failed() { // not already read by expect
		l.readHeader()
	}
	if !l.failed() {
		l.checkHeader()
	}
	if l.failed() {
		return Token{}
	}
	switch l.form.shape {
	case shapeText:
		return l.text(l.form.typ)
	case shapeNodePath:
		return l.nodePath()
	case shapeSignal:
		return l.signal()
	case shapeObject:
		return l.object()
	case shapeArray, shapeDict:
		return l.container()
	case shapePacked, shapePackedStrings:
		return l.packed()
	case shapeImage:
		return l.image()
	case shapeEvent:
		return l.event()
	}
	return l.fixed()
}

// skip reads up to the end of x, or a fault: values in the buffer on the fast path, without tokens, and
// others by single tokens of the slow path.
func (l *lookahead) skip(x span) {
	s := l.s
	for {
		if s.strict {
			s.startFast() // with the next values checked
		}
		if s.skipFast(x.open); s.isOver(x) {
			break
		}
		*l = s.ahead()
		if l.token(); l.failed() {
			break
		}
	}
	s.drop()
}

// fixed reads a number or math type. A number is in the token itself; components are the payload of the
// token.
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

// container reads the start of an Array or Dictionary: the declared types, if any, and the
// count. The encoded types are the payload of the token, so that reading them allocates
// nothing: Token.Elem decodes them again.
func (l *lookahead) container() Token {
	s, from, flags := l.s, l.at, l.header()>>16&uint32(l.form.headerFlags)
	// An Array declares the type of its elements in bits 16 and 17, a Dictionary also that of its values
	// in the two bits after them; in an Array these are 0.
	elem := l.readDeclared(containerKind(flags & 3)) // of elements or keys
	if elem == 0 {                                   // type id 0 declares nothing, so the payload begins after it
		flags, from = flags&^3, l.at
	}
	to := l.at
	if l.readDeclared(containerKind(flags>>2)) == 0 { // of values
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
	t := l.open(n, elem, from, to-from)
	if !l.failed() {
		t.head |= uint64(shared)<<16 | uint64(flags)<<(16+elemShift)
	}
	return t
}

// readDeclared reads a declared type and returns the type of the elements, or 0 for any. The name
// of a declared class or script follows, and its elements are Objects. Engines refuse an unknown id
// as well, but take id 0 for no type. Only Strict and the Encoder compare the elements with the
// type.
func (l *lookahead) readDeclared(k containerKind) Type {
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
	null := s.format.nullObject // the format includes null objects, allowed without permission
	if !s.options.AllowObjects && !null {
		l.fail(0, ErrObject) // before the name, without waiting for one
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
	return l.open(count, 0, 8, n)
}

// nodePath reads the start of a NodePath. Bit 31 of its first word tells two counts and flags from
// the form before Godot 3, where the word is the length of one string.
func (l *lookahead) nodePath() Token {
	s, format := l.s, l.s.format
	s.plainPaths = false
	names, subnames, flags := uint32(1), uint64(0), flagOldNodePath
	if n := l.uint32(); n&newNodePathBit != 0 {
		names, subnames, flags = l.nodePathCounts(n &^ newNodePathBit)
	} else {
		if !format.oldNodePath {
			l.fail(4, wrapf(ErrType, "NodePath in one string, which %v does not have", format))
		}
		l.strict(format.engine, 4, "NodePath as one string")
		l.checkCount(4, 1, 1, 0)
		l.at = 4 // the word is the length of a string in the form of a name
	}
	t := l.open(names+uint32(subnames), 0, 0, 0)
	if !l.failed() {
		s.top().setNames(names, flags)
		t.head |= uint64(flags) << 16
		t.bits = uint64(names) | subnames<<32
	}
	return t
}

// nodePathCounts reads the number of sub-names and the flags of a NodePath with this number
// of names. The results are the counts that engines use: with the property, counted only by a
// flag, and with an overflow of 32 bits.
func (l *lookahead) nodePathCounts(names uint32) (uint32, uint64, tokenFlags) {
	format, word := l.s.format, l.word(8)
	subnames, bits := uint64(uint32(word)), uint32(word>>32)
	known := uint32(nodePathAbsolute) // the flags written by engines
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

// packed reads the start of a packed array. Arrays of numbers are limited by PackedBytes,
// and not by Elements and Values: nothing is created for each element.
func (l *lookahead) packed() Token {
	var n uint32
	if l.form.shape == shapePackedStrings {
		n = l.signed()
		l.checkCount(4, uint64(n), 1, 4)
	} else {
		n = l.uint32()
		l.checkBytes(limitPacked, 4, uint64(n)*uint64(l.form.size))
	}
	return l.open(n, 0, 0, 0)
}

// signal reads a Signal.
func (l *lookahead) signal() Token {
	n := l.name()
	object := l.word(8)
	return l.take(Token{head: l.form.head, bits: object}, 8, n)
}

// image reads the start of an Image of Godot 2. The fields are the payload of the token; the data
// follows as Chunks.
func (l *lookahead) image() Token {
	const fields = 16 // format, mipmaps, width, height
	b := l.bytes(fields + 4)
	if b == nil {
		return Token{}
	}
	n := le.Uint32(b[fields:])
	l.checkBytes(limitPacked, 4+fields, uint64(n))
	return l.open(n, 0, 4, fields)
}

// event reads an InputEvent of Godot 2.
func (l *lookahead) event() Token {
	b := l.bytes(wire.EventHead) // type, device, and the size of everything after the header
	if b == nil {
		return Token{}
	}
	event, device, size := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])
	rest := size - wire.EventHead // size includes the fields up to here; if less, the first check fails
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

// text reads the next chunk of a string as a token, and before the first chunk the length. A
// bulk read can continue after the token. typ is the type of the string, or of the NodePath or
// array around it.
func (l *lookahead) text(typ Type) Token {
	s := l.s
	pos := s.pos()
	part := l.takeText(typ)
	if l.failed() {
		return Token{}
	}
	s.markToken(pos)
	return newToken(KindStringChunk, typ, part.flags, part.length).withPayloadAt(&s.tokenSource, part.at, part.n)
}

// takeText consumes the next chunk of a string, for text and, without a token, for bulk reads. A
// string in one chunk, as most are, opens no frame; a longer one is open from the first chunk to
// the last. The first chunk counts the string in the container around it.
func (l *lookahead) takeText(typ Type) textPart {
	s, at, f := l.s, l.at, l.s.top()
	remaining, total, first := s.remaining, f.count, f.kind != KindStringChunk
	if first {
		total = l.uint32()
		remaining = uint64(total)
		// StringBytes limits the text. The NUL of engines is no part of it.
		l.checkLimit(limitString, at, uint64(total-min(total, s.format.nul(typ))))
		l.checkLength(at, uint64(total))
	}
	part := l.textPart(typ, remaining, total)
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
	if !last { // in the frame of the string; the last chunk closed it
		s.count(uint64(part.n))
	}
	if first != last { // a frame was opened or closed, perhaps by a bulk read
		s.startFast() // a bulk read switches the fast path off again, see bulk.peek
	}
	s.consume(part.size)
	return part
}

// needsPadding says in the fault of text that only its padding, of pad bytes, is missing. size is that of the text and
// the padding. It is a separate function, because a larger frame of textPart doubles the stack of a waiting
// connection.
//
//go:noinline
func (l *lookahead) needsPadding(typ Type, total uint32, size, pad int) {
	f := &l.s.fault
	if missing := size - (l.s.limit - l.s.r); f.err == io.ErrUnexpectedEOF && missing <= pad {
		f.err = wrapf(f.err, "%v of %d bytes: %d of %d bytes of padding are missing", typ, total, missing, pad)
	}
}

// textPart reads the next chunk of a string of total bytes, with remaining bytes still to come. The
// end of a chunk depends only on maxChunk and the text, never on how the bytes arrive, so that the
// tokens of an input are always the same.
func (l *lookahead) textPart(typ Type, remaining uint64, total uint32) textPart {
	if l.failed() {
		return textPart{}
	}
	s, at, nul := l.s, l.at, l.s.format.nul(typ)
	n, pad, flags := s.maxChunk, 0, tokenFlags(0)
	last := remaining <= uint64(s.maxChunk)+uint64(nul) // the chunk must not depend on whether the NUL also fits
	if last {
		n, pad, flags = int(remaining), wire.Padding(total), flagLast
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
	if ended { // the NUL written by engines is no part of the text; any other NUL is
		text = text[:n-1]
	}
	if cut.kind != noFault || !last { // the next chunk begins with the rune at the boundary
		text = text[:wire.WholeRunes(text, len(text))]
	}
	if l.checkText(at, text); !l.failed() && cut.kind != noFault {
		s.fault = cut
		l.needsPadding(typ, total, at+n+pad, pad)
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

// chunk reads the next elements of packed data as a token.
func (l *lookahead) chunk() Token {
	s := l.s
	pos, f := s.pos(), s.top()
	n := l.takeChunk(math.MaxInt)
	if l.failed() {
		return Token{}
	}
	s.markToken(pos)
	return newToken(KindChunk, f.typ, tokenFlags(f.unit), uint64(n/int(f.size))).withPayloadAt(&s.tokenSource, 0, n)
}

// takeChunk consumes the next elements of packed data, at most this number, and the
// padding after the last element, and returns the number of bytes without padding.
//
// Both are consumed at once: after an error of the Reader between them, nothing would
// show that only padding is missing.
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
