package stream

import (
	"context"
	"errors"
	"net"
	"os"
)

// A PeerError reports that a datagram could not be sent to a peer, or that a peer did not
// receive an earlier datagram. It is [Skippable]: datagrams of other peers are not affected.
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

// writeError returns the error of sending a datagram to a peer. Errors that also
// concern other peers are not wrapped: a closed or connected socket and a timeout.
func (c *PacketConn) writeError(to net.Addr, err error) error {
	if err == nil {
		return nil
	}
	if cause := c.ended(); cause != nil {
		return cause
	}
	for _, all := range []error{net.ErrClosed, os.ErrDeadlineExceeded, context.Canceled, net.ErrWriteToConnected} {
		if errors.Is(err, all) {
			return err
		}
	}
	return &PeerError{Addr: to, Err: err}
}

// readError returns the error of receiving a datagram.
func (c *PacketConn) readError(from net.Addr, err error) error {
	if cause := c.ended(); cause != nil {
		return cause
	}
	for _, one := range peerErrors {
		if errors.Is(err, one) {
			return &PeerError{Addr: from, Err: err}
		}
	}
	return err
}
