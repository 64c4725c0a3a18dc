package gdwire

import "math"

// packed reads the start of a packed array.
func (d *Decoder) packed(form *form) (Token, error) {
	b, err := d.peek(8)
	if err != nil {
		return Token{}, err
	}
	n := le.Uint32(b[4:])
	if form.shape == shapePackedStrings {
		if n, err = d.sign(4, n); err == nil {
			err = d.checkCount(4, uint64(n), 1, 4)
		}
	} else {
		err = d.checkData(4, uint64(n)*uint64(form.size))
	}
	if err != nil {
		return Token{}, err
	}
	f := d.open(8, KindPackedStart, form.typ, n)
	f.size, f.unit = form.size, form.unit
	if form.shape == shapePacked {
		d.payload.kind = KindPackedStart
	}
	return newToken(KindPackedStart, form.typ, tokenFlags(form.unit), uint64(n)), nil
}

// wholePacked returns the number of bytes of the n elements of the packed array that is next.
// It returns false if they exceed a limit or are not completely in the buffer, on the fast
// path.
func (d *Decoder) wholePacked(form *form, n uint32) (data int, ok bool) {
	size, left := uint64(n)*uint64(form.size), uint64(len(d.fastValues)-d.r) // size can exceed 32 bits
	if int64(size) > d.bounds[limitPacked] || 8+(size+3)&^3 > left {
		return 0, false
	}
	return int(size), true
}

// takePacked consumes a packed array with this many bytes of elements, and its End.
func (d *Decoder) takePacked(data int) {
	d.take(8 + (data+3)&^3)
	if d.depth == 0 {
		d.stopFast()
	}
}

// checkData is checkCount for n bytes of packed data.
func (d *Decoder) checkData(at int, n uint64) error {
	if err := d.bounds.check(limitPacked, n); err != nil {
		return d.fail(at, err)
	}
	return d.checkLength(at, n)
}

// image reads the start of an Image of Godot 2.
func (d *Decoder) image() (Token, error) {
	const at = 20 // offset of the length, after header, format, mipmaps, width and height
	b, err := d.peek(at + 4)
	if err != nil {
		return Token{}, err
	}
	n := le.Uint32(b[at:])
	if err := d.checkData(at, uint64(n)); err != nil {
		return Token{}, err
	}
	f := d.open(at+4, KindImageStart, TypeImage, n)
	f.size, f.unit = 1, unitByte
	d.payload.kind = KindImageStart
	return newToken(KindImageStart, TypeImage, tokenFlags(unitByte), uint64(n)).at(&d.tokenSource, 4, at-4), nil
}

// chunk reads the next elements of packed data as a token.
func (d *Decoder) chunk() (Token, error) {
	pos := d.pos()
	n, err := d.takeChunk(math.MaxInt)
	if err != nil {
		return Token{}, err
	}
	f := d.top()
	d.markToken(pos)
	d.payload = payload{token: d.mark, kind: f.kind, pos: pos, left: n}
	return newToken(KindChunk, f.typ, tokenFlags(f.unit), uint64(n/int(f.size))).at(&d.tokenSource, 0, n), nil
}

// takeChunk consumes the next elements of packed data, as many as most, and the
// padding after the last element. It returns the number of bytes without padding.
func (d *Decoder) takeChunk(most int) (int, error) {
	f := d.top()
	size := int(f.size)
	n := min(max(d.size/size, 1), most)
	pad := 0
	if d.left <= uint64(n) {
		n = int(d.left)
		if f.unit == unitByte {
			pad = padding(f.count)
		}
	}
	b, pad, err := d.peekPadded(f.typ, n*size, pad)
	if err != nil {
		return 0, err
	}
	if d.options.Strict {
		if err := d.canonicalPadding(n*size, b[n*size:n*size+pad]); err != nil {
			return 0, err
		}
	}
	d.count(uint64(n))
	d.consume(n*size + pad)
	return n * size, nil
}
