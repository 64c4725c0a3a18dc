// A server of rooms that can be many processes: a packet of a member arrives at all members
// of its room, whichever process they are connected to.
//
// The first packet of a client is a String, the name of its room. All others are forwarded
// as bytes, without decoding them, through NATS: a subject for each room. Each process runs
// a NATS server of its own, and these are joined by routes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
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
	nc, end, err := connect()
	if err != nil {
		return err
	}
	defer end()
	h := &hub{nc: nc, rooms: map[string]*room{}}
	s := &stream.Server{Handler: h.handle, Options: stream.Options{MaxPacket: 64 << 10}}
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

// connect returns a connection to NATS, and a function that ends it.
func connect() (*nats.Conn, func(), error) {
	if *cluster != "" {
		nc, err := nats.Connect(*cluster, nats.MaxReconnects(-1))
		if err != nil {
			return nil, nil, err
		}
		return nc, nc.Close, nil
	}
	host, port, err := net.SplitHostPort(*routes)
	if err != nil {
		return nil, nil, err
	}
	// Routes need a listener for clients of NATS, too.
	o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true}
	o.Cluster.Name, o.Cluster.Host = "rooms", host
	if o.Cluster.Port, err = strconv.Atoi(port); err != nil {
		return nil, nil, err
	}
	if o.Cluster.Port == 0 {
		o.Cluster.Port = server.RANDOM_PORT
	}
	for _, addr := range strings.FieldsFunc(*join, func(r rune) bool { return r == ',' }) {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: addr})
	}
	ns, err := server.NewServer(o)
	if err != nil {
		return nil, nil, err
	}
	ns.Start()
	if !ns.ReadyForConnections(10 * time.Second) {
		return nil, nil, errors.New("NATS does not start")
	}
	nc, err := nats.Connect("", nats.InProcessServer(ns))
	if err != nil {
		return nil, nil, err
	}
	fmt.Println("routes", ns.ClusterAddr())
	return nc, func() { nc.Close(); ns.Shutdown() }, nil
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
type room struct {
	sub *nats.Subscription

	mu      sync.Mutex
	members map[*member]struct{}
}

// deliver passes a packet to all members and waits for none. They share its bytes.
func (r *room) deliver(msg *nats.Msg) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for m := range r.members {
		select {
		case m.packets <- msg.Data:
		default:
			r.remove(m)
			go func() { _ = m.conn.CloseWithCode(stream.CloseTryAgainLater, "too slow") }()
		}
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
			err = h.nc.Publish("room."+name, packet) // which copies it
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
		r = &room{members: map[*member]struct{}{}}
		var err error
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
