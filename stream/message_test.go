package stream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/stretchr/testify/require"
)

type (
	frameType int
	closeCode int
)

// A closeError is the error of a fakeSocket after a close frame.
type closeError struct{ code closeCode }

func (closeError) Error() string { return "close frame" }

func closeStatus(err error) closeCode {
	var e closeError
	if errors.As(err, &e) {
		return e.code
	}
	return -1
}

// A frame is a message, or the error in its place.
type frame struct {
	typ frameType
	r   io.Reader
	err error
}

// A fakeSocket is a WebSocket whose other side is a test. As with the real ones, a
// context that is done breaks it.
type fakeSocket struct {
	in     chan frame
	out    chan []byte
	closed chan closeCode // gets -1 from CloseNow
	broken chan struct{}
	limit  int64
}

var _ stream.MessageConn[frameType, closeCode] = (*fakeSocket)(nil)

func newSocket() *fakeSocket {
	return &fakeSocket{in: make(chan frame, 100), out: make(chan []byte), closed: make(chan closeCode, 10), broken: make(chan struct{})}
}

func (s *fakeSocket) Reader(ctx context.Context) (frameType, io.Reader, error) {
	select {
	case f := <-s.in:
		if f.err != nil {
			return 0, nil, f.err
		}
		return f.typ, &contextReader{ctx, f.r}, nil
	case <-s.broken:
		return 0, nil, net.ErrClosed
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

// A contextReader fails when its context is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, r.ctx.Err()
	}
	return r.r.Read(p)
}

func (s *fakeSocket) Write(ctx context.Context, typ frameType, b []byte) error {
	if typ != 2 {
		return errors.New("not binary")
	}
	select {
	case s.out <- bytes.Clone(b):
		return nil
	case <-s.broken:
		return net.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *fakeSocket) SetReadLimit(n int64) { s.limit = n }

func (s *fakeSocket) Close(code closeCode, _ string) error {
	s.closed <- code
	return s.end()
}

func (s *fakeSocket) CloseNow() error {
	s.closed <- -1
	return s.end()
}

func (s *fakeSocket) end() error {
	select {
	case <-s.broken:
	default:
		close(s.broken)
	}
	return nil
}

func (s *fakeSocket) send(b []byte) { s.in <- frame{typ: 2, r: bytes.NewReader(b)} }

var _ stream.MessageConn[frameType, closeCode] = (*fakeSocket)(nil)

func messageConn(ctx context.Context, s *fakeSocket, o *stream.Options) *stream.Conn {
	return stream.NewMessageConn(ctx, s, closeStatus, o)
}

// TestMessages exchanges messages of all sizes.
func TestMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSocket()
		c := messageConn(t.Context(), s, &stream.Options{MaxPacket: 300_000, ReadTimeout: long, WriteTimeout: long, IdleTimeout: long})
		require.EqualValues(t, 300_000, s.limit)
		require.Equal(t, "websocket", c.NetConn().RemoteAddr().String())
		require.Equal(t, "websocket", c.NetConn().RemoteAddr().Network())
		for _, size := range []int{0, 1, 300, 20_000, 200_000} {
			text := strings.Repeat("x", size)
			want := encoded(t, str(text))
			s.send(want)
			d, err := c.Next()
			require.NoError(t, err)
			got, err := d.ReadString()
			require.NoError(t, err)
			require.Equal(t, text, got)
			s.send(want)
			raw, err := c.NextRaw(nil)
			require.NoError(t, err)
			require.Equal(t, want, raw)
			go func() { _ = c.WritePacket(str(text)) }()
			require.Equal(t, want, <-s.out)
			go func() { _ = c.WriteRaw(want) }()
			require.Equal(t, want, <-s.out)
		}
		s.send(nil)
		_, err := c.Next()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.True(t, stream.Skippable(err))
		require.Equal(t, stream.ErrNotSeekable, c.WriteThrough(number(1)))
		require.NoError(t, c.Close())
		require.EqualValues(t, 1000, <-s.closed)
		_, err = c.Next()
		require.Equal(t, net.ErrClosed, err)
		require.Equal(t, net.ErrClosed, c.WritePacket(number(1)))
	})
}

// TestMessageEnds ends a connection in every way.
func TestMessageEnds(t *testing.T) {
	own := errors.New("own")
	for name, c := range map[string]struct {
		last   frame
		want   error
		closed []closeCode
	}{
		"normal":      {frame{err: closeError{1000}}, io.EOF, nil},
		"going away":  {frame{err: closeError{1001}}, io.EOF, nil},
		"no status":   {frame{err: closeError{1005}}, io.EOF, nil},
		"other":       {frame{err: closeError{1002}}, closeError{1002}, nil},
		"error":       {frame{err: own}, own, nil},
		"text":        {frame{typ: 1, r: strings.NewReader("text")}, nil, []closeCode{1003}},
		"cut message": {frame{typ: 2, r: io.MultiReader(strings.NewReader("xyz"), &stutter{err: own})}, own, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSocket()
				conn := messageConn(t.Context(), s, nil)
				s.send(encoded(t, number(1)))
				s.in <- c.last
				require.EqualValues(t, 1, answer(t, conn))
				for range 2 {
					_, err := conn.Next()
					if c.want == nil {
						require.ErrorContains(t, err, "text, not binary")
					} else {
						require.Equal(t, c.want, err)
					}
				}
				for _, code := range c.closed {
					require.Equal(t, code, <-s.closed)
				}
				require.NoError(t, conn.Close())
				require.EqualValues(t, 1000, <-s.closed)
			})
		})
	}
}

// TestMessageTimeouts lets each timeout run out. That of waiting for a message is
// temporary.
func TestMessageTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &stream.Options{ReadTimeout: time.Second, WriteTimeout: 2 * time.Second, IdleTimeout: time.Minute}
		s := newSocket()
		c := messageConn(t.Context(), s, o)
		begin := time.Now()
		_, err := c.Next()
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(begin))
		s.send(encoded(t, number(1)))
		require.EqualValues(t, 1, answer(t, c))
		begin = time.Now()
		require.Equal(t, os.ErrDeadlineExceeded, c.WritePacket(number(1)))
		require.Equal(t, 2*time.Second, time.Since(begin))
		require.NoError(t, c.Close())

		s = newSocket()
		c = messageConn(t.Context(), s, o)
		s.in <- frame{typ: 2, r: slowly{}}
		begin = time.Now()
		_, err = c.Next()
		require.Equal(t, os.ErrDeadlineExceeded, err)
		require.Equal(t, 1200*time.Millisecond, time.Since(begin), "at the next byte")
		require.NoError(t, c.Close())
	})
}

// slowly is a message of which a byte comes every 400 ms, for ever.
type slowly struct{}

func (slowly) Read(p []byte) (int, error) {
	time.Sleep(400 * time.Millisecond)
	return 1, nil
}

// TestMessageServer serves a WebSocket and shuts down, or closes.
func TestMessageServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := func(_ context.Context, c *stream.Conn) error {
			err := echo(c, true)
			if err == stream.ErrServerClosed {
				return c.WritePacket(number(-1))
			}
			return err
		}
		server := &stream.Server{Handler: handler}
		s := newSocket()
		served := make(chan struct{})
		go func() {
			defer close(served)
			server.ServeConn(messageConn(t.Context(), s, nil))
		}()
		one := encoded(t, number(1))
		s.send(one)
		require.Equal(t, one, <-s.out)
		down := make(chan error)
		go func() { down <- server.Shutdown(t.Context()) }()
		require.Equal(t, encoded(t, number(-1)), <-s.out)
		require.EqualValues(t, 1001, <-s.closed)
		require.NoError(t, <-down)
		<-served

		server = &stream.Server{Handler: handler}
		s = newSocket()
		served = make(chan struct{})
		go func() {
			defer close(served)
			server.ServeConn(messageConn(t.Context(), s, nil))
		}()
		s.send(one)
		require.Equal(t, one, <-s.out)
		require.NoError(t, server.Close())
		require.EqualValues(t, -1, <-s.closed)
		<-served
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := newSocket()
		c := messageConn(ctx, s, nil)
		cancel(gdwire.ErrType)
		_, err := c.Next()
		require.Equal(t, gdwire.ErrType, err)
		require.Equal(t, gdwire.ErrType, c.WritePacket(number(1)))
		require.EqualValues(t, -1, <-s.closed)
		require.NoError(t, c.Close())
	})
}
