// Cluster is a server of rooms, in one process or many: a packet of a member arrives at all members
// of the room, whichever process they are connected to.
//
// The first packet of a client is a String, the name of its room. When all processes hear the room,
// the client gets its id, an int. All other packets of a client arrive at the members as an Array of
// the sender's id and the packet's value. The value is forwarded as bytes, without decoding, through
// NATS: a subject for each room.
//
// main.go contains the flags and the server, room.go the members of a room and their packets,
// hub.go the rooms, the other processes and the connection to NATS.
package main

import (
	"context"
	"expvar"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gdwire/gdwire/stream"
	"github.com/nats-io/nats.go"
)

var (
	clients = flag.String("clients", "127.0.0.1:7777", "listen for clients on this `address`")
	servers = flag.String("nats", nats.DefaultURL, "connect to the NATS servers at these `URLs`, with commas between them")
	status  = flag.String("http", "", "answer /ready and /debug/vars on this `address`")
	drain   = flag.Duration("drain", 0, "the `time` from SIGTERM, when /ready begins to fail, to the end")

	alone   = flag.Duration("alone", 3*beat, "the `time` without an answer of other processes until this one serves alone")
	perAddr = flag.Int("per-addr", 100, "serve at most `N` clients of an address; those of a process that ended come, too")
)

// Counters of /debug/vars.
var (
	told    = expvar.NewInt("told")    // members disconnected because packets were lost
	dropped = expvar.NewInt("dropped") // packets for members not in their room yet
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

// run serves clients until ctx is done.
func run(ctx context.Context) error {
	h := newHub()
	if err := h.connect(); err != nil {
		return err
	}
	defer h.close()
	if *status != "" {
		ln, err := net.Listen("tcp", *status)
		if err != nil {
			return err
		}
		http.Handle("/ready", h) // beside /debug/vars
		expvar.Publish("processes", expvar.Func(func() any { return h.processes() }))
		web := &http.Server{ReadTimeout: 10 * time.Second}
		defer func() { _ = web.Close() }()
		go func() { _ = web.Serve(ln) }()
		fmt.Println("http", ln.Addr())
	}
	if err := h.start(ctx); err != nil || ctx.Err() != nil {
		return err
	}

	s := &stream.Server{
		Handler:         h.handle,
		Options:         stream.Options{MaxPacket: maxPacket, IdleTimeout: -1}, // members may only listen
		MaxConnsPerAddr: *perAddr, PacketRate: 100,
	}
	ln, err := net.Listen("tcp", *clients)
	if err != nil {
		return err
	}
	fmt.Println("clients", ln.Addr())
	h.ready.Store(true)
	defer context.AfterFunc(ctx, func() {
		h.ready.Store(false)
		log.Printf("draining: ends in %v", *drain)
		time.Sleep(*drain)
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
