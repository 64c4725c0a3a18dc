//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// A message is a packet of a player, and its answer.
type message struct {
	Sent               int64 // in ns since 1970
	Name               string
	Position, Velocity variant.Vector3
	Look               variant.Quaternion
	Animation          string
}

// answer makes m the answer to itself.
func (m *message) answer() { m.Name = "hello, " + m.Name }

// A contender is a way to write the server of a game. The server sends a message to a player who has come, and then answers
// packets: to the player, or to all others in the room.
type contender struct {
	game    string
	answers int // to a packet
	codec   codec
	server  http.HandlerFunc
}

// contenders contains pairs: ours, and the other.
var contenders = []contender{
	{"each packet answered", 1, inVariant, streamServer(false)},
	{"each packet answered", 1, inJSON, jsonServer(false)},
	{"in rooms of 20, each packet sent to 19", roomSize - 1, inVariant, streamServer(true)},
	{"in rooms of 20, each packet sent to 19", roomSize - 1, inJSON, jsonServer(true)},
}

// A codec encodes messages. Players encode once, and then only replace and read Sent, which always has the same size.
type codec struct {
	name    string
	opcode  byte // of a WebSocket
	encode  func(v any) ([]byte, error)
	putSent func(b []byte, sent int64) []byte // appends to b
	sent    func(b []byte) int64
}

var inVariant = codec{
	name: "gdwire", opcode: 2, encode: func(v any) ([]byte, error) { return variant.Marshal(v) },
	putSent: func(b []byte, sent int64) []byte { return binary.LittleEndian.AppendUint64(b, uint64(sent)) },
	sent:    func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) },
}

var inJSON = codec{
	name: "JSON", opcode: 1, encode: json.Marshal,
	putSent: func(b []byte, sent int64) []byte { return strconv.AppendInt(b, sent, 10) },
	sent:    func(b []byte) int64 { return must(strconv.ParseInt(string(b[:19]), 10, 64)) },
}

// accepting accepts WebSockets, and passes to serve in which room they are.
func accepting(o *websocket.AcceptOptions, serve func(ctx context.Context, ws *websocket.Conn, room int64)) http.HandlerFunc {
	var players atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		room := (players.Add(1) - 1) / roomSize
		if ws, err := websocket.Accept(w, r, o); err == nil {
			serve(r.Context(), ws, room)
		}
	}
}

// roomKey is the key of the room in the context of a handler.
type roomKey struct{}

// streamServer is the server of examples/server, with any number of players at one address.
func streamServer(inRooms bool) http.HandlerFunc {
	handler := func(ctx context.Context, c *stream.Conn) error {
		if !inRooms {
			return answer(c, c)
		}
		member := ctx.Value(roomKey{}).(*stream.Room).Join(c)
		defer member.Leave()
		return answer(c, member.Others())
	}
	s := &stream.Server{
		Handler: handler, Options: stream.Options{MaxPacket: 64 << 10}, PacketRate: 100, MaxConns: 2 * mostPlayers,
		Logger: slog.New(slog.DiscardHandler),
	}
	all := make([]stream.Room, rooms)
	o := &websocket.AcceptOptions{OriginPatterns: []string{"*"}, OnPingReceived: stream.PingReceived}
	return accepting(o, func(ctx context.Context, ws *websocket.Conn, room int64) {
		s.ServeMessages(context.WithValue(ctx, roomKey{}, &all[room]), stream.WebSocket(ws, websocket.CloseStatus))
	})
}

// answer sends a message to c, and answers packets of c to others.
func answer(c *stream.Conn, to interface {
	WritePacket(write func(*gdwire.Encoder) error) error
},
) error {
	err := variant.Send(c, message{})
	for err == nil || stream.Skippable(err) {
		var m message
		if err = variant.Receive(c, &m); err == nil {
			m.answer()
			err = variant.Send(to, m)
		}
	}
	return err
}

// jsonServer is the same server by hand, without timeouts and limits.
func jsonServer(inRooms bool) http.HandlerFunc {
	all := make([]jsonRoom, rooms)
	return accepting(nil, func(_ context.Context, ws *websocket.Conn, room int64) {
		ctx := context.Background() // costs less than one that ends
		send := func(m message) error { return wsjson.Write(ctx, ws, m) }
		if inRooms {
			r := &all[room]
			r.join(ctx, ws)
			defer r.leave(ws)
			send = func(m message) error { return r.sendOthers(ws, m) }
		}
		err := wsjson.Write(ctx, ws, message{})
		for err == nil {
			var m message
			if err = wsjson.Read(ctx, ws, &m); err == nil {
				m.answer()
				err = send(m)
			}
		}
		_ = ws.CloseNow()
	})
}

// A jsonRoom contains the queues of its members.
type jsonRoom struct {
	mu     sync.Mutex
	queues map[*websocket.Conn]chan []byte
}

// join starts a goroutine that writes the queue of ws.
func (r *jsonRoom) join(ctx context.Context, ws *websocket.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queues == nil {
		r.queues = map[*websocket.Conn]chan []byte{}
	}
	queue := make(chan []byte, 1000)
	r.queues[ws] = queue
	go func() {
		for b := range queue {
			_ = ws.Write(ctx, websocket.MessageText, b) // Read returns the error, too
		}
	}()
}

func (r *jsonRoom) leave(ws *websocket.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.queues[ws])
	delete(r.queues, ws)
}

// sendOthers encodes m once, and closes members whose queues are full.
func (r *jsonRoom) sendOthers(from *websocket.Conn, m message) error {
	b, err := json.Marshal(m)
	r.mu.Lock()
	defer r.mu.Unlock()
	for ws, queue := range r.queues {
		if ws == from {
			continue
		}
		select {
		case queue <- b:
		default:
			_ = ws.CloseNow()
		}
	}
	return err
}
