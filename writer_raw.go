package gdwire

import (
	"io"
	"math"
)

// WriteRaw writes a value that is already encoded in the Encoder's format, such
// as one kept from another packet. It is read first: anything but one whole value
// that a Decoder without limits accepts is refused.
func (e *Encoder) WriteRaw(value []byte) error {
	if err := e.ready(); err != nil {
		return err
	}
	if e.raw == nil {
		e.raw = new(Decoder)
	}
	d := e.raw
	d.options = DecoderOptions{
		Format: e.options.Format, AllowObjects: true, AnyUTF8: e.options.AnyUTF8, DoubleReals: e.options.DoubleReals,
		Limits:       Limits{Depth: -1, Elements: -1, Values: -1, StringBytes: -1, NameBytes: -1, PackedBytes: -1, Bytes: -1},
		wholePadding: true,
	}
	d.ResetBytes(value)
	defer d.Release()
	t, err := d.ReadToken()
	if err == io.EOF {
		return e.fail(because(ErrCount, "no value"))
	}
	if err != nil {
		return e.keep(err)
	}
	if _, err := e.begin(t.Type()); err != nil {
		return err
	}
	for d.Depth() > 0 {
		if d.Depth() > e.maxDepth-e.Depth() && d.top.want <= lastValue {
			return e.fail(&LimitError{Name: limitTable[limitDepth].name, Got: int64(e.Depth() + d.Depth()), Max: int64(e.maxDepth)})
		}
		if _, err := d.next(); err != nil {
			return e.keep(err)
		}
	}
	if n := len(value) - int(d.InputOffset()); n > 0 {
		return e.fail(because(ErrCount, "%d bytes behind the value", n))
	}
	if err := emit(e, nil, value, 0, e.final()); err != nil {
		return err
	}
	e.step()
	return nil
}

// CopyValue copies the next value, or what [Decoder.SkipValue] would skip in its
// place, token by token; between streams of different formats it does what
// [Encoder.WriteToken] does. Where an End is next it is [ErrCount].
//
// Either side's temporary errors leave it to be called again.
func CopyValue(e *Encoder, d *Decoder) error {
	if err := d.leaveLoop(); err != nil {
		return err
	}
	depth := d.Depth()
	switch {
	case d.skip > 0:
		depth = d.skip - 1
	case d.current().want == wantEnd && d.err == nil:
		d.forget()
		return d.WrapError(because(ErrCount, "CopyValue where an End is next"))
	default:
		d.unsent = Token{} // of a call that was given up
	}
	for {
		var t Token
		if d.skip > 0 && d.unsent.Kind() != 0 {
			t, d.unsent = d.unsent, Token{}
		} else {
			if d.Depth() > depth {
				copyRun(e, d)
			}
			var err error
			if t, err = d.next(); err != nil {
				return err
			}
			d.skip = depth + 1
		}
		if err := e.WriteToken(t); err != nil {
			d.unsent = t.Clone() // the window may move before it is written
			return err
		}
		if d.Depth() <= depth && t.Kind() != KindDictKey {
			d.skip = 0
			return nil
		}
	}
}

// copyRun copies what takes the straight road on both sides, whose innermost
// frames want the same: its bytes are what WriteToken would write.
func copyRun(e *Encoder, d *Decoder) {
	from, to := d.top, e.top
	if e.options.Format != d.options.Format || e.options.DoubleReals != d.options.DoubleReals ||
		e.redo.pending || uint(e.depth-1) >= uint(e.maxDepth) || to.elem != 0 ||
		from.kind != to.kind || from.want != to.want || from.left != to.left || from.typ == TypePackedStringArray {
		return
	}
	start := d.r
	d.skim(e.lim-e.n, math.MaxInt)
	e.n += copy(e.buf[e.n:], d.buf[start:d.r])
	to.want, to.left = from.want, from.left
}
