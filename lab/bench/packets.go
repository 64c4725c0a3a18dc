package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// Texts by their length, packets by their size, and packets after their lengths.

// export contains the calls of package gdwire for this module.
var export = gdwire.Internal.Export(&internal.AllowInternalUse)

// textGroups measure texts by their length and their script, each call in a group of its own.
var textGroups = []group{
	textGroup("ReadText", func(t *texts) []contender {
		return []contender{t.reading(func(d *gdwire.Decoder) int {
			text, ok, err := export.ReadText(d)
			check(err)
			if !ok {
				panic("text in several chunks")
			}
			return len(text)
		})}
	}),
	textGroup("ReadString", func(t *texts) []contender {
		b := must(cbor.Marshal(t.all))
		var all []string
		return []contender{
			t.reading(func(d *gdwire.Decoder) int { return len(must(d.ReadString())) }).allocating(),
			peer("cbor, "+t.name, len(t.godot), t.size, func() (size int) {
				check(cbor.Unmarshal(b, &all))
				for _, text := range all {
					size += len(text)
				}
				return size
			}),
		}
	}),
	textGroup("SkipValue", func(t *texts) []contender {
		d := gdwire.NewDecoder(nil, nil)
		return []contender{ours("gdwire, "+t.name, len(t.godot), len(t.godot), func() int {
			d.ResetBytes(t.godot)
			return skip(d)
		})}
	}),
	textGroup("WriteString", func(t *texts) []contender {
		return []contender{encoding("gdwire, "+t.name, len(t.godot), t.write)}
	}),
}

// textCount is the number of texts in an array.
const textCount = 1000

// textLengths contains the least and the greatest length of texts, in bytes.
var textLengths = []struct {
	name        string
	least, most int
}{
	{"1 to 8 bytes", 1, 8},
	{"9 to 16 bytes", 9, 16},
	{"17 to 32 bytes", 17, 32},
	{"33 to 64 bytes", 33, 64},
	{"1 KiB", 1 << 10, 1 << 10},
}

// scripts contains the first letter of the texts, which tells the bytes of a character.
var scripts = []struct {
	name   string
	first  rune
	packed bool // in a PackedStringArray
}{
	{"ASCII", 'a', false},
	{"2 bytes a character", 'а', false}, // Cyrillic
	{"3 bytes a character", 'あ', false},
	{"ASCII packed", 'a', true},
}

// texts is an array of texts of a length and a script.
type texts struct {
	name  string
	all   []string
	size  int // of all, in bytes
	typ   gdwire.Type
	godot []byte
}

// textGroup returns the group of a call, with contenders for the texts of each length and script.
func textGroup(call string, of func(t *texts) []contender) group {
	return counted("texts, "+call, func() (all []contender) {
		for _, length := range textLengths {
			for _, script := range scripts {
				t := newTexts(length.least, length.most, script.first)
				t.name, t.typ = length.name+", "+script.name, gdwire.TypeArray
				if script.packed {
					t.typ = gdwire.TypePackedStringArray
				}
				t.godot = bytesOf(t.write)
				all = append(all, of(t)...)
			}
		}
		return all
	}).of(textCount)
}

// newTexts returns texts of random lengths. They have whole characters and are therefore up to two
// bytes shorter, but not empty.
func newTexts(least, most int, first rune) *texts {
	random := rand.New(rand.NewPCG(1, 2))
	width := len(string(first))
	t := new(texts)
	for range textCount {
		n := max(1, (least+random.IntN(most-least+1))/width)
		var b strings.Builder
		for range n {
			b.WriteRune(first + rune(random.IntN(26)))
		}
		t.all = append(t.all, b.String())
		t.size += b.Len()
	}
	return t
}

func (t *texts) write(e *gdwire.Encoder) {
	if t.typ == gdwire.TypeArray {
		check(e.BeginArray(len(t.all)))
	} else {
		check(e.BeginPacked(t.typ, int64(len(t.all))))
	}
	for _, text := range t.all {
		check(e.WriteString(text))
	}
	check(e.End())
	check(e.Flush())
}

// reading calls read for each text and adds up its results.
func (t *texts) reading(read func(d *gdwire.Decoder) int) contender {
	d := gdwire.NewDecoder(nil, nil)
	return ours("gdwire, "+t.name, len(t.godot), t.size, func() (size int) {
		d.ResetBytes(t.godot)
		for range must(d.ReadToken()).Len() {
			size += read(d)
		}
		check(d.ReadEnd())
		return size
	})
}

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

// itemCounts are the numbers of items in larger packets, of 345 bytes to 4 MB.
var itemCounts = []int{1, 12, 190, 12000}

// sizeGroups measure packets of different sizes.
func sizeGroups() (all []group) {
	for _, n := range itemCounts {
		all = append(all, group{name: fmt.Sprintf("size %d × 345 B", n), setup: func(*stage) []contender {
			items := items()
			doc := translate(bytesOf(func(e *gdwire.Encoder) {
				check(e.BeginArray(n))
				for i := range n {
					check(e.WriteRaw(items[i%len(items)]))
				}
				check(e.End())
			}))
			return []contender{
				oursReading(doc.godot, "tokens", doc.tokens, readTokens)[0], msgpReading(doc)[0], doc.wellformed(), builders(doc)[1], jsonReading(doc),
			}
		}})
	}
	return all
}

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
