// A server that answers Godot clients over TCP and WebSocket.
package main

import (
	"context"
	"log"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

var tcp, web = "127.0.0.1:7777", "127.0.0.1:7778"

// A message is a Dictionary: {"name": "Ada", "value": Vector2(1, 2.5)}.
type message struct {
	Name  string
	Value any
}

func handle(_ context.Context, c *stream.Conn) error {
	for {
		var m message
		d, err := c.Next()
		if err == nil {
			err = variant.UnmarshalDecode(d, &m)
		}
		if err == nil {
			m.Name = "hello, " + m.Name
			err = c.WritePacket(func(e *gdwire.Encoder) error { return variant.MarshalEncode(e, m) })
		}
		if err != nil && !stream.Skippable(err) { // skippable: only this packet is invalid
			return err
		}
	}
}

func main() {
	// Timeouts and MaxConns are those of a zero Server: see its documentation.
	s := &stream.Server{Handler: handle, Options: stream.Options{MaxPacket: 64 << 10}}
	accept := func(w http.ResponseWriter, r *http.Request) {
		if s.Full() {
			http.Error(w, "too many connections", http.StatusServiceUnavailable)
			return
		}
		o := &websocket.AcceptOptions{OriginPatterns: []string{"*"}} // pages of any host
		ws, err := websocket.Accept(w, r, o)
		if err == nil {
			stream.ServeMessages(r.Context(), s, ws, websocket.CloseStatus)
		}
	}
	h := &http.Server{Addr: web, Handler: http.HandlerFunc(accept),
		ReadHeaderTimeout: 10 * time.Second, ConnContext: stream.WithNetConn}
	go func() { log.Fatal(s.ListenAndServe(tcp)) }()
	log.Fatal(h.ListenAndServe())
}
