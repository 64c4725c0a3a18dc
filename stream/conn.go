package stream

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
)

// A Conn is a [Reader] and a [Writer] over a connection. One goroutine may read while
// any number write.
//
// Options.IdleTimeout and ReadTimeout limit how long Next, NextRaw and the Decoder
// wait, WriteTimeout how long WritePacket and WriteRaw do. A timeout is an
// [os.ErrDeadlineExceeded] and does not close the connection: the next call has the
// same time again.
type Conn struct {
	*Reader
	*Writer
	lifetime
	config *config
	conn   net.Conn

	mu       sync.Mutex
	idle     bool // Next waits for the first byte of a packet
	limited  bool // the connection has a read deadline
	draining bool // by Server.Shutdown
}

// NewConn returns a Conn over conn and becomes its owner. When ctx is done, the
// connection is closed and calls return ctx's cause. If o is nil, it uses the zero
// Options.
func NewConn(ctx context.Context, conn net.Conn, o *Options) *Conn {
	return serverConn(ctx, conn, newConfig(o))
}

// serverConn is NewConn with a config that other Conns may share.
func serverConn(ctx context.Context, conn net.Conn, s *config) *Conn {
	c := newConn(conn, s)
	c.watch(ctx, conn.Close, conn.Close)
	return c
}

// newConn returns a Conn that does not watch a context yet.
func newConn(conn net.Conn, s *config) *Conn {
	c := &Conn{conn: conn, config: s}
	c.Reader, c.Writer = newReader(connReader{c}, s), newWriter(connWriter{c}, s)
	c.Reader.wait = c.wait
	if s.WriteTimeout > 0 {
		c.deadline = func() error { return c.set(conn.SetWriteDeadline, s.WriteTimeout) }
	}
	return c
}

// NetConn returns the connection, for its addresses; a Conn of [NewMessageConn] has
// none. Reading from it, writing to it or setting its deadlines breaks the Conn.
func (c *Conn) NetConn() net.Conn { return c.conn }

// Next is [Reader.Next]. After Close it returns [net.ErrClosed], after the context is
// done its cause, also if packets have arrived before. After [Server.Shutdown] it
// returns [ErrServerClosed] where it would wait for the first byte of a packet.
func (c *Conn) Next() (*gdwire.Decoder, error) {
	if err := c.ended(); err != nil {
		c.dec.Release()
		return nil, err
	}
	return c.Reader.Next()
}

// NextRaw is [Reader.NextRaw], with the errors of [Conn.Next].
func (c *Conn) NextRaw(dst []byte) ([]byte, error) {
	if err := c.ended(); err != nil {
		c.dec.Release()
		return dst, err
	}
	return c.Reader.NextRaw(dst)
}

// wait sets the read deadline, see Reader.wait.
func (c *Conn) wait(idle bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if idle && c.draining {
		return ErrServerClosed
	}
	c.idle = idle
	timeout := c.config.ReadTimeout
	if idle {
		timeout = c.config.IdleTimeout
	}
	if timeout == 0 && !c.limited {
		return nil
	}
	if err := c.set(c.conn.SetReadDeadline, timeout); err != nil {
		return err
	}
	c.limited = timeout > 0
	return nil
}

// drain makes Next return ErrServerClosed instead of waiting for another packet.
func (c *Conn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
	if c.idle { // interrupt it
		c.limited = true
		_ = c.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

func (c *Conn) isDraining() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.draining
}

// drained reports whether drain interrupted a call that returned err.
func (c *Conn) drained(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.draining && c.idle
}

type connReader struct{ c *Conn }

func (r connReader) Read(p []byte) (int, error) {
	n, err := r.c.conn.Read(p)
	if r.c.drained(err) {
		return n, ErrServerClosed
	}
	return n, r.c.cause(err)
}

type connWriter struct{ c *Conn }

func (w connWriter) Write(p []byte) (int, error) {
	n, err := w.c.conn.Write(p)
	return n, w.c.cause(err)
}

// lifetime closes a connection when its context is done, which tells why.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	stop   func() bool // stops watching ctx
	close  func() error
}

// watch calls abort when ctx is done. Close calls closer instead.
func (c *lifetime) watch(ctx context.Context, closer, abort func() error) {
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.close = closer
	c.stop = context.AfterFunc(c.ctx, func() { _ = abort() })
}

// Close closes the connection. Calls under way, and later ones, return
// [net.ErrClosed]. Closing again does nothing.
func (c *lifetime) Close() error {
	if !c.stop() {
		return nil
	}
	c.cancel(net.ErrClosed)
	return c.close()
}

// ended returns why the connection was closed, nil if it was not.
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

// set sets a deadline: d from now, or none if d is 0. A net.Pipe whose other end is
// closed refuses every deadline; its Read and Write return a better error.
func (c *lifetime) set(deadline func(time.Time) error, d time.Duration) error {
	var end time.Time
	if d > 0 {
		end = time.Now().Add(d)
	}
	if err := deadline(end); err != io.ErrClosedPipe {
		return c.cause(err)
	}
	return nil
}
