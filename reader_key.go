package gdwire

// ReadKey reads the next key of a Dictionary if it is a String or StringName that
// fits the read buffer, and returns its text. The text is part of the buffer and
// valid until the next call on the Decoder. If the key has another type or is longer,
// ReadKey consumes nothing and reports false: ReadToken or a typed read can take it.
//
// It is for loops that need keys of any type, or that need them without a copy;
// other programs use [Decoder.Fields].
func (d *Decoder) ReadKey() (key []byte, ok bool, err error) {
	if key, ok := d.fastString(); ok {
		return key, true, nil
	}
	form, err := d.peekTyped()
	if err != nil || form.shape != shapeText {
		return nil, false, err
	}
	b, err := d.peek(8)
	if err != nil || int64(le.Uint32(b[4:])) > int64(d.size) {
		return nil, false, err
	}
	t, err := d.value()
	if err != nil {
		return nil, false, err
	}
	return t.Bytes(), true, nil
}
