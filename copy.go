package gdwire

// CopyValue reads from d and writes to e what [Decoder.SkipValue] would skip: the next
// value, or the rest of one that has been read in part. It writes tokens as
// [Encoder.WriteToken] does, so it converts between formats. If an End is next, it
// returns [ErrCount].
//
// Elements and keys that are not of the declared type, which a lenient Decoder accepts,
// are copied into containers that declare the same type.
//
// After a temporary error of the Reader or the Writer, call it again.
func CopyValue(e *Encoder, d *Decoder) error {
	x, next := d.skip, unsent{}
	if r := d.rare; r != nil {
		if x.open > 0 {
			next = r.unsent
		}
		r.unsent = unsent{}
	}
	err := d.start()
	if err == nil {
		err = e.ready()
	}
	if err != nil {
		if x.open > 0 && d.err == nil {
			d.interrupt(x)
			d.getRare().unsent = next
		}
		return err
	}
	resumed := x.open > 0
	if !resumed {
		if d.want() == wantEnd {
			return d.WrapError(because(ErrCount, "CopyValue where an End is next"))
		}
		x = d.rest()
	}
	return d.copyTo(e, x, next, resumed)
}

// unsent is a token that CopyValue has read but not written, and the declared type of
// its container.
type unsent struct {
	Token
	elem Type
}

// copyTo copies the tokens up to the end of x, after next if that is not empty. If an
// error interrupts it after the first token, it saves the rest of x in d.
func (d *Decoder) copyTo(e *Encoder, x extent, next unsent, started bool) error {
	for {
		if next.Kind() == 0 {
			if d.depth >= x.open {
				copyFast(e, d)
			}
			next.elem = d.top().elem
			var err error
			if next.Token, err = d.ReadToken(); err != nil {
				if started {
					d.interrupt(x)
				}
				return err
			}
			started = true
		}
		e.copying, e.accepts = true, next.elem
		err := e.WriteToken(next.Token)
		e.copying, e.accepts = false, 0
		if err != nil {
			next.Token = next.Clone() // the buffer may change before it is written
			d.interrupt(x)
			d.getRare().unsent = next
			return err
		}
		if next.Kind() != KindDictKey && d.isOver(x) {
			return nil
		}
		next = unsent{}
	}
}

// copyFast copies the bytes of tokens that are on the fast path of both d and e, if
// both are in containers of the same kind and with the same number of values to come.
// These bytes are the same as WriteToken would write.
func copyFast(e *Encoder, d *Decoder) {
	if e.options.Format != d.options.Format || e.options.DoubleReals != d.options.DoubleReals ||
		e.win == nil || d.win == nil || e.left != d.left || e.pairs != d.pairs {
		return
	}
	start := d.r
	d.passFast(len(e.win) - e.n)
	e.n += copy(e.buf[e.n:], d.buf[start:d.r])
	e.left = d.left
}
