// A server that answers every packet of a Godot client with the value in it.
package main

import (
	"context"
	"log"
	"net"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

var addr = "127.0.0.1:7777"

func main() {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Print("listening on ", ln.Addr())
	for {
		conn, err := ln.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn)
	}
}

func serve(conn net.Conn) {
	// Without Format it would be Godot 4. The limits are the defaults.
	o := &stream.Options{Format: gdwire.Godot3, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	c := stream.NewConn(context.Background(), conn, o)
	defer c.Close()
	for {
		d, err := c.Next()
		if err == nil {
			err = c.WritePacket(func(e *gdwire.Encoder) error {
				e.BeginArray(2)
				e.WriteString("you sent")
				if err := gdwire.CopyValue(e, d); err != nil {
					return err
				}
				return e.End()
			})
		}
		if err != nil && !stream.Skippable(err) {
			return // the client left, or is too slow
		}
	}
}
