package explain

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// recordLayouts are layouts of records.
var recordLayouts = []string{
	"[ V ]", "[ B ]", "[ idx4 sp4 B ]", "m:LOG1 cnt4 [ tim4 u8=2 sp2 B ] crca", "[ sp4 crcp B ]", "[ B crcp ]", "m:LOG u32=9 [ sp4 B crcp ]",
	"[ tim8 Sp4 B u32=7 ]", "[ p:name sp4 B ]", "[ l: L ]", "[ st4 B ]",
}

// records returns n records in a layout, their values, and where they begin.
func records(tb testing.TB, l layout, n, size int, mode string) (all []byte, values [][]byte, starts []int) {
	for i := range n {
		values = append(values, saved(tb, size, i, "Ada Lovelace"))
	}
	whole := l.build(tb, values, mode)
	for i := range n {
		starts = append(starts, bytes.Index(whole, values[i])) // all differ
	}
	return whole, values, starts
}

// TestRecordsInOnePass finds the same in records read by their pattern as in records that are searched, and writes the same.
func TestRecordsInOnePass(t *testing.T) {
	random := bytes.Repeat([]byte{0x9a, 0xe7, 0x81, 0xc3, 0xfe}, 7)
	for k, tokens := range recordLayouts {
		for i, n := range []int{40, 64, 66, 130, 200} {
			if (i+k)%5 > 0 && !testenv.Full() {
				continue
			}
			whole, values, starts := records(t, strings.Fields(tokens), n, 400, "plain")
			middle := max(starts[n*2/3], len(whole)/2)
			flipped := slices.Clone(whole)
			flipped[middle+30] ^= 0x80
			for name, b := range map[string][]byte{
				"whole":            whole,
				"with a trailer":   slices.Concat(whole, random),
				"with damage":      flipped,
				"with other bytes": slices.Concat(whole[:middle], random[:11], whole[middle:]),
				"with two parts":   slices.Concat(whole, random[:9], whole),
				"cut":              whole[:len(whole)-33],
			} {
				name = fmt.Sprintf("%s, %d, %s", tokens, n, name)
				general, bounded := &Options{general: true}, &Options{}
				got, want := Find(b, bounded), Find(b, general)
				if general.Ended != nil { // it takes longer
					require.NotNil(t, got, name)
					continue
				} else if got == nil && bounded.Ended != nil { // two files of lines, which search each other's rest
					require.Contains(t, name, "[ l: L ], 200, with two parts")
					continue
				}
				require.Equal(t, want == nil, got == nil, name)
				if want == nil {
					continue
				}
				if strings.HasSuffix(name, "damage") { // what is left of the record can be read in several ways
					for _, v := range values {
						isV := func(x []byte) bool { return bytes.Equal(x, v) }
						require.Equal(t, slices.ContainsFunc(want.Values(), isV), slices.ContainsFunc(got.Values(), isV), name)
					}
					continue
				}
				require.Equal(t, want.Values(), got.Values(), name)
				if strings.HasSuffix(name, "cut") { // the first bytes of the cut record can be left, or dropped with it
					continue
				}
				require.Equal(t, want.String(), got.String(), name)
				require.Equal(t, want.Sure(), got.Sure(), name)
				require.Equal(t, want.Err, got.Err, name)
				if got.unsearched != nil { // the bound of the search was reached
					continue
				}
				for _, at := range []int{0, len(want.Values()) / 2, len(want.Values()) - 1} {
					changed := slices.Clone(want.Values())
					changed[at] = saved(t, 300, at, "Ada")
					wrote, failed := want.Write(changed)
					again, err := got.Write(changed)
					require.Equal(t, failed, err, name)
					require.Equal(t, wrote, again, name)
				}
			}
		}
	}
}

// TestManyRecords counts what it takes to read records, for each byte.
func TestManyRecords(t *testing.T) {
	n := testenv.Cases(20_000, 200_000)
	for _, tokens := range recordLayouts[:7] {
		var values [][]byte
		for i := range n {
			values = append(values, testenv.Must(variant.Marshal(map[string]any{"name": fmt.Sprint("record ", i), "at": i}))(t))
		}
		whole := layout(strings.Fields(tokens)).build(t, values, "plain")
		s := newSearch(nil, len(whole))
		p := s.find(whole, s.Formats, 0)
		require.NotNil(t, p, tokens)
		require.Len(t, p.Values(), n, tokens)
		require.Less(t, s.used, int64(140*len(whole)), tokens)
	}
	var small [][]byte
	for i := range n {
		small = append(small, testenv.Must(variant.Marshal(fmt.Sprint("text ", i)))(t))
	}
	whole := layout{"[", "V", "]"}.build(t, small, "plain")
	s := newSearch(nil, len(whole))
	p := s.find(whole, s.Formats, 0)
	require.NotNil(t, p)
	require.Len(t, p.Values(), n)
	require.Less(t, s.used, int64(190*len(whole)))
}

// TestWork counts the work for each byte of files with few values or none, of damaged ones, and of those that are made to be dear.
func TestWork(t *testing.T) {
	const n = 200_000
	value := saved(t, n, 1, "Ada Lovelace")
	flipped := slices.Clone(value)
	flipped[len(value)/2&^3+2] ^= 0x40
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, n)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	numbers := make([]byte, 0, n)
	for len(numbers) < n {
		numbers = append(numbers, integer(uint64(r.IntN(40)), 4, false)...)
	}
	damaged, _, starts := records(t, strings.Fields("m:SAVE [ sp4 B ]"), 400, 400, "plain")
	for _, at := range starts {
		damaged[at+r.IntN(200)] ^= 0x40
	}
	sums, _, starts := records(t, strings.Fields("[ sp4 crcp B ]"), 400, 400, "plain")
	for i, at := range starts {
		if i%3 == 0 {
			sums[at+r.IntN(200)] ^= 0x40
		}
	}
	lines, _, _ := records(t, strings.Fields("[ l: L ]"), 400, 400, "plain")
	streams, _, _ := records(t, strings.Fields("[ sp4 B ]"), 400, 400, "gzip")
	items := make([]map[string]any, n/100)
	for i := range items {
		items[i] = map[string]any{"id": fmt.Sprint("item ", i), "count": i, "wear": 0.25, "pos": variant.Vector2{X: 1}}
	}
	godot3 := testenv.Must(variant.Marshal(items, variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}))(t)
	text := base64.StdEncoding.AppendEncode([]byte("v1\n"), godot3)
	all := workPerByte + fixedWork/n + 60 // the last step can exceed it
	for _, test := range []struct {
		name  string
		b     []byte
		times int // instructions for each byte
	}{
		{"noise", noise, 70},
		{"zeros", make([]byte, n), 65},
		{"text", bytes.Repeat([]byte("some words\n"), n/11), 125},
		{"signatures", bytes.Repeat([]byte{0x78, 0x9c}, n/2), 65},
		{"a value", value, 60},
		{"a cut value", value[:len(value)*9/10], 65},
		{"a cut value after a header", append([]byte("SAVE\x03\x00\x00\x00"), value[:len(value)*9/10]...), 65},
		{"a cut value after noise", slices.Concat(noise[:n/2], value[:n/2]), 245},
		{"a changed byte", flipped, 165},
		{"a hole", slices.Concat(value[:n/3&^3], make([]byte, 4096), value[n/2&^3:]), 95},
		{"small numbers", numbers, all},
		{"a FastLZ stream in each", bytes.Repeat([]byte("\x0f\x1c\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00\xe0\xff\x00"), n/20), all},
		{"records each damaged", damaged, all},
		{"records with checksums, a third damaged", sums, all},
		{"records in base64", lines, 285},
		{"records in streams", streams, 230},
		{"a value of Godot 3 after a byte", append([]byte{9}, godot3...), 65},
		{"one in base64", text, 170},
	} {
		s := newSearch(nil, len(test.b))
		s.find(test.b, s.Formats, 0)
		require.LessOrEqual(t, (s.used+s.hashed)/int64(len(test.b)), int64(test.times), test.name)
	}
}

// TestRecordsAfterNumbers: numbers before each of many small records are no lengths, and the first of them is no damaged Array with
// the others in it.
func TestRecordsAfterNumbers(t *testing.T) {
	b, values := []byte("ECSW"), [][]byte(nil)
	for i := range 400 {
		v := testenv.Must(variant.Marshal(map[string]float64{"x": float64(i), "speed": 2}))(t)
		values = append(values, v)
		b = slices.Concat(b, integer(3<<32+uint64(i), 8, false), integer(uint64(len(v)), 4, false), v)
	}
	for _, blocks := range [][]byte{nil, slices.Concat(integer(400, 4, false), integer(16, 8, false), b[4:])} {
		p := Find(slices.Concat(b, blocks), nil)
		require.NotNil(t, p)
		require.NoError(t, p.Err)
		require.False(t, p.IsDamaged())
		require.Equal(t, values, p.Values()[:len(values)])
	}
}

// TestNumbersAreNoChecksum: numbers before a value, with more zeros than a digest has, look like none.
func TestNumbersAreNoChecksum(t *testing.T) {
	numbers := slices.Concat(integer(9876543210, 8, false), integer(uint64(math.Float32bits(3.14)), 4, false), integer(math.Float64bits(2.71828), 8, false))
	for _, header := range [][]byte{append([]byte{255, 255, 255}, numbers...), {'L', 'V', 'L', 0, 0, 0xc0, 0x3f, 0, 1}} { // or flags after a float
		p := Find(append(header, saved(t, 400, 1, "Ada")...), nil)
		require.NotNil(t, p)
		_, size := p.Secret()
		require.Zero(t, size)
	}
}

// TestDamagedRecord: a damaged record is one, and not several small values in it.
func TestDamagedRecord(t *testing.T) {
	for _, n := range []int{20, 64, 200} {
		whole, _, starts := records(t, strings.Fields("[ sp4 crcp B ]"), n, 400, "plain")
		for _, at := range []int{30, 90} {
			damaged := slices.Clone(whole)
			damaged[starts[n*2/3]+at] ^= 0x80
			p := Find(damaged, nil)
			require.NotNil(t, p)
			require.Error(t, p.Err, "%d records, byte %d: %v", n, at, p)
		}
	}
}

// TestBase64Lines finds values in many lines of base64, which are searched once each.
func TestBase64Lines(t *testing.T) {
	for _, tokens := range []string{"[ L ]", "[ l: L ]"} {
		whole, values, _ := records(t, strings.Fields(tokens), 500, 400, "plain")
		p := Find(whole, nil)
		require.NotNil(t, p, tokens)
		require.Equal(t, values, p.Values(), tokens)
	}
}

// TestDamagedStreams: a stream that is cut or damaged is damage and no bytes of the game's own, after values, and if there are no others.
func TestDamagedStreams(t *testing.T) {
	header := []byte("SAVE\x07\x00\x00\x00\x10\x27\x00\x00")
	for _, mode := range []string{"zstd", "gzip", "zlib"} {
		packed := pack(t, saved(t, 3000, 1, "Ada Lovelace"), mode)
		zeroed := slices.Clone(packed)
		clear(zeroed[len(packed)-4:])
		for name, b := range map[string][]byte{"cut": packed[:len(packed)*2/3], "zeroed": zeroed} {
			name = mode + ", " + name
			var damage *StreamError
			o := &Options{}
			require.Nil(t, Find(slices.Concat(header, b), o), name)
			require.ErrorAs(t, o.Locked, &damage, name)
			require.Equal(t, len(header), damage.Offset, name)

			value := saved(t, 400, 1, "Ada")
			sizes := slices.Concat([]byte{1}, integer(3000, 8, false), integer(uint64(len(packed)), 8, false))
			p := Find(slices.Concat(header, integer(uint64(len(value)), 4, false), value, sizes, b), nil)
			require.NotNil(t, p, name)
			require.Equal(t, [][]byte{value}, p.Values(), name)
			require.ErrorAs(t, p.Err, &damage, name)
			require.Equal(t, len(header)+4+len(value)+len(sizes), damage.Offset, name)
		}
		require.NoError(t, Find(slices.Concat(header, packed), nil).Err, mode)
	}
}
