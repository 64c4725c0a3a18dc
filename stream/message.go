package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Messages, such as those of WebSockets, as a connection.

// A MessageConn is a connection of binary messages. [WebSocket] returns a MessageConn for a
// *websocket.Conn of github.com/coder/websocket; a program can implement the methods over any other
// transport.
//
// One goroutine reads while others write, in turn. A call returns soon after its context is done,
// and can leave the connection unusable. A [Server] pings a MessageConn that also has the method
// Ping(ctx context.Context) error, which sends a ping, waits for the pong, read by NextMessage, and
// is called beside the others.
type MessageConn interface {
	// NextMessage waits for the next message and returns a Reader of the message, valid until the
	// next call. A text message is an error. io.EOF is a normal close.
	NextMessage(ctx context.Context) (io.Reader, error)
	// WriteMessage writes a binary message, and does not keep the bytes.
	WriteMessage(ctx context.Context, message []byte) error
	// SetReadLimit sets the largest size of a message in bytes. A longer message ends the
	// connection. SetReadLimit is called before NextMessage, and again when the limit changes.
	SetReadLimit(n int64)
	// Close sends a close frame, waits for the other side's, and closes the connection. The code
	// is one of RFC 6455. A transport without close frames ignores both.
	Close(code int, reason string) error
	// CloseNow closes the connection.
	CloseNow() error
}

// WebSocket returns ws as a MessageConn. status returns the status of the close frame reported by
// an error:
//
//	stream.WebSocket(ws, websocket.CloseStatus)
//
// T are the types of messages and S the status codes of ws, both numbered as in RFC 6455.
func WebSocket[T, S ~int](ws interface {
	Reader(ctx context.Context) (T, io.Reader, error)
	Write(ctx context.Context, messageType T, message []byte) error
	SetReadLimit(n int64)
	Close(status S, reason string) error
	CloseNow() error
}, status func(error) S,

) MessageConn {
	w := &webSocket[T, S]{ws, status}
	if p, ok := ws.(pinger); ok {
		return &pingedSocket[T, S]{w, p}
	}
	return w
}

// A pinger sends a ping and waits for its pong. It is an optional method of a MessageConn.
type pinger interface {
	Ping(ctx context.Context) error
}

// A pingedSocket is a webSocket with pings.
type pingedSocket[T, S ~int] struct {
	*webSocket[T, S]
	pinger
}

// A typedSocket contains the methods of WebSocket's argument.
type typedSocket[T, S ~int] interface {
	Reader(ctx context.Context) (T, io.Reader, error)
	Write(ctx context.Context, messageType T, message []byte) error
	SetReadLimit(n int64)
	Close(status S, reason string) error
	CloseNow() error
}

// A webSocket is a WebSocket as a MessageConn.
type webSocket[T, S ~int] struct {
	typedSocket[T, S]
	status func(error) S
}

// binaryMessage is the type of a message in RFC 6455.
const binaryMessage = 2

func (w *webSocket[T, S]) NextMessage(ctx context.Context) (io.Reader, error) {
	t, r, err := w.Reader(ctx)
	if err != nil {
		switch w.status(err) {
		case CloseNormal, CloseGoingAway, closeNone:
			return nil, io.EOF
		}
		return nil, err // also io.EOF inside, of a lost connection
	}
	if t != binaryMessage {
		return nil, errNotBinary
	}
	return r, nil
}

func (w *webSocket[T, S]) WriteMessage(ctx context.Context, message []byte) error {
	return w.Write(ctx, binaryMessage, message)
}

func (w *webSocket[T, S]) Close(code int, reason string) error {
	return w.typedSocket.Close(S(code), reason)
}

type netConnKey struct{}

// WithNetConn returns a context with the connection under a WebSocket, for [Server.ServeMessages]
// and [NewMessageConn], and serves as ConnContext of an [http.Server]:
//
//	web := &http.Server{Handler: handler, ReadTimeout: 10 * time.Second, ConnContext: stream.WithNetConn}
//
// With this context, RemoteAddr is the address of the client, a handler can still write after a
// timeout of Next and after Shutdown, and closing takes a second at most. Before the handshake,
// only ReadTimeout closes connections: with slow requests, or kept open by a client after a
// request. A WebSocket outlives ReadTimeout.
func WithNetConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, netConnKey{}, conn)
}

// WebSocketListener returns a listener for an [http.Server] whose ConnContext is [WithNetConn]. Of its connections ByteRate
// limits all bytes: a ping or an empty fragment is no packet, but takes time, too. A [Room] writes messages that wait for a
// member at once, up to 16 KiB: most of the time of a busy room is calls of Write.
func WebSocketListener(ln net.Listener) net.Listener { return webSocketListener{ln} }

type webSocketListener struct{ net.Listener }

func (l webSocketListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &transportConn{Conn: conn}, nil
}

// A transportConn is a connection under a WebSocket. It counts what is read, once its meter is set, and can join writes.
type transportConn struct {
	net.Conn
	meter atomic.Pointer[meter]

	writing sync.Mutex
	joining bool
	joined  []byte
}

// join makes writes wait for endJoin. A message that is being written must end before.
func (c *transportConn) join() {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.joining, c.joined = true, (*buffers.Get().(*[bufferSize]byte))[:0]
}

// endJoin writes what has waited.
func (c *transportConn) endJoin() error {
	c.writing.Lock()
	defer c.writing.Unlock()
	err := c.flush()
	buffers.Put((*[bufferSize]byte)(c.joined[:bufferSize]))
	c.joining, c.joined = false, nil
	return err
}

func (c *transportConn) flush() error {
	b := c.joined
	c.joined = b[:0]
	if len(b) == 0 {
		return nil
	}
	_, err := c.Conn.Write(b)
	return err
}

func (c *transportConn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.joining && len(c.joined)+len(p) > bufferSize {
		if err := c.flush(); err != nil {
			return 0, err
		}
	}
	if !c.joining || len(p) > bufferSize {
		return c.Conn.Write(p)
	}
	c.joined = append(c.joined, p...)
	return len(p), nil
}

func (c *transportConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if m := c.meter.Load(); m != nil {
		err = cmp.Or(m.take(n), err)
	}
	return n, err
}

type clientKey struct{}

// WithForwardedFor returns a context with the address of a client behind proxies, for [Server.ServeMessages] and
// [NewMessageConn]. forwarded are the values of the header X-Forwarded-For, to which each proxy appends the address of its
// client, and trusted are the networks of the proxies:
//
//	ctx := stream.WithForwardedFor(r.Context(), r.Header.Values("X-Forwarded-For"), trusted...)
//	s.ServeMessages(ctx, stream.WebSocket(ws, websocket.CloseStatus))
//
// RemoteAddr is then the last address that is not of a proxy, with port 0 unless the header contains a port. Each client can
// send the header: it is ignored unless the connection of ctx, from [WithNetConn], is of a proxy.
func WithForwardedFor(ctx context.Context, forwarded []string, trusted ...netip.Prefix) context.Context {
	conn, _ := ctx.Value(netConnKey{}).(net.Conn)
	if conn == nil {
		return ctx
	}
	addr, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok { // of a Unix socket, for example
		return ctx
	}
	client, rest := addr.AddrPort(), strings.Join(forwarded, ",")
	isProxy := func(p netip.Prefix) bool { return p.Contains(client.Addr().Unmap().WithZone("")) }
	for rest != "" && slices.ContainsFunc(trusted, isProxy) {
		i := strings.LastIndexByte(rest, ',')
		hop, ok := parseHop(strings.TrimSpace(rest[i+1:]))
		if !ok { // what is before it can be the client's
			break
		}
		client, rest = hop, rest[:max(i, 0)]
	}
	return context.WithValue(ctx, clientKey{}, net.TCPAddrFromAddrPort(client))
}

// parseHop parses an address, with or without a port.
func parseHop(text string) (netip.AddrPort, bool) {
	if hop, err := netip.ParseAddrPort(text); err == nil {
		return hop, true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return netip.AddrPortFrom(addr, 0), err == nil
}

// NewMessageConn returns a Conn over a connection of messages, for example of a client, and becomes
// its owner. Servers use [Server.ServeMessages]. The Conn differs from a Conn over TCP:
//   - A message is read whole, into memory growing as bytes arrive. Next waits for the first frame
//     within IdleTimeout and for the rest within ReadTimeout, or after [Server.Shutdown] within
//     DrainTimeout.
//   - A text message or a message longer than Options.MaxPacket ends the connection, and every
//     timeout is final. After a timeout of Next packets can be written if ctx contains a connection
//     from [WithNetConn].
//   - Next returns io.EOF after a close frame with status 1000 or 1001 or without status.
//   - Close sends a close frame and waits for the answer, for a second at most.
//   - Offsets count 4 bytes before each message, for a length.
func NewMessageConn(ctx context.Context, c MessageConn, o *Options) *Conn {
	return newMessageConn(ctx, c, newConfig(o))
}

func newMessageConn(ctx context.Context, ws MessageConn, s *config) *Conn {
	ws.SetReadLimit(s.MaxPacket)
	m := &socket{ws: ws, limit: s.MaxPacket}
	m.ctx = context.WithValue(context.Background(), socketKey{}, m)
	c := newConn(m, s)
	m.c = c
	c.reader, c.writer = newReader(m, s), newWriter(nil, s)
	c.writer.alone = true
	c.writer.messages, c.writer.ended = m.send, c.ended
	m.pinger, _ = ws.(pinger)
	m.client, _ = ctx.Value(clientKey{}).(*net.TCPAddr)
	if m.conn, _ = ctx.Value(netConnKey{}).(net.Conn); m.conn != nil {
		if m.transport, _ = transport(m.conn).(*transportConn); m.transport != nil {
			m.transport.meter.Store(&c.meter)
			c.writer.alone = false
		}
		m.read.expire = func() { _ = m.conn.SetReadDeadline(aLongTimeAgo) }
		m.write.expire = func() { _ = m.conn.SetWriteDeadline(aLongTimeAgo) }
		c.interrupt = m.read.expire
	} else {
		m.ctx, m.cancel = context.WithCancelCause(m.ctx)
		m.read.expire = func() { m.cancel(os.ErrDeadlineExceeded) } // ws is broken afterwards
		m.write.expire = m.read.expire
		c.interrupt = func() { go m.closeWithin(closeFrame{CloseGoingAway, ""}) }
	}
	c.watch(ctx, m.Close, m.abort)
	return c
}

// socketKey is the key of a socket in the contexts of calls.
type socketKey struct{}

// PingReceived makes a ping count as activity and restarts IdleTimeout: clients that only watch
// stay connected by sending pings. It is OnPingReceived of the websocket.AcceptOptions or
// DialOptions of github.com/coder/websocket; other implementations of [MessageConn] call
// PingReceived with the context of NextMessage. It returns true.
func PingReceived(ctx context.Context, _ []byte) bool {
	if m, ok := ctx.Value(socketKey{}).(*socket); ok {
		m.c.active()
	}
	return true
}

// pingTick is how often the connections of a Server are asked whether it is time for a ping.
const pingTick = time.Second

// pingIsDue reports whether it is time for another ping, and since when Next has been waiting.
func (c *Conn) pingIsDue(now time.Time) (waiting time.Time, ok bool) {
	m, ok := c.link.(*socket)
	interval := c.config.Load().PingInterval
	if !ok || m.pinger == nil || interval <= 0 {
		return time.Time{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.pinged.IsZero() {
		m.pinged = c.opened
	}
	if !c.idle || now.Sub(m.pinged) < interval || m.pinging {
		return time.Time{}, false
	}
	m.pinged, m.pinging = now, true
	return c.waiting, true
}

// ping sends a ping and waits for the pong. Without one, Next, which has been waiting since then, returns the error of
// IdleTimeout: while it does not wait, no pong can arrive.
func (m *socket) ping(waiting time.Time) {
	c := m.c
	ctx, cancel := context.WithTimeout(m.ctx, c.config.Load().PingInterval)
	defer cancel()
	defer func() {
		if err := panicked(recover(), nil); err != nil {
			c.closeFor(err)
		}
	}()
	begun := c.now()
	err := m.pinger.Ping(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	m.pinging = false
	switch {
	case err == nil:
		c.roundTrip = c.now().Sub(begun)
	case ctx.Err() != nil && c.idle && c.waiting.Equal(waiting) && c.ended() == nil:
		m.read.set(aLongTimeAgo)
	}
}

// A socket is a MessageConn as a link. Read returns the length of a message, then the message.
type socket struct {
	c         *Conn
	ws        MessageConn
	conn      net.Conn       // under ws, or nil if not known
	transport *transportConn // conn, or the connection under its TLS, or nil
	// client is the address of WithForwardedFor, or nil.
	client *net.TCPAddr

	// ctx is the context of calls of ws. When ctx is done, ws is broken: no close frame can be
	// sent. With conn, ctx is never done, because conn's deadlines interrupt calls.
	ctx         context.Context
	cancel      context.CancelCauseFunc
	read, write deadlineTimer

	limit int64 // of messages, set at ws

	pinger  pinger    // ws, or nil
	pinged  time.Time // when the latest ping began; guarded by c.mu
	pinging bool      // a pong is awaited; guarded by c.mu

	next *packet // the message for Read, or nil
	off  int     // number of its bytes already returned
	err  error   // why there are no more messages
}

func (m *socket) Read(p []byte) (int, error) {
	if m.next == nil {
		if m.err != nil {
			return 0, m.err
		}
		if err := m.receive(); err != nil {
			m.err = stickyError(err)
			return 0, err
		}
	}
	n := copy(p, m.next.buf[m.off:])
	if m.off += n; m.off == len(m.next.buf) {
		m.next.release()
		m.next, m.off = nil, 0
	}
	return n, nil
}

// receive waits for a message and reads all of it. No buffer is held while waiting.
func (m *socket) receive() error {
	if err := m.broken(); err != nil {
		return err
	}
	if err := m.c.wait(true); err != nil {
		return err
	}
	if most := m.c.reader.config.MaxPacket; most != m.limit {
		m.limit = most
		m.ws.SetReadLimit(most)
	}
	r, err := m.ws.NextMessage(m.ctx)
	if err != nil {
		if err == errNotBinary {
			m.c.setEnd(closeCode(err, handlerFault))
		}
		return m.readError(err)
	}
	if err := m.c.wait(false); err != nil {
		return err
	}
	if m.conn != nil && m.c.draining.Load() { // drain may have interrupted NextMessage just after it returned
		_ = m.conn.SetReadDeadline(time.Time{})
	}
	p := newPacket()
	if err := p.readFrom(r, m.arrived); err != nil {
		p.release()
		m.c.quota.Release(m.c)
		return m.readError(err)
	}
	m.read.set(time.Time{})
	m.c.reader.config.order().PutUint32(p.buf, uint32(len(p.content())))
	m.c.received(len(p.content()))
	if m.transport == nil {
		if err := m.c.meter.take(len(p.content())); err != nil {
			p.release()
			return m.readError(err)
		}
	}
	m.next = p
	return nil
}

// arrived counts n bytes of a message that arrived, and waits until they can be kept. A long message counts until
// it is read.
func (m *socket) arrived(n int) error {
	if n <= bufferSize {
		return nil
	}
	return m.c.arrived(int64(n), max(m.c.reader.config.MaxPacket-int64(n), 1))
}

// readError returns the error of Next for an error of ws.
func (m *socket) readError(err error) error {
	switch {
	case errors.Is(err, ErrPacketRate):
		m.c.tooFast = true
		return ErrPacketRate
	case m.c.draining.Load():
		err = ErrServerClosed
	case err != io.EOF && errors.Is(err, io.EOF): // the connection ended without a close frame
		err = fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, err)
	case isTimeout(err) || m.ctx.Err() != nil:
		err = os.ErrDeadlineExceeded
	}
	return m.c.readError(err)
}

// send writes messages, and several only with a transport.
func (m *socket) send(contents [][]byte) (err error) {
	if err := cmp.Or(m.c.ended(), m.broken()); err != nil {
		return err
	}
	if d := m.c.writeTimeout(); d > 0 {
		now := m.c.now()
		m.write.set(now.Add(d))
		if less := m.c.writeTimeout(); less < d { // since Shutdown, called before this write
			m.write.set(now.Add(less))
		}
		defer m.write.set(time.Time{})
	}
	if len(contents) > 1 {
		m.transport.join()
	}
	for i := 0; i < len(contents) && err == nil; i++ {
		err = m.ws.WriteMessage(m.ctx, contents[i])
	}
	if len(contents) > 1 {
		err = cmp.Or(err, m.transport.endJoin())
	}
	if err != nil && (isTimeout(err) || m.ctx.Err() != nil) {
		err = os.ErrDeadlineExceeded
	}
	return m.c.writeError(err)
}

// broken returns an ErrBroken if a timeout of the other direction broke ws.
func (m *socket) broken() error {
	if m.ctx.Err() == nil {
		return nil
	}
	return stickyError(os.ErrDeadlineExceeded)
}

// endWrite makes a write under way end before at.
func (m *socket) endWrite(at time.Time) { m.write.shorten(at) }

// SetReadDeadline interrupts receive after t.
func (m *socket) SetReadDeadline(t time.Time) error {
	m.read.set(t)
	return nil
}

// Close sends a close frame and waits for the answer.
func (m *socket) Close() error {
	m.read.stop()
	m.write.stop()
	m.c.mu.Lock()
	end := m.c.end
	m.c.mu.Unlock()
	if m.conn == nil {
		m.closeWithin(end)
		return nil
	}
	deadline := time.Now().Add(closeTimeout)
	_ = m.conn.SetWriteDeadline(deadline)
	if end.code == CloseTryAgainLater {
		deadline = aLongTimeAgo // a full server does not wait for the client
	}
	_ = m.conn.SetReadDeadline(deadline)
	defer closeAfter(m.conn, closeTimeout)()
	_ = m.ws.Close(end.code, end.reason) // an error means that the other side is already gone
	return nil
}

// closeWithin sends a close frame and waits for the answer, but not longer than
// closeTimeout if ws waits longer.
func (m *socket) closeWithin(end closeFrame) {
	defer m.cancel(net.ErrClosed)
	if end.code == CloseTryAgainLater {
		_ = m.ws.CloseNow()
		return
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = m.ws.Close(end.code, end.reason)
	}()
	select {
	case <-closed:
	case <-time.After(closeTimeout):
	}
}

// abort closes the connection because its context is done.
func (m *socket) abort() error {
	m.read.stop()
	m.write.stop()
	if m.cancel != nil {
		m.cancel(m.c.ended())
	} else {
		defer closeAfter(m.conn, notifyTimeout)()
	}
	return m.ws.CloseNow()
}

// RemoteAddr returns the address of the client.
func (m *socket) RemoteAddr() net.Addr {
	if m.client != nil {
		return m.client
	}
	if m.conn != nil {
		return m.conn.RemoteAddr()
	}
	return messageAddr{}
}

// A messageAddr is the address of a WebSocket if the real address is not known.
type messageAddr struct{}

func (messageAddr) Network() string { return "websocket" }
func (messageAddr) String() string  { return "websocket" }
