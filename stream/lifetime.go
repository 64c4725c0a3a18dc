package stream

import (
	"cmp"
	"context"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A lifetime closes a connection when its context is done. Calls then return the context's
// cause.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	stop   func() bool // stops watching ctx
	close  func() error
	closed chan struct{} // closed when the connection is closed
}

// watch calls abort when ctx is done. Close calls closer instead.
func (c *lifetime) watch(ctx context.Context, closer, abort func() error) {
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.close, c.closed = closer, make(chan struct{})
	c.stop = context.AfterFunc(c.ctx, func() {
		defer close(c.closed)
		_ = abort()
	})
}

// Close closes the connection. Calls under way, and later calls, return
// [net.ErrClosed]. Closing again does nothing.
func (c *lifetime) Close() error { return c.closeFor(net.ErrClosed) }

// closeFor closes the connection, as Close does. Calls return cause.
func (c *lifetime) closeFor(cause error) error {
	if !c.stop() {
		return nil
	}
	defer close(c.closed)
	c.cancel(cause)
	return c.close()
}

// ended returns why the connection was closed, or nil for an open connection.
func (c *lifetime) ended() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return context.Cause(c.ctx)
}

// setDeadline sets a deadline: d after now, or none if d is 0. The error of a net.Pipe after the
// other end was closed is ignored: the following Read or Write returns a better error.
func (c *lifetime) setDeadline(deadline func(time.Time) error, now time.Time, d time.Duration) error {
	var end time.Time
	if d > 0 {
		end = now.Add(d)
	}
	err := deadline(end)
	if err == nil || err == io.ErrClosedPipe {
		return nil
	}
	return cmp.Or(c.ended(), err)
}

// A handshaker is a connection that begins with a handshake, such as a *tls.Conn.
type handshaker interface {
	HandshakeContext(context.Context) error
}

// A handshake is the handshake of a connection, performed by the first call that reads or writes,
// within a timeout.
type handshake struct {
	conn    handshaker
	timeout time.Duration
	done    atomic.Bool

	mu  sync.Mutex
	err atomic.Pointer[error] // of later calls, written with mu locked
}

// do performs the handshake unless that is done. Other goroutines wait meanwhile.
func (h *handshake) do(l *lifetime) error {
	if h == nil || h.done.Load() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.failed(); err != nil || h.done.Load() {
		return err
	}
	ctx, cancel := l.ctx, context.CancelFunc(func() {})
	if h.timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, h.timeout, os.ErrDeadlineExceeded)
	}
	defer cancel()
	err := h.conn.HandshakeContext(ctx)
	if err == nil {
		h.done.Store(true)
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	later := stickyError(err)
	h.err.Store(&later)
	return err
}

// failed returns the error of calls after the handshake failed, or nil, without waiting.
func (h *handshake) failed() error {
	if h == nil {
		return nil
	}
	if err := h.err.Load(); err != nil {
		return *err
	}
	return nil
}

// isPending reports whether the handshake is not completed.
func (h *handshake) isPending() bool { return h != nil && !h.done.Load() }

// A deadlineTimer calls expire when a deadline passes. After set returns, expire is not called for
// an earlier deadline; a time.Timer alone cannot promise this. Deadlines are set for every message
// and hardly ever pass, so a later deadline leaves the timer unchanged: a timer that fires is set
// to the deadline of this moment.
type deadlineTimer struct {
	expire func()

	mu    sync.Mutex
	at    time.Time // the deadline, or zero
	fires time.Time // when the timer fires, or zero
	timer *time.Timer
}

// set sets the deadline. The zero time means none.
func (a *deadlineTimer) set(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = at
	if at.IsZero() || !a.fires.IsZero() && !a.fires.After(at) {
		return
	}
	a.start(time.Until(at))
}

// shorten sets the deadline unless there is none, or an earlier one.
func (a *deadlineTimer) shorten(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.at.IsZero() && at.Before(a.at) {
		a.at = at
		a.start(time.Until(at))
	}
}

// start sets the timer to the deadline, d from now.
func (a *deadlineTimer) start(d time.Duration) {
	a.fires = a.at
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.fire)
	} else {
		a.timer.Reset(d)
	}
}

func (a *deadlineTimer) fire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fires = time.Time{}
	if a.at.IsZero() {
		return
	}
	if d := time.Until(a.at); d > 0 {
		a.start(d)
		return
	}
	a.at = time.Time{}
	a.expire()
}

// stop ends the timer.
func (a *deadlineTimer) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = time.Time{}
	if a.timer != nil {
		a.timer.Stop()
	}
}
