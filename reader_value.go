package gdwire

import (
	"errors"
	"io"
	"math"
)

// row finds the row of the table that header h means.
func (d *Decoder) row(h uint32) (*row, error) {
	if id := h & d.idMask; id < uint32(len(d.rows)) && d.rows[id].typ != 0 {
		return &d.rows[id], nil
	}
	f := d.options.Format
	if f.idMask == math.MaxUint32 && h > 0xFFFF && f.typeOf(h&0xFFFF) != 0 {
		return nil, d.fail(0, because(ErrFlags, "header %#x, and %v has no flags", h, f))
	}
	return nil, d.fail(0, because(ErrType, "id %d is none of %v's", h&f.idMask, f))
}

// value reads a value's first token.
func (d *Decoder) value() (Token, error) {
	b := d.buf[d.r:d.lim]
	if len(b) < 4 {
		var err error
		if b, err = d.more(4); err != nil {
			return Token{}, err
		}
	}
	h := le.Uint32(b)
	id := h & d.idMask
	if id >= uint32(len(d.rows)) || d.depth > d.maxDepth || d.whole < 0 {
		if err := d.checkHeader(h); err != nil {
			return Token{}, err
		}
	}
	row := &d.rows[id&63]
	form := &row.forms[h>>16&1]
	switch form.shape {
	case shapeWord, shapeMaths:
		size := 4 + int(form.size)
		if len(b) < size {
			var err error
			if b, err = d.more(size); err != nil {
				return Token{}, err
			}
		}
		if d.whole < 0 {
			if err := d.canonicalNumber(row.typ, form, b[4:size]); err != nil {
				return Token{}, err
			}
		}
		d.at = d.base + uint64(d.r)
		d.r += size
		d.step()
		if form.shape == shapeMaths {
			d.live = d.at + 4
			return Token{head: form.head, win: &d.window, pos: d.at + 4}, nil
		}
		t := Token{head: form.head}
		switch form.size {
		case 4:
			t.bits = uint64(le.Uint32(b[4:]))
			if form.unit == unitInt32 {
				t.bits = uint64(int64(int32(t.bits)))
			}
		case 8:
			t.bits = le.Uint64(b[4:])
		}
		return t, nil
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
	case shapeEvent:
		return d.event()
	}
	_, err := d.row(h)
	return Token{}, err
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
		return d.canonicalHeader(h, row)
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

// text reads the first chunk of a string whose length stands behind at bytes of
// header.
func (d *Decoder) text(typ Type, at int) (Token, error) {
	b := d.buf[d.r:d.lim]
	if len(b) < at+4 {
		var err error
		if b, err = d.more(at + 4); err != nil {
			return Token{}, err
		}
	}
	n := le.Uint32(b[at:])
	from := at + 4
	if end := uint64(from) + padded(n); int64(n) <= int64(d.whole) && end <= uint64(len(b)) && validText(b[from:from+int(n)]) {
		n -= d.trailingNUL(typ, b[from:from+int(n)])
		d.at = d.base + uint64(d.r)
		d.live = d.at + uint64(from)
		d.r += int(end)
		d.step()
		d.bulk.kind, d.bulk.left = KindStringChunk, int(n)
		const head = uint64(KindStringChunk) | uint64(flagLast)<<16
		return Token{head: head | uint64(typ)<<8 | uint64(n)<<32, bits: uint64(n), win: &d.window, pos: d.live}, nil
	}
	if err := d.bounds.check(limitString, uint64(n-min(n, d.nul(typ)))); err != nil {
		return Token{}, d.fail(at, err)
	}
	if err := d.claim(at, uint64(n)); err != nil {
		return Token{}, err
	}
	return d.textChunk(typ, at+4, n, n)
}

// trailingNUL is 1 where text ends in the NUL of a packed string.
func (d *Decoder) trailingNUL(typ Type, text []byte) uint32 {
	if typ == TypePackedStringArray && len(text) > 0 && text[len(text)-1] == 0 {
		return d.nul(typ)
	}
	return 0
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
		return Token{}, d.cutText(typ, at, n, last, err)
	}
	text := b[at : at+n]
	if !last {
		n = wholeRunes(text, n)
		text = text[:n]
	}
	if !d.options.AnyUTF8 && !validText(text) {
		return Token{}, d.badText(at, text)
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
		d.open(size, at, KindStringChunk, typ, total).left -= uint32(n)
	default:
		d.take(size, at)
		d.top.left = left - uint32(n)
		if last {
			d.pop()
		}
	}
	d.bulk.kind, d.bulk.left = KindStringChunk, n
	return t, nil
}

// badText says what is wrong with text that is no UTF-8: whatever comes first in
// it, as smaller chunks would find.
func (d *Decoder) badText(at int, text []byte) error {
	bad := invalidText(text)
	if d.options.Strict {
		if err := d.canonicalNUL(at, text[:bad]); err != nil {
			return err
		}
	}
	return d.fail(at+bad, ErrUTF8)
}

// cutText looks at the part that is there of n bytes of text in which the input
// ends. Smaller chunks would have told what is wrong with it.
func (d *Decoder) cutText(typ Type, at, n int, last bool, err error) error {
	if d.err == nil || !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	text := d.buf[min(d.r+at, d.lim):min(d.r+at+n, d.lim)]
	if len(text) == n && last && d.nul(typ) == 1 && text[n-1] == 0 {
		text = text[:n-1]
	}
	text = text[:wholeRunes(text, len(text))]
	if !d.options.AnyUTF8 && !validText(text) {
		return d.badText(at, text)
	}
	if d.options.Strict {
		if err := d.canonicalNUL(at, text); err != nil {
			return err
		}
	}
	return err
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

// container reads the head of an Array or Dictionary, and what the header's flags
// say it declares.
func (d *Decoder) container(typ Type, kind Kind, flags uint32) (Token, error) {
	declared := declarations{from: 4, to: 4, end: 4}
	if flags != 0 {
		if err := d.declarations(&declared, flags); err != nil {
			return Token{}, err
		}
	}
	at := declared.end
	b, err := d.need(at + 4)
	if err != nil {
		return Token{}, err
	}
	n := le.Uint32(b[at:])
	if n&sharedBit != 0 {
		if d.options.Format.shared {
			declared.flags |= flagShared
		} else if d.options.Strict {
			return Token{}, d.strict(at, "shared bit of a count")
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
	t := newToken(kind, typ, declared.flags, uint64(n))
	if size := declared.to - declared.from; size > 0 {
		t = t.at(&d.window, d.pos()+uint64(declared.from), size)
	}
	d.open(at+4, declared.from, kind, typ, n).elem = declared.elem
	return t, nil
}

// declarations are what an Array or Dictionary declares of what it holds.
type declarations struct {
	flags    tokenFlags
	elem     Type // what elements or keys must be
	from, to int  // where they stand behind pos
	end      int  // where the count follows
}

// declarations reads those that the header's flags announce.
func (d *Decoder) declarations(p *declarations, flags uint32) error {
	for i, shift := range [...]int{elemShift, valueShift} {
		k := containerKind(flags >> (2 * i) & 3)
		end, t, err := d.declaration(p.end, k)
		if err != nil {
			return err
		}
		p.end = end
		switch {
		case t != 0:
			p.flags |= tokenFlags(k) << shift
			p.to = end
			if i == 0 {
				p.elem = t
			}
		case i == 0: // built-in 0 declares nothing, so it is left out
			p.from, p.to = end, end
		}
	}
	return nil
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
		return 0, 0, d.badText(from, text)
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
	d.open(end, 8, KindObjectStart, TypeObject, count)
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
		d.open(4, 4, KindNodePathStart, TypeNodePath, 1).names = 1
		d.bulk.kind, d.bulk.left = d.top.kind, 0
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
	flags := tokenFlags(0)
	if bits&pathAbsolute != 0 {
		flags |= flagAbsolute
	}
	if bits&pathProperty != 0 && format.property {
		flags |= flagProperty
		subnames++
	}
	total := uint64(names) + subnames
	if format.engine && total > math.MaxUint32 { // engines add in 32 bits
		if d.options.Strict {
			return Token{}, d.strict(4, "NodePath of %d names", total)
		}
		total &= math.MaxUint32
		names = uint32(min(uint64(names), total))
		subnames = total - uint64(names)
	}
	err = d.announce(4, total, 1, 4)
	if err == nil {
		err = d.claim(4, 8+4*total) // behind the other two words
	}
	if err != nil {
		return Token{}, err
	}
	if total > math.MaxUint32 {
		return Token{}, d.fail(4, because(ErrRange, "NodePath of %d names", total))
	}
	f := d.open(16, 4, KindNodePathStart, TypeNodePath, uint32(total))
	f.names, f.flags = names, flags
	d.bulk.kind, d.bulk.left = d.top.kind, 0
	return newToken(KindNodePathStart, TypeNodePath, flags, uint64(names)|subnames<<32), nil
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
	f := d.open(8, 4, KindPackedStart, typ, n)
	f.size, f.unit = form.size, form.unit
	if form.shape == shapePacked {
		d.bulk.kind, d.bulk.left = KindPackedStart, 0
	} else if n > 0 {
		f.want = wantName
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
	f := d.open(at+4, 4, KindImageStart, TypeImage, n)
	f.size, f.unit = 1, unitByte
	d.bulk.kind, d.bulk.left = d.top.kind, 0
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
