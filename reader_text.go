package gdwire

import (
	"errors"
	"io"
)

// text reads the first chunk of a string whose length stands behind at bytes of
// header.
func (d *Decoder) text(typ Type, at int) (Token, error) {
	if d.lim-d.r < at+4 {
		if _, err := d.more(at + 4); err != nil {
			return Token{}, err
		}
	}
	from := d.r + at + 4
	n := le.Uint32(d.buf[from-4 : from : from])
	if int64(n) <= int64(d.whole) && d.lim-from >= int(padded(n)) && validText(d.buf[from:from+int(n)]) {
		end := from + int(padded(n))
		if typ == TypePackedStringArray {
			n -= d.trailingNUL(d.buf[from : from+int(n)])
		}
		d.at = d.base + uint64(d.r)
		d.live = d.base + uint64(from)
		d.r = end
		d.step()
		d.bulk.kind, d.bulk.left = KindStringChunk, int(n)
		const head = uint64(KindStringChunk) | uint64(flagLast)<<16
		return Token{head: head | uint64(typ)<<8 | uint64(n)<<32, bits: uint64(n), win: &d.window, pos: d.live}, nil
	}
	if err := d.bounds.check(limitString, uint64(n-min(n, d.nul(typ)))); err != nil {
		return Token{}, d.fail(at, err)
	}
	if err := d.claim(at, uint64(n)); err != nil {
		return Token{}, err
	}
	return d.textChunk(typ, at+4, n, n)
}

// trailingNUL is 1 where a packed string ends in the NUL of the wire.
func (d *Decoder) trailingNUL(text []byte) uint32 {
	if len(text) > 0 && text[len(text)-1] == 0 {
		return d.nul(TypePackedStringArray)
	}
	return 0
}

// nul is 1 where the wire ends strings of that type in NUL.
func (d *Decoder) nul(typ Type) uint32 {
	if typ == TypePackedStringArray && d.options.Format.engine {
		return 1
	}
	return 0
}

// textChunk reads the next chunk of a string of total bytes, left of which are
// still to come, behind at bytes of header: none if it is not the first.
func (d *Decoder) textChunk(typ Type, at int, left, total uint32) (Token, error) {
	n, pad, flags := d.size, 0, tokenFlags(0)
	last := uint64(left) <= uint64(d.size)+uint64(d.nul(typ))
	if last {
		n, pad, flags = int(left), padding(total), flagLast
	}
	b, pad, err := d.needPadded(typ, at+n, pad)
	if err != nil {
		return Token{}, d.cutText(typ, at, n, last, err)
	}
	text := b[at : at+n]
	if !last {
		n = wholeRunes(text, n)
		text = text[:n]
	}
	if !d.options.AnyUTF8 && !validText(text) {
		return Token{}, d.badText(at, text)
	}
	if d.options.Strict {
		if err := d.canonicalText(typ, at, text, last, b[at+n:at+n+pad], total); err != nil {
			return Token{}, err
		}
	}
	size, length := at+n+pad, uint64(total)
	if d.nul(typ) == 1 {
		if last && n > 0 && text[n-1] == 0 {
			n--
		}
		if uint64(total) <= uint64(d.size)+1 {
			length = uint64(n)
		} else {
			flags |= flagNUL
		}
	}
	t := newToken(KindStringChunk, typ, flags, length)
	if n > 0 {
		t = t.at(&d.window, d.pos()+uint64(at), n)
	}
	switch first := at > 0; {
	case first && last:
		d.take(size, at)
		d.step()
	case first:
		d.open(size, at, KindStringChunk, typ, total).left -= uint32(n)
	default:
		d.take(size, at)
		d.top.left = left - uint32(n)
		if last {
			d.pop()
		}
	}
	d.bulk.kind, d.bulk.left = KindStringChunk, n
	return t, nil
}

// badText says what is wrong with text that is no UTF-8: whatever comes first in
// it, as smaller chunks would find.
func (d *Decoder) badText(at int, text []byte) error {
	bad := invalidText(text)
	if d.options.Strict {
		if err := d.canonicalNUL(at, text[:bad]); err != nil {
			return err
		}
	}
	return d.fail(at+bad, ErrUTF8)
}

// cutText looks at the part that is there of n bytes of text in which the input
// ends. Smaller chunks would have told what is wrong with it.
func (d *Decoder) cutText(typ Type, at, n int, last bool, err error) error {
	if d.err == nil || !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	text := d.buf[min(d.r+at, d.lim):min(d.r+at+n, d.lim)]
	if len(text) == n && last && d.nul(typ) == 1 && text[n-1] == 0 {
		text = text[:n-1]
	}
	text = text[:wholeRunes(text, len(text))]
	if !d.options.AnyUTF8 && !validText(text) {
		return d.badText(at, text)
	}
	if d.options.Strict {
		if err := d.canonicalNUL(at, text); err != nil {
			return err
		}
	}
	return err
}

// needPadded is need for n bytes and their padding, which may be missing at the
// very end of the input where the engines let it. It says how much there is.
func (d *Decoder) needPadded(typ Type, n, pad int) ([]byte, int, error) {
	b, err := d.need(n + pad)
	if pad == 0 || d.err == nil || !errors.Is(err, io.ErrUnexpectedEOF) || !d.lacksPadding(typ, n) {
		return b, pad, err
	}
	d.err = nil
	b = d.buf[d.r:d.end]
	return b, len(b) - n, nil
}

func (d *Decoder) lacksPadding(typ Type, n int) bool {
	return !d.options.Strict && !d.options.wholePadding && d.options.Format.mayLackPadding(typ) && d.end-d.r >= n && d.lim == d.end
}

// name asks for a whole name whose length stands behind at bytes, and returns
// the length and where its padding ends.
func (d *Decoder) name(at int) (n, end int, err error) {
	b, err := d.need(at + 4)
	if err != nil {
		return 0, 0, err
	}
	size := le.Uint32(b[at:])
	if err := d.bounds.check(limitName, uint64(size)); err != nil {
		return 0, 0, d.fail(at, err)
	}
	if err := d.claim(at, uint64(size)); err != nil {
		return 0, 0, err
	}
	from := at + 4
	n, end = int(size), from+int(padded(size))
	if b, err = d.need(end); err != nil {
		return 0, 0, err
	}
	text := b[from : from+n]
	if !d.options.AnyUTF8 && !validText(text) {
		return 0, 0, d.badText(from, text)
	}
	if d.options.Strict {
		err = d.canonicalText(TypeString, from, text, true, b[from+n:end], size)
	}
	return n, end, err
}
