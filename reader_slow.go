package gdwire

import (
	"bytes"
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/wire"
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
