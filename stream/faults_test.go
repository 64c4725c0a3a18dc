package stream_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errBroken = errors.New("broken")

// A faulty Reader fails where at bytes have been read: once, or for good.
type faulty struct {
	b       []byte
	at      int
	err     error
	joined  bool // the error comes with the bytes in front of it
	forGood bool
	pos     int
	failed  bool
}

func (f *faulty) Read(p []byte) (int, error) {
	due := !f.failed || f.forGood
	if due && f.pos == f.at {
		f.failed = true
		return 0, f.err
	}
	b := f.b[f.pos:]
	if due {
		b = f.b[f.pos:f.at]
	}
	n := copy(p, b)
	f.pos += n
	switch {
	case n == 0:
		return 0, io.EOF
	case due && f.joined && f.pos == f.at:
		f.failed = true
		return n, f.err
	}
	return n, nil
}

// frames are few bytes with everything in them, and where a sweep over a packet
// that does not fit the buffer goes.
func frames(t *testing.T) map[string][]byte {
	p := mixed(t)
	return map[string][]byte{
		"small": framed(binary.LittleEndian, p[0], p[1], p[2], p[3], p[4], p[5], make([]byte, 100), p[11], p[12]),
		"large": framed(binary.LittleEndian, p[0], p[6], p[2]),
	}
}

// places are where to fail: everywhere, or everywhere near something.
func places(b []byte) (all []int) {
	for at := range len(b) + 1 {
		if testing.Short() && at%7 != 0 {
			continue
		}
		if at < 100 || at > len(b)-100 || at%499 == 0 {
			all = append(all, at)
		}
	}
	return all
}

func faultOptions() *stream.Options {
	return &stream.Options{MaxPacket: 45_000, Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{Elements: 50}}}
}

// readings are the ways to read a stream of packets to its end. Each says what it
// reads, and calls again after errTemporary.
var readings = map[string]func(r *stream.Reader) (string, error){
	"tokens": func(r *stream.Reader) (string, error) {
		return everyPacket(r, func(w io.Writer, d *gdwire.Decoder) error {
			for {
				t, err := again(d.ReadToken)
				if err != nil {
					return err
				}
				line(w, d, t)
			}
		})
	},
	"SkipValue": func(r *stream.Reader) (string, error) {
		return everyPacket(r, func(_ io.Writer, d *gdwire.Decoder) error {
			_, err := again(func() (int, error) { return 0, d.SkipValue() })
			return err
		})
	},
	"CopyValue": func(r *stream.Reader) (string, error) {
		return everyPacket(r, func(w io.Writer, d *gdwire.Decoder) error {
			e := gdwire.NewEncoder(w, nil)
			defer e.Release()
			_, err := again(func() (int, error) { return 0, gdwire.CopyValue(e, d) })
			return err
		})
	},
	"Next": func(r *stream.Reader) (string, error) {
		return everyPacket(r, func(io.Writer, *gdwire.Decoder) error { return nil })
	},
	"NextRaw": func(r *stream.Reader) (string, error) {
		var b bytes.Buffer
		for {
			var raw []byte
			_, err := again(func() (n int, err error) {
				raw, err = r.NextRaw(raw)
				return 0, err
			})
			fmt.Fprintln(&b, r.PacketOffset(), len(raw), err)
			if err != nil && !stream.Skippable(err) {
				return b.String(), err
			}
		}
	},
}

func everyPacket(r *stream.Reader, read func(w io.Writer, d *gdwire.Decoder) error) (string, error) {
	var b bytes.Buffer
	for {
		d, err := again(r.Next)
		end := err
		if err == nil {
			if err = read(&b, d); err == io.EOF {
				err = nil // behind the value
			}
			end = err
		}
		fmt.Fprintln(&b, r.PacketOffset(), r.PacketSize(), err)
		if end != nil && !stream.Skippable(end) {
			return b.String(), end
		}
	}
}

// A Reader that fails once, wherever that is, makes no difference to what is read.
func TestTemporaryReaderFaults(t *testing.T) {
	for name, b := range frames(t) {
		for way, read := range readings {
			want, end := read(stream.NewReader(bytes.NewReader(b), faultOptions()))
			require.Equal(t, io.EOF, end)
			for _, at := range places(b) {
				for _, joined := range []bool{false, true} {
					f := &faulty{b: b, at: at, err: errTemporary, joined: joined}
					got, end := read(stream.NewReader(f, faultOptions()))
					require.Equal(t, io.EOF, end, "%s of %s, at %d", way, name, at)
					require.Equal(t, want, got, "%s of %s, at %d", way, name, at)
				}
			}
		}
	}
}

// The error of one that fails for good comes as it is, wherever that is and as
// often as it is asked for, and what came before it is what it is without.
func TestPermanentReaderFaults(t *testing.T) {
	for name, b := range frames(t) {
		for way, read := range readings {
			want, _ := read(stream.NewReader(bytes.NewReader(b), faultOptions()))
			for _, at := range places(b) {
				for _, joined := range []bool{false, true} {
					r := stream.NewReader(&faulty{b: b, at: at, err: errBroken, joined: joined, forGood: true}, faultOptions())
					got, end := read(r)
					require.Equal(t, errBroken, end, "%s of %s, at %d", way, name, at)
					last := bytes.LastIndexByte([]byte(got[:len(got)-1]), '\n') + 1 // the line that says how it ended
					if way == "tokens" || way == "NextRaw" || way == "SkipValue" {
						require.Equal(t, want[:last], got[:last], "%s of %s, at %d", way, name, at)
					}
					_, err := r.Next()
					require.Equal(t, errBroken, err)
					_, err = r.NextRaw(nil)
					require.Equal(t, errBroken, err)
					require.EqualValues(t, at, r.InputOffset())
				}
			}
		}
	}
}

// A shaky file takes so many bytes before it fails once, or takes less and does
// not say so.
type shaky struct {
	b    []byte
	at   int
	room int
	err  error
}

func (s *shaky) Write(p []byte) (int, error) {
	n := min(len(p), s.room)
	s.b = append(s.b[:s.at], append(bytes.Clone(p[:n]), s.b[min(s.at+n, len(s.b)):]...)...)
	s.at += n
	if s.room -= n; n < len(p) {
		s.room = math.MaxInt
		return n, s.err
	}
	return n, nil
}

func (s *shaky) Seek(offset int64, whence int) (int64, error) {
	s.at = int(offset) + map[int]int{io.SeekCurrent: s.at, io.SeekEnd: len(s.b)}[whence]
	return int64(s.at), nil
}

func (s *shaky) Truncate(size int64) error {
	s.b = s.b[:size]
	return nil
}

// A packet that is written through and fails at any byte leaves nothing behind,
// and the next one stands where it would have stood.
func TestWriteThroughFaults(t *testing.T) {
	one, two := framed(binary.LittleEndian, encoded(t, number(1))), framed(binary.LittleEndian, encoded(t, str("two")))
	for _, own := range []error{errBroken, nil} {
		for room := range len(two) + 4 { // its length is written twice
			f := &shaky{b: bytes.Clone(one), at: 3, room: room, err: own}
			w := stream.NewWriter(f, nil)
			want := own
			if want == nil {
				want = io.ErrShortWrite
			}
			require.Equal(t, want, w.WriteThrough(str("two")), room)
			require.Equal(t, one, f.b, room)
			require.NoError(t, w.WriteThrough(str("two")), room)
			require.Equal(t, append(bytes.Clone(one), two...), f.b, room)
		}
	}
}

// The other end of a Conn goes away at any byte.
func TestConnCut(t *testing.T) {
	b := framed(binary.LittleEndian, encoded(t, number(1)), encoded(t, str("two")))
	for n := range len(b) + 1 {
		c, theirs := pipe(t, nil)
		go func() {
			_, _ = theirs.Write(b[:n])
			theirs.Close()
		}()
		got, end := readings["tokens"](c.Reader)
		want, wantEnd := readings["tokens"](stream.NewReader(bytes.NewReader(b[:n]), nil))
		require.Equal(t, wantEnd, end, n)
		require.Equal(t, want, got, n)
	}
}

// own is a Context of another kind, which package context has to watch in a
// goroutine.
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

// Neither a Conn nor a PacketConn leaves a goroutine behind, however it ends.
func TestNoGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
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
				continue // it never ends
			}
			ctx, cancel := make()
			ours, theirs := net.Pipe()
			c := stream.NewConn(ctx, ours, &stream.Options{ReadTimeout: long, WriteTimeout: long, IdleTimeout: long})
			pc, err := net.ListenPacket("udp", "127.0.0.1:0")
			require.NoError(t, err)
			p := stream.NewPacketConn(ctx, pc, nil)
			if name != "own" {
				require.LessOrEqual(t, runtime.NumGoroutine(), before, name)
			}
			ended := func(done chan error) {
				t.Helper()
				require.Error(t, <-done, name)
			}
			next, packet := reading(c.Next), reading(func() (*gdwire.Decoder, error) {
				d, _, err := p.ReadPacket()
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
			requireGoroutines(t, before, name)
			// Closing in vain, and late.
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

// requireGoroutines asks that no more than n are left once all had time to leave.
func requireGoroutines(t *testing.T, n int, name string) {
	t.Helper()
	assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= n+1 }, long, time.Millisecond, name) // its own is one
}
