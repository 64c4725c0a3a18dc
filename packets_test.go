package gdwire

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire joins its parts as they lie in a packet: an int is a u32, a string its
// length, text and padding; other numbers are themselves, and bytes too.
func wire(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = le.AppendUint32(b, uint32(p))
		case uint32:
			b = le.AppendUint32(b, p)
		case uint64:
			b = le.AppendUint64(b, p)
		case float32:
			b = le.AppendUint32(b, math.Float32bits(p))
		case float64:
			b = le.AppendUint64(b, math.Float64bits(p))
		case string:
			b = le.AppendUint32(b, uint32(len(p)))
			b = append(b, p...)
			b = append(b, zeros[:padding(uint32(len(p)))]...)
		case []byte:
			b = append(b, p...)
		default:
			panic(fmt.Sprintf("wire: %T", p))
		}
	}
	return b
}

// Ids and flags of Godot 4 that headers below are made of.
const (
	idNil        = 0
	idBool       = 1
	idInt        = 2
	idFloat      = 3
	idString     = 4
	idVector2    = 5
	idVector3    = 9
	idTransform  = 18
	idProjection = 19
	idName       = 21
	idPath       = 22
	idRID        = 23
	idObject     = 24
	idCallable   = 25
	idSignal     = 26
	idDict       = 27
	idArray      = 28
	idBytes      = 29
	idInts       = 30
	idLongs      = 31
	idFloats     = 32
	idDoubles    = 33
	idStrings    = 34
	idVectors2   = 35
	idVectors3   = 36
	idColors     = 37
	idVectors4   = 38

	bit16    = 1 << 16 // of a number
	typedBy  = 1 << 16 // of an Array's elements, a Dictionary's keys; times a containerKind
	valuesBy = 1 << 18 // of a Dictionary's values
)

// newPath and shared are counts with their bit 31.
func newPath(n uint32) uint32 { return n | newPathBit }
func shared(n uint32) uint32  { return n | sharedBit }

func str(s string) []byte  { return wire(idString, s) }
func integer(v int) []byte { return wire(idInt, v) }
func reals(n int) (b []byte) {
	for i := range n {
		b = append(b, wire(float32(i)+0.5)...)
	}
	return b
}

// longText is longer than the smallest windows, with runes of every length
// wherever a chunk may end.
const (
	longText = "ascii, än, €uro, 😀 and ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀."
	text16   = "sixteenä€😀"
	text32   = text16 + text16
)

// A sample is a packet of one or more values, as an Encoder would write them.
type sample struct {
	name   string
	format *Format
	packet []byte
}

func (s sample) options(window int) *DecoderOptions {
	return &DecoderOptions{Format: s.format, WindowSize: window, AllowObjects: true}
}

// samples hold every shape of value once, small enough to be cut everywhere.
var samples = []sample{
	{"scalars", Godot4, wire(idNil, idBool, 1, idInt, 7, idInt|bit16, uint64(1)<<40, idFloat, float32(1.5),
		idFloat|bit16, 0.1, idRID, uint64(9), idObject|bit16, uint64(5), idCallable)},
	{"maths", Godot4, wire(idVector2, reals(2), idTransform, reals(12), idVector3|bit16, 1.5, 2.5, 0.1)},
	{"wide maths", Godot4, wire(idProjection|bit16, bytes.Repeat(wire(0.1), 16))},
	{"strings", Godot4, wire(idString, "", idString, "abc", idName, longText, idString, text32)},
	{"path", Godot4, wire(idPath, newPath(2), 1, pathAbsolute, "root", text32, "pos")},
	{"object", Godot4, wire(idObject, "Node", 2, "name", idString, "Ada", "a property of more than 32 bytes", idArray, 1, idNil)},
	{"signal", Godot4, wire(idSignal, strings.Repeat("signal", 30), uint64(8), idNil)},
	{"array", Godot4, wire(idArray, 3, idArray, 1, idArray, 0, str("x"), integer(3))},
	{"typed array", Godot4, wire(idArray|typedBy*int(containerScript), "res://thing.gd", 2, idNil, idObject|bit16, uint64(5))},
	{"dict", Godot4, wire(idDict, 3, str(longText), idArray, 1, str(text32), integer(5), integer(6),
		idArray, 1, idNil, idDict, 1, str("k"), idNil)},
	{"typed dict", Godot4, wire(idDict|typedBy*int(containerBuiltin)|valuesBy*int(containerClass), idString, "Node", 1, str("k"), idNil)},
	{"bytes", Godot4, wire(idBytes, 39, []byte("012345678901234567890123456789012345678\x00"), idNil)},
	{"numbers", Godot4, wire(idInts, 9, reals(9), idFloats, 5, reals(5), idInts, 0)},
	{"wide numbers", Godot4, wire(idLongs, 3, uint64(1), uint64(2), uint64(3), idDoubles, 5, 0.1, 0.2, 0.3, 0.4, 0.5)},
	{"vectors", Godot4, wire(idVectors2, 2, reals(4), idVectors3|bit16, 2, bytes.Repeat(wire(0.5), 6))},
	{"four components", Godot4, wire(idVectors4|bit16, 2, bytes.Repeat(wire(0.5), 8), idColors, 3, reals(12))},
	{"packed strings", Godot4, wire(idStrings, 4, "a\x00", "\x00", longText+"\x00", text16+"\x00")},
	{"image", Godot2, wire(15, 1, 2, 3, 4, 21, []byte("0123456789abcdefghijk\x00\x00\x00"), 0)},
	{"event", Godot2, wire(19, 1, 2, eventHead+8, uint64(3), 19, 0, 0, eventHead)},
	{"old path", Godot2, wire(16, "root/node:property", 16, newPath(1), 0, pathProperty, "a", "b")},
	{"shared", Godot2, wire(21, shared(1), 20, shared(1), 2, 1, 2, 2)},
	{"plain packed strings", Manual4, wire(25, 3, "a", "", longText)},
}

func eachSample(t *testing.T, f func(t *testing.T, s sample)) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) { f(t, s) })
	}
}

// plain hides every method of a Reader but Read.
func plain(b []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(b)} }

// tokens reads all tokens and clones them.
func tokens(t testing.TB, d *Decoder) (all []Token) {
	t.Helper()
	for {
		tok, err := d.ReadToken()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, tok.Clone())
	}
}

// readTo reads n tokens.
func readTo(t testing.TB, d *Decoder, n int) (last Token) {
	t.Helper()
	for range n {
		var err error
		last, err = d.ReadToken()
		require.NoError(t, err)
	}
	return last
}

// encoded returns what write makes an Encoder write.
func encoded(t testing.TB, o *EncoderOptions, write func(e *Encoder)) []byte {
	t.Helper()
	var b bytes.Buffer
	e := NewEncoder(&b, o)
	defer e.Release()
	write(e)
	require.NoError(t, e.Close())
	return b.Bytes()
}

// What is read can be written again, byte for byte.
func TestTokensGoBothWays(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(plain(s.packet), s.options(0))
		defer d.Release()
		all := tokens(t, d)
		got := encoded(t, &EncoderOptions{Format: s.format}, func(e *Encoder) {
			for _, tok := range all {
				require.NoError(t, e.WriteToken(tok))
			}
		})
		require.Equal(t, s.packet, got)
	})
}

// Markers and Ends belong to what they are in.
func TestTypesOfMarkers(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(plain(s.packet), s.options(0))
		defer d.Release()
		var open []Type
		for _, tok := range tokens(t, d) {
			switch tok.Kind() {
			case KindArrayStart, KindDictStart, KindObjectStart, KindNodePathStart, KindPackedStart, KindImageStart:
				open = append(open, tok.Type())
			case KindDictKey, KindProperty:
				require.Equal(t, open[len(open)-1], tok.Type())
			case KindEnd:
				require.Equal(t, open[len(open)-1], tok.Type())
				open = open[:len(open)-1]
			}
		}
	})
}
