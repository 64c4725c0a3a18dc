package stream_test

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"expvar"
	"fmt"
	"log"
	"log/slog"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// forward is a Handler that answers every packet with itself.
func forward(_ context.Context, c *stream.Conn) (err error) {
	for err == nil || stream.Skippable(err) {
		var packet []byte
		if packet, err = c.NextRaw(nil); err == nil {
			err = c.WriteRaw(packet)
		}
	}
	return err
}

// echoServer answers every packet with itself.
func echoServer() *stream.Server { return &stream.Server{Handler: forward} }

// exchange connects a client to s, which sends and receives a packet n times.
func exchange(s *stream.Server, n int) {
	server, client := net.Pipe() // as if accepted by Serve
	go s.ServeConn(stream.NewConn(context.Background(), server, &s.Options))
	c := stream.NewConn(context.Background(), client, nil)
	defer c.Close()
	for range n {
		_ = variant.Send(c, 1)
		_, _ = c.Next()
	}
}

// Publishing the counters of a server by expvar, at /debug/vars of an http.Server. For Prometheus, see
// examples/server.
func ExampleStats() {
	s := echoServer()
	expvar.Publish("game", expvar.Func(func() any { return s.Stats() }))

	exchange(s, 3)
	_ = s.Shutdown(context.Background())
	fmt.Println(expvar.Get("game"))
	// Output: {"Conns":0,"Accepted":1,"Refused":0,"Failed":0,"Lost":0,"TooFast":0,"TooSlow":0,"Panics":0,"PacketsIn":3,"PacketsOut":3,"BytesIn":36,"BytesOut":36,"Invalid":0,"HandshakeTimeouts":0,"IdleTimeouts":0,"ReadTimeouts":0,"WriteTimeouts":0}
}

// Limiting how many packets and bytes a client may send, and how many connections come from one address.
func ExampleServer_limits() {
	s := echoServer()
	s.MaxConnsPerAddr = 8 // players behind one router
	s.PacketRate = 30     // a second, on average
	s.PacketBurst = 60    // at once
	s.ByteRate = 16 << 10 // of packets, a second; 64 KiB at once
	s.ByteBurst = 64 << 10

	server, client := net.Pipe() // as if accepted by Serve
	go s.ServeConn(stream.NewConn(context.Background(), server, &s.Options))
	c := stream.NewConn(context.Background(), client, nil)
	answers := 0
	for ; variant.Send(c, answers) == nil; answers++ {
		_, _ = c.Next()
	}
	fmt.Println("disconnected after a burst:", answers >= 60 && answers < 100)
	_ = s.Shutdown(context.Background())
	fmt.Println(s.Stats().TooFast)
	// Output:
	// disconnected after a burst: true
	// 1
}

// Permitting more after a login: strangers send at most 1 KiB, 5 packets a second, and have 5 seconds.
func ExampleConn_SetLimits() {
	s := &stream.Server{
		Options:    stream.Options{MaxPacket: 1 << 10, IdleTimeout: 5 * time.Second},
		PacketRate: 5,
		Handler: func(ctx context.Context, c *stream.Conn) error {
			var login struct{ Name, Password string }
			if err := variant.Receive(c, &login); err != nil || login.Password != "secret" {
				return err
			}
			c.SetLimits(stream.ConnLimits{MaxPacket: 256 << 10, PacketRate: 60, IdleTimeout: time.Minute})
			return forward(ctx, c)
		},
		Logger: slog.New(slog.DiscardHandler), // or slog.Default()
	}
	connect := func() *stream.Conn {
		server, client := net.Pipe() // as if accepted by Serve
		go s.ServeConn(stream.NewConn(context.Background(), server, &s.Options))
		return stream.NewConn(context.Background(), client, nil)
	}
	level := make([]byte, 100_000)

	stranger := connect()
	_ = variant.Send(stranger, level) // a packet of 100 KB before the login
	fmt.Println("stranger:", variant.Receive(stranger, &level))

	player := connect()
	_ = variant.Send(player, map[string]string{"name": "Ada", "password": "secret"})
	_ = variant.Send(player, level)
	fmt.Println("player:", variant.Receive(player, &level), len(level))
	_ = player.Close()
	_ = s.Shutdown(context.Background())
	// Output:
	// stranger: EOF
	// player: <nil> 100000
}

// Counting players behind a proxy in the network 10.0.0.0/8 by their own addresses. What a stranger sends is ignored.
func ExampleWithForwardedFor() {
	proxies := netip.MustParsePrefix("10.0.0.0/8")
	address := func(from string, header ...string) string {
		peer, _ := net.ResolveTCPAddr("tcp", from)
		request := stream.WithNetConn(context.Background(), peerConn{addr: peer}) // r.Context() of a http.Server
		ctx := stream.WithForwardedFor(request, header, proxies)
		return stream.NewMessageConn(ctx, new(silentSocket), nil).RemoteAddr().String()
	}
	fmt.Println("player:", address("10.0.0.1:5000", "203.0.113.7"))
	fmt.Println("player with a header of its own:", address("10.0.0.1:5000", "127.0.0.1, 203.0.113.7"))
	fmt.Println("stranger:", address("203.0.113.9:5000", "127.0.0.1"))
	// Output:
	// player: 203.0.113.7:0
	// player with a header of its own: 203.0.113.7:0
	// stranger: 203.0.113.9:5000
}

// Limiting all bytes of the clients of WebSockets to 64 KB a second, with pings and empty fragments.
func ExampleWebSocketListener() {
	s := &stream.Server{ByteRate: 64 << 10}
	web := &http.Server{
		ConnContext:       stream.WithNetConn,
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.ServeMessages(r.Context(), new(silentSocket)) // stream.WebSocket of what a library accepts
		}),
	}
	ln, err := net.Listen("tcp", "localhost:8080")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(web.Serve(stream.WebSocketListener(ln)))
}

// A peerConn is a connection from an address.
type peerConn struct {
	net.Conn
	addr net.Addr
}

func (c peerConn) RemoteAddr() net.Addr { return c.addr }

// A silentSocket is a WebSocket without messages.
type silentSocket struct{ stream.MessageConn }

func (*silentSocket) SetReadLimit(int64) {}

// A tracer makes spans. Of a Tracer of OpenTelemetry, it calls Start with trace.WithTimestamp(begin), and End of the span.
type tracer interface {
	Span(ctx context.Context, name string, begin, end time.Time)
}

// A printer is a tracer for this example.
type printer struct{}

func (printer) Span(ctx context.Context, name string, begin, end time.Time) {
	fmt.Println(name, "of", ctx.Value(traceKey{}), end.After(begin))
}

type traceKey struct{}

// A span for each packet, with the trace of its connection. For histograms, see examples/server.
func ExampleServer_spans() {
	var spans tracer = printer{}
	s := echoServer()
	s.ConnContext = func(ctx context.Context, c *stream.Conn) context.Context {
		return context.WithValue(ctx, traceKey{}, "trace "+c.RemoteAddr().String())
	}
	s.PacketHandled = func(ctx context.Context, _ *stream.Conn, p stream.HandledPacket) {
		now := time.Now()
		spans.Span(ctx, fmt.Sprintf("packet of %d bytes", p.Size), now.Add(-p.Time), now)
	}

	exchange(s, 2)
	_ = s.Shutdown(context.Background())
	// Output:
	// packet of 8 bytes of trace pipe true
	// packet of 8 bytes of trace pipe true
}

// A bot plays on a server, and connects again when its connection ends: after half a second, and up to a minute if that fails
// again and again, at random, so that thousands of bots do not come at once.
func bot(ctx context.Context, addr string, play func(*stream.Conn) error) error {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		if c, err := stream.Dial(ctx, addr, nil); err == nil {
			begun := time.Now()
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			_ = play(c)
			stop()
			_ = c.Close()
			if time.Since(begun) > time.Minute { // not refused at once
				wait = time.Second
			}
		}
		select {
		case <-time.After(wait/2 + rand.N(wait/2)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A bot that connects again, with a growing time between.
func ExampleDial_reconnect() {
	s := &stream.Server{Handler: func(_ context.Context, c *stream.Conn) error { // ends each connection after a packet
		return variant.Send(c, "welcome")
	}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { _ = s.Serve(ln) }()

	ctx, cancel := context.WithCancel(context.Background())
	games := 0
	err = bot(ctx, "tcp://"+ln.Addr().String(), func(c *stream.Conn) error {
		if games++; games == 2 {
			cancel()
		}
		var text string
		err := variant.Receive(c, &text)
		for err == nil || stream.Skippable(err) {
			err = variant.Receive(c, &text)
		}
		return err
	})
	fmt.Println(games, err)
	_ = s.Shutdown(context.Background())
	// Output: 2 context canceled
}

// newCertificate returns a certificate for a name, as ACME clients write one into files every two months.
func newCertificate(name string) *tls.Certificate {
	public, private, _ := ed25519.GenerateKey(nil)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		log.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

// Replacing the certificate of a server while players are connected, for example by tls.LoadX509KeyPair at SIGHUP.
func ExampleServer_ServeTLS() {
	var cert atomic.Pointer[tls.Certificate]
	cert.Store(newCertificate("old.example.org"))
	s := echoServer()
	s.TLSConfig = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return cert.Load(), nil }}
	s.Logger = slog.New(slog.DiscardHandler) // or slog.Default()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { _ = s.ServeTLS(ln, "", "") }()
	connect := func() *tls.Conn {
		conn, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true}) // only to look at it
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(conn.ConnectionState().PeerCertificates[0].DNSNames)
		return conn
	}

	player := stream.NewConn(context.Background(), connect(), nil)
	cert.Store(newCertificate("new.example.org"))
	_ = connect().Close()
	var n int
	fmt.Println(variant.Send(player, 1), variant.Receive(player, &n))
	_ = player.Close()
	_ = s.Shutdown(context.Background())
	// Output:
	// [old.example.org]
	// [new.example.org]
	// <nil> <nil>
}
