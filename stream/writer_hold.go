package stream

import (
	"fmt"
	"io"
	"sync/atomic"
)

// A held contains the packets held back by a Writer with Options.BufferWrites.
type held struct {
	buf     *[bufferSize]byte // from the pool buffers; nil if n is 0
	n       int
	packets int64
	lost    error // not yet returned by Close

	// waiting is set while the Conn waits for bytes: no packet is held back then. waiting is not
	// guarded by the lock of the Writer, because this lock is held during a Write, and reading
	// waits for no Write.
	waiting atomic.Bool
}

// hold holds a packet back, after writing others if there is no room, and returns false if the
// packet is too large. w is locked.
func (w *Writer) hold(p *packet, rest []byte) (bool, error) {
	h := &w.held
	if err := w.ended(); err != nil { // Close writes the packets held back; later none are held back
		return false, err
	}
	if h.waiting.Load() {
		return false, w.flush()
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

// Flush writes the packets held back because of Options.BufferWrites. If a timeout occurs before
// any of their bytes is written, Flush can be called again.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.unlock()
	if err := w.ended(); err != nil {
		return err
	}
	return w.flush()
}

// flush writes the packets held back. w is locked.
func (w *Writer) flush() error {
	h := &w.held
	if w.err != nil || h.n == 0 {
		return w.err
	}
	n, err := w.write(h.buf[:h.n], nil, h.packets)
	if n > 0 || w.err != nil {
		w.release()
	}
	return err
}

// release returns the buffer of packets held back to the pool.
func (w *Writer) release() {
	if w.held.buf != nil {
		buffers.Put(w.held.buf)
	}
	w.held.buf, w.held.n, w.held.packets = nil, 0, 0
}

// startWait is called before the Conn waits for bytes. Until endWait is called, no packet is held back: the
// wait may be long. A goroutine writes packets held back, as the other side may read only after the Conn
// reads. If another goroutine is writing, the other goroutine writes them: see unlock.
func (w *Writer) startWait() error {
	w.held.waiting.Store(true)
	if !w.mu.TryLock() {
		return nil
	}
	if w.held.n > 0 && w.err == nil {
		go w.flushAndUnlock()
		return nil
	}
	defer w.mu.Unlock()
	return w.err
}

// unlock unlocks w after a packet was written or held back.
func (w *Writer) unlock() {
	w.mu.Unlock()
	if w.held.waiting.Load() && w.mu.TryLock() { // startWait may have found w locked
		w.flushAndUnlock()
	}
}

// flushAndUnlock writes the packets held back before startWait.
func (w *Writer) flushAndUnlock() {
	var err error
	if w.held.n > 0 {
		err = w.flush()
	}
	if err != nil && w.held.n == 0 {
		w.held.lost = lostPackets(err) // Close can come before Next returns err
	}
	w.mu.Unlock()
	if err != nil {
		w.flushFailed(err)
	}
}

// endWait ends the effect of startWait.
func (w *Writer) endWait() { w.held.waiting.Store(false) }

// flushNow writes packets to dst before the connection is closed, after the packets being written by
// another goroutine. limit sets the deadline for both. flushNow returns an error if packets are
// lost.
func (w *Writer) flushNow(dst io.Writer, limit func() error) error {
	if !w.holds() {
		return nil
	}
	_ = limit()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deadline = limit
	if w.held.n == 0 {
		return nil
	}
	dst, w.dst = w.dst, dst
	err := w.flush()
	w.dst = dst
	w.release()
	if err == nil {
		return nil
	}
	if w.err != nil {
		w.err = w.ended() // is the error of later calls
	}
	return lostPackets(err)
}

// discard drops packets after the connection was closed because of its context.
func (w *Writer) discard() {
	if !w.holds() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held.n > 0 {
		w.held.lost = lostPackets(w.ended())
		w.release()
	}
}

// takeLost calls discard and returns, once, the error of the dropped packets.
func (w *Writer) takeLost() error {
	if !w.holds() {
		return nil
	}
	w.discard()
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.held.lost
	w.held.lost = nil
	return err
}

// holds reports whether packets are held back.
func (w *Writer) holds() bool { return w.config.BufferWrites && w.message == nil }

// lostPackets returns the error of Close for packets not written because of err.
func lostPackets(err error) error {
	return fmt.Errorf("gdwire/stream: packets that were held back are lost: %w", err)
}
