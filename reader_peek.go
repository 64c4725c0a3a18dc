package gdwire

// PeekType returns the type of the next value without consuming it, also if the value is a
// key before which a DictKey is next. The names of a NodePath and the strings of a
// PackedStringArray count as Strings. Where no value is next, PeekType returns the error of
// typed reads, such as [ErrCount] at an End. It waits for at most 4 bytes.
func (d *Decoder) PeekType() (Type, error) {
	if form, _ := d.fastForm(); form != nil {
		d.drop()
		return form.typ, nil
	}
	if err := d.start(); err != nil {
		return 0, err
	}
	if d.want() == wantName {
		return TypeString, nil
	}
	form, err := d.peekTyped()
	if err != nil {
		return 0, err
	}
	return form.typ, nil
}
