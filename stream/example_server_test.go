package stream_test

import (
	"context"
	"expvar"
	"fmt"
	"net"

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

// Limiting how many packets a client may send, and how many connections come from one address.
func ExampleServer_limits() {
	s := echoServer()
	s.MaxConnsPerAddr = 8 // players behind one router
	s.PacketRate = 30     // a second, on average
	s.PacketBurst = 60    // at once

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
