package stream

import (
	"context"
	"io"
	"net"
	"os"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
)

// maxDatagram is the size in bytes of the longest datagram that a PacketConn reads. UDP permits no
// more.
const maxDatagram = 64 << 10

// A PacketConn reads and writes datagrams. Each datagram is one packet without a
// length, as with PacketPeerUDP. One goroutine may read while any number write.
//
// After an error that concerns one datagram or one peer, the next call continues with others; see
// [Skippable]. These errors are a [gdwire.Error], a [PacketTooLongError] and a [PeerError]. Next
// returns a PeerError for a peer not reached by an earlier datagram. The methods of a [Peer] return
// a PeerError for a datagram not sent by the system, because the port is 0, the datagram is longer
// than UDP permits (65,507 bytes with IPv4), or there is no route. Timeouts and the errors of a
// closed connection concern all peers.
//
// variant.Receive decodes the next datagram, and variant.Send sends one:
//
//	err := variant.Receive(c, &m)
//	if err == nil {
//		err = variant.Send(c.To(c.From()), m.answer())
//	}
//
// Options.IdleTimeout limits the waiting time of Next.
type PacketConn struct {
	lifetime
	config *config
	conn   net.PacketConn
	dec    *gdwire.Decoder
	buf    []byte
	size   int
	from   net.Addr
}

// NewPacketConn returns a PacketConn over conn and becomes its owner. When ctx is done, the
// connection is closed and calls return ctx's cause. A nil o selects the zero Options.
func NewPacketConn(ctx context.Context, conn net.PacketConn, o *Options) *PacketConn {
	s := newConfig(o)
	s.MaxPacket = min(s.MaxPacket, maxDatagram)
	c := &PacketConn{config: s, conn: conn, dec: gdwire.NewDecoder(nil, &s.Decoder)}
	c.dec.Release()
	c.watch(ctx, conn.Close, conn.Close)
	return c
}

// Next returns a Decoder of the next datagram. An error about one datagram is a [gdwire.Error] for
// an empty datagram, a [PacketTooLongError] for a datagram longer than Options.MaxPacket or 64 KiB,
// or a [PeerError].
//
// The PacketConn owns the Decoder. The Decoder must not be Reset or Released and is valid, like its
// tokens, until the next call of Next. Before the first read, UnreadBuffer returns the whole
// datagram.
func (c *PacketConn) Next() (*gdwire.Decoder, error) {
	c.dec.Release()
	c.size, c.from = 0, nil
	if err := c.ended(); err != nil {
		return nil, err
	}
	if c.buf == nil {
		c.buf = make([]byte, maxDatagram+1)
	}
	if d := c.config.IdleTimeout; d > 0 {
		if err := c.setDeadline(c.conn.SetReadDeadline, time.Now(), d); err != nil {
			return nil, err
		}
	}
	n, from, err := c.conn.ReadFrom(c.buf)
	c.from = from
	if n < 0 || n > len(c.buf) {
		return nil, checked.ErrRead
	}
	if err != nil {
		return nil, c.readError(from, err)
	}
	if n == 0 {
		return nil, emptyPacket()
	}
	if err := checkSize(int64(n), c.config.MaxPacket); err != nil {
		return nil, err
	}
	c.size = n
	c.dec.ResetBytes(c.buf[:n:n])
	return c.dec, nil
}

// From returns the address of the sender of the latest datagram, or of the peer concerned by the latest
// error of Next. It returns nil if there is none or the system does not tell the address.
func (c *PacketConn) From() net.Addr { return c.from }

// Trailing returns the number of bytes after the value in the latest datagram, once the value is
// read to the end, and 0 before. Engines ignore such bytes.
func (c *PacketConn) Trailing() int64 {
	return trailing(c.dec, int64(c.size)) // 0 after an error, because the size is 0
}

// readError returns the error of receiving a datagram.
func (c *PacketConn) readError(from net.Addr, err error) error {
	if cause := c.ended(); cause != nil {
		return cause
	}
	if isAny(err, peerErrors...) {
		return &PeerError{Addr: from, Err: err}
	}
	return err
}

// To returns the peer with this address.
func (c *PacketConn) To(addr net.Addr) Peer { return Peer{c, addr} }

// A Peer receives datagrams of a [PacketConn].
type Peer struct {
	conn *PacketConn
	addr net.Addr
}

// WritePacket sends a datagram with the value written by write; see [Writer.WritePacket].
func (p Peer) WritePacket(write func(*gdwire.Encoder) error) error {
	if err := p.conn.ended(); err != nil {
		return err
	}
	packet, err := p.conn.config.encode(write)
	if err != nil {
		return err
	}
	defer packet.release()
	return p.conn.send(packet.content(), p.addr)
}

// WriteRaw sends a datagram with these bytes, an encoded value, without checking them.
func (p Peer) WriteRaw(packet []byte) error {
	if err := p.conn.ended(); err != nil {
		return err
	}
	if err := checkPacket(packet, p.conn.config.MaxPacket); err != nil {
		return err
	}
	return p.conn.send(packet, p.addr)
}

// send sends a datagram within WriteTimeout.
func (c *PacketConn) send(b []byte, to net.Addr) error {
	if d := c.config.WriteTimeout; d > 0 {
		if err := c.setDeadline(c.conn.SetWriteDeadline, time.Now(), d); err != nil {
			return err
		}
	}
	n, err := c.conn.WriteTo(b, to)
	if err == nil && n != len(b) {
		err = io.ErrShortWrite
	}
	return c.writeError(to, err)
}

// writeError returns the error of sending a datagram to a peer. Errors that concern all peers are
// not wrapped: a closed or connected socket and a timeout.
func (c *PacketConn) writeError(to net.Addr, err error) error {
	if err == nil {
		return nil
	}
	if cause := c.ended(); cause != nil {
		return cause
	}
	if isAny(err, net.ErrClosed, os.ErrDeadlineExceeded, context.Canceled, net.ErrWriteToConnected) {
		return err
	}
	return &PeerError{Addr: to, Err: err}
}
