package calls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// A host serves WebSockets with c.
type host struct {
	*Calls
	server *stream.Server
	url    string
}

func serve(t testing.TB, c *Calls) *host {
	s := &stream.Server{Handler: c.Handle, Options: stream.Options{MaxPacket: 64 << 10, IdleTimeout: time.Minute}}
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err == nil {
			s.ServeMessages(r.Context(), stream.WebSocket(ws, websocket.CloseStatus))
		}
	}))
	web.Config.ConnContext = stream.WithNetConn
	web.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		assert.NoError(t, s.Shutdown(ctx))
		web.Close()
	})
	return &host{c, s, "ws" + strings.TrimPrefix(web.URL, "http")}
}

// A client is what gdwire_multiplayer.gd is in a game.
type client struct {
	*stream.Conn
	t  testing.TB
	id int
}

func (h *host) connect(t testing.TB) *client {
	ws, _, err := websocket.Dial(t.Context(), h.url, nil)
	require.NoError(t, err)
	o := &stream.Options{Encoder: gdwire.EncoderOptions{AllowInvalidUTF8: true}} // a game can send any text
	c := &client{Conn: stream.NewMessageConn(context.Background(), stream.WebSocket(ws, websocket.CloseStatus), o), t: t}
	t.Cleanup(func() { _ = ws.CloseNow() })
	hello, ok := c.next().([]any)
	require.True(t, ok)
	require.Len(t, hello, 2)
	require.EqualValues(t, version, hello[0])
	id, _ := hello[1].(int64)
	require.Greater(t, id, int64(server))
	c.id = int(id)
	return c
}

func (c *client) send(packet any) error {
	return variant.Send(c, packet)
}

func (c *client) call(target int, method string, arguments ...any) {
	c.t.Helper()
	require.NoError(c.t, c.send([]any{"Main", method, arguments, target}))
}

// receive returns the next packet.
func (c *client) receive() (any, error) {
	var v []any
	err := variant.Receive(c, &v)
	return v, err
}

func (c *client) next() any {
	c.t.Helper()
	v, err := c.receive()
	require.NoError(c.t, err)
	return v
}

// expectCall waits for a call.
func (c *client) expectCall(from int, method string, arguments ...any) {
	c.t.Helper()
	require.True(c.t, gdwiretest.Equal(c.t, c.next(), []any{"Main", method, arguments, from}))
}

func TestCalls(t *testing.T) {
	type point struct{ X, Y int32 }
	got := make(chan []any, 1)
	c := &Calls{}
	c.Func("Main", "move", func(p *Peer, pos variant.Vector2, seq int) error {
		got <- []any{p.ID, pos, seq}
		return p.Call("Main", "moved", seq)
	})
	c.Func("Main", "everything", func(_ *Peer, b bool, text string, list []string, by map[string]point, v any, raw variant.Raw) error {
		got <- []any{b, text, list, by, v, len(raw.Data)}
		return nil
	})
	c.Func("Main", "nothing", func(*Peer) error { got <- nil; return nil })
	h := serve(t, c)
	a := h.connect(t)

	a.call(1, "move", variant.Vector2{X: 1, Y: 2}, 7)
	require.Equal(t, []any{a.id, variant.Vector2{X: 1, Y: 2}, 7}, <-got)
	a.expectCall(1, "moved", 7)
	a.call(0, "nothing")
	require.Nil(t, <-got)
	a.call(-5, "nothing")
	require.Nil(t, <-got)
	a.call(1, "everything", true, "text", []any{"a", "b"}, map[string]any{"k": map[string]int{"x": 3}}, variant.Color{R: 1}, nil)
	require.Equal(t, []any{true, "text", []string{"a", "b"}, map[string]point{"k": {X: 3}}, variant.Color{R: 1}, 4}, <-got)
}

// Func panics with the reason.
func TestFuncPanics(t *testing.T) {
	for _, c := range []struct {
		f    any
		text string
	}{
		{nil, "calls: Main.f: <nil> is not a function"},
		{5, "calls: Main.f: int is not a function"},
		{(func(*Peer) error)(nil), "calls: Main.f: func(*calls.Peer) error is not a function"},
		{func() error { return nil }, "calls: Main.f: the first parameter of func() error is not a *Peer"},
		{func(int) error { return nil }, "calls: Main.f: the first parameter of func(int) error is not a *Peer"},
		{func(*Peer) {}, "calls: Main.f: func(*calls.Peer) does not return an error"},
		{func(*Peer, ...int) error { return nil }, "calls: Main.f: func(*calls.Peer, ...int) error is variadic"},
		{func(*Peer, chan int) error { return nil }, "calls: Main.f: parameter 1: variant: chan int has no Variant type"},
	} {
		require.PanicsWithValue(t, c.text, func() { (&Calls{}).Func("Main", "f", c.f) })
	}
	good := func(*Peer) error { return nil }
	c := &Calls{}
	c.Func("Main", "f", good)
	require.PanicsWithValue(t, "calls: Main.f: a function is registered already", func() { c.Func("Main", "f", good) })
	for _, names := range [][2]string{{"", "f"}, {"Main", ""}, {"Main\x00", "f"}} {
		text := fmt.Sprintf("calls: %q, %q: not a path and a method", names[0], names[1])
		require.PanicsWithValue(t, text, func() { c.Func(names[0], names[1], good) })
		require.PanicsWithValue(t, text, func() { c.Relay(names[0], names[1]) })
	}
}

// A mistake of a client affects one packet; ten in a row end the connection with 1008.
func TestMistakes(t *testing.T) {
	called := make(chan int, 100)
	c := &Calls{}
	c.Func("Main", "number", func(_ *Peer, n int8) error {
		called <- int(n)
		if n < 0 {
			return errors.New("negative")
		}
		return nil
	})
	h := serve(t, c)
	mistakes := []any{
		nil, "text", []any{[]any{}}, []any{"Main", "number"}, []any{"Main", "number", []any{1}, 1, 5},
		[]any{"Main", "free", []any{}, 1}, []any{"Other", "number", []any{1}, 1}, []any{"Main\x00number", "", []any{1}, 1},
		[]any{"Main", "number", []any{}, 1}, []any{"Main", "number", []any{1, 2}, 1}, []any{"Main", "number", nil, 1},
		[]any{"Main", "number", []any{300}, 1}, []any{"Main", "number", []any{"1"}, 1}, []any{1, "number", []any{1}, 1},
		[]any{"Main", "number", []any{1}, "1"}, []any{"Main", "number", []any{1}, 1 << 40},
		[]any{"Main", "number", []any{1}, 2}, []any{"Main", "number", []any{1}, -1},
		[]any{"Main", "number", []any{-1}, 1},
	}
	a := h.connect(t)
	for _, m := range mistakes {
		require.NoError(t, a.send(m))
		a.call(1, "number", 5)
		n := <-called
		if n < 0 {
			n = <-called
		}
		require.Equal(t, 5, n, "after %v", m)
	}
	for range maxInvalid {
		require.NoError(t, a.send(nil))
	}
	_, err := a.receive()
	var status websocket.CloseError
	require.ErrorAs(t, err, &status)
	require.Equal(t, websocket.StatusPolicyViolation, status.Code)
	require.Equal(t, "too many invalid calls", status.Reason)
}

// Clients learn of each other, and can call each other only where it is allowed.
func TestRelay(t *testing.T) {
	heard := make(chan string, 10)
	c := &Calls{}
	c.Relay("Main", "wave")
	c.Func("Main", "wave", func(_ *Peer, text string) error { heard <- text; return nil })
	c.Relay("Main", "only")
	left := make(chan int, 3)
	c.Leave = func(p *Peer) { left <- p.ID }
	h := serve(t, c)
	one := h.connect(t)
	two := h.connect(t)
	require.Equal(t, []any{int64(two.id), true}, one.next())
	require.Equal(t, []any{int64(one.id), true}, two.next())
	three := h.connect(t)
	require.Equal(t, []any{int64(three.id), true}, one.next())
	require.Equal(t, []any{int64(three.id), true}, two.next())
	require.ElementsMatch(t, []any{[]any{int64(one.id), true}, []any{int64(two.id), true}}, []any{three.next(), three.next()})

	one.call(0, "wave", "all")
	require.Equal(t, "all", <-heard)
	two.expectCall(one.id, "wave", "all")
	three.expectCall(one.id, "wave", "all")
	one.call(two.id, "wave", "two")
	two.expectCall(one.id, "wave", "two")
	two.call(-one.id, "wave", "not one")
	require.Equal(t, "not one", <-heard)
	three.expectCall(two.id, "wave", "not one")
	two.call(-1, "only", variant.Vector3{X: 1})
	one.expectCall(two.id, "only", variant.Vector3{X: 1})
	three.expectCall(two.id, "only", variant.Vector3{X: 1})
	one.call(1, "wave", "server")
	require.Equal(t, "server", <-heard)

	require.NoError(t, h.All("Main", "bye"))
	for _, c := range []*client{one, two, three} {
		c.expectCall(1, "bye")
	}
	require.NoError(t, three.Close())
	require.Equal(t, []any{int64(three.id), false}, one.next())
	require.Equal(t, []any{int64(three.id), false}, two.next())
	require.Equal(t, three.id, <-left)
}

// A counted is encoded as an int, and counts how often.
type counted struct{ times *int }

func (c counted) MarshalVariant(e *gdwire.Encoder) error {
	*c.times++
	return e.WriteInt(int64(*c.times))
}

// A call to all clients is encoded once.
func TestAllEncodesOnce(t *testing.T) {
	h := serve(t, &Calls{})
	a, b := h.connect(t), h.connect(t)
	require.IsType(t, []any{}, a.next(), "b is here")
	require.IsType(t, []any{}, b.next(), "a is here")
	times := 0
	require.NoError(t, h.All("Main", "number", counted{&times}))
	a.expectCall(1, "number", 1)
	b.expectCall(1, "number", 1)
}

// A client that does not read is disconnected, and others do not wait for it.
func TestSlowPeer(t *testing.T) {
	c := &Calls{}
	gone := make(chan int, 1)
	c.Leave = func(p *Peer) { gone <- p.ID }
	h := serve(t, c)
	slow := h.connect(t)
	quick := h.connect(t)
	require.IsType(t, []any{}, quick.next(), "slow is here")
	text := strings.Repeat("x", 60_000)
	for id := 0; id == 0; {
		require.NoError(t, h.All("Main", "said", text))
		said := &variant.Array{Values: []any{text}}
		got := quick.next()
		if left := []any{int64(slow.id), false}; assert.ObjectsAreEqual(left, got) { // may come before the call
			got = quick.next()
		}
		require.Equal(t, []any{"Main", "said", said, int64(1)}, got)
		select {
		case id = <-gone:
			require.Equal(t, slow.id, id)
		default:
		}
	}
}

// Joins, calls and leaves of many clients at once: every call arrives once and in order.
// GDWIRE_CROWD=500x600 lets 500 clients make 600 calls each, 20 per second.
func TestCrowd(t *testing.T) {
	clients, count := 20, 200
	paced := false // as fast as they can
	if text, ok := os.LookupEnv("GDWIRE_CROWD"); ok {
		_, err := fmt.Sscanf(text, "%dx%d", &clients, &count)
		require.NoError(t, err)
		paced = true
	}
	var called, left atomic.Int64
	c := &Calls{Leave: func(*Peer) { left.Add(1) }}
	c.Func("Main", "add", func(p *Peer, n int) error {
		called.Add(1)
		return p.Call("Main", "added", n)
	})
	h := serve(t, c)
	before := runtime.NumGoroutine()
	begin := time.Now()
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			a := h.connect(t)
			all.Go(func() {
				for n := 0; n < count; {
					v, err := a.receive()
					if !assert.NoError(t, err) {
						return
					}
					if call, ok := v.([]any); ok && len(call) == 4 { // not a join or leave
						assert.Equal(t, &variant.Array{Values: []any{int64(n)}}, call[2])
						n++
					}
				}
				assert.NoError(t, a.Close())
			})
			var pace <-chan time.Time
			if paced {
				pace = time.Tick(time.Second / 20)
			}
			for n := range count {
				if paced {
					<-pace
				}
				if !assert.NoError(t, a.send([]any{"Main", "add", []any{n}, 1})) {
					return
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d clients, %d calls in %v", clients, called.Load(), time.Since(begin).Round(time.Millisecond))
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		h.mu.RLock()
		defer h.mu.RUnlock()
		assert.Empty(t, h.peers)
		assert.EqualValues(t, clients, left.Load())
		assert.LessOrEqual(t, runtime.NumGoroutine(), before+2)
	}, 30*time.Second, 10*time.Millisecond)
	require.EqualValues(t, clients*count, called.Load())
}

func packetOf(t testing.TB, method string, target int, arguments ...any) []byte {
	return gdwiretest.Encode(t, []any{"Main", method, arguments, target})
}

// The packet of the benchmark and of the bound on allocations.
func movePacket(t testing.TB) []byte {
	return packetOf(t, "move", server, variant.Vector2{X: 1, Y: 2}, 7)
}

// byHand decodes movePacket without reflection.
func byHand(d *gdwire.Decoder, text []byte, pos []float64) (seq int, err error) {
	if _, err = d.ReadArray(); err != nil {
		return 0, err
	}
	for range 2 {
		if text, err = d.AppendString(text[:0]); err != nil {
			return 0, err
		}
	}
	if _, err = d.ReadArray(); err != nil {
		return 0, err
	}
	if err = gdwire.ReadComponents(d, gdwire.TypeVector2, pos); err != nil {
		return 0, err
	}
	if seq, err = gdwire.ReadInteger[int](d); err != nil {
		return 0, err
	}
	if err = d.ReadEnd(); err != nil {
		return 0, err
	}
	if _, err = gdwire.ReadInteger[int32](d); err != nil {
		return 0, err
	}
	return seq, d.ReadEnd()
}

// A call costs at most four allocations.
func TestDispatchAllocations(t *testing.T) {
	c, p := &Calls{}, &Peer{ID: 2}
	c.Func("Main", "move", func(*Peer, variant.Vector2, int) error { return nil })
	packet := movePacket(t)
	d := gdwire.NewDecoder(nil, nil)
	var err error
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		err = c.dispatch(p, d, packet)
	}), 4.0)
	require.NoError(t, err)
}

// BenchmarkDispatch reports how much longer a call takes than decoding its packet by hand.
// Both are measured in turn, and the fastest rounds count: what else the machine does makes
// others slower.
func BenchmarkDispatch(b *testing.B) {
	c, p := &Calls{}, &Peer{ID: 2}
	c.Func("Main", "move", func(*Peer, variant.Vector2, int) error { return nil })
	packet := movePacket(b)
	d := gdwire.NewDecoder(nil, nil)
	text, pos := make([]byte, 0, 16), make([]float64, 2)
	const count = 100
	dispatched, hand := time.Hour, time.Hour
	for b.Loop() {
		begin := time.Now()
		for range count {
			if err := c.dispatch(p, d, packet); err != nil {
				b.Fatal(err)
			}
		}
		middle := time.Now()
		for range count {
			d.ResetBytes(packet)
			if _, err := byHand(d, text, pos); err != nil {
				b.Fatal(err)
			}
		}
		dispatched, hand = min(dispatched, middle.Sub(begin)), min(hand, time.Since(middle))
	}
	b.ReportMetric(float64(dispatched)/float64(hand), "times-by-hand")
	b.ReportMetric(float64(dispatched-hand)/count, "ns-more/call")
	b.ReportMetric(0, "ns/op")
}

// No packet makes dispatch panic, and a packet that is forwarded is a valid call.
func FuzzPacket(f *testing.F) {
	c := &Calls{peers: map[int]*Peer{}}
	c.Func("Main", "move", func(*Peer, variant.Vector2, int) error { return nil })
	c.Func("Main", "quick", func(*Peer, bool, int64, float64, variant.Vector3) error { return nil })
	c.Func("Main", "any", func(*Peer, any, []any, map[string]any) error { return nil })
	c.Relay("Main", "any")
	ours, theirs := net.Pipe()
	written, client := stream.NewConn(f.Context(), ours, nil), stream.NewConn(f.Context(), theirs, nil)
	p, other := &Peer{ID: 2}, &Peer{ID: 3, member: c.room.Join(written)}
	c.peers[2], c.peers[3] = p, other
	f.Add(movePacket(f))
	f.Add(packetOf(f, "quick", server, true, 5, 0.1, variant.Vector3{X: 1}))
	for target := range 4 {
		f.Add(packetOf(f, "any", target, []any{1, "a"}, []any{}, map[string]any{"k": nil}))
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		d := gdwire.NewDecoder(nil, nil)
		defer d.Release()
		_ = c.dispatch(p, d, packet)
		other.queue(heartbeat) // the last
		for {
			sent, err := client.NextRaw(nil)
			require.NoError(t, err)
			if bytes.Equal(sent, heartbeat) {
				break
			}
			var call struct {
				_            struct{} `gd:",array"`
				Path, Method string
				Arguments    variant.Raw
				From         int
			}
			require.NoError(t, variant.Unmarshal(sent, &call, variant.Options{RejectUnknown: true}))
			require.Equal(t, "Main any 2", fmt.Sprint(call.Path, " ", call.Method, " ", call.From))
		}
	})
}

// A chat of any length affects its sender alone: up to maxReceived it arrives everywhere, beyond that
// it is a mistake of the caller, and so is a call that an answer of more than MaxPacket would need.
func TestLongCalls(t *testing.T) {
	c := &Calls{}
	c.Func("Main", "chat", func(p *Peer, text string) error { return c.All("Main", "said", p.ID, text) })
	c.Func("Main", "double", func(_ *Peer, text string) error { return c.All("Main", "said", text, text, text) })
	c.Relay("Main", "wave")
	mistakes := 0
	c.Func("Main", "count", func(p *Peer) error { mistakes++; return p.Call("Main", "counted", mistakes) })
	h := serve(t, c)
	a, b := h.connect(t), h.connect(t)
	require.IsType(t, []any{}, a.next(), "b is here")
	require.IsType(t, []any{}, b.next(), "a is here")
	overhead := len(packetOf(t, "chat", server, ""))
	for _, long := range []int{maxReceived, maxReceived + 4, MaxPacket, MaxPacket - 4} {
		for _, method := range []string{"chat", "wave", "double"} {
			text := strings.Repeat("x", long-overhead) // "wave" and "chat" have as many bytes
			target := map[bool]int{true: 0, false: server}[method == "wave"]
			if method == "double" {
				text = text[:len(text)-4]
			}
			a.call(target, method, text)
			if long <= maxReceived && method == "chat" {
				a.expectCall(1, "said", a.id, text)
				b.expectCall(1, "said", a.id, text)
			} else if long <= maxReceived && method == "wave" {
				b.expectCall(a.id, "wave", text)
			}
			a.call(server, "count") // a is still connected, and what follows arrives
			require.Contains(t, fmt.Sprint(a.next()), "counted")
		}
	}
	b.call(server, "count")
	require.Contains(t, fmt.Sprint(b.next()), "counted")
}

// A Join sends more than the queue holds, and the client receives it all.
func TestLargeJoin(t *testing.T) {
	const count = 300
	text := strings.Repeat("x", 30_000)
	c := &Calls{}
	c.Join = func(p *Peer) {
		for i := range count {
			p.Wait()
			assert.NoError(t, p.Call("Main", "item", i, text))
		}
	}
	require.Greater(t, count*len(text), 2*maxQueued)
	h := serve(t, c)
	a := h.connect(t)
	for i := range count {
		a.expectCall(server, "item", i, text)
	}
}

// A player who only watches stays connected by heartbeats, which are answered, and are no mistakes. One
// who vanishes has left when IdleTimeout is over.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan int, 2)
		c := &Calls{Leave: func(p *Peer) { left <- p.ID }}
		s := &stream.Server{Handler: c.Handle}
		join := func() (conn *stream.Conn, id int) {
			ours, theirs := net.Pipe()
			go s.ServeConn(stream.NewConn(t.Context(), ours, &stream.Options{IdleTimeout: IdleTimeout}))
			conn = stream.NewConn(t.Context(), theirs, nil)
			var hello []int
			require.NoError(t, variant.Receive(conn, &hello))
			require.Len(t, hello, 2)
			return conn, hello[1]
		}
		watching, _ := join()
		vanished, id := join()
		var v []any
		require.NoError(t, variant.Receive(vanished, &v)) // watching is here
		require.NoError(t, variant.Receive(watching, &v)) // vanished is here
		begin := time.Now()
		for range 2 * maxInvalid {
			require.Empty(t, left)
			time.Sleep(10 * time.Second) // of fake time
			synctest.Wait()              // for the leave, at IdleTimeout
			require.NoError(t, variant.Send(watching, []any{}))
			require.NoError(t, variant.Receive(watching, &v))
			if len(v) > 0 { // vanished has left
				require.Equal(t, []any{int64(id), false}, v)
				require.Equal(t, id, <-left)
				require.NoError(t, variant.Receive(watching, &v))
				require.Equal(t, IdleTimeout, time.Since(begin))
			}
			require.Empty(t, v)
		}
		require.Greater(t, time.Since(begin), 2*IdleTimeout)
		require.NoError(t, s.Close())
		require.NoError(t, watching.Close())
		require.NoError(t, vanished.Close())
	})
}
