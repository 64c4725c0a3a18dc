package stream

import (
	"errors"
	"io"
	"net"
)

// A faultKind is why a connection failed.
type faultKind uint8

const (
	noFault          faultKind = iota
	handlerFault               // an error of the handler's own, or an invalid packet that it did not skip
	panicFault                 // a panic
	rateFault                  // too many packets
	resetFault                 // the client reset the connection, or the network lost it
	handshakeTimeout           // the kinds of timeouts
	idleTimeout
	readTimeout
	writeTimeout
	faultKinds
)

// isTimeout reports whether a client was too slow.
func (k faultKind) isTimeout() bool { return k >= handshakeTimeout }

// isFailure reports whether a connection counts as failed. Clients vanish, which is no failure.
func (k faultKind) isFailure() bool { return k != noFault && k != resetFault }

// A fault is an error of a connection, and not of its packets or its handler.
type fault struct {
	kind faultKind
	err  error
}

// note keeps err, of a call that failed because of the connection, in side, to tell it from errors of
// the handler. timeout is the kind if it is a timeout. It returns err.
func (c *Conn) note(side *fault, err error, timeout faultKind) error {
	f := fault{resetFault, err}
	switch {
	case isTimeout(err):
		f.kind = timeout
	case err == io.EOF: // inside a packet, the error of Next is another
		f.err = io.ErrUnexpectedEOF
	case !isReset(err):
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	*side = f
	return err
}

// isReset reports whether err, of a connection, says that the other side vanished.
func isReset(err error) bool {
	for _, lost := range resetErrors {
		if errors.Is(err, lost) {
			return true
		}
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe)
}

// faultOf returns why the connection ended with the error of its handler. The error is the client's
// fault only if a call of c returned it, so that a timeout of the handler's own, for example of a
// database, is none. If another goroutine closed c after an error of its own call, that one counts.
func (c *Conn) faultOf(err error) faultKind {
	c.mu.Lock()
	read, write := c.readFault, c.writeFault
	c.mu.Unlock()
	if _, ok := err.(*panicError); ok {
		return panicFault
	}
	if errors.Is(err, ErrPacketRate) {
		return rateFault
	}
	for _, f := range []fault{read, write} {
		if f.kind != noFault && errors.Is(err, f.err) && !Skippable(err) {
			return f.kind
		}
	}
	switch {
	case errors.Is(err, ErrBroken) && read.kind.isTimeout():
		return read.kind
	case errors.Is(err, ErrBroken), errors.Is(err, net.ErrClosed):
		if write.kind != noFault {
			return write.kind
		}
	}
	if isNormalEnd(err) {
		return noFault
	}
	return handlerFault
}
