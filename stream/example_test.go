package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

// A server that answers every packet: one goroutine a connection, limits on what a
// client may send and on how long it may take, and an end to it all.
func Example_server() {
	options := &stream.Options{
		MaxPacket:    64 << 10,
		Decoder:      gdwire.DecoderOptions{Limits: gdwire.Limits{Depth: 32, Elements: 1000}},
		ReadTimeout:  10 * time.Second,
		WriteTimeout: 10 * time.Second,
		IdleTimeout:  5 * time.Minute,
	}
	serve := func(c *stream.Conn) error {
		defer c.Close()
		for {
			d, err := c.Next()
			if err == nil {
				err = c.WritePacket(func(e *gdwire.Encoder) error { return gdwire.CopyValue(e, d) })
			}
			if err != nil && !stream.Skippable(err) {
				return err
			}
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	var clients sync.WaitGroup
	clients.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			clients.Go(func() { fmt.Println("client:", serve(stream.NewConn(ctx, conn, options))) })
		}
	})

	// A client.
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	c := stream.NewConn(ctx, conn, options)
	_ = c.WriteRaw([]byte("garbage")) // spoils nothing but itself
	_ = c.WritePacket(func(e *gdwire.Encoder) error { return e.WriteString("hello") })
	d, err := c.Next()
	if err != nil {
		log.Fatal(err)
	}
	t, err := d.ReadToken()
	fmt.Println("answer:", t.Text(), err)
	c.Close()

	ln.Close()
	clients.Wait()
	cancel()
	// Output:
	// answer: hello <nil>
	// client: EOF
}

// A hub sends what one client sends to all. It is encoded once.
type hub struct {
	mu      sync.Mutex
	clients map[*stream.Conn]bool
}

func (h *hub) join(c *stream.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients[c] = true
}

// serve runs until the client has gone.
func (h *hub) serve(c *stream.Conn) {
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.clients, c)
		c.Close()
	}()
	var packet []byte
	for {
		var err error
		packet, err = c.NextRaw(packet[:0])
		if err == nil {
			h.broadcast(packet)
		} else if !stream.Skippable(err) {
			return
		}
	}
}

// broadcast closes the connections that can't be written to in time; their own
// goroutines take them off the list.
func (h *hub) broadcast(packet []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		if err := c.WriteRaw(packet); err != nil {
			c.Close()
		}
	}
}

func Example_broadcast() {
	h := &hub{clients: map[*stream.Conn]bool{}}
	options := &stream.Options{WriteTimeout: time.Second, ReadTimeout: 10 * time.Second}
	var clients []*stream.Conn
	var served sync.WaitGroup
	for range 3 {
		server, client := net.Pipe() // connections that a listener accepted
		c := stream.NewConn(context.Background(), server, options)
		h.join(c)
		served.Go(func() { h.serve(c) })
		clients = append(clients, stream.NewConn(context.Background(), client, options))
	}
	_ = clients[0].WritePacket(func(e *gdwire.Encoder) error { return e.WriteString("to all") })
	var received sync.WaitGroup
	for _, c := range clients {
		received.Go(func() {
			defer c.Close()
			if d, err := c.Next(); err == nil {
				t, _ := d.ReadToken()
				fmt.Println(t.Text())
			}
		})
	}
	received.Wait()
	served.Wait()
	// Output:
	// to all
	// to all
	// to all
}

// What FileAccess.store_var left.
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

// Appending to a file of which a crash has left the last packet unfinished.
func ExampleScan() {
	name := filepath.Join(os.TempDir(), "gdwire-example-scan")
	defer os.Remove(name)
	_ = os.WriteFile(name, []byte{8, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0 /* and then */, 8, 0, 0, 0, 2}, 0o600)

	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	whole, err := stream.Scan(f, nil)
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

// A PackedByteArray that never is in memory as a whole.
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

// Answering datagrams.
func ExamplePacketConn() {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	c := stream.NewPacketConn(context.Background(), pc, &stream.Options{IdleTimeout: time.Minute})
	defer c.Close()

	// It writes to itself here.
	_ = c.WritePacketTo(pc.LocalAddr(), func(e *gdwire.Encoder) error { return e.WriteString("ping") })
	d, from, err := c.ReadPacket()
	if err != nil {
		log.Fatal(err)
	}
	t, err := d.ReadToken()
	fmt.Println(t.Text(), err, from.String() == pc.LocalAddr().String())
	// Output: ping <nil> true
}
