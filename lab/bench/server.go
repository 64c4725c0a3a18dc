package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/coder/websocket"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// serverGroups measure the connections of a server, on one core with their clients. A
// client sends all packets of a run with few system calls, so that most of the time is
// that of the server.
var serverGroups = []group{
	{
		name:  "server, timeouts",
		about: "Packets of 200 bytes found over loopback TCP, without and with three timeouts.",
		setup: func(s *stage) []contender {
			oneCore(s)
			n := s.scale(packetBatch, 1000)
			wire := packets(n)
			next := func(name string, o *stream.Options) contender {
				r, start := loopback(s, wire)
				c := stream.NewConn(context.Background(), r.(net.Conn), o)
				return contender{
					name: name, ours: true, bytes: len(wire), want: n * packetSize,
					run: func() int {
						start()
						got := 0
						for range n {
							must(c.Next())
							got += int(c.PacketSize())
						}
						return got
					},
				}
			}
			return []contender{next("Conn.Next", nil), next("Conn.Next, three timeouts", threeTimeouts())}
		},
	},
	{
		name:  "server, echo",
		about: "Packets of 200 bytes read into a struct, and written again, over loopback TCP.",
		setup: func(s *stage) []contender {
			oneCore(s)
			n := s.scale(packetBatch/4, 1000)
			wire := packets(n)
			echo := func(name string, serve func(conn net.Conn) func(n int)) contender {
				conn, run := exchange(s, wire, len(wire))
				handle := serve(conn)
				return contender{name: name, bytes: len(wire), want: len(wire), run: func() int { return run(func() { handle(n) }) }}
			}
			held := threeTimeouts()
			held.BufferWrites = true
			return []contender{
				echo("bufio", echoBufio),
				echo("Conn", echoConn(threeTimeouts())).allocating(),
				echo("Conn, BufferWrites", echoConn(held)).allocating(),
			}
		},
	},
	{
		name:  "server, WebSocket",
		about: "Messages of 200 bytes returned over a WebSocket on loopback TCP.",
		setup: func(s *stage) []contender {
			oneCore(s)
			n := s.scale(packetBatch/4, 100)
			messages := frames(n)
			answers := n * (4 + packetSize)
			contend := func(name string, accept func(w http.ResponseWriter, r *http.Request)) contender {
				conn := dialWebSocket(s, accept)
				run := exchangeOver(s, conn, messages, answers)
				return contender{name: name, bytes: n * packetSize, want: answers, run: func() int { return run(func() {}) }}
			}
			server := &stream.Server{Handler: echoRaw}
			return []contender{
				contend("coder/websocket", echoMessages),
				contend("stream.Server", func(w http.ResponseWriter, r *http.Request) {
					server.ServeMessages(r.Context(), stream.WebSocket(must(websocket.Accept(w, r, nil)), websocket.CloseStatus))
				}).allocating(),
			}
		},
	},
}

func threeTimeouts() *stream.Options {
	return &stream.Options{ReadTimeout: time.Minute, WriteTimeout: time.Minute, IdleTimeout: time.Minute}
}

func oneCore(s *stage) {
	procs := runtime.GOMAXPROCS(1)
	s.cleanup(func() { runtime.GOMAXPROCS(procs) })
}

// A playerState is the value of a packet of packets.
type playerState struct {
	PeerID    int64
	Position  variant.Vector3
	Velocity  variant.Vector3
	Animation string
	Look      variant.Quaternion
	LeftStick variant.Vector2
}

// echoBufio answers packets with bufio. It flushes the Writer when the Reader is empty.
func echoBufio(conn net.Conn) func(n int) {
	r, w := &bareReader{r: bufio.NewReaderSize(conn, packetBuffer)}, bufio.NewWriterSize(conn, packetBuffer)
	return func(n int) {
		for range n {
			var p playerState
			check(variant.Unmarshal(r.next(), &p))
			out := must(variant.Marshal(p))
			var length [4]byte
			binary.LittleEndian.PutUint32(length[:], uint32(len(out)))
			must(w.Write(length[:]))
			must(w.Write(out))
			if r.r.Buffered() == 0 {
				check(w.Flush())
			}
		}
		check(w.Flush())
	}
}

// echoConn answers packets as the handler of a Server does.
func echoConn(o *stream.Options) func(conn net.Conn) func(n int) {
	return func(conn net.Conn) func(n int) {
		c := stream.NewConn(context.Background(), conn, o)
		return func(n int) {
			for range n {
				var p playerState
				check(variant.UnmarshalDecode(must(c.Next()), &p))
				check(c.WritePacket(func(e *gdwire.Encoder) error { return variant.MarshalEncode(e, p) }))
			}
			check(c.Flush())
		}
	}
}

// exchange returns one end of a connection. run makes the other end send wire, calls
// handle and returns the number of bytes received, which are answers.
func exchange(s *stage, wire []byte, answers int) (conn net.Conn, run func(handle func()) int) {
	ln := must(net.Listen("tcp", "127.0.0.1:0"))
	out := must(net.Dial("tcp", ln.Addr().String()))
	in := must(ln.Accept())
	check(ln.Close())
	s.cleanup(func() { check(in.Close()) })
	return in, exchangeOver(s, out, wire, answers)
}

// exchangeOver is exchange over a connection.
func exchangeOver(s *stage, out net.Conn, wire []byte, answers int) (run func(handle func()) int) {
	more, got := make(chan struct{}), make(chan int)
	go func() {
		for range more {
			must(out.Write(wire))
		}
	}()
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n := 0
			for n < answers {
				m, err := out.Read(buf)
				if err != nil {
					return
				}
				n += m
			}
			got <- n
		}
	}()
	s.cleanup(func() {
		close(more)
		check(out.Close())
	})
	return func(handle func()) int {
		more <- struct{}{}
		handle()
		return <-got
	}
}

// dialWebSocket returns a client's connection after the handshake of a WebSocket, which
// accept serves.
func dialWebSocket(s *stage, accept http.HandlerFunc) net.Conn {
	ln := must(net.Listen("tcp", "127.0.0.1:0"))
	web := &http.Server{Handler: accept, ConnContext: stream.WithNetConn, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = web.Serve(ln) }()
	s.cleanup(func() { check(web.Close()) })
	conn := must(net.Dial("tcp", ln.Addr().String()))
	upgrade(conn)
	return conn
}

// upgrade does the handshake of a WebSocket's client.
func upgrade(conn net.Conn) {
	must(io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"))
	var end uint32
	for b := make([]byte, 1); end != 0x0d0a0d0a; end = end<<8 | uint32(b[0]) {
		must(conn.Read(b))
	}
}

// frames returns the packets of packets(n), each as a frame of a WebSocket's client, with
// the mask 0.
func frames(n int) (messages []byte) {
	for p := packets(n); len(p) > 0; p = p[4+packetSize:] {
		messages = append(messages, 0x82, 0x80|126, packetSize>>8, packetSize&0xff, 0, 0, 0, 0)
		messages = append(messages, p[4:4+packetSize]...)
	}
	return messages
}
