package main

import (
	"bytes"
	"fmt"
	"testing/iotest"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// smallPacket returns a packet of 64 bytes, as a peer may send in every frame.
func smallPacket() *document {
	return translate(must(variant.Marshal(struct {
		Peer     int             `gd:"peer_id"`
		Position variant.Vector3 `gd:"position"`
	}{7, variant.Vector3{X: 1.5, Z: -3.25}})))
}

var smallGroup = counted("64 bytes", func() []contender {
	doc := smallPacket()
	return append(walks(doc), doc.wellformed(), jsonReading(doc))
})

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
		oursReading(doc.godot, "tokens", doc.tokens, readTokens)[0],
		msgpReading(doc)[0],
		doc.wellformed(),
		builders(doc)[1],
		jsonReading(doc),
	}
}

// sizeGroups measure packets from 64 bytes on.
func sizeGroups() []group {
	all := []group{{name: "size 64 B", setup: func(*stage) []contender { return plotted(smallPacket()) }}}
	for _, n := range itemCounts {
		all = append(all, group{name: fmt.Sprintf("size %d × 345 B", n), setup: func(*stage) []contender {
			items := items()
			return plotted(translate(bytesOf(func(e *gdwire.Encoder) {
				check(e.BeginArray(n))
				for i := range n {
					check(e.WriteRaw(items[i%len(items)]))
				}
				check(e.End())
			})))
		}})
	}
	return all
}

// A growthWay is work on values whose time grows with them alone.
type growthWay struct {
	name string
	run  func(value []byte, world *savedWorld) (result any)
}

var growthWays = []growthWay{
	{"tokens", growthReading(false, readTokens)},
	{"tokens, a byte at a time", growthReading(true, readTokens)},
	{"SkipValue", growthReading(false, skip)},
	{"into structs", func(value []byte, _ *savedWorld) any {
		w := new(savedWorld)
		check(variant.Unmarshal(value, w))
		return w
	}},
	{"from structs", func(_ []byte, world *savedWorld) any { return must(variant.Marshal(world)) }},
	{"into any", func(value []byte, _ *savedWorld) (v any) {
		check(variant.Unmarshal(value, &v))
		return v
	}},
}

// growthReading returns a function that reads values with a Decoder, from memory or a byte at a time.
func growthReading(slowly bool, read func(*gdwire.Decoder) int) func([]byte, *savedWorld) any {
	return func(value []byte, _ *savedWorld) any {
		d := gdwire.NewDecoder(iotest.OneByteReader(bytes.NewReader(value)), nil)
		defer d.Release()
		if !slowly {
			d.ResetBytes(value)
		}
		return read(d)
	}
}

// growthGroup compares ten values of 1 MB with one of 10 MB: the same work, unless something is slower in larger values.
// The ten are in 10 MB of memory as well, so that caches help neither, and results are kept until the end of a run.
var growthGroup = group{
	name: "growth",
	setup: func(s *stage) []contender {
		n := s.scale(10, 2)
		ones, ten := make([]*savedWorld, n), world()
		ten.Player.Inventory = nil
		for i := range ones {
			ones[i] = world()
			ten.Player.Inventory = append(ten.Player.Inventory, ones[i].Player.Inventory...)
		}
		small, large := must(variant.Marshal(ones[0])), must(variant.Marshal(ten))
		values := bytes.Repeat(small, n)
		kept := make([]any, n)
		var all []contender
		for _, way := range growthWays {
			all = append(all, peer(way.name+", 10 × 1 MB", len(values), 0, func() int {
				clear(kept)
				for i, w := range ones {
					kept[i] = way.run(values[i*len(small):][:len(small)], w)
				}
				return 0
			}), peer(way.name+", 1 × 10 MB", len(large), 0, func() int {
				clear(kept)
				kept[0] = way.run(large, ten)
				return 0
			}))
		}
		return all
	},
}
