package stream

import (
	"cmp"
	"context"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire/internal/base/quota"
)

// A Conn: how it begins and ends, its fields, and its deadlines.

// A lifetime closes a connection when its context is done. Calls then return the context's
// cause.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	stop   func() bool // stops watching ctx
	close  func() error
	closed chan struct{} // closed when the connection is closed
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
func (c *lifetime) Close() error { return c.closeFor(net.ErrClosed) }

// closeFor closes the connection, as Close does. Calls return cause.
func (c *lifetime) closeFor(cause error) error {
	if !c.stop() {
		return nil
	}
	defer close(c.closed)
	c.cancel(cause)
	return c.close()
}

// ended returns why the connection was closed, or nil for an open connection.
func (c *lifetime) ended() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return context.Cause(c.ctx)
}

// setDeadline sets a deadline: d after now, or none if d is 0. The error of a net.Pipe after the
// other end was closed is ignored: the following Read or Write returns a better error.
func (c *lifetime) setDeadline(deadline func(time.Time) error, now time.Time, d time.Duration) error {
	var end time.Time
	if d > 0 {
		end = now.Add(d)
	}
	err := deadline(end)
	if err == nil || err == io.ErrClosedPipe {
		return nil
	}
	return cmp.Or(c.ended(), err)
}

// A handshaker is a connection that begins with a handshake, such as a *tls.Conn.
type handshaker interface {
	HandshakeContext(context.Context) error
}

// A handshake is the handshake of a connection, performed by the first call that reads or writes,
// within a timeout.
type handshake struct {
	conn    handshaker
	timeout time.Duration
	done    atomic.Bool

	mu  sync.Mutex
	err atomic.Pointer[error] // of later calls, written with mu locked
}

// do performs the handshake unless that is done. Other goroutines wait meanwhile.
func (h *handshake) do(l *lifetime) error {
	if h == nil || h.done.Load() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.failed(); err != nil || h.done.Load() {
		return err
	}
	ctx, cancel := l.ctx, context.CancelFunc(func() {})
	if h.timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, h.timeout, os.ErrDeadlineExceeded)
	}
	defer cancel()
	err := h.conn.HandshakeContext(ctx)
	if err == nil {
		h.done.Store(true)
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	later := stickyError(err)
	h.err.Store(&later)
	return err
}

// failed returns the error of calls after the handshake failed, or nil, without waiting.
func (h *handshake) failed() error {
	if h == nil {
		return nil
	}
	if err := h.err.Load(); err != nil {
		return *err
	}
	return nil
}

// isPending reports whether the handshake is not completed.
func (h *handshake) isPending() bool { return h != nil && !h.done.Load() }

// A deadlineTimer calls expire when a deadline passes. After set returns, expire is not called for
// an earlier deadline; a time.Timer alone cannot promise this. Deadlines are set for every message
// and hardly ever pass, so a later deadline leaves the timer unchanged: a timer that fires is set
// to the deadline of this moment.
type deadlineTimer struct {
	expire func()

	mu    sync.Mutex
	at    time.Time // the deadline, or zero
	fires time.Time // when the timer fires, or zero
	timer *time.Timer
}

// set sets the deadline. The zero time means none.
func (a *deadlineTimer) set(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = at
	if at.IsZero() || !a.fires.IsZero() && !a.fires.After(at) {
		return
	}
	a.start(time.Until(at))
}

// shorten sets the deadline unless there is none, or an earlier one.
func (a *deadlineTimer) shorten(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.at.IsZero() && at.Before(a.at) {
		a.at = at
		a.start(time.Until(at))
	}
}

// start sets the timer to the deadline, d from now.
func (a *deadlineTimer) start(d time.Duration) {
	a.fires = a.at
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.fire)
	} else {
		a.timer.Reset(d)
	}
}

func (a *deadlineTimer) fire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fires = time.Time{}
	if a.at.IsZero() {
		return
	}
	if d := time.Until(a.at); d > 0 {
		a.start(d)
		return
	}
	a.at = time.Time{}
	a.expire()
}

// stop ends the timer.
func (a *deadlineTimer) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = time.Time{}
	if a.timer != nil {
		a.timer.Stop()
	}
}

// A Conn reads and writes packets over a connection, as a [Reader] and a [Writer] do. One
// goroutine may read while any number write.
//
// Options.IdleTimeout and ReadTimeout limit how long Next, NextRaw and the Decoder wait,
// WriteTimeout how long WritePacket, WriteRaw and Flush do. A timeout is an
// [os.ErrDeadlineExceeded] and does not close the connection: the next call gets the same time
// again. A timeout is final if a packet was written in part, a TLS handshake was interrupted or the
// connection is a WebSocket: later calls then return an [ErrBroken].
type Conn struct {
	lifetime
	reader    *Reader
	writer    *Writer
	config    atomic.Pointer[config]
	conn      net.Conn      // nil for a WebSocket
	link      link          // conn or the WebSocket
	handshake *handshake    // nil without a handshake
	interrupt func()        // interrupts a call of Next that waits for a packet
	discarded chan struct{} // closed when the goroutine of CloseRead ends; nil without CloseRead
	panicked  error         // of this goroutine, then
	failed    bool          // the Server counted the connection as failed

	// reading is locked by Next and NextRaw: a handler can return while another of its goroutines
	// reads.
	reading sync.Mutex

	// Used only by the reading goroutine.
	armed   int64   // 1 + CompleteOffset of the packet with a read deadline, or 0
	last    bool    // Next returned its last packet after Shutdown
	rate    *bucket // nil without a PacketRate
	tooFast bool    // rate or meter was exceeded

	handled      func(context.Context, *Conn, HandledPacket) // Server.PacketHandled
	handlerCtx   context.Context                             // of the handler, for PacketHandled
	readAt       time.Time                                   // when Next returned the packet being handled
	handledFirst bool

	meter   meter
	quota   *quota.Quota  // of the Server, or nil
	closing chan struct{} // of the Server, or nil

	draining atomic.Bool           // by Server.Shutdown
	cause    atomic.Pointer[error] // of the end of CloseRead's context, or nil
	served   atomic.Bool           // by a Server, closing the connection after the handler

	opened  time.Time
	writeBy atomic.Int64 // the latest write deadline of a WriteTimeout, in nanoseconds since opened

	mu      sync.Mutex
	half    bool          // Close ended writing and left the rest to the Server: see linger
	hurried bool          // by Server.Close
	drainBy time.Time     // when a read ends after drain; zero for never
	drained chan struct{} // closed by drain and SetReadDeadline while arrived waits, or nil
	until   time.Time     // of SetReadDeadline, or zero
	idle    bool          // Next waits for the first byte of a packet
	limited bool          // a read deadline is set
	readBy  time.Time     // when this deadline passes, unless set to interrupt a call
	endless bool          // no IdleTimeout, because of CloseRead
	writing bool          // a call set a write deadline and did not return yet, over TLS
	end     closeFrame

	flushError error // of packets held back, for Next

	faults faults

	stats     *counters     // of the Server, or nil if there is none
	bytesIn   int64         // bytes read
	counted   counts        // included in Stats
	roundTrip time.Duration // of a ping
	waiting   time.Time     // when the latest wait began
}

// A link contains the methods of a connection used by a Conn besides Read and Write.
type link interface {
	RemoteAddr() net.Addr
	SetReadDeadline(time.Time) error
	// endWrite makes a Write that is under way, with a timeout, end before at.
	endWrite(at time.Time)
}

// newConn returns a Conn that does not watch a context yet, without a Reader and a Writer.
func newConn(l link, s *config) *Conn {
	c := &Conn{link: l, opened: time.Now(), end: closeFrame{code: CloseNormal}}
	c.config.Store(s)
	return c
}

// now returns the time, by the monotonic clock alone: time.Now reads two clocks and takes 2 % of a
// small packet more.
func (c *Conn) now() time.Time { return c.opened.Add(time.Since(c.opened)) }

// NetConn returns the connection. Any Read, Write or deadline of the connection breaks the Conn.
// NetConn of a WebSocket returns nil.
func (c *Conn) NetConn() net.Conn { return c.conn }

// RemoteAddr returns the address of the other side. For a WebSocket, this needs [WithNetConn].
func (c *Conn) RemoteAddr() net.Addr { return c.link.RemoteAddr() }

// remote returns RemoteAddr as text, also if there is none.
func (c *Conn) remote() string {
	if addr := c.RemoteAddr(); addr != nil {
		return addr.String()
	}
	return "unknown"
}

// Draining returns a channel that is closed when the [Server] of c drains or is closed: a handler then ends with its match. It
// is nil before the Server serves c.
func (c *Conn) Draining() <-chan struct{} { return c.closing }

// PacketOffset returns the offset of the latest packet in the stream: see [Reader.PacketOffset].
func (c *Conn) PacketOffset() int64 { return c.reader.PacketOffset() }

// PacketSize returns the latest packet's length in bytes, as declared by the sender.
func (c *Conn) PacketSize() int64 { return c.reader.PacketSize() }

// Trailing returns the number of bytes after the value in the latest packet, once the value is read
// to the end, and 0 before. Engines ignore such bytes.
func (c *Conn) Trailing() int64 { return c.reader.Trailing() }

// Stats returns the counters of c without waiting. Any goroutine can call Stats.
func (c *Conn) Stats() ConnStats {
	now := time.Now()
	s := ConnStats{
		RemoteAddr: c.remote(), Age: now.Sub(c.opened),
		PacketsOut: c.writer.packets.Load(), BytesOut: c.writer.bytes.Load(),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.RoundTrip = c.roundTrip
	s.PacketsIn, s.BytesIn, s.Invalid = c.counted.packets, c.counted.bytes, c.counted.invalid
	if c.idle {
		s.Idle = now.Sub(c.waiting)
	}
	return s
}

// count adds the packets and bytes read since the latest call to the Stats. c is locked.
func (c *Conn) count() {
	now := counts{c.reader.packets, c.bytesIn, c.reader.invalid}
	if now == c.counted {
		return
	}
	if c.stats != nil {
		c.stats.packetsIn.Add(now.packets - c.counted.packets)
		c.stats.bytesIn.Add(now.bytes - c.counted.bytes)
		c.stats.invalid.Add(now.invalid - c.counted.invalid)
	}
	c.counted = now
}

// setStats makes s count all packets and bytes from now on, without waiting for writing goroutines.
func (c *Conn) setStats(s *counters) {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count()
	c.stats = s
	c.writer.stats.Store(s)
}

// packetHandled calls PacketHandled for the latest packet.
func (c *Conn) packetHandled() {
	if c.handled == nil || c.readAt.IsZero() {
		return
	}
	p := HandledPacket{Size: c.reader.size, Time: time.Since(c.readAt)}
	if !c.handledFirst {
		c.handledFirst, p.First = true, c.readAt.Sub(c.opened)
	}
	c.readAt = time.Time{}
	c.handled(c.handlerCtx, c, p)
}

// lastHandled calls PacketHandled for the latest packet, after the handler returned, unless another of
// its goroutines is reading.
func (c *Conn) lastHandled() {
	if c.reading.TryLock() {
		defer c.reading.Unlock()
		c.packetHandled()
	}
}

// aLongTimeAgo is a deadline for interrupting a call.
var aLongTimeAgo = time.Unix(1, 0)

// wait prepares for waiting for bytes: of the current packet, or if idle is true, of the next
// packet.
func (c *Conn) wait(idle bool) error {
	if c.writer.holds() {
		if err := c.writer.startWait(); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count()
	if err := c.ended(); err != nil { // here, because a deadline would replace the deadline of Close
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

// setReadDeadline sets the read deadline, once for each packet: a sender cannot extend the deadline
// byte by byte. c is locked. While Next waits for a packet, setReadDeadline uses no field of the
// reading goroutine: see active.
func (c *Conn) setReadDeadline(now time.Time) error {
	timeout, packet := c.config.Load().IdleTimeout, int64(0)
	if c.endless {
		timeout = 0
	}
	if !c.idle {
		timeout, packet = c.config.Load().ReadTimeout, c.reader.lengthOffset+1
		if c.armed == packet {
			return nil
		}
	}
	if !c.drainBy.IsZero() {
		timeout = shorter(timeout, max(c.drainBy.Sub(now), 1))
	}
	if !c.until.IsZero() {
		timeout = shorter(timeout, max(c.until.Sub(now), 1))
	}
	if timeout > 0 || c.limited {
		if err := c.setDeadline(c.link.SetReadDeadline, now, timeout); err != nil {
			return err
		}
	}
	c.limited, c.readBy = timeout > 0, now.Add(timeout)
	c.setAnswerDeadline()
	if packet > 0 {
		c.armed = packet
	}
	return nil
}

// SetReadDeadline sets the time until which Next and NextRaw wait, besides IdleTimeout and ReadTimeout, also for a call
// under way; zero is none. Later calls return an [os.ErrDeadlineExceeded] unless the packet has arrived. It is no fault of the
// client, and not final, except over a WebSocket: the call can be repeated after a later deadline is set. To wait until a
// context is done:
//
//	stop := context.AfterFunc(ctx, func() { c.SetReadDeadline(time.Unix(1, 0)) })
func (c *Conn) SetReadDeadline(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = t
	switch {
	case c.ended() != nil || c.draining.Load():
		return
	case c.idle:
		_ = c.setReadDeadline(c.now())
	case !t.IsZero():
		c.shortenRead(t)
	}
}

// shortenRead makes the read deadline t, unless that is later, for a call that waits for the rest of a packet. c is locked.
func (c *Conn) shortenRead(t time.Time) {
	if !c.limited || t.Before(c.readBy) {
		c.limited, c.readBy = true, t
		_ = c.link.SetReadDeadline(t)
	}
	if c.drained != nil {
		close(c.drained)
		c.drained = nil
	}
}

// active makes the IdleTimeout begin again, if Next waits for a packet.
func (c *Conn) active() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle && c.limited && !c.draining.Load() && c.ended() == nil {
		_ = c.setReadDeadline(c.now())
	}
}

// arrived counts the bytes that arrived of a long packet, see Server.MaxReading, and waits until they can be read.
func (c *Conn) arrived(held, missing int64) error {
	if missing == 0 {
		c.quota.Release(c)
		return nil
	}
	granted := c.quota.Hold(c, held, missing)
	if c.ended() != nil { // finish may have released before
		c.quota.Release(c)
		return c.ended()
	}
	if granted == nil {
		return nil
	}
	if c.writer.holds() {
		_ = c.writer.startWait() // the error comes from the next Read
		defer c.writer.endWait()
	}
	for {
		if again, err := c.waitFor(granted); !again {
			return cmp.Or(c.readError(err), c.ended())
		}
	}
}

// waitFor waits for granted until the read deadline. It returns true if Shutdown changed the deadline.
func (c *Conn) waitFor(granted <-chan struct{}) (again bool, err error) {
	c.mu.Lock()
	now, drained := c.now(), make(chan struct{})
	_ = c.setReadDeadline(now) // unless the packet has one
	c.drained = drained
	limited, left := c.limited, c.readBy.Sub(now)
	c.mu.Unlock()
	var timeout <-chan time.Time
	if limited {
		timeout = time.After(left)
	}
	select {
	case <-granted:
	case <-drained:
		return true, nil
	case <-c.ctx.Done():
		return false, c.ended()
	case <-timeout:
		return false, os.ErrDeadlineExceeded
	}
	return false, nil
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

// readError returns the error of a read after wait.
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
	if isTimeout(err) && !c.until.IsZero() && !time.Now().Before(c.until) {
		timeout = noFault
	}
	c.mu.Unlock()
	if drained {
		return ErrServerClosed
	}
	if first := cmp.Or(c.ended(), flushError); first != nil {
		return first
	}
	return c.faults.note(&c.faults.read, err, timeout)
}

// flushFailed makes Next return err, the error of packets held back.
func (c *Conn) flushFailed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended() != nil { // Next returns this error, and the deadline may be one of Close
		return
	}
	c.flushError, c.limited = err, true
	_ = c.link.SetReadDeadline(aLongTimeAgo)
}

// takeFlushError returns the error of flushFailed, once. c is locked.
func (c *Conn) takeFlushError() error {
	err := c.flushError
	if err != nil {
		c.flushError, c.armed = nil, 0 // its deadline replaced the deadline of the packet
	}
	return err
}

// setWriteDeadline sets the deadline of the next Write, and afterwards checks whether the connection
// is drained, because the deadline of Shutdown must not be replaced; connWriter does the same for
// Close.
func (c *Conn) setWriteDeadline() error {
	timeout := c.writeTimeout()
	if timeout == 0 && c.writeBy.Load() == 0 { // there never was a timeout
		return nil
	}
	if err := c.unusable(); err != nil { // the deadline of a closed connection is another error
		return err
	}
	if c.answers() {
		c.mu.Lock()
		c.writing = true
		c.mu.Unlock()
	}
	now := c.now()
	c.writeBy.Store(int64(now.Add(timeout).Sub(c.opened)))
	if err := c.setDeadline(c.conn.SetWriteDeadline, now, timeout); err != nil {
		return err
	}
	if c.writeTimeout() != timeout {
		return c.setWriteDeadline()
	}
	return nil
}

// answers reports whether a Read can write, as that of TLS answers a KeyUpdate, and write deadlines are set.
func (c *Conn) answers() bool { return c.handshake != nil && c.config.Load().WriteTimeout > 0 }

// setAnswerDeadline sets the write deadline to the read deadline while no packet is written: after the deadline of the
// latest packet, the answer of a Read would fail, and break TLS. c is locked.
func (c *Conn) setAnswerDeadline() {
	if !c.answers() || c.writing || c.ended() != nil {
		return
	}
	var by time.Time
	if c.limited {
		by = c.readBy
	}
	_ = c.conn.SetWriteDeadline(by)
}

// written notes that a packet was written.
func (c *Conn) written() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	c.setAnswerDeadline()
}

// writeTimeout returns the time for a Write.
func (c *Conn) writeTimeout() time.Duration {
	config := c.config.Load()
	if config.WriteTimeout > 0 && c.draining.Load() {
		return shorter(config.WriteTimeout, config.DrainTimeout)
	}
	return config.WriteTimeout
}

// shorter returns the shorter timeout. 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// unusable returns why no packet can be written, or nil: the connection was closed, or its handshake
// failed.
func (c *Conn) unusable() error {
	if err := c.ended(); err != nil {
		return err
	}
	return c.handshake.failed()
}

// writeError returns the error of a write.
func (c *Conn) writeError(err error) error {
	if err == nil {
		return nil
	}
	if cause := c.ended(); cause != nil {
		return cause
	}
	return c.faults.note(&c.faults.write, err, writeTimeout)
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
	if d := c.config.Load().DrainTimeout; d > 0 {
		c.drainBy = time.Now().Add(d)
		c.link.endWrite(c.drainBy)
	}
	switch {
	case c.idle:
		c.interrupt()
	case !c.drainBy.IsZero():
		c.shortenRead(c.drainBy)
	}
}
