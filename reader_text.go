package gdwire

import (
	"io"
	"math"
)

// wholeText reports whether the n bytes of text at buf[i:] are one chunk, within the
// limits, valid, and buffered together with their padding.
func (d *Decoder) wholeText(i int, n uint32) bool {
	return int64(n) <= int64(d.maxWhole) && d.lim-i >= int(padded(n)) && validText(d.buf[i:i+int(n)])
}

// text reads the first chunk of a string whose length field is at offset at from r.
func (d *Decoder) text(typ Type, at int) (Token, error) {
	part, err := d.peekFirst(typ, at)
	if err != nil {
		return Token{}, err
	}
	pos := d.pos()
	d.takeFirst(typ, part)
	return d.chunkToken(typ, pos, at+4, part), nil
}

// peekFirst returns the first chunk of a string whose length field is at offset at from r.
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
		d.countAt(pos)
	} else {
		d.push(KindStringChunk, typ, part.total, pos)
		d.count(uint64(part.n))
		d.updateFastPath()
	}
	d.consume(part.size)
}

// chunkToken returns the token for a chunk that has been consumed. The token starts at
// pos, and its text at pos+at.
func (d *Decoder) chunkToken(typ Type, pos uint64, at int, part textPart) Token {
	d.markToken(pos)
	d.payload = payload{token: d.mark, kind: KindStringChunk, pos: pos + uint64(at), left: part.n}
	return newToken(KindStringChunk, typ, part.flags, part.length).at(&d.tokenSource, at, part.n)
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
	d.consume(part.size)
	d.count(uint64(part.n))
	if part.flags&flagLast != 0 {
		d.pop()
		d.updateFastPath()
	}
	return part, nil
}

// trailingNUL returns 1 if text, a packed string, ends in the NUL that engines write, and
// otherwise 0.
func (d *Decoder) trailingNUL(text []byte) uint32 {
	if len(text) > 0 && text[len(text)-1] == 0 {
		return d.nul(TypePackedStringArray)
	}
	return 0
}

// nul returns 1 if engines end strings in a value of the given type with a NUL, and
// otherwise 0.
func (d *Decoder) nul(typ Type) uint32 {
	if typ == TypePackedStringArray && d.options.Format.engine {
		return 1
	}
	return 0
}

// A textPart is a chunk of a string that is completely in the buffer.
type textPart struct {
	n      int    // bytes of text
	size   int    // bytes of text, of the header and length before it, and of padding
	total  uint32 // declared length of the string
	length uint64 // Token.Len
	flags  tokenFlags
}

// peekText returns the next chunk of a string of total bytes, of which left bytes are still
// to come. at is the number of bytes before the text, 0 unless it is the first chunk.
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
	if !d.options.AllowInvalidUTF8 && !validText(text) {
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

// badText returns the error for text that is not UTF-8. With Strict, a NUL before the
// invalid byte is reported first, as it would be with smaller chunks.
func (d *Decoder) badText(at int, text []byte) error {
	bad := invalidText(text)
	if d.options.Strict {
		if err := d.canonicalNUL(at, text[:bad]); err != nil {
			return err
		}
	}
	return d.fail(at+bad, ErrUTF8)
}

// cutText returns the error for a chunk of n bytes if the input or Limits.Bytes ends inside it
// or its padding. It checks the received part first, because with smaller chunks an error in
// it would be reported.
func (d *Decoder) cutText(typ Type, at, n int, last bool, err error) error {
	if d.err == nil { // an error of the Reader
		return err
	}
	text := d.buf[min(d.r+at, d.lim):min(d.r+at+n, d.lim)]
	if len(text) == n && last && d.nul(typ) == 1 && text[n-1] == 0 {
		text = text[:n-1]
	}
	text = text[:wholeRunes(text, len(text))]
	if !d.options.AllowInvalidUTF8 && !validText(text) {
		return d.badText(at, text)
	}
	if d.options.Strict {
		if err := d.canonicalNUL(at, text); err != nil {
			return err
		}
	}
	return err
}

// peekPadded is peek for n bytes and pad bytes of padding. It returns the number of bytes of
// padding, which can be missing at the end of the input if engines accept that. Where
// Limits.Bytes ends in the padding, it reads one byte more to learn whether the input ends.
func (d *Decoder) peekPadded(typ Type, n, pad int) ([]byte, int, error) {
	if pad > 0 && d.lim-d.r < n+pad && d.mayLackPadding(typ) {
		most := d.valueStart + uint64(d.bounds[limitBytes]) - d.pos()
		if need := int(min(uint64(n+pad), most+1)); d.end-d.r < need {
			if err := d.fetch(need); err == io.EOF && d.end-d.r >= n {
				pad = d.end - d.r - n
			} else if err != nil {
				return nil, pad, d.readError(err)
			}
		}
	}
	b, err := d.peek(n + pad)
	return b, pad, err
}

func (d *Decoder) mayLackPadding(typ Type) bool {
	return !d.options.Strict && !d.options.wholePadding && d.options.Format.mayLackPadding(typ)
}

// name waits until the name whose length field is at offset at is buffered, and checks it.
// It returns the length and the offset of the end of its padding.
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
	if uint64(from)+padded(size) > math.MaxInt-windowBuffer { // possible with two names and ints of 32 bits
		return 0, 0, d.fail(at, wrapf(ErrRange, "name of %d bytes", size))
	}
	n, end = int(size), from+int(padded(size))
	if b, err = d.peek(end); err != nil {
		return 0, 0, err
	}
	text := b[from : from+n]
	if !d.options.AllowInvalidUTF8 && !validText(text) {
		return 0, 0, d.badText(from, text)
	}
	if d.options.Strict {
		err = d.canonicalText(TypeString, from, text, true, b[from+n:end], size)
	}
	return n, end, err
}
