// A game for several players: moving squares and a chat. The clients are Godot projects
// with the files in the folder godot.
package main

import (
	"flag"
	"log"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/gdwire/gdwire/examples/rpc/calls"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:7778", "address of the WebSocket")
	flag.Parse()
	log.Printf("ws://%s", *addr)
	log.Fatal(newServer(*addr).ListenAndServe())
}

// newServer returns a server of one game.
func newServer(addr string) *http.Server {
	return &http.Server{Addr: addr, Handler: newGame(), ReadTimeout: 10 * time.Second, ConnContext: stream.WithNetConn}
}

// newGame returns a handler serving a WebSocket for each player.
func newGame() http.Handler {
	var mu sync.Mutex
	positions := map[int]variant.Vector2{}
	c := &calls.Calls{}
	c.Join = func(p *calls.Peer) {
		mu.Lock()
		known := maps.Clone(positions)
		mu.Unlock()
		for id, pos := range known {
			p.Wait()
			_ = p.Call("Main", "moved", id, pos) // numbers and vectors can be encoded
		}
	}
	c.Leave = func(p *calls.Peer) {
		mu.Lock()
		defer mu.Unlock()
		delete(positions, p.ID)
	}
	c.Func("Main", "move", func(p *calls.Peer, pos variant.Vector2) error {
		mu.Lock()
		defer mu.Unlock()
		positions[p.ID] = pos
		return c.All("Main", "moved", p.ID, pos)
	})
	c.Func("Main", "chat", func(p *calls.Peer, text string) error {
		return c.All("Main", "said", p.ID, text)
	})

	s := &stream.Server{Handler: c.Handle, Options: stream.Options{MaxPacket: calls.MaxPacket, IdleTimeout: calls.IdleTimeout},
		MaxConnsPerAddr: 20, PacketRate: 100} // a player moves 60 times a second
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Full() {
			http.Error(w, "too many players", http.StatusServiceUnavailable)
			return
		}
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: []string{"*"}, OnPingReceived: stream.PingReceived})
		if err == nil {
			s.ServeMessages(r.Context(), stream.WebSocket(ws, websocket.CloseStatus))
		}
	})
}
