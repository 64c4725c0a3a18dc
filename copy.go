package gdwire

import "errors"

// A span is the sequence of tokens that SkipValue, CopyValue or Tokens cover. It ends with
// the first token after which isOver reports true.
type span struct {
	open int  // it ends when fewer than this number of containers are open; 0 for no span
	data bool // it also ends after the packed data of the container at depth open
}

// span returns the span of the next value, or of the rest of a string or packed array that was read
// in part.
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
func (s *state) isOver(x span) bool {
	return s.depth < x.open || x.data && s.remaining == 0
}

// SkipValue skips the next value. It returns the same errors as reading the value. If a
// DictKey is next, SkipValue skips that token and the key; if a Property is next, it skips
// the name; and inside a string or packed data it skips the remaining chunks. If an End is
// next, it returns [ErrCount].
//
// After an error of the Reader, if Depth is as before the call, SkipValue can be repeated:
// nothing was consumed, or whole chunks. If Depth is larger, call SkipTo with the Depth before the
// call.
func (d *Decoder) SkipValue() error {
	// The fast path is on at the top level only after ResetBytes, for the first value.
	if d.depth == 0 && d.fastValues != nil { // -22 % of packets
		switch {
		case d.skipValues(1), d.fastValues == nil: // nil after a packed array
			return nil
		case d.depth > 0:
			return d.SkipTo(0)
		}
	}
	l, err := d.look()
	if err != nil {
		return err
	}
	rest := d.span() // before the first token, which can open a container
	switch d.want() {
	case wantEnd:
		return d.WrapError(wrapf(ErrCount, "SkipValue at an End"))
	case wantDictKey:
		l.value() // the key
	default:
		l.token() // a value's first token, a name, or the next chunk
	}
	if !l.failed() {
		l.skip(rest)
	}
	return d.failure()
}

// SkipTo skips tokens until Depth is at most depth. It returns the same errors as reading
// them. It can be called after any token, and again after an error of the Reader.
func (d *Decoder) SkipTo(depth int) error {
	l, err := d.look()
	if err != nil {
		return err
	}
	l.skip(span{open: max(depth, 0) + 1})
	return d.failure()
}

// skip reads up to the end of x, or a fault: what is buffered on the fast path, without tokens, and
// what is not by single tokens of the slow path.
func (l *lookahead) skip(x span) {
	s := l.s
	for {
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

// CopyValue reads from d and writes to e what [Decoder.SkipValue] would skip: the next
// value, or the rest of one that was read in part. It writes tokens as
// [Encoder.WriteToken] does, so it converts between formats. If an End is next, it
// returns [ErrCount].
//
// Elements and keys that are not of the declared type, which a lenient Decoder accepts,
// are copied into containers that declare the same type.
//
// After an error of the Reader before the first token, CopyValue can be repeated. After a
// later one, d and e both remain inside the value. [Decoder.SkipTo] leaves it in d, but e
// cannot complete it: CopyValue then calls [Encoder.Fail].
func CopyValue(e *Encoder, d *Decoder) error {
	if _, err := d.look(); err != nil {
		return err
	}
	if err := e.Err(); err != nil {
		return err
	}
	if d.want() == wantEnd {
		return d.WrapError(wrapf(ErrCount, "CopyValue at an End"))
	}
	rest := d.span()
	started := false
	for {
		if d.depth >= rest.open {
			copyFast(e, d, rest.open)
		}
		declared := d.declared() // before the token, which can change the innermost container
		t, err := d.ReadToken()
		if err != nil {
			if started && d.err == nil { // an error of the Reader
				_ = e.Fail(wrapf(errors.Join(ErrIncomplete, err), "CopyValue was interrupted: %v", err))
			}
			return err
		}
		e.accepts = declared
		err = e.WriteToken(t)
		e.accepts = 0
		d.drop() // no bulk read may continue with a payload that was copied
		if err != nil {
			return err
		}
		if t.Kind() == KindDictKey { // without it, the key can be copied just as well
			continue
		}
		if d.isOver(rest) {
			return nil
		}
		started = true
	}
}

// copyFast copies the bytes of tokens that are on the fast path of both d and e, as
// long as both are in containers of the same kind with the same number of values to
// come. These bytes are the same as WriteToken would write. It does not copy the End
// after which fewer than open containers are open.
func copyFast(e *Encoder, d *Decoder, open int) {
	if e.format != d.format || e.options.DoubleReals != d.options.DoubleReals {
		return
	}
	start := d.r // nothing here reads more, so the bytes from start on stay where they are
loop:
	for e.remaining == d.remaining && e.pairs == d.pairs {
		most := e.limit - e.n - (d.r - start) - fastSize // so that the start of a container fits, too
		switch {
		case most < 0:
			break loop
		case d.fastValues != nil && len(e.fastValues) > 0:
			d.passFast(most)
		case d.fastNames != nil && len(e.fastNames) > 0 && d.top().typ == e.top().typ:
			d.passNames(most)
		default:
			break loop
		}
		e.setRemaining(d.remaining) // the values that passFast or passNames went over
		if e.remaining > 0 {
			if !copyStart(e, d) {
				break
			}
			continue
		}
		if d.depth <= open || e.depth <= 1 { // the End of a top-level value flushes, which WriteToken does
			break
		}
		d.readEnd()
		e.pop()
		e.updateFastPath()
	}
	e.advance(copy(e.buf[e.n:], d.buf[start:d.r]))
}

// copyStart opens the next value of d, an Array, Dictionary, PackedStringArray or NodePath,
// in d and e. It returns false if the value is not on the fast path of both, or if its count
// is beyond the counts that engines write.
func copyStart(e *Encoder, d *Decoder) bool {
	form, b := d.fastForm()
	if form == nil || len(e.fastValues) == 0 {
		return false
	}
	switch n := le.Uint32(b[4:]); form.shape {
	case shapeArray, shapeDict, shapePackedStrings:
		if !d.openFast(form, n) {
			return false
		}
		e.push(&form.content, n, 0)
	case shapeNodePath:
		if !d.openNodePath(form, b) {
			return false
		}
		from := d.top()
		e.push(&from.content, from.count, 0).setNames(from.names, from.flags)
	default:
		return false
	}
	e.updateFastPath()
	return true
}
