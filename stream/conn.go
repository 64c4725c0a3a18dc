package stream

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire/internal/quota"
)

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
	config    *config
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
	rate    *bucket // nil without Server.PacketRate
	tooFast bool    // rate was exceeded

	handled      func(*Conn, HandledPacket) // Server.PacketHandled
	readAt       time.Time                  // when Next returned the packet being handled
	handledFirst bool

	quota *quota.Quota // of the Server, or nil

	draining atomic.Bool           // by Server.Shutdown
	cause    atomic.Pointer[error] // of the end of CloseRead's context, or nil
	served   atomic.Bool           // by a Server, closing the connection after the handler

	opened  time.Time
	writeBy atomic.Int64 // the latest write deadline of a WriteTimeout, in nanoseconds since opened

	mu      sync.Mutex
	half    bool          // Close ended writing and left the rest to the Server: see linger
	hurried bool          // by Server.Close
	drainBy time.Time     // when a read ends after drain; zero for never
	drained chan struct{} // closed by drain while arrived waits, or nil
	idle    bool          // Next waits for the first byte of a packet
	limited bool          // a read deadline is set
	readBy  time.Time     // when this deadline passes, unless set to interrupt a call
	endless bool          // no IdleTimeout, because of CloseRead
	writing bool          // a call set a write deadline and did not return yet, over TLS
	end     closeFrame

	flushError error // of packets held back, for Next

	faults faults

	stats   *counters // of the Server, or nil if there is none
	bytesIn int64     // bytes read
	counted counts    // included in Stats
	waiting time.Time // when the latest wait began
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
	return &Conn{link: l, config: s, opened: time.Now(), end: closeFrame{code: CloseNormal}}
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
	c.handled(c, p)
}

// lastHandled calls PacketHandled for the latest packet, after the handler returned, unless another of
// its goroutines is reading.
func (c *Conn) lastHandled() {
	if c.reading.TryLock() {
		defer c.reading.Unlock()
		c.packetHandled()
	}
}
