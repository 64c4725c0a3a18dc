package text

import "github.com/gdwire/gdwire"

// Read reads the next value with its content.
func Read(d *gdwire.Decoder) (Value, error) {
	t, err := d.ReadToken()
	if err != nil {
		return Value{}, err
	}
	v := FromToken(t, nil)
	switch t.Kind() {
	case gdwire.KindStringChunk, gdwire.KindNodePathStart:
		v.Text, err = text(d)
	case gdwire.KindPackedStart, gdwire.KindImageStart:
		err = v.readPacked(d)
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart:
		err = v.readItems(d, t.Len())
	}
	return v, err
}

// text returns the text beginning with the latest token.
func text(d *gdwire.Decoder) (string, error) {
	b, err := d.AppendString(nil)
	return string(b), err
}

// readPacked reads the elements of a packed array, or the bytes of an Image.
func (v *Value) readPacked(d *gdwire.Decoder) error {
	var b []byte
	for {
		t, err := d.ReadToken()
		switch {
		case err != nil:
			return err
		case t.Kind() == gdwire.KindEnd:
			v.finish(b)
			return nil
		case t.Kind() == gdwire.KindStringChunk:
			s, err := text(d)
			if err != nil {
				return err
			}
			v.Items = append(v.Items, Value{Type: gdwire.TypeString, Text: s})
		case v.Type == gdwire.TypePackedByteArray || v.Type == gdwire.TypeImage:
			b = append(b, t.Bytes()...)
		default:
			size := int(int64(len(t.Bytes())) / max(t.Len(), 1))
			for b := t.Bytes(); len(b) > 0; b = b[size:] {
				v.Items = append(v.Items, Element(t, b[:size], nil))
			}
		}
	}
}

// readItems reads the content of a container of n elements, pairs or properties.
func (v *Value) readItems(d *gdwire.Decoder, n int64) error {
	for range n {
		switch v.Type {
		case gdwire.TypeDictionary:
			if _, err := d.ReadToken(); err != nil { // DictKey
				return err
			}
			key, err := Read(d)
			if err != nil {
				return err
			}
			v.Items = append(v.Items, key)
		case gdwire.TypeObject:
			t, err := d.ReadToken()
			if err != nil {
				return err
			}
			v.Items = append(v.Items, FromToken(t, nil))
		}
		item, err := Read(d)
		if err != nil {
			return err
		}
		v.Items = append(v.Items, item)
	}
	v.finish(nil)
	_, err := d.ReadToken() // End
	return err
}

// finish sets the form of a container, and the bytes of a PackedByteArray or Image.
func (v *Value) finish(b []byte) {
	switch {
	case v.Type == gdwire.TypePackedByteArray || v.Type == gdwire.TypeImage:
		v.Text = string(b)
	case v.Items == nil:
		v.Form = Empty
	default:
		v.Form = Whole
	}
}
