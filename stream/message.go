package stream

import (
	"context"
	"io"
)

// A MessageConn is a connection of binary messages. [WebSocket] returns a MessageConn for a
// *websocket.Conn of github.com/coder/websocket; a program can implement the methods over any other
// transport.
//
// One goroutine reads while others write, in turn. A call returns soon after its context is done,
// and can leave the connection unusable.
type MessageConn interface {
	// NextMessage waits for the next message and returns a Reader of the message, valid until the
	// next call. A text message is an error. io.EOF is a normal close.
	NextMessage(ctx context.Context) (io.Reader, error)
	// WriteMessage writes a binary message, and does not keep the bytes.
	WriteMessage(ctx context.Context, message []byte) error
	// SetReadLimit sets the largest size of a message in bytes. A longer message ends the
	// connection. SetReadLimit is called before NextMessage.
	SetReadLimit(n int64)
	// Close sends a close frame, waits for the other side's, and closes the connection. The code
	// is one of RFC 6455. A transport without close frames ignores both.
	Close(code int, reason string) error
	// CloseNow closes the connection.
	CloseNow() error
}

// WebSocket returns ws as a MessageConn. status returns the status of the close frame reported by
// an error:
//
//	stream.WebSocket(ws, websocket.CloseStatus)
//
// T are the types of messages and S the status codes of ws, both numbered as in RFC 6455.
func WebSocket[T, S ~int](ws interface {
	Reader(ctx context.Context) (T, io.Reader, error)
	Write(ctx context.Context, messageType T, message []byte) error
	SetReadLimit(n int64)
	Close(status S, reason string) error
	CloseNow() error
}, status func(error) S,

) MessageConn {
	return &webSocket[T, S]{ws, status}
}

// A typedSocket contains the methods of WebSocket's argument.
type typedSocket[T, S ~int] interface {
	Reader(ctx context.Context) (T, io.Reader, error)
	Write(ctx context.Context, messageType T, message []byte) error
	SetReadLimit(n int64)
	Close(status S, reason string) error
	CloseNow() error
}

// A webSocket is a WebSocket as a MessageConn.
type webSocket[T, S ~int] struct {
	typedSocket[T, S]
	status func(error) S
}

// binaryMessage is the type of a message in RFC 6455.
const binaryMessage = 2

func (w *webSocket[T, S]) NextMessage(ctx context.Context) (io.Reader, error) {
	t, r, err := w.Reader(ctx)
	if err != nil {
		switch w.status(err) {
		case CloseNormal, CloseGoingAway, closeNone:
			return nil, io.EOF
		}
		return nil, err // also io.EOF inside, of a lost connection
	}
	if t != binaryMessage {
		return nil, errNotBinary
	}
	return r, nil
}

func (w *webSocket[T, S]) WriteMessage(ctx context.Context, message []byte) error {
	return w.Write(ctx, binaryMessage, message)
}

func (w *webSocket[T, S]) Close(code int, reason string) error {
	return w.typedSocket.Close(S(code), reason)
}
