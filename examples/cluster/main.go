// A server of rooms that can be many processes: a packet of a member arrives at all members
// of its room, whichever process they are connected to.
//
// The first packet of a client is a String, the name of its room. All others are forwarded
// as bytes, without decoding them, through NATS: a subject for each room. Each process runs
// a NATS server of its own, and these are joined by routes.
package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"net"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gdwire/gdwire/stream"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

var (
	clients = flag.String("clients", "127.0.0.1:7777", "listen for clients on this `address`")
	routes  = flag.String("routes", "127.0.0.1:7778", "listen for other processes on this `address`")
	join    = flag.String("join", "", "the -routes `addresses` of other processes, with commas between them; one is enough")
	cluster = flag.String("nats", "", "use the NATS servers at this `URL` and start none")

	perAddr = flag.Int("per-addr", 100, "serve at most `N` clients of an address; with -join, those of a process that ended come, too")

	user     = flag.String("route-user", "", "`name` that processes tell each other, with -route-password")
	password = flag.String("route-password", "", "`password` of the routes, the same for all processes")
	cert     = flag.String("route-cert", "", "certificate `file` of this process, for TLS between processes")
	key      = flag.String("route-key", "", "key `file` of -route-cert")
	ca       = flag.String("route-ca", "", "`file` of the authority that signed the certificates of all processes")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// run serves clients until ctx is done.
func run(ctx context.Context) error {
	h := &hub{rooms: map[string]*room{}}
	end, err := h.connect()
	if err != nil {
		return err
	}
	defer end()
	for !h.nc.IsConnected() { // NATS is not up yet
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil
		}
	}
	s := &stream.Server{Handler: h.handle, Options: stream.Options{MaxPacket: 64 << 10},
		MaxConnsPerAddr: *perAddr, PacketRate: 100}
	ln, err := net.Listen("tcp", *clients)
	if err != nil {
		return err
	}
	fmt.Println("clients", ln.Addr())
	defer context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if s.Shutdown(ctx) != nil {
			_ = s.Close()
		}
	})()
	if err := s.Serve(ln); err != stream.ErrServerClosed {
		return err
	}
	return s.Shutdown(context.Background()) // wait for the handlers
}

// connect connects h to NATS, and returns a function that ends it.
func (h *hub) connect() (end func(), err error) {
	if *cluster != "" {
		if err := h.dial(*cluster); err != nil {
			return nil, err
		}
		return h.nc.Close, nil
	}
	ns, token, err := startNATS()
	if err != nil {
		return nil, err
	}
	if err := h.dial("", nats.InProcessServer(ns), nats.Token(token)); err != nil {
		return nil, err
	}
	fmt.Println("routes", ns.ClusterAddr())
	return func() { h.nc.Close(); ns.Shutdown() }, nil
}

// dial connects h to a NATS server. While the connection is lost, packets are refused and not kept,
// because a game has no use for old ones.
func (h *hub) dial(url string, o ...nats.Option) (err error) {
	h.nc, err = nats.Connect(url, append(o,
		nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.RetryOnFailedConnect(true),
		nats.DisconnectErrHandler(func(nc *nats.Conn, err error) {
			if !nc.IsClosed() { // by this process
				h.missed("connection to NATS lost", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { h.missed("packets lost", err) }),
		nats.ReconnectHandler(func(*nats.Conn) { log.Print("connected to NATS again") }))...)
	return err
}

// startNATS starts the NATS server of this process. Clients need the token.
func startNATS() (ns *server.Server, token string, err error) {
	host, port, err := net.SplitHostPort(*routes)
	if err != nil {
		return nil, "", err
	}
	// Routes need a listener for clients of NATS, too. The token keeps other processes out.
	token = rand.Text()
	o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, Authorization: token}
	o.Cluster.Name, o.Cluster.Host = "rooms", host
	o.Cluster.Username, o.Cluster.Password = *user, *password
	o.Cluster.ConnectRetries = math.MaxInt32 // also to processes that others have told of
	if o.Cluster.TLSConfig, err = routeTLS(); err != nil {
		return nil, "", err
	}
	o.Cluster.TLSTimeout = 5 // seconds
	if o.Cluster.Port, err = strconv.Atoi(port); err != nil {
		return nil, "", err
	}
	if o.Cluster.Port == 0 {
		o.Cluster.Port = server.RANDOM_PORT
	}
	for _, addr := range strings.FieldsFunc(*join, func(r rune) bool { return r == ',' }) {
		u := &url.URL{Scheme: "nats", Host: addr}
		if *user != "" {
			u.User = url.UserPassword(*user, *password)
		}
		o.Routes = append(o.Routes, u)
	}
	if ns, err = server.NewServer(o); err != nil {
		return nil, "", err
	}
	ns.Start()
	if !ns.ReadyForConnections(10 * time.Second) {
		return nil, "", errors.New("NATS does not start")
	}
	return ns, token, nil
}

// routeTLS returns the configuration of routes, or nil without -route-cert. Both sides show a
// certificate.
func routeTLS() (*tls.Config, error) {
	if *cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(*ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: no certificate", *ca)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, RootCAs: pool,
		ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}, nil
}

// backlog is the number of packets that may wait for a member. With more, the member is dropped.
const backlog = 1024

// A member is a client in a room.
type member struct {
	conn    *stream.Conn
	packets chan []byte // closed when the member left or was dropped
}

// write writes packets until there are no more.
func (m *member) write() {
	for packet := range m.packets {
		if m.conn.WriteRaw(packet) != nil {
			_ = m.conn.Close() // ends handle
		}
	}
}

// A room contains the members that are connected to this process.
//
// Each packet is sent after the random number of its sender's room and a count, so that the rooms of
// other processes notice if packets were lost: while a process was paused, a route was cut, or NATS
// was too slow.
type room struct {
	sub *nats.Subscription

	sending sync.Mutex
	header  [headerSize]byte // the number and the count of the latest packet

	mu      sync.Mutex
	members map[*member]struct{}
	counts  map[uint64]uint64 // of the latest packets, by the numbers of their rooms
}

const headerSize = 16

// maxCounts is the number of rooms of one name whose counts are known. Processes that restart, and
// rooms that were empty, get new numbers.
const maxCounts = 1000

// send sends a packet to all processes.
func (r *room) send(nc *nats.Conn, subject string, packet []byte) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	header, latest := r.header, r.header[8:]
	binary.LittleEndian.PutUint64(header[8:], binary.LittleEndian.Uint64(latest)+1)
	if err := nc.Publish(subject, append(header[:], packet...)); err != nil { // which copies it
		return err
	}
	r.header = header
	return nil
}

// deliver passes a packet to all members and waits for none. They share its bytes.
func (r *room) deliver(msg *nats.Msg) {
	if len(msg.Data) <= headerSize {
		return // of another program
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	from, count := binary.LittleEndian.Uint64(msg.Data), binary.LittleEndian.Uint64(msg.Data[8:])
	latest, known := r.counts[from]
	if known && count != latest+1 {
		log.Printf("%s: packets %d to %d of a process are lost", msg.Subject, latest+1, count-1)
		r.close()
	}
	if len(r.counts) == maxCounts {
		clear(r.counts)
	}
	r.counts[from] = count
	for m := range r.members {
		select {
		case m.packets <- msg.Data[headerSize:]:
		default:
			r.remove(m)
			go func() { _ = m.conn.CloseWithCode(stream.CloseTryAgainLater, "too slow") }()
		}
	}
}

// close tells the members that packets were lost: they connect again. r is locked.
func (r *room) close() {
	for m := range r.members {
		r.remove(m)
		go func() { _ = m.conn.CloseWithCode(stream.CloseServiceRestart, "packets were lost") }()
	}
}

// remove removes a member unless it was removed before. r is locked.
func (r *room) remove(m *member) {
	if _, ok := r.members[m]; ok {
		delete(r.members, m)
		close(m.packets)
	}
}

// A hub contains the rooms with members of this process.
type hub struct {
	nc *nats.Conn

	mu    sync.Mutex
	rooms map[string]*room
}

// missed tells all members of this process that packets were lost.
func (h *hub) missed(what string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	members := 0
	for _, r := range h.rooms {
		r.mu.Lock()
		members += len(r.members)
		r.close()
		r.mu.Unlock()
	}
	log.Printf("%s: %v: %d clients have to connect again", what, err, members)
}

// names are the names of rooms, which become a part of a subject.
var names = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// handle is the Handler of the server.
func (h *hub) handle(_ context.Context, c *stream.Conn) error {
	d, err := c.Next()
	if err != nil {
		return err
	}
	name, err := d.ReadString()
	if err != nil {
		return err
	}
	if !names.MatchString(name) {
		return c.CloseWithCode(stream.ClosePolicyViolation, "no name of a room")
	}
	m := &member{conn: c, packets: make(chan []byte, backlog)}
	r, err := h.join(name, m)
	if err != nil {
		return err
	}
	defer h.leave(name, r, m)
	go m.write()
	var packet []byte
	for {
		packet, err = c.NextRaw(packet[:0])
		if err == nil {
			err = r.send(h.nc, "room."+name, packet)
		}
		if err != nil && !stream.Skippable(err) {
			return err
		}
	}
}

// join adds a member to a room, which becomes a subscription of this process.
func (h *hub) join(name string, m *member) (*room, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.rooms[name]
	if r == nil {
		r = &room{members: map[*member]struct{}{}, counts: map[uint64]uint64{}}
		_, err := rand.Read(r.header[:8])
		if err != nil {
			return nil, err
		}
		if r.sub, err = h.nc.Subscribe("room."+name, r.deliver); err != nil {
			return nil, err
		}
		h.rooms[name] = r
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members[m] = struct{}{}
	return r, nil
}

// leave removes a member from its room, and the room after its last member.
func (h *hub) leave(name string, r *room, m *member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(m)
	if len(r.members) == 0 && h.rooms[name] == r {
		_ = r.sub.Unsubscribe()
		delete(h.rooms, name)
	}
}
