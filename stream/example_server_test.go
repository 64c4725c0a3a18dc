package stream_test

import (
	"context"
	"expvar"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// forward is a Handler that answers every packet with itself.
func forward(_ context.Context, c *stream.Conn) error {
	for {
		packet, err := c.NextRaw(nil)
		if err == nil {
			err = c.WriteRaw(packet)
		}
		if err != nil && !stream.Skippable(err) {
			return err
		}
	}
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

// Publishing the counters of a server by expvar, at /debug/vars of an http.Server.
func ExampleStats() {
	s := echoServer()
	expvar.Publish("game", expvar.Func(func() any { return s.Stats() }))

	exchange(s, 3)
	_ = s.Shutdown(context.Background())
	fmt.Println(expvar.Get("game"))
	// Output: {"Conns":0,"Accepted":1,"Refused":0,"Failed":0,"Lost":0,"Panics":0,"PacketsIn":3,"PacketsOut":3,"BytesIn":36,"BytesOut":36,"Invalid":0,"HandshakeTimeouts":0,"IdleTimeouts":0,"ReadTimeouts":0,"WriteTimeouts":0}
}

// Publishing the counters of a server in the text format of Prometheus.
func ExampleStats_prometheus() {
	s := echoServer()
	metrics := func(w http.ResponseWriter, _ *http.Request) {
		n := s.Stats()
		for _, m := range []struct {
			name, kind string
			value      int64
		}{
			{"gdwire_connections", "gauge", n.Conns},
			{"gdwire_connections_total", "counter", n.Accepted},
			{"gdwire_refused_total", "counter", n.Refused},
			{"gdwire_failed_total", "counter", n.Failed},
			{"gdwire_lost_total", "counter", n.Lost},
			{"gdwire_panics_total", "counter", n.Panics},
			{"gdwire_idle_timeouts_total", "counter", n.IdleTimeouts},
			{"gdwire_read_timeouts_total", "counter", n.ReadTimeouts},
			{"gdwire_write_timeouts_total", "counter", n.WriteTimeouts},
			{"gdwire_packets_in_total", "counter", n.PacketsIn},
			{"gdwire_packets_out_total", "counter", n.PacketsOut},
			{"gdwire_bytes_in_total", "counter", n.BytesIn},
			{"gdwire_bytes_out_total", "counter", n.BytesOut},
			{"gdwire_invalid_packets_total", "counter", n.Invalid},
		} {
			fmt.Fprintf(w, "# TYPE %s %s\n%s %d\n", m.name, m.kind, m.name, m.value)
		}
	}

	exchange(s, 2)
	_ = s.Shutdown(context.Background())
	r := httptest.NewRecorder()
	metrics(r, nil)
	fmt.Println(r.Body.String()[:84])
	// Output:
	// # TYPE gdwire_connections gauge
	// gdwire_connections 0
	// # TYPE gdwire_connections_total
}

// A bucket limits packets: perSecond of them on average, and burst at once. The module
// golang.org/x/time/rate contains a complete one.
type bucket struct {
	perSecond, burst float64

	mu   sync.Mutex
	left float64
	at   time.Time
}

// take reports whether another packet is allowed.
func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.left = min(b.left+now.Sub(b.at).Seconds()*b.perSecond, b.burst)
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// An addresses contains what is shared by the connections from one address.
type addresses struct {
	perAddress int // connections

	mu sync.Mutex
	m  map[string]*address
}

type address struct {
	bucket
	conns int
}

// host returns the address of a client without its port.
func host(c *stream.Conn) string {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return c.RemoteAddr().String()
	}
	return host
}

// add returns what is shared by the connections from c's address, or nil if there are
// too many.
func (a *addresses) add(c *stream.Conn) *address {
	a.mu.Lock()
	defer a.mu.Unlock()
	addr := a.m[host(c)]
	if addr == nil {
		addr = &address{bucket: bucket{perSecond: 200, burst: 400}}
		a.m[host(c)] = addr
	}
	if addr.conns == a.perAddress {
		return nil
	}
	addr.conns++
	return addr
}

func (a *addresses) remove(c *stream.Conn, addr *address) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if addr.conns--; addr.conns == 0 {
		delete(a.m, host(c))
	}
}

// Limiting the packets a second of each connection and of each address, and the
// connections of each address.
func ExampleServer_limits() {
	all := &addresses{perAddress: 10, m: map[string]*address{}}
	s := &stream.Server{Handler: func(_ context.Context, c *stream.Conn) error {
		addr := all.add(c)
		if addr == nil {
			return c.CloseWithCode(stream.CloseTryAgainLater, "too many connections")
		}
		defer all.remove(c, addr)
		own := &bucket{perSecond: 30, burst: 60}
		for {
			_, err := c.Next()
			if err != nil && !stream.Skippable(err) { // invalid packets count as well
				return err
			}
			if !own.take() || !addr.take() {
				return c.CloseWithCode(stream.ClosePolicyViolation, "too many packets")
			}
		}
	}}

	server, client := net.Pipe() // as if accepted by Serve
	go s.ServeConn(stream.NewConn(context.Background(), server, &s.Options))
	w := stream.NewWriter(client, nil)
	sent := 0
	for ; sent < 1000; sent++ {
		if err := variant.Send(w, 1); err != nil {
			break
		}
	}
	fmt.Println("disconnected after a burst:", sent > 60 && sent < 100)
	_ = s.Shutdown(context.Background())
	// Output: disconnected after a burst: true
}
