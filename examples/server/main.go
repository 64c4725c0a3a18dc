// A server answering Godot clients over TCP and WebSocket.
package main

import (
	"context"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

var tcp, web, upgrades = "127.0.0.1:7777", "127.0.0.1:7778", &http.Server{ReadTimeout: 10 * time.Second, ConnContext: stream.WithNetConn}

// extras get the Server before its first use: status.go adds a page for operators, and /metrics.
var extras []func(*stream.Server)

// A message is a Dictionary: {"name": "Ada", "value": Vector2(1, 2.5)}.
type message struct {
	Name  string
	Value any
}

func handle(_ context.Context, c *stream.Conn) (err error) {
	for err == nil || stream.Skippable(err) { // skippable: only this packet is invalid
		var m message
		if err = variant.Receive(c, &m); err == nil {
			m.Name = "hello, " + m.Name
			err = variant.Send(c, m)
		}
	}
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	s := &stream.Server{Handler: handle, Options: stream.Options{MaxPacket: 64 << 10},
		MaxConnsPerAddr: 20, PacketRate: 100} // of a client, in a second
	accept := func(w http.ResponseWriter, r *http.Request) {
		if s.Full() {
			http.Error(w, "too many connections", http.StatusServiceUnavailable)
			return
		}
		o := &websocket.AcceptOptions{OriginPatterns: []string{"*"}, // pages of any host
			OnPingReceived: stream.PingReceived}
		ws, err := websocket.Accept(w, r, o)
		if err == nil {
			s.ServeMessages(r.Context(), stream.WebSocket(ws, websocket.CloseStatus))
		}
	}
	upgrades.Handler = http.HandlerFunc(accept)
	ln, err := net.Listen("tcp", web)
	if err != nil {
		log.Fatal(err)
	}
	for _, extra := range extras {
		extra(s)
	}
	log.Print("waiting for clients on ", tcp, ", and by WebSocket on ", web)
	go func() { log.Print(s.ListenAndServe(tcp)); stop() }()
	go func() { log.Print(upgrades.Serve(stream.WebSocketListener(ln))); stop() }()
	<-ctx.Done()
	stop() // a second signal ends the program
	end, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = s.Drain(end) // no more clients; matches end
	_ = upgrades.Close()
	_ = s.Shutdown(context.Background()) // waits until the handlers return
}
