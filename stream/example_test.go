package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// A server that sends every value back: with limits on size and time, and a
// shutdown that lets handlers finish.
func ExampleServer() {
	s := &stream.Server{
		Handler: func(_ context.Context, c *stream.Conn) (err error) {
			for err == nil || stream.Skippable(err) {
				var v any
				if err = variant.Receive(c, &v); err == nil {
					err = variant.Send(c, v)
				}
			}
			if err == stream.ErrServerClosed {
				return variant.Send(c, "goodbye")
			}
			return err
		},
		Options: stream.Options{
			MaxPacket:    64 << 10,
			Decoder:      gdwire.DecoderOptions{Limits: gdwire.Limits{Depth: 32, Elements: 1000}},
			ReadTimeout:  10 * time.Second,
			WriteTimeout: 10 * time.Second,
			IdleTimeout:  5 * time.Minute,
		},
		MaxConns: 1000,
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(ln) }()

	// A client.
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	c := stream.NewConn(context.Background(), conn, nil)
	defer c.Close()
	text := func() (s string) {
		if err := variant.Receive(c, &s); err != nil {
			log.Fatal(err)
		}
		return s
	}
	_ = c.WriteRaw([]byte("garbage")) // an invalid packet; the next one is answered
	_ = variant.Send(c, "hello")
	fmt.Println("answer:", text())

	down := make(chan error)
	go func() { down <- s.Shutdown(context.Background()) }()
	fmt.Println("answer:", text())
	fmt.Println(<-served)
	fmt.Println(<-down)
	// Output:
	// answer: hello
	// answer: goodbye
	// gdwire/stream: server closed
	// <nil>
}

// Sending each packet of a member to all members, with a queue of 4 KiB for each: a member that receives too slowly is dropped.
func ExampleRoom_slow() {
	room := stream.Room{MaxQueue: 4 << 10}
	s := &stream.Server{
		Handler: func(_ context.Context, c *stream.Conn) error {
			m := room.Join(c)
			defer m.Leave()
			for {
				packet, err := c.NextRaw(nil)
				if err == nil {
					err = room.WriteRaw(packet)
				}
				if err != nil && !stream.Skippable(err) {
					return err
				}
			}
		},
		Options: stream.Options{MaxPacket: 4 << 10},
		Logger:  slog.New(slog.DiscardHandler), // or slog.Default()
	}
	connect := func() *stream.Conn {
		server, client := net.Pipe() // as if accepted by Serve
		go s.ServeConn(stream.NewConn(context.Background(), server, &s.Options))
		return stream.NewConn(context.Background(), client, nil)
	}
	receive := func(c *stream.Conn, n int) { // others may come first
		for got := n - 1; got != n; {
			if err := variant.Receive(c, &got); err != nil {
				log.Fatal(err)
			}
		}
	}
	a, b, slow := connect(), connect(), connect()
	for _, c := range []*stream.Conn{a, b} {
		_ = variant.Send(c, 0)
		receive(c, 0) // so it joined
	}
	_ = variant.Send(slow, 0) // and never reads
	for n := range 100 {
		_ = variant.Send(a, n)
		receive(a, n)
		receive(b, n)
	}
	fmt.Println("both received 100 packets")
	_, err := slow.Next()
	for err == nil {
		_, err = slow.Next()
	}
	fmt.Println("slow:", err)
	_ = s.Close()
	_ = s.Shutdown(context.Background()) // waits for the handlers
	// Output:
	// both received 100 packets
	// slow: EOF
}

// Reading a file that FileAccess.store_var wrote.
func ExampleReader() {
	f, err := os.Open("../testdata/godot4.7-dev/store_var.bin")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	r := stream.NewReader(f, nil)
	for {
		d, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		t, err := d.ReadToken() // the rest of the value is dropped
		fmt.Println(r.PacketOffset(), r.PacketSize(), t, err)
	}
	// Output:
	// 4 8 Int32 1 <nil>
	// 16 12 StringChunk String "two" <nil>
	// 32 52 DictStart 1 <nil>
	// 88 24 PackedStart PackedInt64Array 2 <nil>
	// 116 4 Nil <nil>
}

// Appending to a file whose last packet is incomplete because of a crash.
func ExampleScanComplete() {
	name := filepath.Join(os.TempDir(), "gdwire-example-scan-complete")
	defer os.Remove(name)
	_ = os.WriteFile(name, []byte{8, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0 /* and then */, 8, 0, 0, 0, 2}, 0o600)

	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	whole, err := stream.ScanComplete(f)
	fmt.Println(whole, err)
	if err == io.ErrUnexpectedEOF {
		_, err = f.Seek(whole, io.SeekStart)
		err = errors.Join(err, f.Truncate(whole))
	}
	if err != nil {
		log.Fatal(err)
	}
	err = stream.NewWriter(f, nil).WritePacket(func(e *gdwire.Encoder) error { return e.WriteInt(6) })
	b, _ := os.ReadFile(name)
	fmt.Println(len(b), err)
	// Output:
	// 12 unexpected EOF
	// 24 <nil>
}

// Writing a PackedByteArray that is never in memory as a whole.
func ExampleWriter_WriteThrough() {
	f, err := os.CreateTemp("", "gdwire-example-through")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	source := bytes.NewReader(make([]byte, 1_000_000))
	err = stream.NewWriter(f, nil).WriteThrough(func(e *gdwire.Encoder) error {
		if err := e.BeginPacked(gdwire.TypePackedByteArray, source.Size()); err != nil {
			return err
		}
		if _, err := io.Copy(e, source); err != nil {
			return err
		}
		return e.End()
	})
	info, _ := f.Stat()
	fmt.Println(info.Size(), err)
	// Output: 1000012 <nil>
}

// A client and a server of a Unix domain socket.
func ExampleDial() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ln, err := net.Listen("unix", filepath.Join(dir, "game"))
	if err != nil {
		log.Fatal(err)
	}
	s := echoServer()
	defer s.Close()
	go s.Serve(ln)

	c, err := stream.Dial(context.Background(), "unix://"+ln.Addr().String(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	var text string
	_ = variant.Send(c, "hello")
	fmt.Println(variant.Receive(c, &text), text)
	// Output: <nil> hello
}

// pong answers datagrams, each of which is exactly one value. An answer is not much longer than its datagram, because
// anybody can send one in the name of another address.
func pong(c *stream.PacketConn) error {
	for {
		var text string
		err := variant.Receive(c, &text)
		if err == nil {
			err = variant.Send(c.To(c.From()), text+"pong")
		}
		if err != nil && !stream.Skippable(err) {
			return err // of a closed PacketConn, for example
		}
	}
}

// Answering datagrams. Those that are invalid concern no other peer.
func ExamplePacketConn() {
	listen := func() (c *stream.PacketConn, addr net.Addr) {
		pc, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		o := &stream.Options{MaxPacket: 1200}
		return stream.NewPacketConn(context.Background(), pc, o), pc.LocalAddr()
	}
	server, addr := listen()
	ended := make(chan error)
	go func() { ended <- pong(server) }()

	client, _ := listen()
	defer client.Close()
	_ = client.To(addr).WriteRaw([]byte("no value"))
	_ = variant.Send(client.To(addr), "ping")
	var text string
	err := variant.Receive(client, &text)
	fmt.Println(text, err, client.From().String() == addr.String())
	_ = server.Close()
	fmt.Println(<-ended)
	// Output:
	// pingpong <nil> true
	// use of closed network connection
}

// Reading datagrams by typed calls, without Go values for them.
func ExamplePacketConn_Next() {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	c := stream.NewPacketConn(context.Background(), pc, nil)
	defer c.Close()
	self := c.To(pc.LocalAddr()) // it sends to itself here
	_ = variant.Send(self, "text")
	_ = variant.Send(self, variant.Vector2{X: 1, Y: 2})

	positions := map[string][2]float64{} // of each address
	for len(positions) == 0 {
		var pos [2]float64
		d, err := c.Next()
		if err == nil {
			err = gdwire.ReadComponents(d, gdwire.TypeVector2, pos[:]) // bytes after the value are ignored
		}
		switch {
		case err == nil:
			positions[c.From().String()] = pos
		case !stream.Skippable(err):
			log.Fatal(err)
		default:
			fmt.Println(err)
		}
	}
	fmt.Println(positions[pc.LocalAddr().String()])
	// Output:
	// gdwire: offset 0, $: got String, want Vector2
	// [1 2]
}
