package stream_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
)

// TestUnreadInput ends connections whose clients send without a pause: the clients receive all that
// was written, and then the end of the stream, whatever ended the connection.
func TestUnreadInput(t *testing.T) {
	const packets = 50
	certFile, keyFile, trust := certificate(t)
	cert := must(tls.LoadX509KeyPair(certFile, keyFile))(t)
	for name, c := range map[string]struct {
		tls bool
		end func(c *stream.Conn) error
	}{
		"return":      {false, func(*stream.Conn) error { return nil }},
		"Close":       {false, func(c *stream.Conn) error { return c.Close() }},
		"error":       {false, func(*stream.Conn) error { return errOwn }},
		"TLS, return": {true, func(*stream.Conn) error { return nil }},

		"TLS, embedded": {true, func(*stream.Conn) error { return nil }},
		"TLS, Close":    {true, func(c *stream.Conn) error { return c.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stream.Server{Logger: quiet(), Handler: func(_ context.Context, conn *stream.Conn) error {
				if err := next(conn); err != nil {
					return err
				}
				for range packets {
					if err := conn.WritePacket(number(1)); err != nil {
						return err
					}
				}
				return c.end(conn)
			}}
			ln := listen(t)
			addr := ln.Addr().String()
			if c.tls {
				ln = tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{cert}})
			}
			var closed atomic.Int64
			if name == "TLS, embedded" {
				ln = embedding{ln, &closed}
			}
			result := start(s, ln)
			for range 10 {
				conn := must(net.Dial("tcp", addr))(t)
				if c.tls {
					conn = tls.Client(conn, trust)
				}
				wrote := make(chan struct{})
				go func() {
					defer close(wrote)
					one := framed(binary.LittleEndian, encoded(t, number(1)))
					for {
						if _, err := conn.Write(one); err != nil {
							return
						}
					}
				}()
				got, err := io.ReadAll(conn)
				assert.NoError(t, err)
				assert.Len(t, got, packets*12)
				conn.Close()
				<-wrote
			}
			require.NoError(t, s.Shutdown(t.Context()))
			require.Equal(t, stream.ErrServerClosed, result())
			require.Equal(t, name == "TLS, embedded", closed.Load() >= 10, "Close of each connection is called")
		})
	}
}

// An embedding is a Listener whose connections embed a tls.Conn and have a Close of their own.
type embedding struct {
	net.Listener
	closed *atomic.Int64
}

type embeddingConn struct {
	*tls.Conn
	closed *atomic.Int64
}

func (e embedding) Accept() (net.Conn, error) {
	c, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return embeddingConn{c.(*tls.Conn), e.closed}, nil
}

func (e embeddingConn) Close() error { e.closed.Add(1); return e.Conn.Close() }

// A halfConn is a net.Pipe that can be closed for writing alone.
type halfConn struct {
	net.Conn
	half, closed chan struct{}
}

func newHalfConn(conn net.Conn) *halfConn {
	return &halfConn{conn, make(chan struct{}, 1), make(chan struct{}, 10)}
}

func (c *halfConn) CloseWrite() error { c.half <- struct{}{}; return nil }

func (c *halfConn) Close() error { c.closed <- struct{}{}; return c.Conn.Close() }

// A closesServer is a connection whose end of writing meets Server.Close.
type closesServer struct {
	*halfConn
	s *stream.Server
}

func (c closesServer) CloseWrite() error { return c.s.Close() }

// TestLinger measures how long a connection stays open after its handler.
func TestLinger(t *testing.T) {
	for name, c := range map[string]struct {
		client func(s *stream.Server, conn net.Conn)
		want   time.Duration
	}{
		"silent":       {func(*stream.Server, net.Conn) {}, 500 * time.Millisecond},
		"floods":       {func(_ *stream.Server, conn net.Conn) { _, _ = io.Copy(conn, endless{}) }, 500 * time.Millisecond},
		"closes":       {func(_ *stream.Server, conn net.Conn) { time.Sleep(100 * time.Millisecond); conn.Close() }, 100 * time.Millisecond},
		"Server.Close": {func(s *stream.Server, _ net.Conn) { time.Sleep(200 * time.Millisecond); s.Close() }, 200 * time.Millisecond},
	} {
		for _, closes := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &stream.Server{Handler: func(_ context.Context, conn *stream.Conn) error {
						if closes {
							go func() { _ = conn.Close() }() // as another goroutine of a program does
							assert.Equal(t, net.ErrClosed, next(conn))
							assert.Equal(t, net.ErrClosed, conn.WritePacket(number(1)))
						}
						return nil
					}}
					ours, theirs := net.Pipe()
					half := newHalfConn(ours)
					end := serveOne(t, s, half)
					begin := time.Now()
					<-half.half
					require.Zero(t, time.Since(begin))
					left := make(chan struct{})
					go func() {
						defer close(left)
						c.client(s, theirs)
					}()
					<-half.closed
					require.Equal(t, c.want, time.Since(begin))
					<-left
					end()
				})
			})
		}
	}
	// Server.Close comes while Close ends writing.
	synctest.Test(t, func(t *testing.T) {
		s := &stream.Server{Handler: func(context.Context, *stream.Conn) error { return nil }}
		ours, _ := net.Pipe()
		begin := time.Now()
		s.ServeConn(stream.NewConn(t.Context(), closesServer{newHalfConn(ours), s}, nil))
		require.Equal(t, begin, time.Now())
	})
	// A Conn without a Server is closed at once.
	synctest.Test(t, func(t *testing.T) {
		ours, _ := net.Pipe()
		half := newHalfConn(ours)
		c := stream.NewConn(t.Context(), half, nil)
		require.NoError(t, c.Close())
		<-half.closed
		require.Empty(t, half.half)
	})
	// Server.Close closes a connection that a handler has closed, although the handler goes on.
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		s := &stream.Server{Handler: func(_ context.Context, c *stream.Conn) error {
			_ = c.Close()
			<-leave
			return nil
		}}
		ours, _ := net.Pipe()
		half := newHalfConn(ours)
		go s.ServeConn(stream.NewConn(t.Context(), half, nil))
		<-half.half
		synctest.Wait()
		require.NoError(t, s.Close())
		<-half.closed
		close(leave)
		require.NoError(t, s.Shutdown(t.Context()))
	})
}

// endless is an input without an end, 100 bytes in a millisecond.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return min(len(p), 100), nil
}

// An answeringConn writes a byte in each Read, as a tls.Conn does that answers a KeyUpdate.
type answeringConn struct{ net.Conn }

func (answeringConn) HandshakeContext(context.Context) error { return nil }

func (c answeringConn) Read(p []byte) (n int, err error) {
	if n, err = c.Conn.Read(p); err == nil {
		_, err = c.Write([]byte{1})
	}
	return n, err
}

// TestWriteInRead reads from a connection whose Read writes, after the deadline of a packet: it has the time of the read, and
// after Shutdown DrainTimeout.
func TestWriteInRead(t *testing.T) {
	one := framed(binary.LittleEndian, encoded(t, number(1)))
	for name, c := range map[string]struct {
		answered, shutdown bool
		want               error
		time               time.Duration
	}{
		"read":     {true, false, io.EOF, 10 * time.Second},
		"not read": {false, false, os.ErrDeadlineExceeded, time.Minute},
		"Shutdown": {false, true, stream.ErrServerClosed, 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got error
				s := &stream.Server{Logger: quiet(), Handler: func(_ context.Context, c *stream.Conn) error {
					if got = c.WritePacket(number(1)); got == nil {
						got = drained(c)
					}
					return got
				}}
				ours, theirs := net.Pipe()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					s.ServeConn(stream.NewConn(t.Context(), answeringConn{ours}, &stream.Options{WriteTimeout: time.Second, IdleTimeout: time.Minute}))
				}()
				begin := time.Now()
				must(io.ReadFull(theirs, make([]byte, len(one))))(t)
				time.Sleep(10 * time.Second)
				must(theirs.Write(one))(t)
				if c.answered {
					must(io.ReadFull(theirs, make([]byte, 1)))(t)
					require.NoError(t, theirs.Close())
				}
				if c.shutdown {
					synctest.Wait()
					require.NoError(t, s.Shutdown(t.Context()))
				}
				<-ended
				require.ErrorIs(t, got, c.want)
				require.Equal(t, c.time, time.Since(begin))
			})
		})
	}
}

// TestSetReadDeadline waits until a deadline, between packets and inside one, set before the call or during it. Over TCP the
// call can be repeated, and no timeout is counted.
func TestSetReadDeadline(t *testing.T) {
	packet := framed(binary.LittleEndian, encoded(t, number(7)))
	for name, c := range map[string]struct {
		sent   []byte        // before the deadline
		set    time.Duration // when the deadline is set
		at     time.Duration // the deadline
		want   time.Duration // when Next returns
		err    error
		repeat bool
	}{
		"between packets":         {nil, 0, time.Second, time.Second, os.ErrDeadlineExceeded, true},
		"inside a packet":         {packet[:7], 0, time.Second, time.Second, os.ErrDeadlineExceeded, true},
		"inside a length":         {packet[:2], 0, time.Second, time.Second, os.ErrDeadlineExceeded, true},
		"arrived":                 {packet, 0, time.Second, 0, nil, false},
		"during a call":           {nil, time.Second, time.Second, time.Second, os.ErrDeadlineExceeded, true},
		"during a call, packet":   {packet[:7], time.Second, 2 * time.Second, 2 * time.Second, os.ErrDeadlineExceeded, true},
		"in the past":             {nil, 0, -time.Hour, 0, os.ErrDeadlineExceeded, true},
		"after IdleTimeout":       {nil, 0, time.Hour, time.Minute, os.ErrDeadlineExceeded, false},
		"after ReadTimeout":       {packet[:7], 0, time.Hour, 10 * time.Second, os.ErrDeadlineExceeded, false},
		"during a call, too late": {packet[:7], time.Second, time.Hour, 10 * time.Second, os.ErrDeadlineExceeded, false},
	} {
		for _, cancel := range []bool{false, true} { // by a context
			t.Run(fmt.Sprintf("%s, context: %v", name, cancel), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ours, theirs := net.Pipe()
					defer theirs.Close()
					s := &stream.Server{Options: stream.Options{IdleTimeout: time.Minute, ReadTimeout: 10 * time.Second}, Logger: quiet(), Handler: func(_ context.Context, conn *stream.Conn) error {
						begun := time.Now()
						if cancel {
							ctx, stop := context.WithTimeout(context.Background(), max(c.at, 0))
							defer stop()
							defer context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Unix(1, 0)) })()
						} else {
							time.AfterFunc(c.set, func() { conn.SetReadDeadline(begun.Add(c.at)) })
						}
						if c.set == 0 {
							synctest.Wait()
						}
						err := next(conn)
						require.ErrorIs(t, err, c.err)
						require.Equal(t, c.want, time.Since(begun).Truncate(time.Millisecond))
						if c.repeat {
							require.ErrorIs(t, next(conn), os.ErrDeadlineExceeded)
							conn.SetReadDeadline(time.Time{})
							go func() { _, _ = theirs.Write(packet[len(c.sent):]) }()
							require.EqualValues(t, 7, answer(t, conn))
							return nil
						}
						return err
					}}
					if len(c.sent) > 0 {
						go func() { _, _ = theirs.Write(c.sent) }()
					}
					s.ServeConn(stream.NewConn(t.Context(), ours, &s.Options))
					timeouts := s.Stats().IdleTimeouts + s.Stats().ReadTimeouts
					require.Equal(t, c.err != nil && !c.repeat, timeouts == 1, "%d timeouts", timeouts)
					require.NoError(t, s.Shutdown(t.Context()))
				})
			})
		}
	}
}

// FlushContext ends with its context, and the packets are still written.
func TestFlushContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var room stream.Room
		server, client := net.Pipe()
		defer client.Close()
		m := room.Join(stream.NewConn(t.Context(), server, nil))
		require.NoError(t, m.FlushContext(t.Context()))
		require.NoError(t, m.WriteRaw([]byte{0, 0, 0, 0}))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errBroken) })
		begun := time.Now()
		require.Equal(t, errBroken, m.FlushContext(ctx))
		require.Equal(t, time.Second, time.Since(begun))
		go func() { _, _ = io.Copy(io.Discard, client) }()
		require.NoError(t, m.FlushContext(t.Context()))
		require.NoError(t, m.FlushContext(ctx), "nothing to wait for")
	})
}
