package gdwire

import "errors"

// CopyValue copies from d to e the value that [Decoder.SkipValue] would skip: the next
// value, or the rest of one read in part. CopyValue writes tokens as
// [Encoder.WriteToken] does, and so converts between formats. If an End is next, the
// error is [ErrCount].
//
// Elements and keys of other types than declared, as accepted by a lenient Decoder, are
// copied into containers of the same declared type. A NUL in a text is also copied.
//
// After an error of the Reader before the first token, CopyValue can be repeated. After a
// later one, d and e both remain inside the value. [Decoder.SkipTo] leaves the value in
// d, but e cannot complete it: CopyValue then calls [Encoder.Fail].
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
		declared := d.declared() // before the token, because it can change the innermost container
		t, err := d.ReadToken()
		if err != nil {
			if started && d.err == nil { // an error of the Reader
				_ = e.Fail(wrapf(errors.Join(ErrIncomplete, err), "CopyValue was interrupted: %v", err))
			}
			return err
		}
		e.accepts, e.copies = declared, true
		err = e.WriteToken(t)
		e.accepts, e.copies = 0, false
		d.drop() // no bulk read may continue with a copied payload
		if err != nil {
			return err
		}
		if t.Kind() == KindDictKey { // the key can be copied with or without it
			continue
		}
		if d.isOver(rest) {
			return nil
		}
		started = true
	}
}

// copyToken is [export.CopyToken].
func (e *Encoder) copyToken(t Token) error {
	e.copies = true
	err := e.WriteToken(t)
	e.copies = false
	return err
}

// copyFast copies the bytes of tokens on the fast path of both d and e, as long as
// both are in containers of the same kind with the same number of values to come.
// WriteToken would write the same bytes. copyFast does not copy the End after which
// fewer than open containers are open.
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
		e.setRemaining(d.remaining) // the values passed by passFast or passNames
		if e.remaining > 0 {
			if !copyStart(e, d) {
				break
			}
			continue
		}
		if d.depth <= open || e.depth <= 1 { // the End of a top-level value flushes: left to WriteToken
			break
		}
		d.readEnd()
		if around := e.pop(); len(e.fastValues) == 0 || !around.isUntyped() { // otherwise the fast path stays on
			e.updateFastPath()
		}
	}
	e.advance(copy(e.buf[e.n:], d.buf[start:d.r]))
}

// copyStart opens the next value of d, an Array, Dictionary, PackedStringArray or NodePath,
// in d and e. It returns false if the value is not on the fast path of both, or if its count
// is beyond the counts of engines.
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
