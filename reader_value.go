package gdwire

import (
	"io"
	"math"
)

// row finds the row of the table that header h means.
func (d *Decoder) row(h uint32) (*row, error) {
	if id := h & d.idMask; id < uint32(len(d.rows)) && d.rows[id][0].typ != 0 {
		return &d.rows[id], nil
	}
	f := d.options.Format
	if f.idMask == math.MaxUint32 && h > 0xFFFF && f.typeOf(h&0xFFFF) != 0 {
		return nil, d.fail(0, because(ErrFlags, "header %#x, and %v has no flags", h, f))
	}
	return nil, d.fail(0, because(ErrType, "id %d is none of %v's", h&f.idMask, f))
}

// straightSize is a header and what a word or a short string has behind it, the
// string its length and up to eight bytes.
const straightSize = 16

// value reads a value's first token step by step.
func (d *Decoder) value() (Token, error) {
	b, err := d.need(4)
	if err != nil {
		return Token{}, err
	}
	h := le.Uint32(b)
	row, err := d.row(h)
	if err != nil {
		return Token{}, err
	}
	if err := d.bounds.check(limitDepth, uint64(d.Depth())); err != nil {
		return Token{}, d.fail(0, err)
	}
	form := &row[h>>16&1]
	if d.options.Strict {
		if err := d.canonicalHeader(h, form); err != nil {
			return Token{}, err
		}
	}
	switch form.shape {
	case shapeText:
		return d.text(form.typ, 4)
	case shapePath:
		return d.path()
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
	if b, err = d.need(size); err != nil {
		return Token{}, err
	}
	t := Token{head: form.head}
	if form.shape == shapeMaths {
		t.win, t.pos = &d.window, d.pos()+4
	} else {
		var word [8]byte
		copy(word[:], b[4:size])
		t.bits = le.Uint64(word[:])
		if d.options.Strict {
			if err := d.canonicalNumber(form, b[4:size]); err != nil {
				return Token{}, err
			}
		}
	}
	d.take(size, 4)
	d.step()
	return t, nil
}

// open consumes n bytes, a Start token, and opens a frame for count of what that
// announces.
func (d *Decoder) open(n, payload int, k Kind, t Type, count uint32) *frame {
	d.take(n, payload)
	f := d.push(k, t, count)
	f.mark = d.at
	return f
}

// claim asks, before it is believed, whether n bytes can follow the count or
// length that stands behind at bytes.
func (d *Decoder) claim(at int, n uint64) error {
	if end := d.pos() + uint64(at) + 4 + n; end > d.until {
		return d.refuse(at, 0, 0, end)
	}
	return nil
}

// announce asks, before it is believed, whether there can be n elements, each of
// at least size bytes and so many values, and counts them.
func (d *Decoder) announce(at int, n, values, size uint64) error {
	total, end := d.values+n*values, d.pos()+uint64(at)+4+n*size
	if n > uint64(d.bounds[limitElements]) || total > uint64(d.bounds[limitValues]) || end > d.until {
		return d.refuse(at, n, total, end)
	}
	d.values = total
	return nil
}

// refuse says what a count goes beyond: n elements, the total of values, or the
// end of what follows it.
func (d *Decoder) refuse(at int, n, total, end uint64) error {
	err := d.bounds.check(limitElements, n)
	if err == nil {
		err = d.bounds.check(limitValues, total)
	}
	if err == nil {
		err = d.bounds.check(limitBytes, end-d.begin)
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
	b, err := d.need(end + 8)
	if err != nil {
		return Token{}, err
	}
	t := newToken(KindSignal, TypeSignal, 0, le.Uint64(b[end:])).at(&d.window, d.pos()+8, n)
	d.take(end+8, 8)
	d.step()
	return t, nil
}

// eventData is how many bytes each type of InputEvent has behind its length.
var eventData = [...]int{1: 8, 3: 4, 4: 8, 5: 4, 6: 4, 8: 0}

const (
	joystickMotion = 4
	eventHead      = 12 // type, device, length
)

// eventSize returns how many of the rest bytes behind its length are an event's.
func eventSize(event, rest uint32) int {
	switch {
	case event == joystickMotion && rest == 4: // the oldest engines: the axis alone
		return 4
	case event < uint32(len(eventData)):
		return eventData[event]
	}
	return 0
}

// event reads an InputEvent of Godot 2.
func (d *Decoder) event() (Token, error) {
	b, err := d.need(4 + eventHead)
	if err != nil {
		return Token{}, err
	}
	event, device, size := le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
	n := eventSize(event, size-eventHead)
	if uint64(size) < eventHead+uint64(n) {
		return Token{}, d.fail(12, because(ErrRange, "InputEvent of type %d in %d bytes", event, size))
	}
	if err := d.bounds.check(limitName, uint64(size-eventHead)); err != nil {
		return Token{}, d.fail(12, err)
	}
	if err := d.claim(12, uint64(size-eventHead)); err != nil {
		return Token{}, err
	}
	if d.options.Strict && size != eventHead+uint32(n) {
		return Token{}, d.strict(12, "InputEvent with more than it needs")
	}
	if _, err = d.need(4 + int(size)); err != nil {
		return Token{}, err
	}
	t := newToken(KindInputEvent, TypeInputEvent, 0, uint64(event)|uint64(device)<<32).at(&d.window, d.pos()+4+eventHead, n)
	d.take(4+int(size), 4+eventHead)
	d.step()
	return t, nil
}
