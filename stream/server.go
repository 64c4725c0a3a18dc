package stream

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gdwire/gdwire/internal/base/address"
	"github.com/gdwire/gdwire/internal/base/quota"
)

// A Server, and how it serves a connection.

// errNoHandler is returned by Serve.
var errNoHandler = errors.New("gdwire/stream: Server has no Handler")

// DefaultMaxConns is the maximum number of simultaneous connections of a Server if MaxConns is
// 0.
const DefaultMaxConns = 10_000

// DefaultMaxReading is the maximum number of bytes of packets being read at the same time if MaxReading of the Server is
// 0.
const DefaultMaxReading = 1 << 20

// A Server accepts connections and calls Handler for each, in the manner of net/http. The fields
// must not be changed once the Server is in use.
//
// [Server.Stats] returns counters, and [Server.Conns] iterates over the connections. One Server can serve
// several listeners, and WebSockets through [Server.ServeMessages].
//
// A limit of 0 selects the value in this table. -1 disables a limit:
//
//	HandshakeTimeout   10 s     a client that does not finish its TLS handshake or PROXY header
//	ReadTimeout        10 s     a packet that arrives too slowly
//	WriteTimeout       10 s     a client that does not read
//	IdleTimeout        5 min    a client that sends nothing
//	PingInterval       30 s     a client that vanished, and proxies that close silent connections
//	DrainTimeout       1 s      a packet that has begun to arrive at Shutdown
//	MaxConns           10,000   too many connections
//	MaxPacket          8 MiB    an endless packet
//	MaxReading         1 MiB    long packets on many connections at once
type Server struct {
	// Handler handles one connection, in a goroutine of its own. The connection is closed when
	// Handler returns. ctx is done when the Conn or the Server is closed.
	//
	// The last packets arrive although the client still sends: after Handler returned, up to half a
	// second of input is discarded before the connection is closed.
	//
	// The error is logged, with the handler's context, unless it is or wraps io.EOF, net.ErrClosed or
	// ErrServerClosed, at level Error, or Debug if the client vanished. In the place of context.Canceled,
	// the cause of the end counts: of the context of CloseRead, or of ctx. A panic of Handler, or of another function called by
	// the Server, is logged with its stack and ends only this connection; a goroutine of the
	// handler's own must recover its panics.
	Handler func(ctx context.Context, c *Conn) error
	// Options configures the connections of Serve and ServeMessages.
	Options Options
	// MaxConns is the maximum number of simultaneous connections. Further connections
	// are closed at once.
	MaxConns int
	// MaxConnsPerAddr is the maximum number of simultaneous connections from one address of a
	// client, for IPv6 from one /64 network; 0 disables the limit. Link-local addresses count one by
	// one, and addresses of 64:ff9b::/96 as the IPv4 address translated by a NAT64. Further
	// connections are closed before their TLS handshake. The address of a WebSocket is known if the
	// context is from [WithNetConn]. Clients of a reverse proxy all share the proxy's address, unless
	// [WithForwardedFor] or a listener of the PROXY protocol returns their own; clients of a Unix
	// socket are not counted.
	MaxConnsPerAddr int
	// PacketRate is the maximum number of packets from each client in a second, on average; 0
	// disables the limit. PacketBurst is the maximum number at once; 0 selects PacketRate. Invalid
	// packets count. [Conn.SetLimits] changes both for one client. When a client sends more, Next returns [ErrPacketRate], and a WebSocket is
	// closed with ClosePolicyViolation.
	PacketRate  float64
	PacketBurst int
	// ByteRate is the maximum number of bytes from each client in a second, on average, as
	// PacketRate is of packets; 0 disables the limit. ByteBurst is the maximum number at once; 0
	// selects ByteRate, or MaxPacket if that is more. Of a WebSocket, the bytes of messages count,
	// and all bytes, with pings and empty fragments, if its listener is from [WebSocketListener].
	ByteRate  float64
	ByteBurst int
	// MaxReading is the maximum number of bytes that packets longer than 16 KiB, of all connections together, can
	// have while they are read, besides one packet. It counts the bytes that arrived, of a packet until its last
	// byte arrived, of a message of a WebSocket until it is read. Packets beyond it wait, the shortest first, within
	// their ReadTimeout; a handler lets them wait if it leaves such a packet unread. Decoded into an any, packets take up
	// to 16 times their bytes (Dictionaries without pairs), which the handler may keep.
	MaxReading int64
	// TLSConfig is the configuration of ServeTLS.
	TLSConfig *tls.Config
	// BaseContext, if set, returns the context from which the contexts of ln's connections derive, in
	// the place of context.Background().
	BaseContext func(ln net.Listener) context.Context
	// ConnContext, if set, is called before Handler and returns the handler's context, derived from
	// ctx.
	ConnContext func(ctx context.Context, c *Conn) context.Context
	// ConnClosed, if set, is called after a connection was closed, with the handler's context and
	// error, also if there was no handler, because a TLS handshake failed.
	ConnClosed func(ctx context.Context, c *Conn, err error)
	// PacketHandled, if set, is called for each packet, valid or invalid, when the handler calls Next
	// again or returns, with the handler's context: for histograms and spans. PacketHandled runs in
	// the goroutine of this call, and must
	// not call the reading methods of c.
	PacketHandled func(ctx context.Context, c *Conn, p HandledPacket)
	// Logger is the log of errors: at most 10 records a second, and all panics. The first record
	// after suppressed records contains their number. nil selects [slog.Default].
	Logger *slog.Logger

	counters counters
	log      logLimit

	mu        sync.Mutex
	config    *config
	quota     *quota.Quota         // of MaxReading, or nil
	admitted  map[*Conn]struct{}   // before their address is known
	conns     map[*Conn]netip.Addr // the address, for addrs
	addrs     map[netip.Addr]int   // connections of each, if MaxConnsPerAddr is set
	listeners map[*net.Listener]struct{}
	pings     *time.Timer   // for all WebSockets, or nil while there is none to ping
	closing   chan struct{} // closed by Drain, Shutdown and Close
	done      chan struct{} // closed when conns and listeners are empty afterwards
}

// Stats returns the counters without waiting, and can be called at any time.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	conns := len(s.conns) + len(s.admitted)
	s.mu.Unlock()
	return s.counters.stats(conns)
}

// Conns iterates over the open connections, in no order. [Conn.Stats] describes each, and
// [Conn.CloseWithCode] closes one; its handler then returns. A connection can end meanwhile.
func (s *Server) Conns() iter.Seq[*Conn] {
	return func(yield func(*Conn) bool) {
		s.mu.Lock()
		conns := slices.Collect(maps.Keys(s.conns)) // the body can call methods of s
		s.mu.Unlock()
		slices.Values(conns)(yield)
	}
}

// Full reports whether another connection would be refused, because MaxConns connections are being
// served, or after Drain, Shutdown or Close.
func (s *Server) Full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	return s.room(netip.Addr{}) != nil
}

// room returns an error if no other connection from addr can be served. s is locked.
func (s *Server) room(addr netip.Addr) error {
	conns := len(s.conns) + len(s.admitted)
	switch most := s.MaxConns; {
	case s.isClosing():
		return ErrServerClosed
	case most == 0 && conns >= DefaultMaxConns, most > 0 && conns >= most:
		return errFull
	}
	if most := s.MaxConnsPerAddr; most > 0 && s.addrs[addr] >= most { // of no address, there are none
		return errAddr
	}
	return nil
}

// init makes a zero Server ready. s is locked.
func (s *Server) init() {
	if s.conns != nil {
		return
	}
	s.config = newConfig(s.Options.withTimeouts(serverTimeouts))
	s.config.rate, s.config.bytes = rate{s.PacketRate, s.PacketBurst}, rate{s.ByteRate, s.ByteBurst}
	s.admitted, s.conns, s.addrs = map[*Conn]struct{}{}, map[*Conn]netip.Addr{}, map[netip.Addr]int{}
	s.listeners = map[*net.Listener]struct{}{}
	if s.MaxReading >= 0 {
		s.quota = quota.New(cmp.Or(s.MaxReading, DefaultMaxReading))
	}
	s.closing, s.done = make(chan struct{}), make(chan struct{})
}

// check returns an error if the Server cannot serve. s is locked.
func (s *Server) check() error {
	if s.Handler == nil {
		return errNoHandler
	}
	s.init()
	if s.isClosing() {
		return ErrServerClosed
	}
	return nil
}

func (s *Server) isClosing() bool { return isClosed(s.closing) }

// isClosed reports whether c, on which nothing is sent, is closed.
func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// addListener returns an error if *ln cannot be served. The key of the map is a pointer, because a
// listener may not be comparable.
func (s *Server) addListener(ln *net.Listener) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(); err != nil {
		return err
	}
	s.listeners[ln] = struct{}{}
	return nil
}

// admit returns a Conn over conn, for addConn. It returns nil, and counts the connection as refused, if no connection
// can be served.
func (s *Server) admit(ctx context.Context, conn net.Conn) *Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room(netip.Addr{}) != nil {
		s.counters.refused.Add(1)
		return nil
	}
	c := newNetConn(ctx, conn, s.config)
	s.admitted[c] = struct{}{}
	return c
}

// addConn returns an error, and counts the connection as refused, if c cannot be served.
func (s *Server) addConn(c *Conn, addr netip.Addr) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	delete(s.admitted, c)
	if err := s.room(addr); err != nil {
		s.counters.refused.Add(1)
		s.checkDone()
		return err
	}
	s.counters.accepted.Add(1)
	c.served.Store(true)
	c.closing = s.closing
	s.conns[c] = addr
	s.startPings(c)
	if s.MaxConnsPerAddr > 0 && addr.IsValid() {
		s.addrs[addr]++
	}
	return nil
}

// startPings begins to ping WebSockets if c is one. s is locked.
func (s *Server) startPings(c *Conn) {
	if m, ok := c.link.(*socket); !ok || m.pinger == nil || c.config.Load().PingInterval <= 0 {
		return
	}
	if s.pings == nil {
		s.pings = time.AfterFunc(pingTick, s.ping)
	}
}

// ping pings the WebSockets for which it is time.
func (s *Server) ping() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pings = nil
	now := time.Now()
	for c := range s.conns {
		s.startPings(c)
		if since, ok := c.pingIsDue(now); ok {
			go c.link.(*socket).ping(since)
		}
	}
}

// removeConn undoes addConn. s is locked.
func (s *Server) removeConn(c *Conn) {
	addr := s.conns[c]
	delete(s.conns, c)
	if s.addrs[addr]--; s.addrs[addr] <= 0 {
		delete(s.addrs, addr)
	}
}

// remove calls f to remove a connection or listener.
func (s *Server) remove(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.checkDone()
}

// checkDone closes done after closing, if nothing is served. s is locked.
func (s *Server) checkDone() {
	if s.isClosing() && len(s.admitted)+len(s.conns)+len(s.listeners) == 0 && !isClosed(s.done) {
		close(s.done)
	}
}

// logsPerSecond is the maximum number of records logged by a Server in a second. A client can cause
// thousands.
const logsPerSecond = 10

// A logLimit limits the records of a log.
type logLimit struct {
	mu         sync.Mutex
	second     time.Time // when the current second began
	n          int       // records in this second
	suppressed int       // records since the latest logged record
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

// logLimited logs a record unless there are too many.
func (s *Server) logLimited(ctx context.Context, level slog.Level, message string, args ...any) {
	defer s.recoverLogger()
	log := s.logger()
	if !log.Enabled(ctx, level) {
		return
	}
	suppressed, ok := s.log.allow()
	if !ok {
		return
	}
	if suppressed > 0 {
		args = append(args, "suppressed", suppressed)
	}
	log.Log(ctx, level, "gdwire/stream: "+message, args...)
}

// recoverLogger is deferred by logging functions. A panic of the Logger is counted and ends neither a
// connection nor the Server.
func (s *Server) recoverLogger() {
	if recover() != nil {
		s.counters.faults[panicFault].Add(1)
	}
}

// logger returns Logger or its default.
func (s *Server) logger() *slog.Logger {
	if s.Logger == nil {
		return slog.Default()
	}
	return s.Logger
}

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
	base := context.Background()
	if s.BaseContext != nil {
		base = s.BaseContext(ln)
	}
	var delay time.Duration
	for {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			delay = 0
			s.accept(base, conn)
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
func (s *Server) accept(ctx context.Context, conn net.Conn) {
	if c := s.admit(ctx, conn); c != nil {
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
	if d := c.config.Load().HandshakeTimeout; d > 0 {
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
// handler's context derives from the context of c. After Drain, Shutdown and Close, and beyond
// MaxConns, ServeConn closes c at once.
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
	c.handlerCtx = ctx
	err = s.Handler(ctx, c)
	c.lastHandled()
}

// adopt makes the fields of s apply to c.
func (s *Server) adopt(c *Conn) {
	c.setStats(&s.counters)
	if config := c.config.Load(); config != s.config { // of ServeConn
		changed := *config
		changed.rate, changed.bytes = s.config.rate, s.config.bytes
		c.config.Store(&changed)
		c.reader.config = &changed
	}
	c.rate = newBucket(s.config.rate)
	c.meter.set(c.reader.config)
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
func (s *Server) Shutdown(ctx context.Context) error { return s.stopAndWait(ctx, (*Conn).drain) }

// Drain closes the listeners, refuses connections, so that [Server.Full] returns true, and waits until all handlers have
// returned, but leaves the connections alone: a match goes on to its end. Handlers learn of Drain by [Conn.Draining]. If ctx is
// done before, Drain returns the error of ctx, and Shutdown or Close ends the rest:
//
//	if s.Drain(ctx) != nil {
//		_ = s.Close()
//	}
func (s *Server) Drain(ctx context.Context) error { return s.stopAndWait(ctx, func(*Conn) {}) }

// stopAndWait stops accepting, calls end for each connection, and waits until all handlers have returned or ctx is done.
func (s *Server) stopAndWait(ctx context.Context, end func(*Conn)) error {
	s.stop(end)
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
