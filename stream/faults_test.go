//go:build !plan9

package stream_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
)

// A failingConn fails to read or write.
type failingConn struct {
	net.Conn
	read, write error
}

func (c failingConn) Read(p []byte) (int, error) {
	if c.read != nil {
		return 0, c.read
	}
	return c.Conn.Read(p)
}

func (c failingConn) Write(p []byte) (int, error) {
	if c.write != nil {
		return 0, c.write
	}
	return c.Conn.Write(p)
}

// TestFaults ends connections by every kind of error: how it is counted, and at which level logged.
func TestFaults(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	gone := &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}
	one := framed(binary.LittleEndian, encoded(t, number(1)))
	writes := func(c *stream.Conn) error { return c.WritePacket(number(1)) }
	for name, c := range map[string]struct {
		read, write error
		sends       []byte // by the client, which then leaves; without it, the client stays silent
		handler     func(c *stream.Conn) error
		socket      *frame // over a WebSocket
		want        stream.Stats
		logged      string // a part of the record
	}{
		"leaves":                {sends: one, handler: drained},
		"nil":                   {handler: func(*stream.Conn) error { return nil }},
		"closed, wrapped":       {handler: func(*stream.Conn) error { return fmt.Errorf("wrapped: %w", net.ErrClosed) }},
		"server closed":         {handler: func(*stream.Conn) error { return stream.ErrServerClosed }},
		"leaves in a packet":    {sends: one[:6], handler: drained, want: stream.Stats{Lost: 1}, logged: "DEBUG"},
		"leaves in a length":    {sends: one[:2], handler: drained, want: stream.Stats{Lost: 1}, logged: "DEBUG"},
		"leaves in a value":     {sends: framed(binary.LittleEndian, mixed(t)[6])[:30_000], handler: skipOne, want: stream.Stats{Lost: 1}, logged: "DEBUG"},
		"reset":                 {read: reset, handler: drained, want: stream.Stats{Lost: 1}, logged: "DEBUG"},
		"reset, wrapped":        {read: reset, handler: func(c *stream.Conn) error { return fmt.Errorf("of mine: %w", drained(c)) }, want: stream.Stats{Lost: 1}, logged: "DEBUG"},
		"write to none":         {write: gone, handler: writes, want: stream.Stats{Lost: 1}, logged: "DEBUG"},
		"idle":                  {handler: drained, want: stream.Stats{Failed: 1, IdleTimeouts: 1}, logged: "ERROR"},
		"does not read":         {handler: writes, want: stream.Stats{Failed: 1, WriteTimeouts: 1}, logged: "ERROR"},
		"broken by a timeout":   {handler: func(c *stream.Conn) error { _ = writes(c); return errors.Join(stream.ErrBroken, errOwn) }, want: stream.Stats{Failed: 1, WriteTimeouts: 1}, logged: "ERROR"},
		"another goroutine's":   {handler: func(c *stream.Conn) error { _ = writes(c); _ = c.Close(); return drained(c) }, want: stream.Stats{Failed: 1, WriteTimeouts: 1}, logged: "ERROR"},
		"after a timeout":       {handler: func(c *stream.Conn) error { _ = drained(c); return nil }},
		"own":                   {handler: func(*stream.Conn) error { return errOwn }, want: stream.Stats{Failed: 1}, logged: `ERROR msg="gdwire/stream: connection failed" remote=pipe error=own packets=0` + "\n"},
		"own timeout":           {handler: func(*stream.Conn) error { return context.DeadlineExceeded }, want: stream.Stats{Failed: 1}, logged: "ERROR"},
		"own timeout, os":       {handler: func(*stream.Conn) error { return os.ErrDeadlineExceeded }, want: stream.Stats{Failed: 1}, logged: "ERROR"},
		"own reset":             {handler: func(*stream.Conn) error { return reset }, want: stream.Stats{Failed: 1}, logged: "ERROR"},
		"own unexpected EOF":    {handler: func(*stream.Conn) error { return io.ErrUnexpectedEOF }, want: stream.Stats{Failed: 1}, logged: `ERROR msg="gdwire/stream: connection failed" remote=pipe error="unexpected EOF"`},
		"closed":                {handler: func(c *stream.Conn) error { _ = c.Close(); return drained(c) }},
		"panic":                 {handler: func(*stream.Conn) error { panic("oops") }, want: stream.Stats{Failed: 1, Panics: 1}, logged: `ERROR msg="gdwire/stream: connection failed" remote=pipe error="panic: oops" packets=0 stack="goroutine `},
		"panic of an error":     {handler: func(*stream.Conn) error { panic(errOwn) }, want: stream.Stats{Failed: 1, Panics: 1}, logged: `error="panic: own" packets=0 stack="goroutine `},
		"invalid":               {sends: []byte{4, 0, 0, 0, 200, 0, 0, 0}, handler: skipOne, want: stream.Stats{Failed: 1, Invalid: 1}, logged: "ERROR"},
		"WebSocket, closed":     {socket: &frame{err: closeError{1001}}, handler: drained},
		"WebSocket, lost":       {socket: &frame{err: fmt.Errorf("no frame: %w", io.EOF)}, handler: drained, want: stream.Stats{Lost: 1}, logged: "DEBUG"},
		"WebSocket, in message": {socket: &frame{typ: 2, r: io.MultiReader(strings.NewReader("xyz"), &stutter{err: fmt.Errorf("no frame: %w", io.EOF)})}, handler: drained, want: stream.Stats{Lost: 1}, logged: "DEBUG"},
		"WebSocket, reset":      {socket: &frame{err: fmt.Errorf("no frame: %w", reset)}, handler: drained, want: stream.Stats{Lost: 1}, logged: "DEBUG"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var logged logBuffer
				s := &stream.Server{
					Handler: func(_ context.Context, conn *stream.Conn) error { return c.handler(conn) },
					Logger:  slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
				}
				if c.socket != nil {
					f := newSocket()
					f.in <- *c.socket
					s.ServeMessages(f.conn(t.Context()), stream.WebSocket(f, closeStatus))
				} else {
					ours, theirs := net.Pipe()
					go func() {
						if c.sends != nil {
							_, _ = theirs.Write(c.sends)
							theirs.Close()
						}
					}()
					o := stream.Options{IdleTimeout: time.Minute, ReadTimeout: time.Second, WriteTimeout: time.Second}
					s.ServeConn(stream.NewConn(t.Context(), failingConn{ours, c.read, c.write}, &o))
				}
				got := s.Stats()
				got.Accepted, got.PacketsIn, got.BytesIn = 0, 0, 0
				require.Equal(t, c.want, got)
				if c.logged == "" {
					require.Empty(t, logged.String())
				} else {
					require.Contains(t, logged.String(), c.logged)
				}
			})
		})
	}
}

// TestPanicsAreLogged logs each panic with its stack, however many records there are, and counts a
// connection whose handler and ConnClosed fail as one.
func TestPanicsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged logBuffer
		s := &stream.Server{
			Logger:     slog.New(slog.NewTextHandler(&logged, nil)),
			Handler:    func(context.Context, *stream.Conn) error { return errOwn },
			ConnClosed: func(context.Context, *stream.Conn, error) { panic("oops") },
		}
		for range 100 {
			ours, _ := net.Pipe()
			s.ServeConn(stream.NewConn(t.Context(), ours, nil))
		}
		require.Equal(t, 100, strings.Count(logged.String(), "panic: oops"))
		require.Equal(t, 100, strings.Count(logged.String(), "stack="))
		require.Equal(t, 10, strings.Count(logged.String(), "error=own"))
		require.EqualValues(t, 100, s.Stats().Failed)
		require.EqualValues(t, 100, s.Stats().Panics)
	})
}

// A panicking Logger panics when it logs a record, or is asked whether it would.
type panicking struct {
	slog.Handler
	enabled bool
}

func (p panicking) Enabled(context.Context, slog.Level) bool {
	if !p.enabled {
		panic("oops")
	}
	return true
}
func (panicking) Handle(context.Context, slog.Record) error { panic("oops") }

// serverFunctions are the functions that a user of a Server can set, each as one that panics, with every
// goroutine that calls it. In other goroutines of a handler, a panic is the handler's own.
var serverFunctions = []struct {
	field, where string
	set          func(t *testing.T, s *stream.Server)
	panics       int64
}{
	{"Handler", "the goroutine of ServeConn", func(_ *testing.T, s *stream.Server) {
		s.Handler = func(context.Context, *stream.Conn) error { panic("oops") }
	}, 1},
	{"ConnContext", "the goroutine of the handler", func(_ *testing.T, s *stream.Server) {
		s.ConnContext = func(context.Context, *stream.Conn) context.Context { panic("oops") }
	}, 1},
	{"ConnClosed", "the goroutine of the handler", func(_ *testing.T, s *stream.Server) {
		s.ConnClosed = func(context.Context, *stream.Conn, error) { panic("oops") }
	}, 1},
	{"PacketHandled", "Next in the handler", func(_ *testing.T, s *stream.Server) {
		s.PacketHandled = func(context.Context, *stream.Conn, stream.HandledPacket) { panic("oops") }
	}, 1},
	{"PacketHandled", "after the handler", func(_ *testing.T, s *stream.Server) {
		s.Handler = skipOneOf
		s.PacketHandled = func(context.Context, *stream.Conn, stream.HandledPacket) { panic("oops") }
	}, 1},
	{"PacketHandled", "the goroutine of CloseRead", func(t *testing.T, s *stream.Server) {
		s.Handler = func(ctx context.Context, c *stream.Conn) error {
			ctx = c.CloseRead(ctx)
			<-ctx.Done()
			assert.EqualError(t, context.Cause(ctx), "panic: oops")
			return context.Cause(ctx)
		}
		s.PacketHandled = func(context.Context, *stream.Conn, stream.HandledPacket) { panic("oops") }
	}, 1},
	{"PacketHandled", "the goroutine of CloseRead, whose handler returns nil", func(_ *testing.T, s *stream.Server) {
		s.Handler = func(ctx context.Context, c *stream.Conn) error {
			<-c.CloseRead(ctx).Done()
			return nil
		}
		s.PacketHandled = func(context.Context, *stream.Conn, stream.HandledPacket) { panic("oops") }
	}, 1},
	{"PacketHandled", "the goroutine of CloseRead, after the handler", func(_ *testing.T, s *stream.Server) {
		s.Handler = func(ctx context.Context, c *stream.Conn) error {
			c.CloseRead(ctx)
			time.Sleep(time.Second) // while PacketHandled runs
			return nil
		}
		s.PacketHandled = func(context.Context, *stream.Conn, stream.HandledPacket) {
			time.Sleep(2 * time.Second)
			panic("oops")
		}
	}, 1},
	{"PacketHandled and ConnClosed", "both", func(_ *testing.T, s *stream.Server) {
		s.Handler = func(ctx context.Context, c *stream.Conn) error {
			<-c.CloseRead(ctx).Done()
			return nil
		}
		s.PacketHandled = func(context.Context, *stream.Conn, stream.HandledPacket) { panic("oops") }
		s.ConnClosed = func(context.Context, *stream.Conn, error) { panic("oops") }
	}, 2},
	{"Logger", "Handle, after the handler", func(_ *testing.T, s *stream.Server) {
		s.Handler = func(context.Context, *stream.Conn) error { return errOwn }
		s.Logger = slog.New(panicking{slog.DiscardHandler, true})
	}, 1},
	{"Logger", "Enabled, after the handler", func(_ *testing.T, s *stream.Server) {
		s.Handler = func(context.Context, *stream.Conn) error { return errOwn }
		s.Logger = slog.New(panicking{slog.DiscardHandler, false})
	}, 1},
	{"Logger", "Handle, after a panic", func(_ *testing.T, s *stream.Server) {
		s.Handler = func(context.Context, *stream.Conn) error { panic("oops") }
		s.Logger = slog.New(panicking{slog.DiscardHandler, true})
	}, 2},
	{"TLSConfig", "the handshake", func(_ *testing.T, s *stream.Server) {
		s.TLSConfig = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { panic("oops") }}
	}, 1},
}

// TestServerFunctionsPanic lets each function that a user can set panic, in each goroutine that calls it: that
// ends the connection, is counted once, and leaves the Server as it was.
func TestServerFunctionsPanic(t *testing.T) {
	fields := map[string]bool{"TLSConfig": true, "Logger": true}
	for f := range reflect.TypeFor[stream.Server]().Fields() {
		if f.Type.Kind() == reflect.Func {
			fields[f.Name] = true
		}
	}
	for _, f := range serverFunctions {
		delete(fields, f.field)
		t.Run(f.field+", "+f.where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stream.Server{Logger: quiet(), Handler: func(_ context.Context, c *stream.Conn) error { return drained(c) }}
				f.set(t, s)
				ln := newFakeListener(nil)
				result := start(s, ln)
				if s.TLSConfig != nil {
					secure := newFakeListener(nil)
					ended := make(chan error, 1)
					go func() { ended <- s.ServeTLS(secure, "", "") }()
					defer func() { require.Equal(t, stream.ErrServerClosed, <-ended) }()
					ours, theirs := net.Pipe()
					secure.conns <- ours
					require.Error(t, tls.Client(theirs, &tls.Config{InsecureSkipVerify: true}).Handshake())
				} else {
					ours, theirs := net.Pipe()
					ln.conns <- ours
					_, _ = theirs.Write(framed(binary.LittleEndian, encoded(t, number(1))))
					synctest.Wait()
					theirs.Close()
				}
				time.Sleep(time.Minute)
				n := s.Stats()
				require.Equal(t, f.panics, n.Panics)
				require.EqualValues(t, 1, n.Failed)
				require.Zero(t, n.Conns)
				require.NoError(t, s.Shutdown(t.Context()))
				require.Equal(t, stream.ErrServerClosed, result())
			})
		})
	}
	delete(fields, "BaseContext") // is called in the goroutine of Serve's caller: see TestBaseContext
	require.Empty(t, fields, "a function that a user can set needs a line in serverFunctions")
}

// TestAcceptLoggerPanics lets the Logger panic in the goroutine of Serve.
func TestAcceptLoggerPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stream.Server{Logger: slog.New(panicking{slog.DiscardHandler, true}), Handler: skipOneOf}
		ln := newFakeListener(acceptError{temporary: true})
		result := start(s, ln)
		ln.conns <- nil
		time.Sleep(time.Second)
		require.EqualValues(t, 1, s.Stats().Panics)
		require.NoError(t, s.Shutdown(t.Context()))
		require.Equal(t, stream.ErrServerClosed, result())
	})
}

// TestContextErrors returns the error of a context from the handler: its cause decides whether the connection failed. The
// records of the log have the context of their connection.
func TestContextErrors(t *testing.T) {
	type key struct{}
	discard := func(ctx context.Context, c *stream.Conn) error {
		ctx = c.CloseRead(ctx)
		<-ctx.Done()
		return fmt.Errorf("of mine: %w", ctx.Err())
	}
	wait := func(ctx context.Context, _ *stream.Conn) error { <-ctx.Done(); return ctx.Err() }
	for name, c := range map[string]struct {
		handler func(ctx context.Context, c *stream.Conn) error
		end     func(s *stream.Server, cancel func(), client net.Conn)
		want    stream.Stats
	}{
		"client leaves":      {discard, func(_ *stream.Server, _ func(), client net.Conn) { _ = client.Close() }, stream.Stats{}},
		"client leaves part": {discard, func(_ *stream.Server, _ func(), client net.Conn) { _, _ = client.Write([]byte{1}); _ = client.Close() }, stream.Stats{Lost: 1}},
		"idle":               {discard, func(*stream.Server, func(), net.Conn) {}, stream.Stats{}},
		"Shutdown":           {discard, func(s *stream.Server, _ func(), _ net.Conn) { go func() { _ = s.Shutdown(context.Background()) }() }, stream.Stats{}},
		"Server.Close":       {wait, func(s *stream.Server, _ func(), _ net.Conn) { _ = s.Close() }, stream.Stats{}},
		"canceled":           {wait, func(_ *stream.Server, cancel func(), _ net.Conn) { cancel() }, stream.Stats{}},
		"own": {func(ctx context.Context, _ *stream.Conn) error {
			own, cancel := context.WithCancel(ctx)
			cancel()
			return own.Err()
		}, func(*stream.Server, func(), net.Conn) {}, stream.Stats{Failed: 1}},
		"panic": {func(context.Context, *stream.Conn) error { panic("oops") }, func(*stream.Server, func(), net.Conn) {}, stream.Stats{Failed: 1, Panics: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var records []any
				s := &stream.Server{
					Handler:     c.handler,
					ConnContext: func(ctx context.Context, _ *stream.Conn) context.Context { return context.WithValue(ctx, key{}, "Ada") },
					Logger:      slog.New(contextLog(func(ctx context.Context) { records = append(records, ctx.Value(key{})) })),
				}
				ctx, cancel := context.WithCancel(t.Context())
				ours, theirs := net.Pipe()
				go s.ServeConn(stream.NewConn(ctx, ours, nil))
				synctest.Wait()
				c.end(s, cancel, theirs)
				synctest.Wait()
				if name == "idle" {
					require.NoError(t, s.Close())
				}
				require.NoError(t, s.Shutdown(t.Context()))
				cancel()
				got := s.Stats()
				got.Accepted, got.BytesIn = 0, 0
				require.Equal(t, c.want, got)
				require.Len(t, records, int(got.Failed+got.Lost))
				for _, r := range records {
					require.Equal(t, "Ada", r)
				}
			})
		})
	}
}

// A contextLog is a log that is called with the context of each record.
type contextLog func(ctx context.Context)

func (contextLog) Enabled(context.Context, slog.Level) bool          { return true }
func (l contextLog) Handle(ctx context.Context, _ slog.Record) error { l(ctx); return nil }
func (l contextLog) WithAttrs([]slog.Attr) slog.Handler              { return l }
func (l contextLog) WithGroup(string) slog.Handler                   { return l }
