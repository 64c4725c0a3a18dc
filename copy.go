package gdwire

import "math"

// CopyValue copies the next value, or what [Decoder.SkipValue] would skip in its
// place, as [Encoder.WriteToken] writes it, also between formats. Where an End is
// next it is [ErrCount].
//
// Elements and keys that are not of the declared type, which a lenient Decoder
// accepts, are copied into containers that declare the same type.
//
// After a temporary error of the Reader or the Writer, call it again.
func CopyValue(e *Encoder, d *Decoder) error {
	if err := d.leaveLoop(); err != nil {
		return err
	}
	if err := e.ready(); err != nil {
		return err
	}
	end := d.Depth() // the depth at which the copy ends
	switch w := d.current().want; {
	case d.skip > 0:
		end = d.skip - 1
	case w == wantEnd && d.err == nil:
		d.forget()
		return d.WrapError(because(ErrCount, "CopyValue where an End is next"))
	default:
		d.unsent = unsent{} // of a call that was given up
		if w == wantText {
			end--
		}
	}
	for {
		next := d.unsent
		if d.skip > 0 && next.Kind() != 0 {
			d.unsent = unsent{}
		} else {
			if d.Depth() > end {
				copyRun(e, d)
			}
			next.elem = d.top.elem
			var err error
			if next.Token, err = d.next(); err != nil {
				return err
			}
			d.skip = end + 1
		}
		e.copying, e.accepts = true, next.elem
		err := e.WriteToken(next.Token)
		e.copying, e.accepts = false, 0
		if err != nil {
			next.Token = next.Clone() // The read buffer may move before it is written.
			d.unsent = next
			return err
		}
		if d.Depth() <= end && next.Kind() != KindDictKey && d.top.want != wantChunk {
			d.skip = 0
			return nil
		}
	}
}

// unsent is a token that CopyValue has read and not written, and the type that
// its container declares.
type unsent struct {
	Token
	elem Type
}

// copyRun copies what is on the fast path of both sides, in containers of the
// same kind with as much to come: its bytes are those that WriteToken would write.
func copyRun(e *Encoder, d *Decoder) {
	from, to := d.top, e.top
	if e.options.Format != d.options.Format || e.options.DoubleReals != d.options.DoubleReals ||
		e.lim < 0 || uint(e.depth-1) >= uint(e.maxDepth) || from.elem != to.elem ||
		from.kind != to.kind || from.want != to.want || from.left != to.left || from.typ == TypePackedStringArray {
		return
	}
	start := d.r
	d.skim(e.lim-e.n, math.MaxInt)
	e.n += copy(e.buf[e.n:], d.buf[start:d.r])
	to.want, to.left = from.want, from.left
}
