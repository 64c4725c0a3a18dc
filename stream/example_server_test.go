package stream_test

import (
	"context"
	"expvar"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
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
