package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

var errTooLong = errors.New("message is too long")

var _ stream.MessageConn = (*channelConn)(nil)

// A channelConn is a MessageConn over two channels: one end of a connection within a program.
type channelConn struct {
	in, out      chan []byte
	limit        int64
	closed, gone chan struct{} // closed by Close and CloseNow: of this end, and of the other
	once         *sync.Once    // for closed
}

// channelPipe returns both ends of a connection.
func channelPipe() (a, b *channelConn) {
	a = &channelConn{in: make(chan []byte), out: make(chan []byte), closed: make(chan struct{}), gone: make(chan struct{}), once: new(sync.Once)}
	return a, &channelConn{in: a.out, out: a.in, closed: a.gone, gone: a.closed, once: new(sync.Once)}
}

func (c *channelConn) NextMessage(ctx context.Context) (io.Reader, error) {
	select {
	case b := <-c.in:
		if int64(len(b)) > c.limit {
			return nil, errTooLong
		}
		return bytes.NewReader(b), nil
	case <-c.gone:
		return nil, io.EOF
	case <-c.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *channelConn) WriteMessage(ctx context.Context, message []byte) error {
	select {
	case c.out <- bytes.Clone(message):
		return nil
	case <-c.gone:
		return io.ErrClosedPipe
	case <-c.closed:
		return net.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *channelConn) SetReadLimit(n int64)        { c.limit = n }
func (c *channelConn) Close(_ int, _ string) error { return c.CloseNow() }
func (c *channelConn) CloseNow() error             { c.once.Do(func() { close(c.closed) }); return nil }

// Serving connections of messages that are no WebSockets: a MessageConn has five methods.
func ExampleServer_ServeMessages() {
	s := &stream.Server{Handler: func(_ context.Context, c *stream.Conn) (err error) {
		for err == nil || stream.Skippable(err) {
			var name string
			if err = variant.Receive(c, &name); err == nil {
				err = variant.Send(c, "hello, "+name)
			}
		}
		return err
	}}
	ours, theirs := channelPipe()
	go s.ServeMessages(context.Background(), ours)

	c := stream.NewMessageConn(context.Background(), theirs, nil)
	var answer string
	err := errors.Join(variant.Send(c, "Ada"), variant.Receive(c, &answer))
	fmt.Println(answer, err)
	_ = s.Shutdown(context.Background())
	fmt.Println(variant.Receive(c, &answer))
	// Output:
	// hello, Ada <nil>
	// EOF
}

// Messages that begin with a type byte of the game's own: PackedByteArray([1]) + var_to_bytes(position). A program reads the
// byte, and then the value after it, from a datagram, a message of a WebSocket, or a packet with length on TCP.
func ExampleConn_NextRaw() {
	const move, chat = 1, 2
	handle := func(message []byte) error {
		if len(message) == 0 {
			return errors.New("a message without a type")
		}
		switch kind, value := message[0], message[1:]; kind {
		case move:
			var position variant.Vector2
			err := variant.Unmarshal(value, &position)
			fmt.Println("move", position, err)
			return err
		case chat:
			var text string
			err := variant.Unmarshal(value, &text)
			fmt.Println("chat", text, err)
			return err
		default:
			return fmt.Errorf("unknown type %d", kind)
		}
	}
	message := func(kind byte, v any) []byte {
		value, err := variant.Marshal(v)
		if err != nil {
			log.Fatal(err)
		}
		return append([]byte{kind}, value...)
	}
	next := func(c *stream.Conn) error {
		packet, err := c.NextRaw(nil)
		if err != nil {
			return err
		}
		return handle(packet)
	}
	ctx := context.Background()

	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer udp.Close()
	_, _ = udp.WriteTo(message(move, variant.Vector2{X: 1, Y: 2.5}), udp.LocalAddr()) // it sends to itself here
	datagram := make([]byte, 64<<10)
	n, _, err := udp.ReadFrom(datagram)
	if err == nil {
		err = handle(datagram[:n])
	}

	ours, theirs := channelPipe() // a program has stream.WebSocket(ws, websocket.CloseStatus)
	webSocket, player := stream.NewMessageConn(ctx, ours, nil), stream.NewMessageConn(ctx, theirs, nil)
	go func() { _ = player.WriteRaw(message(chat, "hello")) }()
	err = errors.Join(err, next(webSocket))

	server, client := net.Pipe() // TCP
	defer client.Close()
	tcp := stream.NewConn(ctx, server, nil)
	defer tcp.Close()
	go func() { _ = stream.NewWriter(client, nil).WriteRaw(message(3, nil)) }()
	fmt.Println(errors.Join(err, next(tcp)))
	// Output:
	// move Vector2(1.0, 2.5) <nil>
	// chat hello <nil>
	// unknown type 3
}

// Writing a packet by typed calls, without Go values for it.
func ExampleConn_WritePacket() {
	server, client := net.Pipe()
	defer server.Close()
	c := stream.NewConn(context.Background(), client, nil)
	defer c.Close()
	go func() {
		err := c.WritePacket(func(e *gdwire.Encoder) error {
			_ = e.BeginDict(1) // an error stays: WritePacket returns it
			_ = e.WriteString("pos")
			_ = gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{1, 2.5})
			return e.End()
		})
		if err != nil {
			log.Fatal(err)
		}
	}()
	var v map[string]variant.Vector2
	fmt.Println(variant.Receive(stream.NewReader(server, nil), &v), v)
	// Output: <nil> map[pos:Vector2(1.0, 2.5)]
}

// Ending a server: handlers finish what they are doing, and the program waits for them.
func ExampleServer_Shutdown() {
	s := echoServer()
	served := make(chan error)
	go func() { served <- s.ListenAndServe("127.0.0.1:0") }()

	// When a signal arrives: ListenAndServe returns at once, Shutdown after the handlers.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		_ = s.Close() // handlers that do not return
	}
	fmt.Println(<-served)
	// Output: gdwire/stream: server closed
}

// Letting matches end at SIGTERM: nobody else can join, and a deadline cuts.
func ExampleServer_Drain() {
	s := &stream.Server{Handler: func(_ context.Context, c *stream.Conn) error {
		for {
			var text string
			err := variant.Receive(c, &text)
			if err == nil {
				err = variant.Send(c, text)
			}
			if text == "goodbye" || err != nil && !stream.Skippable(err) {
				return err // the match is over
			}
		}
	}}
	server, client := net.Pipe() // as if accepted by Serve
	go s.ServeConn(stream.NewConn(context.Background(), server, &s.Options))
	player := stream.NewConn(context.Background(), client, nil)
	var text string
	_ = player.WriteRaw([]byte("garbage"))
	_ = variant.Send(player, "hello")
	fmt.Println(variant.Receive(player, &text), text)

	drained := make(chan error)
	go func() { // when the signal arrives
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		drained <- s.Drain(ctx)
		_ = s.Close()
	}()
	for c := range s.Conns() {
		<-c.Draining() // so that a lobby can close its connections
	}
	fmt.Println("full:", s.Full()) // an http.Handler answers with 503
	_ = variant.Send(player, "goodbye")
	fmt.Println(variant.Receive(player, &text), text)
	_ = player.Close()
	fmt.Println(<-drained)
	// Output:
	// <nil> hello
	// full: true
	// <nil> goodbye
	// <nil>
}
