package stream_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"sync"

	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// A chat is a room in which members say texts, under the name that is their first packet.
type chat struct {
	mu    sync.Mutex // so that all learn of joins and leaves in order
	room  stream.Room
	names map[*stream.Member]string
}

// An event is a packet to members.
type event struct {
	Name string
	Type string // "joined", "left" or "said"
	Text string `gd:",omitzero"`
}

func (h *chat) join(c *stream.Conn, name string) (*stream.Member, error) {
	h.mu.Lock() // no call below waits for a member
	defer h.mu.Unlock()
	m := h.room.Join(c)
	for other := range h.room.Members() {
		if other != m {
			if err := variant.Send(m, event{Name: h.names[other], Type: "joined"}); err != nil {
				return m, err
			}
		}
	}
	h.names[m] = name
	return m, variant.Send(&h.room, event{Name: name, Type: "joined"})
}

func (h *chat) leave(m *stream.Member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m.Leave()
	_ = variant.Send(&h.room, event{Name: h.names[m], Type: "left"}) // can be encoded, as its join was
	delete(h.names, m)
}

// handle is the Handler of a Server.
func (h *chat) handle(_ context.Context, c *stream.Conn) error {
	var name string
	if err := variant.Receive(c, &name); err != nil {
		return err
	}
	m, err := h.join(c, name)
	defer h.leave(m)
	for err == nil || stream.Skippable(err) {
		var text string
		if err = variant.Receive(c, &text); err == nil {
			err = variant.Send(&h.room, event{Name: name, Type: "said", Text: text})
		}
	}
	return err
}

// A chat: packets to all members, and joins and leaves of which all members learn in order.
func ExampleRoom() {
	h := &chat{names: map[*stream.Member]string{}}
	s := &stream.Server{Handler: h.handle, Options: stream.Options{MaxPacket: 4 << 10}}
	connect := func(name string) *stream.Conn {
		server, client := net.Pipe() // as if accepted by Serve
		go s.ServeConn(stream.NewConn(context.Background(), server, &s.Options))
		c := stream.NewConn(context.Background(), client, nil)
		_ = variant.Send(c, name)
		return c
	}
	receive := func(c *stream.Conn) {
		var e event
		if err := variant.Receive(c, &e); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %s %q\n", e.Name, e.Type, e.Text)
	}

	ada := connect("Ada")
	receive(ada)
	bob := connect("Bob")
	receive(ada)
	_ = variant.Send(ada, "hello")
	for range 3 {
		receive(bob)
	}
	receive(ada)
	_ = bob.Close()
	receive(ada)
	_ = ada.Close()
	_ = s.Shutdown(context.Background())
	// Output:
	// Ada joined ""
	// Bob joined ""
	// Ada joined ""
	// Bob joined ""
	// Ada said "hello"
	// Ada said "hello"
	// Bob left ""
}

// Sending positions: a player with a slow network receives fewer of them, and the newest.
func ExampleRoom_Latest() {
	var room stream.Room
	server, client := net.Pipe() // as if accepted by a Server
	player := room.Join(stream.NewConn(context.Background(), server, nil))
	c := stream.NewConn(context.Background(), client, nil)
	for x := range 10_000 { // nobody reads meanwhile
		_ = variant.Send(room.Latest("Ada"), variant.Vector2i{X: int32(x)})
	}
	_ = variant.Send(&room, "the end") // other packets are all received

	var newest any
	for v := any(nil); v != "the end"; {
		newest = v
		if err := variant.Receive(c, &v); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(newest)
	player.Leave()
	_ = c.Close()
	// Output: Vector2i(9999, 0)
}
