package gdwire

import "errors"

// CopyValue reads from d and writes to e what [Decoder.SkipValue] would skip: the next
// value, or the rest of one that has been read in part. It writes tokens as
// [Encoder.WriteToken] does, so it converts between formats. If an End is next, it
// returns [ErrCount].
//
// Elements and keys that are not of the declared type, which a lenient Decoder accepts,
// are copied into containers that declare the same type.
//
// After an error of the Reader before the first token, CopyValue can be repeated. After a
// later one, d and e both remain inside the value. [Decoder.SkipTo] leaves it in d, but e
// cannot complete it: CopyValue has called [Encoder.Fail].
func CopyValue(e *Encoder, d *Decoder) error {
	if err := d.start(); err != nil {
		return err
	}
	if err := e.ready(); err != nil {
		return err
	}
	if d.want() == wantEnd {
		return d.WrapError(wrapf(ErrCount, "CopyValue at an End"))
	}
	x := d.rest()
	started := false
	for {
		if d.depth >= x.open {
			copyFast(e, d, x.open)
		}
		declared := d.declared()
		t, err := d.ReadToken()
		if err != nil {
			if started && d.err == nil {
				e.failCopy(err)
			}
			return err
		}
		e.accepts = declared
		err = e.WriteToken(t)
		e.accepts = 0
		if err != nil {
			return err
		}
		if t.Kind() == KindDictKey { // without it, the key can be copied just as well
			continue
		}
		if d.isOver(x) {
			return nil
		}
		started = true
	}
}

// failCopy is Fail after an error of the Reader has interrupted CopyValue.
func (e *Encoder) failCopy(err error) {
	e.Fail(wrapf(errors.Join(ErrIncomplete, err), "CopyValue was interrupted: %v", err))
}

// copyFast copies the bytes of tokens that are on the fast path of both d and e, as
// long as both are in containers of the same kind with the same number of values to
// come. These bytes are the same as WriteToken would write. It does not copy the End
// after which fewer than open containers are open.
func copyFast(e *Encoder, d *Decoder, open int) {
	if e.options.Format != d.options.Format || e.options.DoubleReals != d.options.DoubleReals {
		return
	}
	start := d.r
loop:
	for e.left == d.left && e.pairs == d.pairs {
		most := e.lim - e.n - (d.r - start) - fastSize // so that the start of a container fits, too
		switch {
		case most < 0:
			break loop
		case d.fastValues != nil && e.valueLim >= 0:
			d.passFast(most)
		case d.fastNames != nil && e.nameLim >= 0 && d.top().typ == e.top().typ:
			d.passNames(most)
		default:
			break loop
		}
		e.setLeft(d.left)
		if e.left > 0 {
			if !copyStart(e, d) {
				break
			}
			continue
		}
		if d.depth <= open || e.depth <= 1 {
			break
		}
		d.readEnd()
		e.pop()
		e.setFast()
	}
	e.n += copy(e.buf[e.n:], d.buf[start:d.r])
}

// copyStart opens the next value of d, an Array, Dictionary, PackedStringArray or NodePath,
// in d and e. It returns false if the value is not on the fast path of both, or if its count
// is not one that engines write.
func copyStart(e *Encoder, d *Decoder) bool {
	if d.r > len(d.fastValues)-fastSize || e.valueLim < 0 {
		return false
	}
	b := (*[fastSize]byte)(d.fastValues[d.r:])
	h, n := le.Uint32(b[:]), le.Uint32(b[4:])
	form := &d.forms[formIndex(h)]
	if h != form.header {
		return false
	}
	switch form.shape {
	case shapeArray, shapeDict, shapePackedStrings:
		if !d.openFast(form, n) {
			return false
		}
		e.push(form.kind, form.typ, n, 0)
	case shapeNodePath:
		if !d.openNodePath(b) {
			return false
		}
		from := d.top()
		f := e.push(from.kind, from.typ, from.count, 0)
		f.names, f.flags = from.names, from.flags
	default:
		return false
	}
	e.setFast()
	return true
}

// passNames is passFast for names of a NodePath and packed strings. Without it, CopyValue
// takes 48 % more instructions.
func (d *Decoder) passNames(most int) {
	names, r, left := d.fastNames, d.r, d.left
	names = names[:min(len(names), r+most)]
	last, nul := d.tokenPos(), d.nul(d.top().typ)
	for r <= len(names)-fastSize && left > 0 {
		b := (*[fastSize]byte)(names[r:])
		n := le.Uint32(b[:])
		size := 4 + int(padded(n))
		if n-1 >= 8 || !plainText(le.Uint64(b[4:]), n) {
			if !d.wholeText(r+4, n) || size > len(names)-r || n&3 != 0 && le.Uint32(names[r+size-4:])>>(8*(n&3)) != 0 {
				break
			}
		}
		if nul > 0 && (n == 0 || names[r+3+int(n)] != 0) { // WriteToken adds the NUL
			break
		}
		last = d.base + uint64(r)
		left--
		r += size
	}
	d.passEmpty(r, last)
	d.setLeft(left)
}
