package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// Length-prefixed packets, and servers with many clients.

const (
	packetSize       = 200
	packetBatch      = 1 << 14 // packets in one run
	packetBatchShort = 1000
	packetBuffer     = 16 << 10
)

// packetGroups measure length-prefixed packets of 200 bytes.
var packetGroups = []group{{name: "packets, memory", counted: true, setup: func(s *stage) []contender {
	return packetContenders(s.scale(packetBatch, packetBatchShort))
}}}

// packets returns n packets with the position of a player.
func packets(n int) []byte {
	var b bytes.Buffer
	w := stream.NewWriter(&b, nil)
	for i := range n {
		size := b.Len()
		check(w.WritePacket(func(e *gdwire.Encoder) error {
			return variant.MarshalEncode(e, struct {
				Peer      int                `gd:"peer_id"`
				Position  variant.Vector3    `gd:"position"`
				Velocity  variant.Vector3    `gd:"velocity"`
				Animation string             `gd:"animation"`
				Look      variant.Quaternion `gd:"look"`
				LeftStick variant.Vector2    `gd:"left_stick"`
			}{
				i, variant.Vector3{X: 1.5, Z: -3.25}, variant.Vector3{Y: 0.25, Z: 8}, "run_forward",
				variant.Quaternion{Y: 0.5, Z: 0.5}, variant.Vector2{X: 0.5, Y: -1},
			})
		}))
		if got := b.Len() - size; got != 4+packetSize {
			panic(got)
		}
	}
	return b.Bytes()
}

// A bareReader does the minimum: it finds length-prefixed packets and decodes
// nothing.
type bareReader struct {
	r    *bufio.Reader
	head [4]byte
	buf  []byte
}

func (b *bareReader) next() []byte {
	must(io.ReadFull(b.r, b.head[:]))
	n := int(binary.LittleEndian.Uint32(b.head[:]))
	if n > cap(b.buf) {
		b.buf = make([]byte, n)
	}
	b.buf = b.buf[:n]
	must(io.ReadFull(b.r, b.buf))
	return b.buf
}

// packetContenders read n packets.
func packetContenders(n int) []contender {
	wire, p := packets(n), &plain{}
	contend := func(name string, next func() (size int)) contender {
		return ours(name, n*(4+packetSize), n*packetSize, func() int {
			p.r.Reset(wire)
			got := 0
			for range n {
				got += next()
			}
			return got
		})
	}
	of := func(name string, next func(s *stream.Reader) (size int)) contender {
		s := stream.NewReader(p, nil)
		return contend(name, func() int { return next(s) })
	}
	buf := make([]byte, 0, packetSize)
	bare := &bareReader{r: bufio.NewReaderSize(p, packetBuffer)}
	bufioContender := contend("bufio", func() int { return len(bare.next()) })
	bufioContender.ours = false
	return []contender{
		of("stream Next and SkipValue", func(s *stream.Reader) int { return skip(must(s.Next())) }),
		of("stream Next and tokens", func(s *stream.Reader) int {
			d := must(s.Next())
			readTokens(d)
			return int(d.InputOffset())
		}),
		of("stream Next", func(s *stream.Reader) int {
			must(s.Next())
			return int(s.PacketSize())
		}),
		of("stream NextRaw", func(s *stream.Reader) int {
			buf = must(s.NextRaw(buf[:0]))
			return len(buf)
		}),
		bufioContender,
	}
}

const (
	// serverClients is the number of clients of clientGroups.
	serverClients = 500
	// clientRounds is the number of packets that each of them sends in one run.
	clientRounds = 8
	// roomPackets is the number of packets that a room sends at once.
	roomPackets = 10
	// clientsCommand is the first argument of a process that is the clients of a server.
	clientsCommand = "clients"
)

// cpuTime returns the CPU time of this process, of user and system.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// clientGroups measure the CPU time, of user and system, of servers with many clients. Those are in a
// process of their own, which is not measured. All of them send a packet and wait for the answer, or receive packets.
var clientGroups = []group{
	clientGroup("server, 500 clients", func(s *stage) []contender {
		return []contender{
			clients(s, "bufio", echo, serving(serveBufio(0))),
			clients(s, "bufio, timeouts", echo, serving(serveBufio(time.Minute))),
			clients(s, "stream.Server", echo, serving(func(ln net.Listener) { _ = (&stream.Server{Handler: echoRaw}).Serve(ln) })).allocating(),
		}
	}),
	clientGroup("server, 500 clients, WebSocket", func(s *stage) []contender {
		contend := func(name string, accept http.HandlerFunc) contender {
			return clients(s, name, webSocketEcho, serving(func(ln net.Listener) {
				web := &http.Server{Handler: accept, ConnContext: stream.WithNetConn, ErrorLog: log.New(io.Discard, "", 0)}
				_ = web.Serve(ln)
			}))
		}
		server := &stream.Server{Handler: echoRaw}
		return []contender{
			contend("coder/websocket", echoMessages),
			contend("stream.Server", func(w http.ResponseWriter, r *http.Request) {
				server.ServeMessages(r.Context(), stream.WebSocket(must(websocket.Accept(w, r, nil)), websocket.CloseStatus))
			}).allocating(),
		}
	}),
	clientGroup("room, 500 members", func(s *stage) []contender {
		return []contender{
			clients(s, "bufio", receive, sendByHand),
			clients(s, "stream.Room", receive, sendToRoom(nil)).allocating(),
			clients(s, "stream.Room, BufferWrites", receive, sendToRoom(&stream.Options{BufferWrites: true})).allocating(),
		}
	}),
}

// clientGroup returns a group whose contenders run on one processor.
func clientGroup(name string, contenders func(s *stage) []contender) group {
	return group{name: name, setup: func(s *stage) []contender {
		procs := runtime.GOMAXPROCS(1)
		s.cleanup(func() { runtime.GOMAXPROCS(procs) })
		return contenders(s)
	}}
}

// serving starts a server that answers its clients. It sends nothing by itself.
func serving(serve func(net.Listener)) func(net.Listener, int) func() {
	return func(ln net.Listener, _ int) func() {
		go serve(ln)
		return func() {}
	}
}

// sendToRoom accepts n connections, and returns a function that sends packets to a room of them.
func sendToRoom(o *stream.Options) func(net.Listener, int) func() {
	return func(ln net.Listener, n int) func() {
		var room stream.Room
		for range n {
			c := stream.NewConn(context.Background(), must(ln.Accept()), o)
			go func() { _, _ = c.Next() }() // as a handler waits
			room.Join(c)
		}
		packet := packets(1)[4:]
		return func() {
			for range roomPackets {
				check(room.WriteRaw(packet))
			}
		}
	}
}

// sendByHand is like sendToRoom, with one Write to each connection.
func sendByHand(ln net.Listener, n int) func() {
	packet, all := packets(1), []*bufio.Writer{}
	for range n {
		all = append(all, bufio.NewWriter(must(ln.Accept())))
	}
	return func() {
		for range roomPackets {
			for _, w := range all {
				must(w.Write(packet))
			}
		}
		for _, w := range all {
			check(w.Flush())
		}
	}
}

// serveBufio returns a server by hand: it answers each connection with bufio. With a timeout, each
// packet gets that time to arrive and to be written.
func serveBufio(timeout time.Duration) func(net.Listener) {
	return func(ln net.Listener) {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go echoByHand(conn, timeout)
		}
	}
}

// echoByHand returns packets until an error.
func echoByHand(conn net.Conn, timeout time.Duration) {
	defer func() { _ = conn.Close() }()
	r, w := bufio.NewReader(conn), bufio.NewWriter(conn)
	limit := func(set func(time.Time) error) error {
		if timeout == 0 {
			return nil
		}
		return set(time.Now().Add(timeout))
	}
	length, packet := make([]byte, 4), []byte(nil)
	for limit(conn.SetReadDeadline) == nil {
		if _, err := io.ReadFull(r, length); err != nil {
			return
		}
		n := int(binary.LittleEndian.Uint32(length))
		if n > cap(packet) {
			packet = make([]byte, n)
		}
		if _, err := io.ReadFull(r, packet[:n]); err != nil {
			return
		}
		_, _ = w.Write(length)
		_, _ = w.Write(packet[:n])
		if limit(conn.SetWriteDeadline) != nil || w.Flush() != nil {
			return
		}
	}
}

// echoRaw is the handler of a Server that returns packets.
func echoRaw(_ context.Context, c *stream.Conn) error {
	var packet []byte
	for {
		var err error
		if packet, err = c.NextRaw(packet[:0]); err != nil {
			return err
		}
		if err := c.WriteRaw(packet); err != nil {
			return err
		}
	}
}

// echoMessages returns messages without package stream.
func echoMessages(w http.ResponseWriter, r *http.Request) {
	ws := must(websocket.Accept(w, r, nil))
	ctx := context.Background()
	for {
		_, b, err := ws.Read(ctx)
		if err != nil || ws.Write(ctx, websocket.MessageBinary, b) != nil {
			return
		}
	}
}

// Kinds of clients: how they send and receive.
const (
	echo          = "echo"
	webSocketEcho = "echo of WebSockets"
	receive       = "receive"
)

// clients returns a contender that serves n clients in another process, and calls what serve returns after
// they were started. Its time is CPU time of this process.
func clients(s *stage, name, kind string, serve func(ln net.Listener, n int) (send func())) contender {
	ln := must(net.Listen("tcp", "127.0.0.1:0"))
	n := s.scale(serverClients, 10)
	child := exec.Command(must(os.Executable()), clientsCommand, ln.Addr().String(), strconv.Itoa(n), kind)
	child.Stderr = os.Stderr
	in, out := must(child.StdinPipe()), must(child.StdoutPipe())
	check(child.Start())
	answers, send := bufio.NewReader(out), serve(ln, n)
	s.cleanup(func() {
		check(in.Close())
		check(child.Wait())
		check(ln.Close())
	})
	packets := n * clientRounds
	if kind == receive {
		packets = n * roomPackets
	}
	return contender{
		name: name, cpu: true, bytes: packets * packetSize, want: packets,
		run: func() (got int) {
			must(io.WriteString(in, "\n"))
			send()
			must(fmt.Fscanln(answers, &got))
			return got
		},
	}
}

// runClients is the process of clients, with the arguments of clients: for each line of in, all clients
// send packets, and the number of their answers is written to out, or they receive those of a room.
func runClients(args []string, in io.Reader, out io.Writer) {
	addr, conns, kind := args[0], make([]net.Conn, must(strconv.Atoi(args[1]))), args[2]
	packet := packets(1)
	if kind == webSocketEcho {
		packet = packet[4:]
	}
	rounds, answers := clientRounds, 1
	if kind == receive {
		rounds, answers = 1, roomPackets
	}
	answer := make([]byte, answers*len(packet))
	ctx := context.Background()
	for i := range conns {
		if kind == webSocketEcho {
			ws, _, err := websocket.Dial(ctx, "ws://"+addr, nil)
			check(err)
			conns[i] = websocket.NetConn(ctx, ws, websocket.MessageBinary)
		} else {
			conns[i] = must(net.Dial("tcp", addr))
		}
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		got := 0
		for range rounds {
			for _, conn := range conns {
				if kind != receive {
					must(conn.Write(packet))
				}
			}
			for _, conn := range conns {
				must(io.ReadFull(conn, answer))
				got += answers
			}
		}
		must(fmt.Fprintln(out, got))
	}
}
