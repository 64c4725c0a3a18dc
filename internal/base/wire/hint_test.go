package wire

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

func TestLengthHint(t *testing.T) {
	const other = "; in the other byte order, the length is 20 bytes"
	for _, c := range []struct {
		length, max int64
		want        string
	}{
		{20 << 24, 100, other}, {20 << 24, 20, other}, {20 << 24, 19, ""}, {3 << 24, 100, ""}, {200, 100, ""},
		{0x6c6c6568, 100, "; the length is text"}, {-1, 100, ""}, {1 << 33, 100, ""},
	} {
		require.Equal(t, c.want, LengthHint(c.length, c.max), "%+v", c)
	}
}

// A Guess knows the kind of an input, in whatever pieces it arrived.
func TestGuess(t *testing.T) {
	packet := func(b string) string { return string(le.AppendUint32(nil, uint32(len(b)))) + b }
	big := func(b string) string { return string(be(uint32(len(b)))) + b }
	value, long := "\x02\x00\x00\x00\x05\x00\x00\x00", strings.Repeat("\x00", 300)
	const text = "; the input is text: for JSON, see package gdjson"
	for _, c := range []struct{ name, input, hint string }{
		{"nothing", "", ""},
		{"a value", value, ""},
		{"a value after its length", packet(value), "; the data is 1 value after its length: read it with package savefile"},
		{"two values after their lengths", packet(value) + packet(long), "; the data is 2 values after their lengths: read them with package savefile"},
		{"a value after its big-endian length", big(long), "; the data is 1 value after its big-endian length: read it with package savefile"},
		{"three values after their big-endian lengths", big(long) + big(value) + big(value), "; the data is 3 values after their big-endian lengths: read them with package savefile"},
		{"both byte orders", packet(value) + big(value), ""},
		{"a cut packet", packet(value) + packet(value)[:11], ""},
		{"a cut length", packet(value) + packet(value)[:3], ""},
		{"a packet without a header", packet(value) + packet("\x00\x00\x00"), ""},
		{"an empty packet", packet(""), ""},
		{"zeros", long, ""},
		{"the largest length", "\xff\xff\xff\xff" + long, ""},
		{"compressed", "GCPF\x02\x00\x00\x00", "; GCPF: a compressed file, see package savefile"},
		{"encrypted", "GDEC\x01\x00\x00\x00", "; GDEC: an encrypted file, see package savefile"},
		{"resource", "RSRC\x00\x00\x00\x00", "; RSRC: a resource, not a value"},
		{"compressed resource", "RSCC\x00\x00\x00\x00", "; RSCC: a compressed resource, not a value"},
		{"JSON", "{\n\t\"a\": 1}", text},
		{"short JSON", "{}", text},
		{"a string in JSON", `"text"`, text},
		{"a known type id", "\n\n{}", text},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 4, 5, 1000} {
				var g Guess
				for b := range slices.Chunk([]byte(c.input), size) {
					n := testenv.Must(g.Write(b))(t)
					require.Equal(t, len(b), n)
				}
				require.Equal(t, c.hint, g.Hint(true))
				require.EqualValues(t, len(c.input), g.Size())
				if strings.Contains(c.hint, "length") {
					require.Empty(t, g.Hint(false))
				} else {
					require.Equal(t, c.hint, g.Hint(false))
				}
			}
		})
	}
}

// Missing is the number of bytes up to the end of the packet or of the next length.
func TestGuessMissing(t *testing.T) {
	for _, c := range []struct {
		input string
		want  int64
	}{
		{"", 4}, {"\x08", 3}, {"\x08\x00\x00", 1}, {"\x08\x00\x00\x00", 8}, {"\x08\x00\x00\x00.....", 3},
		{"\x08\x00\x00\x00........", 4}, {"\x00\x00\x00\x08", 8}, {"\x00\x00\x00\x00", math.MaxInt64},
		{"\x08\x00\x00\x00........\x00\x00\x00\x00", 0x08000000 - 12},
	} {
		require.Equal(t, c.want, GuessOf([]byte(c.input)).Missing(), "%q", c.input)
	}
}

// The shortest packets are 8 bytes. A Guess reads each length of 64 MB of them once, in both byte
// orders as long as they fit.
func TestGuessIsLinear(t *testing.T) {
	const size = 64 << 20
	for name, b := range map[string][]byte{
		"little": bytes.Repeat([]byte{4, 0, 0, 0, 0, 0, 0, 0}, size/8),
		"big":    bytes.Repeat([]byte{0, 0, 0, 4, 0, 0, 0, 0}, size/8),
		"zeros":  make([]byte, size),
	} {
		g := GuessOf(b)
		require.LessOrEqual(t, g.little.count+g.big.count, size/8+1, name)
		require.Equal(t, name != "zeros", g.Hint(true) != "", name)
	}
}

// be returns n in four bytes, big-endian.
func be(n uint32) []byte { return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)} }

func TestEventSize(t *testing.T) {
	for event, want := range []int{0, 8, 0, 4, 8, 4, 4, 0, 0, 0} {
		require.Equal(t, want, EventSize(uint32(event), 100), "type %d", event)
	}
	require.Zero(t, EventSize(math.MaxUint32, 100))
	require.Equal(t, 4, EventSize(joystickMotion, 4), "the axis alone")
	require.Equal(t, 8, EventSize(joystickMotion, 5))
}

// NarrowFloats accepts a part of what PutFloat accepts, and puts the same.
func TestPutFloats(t *testing.T) {
	for _, c := range []struct {
		x              float64
		finite, narrow bool // in 32 bits; accepted by PutFloat
	}{
		{0, true, true},
		{-1.5, true, true},
		{0.1, true, true},
		{math.MaxFloat32, true, true},
		{2 * math.MaxFloat32, false, false},
		{-math.MaxFloat64, false, false},
		{math.Inf(-1), false, true},
		{math.NaN(), false, true},
	} {
		var all [16 * 4]byte
		b := make([]byte, 8)
		require.Equal(t, c.finite, NarrowFloats(&all, []float64{1, c.x, 2}), "%v", c.x)
		require.Equal(t, c.narrow, PutFloat(b, c.x, Float32), "%v", c.x)
		require.Equal(t, all[4:8], b[:4], "%v", c.x)
		require.True(t, PutFloat(b, c.x, Float64))
		require.Equal(t, math.Float64bits(c.x), le.Uint64(b), "%v", c.x)
	}
}
