package stream

import (
	"cmp"
	"context"
	"net"
	"time"
)

// NewConn returns a Conn over conn and becomes its owner. When ctx is done, the
// connection is closed and calls return ctx's cause. If o is nil, it uses the zero
// Options.
//
// If conn is a [tls.Conn], the first call that reads or writes does the handshake.
func NewConn(ctx context.Context, conn net.Conn, o *Options) *Conn {
	return newNetConn(ctx, conn, newConfig(o))
}

// newNetConn returns a Conn over conn, as NewConn does. Other Conns may share the config.
func newNetConn(ctx context.Context, conn net.Conn, s *config) *Conn {
	c := newConn(nil, s)
	c.link = netLink{conn, c}
	c.conn = conn
	c.reader, c.writer = newReader(connReader{c}, s), newWriter(connWriter{c}, s)
	c.writer.ended, c.writer.flushFailed = c.unusable, c.flushFailed
	if t, ok := conn.(handshaker); ok {
		c.handshake = &handshake{conn: t, timeout: s.HandshakeTimeout}
		c.writer.final = true
	}
	c.interrupt = func() {
		c.limited = true
		_ = conn.SetReadDeadline(aLongTimeAgo)
	}
	if s.WriteTimeout > 0 {
		c.writer.deadline = c.setWriteDeadline
	}
	c.watch(ctx, func() error {
		end := time.Now().Add(closeTimeout)
		lost := c.writer.flushNow(rawWriter{c}, func() error { return conn.SetWriteDeadline(end) })
		if c.served.Load() && c.closeWrite() {
			return lost
		}
		return cmp.Or(lost, c.closeConn())
	}, func() error {
		defer c.writer.discard()
		return c.closeConn()
	})
	return c
}

// A netLink is a net.Conn as a link.
type netLink struct {
	net.Conn
	c *Conn
}

func (l netLink) endWrite(at time.Time) {
	by := time.Duration(l.c.writeBy.Load())
	if l.c.config.WriteTimeout > 0 && at.Sub(l.c.opened) < by { // the next Write sets its own
		_ = l.SetWriteDeadline(at)
	}
}

type connReader struct{ c *Conn }

func (r connReader) Read(p []byte) (int, error) {
	if err := r.c.handshake.do(&r.c.lifetime); err != nil {
		return 0, err
	}
	defer r.c.writer.endWait()
	if err := r.c.wait(r.c.reader.idle()); err != nil {
		return 0, err
	}
	n, err := r.c.conn.Read(p)
	r.c.received(n)
	return n, r.c.readError(err)
}

type connWriter struct{ c *Conn }

func (w connWriter) Write(p []byte) (int, error) {
	if err := w.c.handshake.do(&w.c.lifetime); err != nil {
		return 0, err
	}
	if err := w.c.ended(); err != nil { // before the connection is closed because its context is done
		return 0, err
	}
	n, err := w.c.conn.Write(p)
	return n, w.c.writeError(err)
}

// A rawWriter returns the errors of the connection also after it was closed.
type rawWriter struct{ c *Conn }

func (w rawWriter) Write(p []byte) (int, error) {
	if err := w.c.handshake.do(&w.c.lifetime); err != nil {
		return 0, err
	}
	return w.c.conn.Write(p)
}
