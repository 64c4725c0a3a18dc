package stream_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
)

// TestBlockedWriter serves a Conn that another goroutine is writing to: all methods of the Server still
// return.
func TestBlockedWriter(t *testing.T) {
	handled := make(chan struct{})
	s := &stream.Server{MaxConns: 1, Handler: func(_ context.Context, c *stream.Conn) error {
		close(handled)
		return next(c)
	}}
	ours, theirs := net.Pipe()
	c := stream.NewConn(t.Context(), ours, nil)
	wrote := make(chan error)
	go func() { wrote <- c.WritePacket(number(1)) }()
	_, err := theirs.Read(make([]byte, 1)) // the rest blocks
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.ServeConn(c)
	}()
	<-handled
	require.True(t, s.Full())
	require.EqualValues(t, 1, s.Stats().Conns)
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-wrote, stream.ErrServerClosed)
	<-served
	require.NoError(t, s.Shutdown(t.Context()))
}

// An anonymous connection tells no address.
type anonymous struct{ net.Conn }

func (anonymous) RemoteAddr() net.Addr { return nil }

// TestNoRemoteAddr logs the failure of a connection without an address.
func TestNoRemoteAddr(t *testing.T) {
	var logged logBuffer
	s := &stream.Server{Logger: newLog(&logged), Handler: func(context.Context, *stream.Conn) error { return errOwn }}
	ours, _ := net.Pipe()
	s.ServeConn(stream.NewConn(t.Context(), anonymous{ours}, nil))
	require.Contains(t, logged.String(), "remote=unknown error=own")
}

// TestStatsBeforeServing reads from Conns before a Server serves them: it counts only packets that are read after that.
func TestStatsBeforeServing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, bad := encoded(t, number(1)), []byte{200, 0, 0, 0}
		s := &stream.Server{Handler: forward}
		ours, theirs := net.Pipe()
		go func() {
			_, _ = theirs.Write(framed(binary.LittleEndian, one, one, bad, one))
			theirs.Close()
		}()
		f := newSocket()
		for _, b := range [][]byte{one, one, bad, one} {
			f.send(b)
		}
		f.in <- frame{err: closeError{1000}}
		for _, c := range []*stream.Conn{stream.NewConn(t.Context(), ours, nil), messageConn(t.Context(), f, nil)} {
			for range 4 {
				_ = skipOne(c)
			}
			s.ServeConn(c)
			n := s.Stats()
			require.Zero(t, [3]int64{n.PacketsIn, n.BytesIn, n.Invalid})
		}
		// A WebSocket receives messages, and no lengths.
		f = newSocket()
		for range 3 {
			f.send(one)
		}
		f.in <- frame{err: closeError{1000}}
		s.Handler = func(_ context.Context, c *stream.Conn) error { return drained(c) }
		s.ServeMessages(t.Context(), stream.WebSocket(f, closeStatus))
		require.EqualValues(t, 3, s.Stats().PacketsIn)
		require.EqualValues(t, 3*len(one), s.Stats().BytesIn)
	})
}

// TestReaderOutlivesHandler returns from a handler while another goroutine of it reads: the Server
// waits for this goroutine's call, which ends.
func TestReaderOutlivesHandler(t *testing.T) {
	one := framed(binary.LittleEndian, encoded(t, number(1)))
	for range 20 {
		reading, ended := make(chan struct{}), make(chan error, 1)
		s := &stream.Server{Handler: func(_ context.Context, c *stream.Conn) error {
			go func() {
				for i := 0; ; i++ {
					if i == 3 {
						close(reading)
					}
					if err := next(c); err != nil {
						ended <- err
						return
					}
				}
			}()
			<-reading
			return nil
		}}
		ours, theirs := net.Pipe()
		go func() {
			for {
				if _, err := theirs.Write(one); err != nil {
					return
				}
			}
		}()
		s.ServeConn(stream.NewConn(t.Context(), ours, nil))
		assert.Equal(t, net.ErrClosed, <-ended)
		require.GreaterOrEqual(t, s.Stats().PacketsIn, int64(3))
		require.NoError(t, s.Shutdown(t.Context()))
	}
}

// TestDecoderOutlivesHandler uses a Decoder in another goroutine while its handler returns. The race
// detector notices if the Server reads from the Decoder.
func TestDecoderOutlivesHandler(t *testing.T) {
	for name, packet := range map[string][]byte{"valid": encoded(t, number(1)), "invalid": {200, 0, 0, 0}, "large": mixed(t)[6], "large, ends early": mixed(t)[7]} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan struct{})
			s := &stream.Server{Logger: quiet(), Handler: func(_ context.Context, c *stream.Conn) error {
				d, err := c.Next()
				require.NoError(t, err)
				go func() {
					defer close(ended)
					for err == nil {
						_, err = d.ReadToken()
					}
				}()
				return nil
			}}
			ours, theirs := net.Pipe()
			go func() { _, _ = theirs.Write(framed(binary.LittleEndian, packet)) }()
			s.ServeConn(stream.NewConn(t.Context(), ours, nil))
			<-ended
			require.EqualValues(t, 1, s.Stats().PacketsIn)
			require.NoError(t, s.Shutdown(t.Context()))
		})
	}
}

// TestInvalidLastPacket ends a handler after an invalid packet that another goroutine of it reads: the packet
// is counted once, by the error of the handler or by the next call of Next.
func TestInvalidLastPacket(t *testing.T) {
	for _, returned := range []bool{true, false} {
		failed, served, ended := make(chan error), make(chan struct{}), make(chan struct{})
		s := &stream.Server{Logger: quiet(), Handler: func(_ context.Context, c *stream.Conn) error {
			go func() {
				defer close(ended)
				failed <- skipOne(c)
				<-served
				assert.Equal(t, net.ErrClosed, next(c))
			}()
			if err := <-failed; returned {
				return err
			}
			return nil
		}}
		ours, theirs := net.Pipe()
		go func() { _, _ = theirs.Write(framed(binary.LittleEndian, []byte{200, 0, 0, 0})) }()
		s.ServeConn(stream.NewConn(t.Context(), ours, nil))
		close(served)
		<-ended
		require.EqualValues(t, 1, s.Stats().Invalid)
	}

	s := &stream.Server{Logger: quiet(), Handler: func(_ context.Context, c *stream.Conn) error {
		err := skipOne(c)
		require.NoError(t, c.Close())
		require.Equal(t, net.ErrClosed, next(c))
		return err
	}}
	ours, theirs := net.Pipe()
	go func() { _, _ = theirs.Write(framed(binary.LittleEndian, []byte{200, 0, 0, 0})) }()
	s.ServeConn(stream.NewConn(t.Context(), ours, nil))
	require.EqualValues(t, 1, s.Stats().Invalid)
}

// TestIdle handles packets: no time is idle in which a handler does not wait for one, also if the packet
// came in one Read.
func TestIdle(t *testing.T) {
	one := framed(binary.LittleEndian, encoded(t, number(1)))
	for _, last := range []int{len(one), 5} { // the bytes of the second packet that came with the first
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			c := stream.NewConn(t.Context(), ours, nil)
			defer c.Close()
			ended := make(chan error)
			go func() {
				for range 2 {
					assert.NoError(t, next(c))
					time.Sleep(time.Minute)
				}
				ended <- next(c)
			}()
			time.Sleep(time.Second)
			require.Equal(t, time.Second, c.Stats().Idle)
			must(theirs.Write(append(one[:len(one):len(one)], one[:last]...)))(t)
			time.Sleep(time.Second)
			require.Zero(t, c.Stats().Idle)
			time.Sleep(time.Minute)
			require.Zero(t, c.Stats().Idle, "in the second packet")
			if last < len(one) {
				must(theirs.Write(one[last:]))(t)
			}
			time.Sleep(2*time.Minute - time.Second)
			require.Positive(t, c.Stats().Idle)
			theirs.Close()
			require.Equal(t, io.EOF, <-ended)
		})
	}
}

// TestConns iterates over the connections of a Server, describes them and closes one.
func TestConns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := encoded(t, number(1))
		s := &stream.Server{Handler: forward}
		require.Empty(t, slices.Collect(s.Conns()))
		first, theirs := net.Pipe()
		go s.ServeConn(stream.NewConn(t.Context(), remote{first, textAddr("10.0.0.2:7")}, nil))
		time.Sleep(time.Minute)
		f := newSocket()
		go s.ServeMessages(f.conn(t.Context()), stream.WebSocket(f, closeStatus))
		send := func() {
			must(theirs.Write(framed(binary.LittleEndian, one)))(t)
			must(io.ReadFull(theirs, make([]byte, 12)))(t)
		}
		send()
		must(theirs.Write(framed(binary.LittleEndian, nil)))(t)
		time.Sleep(time.Second)
		send()
		f.send(one)
		<-f.out
		time.Sleep(2 * time.Second)
		f.send(one) // is not read, so the next calls wait for no Write
		synctest.Wait()

		byAddr := map[string]*stream.Conn{}
		for c := range s.Conns() {
			byAddr[c.RemoteAddr().String()] = c
			require.EqualValues(t, 2, s.Stats().Conns) // methods of s do not wait for the loop
		}
		require.Len(t, byAddr, 2)
		require.Equal(t, stream.ConnStats{
			RemoteAddr: "10.0.0.2:7", Age: time.Minute + 3*time.Second, Idle: 2 * time.Second,
			PacketsIn: 3, PacketsOut: 2, BytesIn: 28, BytesOut: 24, Invalid: 1,
		}, byAddr["10.0.0.2:7"].Stats())
		require.Equal(t, stream.ConnStats{
			RemoteAddr: "10.0.0.1:7", Age: 3 * time.Second, // the address of a fakeConn
			PacketsIn: 1, PacketsOut: 1, BytesIn: 8, BytesOut: 8, // not idle: it answers a message
		}, byAddr["10.0.0.1:7"].Stats())
		for range s.Conns() {
			break
		}
		require.NoError(t, byAddr["10.0.0.2:7"].CloseWithCode(4000, "kicked"))
		must(io.ReadAll(theirs))(t)
		synctest.Wait()
		require.Len(t, slices.Collect(s.Conns()), 1)
		require.NoError(t, s.Close())
		require.NoError(t, s.Shutdown(t.Context()))
		require.Empty(t, slices.Collect(s.Conns()))
	})
}

type userKey struct{}

// The contexts of connections derive from that of their listener, and end with it.
func TestBaseContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := newFakeListener(nil)
		base, cancel := context.WithCancelCause(context.WithValue(t.Context(), userKey{}, "Ada"))
		s := &stream.Server{
			BaseContext: func(got net.Listener) context.Context {
				require.Equal(t, ln, got)
				return base
			},
			Logger: quiet(),
			Handler: func(ctx context.Context, c *stream.Conn) error {
				require.Equal(t, "Ada", ctx.Value(userKey{}))
				require.Equal(t, errBroken, next(c))
				require.Equal(t, errBroken, context.Cause(ctx))
				return nil
			},
		}
		result := start(s, ln)
		ours, theirs := net.Pipe()
		defer theirs.Close()
		ln.conns <- ours
		synctest.Wait()
		require.EqualValues(t, 1, s.Stats().Conns)
		cancel(errBroken)
		synctest.Wait()
		require.Zero(t, s.Stats().Conns)
		require.NoError(t, s.Shutdown(t.Context()))
		require.Equal(t, stream.ErrServerClosed, result())

		s = &stream.Server{BaseContext: func(net.Listener) context.Context { panic("oops") }, Handler: skipOneOf}
		require.PanicsWithValue(t, "oops", func() { _ = s.Serve(ln) })
		require.NoError(t, s.Shutdown(t.Context()))
	})
}

// TestPacketHandled measures how long a handler handles packets, over TCP and over a WebSocket.
func TestPacketHandled(t *testing.T) {
	one, text := encoded(t, number(1)), encoded(t, str("text"))
	want := []stream.HandledPacket{
		{Size: 8, Time: time.Second, First: 2 * time.Second}, {Size: 12, Time: time.Second},
		{Size: 0}, {Size: 8, Time: time.Second}, {Size: 8, Time: 3 * time.Second},
	}
	for _, web := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var got []stream.HandledPacket
			s := &stream.Server{
				PacketHandled: func(ctx context.Context, c *stream.Conn, p stream.HandledPacket) {
					require.NotEmpty(t, c.Stats().RemoteAddr)
					require.Equal(t, "Ada", ctx.Value(userKey{}))
					require.NoError(t, ctx.Err())
					got = append(got, p)
				},
				ConnContext: func(ctx context.Context, _ *stream.Conn) context.Context {
					return context.WithValue(ctx, userKey{}, "Ada")
				},
				Handler: func(_ context.Context, c *stream.Conn) error {
					for i := 0; ; i++ {
						if i == 3 {
							must(c.NextRaw(nil))(t)
						} else if err := skipOne(c); stream.Skippable(err) {
							continue
						} else if err != nil {
							return err
						}
						if i == 4 {
							time.Sleep(3 * time.Second)
							return nil
						}
						time.Sleep(time.Second)
					}
				},
			}
			packets := [][]byte{one, text, nil, one, one}
			v := visit(t.Context(), s, web)
			time.Sleep(2 * time.Second)
			if web {
				for _, p := range packets {
					v.send(p)
				}
			} else {
				must(v.conn.Write(framed(binary.LittleEndian, packets...)))(t)
			}
			<-v.ended
			require.Equal(t, want, got)
		})
	}
}

func skipOneOf(_ context.Context, c *stream.Conn) error { return skipOne(c) }
