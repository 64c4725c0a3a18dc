package gdwire

import (
	"cmp"
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/wire"
)

// The slow path reads whatever the fast path does not: top-level values, containers with declared
// types, objects, texts in chunks, Strict, and every token that is not completely in the buffer.
//
// Calls enter it by look, which returns the error of an earlier call or brings the Decoder into
// a plain state: no valid token, no active bulk read, no abandoned container. Then want tells what
// is next, and the lookahead that look returns reads it. Bulk reads, which continue where an
// earlier call ended, have a door of their own, bulk.look. Only the slow path waits for bytes. What
// it finds wrong is a fault, and the Decoder makes the error of the call from it: failure.

// A slowPath is what a lookahead needs: the fast path, whose bytes and nesting it shares, and the
// options. It reads from the Reader, but knows nothing of earlier calls and makes no [Error]: what it
// finds wrong is a fault.
type slowPath struct {
	fastPath
	input
	fault      fault      // of the current lookahead
	saved      *savedKeys // the latest keys of the open containers that have left the buffer, or nil
	strictSeen strictSeen // in the top-level value
	options    DecoderOptions
}

// setOptions sets the options, before the first reset.
func (s *slowPath) setOptions(o *DecoderOptions) {
	if o != nil {
		s.options = *o
	}
}

// configure completes the options and derives the fields of the fast path from them.
func (s *slowPath) configure() {
	o := &s.options
	o.Format = cmp.Or(o.Format, Godot4)
	o.MaxChunk = cmp.Or(o.MaxChunk, DefaultMaxChunk)
	s.fastPath.configure(o)
}

// setFault sets the fault of a bulk read without a lookahead, or clears a fault.
func (s *slowPath) setFault(f fault) { s.fault = f }

// ahead returns a lookahead at the next token.
func (s *slowPath) ahead() lookahead {
	s.fault.kind = noFault // alone, because this is one store
	return lookahead{s: s}
}

// A fault is what keeps a lookahead from reading a token. Without a kind it is none, whatever its other
// fields hold.
type fault struct {
	err  error
	at   int // of a fault in the input or the call: bytes after the start of the token
	kind faultKind
}

type faultKind uint8

const (
	noFault  faultKind = iota
	inInput            // an Error that stays
	inCall             // an Error that does not stay: the next value is not what the call reads
	ofReader           // an error of the Reader, after which the call can be repeated
	atEnd              // io.EOF, before a top-level value
)

// result returns the token t, or the error of a call for the fault of the lookahead that read t.
func (d *Decoder) result(t Token) (Token, error) {
	if d.fault.kind != noFault {
		return Token{}, d.failure()
	}
	switch t.Kind() {
	case KindStringChunk:
		d.payload.set(d.mark, KindStringChunk, d.tokenPos()+t.offset(), t.payloadLen())
	case KindChunk:
		d.payload.set(d.mark, d.top().kind, d.tokenPos(), t.payloadLen())
	case KindProperty: // bulk reads do not return names of properties
		d.payload.set(d.mark, 0, 0, 0)
	}
	return t, nil
}

// followed contains the kinds of tokens whose encoding does not tell where their payload is, so
// that result stores it: chunks, and the names of properties. Of other tokens, bulk.start finds the
// payload, if there is a bulk read.
var followed = [128]bool{KindStringChunk: true, KindChunk: true, KindProperty: true}

// failure returns the error of a call for the fault of its lookahead, or nil, and clears the fault: a
// Decoder in a pool refers to no error of a Reader.
func (d *Decoder) failure() error {
	f := d.fault
	if f.kind == noFault {
		return nil
	}
	d.setFault(fault{})
	switch f.kind {
	case ofReader:
		return d.latest(f.err)
	case atEnd:
		return io.EOF
	case inInput: // what follows cannot be read; the fast path is off, so that later calls come to look
		d.setErr(d.errorAt(f.at, f.err), false)
		d.stopFast()
		return d.err
	default:
		return d.errorAt(f.at, f.err)
	}
}

// readSlow reads the next token on the slow path.
func (d *Decoder) readSlow() (Token, error) {
	l, err := d.look()
	if err != nil {
		return Token{}, err
	}
	var t Token
	if d.depth == 0 { // as token, which costs more: -5 % of tokens of 64 bytes from a Reader
		t = l.topValue()
	} else {
		t = l.token()
	}
	if l.failed() || followed[t.Kind()&127] {
		return d.result(t)
	}
	return t, nil // as result: -2 % of the same
}

// look begins each call that reads on the slow path. It invalidates the latest token,
// ends a bulk read, skips the rest of a container that a loop left, and returns a lookahead at the
// next token, or the error of an earlier call.
func (d *Decoder) look() (lookahead, error) {
	d.drop()              // also if the call fails: a token is valid until the next call
	if d.payload.active { // a bulk read keeps the fast path off, so that its end is noticed here
		d.payload.stop()
		d.updateFastPath()
	}
	if d.err != nil {
		return lookahead{}, d.earlier()
	}
	if d.abandoned > 0 { // here, because leaving a loop must not wait for a slow sender
		if err := d.leaveLoop(); err != nil {
			return lookahead{}, err
		}
	}
	if d.depth == 0 {
		d.stopFast() // the fast path does not begin a top-level value, which sets limits of its own
		if d.remaining == 0 {
			return lookahead{}, errNotReset // Release leaves an error
		}
	}
	return d.ahead(), nil
}

// earlier returns d.err, the error of an earlier call.
func (d *Decoder) earlier() error {
	err := d.err
	if d.errOnce { // an error of the Reader that PeekKind met, and that is now returned
		d.setErr(nil, false)
		d.updateFastPath()
	}
	return err
}

// updateFastPath switches the fast path off if there is something for look to do before the next
// token, and otherwise on if it can read the innermost container. It is called after the end of an
// error, a bulk read or a loop. Where one begins, stopFast is called instead.
func (d *Decoder) updateFastPath() {
	if d.any() {
		d.stopFast()
		return
	}
	d.startFast()
}

// peekSlow returns the kind of the next token for PeekKind, on the slow path. It takes no error of an
// earlier call, because it cannot return it.
func (d *Decoder) peekSlow() Kind {
	if d.err != nil { // the next call returns it; also an error of the Reader that an earlier PeekKind kept
		d.payload.stop()
		return 0
	}
	k := Kind(0)
	l, err := d.look()
	if err == nil {
		if k = wantKinds[d.want()]; k == 0 {
			if l.readHeader(); !l.failed() {
				k = l.form.kind
			}
			err = d.failure()
		}
	}
	if err != nil && d.err == nil { // an error of the Reader, which PeekKind cannot return and the next call does
		d.setErr(err, true)
	}
	d.updateFastPath()
	return k
}

// wantKinds contains the kinds of tokens that do not start a value.
var wantKinds = [...]Kind{
	wantDictKey: KindDictKey, wantProperty: KindProperty, wantName: KindStringChunk,
	wantText: KindStringChunk, wantChunk: KindChunk, wantEnd: KindEnd,
}

// A lookahead reads the fields of a token from the read buffer, in their order, without
// consuming them: the header, counts and names. Only open, take, takeText and takeChunk, number and
// the callers of math consume them, after all of them are buffered and checked. After a temporary
// error of the Reader, the same call therefore starts from the header again.
//
// The first fault stays in the slowPath, until another lookahead begins. After it, methods check
// nothing, consume nothing and return zeros, so that the functions for each type need not handle it
// field by field. A lookahead of three words is passed in registers: -3 % of packets of 64 bytes from
// a Reader.
type lookahead struct {
	s    *slowPath
	at   int   // the offset of the next field, from the start of the token
	form *form // of the value, after readHeader
}

// failed reports whether there is a fault.
func (l *lookahead) failed() bool { return l.s.fault.kind != noFault }

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
	// Whether the input ends here must be known before beginValue, which can find that a value
	// is not allowed. With OneValue or Strict it decides itself, without waiting for bytes.
	switch {
	case s.r < s.end: // there is a value
	case s.pos() == s.inputEnd && s.srcErr == nil: // the Reader is not asked for more than the caller's n bytes
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

// beginValue prepares for a top-level value, if it is next. PeekKind and typed reads call it, too,
// so it can be called several times before the value.
func (l *lookahead) beginValue() {
	s := l.s
	if s.depth > 0 {
		return
	}
	s.strictSeen = 0
	s.limitValue()
	switch first := s.valueStart == s.origin; {
	case first:
	case s.options.Strict && s.inputEnd != math.MaxUint64 && s.valueStart < s.inputEnd:
		l.fail(0, notCanonical("bytes after the value"))
	case s.options.OneValue:
		s.fault.kind = atEnd
	}
}

// value reads the first token of a value. The caller knows that a value or key is next. Each case
// reads its fields in the order of the encoding, and checks counts and lengths before it waits for the
// bytes that they declare. The error is then the same for every way in which the input arrives.
func (l *lookahead) value() Token {
	if l.form == nil && !l.failed() { // expect did not read it
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
	case f.typeOf(h&0xFFFF) != 0: // only in formats whose ids have more than 16 bits
		l.fail(0, wrapf(ErrFlags, "header has flags: %#x, %v has none", h, f))
	default:
		hint := ""
		if s.pos() == s.origin { // the first bytes, which tell what else the input can be
			hint = wire.Hint(h)
		}
		l.fail(0, wrapf(ErrType, "unknown %v type id %d%s", f, h&f.idMask, hint))
	}
}

// header returns the header that readHeader read, with its flags.
func (l *lookahead) header() uint32 { return le.Uint32(l.s.buf[l.s.r:]) }

// readForm reads the first token of the next value, whose form accepts must report true for. want
// names the wanted value in the error.
func (d *Decoder) readForm(want any, accepts func(*form) bool) (Token, error) {
	l, err := d.look()
	if err != nil {
		return Token{}, err
	}
	l.expect(want, accepts)
	return d.result(l.value())
}

// readPart does the same for a text. The names of a NodePath and the strings of a PackedStringArray,
// which have no form, are accepted, too.
func (d *Decoder) readPart(want any, accepts func(*form) bool) (Token, error) {
	l, err := d.look()
	if err != nil {
		return Token{}, err
	}
	if d.want() == wantName {
		return d.result(l.text(d.top().typ))
	}
	l.expect(want, accepts)
	return d.result(l.value())
}

// expect reads the header of the next value for a typed read, which consumes nothing, not even a
// DictKey, if the value is not what it wants. accepts reports whether it is; nil accepts all values.
// want names the wanted value in the error. After expect, value reads the value, or returns the error.
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
// the declared type of its container, and the alternatives in strictSeen. It is called before the
// rest of the value is waited for: an error of the header must not depend on a slow sender.
func (l *lookahead) checkHeader() {
	s, form := l.s, l.form
	if l.checkLimit(limitDepth, 0, uint64(s.depth)); l.failed() || !s.options.Strict {
		return
	}
	h := l.header()
	f, class, wide := s.format, layouts[form.typ].class, h>>16&1
	flagged := f.width[class] == flagged
	switch {
	// Bits 8 to 15 mean nothing, and bits 16 to 31 only what the type defines. With an idMask of
	// all bits, lookup finds only headers without flags.
	case f.idMask != math.MaxUint32 && (h&0xFF00 != 0 || h>>16&^uint32(form.headerFlags) != 0):
		l.fail(0, notCanonical("header %#x", h))
	case !s.admits(form.typ):
		l.fail(0, notCanonical("%v in a container of %v", form.typ, s.top().elem))
	// An engine is built for one width of math types, and one call encodes all objects alike.
	case class == classReal && flagged && s.strictSeen.both(class, wide):
		l.fail(0, notCanonical("math types of both widths"))
	case class == classObject && flagged && s.strictSeen.both(class, wide):
		l.fail(0, notCanonical("both ids of objects and serialized objects"))
	}
}

// bytes reads n bytes. It waits for all of them at once, because an error of Limits.Bytes
// contains the number. The bytes are valid until the next call, which can move them.
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

// wait reads until at least n bytes of the token are buffered. Even if n exceeds Limits.Bytes, it
// first reads up to that limit, because the input can end earlier. The error and its offset then do
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

// word reads a number of n bytes, at most 8. After an error it is 0. The copy serves all sizes, and
// an error, without a branch.
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

// readFault returns the fault after the Reader returned err. io.EOF inside a value is
// io.ErrUnexpectedEOF.
func (s *slowPath) readFault(err error) fault {
	if err != io.EOF {
		return fault{err: err, kind: ofReader}
	}
	left := s.end - s.r                                            // bytes of an incomplete token
	short := s.inputEnd != math.MaxUint64 && s.pos() != s.inputEnd // of the length that was given
	if s.depth > 0 || left > 0 || short {
		return fault{io.ErrUnexpectedEOF, left, inInput}
	}
	return fault{err: err, kind: atEnd}
}

// errorAt returns an Error for the next token, with an offset of at bytes after r. It does not
// stay: typed reads return it if they consumed nothing. The path is that of the next token, whose
// key was read, while WrapError uses the path of the latest.
func (d *Decoder) errorAt(at int, err error) error {
	d.drop() // a number on the fast path that does not fit did not come to look
	return d.latest(&Error{
		Offset: int64(d.pos()-d.origin) + int64(at),
		Path:   string(d.appendPath(nil, true, d.key)),
		Err:    err,
	})
}

// Err returns the error that all calls return until Reset: nil, an [Error], or [ErrReleased].
// It reads nothing.
func (d *Decoder) Err() error {
	if d.errOnce {
		return nil
	}
	return d.err
}

// LastError returns the latest error that d found since Reset, or nil: an [Error], which can be one
// that does not stay, or an error of the Reader. It reads nothing. With [errors.Is], code that
// passes d to a method learns whether the method's error is one of d.
func (d *Decoder) LastError() error {
	if d.cold == nil { // there was none, or Release; the io.EOF that PeekKind keeps is no error
		return d.Err()
	}
	return d.cold.err
}

// latest returns err and makes it the error that LastError returns.
func (d *Decoder) latest(err error) error {
	d.getCold().err = err
	return err
}
