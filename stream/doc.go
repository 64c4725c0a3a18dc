// Package stream reads and writes packets of Godot's Variant format: behind their
// length on connections and in files, as put_var, store_var, PacketPeerStream and
// the remote debugger have them, and as datagrams.
//
// A [Reader] hands out a [gdwire.Decoder] for each packet, a [Writer] lends a
// [gdwire.Encoder]. A [Conn] is both over a net.Conn, with timeouts:
//
//	c := stream.NewConn(ctx, conn, &stream.Options{ReadTimeout: 10 * time.Second})
//	defer c.Close()
//	for {
//		d, err := c.Next()
//		if err == nil {
//			err = handle(d)
//		}
//		if stream.Skippable(err) {
//			log.Print(err) // that packet is spoilt, the next is not
//		} else if err != nil {
//			return err // io.EOF: the client has gone
//		}
//	}
//
// A packet is one value. What else stands in it is ignored, as engines do, and
// counted: [Reader.Trailing].
//
// # What is wrong with a packet, and what with the stream
//
// A [gdwire.Error] and a [PacketError] are about one packet. Whatever it holds,
// the next one is found behind it, and no more memory is used than for a good one.
// Everything else is an error of the stream: io.EOF between packets, a bare
// io.ErrUnexpectedEOF inside one, a timeout, a lost connection. [Skippable] tells
// them apart.
//
// # What engines take
//
// A PacketPeerStream sends and receives packets of up to 65,528 bytes, unless its
// input_buffer_max_size and output_buffer_max_size are raised; a longer one blocks
// all that follow. Options.MaxPacket keeps a Writer from sending such. put_var and
// get_var of a StreamPeer have no such limit.
//
// # Files
//
// What FileAccess.store_var wrote, one value after the other, a Reader reads, and
// a Writer goes on with at the end. A crash in the middle of a write leaves a
// packet that is cut, and [Scan] says where the good part ends. Values too large for
// memory are written by [Writer.WriteThrough].
//
// # Datagrams and messages
//
// A datagram of a PacketPeerUDP is one packet, without a length; [PacketConn] reads
// and writes these. A message of a WebSocket is one, too, and needs nothing of this
// package:
//
//	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{OneValue: true})
//	defer d.Release()
//	for {
//		message, err := ws.Read(ctx) // a binary message, of limited size
//		if err != nil {
//			return err
//		}
//		d.ResetBytes(message)
//		for t, err := range d.Tokens() {
//			…
//		}
//	}
package stream
