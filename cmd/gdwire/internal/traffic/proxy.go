package traffic

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/page"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/internal/base/address"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/stream"
)

// The command proxy, over connections and datagrams.

const (
	// maxClients is the maximum number of clients of UDP at the same time.
	maxClients = 256
	// silence is the time after which a client of UDP without datagrams is forgotten.
	silence = 2 * time.Minute
	// maxDatagram is larger than any datagram in bytes.
	maxDatagram = 64 << 10
	// maxErrors is the number of consecutive errors of a socket concerning single datagrams.
	maxErrors = 1000
)

// A datagramProxy forwards datagrams. Each client has a port of its own to the server, as with a router.
type datagramProxy struct {
	*proxyServer
	conn   clientConn               // to the clients
	dial   func() (net.Conn, error) // returns another socket to the server, without waiting
	count  int64                    // of all clients
	refuse sync.Once                // reports too many clients

	mu      sync.Mutex
	clients map[netip.AddrPort]*datagramClient
	running sync.WaitGroup
}

// A clientConn is the socket of a *net.UDPConn, to all clients.
type clientConn interface {
	ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	Close() error
}

// A datagramClient is a client of UDP.
type datagramClient struct {
	server net.Conn
	ways   [2]*datagrams
	active atomic.Int64 // when the latest datagram came, in nanoseconds
}

// listenUDP is listen for UDP. The name of the server is looked up once: a client waiting for an answer would
// hold the others.
func (p *proxyServer) listenUDP(addr string) (at string, forward func(context.Context) (int64, error), err error) {
	server, err := net.ResolveUDPAddr("udp", p.options.target.addr)
	if err != nil {
		return "", nil, err
	}
	local, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return "", nil, err
	}
	conn, err := net.ListenUDP("udp", local)
	if err != nil {
		return "", nil, err
	}
	if prefix := p.options.record; prefix != "" {
		if p.record, err = record.New(prefix); err != nil {
			return "", nil, errors.Join(err, conn.Close())
		}
	}
	u := newDatagramProxy(p, conn, func() (net.Conn, error) { return net.DialUDP("udp", nil, server) })
	return udpScheme + conn.LocalAddr().String(), u.run, nil
}

func newDatagramProxy(p *proxyServer, conn clientConn, dial func() (net.Conn, error)) *datagramProxy {
	return &datagramProxy{proxyServer: p, conn: conn, dial: dial, clients: map[netip.AddrPort]*datagramClient{}}
}

// run forwards datagrams until ctx is done, and returns the number of clients.
func (u *datagramProxy) run(ctx context.Context) (int64, error) {
	ctx, end := context.WithCancel(ctx)
	defer u.running.Wait()
	defer end()
	defer context.AfterFunc(ctx, func() { _ = u.conn.Close() })()
	buf := make([]byte, maxDatagram)
	for failed := 0; ; {
		n, from, err := u.conn.ReadFromUDPAddrPort(buf)
		if ctx.Err() != nil {
			return u.count, nil
		}
		if err != nil { // about an earlier datagram not delivered to a client
			if failed++; failed > maxErrors {
				return u.count, err
			}
			continue
		}
		failed = 0
		if c := u.client(ctx, from); c != nil {
			c.active.Store(time.Now().UnixNano())
			c.ways[0].forward(buf[:n])
		}
	}
}

// client returns the client of an address, or nil if it cannot have a port to the server.
func (u *datagramProxy) client(ctx context.Context, from netip.AddrPort) *datagramClient {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c := u.clients[from]; c != nil {
		return c
	}
	if len(u.clients) >= maxClients {
		u.refuse.Do(func() {
			u.logf("more than %d clients at the same time: others wait until one is silent for %v", maxClients, silence)
		})
		return nil
	}
	server, err := u.dial()
	if err != nil {
		u.logf("%v", err)
		return nil
	}
	u.count++
	number := u.count
	u.logConn(number, "from %v", from)
	c := &datagramClient{server: server}
	c.active.Store(time.Now().UnixNano())
	for i, send := range []func([]byte){
		func(b []byte) { _, _ = server.Write(b) },
		func(b []byte) { _, _ = u.conn.WriteToUDPAddrPort(b, from) },
	} {
		c.ways[i] = newDatagrams(&direction{proxyServer: u.proxyServer, number: number, way: record.Direction(i)}, send)
	}
	u.clients[from] = c
	u.running.Go(func() {
		stop := context.AfterFunc(ctx, func() { _ = server.Close() })
		defer stop()
		u.receive(ctx, c)
		u.mu.Lock()
		delete(u.clients, from)
		u.mu.Unlock()
		_ = server.Close()
		for _, d := range c.ways {
			d.close()
		}
		u.logConn(number, "closed")
	})
	return c
}

// receive forwards the datagrams of the server until the client is silent or ctx is done.
func (u *datagramProxy) receive(ctx context.Context, c *datagramClient) {
	buf := make([]byte, maxDatagram)
	for failed := 0; ctx.Err() == nil && failed < maxErrors; {
		_ = c.server.SetReadDeadline(time.Unix(0, c.active.Load()).Add(silence))
		n, err := c.server.Read(buf)
		switch {
		case err == nil:
			failed = 0
			c.active.Store(time.Now().UnixNano())
			c.ways[1].forward(buf[:n])
		case errors.Is(err, os.ErrDeadlineExceeded):
			if time.Since(time.Unix(0, c.active.Load())) >= silence {
				return
			}
		case errors.Is(err, net.ErrClosed):
			return
		default: // nobody received an earlier datagram; a later one can be
			if failed++; failed == 1 {
				u.logConn(c.ways[1].number, "%v", err)
			}
		}
	}
}

// datagrams are those of one direction of a client.
type datagrams struct {
	*direction
	send func([]byte) // a datagram that is not sent is lost, as others are

	mu         sync.Mutex
	framing    framing
	recognized bool // one of them was a packet
	told       bool // that they are no packets
	closed     bool
}

// errUnknown is the error of datagrams other than packets.
var errUnknown = errors.New("no packet of Godot")

// newDatagrams returns a direction for datagrams.
func newDatagrams(d *direction, send func([]byte)) *datagrams {
	g := &datagrams{direction: d, send: send, framing: d.framing}
	g.recognized = g.framing.known.Format || d.options.dropInvalid
	if !g.framing.known.Format {
		g.framing.Decoder.Format, g.framing.Candidates = gdwire.Godot4, []gdwire.Format{gdwire.Godot4, gdwire.Godot3}
	}
	if d.record != nil {
		var err error
		d.file, err = d.record.File(d.number, d.way)
		d.record.Fail(err)
	}
	return g
}

// forward forwards a datagram and shows the packet inside.
func (g *datagrams) forward(b []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	now := time.Now()
	g.bytes[g.way].Add(int64(len(b)))
	s := shown{packet: b, Unpacked: save.Unpacked{Value: b, Err: errUnknown}}
	if g.recognize(b) {
		s = g.show(b, now, &g.framing)
	} else {
		g.proposeSkip(&s, &g.framing.Reading)
	}
	sent := !s.dropped && (s.Err == nil || !g.options.dropInvalid)
	if sent {
		g.send(s.packet)
	}
	g.record(b, now, sent)
}

// recognize reports whether the datagrams are packets, as one of them was. If none was, it says so once.
func (g *datagrams) recognize(b []byte) bool {
	if g.recognized {
		return true
	}
	u := g.framing.Unpack(b)
	g.recognized = u.Err == nil
	if !g.recognized && !g.told {
		g.told = true
		g.logConn(g.number, "%s no packets of Godot were recognized, so datagrams are only forwarded until one is; ENet and other protocols over UDP are not supported", g.way)
	}
	return g.recognized
}

// record appends a datagram after its length to the file of -record, to be read as a packet of a stream.
func (g *datagrams) record(b []byte, at time.Time, forwarded bool) {
	if g.file == nil {
		return
	}
	m := message{raw: append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...), packet: b, size: int64(4 + len(b))}
	g.direction.record.Write(g.file, m.raw)
	g.index(m, at, forwarded)
}

// close ends the direction and closes the file of -record.
func (g *datagrams) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.file != nil {
		_ = g.file.Close()
	}
}

// Proxy defines the flags of proxy.
func Proxy(f *shell.Flags) shell.Action {
	p := &proxyFlags{}
	p.open.PacketFlags(f, false)
	f.ExtraChoice("frame", "ws", &p.webSocket)
	f.BoolVar(&p.lines, "json", false, "a line of JSON for each packet")
	f.BoolVar(&p.dropInvalid, "drop-invalid", false, "forward a packet when it is complete, and only if it is valid; serialized objects are invalid without -objects")
	record.Flag(f.FlagSet, &p.record)
	f.BoolVar(&p.view, "view", false, "show the packets in a page of the browser, too")
	p.noOpen = view.NoOpenFlag(f)
	f.Func("set", "apply `'PATH = VALUE'`, as gdwire set does, to packets that have a value at PATH; may be given several times", func(s string) error {
		return addPlace(&p.changes.set, s, true)
	})
	f.Func("drop-if", "drop packets that have a value at `PATH`; PATH = VALUE drops those with this value; may be given several times", func(s string) error {
		return addPlace(&p.changes.dropIf, s, false)
	})
	f.Int64Var(&p.packets, "n", 0, "exit after `N` packets [never]")
	return shell.Action{
		Check: func() error { return p.check(f) },
		Run:   func(s *shell.Stdio) error { return p.run(s, f.Operands[0]) },
	}
}

func (o *proxyFlags) check(f *shell.Flags) error {
	if o.packets < 0 {
		return errors.New("-n is less than 0")
	}
	if !f.Given("objects") {
		o.open.Decoder.AllowObjects = !o.dropInvalid
	}
	var err error
	if o.target, err = parseTarget(f.Operands[1]); err != nil {
		return err
	}
	if f.Operands[0], err = o.target.listenAddress(f.Operands[0]); err != nil {
		return err
	}
	switch {
	case o.target.udp && f.Given("frame"):
		return errors.New("a datagram is one value without a length: -frame is not for UDP")
	case o.target.url != nil && f.Given("frame") && !o.webSocket:
		return errors.New("the messages of a WebSocket have no lengths: -frame can only be ws")
	case f.Given("frame") && o.open.Frame == save.Bare && !o.webSocket && f.Given("skip"):
		return errors.New("-skip is for packets, and -frame none for values alone")
	}
	o.webSocket = o.webSocket || o.target.url != nil
	return nil
}

// run accepts connections and forwards them.
func (o *proxyFlags) run(s *shell.Stdio, addr string) error {
	signals, stop := shell.UntilEnded()
	defer stop()
	ctx, end := context.WithCancel(signals)
	defer end()
	defer debug.SetGCPercent(debug.SetGCPercent(40)) // packets become garbage faster than a busy machine collects it
	p := &proxyServer{Stdio: s, options: o, framing: newFraming(&o.open), end: end, remaining: cmp.Or(o.packets, -1)}
	p.framing.webSocket = o.webSocket
	listen := p.listen
	if o.target.udp {
		listen = p.listenUDP
	}
	at, forward, err := listen(addr)
	if err != nil {
		return err
	}
	p.start()
	if p.record != nil {
		p.record.Failed = func(err error) { p.logf("%v; what follows is not recorded", err) }
	}
	p.logf("listening on %s for %s", at, o.target.text)
	if o.view {
		p.live = newLive(p.framing.Reading)
		serve, err := (&view.Server{Page: &page.Page{Live: p.live}}).Show(*o.noOpen, p.logf)
		if err != nil {
			end()
			_, failed := forward(ctx)
			return errors.Join(err, failed)
		}
		page := make(chan struct{})
		go func() {
			defer close(page)
			_ = serve(ctx)
		}()
		defer func() { // the end of the page removes a file
			end()
			<-page
		}()
	}
	connections, err := forward(ctx)
	if err != nil {
		p.stop(err)
	}
	if p.record != nil && p.record.Close() != nil {
		p.stop(shell.ErrBad)
	}
	p.summary(connections)
	p.lines.close()
	shell.WaitOutput(signals, p.lines.done)
	return p.err
}

// start starts the output.
func (p *proxyServer) start() {
	p.held.max = max(maxHeld, maxPacket(&p.framing.Reading)*9/8) // with heads
	p.lines.maxBytes, p.lines.flush, p.lines.fail = maxWaiting, p.Out.Flush, p.stop
	p.lines.missedLine = func(missed, bytes string) line {
		return line{p.Errs, "gdwire: … " + missed + " packets (" + bytes + ") not shown\n"}
	}
	p.lines.start()
}

// listen listens for connections, and returns the address and a function. The function forwards connections
// until its context is done, and returns their number.
func (p *proxyServer) listen(addr string) (at string, forward func(context.Context) (int64, error), err error) {
	ln, recorder, err := record.Listen(addr, p.options.record)
	if err != nil {
		return "", nil, err
	}
	p.record = recorder
	return address.Text(ln.Addr()), func(ctx context.Context) (int64, error) {
		a := &acceptor{handle: p.serve, logf: p.logf}
		err := a.run(ctx, ln)
		return a.count.Load(), err
	}, nil
}

// maxDial is the maximum time for which dialing the server is tried again.
const maxDial = 2 * time.Second

// serve forwards a connection until both directions are closed.
func (p *proxyServer) serve(ctx context.Context, c *stream.Conn, number int64) {
	client := c.NetConn()                               // forward all bytes, also those outside packets
	trying, cancel := context.WithTimeout(ctx, maxDial) // then give the client's descriptor back
	server, err := retry(trying, p.logWaiting, func() (net.Conn, error) {
		return p.options.target.dial(ctx)
	})
	cancel()
	if err != nil {
		p.logConn(number, "%v", err)
		return
	}
	defer func() { _ = server.Close() }()
	defer context.AfterFunc(ctx, func() {
		_ = client.Close()
		_ = server.Close()
	})()
	p.logConn(number, "from %v", address.Text(client.RemoteAddr()))
	var both sync.WaitGroup
	for i, ends := range [2][2]net.Conn{{client, server}, {server, client}} {
		d := &direction{proxyServer: p, number: number, way: record.Direction(i), from: ends[0], input: ends[0], to: ends[1]}
		both.Go(func() { d.forward(ctx) })
	}
	both.Wait()
	p.logConn(number, "closed")
}
