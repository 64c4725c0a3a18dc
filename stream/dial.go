package stream

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"
)

// Dial connects to addr and returns a [Conn], for example of a client or a test:
//
//	tcp://example.org:7777        TCP
//	tls://example.org:7777        TLS over TCP; the certificate is for the host and of an authority of the system
//	unix:///run/user/1000/game    a Unix domain socket with this path, /run/user/1000/game
//
// Connecting and the TLS handshake take at most Options.HandshakeTimeout each. ctx is for both alone, as with a
// [net.Dialer]. To close the connection when a context is done, also later:
//
//	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
//
// With another [tls.Config], pass the connection of a [tls.Dialer] to NewConn. A WebSocket of
// github.com/coder/websocket takes these lines, which an Example of [examples/server] runs:
//
//	ws, _, err := websocket.Dial(ctx, "ws://example.org:7778", nil)
//	if err != nil {
//		return err
//	}
//	c := stream.NewMessageConn(ctx, stream.WebSocket(ws, websocket.CloseStatus), nil)
//
// [examples/server]: https://github.com/gdwire/gdwire/blob/main/examples/server/main_test.go
func Dial(ctx context.Context, addr string, o *Options) (*Conn, error) {
	network, address, found := strings.Cut(addr, "://")
	secure := network == "tls"
	switch {
	case !found || network != "tcp" && network != "unix" && !secure:
		return nil, fmt.Errorf("gdwire/stream: dial %q: not tcp://HOST:PORT, tls://HOST:PORT or unix://PATH", addr)
	case secure:
		network = "tcp"
	}
	config := newConfig(o)
	dialer := net.Dialer{Timeout: config.HandshakeTimeout}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, dialError(ctx, addr, err)
	}
	if !secure {
		return newNetConn(context.Background(), conn, config), nil
	}
	host, _, _ := net.SplitHostPort(address) // valid, because dialing succeeded
	c := newNetConn(context.Background(), tls.Client(conn, &tls.Config{ServerName: host}), config)
	stop := context.AfterFunc(ctx, func() { c.cancel(context.Cause(ctx)) })
	err = c.handshake.do(&c.lifetime)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = c.Close()
		return nil, dialError(ctx, addr, fmt.Errorf("TLS handshake: %w", err))
	}
	return c, nil
}

// dialError returns the error of Dial for err: the cause of ctx, if ctx is done.
func dialError(ctx context.Context, addr string, err error) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done() // the timer of ctx can be later than the dialer's
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("gdwire/stream: dial %s: %w", addr, err)
}
