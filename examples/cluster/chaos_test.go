package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// A link carries connections of a process to a NATS server, unless it is cut.
type link struct {
	t        *testing.T
	addr, to string // of its own, of the server

	mu    sync.Mutex
	ln    net.Listener // nil if the link is cut
	conns []net.Conn
}

func newLink(t *testing.T, to net.Addr) *link {
	l := &link{t: t, addr: "127.0.0.1:0", to: to.String()}
	l.restore()
	t.Cleanup(l.cut)
	return l
}

// restore ends a cut.
func (l *link) restore() {
	require.Eventually(l.t, func() bool { // another program can use the port
		ln, err := net.Listen("tcp", l.addr)
		if err != nil {
			return false
		}
		l.addr = ln.Addr().String()
		l.mu.Lock()
		l.ln = ln
		l.mu.Unlock()
		go l.accept(ln)
		return true
	}, patience, time.Millisecond)
}

// cut closes the connections, and refuses others.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.ln.Close()
	l.ln = nil
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

func (l *link) accept(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		l.carry(ln, conn)
	}
}

// carry carries what is sent over a connection, or closes it.
func (l *link) carry(ln net.Listener, conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	server, err := net.Dial("tcp", l.to)
	if err != nil {
		_ = conn.Close()
		return
	}
	if l.ln != ln { // it was cut meanwhile
		_, _ = conn.Close(), server.Close()
		return
	}
	l.conns = append(l.conns, conn, server)
	for _, ends := range [][2]net.Conn{{conn, server}, {server, conn}} {
		go func() {
			_, _ = io.Copy(ends[0], ends[1])
			_ = ends[0].Close()
		}()
	}
}

// A chaos is a cluster with members of rooms who send numbered packets, while processes are killed,
// paused, restarted, and cut off from NATS.
type chaos struct {
	t         *testing.T
	links     []*link // of the processes to NATS
	processes []*process

	mu        sync.Mutex
	addrs     []string // of processes, for clients
	sessions  map[int64]*session
	delivered int
	wrong     string // the first packet that was lost, doubled, out of order, or of an unknown sender
}

// A player is a member of a room that connects again, to any process, when it was disconnected.
type player struct {
	*chaos
	index   int
	room    []*player
	session *session // the latest, or nil while there is none
}

// A session is one connection of a player from when it got its id. It sends the numbers from 0.
type session struct {
	room int
	conn *stream.Conn
	id   int64
	sent int
	// The number of the packet that comes next from other sessions, by their ids, and how many they
	// had sent when this one joined, which may arrive, too.
	next, joined map[int64]int
}

// start starts process i, or starts it again.
func (c *chaos) start(i int) { c.processes[i] = startProcess(c.t, "nats://"+c.links[i].addr) }

// serving waits until process i serves clients.
func (c *chaos) serving(i int) {
	p := c.processes[i].serving()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addrs[i] = p.clients
}

// play plays until ctx is done.
func (p *player) play(ctx context.Context) {
	for ctx.Err() == nil {
		p.mu.Lock()
		addr := p.addrs[rand.IntN(len(p.addrs))]
		p.mu.Unlock()
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			continue // with another process
		}
		c := stream.NewConn(ctx, conn, nil)
		// Of a process that is paused: all players could wait for it, and nobody play until it goes on.
		late := time.AfterFunc(joinTimeout, func() { _ = c.Close() })
		s, err := p.join(c)
		late.Stop()
		if err == nil {
			for err == nil {
				err = p.receive(s)
			}
			p.mu.Lock()
			p.session = nil
			p.mu.Unlock()
		}
		_ = c.Close()
	}
}

// join begins a session.
func (p *player) join(conn *stream.Conn) (*session, error) {
	s := &session{room: p.index / len(p.room), conn: conn, next: map[int64]int{}, joined: map[int64]int{}}
	err := variant.Send(conn, fmt.Sprint("room-", s.room))
	if err == nil {
		err = variant.Receive(conn, &s.id)
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, other := range p.sessions { // also those that ended just now
		s.joined[id] = other.sent
	}
	p.sessions[s.id], p.session = s, s
	return s, nil
}

// receive receives a packet.
func (p *player) receive(s *session) error {
	var m message
	if err := variant.Receive(s.conn, &m); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	from := p.sessions[m.From]
	next, known := s.next[m.From]
	switch {
	case p.wrong != "":
	case from == nil || from.room != s.room || m.N >= from.sent:
		p.wrong = fmt.Sprintf("room %d got packet %d of %d, who has not sent it", s.room, m.N, m.From)
	case known && m.N != next, !known && m.N > s.joined[m.From]:
		p.wrong = fmt.Sprintf("room %d got packet %d of %d, not %d or %d", s.room, m.N, m.From, next, s.joined[m.From])
	}
	s.next[m.From] = m.N + 1
	p.delivered++
	return nil
}

// send sends 10 packets a second, until ctx is done.
func (p *player) send(ctx context.Context) {
	tick := time.NewTicker(time.Second / 10)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
		p.mu.Lock()
		s := p.session
		n := 0
		if s != nil {
			n = s.sent
			s.sent++
		}
		p.mu.Unlock()
		if s != nil {
			_ = variant.Send(s.conn, n) // an error if it has ended
		}
	}
}

// complete reports whether all players are in their rooms, and have got what was sent to them since.
func (c *chaos) complete(players []*player) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range players {
		for _, other := range p.room {
			if p.session == nil || other.session == nil {
				return false
			}
			next, known := p.session.next[other.session.id]
			if !known {
				next = p.session.joined[other.session.id]
			}
			if next != other.session.sent {
				return false
			}
		}
	}
	return true
}

// deliver waits until n more packets are delivered.
func (c *chaos) deliver(n int) {
	count := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		require.Empty(c.t, c.wrong)
		return c.delivered
	}
	end := count() + n
	require.Eventually(c.t, func() bool { return count() >= end }, patience, time.Millisecond)
}

// signal sends a signal to process i.
func (c *chaos) signal(i int, s os.Signal) {
	require.NoError(c.t, c.processes[i].Process.Signal(s))
}

// faults are what happens to process i, while n packets are delivered.
var faults = []struct {
	name string
	do   func(c *chaos, i, n int)
}{
	{"kill", func(c *chaos, i, n int) {
		c.signal(i, os.Kill)
		require.Error(c.t, c.processes[i].Wait())
		c.deliver(n)
		c.start(i)
		c.serving(i)
	}},
	{"pause", func(c *chaos, i, n int) {
		c.signal(i, syscall.SIGSTOP)
		c.deliver(n)
		c.signal(i, syscall.SIGCONT)
	}},
	{"cut", func(c *chaos, i, n int) {
		c.links[i].cut()
		c.deliver(n)
		c.links[i].restore()
	}},
	{"rolling restart", func(c *chaos, _, n int) {
		for i := range c.processes {
			c.signal(i, syscall.SIGTERM)
			require.NoError(c.t, c.processes[i].Wait())
			c.start(i)
			c.serving(i)
			c.deliver(n)
		}
	}},
}

// TestChaos connects players to three processes and lets all faults happen, for a minute if GDWIRE_FULL
// is set. Between players who stayed connected no packet is lost, doubled or out of order; others were
// told by being disconnected.
func TestChaos(t *testing.T) {
	t.Parallel()
	rooms, size, duration := 4, 6, time.Duration(0)
	if os.Getenv("GDWIRE_FULL") != "" {
		rooms, size, duration = 20, 10, time.Minute
	}
	c := &chaos{t: t, processes: make([]*process, 3), addrs: make([]string, 3), sessions: map[int64]*session{}}
	ns := startNATS(t, 4*time.Second)
	for i := range c.processes {
		c.links = append(c.links, newLink(t, ns.Addr()))
		c.start(i)
	}
	for i := range c.processes {
		c.serving(i)
	}
	var playing, sending sync.WaitGroup
	play, stop := context.WithCancel(t.Context())
	send, quiet := context.WithCancel(play)
	defer playing.Wait()
	defer stop()
	var players []*player
	for i := range rooms * size {
		players = append(players, &player{chaos: c, index: i})
	}
	for i, p := range players {
		p.room = players[i/size*size:][:size]
		playing.Go(func() { p.play(play) })
		sending.Go(func() { p.send(send) })
	}

	second := rooms * size * size * 10 // deliveries in a second
	c.deliver(second)
	begin := time.Now()
	for i := 0; i < len(faults) || time.Since(begin) < duration; i++ {
		n := second/2 + rand.IntN(second)
		if i >= len(faults) {
			n *= 1 + rand.IntN(4)
		}
		faults[i%len(faults)].do(c, rand.IntN(len(c.processes)), n)
		c.deliver(second / 2)
	}
	quiet()
	sending.Wait()
	require.Eventually(t, func() bool { return c.complete(players) }, patience, 10*time.Millisecond)
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Empty(t, c.wrong)
	t.Logf("%d players, %d sessions, %d deliveries", len(players), len(c.sessions), c.delivered)
}
