package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
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
	once   sync.Once // closes broken
	limit  int64
	reason atomic.Value // of Close

	deaf             bool // Close waits for an answer for 5 seconds
	reading, writing late
}

// A late is a deadline.
type late struct {
	mu    sync.Mutex
	ch    chan struct{} // closed after the deadline
	timer *time.Timer
}

func (l *late) set(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil && !l.timer.Stop() {
		<-l.ch // the timer fired, but may not have closed it yet, as in net.Pipe
	}
	l.timer = nil
	select {
	case <-l.ch:
		l.ch = make(chan struct{})
	default:
	}
	switch ch, d := l.ch, time.Until(at); {
	case at.IsZero():
	case d > 0:
		l.timer = time.AfterFunc(d, func() { close(ch) })
	default:
		close(ch)
	}
}

func (l *late) done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ch
}

// conn returns a context with the connection under the WebSocket.
func (s *fakeSocket) conn(ctx context.Context) context.Context {
	return stream.WithNetConn(ctx, fakeConn{s: s})
}

// A fakeConn returns an address, and supports deadlines that interrupt the calls of a fakeSocket.
type fakeConn struct {
	net.Conn
	s *fakeSocket
}

func (c fakeConn) SetReadDeadline(t time.Time) error  { c.s.reading.set(t); return nil }
func (c fakeConn) SetWriteDeadline(t time.Time) error { c.s.writing.set(t); return nil }
func (c fakeConn) RemoteAddr() net.Addr               { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 7} }

func newSocket() *fakeSocket {
	s := &fakeSocket{in: make(chan frame, 100), out: make(chan []byte), closed: make(chan closeCode, 10), broken: make(chan struct{})}
	s.reading.ch, s.writing.ch = make(chan struct{}), make(chan struct{})
	return s
}

func (s *fakeSocket) Reader(ctx context.Context) (frameType, io.Reader, error) {
	select {
	case f := <-s.in:
		if f.err != nil {
			return 0, nil, f.err
		}
		return f.typ, &contextReader{ctx, s, f.r}, nil
	case <-s.broken:
		return 0, nil, net.ErrClosed
	case <-s.reading.done():
		return 0, nil, os.ErrDeadlineExceeded
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

// A contextReader fails when its context is done or after the deadline.
type contextReader struct {
	ctx context.Context
	s   *fakeSocket
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, r.ctx.Err()
	}
	select {
	case <-r.s.reading.done():
		return 0, os.ErrDeadlineExceeded
	default:
		return r.r.Read(p)
	}
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
	case <-s.writing.done():
		return os.ErrDeadlineExceeded
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *fakeSocket) SetReadLimit(n int64) { s.limit = n }

func (s *fakeSocket) Close(code closeCode, reason string) error {
	s.reason.Store(reason)
	s.closed <- code
	if s.deaf {
		select {
		case <-time.After(5 * time.Second):
		case <-s.reading.done():
		}
	}
	return s.end()
}

func (s *fakeSocket) CloseNow() error {
	s.closed <- -1
	return s.end()
}

func (s *fakeSocket) end() error {
	s.once.Do(func() { close(s.broken) })
	return nil
}

func (s *fakeSocket) send(b []byte) { s.in <- frame{typ: 2, r: bytes.NewReader(b)} }

func messageConn(ctx context.Context, s *fakeSocket, o *stream.Options) *stream.Conn {
	return stream.NewMessageConn(ctx, stream.WebSocket(s, closeStatus), o)
}

// TestStreamMessages describes a connection of messages, whose limit is MaxPacket, and receives an empty one. TestConnModel
// exchanges messages of all sizes.
func TestStreamMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSocket()
		c := messageConn(t.Context(), s, &stream.Options{MaxPacket: 300_000})
		require.EqualValues(t, 300_000, s.limit)
		require.Nil(t, c.NetConn())
		require.Equal(t, "websocket", c.RemoteAddr().String())
		require.Equal(t, "websocket", c.RemoteAddr().Network())
		s.send(nil)
		_, err := c.Next()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.True(t, stream.Skippable(err))
		require.NoError(t, c.Close())
		require.EqualValues(t, 1000, <-s.closed)
	})
}

// TestMessageEnds ends a connection in every way.
func TestMessageEnds(t *testing.T) {
	own := errors.New("own")
	for name, c := range map[string]struct {
		last   frame
		want   error
		closed closeCode // that Close sends
	}{
		"normal":      {frame{err: closeError{1000}}, io.EOF, 1000},
		"going away":  {frame{err: closeError{1001}}, io.EOF, 1000},
		"no status":   {frame{err: closeError{1005}}, io.EOF, 1000},
		"other":       {frame{err: closeError{1002}}, closeError{1002}, 1000},
		"error":       {frame{err: own}, own, 1000},
		"text":        {frame{typ: 1, r: strings.NewReader("text")}, nil, 1003},
		"cut message": {frame{typ: 2, r: io.MultiReader(strings.NewReader("xyz"), &stutter{err: own})}, own, 1000},
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
				require.NoError(t, conn.Close())
				require.Equal(t, c.closed, <-s.closed)
			})
		})
	}
}

// TestMessageTimeouts lets each timeout run out. Each is final: a call that is repeated
// does not return it again.
func TestMessageTimeouts(t *testing.T) {
	o := &stream.Options{ReadTimeout: time.Second, WriteTimeout: 2 * time.Second, IdleTimeout: time.Minute}
	for name, row := range map[string]struct {
		before func(s *fakeSocket)
		call   func(c *stream.Conn) error
		want   time.Duration
	}{
		"idle": {func(*fakeSocket) {}, func(c *stream.Conn) error { _, err := c.Next(); return err }, time.Minute},
		"inside a message": {func(s *fakeSocket) { s.in <- frame{typ: 2, r: slowly{}} },
			func(c *stream.Conn) error { _, err := c.Next(); return err }, 1200 * time.Millisecond}, // at the next byte
		"writing": {func(*fakeSocket) {}, func(c *stream.Conn) error { return c.WritePacket(number(1)) }, 2 * time.Second},
	} {
		for _, known := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, net.Conn: %v", name, known), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newSocket()
					ctx := t.Context()
					if known {
						ctx = s.conn(ctx)
					}
					c := messageConn(ctx, s, o)
					for range 3 { // the timer of the first is still running
						s.send(encoded(t, number(1)))
						require.EqualValues(t, 1, answer(t, c))
						time.Sleep(time.Second)
					}
					row.before(s)
					begin := time.Now()
					require.Equal(t, os.ErrDeadlineExceeded, row.call(c))
					require.Equal(t, row.want, time.Since(begin))
					for range 2 {
						err := row.call(c)
						require.ErrorIs(t, err, stream.ErrBroken)
						require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
					}
					if known && name != "writing" { // the other direction is not affected
						go func() { assert.NoError(t, c.WritePacket(number(9))) }()
						require.Equal(t, encoded(t, number(9)), <-s.out)
					}
					require.NoError(t, c.Close())
				})
			})
		}
	}
}

// slowly is a message without an end, a byte every 400 ms.
type slowly struct{}

func (slowly) Read(p []byte) (int, error) {
	time.Sleep(400 * time.Millisecond)
	return 1, nil
}

// TestMessageServer serves WebSockets and ends them in every way.
func TestMessageServer(t *testing.T) {
	one := encoded(t, number(1))
	for name, c := range map[string]struct {
		unknown bool // the net.Conn
		deaf    bool
		err     error // of the handler
		panics  bool
		end     func(s *stream.Server, f *fakeSocket)
		want    closeCode
		reason  string
		logged  string
	}{
		"Shutdown":                {end: shutdown, want: stream.CloseGoingAway},
		"Shutdown, unknown":       {end: shutdown, want: stream.CloseGoingAway, unknown: true},
		"Shutdown, deaf":          {end: shutdown, want: stream.CloseGoingAway, deaf: true},
		"Shutdown, deaf, unknown": {end: shutdown, want: stream.CloseGoingAway, deaf: true, unknown: true},
		"Close":                   {end: func(s *stream.Server, _ *fakeSocket) { s.Close() }, want: -1},
		"EOF":                     {end: gets(frame{err: closeError{1000}}), want: stream.CloseNormal},
		"lost":                    {end: gets(frame{err: io.ErrUnexpectedEOF}), want: stream.CloseInternalError},
		"text":                    {end: gets(frame{typ: 1, r: strings.NewReader("text")}), want: 1003, logged: "text, not binary"},
		"idle":                    {end: func(*stream.Server, *fakeSocket) {}, want: stream.ClosePolicyViolation, logged: "i/o timeout"},
		"slow":                    {end: gets(frame{typ: 2, r: slowly{}}), want: stream.ClosePolicyViolation, logged: "i/o timeout"},
		"invalid":                 {end: gets(frame{typ: 2, r: bytes.NewReader([]byte{200, 0, 0, 0})}), want: stream.ClosePolicyViolation, logged: "type"},
		"nil":                     {end: sends(one), err: errReturn, want: stream.CloseNormal},
		"own error":               {end: sends(one), err: errOwn, want: stream.CloseInternalError, logged: "own"},
		"panic":                   {end: sends(one), panics: true, want: stream.CloseInternalError, logged: "panic: oops"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var logged logBuffer
				server := &stream.Server{Logger: slog.New(slog.NewTextHandler(&logged, nil))}
				server.Handler = func(_ context.Context, conn *stream.Conn) error {
					if _, err := conn.Next(); err != nil {
						return err
					}
					for {
						d, err := conn.Next()
						if err == nil && c.panics {
							panic("oops")
						}
						if err == nil && c.err == errReturn {
							return nil
						}
						if err == nil && c.err != nil {
							return c.err
						}
						if err == nil {
							err = d.SkipValue()
						}
						if err == stream.ErrServerClosed && c.want == stream.CloseGoingAway && !c.unknown {
							assert.NoError(t, conn.WritePacket(number(-1)))
						}
						if err != nil {
							return err
						}
					}
				}
				s := newSocket()
				s.deaf = c.deaf
				ctx := t.Context()
				if !c.unknown {
					ctx = s.conn(ctx)
				}
				served := make(chan struct{})
				go func() {
					defer close(served)
					server.ServeMessages(ctx, stream.WebSocket(s, closeStatus))
				}()
				s.send(one)
				synctest.Wait()
				c.end(server, s)
				if c.want == stream.CloseGoingAway && !c.unknown {
					require.Equal(t, encoded(t, number(-1)), <-s.out)
				}
				require.Equal(t, c.want, <-s.closed)
				begin := time.Now()
				<-served
				require.LessOrEqual(t, time.Since(begin), 2*time.Second, "a deaf client is not waited for")
				if c.logged == "" {
					require.Empty(t, logged.String())
				} else {
					require.Contains(t, logged.String(), c.logged)
				}
				require.NoError(t, server.Shutdown(t.Context()))
				if c.deaf {
					time.Sleep(10 * time.Second) // for goroutines that wait for it
				}
			})
		})
	}
}

// errReturn makes a handler return nil.
var errReturn = errors.New("return nil")

func shutdown(s *stream.Server, _ *fakeSocket) { go func() { _ = s.Shutdown(context.Background()) }() }

func gets(f frame) func(*stream.Server, *fakeSocket) {
	return func(_ *stream.Server, s *fakeSocket) { s.in <- f }
}

func sends(b []byte) func(*stream.Server, *fakeSocket) {
	return func(_ *stream.Server, s *fakeSocket) { s.send(b) }
}

// TestMessageRefused serves more WebSockets than MaxConns: they are closed at once, with
// status 1013, and no goroutine waits for their answer.
func TestMessageRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stream.Server{MaxConns: 1, Handler: func(_ context.Context, c *stream.Conn) error { return echo(c, true) }}
		require.False(t, s.Full())
		first := newSocket()
		go s.ServeMessages(first.conn(t.Context()), stream.WebSocket(first, closeStatus))
		synctest.Wait()
		require.True(t, s.Full())
		noneLeft := testenv.NoGoroutines(t)
		begin := time.Now()
		for range 100 {
			f := newSocket()
			f.deaf = true
			s.ServeMessages(f.conn(t.Context()), stream.WebSocket(f, closeStatus))
			require.EqualValues(t, stream.CloseTryAgainLater, <-f.closed)
			f = newSocket() // without a net.Conn there is no close frame
			f.deaf = true
			s.ServeMessages(t.Context(), stream.WebSocket(f, closeStatus))
			require.EqualValues(t, -1, <-f.closed)
		}
		require.Zero(t, time.Since(begin))
		synctest.Wait()
		noneLeft()
		require.EqualValues(t, 200, s.Stats().Refused)
		require.NoError(t, s.Shutdown(t.Context()))
		require.True(t, s.Full())
		f := newSocket()
		s.ServeMessages(f.conn(t.Context()), stream.WebSocket(f, closeStatus))
		require.EqualValues(t, stream.CloseGoingAway, <-f.closed)
	})
}

// TestCloseReason closes WebSockets with long reasons, which are cut as RFC 6455 demands.
func TestCloseReason(t *testing.T) {
	for code, want := range map[int]closeCode{
		-1: 1011, 0: 1011, 999: 1011, 1000: 1000, 1003: 1003, 1004: 1011, 1005: 1011, 1006: 1011, 1007: 1007, 1014: 1014, 1015: 1011,
		stream.CloseServiceRestart: 1012, 2999: 1011, 3000: 3000, 4999: 4999, 5000: 1011, 70_000: 1011,
	} {
		f := newSocket()
		require.NoError(t, messageConn(t.Context(), f, nil).CloseWithCode(code, ""))
		require.Equal(t, want, <-f.closed, code)
	}
	for reason, want := range map[string]string{
		"bye \xff":                     "bye \uFFFD",
		strings.Repeat("\xff.", 50):    strings.Repeat("\uFFFD.", 30) + "\uFFFD",
		strings.Repeat("x", 123):       strings.Repeat("x", 123),
		strings.Repeat("x", 124):       strings.Repeat("x", 123),
		strings.Repeat("é", 100):       strings.Repeat("é", 61),
		"x" + strings.Repeat("é", 100): "x" + strings.Repeat("é", 61),
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newSocket()
			require.NoError(t, messageConn(t.Context(), f, nil).CloseWithCode(4000, reason))
			require.EqualValues(t, 4000, <-f.closed)
			require.Equal(t, want, f.reason.Load())
		})
	}
}

// A pinged socket receives a ping every minute while it waits for a message.
type pinged struct{ *fakeSocket }

func (p pinged) Reader(ctx context.Context) (frameType, io.Reader, error) {
	done := make(chan struct{})
	defer close(done)
	go func() {
		for range 20 {
			select {
			case <-time.After(time.Minute):
				stream.PingReceived(ctx, nil)
			case <-done:
				return
			}
		}
	}()
	return p.fakeSocket.Reader(ctx)
}

// TestPing receives pings and nothing else: the client is idle after the last of them.
func TestPing(t *testing.T) {
	for _, known := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newSocket()
			ctx := t.Context()
			if known {
				ctx = f.conn(ctx)
			}
			c := stream.NewMessageConn(ctx, stream.WebSocket(pinged{f}, closeStatus), &stream.Options{IdleTimeout: 2 * time.Minute})
			begin := time.Now()
			require.ErrorIs(t, next(c), os.ErrDeadlineExceeded)
			require.Equal(t, 22*time.Minute, time.Since(begin))
			require.NoError(t, c.Close())
		})
	}
	require.True(t, stream.PingReceived(t.Context(), nil), "of another connection")
}

// TestMessageBroken breaks a WebSocket by a timeout: the first call of the other direction is an
// ErrBroken, as over TLS.
func TestMessageBroken(t *testing.T) {
	o := &stream.Options{IdleTimeout: time.Second, WriteTimeout: time.Second}
	write := func(c *stream.Conn) error { return c.WritePacket(number(1)) }
	for _, calls := range [][2]func(c *stream.Conn) error{{next, write}, {write, next}} {
		synctest.Test(t, func(t *testing.T) {
			c := messageConn(t.Context(), newSocket(), o)
			require.ErrorIs(t, calls[0](c), os.ErrDeadlineExceeded)
			for range 2 {
				for _, call := range calls {
					require.ErrorIs(t, call(c), stream.ErrBroken)
				}
			}
			require.NoError(t, c.Close())
		})
	}
}

// A pingedSocket answers pings after a time, or never if it is negative.
type pingedSocket struct {
	*fakeSocket
	after time.Duration
	pings atomic.Int64
}

func (s *pingedSocket) Ping(ctx context.Context) error {
	s.pings.Add(1)
	if s.after == 0 {
		panic("no pings")
	}
	var pong <-chan time.Time
	if s.after > 0 {
		pong = time.After(s.after)
	}
	select {
	case <-pong:
		return nil
	case <-s.broken:
		return net.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestPings pings WebSockets: every 30 seconds while Next waits. One that does not answer is closed, and one that does nothing
// else after IdleTimeout.
func TestPings(t *testing.T) {
	const never = -1
	for name, c := range map[string]struct {
		options stream.Options
		after   time.Duration // a pong, after its ping
		busy    time.Duration // in which the handler does not read
		ends    time.Duration
		pings   int64
		stats   stream.Stats
	}{
		"answered":     {stream.Options{IdleTimeout: 285 * time.Second}, 20 * time.Millisecond, 0, 285 * time.Second, 9, stream.Stats{IdleTimeouts: 1}},
		"not answered": {stream.Options{}, never, 0, time.Minute, 1, stream.Stats{IdleTimeouts: 1}},
		"late":         {stream.Options{}, 31 * time.Second, 0, time.Minute, 1, stream.Stats{IdleTimeouts: 1}},
		"interval":     {stream.Options{PingInterval: 2 * time.Second, IdleTimeout: 9 * time.Second}, time.Millisecond, 0, 9 * time.Second, 4, stream.Stats{IdleTimeouts: 1}},
		"disabled":     {stream.Options{PingInterval: -1}, never, 0, 5 * time.Minute, 0, stream.Stats{IdleTimeouts: 1}},
		"busy":         {stream.Options{}, never, time.Hour, time.Hour + 31*time.Second, 1, stream.Stats{IdleTimeouts: 1}},
		"panic":        {stream.Options{}, 0, 0, 30 * time.Second, 1, stream.Stats{Panics: 1}},
	} {
		for _, known := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, net.Conn: %v", name, known), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := &pingedSocket{fakeSocket: newSocket(), after: c.after}
					var roundTrip time.Duration
					s := &stream.Server{Options: c.options, Logger: quiet(), Handler: func(_ context.Context, conn *stream.Conn) error {
						time.Sleep(c.busy)
						err := next(conn)
						roundTrip = conn.Stats().RoundTrip
						return err
					}}
					ctx := t.Context()
					if known {
						ctx = f.conn(ctx)
					}
					begun := time.Now()
					s.ServeMessages(ctx, stream.WebSocket(f, closeStatus))
					require.InDelta(t, c.ends, time.Since(begun), float64(2*time.Second))
					require.InDelta(t, c.pings, f.pings.Load(), 1) // another may be due when no pong came
					if c.pings > 1 {
						require.Equal(t, c.after, roundTrip)
					}
					got := s.Stats()
					require.Equal(t, c.stats, stream.Stats{IdleTimeouts: got.IdleTimeouts, Panics: got.Panics})
					require.NoError(t, s.Shutdown(t.Context()))
				})
			})
		}
	}
}

// Pings of a Server use one timer, which stops with the last WebSocket, and a MessageConn without Ping none.
func TestPingsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stream.Server{Handler: func(_ context.Context, conn *stream.Conn) error { return next(conn) }}
		var sockets []*pingedSocket
		for range 3 {
			f := &pingedSocket{fakeSocket: newSocket(), after: time.Millisecond}
			sockets = append(sockets, f)
			go s.ServeMessages(f.conn(t.Context()), stream.WebSocket(f, closeStatus))
			time.Sleep(10 * time.Second)
		}
		plain := newSocket()
		go s.ServeMessages(plain.conn(t.Context()), stream.WebSocket(plain, closeStatus))
		time.Sleep(35 * time.Second)
		for i, f := range sockets {
			require.Equal(t, []int64{2, 1, 1}[i], f.pings.Load())
			f.in <- frame{err: closeError{stream.CloseNormal}}
		}
		plain.in <- frame{err: closeError{stream.CloseNormal}}
		synctest.Wait()
		require.True(t, stream.Pings(s))
		time.Sleep(2 * time.Second)
		require.False(t, stream.Pings(s))
	})
}
