package gdwire

import (
	"errors"
	"io"
	"math"
)

// row finds the row of the table that header h means.
func (d *Decoder) row(h uint32) (*row, error) {
	f := d.options.Format
	id := h & 0xFF
	if h&f.idMask == id && f.typeOf(id) != 0 {
		return &d.rows[id], nil
	}
	if f.idMask == math.MaxUint32 && h > 0xFFFF && f.typeOf(h&0xFFFF) != 0 {
		return nil, d.fail(0, because(ErrFlags, "header %#x, and %v has no flags", h, f))
	}
	return nil, d.fail(0, because(ErrType, "id %d is none of %v's", h&f.idMask, f))
}

// value reads a value's first token.
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
	if depth := len(d.outer); uint64(depth) > uint64(d.bounds[limitDepth]) {
		return Token{}, d.fail(0, d.bounds.check(limitDepth, uint64(depth)))
	}
	if d.options.Strict {
		if err := d.canonicalHeader(h, row); err != nil {
			return Token{}, err
		}
	}
	form := &row.forms[h>>16&1]
	switch form.shape {
	case shapeFixed:
		return d.fixed(row.typ, form)
	case shapeText:
		return d.text(row.typ, 4)
	case shapePath:
		return d.path()
	case shapeSignal:
		return d.signal()
	case shapeObject:
		return d.object()
	case shapeArray, shapeDict:
		return d.container(row.typ, form.kind, h>>16&uint32(row.flags))
	case shapePacked, shapePackedStrings:
		return d.packed(row.typ, form)
	case shapeImage:
		return d.image()
	default:
		return d.event()
	}
}

// fixed reads a value whose size the table knows.
func (d *Decoder) fixed(typ Type, form *form) (Token, error) {
	size := int(form.size)
	b, err := d.need(4 + size)
	if err != nil {
		return Token{}, err
	}
	b = b[4 : 4+size]
	if d.options.Strict {
		if err := d.canonicalNumber(typ, form, b); err != nil {
			return Token{}, err
		}
	}
	t := newToken(form.kind, typ, tokenFlags(form.unit), 0)
	switch {
	case size > 8 || form.kind >= KindVector2 && form.kind <= KindColor:
		t = t.at(&d.window, d.pos()+4, size)
	case size == 8:
		t.bits = le.Uint64(b)
	case form.kind == KindInt32:
		t.bits = uint64(int64(int32(le.Uint32(b))))
	case size == 4:
		t.bits = uint64(le.Uint32(b))
	}
	d.take(4+size, 4)
	d.step()
	return t, nil
}

// open consumes n bytes, a Start token, and opens f around what follows.
func (d *Decoder) open(n, payload int, f frame) {
	f.mark = d.pos()
	d.take(n, payload)
	d.push(f)
}

// text reads the first chunk of a string whose length stands behind at bytes of
// header.
func (d *Decoder) text(typ Type, at int) (Token, error) {
	b, err := d.need(at + 4)
	if err != nil {
		return Token{}, err
	}
	n := le.Uint32(b[at:])
	if err := d.bounds.check(limitString, uint64(n-min(n, d.nul(typ)))); err != nil {
		return Token{}, d.fail(at, err)
	}
	if err := d.claim(at, uint64(n)); err != nil {
		return Token{}, err
	}
	return d.textChunk(typ, at+4, n, n)
}

// nul is 1 where the wire ends strings of that type in NUL.
func (d *Decoder) nul(typ Type) uint32 {
	if typ == TypePackedStringArray && d.options.Format.engine {
		return 1
	}
	return 0
}

// textChunk reads the next chunk of a string of total bytes, left of which are
// still to come, behind at bytes of header: none if it is not the first.
func (d *Decoder) textChunk(typ Type, at int, left, total uint32) (Token, error) {
	n, pad, flags := d.size, 0, tokenFlags(0)
	last := uint64(left) <= uint64(d.size)+uint64(d.nul(typ))
	if last {
		n, pad, flags = int(left), padding(total), flagLast
	}
	b, pad, err := d.needPadded(typ, at+n, pad)
	if err != nil {
		return Token{}, err
	}
	text := b[at : at+n]
	if !last {
		n = wholeRunes(text, n)
		text = text[:n]
	}
	if !d.options.AnyUTF8 && !validText(text) {
		return Token{}, d.fail(at+invalidText(text), ErrUTF8)
	}
	if d.options.Strict {
		if err := d.canonicalText(typ, at, text, last, b[at+n:at+n+pad], total); err != nil {
			return Token{}, err
		}
	}
	size, length := at+n+pad, uint64(total)
	if d.nul(typ) == 1 {
		if last && n > 0 && text[n-1] == 0 {
			n--
		}
		if uint64(total) <= uint64(d.size)+1 {
			length = uint64(n)
		} else {
			flags |= flagNUL
		}
	}
	t := newToken(KindStringChunk, typ, flags, length)
	if n > 0 {
		t = t.at(&d.window, d.pos()+uint64(at), n)
	}
	switch first := at > 0; {
	case first && last:
		d.take(size, at)
		d.step()
	case first:
		d.open(size, at, frame{kind: KindStringChunk, typ: typ, left: total - uint32(n), count: total})
	default:
		d.take(size, at)
		d.top.left = left - uint32(n)
		if last {
			d.pop()
		}
	}
	d.bulk = bulk{kind: KindStringChunk, mark: d.at, pos: d.live, left: n}
	return t, nil
}

// needPadded is need for n bytes and their padding, which may be missing at the
// very end of the input where the engines let it. It says how much there is.
func (d *Decoder) needPadded(typ Type, n, pad int) ([]byte, int, error) {
	b, err := d.need(n + pad)
	if pad == 0 || d.err == nil || !errors.Is(err, io.ErrUnexpectedEOF) || !d.lacksPadding(typ, n) {
		return b, pad, err
	}
	d.err = nil
	b = d.buf[d.r:d.end]
	return b, len(b) - n, nil
}

func (d *Decoder) lacksPadding(typ Type, n int) bool {
	return !d.options.Strict && !d.options.wholePadding && d.options.Format.mayLackPadding(typ) && d.end-d.r >= n && d.lim == d.end
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

// sharedBit is bit 31 of an array's or dictionary's count.
const sharedBit = 1 << 31

// container reads the head of an Array or Dictionary: what the header's flags
// say it declares, and the count.
func (d *Decoder) container(typ Type, kind Kind, flags uint32) (Token, error) {
	var elem Type
	kinds := [2]containerKind{containerKind(flags & 3), containerKind(flags >> 2 & 3)}
	from, to, at := 4, 4, 4
	for i, k := range kinds {
		end, t, err := d.declaration(at, k)
		switch {
		case err != nil:
			return Token{}, err
		case t == 0: // built-in 0 declares nothing either, so it is left out
			kinds[i] = containerUntyped
			if i == 0 {
				from, to = end, end
			}
		default:
			to = end
			if i == 0 {
				elem = t
			}
		}
		at = end
	}
	b, err := d.need(at + 4)
	if err != nil {
		return Token{}, err
	}
	n := le.Uint32(b[at:])
	tf := tokenFlags(kinds[0])<<elemShift | tokenFlags(kinds[1])<<valueShift
	if n&sharedBit != 0 {
		if d.options.Format.shared {
			tf |= flagShared
		} else if d.options.Strict {
			return Token{}, d.fail(at, because(ErrStrict, "shared bit of a count"))
		}
		n &^= sharedBit
	}
	values := uint64(1)
	if kind == KindDictStart {
		values = 2
	}
	if err := d.announce(at, uint64(n), values, 4*values); err != nil {
		return Token{}, err
	}
	t := newToken(kind, typ, tf, uint64(n))
	if to > from {
		t = t.at(&d.window, d.pos()+uint64(from), to-from)
	}
	d.open(at+4, from, frame{kind: kind, typ: typ, left: n, count: n, elem: elem})
	return t, nil
}

// declaration reads a declared type behind at bytes and returns where it ends
// and what it asks of elements, 0 if nothing.
func (d *Decoder) declaration(at int, k containerKind) (int, Type, error) {
	switch k {
	case containerUntyped:
		return at, 0, nil
	case containerBuiltin:
		b, err := d.need(at + 4)
		if err != nil {
			return 0, 0, err
		}
		id := le.Uint32(b[at:])
		t := d.options.Format.typeOf(id)
		if t == 0 {
			return 0, 0, d.fail(at, because(ErrType, "elements of type id %d", id))
		}
		if t == TypeNil {
			if d.options.Strict {
				return 0, 0, d.fail(at, because(ErrStrict, "elements of type id 0"))
			}
			t = 0
		}
		return at + 4, t, nil
	default:
		n, end, err := d.name(at)
		if err == nil && n == 0 && d.options.Strict {
			err = d.fail(at, because(ErrStrict, "elements of a class without a name"))
		}
		return end, TypeObject, err
	}
}

// name asks for a whole name whose length stands behind at bytes, and returns
// the length and where its padding ends.
func (d *Decoder) name(at int) (n, end int, err error) {
	b, err := d.need(at + 4)
	if err != nil {
		return 0, 0, err
	}
	size := le.Uint32(b[at:])
	if err := d.bounds.check(limitName, uint64(size)); err != nil {
		return 0, 0, d.fail(at, err)
	}
	if err := d.claim(at, uint64(size)); err != nil {
		return 0, 0, err
	}
	from := at + 4
	n, end = int(size), from+int(padded(size))
	if b, err = d.need(end); err != nil {
		return 0, 0, err
	}
	text := b[from : from+n]
	if !d.options.AnyUTF8 && !validText(text) {
		return 0, 0, d.fail(from+invalidText(text), ErrUTF8)
	}
	if d.options.Strict {
		err = d.canonicalText(TypeString, from, text, true, b[from+n:end], size)
	}
	return n, end, err
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

// object reads the head of an object in full.
func (d *Decoder) object() (Token, error) {
	f := d.options.Format
	if !d.options.AllowObjects && !f.nullObject {
		return Token{}, d.fail(0, ErrObject)
	}
	n, end, err := d.name(4)
	if err != nil {
		return Token{}, err
	}
	if n > 0 && !d.options.AllowObjects {
		return Token{}, d.fail(0, ErrObject)
	}
	if n == 0 && d.options.Strict && !f.nullObject {
		return Token{}, d.strict(0, "object without a class")
	}
	count := uint32(0)
	if n > 0 { // an empty class name is null, and ends here
		b, err := d.need(end + 4)
		if err != nil {
			return Token{}, err
		}
		if count, err = d.sign(end, le.Uint32(b[end:])); err != nil {
			return Token{}, err
		}
		if err := d.announce(end, uint64(count), 2, 8); err != nil {
			return Token{}, err
		}
		end += 4
	}
	t := newToken(KindObjectStart, TypeObject, 0, uint64(count)).at(&d.window, d.pos()+8, n)
	d.open(end, 8, frame{kind: KindObjectStart, typ: TypeObject, left: count, count: count})
	return t, nil
}

// sign returns the count n, or 0 where engines read a negative one as that.
func (d *Decoder) sign(at int, n uint32) (uint32, error) {
	if n <= math.MaxInt32 || !d.options.Format.engine {
		return n, nil
	}
	if d.options.Strict {
		return 0, d.fail(at, because(ErrStrict, "negative count"))
	}
	return 0, nil
}

// property reads a property's name.
func (d *Decoder) property() (Token, error) {
	n, end, err := d.name(0)
	if err != nil {
		return Token{}, err
	}
	t := newToken(KindProperty, TypeObject, 0, 0).at(&d.window, d.pos()+4, n)
	d.top.mark = d.pos()
	d.take(end, 4)
	d.step()
	return t, nil
}

// The bits of a NodePath, in its first word and in its flags.
const (
	newPathBit   = 1 << 31
	pathAbsolute = 1 << 0
	pathProperty = 1 << 1
)

// path reads the head of a NodePath.
func (d *Decoder) path() (Token, error) {
	b, err := d.need(8)
	if err != nil {
		return Token{}, err
	}
	format := d.options.Format
	n := le.Uint32(b[4:])
	f := frame{kind: KindNodePathStart, typ: TypeNodePath}
	if n&newPathBit == 0 {
		if !format.oldPath {
			return Token{}, d.fail(4, because(ErrType, "NodePath as one string, and %v has none", format))
		}
		if format.engine && d.options.Strict {
			return Token{}, d.fail(4, because(ErrStrict, "NodePath as one string"))
		}
		if err := d.announce(4, 1, 1, 0); err != nil {
			return Token{}, err
		}
		// The string follows as any name does, its length first.
		f.left, f.count, f.names, f.flags = 1, 1, 1, flagOldPath
		d.open(4, 4, f)
		d.bulkStart()
		return newToken(KindNodePathStart, TypeNodePath, flagOldPath, 1), nil
	}
	if b, err = d.need(16); err != nil {
		return Token{}, err
	}
	names, subnames, bits := n&^newPathBit, uint64(le.Uint32(b[8:])), le.Uint32(b[12:])
	if d.options.Strict {
		if err := d.canonicalPath(bits); err != nil {
			return Token{}, err
		}
	}
	if bits&pathAbsolute != 0 {
		f.flags |= flagAbsolute
	}
	if bits&pathProperty != 0 && format.property {
		f.flags |= flagProperty
		subnames++
	}
	total := uint64(names) + subnames
	if err := d.announce(4, total, 1, 4); err != nil {
		return Token{}, err
	}
	if total > math.MaxUint32 {
		return Token{}, d.fail(4, because(ErrRange, "NodePath of %d names", total))
	}
	f.left, f.count, f.names = uint32(total), uint32(total), names
	d.open(16, 4, f)
	d.bulkStart()
	return newToken(KindNodePathStart, TypeNodePath, f.flags, uint64(names)|subnames<<32), nil
}

// packed reads the head of a packed array.
func (d *Decoder) packed(typ Type, form *form) (Token, error) {
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
	d.open(8, 4, frame{kind: KindPackedStart, typ: typ, left: n, count: n, size: form.size, unit: form.unit})
	if form.shape == shapePacked {
		d.bulkStart()
	}
	return newToken(KindPackedStart, typ, tokenFlags(form.unit), uint64(n)), nil
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
	d.open(at+4, 4, frame{kind: KindImageStart, typ: TypeImage, left: n, count: n, size: 1, unit: unitByte})
	d.bulkStart()
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
		return Token{}, d.fail(12, because(ErrStrict, "InputEvent with more than it needs"))
	}
	if _, err = d.need(4 + int(size)); err != nil {
		return Token{}, err
	}
	t := newToken(KindInputEvent, TypeInputEvent, 0, uint64(event)|uint64(device)<<32).at(&d.window, d.pos()+4+eventHead, n)
	d.take(4+int(size), 4+eventHead)
	d.step()
	return t, nil
}

// chunk reads the next elements of packed data, at most as many.
func (d *Decoder) chunk(most int) (Token, error) {
	f := &d.top
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
	d.bulkStart()
	d.bulk.pos, d.bulk.left = d.live, n*size
	return t, nil
}
