package stream

import (
	"sync/atomic"
	"time"
)

// Stats are the counters of a [Server] since the Server was made.
type Stats struct {
	Conns    int64 // connections open now
	Accepted int64 // connections served, now or before
	Refused  int64 // connections closed because of MaxConns, MaxConnsPerAddr or Shutdown
	Failed   int64 // connections with a failed handler or handshake, and timeouts; all were logged
	Lost     int64 // connections reset by the client or lost by the network
	TooFast  int64 // connections ended because of PacketRate
	TooSlow  int64 // connections dropped by a Room because they received too slowly
	Panics   int64 // panics of the Handler and the other functions of the Server

	PacketsIn  int64 // packets read, valid and invalid
	PacketsOut int64 // packets written
	BytesIn    int64 // bytes read, with lengths; from WebSockets, bytes of messages
	BytesOut   int64 // bytes written
	// Invalid counts packets that were empty, too long or invalid, or did not fit the Go type. For
	// the last packet of a connection, the handler must return the error.
	Invalid int64

	// Connections that ended because of one of these timeouts.
	HandshakeTimeouts, IdleTimeouts, ReadTimeouts, WriteTimeouts int64
}

// ConnStats describes a connection at one moment.
type ConnStats struct {
	RemoteAddr string        // of the other side, or "unknown"
	Age        time.Duration // since the Conn was made
	Idle       time.Duration // since Next began to wait for a packet; 0 while a packet arrives or is handled

	PacketsIn  int64 // packets read before Next last waited, valid and invalid
	PacketsOut int64 // packets written
	BytesIn    int64 // bytes read, as in Stats
	BytesOut   int64 // bytes written
	Invalid    int64 // packets read and counted by Stats.Invalid
}

// A HandledPacket describes a packet that was handled.
type HandledPacket struct {
	Size int64         // length in bytes, as declared by the sender
	Time time.Duration // from the return of Next to the next call of Next, or the return of the handler
	// First is the time from when the Conn was made, for a Server's from accepting it, to when Next
	// returned its first packet, and 0 for later packets.
	First time.Duration
}

// counters are the Stats of a Server. Reading is counted when a Conn must wait for
// bytes, writing after each Write to the connection: no atomic operation is made for each
// packet.
type counters struct {
	accepted, refused, failed   atomic.Int64
	faults                      [faultKinds]atomic.Int64
	packetsIn, bytesIn, invalid atomic.Int64
	_                           [64]byte // another cache line: other goroutines write
	packetsOut, bytesOut        atomic.Int64
}

// stats returns the Stats of a Server with this number of connections.
func (c *counters) stats(conns int) Stats {
	return Stats{
		Conns: int64(conns), Accepted: c.accepted.Load(), Refused: c.refused.Load(), Failed: c.failed.Load(),
		PacketsIn: c.packetsIn.Load(), PacketsOut: c.packetsOut.Load(),
		BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		Invalid: c.invalid.Load(), Lost: c.faults[resetFault].Load(), Panics: c.faults[panicFault].Load(),
		TooFast: c.faults[rateFault].Load(), TooSlow: c.faults[slowFault].Load(),
		HandshakeTimeouts: c.faults[handshakeTimeout].Load(), IdleTimeouts: c.faults[idleTimeout].Load(),
		ReadTimeouts: c.faults[readTimeout].Load(), WriteTimeouts: c.faults[writeTimeout].Load(),
	}
}

// counts are the numbers of packets and bytes read.
type counts struct{ packets, bytes, invalid int64 }
