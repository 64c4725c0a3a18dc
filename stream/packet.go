package stream

import (
	"cmp"
	"io"
	"slices"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/checked"
)

// lengthSize is the size in bytes of a packet's length.
const lengthSize = 4

// maxPooled is the largest capacity of a packet's buffer kept in the pool.
const maxPooled = 64 << 10

const (
	// bufferSize is the size of a large read buffer. A packet that fits is read whole and decoded
	// in place; a longer packet is decoded while arriving.
	bufferSize = 16 << 10
	// smallSize is the size of the buffer for waiting. Most packets of games fit, so they need one
	// Read and no large buffer.
	smallSize = 256
)

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// A packet is a packet in memory: space for its length, then its content. Write appends to the
// content.
type packet struct {
	buf []byte
	out packetWriter
}

var packets = sync.Pool{New: func() any { return new(packet) }}

// newPacket returns a packet without content from the pool.
func newPacket() *packet {
	p := packets.Get().(*packet)
	p.buf = append(p.buf[:0], make([]byte, lengthSize)...)
	return p
}

// release returns p to the pool.
func (p *packet) release() {
	if cap(p.buf) > maxPooled {
		p.buf = nil
	}
	p.out = packetWriter{}
	packets.Put(p)
}

func (p *packet) Write(b []byte) (int, error) {
	p.buf = append(p.buf, b...)
	return len(b), nil
}

// readFrom reads r to its end into p, and calls arrived with the number of bytes read so far.
func (p *packet) readFrom(r io.Reader, arrived func(int) error) error {
	for {
		p.buf = slices.Grow(p.buf, smallSize)
		n, err := checked.Read(r, p.buf[len(p.buf):cap(p.buf)])
		p.buf = p.buf[:len(p.buf)+n]
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = arrived(len(p.content()))
		}
		if err != nil {
			return err
		}
	}
}

// content returns the bytes after the length.
func (p *packet) content() []byte { return p.buf[lengthSize:] }

// A packetWriter passes the content of a packet, up to max bytes, on to dst. After an error, Write
// writes nothing.
type packetWriter struct {
	dst       io.Writer
	size, max int64
	err       error
}

func (w *packetWriter) Write(b []byte) (n int, err error) {
	if w.err == nil {
		w.err = checkSize(w.size+int64(len(b)), w.max)
	}
	if w.err == nil {
		n, w.err = checked.Write(w.dst, b)
		w.size += int64(n)
	}
	return n, w.err
}

// encode returns a packet with the value written by write. The caller releases the packet.
func (c *config) encode(write func(*gdwire.Encoder) error) (*packet, error) {
	p := newPacket()
	p.out = packetWriter{dst: p, max: c.MaxPacket}
	if err := c.encodeTo(&p.out, write); err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

// encodeTo writes the output of write to w and returns an error unless the output is exactly one
// value.
func (c *config) encodeTo(w *packetWriter, write func(*gdwire.Encoder) error) error {
	e := c.encoders.Get().(*gdwire.Encoder)
	e.Reset(w)
	err := write(e)
	_, last, _ := e.StackIndex(0)
	// Also if write ignored them: an error of w, and the error of an Encoder closed by write.
	err = cmp.Or(err, w.err, e.Err())
	err = cmp.Or(err, e.Close())
	c.encoders.Put(e) // not after a panic of write
	if err != nil {
		return err
	}
	if last > 0 {
		return valueCount(last + 1)
	}
	if w.size == 0 {
		return valueCount(0)
	}
	return nil
}
