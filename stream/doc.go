// Package stream reads and writes packets of Godot's Variant format: length-prefixed
// packets on connections and in files, as put_var, store_var, PacketPeerStream and the
// remote debugger use them, datagrams, and messages of a WebSocket. It also provides a
// server.
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
// A [Reader] returns a [gdwire.Decoder] for each packet, and a [Writer] passes a
// [gdwire.Encoder] to a function that writes a packet. A [Conn] is both over a connection,
// with timeouts, which [Dial] connects; a [Server] calls a Handler for each connection.
//
// A call that takes a whole input (Unmarshal, UnmarshalRead, Validate, Receive, File.Unmarshal of
// package savefile) returns an error if bytes follow its values. A call that takes a Decoder reads
// the next value. A packet is one value: Next ignores bytes after it, as engines do, and
// [Reader.Trailing] counts them.
//
// # Errors
//
// A [gdwire.Error] or a [PacketTooLongError] concerns one packet. The next packet can be read
// after it, and an invalid packet needs no more memory than a valid packet. All other errors
// concern the stream: io.EOF between packets, an io.ErrUnexpectedEOF that is not wrapped
// inside a packet, a timeout, a lost connection. [Skippable] distinguishes the two:
// a handler that goes on after an invalid packet returns only errors that are not. After a
// timeout the call can be repeated, unless it was final; then later calls return an
// [ErrBroken].
//
// # Rooms
//
// A [Room] sends packets to many connections. A value is encoded once, each member has a queue of bounded
// size, and a member that does not read is dropped, so that no other waits for it.
//
// # Limits of engines
//
// A PacketPeerStream sends and receives packets of up to 65,528 bytes unless its
// input_buffer_max_size and output_buffer_max_size are raised. After a longer packet it
// receives no more packets, so set Options.MaxPacket to at most 65,528. put_var and get_var
// of a StreamPeer have no such limit.
//
// # Memory
//
// A Conn holds no read buffer while it waits for a packet. A Conn and the waiting goroutine,
// mostly the stack, take 7.7 KB over TCP, 10.2 KB over TLS, and 25 KB over a WebSocket of github.com/coder/websocket. The first bytes of a
// packet are read into a buffer of 256 bytes; a longer packet uses a buffer of 16 KiB from a
// pool until it is read.
//
// # Files
//
// A Reader reads a file of values from several calls of FileAccess.store_var, and a Writer
// appends to it. If a program crashed while writing, the last packet is incomplete;
// [ScanComplete] returns the end of the complete packets. [Writer.WriteThrough] writes values that
// are too large for memory.
//
// # WebSocket
//
// Each binary message of a WebSocket is one packet. [Server.ServeMessages] serves a WebSocket with
// the same Handler as connections over TCP, and [NewMessageConn] returns a Conn over a WebSocket.
// Both take a [MessageConn], which [WebSocket] makes, or which a program implements over another
// transport of messages.
//
// # Datagrams
//
// A datagram of a PacketPeerUDP is one packet, without a length. A [PacketConn] reads
// and writes them.
//
// # Messages with a type
//
// Many games write a byte that says which message follows, and then its value. A program reads the byte and passes the rest
// to variant.Unmarshal, or to a [gdwire.Decoder]. A packet with length, or a message of a WebSocket, comes from
// [Conn.NextRaw], whose example shows this, and is written by [Conn.WriteRaw]; a datagram comes from a net.PacketConn.
package stream
