package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"
)

// ErrServerClosed is returned by the methods of a [Server] after Shutdown or Close,
// and by [Conn.Next] after Shutdown.
var ErrServerClosed = errors.New("gdwire/stream: server closed")

// errNoHandler is returned by Serve.
var errNoHandler = errors.New("gdwire/stream: Server has no Handler")

// DefaultMaxConns is the maximum number of simultaneous connections of a Server if MaxConns is
// 0.
const DefaultMaxConns = 10_000

// A Server accepts connections and calls Handler for each, in the manner of
// net/http. Its fields must not be changed once it is in use.
//
// [Server.Stats] counts what it did, and [Server.Conns] shows the connections. One Server can serve
// several listeners, and WebSockets through [Server.ServeMessages].
//
// If a limit is 0, its value is in this table. -1 disables a limit:
//
//	HandshakeTimeout   10 s     a TLS client that does not finish its handshake
//	ReadTimeout        10 s     a packet that arrives too slowly
//	WriteTimeout       10 s     a client that does not read
//	IdleTimeout        5 min    a client that sends nothing
//	DrainTimeout       1 s      a packet that has begun to arrive at Shutdown
//	MaxConns           10,000   too many connections
//	MaxPacket          8 MiB    an endless packet
type Server struct {
	// Handler handles one connection, which is closed when Handler returns. It runs in
	// its own goroutine. ctx is done when the Conn or the Server is closed.
	//
	// What was written arrives although the client still sends: when Handler has returned, or
	// closed the Conn and returned, up to half a second of input is discarded.
	//
	// Its error is logged unless it is or wraps io.EOF, net.ErrClosed or
	// ErrServerClosed, at level Error, or Debug if the client vanished. A panic of Handler, or of
	// another function that the Server calls, is logged with its stack and ends only this
	// connection; a goroutine of the handler's own must recover its panics.
	Handler func(ctx context.Context, c *Conn) error
	// Options configures the connections of Serve and ServeMessages.
	Options Options
	// MaxConns is the maximum number of simultaneous connections. Further connections
	// are closed at once.
	MaxConns int
	// MaxConnsPerAddr is the maximum number of simultaneous connections from one address of a
	// client, for IPv6 from one /64 network; 0 disables the limit. Further connections are closed
	// before their TLS handshake. The address of a WebSocket is known if its context is one of
	// [WithNetConn]. Clients of a reverse proxy all have the proxy's address.
	MaxConnsPerAddr int
	// PacketRate is the maximum number of packets that each client may send in a second, on
	// average; 0 disables the limit. PacketBurst is the number that it may send at once; 0
	// selects PacketRate. Invalid packets count. When a client sends more, Next returns
	// [ErrPacketRate], and a WebSocket is closed with ClosePolicyViolation.
	PacketRate  float64
	PacketBurst int
	// TLSConfig is the configuration of ServeTLS.
	TLSConfig *tls.Config
	// ConnContext, if set, is called before Handler and returns the handler's context,
	// which derives from ctx.
	ConnContext func(ctx context.Context, c *Conn) context.Context
	// ConnClosed, if set, is called after a connection was closed, with the handler's
	// context and error. It is also called if there was no handler, because a TLS
	// handshake failed.
	ConnClosed func(ctx context.Context, c *Conn, err error)
	// PacketHandled, if set, is called for each packet, valid or invalid, when the handler calls Next
	// again or has returned: for histograms. It runs in the goroutine of that call, and must not
	// call methods of c that read.
	PacketHandled func(c *Conn, p HandledPacket)
	// Logger is the log of errors: at most 10 records a second, and all panics. The first record
	// after suppressed records contains their number. nil selects [slog.Default].
	Logger *slog.Logger

	counters counters
	log      logLimit

	mu        sync.Mutex
	config    *config
	conns     map[*Conn]netip.Addr // the address, for addrs
	addrs     map[netip.Addr]int   // connections of each, if MaxConnsPerAddr is set
	listeners map[*net.Listener]struct{}
	closing   chan struct{} // closed by Shutdown and Close
	done      chan struct{} // closed when conns and listeners are empty after that
}

// ListenAndServe listens on the TCP address addr and calls Serve.
func (s *Server) ListenAndServe(addr string) error { return s.listen(addr, s.Serve) }

// listen calls serve unless the server is closed already.
func (s *Server) listen(addr string, serve func(net.Listener) error) error {
	if err := s.check(); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return serve(ln)
}

// check returns an error if the Server cannot serve.
func (s *Server) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkLocked()
}

// checkLocked is check with s locked.
func (s *Server) checkLocked() error {
	if s.Handler == nil {
		return errNoHandler
	}
	s.init()
	if s.isClosing() {
		return ErrServerClosed
	}
	return nil
}

// Serve accepts connections from ln and calls Handler for each. It returns the first
// error of ln that is not temporary, or [ErrServerClosed], and closes ln. After a
// temporary error, such as too many open files, it waits for 5 ms, and up to a second
// if more follow.
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
			s.logLimited(slog.LevelError, "accept failed", "error", err, "retry", delay)
			select {
			case <-time.After(delay):
			case <-s.closing:
			}
		}
	}
}

// accept serves conn in a goroutine of its own, or closes it.
func (s *Server) accept(conn net.Conn) {
	addr := addrOf(conn.RemoteAddr())
	if s.addConn(nil, addr) != nil { // before it costs memory
		_ = conn.Close()
		return
	}
	c := newNetConn(context.Background(), conn, s.config)
	if s.addConn(c, addr) != nil { // since then, Shutdown was called
		_ = conn.Close()
		return
	}
	go s.handle(c)
}

// temporary reports whether the method Temporary of err, as of net's errors,
// returns true.
func temporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// errFull is the error of a connection beyond MaxConns.
var errFull = errors.New("gdwire/stream: too many connections")

// Full reports whether MaxConns connections are being served, or whether the server is
// closed, so that another connection would be refused.
func (s *Server) Full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	return s.room(netip.Addr{}) != nil
}

// room returns an error if no other connection from addr can be served. s is locked.
func (s *Server) room(addr netip.Addr) error {
	switch most := s.MaxConns; {
	case s.isClosing():
		return ErrServerClosed
	case most == 0 && len(s.conns) >= DefaultMaxConns, most > 0 && len(s.conns) >= most:
		return errFull
	}
	if most := s.MaxConnsPerAddr; most > 0 && s.addrs[addr] >= most { // of no address, there are none
		return errAddr
	}
	return nil
}

// ServeConn calls Handler for c, which keeps its own Options, and closes c when Handler
// returns. The handler's context derives from the context that c was made with. After Shutdown
// and Close, and beyond MaxConns, ServeConn closes c at once.
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

// handle serves a connection that was added. Every idle connection keeps the stack of handle, so
// other functions do the work after the handler.
func (s *Server) handle(c *Conn) {
	c.setStats(&s.counters)
	c.rate = newBucket(s.PacketRate, s.PacketBurst)
	c.handled = s.PacketHandled
	ctx, err := c.ctx, error(nil)
	defer func() { s.end(ctx, c, panicked(recover(), err)) }()
	if err = c.handshake.do(&c.lifetime); err != nil {
		_ = c.note(&c.readFault, err, handshakeTimeout)
		err = fmt.Errorf("TLS handshake: %w", err)
		return
	}
	if s.ConnContext != nil {
		ctx = s.ConnContext(ctx, c)
	}
	err = s.Handler(ctx, c)
	c.lastHandled()
}

// end closes a connection after its handler returned err.
func (s *Server) end(ctx context.Context, c *Conn, err error) {
	defer s.remove(func() { s.removeConn(c) })
	kind := c.faultOf(err)
	c.finish(err, kind)
	s.report(c, err, kind)
	if c.panicked != nil && c.panicked != err { // otherwise the handler returned the cause of CloseRead's context
		s.report(c, c.panicked, panicFault)
	}
	if s.ConnClosed != nil {
		defer func() {
			if err := panicked(recover(), nil); err != nil {
				s.report(c, err, panicFault)
			}
		}()
		s.ConnClosed(ctx, c, err)
	}
}

// A panicError is the error of a function that panicked.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// panicked returns the error for a recovered value, or err if that is nil.
func panicked(recovered any, err error) error {
	if recovered == nil {
		return err
	}
	return &panicError{recovered, debug.Stack()}
}

// report counts and logs a connection that ended badly.
func (s *Server) report(c *Conn, err error, kind faultKind) {
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
		s.logger().Error("gdwire/stream: connection failed", append(about, "stack", string(p.stack))...)
	case kind == resetFault:
		s.logLimited(slog.LevelDebug, "connection lost", about...)
	default:
		s.logLimited(slog.LevelError, "connection failed", about...)
	}
}

// isNormalEnd reports whether err, the error of a handler, is the normal end of a connection,
// which is not logged.
func isNormalEnd(err error) bool {
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, ErrServerClosed)
}

// closeCode returns the status code and reason with which a connection is closed after
// err, the error of its handler.
func closeCode(err error, kind faultKind) (code int, reason string) {
	switch {
	case errors.Is(err, ErrServerClosed):
		return CloseGoingAway, "server is shutting down"
	case errors.Is(err, errFull):
		return CloseTryAgainLater, "server is full"
	case errors.Is(err, errAddr):
		return CloseTryAgainLater, "too many connections from this address"
	case kind == rateFault:
		return ClosePolicyViolation, "too many packets"
	case kind == noFault:
		return CloseNormal, ""
	case errors.Is(err, errNotBinary):
		return closeUnsupported, "binary messages only"
	case kind.isTimeout():
		return ClosePolicyViolation, "timeout"
	case Skippable(err):
		return ClosePolicyViolation, "invalid packet"
	}
	return CloseInternalError, ""
}

// Shutdown closes the listeners, makes [Conn.Next] of every connection return
// [ErrServerClosed] after a packet whose first byte arrived before, if the rest of it arrives
// within DrainTimeout, and waits until all handlers have returned. If ctx is done before, Shutdown returns the error of
// ctx. Handlers can still write, for example to say goodbye. Handlers that do not call Next
// learn of Shutdown by [Conn.CloseRead]. Connections that are still in their TLS
// handshake are closed.
func (s *Server) Shutdown(ctx context.Context) error {
	s.close(func() {
		for c := range s.conns {
			c.drain()
		}
	})
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes the listeners and connections and cancels the handlers' contexts, with
// the cause [ErrServerClosed]. It does not wait for the handlers to return.
func (s *Server) Close() error {
	s.close(func() {
		for c := range s.conns {
			c.cancel(ErrServerClosed)
			c.hurry()
		}
	})
	return nil
}

// close stops accepting, then calls also with s locked.
func (s *Server) close(also func()) {
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
	also()
}

// init makes a zero Server ready. s is locked.
func (s *Server) init() {
	if s.conns != nil {
		return
	}
	s.config = newConfig(s.Options.withTimeouts(serverTimeouts))
	s.conns, s.addrs, s.listeners = map[*Conn]netip.Addr{}, map[netip.Addr]int{}, map[*net.Listener]struct{}{}
	s.closing, s.done = make(chan struct{}), make(chan struct{})
}

// sharedConfig returns the config of the connections.
func (s *Server) sharedConfig() *config {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	return s.config
}

func (s *Server) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// addListener returns an error if *ln cannot be served. A pointer is a key of the map
// also if the listener cannot be compared.
func (s *Server) addListener(ln *net.Listener) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkLocked(); err != nil {
		return err
	}
	s.listeners[ln] = struct{}{}
	return nil
}

// addConn returns an error, and counts it, if c cannot be served. Without c, it only looks whether a
// connection from addr can be.
func (s *Server) addConn(c *Conn, addr netip.Addr) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	if err := s.room(addr); err != nil {
		s.counters.refused.Add(1)
		return err
	}
	if c == nil {
		return nil
	}
	s.counters.accepted.Add(1)
	c.served.Store(true)
	s.conns[c] = addr
	if s.MaxConnsPerAddr > 0 && addr.IsValid() {
		s.addrs[addr]++
	}
	return nil
}

// removeConn undoes addConn. s is locked.
func (s *Server) removeConn(c *Conn) {
	addr := s.conns[c]
	delete(s.conns, c)
	if s.addrs[addr]--; s.addrs[addr] <= 0 {
		delete(s.addrs, addr)
	}
}

// remove calls f, which removes a connection or listener.
func (s *Server) remove(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	if s.isClosing() {
		s.checkDone()
	}
}

// checkDone closes done if nothing is served. s is locked and closing.
func (s *Server) checkDone() {
	if len(s.conns) > 0 || len(s.listeners) > 0 {
		return
	}
	select {
	case <-s.done:
	default:
		close(s.done)
	}
}

// logsPerSecond is the maximum number of records that a Server logs in a second. A client can
// cause thousands.
const logsPerSecond = 10

// A logLimit limits the records of a log.
type logLimit struct {
	mu         sync.Mutex
	second     time.Time // when the current second began
	n          int       // records in it
	suppressed int       // records since the latest record that was logged
}

// allow reports whether a record can be logged, and how many were suppressed before it.
func (l *logLimit) allow() (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.second) >= time.Second {
		l.second, l.n = now, 0
	}
	if l.n++; l.n > logsPerSecond {
		l.suppressed++
		return 0, false
	}
	suppressed, l.suppressed = l.suppressed, 0
	return suppressed, true
}

// recoverLogger is deferred by functions that log. A panic of the Logger is counted and ends neither a
// connection nor the Server.
func (s *Server) recoverLogger() {
	if recover() != nil {
		s.counters.faults[panicFault].Add(1)
	}
}

// logLimited logs a record unless there are too many.
func (s *Server) logLimited(level slog.Level, message string, args ...any) {
	defer s.recoverLogger()
	log := s.logger()
	if !log.Enabled(context.Background(), level) {
		return
	}
	suppressed, ok := s.log.allow()
	if !ok {
		return
	}
	if suppressed > 0 {
		args = append(args, "suppressed", suppressed)
	}
	log.Log(context.Background(), level, "gdwire/stream: "+message, args...)
}

// logger returns Logger or its default.
func (s *Server) logger() *slog.Logger {
	if s.Logger == nil {
		return slog.Default()
	}
	return s.Logger
}
