package stream_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
)

// A counted connection records the size of each Write.
type counted struct {
	net.Conn
	sizes []int
}

func (c *counted) Write(p []byte) (int, error) {
	c.sizes = append(c.sizes, len(p))
	return c.Conn.Write(p)
}

// TestBufferWrites answers packets that arrive together: with BufferWrites by one Write.
func TestBufferWrites(t *testing.T) {
	one := framed(binary.LittleEndian, encoded(t, number(1)))
	for name, c := range map[string]struct {
		buffer bool
		handle func(c *stream.Conn) error
		want   []int
	}{
		"at once": {false, func(c *stream.Conn) error { return echo(c, true) }, []int{12, 12, 12}},
		"held":    {true, func(c *stream.Conn) error { return echo(c, true) }, []int{36}},
		"Flush": {true, func(c *stream.Conn) error {
			for range 3 {
				if err := c.WritePacket(number(1)); err != nil {
					return err
				}
				if err := c.Flush(); err != nil {
					return err
				}
			}
			return c.Flush() // of nothing
		}, []int{12, 12, 12}},
		"Close": {true, func(c *stream.Conn) error {
			_ = c.WritePacket(number(1))
			_ = c.WriteRaw(one[4:])
			return c.WritePacket(number(1))
		}, []int{36}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stream.Server{Options: stream.Options{BufferWrites: c.buffer}, Handler: func(_ context.Context, conn *stream.Conn) error { return c.handle(conn) }}
				ours, theirs := net.Pipe()
				conn := &counted{Conn: ours}
				end := serveOne(t, s, conn)
				go func() { _, _ = theirs.Write(bytes.Repeat(one, 3)) }()
				got := make([]byte, 36)
				must(io.ReadFull(theirs, got))(t)
				require.Equal(t, bytes.Repeat(one, 3), got)
				synctest.Wait()
				require.Equal(t, c.want, conn.sizes)
				end()
				require.EqualValues(t, 3, s.Stats().PacketsOut)
				require.EqualValues(t, 36, s.Stats().BytesOut)
			})
		})
	}
}

// TestBufferWritesSizes writes packets of all sizes: their order stays, and at most 16 KiB
// are held back.
func TestBufferWritesSizes(t *testing.T) {
	var out bytes.Buffer
	w := stream.NewWriter(&out, &stream.Options{BufferWrites: true})
	var want []byte
	held := 0
	for _, size := range []int{1, 1000, 16_000, 10, 16_368, 16_372, 16_376, 100_000, 5, 8000, 8000, 8000} {
		p := encoded(t, str(strings.Repeat("x", size)))
		require.NoError(t, w.WriteRaw(p))
		want = append(want, framed(binary.LittleEndian, p)...)
		held = len(want) - out.Len()
		require.LessOrEqual(t, held, 16<<10)
		require.True(t, bytes.HasPrefix(want, out.Bytes()))
	}
	require.Positive(t, held)
	require.NoError(t, w.Flush())
	require.Equal(t, want, out.Bytes())
}

// TestBufferWritesOthers writes from a goroutine while Next waits: nothing is held back.
func TestBufferWritesOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := stream.NewConn(t.Context(), ours, &stream.Options{BufferWrites: true})
		require.NoError(t, c.WritePacket(number(1)))
		go func() { _, _ = c.Next() }()
		got := make([]byte, 12)
		must(io.ReadFull(theirs, got))(t)
		synctest.Wait()
		go func() { assert.NoError(t, c.WritePacket(number(2))) }()
		must(io.ReadFull(theirs, got))(t)
		require.Equal(t, framed(binary.LittleEndian, encoded(t, number(2))), got)
		require.NoError(t, c.Close())
	})
}

// TestBufferWritesTimeout lets the other side not read: packets that were held back are lost only
// if a part of them was written.
func TestBufferWritesTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := stream.NewConn(t.Context(), ours, &stream.Options{BufferWrites: true, WriteTimeout: time.Second})
		require.NoError(t, c.WritePacket(number(1)))
		require.ErrorIs(t, errOf(c.Next()), os.ErrDeadlineExceeded)
		require.NoError(t, c.WritePacket(number(2)), "it is held back, too")
		require.ErrorIs(t, c.Flush(), os.ErrDeadlineExceeded)
		go func() { assert.NoError(t, c.Flush()) }()
		got := make([]byte, 24)
		must(io.ReadFull(theirs, got))(t)
		require.Equal(t, framed(binary.LittleEndian, encoded(t, number(1)), encoded(t, number(2))), got)
		synctest.Wait()

		require.NoError(t, c.WritePacket(number(3)))
		go func() { _, _ = theirs.Read(got[:5]) }()
		require.ErrorIs(t, c.Flush(), os.ErrDeadlineExceeded)
		for _, err := range []error{c.Flush(), c.WritePacket(number(4)), next(c)} {
			require.ErrorIs(t, err, stream.ErrBroken)
		}
		require.NoError(t, c.Close())
	})
	// Close does not wait for a side that does not read, also without a WriteTimeout.
	synctest.Test(t, func(t *testing.T) {
		ours, _ := net.Pipe()
		c := stream.NewConn(t.Context(), ours, &stream.Options{BufferWrites: true})
		require.NoError(t, c.WritePacket(number(1)))
		begin := time.Now()
		require.Error(t, c.Close())
		require.LessOrEqual(t, time.Since(begin), time.Second)
	})
}

// A stalled connection does not finish its first Write until a deadline is set: the other side then
// reads, or the deadline passes.
type stalled struct {
	net.Conn
	reads          bool
	part           int // the bytes that it writes if it does not read
	writing, ended chan struct{}
	once           sync.Once
	got            []byte
}

func (s *stalled) Write(p []byte) (int, error) {
	select {
	case s.writing <- struct{}{}:
		<-s.ended
	case <-s.ended:
	}
	if !s.reads {
		return s.part, os.ErrDeadlineExceeded
	}
	s.got = append(s.got, p...)
	return len(p), nil
}

func (s *stalled) SetWriteDeadline(time.Time) error {
	s.once.Do(func() { close(s.ended) })
	return nil
}

// TestBufferWritesClose closes a connection while another goroutine writes: Close limits the time of
// this Write, waits for it, and then writes the packets that were held back.
func TestBufferWritesClose(t *testing.T) {
	one := framed(binary.LittleEndian, encoded(t, number(1)))
	for _, reads := range []bool{true, false} {
		ours, _ := net.Pipe()
		s := &stalled{Conn: ours, reads: reads, writing: make(chan struct{}), ended: make(chan struct{})}
		c := stream.NewConn(t.Context(), s, &stream.Options{BufferWrites: true})
		require.NoError(t, c.WritePacket(number(1)))
		flushed, closed := make(chan error), make(chan error)
		go func() { flushed <- c.Flush() }()
		<-s.writing
		go func() { closed <- c.Close() }()
		err, lost := <-flushed, <-closed
		if reads {
			require.NoError(t, err)
			require.NoError(t, lost)
			require.Equal(t, one, s.got)
		} else {
			require.Equal(t, net.ErrClosed, err)
			require.ErrorContains(t, lost, "packets that were held back are lost")
			require.Empty(t, s.got)
		}
		require.Equal(t, net.ErrClosed, c.WritePacket(number(2)))
	}
}

// TestBufferWritesLostByNext closes a connection while the goroutine that Next started writes: Close returns the
// error of this Write, because no call of Next can.
func TestBufferWritesLostByNext(t *testing.T) {
	for _, part := range []int{0, 5} {
		ours, _ := net.Pipe()
		s := &stalled{Conn: ours, part: part, writing: make(chan struct{}), ended: make(chan struct{})}
		c := stream.NewConn(t.Context(), s, &stream.Options{BufferWrites: true})
		require.NoError(t, c.WritePacket(number(1)))
		read := make(chan error)
		go func() { read <- next(c) }()
		<-s.writing
		require.ErrorContains(t, c.Close(), "packets that were held back are lost")
		require.Equal(t, net.ErrClosed, <-read)
		require.NoError(t, c.Close())
	}
}

// TestHeldBehindWrite holds a packet back after a Write that was blocked when Next began to wait: the packet is
// written although Next does not return.
func TestHeldBehindWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full, one := encoded(t, str(strings.Repeat("x", 16_000))), encoded(t, str(strings.Repeat("y", 1000)))
		ours, theirs := net.Pipe()
		c := stream.NewConn(t.Context(), ours, &stream.Options{BufferWrites: true})
		require.NoError(t, c.WriteRaw(full))
		go func() { assert.NoError(t, c.WriteRaw(one)) }() // after full, which the other side does not read yet
		synctest.Wait()
		go func() { _ = next(c) }()
		synctest.Wait()
		want := framed(binary.LittleEndian, full, one)
		got := make([]byte, len(want))
		require.NoError(t, theirs.SetReadDeadline(time.Now().Add(time.Hour)))
		must(io.ReadFull(theirs, got))(t)
		require.Equal(t, want, got)
		require.NoError(t, c.Close())
	})
}

// TestFailedFlush lets the Write of a goroutine that Next started fail after Next has returned: the next call
// returns the error without waiting, and the packet is written later.
func TestFailedFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := framed(binary.LittleEndian, encoded(t, number(1)))
		ours, theirs := net.Pipe()
		c := stream.NewConn(t.Context(), ours, &stream.Options{BufferWrites: true, WriteTimeout: time.Second})
		require.NoError(t, c.WritePacket(number(1)))
		done := send(theirs, one)
		require.NoError(t, next(c))
		<-done
		time.Sleep(2 * time.Second)
		begin := time.Now()
		require.ErrorIs(t, next(c), os.ErrDeadlineExceeded)
		require.Equal(t, begin, time.Now())
		got := make([]byte, len(one))
		must(io.ReadFull(theirs, got))(t)
		require.Equal(t, one, got)
		require.NoError(t, c.Close())
	})
}

// writesHeld are Options with and without BufferWrites, which must not differ in the calls that wait for the
// other side.
var writesHeld = map[string]stream.Options{"at once": {}, "held": {BufferWrites: true}}

// TestNextDoesNotWaitForWrites reads while packets cannot be written, because the other side does not
// read: Next returns the packets that arrive, whichever goroutine writes.
func TestNextDoesNotWaitForWrites(t *testing.T) {
	one, large := framed(binary.LittleEndian, encoded(t, number(1))), encoded(t, str(strings.Repeat("x", 100_000)))
	for options, o := range writesHeld {
		for name, write := range map[string]func(c *stream.Conn){
			"small": func(c *stream.Conn) { _ = c.WritePacket(number(1)) },
			"large": func(c *stream.Conn) { _ = c.WriteRaw(large) },
			"held, then large": func(c *stream.Conn) {
				_ = c.WritePacket(number(1))
				_ = c.WriteRaw(large)
			},
			"held, then Flush": func(c *stream.Conn) {
				_ = c.WritePacket(number(1))
				_ = c.Flush()
			},
			"many": func(c *stream.Conn) {
				for c.WritePacket(number(1)) == nil {
				}
			},
		} {
			t.Run(options+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ours, theirs := net.Pipe()
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(net.ErrClosed)
					c := stream.NewConn(ctx, ours, &o)
					if name != "small" || !o.BufferWrites {
						go write(c)
						synctest.Wait()
					} else {
						require.NoError(t, c.WritePacket(number(1))) // Next writes it
					}
					go func() { _, _ = theirs.Write(bytes.Repeat(one, 3)) }()
					for range 3 {
						require.EqualValues(t, 1, answer(t, c))
					}
				})
			})
		}
	}
}

// TestShutdownOfBlockedWriter shuts a Server down while packets of a handler cannot be written, which
// has no WriteTimeout: Next ends.
func TestShutdownOfBlockedWriter(t *testing.T) {
	for options, o := range writesHeld {
		for _, own := range []bool{false, true} { // whether another goroutine writes
			t.Run(options, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o.WriteTimeout = -1
					ended := make(chan error, 1)
					s := &stream.Server{Options: o, Handler: func(_ context.Context, c *stream.Conn) error {
						switch {
						case own:
							go func() {
								_ = c.WritePacket(number(1))
								_ = c.Flush()
							}()
							time.Sleep(time.Second) // now it is blocked
						case o.BufferWrites:
							assert.NoError(t, c.WritePacket(number(1)))
						}
						ended <- next(c)
						return nil
					}}
					ln := newFakeListener(nil)
					result := start(s, ln)
					ours, theirs := net.Pipe()
					ln.conns <- ours
					time.Sleep(2 * time.Second)
					down := make(chan error)
					go func() { down <- s.Shutdown(t.Context()) }()
					require.Equal(t, stream.ErrServerClosed, <-ended)
					_, _ = io.Copy(io.Discard, theirs)
					require.NoError(t, <-down)
					require.Equal(t, stream.ErrServerClosed, result())
				})
			})
		}
	}
}

// TestBufferWritesLost closes connections with packets that were held back: Close returns nil only if
// the other side has got them.
func TestBufferWritesLost(t *testing.T) {
	packets := func(c *stream.Conn) {
		for range 2 {
			require.NoError(t, c.WritePacket(number(1)))
		}
	}
	own := errors.New("own")
	for name, c := range map[string]struct {
		before func(c *stream.Conn)
		reads  int
		cancel bool
		want   string
		is     error
	}{
		"nothing held":         {before: func(*stream.Conn) {}},
		"reads":                {before: packets, reads: 24},
		"does not read":        {before: packets, want: "packets that were held back are lost", is: os.ErrDeadlineExceeded},
		"reads a part":         {before: packets, reads: 13, want: "packets that were held back are lost", is: os.ErrDeadlineExceeded},
		"context":              {before: packets, cancel: true, want: "packets that were held back are lost", is: own},
		"context, nothing":     {before: func(*stream.Conn) {}, cancel: true},
		"after a failed Flush": {before: func(c *stream.Conn) { packets(c); _ = c.Flush() }, want: "packets that were held back are lost", is: os.ErrDeadlineExceeded},
		"after a broken Flush": {before: func(c *stream.Conn) { packets(c); _ = c.Flush() }, reads: 5}, // Flush returned the error
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				ours, theirs := net.Pipe()
				conn := stream.NewConn(ctx, ours, &stream.Options{BufferWrites: true, WriteTimeout: time.Minute})
				go func() { _, _ = io.ReadFull(theirs, make([]byte, c.reads)) }()
				c.before(conn)
				if c.cancel {
					cancel(own)
				}
				err := conn.Close()
				if c.want == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, c.want)
					require.ErrorIs(t, err, c.is)
				}
				require.NoError(t, conn.Close())
				cause := net.ErrClosed
				if c.cancel {
					cause = own
				}
				if name != "after a broken Flush" {
					require.Equal(t, cause, conn.WritePacket(number(1)))
					require.Equal(t, cause, conn.WriteRaw(make([]byte, 100_000)))
				}
				cancel(nil)
			})
		})
	}
	// A client over TLS that did not come to the handshake.
	ours, _ := net.Pipe()
	conn := stream.NewConn(t.Context(), tls.Client(ours, &tls.Config{InsecureSkipVerify: true}), &stream.Options{BufferWrites: true})
	packets(conn)
	require.ErrorContains(t, conn.Close(), "packets that were held back are lost")
}
