package stream_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
)

// pipe returns a Conn and the other end of it.
func pipe(t *testing.T, o *stream.Options) (*stream.Conn, net.Conn) {
	return pipeContext(t.Context(), t, o)
}

func pipeContext(ctx context.Context, t *testing.T, o *stream.Options) (*stream.Conn, net.Conn) {
	ours, theirs := net.Pipe()
	c := stream.NewConn(ctx, ours, o)
	t.Cleanup(func() {
		c.Close()
		theirs.Close()
	})
	return c, theirs
}

// TestTimeouts lets each timeout expire and repeats the call: no bytes are lost.
func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, theirs := pipe(t, &stream.Options{ReadTimeout: short, IdleTimeout: short})
		timeout := func() {
			_, err := c.Next()
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			require.False(t, stream.Skippable(err))
		}
		b := framed(binary.LittleEndian, encoded(t, str("two")), encoded(t, number(3)))
		timeout()
		for _, part := range [][]byte{b[:1], b[1:3], b[3:5], b[5:10]} {
			done := send(theirs, part)
			timeout()
			<-done
		}
		done := send(theirs, b[10:])
		d := must(c.Next())(t)
		require.Equal(t, "two", must(d.ReadToken())(t).Text())
		d = must(c.Next())(t)
		require.NoError(t, d.SkipValue())
		<-done
		timeout()
	})
}

// TestDecoderTimeouts repeats a call of a Decoder that times out: each gets the same time, and no bytes are lost.
func TestDecoderTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, theirs := pipe(t, &stream.Options{ReadTimeout: time.Second})
		b := framed(binary.LittleEndian, mixed(t)[6], encoded(t, number(3)))
		done := send(theirs, b[:20_000])
		d := must(c.Next())(t)
		_, err := d.ReadToken() // of the Array
		require.NoError(t, err)
		for range 3 {
			begin := time.Now()
			require.ErrorIs(t, d.SkipTo(0), os.ErrDeadlineExceeded)
			require.Equal(t, time.Second, time.Since(begin))
		}
		<-done
		done = send(theirs, b[20_000:])
		require.NoError(t, d.SkipTo(0))
		require.EqualValues(t, 3, answer(t, c))
		<-done
	})
}

// A watched connection records the deadlines that are set.
type watched struct {
	net.Conn
	log []string
}

func (w *watched) note(d time.Time, name string) {
	switch left := time.Until(d); {
	case d.IsZero():
		name += " none"
	case left > long:
		name += " idle"
	default:
		name += " packet"
	}
	w.log = append(w.log, name)
}

func (w *watched) SetReadDeadline(d time.Time) error {
	w.note(d, "read")
	return w.Conn.SetReadDeadline(d)
}

func (w *watched) SetWriteDeadline(d time.Time) error {
	w.note(d, "write")
	return w.Conn.SetWriteDeadline(d)
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if n > 0 {
		w.log = append(w.log, "bytes")
	}
	return n, err
}

// TestDeadlines checks which deadline is set before which bytes are read.
func TestDeadlines(t *testing.T) {
	one, large := framed(binary.LittleEndian, encoded(t, number(1))), framed(binary.LittleEndian, mixed(t)[6])
	for name, c := range map[string]struct {
		options stream.Options
		sent    [][]byte // each by one Write
		skip    bool     // values are skipped by their Decoder
		want    []string
	}{
		"none": {stream.Options{}, [][]byte{one}, false, []string{"bytes"}},
		"a packet at once": {stream.Options{ReadTimeout: long, IdleTimeout: 2 * long}, [][]byte{one}, false,
			[]string{"read idle", "bytes", "read idle"}},
		"byte by byte": {stream.Options{ReadTimeout: long, IdleTimeout: 2 * long}, [][]byte{one[:1], one[1:5], one[5:]}, false,
			[]string{"read idle", "bytes", "read packet", "bytes", "bytes", "read idle"}},
		"two at once": {stream.Options{ReadTimeout: long, IdleTimeout: 2 * long}, [][]byte{append(bytes.Clone(one), one...)}, false,
			[]string{"read idle", "bytes", "read idle"}},
		"ReadTimeout alone": {stream.Options{ReadTimeout: long}, [][]byte{one[:3], one[3:]}, false,
			[]string{"bytes", "read packet", "bytes", "read none"}},
		"IdleTimeout alone": {stream.Options{IdleTimeout: 2 * long}, [][]byte{one[:3], one[3:]}, false,
			[]string{"read idle", "bytes", "read none", "bytes", "read idle"}},
		"the Decoder reads": {stream.Options{ReadTimeout: long, IdleTimeout: 2 * long}, [][]byte{large[:100], large[100:]}, true,
			[]string{"read idle", "bytes", "read packet", "bytes", "bytes", "bytes", "read idle"}},
		"dropped": {stream.Options{ReadTimeout: long, IdleTimeout: 2 * long}, [][]byte{large[:100], large[100:]}, false,
			[]string{"read idle", "bytes", "read packet", "bytes", "bytes", "bytes", "read idle"}},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			w := &watched{Conn: ours}
			conn := stream.NewConn(t.Context(), w, &c.options)
			defer conn.Close()
			go func() {
				for _, b := range c.sent {
					_, _ = theirs.Write(b)
				}
				theirs.Close()
			}()
			for {
				d, err := conn.Next()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				if c.skip {
					require.NoError(t, d.SkipValue())
				}
			}
			if name == "the Decoder reads" { // it reads the last bytes in one or two Reads
				w.log = deadlines(w.log)
				c.want = []string{"read idle", "read packet", "read idle"}
			}
			assert.Equal(t, c.want, w.log)
		})
	}
}

func deadlines(log []string) (all []string) {
	for _, l := range log {
		if l != "bytes" {
			all = append(all, l)
		}
	}
	return all
}

// A moody connection refuses one of the deadlines.
type moody struct {
	net.Conn
	calls, refuse int
}

var errMood = errors.New("not now")

func (m *moody) SetReadDeadline(d time.Time) error {
	if m.calls++; m.calls == m.refuse {
		return errMood
	}
	return m.Conn.SetReadDeadline(d)
}

func (m *moody) SetWriteDeadline(d time.Time) error { return m.SetReadDeadline(d) }

// TestDeadlineErrors refuses each deadline once: the call returns the error without
// waiting, and can be repeated.
func TestDeadlineErrors(t *testing.T) {
	large := mixed(t)[6]
	b := framed(binary.LittleEndian, encoded(t, number(1)), large, large)
	for refuse := 1; ; refuse++ {
		ours, theirs := net.Pipe()
		m := &moody{Conn: ours, refuse: refuse}
		c := stream.NewConn(t.Context(), m, &stream.Options{ReadTimeout: long, WriteTimeout: long, IdleTimeout: long})
		done := send(theirs, b)
		refused := 0
		next := func(f func() error) {
			err := f()
			if err == errMood {
				refused++
				err = f()
			}
			require.NoError(t, err)
		}
		next(func() error { _, err := c.Next(); return err })
		next(func() error { _, err := c.Next(); return err }) // not read
		var raw []byte
		next(func() error {
			var err error
			raw, err = c.NextRaw(raw)
			return err
		})
		require.True(t, bytes.Equal(large, raw))
		<-done
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		next(func() error { return c.WritePacket(number(1)) })
		require.NoError(t, c.Close())
		if refused == 0 {
			require.Greater(t, refuse, 4)
			return
		}
	}
}

// TestNextRawTimeout interrupts NextRaw inside a packet by a timeout.
func TestNextRawTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &moody{}
		ours, theirs := net.Pipe()
		m.Conn = ours
		c := stream.NewConn(t.Context(), m, &stream.Options{ReadTimeout: short})
		defer c.Close()
		b := framed(binary.LittleEndian, mixed(t)[6])
		done := send(theirs, b[:20_000])
		raw, err := c.NextRaw(nil)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		<-done
		m.refuse = m.calls + 1
		raw, err = c.NextRaw(raw)
		require.Equal(t, errMood, err)
		done = send(theirs, b[20_000:])
		raw = must(c.NextRaw(raw))(t)
		require.True(t, bytes.Equal(b[4:], raw))
		<-done
	})
}

func TestWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, theirs := pipe(t, &stream.Options{WriteTimeout: short})
		require.ErrorIs(t, c.WritePacket(number(1)), os.ErrDeadlineExceeded)

		// No byte was written: the packet can be written again.
		got := make([]byte, 12)
		read := make(chan error)
		go func() {
			_, err := io.ReadFull(theirs, got)
			read <- err
		}()
		require.NoError(t, c.WritePacket(number(1)))
		require.NoError(t, <-read)
		require.Equal(t, framed(binary.LittleEndian, encoded(t, number(1))), got)

		// A part of the next one was written: no packet can follow.
		go func() {
			_, err := io.ReadFull(theirs, got[:5])
			read <- err
		}()
		require.ErrorIs(t, c.WritePacket(number(2)), os.ErrDeadlineExceeded)
		require.NoError(t, <-read)
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		for _, err := range []error{c.WritePacket(number(3)), c.WriteRaw([]byte{0, 0, 0, 0})} {
			require.ErrorIs(t, err, stream.ErrBroken)
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		}
	})
}

var errOwn = errors.New("own")

// connEnds are the ways to end a Conn, and the errors that its calls return then.
var connEnds = map[string]struct {
	end  func(c *stream.Conn, cancel context.CancelCauseFunc)
	want error
}{
	"Close":  {func(c *stream.Conn, _ context.CancelCauseFunc) { c.Close() }, net.ErrClosed},
	"cancel": {func(_ *stream.Conn, cancel context.CancelCauseFunc) { cancel(errOwn) }, errOwn},
	"cancel, then Close": {func(c *stream.Conn, cancel context.CancelCauseFunc) {
		cancel(errOwn)
		c.Close()
	}, errOwn},
}

// TestClose closes a Conn while others read and write.
func TestClose(t *testing.T) {
	for name, c := range connEnds {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			conn, theirs := pipeContext(ctx, t, &stream.Options{ReadTimeout: long, WriteTimeout: long})
			errs := make(chan error, 2)
			done := send(theirs, []byte{8, 0})
			go func() {
				_, err := conn.Next()
				errs <- err
			}()
			go func() { errs <- conn.WritePacket(number(1)) }()
			<-done // so Next waits for the rest
			c.end(conn, cancel)
			require.Equal(t, c.want, <-errs)
			require.Equal(t, c.want, <-errs)
			require.Equal(t, c.want, errOf(conn.NextRaw(nil)))
			require.Equal(t, c.want, conn.WritePacket(number(1)))
			require.NoError(t, conn.Close())
			require.NoError(t, conn.Close())
			require.Equal(t, io.EOF, errOf(theirs.Read(make([]byte, 1))))
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	conn, _ := pipeContext(ctx, t, nil)
	require.Equal(t, context.Canceled, errOf(conn.Next()))
}

// TestCallsAfterEnd calls each method of a Conn after each of its ends: all return the end, whatever their arguments and
// whatever failed before.
func TestCallsAfterEnd(t *testing.T) {
	tooLong := make([]byte, 101)
	calls := map[string]func(c *stream.Conn) error{
		"Next":                 next,
		"NextRaw":              func(c *stream.Conn) error { return errOf(c.NextRaw(nil)) },
		"WritePacket":          func(c *stream.Conn) error { return c.WritePacket(number(1)) },
		"WritePacket, invalid": func(c *stream.Conn) error { return c.WritePacket(func(*gdwire.Encoder) error { return errBroken }) },
		"WriteRaw":             func(c *stream.Conn) error { return c.WriteRaw([]byte{0, 0, 0, 0}) },
		"WriteRaw, empty":      func(c *stream.Conn) error { return c.WriteRaw(nil) },
		"WriteRaw, too long":   func(c *stream.Conn) error { return c.WriteRaw(tooLong) },
		"Flush":                (*stream.Conn).Flush,
	}
	slow := func(c *stream.Conn) {
		room := stream.Room{MaxQueue: 1}
		m := room.Join(c)
		for m.WriteRaw([]byte{0, 0, 0, 0}) == nil {
		}
	}
	ends := map[string]struct {
		end  func(c *stream.Conn, cancel context.CancelCauseFunc)
		want error
	}{
		"Server.Close": {func(c *stream.Conn, _ context.CancelCauseFunc) {
			serving := make(chan struct{})
			s := &stream.Server{Logger: quiet(), Handler: func(ctx context.Context, _ *stream.Conn) error {
				close(serving)
				<-t.Context().Done() // after all calls
				return ctx.Err()
			}}
			go s.ServeConn(c)
			<-serving
			_ = s.Close()
		}, stream.ErrServerClosed},
		"dropped by a Room": {func(c *stream.Conn, _ context.CancelCauseFunc) { slow(c); _ = drained(c) }, stream.ErrSlow},
	}
	maps.Copy(ends, connEnds)
	for kind, o := range map[string]stream.Options{"": {}, "buffered": {}, "held": {BufferWrites: true}, "broken": {WriteTimeout: short}, "message": {}} {
		for name, c := range ends {
			t.Run(kind+"/"+name, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				o.MaxPacket = 100
				ours, theirs := net.Pipe()
				defer theirs.Close()
				conn := stream.NewConn(ctx, ours, &o)
				switch kind {
				case "buffered":
					done := send(theirs, bytes.Repeat(framed(binary.LittleEndian, encoded(t, number(1))), 3))
					require.NoError(t, next(conn))
					<-done
				case "held":
					require.NoError(t, conn.WritePacket(number(1)))
				case "broken":
					done := make(chan error, 1)
					go func() { done <- errOf(io.ReadFull(theirs, make([]byte, 5))) }()
					require.ErrorIs(t, conn.WritePacket(number(1)), os.ErrDeadlineExceeded)
					require.NoError(t, <-done)
				case "message":
					conn = messageConn(ctx, newSocket(), &o)
				}
				if kind == "broken" && c.want == stream.ErrSlow {
					return // the Room reports the first error
				}
				c.end(conn, cancel)
				for range 2 {
					for call, f := range calls {
						require.Equal(t, c.want, f(conn), call)
					}
				}
				ended := conn.CloseRead(context.Background())
				<-ended.Done()
				require.Equal(t, c.want, context.Cause(ended))
				_ = conn.Close()
				require.NoError(t, conn.Close())
			})
		}
	}
	for name, c := range connEnds {
		ctx, cancel := context.WithCancelCause(t.Context())
		conn := stream.NewPacketConn(ctx, must(net.ListenPacket("udp", "127.0.0.1:0"))(t), nil)
		if cancel(nil); name == "Close" {
			ctx, cancel = context.WithCancelCause(t.Context())
			conn = stream.NewPacketConn(ctx, must(net.ListenPacket("udp", "127.0.0.1:0"))(t), nil)
			require.NoError(t, conn.Close())
		} else {
			c.want = context.Canceled
		}
		to := conn.To(&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9})
		require.Equal(t, c.want, errOf(conn.Next()), name)
		require.Equal(t, c.want, to.WritePacket(func(*gdwire.Encoder) error { return errBroken }), name)
		require.Equal(t, c.want, to.WriteRaw(nil), name)
		cancel(nil)
	}
}

// A slowlyClosed connection waits before it closes.
type slowlyClosed struct {
	net.Conn
	closes chan struct{}
}

func (c slowlyClosed) Close() error {
	<-c.closes
	return c.Conn.Close()
}

// TestWriteAfterContext writes when the context is done and the connection is not closed yet: nothing is
// written.
func TestWriteAfterContext(t *testing.T) {
	for name, o := range map[string]stream.Options{"": {}, "WriteTimeout": {WriteTimeout: long}, "BufferWrites": {BufferWrites: true}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			ours, theirs := net.Pipe()
			closes, got := make(chan struct{}), make(chan []byte)
			go func() {
				b, _ := io.ReadAll(theirs)
				got <- b
			}()
			conn := stream.NewConn(ctx, slowlyClosed{ours, closes}, &o)
			cancel(errOwn)
			require.Equal(t, errOwn, conn.WritePacket(number(1)))
			require.Equal(t, errOwn, conn.WriteRaw(make([]byte, 100_000)))
			require.Equal(t, errOwn, conn.Flush())
			close(closes)
			require.Empty(t, <-got)
		})
	}
}

// TestNoGoroutines ends a Conn and a PacketConn in every way: no goroutine remains.
func TestNoGoroutines(t *testing.T) {
	noneLeft := testenv.NoGoroutines(t)
	contexts := map[string]func() (context.Context, func()){
		"background": func() (context.Context, func()) { return context.Background(), func() {} },
		"cancel": func() (context.Context, func()) {
			ctx, cancel := context.WithCancel(context.Background())
			return ctx, cancel
		},
		"timeout": func() (context.Context, func()) {
			ctx, cancel := context.WithTimeout(context.Background(), long)
			return ctx, cancel
		},
		"own": func() (context.Context, func()) {
			done := make(chan struct{})
			return own{context.Background(), done}, func() { close(done) }
		},
	}
	for name, make := range contexts {
		for _, closeFirst := range []bool{false, true} {
			if name == "background" && !closeFirst {
				continue // its context is never done
			}
			ctx, cancel := make()
			ours, theirs := net.Pipe()
			c := stream.NewConn(ctx, ours, &stream.Options{ReadTimeout: long, WriteTimeout: long, IdleTimeout: long})
			p := stream.NewPacketConn(ctx, must(net.ListenPacket("udp", "127.0.0.1:0"))(t), nil)
			if name != "own" {
				noneLeft()
			}
			ended := func(done chan error) {
				t.Helper()
				require.Error(t, <-done, name)
			}
			next, packet := reading(c.Next), reading(func() (*gdwire.Decoder, error) {
				d, err := p.Next()
				return d, err
			})
			if closeFirst {
				require.NoError(t, c.Close())
				require.NoError(t, p.Close())
				ended(next)
				ended(packet)
				cancel()
			} else {
				cancel()
				ended(next)
				ended(packet)
			}
			theirs.Close()
			noneLeft()
			// Closing again does nothing.
			require.NoError(t, c.Close())
			require.NoError(t, p.Close())
		}
	}
}

// reading calls next in a goroutine.
func reading(next func() (*gdwire.Decoder, error)) (done chan error) {
	done = make(chan error, 1)
	go func() {
		_, err := next()
		done <- err
	}()
	return done
}

// own is a Context of another type, which package context watches in a goroutine.
type own struct {
	context.Context
	done chan struct{}
}

func (o own) Done() <-chan struct{} { return o.done }

func (o own) Err() error {
	select {
	case <-o.done:
		return context.Canceled
	default:
		return nil
	}
}
