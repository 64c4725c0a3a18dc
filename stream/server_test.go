package stream_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"log/slog"
	"math"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
)

// listen returns a listener on a port of this machine.
func listen(t *testing.T) net.Listener {
	t.Helper()
	return must(net.Listen("tcp", "127.0.0.1:0"))(t)
}

// dial returns a client of a server.
func dial(t *testing.T, addr net.Addr) *stream.Conn {
	t.Helper()
	conn := must(net.Dial("tcp", addr.String()))(t)
	c := stream.NewConn(t.Context(), conn, &stream.Options{ReadTimeout: long, IdleTimeout: long, WriteTimeout: long})
	t.Cleanup(func() { c.Close() })
	return c
}

// ask sends n and returns the int that comes back.
func ask(t *testing.T, c *stream.Conn, n int64) int64 {
	t.Helper()
	require.NoError(t, c.WritePacket(number(n)))
	return answer(t, c)
}

func TestStreamServer(t *testing.T) {
	var logged logBuffer
	s := &stream.Server{
		Handler: func(_ context.Context, c *stream.Conn) error { return echo(c, false) },
		Logger:  slog.New(slog.NewTextHandler(&logged, nil)),
	}
	first, second := listen(t), listen(t)
	served := []func() error{start(s, first), start(s, second)}
	for i := range 3 {
		require.EqualValues(t, i, ask(t, dial(t, first.Addr()), int64(i)))
		require.EqualValues(t, i, ask(t, dial(t, second.Addr()), int64(i)))
	}
	require.NoError(t, s.Shutdown(t.Context()))
	for _, result := range served {
		require.Equal(t, stream.ErrServerClosed, result())
	}
	require.Equal(t, stream.ErrServerClosed, s.Serve(listen(t)))
	require.Equal(t, stream.ErrServerClosed, s.ListenAndServe("127.0.0.1:0"))
	require.Error(t, s.ListenAndServe("nowhere:-1"))
	require.NoError(t, s.Shutdown(t.Context()))
	require.NoError(t, s.Close())
	require.Empty(t, logged.String())
}

// TestServerDefaultLog logs to the standard logger if there is no other.
func TestServerDefaultLog(t *testing.T) {
	var logged logBuffer
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	s := &stream.Server{Handler: func(context.Context, *stream.Conn) error { return io.ErrUnexpectedEOF }}
	ours, _ := net.Pipe()
	s.ServeConn(stream.NewConn(t.Context(), ours, nil))
	require.Contains(t, logged.String(), `gdwire/stream: connection failed remote=pipe error="unexpected EOF" packets=0`)
}

// Without MaxConns, DefaultMaxConns connections are served.
func TestServerDefaultMaxConns(t *testing.T) {
	started, leave := make(chan struct{}), make(chan struct{})
	s := &stream.Server{Handler: func(context.Context, *stream.Conn) error {
		started <- struct{}{}
		<-leave
		return nil
	}}
	var all sync.WaitGroup
	for range stream.DefaultMaxConns {
		require.False(t, s.Full())
		_, conn := net.Pipe()
		all.Go(func() { s.ServeConn(stream.NewConn(t.Context(), conn, nil)) })
		<-started
	}
	require.True(t, s.Full())
	client, conn := net.Pipe()
	s.ServeConn(stream.NewConn(t.Context(), conn, nil))
	require.ErrorIs(t, errOf(client.Read(make([]byte, 1))), io.EOF)
	close(leave)
	all.Wait()
	require.False(t, s.Full())
}

// acceptError is an error that a listener recovers from, or not.
type acceptError struct{ temporary bool }

func (acceptError) Error() string     { return "accept failed" }
func (e acceptError) Temporary() bool { return e.temporary }

// A fakeListener accepts the connections of conns, and fails where one is nil.
type fakeListener struct {
	conns  chan net.Conn
	err    error
	closed chan struct{}
	once   sync.Once
}

func newFakeListener(err error) *fakeListener {
	return &fakeListener{conns: make(chan net.Conn), err: err, closed: make(chan struct{})}
}

func (f *fakeListener) Accept() (net.Conn, error) {
	select {
	case c := <-f.conns:
		if c == nil {
			return nil, f.err
		}
		return c, nil
	case <-f.closed:
		return nil, net.ErrClosed
	}
}

func (f *fakeListener) Close() error {
	f.once.Do(func() { close(f.closed) })
	return nil
}

func (f *fakeListener) Addr() net.Addr { return nil }

// TestServerAcceptErrors lets Accept fail: the waits double up to a second, begin anew after a
// success, and are cut short by Close.
func TestServerAcceptErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged logBuffer
		s := &stream.Server{
			Handler: func(_ context.Context, c *stream.Conn) error { return echo(c, false) },
			Logger:  slog.New(slog.NewTextHandler(&logged, nil)),
		}
		ln := newFakeListener(acceptError{temporary: true})
		result := start(s, ln)
		failures := func(n int) time.Duration {
			begin := time.Now()
			for range n {
				ln.conns <- nil
			}
			ours, theirs := net.Pipe()
			ln.conns <- ours
			c := stream.NewConn(t.Context(), theirs, nil)
			require.EqualValues(t, 5, ask(t, c, 5))
			require.NoError(t, c.Close())
			return time.Since(begin)
		}
		require.Equal(t, 0*time.Millisecond, failures(0))
		require.Equal(t, 5*time.Millisecond, failures(1))
		require.Equal(t, (5+10+20)*time.Millisecond, failures(3))
		require.Equal(t, (5+10+20+40+80+160+320+640+1000+1000)*time.Millisecond, failures(10))
		require.Contains(t, logged.String(), `error="accept failed" retry=1s`)
		begin := time.Now()
		for range 20 {
			ln.conns <- nil
		}
		require.NoError(t, s.Close())
		require.Equal(t, stream.ErrServerClosed, result())
		require.Equal(t, 12275*time.Millisecond, time.Since(begin), "the last wait was cut short")
	})
	s := &stream.Server{Handler: func(context.Context, *stream.Conn) error { return nil }}
	ln := newFakeListener(acceptError{temporary: false})
	result := start(s, ln)
	ln.conns <- nil
	require.Equal(t, ln.err, result())
	<-ln.closed
	require.NoError(t, s.Shutdown(t.Context()))
}

// TestDrain drains a server in a match of 60 seconds: a client that joins late is refused, the match ends, or Shutdown after
// the deadline ends it.
func TestDrain(t *testing.T) {
	for name, c := range map[string]struct {
		limit time.Duration
		want  error
		took  time.Duration
		end   error // of the handler
	}{
		"to the end": {time.Hour, nil, time.Minute, os.ErrDeadlineExceeded},
		"deadline":   {time.Second, context.DeadlineExceeded, time.Second, stream.ErrServerClosed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var end error
				answers := 0
				s := &stream.Server{Options: stream.Options{IdleTimeout: time.Minute}, Logger: quiet(), Handler: func(_ context.Context, conn *stream.Conn) error {
					for end == nil {
						if end = next(conn); end == nil {
							answers++
							end = conn.WriteRaw([]byte{0, 0, 0, 0})
						}
					}
					require.True(t, isClosed(conn.Draining()))
					return end
				}}
				ln := newFakeListener(nil)
				result := start(s, ln)
				ours, theirs := net.Pipe()
				ln.conns <- ours
				synctest.Wait()
				for player := range s.Conns() {
					require.False(t, isClosed(player.Draining()))
				}
				player := stream.NewConn(t.Context(), theirs, nil)
				defer player.Close()

				ctx, cancel := context.WithTimeout(t.Context(), c.limit)
				defer cancel()
				begun, drained := time.Now(), make(chan error)
				go func() { drained <- s.Drain(ctx) }()
				require.Equal(t, stream.ErrServerClosed, result())
				require.True(t, s.Full())
				late := newSocket()
				s.ServeMessages(late.conn(t.Context()), stream.WebSocket(late, closeStatus))
				require.EqualValues(t, stream.CloseGoingAway, <-late.closed)
				require.NoError(t, player.WriteRaw([]byte{0, 0, 0, 0}), "the match goes on")
				require.NoError(t, next(player))
				require.Equal(t, c.want, <-drained)
				require.Equal(t, c.took, time.Since(begun))
				require.NoError(t, s.Shutdown(t.Context()))
				require.ErrorIs(t, end, c.end)
				require.Equal(t, 1, answers)
			})
		})
	}
}

// serveOne serves a connection that a listener accepts. The function that it returns shuts s down.
func serveOne(t *testing.T, s *stream.Server, conn net.Conn) (end func()) {
	ln := newFakeListener(nil)
	result := start(s, ln)
	ln.conns <- conn
	return func() {
		t.Helper()
		require.NoError(t, s.Shutdown(t.Context()))
		require.Equal(t, stream.ErrServerClosed, result())
	}
}

// isClosed reports whether a channel on which nothing is sent is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestShutdown shuts down a server whose handlers are at different points:
// packets that have arrived or begun are handled, and each handler says goodbye.
func TestShutdown(t *testing.T) {
	one, two := framed(binary.LittleEndian, encoded(t, number(1))), framed(binary.LittleEndian, encoded(t, number(2)))
	for name, c := range map[string]struct {
		options stream.Options
		before  []byte // sent before Shutdown
		after   []byte // sent after it
		want    []int64
	}{
		"idle":                 {before: nil, want: []int64{-1}},
		"idle, timeouts":       {options: stream.Options{IdleTimeout: time.Hour, ReadTimeout: long}, want: []int64{-1}},
		"between packets":      {before: one, want: []int64{1, -1}},
		"inside a length":      {before: one[:2], after: one[2:], want: []int64{1, -1}},
		"inside a packet":      {before: one[:6], after: one[6:], want: []int64{1, -1}},
		"inside, ReadTimeout":  {options: stream.Options{ReadTimeout: long}, before: one[:6], after: one[6:], want: []int64{1, -1}},
		"inside, then another": {before: one[:6], after: append(bytes.Clone(one[6:]), two...), want: []int64{1, -1}},
		"two at once":          {before: append(bytes.Clone(one), two...), want: []int64{1, 2, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stream.Server{Options: c.options, Handler: func(_ context.Context, c *stream.Conn) error {
					err := echo(c, true)
					if err == stream.ErrServerClosed {
						_, again := c.Next()
						assert.Equal(t, err, again)
						return c.WritePacket(number(-1))
					}
					return err
				}}
				ln := newFakeListener(nil)
				result := start(s, ln)
				ours, theirs := net.Pipe()
				ln.conns <- ours
				var got []int64
				received := make(chan struct{})
				go func() {
					defer close(received)
					client := stream.NewConn(t.Context(), theirs, nil)
					defer client.Close()
					for {
						d, err := client.Next()
						if err != nil {
							return
						}
						if tok, err := d.ReadToken(); err == nil {
							got = append(got, tok.Int())
						}
					}
				}()
				write := func(b []byte) {
					if len(b) > 0 {
						must(theirs.Write(b))(t)
					}
				}
				write(c.before)
				synctest.Wait()
				down := make(chan error)
				go func() { down <- s.Shutdown(t.Context()) }()
				synctest.Wait()
				write(c.after)
				require.NoError(t, <-down)
				require.Equal(t, stream.ErrServerClosed, result())
				<-received
				require.Equal(t, c.want, got)
			})
		})
	}
}

// TestServerClose gives up waiting for a handler that does not end by itself, and
// cancels it.
func TestServerClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errs := make(chan error, 3)
		s := &stream.Server{Handler: func(ctx context.Context, c *stream.Conn) error {
			<-ctx.Done()
			errs <- context.Cause(ctx)
			_, err := c.Next()
			errs <- err
			errs <- c.WritePacket(number(1))
			return errors.New("not logged by this test")
		}, Logger: slog.New(slog.DiscardHandler)}
		ours, theirs := net.Pipe()
		end := serveOne(t, s, ours)
		synctest.Wait() // the handler runs
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		require.Equal(t, context.DeadlineExceeded, s.Shutdown(ctx))
		require.Equal(t, time.Minute, time.Since(begin))
		require.NoError(t, s.Close())
		for range 3 {
			require.Equal(t, stream.ErrServerClosed, <-errs)
		}
		end()
		require.Equal(t, io.EOF, errOf(theirs.Read(make([]byte, 1))))
	})
}

// TestServeConn passes on the context that a Conn was made with.
func TestServeConn(t *testing.T) {
	type key struct{}
	s := &stream.Server{}
	var value any
	var during error
	var ctx context.Context
	s.Handler = func(c context.Context, _ *stream.Conn) error {
		ctx, value, during = c, c.Value(key{}), c.Err()
		return nil
	}
	conn := func() *stream.Conn {
		ours, _ := net.Pipe()
		return stream.NewConn(context.WithValue(t.Context(), key{}, "value"), ours, nil)
	}
	s.ServeConn(conn())
	require.Equal(t, "value", value)
	require.NoError(t, during)
	require.Equal(t, net.ErrClosed, context.Cause(ctx))
	require.NoError(t, s.Shutdown(t.Context()))
	value = nil
	c := conn()
	s.ServeConn(c)
	require.Nil(t, value, "the handler is not called")
	require.Equal(t, net.ErrClosed, errOf(c.Next()))
}

// TestIdleMemory measures the memory of a connection that waits for a packet, with its
// goroutine: it read packets, small and large, and written some. It does so in a process of its own, in which no
// stacks of other tests are left.
func TestIdleMemory(t *testing.T) {
	if testenv.Race {
		t.Skip("skipped: the race detector makes stacks larger")
	}
	const alone = "GDWIRE_ALONE"
	if os.Getenv(alone) == "" {
		c := exec.CommandContext(t.Context(), must(os.Executable())(t), "-test.v", "-test.run=^TestIdleMemory$")
		c.Env = append(os.Environ(), alone+"=1")
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		t.Logf("%s", out)
		return
	}
	const conns = 200
	s := &stream.Server{
		Handler: func(_ context.Context, c *stream.Conn) error { return echo(c, true) },
		Options: stream.Options{ReadTimeout: long, WriteTimeout: long, IdleTimeout: time.Hour},
	}
	small := framed(binary.LittleEndian, encoded(t, number(1)))
	large := framed(binary.LittleEndian, mixed(t)[6])
	ln := listen(t)
	result := start(s, ln)
	var clients []net.Conn
	exchange := func(c net.Conn, packet []byte) {
		must(c.Write(packet))(t)
		must(io.ReadFull(c, make([]byte, len(packet))))(t)
	}
	// Stacks shrink by half in each collection, once their goroutine waits again.
	memory := func() (heap, stacks int64) {
		var m runtime.MemStats
		for least, same := uint64(math.MaxUint64), 0; same < 20; same++ {
			runtime.GC()
			if runtime.ReadMemStats(&m); m.StackInuse < least {
				least, same = m.StackInuse, 0
			}
		}
		return int64(m.HeapAlloc), int64(m.StackInuse)
	}
	warm := must(net.Dial("tcp", ln.Addr().String()))(t)
	defer warm.Close()
	exchange(warm, large)
	heapBefore, stacksBefore := memory()
	for range conns {
		c := must(net.Dial("tcp", ln.Addr().String()))(t)
		defer c.Close()
		clients = append(clients, c)
	}
	for _, c := range clients {
		exchange(c, small)
		exchange(c, large)
		exchange(c, small)
	}
	heap, stacks := memory()
	heap, stacks = (heap-heapBefore)/conns, (stacks-stacksBefore)/conns
	t.Logf("%d bytes of heap, both ends of the connection, and %d of stack", heap, stacks)
	require.LessOrEqual(t, heap+stacks, int64(9<<10))
	require.NoError(t, s.Close())
	require.Equal(t, stream.ErrServerClosed, result())
	require.NoError(t, s.Shutdown(t.Context()))
}
