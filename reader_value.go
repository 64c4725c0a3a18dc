package gdwire

import (
	"encoding/binary"
	"io"
)

// lookup returns the form for header h, or nil if the format has no such type.
func (d *Decoder) lookup(h uint32) *form {
	id := h & d.options.Format.idMask
	if form := &d.forms[formIndex(h)]; id < numForms/2 && form.typ != 0 {
		return form
	}
	return nil
}

// formOf returns the form for header h, or an error if the format has no such type.
func (d *Decoder) formOf(h uint32) (*form, error) {
	if form := d.lookup(h); form != nil {
		return form, nil
	}
	f := d.options.Format
	if f.typeOf(h&0xFFFF) != 0 {
		return nil, d.fail(0, wrapf(ErrFlags, "header has flags: %#x, %v has none", h, f))
	}
	return nil, d.fail(0, wrapf(ErrType, "unknown %v type id %d%s", f, h&f.idMask, d.hint(h)))
}

// hint names what the input probably is, if it begins with h in place of a header. It
// looks at no other bytes, so that the text of an error does not depend on how they arrive.
func (d *Decoder) hint(h uint32) string {
	if d.pos() != d.origin {
		return ""
	}
	if hint, ok := magics[h]; ok {
		return hint
	}
	var b [4]byte
	isText := true
	for _, c := range binary.LittleEndian.AppendUint32(b[:0], h) {
		isText = isText && (c >= ' ' && c <= '~' || c == '\n' || c == '\r' || c == '\t')
	}
	switch {
	case isText:
		return "; the input is text: for JSON, see package gdjson"
	case h <= 1<<24 && h%4 == 0: // as nearly all lengths are
		return "; perhaps the input begins with its length: see package stream"
	}
	return ""
}

// magics has the first four bytes of files that are often taken for values.
var magics = map[uint32]string{
	0x46504347: "; GCPF: a compressed file, see package fileaccess",
	0x43454447: "; GDEC: an encrypted file, see package fileaccess",
	0x43525352: "; RSRC: a resource, not a value",
	0x43435352: "; RSCC: a compressed resource, not a value",
}

// value reads the first token of a value on the slow path.
func (d *Decoder) value() (Token, error) {
	b, err := d.peek(4)
	if err != nil {
		return Token{}, err
	}
	h := le.Uint32(b)
	form, err := d.formOf(h)
	if err != nil {
		return Token{}, err
	}
	if err := d.checkHeader(h, form); err != nil {
		return Token{}, err
	}
	switch form.shape {
	case shapeText:
		return d.text(form.typ, 4)
	case shapeNodePath:
		return d.nodePath()
	case shapeSignal:
		return d.signal()
	case shapeObject:
		return d.object()
	case shapeArray, shapeDict:
		return d.container(form, h>>16&uint32(form.flags))
	case shapePacked, shapePackedStrings:
		return d.packed(form)
	case shapeImage:
		return d.image()
	case shapeEvent:
		return d.event()
	}
	size := 4 + int(form.size)
	if b, err = d.peek(size); err != nil {
		return Token{}, err
	}
	t := Token{head: form.head}
	if form.shape == shapeWord {
		t.bits = wordOf(b[4:size])
		if d.options.Strict {
			if err := d.canonicalNumber(form, b[4:size]); err != nil {
				return Token{}, err
			}
		}
	}
	d.advance(size)
	if form.shape == shapeMath {
		t.src, t.pos = &d.tokenSource, d.mark
	}
	return t, nil
}

// checkHeader checks the depth of a value and, with Strict, its header h.
func (d *Decoder) checkHeader(h uint32, form *form) error {
	if err := d.bounds.check(limitDepth, uint64(d.depth)); err != nil {
		return d.fail(0, err)
	}
	if d.options.Strict {
		return d.canonicalHeader(h, form)
	}
	return nil
}

// wordOf returns the number in up to 8 bytes.
func wordOf(b []byte) uint64 {
	var word [8]byte
	copy(word[:], b)
	return le.Uint64(word[:])
}

// checkLength returns an error if n bytes cannot follow the length field at offset at.
func (d *Decoder) checkLength(at int, n uint64) error {
	if end := d.pos() + uint64(at) + 4 + n; end > d.valueEnd {
		return d.limitError(at, 0, 0, end)
	}
	return nil
}

// checkCount returns an error if n elements, each of at least size bytes and of the given
// number of values, exceed a limit or cannot follow the count at offset at. Otherwise it
// adds the values to d.values.
func (d *Decoder) checkCount(at int, n, values, size uint64) error {
	total, end := d.values+n*values, d.pos()+uint64(at)+4+n*size
	if n > uint64(d.bounds[limitElements]) || total > uint64(d.bounds[limitValues]) || end > d.valueEnd {
		return d.limitError(at, n, total, end)
	}
	d.values = total
	return nil
}

// limitError returns the error for a count that exceeds a limit: by n elements, by the total
// number of values, or by the position end of its last byte.
func (d *Decoder) limitError(at int, n, total, end uint64) error {
	err := d.bounds.check(limitElements, n)
	if err == nil {
		err = d.bounds.check(limitValues, total)
	}
	if err == nil {
		err = d.bounds.check(limitBytes, end-d.valueStart)
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return d.fail(at, err)
}

// signal reads a Signal.
func (d *Decoder) signal() (Token, error) {
	n, end, err := d.name(4)
	if err != nil {
		return Token{}, err
	}
	b, err := d.peek(end + 8)
	if err != nil {
		return Token{}, err
	}
	object := le.Uint64(b[end:])
	d.advance(end + 8)
	return newToken(KindSignal, TypeSignal, 0, object).at(&d.tokenSource, 8, n), nil
}

// eventData has the number of data bytes of each type of InputEvent.
var eventData = [...]int{1: 8, 3: 4, 4: 8, 5: 4, 6: 4, 8: 0}

const (
	joystickMotion = 4
	eventHead      = 12 // type, device, length
)

// eventSize returns the number of data bytes of an event, of the rest bytes after its length
// field.
func eventSize(event, rest uint32) int {
	switch {
	case event == joystickMotion && rest == 4: // the oldest engines write only the axis
		return 4
	case event < uint32(len(eventData)):
		return eventData[event]
	}
	return 0
}

// event reads an InputEvent of Godot 2.
func (d *Decoder) event() (Token, error) {
	b, err := d.peek(4 + eventHead)
	if err != nil {
		return Token{}, err
	}
	event, device, size := le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
	n := eventSize(event, size-eventHead)
	if uint64(size) < eventHead+uint64(n) {
		return Token{}, d.fail(12, wrapf(ErrRange, "InputEvent of type %d needs more than %d bytes", event, size))
	}
	if err := d.bounds.check(limitName, uint64(size-eventHead)); err != nil {
		return Token{}, d.fail(12, err)
	}
	if err := d.checkLength(12, uint64(size-eventHead)); err != nil {
		return Token{}, err
	}
	if d.options.Strict && size != eventHead+uint32(n) {
		return Token{}, d.strict(12, "InputEvent longer than its type needs")
	}
	if _, err = d.peek(4 + int(size)); err != nil {
		return Token{}, err
	}
	d.advance(4 + int(size))
	return newToken(KindInputEvent, TypeInputEvent, 0, uint64(event)|uint64(device)<<32).at(&d.tokenSource, 4+eventHead, n), nil
}
