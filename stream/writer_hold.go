package stream

import "github.com/gdwire/gdwire/internal/checked"

// A held contains the packets that a Writer holds back with Options.BufferWrites.
type held struct {
	buf         *[bufferSize]byte // from the pool buffers; nil if n is 0
	n           int
	packets     int64
	passThrough bool // packets are not held back, because the Conn waits for bytes
}

// hold holds a packet back, after writing others if there is no room. It returns false
// if the packet is too large. w is locked.
func (w *Writer) hold(p *packet, rest []byte) (bool, error) {
	h := &w.held
	if w.ended != nil { // Close writes what is held: nothing is held after it
		if err := w.ended(); err != nil {
			return false, err
		}
	}
	if h.n+len(p.buf)+len(rest) > bufferSize {
		if err := w.flush(); err != nil {
			return false, err
		}
		if len(p.buf)+len(rest) > bufferSize {
			return false, nil
		}
	}
	if h.buf == nil {
		h.buf = buffers.Get().(*[bufferSize]byte)
	}
	h.n += copy(h.buf[h.n:], p.buf)
	h.packets++
	return true, nil
}

// Flush writes the packets that were held back because of Options.BufferWrites. If a
// timeout occurs before any of their bytes is written, Flush can be called again.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

// flush writes the packets that were held back. w is locked.
func (w *Writer) flush() error {
	h := &w.held
	if w.err != nil || h.n == 0 {
		return w.err
	}
	if err := w.setWriteDeadline(); err != nil {
		return err
	}
	n, err := checked.Write(w.dst, h.buf[:h.n])
	w.countWritten(n, h.packets, err)
	if n > 0 || w.err != nil {
		w.release()
	}
	return err
}

// release returns the buffer of packets that were held back to its pool.
func (w *Writer) release() {
	if w.held.buf != nil {
		buffers.Put(w.held.buf)
	}
	w.held.buf, w.held.n, w.held.packets = nil, 0, 0
}

// flushAndWait writes packets before the Conn waits for bytes. Until endWait is called,
// no packet is held back: the wait may be long.
func (w *Writer) flushAndWait() error {
	if !w.config.BufferWrites {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.flush()
	w.held.passThrough = err == nil
	return err
}

// endWait ends the effect of flushAndWait.
func (w *Writer) endWait() {
	if w.config.BufferWrites {
		w.mu.Lock()
		w.held.passThrough = false
		w.mu.Unlock()
	}
}

// flushNow writes packets before the connection is closed, after those that another goroutine is
// writing. limit sets the deadline for both.
func (w *Writer) flushNow(limit func() error) {
	if !w.config.BufferWrites {
		return
	}
	_ = limit()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deadline = limit
	_ = w.flush()
	w.release()
}
