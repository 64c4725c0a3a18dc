package traffic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire/stream"
)

// An acceptor calls handle for each connection of a listener, and then closes the connection.
type acceptor struct {
	options stream.Options // a timeout of 0 is off
	handle  func(ctx context.Context, c *stream.Conn, number int64)
	logf    func(format string, args ...any)
	count   atomic.Int64 // connections
}

// run accepts connections until ctx is done, and returns after all handlers. It returns the
// error that ended ln before. The number of connections is not limited: handle itself can
// wait.
func (a *acceptor) run(ctx context.Context, ln net.Listener) error {
	log := &serverLog{logf: a.logf}
	s := &stream.Server{
		Handler: func(ctx context.Context, c *stream.Conn) error {
			log.reset()
			a.handle(ctx, c, a.count.Add(1))
			return nil
		},
		Options: a.options, MaxConns: -1, Logger: slog.New(log),
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

// A serverLog is the slog.Handler of a stream.Server. It shows an error that occurs again and
// again only once, until a connection is accepted.
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

// retry calls try until it succeeds, ctx is done, or it returns an error that is not temporary.
// It calls logErr with the first temporary error, such as too many open files.
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
