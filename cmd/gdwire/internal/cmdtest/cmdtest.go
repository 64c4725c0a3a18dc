// Package cmdtest makes packets and traffic for the tests of the command.
package cmdtest

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// Wire encodes parts: an int as 32 bits, a string as length, text and padding, and other
// numbers and bytes unchanged.
func Wire(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = binary.LittleEndian.AppendUint32(b, uint32(p))
		case string:
			b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
			b = append(b, p...)
			for len(b)%4 != 0 {
				b = append(b, 0)
			}
		default:
			var w bytes.Buffer
			if err := binary.Write(&w, binary.LittleEndian, p); err != nil {
				panic(err)
			}
			b = append(b, w.Bytes()...)
		}
	}
	return b
}

// Framed returns the packets, each after its length.
func Framed(packets ...[]byte) []byte { return framed(binary.LittleEndian, packets) }

// FramedBig returns the packets, each after its length in big-endian order.
func FramedBig(packets ...[]byte) []byte { return framed(binary.BigEndian, packets) }

func framed(order binary.AppendByteOrder, packets [][]byte) (b []byte) {
	for _, p := range packets {
		b = append(order.AppendUint32(b, uint32(len(p))), p...)
	}
	return b
}

// WebSocketMessage returns a WebSocket message in one frame or more.
func WebSocketMessage(masked bool, opcode byte, parts ...[]byte) (b []byte) {
	for i, part := range parts {
		first := opcode
		if i > 0 {
			first = 0
		}
		if i == len(parts)-1 {
			first |= 0x80
		}
		mask := byte(0)
		if masked {
			mask = 0x80
		}
		b = append(b, first)
		switch n := len(part); {
		case n < 126:
			b = append(b, mask|byte(n))
		case n < 1<<16:
			b = binary.BigEndian.AppendUint16(append(b, mask|126), uint16(n))
		default:
			b = binary.BigEndian.AppendUint64(append(b, mask|127), uint64(n))
		}
		if !masked {
			b = append(b, part...)
			continue
		}
		key := [4]byte{1, 2, 3, byte(i)}
		b = append(b, key[:]...)
		for j, c := range part {
			b = append(b, c^key[j&3])
		}
	}
	return b
}

// The handshake of a WebSocket.
const (
	UpgradeRequest  = "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
	UpgradeResponse = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
)

// LineFeeds returns text with line feeds alone.
func LineFeeds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
