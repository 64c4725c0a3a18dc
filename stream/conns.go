package stream

import (
	"iter"
	"maps"
	"slices"
	"time"
)

// Conns iterates over the connections that are open, in no order. [Conn.Stats] describes each, and
// [Conn.CloseWithCode] closes one; its handler then returns. A connection can end meanwhile.
func (s *Server) Conns() iter.Seq[*Conn] {
	return func(yield func(*Conn) bool) {
		s.mu.Lock()
		conns := slices.Collect(maps.Keys(s.conns)) // the body can call methods of s
		s.mu.Unlock()
		for _, c := range conns {
			if !yield(c) {
				return
			}
		}
	}
}

// ConnStats describes a connection at one moment.
type ConnStats struct {
	RemoteAddr string        // of the other side, or "unknown"
	Age        time.Duration // since the Conn was made
	Idle       time.Duration // since Next began to wait for a packet; 0 inside a packet and while it is handled

	PacketsIn  int64 // packets read before Next last waited, valid and invalid
	PacketsOut int64 // packets written
	BytesIn    int64 // bytes read, as in Stats
	BytesOut   int64 // bytes written
	Invalid    int64 // packets read that are counted by Stats.Invalid
}

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
