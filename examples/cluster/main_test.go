package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// TestMain makes the test's binary the program if the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv("CLUSTER_TEST") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// patience is how long a test waits for what has to happen: some machines are slow.
const patience = 2 * time.Minute

// A process is a running program.
type process struct {
	*exec.Cmd
	t       *testing.T
	printed *bufio.Scanner

	clients, http string // addresses
}

// startNATS starts a NATS server, which gives up a process that is silent for this time.
func startNATS(t *testing.T, silence time.Duration) *server.Server {
	ns, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, WriteDeadline: silence / 2, PingInterval: silence / 2, MaxPingsOut: 2,
	})
	require.NoError(t, err)
	ns.Start()
	t.Cleanup(ns.Shutdown)
	require.True(t, ns.ReadyForConnections(patience))
	return ns
}

// startProcess starts the program, which waits for others.
func startProcess(t *testing.T, nats string, flags ...string) *process {
	standard := []string{"-nats", nats, "-clients", "127.0.0.1:0", "-http", "127.0.0.1:0", "-per-addr", "1000", "-alone", "1h"}
	p := &process{Cmd: exec.Command(os.Args[0], append(standard, flags...)...), t: t}
	p.Env = append(os.Environ(), "CLUSTER_TEST=1")
	if testing.Verbose() {
		p.Stderr = os.Stderr
	}
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	p.printed = bufio.NewScanner(out)
	require.NoError(t, p.Start())
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	return p
}

// printedAddr waits until p prints an address after this name.
func (p *process) printedAddr(name string) string {
	for p.printed.Scan() {
		if addr, ok := strings.CutPrefix(p.printed.Text(), name+" "); ok {
			return addr
		}
	}
	require.Fail(p.t, "the process ended", "before it printed %q", name)
	return ""
}

// serving waits until p serves clients.
func (p *process) serving() *process {
	p.http, p.clients = p.printedAddr("http"), p.printedAddr("clients")
	return p
}

// startTwo starts the program twice.
func startTwo(t *testing.T, ns *server.Server) (first, second *process) {
	first = startProcess(t, ns.ClientURL(), "-alone", "0s").serving()
	second = startProcess(t, ns.ClientURL()).serving()
	second.know(2)
	return first, second
}

// know waits until p knows n processes, itself among them.
func (p *process) know(n int) {
	require.Eventually(p.t, func() bool { return p.count("processes") == n }, patience, time.Millisecond)
}

// get returns the status and the body of a page of p.
func (p *process) get(path string) (int, []byte) {
	r, err := http.Get("http://" + p.http + path)
	require.NoError(p.t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(p.t, err)
	return r.StatusCode, body
}

// count returns a counter of /debug/vars.
func (p *process) count(name string) int {
	_, body := p.get("/debug/vars")
	var vars map[string]json.RawMessage
	require.NoError(p.t, json.Unmarshal(body, &vars))
	var n int
	require.NoError(p.t, json.Unmarshal(vars[name], &n))
	return n
}

// dial connects to a process and names a room.
func dial(t *testing.T, addr, room string) *stream.Conn {
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	c := stream.NewConn(t.Context(), conn, &stream.Options{IdleTimeout: patience})
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, variant.Send(c, room))
	return c
}

// A client is a member of a room.
type client struct {
	*stream.Conn
	t  *testing.T
	id int64
}

// joined waits until c is a member.
func joined(t *testing.T, c *stream.Conn) *client {
	m := &client{Conn: c, t: t}
	require.NoError(t, variant.Receive(c, &m.id))
	return m
}

// connect connects a member of a room to p.
func (p *process) connect(room string) *client { return joined(p.t, dial(p.t, p.clients, room)) }

func (c *client) send(value any) {
	c.t.Helper()
	require.NoError(c.t, variant.Send(c, value))
}

// message is a packet to a member.
type message struct {
	_    struct{} `gd:",array"`
	From int64
	N    int
}

// expect waits for a packet.
func (c *client) expect(from int64, n int) {
	c.t.Helper()
	var m message
	require.NoError(c.t, variant.Receive(c, &m))
	require.Equal(c.t, message{From: from, N: n}, m)
}

// expectEnd waits until c is disconnected, after the packets that arrived before.
func (c *client) expectEnd() {
	c.t.Helper()
	var m message
	var err error
	for err == nil {
		err = variant.Receive(c, &m)
	}
	require.Equal(c.t, io.EOF, err)
}

// echo sends a packet and waits until it is back.
func (c *client) echo(n int) {
	c.t.Helper()
	c.send(n)
	c.expect(c.id, n)
}

// TestRoom lets members of two processes meet: each packet has the id of its sender.
func TestRoom(t *testing.T) {
	t.Parallel()
	first, second := startTwo(t, startNATS(t, patience))
	a, b, other := first.connect("a"), second.connect("a"), second.connect("b")
	require.NotEqual(t, a.id, b.id)
	for n := range 10 {
		a.send(n)
		a.expect(a.id, n)
		b.expect(a.id, n)
		b.echo(n)
		a.expect(b.id, n)
		other.echo(n)
	}
	// The longest packet arrives, and a longer one is ignored.
	overhead := len(newPrefix(t)) + 8
	for _, size := range []int{maxPacket - overhead, maxPacket - overhead + 4, maxPacket - 8, maxPacket} {
		text := strings.Repeat("x", size)
		a.send(text)
		a.send(5)
		if size == maxPacket-overhead {
			var got []any
			require.NoError(t, variant.Receive(b, &got))
			require.Equal(t, []any{a.id, text}, got)
		}
		b.expect(a.id, 5)
	}
}

func newPrefix(t *testing.T) []byte {
	m, err := newMember(nil)
	require.NoError(t, err)
	return m.prefix
}

// TestNames connects clients whose first packet is no name of a room: they are disconnected.
func TestNames(t *testing.T) {
	t.Parallel()
	p := startProcess(t, startNATS(t, patience).ClientURL(), "-alone", "0s").serving()
	for _, name := range []string{"", "a.b", "*", ">", "a b", strings.Repeat("x", 65)} {
		c := dial(t, p.clients, name)
		_, err := c.Next()
		require.Equal(t, io.EOF, err, name)
		require.NoError(t, c.Close())
	}
}

// TestReady starts a process before its NATS server, and ends it: it is ready from when it serves clients to
// the signal, and drains as long as -drain says.
func TestReady(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	addr := ln.Addr().(*net.TCPAddr)
	p := startProcess(t, "nats://"+addr.String(), "-alone", "0s", "-drain", "1h")
	p.http = p.printedAddr("http")
	conn, err := ln.Accept() // it waits for an answer
	require.NoError(t, err)
	code, _ := p.get("/ready")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.NoError(t, ln.Close())
	require.NoError(t, conn.Close())

	ns, err := server.NewServer(&server.Options{Host: addr.IP.String(), Port: addr.Port, NoSigs: true})
	require.NoError(t, err)
	ns.Start()
	defer ns.Shutdown()
	p.clients = p.printedAddr("clients")
	require.Eventually(t, func() bool { code, _ = p.get("/ready"); return code == http.StatusOK }, patience, time.Millisecond)
	a := p.connect("a")
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool { code, _ = p.get("/ready"); return code != http.StatusOK }, patience, time.Millisecond)
	a.echo(1)
	b := p.connect("a") // which has not heard of it yet
	b.echo(2)
	a.expect(b.id, 2)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Error(t, p.Wait(), "the second signal ends it")
}

// TestEnd ends a process: its clients are disconnected, and what they have sent has arrived.
func TestEnd(t *testing.T) {
	t.Parallel()
	first, second := startTwo(t, startNATS(t, patience))
	a, b := first.connect("a"), second.connect("a")
	const count = 50
	for n := range count {
		a.send(n)
	}
	for n := range count {
		a.expect(a.id, n)
	}
	require.NoError(t, first.Process.Signal(syscall.SIGTERM))
	a.expectEnd()
	require.NoError(t, first.Wait())
	for n := range count {
		b.expect(a.id, n)
	}
	second.connect("b").echo(1)
	require.Equal(t, 0, second.count("told"))
}

// TestPaused pauses a process until NATS gives it up. Its member is told that packets were
// lost; a member of the other process stays, and loses nothing.
func TestPaused(t *testing.T) {
	t.Parallel()
	ns := startNATS(t, 4*time.Second)
	first, second := startTwo(t, ns)
	a, b := first.connect("a"), second.connect("a")
	a.echo(0)
	b.expect(a.id, 0)
	require.Equal(t, 2, ns.NumClients())
	require.NoError(t, second.Process.Signal(syscall.SIGSTOP))
	sent := 1
	tick := time.NewTicker(20 * time.Millisecond) // less than PacketRate
	defer tick.Stop()
	for ; ns.NumClients() > 1; sent++ {
		<-tick.C
		a.echo(sent)
	}
	a.echo(sent) // b misses at least this
	require.NoError(t, second.Process.Signal(syscall.SIGCONT))
	arrived := 1
	var m message
	var err error
	for ; err == nil; arrived++ {
		if err = variant.Receive(b, &m); err == nil {
			require.Equal(t, message{From: a.id, N: arrived}, m)
		}
	}
	require.Equal(t, io.EOF, err)
	require.LessOrEqual(t, arrived-1, sent)
	require.Equal(t, 1, second.count("told"))

	b = second.connect("a")
	sent++
	a.echo(sent)
	b.expect(a.id, sent)
	b.echo(0)
	a.expect(b.id, 0)
	require.Equal(t, 0, first.count("told"))
}

// inProcess returns a hub in the test's process, its NATS server, and a function that connects to it.
func inProcess(t *testing.T) (*hub, *server.Server, func(room string) *stream.Conn) {
	ns := startNATS(t, patience)
	*servers, *alone = ns.ClientURL(), 0
	h := newHub()
	require.NoError(t, h.connect())
	t.Cleanup(h.nc.Close)
	require.NoError(t, h.start(t.Context()))
	return h, ns, func(room string) *stream.Conn {
		c := gdwiretest.Pipe(t, h.handle)
		require.NoError(t, variant.Send(c, room))
		return c
	}
}

// A remote is a process with a room of the name "a", of which the test makes the messages.
type remote struct {
	t *testing.T
	*room
	h  *hub // of another process
	id []byte
}

func newRemote(t *testing.T, h *hub) *remote {
	return &remote{t, newRoom("a", 0, nil), h, []byte("process7")}
}

// packet sends a packet of the member with the id 7.
func (r *remote) packet(n int) {
	require.NoError(r.t, r.send(r.h.nc, gdwiretest.Encode(r.t, []any{7, n})))
}

// answer says that the process hears the room, and which packets it has sent.
func (r *remote) answer() { require.NoError(r.t, r.send(r.h.nc, r.id)) }

// alive says that the process is alive, and waits until h knows.
func (r *remote) alive() {
	before := r.h.processes()
	require.NoError(r.t, r.h.nc.Publish(aliveSubject, r.id))
	require.Eventually(r.t, func() bool { return r.h.processes() == before+1 }, patience, time.Millisecond)
}

// TestLostPackets loses packets between processes: the members of the room are told, and no others.
func TestLostPackets(t *testing.T) {
	for name, lose := range map[string]func(*remote){
		"before others":    func(r *remote) { r.count++; r.packet(3) },
		"the latest":       func(r *remote) { r.count++; r.answer() },
		"of a room unseen": func(r *remote) { r.number += 2; r.packet(3) },
		"again":            func(r *remote) { r.count--; r.packet(3) },
	} {
		t.Run(name, func(t *testing.T) {
			h, _, connect := inProcess(t)
			a, other := joined(t, connect("a")), joined(t, connect("b"))
			before := told.Value()
			r := newRemote(t, h)
			r.answer()
			for n := range 3 {
				r.packet(n)
				a.expect(7, n)
				r.answer()
			}
			require.NoError(t, h.nc.Publish(r.subject(), []byte("short"))) // is ignored
			lose(r)
			var m message
			require.Equal(t, io.EOF, variant.Receive(a, &m))
			require.Equal(t, before+1, told.Value())
			other.echo(1)
			joined(t, connect("a")).echo(2)
		})
	}
}

// TestOldPackets lets a member join while another process is behind: the member gets its id when that
// process has answered, and none of the packets before.
func TestOldPackets(t *testing.T) {
	h, _, connect := inProcess(t)
	r := newRemote(t, h)
	r.alive()
	asked := make(chan string, 10)
	_, err := h.nc.Subscribe(hearSubject, func(msg *nats.Msg) { asked <- string(msg.Data) })
	require.NoError(t, err)
	before := dropped.Value()
	c := connect("a")
	require.Equal(t, "a", <-asked)
	sent := make(chan error)
	go func() { sent <- variant.Send(c, 9) }() // waits for the id, too
	for n := range 5 {
		r.packet(n)
	}
	r.answer()
	a := joined(t, c)
	require.NoError(t, <-sent)
	a.expect(a.id, 9)
	r.packet(5)
	a.expect(7, 5)
	require.Equal(t, before+5, dropped.Value())
}

// TestDeadProcess lets a process end without saying so: a room does not wait for it for ever.
func TestDeadProcess(t *testing.T) {
	h, _, connect := inProcess(t)
	newRemote(t, h).alive()
	joined(t, connect("a")).echo(1)
	require.Equal(t, 1, h.processes())
}

// TestDisconnected closes the connection to NATS: all members are told, because they can have missed
// packets, and can connect again.
func TestDisconnected(t *testing.T) {
	h, ns, connect := inProcess(t)
	members := []*client{joined(t, connect("a")), joined(t, connect("a")), joined(t, connect("b"))}
	id, err := h.nc.GetClientID()
	require.NoError(t, err)
	require.NoError(t, ns.DisconnectClientByID(id))
	for _, m := range members {
		m.expectEnd()
	}
	joined(t, connect("a")).echo(1)
}
