package stream

import (
	"errors"
	"strings"
)

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

// newCloseFrame returns a close frame, whose reason is cut if it is too long.
func newCloseFrame(code int, reason string) closeFrame {
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") // the last character may have been cut
	}
	return closeFrame{code, reason}
}

// closeCode returns the status code and reason with which a connection is closed after
// err, the error of its handler.
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
