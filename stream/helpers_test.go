package stream_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leftovers returns a function that checks that no more goroutines run and no more
// memory is in use than when leftovers was called.
func leftovers(t *testing.T) (check func()) {
	goroutines, heap := runtime.NumGoroutine(), heapInUse()
	return func() {
		t.Helper()
		assert.Less(t, heapInUse(), heap+1<<20)
		for range 1000 { // one that was waited for may still be at its last instruction
			if runtime.NumGoroutine() <= goroutines {
				return
			}
			runtime.GC()
		}
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines are left, not %d:\n%s", runtime.NumGoroutine(), goroutines, buf[:runtime.Stack(buf, true)])
	}
}

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
	defer e.Release()
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
// when every handle has returned.
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
