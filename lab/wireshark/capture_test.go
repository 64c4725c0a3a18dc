package wireshark

import (
	"bytes"
	"encoding/binary"
)

// Ports of the servers in a capture.
const (
	portTCP = 7001
	portWS  = 7002
	portUDP = 7003
)

// A capture is a file of IP packets in pcap's format.
type capture struct {
	bytes.Buffer
	frames uint32
}

func newCapture() *capture {
	c := new(capture)
	c.put(binary.LittleEndian, uint32(0xA1B2C3D4), uint16(2), uint16(4), uint64(0), uint32(1<<16), uint32(101)) // raw IP
	return c
}

func (c *capture) put(order binary.ByteOrder, fields ...any) {
	for _, x := range fields {
		_ = binary.Write(c, order, x) // a Buffer takes everything
	}
}

// ip appends a packet of a protocol from one port of this host to another.
func (c *capture) ip(protocol uint8, from, to uint16, header []any, data []byte) {
	var b capture
	b.put(binary.BigEndian, from, to)
	b.put(binary.BigEndian, header...)
	b.Write(data)
	size := 20 + b.Len()
	c.put(binary.LittleEndian, c.frames, uint32(0), uint32(size), uint32(size))
	c.put(binary.BigEndian, uint8(0x45), uint8(0), uint16(size), uint32(0), uint8(64), protocol, uint16(0), uint32(0x7F000001), uint32(0x7F000001))
	c.Write(b.Bytes())
	c.frames++
}

func (c *capture) udp(data []byte) {
	c.ip(17, 50000, portUDP, []any{uint16(8 + len(data)), uint16(0)}, data)
}

// A connection is one of TCP to a port.
type connection struct {
	*capture
	ports [2]uint16 // of the client and the server
	sent  [2]uint32 // by them, SYN included
}

func (c *capture) dial(port uint16) *connection {
	t := &connection{capture: c, ports: [2]uint16{50000 + uint16(c.frames%10000), port}}
	t.segment(0, 0x02, nil)
	t.sent[0]++
	t.segment(1, 0x12, nil)
	t.sent[1]++
	t.segment(0, 0x10, nil)
	return t
}

// segment appends what the client, 0, or the server, 1, sends.
func (t *connection) segment(side int, flags uint8, data []byte) {
	t.ip(6, t.ports[side], t.ports[1-side], []any{t.sent[side], t.sent[1-side], uint8(0x50), flags, uint16(65535), uint32(0)}, data)
	t.sent[side] += uint32(len(data))
}

// send appends bytes in segments of odd sizes.
func (t *connection) send(side int, data []byte) {
	sizes := []int{1, 3, 5, 7, 2, 1400, 11, 400, 1, 1, 1399}
	for i := 0; len(data) > 0; i++ {
		n := min(sizes[i%len(sizes)], len(data))
		t.segment(side, 0x18, data[:n])
		data = data[n:]
	}
}

// upgrade appends the handshake of a WebSocket. Wireshark finds HTTP on any port by whole first lines.
func (t *connection) upgrade() {
	t.segment(0, 0x18, []byte("GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"))
	t.segment(1, 0x18, []byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"))
}

// message returns a binary WebSocket message, masked as the client's are.
func message(side int, data []byte) []byte {
	mask := []byte{0xDE, 0xAD, 0xBE, 0xEF}
	var b capture
	bit := uint8(0x80)
	if side == 1 {
		bit, mask = 0, make([]byte, 4)
	}
	if n := len(data); n < 126 {
		b.put(binary.BigEndian, uint8(0x82), bit|uint8(n))
	} else {
		b.put(binary.BigEndian, uint8(0x82), bit|126, uint16(n))
	}
	if side == 0 {
		b.Write(mask)
	}
	for i, x := range data {
		b.WriteByte(x ^ mask[i%4])
	}
	return b.Bytes()
}
