package stream

import (
	"cmp"
	"encoding/binary"
	"io"
	"sync"
	"sync/atomic"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/checked"
)

// A Writer writes length-prefixed packets. Several goroutines can use it at the same time.
//
// Errors of the io.Writer are returned unchanged. If no byte of a packet was written, the
// call can be repeated. If a part was written, a reader could not find the next packet, and
// all later calls return the same error, or [ErrBroken] after a timeout.
//
// With Options.BufferWrites, a Writer holds packets back, up to 16 KiB, until Flush is called.
type Writer struct {
	config *config
	order  binary.ByteOrder
	// deadline is called before a packet is written.
	deadline func() error
	// written, if set, is called after a packet was written.
	written func()
	// message, if set, writes the content of a packet instead of dst.
	message func(content []byte) error
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
	return &Writer{config: c, order: c.order(), dst: w, deadline: none, ended: none}
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
	p, err := w.config.encode(write)
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
	if err := checkPacket(packet, w.config.MaxPacket); err != nil {
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
	if w.message != nil {
		p.buf = append(p.buf, rest...)
		err := w.message(p.content())
		w.countWritten(len(p.content()), 1, err)
		return err
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

// writeAll writes a packet, or several short packets with one Write if they are no messages, after the packets held
// back.
func (w *Writer) writeAll(packets [][]byte) error {
	if len(packets) == 1 {
		err := w.WriteRaw(packets[0])
		if err == nil && w.holds() {
			err = w.Flush()
		}
		return err
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
