package stream

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// A PacketTooLongError reports a packet that is longer than Options.MaxPacket. None of its bytes
// were decoded or written, and the next packet can be read or written.
type PacketTooLongError struct {
	Size   int64 // length of the packet in bytes; when writing, of the bytes encoded so far
	Max    int64 // Options.MaxPacket
	Offset int64 // offset in the stream of the first byte after the length; 0 when writing
}

func (e *PacketTooLongError) Error() string {
	hint := ""
	if e.Offset > 0 {
		hint = wire.LengthHint(e.Size, e.Max)
	}
	return fmt.Sprintf("gdwire/stream: offset %d: packet of %d bytes exceeds MaxPacket (%d)%s", e.Offset, e.Size, e.Max, hint)
}

// A PeerError reports that a datagram could not be sent to a peer, or that a peer did not receive
// an earlier datagram. A PeerError is [Skippable]: datagrams of other peers are not affected.
type PeerError struct {
	Addr net.Addr // the peer; nil if the system does not tell
	Err  error    // the error of the net.PacketConn
}

func (e *PeerError) Error() string {
	if e.Addr == nil {
		return "gdwire/stream: datagram: " + e.Err.Error()
	}
	return "gdwire/stream: datagram to " + e.Addr.String() + ": " + e.Err.Error()
}

// Unwrap returns e.Err.
func (e *PeerError) Unwrap() error { return e.Err }

// ErrBroken is wrapped by the errors of a connection made unusable by a timeout after a part of a
// packet, message or handshake.
var ErrBroken = errors.New("gdwire/stream: connection is broken")

// ErrServerClosed is returned by the methods of a [Server] after Shutdown or Close,
// and by [Conn.Next] after Shutdown.
var ErrServerClosed = errors.New("gdwire/stream: server closed")

// ErrPacketRate is returned by [Conn.Next] after a client sent more packets than
// Server.PacketRate allows.
var ErrPacketRate = errors.New("gdwire/stream: too many packets")

// ErrSlow is returned by the calls of a connection dropped by a [Room], because packets were sent
// faster than they could be written.
var ErrSlow = errors.New("gdwire/stream: member of a room receives too slowly")

// errFull is the error of a connection beyond MaxConns.
var errFull = errors.New("gdwire/stream: too many connections")

// errAddr is the error of a connection beyond MaxConnsPerAddr.
var errAddr = errors.New("gdwire/stream: too many connections from this address")

var errNotBinary = errors.New("gdwire/stream: message is text, not binary")

// stickyError returns the error of all later calls after err left the connection unusable: an
// ErrBroken instead of a timeout, because a caller could repeat the call after a timeout.
func stickyError(err error) error {
	if isTimeout(err) {
		return fmt.Errorf("%w after: %v", ErrBroken, err)
	}
	return err
}

// isAny reports whether err is or wraps one of targets.
func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// isTimeout reports whether err means that a deadline passed.
func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// Skippable reports whether the next packet can be read or written after err, because err is about
// one packet or one peer of a [PacketConn]: err is or wraps a [PacketTooLongError], a [PeerError] or
// a [gdwire.Error].
func Skippable(err error) bool {
	return errors.As(err, new(*PacketTooLongError)) || errors.As(err, new(*PeerError)) || errors.As(err, new(*gdwire.Error))
}

// emptyPacket returns the error of reading a packet of no bytes.
func emptyPacket() error {
	return &gdwire.Error{Path: "$", Err: fmt.Errorf("empty packet: %w", io.ErrUnexpectedEOF)}
}

// valueCount returns the error of writing a packet with n values.
func valueCount(n int64) error {
	return &gdwire.Error{Path: "$", Err: fmt.Errorf("%w: packet of %d values, not 1", gdwire.ErrCount, n)}
}

// checkPacket returns an error if packet, written as bytes, is empty or longer than most.
func checkPacket(packet []byte, most int64) error {
	if len(packet) == 0 {
		return valueCount(0)
	}
	return checkSize(int64(len(packet)), most)
}

// checkSize returns a PacketTooLongError if size exceeds most.
func checkSize(size, most int64) error {
	if size > most {
		return &PacketTooLongError{Size: size, Max: most}
	}
	return nil
}
