package gdwire

// ReadText reads the next key or value if it is a String or StringName, or the next
// string of a PackedStringArray or NodePath, and returns its text. The text is part
// of the read buffer and valid until the next call on the Decoder. If another type
// comes next, or a text that does not fit the buffer, ReadText consumes nothing and
// reports false: ReadToken or a typed read can take it.
//
// It is for programs that look at texts without a copy, and for loops over keys of any
// type.
func (d *Decoder) ReadText() (text []byte, ok bool, err error) {
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
	d.token |= 1 // AppendString and Payload begin with the next value
	return text, true, nil
}
