package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/gdwire/gdwire/internal/address"
)

// ListenAndServe listens on the TCP address addr, or on a Unix socket if addr is unix:PATH, and calls
// Serve. The file of the socket is removed in the end; a file left by a program that no longer
// listens is replaced. The permissions of its folder say who can connect.
func (s *Server) ListenAndServe(addr string) error { return s.listen(addr, s.Serve) }

// ListenAndServeTLS listens as ListenAndServe does and calls ServeTLS.
func (s *Server) ListenAndServeTLS(addr, certFile, keyFile string) error {
	return s.listen(addr, func(ln net.Listener) error { return s.ServeTLS(ln, certFile, keyFile) })
}

// listen calls serve unless the server is closed already.
func (s *Server) listen(addr string, serve func(net.Listener) error) error {
	s.mu.Lock()
	err := s.check()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	ln, err := address.Listen(addr)
	if err != nil {
		return err
	}
	return serve(ln)
}

// Serve accepts connections from ln and calls Handler for each. It returns the first error of ln
// that is not temporary, or [ErrServerClosed], and closes ln. After a temporary error, such as too
// many open files, Serve waits for 5 ms, and up to a second if more follow.
func (s *Server) Serve(ln net.Listener) error {
	defer func() { _ = ln.Close() }()
	if err := s.addListener(&ln); err != nil {
		return err
	}
	defer s.remove(func() { delete(s.listeners, &ln) })
	var delay time.Duration
	for {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			delay = 0
			s.accept(conn)
		case s.isClosing():
			return ErrServerClosed
		case !temporary(err):
			return err
		default:
			delay = min(max(2*delay, 5*time.Millisecond), time.Second)
			s.logLimited(context.Background(), slog.LevelError, "accept failed", "error", err, "retry", delay)
			select {
			case <-time.After(delay):
			case <-s.closing:
			}
		}
	}
}

// ServeTLS accepts TLS connections from ln and calls Handler for each, as [Server.Serve] does. The
// certificate and its key are read from files, unless both names are empty and TLSConfig contains a
// certificate, GetCertificate or GetConfigForClient.
func (s *Server) ServeTLS(ln net.Listener, certFile, keyFile string) error {
	config := s.TLSConfig.Clone()
	if config == nil {
		config = new(tls.Config)
	}
	known := len(config.Certificates) > 0 || config.GetCertificate != nil || config.GetConfigForClient != nil
	if !known || certFile != "" || keyFile != "" {
		cert, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			_ = ln.Close()
			return err
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return s.Serve(tls.NewListener(ln, config))
}

// accept serves conn in a goroutine of its own, or closes it. Any method of conn can wait for the client, so all are
// called there: RemoteAddr, for example, reads the header of the PROXY protocol.
func (s *Server) accept(conn net.Conn) {
	if c := s.admit(conn); c != nil {
		go s.serveNew(c)
	} else {
		go func() { _ = conn.Close() }()
	}
}

// serveNew serves a connection of admit if there can be another from its address.
func (s *Server) serveNew(c *Conn) {
	addr, err := c.findAddr()
	if s.addConn(c, addr) != nil {
		_ = c.Close()
		return
	}
	if err == nil {
		go s.handle(c) // without the stack of this goroutine
		return
	}
	s.adopt(c)
	_ = c.faults.note(&c.faults.read, err, handshakeTimeout)
	s.end(c.ctx, c, fmt.Errorf("address of the client: %w", err))
}

// findAddr returns the address by which MaxConnsPerAddr counts, within HandshakeTimeout.
func (c *Conn) findAddr() (netip.Addr, error) {
	if d := c.config.HandshakeTimeout; d > 0 {
		timer := time.AfterFunc(d, func() { c.cancel(os.ErrDeadlineExceeded) })
		defer timer.Stop()
	}
	remote := c.RemoteAddr()
	if err := c.ended(); err != nil {
		return netip.Addr{}, err
	}
	return addrOf(remote), nil
}

// temporary reports whether the method Temporary of err, as of net's errors,
// returns true.
func temporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// ServeConn calls Handler for c, with c's own Options, and closes c when Handler returns. The
// handler's context derives from the context of c. After Shutdown and Close, and beyond MaxConns,
// ServeConn closes c at once.
func (s *Server) ServeConn(c *Conn) {
	if s.Handler == nil {
		panic(errNoHandler)
	}
	if err := s.addConn(c, addrOf(c.RemoteAddr())); err != nil {
		_ = c.CloseWithCode(closeCode(err, noFault))
		return
	}
	s.handle(c)
}

// ServeMessages calls Handler for a connection of messages, such as a WebSocket, and closes the
// connection when the handler returns. Each message is one packet, without a length, as with
// WebSocketPeer.put_var and WebSocketPeer.send:
//
//	if s.Full() {
//		http.Error(w, "full", http.StatusServiceUnavailable)
//		return
//	}
//	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{OnPingReceived: stream.PingReceived})
//	if err == nil { // otherwise Accept answered the request
//		s.ServeMessages(r.Context(), stream.WebSocket(ws, websocket.CloseStatus))
//	}
//
// The handler's context derives from ctx. Pass the context of the request, and set ConnContext of
// the http.Server to [WithNetConn]. See [NewMessageConn] for the differences from a connection over
// TCP.
func (s *Server) ServeMessages(ctx context.Context, c MessageConn) {
	s.mu.Lock()
	s.init()
	s.mu.Unlock()
	s.ServeConn(newMessageConn(ctx, c, s.config))
}

// handle serves a connection already added. Every idle connection keeps the stack of handle, so
// other functions do the work after the handler.
func (s *Server) handle(c *Conn) {
	s.adopt(c)
	ctx, err := c.ctx, error(nil)
	defer func() { s.end(ctx, c, panicked(recover(), err)) }()
	if err = c.handshake.do(&c.lifetime); err != nil {
		_ = c.faults.note(&c.faults.read, err, handshakeTimeout)
		err = fmt.Errorf("TLS handshake: %w", err)
		return
	}
	if s.ConnContext != nil {
		ctx = s.ConnContext(ctx, c)
	}
	err = s.Handler(ctx, c)
	c.lastHandled()
}

// adopt makes the fields of s apply to c.
func (s *Server) adopt(c *Conn) {
	c.setStats(&s.counters)
	c.rate = newBucket(s.PacketRate, s.PacketBurst)
	c.handled = s.PacketHandled
	if c.quota = s.quota; c.quota != nil {
		c.reader.arrived = c.arrived
	}
}

// end closes a connection after its handler returned err.
func (s *Server) end(ctx context.Context, c *Conn, err error) {
	defer s.remove(func() { s.removeConn(c) })
	cause := c.causeOf(err)
	kind := c.faults.of(cause)
	c.finish(cause, kind)
	s.report(ctx, c, cause, kind)
	if c.panicked != nil && c.panicked != cause { // otherwise the handler returned the cause of CloseRead's context
		s.report(ctx, c, c.panicked, panicFault)
	}
	if s.ConnClosed != nil {
		defer func() {
			if err := panicked(recover(), nil); err != nil {
				s.report(ctx, c, err, panicFault)
			}
		}()
		s.ConnClosed(ctx, c, err)
	}
}

// causeOf returns the cause of err, an error of the handler, if err is that of a context: the cause of CloseRead's
// context, or of that of c. Canceling the context given to NewConn closes the connection as Close does.
func (c *Conn) causeOf(err error) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	if cause := c.cause.Load(); cause != nil {
		return *cause
	}
	switch cause := c.ended(); cause {
	case nil:
		return err
	case context.Canceled:
		return net.ErrClosed
	default:
		return cause
	}
}

// report counts and logs a connection after a fault.
func (s *Server) report(ctx context.Context, c *Conn, err error, kind faultKind) {
	if kind == noFault {
		return
	}
	s.counters.faults[kind].Add(1)
	if kind.isFailure() && !c.failed {
		c.failed = true
		s.counters.failed.Add(1)
	}
	defer s.recoverLogger()
	about := []any{"remote", c.remote(), "error", err, "packets", c.reader.packets}
	switch p, _ := err.(*panicError); {
	case p != nil:
		s.logger().ErrorContext(ctx, "gdwire/stream: connection failed", append(about, "stack", string(p.stack))...)
	case kind == resetFault:
		s.logLimited(ctx, slog.LevelDebug, "connection lost", about...)
	default:
		s.logLimited(ctx, slog.LevelError, "connection failed", about...)
	}
}

// Shutdown closes the listeners, makes [Conn.Next] of every connection return [ErrServerClosed],
// after a packet if its first byte arrived before and the rest arrives within DrainTimeout, and
// waits until all handlers have returned. If ctx is done before, Shutdown returns the error of ctx.
// Handlers can still write, for example to say goodbye. Handlers that do not call Next learn of
// Shutdown by [Conn.CloseRead]. Connections are closed that are still in their TLS handshake, or whose address is not known.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop((*Conn).drain)
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes the listeners and connections and cancels the handlers' contexts, with the cause
// [ErrServerClosed], without waiting for the handlers to return.
func (s *Server) Close() error {
	s.stop(func(c *Conn) {
		c.cancel(ErrServerClosed)
		c.hurry()
	})
	return nil
}

// stop stops accepting, then calls end for each connection with s locked.
func (s *Server) stop(end func(*Conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	if !s.isClosing() {
		close(s.closing)
		s.checkDone()
	}
	for ln := range s.listeners {
		_ = (*ln).Close()
	}
	for c := range s.admitted {
		c.cancel(ErrServerClosed)
	}
	for c := range s.conns {
		end(c)
	}
}
