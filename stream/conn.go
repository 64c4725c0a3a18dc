package stream

import (
	"cmp"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire"
)

// A Conn reads and writes packets over a connection, as a [Reader] and a [Writer] do. One
// goroutine may read while any number write.
//
// Options.IdleTimeout and ReadTimeout limit how long Next, NextRaw and the Decoder
// wait, WriteTimeout how long WritePacket, WriteRaw and Flush do. A timeout is an
// [os.ErrDeadlineExceeded] and does not close the connection: the next call gets the
// same time again. After a timeout that is final, because a packet was written in part,
// a TLS handshake was interrupted or the connection is a WebSocket, later calls return
// an [ErrBroken] instead.
type Conn struct {
	lifetime
	reader    *Reader
	writer    *Writer
	config    *config
	conn      net.Conn      // nil for a WebSocket
	link      link          // conn or the WebSocket
	handshake *handshake    // nil without a handshake
	interrupt func()        // interrupts a call of Next that waits for a packet
	discarded chan struct{} // closed when the goroutine of CloseRead ends; nil without CloseRead
	panicked  error         // of this goroutine, then
	failed    bool          // the Server has counted the connection as failed

	// reading is locked by Next and NextRaw, so that a handler can return while another of its
	// goroutines reads.
	reading sync.Mutex

	// Used only by the goroutine that reads.
	armed   int64   // 1 + CompleteOffset of the packet with a read deadline, or 0
	last    bool    // Next returned its last packet after Shutdown
	rate    *bucket // nil without Server.PacketRate
	tooFast bool    // rate was exceeded

	handled      func(*Conn, HandledPacket) // Server.PacketHandled
	readAt       time.Time                  // when Next returned a packet that is not handled yet
	handledFirst bool

	draining atomic.Bool // by Server.Shutdown
	served   atomic.Bool // by a Server, which closes the connection after its handler

	opened  time.Time
	writeBy atomic.Int64 // the latest write deadline of a WriteTimeout, in nanoseconds since opened

	mu      sync.Mutex
	half    bool      // Close ended writing and left the rest to the Server: see linger
	hurried bool      // by Server.Close
	drainBy time.Time // when a read ends after drain; zero if it does not
	idle    bool      // Next waits for the first byte of a packet
	limited bool      // a read deadline is set
	readBy  time.Time // when it passes, unless it was set to interrupt a call
	endless bool      // no IdleTimeout, because of CloseRead
	end     closeFrame

	flushError error // of packets that were held back; Next returns it

	stats   *counters // of the Server, or nil if there is none
	bytesIn int64     // bytes read
	counted counts    // that Stats include
	waiting time.Time // when the latest wait began

	readFault, writeFault fault // the latest of each
}

// A closeFrame is the status code and reason of a WebSocket's close frame.
type closeFrame struct {
	code   int
	reason string
}

// NewConn returns a Conn over conn and becomes its owner. When ctx is done, the
// connection is closed and calls return ctx's cause. If o is nil, it uses the zero
// Options.
//
// If conn is a [tls.Conn], the first call that reads or writes does the handshake.
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
	if s.WriteTimeout > 0 {
		c.writer.deadline = c.setWriteDeadline
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

// A link contains the methods of a connection that a Conn needs besides Read and
// Write.
type link interface {
	RemoteAddr() net.Addr
	SetReadDeadline(time.Time) error
	// endWrite makes a Write that is under way, and has a timeout, end before at.
	endWrite(at time.Time)
}

// A netLink is a net.Conn as a link.
type netLink struct {
	net.Conn
	c *Conn
}

func (l netLink) endWrite(at time.Time) {
	by := time.Duration(l.c.writeBy.Load())
	if l.c.config.WriteTimeout > 0 && at.Sub(l.c.opened) < by { // the next Write sets its own
		_ = l.SetWriteDeadline(at)
	}
}

// newConn returns a Conn without a Reader and a Writer, which does not watch a context yet.
func newConn(l link, s *config) *Conn {
	return &Conn{link: l, config: s, opened: time.Now(), end: closeFrame{code: CloseNormal}}
}

// now returns the time, by the monotonic clock alone: time.Now, which reads two clocks, takes 2 % of a
// small packet more.
func (c *Conn) now() time.Time { return c.opened.Add(time.Since(c.opened)) }

// closeTimeout is how long Close waits for the other side: to accept packets that were
// held back, and to answer the close frame of a WebSocket.
const closeTimeout = time.Second

// aLongTimeAgo is a deadline that interrupts a call.
var aLongTimeAgo = time.Unix(1, 0)

// NetConn returns the connection. Any Read, Write or deadline of the connection breaks the Conn.
// NetConn of a WebSocket returns nil.
func (c *Conn) NetConn() net.Conn { return c.conn }

// RemoteAddr returns the address of the other side. For a WebSocket it needs [WithNetConn].
func (c *Conn) RemoteAddr() net.Addr { return c.link.RemoteAddr() }

// remote returns RemoteAddr as text, also if there is none.
func (c *Conn) remote() string {
	if addr := c.RemoteAddr(); addr != nil {
		return addr.String()
	}
	return "unknown"
}

// Close closes the connection. Calls under way, and later calls, return [net.ErrClosed]. Packets that
// were held back because of Options.BufferWrites are written before, within a second; Close returns an
// error if they are lost. Closing again does nothing.
func (c *Conn) Close() error {
	if err := c.lifetime.Close(); err != nil {
		return err
	}
	return c.writer.takeLost()
}

// CloseWithCode closes the connection. Over a WebSocket the close frame contains this
// status code, which is defined in RFC 6455 or from 3000 to 4999, and a reason, which is cut
// after 123 bytes. Other connections ignore both.
func (c *Conn) CloseWithCode(code int, reason string) error {
	c.setEnd(code, reason)
	return c.Close()
}

// maxReason is the maximum length in bytes of a close frame's reason, by RFC 6455.
const maxReason = 123

// setEnd sets the close frame that Close will send.
func (c *Conn) setEnd(code int, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") // the last character may have been cut
	}
	c.end = closeFrame{code, reason}
}

// Next returns a Decoder of the next packet, as [Reader.Next] does. After Close it returns
// [net.ErrClosed], after the context is done its cause, also if packets have arrived before.
// After [Server.Shutdown] it returns at most the packet whose first byte arrived before,
// then [ErrServerClosed].
func (c *Conn) Next() (*gdwire.Decoder, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if err := c.ready(); err != nil {
		return nil, err
	}
	d, err := c.reader.Next()
	c.last = c.draining.Load()
	if !c.withinRate(err) {
		c.reader.dec.Release()
		return nil, ErrPacketRate
	}
	c.packetRead(err)
	return d, err
}

// NextRaw appends the bytes of the next packet to dst, as [Reader.NextRaw] does. It returns the
// errors of [Conn.Next].
func (c *Conn) NextRaw(dst []byte) ([]byte, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if err := c.ready(); err != nil {
		return dst, err
	}
	dst, err := c.reader.NextRaw(dst)
	c.last = c.draining.Load()
	if !c.withinRate(err) {
		return dst, ErrPacketRate
	}
	c.packetRead(err)
	return dst, err
}

// withinRate takes a token for a packet that was read, valid or with an error of its own, and reports
// whether there was one.
func (c *Conn) withinRate(err error) bool {
	if c.rate == nil || err != nil && !Skippable(err) {
		return true
	}
	c.tooFast = !c.rate.take()
	return !c.tooFast
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
		c.reader.dec.Release()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.count() // also after finish, for a goroutine that outlives the handler
		return err
	}
	c.armed = 0
	return nil
}

// WritePacket writes a packet with the value that write writes, as [Writer.WritePacket] does.
func (c *Conn) WritePacket(write func(*gdwire.Encoder) error) error {
	return c.writer.WritePacket(write)
}

// WriteRaw writes a packet with these bytes, an encoded value, as [Writer.WriteRaw] does. It does
// not check them.
func (c *Conn) WriteRaw(packet []byte) error { return c.writer.WriteRaw(packet) }

// Flush writes the packets that were held back because of Options.BufferWrites. If a timeout occurs
// before any of their bytes is written, Flush can be called again.
func (c *Conn) Flush() error { return c.writer.Flush() }

// PacketOffset returns the offset of the latest packet in the stream: see [Reader.PacketOffset].
func (c *Conn) PacketOffset() int64 { return c.reader.PacketOffset() }

// PacketSize returns the latest packet's length in bytes, as declared by the sender.
func (c *Conn) PacketSize() int64 { return c.reader.PacketSize() }

// Trailing returns the number of bytes that follow the value in the latest packet, once the value is
// read to its end, and 0 before. Engines ignore such bytes.
func (c *Conn) Trailing() int64 { return c.reader.Trailing() }

// CloseRead discards all packets from now on, in a goroutine of its own. It serves
// handlers that only write: the returned context is done when the other side closes the
// connection, with the cause io.EOF, and after [Server.Shutdown], with the cause
// [ErrServerClosed], or for any other reason for which Next fails. IdleTimeout no longer
// applies. Nothing else may read then, and CloseRead must not be called again.
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
				cancel(c.panicked)
			}
		}()
		for {
			if _, err := c.Next(); err != nil && !Skippable(err) {
				cancel(err)
				return
			}
		}
	}()
	return ctx
}

// wait prepares for waiting for bytes: of the packet that began, or if idle is true, of the
// next packet.
func (c *Conn) wait(idle bool) error {
	if c.writer.holds() {
		if err := c.writer.startWait(); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count()
	if err := c.ended(); err != nil { // here, because a deadline would replace that of Close
		return err
	}
	if err := c.takeFlushError(); err != nil {
		return err
	}
	if idle && c.draining.Load() {
		return ErrServerClosed
	}
	now := c.now()
	c.idle, c.waiting = idle, now
	return c.setReadDeadline(now)
}

// received notes that n bytes arrived.
func (c *Conn) received(n int) {
	if n > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.idle = false
		c.bytesIn += int64(n)
	}
}

// flushFailed makes Next return err, of packets that were held back.
func (c *Conn) flushFailed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended() != nil { // Next returns that, and the deadline may be one of Close
		return
	}
	c.flushError, c.limited = err, true
	_ = c.link.SetReadDeadline(aLongTimeAgo)
}

// takeFlushError returns the error of flushFailed, once. c is locked.
func (c *Conn) takeFlushError() error {
	err := c.flushError
	if err != nil {
		c.flushError, c.armed = nil, 0 // its deadline has replaced that of the packet
	}
	return err
}

// setReadDeadline sets the read deadline, once for each packet, so that a sender cannot extend
// it byte by byte. c is locked. While Next waits for a packet, it uses nothing that belongs to the
// goroutine that reads: see active.
func (c *Conn) setReadDeadline(now time.Time) error {
	timeout, packet := c.config.IdleTimeout, int64(0)
	if c.endless {
		timeout = 0
	}
	if !c.idle {
		timeout, packet = c.config.ReadTimeout, c.reader.lengthOffset+1
		if c.armed == packet {
			return nil
		}
	}
	if !c.drainBy.IsZero() {
		timeout = shorter(timeout, max(c.drainBy.Sub(now), 1))
	}
	if timeout > 0 || c.limited {
		if err := c.setDeadline(c.link.SetReadDeadline, now, timeout); err != nil {
			return err
		}
	}
	c.limited, c.readBy = timeout > 0, now.Add(timeout)
	if packet > 0 {
		c.armed = packet
	}
	return nil
}

// active makes the IdleTimeout begin again, if Next waits for a packet.
func (c *Conn) active() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle && c.limited && !c.draining.Load() && c.ended() == nil {
		_ = c.setReadDeadline(c.now())
	}
}

// unusable returns why no packet can be written, or nil: the connection was closed, or its handshake
// failed.
func (c *Conn) unusable() error {
	if err := c.ended(); err != nil {
		return err
	}
	return c.handshake.failed()
}

// setWriteDeadline sets the deadline of the next Write. It looks afterwards whether the connection has
// ended or is drained, so that it does not replace the deadline of Close or Shutdown.
func (c *Conn) setWriteDeadline() error {
	if err := c.unusable(); err != nil { // the deadline of a closed connection is another error
		return err
	}
	timeout, now := c.writeTimeout(), c.now()
	c.writeBy.Store(int64(now.Add(timeout).Sub(c.opened)))
	if err := c.setDeadline(c.conn.SetWriteDeadline, now, timeout); err != nil {
		return err
	}
	if c.writeTimeout() != timeout {
		return c.setWriteDeadline()
	}
	return c.ended()
}

// readError returns the error of a call that read after wait.
func (c *Conn) readError(err error) error {
	if err == nil {
		return nil
	}
	c.armed = 0 // the next call gets the same time again
	c.mu.Lock()
	drained := c.draining.Load() && (c.idle || isTimeout(err))
	flushError := c.takeFlushError()
	timeout := readTimeout
	if c.idle {
		timeout = idleTimeout
	}
	c.mu.Unlock()
	if drained {
		return ErrServerClosed
	}
	if cause := c.ended(); cause != nil {
		return cause
	}
	if flushError != nil {
		return flushError
	}
	return c.note(&c.readFault, err, timeout)
}

// writeError returns the error of a call that wrote.
func (c *Conn) writeError(err error) error {
	if err == nil {
		return nil
	}
	if cause := c.ended(); cause != nil {
		return cause
	}
	return c.note(&c.writeFault, err, writeTimeout)
}

// drain makes Next return ErrServerClosed instead of waiting for another packet.
func (c *Conn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining.Store(true)
	if c.handshake.isPending() {
		c.cancel(ErrServerClosed)
		return
	}
	if d := c.config.DrainTimeout; d > 0 {
		c.drainBy = time.Now().Add(d)
		c.link.endWrite(c.drainBy)
	}
	if c.idle {
		c.interrupt()
	} else if !c.drainBy.IsZero() && (!c.limited || c.drainBy.Before(c.readBy)) {
		c.limited, c.readBy = true, c.drainBy
		_ = c.link.SetReadDeadline(c.drainBy)
	}
}

// writeTimeout returns the time for a Write.
func (c *Conn) writeTimeout() time.Duration {
	if c.config.WriteTimeout > 0 && c.draining.Load() {
		return shorter(c.config.WriteTimeout, c.config.DrainTimeout)
	}
	return c.config.WriteTimeout
}

// shorter returns the shorter timeout. 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// finish closes the connection, if it is still open, after the handler returned err,
// and counts the packets and bytes that were read.
func (c *Conn) finish(err error, kind faultKind) {
	if err == nil && c.draining.Load() {
		err = ErrServerClosed
	}
	_ = c.CloseWithCode(closeCode(err, kind))
	<-c.closed // if another goroutine, or that of a context which is done, is closing it
	if c.discarded != nil {
		<-c.discarded
	}
	c.reading.Lock() // after another goroutine of the handler, which Close has interrupted
	c.reader.countFailed(err)
	c.mu.Lock()
	c.count()
	c.mu.Unlock()
	c.reading.Unlock()
	c.linger()
}

// setStats makes s count all packets and bytes from now on. It waits for no goroutine that writes.
func (c *Conn) setStats(s *counters) {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count()
	c.stats = s
	c.writer.stats.Store(s)
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

// A rawWriter returns the errors of the connection also after it was closed.
type rawWriter struct{ c *Conn }

func (w rawWriter) Write(p []byte) (int, error) {
	if err := w.c.handshake.do(&w.c.lifetime); err != nil {
		return 0, err
	}
	return w.c.conn.Write(p)
}

// A lifetime closes a connection when its context is done. Calls then return the context's
// cause.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	stop   func() bool // stops watching ctx
	close  func() error
	closed chan struct{} // closed when the connection is
}

// watch calls abort when ctx is done. Close calls closer instead.
func (c *lifetime) watch(ctx context.Context, closer, abort func() error) {
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.close, c.closed = closer, make(chan struct{})
	c.stop = context.AfterFunc(c.ctx, func() {
		defer close(c.closed)
		_ = abort()
	})
}

// Close closes the connection. Calls under way, and later calls, return
// [net.ErrClosed]. Closing again does nothing.
func (c *lifetime) Close() error {
	if !c.stop() {
		return nil
	}
	defer close(c.closed)
	c.cancel(net.ErrClosed)
	return c.close()
}

// ended returns why the connection was closed, or nil if it was not.
func (c *lifetime) ended() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return context.Cause(c.ctx)
}

// cause returns the cause of err, an error of the connection.
func (c *lifetime) cause(err error) error {
	if err != nil {
		if cause := c.ended(); cause != nil {
			return cause
		}
	}
	return err
}

// setDeadline sets a deadline: d after now, or none if d is 0. It ignores the error of a net.Pipe
// after the other end was closed: the Read or Write that follows returns a better error.
func (c *lifetime) setDeadline(deadline func(time.Time) error, now time.Time, d time.Duration) error {
	var end time.Time
	if d > 0 {
		end = now.Add(d)
	}
	if err := deadline(end); err != io.ErrClosedPipe {
		return c.cause(err)
	}
	return nil
}
