// Package stream reads and writes packets of Godot's Variant format: length-prefixed packets on
// connections and in files, as put_var, store_var, PacketPeerStream and the remote debugger use
// them, datagrams, and messages of a WebSocket. The package also provides a server.
//
//	type message struct { // a Dictionary: {"name": "Ada", "value": Vector2(1, 2.5)}
//		Name  string
//		Value any
//	}
//
//	func hello(_ context.Context, c *stream.Conn) error {
//		for {
//			var m message
//			if err := variant.Receive(c, &m); err != nil {
//				return err // io.EOF: the client closed the connection
//			}
//			m.Name = "hello, " + m.Name
//			if err := variant.Send(c, m); err != nil {
//				return err
//			}
//		}
//	}
//
//	func main() {
//		s := &stream.Server{Handler: hello} // with timeouts and limits
//		log.Fatal(s.ListenAndServe("127.0.0.1:7777"))
//	}
//
// A [Reader] returns a [gdwire.Decoder] for each packet, and a [Writer] passes a [gdwire.Encoder]
// to a function that writes a packet. A [Conn] is both over a connection, with timeouts. [Dial]
// returns a Conn; a [Server] calls a Handler for each connection.
//
// Calls with a whole input (Unmarshal, UnmarshalRead, Validate, Receive, File.Unmarshal of package
// savefile) return an error if bytes follow the values. Calls with a Decoder read the next value. A
// packet is one value: Next ignores bytes after the value, as engines do, and [Reader.Trailing]
// counts them.
//
// # Errors
//
// A [gdwire.Error] or a [PacketTooLongError] concerns one packet. The next packet can then be read,
// and an invalid packet needs no more memory than a valid packet. All other errors concern the
// stream: io.EOF between packets, an io.ErrUnexpectedEOF inside a packet, not wrapped, a timeout, a
// lost connection. [Skippable] distinguishes the two: to go on after an invalid packet, a handler
// returns only errors for which Skippable is false. After a timeout the call can be repeated,
// unless the timeout was final; then later calls return an [ErrBroken].
//
// # Rooms
//
// A [Room] sends packets to many connections. A value is encoded once, each member has a queue of bounded
// size, and a member that does not read is dropped, so no other member waits.
//
// # In production
//
// How do I …
//   - permit more after a login? By [Conn.SetLimits].
//   - know players behind nginx, HAProxy or a load balancer? By [WithForwardedFor] for WebSockets, and otherwise by a listener
//     of the PROXY protocol: [examples/server] has lines for both, which a test runs.
//   - notice that a client vanished? A WebSocket is pinged, see Options.PingInterval: if no pong comes, it ends after a minute. The
//     keep-alive of package net ends a TCP connection two and a half minutes after the last answer of the system of the other
//     side, and WriteTimeout while packets are written. A client that answers pings and sends nothing ends after IdleTimeout.
//   - send positions to players with slow networks? By [Room.Latest]: they receive fewer positions, each the newest.
//   - bound what one client costs? By MaxConnsPerAddr, PacketRate and ByteRate of the Server, and [WebSocketListener] for pings.
//   - serve more players of WebSockets in rooms on one processor? By [WebSocketListener], too: messages are written at once.
//   - see each packet in a trace? By ConnContext and PacketHandled of the Server, as its example for spans shows.
//   - wait for a packet until the next tick? By [Conn.SetReadDeadline]. For a queue: [Member.FlushContext].
//   - connect a bot again, or replace a certificate? As the examples of [Dial] and [Server.ServeTLS] show.
//   - let matches end before a new version starts? By [Server.Drain] and [Conn.Draining].
//
// # Limits of engines
//
// A PacketPeerStream sends and receives packets of up to 65,528 bytes unless its
// input_buffer_max_size and output_buffer_max_size are raised. After a longer packet, a peer
// receives no more packets, so set Options.MaxPacket to at most 65,528. put_var and get_var of a
// StreamPeer have no such limit.
//
// # Memory
//
// A Conn waiting for a packet holds no read buffer. A Conn and the waiting goroutine, mostly the
// stack, take 7.7 KB over TCP, 10.2 KB over TLS, and 25 KB over a WebSocket of
// github.com/coder/websocket. The first bytes of a packet are read into a buffer of 256 bytes; a
// longer packet uses a buffer of 16 KiB from a pool until the packet is read.
//
// # Files
//
// A Reader reads a file of values from several calls of FileAccess.store_var, and a Writer appends
// to such a file. If a program crashed while writing, the last packet is incomplete; [ScanComplete]
// returns the end of the complete packets. [Writer.WriteThrough] writes values that are too large
// for memory.
//
// # WebSocket
//
// Each binary message of a WebSocket is one packet. [Server.ServeMessages] serves a WebSocket with
// the same Handler as connections over TCP, and [NewMessageConn] returns a Conn over a WebSocket.
// Both take a [MessageConn], made by [WebSocket] or implemented by a program over another transport
// of messages.
//
// # Datagrams
//
// A datagram of a PacketPeerUDP is one packet, without a length. A [PacketConn] reads and writes
// datagrams.
//
// # Messages with a type
//
// Many games write a byte for the type of a message, and then the value. A program reads the byte and passes the rest
// to variant.Unmarshal, or to a [gdwire.Decoder]. [Conn.NextRaw] returns a packet with length, or a message of a
// WebSocket, as the example of NextRaw shows, and [Conn.WriteRaw] writes one; a datagram comes from a net.PacketConn.
//
// [examples/server]: https://github.com/gdwire/gdwire/blob/main/examples/server/README.md
package stream
