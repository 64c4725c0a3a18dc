package gdwire

// ReadText reads the next key or value, a String or StringName, or the next string of a
// PackedStringArray or NodePath, and returns its text without copying it. The text is valid
// until the next call on the Decoder. If the next value has another type, or a text that
// does not fit the read buffer, ReadText consumes nothing and returns false; ReadToken or a
// typed read can then read the value.
//
// It is for programs that compare texts without a copy, and for loops over keys of any
// type.
func (d *Decoder) ReadText() (text []byte, ok bool, err error) {
	// As shortString and take, but with fewer steps.
	win, r, left := d.fastValues, d.r, d.left
	if r <= len(win)-fastSize && left > 0 {
		b := (*[fastSize]byte)(win[r:])
		if le.Uint32(b[:]) == stringHeader {
			n := le.Uint32(b[4:])
			if size := shortText(n, le.Uint64(b[8:])); size > 0 {
				pos := d.base + uint64(r)
				d.countAt(pos)
				d.passEmpty(r+4+size, pos)
				return b[8:][:n], true, nil
			}
		}
	}
	if text, ok := d.fastName(); ok {
		return text, true, nil
	}
	return d.readTextSlow()
}

// readTextSlow is ReadText for longer texts, and on the slow path.
func (d *Decoder) readTextSlow() (text []byte, ok bool, err error) {
	if text, ok := d.fastString(); ok {
		return text, true, nil
	}
	if err := d.start(); err != nil {
		return nil, false, err
	}
	at, nul, read := 0, uint32(0), d.next
	if d.want() == wantName {
		nul = d.nul(d.top().typ)
	} else {
		form, err := d.peekTyped()
		if err != nil || form.shape != shapeText {
			return nil, false, err
		}
		if err := d.checkHeader(le.Uint32(d.buf[d.r:]), form); err != nil { // as in value, before waiting for more bytes
			return nil, false, err
		}
		at, read = 4, d.value
	}
	b, err := d.peek(at + 4)
	if err != nil || uint64(le.Uint32(b[at:])) > uint64(d.size)+uint64(nul) {
		return nil, false, err
	}
	t, err := read()
	if err != nil {
		return nil, false, err
	}
	text = t.Bytes()
	d.drop() // no bulk read may continue this text
	return text, true, nil
}
