package gdwire

import (
	"io"
	"math"
	"slices"

	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// A bulk read returns the content of a string, NodePath, packed array or Image in pieces, without
// tokens. It begins with the next value, or with the rest of the latest token: start finds out.
// Then peek and discard alternate, until peek closes the value and returns io.EOF. Packed numbers
// need not pass through the read buffer: readDirect reads them into the caller's memory.

// A bulk reads the payload of a Decoder. The state is in the Decoder, because another call
// continues a bulk read after an error of the Reader.
type bulk struct{ d *Decoder }

// start begins or continues a bulk read, or returns false if the latest token is without a payload
// for bulk reads.
func (b bulk) start() bool {
	d, p := b.d, &b.d.payload
	switch {
	case d.abandoned > 0: // the token is part of a container to be skipped
		return false
	case p.active:
		return true
	case !d.hasPayload():
		return false
	}
	if p.token != d.mark { // the encoding tells where the payload is: see followed
		switch f := d.top(); {
		case d.keyPos != d.tokenPos() || f.pairs != 0: // no Start: without pairs, keyPos is the start of f
			at, n := b.tokenText()
			if at == 0 {
				return false
			}
			p.set(d.mark, KindStringChunk, d.tokenPos()+uint64(at), n)
		case f.size > 0 || f.kind == KindNodePathStart: // data, and the names of a NodePath, to be joined
			p.set(d.mark, f.kind, 0, 0)
		default: // packed strings and elements are read one by one
			return false
		}
	}
	switch p.kind {
	case 0:
		return false
	case KindPackedStart:
		p.elem = d.top().units()
	}
	p.active = true
	d.drop()     // the payload leaves the buffer as the bulk read goes on
	d.stopFast() // until end, or until the next call ends the bulk read in look
	return true
}

// tokenText returns the offset of the text in the latest token, buffered as a whole, and the length of
// the text, or 0 if the token is not a string. It reads the encoded token again, so that the fast path
// need not store the place of the text.
func (b bulk) tokenText() (at, n int) {
	d := b.d
	text := d.buf[d.tokenPos()-d.base:]
	h := le.Uint32(text)
	switch f := d.top(); {
	case f.kind == KindNodePathStart:
		return 4, int(h)
	case f.kind == KindPackedStart: // of strings: the Chunks of numbers come from the slow path
		if h > 0 && text[3+h] == 0 {
			h -= d.format.nul(f.typ)
		}
		return 4, int(h)
	case d.forms.byHeader[formIndex(h)].shape == shapeText:
		return 8, int(le.Uint32(text[4:]))
	}
	return 0, 0
}

// end ends a bulk read after all of the payload was returned.
func (b bulk) end() {
	b.d.payload.deactivate()
	b.d.updateFastPath()
}

// look returns a lookahead at the next token of the payload. Decoder.look would end the bulk read.
func (b bulk) look() (lookahead, error) {
	if b.d.err != nil {
		return lookahead{}, b.d.earlier()
	}
	return b.d.ahead(), nil
}

// peek returns the buffered bytes of the payload. If there are none, peek reads the next chunk or
// name, or of packed data at least one element, and at most `most` bytes. At the end of the
// payload, peek closes the value, except a string, already closed by its last chunk, and returns
// io.EOF.
func (b bulk) peek(most int) ([]byte, error) {
	d, p := b.d, &b.d.payload
	if p.remaining == 0 {
		if p.done {
			return nil, io.EOF
		}
		l, err := b.look()
		if err != nil { // after all bytes before the error were returned
			return nil, err
		}
		p.pos = d.pos()
		switch w := d.want(); {
		case w == wantText, w == wantName && p.kind == KindNodePathStart:
			part := l.takeText(d.top().typ)
			d.stopFast() // takeText switched it on after the string
			p.pos += uint64(part.at)
			p.remaining = part.n
		case w == wantChunk:
			// Read padding together with the last bytes only, so that the bytes
			// returned before an error in the padding do not depend on the Reader.
			if direct := b.direct(); direct > 0 {
				most = int(min(uint64(most), uint64(d.limit-d.r), direct))
			}
			p.remaining = l.takeChunk(max(most/int(d.top().size), 1))
		default:
			if p.kind != KindStringChunk { // its unencoded End
				d.pop()
			}
			p.done = true // further calls also return io.EOF
			return nil, io.EOF
		}
		if l.failed() {
			return nil, d.failure()
		}
	}
	i := int(p.pos - d.base)
	return d.buf[i : i+p.remaining], nil
}

// discard consumes n of the bytes from peek.
func (b bulk) discard(n int) {
	b.d.payload.pos += uint64(n)
	b.d.payload.remaining -= n
}

// AppendString appends the text of the next value, a String or StringName, to dst, or the text of
// the next string in a PackedStringArray or NodePath. After a StringChunk, AppendString appends
// that chunk and the following chunks of the string; for a NodePath, and after a NodePathStart,
// the NodePath as text, such as "/root/Player:position", up to and including the End.
//
// dst grows with the text received. After a temporary error of the Reader, the result contains the
// text received so far; call AppendString again with it.
func (d *Decoder) AppendString(dst []byte) ([]byte, error) {
	if !d.hasPayload() { // otherwise the latest token can be a chunk, and its string is continued
		var text []byte
		if form, b := d.fastForm(); form == nil || form.shape != shapeNodePath {
			text = d.fastText()
		} else {
			var buf internal.NodePathText // so that dst grows by no more than the text
			if text = d.shortNodePath(&buf, b); text == nil {
				text = d.longNodePath(&buf, b)
			}
		}
		if text != nil {
			return append(dst, text...), nil
		}
	}
	b := bulk{d}
	if !b.start() || d.payload.done || d.payload.kind != KindStringChunk && d.payload.kind != KindNodePathStart {
		t, err := d.readPart("String, StringName or NodePath", isTextOrNodePath)
		if err != nil {
			return dst, err
		}
		if t.Last() {
			dst = append(dst, t.Bytes()...)
			d.drop() // as after a bulk read
			return dst, nil
		}
		b.start()
	}
	dst, err := b.appendText(dst)
	if err == nil {
		b.end()
	}
	return dst, err
}

// wholeText returns the text beginning with t, a StringChunk or NodePathStart. err is the error of
// reading t. Unlike AppendString, an interrupted read is not continued: the caller of ReadString
// did not get the text so far.
func (b bulk) wholeText(t Token, err error) (string, error) {
	switch {
	case err != nil:
		return "", err
	case t.Last():
		text := string(t.Bytes())
		b.d.drop() // as after a bulk read
		return text, nil
	}
	b.start()
	// Also after an error: no later call continues this read.
	defer b.end()
	text, err := b.appendText(nil)
	if err != nil {
		return "", err
	}
	return wire.String(text), nil // not a copy: text belongs to nobody else
}

// appendText appends the payload of a string or NodePath.
func (b bulk) appendText(dst []byte) ([]byte, error) {
	for {
		// An interrupted read of a name is repeated with its separator, so dst gets the
		// separator only after peek succeeded.
		with := dst
		if b.d.payload.kind == KindNodePathStart {
			with = b.appendSeparator(dst)
		}
		text, err := b.peek(math.MaxInt)
		if err == nil || err == io.EOF {
			dst = append(b.grow(with, len(text)), text...)
		}
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
		b.discard(len(text))
	}
}

// grow returns dst with room for n bytes, and for the rest of a string as far as buffered, or as far
// as doubling dst goes: memory grows with the bytes received.
func (b bulk) grow(dst []byte, n int) []byte {
	d := b.d
	if n <= cap(dst)-len(dst) || d.want() != wantText {
		return dst
	}
	arrived := max(d.limit-d.r, len(dst)+n)
	return slices.Grow(dst, n+int(min(d.remaining, uint64(arrived))))
}

// appendSeparator appends the separator before the next name in the text of a NodePath, or ends the text:
// the NodePath "/" consists of no names. Between the chunks of one name there is nothing.
func (b bulk) appendSeparator(dst []byte) []byte {
	d := b.d
	if d.payload.done || d.want() == wantText {
		return dst
	}
	f := d.top()
	i := f.count - uint32(d.remaining)
	if i == 0 && f.has(flagAbsolute) || i > 0 && i < f.names {
		dst = append(dst, '/')
	}
	if i >= f.names && d.remaining > 0 {
		dst = append(dst, ':')
	}
	return dst
}

// missing returns the error of a call without a payload of the latest token to read.
func (b bulk) missing(call string) error {
	d := b.d
	if d.err != nil {
		return d.earlier()
	}
	if d.remaining == 0 && d.depth == 0 {
		return errNotReset // Release leaves an error
	}
	return d.WrapError(wrapf(ErrType, "%s: the latest token has no such payload", call))
}

// Payload returns a Reader of the encoded content from the latest token on: the text of
// a StringChunk and the following chunks, the elements after a PackedStart in
// little-endian order, or the data after an ImageStart. At its end the Reader also
// consumes the End of the array or Image.
//
// The Reader is valid until the next call on the Decoder, except that [ReadPacked],
// [AppendPacked] and AppendString read parts of the same payload. It implements io.WriterTo, so
// [io.Copy] needs no buffer, and can be used again after an error of the Decoder's Reader.
func (d *Decoder) Payload() io.Reader {
	p := &d.getCold().reader
	*p = payloadReader{bulk: bulk{d}}
	if p.start() {
		p.token = d.payload.token
	}
	return p
}

// A payloadReader reads the payload of a token, until another call on the Decoder. A Decoder keeps
// only one, so that Payload allocates nothing after its first call; earlier Readers are the same
// object.
type payloadReader struct {
	bulk
	token mark
}

// check returns an error if another call on the Decoder ended the bulk read.
func (p *payloadReader) check() error {
	q := &p.d.payload
	if !q.active || q.token != p.token || q.kind == KindNodePathStart || p.d.abandoned > 0 {
		return p.missing("Payload")
	}
	return nil
}

// Read returns buffered bytes, and waits only if there are none.
func (p *payloadReader) Read(dst []byte) (int, error) {
	if err := p.check(); err != nil || len(dst) == 0 {
		return 0, err
	}
	// Large payloads go from the Decoder's Reader to dst, without a copy in the read buffer.
	if n, err := p.readDirect(dst, true); n > 0 || err != nil {
		return n, err
	}
	b, err := p.peek(len(dst)) // text, less data than a buffer, or bytes with padding
	n := copy(dst, b)
	p.discard(n)
	return n, err
}

// WriteTo writes the rest of the payload to w without another buffer.
func (p *payloadReader) WriteTo(w io.Writer) (total int64, err error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	for {
		b, err := p.peek(math.MaxInt)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		n, err := checked.Write(w, b)
		p.discard(n)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
}

// ReadPacked reads elements of a packed array into dst and returns their number. The
// latest token must be the PackedStart or a Chunk of the array; the elements of that Chunk
// are the first to be read. ReadPacked fills dst, or returns io.EOF after the last element
// and also consumes the End.
//
// T must have the number of components of the elements. Floats are widened or rounded,
// integers are only widened; other conversions are [ErrType]. An error of the Reader loses
// no elements; the next call continues after the returned ones.
func ReadPacked[T Packable](d *Decoder, dst []T) (int, error) {
	if d.abandoned > 0 {
		if _, err := d.look(); err != nil { // leave the loop
			return 0, err
		}
	}
	b, want := bulk{d}, typeUnits[T]()
	if !b.start() {
		return 0, b.missing("ReadPacked")
	}
	if err := b.checkPacked("ReadPacked", want); err != nil {
		return 0, err
	}
	return fillPacked(b, dst, want)
}

// fillPacked fills dst with elements of the payload and returns their number, and io.EOF at the
// end of the payload. The elements convert to want, the units of a T.
func fillPacked[T Packable](b bulk, dst []T, want units) (int, error) {
	u := b.d.payload.elem
	memory, direct := wire.AsBytes(dst, u == want)
	if direct && b.copyElements(memory, uint64(len(dst))) {
		return len(dst), nil
	}
	return b.fill(len(dst), memory, func(at, n int, data []byte) { wire.Decode(dst[at:at+n], data, u.unit) })
}

// fill fills n elements that are not all in the buffer, as fillPacked does: their memory, or if this is nil by decode, which
// decodes some of them.
func (b bulk) fill(n int, memory []byte, decode func(at, n int, data []byte)) (int, error) {
	size := b.d.payload.elem.size()
	total := 0
	for total < n {
		if memory != nil {
			read, err := b.readDirect(memory[total*size:], false)
			if total += read / size; err != nil {
				return total, err
			}
			if read > 0 {
				continue
			}
		}
		// Padding follows, or fewer bytes than a buffer are left, or the elements need a conversion. The
		// minimum keeps the product within an int of 32 bits.
		data, err := b.peek(min(n-total, 1<<24) * size)
		if err != nil {
			return total, err
		}
		some := min(len(data)/size, n-total)
		decode(total, some, data)
		b.discard(some * size)
		total += some
	}
	return total, nil
}

// AppendPacked appends the elements of the next value, a packed array, to dst and reads
// the End; after a PackedStart or Chunk, the elements that ReadPacked would read.
// Conversions are those of ReadPacked.
//
// dst grows with the elements received, never by the declared count. After a temporary
// error of the Reader, the result contains the elements received so far; call
// AppendPacked again with it.
func AppendPacked[T Packable](d *Decoder, dst []T) ([]T, error) {
	want := typeUnits[T]()
	// A completely buffered array needs no frame and no bulk read.
	if form, b := d.fastForm(); form != nil && form.shape == shapePacked {
		elem := form.units()
		if data, ok := d.wholePacked(form, le.Uint32(b[4:])); ok && elem.convertTo(want) {
			at, n := d.r+8, data/elem.size()
			d.consumePacked(data)
			dst = slices.Grow(dst, n)[:len(dst)+n]
			from, to := d.buf[at:at+data], dst[len(dst)-n:]
			if b, ok := wire.AsBytes(to, elem == want); ok { // as Decode does, but inlined: -7 % of AppendPacked
				copy(b, from)
			} else {
				wire.Decode(to, from, elem.unit)
			}
			return dst, nil
		}
	}
	b := bulk{d}
	if err := b.startAppend(want); err != nil {
		return dst, err
	}
	for {
		n, step, err := b.room(len(dst), cap(dst))
		if n == 0 {
			return dst, err
		}
		dst = slices.Grow(dst, step)
		n, err = fillPacked(b, dst[len(dst):][:min(n, cap(dst)-len(dst))], want)
		dst = dst[:len(dst)+n]
		if err != nil {
			return dst, err
		}
	}
}

// startAppend starts to read the payload for AppendPacked: without an open payload, that of the next value.
func (b bulk) startAppend(want units) error {
	if p := &b.d.payload; !b.start() || p.done || p.kind != KindPackedStart {
		if err := b.startPacked(want); err != nil {
			return err
		}
	}
	return b.checkPacked("AppendPacked", want)
}

// room returns the number of remaining elements, and by how many a full slice grows for them. After the last, room closes the
// array.
func (b bulk) room(n, capacity int) (remaining, step int, err error) {
	d := b.d
	size := d.payload.elem.size()
	remaining = d.payload.remaining/size + int(min(d.remaining, 1<<30)) // for ints of 32 bits
	if remaining == 0 {                                                 // peek closes the array
		if _, err = b.peek(0); err == io.EOF {
			b.end()
			err = nil
		}
		return 0, 0, err
	}
	if n == capacity {
		// In memory, checkLength found that all elements are there. From a Reader, dst at most
		// doubles or grows by a chunk, whatever the declared count is.
		step = remaining
		if d.src != nil {
			step = min(remaining, max(n, d.maxChunk/size, 1))
		}
	}
	return remaining, step, nil
}

// startPacked reads the start of the next value, if it is a packed array with elements
// that convert to want.
func (b bulk) startPacked(want units) error {
	d := b.d
	l, err := d.look()
	if err != nil {
		return err
	}
	if l.expect("packed array", isPacked); l.failed() {
		return d.failure()
	}
	elem := l.form.units()
	if !elem.convertTo(want) {
		return d.errorAt(0, elem.mismatch(want))
	}
	if l.value(); l.failed() {
		return d.failure()
	}
	b.start()
	return nil
}

// checkPacked checks that the payload is a packed array with elements that convert to want.
func (b bulk) checkPacked(call string, want units) error {
	p := &b.d.payload
	switch {
	case p.kind != KindPackedStart:
		return b.missing(call)
	case !p.elem.convertTo(want):
		return b.d.WrapError(p.elem.mismatch(want))
	case p.remaining > 0 && p.remaining%p.elem.size() != 0: // Payload read a part of an element
		return b.d.WrapError(wrapf(ErrCall, "Payload has read a part of the next element"))
	}
	return nil
}

// copyElements fills dst with n elements, if all of them are buffered and no padding follows them. Most
// arrays are read here, without a division: -6 % of ReadPacked of 4 KiB from a Reader, -8 % in memory.
func (b bulk) copyElements(dst []byte, n uint64) bool {
	d := b.d
	if d.payload.remaining > 0 || d.payload.done || d.err != nil || len(dst) > d.limit-d.r || uint64(len(dst)) > b.direct() {
		return false
	}
	d.consume(copy(dst, d.buf[d.r:d.limit]))
	d.count(n)
	return true
}

// direct returns the number of bytes still to come in elements that no padding
// follows.
func (b bulk) direct() uint64 {
	d, f := b.d, b.d.top()
	if f.unit == wire.Byte { // padding follows the last bytes
		return d.remaining - min(d.remaining, uint64(f.count&3))
	}
	return d.remaining * uint64(f.size)
}

// readDirect reads whole elements of packed data into dst, from the buffer and then directly
// from the Reader. It returns 0 for elements to be read as a chunk: those neither buffered nor
// more than a buffer, or before padding. If the Reader fails inside an element, the bytes of
// this element move to the buffer. If once is set, readDirect returns after the first
// elements.
func (b bulk) readDirect(dst []byte, once bool) (int, error) {
	d := b.d
	// peek handles an error, the rest of a chunk, and the End.
	if d.err != nil || d.payload.remaining > 0 || d.want() != wantChunk {
		return 0, nil
	}
	most, size := min(uint64(len(dst)), b.direct()), int(d.top().size)
	// Input in memory is always buffered. slowPath.readDirect would overwrite it.
	if most > uint64(d.limit-d.r) && (d.src == nil || most < uint64(d.maxChunk)) {
		return 0, nil
	}
	dst = dst[:int(most)/size*size]
	n := copy(dst, d.buf[d.r:d.limit])
	d.consume(n)
	var err error
	if enough := once && n > 0 && n%size == 0; n < len(dst) && !enough {
		d.saveKeys(d.base + uint64(d.end)) // all of the buffer is given up
		n, err = d.slowPath.readDirect(dst, n, size, once)
	}
	d.count(uint64(n / size))
	if err == nil {
		return n, nil
	}
	d.setFault(d.readFault(err))
	return n, d.failure()
}
