package gdwire

// packed reads the head of a packed array.
func (d *Decoder) packed(form *form) (Token, error) {
	b, err := d.need(8)
	if err != nil {
		return Token{}, err
	}
	n := le.Uint32(b[4:])
	if form.shape == shapePackedStrings {
		if n, err = d.sign(4, n); err == nil {
			err = d.announce(4, uint64(n), 1, 4)
		}
	} else {
		err = d.announceData(4, uint64(n)*uint64(form.size))
	}
	if err != nil {
		return Token{}, err
	}
	f := d.open(8, 4, KindPackedStart, form.typ, n)
	f.size, f.unit = form.size, form.unit
	if form.shape == shapePacked {
		d.bulk.kind, d.bulk.left = KindPackedStart, 0
	} else if n > 0 {
		f.want = wantName
	}
	return newToken(KindPackedStart, form.typ, tokenFlags(form.unit), uint64(n)), nil
}

// announceData is announce for n bytes of packed data.
func (d *Decoder) announceData(at int, n uint64) error {
	if err := d.bounds.check(limitPacked, n); err != nil {
		return d.fail(at, err)
	}
	return d.claim(at, n)
}

// image reads the head of an Image of Godot 2.
func (d *Decoder) image() (Token, error) {
	const at = 20 // of the data's length, behind header, format, mipmaps, width, height
	b, err := d.need(at + 4)
	if err != nil {
		return Token{}, err
	}
	n := le.Uint32(b[at:])
	if err := d.announceData(at, uint64(n)); err != nil {
		return Token{}, err
	}
	t := newToken(KindImageStart, TypeImage, tokenFlags(unitByte), uint64(n)).at(&d.window, d.pos()+4, at-4)
	f := d.open(at+4, 4, KindImageStart, TypeImage, n)
	f.size, f.unit = 1, unitByte
	d.bulk.kind, d.bulk.left = d.top.kind, 0
	return t, nil
}

// chunk reads the next elements of packed data, at most as many.
func (d *Decoder) chunk(most int) (Token, error) {
	f := d.top
	size := int(f.size)
	n := min(max(d.size/size, 1), most)
	pad := 0
	if uint64(f.left) <= uint64(n) {
		n = int(f.left)
		if f.unit == unitByte {
			pad = padding(f.count)
		}
	}
	b, pad, err := d.needPadded(f.typ, n*size, pad)
	if err != nil {
		return Token{}, err
	}
	if d.options.Strict {
		if err := d.canonicalPadding(n*size, b[n*size:n*size+pad]); err != nil {
			return Token{}, err
		}
	}
	t := newToken(KindChunk, f.typ, tokenFlags(f.unit), uint64(n)).at(&d.window, d.pos(), n*size)
	d.take(n*size+pad, 0)
	if f.left -= uint32(n); f.left == 0 {
		f.want = wantEnd
	}
	d.bulk.kind, d.bulk.left = f.kind, n*size
	return t, nil
}
