// Chat is a server for a chat with moving players. Messages of a player go to all.
package main

import (
	"bytes"
	"context"
	"log"
	"os"
	"sync/atomic"

	"github.com/gdwire/gdwire/gdscript"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

var (
	room stream.Room
	last atomic.Int64 // the number of the last player
)

func handle(_ context.Context, c *stream.Conn) error {
	id, m := last.Add(1), room.Join(c)
	defer func() { m.Leave(); _ = variant.Send(&room, Packet{Sender: id, Left: &Left{}}) }()
	err := variant.Send(m, Packet{Sender: id, Welcome: &Welcome{}})
	if err == nil {
		err = variant.Send(m.Others(), Packet{Sender: id, Joined: &Joined{}})
	}
	for err == nil || stream.Skippable(err) { // skippable: only this packet is invalid
		var p Packet
		if err = variant.Receive(c, &p); err == nil && (p.Chat != nil || p.Move != nil) {
			err = variant.Send(&room, Packet{Sender: id, Chat: p.Chat, Move: p.Move})
		}
	}
	return err
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "-gdscript" {
		var script bytes.Buffer
		err := gdscript.Write(&script, Packet{}, gdscript.Options{Source: "."})
		if err == nil {
			err = os.WriteFile(os.Args[2], script.Bytes(), 0o666)
		}
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	if len(os.Args) > 1 {
		log.Fatal("usage: chat [-gdscript FILE]")
	}
	s := &stream.Server{Handler: handle, Options: stream.Options{MaxPacket: 4 << 10}, PacketRate: 200}
	log.Print("waiting for games on 127.0.0.1:7777")
	log.Fatal(s.ListenAndServe("127.0.0.1:7777"))
}
