package stream_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
)

// TestDrainTimeout shuts a server down while a client is in the middle of something: no client holds
// Shutdown longer than DrainTimeout, over TCP and over a WebSocket.
func TestDrainTimeout(t *testing.T) {
	one, large := framed(binary.LittleEndian, encoded(t, number(1))), framed(binary.LittleEndian, mixed(t)[6])
	write := func(b []byte) func(net.Conn) { return func(c net.Conn) { _, _ = c.Write(b) } }
	message := func(f frame) func(*fakeSocket) { return func(s *fakeSocket) { s.in <- f } }
	for name, c := range map[string]struct {
		conn    func(net.Conn)    // the client over TCP, or
		socket  func(*fakeSocket) // over a WebSocket
		unknown bool              // the net.Conn under the WebSocket
		handler func(*stream.Conn) error
		options stream.Options
		talks   bool // to a client that does not read
		want    time.Duration
	}{
		"idle":                 {conn: write(nil), handler: next, want: 0},
		"inside a length":      {conn: write(one[:2]), handler: next, want: time.Second},
		"inside a packet":      {conn: write(one[:6]), handler: next, want: time.Second},
		"inside NextRaw":       {conn: write(one[:6]), handler: func(c *stream.Conn) error { _, err := c.NextRaw(nil); return err }, want: time.Second},
		"inside a value":       {conn: write(large[:30_000]), handler: skipOne, want: time.Second},
		"no ReadTimeout":       {conn: write(one[:6]), handler: next, options: stream.Options{ReadTimeout: -1}, want: time.Second},
		"a shorter one":        {conn: write(one[:6]), handler: next, options: stream.Options{ReadTimeout: time.Second}, want: time.Second},
		"shorter ReadTimeout":  {conn: write(one[:6]), handler: next, options: stream.Options{ReadTimeout: 300 * time.Millisecond}, want: 300 * time.Millisecond},
		"shorter WriteTimeout": {conn: write(nil), handler: talk, talks: true, options: stream.Options{WriteTimeout: 300 * time.Millisecond}, want: 300 * time.Millisecond},
		"shorter, message":     {socket: message(frame{typ: 2, r: slowly{}}), handler: next, options: stream.Options{ReadTimeout: 300 * time.Millisecond}, want: 400 * time.Millisecond},
		"DrainTimeout":         {conn: write(one[:6]), handler: next, options: stream.Options{DrainTimeout: 3 * time.Second}, want: 3 * time.Second},
		"off":                  {conn: write(one[:6]), handler: next, options: stream.Options{DrainTimeout: -1}, want: 10 * time.Second},
		"drips":                {conn: drip, handler: skipOne, want: time.Second},
		"does not read":        {conn: write(nil), handler: talk, talks: true, want: time.Second},
		"does not read, off":   {conn: write(nil), handler: talk, talks: true, options: stream.Options{DrainTimeout: -1}, want: 10 * time.Second},
		"writes after it":      {conn: write(nil), handler: nextAndTalk, talks: true, want: time.Second},
		"writes after it, off": {conn: write(nil), handler: nextAndTalk, talks: true, options: stream.Options{DrainTimeout: -1}, want: 10 * time.Second},
		"begun before it":      {conn: write(append(one[:len(one):len(one)], one[:6]...)), handler: nextLate, options: stream.Options{ReadTimeout: -1}, want: 2*time.Second + 1},
		"message":              {socket: message(frame{typ: 2, r: slowly{}}), handler: next, want: 1200 * time.Millisecond}, // at the next byte
		"message, unknown":     {socket: message(frame{typ: 2, r: slowly{}}), unknown: true, handler: next, want: 1200 * time.Millisecond},
		"message, not read":    {socket: func(*fakeSocket) {}, handler: talk, talks: true, want: time.Second},
		"unknown, not read":    {socket: func(*fakeSocket) {}, unknown: true, handler: talk, talks: true, want: time.Second},
		"message, idle":        {socket: func(*fakeSocket) {}, handler: next, want: 0},
		"message, no timeout":  {socket: message(frame{typ: 2, r: slowly{}}), handler: next, options: stream.Options{ReadTimeout: -1}, want: 1200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				s := &stream.Server{Options: c.options, Logger: quiet(), Handler: func(_ context.Context, conn *stream.Conn) error {
					err := c.handler(conn)
					ended <- err
					return err
				}}
				if c.conn != nil {
					ours, theirs := net.Pipe()
					ln := newFakeListener(nil)
					result := start(s, ln)
					defer func() { require.Equal(t, stream.ErrServerClosed, result()) }()
					ln.conns <- ours
					left := make(chan struct{})
					defer func() { <-left }()
					go func() {
						defer close(left)
						c.conn(theirs)
					}()
				} else {
					f := newSocket()
					ctx := t.Context()
					if !c.unknown {
						ctx = f.conn(ctx)
					}
					go s.ServeMessages(ctx, stream.WebSocket(f, closeStatus))
					c.socket(f)
				}
				synctest.Wait()
				begin := time.Now()
				require.NoError(t, s.Shutdown(t.Context()))
				require.Equal(t, c.want, time.Since(begin))
				if !c.talks && c.options.DrainTimeout == 0 {
					require.Equal(t, stream.ErrServerClosed, <-ended)
				}
			})
		})
	}
}

// A shutdownBetween is a MessageConn that shuts a Server down when the first frame of a message has arrived,
// before the Conn knows of it.
type shutdownBetween struct {
	stream.MessageConn
	s *stream.Server
}

func (b *shutdownBetween) NextMessage(ctx context.Context) (io.Reader, error) {
	r, err := b.MessageConn.NextMessage(ctx)
	go func() { _ = b.s.Shutdown(context.Background()) }()
	time.Sleep(time.Millisecond)
	return r, err
}

// TestShutdownKeepsMessage shuts a Server down when the first frame of a message has arrived: Next returns the
// message if the rest of it arrives within DrainTimeout.
func TestShutdownKeepsMessage(t *testing.T) {
	for _, between := range []bool{true, false} {
		for _, unknown := range []bool{true, false} {
			if between && unknown {
				continue // Shutdown sends a close frame
			}
			synctest.Test(t, func(t *testing.T) {
				var got []error
				s := &stream.Server{Handler: func(_ context.Context, c *stream.Conn) error {
					got = append(got, skipOne(c), skipOne(c), c.WritePacket(number(2)))
					return nil
				}}
				f := newSocket()
				ctx, ws := t.Context(), stream.WebSocket(f, closeStatus)
				if !unknown {
					ctx = f.conn(ctx)
				}
				if between {
					ws = &shutdownBetween{ws, s}
				}
				first, rest := io.Pipe()
				f.in <- frame{typ: 2, r: first}
				go func() {
					b := encoded(t, number(1))
					_, _ = rest.Write(b[:2])
					time.Sleep(900 * time.Millisecond)
					_, _ = rest.Write(b[2:])
					rest.Close()
				}()
				go s.ServeMessages(ctx, ws)
				synctest.Wait()
				go func() { <-f.out }()
				require.NoError(t, s.Shutdown(t.Context()))
				require.Equal(t, []error{nil, stream.ErrServerClosed, nil}, got)
				_, _ = io.Copy(io.Discard, first)
			})
		}
	}
}

// A hookedConn calls a function once: after a Read that returned bytes, or before a write deadline is set.
type hookedConn struct {
	net.Conn
	afterRead, beforeDeadline func()
}

func (h *hookedConn) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if f := h.afterRead; f != nil && n > 0 {
		h.afterRead = nil
		f()
	}
	return n, err
}

func (h *hookedConn) SetWriteDeadline(at time.Time) error {
	if f := h.beforeDeadline; f != nil {
		h.beforeDeadline = nil
		f()
	}
	return h.Conn.SetWriteDeadline(at)
}

// TestShutdownBetween shuts a Server down at the worst moment of a connection: a packet whose first byte has just
// arrived is read, although Shutdown interrupted that Read, and a Write whose deadline is being set gets
// DrainTimeout.
func TestShutdownBetween(t *testing.T) {
	one := framed(binary.LittleEndian, encoded(t, number(1)))
	for name, handler := range map[string]func(c *stream.Conn) error{"read": next, "write": talk} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				s := &stream.Server{Logger: quiet(), Handler: func(_ context.Context, c *stream.Conn) error {
					ended <- handler(c)
					return nil
				}}
				shutdown := func() {
					go func() { _ = s.Shutdown(context.Background()) }()
					time.Sleep(time.Millisecond)
				}
				ours, theirs := net.Pipe()
				conn, o := &hookedConn{Conn: ours}, &stream.Options{DrainTimeout: -1}
				if name == "read" {
					conn.afterRead = shutdown
				} else {
					conn.beforeDeadline = shutdown
					o = &stream.Options{WriteTimeout: time.Minute}
				}
				go s.ServeConn(stream.NewConn(t.Context(), conn, o))
				begin := time.Now()
				if name == "read" {
					must(theirs.Write(one[:6]))(t)
					time.Sleep(time.Hour)
					must(theirs.Write(one[6:]))(t)
					require.NoError(t, <-ended)
					return
				}
				require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
				require.Equal(t, time.Second+time.Millisecond, time.Since(begin))
			})
		})
	}
}

func skipOne(c *stream.Conn) error {
	d, err := c.Next()
	if err != nil {
		return err
	}
	return d.SkipValue()
}

// nextAndTalk talks after Shutdown.
func nextAndTalk(c *stream.Conn) error {
	_ = next(c)
	return talk(c)
}

// nextLate reads a packet, and after two seconds another.
func nextLate(c *stream.Conn) error {
	if err := next(c); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	return next(c)
}

// talk writes to a client that does not read.
func talk(c *stream.Conn) error {
	for {
		if err := c.WritePacket(number(1)); err != nil {
			return err
		}
	}
}

// drip sends a packet, a byte every 100 ms.
func drip(conn net.Conn) {
	_, _ = conn.Write([]byte{0, 0, 0x40, 0, 29, 0, 0, 0, 0, 0, 0x30, 0}) // a PackedByteArray of 3 MiB
	for {
		time.Sleep(100 * time.Millisecond)
		if _, err := conn.Write([]byte{0}); err != nil {
			return
		}
	}
}

// A headerConn returns its address after the header of a proxy, or after Close.
type headerConn struct {
	net.Conn
	header, closed chan struct{}
	once           sync.Once
}

func (c *headerConn) RemoteAddr() net.Addr {
	select {
	case <-c.header:
	case <-c.closed:
	}
	return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 7}
}

func (c *headerConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// TestSilentAddress accepts clients whose address is read from them, and never arrives: others are served meanwhile.
func TestSilentAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := echoServer()
		s.Logger, s.MaxConns, s.MaxConnsPerAddr = quiet(), 3, 1
		ln := newFakeListener(nil)
		result := start(s, ln)
		connect := func(known bool) net.Conn {
			ours, theirs := net.Pipe()
			c := &headerConn{Conn: ours, header: make(chan struct{}), closed: make(chan struct{})}
			if known {
				close(c.header)
			}
			ln.conns <- c
			return theirs
		}
		begin := time.Now()
		connect(false)
		connect(false)
		good := stream.NewConn(t.Context(), connect(true), nil)
		require.EqualValues(t, 5, ask(t, good, 5))
		require.EqualValues(t, 3, s.Stats().Conns)
		require.Len(t, slices.Collect(s.Conns()), 1)
		require.Equal(t, io.EOF, errOf(connect(true).Read(make([]byte, 1))), "MaxConns comes first")
		require.Zero(t, time.Since(begin))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		got := s.Stats()
		require.EqualValues(t, []int64{1, 2, 2, 1}, []int64{got.Conns, got.HandshakeTimeouts, got.Failed, got.Refused})
		require.Equal(t, io.EOF, errOf(connect(true).Read(make([]byte, 1))), "MaxConnsPerAddr")
		require.EqualValues(t, 2, s.Stats().Refused)
		connect(false)
		synctest.Wait()
		begin = time.Now()
		require.NoError(t, s.Shutdown(t.Context()))
		require.Zero(t, time.Since(begin))
		require.Equal(t, stream.ErrServerClosed, result())
	})
}
