package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// Length-prefixed packets.

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
