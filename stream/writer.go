package stream

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
)

// The Writer of packets, what it holds back, and messages passed through.

// A Writer writes length-prefixed packets. Several goroutines can use it at the same time.
//
// Errors of the io.Writer are returned unchanged. If no byte of a packet was written, the
// call can be repeated. If a part was written, a reader could not find the next packet, and
// all later calls return the same error, or [ErrBroken] after a timeout.
//
// With Options.BufferWrites, a Writer holds packets back, up to 16 KiB, until Flush is called.
type Writer struct {
	config atomic.Pointer[config]
	order  binary.ByteOrder
	// deadline is called before a packet is written.
	deadline func() error
	// written, if set, is called after a packet was written.
	written func()
	// messages, if set, writes the contents of packets instead of dst, one at a time if alone is set.
	messages func(contents [][]byte) error
	alone    bool
	one      [1][]byte // for messages
	// ended returns why no packet can be written, or nil.
	ended func() error
	// flushFailed is called with the error of writing packets held back, if no call of the Writer
	// can return this error.
	flushFailed func(error)
	// final is set if every error of dst stays, because dst repeats the error, as a tls.Conn does.
	final bool

	mu    sync.Mutex
	dst   io.Writer
	err   error
	held  held
	stats atomic.Pointer[counters] // of the Server, or nil if there is none
	// The numbers of packets and bytes written, atomic, because Conn.Stats does not wait for a
	// Write.
	packets, bytes atomic.Int64
}

// NewWriter returns a Writer that writes packets to w. A nil o selects the zero Options.
func NewWriter(w io.Writer, o *Options) *Writer {
	return newWriter(w, newConfig(o))
}

func newWriter(w io.Writer, c *config) *Writer {
	none := func() error { return nil }
	p := &Writer{order: c.order(), dst: w, deadline: none, ended: none}
	p.config.Store(c)
	return p
}

// WritePacket writes a packet with the value written by write. The packet is encoded in memory and
// written with one Write.
//
// If write returns an error, WritePacket returns this error and writes nothing. WritePacket also
// writes nothing, and returns a [gdwire.Error], if write ignored an error of the Encoder, left the
// value incomplete, or wrote no value or several, because engines read one value of a packet.
// Beyond Options.MaxPacket, the error is a [PacketTooLongError].
//
// The Encoder belongs to write until write returns. write must not close the Encoder; otherwise
// WritePacket returns [gdwire.ErrClosed] and writes nothing. Other goroutines can write packets
// meanwhile.
func (w *Writer) WritePacket(write func(*gdwire.Encoder) error) error {
	if err := w.ended(); err != nil {
		return err
	}
	p, err := w.config.Load().encode(write)
	if err != nil {
		return err
	}
	defer p.release()
	return w.send(p, nil)
}

// WriteRaw writes a packet with these bytes, an encoded value, for example to send it to many
// connections, or to forward a packet of NextRaw. The bytes are not checked, but an empty packet
// contains no value and is a [gdwire.Error].
func (w *Writer) WriteRaw(packet []byte) error {
	if err := w.ended(); err != nil {
		return err
	}
	if err := checkPacket(packet, w.config.Load().MaxPacket); err != nil {
		return err
	}
	// The length and the first bytes are written at once; a large rest is not copied.
	var rest []byte
	if len(packet) > maxPooled {
		packet, rest = packet[:bufferSize], packet[bufferSize:]
	}
	p := newPacket()
	defer p.release()
	p.buf = append(p.buf, packet...)
	return w.send(p, rest)
}

// send writes the length and content of p, then rest, the continuation of the content.
func (w *Writer) send(p *packet, rest []byte) error {
	w.order.PutUint32(p.buf, uint32(len(p.content())+len(rest)))
	w.mu.Lock()
	defer w.unlock()
	if w.err != nil {
		return cmp.Or(w.ended(), w.err)
	}
	if w.messages != nil {
		p.buf = append(p.buf, rest...)
		w.one[0] = p.content()
		return w.writeMessages(w.one[:], len(p.content()))
	}
	if w.holds() {
		if held, err := w.hold(p, rest); held || err != nil {
			return err
		}
	}
	_, err := w.write(p.buf, rest, 1)
	return err
}

// write writes b and rest, the bytes of packets, to dst. w is locked.
func (w *Writer) write(b, rest []byte, packets int64) (n int, err error) {
	if err := w.deadline(); err != nil {
		return 0, err
	}
	n, err = checked.Write(w.dst, b)
	if err == nil && len(rest) > 0 {
		var more int
		more, err = checked.Write(w.dst, rest)
		n += more
	}
	if w.written != nil {
		w.written()
	}
	w.countWritten(n, packets, err)
	return n, err
}

// writeMessages writes the contents of packets, of n bytes together. w is locked.
func (w *Writer) writeMessages(contents [][]byte, n int) error {
	err := w.messages(contents)
	w.countWritten(n, int64(len(contents)), err)
	clear(w.one[:])
	return err
}

// writeAll writes a packet, or several short packets with one Write, after the packets held back.
func (w *Writer) writeAll(packets [][]byte) error {
	if len(packets) == 1 {
		err := w.WriteRaw(packets[0])
		if err == nil && w.holds() {
			err = w.Flush()
		}
		return err
	}
	if w.messages != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.err != nil {
			return cmp.Or(w.ended(), w.err)
		}
		n := 0
		for _, b := range packets {
			n += len(b)
		}
		return w.writeMessages(packets, n)
	}
	p := newPacket()
	defer p.release()
	p.buf = p.buf[:0]
	for _, b := range packets {
		at := len(p.buf)
		p.buf = append(append(p.buf, 0, 0, 0, 0), b...)
		w.order.PutUint32(p.buf[at:], uint32(len(b)))
	}
	w.mu.Lock()
	defer w.unlock()
	if err := w.flush(); err != nil {
		return err
	}
	_, err := w.write(p.buf, nil, int64(len(packets)))
	return err
}

// countWritten counts packets after n of their bytes were written. If a part was written before
// an error, or if no error of dst can be repeated, the error stays.
func (w *Writer) countWritten(n int, packets int64, err error) {
	if err != nil {
		if n > 0 || w.final {
			w.err = stickyError(err)
		}
		return
	}
	w.packets.Add(packets)
	w.bytes.Add(int64(n))
	if s := w.stats.Load(); s != nil {
		s.packetsOut.Add(packets)
		s.bytesOut.Add(int64(n))
	}
}

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
func (w *Writer) holds() bool { return w.config.Load().BufferWrites && w.messages == nil }

// lostPackets returns the error of Close for packets not written because of err.
func lostPackets(err error) error {
	return fmt.Errorf("gdwire/stream: packets that were held back are lost: %w", err)
}

// ErrNotSeekable is returned by WriteThrough if the io.Writer cannot seek, or is a file opened with
// os.O_APPEND, because every Write to such a file goes to the end.
var ErrNotSeekable = errors.New("gdwire/stream: writer cannot seek")

// WriteThrough writes a packet that is too large for memory. The io.Writer must be an
// [io.WriteSeeker]. The output of write is appended at the end, and the length is set when write
// returns. Until then the length is 0xFFFFFFFF, accepted by no Reader: a crash is noticed.
// Options.MaxPacket applies: with -1 packets can have up to 4 GiB. Engines read up to 2 GiB.
//
// If WriteThrough fails, or write panics, the packet is removed with the method Truncate(int64)
// error of the io.Writer. If that fails or there is no such method, every later call returns an
// error that says so.
//
// Other calls wait until WriteThrough returns, so write must not make any.
func (w *Writer) WriteThrough(write func(*gdwire.Encoder) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	s, ok := w.dst.(io.WriteSeeker)
	if !ok || w.messages != nil {
		return ErrNotSeekable
	}
	start, err := s.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSeekable, err)
	}
	done := false
	defer func() {
		if done {
			return
		}
		if err := truncate(s, start); err != nil {
			w.err = fmt.Errorf("gdwire/stream: an unfinished packet remains: %w", err)
		}
	}()
	err = w.writeThrough(s, start, write)
	done = err == nil
	return err
}

// writeThrough writes a packet at start, the end of s.
func (w *Writer) writeThrough(s io.WriteSeeker, start int64, write func(*gdwire.Encoder) error) error {
	if err := w.writeLength(s, unfinished); err != nil {
		return err
	}
	content := &packetWriter{dst: s, max: w.config.Load().MaxPacket}
	if err := w.config.Load().encodeTo(content, write); err != nil {
		return err
	}
	if _, err := s.Seek(start, io.SeekStart); err != nil {
		return err
	}
	if err := w.writeLength(s, uint32(content.size)); err != nil {
		return err
	}
	if offset, err := s.Seek(0, io.SeekCurrent); err != nil || offset != start+lengthSize {
		return errors.Join(ErrNotSeekable, err)
	}
	_, err := s.Seek(content.size, io.SeekCurrent)
	return err
}

func (w *Writer) writeLength(s io.Writer, n uint32) error {
	var b [lengthSize]byte
	w.order.PutUint32(b[:], n)
	_, err := checked.Write(s, b[:])
	return err
}

// truncate removes the bytes from offset end on from s, and seeks there.
func truncate(s io.Seeker, end int64) error {
	t, ok := s.(interface{ Truncate(size int64) error })
	if !ok {
		return ErrNotSeekable
	}
	if err := t.Truncate(end); err != nil {
		return err
	}
	_, err := s.Seek(end, io.SeekStart)
	return err
}
