package gdwire

import (
	"io"
	"math"
	"slices"
)

// bulk is what the bulk reads go on with: the payload of the latest token and
// what belongs to it.
type bulk struct {
	kind Kind   // StringChunk, PackedStart, ImageStart, NodePathStart; 0: none
	unit unit   // of packed data
	n    uint8  // how many make an element
	done bool   // the payload is over
	mark uint64 // where the token starts
	pos  uint64 // where those bytes start in the window that were not handed out
	left int    // how many they are
}

// beginBulk is what every bulk read does first. Tokens only note that there is a
// payload and how much of it is in the window; the rest is found out here.
func (d *Decoder) beginBulk() {
	d.skip = 0
	if d.live == 0 || d.bulk.kind == 0 {
		return
	}
	d.bulk = bulk{kind: d.bulk.kind, left: d.bulk.left, mark: d.at, pos: d.live}
	if f := d.top; d.bulk.kind == KindPackedStart {
		d.bulk.unit, d.bulk.n = f.unit, layouts[f.typ].n
	}
	d.live = 0
}

// rest returns bytes of the payload in the window, one element at least and most
// bytes at most if they are not there already, for used to consume; io.EOF, and
// the value closed, where there are no more.
func (d *Decoder) rest(most int) ([]byte, error) {
	b := d.bulk
	for d.bulk.left == 0 {
		var err error
		switch {
		case b.done:
			err = io.EOF
		case d.err != nil:
			return nil, d.failed()
		case d.top.want == wantText:
			_, err = d.textChunk(d.top.typ, 0, d.top.left, d.top.count)
		case d.top.want == wantChunk:
			size := int(d.top.size)
			_, err = d.chunk(max(min(d.lim-d.r, most)/size, 1))
		default:
			if b.kind != KindStringChunk {
				d.pop()
			}
			b.done = true
			err = io.EOF
		}
		if err != nil {
			d.bulk = b
			return nil, err
		}
		b.pos, b.left = d.live, d.bulk.left
		d.bulk, d.at, d.live = b, b.mark, 0
	}
	i := int(d.bulk.pos - d.base)
	return d.buf[i : i+d.bulk.left], nil
}

// used notes that n bytes of what rest returned have been handed out.
func (d *Decoder) used(n int) {
	d.bulk.pos += uint64(n)
	d.bulk.left -= n
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
	d.partialAt = 0
	err := d.startPayload("AppendString", func(f *form) error {
		if f.shape != shapeText && f.shape != shapePath && f != &stringForm {
			return d.mismatch(f, "String, StringName or NodePath")
		}
		return nil
	}, KindStringChunk, KindNodePathStart)
	if err != nil {
		return dst, err
	}
	return d.appendText(dst)
}

// appendText appends the payload of a string or NodePath.
func (d *Decoder) appendText(dst []byte) ([]byte, error) {
	switch d.bulk.kind {
	case KindStringChunk:
		for {
			b, err := d.rest(math.MaxInt)
			if err == io.EOF {
				return dst, nil
			}
			if err != nil {
				return dst, err
			}
			dst = append(dst, b...)
			d.used(len(b))
		}
	default:
		return d.appendNodePath(dst)
	}
}

func (d *Decoder) appendNodePath(dst []byte) ([]byte, error) {
	b := d.bulk
	for !d.bulk.done {
		if d.err != nil {
			return dst, d.failed()
		}
		var err error
		var t Token
		switch f := d.top; f.want {
		case wantText:
			t, err = d.textChunk(f.typ, 0, f.left, f.count)
		case wantName:
			i, names := f.count-f.left, f.names
			absolute := i == 0 && f.has(flagAbsolute)
			if t, err = d.text(f.typ, 0); err != nil {
				break
			}
			if absolute || i > 0 && i < names {
				dst = append(dst, '/')
			}
			if i >= names {
				dst = append(dst, ':')
			}
		default:
			if f.count == 0 && f.has(flagAbsolute) {
				dst = append(dst, '/')
			}
			d.pop()
			b.done = true
		}
		if err == nil {
			dst = append(dst, t.Bytes()...)
		}
		d.bulk, d.live = b, 0
		if err != nil {
			return dst, err
		}
		d.at = b.mark
	}
	return dst, nil
}

func (d *Decoder) noPayload(call string) error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.WrapError(because(ErrType, "%s does not go on with this token", call))
}

// Payload returns the raw bytes of what the latest token began: of a string from
// this chunk on, of packed numbers as they are on the wire, of an image its data,
// until io.EOF. What was behind a PackedStart or ImageStart is closed then: its
// End is not read any more.
//
// It is valid until the Decoder goes on otherwise, and does not copy more than
// it must when used with [io.Copy]. After a read error it can be read on.
func (d *Decoder) Payload() io.Reader {
	d.beginBulk()
	d.partialAt = 0
	d.payload = payload{d: d, mark: d.at}
	return &d.payload
}

type payload struct {
	d    *Decoder
	mark uint64
}

func (p *payload) check() error {
	if k := p.d.bulk.kind; k == 0 || k == KindNodePathStart || p.d.at != p.mark || p.d.leave > 0 {
		return p.d.noPayload("Payload")
	}
	return nil
}

// Read reads what is there, and waits only if nothing is.
func (p *payload) Read(dst []byte) (int, error) {
	if err := p.check(); err != nil || len(dst) == 0 {
		return 0, err
	}
	if p.d.goesDirect(len(dst)) {
		return p.d.readDirect(dst, 1)
	}
	b, err := p.d.rest(len(dst))
	n := copy(dst, b)
	p.d.used(n)
	return n, err
}

// WriteTo spares io.Copy its buffer.
func (p *payload) WriteTo(w io.Writer) (total int64, err error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	for {
		b, err := p.d.rest(math.MaxInt)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		n, err := w.Write(b)
		if n < 0 || n > len(b) {
			return total, errBadWrite
		}
		p.d.used(n)
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
	u, n := unitOf[T]()
	if err := d.leaveLoop(); err != nil {
		return 0, err
	}
	if err := d.checkPacked("ReadPacked", u, n); err != nil {
		return 0, err
	}
	return fillPacked(d, dst)
}

func fillPacked[T Packable](d *Decoder, dst []T) (int, error) {
	if p, ok := asBytes(dst, d.bulk.unit); ok {
		size := d.bulk.unit.size() * int(d.bulk.n)
		n, err := d.readInto(p, size)
		return n / size, err
	}
	size := d.bulk.unit.size() * int(d.bulk.n)
	total := 0
	for total < len(dst) {
		b, err := d.rest((len(dst) - total) * size)
		if err != nil {
			return total, err
		}
		n := min(len(b)/size, len(dst)-total)
		decodePacked(dst[total:total+n], b, d.bulk.unit)
		d.used(n * size)
		total += n
	}
	return total, nil
}

// AppendPacked appends the elements of the packed array that comes next, or after
// a PackedStart or Chunk those that ReadPacked would read, and reads the array's
// End. dst grows as they arrive, never from the count. After a temporary error of
// the reader it ends with the elements that have arrived; call it again with that.
func AppendPacked[T Packable](d *Decoder, dst []T) ([]T, error) {
	u, n := unitOf[T]()
	err := d.startPayload("AppendPacked", func(f *form) error {
		if f.shape != shapePacked {
			return d.mismatch(f, "packed array")
		}
		if c := layouts[f.typ].n; n != int(c) || !f.unit.convertsTo(u) {
			return d.reject(packedMismatch(c, f.unit, u, n))
		}
		return nil
	}, KindPackedStart)
	if err == nil {
		err = d.checkPacked("AppendPacked", u, n)
	}
	if err != nil {
		return dst, err
	}
	size := d.bulk.unit.size() * int(d.bulk.n)
	for {
		left := d.bulk.left / size
		if !d.bulk.done && d.top.want == wantChunk {
			left += int(min(d.top.left, 1<<30)) // an int may have 32 bits
		}
		if len(dst) == cap(dst) && left > 0 {
			step := left
			if d.src != nil {
				step = min(left, max(len(dst), d.size/size, 1))
			}
			dst = slices.Grow(dst, step)
		}
		free := dst[len(dst):cap(dst)]
		if left == 0 {
			_, err := d.rest(0)
			return dst, noMore(err)
		}
		n, err := fillPacked(d, free[:min(left, len(free))])
		dst = dst[:len(dst)+n]
		if err != nil {
			return dst, err
		}
	}
}

// checkPacked checks that elements of n u can hold those of the latest token.
func (d *Decoder) checkPacked(call string, u unit, n int) error {
	d.beginBulk()
	b := &d.bulk
	switch {
	case b.kind != KindPackedStart:
		return d.noPayload(call)
	case n != int(b.n) || !b.unit.convertsTo(u):
		return d.WrapError(packedMismatch(b.n, b.unit, u, n))
	case b.left%(b.unit.size()*n) != 0: // Payload took a part of it
		return d.WrapError(because(ErrType, "elements from the middle of one"))
	}
	return nil
}

func packedMismatch(components uint8, from, to unit, n int) error {
	return because(ErrType, "elements of %d × %v into %d × %v", components, from, n, to)
}

// readInto fills p, which is a multiple of size, with whole elements.
func (d *Decoder) readInto(p []byte, size int) (n int, err error) {
	for n < len(p) {
		if d.goesDirect(len(p) - n) {
			m, err := d.readDirect(p[n:], size)
			n += m
			if err != nil {
				return n, err
			}
			continue
		}
		b, err := d.rest(len(p) - n)
		if err != nil {
			return n, err
		}
		m := min(len(b)/size*size, len(p)-n)
		copy(p[n:], b[:m])
		d.used(m)
		n += m
	}
	return n, nil
}

// goesDirect reports whether n bytes of packed data go straight to where they are
// wanted: from the window, where all of them stand there, or from the reader, where
// they are more than a window. Bytes that padding follows come by chunks, so that
// both come together.
func (d *Decoder) goesDirect(n int) bool {
	if d.err != nil || d.bulk.left > 0 || d.bulk.done || d.top.want != wantChunk {
		return false
	}
	most := min(uint64(n), d.directBytes())
	if most < uint64(d.top.size) {
		return false
	}
	return most <= uint64(d.lim-d.r) || d.src != nil && most >= uint64(d.size)
}

func (d *Decoder) directBytes() uint64 {
	n := uint64(d.top.left) * uint64(d.top.size)
	if d.top.unit == unitByte {
		n -= uint64(d.top.count & 3)
		if uint64(d.top.left) < uint64(d.top.count&3) {
			n = 0
		}
	}
	return n
}

// readDirect reads into p from the window and then straight from the reader:
// whole elements of size bytes, to the end of p or of what may go directly. What
// is left of an element when the reader fails goes back into the window.
func (d *Decoder) readDirect(p []byte, size int) (int, error) {
	f := d.top
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
		d.limitWindow()
	}
	if f.left -= uint32(n / int(f.size)); f.left == 0 {
		f.want = wantEnd
	}
	if err != nil {
		err = d.readError(err)
	}
	return n, err
}
