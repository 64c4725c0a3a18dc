package gdwire

import (
	"io"
	"math"
)

// The slow path reads whatever the fast path does not: top-level values, containers with declared
// types, objects, texts in chunks, Strict, and every token that is not completely in the buffer.
// Calls enter it with start, which returns the error of an earlier call or brings the Decoder into
// a plain state: no valid token, no active bulk read, no abandoned container. Then want tells what
// is next.

// readSlow reads the next token on the slow path.
func (d *Decoder) readSlow() (Token, error) {
	if err := d.start(); err != nil {
		return Token{}, err
	}
	if d.depth == 0 { // as next, which costs more: -5 % of tokens of 64 bytes from a Reader
		return d.topValue()
	}
	return d.next()
}

// start begins each call that reads on the slow path. It invalidates the latest token,
// ends a bulk read, skips the rest of a container that a loop has left, and
// returns the error of an earlier call.
func (d *Decoder) start() error {
	d.drop()              // also if the call fails: a token is valid until the next call
	if d.payload.active { // a bulk read keeps the fast path off, so that its end is noticed here
		d.payload.active = false
		d.updateFastPath()
	}
	if d.err != nil {
		return d.failed()
	}
	if d.abandoned > 0 {
		if err := d.leaveLoop(); err != nil {
			return err
		}
	}
	if d.depth > 0 {
		return nil
	}
	d.stopFast() // the fast path does not begin a top-level value, which sets limits of its own
	if d.remaining == 0 {
		return errNotReset // Release leaves an error
	}
	return nil
}

// failed returns d.err, the error of an earlier call.
func (d *Decoder) failed() error {
	err := d.err
	if d.errOnce { // an error of the Reader that PeekKind has met, and that is now returned
		d.err, d.errOnce = nil, false
		d.updateFastPath()
	}
	return err
}

// next reads a token on the slow path, after start.
func (d *Decoder) next() (Token, error) {
	l := lookahead{d: d}
	switch d.want() {
	case wantElem, wantKey, wantValue, wantField:
		return l.value()
	case wantTop:
		return d.topValue()
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
func (d *Decoder) topValue() (Token, error) {
	// Whether the input ends here must be known before beginValue, which can find that a value
	// is not allowed. With OneValue or Strict it decides itself, without waiting for bytes.
	switch {
	case d.r < d.end: // there is a value
	case d.pos() == d.inputEnd && d.srcErr == nil: // the Reader is not asked for more than the caller's n bytes
		return Token{}, io.EOF
	case !d.options.OneValue && !d.options.Strict: // the usual end of a Reader
		if err := d.fetch(1); err != nil {
			return Token{}, d.readError(err)
		}
	}
	if err := d.beginValue(); err != nil {
		return Token{}, err
	}
	if form := d.topForm(); form != nil {
		n := le.Uint32(d.buf[d.r+4:])
		d.readValuesFast() // openFast and openPacked read from fastValues, as inside a container
		if opened := form.shape == shapePacked && d.openPacked(form, n) || form.shape != shapePacked && d.openFast(form, n); opened {
			return Token{head: form.head, bits: uint64(n)}, nil
		}
		d.stopFast()
	}
	l := lookahead{d: d}
	return l.value()
}

// beginValue prepares for a top-level value, if it is next. PeekKind and typed reads call it, too,
// so it can be called several times before the value.
func (d *Decoder) beginValue() error {
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

// updateFastPath switches the fast path off where start has something to do before the next token,
// and otherwise on or off for the innermost container. It must be called after any change of what
// it tests.
func (d *Decoder) updateFastPath() {
	if d.err != nil || d.abandoned > 0 || d.payload.active {
		d.stopFast()
		return
	}
	d.startFast()
}

// peekSlow returns the kind of the next token for PeekKind, on the slow path. Like start it ends
// a bulk read and leaves an abandoned container, but it takes no error of an earlier call,
// because it cannot return it.
func (d *Decoder) peekSlow() Kind {
	d.drop()
	d.payload.active = false
	if d.err != nil {
		return 0
	}
	k, err := Kind(0), d.leaveLoop()
	if err == nil {
		if k = wantKinds[d.want()]; k == 0 && d.remaining > 0 {
			l := lookahead{d: d}
			if l.readHeader(); l.err == nil {
				k = l.form.kind
			}
			err = l.err
		}
	}
	if err != nil && d.err == nil { // an error of the Reader, which PeekKind cannot return and the next call does
		d.err, d.errOnce = err, true
	}
	d.updateFastPath()
	return k
}

// wantKinds has the kinds of tokens that do not start a value.
var wantKinds = [...]Kind{
	wantDictKey: KindDictKey, wantProperty: KindProperty, wantName: KindStringChunk,
	wantText: KindStringChunk, wantChunk: KindChunk, wantEnd: KindEnd,
}

// fetch reads until at least n bytes are buffered after r. It saves the keys that leave the
// buffer, because a path can need them as long as their containers are open.
func (d *Decoder) fetch(n int) error {
	if from := d.unneeded(n); from > 0 {
		d.saveKeys(d.base + uint64(from))
	}
	return d.source.fetch(n, d.maxChunk+history+headroom)
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
// stay: typed reads return it if they have consumed nothing.
func (d *Decoder) errorAt(at int, err error) error {
	return d.latest(&Error{
		Offset: int64(d.pos()-d.origin) + int64(at),
		Path:   string(d.appendPath(nil, true, d.key)),
		Err:    err,
	})
}

// fail returns the error of errorAt, which all later calls return, too. updateFastPath switches the
// fast path off, so that these calls come to start.
func (d *Decoder) fail(at int, err error) error {
	d.err, d.errOnce = d.errorAt(at, err), false
	d.updateFastPath()
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
	if d.cold == nil { // there was none, or Release
		return d.err
	}
	return d.cold.err
}

// latest returns err and makes it the error that LastError returns.
func (d *Decoder) latest(err error) error {
	d.getCold().err = err
	return err
}
