package stream_test

import (
	"context"
	"log"

	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

type message struct { // a Dictionary: {"name": "Ada", "value": Vector2(1, 2.5)}
	Name  string
	Value any
}

func hello(_ context.Context, c *stream.Conn) error {
	for {
		var m message
		if err := variant.Receive(c, &m); err != nil {
			return err // io.EOF: the client closed the connection
		}
		m.Name = "hello, " + m.Name
		if err := variant.Send(c, m); err != nil {
			return err
		}
	}
}

func ExampleServer_ListenAndServe() {
	s := &stream.Server{Handler: hello} // with timeouts and limits
	log.Fatal(s.ListenAndServe("127.0.0.1:7777"))
}
