package stream

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"time"
)

// A MessageConn is a WebSocket, such as a *websocket.Conn of
// github.com/coder/websocket. T are its types of messages and S the status codes of
// its close frames, both numbered as in RFC 6455.
type MessageConn[T, S ~int] interface {
	// Reader waits for the next message and returns a Reader of it.
	Reader(ctx context.Context) (T, io.Reader, error)
	// Write writes a message.
	Write(ctx context.Context, messageType T, message []byte) error
	// SetReadLimit sets the largest size of a message in bytes. A longer one ends the
	// connection.
	SetReadLimit(n int64)
	// Close sends a close frame, waits for the other side's, and closes the connection.
	Close(status S, reason string) error
	// CloseNow closes the connection.
	CloseNow() error
}

// Numbers of RFC 6455.
const (
	binaryMessage = 2

	statusNormal      = 1000
	statusGoingAway   = 1001
	statusUnsupported = 1003
	statusNone        = 1005 // a close frame without a status
)

var errNotBinary = errors.New("gdwire/stream: message is text, not binary")

// NewMessageConn returns a Conn over a WebSocket, and becomes its owner. Each binary
// message is one packet, without a length, as with WebSocketPeer.put_var and
// WebSocketPeer.send. status returns the status of the close frame that an error
// reports, such as websocket.CloseStatus:
//
//	ws, err := websocket.Accept(w, r, nil)
//	if err != nil {
//		return // Accept has answered the request
//	}
//	server.ServeConn(stream.NewMessageConn(r.Context(), ws, websocket.CloseStatus, &server.Options))
//
// The Conn differs from one over TCP:
//   - A message is read whole, into memory that grows as it arrives. Next waits for all
//     of it, within IdleTimeout; after [Server.Shutdown] it does not wait for the rest.
//   - A message that is text, is longer than Options.MaxPacket or takes longer than
//     ReadTimeout to arrive ends the connection. So does a WriteTimeout.
//   - Next returns io.EOF after a close frame with status 1000 or 1001 or without one.
//   - Close sends a close frame, with status 1001 (going away) after Shutdown and 1000
//     otherwise, and waits for the answer as long as Close of the WebSocket does.
//   - The offsets of the Reader count 4 bytes before each message, for a length.
func NewMessageConn[T, S ~int](ctx context.Context, ws MessageConn[T, S], status func(error) S, o *Options) *Conn {
	s := newConfig(o)
	ws.SetReadLimit(s.MaxPacket)
	ours, theirs := net.Pipe()
	p := &messagePipe{Conn: ours}
	c := newConn(p, s)
	// The WebSocket's own context: it breaks the connection, so that no close frame
	// could be sent, and must not be done before Close is.
	wsCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	c.watch(ctx, func() error {
		defer cancel(net.ErrClosed)
		_ = ours.Close()
		code := S(statusNormal)
		if c.isDraining() {
			code = statusGoingAway
		}
		_ = ws.Close(code, "") // an error says that the other side is gone already
		return nil
	}, func() error {
		defer cancel(c.ended())
		_ = ours.Close()
		return ws.CloseNow()
	})
	c.message = func(content []byte) error {
		ctx := wsCtx
		if s.WriteTimeout > 0 {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeoutCause(ctx, s.WriteTimeout, os.ErrDeadlineExceeded)
			defer stop()
		}
		err := ws.Write(ctx, T(binaryMessage), content)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return c.cause(err)
	}
	go func() {
		p.err = readMessages(wsCtx, cancel, theirs, ws, s)
		switch status(p.err) {
		case statusNormal, statusGoingAway, statusNone:
			p.err = io.EOF
		}
		_ = theirs.Close()
	}()
	return c
}

// A messagePipe is the end of a net.Pipe at which a Conn reads length-prefixed
// messages.
type messagePipe struct {
	net.Conn
	err error // why there are no more; set before the other end is closed
}

func (p *messagePipe) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if err == io.EOF {
		err = p.err
	}
	return n, err
}

// RemoteAddr returns an address for logs, which the WebSocket does not tell.
func (p *messagePipe) RemoteAddr() net.Addr { return messageAddr{} }

type messageAddr struct{}

func (messageAddr) Network() string { return "websocket" }
func (messageAddr) String() string  { return "websocket" }

// readMessages writes the messages of ws to pipe, each after its length, and returns
// why there are no more. It holds a buffer only while a message arrives.
func readMessages[T, S ~int](ctx context.Context, cancel context.CancelCauseFunc, pipe io.Writer, ws MessageConn[T, S], s *config) error {
	for {
		t, r, err := ws.Reader(ctx)
		if err != nil {
			return err
		}
		if t != binaryMessage {
			_ = ws.Close(statusUnsupported, "binary messages only")
			return errNotBinary
		}
		p := newPacket()
		err = p.readFrom(r, s.ReadTimeout, cancel)
		if err == nil {
			s.order().PutUint32(p.buf, uint32(len(p.content())))
			_, err = pipe.Write(p.buf)
		}
		p.release()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// readFrom reads r to its end into p. It calls cancel if that takes too long.
func (p *packet) readFrom(r io.Reader, timeout time.Duration, cancel context.CancelCauseFunc) error {
	if timeout > 0 {
		defer time.AfterFunc(timeout, func() { cancel(os.ErrDeadlineExceeded) }).Stop()
	}
	for {
		p.buf = slices.Grow(p.buf, smallSize)
		n, err := r.Read(p.buf[len(p.buf):cap(p.buf)])
		p.buf = p.buf[:len(p.buf)+n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
