package gdwire

import (
	"io"
	"math"
	"slices"

	"github.com/gdwire/gdwire/internal/checked"
	"github.com/gdwire/gdwire/internal/wire"
)

// payload is the part of the latest token's payload that bulk reads have not returned
// yet. AppendString, ReadString, Payload, ReadPacked and AppendPacked are bulk reads.
//
// Tokens of the slow path set it. On the fast path, startPayload sets it for the text of
// a string, which it finds from the encoded token.
type payload struct {
	token  mark   // of the token that it belongs to
	pos    uint64 // the position of the buffered bytes that have not been returned
	left   int    // the number of these bytes
	kind   Kind   // StringChunk, PackedStart, ImageStart or NodePathStart; 0 for none
	active bool   // the latest call was a bulk read
	done   bool   // all of it has been returned
	elem   units  // of a PackedStart
}

// startPayload begins or continues a bulk read. It returns false if the latest token has
// no payload for bulk reads.
func (d *Decoder) startPayload() bool {
	p := &d.payload
	switch {
	case d.abandoned > 0: // the token is part of a container that is to be skipped
		return false
	case p.active:
		return true
	case !d.hasPayload():
		return false
	}
	if p.token != d.mark {
		*p = payload{token: d.mark}
		if at, n := d.fastText(); at > 0 {
			p.kind, p.pos, p.left = KindStringChunk, d.tokenPos()+uint64(at), n
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
	d.drop() // its payload leaves the buffer as the bulk read goes on
	if d.fastValues != nil || d.fastNames != nil {
		d.updateFastPath()
	}
	return true
}

// fastText returns the offset of the text in the latest token, which came from the fast
// path, and the length of the text. It returns 0 if the token is not a string.
func (d *Decoder) fastText() (at, n int) {
	b := d.buf[d.tokenPos()-d.base:]
	h := le.Uint32(b)
	switch f := d.top(); {
	case f.kind == KindNodePathStart:
		return 4, int(h)
	case f.kind == KindPackedStart:
		if h > 0 && b[3+h] == 0 {
			h -= d.options.Format.nul(f.typ)
		}
		return 4, int(h)
	case d.forms.byHeader[formIndex(h)].shape == shapeText:
		return 8, int(le.Uint32(b[4:]))
	}
	return 0, 0
}

// endPayload ends a bulk read after all of the payload has been returned.
func (d *Decoder) endPayload() {
	d.payload.active = false
	d.updateFastPath()
}

// peekPayload returns the buffered bytes of the payload. If there are none, it reads at
// least one element, and as many bytes as most. At the end of the payload it closes the
// value and returns io.EOF.
func (d *Decoder) peekPayload(most int) ([]byte, error) {
	p := &d.payload
	for p.left == 0 {
		if p.done {
			return nil, io.EOF
		}
		if d.err != nil { // after the bytes before it, which have been returned
			return nil, d.failed()
		}
		pos := d.pos()
		switch d.want() {
		case wantText:
			part, err := d.takeText(d.top().typ, 0)
			if err != nil {
				return nil, err
			}
			p.pos, p.left = pos, part.n
		case wantChunk:
			// Read padding together with the last bytes only, so that the bytes
			// returned before an error in the padding do not depend on the Reader.
			n := min(d.limit-d.r, most)
			if direct := d.directBytes(); direct == 0 {
				n = most
			} else if uint64(n) > direct {
				n = int(direct)
			}
			n, err := d.takeChunk(max(n/int(d.top().size), 1))
			if err != nil {
				return nil, err
			}
			p.pos, p.left = pos, n
		default:
			d.closePayload()
		}
	}
	i := int(p.pos - d.base)
	return d.buf[i : i+p.left], nil
}

// closePayload ends the payload after its last byte. It closes the value, except a string,
// which has ended with its last chunk.
func (d *Decoder) closePayload() {
	if d.payload.kind != KindStringChunk {
		d.pop()
	}
	d.payload.done = true
	d.updateFastPath()
}

// takePayload consumes n of the bytes that peekPayload has returned.
func (d *Decoder) takePayload(n int) {
	d.payload.pos += uint64(n)
	d.payload.left -= n
}

// AppendString appends text to dst: that of the next value, a String or StringName, or
// that of the next string in a PackedStringArray or NodePath. After a StringChunk it
// appends that chunk and the following chunks of the string. For a NodePath, and after a
// NodePathStart, it appends the NodePath as text, such as "/root/Player:position", and
// reads its End.
//
// dst grows with the text received. After a temporary error of the Reader, dst has the
// text received so far; call AppendString again with it.
func (d *Decoder) AppendString(dst []byte) ([]byte, error) {
	if !d.hasPayload() {
		if text, ok := d.fastString(); ok {
			return append(dst, text...), nil
		}
		var buf [nodePathSpace]byte // so that dst grows by no more than the text
		if text, ok := d.fastNodePath(buf[:0]); ok {
			return append(dst, text...), nil
		}
	}
	if !d.startPayload() || d.payload.done || d.payload.kind != KindStringChunk && d.payload.kind != KindNodePathStart {
		if err := d.startText(true); err != nil {
			return dst, err
		}
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
		d.takePayload(len(b))
	}
}

// noMore returns nil for the io.EOF at the end of a payload.
func noMore(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// appendNodePath appends the NodePath as text and closes it.
func (d *Decoder) appendNodePath(dst []byte) ([]byte, error) {
	p := &d.payload
	for !p.done {
		if d.err != nil {
			return dst, d.failed()
		}
		switch f, want := d.top(), d.want(); want {
		case wantName, wantText:
			i, names, absolute := f.count-uint32(d.remaining), f.names, f.has(flagAbsolute)
			pos := d.pos()
			part, err := d.takeText(TypeNodePath, 0)
			if err != nil {
				return dst, err
			}
			if want == wantName && (i == 0 && absolute || i > 0 && i < names) {
				dst = append(dst, '/')
			}
			if want == wantName && i >= names {
				dst = append(dst, ':')
			}
			from := int(pos-d.base) + part.at
			dst = append(dst, d.buf[from:from+part.n]...)
		default:
			if f.count == 0 && f.has(flagAbsolute) {
				dst = append(dst, '/')
			}
			d.closePayload()
		}
	}
	return dst, nil
}

func (d *Decoder) noPayload(call string) error {
	if d.err != nil {
		return d.failed()
	}
	if d.remaining == 0 && d.depth == 0 {
		return errNotReset // Release leaves an error
	}
	return d.WrapError(wrapf(ErrType, "%s: the latest token has no such payload", call))
}

// Payload returns a Reader of the encoded content that starts with the latest token: the
// text of a StringChunk and the following chunks, the elements after a PackedStart in
// little-endian order, or the data after an ImageStart. At its end the Reader also
// consumes the End of the array or Image.
//
// The Reader is valid until the next call on the Decoder. It implements io.WriterTo, so
// [io.Copy] needs no buffer. It can be used again after an error of the Decoder's Reader.
func (d *Decoder) Payload() io.Reader {
	p := &d.getCold().reader
	*p = payloadReader{d: d}
	if d.abandoned == 0 && d.startPayload() {
		p.token = d.payload.token
	}
	return p
}

// A payloadReader reads the payload of a token, until another call on the Decoder.
type payloadReader struct {
	d     *Decoder
	token mark
}

func (p *payloadReader) check() error {
	q := &p.d.payload
	if !q.active || q.token != p.token || q.kind == KindNodePathStart || p.d.abandoned > 0 {
		return p.d.noPayload("Payload")
	}
	return nil
}

// Read returns buffered bytes, and waits only if there are none.
func (p *payloadReader) Read(dst []byte) (int, error) {
	if err := p.check(); err != nil || len(dst) == 0 {
		return 0, err
	}
	if p.d.canReadDirect(len(dst)) {
		return p.d.readDirect(dst, 1)
	}
	b, err := p.d.peekPayload(len(dst))
	n := copy(dst, b)
	p.d.takePayload(n)
	return n, err
}

// WriteTo writes the rest of the payload to w without another buffer.
func (p *payloadReader) WriteTo(w io.Writer) (total int64, err error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	for {
		b, err := p.d.peekPayload(math.MaxInt)
		if err != nil {
			return total, noMore(err)
		}
		n, err := checked.Write(w, b)
		p.d.takePayload(n)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
}

// ReadPacked reads elements of a packed array into dst and returns their number. The
// latest token must be the PackedStart or a Chunk of the array; the elements of that Chunk
// are the first to be read. ReadPacked fills dst, or returns io.EOF after the last element.
// It has then consumed the End, too.
//
// T must have the number of components of the elements. Floats are widened or rounded,
// integers are only widened; other conversions are [ErrType]. An error of the Reader loses
// no elements; the next call continues after those that were returned.
func ReadPacked[T Packable](d *Decoder, dst []T) (int, error) {
	if d.abandoned > 0 {
		if err := d.leaveLoop(); err != nil {
			return 0, err
		}
	}
	if !d.startPayload() {
		return 0, d.noPayload("ReadPacked")
	}
	want := typeUnits[T]()
	if err := d.checkPacked("ReadPacked", want); err != nil {
		return 0, err
	}
	return fillPacked(d, dst, want)
}

// fillPacked is ReadPacked after its checks. want are the units of a T.
func fillPacked[T Packable](d *Decoder, dst []T, want units) (int, error) {
	p := &d.payload
	size := p.elem.size()
	memory, direct := wire.AsBytes(dst, p.elem == want)
	if direct && d.copyElements(memory, uint64(len(dst))) {
		return len(dst), nil
	}
	total := 0
	for total < len(dst) {
		if left := (len(dst) - total) * size; direct && d.canReadDirect(left) {
			n, err := d.readDirect(memory[total*size:], size)
			total += n / size
			if err != nil {
				return total, err
			}
			continue
		}
		b, err := d.peekPayload(min(len(dst)-total, 1<<24) * size)
		if err != nil {
			return total, err
		}
		n := min(len(b)/size, len(dst)-total)
		wire.Decode(dst[total:total+n], b, p.elem.unit)
		d.takePayload(n * size)
		total += n
	}
	return total, nil
}

// AppendPacked appends the elements of the next value, a packed array, to dst and reads
// its End. After a PackedStart or Chunk it appends the elements that ReadPacked would
// read. Conversions are those of ReadPacked.
//
// dst grows with the elements received, never by the declared count. After a temporary
// error of the Reader, dst has the elements received so far; call AppendPacked again with
// it.
func AppendPacked[T Packable](d *Decoder, dst []T) ([]T, error) {
	want := typeUnits[T]()
	if form, b := d.fastForm(); form != nil && form.shape == shapePacked {
		elem := units{form.unit, layouts[form.typ].n}
		if data, ok := d.wholePacked(form, le.Uint32(b[4:])); ok && elem.convertTo(want) {
			at, n := d.r+8, data/elem.size()
			d.takePacked(data)
			dst = slices.Grow(dst, n)[:len(dst)+n]
			from, to := d.buf[at:at+data], dst[len(dst)-n:]
			if b, ok := wire.AsBytes(to, elem == want); ok { // as Decode does, but inlined: -4 % of AppendPacked
				copy(b, from)
			} else {
				wire.Decode(to, from, elem.unit)
			}
			return dst, nil
		}
	}
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
		if !p.done {
			left += int(min(d.remaining, 1<<30)) // for ints of 32 bits
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
				step = min(left, max(len(dst), d.maxChunk/size, 1))
			}
			dst = slices.Grow(dst, step)
		}
		free := dst[len(dst):cap(dst)]
		n, err := fillPacked(d, free[:min(left, len(free))], want)
		dst = dst[:len(dst)+n]
		if err != nil {
			return dst, err
		}
	}
}

// units describes the components of an element of a packed array.
type units struct {
	unit wire.Unit
	n    uint8
}

func (u units) size() int { return u.unit.Size() * int(u.n) }

// typeUnits returns the units of a T.
func typeUnits[T Packable]() units {
	u, n := wire.UnitOf[T]()
	return units{u, uint8(n)}
}

// startPacked reads the start of the next value, which must be a packed array with elements
// that convert to want.
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

// checkPacked checks that the payload is a packed array with elements that convert to want.
func (d *Decoder) checkPacked(call string, want units) error {
	p := &d.payload
	switch {
	case p.kind != KindPackedStart:
		return d.noPayload(call)
	case !p.elem.convertTo(want):
		return d.WrapError(p.elem.mismatch(want))
	case p.left > 0 && p.left%p.elem.size() != 0: // Payload has read a part of an element
		return d.WrapError(wrapf(ErrType, "Payload has read a part of the next element"))
	}
	return nil
}

func (u units) convertTo(v units) bool { return u.n == v.n && u.unit.ConvertsTo(v.unit) }

func (u units) mismatch(v units) error {
	return wrapf(ErrType, "got elements of %d × %v, want %d × %v", u.n, u.unit, v.n, v.unit)
}

// copyElements fills dst with n elements, if all of them are buffered and no padding follows
// them. Most arrays are read by it, without a division.
func (d *Decoder) copyElements(dst []byte, n uint64) bool {
	if d.payload.left > 0 || d.payload.done || d.err != nil || len(dst) > d.limit-d.r || uint64(len(dst)) > d.directBytes() {
		return false
	}
	d.consume(copy(dst, d.buf[d.r:d.limit]))
	d.count(n)
	return true
}

// canReadDirect reports whether readDirect should read n bytes of packed data: if all of
// them are buffered, or if they are more than a buffer and can be read from the Reader
// directly into the caller's slice. The last bytes before padding are read as a chunk,
// together with the padding.
func (d *Decoder) canReadDirect(n int) bool {
	if d.err != nil || d.payload.left > 0 || d.want() != wantChunk {
		return false
	}
	most := min(uint64(n), d.directBytes())
	if most < uint64(d.top().size) {
		return false
	}
	// Input in memory is always buffered. readDirect would overwrite it.
	return most <= uint64(d.limit-d.r) || d.src != nil && most >= uint64(d.maxChunk)
}

// directBytes returns the number of bytes of elements that are still to come and that no
// padding follows.
func (d *Decoder) directBytes() uint64 {
	f := d.top()
	if f.unit == wire.Byte { // padding follows the last bytes
		return d.remaining - min(d.remaining, uint64(f.count&3))
	}
	return d.remaining * uint64(f.size)
}

// readDirect reads whole elements into p, from the buffer and then directly from the
// Reader, up to len(p) or directBytes. If the Reader fails inside an element, it moves the
// bytes of that element to the buffer. If size is 1, it returns as soon as it has elements.
func (d *Decoder) readDirect(p []byte, size int) (int, error) {
	f := d.top()
	if most := d.directBytes(); uint64(len(p)) > most {
		p = p[:most]
	}
	p = p[:len(p)/int(f.size)*int(f.size)]
	n := copy(p, d.buf[d.r:d.limit])
	d.consume(n)
	var err error
	once := size == 1 // for Payload, which returns available bytes
	if enough := once && n > 0 && n%int(f.size) == 0; n < len(p) && !enough {
		d.saveKeys(d.base + uint64(d.end))
		n, err = d.source.readDirect(p, n, int(f.size), once)
	}
	d.count(uint64(n / int(f.size)))
	return n, d.readError(err)
}
