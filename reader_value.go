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

// shortSize is a header, and what a word or a short string has behind it.
const (
	shortSize = 16
	shortText = 8
)

// value reads a value's first token.
func (d *Decoder) value() (Token, error) {
	var b *[shortSize]byte
	if d.lim-d.r >= shortSize {
		b = (*[shortSize]byte)(d.buf[d.r:])
	} else {
		if err := d.word(); err != nil {
			return Token{}, err
		}
		b = new([shortSize]byte)
		copy(b[:], d.buf[d.r:d.lim])
	}
	h := le.Uint32(b[:])
	id := h & d.idMask
	if id >= uint32(len(d.rows)) || d.depth > d.maxDepth {
		if err := d.checkHeader(h); err != nil {
			return Token{}, err
		}
	}
	form := &d.rows[id&63][h>>16&1]
	size := 4 + int(form.size)
	switch form.shape {
	case shapeWord:
		if d.options.Strict {
			if err := d.canonicalNumber(form, b[4:size]); err != nil {
				return Token{}, err
			}
		}
		d.at = d.base + uint64(d.r)
		d.r += size
		d.step()
		return Token{head: form.head, bits: le.Uint64(b[4:]) & form.mask}, nil
	case shapeMaths:
		if d.lim-d.r < size {
			if _, err := d.more(size); err != nil {
				return Token{}, err
			}
		}
		d.at = d.base + uint64(d.r)
		d.live = d.at + 4
		d.r += size
		d.step()
		return Token{head: form.head, win: &d.window, pos: d.live}, nil
	case shapeText:
		n := le.Uint32(b[4:])
		end := d.r + 8 + int(padded(n))
		if int64(n) <= int64(d.short) && end <= d.lim && le.Uint64(b[8:])<<(64-8*n)&notASCII == 0 {
			d.at = d.base + uint64(d.r)
			d.live = d.at + 8
			d.r = end
			d.step()
			d.bulk.kind, d.bulk.left = KindStringChunk, int(n)
			return Token{head: form.head | uint64(n)<<32, bits: uint64(n), win: &d.window, pos: d.live}, nil
		}
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
	_, err := d.row(h)
	return Token{}, err
}

// word asks for a header and, if that of a word follows, for the word.
func (d *Decoder) word() error {
	b, err := d.need(4)
	if err != nil {
		return err
	}
	h := le.Uint32(b)
	if d.depth > d.maxDepth {
		if err := d.checkHeader(h); err != nil {
			return err
		}
	}
	if id := h & d.idMask; id < uint32(len(d.rows)) {
		if form := &d.rows[id][h>>16&1]; form.shape == shapeWord {
			_, err = d.need(4 + int(form.size))
		}
	}
	return err
}

// checkHeader looks closer at a header: it may be unknown, too deep, or not
// canonical.
func (d *Decoder) checkHeader(h uint32) error {
	row, err := d.row(h)
	if err != nil {
		return err
	}
	if err := d.bounds.check(limitDepth, uint64(d.Depth())); err != nil {
		return d.fail(0, err)
	}
	if d.options.Strict {
		return d.canonicalHeader(h, &row[0])
	}
	return nil
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
	end := d.pos() + uint64(at) + 4 + n
	if err := d.bounds.check(limitBytes, end-d.begin); err != nil {
		return d.fail(at, err)
	}
	if end > d.stop {
		return d.fail(at, io.ErrUnexpectedEOF)
	}
	return nil
}

// announce asks, before it is believed, whether there can be n elements, each of
// at least size bytes and so many values, and counts them.
func (d *Decoder) announce(at int, n, values, size uint64) error {
	err := d.bounds.check(limitElements, n)
	if err == nil {
		err = d.bounds.check(limitValues, d.values+n*values)
	}
	if err != nil {
		return d.fail(at, err)
	}
	if err := d.claim(at, n*size); err != nil {
		return err
	}
	d.values += n * values
	return nil
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
