package stream

import (
	"cmp"
	"encoding/binary"
	"math"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
)

// DefaultMaxPacket is the largest length of a packet in bytes unless Options say otherwise, and
// also the limit of engines encoding with their default settings.
const DefaultMaxPacket = 8 << 20

// unfinished is the length of a packet until its WriteThrough ends. No complete
// packet is so long: engines read lengths as signed 32-bit numbers.
const unfinished = math.MaxUint32

// Options configures the types of this package. The zero value, like nil, selects [gdwire.Godot4]
// with default limits. [ScanComplete] merges several: a nonzero field replaces the same field of
// earlier Options. For the connections of a [Server], a timeout of 0 selects the timeout in the
// table of Server; for others, 0 means none. -1 disables a timeout.
type Options struct {
	// Format is the format of the values, unless Decoder.Format or Encoder.Format
	// is set. 0 selects Godot4.
	Format gdwire.Format
	// MaxPacket is the maximum length of a packet in bytes, read or written. A longer
	// packet is a [PacketTooLongError]. 0 selects DefaultMaxPacket; with -1, only the 32
	// bits of the length limit a packet.
	MaxPacket int64
	// BigEndianLength selects big-endian lengths, as with big_endian of a StreamPeer
	// or FileAccess. The values are little-endian even then.
	BigEndianLength bool
	// Decoder configures the reading of values. OneValue is always set.
	Decoder gdwire.DecoderOptions
	// Encoder configures the writing of values.
	Encoder gdwire.EncoderOptions

	// HandshakeTimeout is the time for the handshake of a TLS connection, and the time for [Dial]
	// to connect. 0 selects 10 seconds, also without a Server.
	HandshakeTimeout time.Duration
	// ReadTimeout is the time for reading and handling the rest of a packet of a
	// [Conn], from when the Conn must wait for the rest to the next call of Next.
	ReadTimeout time.Duration
	// WriteTimeout is the time for writing one packet, or the packets held back.
	WriteTimeout time.Duration
	// IdleTimeout is the time to wait for the first byte of a packet, or for a
	// datagram.
	IdleTimeout time.Duration

	// DrainTimeout is the time that [Server.Shutdown] leaves a client for the rest of a packet
	// already arriving. Of WriteTimeout, no more than DrainTimeout remains for each write. 0
	// selects a second, also without a Server.
	DrainTimeout time.Duration

	// BufferWrites holds packets back until a Conn must wait for bytes, until Flush or Close is
	// called, or until there are 16 KiB. A handler answering many packets then needs fewer system
	// calls. While Next waits, packets of other goroutines are written at once. Next does not wait
	// until packets are written, but returns the error of writing them. WebSockets ignore
	// BufferWrites.
	BufferWrites bool
}

// serverTimeouts replace timeouts of 0 in the Options of a Server.
var serverTimeouts = Options{
	HandshakeTimeout: 10 * time.Second,
	ReadTimeout:      10 * time.Second,
	WriteTimeout:     10 * time.Second,
	IdleTimeout:      5 * time.Minute,
	DrainTimeout:     time.Second,
}

// timeouts returns the timeout fields.
func (o *Options) timeouts() [5]*time.Duration {
	return [...]*time.Duration{&o.HandshakeTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.IdleTimeout, &o.DrainTimeout}
}

// withTimeouts returns o with the timeouts of standard in place of timeouts of 0.
func (o Options) withTimeouts(standard Options) *Options {
	from := standard.timeouts()
	for i, t := range o.timeouts() {
		*t = cmp.Or(*t, *from[i])
	}
	return &o
}

// order returns the byte order of lengths.
func (o *Options) order() binary.ByteOrder {
	if o.BigEndianLength {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// A config holds Options with all defaults set, and the Encoders of all Writers with this config.
// The Conns of a Server share a config.
type config struct {
	Options
	encoders sync.Pool // of *gdwire.Encoder, closed
}

// newConfig returns the config for o. A nil o is the zero value.
func newConfig(o *Options) *config {
	s := new(config)
	if o != nil {
		s.Options = *o
	}
	s.Decoder.Format = cmp.Or(s.Decoder.Format, s.Format)
	s.Encoder.Format = cmp.Or(s.Encoder.Format, s.Format)
	s.Decoder.OneValue = true
	s.HandshakeTimeout = cmp.Or(s.HandshakeTimeout, serverTimeouts.HandshakeTimeout)
	s.DrainTimeout = cmp.Or(s.DrainTimeout, serverTimeouts.DrainTimeout)
	for _, t := range s.timeouts() {
		*t = max(*t, 0)
	}
	switch {
	case s.MaxPacket == 0:
		s.MaxPacket = DefaultMaxPacket
	case s.MaxPacket < 0 || s.MaxPacket >= unfinished:
		s.MaxPacket = unfinished - 1
	}
	s.encoders.New = func() any { return gdwire.NewEncoder(nil, &s.Encoder) }
	return s
}
