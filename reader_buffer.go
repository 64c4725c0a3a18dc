package gdwire

import (
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/checked"
)

// window is the read buffer of a Decoder. Tokens refer to it.
//
//	buf[:r]       consumed; the last bytes are kept for paths
//	buf[r:lim]    read, not consumed
//	buf[lim:end]  read, beyond Limits.Bytes
//	buf[end:]     free
//
// 0 ≤ r ≤ lim ≤ end ≤ len(buf). A position is a number of bytes since the creation of the
// Decoder. Reset and Release do not set it back, so positions never repeat. base is the
// position of buf[0].
//
// token identifies the latest token. It is twice the position of its first byte, plus one
// if its payload is invalid. It is always odd for DictKey and End, which have no payload
// and consume nothing.
type window struct {
	buf   []byte
	base  uint64
	token uint64
}

// peek returns the next bytes, at least n, without consuming them. A token is consumed by
// advance, only after all of it is buffered, so that any call can be repeated.
func (d *Decoder) peek(n int) ([]byte, error) {
	if d.lim-d.r < n {
		if err := d.fill(n); err != nil {
			return nil, err
		}
	}
	return d.buf[d.r:d.lim], nil
}

// fill reads until at least n bytes are buffered after r. If Limits.Bytes ends before them,
// it reads up to there first, so that the error is where the input ends, if it does earlier,
// and otherwise where that many bytes end, however the tokens are read.
func (d *Decoder) fill(n int) error {
	fault := d.bounds.check(limitBytes, d.pos()+uint64(n)-d.valueStart)
	at := n
	if fault != nil {
		at = int(d.valueStart + uint64(d.bounds[limitBytes]) - d.pos())
	}
	if d.end-d.r < at {
		if err := d.fetch(at); err != nil {
			return d.readError(err)
		}
	}
	if fault != nil {
		return d.fail(int(d.valueStart+uint64(d.bounds[limitBytes])-d.pos()), fault)
	}
	return nil
}

// readError returns the error for the caller after the Reader has returned err. io.EOF
// inside a value becomes io.ErrUnexpectedEOF.
func (d *Decoder) readError(err error) error {
	if err != io.EOF {
		if err != nil {
			d.latest(err)
		}
		return err
	}
	left := d.end - d.r
	short := d.inputEnd != math.MaxUint64 && d.pos() != d.inputEnd // of the length that was given
	if d.depth > 0 || left > 0 || short {
		return d.fail(left, io.ErrUnexpectedEOF)
	}
	return io.EOF
}

// advance consumes n bytes, a token that is a whole value or name.
func (d *Decoder) advance(n int) {
	d.countAt(d.pos())
	d.token = 2 * d.pos()
	d.payload = payload{token: d.token}
	d.r += n
}

// open consumes n bytes, a Start token, and pushes a frame with the declared count.
func (d *Decoder) open(n int, k Kind, t Type, count uint32) *frame {
	f := d.push(k, t, count, d.pos())
	d.token = 2 * d.pos()
	d.payload = payload{token: d.token}
	d.r += n
	d.setWin()
	return f
}

// limit returns lim: end, or the end of Limits.Bytes.
func (d *Decoder) limit() int {
	return int(min(uint64(d.end), d.valueEnd-d.base)) // valueEnd < base before the first value
}

// setLim sets lim, and win or names to the same bytes.
func (d *Decoder) setLim() {
	d.lim = d.limit()
	if d.win != nil {
		d.win = d.buf[:d.lim]
	} else if d.names != nil {
		d.names = d.buf[:d.lim]
	}
}

// fetch reads until at least n bytes are buffered after r. It returns the Reader's error,
// or io.EOF at the end of the input, and keeps the bytes read before it.
func (d *Decoder) fetch(n int) (err error) {
	if d.src == nil {
		return io.EOF
	}
	if d.buffer == nil {
		d.buffer = getBuffer(d.size + history + headroom)
		d.buf = d.buffer.B
	}
	d.compact(n)
	for err == nil && d.end-d.r < n {
		if d.end == len(d.buf) {
			d.grow(n)
		}
		var m int
		m, err = d.read(d.buf[d.end:])
		d.end += m
	}
	d.setLim()
	return err
}

// read reads from src into p, up to inputEnd. It returns bytes or an error. If src returns
// both, read returns the error in the next call.
func (d *Decoder) read(p []byte) (int, error) {
	if err := d.srcErr; err != nil {
		d.srcErr = nil
		return 0, err
	}
	if left := d.inputEnd - d.base - uint64(d.end); uint64(len(p)) > left {
		if left == 0 {
			return 0, io.EOF
		}
		p = p[:left]
	}
	n, err := checked.Read(d.src, p)
	if n > 0 {
		d.srcErr = err
		err = nil
	}
	return n, err
}

// compact moves the unread bytes, and the history before them, to the start of the buffer.
// It does so if that frees at least a quarter of the buffer, or if n bytes do not fit
// otherwise.
func (d *Decoder) compact(n int) {
	from := d.r - history
	if from <= 0 || from < len(d.buf)/4 && len(d.buf)-d.r >= n {
		return
	}
	d.saveKeys(d.base + uint64(from))
	d.end = copy(d.buf, d.buf[from:d.end])
	d.base += uint64(from)
	d.r = history
}

// grow enlarges the buffer to hold n bytes after r, at most doubling it, so that memory
// follows the bytes received and not a declared length.
func (d *Decoder) grow(n int) {
	size := d.r + n
	if size-len(d.buf) > len(d.buf) { // 2*len(d.buf) itself may not be an int
		size = 2 * len(d.buf)
	}
	d.buf = append(make([]byte, 0, size), d.buf[:d.end]...)[:size]
	d.buffer.B = d.buf
}

// savedKey is a pathKey whose bytes have left the buffer.
type savedKey struct {
	data [maxKey + 1]byte
	n    uint8
	typ  Type
}

// saveKeys saves the keys that start before pos. It stops at the first frame whose key has
// left the buffer before, because the keys of outer frames start earlier.
func (d *Decoder) saveKeys(pos uint64) {
	for i := d.depth; i > 0; i-- {
		f := d.frame(i)
		if f.keyPos < d.base {
			return
		}
		if f.keyPos >= pos || hasPairs[f.kind&127] == 0 {
			continue
		}
		r := d.getRare()
		if len(r.saved) <= i {
			r.saved = append(make([]savedKey, 0, len(d.stack)), r.saved...)[:len(d.stack)]
		}
		k, s := d.key(i), &r.saved[i]
		s.n, s.typ = uint8(copy(s.data[:], k.data)), k.typ
	}
}

// key returns the latest key or property of frame i.
func (d *Decoder) key(i int) pathKey {
	f := d.frame(i)
	if f.keyPos < d.base {
		s := &d.rare.saved[i]
		return pathKey{s.typ, s.data[:s.n]}
	}
	b := d.buf[f.keyPos-d.base : d.end]
	typ := TypeString
	if f.kind == KindDictStart {
		form := d.lookup(le.Uint32(b))
		if form == nil {
			return pathKey{}
		}
		b = b[4:]
		switch {
		case form.shape == shapeText:
			typ = form.typ
		case form.shape == shapeMath && form.size <= maxKey || form.kind == KindNil || form.kind == KindBool ||
			form.typ == TypeInt || form.typ == TypeFloat:
			return pathKey{form.typ, b[:min(int(form.size), len(b))]}
		default:
			return pathKey{}
		}
	}
	n := le.Uint32(b)
	b = b[4:]
	return pathKey{typ, b[:min(uint64(n), uint64(len(b)), maxKey+1)]}
}
