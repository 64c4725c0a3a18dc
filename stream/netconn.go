package stream

import (
	"cmp"
	"context"
	"io"
	"net"
	"time"

	"github.com/gdwire/gdwire"
)

// The packets of a Conn, and its connection.

// Next returns a Decoder of the next packet, as [Reader.Next] does. After Close, Next returns
// [net.ErrClosed], and after the context is done the cause of the context, even if packets arrived
// before. After [Server.Shutdown], Next returns at most one packet, if the first byte of the packet
// arrived before, then [ErrServerClosed].
func (c *Conn) Next() (*gdwire.Decoder, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if err := c.ready(); err != nil {
		return nil, err
	}
	d, err := c.reader.Next()
	if err = c.packetRead(err); err == ErrPacketRate {
		c.reader.dec.Release()
		return nil, err
	}
	return d, err
}

// NextRaw appends the bytes of the next packet to dst, as [Reader.NextRaw] does, and returns the
// errors of [Conn.Next].
func (c *Conn) NextRaw(dst []byte) ([]byte, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if err := c.ready(); err != nil {
		return dst, err
	}
	dst, err := c.reader.NextRaw(dst)
	return dst, c.packetRead(err)
}

// packetRead takes a token for a packet just read, valid or with an error of its own, and notes the
// time for PacketHandled. It returns err, or ErrPacketRate without a token.
func (c *Conn) packetRead(err error) error {
	c.last = c.draining.Load()
	if err != nil && !Skippable(err) {
		return err
	}
	if c.tooFast = c.tooFast || c.rate != nil && !c.rate.take(1); c.tooFast {
		return ErrPacketRate
	}
	if c.handled != nil {
		c.readAt = time.Now()
	}
	return err
}

// ready returns an error if there is no next packet.
func (c *Conn) ready() error {
	c.packetHandled()
	err := c.ended()
	if err == nil && c.draining.Load() && (c.last || !c.reader.begun()) {
		err = ErrServerClosed
	}
	if err == nil && c.tooFast {
		err = ErrPacketRate
	}
	if err != nil {
		c.reader.countInvalid()
		c.reader.state = stateDone // an error of the handler does not count the packet again
		c.reader.dec.Release()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.count() // also after finish, for a goroutine that outlives the handler
		return err
	}
	c.armed = 0
	if config := c.config.Load(); config != c.reader.config { // of SetLimits
		if config.rate != c.reader.config.rate {
			c.rate = newBucket(config.rate)
		}
		if config.bytes != c.reader.config.bytes {
			c.meter.set(config)
		}
		c.reader.config = config
	}
	return nil
}

// SetLimits changes limits of c from the next packet on: what Next already waits for keeps its limits. A [Server]
// begins with those for strangers, and a handler permits more to a client that logged in:
//
//	s := &stream.Server{Handler: handle, PacketRate: 5, Options: stream.Options{MaxPacket: 1 << 10, IdleTimeout: 5 * time.Second}}
//	…
//	c.SetLimits(stream.ConnLimits{MaxPacket: 256 << 10, PacketRate: 60, IdleTimeout: time.Minute}) // after the login
//
// A [Room] uses the MaxPacket of when c joined. Any goroutine can call SetLimits.
func (c *Conn) SetLimits(l ConnLimits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	config := c.config.Load().with(l)
	c.config.Store(config)
	c.writer.config.Store(config)
}

// CloseRead discards all packets from now on, in a goroutine of its own, for handlers that only
// write. The returned context is done when the other side closes the connection, with the cause
// io.EOF, after [Server.Shutdown], with the cause [ErrServerClosed], or when Next fails for any
// other reason. IdleTimeout no longer applies. Nothing else may read then, and CloseRead must not
// be called again.
func (c *Conn) CloseRead(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	c.endless = true
	c.mu.Unlock()
	c.discarded = make(chan struct{})
	go func() {
		defer close(c.discarded)
		defer func() {
			if !c.served.Load() {
				return
			}
			if c.panicked = panicked(recover(), nil); c.panicked != nil { // PacketHandled, for example
				c.cause.Store(&c.panicked)
				cancel(c.panicked)
			}
		}()
		for {
			if _, err := c.Next(); err != nil && !Skippable(err) {
				end := err // allocated here, not for each packet
				c.cause.Store(&end)
				cancel(err)
				return
			}
		}
	}()
	return ctx
}

// WritePacket writes a packet with the value written by write, as [Writer.WritePacket] does.
func (c *Conn) WritePacket(write func(*gdwire.Encoder) error) error {
	return c.writer.WritePacket(write)
}

// WriteRaw writes a packet with these bytes, an encoded value, as [Writer.WriteRaw] does, without
// checking them. An empty packet is an error.
func (c *Conn) WriteRaw(packet []byte) error { return c.writer.WriteRaw(packet) }

// Flush writes the packets held back because of Options.BufferWrites. If a timeout occurs before
// any of their bytes is written, Flush can be called again. After Close, Flush returns
// [net.ErrClosed], and after the context is done the cause of the context.
func (c *Conn) Flush() error { return c.writer.Flush() }

// Close closes the connection. Calls under way, and later calls, return [net.ErrClosed]. Packets held
// back because of Options.BufferWrites are written before, within a second; Close returns an error if
// they are lost. Closing again does nothing.
func (c *Conn) Close() error {
	if err := c.lifetime.Close(); err != nil {
		return err
	}
	return c.writer.takeLost()
}

// CloseWithCode closes the connection. Over a WebSocket the close frame contains this status code,
// from 1000 to 1003, 1007 to 1014 or 3000 to 4999, otherwise [CloseInternalError], and a reason, cut
// after 123 bytes, with U+FFFD in the place of invalid UTF-8. Other connections ignore both.
func (c *Conn) CloseWithCode(code int, reason string) error {
	c.setEnd(code, reason)
	return c.Close()
}

// setEnd sets the close frame for Close.
func (c *Conn) setEnd(code int, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end = newCloseFrame(code, reason)
}

// closeFor closes the connection because of err, the error of later calls, with the close frame for a
// handler that returned err.
func (c *Conn) closeFor(err error) {
	c.setEnd(closeCode(err, c.faults.of(err)))
	_ = c.lifetime.closeFor(err)
}

// closeTimeout is how long Close waits for the other side: to accept packets held back, and to
// answer the close frame of a WebSocket.
const closeTimeout = time.Second

// lingerTimeout is the time for which a Server discards input before closing a connection. A TCP
// connection closed with unread input, or receiving more, is reset, and the other side loses bytes not
// read yet. A Server therefore closes in two steps, as net/http does: Close ends writing, and after
// the handler the Server's goroutine discards input, until the other side closes, or for
// lingerTimeout.
const lingerTimeout = 500 * time.Millisecond

// A halfCloser is a connection that can be closed for writing alone.
type halfCloser interface{ CloseWrite() error }

// closeWrite ends writing and interrupts reads. It returns false if the connection must be closed at
// once, because closing in two steps is impossible, or because a packet is being written or was
// written in part.
func (c *Conn) closeWrite() bool {
	conn, ok := c.conn.(halfCloser)
	if !ok || c.handshake.isPending() || !c.writer.mu.TryLock() {
		return false
	}
	defer c.writer.mu.Unlock()
	defer closeAfter(c.conn, notifyTimeout)()
	if c.writer.err != nil || conn.CloseWrite() != nil {
		return false
	}
	if under := transport(c.conn); under != c.conn { // the end of TLS is not the end of the stream
		if conn, ok := under.(halfCloser); !ok || conn.CloseWrite() != nil {
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.half = !c.hurried
	return c.half && c.conn.SetReadDeadline(aLongTimeAgo) == nil
}

// transport returns the connection under TLS, or conn.
func transport(conn net.Conn) net.Conn {
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		return t.NetConn()
	}
	return conn
}

// notifyTimeout is the time for writing the close_notify of TLS. A tls.Conn waits for five seconds
// if the other side does not read.
const notifyTimeout = 50 * time.Millisecond

// closeAfter closes the connection under TLS after d, unless stop is called before.
func closeAfter(conn net.Conn, d time.Duration) (stop func()) {
	under := transport(conn)
	if under == conn {
		return func() {}
	}
	timer := time.AfterFunc(d, func() { _ = under.Close() })
	return func() { timer.Stop() }
}

// closeConn closes the connection.
func (c *Conn) closeConn() error {
	defer closeAfter(c.conn, notifyTimeout)()
	return c.conn.Close()
}

// finish closes the connection, if still open, after the handler returned err, and counts the
// packets and bytes read.
func (c *Conn) finish(err error, kind faultKind) {
	if err == nil && c.draining.Load() {
		err = ErrServerClosed
	}
	_ = c.CloseWithCode(closeCode(err, kind))
	<-c.closed // if another goroutine, or that of a context already done, is closing the connection
	if c.discarded != nil {
		<-c.discarded
	}
	c.quota.Release(c)
	c.reading.Lock() // after another goroutine of the handler, interrupted by Close
	c.reader.countFailed(err)
	c.mu.Lock()
	c.count()
	c.mu.Unlock()
	c.reading.Unlock()
	c.linger()
}

// linger discards input and closes a connection for which Close ended writing.
func (c *Conn) linger() {
	c.mu.Lock()
	half := c.half
	c.mu.Unlock()
	if half {
		conn := transport(c.conn) // without decryption
		_ = conn.SetReadDeadline(time.Now().Add(lingerTimeout))
		_, _ = io.Copy(io.Discard, conn)
		_ = c.conn.Close() // which can embed the connection of TLS, and have a Close of its own
	}
}

// hurry closes a connection at once for which Close ended writing.
func (c *Conn) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hurried = true
	if c.half {
		_ = transport(c.conn).Close()
	}
}

// NewConn returns a Conn over conn and becomes its owner. When ctx is done, the connection is
// closed and calls return ctx's cause. A nil o selects the zero Options.
//
// If conn is a [tls.Conn], the first read or write does the handshake.
func NewConn(ctx context.Context, conn net.Conn, o *Options) *Conn {
	return newNetConn(ctx, conn, newConfig(o))
}

// newNetConn returns a Conn over conn, as NewConn does. Other Conns may share the config.
func newNetConn(ctx context.Context, conn net.Conn, s *config) *Conn {
	c := newConn(nil, s)
	c.link = netLink{conn, c}
	c.conn = conn
	c.reader, c.writer = newReader(connReader{c}, s), newWriter(connWriter{c}, s)
	c.writer.ended, c.writer.flushFailed = c.unusable, c.flushFailed
	if t, ok := conn.(handshaker); ok {
		c.handshake = &handshake{conn: t, timeout: s.HandshakeTimeout}
		c.writer.final = true
	}
	c.interrupt = func() {
		c.limited = true
		_ = conn.SetReadDeadline(aLongTimeAgo)
	}
	c.writer.deadline = c.setWriteDeadline
	if c.handshake != nil {
		c.writer.written = c.written
	}
	c.watch(ctx, func() error {
		end := time.Now().Add(closeTimeout)
		lost := c.writer.flushNow(rawWriter{c}, func() error { return conn.SetWriteDeadline(end) })
		if c.served.Load() && c.closeWrite() {
			return lost
		}
		return cmp.Or(lost, c.closeConn())
	}, func() error {
		defer c.writer.discard()
		return c.closeConn()
	})
	return c
}

// A netLink is a net.Conn as a link.
type netLink struct {
	net.Conn
	c *Conn
}

// endWrite implements link. c is locked.
func (l netLink) endWrite(at time.Time) {
	by := time.Duration(l.c.writeBy.Load())
	if l.c.config.Load().WriteTimeout > 0 && (at.Sub(l.c.opened) < by || l.c.answers() && !l.c.writing) { // the next Write sets its own
		_ = l.SetWriteDeadline(at)
	}
}

type connReader struct{ c *Conn }

func (r connReader) Read(p []byte) (int, error) {
	if err := r.c.handshake.do(&r.c.lifetime); err != nil {
		return 0, err
	}
	defer r.c.writer.endWait()
	if err := r.c.wait(r.c.reader.idle()); err != nil {
		return 0, err
	}
	n, err := r.c.conn.Read(p)
	r.c.received(n)
	if late := r.c.meter.take(n); late != nil {
		r.c.tooFast = true
		return 0, late
	}
	return n, r.c.readError(err)
}

type connWriter struct{ c *Conn }

func (w connWriter) Write(p []byte) (int, error) {
	if err := w.c.handshake.do(&w.c.lifetime); err != nil {
		return 0, err
	}
	if err := w.c.ended(); err != nil { // before the connection is closed because its context is done
		return 0, err
	}
	n, err := w.c.conn.Write(p)
	return n, w.c.writeError(err)
}

// A rawWriter returns the errors of the connection also after Close.
type rawWriter struct{ c *Conn }

func (w rawWriter) Write(p []byte) (int, error) {
	if err := w.c.handshake.do(&w.c.lifetime); err != nil {
		return 0, err
	}
	return w.c.conn.Write(p)
}
