package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

const (
	packetSize       = 200
	packetBatch      = 1 << 14 // packets in one run
	packetBatchShort = 1000
	packetBuffer     = 16 << 10
)

// packetGroups measure length-prefixed packets of 200 bytes.
var packetGroups = []group{
	{
		name:    "packets, memory",
		counted: true,
		setup: func(s *stage) []contender {
			n := s.scale(packetBatch, packetBatchShort)
			wire := packets(n)
			p := &plain{}
			start := func() { p.r.Reset(wire) }
			return packetContenders(n, func() (io.Reader, func()) { return p, start })
		},
	},
}

// packets returns n packets with the position of a player.
func packets(n int) []byte {
	var b bytes.Buffer
	w := stream.NewWriter(&b, nil)
	for i := range n {
		size := b.Len()
		check(w.WritePacket(func(e *gdwire.Encoder) error {
			check(e.BeginDict(6))
			check(e.WriteString("peer_id"))
			check(e.WriteInt(int64(i)))
			check(e.WriteString("position"))
			check(gdwire.WriteComponents(e, gdwire.TypeVector3, []float64{1.5, 0, -3.25}))
			check(e.WriteString("velocity"))
			check(gdwire.WriteComponents(e, gdwire.TypeVector3, []float64{0, 0.25, 8}))
			check(e.WriteString("animation"))
			check(e.WriteString("run_forward"))
			check(e.WriteString("look"))
			check(gdwire.WriteComponents(e, gdwire.TypeQuaternion, []float64{0, 0.5, 0.5, 0}))
			check(e.WriteString("left_stick"))
			check(gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{0.5, -1}))
			return e.End()
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

// packetContenders read n packets, each contender from its own source: a Reader,
// and a function that fills it.
func packetContenders(n int, source func() (io.Reader, func())) []contender {
	contend := func(name string, ours bool, next func(r io.Reader) (size func() int)) contender {
		r, start := source()
		read := next(r)
		return contender{
			name: name, ours: ours, bytes: n * (4 + packetSize), want: n * packetSize,
			run: func() int {
				start()
				got := 0
				for range n {
					got += read()
				}
				return got
			},
		}
	}
	return []contender{
		contend("stream Next and SkipValue", true, func(r io.Reader) func() int {
			s := stream.NewReader(r, nil)
			return func() int { return skip(must(s.Next())) }
		}),
		contend("stream Next and tokens", true, func(r io.Reader) func() int {
			s := stream.NewReader(r, nil)
			return func() int {
				d := must(s.Next())
				readTokens(d)
				return int(d.InputOffset())
			}
		}),
		contend("stream Next", true, func(r io.Reader) func() int {
			s := stream.NewReader(r, nil)
			return func() int {
				must(s.Next())
				return int(s.PacketSize())
			}
		}),
		contend("stream NextRaw", true, func(r io.Reader) func() int {
			s := stream.NewReader(r, nil)
			buf := make([]byte, 0, packetSize)
			return func() int {
				buf = must(s.NextRaw(buf[:0]))
				return len(buf)
			}
		}),
		contend("bufio", false, func(r io.Reader) func() int {
			b := &bareReader{r: bufio.NewReaderSize(r, packetBuffer)}
			return func() int { return len(b.next()) }
		}),
	}
}
