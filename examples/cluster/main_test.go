package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain makes the test's binary the program if the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv("CLUSTER_TEST") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A process is a running program.
type process struct {
	*exec.Cmd
	clients, routes string // addresses
}

// startProcess starts the program, joined to another process if that is not nil.
func startProcess(t *testing.T, other *process, flags ...string) *process {
	args := append([]string{"-clients", "127.0.0.1:0", "-routes", "127.0.0.1:0"}, flags...)
	if other != nil {
		args = append(args, "-join", other.routes)
	}
	p := &process{Cmd: exec.Command(os.Args[0], args...)}
	p.Env = append(os.Environ(), "CLUSTER_TEST=1")
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	for lines := bufio.NewScanner(out); p.clients == "" && lines.Scan(); {
		switch name, addr, _ := strings.Cut(lines.Text(), " "); name {
		case "clients":
			p.clients = addr
		case "routes":
			p.routes = addr
		}
	}
	require.NotEmpty(t, p.clients)
	return p
}

// A client is a member of a room. It reconnects to another process.
type client struct {
	id   int64
	room []*client // the members of its room

	mu    sync.Mutex
	conn  *stream.Conn
	addrs []string // of processes; it is connected to the first
	got   map[[2]int64]int64
	wrong string // the first packet that was lost, doubled or out of order
}

// run reads packets until ctx is done.
func (c *client) run(ctx context.Context) error {
	for ctx.Err() == nil {
		c.mu.Lock()
		conn, err := net.Dial("tcp", c.addrs[0])
		if err != nil {
			c.addrs = append(c.addrs[1:], c.addrs[0])
			c.mu.Unlock()
			continue
		}
		c.conn = stream.NewConn(ctx, conn, nil)
		name := fmt.Sprint("room-", c.room[0].id)
		err = c.conn.WritePacket(func(e *gdwire.Encoder) error { return e.WriteString(name) })
		c.mu.Unlock()
		for err == nil {
			err = c.receive()
		}
		_ = c.conn.Close()
		c.mu.Lock()
		c.addrs = append(c.addrs[1:], c.addrs[0])
		c.mu.Unlock()
	}
	return nil
}

// receive reads a packet: its phase, its sender and its number. Those of a phase above 0
// have to be complete.
func (c *client) receive() error {
	d, err := c.conn.Next()
	if err != nil {
		return err
	}
	var p [3]int64
	n, err := d.ReadArray()
	if err != nil || n != len(p) {
		return fmt.Errorf("%d elements: %w", n, err)
	}
	for i := range p {
		if p[i], err = d.ReadInt(); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]int64{p[0], p[1]}
	if p[0] > 0 && p[2] != c.got[key] && c.wrong == "" {
		c.wrong = fmt.Sprintf("phase %d: packet %d of %d after %d packets", p[0], p[2], p[1], c.got[key])
	}
	c.got[key]++
	return nil
}

// send sends a packet.
func (c *client) send(phase, number int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn.WritePacket(func(e *gdwire.Encoder) error {
		err := e.BeginArray(3)
		for _, v := range []int64{phase, c.id, number} {
			if err == nil {
				err = e.WriteInt(v)
			}
		}
		if err != nil {
			return err
		}
		return e.End()
	})
}

// has reports whether c has n packets of a phase from each of the senders of its room.
func (c *client) has(phase, n int64, senders map[*client]bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.room {
		if senders[s] && c.got[[2]int64{phase, s.id}] < n {
			return false
		}
	}
	return true
}

const perSecond = 20

// exchange lets the clients send n packets each, and waits until each got all of its room.
func exchange(t *testing.T, clients map[*client]bool, phase, n int64) {
	var sending sync.WaitGroup
	for c := range clients {
		sending.Go(func() {
			tick := time.NewTicker(time.Second / perSecond)
			defer tick.Stop()
			for i := range n {
				<-tick.C
				assert.NoError(t, c.send(phase, i))
			}
		})
	}
	sending.Wait()
	require.Eventually(t, func() bool { return all(clients, phase, n) }, time.Minute, 10*time.Millisecond)
}

func all(clients map[*client]bool, phase, n int64) bool {
	for c := range clients {
		if !c.has(phase, n, clients) {
			return false
		}
	}
	return true
}

// meet lets the clients send until each got a packet of all in its room: then all processes know of
// all members.
func meet(t *testing.T, clients map[*client]bool, phase int64) {
	require.Eventually(t, func() bool {
		for c := range clients {
			c.mu.Lock()
			connected := c.conn != nil
			c.mu.Unlock()
			if connected {
				_ = c.send(phase, 0) // it may be reconnecting
			}
		}
		return all(clients, phase, 1)
	}, time.Minute, 100*time.Millisecond)
}

// TestCluster connects the members of rooms to three processes. Every packet arrives once
// at every member, in the order of its sender. Then a process is killed: nothing is lost
// between the members of the others, and its clients are in their rooms again.
func TestCluster(t *testing.T) {
	rooms, members, seconds := 20, 15, int64(2)
	if testing.Short() {
		rooms, members, seconds = 4, 6, 1
	}
	limit := "-per-addr=" + strconv.Itoa(rooms*members) // from one address
	first := startProcess(t, nil, limit)
	processes := []*process{first, startProcess(t, first, limit), startProcess(t, first, limit)}
	var addrs []string
	for _, p := range processes {
		addrs = append(addrs, p.clients)
	}

	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	everyone, others := map[*client]bool{}, map[*client]bool{}
	for i := range rooms {
		room := make([]*client, members)
		for j := range room {
			at := (i + j) % len(addrs)
			room[j] = &client{
				id: int64(i*members + j), room: room, got: map[[2]int64]int64{},
				addrs: append(append([]string(nil), addrs[at:]...), addrs[:at]...),
			}
			everyone[room[j]] = true
			if at > 0 {
				others[room[j]] = true
			}
		}
	}
	for c := range everyone {
		running.Go(func() { assert.NoError(t, c.run(ctx)) })
	}
	meet(t, everyone, -1)
	exchange(t, everyone, 1, seconds*perSecond)
	killed := make(chan error)
	go func() { killed <- first.Process.Kill() }()
	exchange(t, others, 2, seconds*perSecond)
	require.NoError(t, <-killed)
	meet(t, everyone, -2)
	exchange(t, everyone, 3, seconds*perSecond)
	for c := range everyone {
		c.mu.Lock()
		require.Empty(t, c.wrong)
		for key, n := range c.got {
			require.True(t, key[0] < 0 || n == seconds*perSecond, "%v: %d", key, n)
		}
		c.mu.Unlock()
	}
}

// TestNames connects clients whose first packet is no name of a room: they are disconnected.
func TestNames(t *testing.T) {
	p := startProcess(t, nil)
	for _, name := range []string{"", "a.b", "*", ">", "a b", strings.Repeat("x", 65)} {
		conn, err := net.Dial("tcp", p.clients)
		require.NoError(t, err)
		c := stream.NewConn(t.Context(), conn, nil)
		require.NoError(t, c.WritePacket(func(e *gdwire.Encoder) error { return e.WriteString(name) }))
		_, err = c.Next()
		require.Equal(t, io.EOF, err, name)
		require.NoError(t, c.Close())
	}
}

// inProcess returns a hub with its own NATS server, in the test's process, and a function that connects
// a member.
func inProcess(t *testing.T) (*hub, *server.Server, func(room string) *stream.Conn) {
	*routes = "127.0.0.1:0"
	h := &hub{rooms: map[string]*room{}}
	ns, token, err := startNATS()
	require.NoError(t, err)
	t.Cleanup(ns.Shutdown)
	require.NoError(t, h.dial("", nats.InProcessServer(ns), nats.Token(token)))
	t.Cleanup(h.nc.Close)
	s := &stream.Server{Handler: h.handle}
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return h, ns, func(room string) *stream.Conn {
		ours, theirs := net.Pipe()
		go s.ServeConn(stream.NewConn(context.Background(), ours, nil))
		c := stream.NewConn(t.Context(), theirs, nil)
		t.Cleanup(func() { _ = c.Close() })
		require.NoError(t, variant.Send(c, room))
		echo(t, c)
		return c
	}
}

// echo sends a packet until it comes back.
func echo(t *testing.T, c *stream.Conn) {
	require.NoError(t, variant.Send(c, 1))
	var n int
	require.NoError(t, variant.Receive(c, &n))
	require.Equal(t, 1, n)
}

// TestLostPackets loses packets between processes: the members of the room are closed, and no others.
func TestLostPackets(t *testing.T) {
	h, _, connect := inProcess(t)
	member, other := connect("a"), connect("b")
	packet, err := variant.Marshal(5)
	require.NoError(t, err)
	remote := &room{}
	remote.header[0] = 7
	var n int
	for range 3 {
		require.NoError(t, remote.send(h.nc, "room.a", packet))
		require.NoError(t, variant.Receive(member, &n))
	}
	require.NoError(t, h.nc.Publish("room.a", []byte("short"))) // is ignored
	remote.header[8]++                                          // a packet that did not arrive
	require.NoError(t, remote.send(h.nc, "room.a", packet))
	require.Equal(t, io.EOF, variant.Receive(member, &n))
	echo(t, other)
	echo(t, connect("a"))
}

// TestDisconnected closes the connection to NATS: all members are closed, because they can have missed
// packets, and can connect again.
func TestDisconnected(t *testing.T) {
	h, ns, connect := inProcess(t)
	members := []*stream.Conn{connect("a"), connect("a"), connect("b")}
	id, err := h.nc.GetClientID()
	require.NoError(t, err)
	require.NoError(t, ns.DisconnectClientByID(id))
	for _, m := range members {
		var v any
		for err = nil; err == nil; {
			err = variant.Receive(m, &v)
		}
		require.Equal(t, io.EOF, err)
	}
	require.Eventually(t, h.nc.IsConnected, time.Minute, time.Millisecond)
	connect("a")
}

// TestToken connects to the NATS server of a process without its token.
func TestToken(t *testing.T) {
	_, ns, _ := inProcess(t)
	_, err := nats.Connect(ns.ClientURL())
	require.ErrorIs(t, err, nats.ErrAuthorization)
}

// TestRoutePassword starts three processes, of which one has another password: it hears nothing of the
// others.
func TestRoutePassword(t *testing.T) {
	good := []string{"-route-user", "rooms", "-route-password", "secret"}
	first := startProcess(t, nil, good...)
	second := startProcess(t, first, good...)
	wrong := startProcess(t, first, "-route-user", "rooms", "-route-password", "guessed")
	connect := func(p *process) *stream.Conn {
		conn, err := net.Dial("tcp", p.clients)
		require.NoError(t, err)
		c := stream.NewConn(t.Context(), conn, &stream.Options{IdleTimeout: 100 * time.Millisecond})
		t.Cleanup(func() { _ = c.Close() })
		require.NoError(t, variant.Send(c, "a"))
		return c
	}
	a, b, stranger := connect(first), connect(second), connect(wrong)
	var n int
	require.Eventually(t, func() bool { // until both processes know each other
		require.NoError(t, variant.Send(a, 1))
		return variant.Receive(b, &n) == nil
	}, time.Minute, time.Millisecond)
	require.ErrorIs(t, variant.Receive(stranger, &n), os.ErrDeadlineExceeded)
}
