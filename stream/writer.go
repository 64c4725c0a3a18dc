package stream

import (
	"encoding/binary"
	"io"
	"sync"

	"github.com/gdwire/gdwire"
)

// A Writer writes packets behind their length. Any number of goroutines may use
// it.
//
// An error of the io.Writer is handed on as it is. If it left nothing of a packet
// behind, the call can be made again; if it came in the middle of one, there is
// no telling a reader, and every later call returns that error.
type Writer struct {
	maker
	order binary.ByteOrder
	// deadline, if it is set, is called before a packet is written.
	deadline func() error

	mu  sync.Mutex
	dst io.Writer
	err error
}

// NewWriter returns a Writer of packets to w. Options of nil are defaults.
func NewWriter(w io.Writer, o *Options) *Writer {
	p := &Writer{maker: maker{options: o.settle()}, order: binary.LittleEndian, dst: w}
	if p.options.BigEndianLength {
		p.order = binary.BigEndian
	}
	return p
}

// WritePacket writes a packet with the value that write writes: one, for engines
// see no second. It is put together in memory and goes out in one Write. If write
// fails nothing is written, and its error returned; if it left the value
// unfinished or wrote none it is a [gdwire.Error], beyond Options.MaxPacket a
// [PacketError].
//
// write has the Encoder to itself until it returns, while other goroutines write.
func (w *Writer) WritePacket(write func(*gdwire.Encoder) error) error {
	p, err := w.build(write)
	defer w.keep(p)
	if err != nil {
		return err
	}
	return w.send(p, nil)
}

// WriteRaw writes a packet of these bytes, which are one value encoded before:
// once for many connections, or what NextRaw returned. They are not looked at.
func (w *Writer) WriteRaw(packet []byte) error {
	var large []byte
	if len(packet) > maxKept {
		if err := tooLong(0, len(packet), w.options.MaxPacket); err != nil {
			return err
		}
		packet, large = packet[:bufferSize], packet[bufferSize:]
	}
	p, err := w.wrap(packet)
	defer w.keep(p)
	if err != nil {
		return err
	}
	return w.send(p, large)
}

// send writes the packet's length, what is in it, and the rest.
func (w *Writer) send(p *packet, rest []byte) error {
	w.order.PutUint32(p.buf, uint32(len(p.buf)-lengthSize+len(rest)))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.deadline != nil {
		if err := w.deadline(); err != nil {
			return err
		}
	}
	n, err := writeAll(w.dst, p.buf)
	if err == nil && len(rest) > 0 {
		_, err = writeAll(w.dst, rest)
	}
	if n > 0 {
		w.err = err
	}
	return err
}
