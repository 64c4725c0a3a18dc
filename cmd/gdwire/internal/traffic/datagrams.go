package traffic

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/internal/save"
)

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
		c.ways[i] = newDatagrams(&direction{proxyServer: u.proxyServer, number: number, way: i}, send)
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
		d.file, err = d.record.File(d.number, record.Direction(d.way))
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
		g.logConn(g.number, "%s no packets of Godot were recognized, so datagrams are only forwarded until one is; ENet and other protocols over UDP are not supported", arrows[g.way])
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
