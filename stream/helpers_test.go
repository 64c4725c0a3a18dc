package stream_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"math"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

// errOf returns the error of a call that returns a value, too.
func errOf[V any](_ V, err error) error { return err }

func heapInUse() uint64 {
	runtime.GC() // twice, for a pool keeps its content for one more collection
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// errTemporary is an error after which a call can be made again.
var errTemporary = errors.New("not yet")

// again repeats f while its error is errTemporary.
func again[T any](f func() (T, error)) (T, error) {
	for {
		v, err := f()
		if err != errTemporary {
			return v, err
		}
	}
}

// line writes a description of t.
func line(w io.Writer, d *gdwire.Decoder, t gdwire.Token) {
	b := t.Bytes()
	fmt.Fprintf(w, "%d %.40v %d bytes %08x\n", d.Depth(), t, len(b), crc32.ChecksumIEEE(b))
}

func everyToken(r *stream.Reader) []outcome { return outcomes(r, math.MaxInt) }

// framed returns the packets, each after its length.
func framed(order binary.AppendByteOrder, packets ...[]byte) (b []byte) {
	for _, p := range packets {
		b = append(order.AppendUint32(b, uint32(len(p))), p...)
	}
	return b
}

// encoded returns the bytes that write writes, in Godot 4's format.
func encoded(t testing.TB, write func(e *gdwire.Encoder) error) []byte {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	require.NoError(t, write(e))
	require.NoError(t, e.Close())
	return b.Bytes()
}

func str(s string) func(e *gdwire.Encoder) error {
	return func(e *gdwire.Encoder) error { return e.WriteString(s) }
}

func number(v int64) func(e *gdwire.Encoder) error {
	return func(e *gdwire.Encoder) error { return e.WriteInt(v) }
}

// mixed returns packets of all kinds, valid and invalid.
func mixed(t testing.TB) [][]byte {
	large := encoded(t, func(e *gdwire.Encoder) error {
		err := errors.Join(e.BeginArray(3), e.WriteInt(1), e.BeginPacked(gdwire.TypePackedByteArray, 20_000))
		_, werr := e.Write(make([]byte, 20_000))
		return errors.Join(err, werr, e.End(), e.WriteString(strings.Repeat("é", 10_000)), e.End())
	})
	one := encoded(t, number(1))
	return [][]byte{
		one,
		{},                                // empty
		encoded(t, str("two")),            //
		{200, 0, 0, 0},                    // no such type
		one[:6],                           // ends early
		append(bytes.Clone(one), 7, 7),    // bytes after the value
		large,                             //
		large[:30_000],                    // ends early
		append(bytes.Clone(large), 7),     //
		make([]byte, 60_000),              // too long
		bytes.Repeat([]byte{200}, 20_000), // no such type, and large
		{0, 0, 0, 0},                      // nil
		one,
	}
}

const mixedMax = 50_000

func mixedOptions(big bool) *stream.Options {
	return &stream.Options{MaxPacket: mixedMax, BigEndianLength: big}
}

// A logBuffer is a log that several goroutines may write.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve serves connections to a port of this machine and returns the port. The test ends
// when every handle returned.
func serve(t *testing.T, o *stream.Options, handle func(*stream.Conn) error) (port string) {
	if o == nil {
		o = &stream.Options{}
	}
	s := &stream.Server{Options: *o, Handler: func(ctx context.Context, c *stream.Conn) error {
		if err := handle(c); err != nil && ctx.Err() == nil {
			t.Errorf("%v: %v", c.NetConn().RemoteAddr(), err)
		}
		return nil
	}}
	ln := listen(t)
	result := start(s, ln)
	t.Cleanup(func() {
		s.Close()
		assert.NoError(t, s.Shutdown(context.Background()))
		assert.Equal(t, stream.ErrServerClosed, result())
	})
	_, port, _ = net.SplitHostPort(ln.Addr().String())
	return port
}

// echo sends every packet back, token by token. Invalid packets are skipped unless strict
// is set.
func echo(c *stream.Conn, strict bool) error {
	for {
		d, err := c.Next()
		if err == nil {
			err = c.WritePacket(func(e *gdwire.Encoder) error { return gdwire.CopyValue(e, d) })
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil && (strict || !stream.Skippable(err)):
			return err
		}
		if n := c.Trailing(); strict && n != 0 {
			return fmt.Errorf("%d bytes after the value", n)
		}
	}
}

// short is a timeout that expires in a test, long one that does not.
const (
	short = 30 * time.Millisecond
	long  = time.Minute
)

// A visitor is a client of a Server, over a net.Pipe or a WebSocket.
type visitor struct {
	conn   net.Conn
	socket *fakeSocket   // in place of conn
	ended  chan struct{} // closed when the Server has ended the connection
}

// visit connects a visitor.
func visit(ctx context.Context, s *stream.Server, web bool) *visitor {
	v := &visitor{ended: make(chan struct{})}
	var ours net.Conn
	if web {
		v.socket = newSocket()
		v.socket.in = make(chan frame)
	} else {
		ours, v.conn = net.Pipe()
	}
	go func() {
		defer close(v.ended)
		if web {
			s.ServeMessages(v.socket.conn(ctx), stream.WebSocket(v.socket, closeStatus))
		} else {
			s.ServeConn(stream.NewConn(ctx, ours, &s.Options))
		}
	}()
	return v
}

// send sends a packet, or returns when the connection has ended.
func (v *visitor) send(packet []byte) {
	if v.conn != nil {
		_, _ = v.conn.Write(framed(binary.LittleEndian, packet))
		return
	}
	select {
	case v.socket.in <- frame{typ: 2, r: bytes.NewReader(packet)}:
	case <-v.ended:
	}
}

// send writes b and closes done after that, or when the connection is closed.
func send(conn net.Conn, b []byte) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		_, _ = conn.Write(b)
	}()
	return done
}

// newLog returns a log that writes text to w.
func newLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

var errBroken = errors.New("broken")

// A source returns packets: a Reader or a Conn.
type source interface {
	Next() (*gdwire.Decoder, error)
	NextRaw(dst []byte) ([]byte, error)
	PacketOffset() int64
	PacketSize() int64
	Trailing() int64
}

// readings are the ways to read a stream of packets to its end. Each returns a record of
// it, and repeats calls after errTemporary.
var readings = map[string]func(r source) (string, error){
	"tokens": func(r source) (string, error) {
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
	"SkipValue": func(r source) (string, error) {
		return everyPacket(r, func(_ io.Writer, d *gdwire.Decoder) error {
			_, err := again(func() (int, error) {
				if d.Depth() > 0 { // it was interrupted
					return 0, d.SkipTo(0)
				}
				return 0, d.SkipValue()
			})
			return err
		})
	},
	"CopyValue": func(r source) (string, error) {
		return everyPacket(r, func(w io.Writer, d *gdwire.Decoder) error {
			e := gdwire.NewEncoder(w, nil)
			defer e.Close()
			_, err := again(func() (int, error) { return 0, gdwire.CopyValue(e, d) })
			return err
		})
	},
	"Next": func(r source) (string, error) {
		return everyPacket(r, func(io.Writer, *gdwire.Decoder) error { return nil })
	},
	"NextRaw": func(r source) (string, error) {
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

// An outcome is the result of reading one packet.
type outcome struct {
	offset, size, trailing, whole int64
	tokens                        string
	err                           string
}

// outcomes reads r to its end, up to most tokens of each packet. The last outcome is the
// end of the stream.
func outcomes(r *stream.Reader, most int) (all []outcome) {
	for {
		d, err := again(r.Next)
		o := outcome{offset: r.PacketOffset(), size: r.PacketSize()}
		var b strings.Builder
		for i := 0; err == nil && i < most; i++ {
			var t gdwire.Token
			if t, err = again(d.ReadToken); err == nil {
				line(&b, d, t)
			}
		}
		o.tokens = b.String()
		o.trailing, o.whole = r.Trailing(), r.CompleteOffset()
		ended := err == io.EOF && d == nil || err == io.ErrUnexpectedEOF
		if err != nil && (d == nil || err != io.EOF) {
			o.err = err.Error()
		}
		all = append(all, o)
		if ended {
			return all
		}
	}
}

// A stutter returns few bytes at a time, and its error between or with them.
type stutter struct {
	r    io.Reader
	err  error
	most int
	with bool
	odd  bool
}

func (s *stutter) Read(p []byte) (int, error) {
	if s.odd = !s.odd; s.odd && !s.with {
		return 0, s.err
	}
	n, err := s.r.Read(p[:min(len(p), s.most)])
	if s.with && err == nil {
		err = s.err
	}
	return n, err
}

func answer(t *testing.T, c *stream.Conn) int64 {
	t.Helper()
	return must(must(c.Next())(t).ReadToken())(t).Int()
}

// start serves ln and returns a function that waits for Serve's error.
func start(s *stream.Server, ln net.Listener) (result func() error) {
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ln) }()
	return func() error { return <-ended }
}

var errTape = errors.New("torn")

// drained reads until an error that is not about a packet.
func drained(c *stream.Conn) error {
	for {
		if err := next(c); err != nil && !stream.Skippable(err) {
			return err
		}
	}
}
