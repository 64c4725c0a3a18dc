package stream

import (
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
)

// A PacketError says that a packet is longer than Options.MaxPacket. Nothing of
// it was read or written, and the packets after it are as good as ever.
type PacketError struct {
	Size   int64 // of the packet in bytes; of one being written, those so far
	Max    int64 // what is allowed
	Offset int64 // where in the stream its first byte is, behind the length; 0 of one being written
}

func (e *PacketError) Error() string {
	return fmt.Sprintf("gdwire/stream: offset %d: packet of %d bytes exceeds MaxPacket (%d)", e.Offset, e.Size, e.Max)
}

// Skippable reports whether err spoils no more than one packet, so that the next
// can be read or written: whether it is or wraps a [PacketError] or a
// [gdwire.Error].
func Skippable(err error) bool {
	var p *PacketError
	var v *gdwire.Error
	return errors.As(err, &p) || errors.As(err, &v)
}

// emptyPacket is the error of a packet without a value.
func emptyPacket() error {
	return &gdwire.Error{Path: "$", Err: io.ErrUnexpectedEOF}
}

var (
	errBadRead  = errors.New("gdwire/stream: reader returned an impossible count")
	errBadWrite = errors.New("gdwire/stream: writer returned an impossible count")
)
