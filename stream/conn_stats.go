package stream

import (
	"time"
)

// Stats returns the counters of c. It waits for nobody, and any goroutine can call it.
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

// count adds the packets and bytes that were read since the latest call to the Stats. c is locked.
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

// packetRead notes that a packet was read, for PacketHandled, unless err is about the stream.
func (c *Conn) packetRead(err error) {
	if c.handled != nil && (err == nil || Skippable(err)) {
		c.readAt = time.Now()
	}
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
