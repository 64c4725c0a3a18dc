package stream

import (
	"context"
	"net"

	"github.com/gdwire/gdwire"
)

// maxDatagram is the longest datagram that a PacketConn reads. UDP has none that
// is longer.
const maxDatagram = 64 << 10

// A PacketConn reads and writes datagrams, each of which is one packet without a
// length, as PacketPeerUDP has them. One goroutine may read, while any number
// write.
//
// A [gdwire.Error] spoils one datagram, and ReadPacket goes on to the next; see
// [Skippable]. Options.IdleTimeout bounds how long ReadPacket
// waits for a datagram.
type PacketConn struct {
	maker
	lifetime
	conn net.PacketConn
	dec  *gdwire.Decoder
	buf  []byte
	size int
}

// NewPacketConn returns a PacketConn over conn, whose owner it becomes. It is
// closed when ctx is done, and calls return ctx's cause then. Options of nil are
// defaults.
func NewPacketConn(ctx context.Context, conn net.PacketConn, o *Options) *PacketConn {
	s := o.settle()
	s.MaxPacket = min(s.MaxPacket, maxDatagram)
	c := &PacketConn{maker: maker{options: s}, conn: conn, dec: gdwire.NewDecoder(nil, &s.Decoder)}
	c.dec.Release()
	c.live(ctx, conn.Close)
	return c
}

// ReadPacket returns a Decoder of the next datagram, and who sent it, also of one
// that is an error: empty a [gdwire.Error], longer than Options.MaxPacket or
// 64 KiB one with a [PacketError] in it. The Decoder belongs to the PacketConn, and it and its
// tokens are void at the next ReadPacket; do not Reset or Release it. Until
// something is read from it, its Buffered is the whole datagram.
func (c *PacketConn) ReadPacket() (*gdwire.Decoder, net.Addr, error) {
	c.dec.Release()
	c.size = 0
	if c.buf == nil {
		c.buf = make([]byte, maxDatagram+1)
	}
	if d := c.options.IdleTimeout; d > 0 {
		if err := c.set(c.conn.SetReadDeadline, d); err != nil {
			return nil, nil, err
		}
	}
	n, from, err := c.conn.ReadFrom(c.buf)
	switch most := c.options.MaxPacket; {
	case err != nil:
		return nil, from, c.why(err)
	case n == 0:
		return nil, from, emptyPacket()
	case int64(n) > most:
		return nil, from, &gdwire.Error{Path: "$", Err: &PacketError{Size: int64(n), Max: most}}
	}
	c.size = n
	c.dec.ResetBytes(c.buf[:n:n])
	return c.dec, from, nil
}

// Trailing returns how many bytes stand in the datagram behind its value, once
// that has been read to its end.
func (c *PacketConn) Trailing() int64 {
	if c.size == 0 {
		return 0
	}
	return trailing(c.dec, int64(c.size))
}

// WritePacketTo sends a datagram with the value that write writes; see
// [Writer.WritePacket].
func (c *PacketConn) WritePacketTo(to net.Addr, write func(*gdwire.Encoder) error) error {
	p, err := c.build(write)
	defer c.keep(p)
	if err != nil {
		return err
	}
	return c.send(p.buf[lengthSize:], to)
}

// WriteRawTo sends a datagram of these bytes, which are one value encoded before.
// They are not looked at.
func (c *PacketConn) WriteRawTo(to net.Addr, packet []byte) error {
	if len(packet) == 0 {
		return noValue()
	}
	if err := tooLong(0, len(packet), c.options.MaxPacket); err != nil {
		return err
	}
	return c.send(packet, to)
}

func (c *PacketConn) send(b []byte, to net.Addr) error {
	if d := c.options.WriteTimeout; d > 0 {
		if err := c.set(c.conn.SetWriteDeadline, d); err != nil {
			return err
		}
	}
	_, err := c.conn.WriteTo(b, to)
	return c.why(err)
}
