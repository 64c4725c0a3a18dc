package gdwire

import (
	"io"
	"math"
	"slices"
)

// payload is the rest of the latest token's payload, of which the bulk reads hand
// out more and more. It is found out when the first of them is called.
//
// Tokens of the slow path note what they have. Of a token of the fast path only a
// whole string has more to give than Token.Bytes, and its header shows it.
type payload struct {
	token  uint64 // whose payload it is, as window.token was
	pos    uint64 // a position: the buffered bytes of it that were not handed out
	left   int    // how many they are
	kind   Kind   // StringChunk, PackedStart, ImageStart, NodePathStart; 0: none
	active bool   // the latest call was a bulk read
	done   bool   // there is no more of it
	elem   units  // of a PackedStart
}

// startPayload reports whether the latest token has a payload, or a bulk read of
// it is under way.
func (d *Decoder) startPayload() bool {
	p := &d.payload
	switch {
	case d.leave > 0:
		return false
	case p.active:
		return p.kind != 0
	case d.token&1 != 0:
		return false
	}
	if p.token != d.token {
		*p = payload{token: d.token}
		if at, n := d.fastText(); at > 0 {
			p.kind, p.pos, p.left = KindStringChunk, d.token/2+uint64(at), n
		}
	}
	if p.kind == 0 {
		return false
	}
	if p.kind == KindPackedStart {
		f := d.top()
		p.elem = units{f.unit, layouts[f.typ].n}
	}
	p.active = true
	d.skip = extent{}
	d.token |= 1
	d.setWin()
	return true
}

// fastText returns where in the token the text starts of the string that was the
// latest token, of the fast path, and its length; 0 if it was something else.
func (d *Decoder) fastText() (at, n int) {
	b := d.buf[d.token/2-d.base:]
	h := le.Uint32(b)
	switch f := d.top(); {
	case f.kind == KindNodePathStart:
		return 4, int(h)
	case f.kind == KindPackedStart:
		return 4, int(h - d.trailingNUL(b[4:4+h]))
	case d.rows[h&63][h>>16&1].shape == shapeText:
		return 8, int(le.Uint32(b[4:]))
	}
	return 0, 0
}

// endPayload ends a bulk read that has handed out everything.
func (d *Decoder) endPayload() {
	d.payload.active = false
	d.setWin()
}

// peekPayload returns the buffered bytes of the payload, after reading one element
// if there are none and most bytes at most; io.EOF, and the value closed, where
// there are no more.
func (d *Decoder) peekPayload(most int) ([]byte, error) {
	p := &d.payload
	for p.left == 0 {
		if p.done {
			return nil, io.EOF
		}
		if d.err != nil {
			return nil, d.failed()
		}
		pos := d.pos()
		switch d.want() {
		case wantText:
			part, err := d.takeText()
			if err != nil {
				return nil, err
			}
			p.pos, p.left = pos, part.n
		case wantChunk:
			// Padding comes with the last bytes alone, so that what is handed out
			// before an error in it does not depend on how the reader cuts.
			n := min(d.lim-d.r, most)
			if direct := d.directBytes(); direct > 0 && uint64(n) > direct {
				n = int(direct)
			}
			n, err := d.takeChunk(max(n/int(d.top().size), 1))
			if err != nil {
				return nil, err
			}
			p.pos, p.left = pos, n
		default:
			if p.kind != KindStringChunk {
				d.pop()
			}
			p.done = true
			d.setWin()
		}
	}
	i := int(p.pos - d.base)
	return d.buf[i : i+p.left], nil
}

// discard notes that n bytes of what peekPayload returned have been handed out.
func (d *Decoder) discard(n int) {
	d.payload.pos += uint64(n)
	d.payload.left -= n
}

// AppendString appends the text of the String or StringName that comes next, or
// of the next string of a PackedStringArray or NodePath. After a StringChunk it
// appends that chunk and those that follow. Of a NodePath, or after a
// NodePathStart, it appends the path as engines write it,
// "/root/Player:position", and reads its End.
//
// After a temporary error of the reader dst ends with the text that has arrived;
// call it again with that. dst grows as text arrives.
func (d *Decoder) AppendString(dst []byte) ([]byte, error) {
	if d.token&1 != 0 {
		if text, ok := d.fastString(); ok {
			return append(dst, text...), nil
		}
		if dst, ok := d.fastNodePath(dst); ok {
			return dst, nil
		}
	}
	if !d.startPayload() || d.payload.done || d.payload.kind != KindStringChunk && d.payload.kind != KindNodePathStart {
		if err := d.startText(true); err != nil {
			return dst, err
		}
	}
	if d.rare != nil {
		d.rare.partialAt = 0
	}
	dst, err := d.appendPayload(dst)
	if err == nil {
		d.endPayload()
	}
	return dst, err
}

// appendPayload appends the payload of a string or NodePath.
func (d *Decoder) appendPayload(dst []byte) ([]byte, error) {
	if d.payload.kind == KindNodePathStart {
		return d.appendNodePath(dst)
	}
	for {
		b, err := d.peekPayload(math.MaxInt)
		if err != nil {
			return dst, noMore(err)
		}
		dst = append(dst, b...)
		d.discard(len(b))
	}
}

// noMore returns nil for the io.EOF at the end of a payload.
func noMore(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// appendNodePath appends the path as engines write it, and closes it.
func (d *Decoder) appendNodePath(dst []byte) ([]byte, error) {
	p := &d.payload
	for !p.done {
		if d.err != nil {
			return dst, d.failed()
		}
		switch f := d.top(); d.want() {
		case wantText:
			pos := d.pos()
			part, err := d.takeText()
			if err != nil {
				return dst, err
			}
			dst = d.appendBuffered(dst, pos, part.n)
		case wantName:
			i, names, absolute := f.count-uint32(d.left), f.names, f.has(flagAbsolute)
			pos := d.pos()
			part, err := d.peekFirst(TypeNodePath, 0)
			if err != nil {
				return dst, err
			}
			if i == 0 && absolute || i > 0 && i < names {
				dst = append(dst, '/')
			}
			if i >= names {
				dst = append(dst, ':')
			}
			d.takeFirst(TypeNodePath, part)
			dst = d.appendBuffered(dst, pos+4, part.n)
		default:
			if f.count == 0 && f.has(flagAbsolute) {
				dst = append(dst, '/')
			}
			d.pop()
			p.done = true
			d.setWin()
		}
	}
	return dst, nil
}

// appendBuffered appends n buffered bytes from pos on.
func (d *Decoder) appendBuffered(dst []byte, pos uint64, n int) []byte {
	i := int(pos - d.base)
	return append(dst, d.buf[i:i+n]...)
}

func (d *Decoder) noPayload(call string) error {
	if d.err != nil {
		return d.failed()
	}
	if d.left == 0 && d.depth == 0 {
		return errNotReset // Release leaves an error
	}
	return d.WrapError(wrapf(ErrType, "%s: the latest token has no such payload", call))
}

// Payload returns the raw bytes of what the latest token began: of a string from
// this chunk on, of packed numbers as they are on the wire, of an image its data,
// until io.EOF. What was behind a PackedStart or ImageStart is closed then: its
// End is not read any more.
//
// It is valid until the Decoder goes on otherwise, and does not copy more than
// it must when used with [io.Copy]. After a read error it can be read on.
func (d *Decoder) Payload() io.Reader {
	p := &d.getRare().reader
	*p = payloadReader{d: d}
	if d.leave == 0 && d.startPayload() {
		p.token = d.payload.token
		d.rare.partialAt = 0
	}
	return p
}

func (d *Decoder) getRare() *rare {
	if d.rare == nil {
		d.rare = new(rare)
	}
	return d.rare
}

// A payloadReader reads the payload of a token as long as no other call has come
// between.
type payloadReader struct {
	d     *Decoder
	token uint64
}

func (p *payloadReader) check() error {
	q := &p.d.payload
	if !q.active || q.token != p.token || q.kind == KindNodePathStart || p.d.leave > 0 {
		return p.d.noPayload("Payload")
	}
	return nil
}

// Read reads what is there, and waits only if nothing is.
func (p *payloadReader) Read(dst []byte) (int, error) {
	if err := p.check(); err != nil || len(dst) == 0 {
		return 0, err
	}
	if p.d.canReadDirect(len(dst)) {
		return p.d.readDirect(dst, 1)
	}
	b, err := p.d.peekPayload(len(dst))
	n := copy(dst, b)
	p.d.discard(n)
	return n, err
}

// WriteTo spares io.Copy its buffer.
func (p *payloadReader) WriteTo(w io.Writer) (total int64, err error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	for {
		b, err := p.d.peekPayload(math.MaxInt)
		if err != nil {
			return total, noMore(err)
		}
		n, err := w.Write(b)
		if n < 0 || n > len(b) {
			return total, errBadWrite
		}
		p.d.discard(n)
		total += int64(n)
		if err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return total, err
		}
	}
}

// ReadPacked reads elements of the packed array whose PackedStart or Chunk has
// just been read, from that chunk on, into dst, and returns how many. It fills
// dst, or ends in io.EOF behind the last element; the array is closed then, and
// its End is not read any more.
//
// T has as many components as the elements. Reals are widened or rounded,
// integers only widened; anything else is [ErrType]. What a read error
// interrupts are whole elements; the next call goes on behind them.
func ReadPacked[T Packable](d *Decoder, dst []T) (int, error) {
	if err := d.leaveLoop(); err != nil {
		return 0, err
	}
	if !d.startPayload() {
		return 0, d.noPayload("ReadPacked")
	}
	if err := d.checkPacked("ReadPacked", typeUnits[T]()); err != nil {
		return 0, err
	}
	return fillPacked(d, dst)
}

func fillPacked[T Packable](d *Decoder, dst []T) (int, error) {
	p := &d.payload
	size := p.elem.size()
	if b, ok := asBytes(dst, p.elem.unit); ok {
		n, err := d.readInto(b, size)
		return n / size, err
	}
	total := 0
	for total < len(dst) {
		b, err := d.peekPayload(min(len(dst)-total, 1<<24) * size)
		if err != nil {
			return total, err
		}
		n := min(len(b)/size, len(dst)-total)
		decodePacked(dst[total:total+n], b, p.elem.unit)
		d.discard(n * size)
		total += n
	}
	return total, nil
}

// AppendPacked appends the elements of the packed array that comes next, or after
// a PackedStart or Chunk those that ReadPacked would read, and reads the array's
// End. dst grows as they arrive, never from the count. After a temporary error of
// the reader it ends with the elements that have arrived; call it again with that.
func AppendPacked[T Packable](d *Decoder, dst []T) ([]T, error) {
	want := typeUnits[T]()
	if !d.startPayload() || d.payload.done || d.payload.kind != KindPackedStart {
		if err := d.startPacked(want); err != nil {
			return dst, err
		}
	}
	if err := d.checkPacked("AppendPacked", want); err != nil {
		return dst, err
	}
	p := &d.payload
	size := p.elem.size()
	for {
		left := p.left / size
		if !p.done && d.want() == wantChunk {
			left += int(min(d.left, 1<<30)) // an int may have 32 bits
		}
		if left == 0 {
			_, err := d.peekPayload(0)
			if err == io.EOF {
				d.endPayload()
			}
			return dst, noMore(err)
		}
		if len(dst) == cap(dst) {
			step := left
			if d.src != nil {
				step = min(left, max(len(dst), d.size/size, 1))
			}
			dst = slices.Grow(dst, step)
		}
		free := dst[len(dst):cap(dst)]
		n, err := fillPacked(d, free[:min(left, len(free))])
		dst = dst[:len(dst)+n]
		if err != nil {
			return dst, err
		}
	}
}

// units are the components of an element of a packed array.
type units struct {
	unit unit
	n    uint8
}

func (u units) size() int { return u.unit.size() * int(u.n) }

// typeUnits returns those of a T.
func typeUnits[T Packable]() units {
	u, n := unitOf[T]()
	return units{u, uint8(n)}
}

// startPacked reads the start of the packed array that comes next, if a slice of
// elements of want can hold it.
func (d *Decoder) startPacked(want units) error {
	form, err := d.peekTyped()
	if err != nil {
		return err
	}
	if form.shape != shapePacked {
		return d.mismatch(form, "packed array")
	}
	elem := units{form.unit, layouts[form.typ].n}
	if !elem.convertTo(want) {
		return d.errorAt(0, elem.mismatch(want))
	}
	_, err = d.value()
	if err == nil {
		d.startPayload()
	}
	return err
}

// checkPacked checks that elements of want can hold those of the payload.
func (d *Decoder) checkPacked(call string, want units) error {
	p := &d.payload
	switch {
	case p.kind != KindPackedStart:
		return d.noPayload(call)
	case !p.elem.convertTo(want):
		return d.WrapError(p.elem.mismatch(want))
	case p.left%p.elem.size() != 0: // Payload took a part of it
		return d.WrapError(wrapf(ErrType, "Payload has read a part of the next element"))
	}
	return nil
}

func (u units) convertTo(v units) bool { return u.n == v.n && u.unit.convertsTo(v.unit) }

func (u units) mismatch(v units) error {
	return wrapf(ErrType, "got elements of %d × %v, want %d × %v", u.n, u.unit, v.n, v.unit)
}

// readInto fills p, which is a multiple of size, with whole elements.
func (d *Decoder) readInto(p []byte, size int) (n int, err error) {
	for n < len(p) {
		if d.canReadDirect(len(p) - n) {
			m, err := d.readDirect(p[n:], size)
			n += m
			if err != nil {
				return n, err
			}
			continue
		}
		b, err := d.peekPayload(len(p) - n)
		if err != nil {
			return n, err
		}
		m := min(len(b)/size*size, len(p)-n)
		copy(p[n:], b[:m])
		d.discard(m)
		n += m
	}
	return n, nil
}

// canReadDirect reports whether n bytes of packed data go straight to where they are
// wanted: from the window, where all of them stand there, or from the reader, where
// they are more than a window. Bytes that padding follows come by chunks, so that
// both come together.
func (d *Decoder) canReadDirect(n int) bool {
	if d.err != nil || d.payload.left > 0 || d.payload.done || d.want() != wantChunk {
		return false
	}
	most := min(uint64(n), d.directBytes())
	if most < uint64(d.top().size) {
		return false
	}
	return most <= uint64(d.lim-d.r) || d.src != nil && most >= uint64(d.size)
}

func (d *Decoder) directBytes() uint64 {
	f := d.top()
	if f.unit == unitByte { // padding follows the last of them
		return d.left - min(d.left, uint64(f.count&3))
	}
	return d.left * uint64(f.size)
}

// readDirect reads into p from the window and then straight from the reader:
// whole elements of size bytes, to the end of p or of what may go directly. What
// is left of an element when the reader fails goes back into the window.
func (d *Decoder) readDirect(p []byte, size int) (int, error) {
	f := d.top()
	if most := d.directBytes(); uint64(len(p)) > most {
		p = p[:most]
	}
	p = p[:len(p)/int(f.size)*int(f.size)]
	n := copy(p, d.buf[d.r:d.lim])
	d.r += n
	var err error
	enough := size == 1 && n > 0 && n%int(f.size) == 0 // Payload gives what is there
	if n < len(p) && !enough {
		d.saveKeys(d.base + uint64(d.end))
		d.base += uint64(d.end)
		d.r, d.end = 0, 0
		for empty := 0; n < len(p) && err == nil; {
			var m int
			m, err = d.read(p[n:])
			n += m
			d.base += uint64(m)
			if m > 0 {
				empty = 0
				if size == 1 && n%int(f.size) == 0 {
					break
				}
			} else if empty++; err == nil && empty == maxEmptyReads {
				err = io.ErrNoProgress
			}
		}
		if split := n % int(f.size); split > 0 {
			n -= split
			d.base -= uint64(split)
			d.end = copy(d.buf, p[n:n+split])
		}
		d.setLim()
	}
	d.left -= uint64(n / int(f.size))
	if err != nil {
		err = d.readError(err)
	}
	return n, err
}
