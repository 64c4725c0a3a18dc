package stream

import (
	"math"
	"time"

	"github.com/gdwire/gdwire"
)

// DefaultMaxPacket is how many bytes a packet may have unless Options say
// otherwise: what engines send at most unless told otherwise.
const DefaultMaxPacket = 8 << 20

// unfinished is the length of a packet that is still being written through. No
// packet can be that long: engines take lengths as 32 bits with a sign.
const unfinished = math.MaxUint32

// Options say how packets lie on a stream, how their values are read and written,
// and how long that may take. The zero value is [gdwire.Godot4] with default
// limits and no timeouts.
type Options struct {
	// Format is what packets are in, where Decoder.Format or Encoder.Format is
	// nil. nil: Godot4.
	Format *gdwire.Format
	// MaxPacket is how many bytes a packet may have, read or written; one beyond
	// is a [PacketError]. 0: DefaultMaxPacket; -1: as many as its length can tell.
	MaxPacket int64
	// BigEndianLength: lengths are big-endian, as of a StreamPeer or file whose
	// big_endian is set. What is in a packet is little-endian all the same.
	BigEndianLength bool
	// Decoder says how values are read. OneValue goes without saying.
	Decoder gdwire.DecoderOptions
	// Encoder says how values are written.
	Encoder gdwire.EncoderOptions

	// ReadTimeout is how long a packet may take on a [Conn] from when its first
	// byte is there until the next is asked for. 0: for ever.
	ReadTimeout time.Duration
	// WriteTimeout is how long it may take to write a packet. 0: for ever.
	WriteTimeout time.Duration
	// IdleTimeout is how long to wait for the first byte of a packet, or for a
	// datagram. 0: for ever.
	IdleTimeout time.Duration
}

// settle returns the options with every default put in.
func (o *Options) settle() Options {
	var s Options
	if o != nil {
		s = *o
	}
	if s.Decoder.Format == nil {
		s.Decoder.Format = s.Format
	}
	if s.Encoder.Format == nil {
		s.Encoder.Format = s.Format
	}
	s.Decoder.OneValue = true
	switch {
	case s.MaxPacket == 0:
		s.MaxPacket = DefaultMaxPacket
	case s.MaxPacket < 0 || s.MaxPacket >= unfinished:
		s.MaxPacket = unfinished - 1
	}
	return s
}
