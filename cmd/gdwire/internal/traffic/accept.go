package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire/internal/quota"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/stream"
)

// An acceptor calls handle for each connection of a listener, and then closes the connection.
type acceptor struct {
	options stream.Options // a timeout of 0 is off
	handle  func(ctx context.Context, c *stream.Conn, number int64)
	logf    func(format string, args ...any)
	count   atomic.Int64 // connections
}

// run accepts connections until ctx is done, and returns after all handlers, with the error if
// one ended ln before. The number of connections is not limited: handle itself can wait.
func (a *acceptor) run(ctx context.Context, ln net.Listener) error {
	log := &serverLog{logf: a.logf}
	s := &stream.Server{
		Handler: func(ctx context.Context, c *stream.Conn) error {
			log.reset()
			a.handle(ctx, c, a.count.Add(1))
			return nil
		},
		Options: a.options, MaxConns: -1, MaxReading: -1, Logger: slog.New(log),
	}
	for _, timeout := range []*time.Duration{&s.Options.ReadTimeout, &s.Options.WriteTimeout, &s.Options.IdleTimeout} {
		if *timeout <= 0 {
			*timeout = -1
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	err := s.Serve(ln)
	_ = s.Close()
	_ = s.Shutdown(context.Background()) // waits for the handlers
	if err == stream.ErrServerClosed {
		return nil
	}
	return err
}

// A serverLog, the slog.Handler of a stream.Server, shows an error repeated again and again
// only once, until a connection is accepted.
type serverLog struct {
	logf func(format string, args ...any)

	mu   sync.Mutex
	last string
}

func (l *serverLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *serverLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *serverLog) WithGroup(string) slog.Handler            { return l }

func (l *serverLog) Handle(_ context.Context, r slog.Record) error {
	text := strings.TrimPrefix(r.Message, "gdwire/stream: ")
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "error":
			text += ": " + a.Value.String()
		case "retry":
			text += "; waiting"
		default:
			text += fmt.Sprintf(", %s %v", a.Key, a.Value)
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if text != l.last {
		l.logf("%s", text)
	}
	l.last = text
	return nil
}

// reset lets the latest message be shown again.
func (l *serverLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = ""
}

const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = time.Second
)

// retry calls try until ctx is done or a call succeeds or fails with an error other than a
// temporary one. It calls logErr with the first temporary error, such as too many open files.
func retry[T any](ctx context.Context, logErr func(error), try func() (T, error)) (T, error) {
	told := false
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		v, err := try()
		var temporary interface{ Temporary() bool }
		if err == nil || ctx.Err() != nil || !errors.As(err, &temporary) || !temporary.Temporary() {
			return v, err
		}
		if !told {
			logErr(err)
			told = true
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// maxPacket returns the largest length of a packet.
func maxPacket(o *save.Reading) int64 {
	if o.MaxPacket < 0 {
		return math.MaxUint32
	}
	return cmp.Or(o.MaxPacket, stream.DefaultMaxPacket)
}

// maxHeldTurns is the maximum number of bytes of packets that all connections together read, or wait to be shown, besides one packet of
// any size. Packets of up to maxKept bytes, which is also the size of the largest packet memory kept for the next packet, do not count.
const (
	maxHeldTurns = 256 << 20
	maxKept      = 16 << 10
)

// A turnListener accepts connections taking turns.
type turnListener struct {
	net.Listener
	held *quota.Quota
}

func newTurnListener(ln net.Listener) *turnListener {
	return &turnListener{ln, quota.New(maxHeldTurns)}
}

// Accept returns the next connection, a *turnConn.
func (l *turnListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newTurnConn(conn, l.held), nil
}

// A turnConn is a connection that waits while the packets of all connections take too much memory. Bytes count that arrived, so a
// connection that sends nothing, or only declares a length, keeps no other from being read.
type turnConn struct {
	net.Conn
	held   *quota.Quota
	head   headReader // of Conn
	ctx    context.Context
	packet *stream.Conn // reads from this connection; nil without turns
	in     int64        // the number of bytes read
}

func newTurnConn(conn net.Conn, held *quota.Quota) *turnConn {
	return &turnConn{Conn: conn, held: held, head: headReader{Reader: conn}}
}

// start begins the turns of the connection, read by c, and returns the packets.
func (t *turnConn) start(ctx context.Context, c *stream.Conn) turnPackets {
	t.ctx, t.packet = ctx, c
	return turnPackets{c}
}

// Read reads bytes, and returns them when they fit.
func (t *turnConn) Read(p []byte) (int, error) {
	if t.packet == nil {
		return t.head.Read(p)
	}
	start := t.packet.PacketOffset()
	end := start + t.packet.PacketSize()
	if t.in >= end { // all packets were read whole, and shown
		t.held.Release(t)
		start = end
	}
	n, err := t.head.Read(p)
	t.in += int64(n)
	if held := t.in - start; held > maxKept {
		if granted := t.held.Hold(t, held, max(end-t.in, 0)); granted != nil {
			select {
			case <-granted:
			case <-t.ctx.Done():
			}
		}
	}
	return n, err
}

// stop ends the turns. Bytes read afterwards are discarded.
func (t *turnConn) stop() {
	t.held.Release(t)
	t.packet = nil
}

// CloseWrite closes the writing side, as those of TCP and Unix sockets do.
func (t *turnConn) CloseWrite() error { return t.Conn.(interface{ CloseWrite() error }).CloseWrite() }

// turnPackets are the packets of a turnConn. Those of silent connections hold little memory.
type turnPackets struct{ *stream.Conn }

// NextRaw returns the next packet, in dst if dst is small.
func (t turnPackets) NextRaw(dst []byte) ([]byte, error) {
	if cap(dst) > maxKept {
		dst = nil
	}
	return t.Conn.NextRaw(dst)
}
