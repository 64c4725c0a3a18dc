package main

import (
	"bytes"
	"fmt"
	"slices"
	"testing/iotest"

	"github.com/gdwire/gdwire"
)

// smallPacket returns a packet of 64 bytes, as a peer may send in every frame.
func smallPacket() *document {
	return encoded(func(e *gdwire.Encoder) {
		check(e.BeginDict(2))
		check(e.WriteString("peer_id"))
		check(e.WriteInt(7))
		check(e.WriteString("position"))
		check(gdwire.WriteComponents(e, gdwire.TypeVector3, []float64{1.5, 0, -3.25}))
		check(e.End())
	})
}

// encoded returns the document that write writes.
func encoded(write func(*gdwire.Encoder)) *document {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	write(e)
	check(e.Close())
	return translate(b.Bytes())
}

var smallGroup = group{
	name:    "64 bytes",
	counted: true,
	about:   "One small packet from memory: reset and decode.",
	setup: func(*stage) []contender {
		doc := smallPacket()
		return slices.Concat(
			oursReading(doc, "tokens", doc.tokens, readTokens),
			oursReading(doc, "tokens, values taken", doc.sum, readValues),
			msgpReading(doc),
			[]contender{wellformed(doc), jsonReading(doc)},
		)
	},
}

// items returns the encoded items of the saved game's inventory: dictionaries of
// about 345 bytes.
func items() [][]byte {
	game := game().godot
	d := gdwire.NewDecoder(nil, nil)
	defer d.Release()
	d.ResetBytes(game)
	for must(d.ReadToken()).Kind() != gdwire.KindArrayStart {
		continue
	}
	var all [][]byte
	for d.PeekKind() != gdwire.KindEnd {
		from := d.InputOffset()
		check(d.SkipValue())
		all = append(all, game[from:d.InputOffset()])
	}
	return all
}

// itemCounts are the numbers of items in the packets of the plot.
var itemCounts = []int{1, 3, 12, 48, 190, 760, 3000, 12000}

// plotted contains the contenders that the plot shows.
func plotted(doc *document) []contender {
	return []contender{
		oursReading(doc, "tokens", doc.tokens, readTokens)[0],
		msgpReading(doc)[0],
		wellformed(doc),
		builders(doc)[1],
		jsonReading(doc),
	}
}

// sizeGroups measure packets from 64 bytes on.
func sizeGroups() []group {
	all := []group{{
		name:  "size 64 B",
		about: "A packet of 64 bytes, decoded.",
		setup: func(*stage) []contender { return plotted(smallPacket()) },
	}}
	for _, n := range itemCounts {
		all = append(all, group{
			name:  fmt.Sprintf("size %d × 345 B", n),
			about: fmt.Sprintf("A packet with items of the saved game, decoded: %d.", n),
			setup: func(*stage) []contender {
				items := items()
				return plotted(encoded(func(e *gdwire.Encoder) {
					check(e.BeginArray(n))
					for i := range n {
						check(e.WriteRaw(items[i%len(items)]))
					}
					check(e.End())
				}))
			},
		})
	}
	return all
}

// times returns an array of n copies of the document.
func (doc *document) times(n int) []byte {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	doc.writeTimes(e, n)
	check(e.Close())
	return b.Bytes()
}

func (doc *document) writeTimes(e *gdwire.Encoder, n int) {
	check(e.BeginArray(n))
	for range n {
		doc.writeGodot(e)
	}
	check(e.End())
}

// growthGroup compares ten values of 1 MB with one of 10 MB: the same work, unless
// something is slower in larger values. The ten are in 10 MB of memory as well, so
// that caches help neither.
var growthGroup = group{
	name:  "growth",
	about: "The document as ten values, and ten times in one value.",
	setup: func(*stage) []contender {
		var (
			doc    = game()
			values = map[int][]byte{1: bytes.Repeat(doc.times(1), 10), 10: doc.times(10)} // by the number of documents
			d      = gdwire.NewDecoder(nil, nil)
			p      = &plain{}
			slow   = iotest.OneByteReader(p)
			to     drain
			e      = gdwire.NewEncoder(&to, nil)
			all    []contender
		)
		tokens := func(_ []byte, times int) int { return times*doc.tokens + 2 }
		length := func(value []byte, _ int) int { return len(value) }
		for _, way := range []struct {
			name string
			want func(value []byte, times int) int
			run  func(value []byte, times int) int
		}{
			{"tokens", tokens, func(value []byte, _ int) int {
				d.ResetBytes(value)
				return readTokens(d)
			}},
			{"tokens, Reader", tokens, func(value []byte, _ int) int {
				p.r.Reset(value)
				d.Reset(p)
				return readTokens(d)
			}},
			{"tokens, a byte at a time", tokens, func(value []byte, _ int) int {
				p.r.Reset(value)
				d.Reset(slow)
				return readTokens(d)
			}},
			{"SkipValue", length, func(value []byte, _ int) int {
				d.ResetBytes(value)
				return skip(d)
			}},
			{"SkipValue, a byte at a time", length, func(value []byte, _ int) int {
				p.r.Reset(value)
				d.Reset(slow)
				return skip(d)
			}},
			{"encode", length, func(_ []byte, times int) int {
				to.n = 0
				e.Reset(&to)
				doc.writeTimes(e, times)
				check(e.Flush())
				return to.n
			}},
		} {
			for _, times := range []int{1, 10} {
				size := len(values[times]) / (10 / times)
				c := contender{
					name: fmt.Sprintf("%s, %d × %d MB", way.name, 10/times, times), ours: true, bytes: len(values[times]),
					run: func() int {
						got := 0
						for value := range slices.Chunk(values[times], size) {
							got += way.run(value, times)
						}
						return got
					},
				}
				for value := range slices.Chunk(values[times], size) {
					c.want += way.want(value, times)
				}
				all = append(all, c)
			}
		}
		return all
	},
}
