package stream

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A handshaker is a connection that begins with a handshake, such as a *tls.Conn.
type handshaker interface {
	HandshakeContext(context.Context) error
}

// A handshake is the handshake of a connection. The first call that reads or writes
// performs it, within a timeout.
type handshake struct {
	conn    handshaker
	timeout time.Duration
	done    atomic.Bool

	mu  sync.Mutex
	err atomic.Pointer[error] // of later calls, written with mu locked
}

// do performs the handshake unless it is done. Other goroutines wait for it.
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

// failed returns the error of calls after the handshake failed, or nil. It waits for nobody.
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
