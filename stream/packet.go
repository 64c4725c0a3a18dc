package stream

import (
	"fmt"
	"io"
	"sync"

	"github.com/gdwire/gdwire"
)

// A maker makes packets, in buffers that it keeps for the next ones.
type maker struct {
	options Options
	idle    sync.Pool // of *packet
}

// A packet is one that is being made: room for a length, and what its Encoder
// let out.
type packet struct {
	enc *gdwire.Encoder
	buf []byte
	max int64
}

// lengthSize is what the length in front of a packet takes.
const lengthSize = 4

// maxKept is the largest buffer that is kept for the next packet.
const maxKept = 64 << 10

// build returns a packet with the value that write writes. It has to go back by
// keep, also after an error.
func (m *maker) build(write func(*gdwire.Encoder) error) (*packet, error) {
	p := m.empty()
	p.enc.Reset(p)
	err := encode(p.enc, write)
	if err == nil && len(p.buf) == lengthSize {
		err = noValue()
	}
	return p, err
}

// wrap returns a packet of these bytes.
func (m *maker) wrap(b []byte) (*packet, error) {
	p := m.empty()
	if len(b) == 0 {
		return p, noValue()
	}
	_, err := p.Write(b)
	return p, err
}

func (m *maker) empty() *packet {
	p, ok := m.idle.Get().(*packet)
	if !ok {
		p = &packet{enc: gdwire.NewEncoder(nil, &m.options.Encoder), max: m.options.MaxPacket}
	}
	p.buf = append(p.buf[:0], make([]byte, lengthSize)...)
	return p
}

func (m *maker) keep(p *packet) {
	p.enc.Release()
	if cap(p.buf) > maxKept {
		p.buf = nil
	}
	m.idle.Put(p)
}

// Write takes what the Encoder lets out.
func (p *packet) Write(b []byte) (int, error) {
	if err := tooLong(int64(len(p.buf)-lengthSize), len(b), p.max); err != nil {
		return 0, err
	}
	p.buf = append(p.buf, b...)
	return len(b), nil
}

// encode calls write for a whole value.
func encode(e *gdwire.Encoder, write func(*gdwire.Encoder) error) error {
	if err := write(e); err != nil {
		return err
	}
	return e.Close()
}

// tooLong returns a PacketError if n bytes behind the first size are too many.
func tooLong(size int64, n int, most int64) error {
	if size += int64(n); size > most {
		return &PacketError{Size: size, Max: most}
	}
	return nil
}

// noValue is the error of writing a packet with nothing in it.
func noValue() error {
	return &gdwire.Error{Path: "$", Err: fmt.Errorf("%w: packet without a value", gdwire.ErrCount)}
}

// writeAll is w's Write, which is not trusted.
func writeAll(w io.Writer, b []byte) (int, error) {
	n, err := w.Write(b)
	if n < 0 || n > len(b) {
		return 0, errBadWrite
	}
	if n < len(b) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}
