package stream

import (
	"context"
	"io"
	"net"
	"time"
)

// A lifetime closes a connection when its context is done. Calls then return the context's
// cause.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	stop   func() bool // stops watching ctx
	close  func() error
	closed chan struct{} // closed when the connection is
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

// ended returns why the connection was closed, or nil if it was not.
func (c *lifetime) ended() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return context.Cause(c.ctx)
}

// cause returns the cause of err, an error of the connection.
func (c *lifetime) cause(err error) error {
	if err != nil {
		if cause := c.ended(); cause != nil {
			return cause
		}
	}
	return err
}

// setDeadline sets a deadline: d after now, or none if d is 0. It ignores the error of a net.Pipe
// after the other end was closed: the Read or Write that follows returns a better error.
func (c *lifetime) setDeadline(deadline func(time.Time) error, now time.Time, d time.Duration) error {
	var end time.Time
	if d > 0 {
		end = now.Add(d)
	}
	if err := deadline(end); err != io.ErrClosedPipe {
		return c.cause(err)
	}
	return nil
}
