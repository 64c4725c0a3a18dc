package stream

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strings"
	"sync"
)

// A faultKind is why a connection failed.
type faultKind uint8

const (
	noFault          faultKind = iota
	handlerFault               // an error of the handler's own, or an invalid packet it did not skip
	panicFault                 // a panic
	rateFault                  // too many packets
	slowFault                  // dropped by a Room
	resetFault                 // the client reset the connection, or the network lost it
	handshakeTimeout           // the kinds of timeouts
	idleTimeout
	readTimeout
	writeTimeout
	faultKinds
)

// isTimeout reports whether a client was too slow.
func (k faultKind) isTimeout() bool { return k >= handshakeTimeout }

// isFailure reports whether a connection counts as failed. A client that vanishes is no failure.
func (k faultKind) isFailure() bool { return k != noFault && k != resetFault }

// A fault is an error of a connection, and not of its packets or its handler.
type fault struct {
	kind faultKind
	err  error
}

// faults are the latest faults of a connection.
type faults struct {
	mu          sync.Mutex
	read, write fault
}

// note keeps err, the error of a call that failed because of the connection, in side, to distinguish
// err from errors of the handler. If err is a timeout, timeout is the kind. note returns err.
func (f *faults) note(side *fault, err error, timeout faultKind) error {
	latest := fault{resetFault, err}
	switch {
	case isTimeout(err):
		latest.kind = timeout
	case err == io.EOF: // inside a packet, Next returns another error
		latest.err = io.ErrUnexpectedEOF
	case !isReset(err):
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	*side = latest
	return err
}

// of returns why a connection ended with the error of its handler. The error is the client's fault only
// if a call of the Conn returned it: a timeout of the handler's own, for example of a database, is no
// fault. If another goroutine closed the Conn after an error of its own call, that error counts.
func (f *faults) of(err error) faultKind {
	f.mu.Lock()
	defer f.mu.Unlock()
	read, write := f.read, f.write
	switch _, ok := err.(*panicError); {
	case ok:
		return panicFault
	case errors.Is(err, ErrPacketRate):
		return rateFault
	case errors.Is(err, ErrSlow):
		return slowFault
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

// isReset reports whether err, of a connection, means that the other side vanished.
func isReset(err error) bool {
	return isAny(err, resetErrors...) || isAny(err, io.ErrUnexpectedEOF, io.ErrClosedPipe)
}

// isNormalEnd reports whether err, the error of a handler, is the normal end of a connection. A
// normal end is not logged.
func isNormalEnd(err error) bool {
	return err == nil || isAny(err, io.EOF, net.ErrClosed, ErrServerClosed)
}

// A panicError is the error of a panic.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// panicked returns the error for a recovered value, or err if recovered is nil.
func panicked(recovered any, err error) error {
	if recovered == nil {
		return err
	}
	return &panicError{recovered, debug.Stack()}
}

// Status codes of close frames, for [Conn.CloseWithCode]. A [Server] closes with
// CloseNormal if the handler returns nil or the client closed, with CloseGoingAway
// after Shutdown, with ClosePolicyViolation after a timeout or an error about a packet,
// with CloseInternalError after any other error or a panic, and with CloseTryAgainLater
// beyond MaxConns and after an [ErrSlow].
const (
	CloseNormal          = 1000
	CloseGoingAway       = 1001
	ClosePolicyViolation = 1008
	CloseInternalError   = 1011
	CloseServiceRestart  = 1012 // not used by a Server: the client should connect again
	CloseTryAgainLater   = 1013

	closeUnsupported = 1003
	closeNone        = 1005 // a close frame without a status
)

// A closeFrame is the status code and reason of a WebSocket's close frame.
type closeFrame struct {
	code   int
	reason string
}

// maxReason is the maximum length in bytes of a close frame's reason, by RFC 6455.
const maxReason = 123

// newCloseFrame returns a close frame. A reason that is too long is cut, and a code that cannot be sent replaced.
func newCloseFrame(code int, reason string) closeFrame {
	reason = strings.ToValidUTF8(reason, "\uFFFD")
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") // the last character may have been cut
	}
	if !isCloseCode(code) {
		code = CloseInternalError
	}
	return closeFrame{code, reason}
}

// isCloseCode reports whether a close frame can contain code: the codes registered for RFC 6455 without those that
// only describe a missing frame, and those of libraries and programs.
func isCloseCode(code int) bool {
	return code >= 1000 && code <= 1003 || code >= 1007 && code <= 1014 || code >= 3000 && code <= 4999
}

// closeCode returns the status code and reason for closing a connection after err, the error of the
// handler.
func closeCode(err error, kind faultKind) (code int, reason string) {
	switch {
	case errors.Is(err, ErrServerClosed):
		return CloseGoingAway, "server is shutting down"
	case errors.Is(err, errFull):
		return CloseTryAgainLater, "server is full"
	case errors.Is(err, errAddr):
		return CloseTryAgainLater, "too many connections from this address"
	case kind == rateFault:
		return ClosePolicyViolation, "too many packets"
	case kind == slowFault:
		return CloseTryAgainLater, "too slow"
	case kind == noFault:
		return CloseNormal, ""
	case errors.Is(err, errNotBinary):
		return closeUnsupported, "binary messages only"
	case kind.isTimeout():
		return ClosePolicyViolation, "timeout"
	case Skippable(err):
		return ClosePolicyViolation, "invalid packet"
	}
	return CloseInternalError, ""
}
