package stream

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/gdwire/gdwire/internal/quota"
)

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
	// context is from [WithNetConn]. Clients of a reverse proxy all share the proxy's address;
	// clients of a Unix socket are not counted.
	MaxConnsPerAddr int
	// PacketRate is the maximum number of packets from each client in a second, on average; 0
	// disables the limit. PacketBurst is the maximum number at once; 0 selects PacketRate. Invalid
	// packets count. When a client sends more, Next returns [ErrPacketRate], and a WebSocket is
	// closed with ClosePolicyViolation.
	PacketRate  float64
	PacketBurst int
	// MaxReading is the maximum number of bytes that packets longer than 16 KiB, of all connections together, can
	// have while they are read, besides one packet. It counts the bytes that arrived, of a packet until its last
	// byte arrived, of a message of a WebSocket until it is read. Packets beyond it wait, the shortest first, within
	// their ReadTimeout; a handler lets them wait if it leaves such a packet unread. Decoded into an any, packets take up
	// to 22 times their bytes (Dictionaries without pairs), which the handler may keep.
	MaxReading int64
	// TLSConfig is the configuration of ServeTLS.
	TLSConfig *tls.Config
	// ConnContext, if set, is called before Handler and returns the handler's context, derived from
	// ctx.
	ConnContext func(ctx context.Context, c *Conn) context.Context
	// ConnClosed, if set, is called after a connection was closed, with the handler's context and
	// error, also if there was no handler, because a TLS handshake failed.
	ConnClosed func(ctx context.Context, c *Conn, err error)
	// PacketHandled, if set, is called for each packet, valid or invalid, when the handler calls Next
	// again or returns: for histograms. PacketHandled runs in the goroutine of this call, and must
	// not call the reading methods of c.
	PacketHandled func(c *Conn, p HandledPacket)
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
	closing   chan struct{} // closed by Shutdown and Close
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
// served or the server is closed.
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
func (s *Server) admit(conn net.Conn) *Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room(netip.Addr{}) != nil {
		s.counters.refused.Add(1)
		return nil
	}
	c := newNetConn(context.Background(), conn, s.config)
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
