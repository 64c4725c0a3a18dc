package gdwire

import (
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/wire"
)

// The slow path reads whatever the fast path does not: top-level values, containers with declared
// types, objects, texts in chunks, Strict, and every token that is not completely in the buffer.
//
// Calls enter it by look, which returns the error of an earlier call or brings the Decoder into
// a plain state: no valid token, no active bulk read, no abandoned container. Then want tells what
// is next, and the lookahead that look returns reads it. Bulk reads, which continue where an earlier
// call has ended, have a door of their own, bulk.look. Only the slow path waits for bytes and makes
// errors: of the input with fail, which stay, and of calls that do not fit the input with errorAt,
// which do not.

// readSlow reads the next token on the slow path.
func (d *Decoder) readSlow() (Token, error) {
	l, err := d.look()
	if err != nil {
		return Token{}, err
	}
	if d.depth == 0 { // as token, which costs more: -5 % of tokens of 64 bytes from a Reader
		return l.topValue()
	}
	return l.token()
}

// look begins each call that reads on the slow path. It invalidates the latest token,
// ends a bulk read, skips the rest of a container that a loop has left, and returns a lookahead at the
// next token, or the error of an earlier call.
func (d *Decoder) look() (lookahead, error) {
	d.drop()              // also if the call fails: a token is valid until the next call
	if d.payload.active { // a bulk read keeps the fast path off, so that its end is noticed here
		d.payload.stop()
		d.updateFastPath()
	}
	if d.err != nil {
		return lookahead{}, d.failed()
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

// ahead returns a lookahead at the next token.
func (d *Decoder) ahead() lookahead {
	d.fault = nil
	return lookahead{d: d}
}

// failed returns d.err, the error of an earlier call.
func (d *Decoder) failed() error {
	err := d.err
	if d.errOnce { // an error of the Reader that PeekKind has met, and that is now returned
		d.setErr(nil, false)
		d.updateFastPath()
	}
	return err
}

// setErr sets the error that calls return, or only the next call if once is set.
func (d *Decoder) setErr(err error, once bool) { d.err, d.errOnce = err, once }

// updateFastPath switches the fast path off if look has something to do before the next token, and
// otherwise on if it can read the innermost container. It is called after an error, a bulk read or a
// loop has ended. Where one begins, stopFast is called instead.
func (d *Decoder) updateFastPath() {
	if d.err != nil || d.abandoned > 0 || d.payload.active {
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
			if l.readHeader(); l.d.fault == nil {
				k = l.form.kind
			}
			err = l.d.fault
		}
	}
	if err != nil && d.err == nil { // an error of the Reader, which PeekKind cannot return and the next call does
		d.setErr(err, true)
	}
	d.updateFastPath()
	return k
}

// wantKinds has the kinds of tokens that do not start a value.
var wantKinds = [...]Kind{
	wantDictKey: KindDictKey, wantProperty: KindProperty, wantName: KindStringChunk,
	wantText: KindStringChunk, wantChunk: KindChunk, wantEnd: KindEnd,
}

// A lookahead reads the fields of a token from the read buffer, in their order, without
// consuming them: the header, counts and names. Only open, take, takeText, takeChunk, takeNumber and
// the callers of math consume them, after all of them are buffered and checked. After a temporary
// error of the Reader, the same call therefore starts from the header again.
//
// The first error stays in Decoder.fault, until another lookahead begins. After it, methods check
// nothing, consume nothing and return zeros, so that the functions for each type need not handle it
// field by field. A lookahead of three words is passed in registers: -3 % of packets of 64 bytes from
// a Reader.
type lookahead struct {
	d    *Decoder
	at   int   // the offset of the next field, from the start of the token
	form *form // of the value, after readHeader
}

// token reads the next token.
func (l *lookahead) token() (Token, error) {
	d := l.d
	switch d.want() {
	case wantElem, wantKey, wantValue, wantField:
		return l.value()
	case wantTop:
		return l.topValue()
	case wantDictKey:
		return d.readDictKey(), nil
	case wantEnd:
		return d.readEnd(), nil
	case wantName, wantText:
		return l.text(d.top().typ)
	case wantProperty: // a name without a header
		n := l.name()
		return l.take(newToken(KindProperty, TypeObject, 0, 0), 4, n)
	default:
		return l.chunk()
	}
}

// topValue reads the first token of a top-level value.
func (l *lookahead) topValue() (Token, error) {
	d := l.d
	// Whether the input ends here must be known before beginValue, which can find that a value
	// is not allowed. With OneValue or Strict it decides itself, without waiting for bytes.
	switch {
	case d.r < d.end: // there is a value
	case d.pos() == d.inputEnd && d.srcErr == nil: // the Reader is not asked for more than the caller's n bytes
		return Token{}, io.EOF
	case !d.options.OneValue && !d.options.Strict: // the usual end of a Reader
		if err := l.fetch(1); err != nil {
			return Token{}, d.readError(err)
		}
	}
	if err := l.beginValue(); err != nil {
		return Token{}, err
	}
	if form := d.startTop(); form != nil {
		n := le.Uint32(d.buf[d.r+4:])
		if opened := form.shape == shapePacked && d.openPacked(form, n) || form.shape != shapePacked && d.openFast(form, n); opened {
			return Token{head: form.head, bits: uint64(n)}, nil
		}
		d.stopFast()
	}
	return l.value()
}

// beginValue prepares for a top-level value, if it is next. PeekKind and typed reads call it, too,
// so it can be called several times before the value.
func (l *lookahead) beginValue() error {
	d := l.d
	if d.depth > 0 {
		return nil
	}
	d.strictSeen = 0
	d.limitValue()
	first := d.valueStart == d.origin
	if d.options.Strict && !first && d.inputEnd != math.MaxUint64 && d.valueStart < d.inputEnd {
		return d.fail(0, notCanonical("bytes after the value"))
	}
	if d.options.OneValue && !first {
		return io.EOF
	}
	return nil
}

// value reads the first token of a value. The caller knows that a value or key is next. Each case reads its fields in the order of the encoding, and checks counts and lengths
// before it waits for the bytes that they declare. The error is then the same for every way in which
// the input arrives.
func (l *lookahead) value() (Token, error) {
	if l.form == nil && l.d.fault == nil { // expect has not read it
		l.readHeader()
	}
	if l.d.fault == nil {
		l.checkHeader()
	}
	if l.d.fault != nil {
		return Token{}, l.d.fault
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
	d := l.d
	if l.d.fault = l.beginValue(); l.d.fault != nil {
		return
	}
	h, f := l.uint32(), d.format
	l.form = d.forms.lookup(h)
	switch {
	case l.form != nil: // also after an error of the Reader
	case f.typeOf(h&0xFFFF) != 0: // only in formats whose ids have more than 16 bits
		l.fail(0, wrapf(ErrFlags, "header has flags: %#x, %v has none", h, f))
	default:
		hint := ""
		if d.pos() == d.origin { // the first bytes, which tell what else the input can be
			hint = wire.Hint(h)
		}
		l.fail(0, wrapf(ErrType, "unknown %v type id %d%s", f, h&f.idMask, hint))
	}
}

// header returns the header that readHeader has read, with its flags.
func (l *lookahead) header() uint32 { return le.Uint32(l.d.buf[l.d.r:]) }

// readForm reads the first token of the next value, whose form accepts must report true for. want
// names the wanted value in the error.
func (d *Decoder) readForm(want any, accepts func(*form) bool) (Token, error) {
	l, err := d.look()
	if err != nil {
		return Token{}, err
	}
	l.expect(want, accepts)
	return l.value()
}

// readPart does the same for a text. The names of a NodePath and the strings of a PackedStringArray,
// which have no form, are accepted, too.
func (d *Decoder) readPart(want any, accepts func(*form) bool) (Token, error) {
	l, err := d.look()
	if err != nil {
		return Token{}, err
	}
	if d.want() == wantName {
		return l.text(d.top().typ)
	}
	l.expect(want, accepts)
	return l.value()
}

// expect reads the header of the next value for a typed read, which consumes nothing, not even a
// DictKey, if the value is not what it wants. accepts reports whether it is; nil accepts all values.
// want names the wanted value in the error. After expect, value reads the value, or returns the error.
func (l *lookahead) expect(want any, accepts func(*form) bool) {
	d := l.d
	switch w := d.want(); {
	case w <= lastValue || w == wantDictKey: // a value
		if l.readHeader(); l.d.fault == nil && accepts != nil && !accepts(l.form) {
			l.d.fault = d.errorAt(0, wrapf(ErrType, "got %v, want %v", l.form.typ, want))
		}
	case w == wantEnd:
		f := d.top()
		l.d.fault = d.errorAt(0, wrapf(ErrCount, "more %s than the declared %d", f.holds(), f.count))
	case w == wantProperty:
		l.d.fault = d.errorAt(0, wrapf(ErrType, "got the name of a property, want a value"))
	default:
		l.d.fault = d.errorAt(0, wrapf(ErrType, "got a part of a %v, want a value", d.top().typ))
	}
}

// checkHeader checks the depth of a value. With Strict, it also checks the flags of its header,
// the declared type of its container, and the alternatives in strictSeen. It is called before the
// rest of the value is waited for: an error of the header must not depend on a slow sender.
func (l *lookahead) checkHeader() {
	d, form := l.d, l.form
	if l.checkLimit(limitDepth, 0, uint64(d.depth)); l.d.fault != nil || !d.options.Strict {
		return
	}
	h := l.header()
	f, class, wide := d.format, layouts[form.typ].class, h>>16&1
	flagged := f.width[class] == flagged
	switch {
	// Bits 8 to 15 mean nothing, and bits 16 to 31 only what the type has. With an idMask of all
	// bits, lookup has found only headers without flags.
	case f.idMask != math.MaxUint32 && (h&0xFF00 != 0 || h>>16&^uint32(form.headerFlags) != 0):
		l.fail(0, notCanonical("header %#x", h))
	case !d.admits(form.typ):
		l.fail(0, notCanonical("%v in a container of %v", form.typ, d.top().elem))
	// An engine is built for one width of math types, and one call encodes all objects alike.
	case class == classReal && flagged && d.strictSeen.both(class, wide):
		l.fail(0, notCanonical("math types of both widths"))
	case class == classObject && flagged && d.strictSeen.both(class, wide):
		l.fail(0, notCanonical("both ids of objects and serialized objects"))
	}
}

// bytes reads n bytes. It waits for all of them at once, because an error of Limits.Bytes
// contains the number. The bytes are valid until the next call, which can move them.
func (l *lookahead) bytes(n int) []byte {
	if l.d.fault == nil {
		l.d.fault = l.wait(l.at + n)
	}
	if l.d.fault != nil {
		return nil
	}
	from := l.d.r + l.at
	l.at += n
	return l.d.buf[from : from+n]
}

// wait reads until at least n bytes of the token are buffered. Even if n exceeds Limits.Bytes, it
// first reads up to that limit, because the input can end earlier. The error and its offset then do
// not depend on how the tokens are read.
func (l *lookahead) wait(n int) error {
	d := l.d
	if d.limit-d.r >= n {
		return nil
	}
	fault := d.bounds.check(limitBytes, d.pos()+uint64(n)-d.valueStart)
	at := n // bytes to wait for
	if fault != nil {
		at = int(d.valueStart + uint64(d.bounds[limitBytes]) - d.pos())
	}
	if d.end-d.r < at {
		if err := l.fetch(at); err != nil {
			return d.readError(err)
		}
	}
	if fault != nil {
		return d.fail(at, fault)
	}
	return nil
}

// fetch reads until at least n bytes are buffered after r. It saves the keys that leave the
// buffer, because a path can need them as long as their containers are open.
func (l *lookahead) fetch(n int) error {
	d := l.d
	if from := d.unneeded(n); from > 0 {
		d.saveKeys(d.base + uint64(from))
	}
	return d.source.fetch(n, d.maxChunk+history+headroom)
}

// word reads a number of n bytes, at most 8. After an error it is 0. The copy serves all sizes, and
// an error, without a branch.
func (l *lookahead) word(n int) uint64 {
	var word [8]byte
	copy(word[:], l.bytes(n))
	return le.Uint64(word[:])
}

func (l *lookahead) uint32() uint32 { return uint32(l.word(4)) }

// fail sets an error in the input, at bytes after the start of the token, unless err is nil. It
// stays in the Decoder, too: what follows cannot be read.
func (l *lookahead) fail(at int, err error) {
	if l.d.fault == nil && err != nil {
		l.d.fault = l.d.fail(at, err)
	}
}

// readError returns the error for the caller after the Reader has returned err. io.EOF
// inside a value becomes io.ErrUnexpectedEOF.
func (d *Decoder) readError(err error) error {
	if err != io.EOF {
		if err != nil {
			_ = d.latest(err)
		}
		return err
	}
	left := d.end - d.r                                            // bytes of an incomplete token
	short := d.inputEnd != math.MaxUint64 && d.pos() != d.inputEnd // of the length that was given
	if d.depth > 0 || left > 0 || short {
		return d.fail(left, io.ErrUnexpectedEOF)
	}
	return io.EOF
}

// errorAt returns an Error for the next token, with an offset of at bytes after r. It does not
// stay: typed reads return it if they have consumed nothing. The path is that of the next token, whose
// key has been read, while WrapError has the path of the latest.
func (d *Decoder) errorAt(at int, err error) error {
	d.drop() // a number on the fast path that does not fit has not come to start
	return d.latest(&Error{
		Offset: int64(d.pos()-d.origin) + int64(at),
		Path:   string(d.appendPath(nil, true, d.key)),
		Err:    err,
	})
}

// fail returns the error of errorAt, which all later calls return, too. The fast path is off after
// it, so that these calls come to start.
func (d *Decoder) fail(at int, err error) error {
	d.setErr(d.errorAt(at, err), false)
	d.stopFast()
	return d.err
}

// Err returns the error that all calls return until Reset: nil, an [Error], or [ErrReleased].
// It reads nothing.
func (d *Decoder) Err() error {
	if d.errOnce {
		return nil
	}
	return d.err
}

// LastError returns the latest error that d has found since Reset, or nil: an [Error], which
// can be one that does not stay, or an error of the Reader. It reads nothing. With
// [errors.Is], code that passes d to a method learns whether the method's error is one of d.
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
