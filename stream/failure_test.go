//go:build !plan9

package stream_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

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
		logged      string // the level
	}{
		"leaves":                {sends: one, handler: drained},
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
		"own":                   {handler: func(*stream.Conn) error { return errOwn }, want: stream.Stats{Failed: 1}, logged: "ERROR"},
		"own timeout":           {handler: func(*stream.Conn) error { return context.DeadlineExceeded }, want: stream.Stats{Failed: 1}, logged: "ERROR"},
		"own timeout, os":       {handler: func(*stream.Conn) error { return os.ErrDeadlineExceeded }, want: stream.Stats{Failed: 1}, logged: "ERROR"},
		"own reset":             {handler: func(*stream.Conn) error { return reset }, want: stream.Stats{Failed: 1}, logged: "ERROR"},
		"own unexpected EOF":    {handler: func(*stream.Conn) error { return io.ErrUnexpectedEOF }, want: stream.Stats{Failed: 1}, logged: "ERROR"},
		"closed":                {handler: func(c *stream.Conn) error { _ = c.Close(); return drained(c) }},
		"panic":                 {handler: func(*stream.Conn) error { panic("oops") }, want: stream.Stats{Failed: 1, Panics: 1}, logged: "ERROR"},
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
					require.Contains(t, logged.String(), "level="+c.logged)
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
