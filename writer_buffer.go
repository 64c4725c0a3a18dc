package gdwire

import "io"

// redo is the call that an error of the Writer interrupted: it comes again.
type redo struct {
	pending bool
	taken   int     // bytes of it that need not be taken again
	total   int     // bytes in all
	head    [8]byte // the first of them, to know it by
}

// bufferSize is what an Encoder collects before it writes: as much as a Decoder's
// window usually is, for a pool that learns sizes drops those that are rare.
const bufferSize = windowBuffer

// flush writes what may be written.
func (e *Encoder) flush() error {
	most := e.n
	if e.held > 0 {
		most = e.hold
	}
	if most == 0 {
		return nil
	}
	n, err := e.write(e.buf[:most])
	e.n = copy(e.buf, e.buf[n:e.n])
	if e.held > 0 {
		e.moved(n)
		e.limitBuffer()
	}
	return err
}

// interrupted notes whether the call under way has to be made again.
func (e *Encoder) interrupted(yes bool) {
	if e.redo.pending != yes {
		e.redo.pending = yes
		e.limitBuffer()
	}
}

// limitBuffer sets lim. There is nothing to fill for a call that comes again, and
// what stands behind an Unknown count has its own limit.
func (e *Encoder) limitBuffer() {
	e.lim = len(e.buf)
	if e.redo.pending || e.err != nil {
		e.lim = -1
		return
	}
	if most := limitBuffered.or(e.options.Buffered); e.held > 0 && most < int64(e.lim-e.hold) {
		e.lim = e.hold + int(most)
	}
}

// straight reports whether a value of size bytes may come next and has its place
// in the buffer, with nothing else to ask. Nearly every value takes the straight
// road: it stands in a container of no declared type, not too deep, completes no
// top-level value, and is no repetition of what an error of the Writer
// interrupted. All others go step by step: begin, room, commit.
func (e *Encoder) straight(size int) bool {
	return e.inside(size) && e.top.elem == 0 && e.top.want-wantElem <= wantDictKey-wantElem
}

// inside is what is asked of anything on the straight road, names too.
func (e *Encoder) inside(size int) bool {
	return e.lim-e.n >= size && uint(e.depth-1) < uint(e.maxDepth)
}

// moved notes that the buffer's content moved n bytes to the front.
func (e *Encoder) moved(n int) {
	e.hold -= n
	for i := range e.Depth() + 1 {
		if f := e.frame(i); f.has(flagUnknown) {
			f.mark -= uint64(n)
		}
	}
}

// write is the Writer's Write, which is not trusted.
func (e *Encoder) write(p []byte) (int, error) {
	n, err := e.w.Write(p)
	if n < 0 || n > len(p) {
		return 0, errBadWrite
	}
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	e.written += uint64(n)
	return n, err
}

// room returns at least n bytes behind what is held back, for commit to take.
func (e *Encoder) room(n int) ([]byte, error) {
	if e.lim-e.n < n {
		return e.makeRoom(n)
	}
	return e.buf[e.n:], nil
}

func (e *Encoder) makeRoom(n int) ([]byte, error) {
	if e.held == 0 || e.hold > 0 {
		if err := e.flush(); err != nil {
			return nil, err
		}
	}
	if len(e.buf)-e.n < n {
		buf := make([]byte, max(2*len(e.buf), e.n+n))
		copy(buf, e.buf[:e.n])
		e.buf, e.buffer.B = buf, buf
		e.limitBuffer()
	}
	return e.buf[e.n:], nil
}

// buffered asks whether size bytes may be kept behind an Unknown count.
func (e *Encoder) buffered(size int) error {
	most := limitBuffered.or(e.options.Buffered)
	if int64(size) <= most {
		return nil
	}
	return e.fail(&LimitError{Name: limitTable[limitBuffered].name, Got: int64(size), Max: most})
}

// hoard asks it of n more, if there is such a count.
func (e *Encoder) hoard(n int) error {
	if e.held == 0 {
		return nil
	}
	return e.buffered(e.n - e.hold + n)
}

// commit takes the n bytes of a call that were put where room said. If they
// complete a top-level value, all is flushed before the call is over.
func (e *Encoder) commit(n int, final bool) error {
	if final || e.redo.pending || e.held > 0 {
		return e.commitHeld(n, final)
	}
	e.n += n
	return nil
}

// commitHeld is commit where more is to be asked.
func (e *Encoder) commitHeld(n int, final bool) error {
	if err := e.hoard(n); err != nil {
		return err
	}
	b := e.buf[e.n : e.n+n]
	if err := e.again(n, b); err != nil {
		return err
	}
	if !e.redo.pending {
		e.n += n
	}
	return e.settle(final)
}

// again notes the call under way, or compares it with the interrupted one.
func (e *Encoder) again(total int, head []byte) error {
	r := redo{total: total}
	copy(r.head[:], head)
	if !e.redo.pending {
		e.redo = r
	} else if r.total != e.redo.total || r.head != e.redo.head {
		return e.fail(errInterrupted)
	}
	return nil
}

// settle ends a call of which all bytes have been taken.
func (e *Encoder) settle(final bool) error {
	if final {
		if err := e.flush(); err != nil {
			e.redo.taken = e.redo.total
			e.interrupted(true)
			return err
		}
	}
	e.interrupted(false)
	return nil
}

// emit takes a call's bytes: head, text or data, and as many zeros.
func emit[S string | []byte](e *Encoder, head []byte, body S, tail int, final bool) error {
	total := len(head) + len(body) + tail
	if e.held == 0 && e.isLong(total) {
		return emitLong(e, head, body, tail, final)
	}
	if err := e.hoard(total); err != nil {
		return err
	}
	b, err := e.room(total)
	if err != nil {
		return err
	}
	n := copy(b, head)
	n += copy(b[n:], body)
	n += copy(b[n:], zeros[:tail])
	return e.commit(n, final)
}

// isLong reports whether so many bytes do not go into the buffer as a whole: they
// do not fit, or they are so many that copying them there would not pay. A call
// that was interrupted in between is long once more.
func (e *Encoder) isLong(total int) bool {
	switch {
	case e.redo.pending:
		return e.redo.taken < e.redo.total || total > len(e.buf)
	case total < len(e.buf)/2:
		return false
	}
	return e.n == 0 || total > len(e.buf)-e.n
}

// emitLong is emit for what is long. The Writer may fail between any two bytes of
// it.
func emitLong[S string | []byte](e *Encoder, head []byte, body S, tail int, final bool) error {
	var first [16]byte
	n := copy(first[:], head)
	n += copy(first[n:], body)
	if err := e.again(len(head)+len(body)+tail, first[:min(n, 8)]); err != nil {
		return err
	}
	skip := e.redo.taken
	err := drain(e, head, &skip)
	if err == nil {
		err = drain(e, body, &skip)
	}
	if err == nil {
		err = drain(e, zeros[:tail], &skip)
	}
	if err != nil {
		e.interrupted(e.redo.taken > 0)
		return err
	}
	return e.settle(final)
}

// drain takes p but for the first skip bytes of it.
func drain[S string | []byte](e *Encoder, p S, skip *int) error {
	n := min(*skip, len(p))
	*skip -= n
	for n < len(p) {
		if b, ok := any(p).([]byte); ok && e.n == 0 && len(b)-n >= len(e.buf)/2 {
			m, err := e.write(b[n:])
			n += m
			e.redo.taken += m
			if err != nil {
				return err
			}
			continue
		}
		m := copy(e.buf[e.n:], p[n:])
		e.n += m
		n += m
		e.redo.taken += m
		if e.n == len(e.buf) {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}
