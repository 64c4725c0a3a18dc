package stream

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// A Conn is a [Reader] and a [Writer] over a connection: one goroutine may read,
// while any number write.
//
// Options.IdleTimeout and ReadTimeout bound how long Next, NextRaw and the
// Decoder wait, WriteTimeout how long WritePacket and WriteRaw do. A timeout is an
// [os.ErrDeadlineExceeded]; a call to Next after one gives the packet the same
// time once more, so whoever wants the connection cut has to Close it.
type Conn struct {
	*Reader
	*Writer
	lifetime
	conn net.Conn
}

// NewConn returns a Conn over conn, whose owner it becomes. It is closed when ctx
// is done, and calls return ctx's cause then. Options of nil are defaults.
func NewConn(ctx context.Context, conn net.Conn, o *Options) *Conn {
	c := &Conn{conn: conn}
	c.Reader, c.Writer = NewReader(connReader{c}, o), NewWriter(connWriter{c}, o)
	s := o.settle()
	if s.ReadTimeout > 0 || s.IdleTimeout > 0 {
		c.Reader.deadline = func(idle bool) error {
			d := s.ReadTimeout
			if idle {
				d = s.IdleTimeout
			}
			return c.set(conn.SetReadDeadline, d)
		}
	}
	if s.WriteTimeout > 0 {
		c.Writer.deadline = func() error { return c.set(conn.SetWriteDeadline, s.WriteTimeout) }
	}
	c.live(ctx, conn.Close)
	return c
}

// NetConn returns the connection, for its addresses. Reading from it, writing to
// it or setting its deadlines spoils the Conn.
func (c *Conn) NetConn() net.Conn { return c.conn }

type connReader struct{ c *Conn }

func (r connReader) Read(p []byte) (int, error) {
	n, err := r.c.conn.Read(p)
	return n, r.c.why(err)
}

type connWriter struct{ c *Conn }

func (w connWriter) Write(p []byte) (int, error) {
	n, err := w.c.conn.Write(p)
	return n, w.c.why(err)
}

// lifetime is when something is closed, and why.
type lifetime struct {
	ctx    context.Context
	stop   func() bool // the watch on ctx
	close  func() error
	closed atomic.Bool
}

// live calls close when ctx is done.
func (l *lifetime) live(ctx context.Context, closer func() error) {
	l.ctx, l.close = ctx, closer
	l.stop = context.AfterFunc(ctx, func() { _ = closer() })
}

// Close closes the connection. Calls under way, and later ones, return
// [net.ErrClosed]. Closing again does nothing.
func (l *lifetime) Close() error {
	if l.closed.Swap(true) || !l.stop() {
		return nil
	}
	return l.close()
}

// set sets a deadline d from now, none if that is 0. A net.Pipe whose other end is
// closed refuses any; its Read and Write tell better what there is to say.
func (l *lifetime) set(deadline func(time.Time) error, d time.Duration) error {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	if err := deadline(at); err != io.ErrClosedPipe {
		return l.why(err)
	}
	return nil
}

// why returns what is behind an error of the connection.
func (l *lifetime) why(err error) error {
	switch {
	case err == nil:
		return nil
	case l.closed.Load():
		return net.ErrClosed
	case l.ctx.Err() != nil:
		return context.Cause(l.ctx)
	default:
		return err
	}
}
