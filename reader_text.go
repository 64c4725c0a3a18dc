package gdwire

import (
	"errors"
	"io"
	"math"
)

// wholeText reports whether n bytes of text at buf[i:] are one chunk, within limits
// and valid, and buffered with their padding.
func (d *Decoder) wholeText(i int, n uint32) bool {
	return int64(n) <= int64(d.maxWhole) && d.lim-i >= int(padded(n)) && validText(d.buf[i:i+int(n)])
}

// text reads the first chunk of a string whose length field is at bytes after r.
func (d *Decoder) text(typ Type, at int) (Token, error) {
	part, err := d.peekFirst(typ, at)
	if err != nil {
		return Token{}, err
	}
	pos := d.pos()
	d.takeFirst(typ, part)
	return d.chunkToken(typ, pos, at+4, part), nil
}

// peekFirst returns the first chunk of a string whose length field is at bytes
// after r.
func (d *Decoder) peekFirst(typ Type, at int) (textPart, error) {
	b, err := d.peek(at + 4)
	if err != nil {
		return textPart{}, err
	}
	n := le.Uint32(b[at:])
	from := d.r + at + 4
	if !d.options.Strict && d.wholeText(from, n) {
		part := textPart{size: at + 4 + int(padded(n)), total: n, flags: flagLast}
		if typ == TypePackedStringArray {
			n -= d.trailingNUL(d.buf[from : from+int(n)])
		}
		part.n, part.length = int(n), uint64(n)
		return part, nil
	}
	if err := d.bounds.check(limitString, uint64(n-min(n, d.nul(typ)))); err != nil {
		return textPart{}, d.fail(at, err)
	}
	if err := d.checkLength(at, uint64(n)); err != nil {
		return textPart{}, err
	}
	return d.peekText(typ, at+4, uint64(n), n)
}

// takeFirst consumes the first chunk of a string.
func (d *Decoder) takeFirst(typ Type, part textPart) {
	pos := d.pos()
	if part.flags&flagLast != 0 {
		d.step()
	} else {
		if d.atKey() {
			d.keyPos = pos
		}
		d.push(KindStringChunk, typ, part.total)
		d.keyPos = pos
		d.left -= uint64(part.n)
		d.setWin()
	}
	d.r += part.size
}

// chunkToken makes a token of the chunk that was just consumed: at bytes after pos.
func (d *Decoder) chunkToken(typ Type, pos uint64, at int, part textPart) Token {
	d.token = 2 * pos
	d.payload = payload{token: d.token, kind: KindStringChunk, pos: pos + uint64(at), left: part.n}
	return newToken(KindStringChunk, typ, part.flags, part.length).at(&d.window, at, part.n)
}

// textChunk reads the next chunk of a string as a token.
func (d *Decoder) textChunk() (Token, error) {
	typ, pos := d.top().typ, d.pos()
	part, err := d.takeText()
	if err != nil {
		return Token{}, err
	}
	return d.chunkToken(typ, pos, 0, part), nil
}

// takeText consumes the next chunk of a string.
func (d *Decoder) takeText() (textPart, error) {
	f := d.top()
	part, err := d.peekText(f.typ, 0, d.left, f.count)
	if err != nil {
		return part, err
	}
	d.r += part.size
	d.left -= uint64(part.n)
	if part.flags&flagLast != 0 {
		d.pop()
		d.setWin()
	}
	return part, nil
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

// A textPart is a chunk of a string that is whole in the buffer.
type textPart struct {
	n      int    // bytes of text
	size   int    // with what precedes it and the padding
	total  uint32 // bytes of the whole string, as declared
	length uint64 // Token.Len
	flags  tokenFlags
}

// peekText returns the next chunk of a string of total bytes, left of which are
// still to come, behind at bytes of header: none if it is not the first.
func (d *Decoder) peekText(typ Type, at int, left uint64, total uint32) (textPart, error) {
	n, pad, flags := d.size, 0, tokenFlags(0)
	last := left <= uint64(d.size)+uint64(d.nul(typ))
	if last {
		n, pad, flags = int(left), padding(total), flagLast
	}
	b, pad, err := d.peekPadded(typ, at+n, pad)
	if err != nil {
		return textPart{}, d.cutText(typ, at, n, last, err)
	}
	text := b[at : at+n]
	if !last {
		n = wholeRunes(text, n)
		text = text[:n]
	}
	if !d.options.AnyUTF8 && !validText(text) {
		return textPart{}, d.badText(at, text)
	}
	if d.options.Strict {
		if err := d.canonicalText(typ, at, text, last, b[at+n:at+n+pad], total); err != nil {
			return textPart{}, err
		}
	}
	part := textPart{n: n, size: at + n + pad, total: total, length: uint64(total), flags: flags}
	if d.nul(typ) == 1 {
		if last && n > 0 && text[n-1] == 0 {
			part.n--
		}
		if uint64(total) <= uint64(d.size)+1 {
			part.length = uint64(part.n)
		} else {
			part.flags |= flagNUL
		}
	}
	return part, nil
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

// peekPadded is peek for n bytes and their padding, which may be missing at the
// very end of the input where the engines let it. It says how much there is.
func (d *Decoder) peekPadded(typ Type, n, pad int) ([]byte, int, error) {
	b, err := d.peek(n + pad)
	if pad == 0 || d.err == nil || !errors.Is(err, io.ErrUnexpectedEOF) || !d.lacksPadding(typ, n) {
		return b, pad, err
	}
	d.err = nil
	d.setWin()
	b = d.buf[d.r:d.end]
	return b, len(b) - n, nil
}

func (d *Decoder) lacksPadding(typ Type, n int) bool {
	return !d.options.Strict && !d.options.wholePadding && d.options.Format.mayLackPadding(typ) && d.end-d.r >= n && d.lim == d.end
}

// name asks for a whole name whose length stands behind at bytes, and returns
// the length and where its padding ends.
func (d *Decoder) name(at int) (n, end int, err error) {
	b, err := d.peek(at + 4)
	if err != nil {
		return 0, 0, err
	}
	size := le.Uint32(b[at:])
	if err := d.bounds.check(limitName, uint64(size)); err != nil {
		return 0, 0, d.fail(at, err)
	}
	if err := d.checkLength(at, uint64(size)); err != nil {
		return 0, 0, err
	}
	from := at + 4
	if uint64(from)+padded(size) > math.MaxInt-windowBuffer { // of two names, where an int has 32 bits
		return 0, 0, d.fail(at, wrapf(ErrRange, "name of %d bytes", size))
	}
	n, end = int(size), from+int(padded(size))
	if b, err = d.peek(end); err != nil {
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
