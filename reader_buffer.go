package gdwire

import (
	"io"
	"math"
)

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

// fetch is source.fetch. It saves the keys that leave the buffer.
func (d *Decoder) fetch(n int) error {
	if from := d.unneeded(n); from > 0 {
		d.saveKeys(d.base + uint64(from))
	}
	return d.source.fetch(n, d.size+history+headroom)
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
	d.pass(d.r+n, d.pos())
	d.payload = payload{token: d.mark}
}

// open consumes n bytes, a Start token, and pushes a frame with the declared count.
func (d *Decoder) open(n int, k Kind, t Type, count uint32) *frame {
	f := d.push(k, t, count, d.pos())
	d.pass(d.r+n, d.pos())
	d.payload = payload{token: d.mark}
	d.updateFastPath()
	return f
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
