package explain

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// TestCut drops a record that is cut, and writes what a game writes of the others, or says that it does not know.
func TestCut(t *testing.T) {
	for _, test := range []struct {
		layout     string
		whole      int    // records before the one that is cut
		kept, lost int    // bytes of it that are left, or if that is 0, that are lost
		want       string // the error, or "" if the bytes that are left are a trailer
		doubtful   bool   // what to write
	}{
		{"[ sp2 B ]", 5, 0, 10, "record 5 is cut: it lacks 10 bytes", false},
		{"[ sp2 B ]", 5, 1, 0, "", false},
		{"[ sp2 B ]", 2, 100, 0, "record 2 is cut: it lacks 274 bytes", false},
		{"[ B md5p ]", 5, 0, 100, "record 5 is cut", false},
		{"m:REPL cnt4 [ sp4 crcp B ]", 5, 0, 200, "record 5 is cut: it lacks 200 bytes", false},
		{"m:REPL cnt4 [ sp4 crcp B ]", 5, 8, 0, "record 5 is cut: it lacks 636 bytes", true},
		{"m:REPL cnt4 [ sp4 crcp B ]", 4, 500, 0, "record 4 is cut: it lacks 56 bytes", true},
		{"m:HEAD st4 [ u8=3 sp4 B ]", 5, 0, 1, "record 5 is cut: it lacks 1 byte", true},
		{"[ B crcp ]", 5, 0, 100, "record 5 is cut", false},
		{"[ B crcp ]", 5, 0, 4, "record 5 is cut: it lacks 4 bytes", false},
		{"m:HEAD sr4 [ sp4 md5p B crca ]", 5, 0, 2, "record 5 is cut: it lacks 2 bytes", true},
		{"[ sp4 B u32=70 ]", 5, 0, 1, "record 5 is cut: it lacks 1 byte", false},
		{"[ l: L ]", 6, -1, 0, "", false}, // the end of a line
		{"[ tim8 sp4 B ]", 1, 200, 0, "record 1 is cut: it lacks 96 bytes", false},
	} {
		var values [][]byte
		for i := range 6 {
			values = append(values, saved(t, 200+100*i, i, "Ada Lovelace"))
		}
		l := layout(strings.Fields(test.layout))
		build := func(n int) []byte { return l.build(t, values[:n], "plain") }
		size := len(build(test.whole)) + test.kept
		if test.kept == 0 {
			size = len(build(test.whole+1)) - test.lost
		}
		whole := build(6)[:size]
		e := Find(whole, nil)
		require.NotNil(t, e, test.layout)
		require.Equal(t, framed(values[:test.whole]), e.Content(), test.layout)
		want := whole
		if test.want == "" {
			require.NoError(t, e.Err, test.layout)
		} else {
			want = build(test.whole)
			require.EqualError(t, e.Err, fmt.Sprintf("offset %d: %s", len(want), test.want), test.layout)
		}
		got, err := e.WithContent(e.Content())
		if test.doubtful {
			require.ErrorAs(t, err, new(*DoubtError), test.layout)
			continue
		}
		require.NoError(t, err, test.layout)
		require.Equal(t, want, got.Bytes(), test.layout)
	}
}

// TestParseFaults tells which checksum of a record is wrong among right ones. It stays, unless the values of the record are changed.
func TestParseFaults(t *testing.T) {
	for _, test := range []struct {
		layout     string
		header, at int // the size of the header, and the offset of the checksum in a record
		name       string
	}{
		{"[ sp4 crcp B ]", 0, 4, "CRC-32"},
		{"m:REPL cnt4 [ md5p sp4 B ]", 8, 0, "MD5"},
		{"[ sp2 sha256hp B ]", 0, 2, "SHA-256"},
		{"[ B crcp ]", 0, -4, "CRC-32"},
	} {
		l := layout(strings.Fields(test.layout))
		for _, n := range []int{3, 4, 5, 8} {
			for wrong := range n {
				var values [][]byte
				for i := range n {
					values = append(values, saved(t, 290+100*i, i, "Ada Lovelace"))
				}
				spoil := func(b []byte, values [][]byte) []byte {
					at := test.header + test.at
					if before := wrong + max(-test.at, 0)/4; before > 0 {
						at = len(l.build(t, values[:before], "plain")) + test.at
					}
					b[at] = '0' + b[at]&1 ^ 1
					return b
				}
				e := Find(spoil(l.build(t, values, "plain"), values), nil)
				if n == 3 {
					require.True(t, e == nil || len(e.Faults()) == 0, test.layout)
					continue
				}
				require.NotNil(t, e, test.layout)
				all := e.Faults()
				require.Len(t, all, 1, "%s: %v", test.layout, e)
				require.Equal(t, wrong, all[0].Record, test.layout)
				require.Equal(t, test.name, all[0].What)
				for i := range n {
					changed := slices.Clone(values)
					changed[i] = saved(t, 310, i, "Eve")
					want := l.build(t, changed, "plain")
					if i != wrong {
						want = spoil(want, changed)
					}
					require.Equal(t, want, testenv.Must(e.Write(changed))(t), "%s: %d, %d", test.layout, wrong, i)
				}
			}
		}
	}
}

// TestParseEdges tries each bound, and one less and one more.
func TestParseEdges(t *testing.T) {
	value := saved(t, 1500, 0, "Ada Lovelace")
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	var values [][]byte
	for i := range mostLearnt + 1 {
		values = append(values, saved(t, 200+i%7*100, i, "Ada Lovelace"))
	}
	records := func(l string, n int) []byte { return layout(strings.Fields(l)).build(t, values[:n], "plain") }
	number := func(n int) []byte { return integer(uint64(n), 4, false) }
	cut := records("[ u8=3 sp4 B ]", 5)
	for _, edge := range []struct {
		name string
		at   int
		is   func(n int) bool
		want [3]bool // for one less, the bound, and one more
	}{
		{"records", mostLearnt, func(n int) bool {
			e := Find(records("[ sp2 crcp B ]", n), nil)
			return e != nil && e.bodies() == n && len(e.Faults()) == 0 && len(e.Parts) == 3*n
		}, [3]bool{true, true, true}},
		{"size of a cut record", maxCut, func(n int) bool {
			n = maxCut + 4*(n-maxCut) // sizes of values are multiples of 4
			e := Find(join(cut, []byte{3}, number(n), []byte{29, 0, 0, 0}, number(n-8), bytes.Repeat([]byte{0x80, 0xfe}, 50)), nil)
			return e != nil && e.Err != nil
		}, [3]bool{true, true, false}},
		{"number of records", 1 << 20, func(n int) bool {
			b := records("u32=1 [ sp2 B ]", 5)
			copy(b, number(n))
			e := Find(b[:len(b)-9], nil)
			_, err := e.WithContent(e.Content())
			return err != nil
		}, [3]bool{true, true, false}},
		{"depth", maxDepth, func(n int) bool {
			b := value
			for range n {
				b = pack(t, join([]byte("SAVE"), b), "zstd")
			}
			e := Find(join([]byte("SAVE"), b), nil)
			return e != nil && strings.Count(e.String(), "of 4 bytes") == n+1
		}, [3]bool{true, true, false}},
		{"a value through the stored blocks of deep streams", maxDepth, func(n int) bool {
			b := saved(t, 40, 0, "Ada")
			for range n {
				b = pack(t, join([]byte("SAVE"), b), "zstd")
			}
			return Find(join([]byte("SAVE"), b), nil) == nil
		}, [3]bool{false, false, true}},
		{"wrong checksums", 2, func(n int) bool { // one in four
			b := records("[ sp2 crcp B ]", 8)
			for i := range n {
				b[len(records("[ sp2 crcp B ]", i+2))+2]++
			}
			return len(Find(b, nil).Faults()) == n
		}, [3]bool{true, true, false}},
	} {
		t.Run(edge.name, func(t *testing.T) {
			for i, want := range edge.want {
				require.Equal(t, want, edge.is(edge.at+i-1), i-1)
			}
		})
	}
}

// TestPrices finds what only prices tell from something else, and asks where they hardly do.
func TestPrices(t *testing.T) {
	value, long := saved(t, 0, 0, "Ada"), saved(t, 1500, 0, "Ada")
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	encode := func(v any) []byte { return testenv.Must(variant.Marshal(v))(t) }
	u32 := func(n int) []byte { return integer(uint64(n), 4, false) }
	total := 0
	for _, c := range value {
		total += int(c)
	}
	floats, ints := make([]float32, 300), make([]int32, 300)
	for i := range floats {
		floats[i], ints[i] = float32(i*i)/7, int32(i)
	}
	save, null := []byte("SAVE"), []byte{4, 0, 0, 0, 0, 0, 0, 0}
	var hundred, overlapped []byte
	for seed := 0; overlapped == nil || overlapped[4] != 100; seed++ {
		hundred = saved(t, 100, seed, "Ada")
		overlapped = layout{"u32=1", "crcp", "md5p", "B"}.build(t, [][]byte{hundred}, "plain")
	}
	for _, test := range []struct {
		name  string
		input []byte
		value []byte // the last one
		want  string // what is around the values
		doubt int    // the offset of what is doubtful in an edit, or -1
		sure  bool
	}{
		{"u64 4, or a null after its length", join(null, value), value, "after a header of 8 bytes", -1, true},
		{"u64 4, or a null before a length", join(null, u32(len(value)), value), value, "in 2 records (size at 0, which is written anew)", -1, true},
		{"numbers of 16 bits, or an int of 64", join([]byte{2, 0, 1, 0}, u32(7), u32(2000), value), value, "after a header of 12 bytes", -1, true},
		{"a null after a value", join(u32(len(value)), value, null), null[4:], "in 2 records (size at 0, which is written anew)", -1, true},
		{"a packed array of numbers in a value", join(save, u32(7), encode(map[string]any{"m": floats})), encode(map[string]any{"m": floats}), "after a header of 8 bytes", -1, true},
		{"a packed array of small numbers in a value", join(save, u32(7), encode(map[string]any{"m": ints})), encode(map[string]any{"m": ints}), "after a header of 8 bytes", -1, true},
		{"bytes of a value in a value", encode(value), encode(value), "", -1, true},
		{"bytes of a long value after a header", join(save, u32(1), encode(long)), encode(long), "after a header of 8 bytes", -1, false},
		{"bytes of values in an Array", join(save, u32(1), encode([]any{value, value, long})), encode([]any{value, value, long}), "after a header of 8 bytes", -1, true},
		{"bytes of a value in a Dictionary", encode(map[string]any{"data": long, "v": 1}), encode(map[string]any{"data": long, "v": 1}), "", -1, true},
		{"a version that is the sum of the bytes", join(save, u32(total), value), value, "after a header of 8 bytes (perhaps sum of bytes at 4, which is written anew)", 4, true},
		{"one of many numbers that is the sum of the bytes", join(value, bytes.Repeat([]byte{0x9a, 0x99, 0x99, 0x3e}, 25), u32(total), bytes.Repeat([]byte{0x9a, 0x99, 0x99, 0x3e}, 24)), value, "before a trailer of 200 bytes", -1, true},
		{"a size over a number and a CRC-32", overlapped, hundred, "after a header of 24 bytes (CRC-32 at 4, MD5 at 8; both are written anew)", -1, true},
	} {
		e := Find(test.input, nil)
		require.NotNil(t, e, test.name)
		require.Equal(t, test.want, e.String(), test.name)
		require.Equal(t, test.sure, e.Sure(), test.name)
		require.False(t, e.IsDamaged(), test.name)
		values := e.Values()
		last := len(values) - 1
		require.Equal(t, test.value, values[last], test.name)
		values[last] = saved(t, 1500, 1, "Eve")
		if _, err := e.Write(values); test.doubt >= 0 {
			require.ErrorContains(t, err, fmt.Sprintf("at offset %d is ", test.doubt), test.name)
		} else {
			require.NoError(t, err, test.name)
		}
	}
}

// TestEncrypted finds values in encrypted files in what a game writes, and encrypts others, with their sizes and checksums.
func TestEncrypted(t *testing.T) {
	key := fileaccess.PasswordKey("secret")
	value, other := saved(t, 400, 0, "Ada"), saved(t, 400, 0, "Adalbert the second of that name")
	for _, l := range []string{"m:SAVE sp4 crcp B", "[ sp4 crcp B ]", "u32=7 B", "md5p V"} {
		for _, engine := range []fileaccess.Layout{fileaccess.LayoutGodot4, fileaccess.LayoutGodot3} {
			var out bytes.Buffer
			w := testenv.Must(fileaccess.NewWriter(&out, fileaccess.Info{Container: fileaccess.Encrypted, Layout: engine}, key))(t)
			testenv.Must(w.Write(value))(t)
			require.NoError(t, w.Close())
			b := layout(strings.Fields(l)).build(t, [][]byte{out.Bytes(), out.Bytes(), out.Bytes()}, "plain")
			locked := new(Options)
			require.Nil(t, Find(b, locked))
			require.ErrorIs(t, locked.Locked, fileaccess.ErrNoKey)
			o := &Options{AskKey: func(fileaccess.Info) (*fileaccess.Key, error) { return key, nil }}
			e := Find(b, o)
			require.NotNil(t, e, l)
			values := e.Values()
			require.Equal(t, value, values[0])
			require.Contains(t, e.String(), ", encrypted as by "+engine.String())
			values[len(values)-1] = other
			again := Find(testenv.Must(e.Write(values))(t), o)
			require.Equal(t, values, again.Values())
			require.Equal(t, e.String(), again.String()) // and all fields are right
			require.Empty(t, again.Faults())
		}
	}
}

// TestKept names all bytes that stay: of records, those of the first.
func TestKept(t *testing.T) {
	value := saved(t, 400, 0, "Ada")
	for _, test := range []struct{ layout, want string }{
		{"m:SAVE u32=3 sp4 B", `"SAVE" at 0, number 3 at 4`},
		{"p:slot U32=258 f32=-1.5 V u8=7", `"slot" at 0, number 258 at 8, float -1.5 at 12, number 7 at 384`},
		{"u16=2 m:ABCD u32=8 V rnd8", `number 2 at 0, "ABCD" at 2, number 8 at 6, 8 bytes at 378`},
		{"u32=9 [ u8=4 V ] m:END!", `number 9 at 0, number 4 at 1, number 4 at 373, "END!" at 1111`},
		{"png u32=5 sp4 crcp B", `number 266 at 0, PNG image at 4, number 5 at 270`},
		{"V u32=70000 rnd32 rnd32 rnd8", `76 bytes at 368`},
		{"V", ""},
	} {
		e := Find(layout(strings.Fields(test.layout)).build(t, [][]byte{value, value, value}, "plain"), nil)
		require.NotNil(t, e, test.layout)
		require.Equal(t, test.want, strings.Join(e.Kept(), ", "), test.layout)
	}
	digest := sha256.Sum256([]byte("a secret")) // after a file that says where it ends
	for _, file := range []string{"\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\x91\xf4", 50) + "IEND\xaeB`\x82", "\xff\xd8\xff" + strings.Repeat("\x00\x91\xf4", 50) + "\xff\xd9", "RIFF\x64\x00\x00\x00WEBPVP8" + strings.Repeat("\x91", 93)} {
		e := Find(slices.Concat([]byte(file), digest[:], integer(uint64(len(value)), 4, false), value), nil)
		require.NotNil(t, e)
		at, size := e.Secret()
		require.Equal(t, []int{len(file), len(digest)}, []int{at, size}, "%.4q", file)
	}
}

// TestBrokenValue: a value that cannot be read is damage, whatever texts are in it, and whole values follow it.
func TestBrokenValue(t *testing.T) {
	v := testenv.Must(variant.Marshal(map[string]any{"name": "Ada Lovelace", "list": []any{"one two", "three four", 5, 6}, "x": 5}))(t)
	number := func(n int) []byte { return integer(uint64(n), 4, false) }
	packet := slices.Concat(number(len(v)), v)
	for _, test := range []struct {
		text          string // the value before it has no type
		before, after []byte
		whole         int // values on each side
	}{
		{"three", nil, nil, 0},
		{"three", number(len(v)), nil, 0},
		{"three", slices.Concat([]byte("SAVE"), number(3)), nil, 0},
		{"three", slices.Concat([]byte("SAVE"), number(3), number(len(v))), nil, 0},
		{"three", slices.Concat(packet, number(len(v))), packet, 1},
		{"name", slices.Concat(packet, number(len(v))), packet, 1},
		{"three", slices.Concat([]byte("SAVE"), number(7), packet, packet, number(len(v))), slices.Concat(packet, packet), 2},
		{"name", slices.Concat([]byte("SAVE"), number(7), packet, packet, number(len(v))), slices.Concat(packet, packet), 2},
	} {
		broken := bytes.Clone(v)
		broken[bytes.Index(v, []byte(test.text))-8] = 77
		e := Find(slices.Concat(test.before, broken, test.after), nil)
		require.NotNil(t, e)
		require.True(t, e.IsDamaged(), "%v", e)
		bodies := slices.DeleteFunc(slices.Clone(e.Parts), func(p Part) bool { return !p.isBody() })
		require.Equal(t, Cut, bodies[test.whole].Kind)
		require.True(t, test.whole == 0 || len(bodies) == 2*test.whole+1, "%v", e)
	}
}

// TestTables finds no values in tables of small numbers, such as those of sections in programs.
func TestTables(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range testenv.Cases(40, 1000) {
		var b []byte
		for range 1 + r.IntN(60) {
			b = append(b, integer(uint64(r.IntN(300)), 4, false)...)
			b = append(b, integer(uint64(r.IntN(12)), 4, false)...)
			for _, n := range []int{8, 1 << 14, 1 << 14, 1 << 12} {
				b = append(b, integer(uint64(r.IntN(n)), 8, false)...)
			}
			b = append(b, integer(uint64(r.IntN(30)), 4, false)...)
			b = append(b, integer(uint64(r.IntN(30)), 4, false)...)
			b = append(b, integer(1<<r.IntN(6), 8, false)...)
			b = append(b, integer(uint64(r.IntN(2)*24), 8, false)...)
		}
		e := Find(b, nil)
		require.Nil(t, e, "%v", e)
		for b = b[:0]; len(b) < 400; {
			b = append(append(b, integer(2, 4, false)...), integer(uint64(r.IntN(300)), 4, false)...)
		}
		e = Find(append([]byte("DATA"), b...), nil)
		require.Nil(t, e, "%v", e)
	}
}

// TestWrongLengths corrects the wrong length of a packet among others, with nothing lost. The first can be after a header.
func TestWrongLengths(t *testing.T) {
	var values [][]byte
	for _, v := range []any{7, "Ada Lovelace", map[string]any{"hp": 3, "name": "Ada"}, 1.5, []any{1, "two", 3}, map[string]any{"gold": 120, "note": "some words of text"}} {
		values = append(values, testenv.Must(variant.Marshal(v))(t))
	}
	want, at := framed(values), 0
	for i, v := range values {
		for _, wrong := range []int{len(v) + 4, len(v) - 4, len(v) + 1, len(v) ^ 32, 2048, 9376} {
			b := slices.Clone(want)
			copy(b[at:], integer(uint64(wrong), 4, false))
			e := Find(b, nil)
			require.NotNil(t, e, "%d, %d", i, wrong)
			if i == 0 && !e.IsPlain() {
				continue
			}
			require.Equal(t, want, e.Bytes(), "%d, %d: %v", i, wrong, e)
			require.Equal(t, &LengthError{Offset: at, Length: int64(wrong), Size: int64(len(v))}, e.Err, "%d, %d", i, wrong)
		}
		at += lengthSize + len(v)
	}
}

// TestValueHash: Godot 4.7 returned these numbers of hash(), which follow other values in a Dictionary.
func TestValueHash(t *testing.T) {
	for _, test := range []struct {
		value string
		want  uint32
	}{
		{"00000000", 0},
		{"0100000001000000", 1},
		{"0200000007000000", 2503556531},
		{"020001000000000000010000", 1776532303},
		{"030001009a9999999999b93f", 3628020638},
		{"0300000000000080", 546098158},
		{"0400000000000000", 5381},
		{"040000000300000041646100", 193451179},
		{"0400000009000000c39c6ec3aff09f9880000000", 2094635934},
		{"1500000004000000626f7373", 2090120220},
		{"0500000000004841000050c0", 3620359076},
		{"0600000001000000feffffff", 3991579011},
		{"140000000000803f0000003f0000803e0000803f", 511023740},
		{"120000000000803f0000000000000000000000000000803f0000000000000000000000000000803f000000000000000000000000", 1884487751},
		{"1d0000000300000001020300", 3028899408},
		{"1d00000000000000", 546098158},
		{"1f000000020000000100000000000000feffffffffffffff", 3628040783},
		{"20000000020000000000c03f00000040", 1035145876},
		{"220000000200000002000000610000000300000062630000", 2659678625},
		{"1c000000020000000200000001000000040000000100000061000000", 3230335652},
		{"1b00000002000000040000000200000068700000020000000300000004000000040000006e616d65040000000300000041646100", 3633872779},
		{"1b0000000200000002000000010000001c0000000200000003000000000020401b000000010000000400000001000000780000000000000004000000010000006b0000001b0000000100000004000000010000007a0000000100000001000000", 3958179977},
	} {
		b := testenv.Must(hex.DecodeString(test.value))(t)
		require.Equal(t, be32(test.want), valueHash(b), test.value)
		require.Nil(t, valueHash(b[:len(b)-4]), test.value)
		digest := binary.LittleEndian.AppendUint64(nil, uint64(test.want))
		require.Equal(t, make([]byte, 8), Rehash(digest, [][]byte{b}, [][]byte{{0, 0, 0, 0}}), test.value)
	}
	require.Nil(t, valueHash(testenv.Must(hex.DecodeString("16000000020000800100000000000000010000006100000001000000620000000100000063000000"))(t))) // a NodePath
}

// TestTableOfSizes writes the offsets and sizes of all records before them, and asks if a size can also be that of another record.
func TestTableOfSizes(t *testing.T) {
	file := func(v ...[]byte) []byte {
		header := []byte("PACK")
		for _, n := range []int{2, 24, len(v[0]), 24 + len(v[0]), len(v[1])} {
			header = append(header, integer(uint64(n), 4, false)...)
		}
		return slices.Concat(header, v[0], v[1])
	}
	short, longer, long := saved(t, 0, 0, "Ada"), saved(t, 0, 0, "Ada L."), saved(t, 1500, 0, "Ada")
	for i := range 2 {
		v := [][]byte{saved(t, 900, 0, "Bo"), long}
		e := Find(file(v...), nil)
		v[i] = saved(t, 2000, 1, "Eve")
		require.Equal(t, file(v...), testenv.Must(e.Write(v))(t))
	}
	require.Len(t, longer, len(short)+4)
	_, err := Find(file(short, longer), nil).Write([][]byte{short, long})
	require.ErrorContains(t, err, "at offset 20 is a size, or something else")
}

// TestTablesOfOffsets writes the offsets of records in a table before or after these, from the start of the file or of the records.
func TestTablesOfOffsets(t *testing.T) {
	u32 := func(n int) []byte { return integer(uint64(n), 4, false) }
	sized := func(b []byte) []byte { return append(u32(len(b)), b...) }
	checked := func(b []byte) []byte {
		return slices.Concat(u32(len(b)), sums[slices.IndexFunc(sums, func(s *sum) bool { return s.name == "SHA-256" })].of(b), b)
	}
	packed := func(b []byte) []byte { return sized(pack(t, b, "zstd")) }
	for _, form := range []struct {
		name   string
		record func([]byte) []byte
		table  func(offsets []int, size int) (before, after []byte) // size is that of the records
	}{
		{"regions", packed, func(offsets []int, _ int) ([]byte, []byte) {
			b := make([]byte, 4096)
			for i, at := range offsets {
				copy(b[4*(37*i+2):], u32(4096+at))
			}
			return b, nil
		}},
		{"from the start of the file", sized, func(offsets []int, _ int) (b, _ []byte) {
			b = append([]byte("PACK"), u32(len(offsets))...)
			for _, at := range offsets {
				b = append(b, u32(8+4*len(offsets)+at)...)
			}
			return b, nil
		}},
		{"from the start of the records", checked, func(offsets []int, _ int) (b, _ []byte) {
			b = append([]byte("DATA"), u32(len(offsets))...)
			for _, at := range offsets {
				b = append(b, u32(at)...)
			}
			return b, nil
		}},
		{"of 64 bits, with sizes", func(b []byte) []byte { return b }, func(offsets []int, size int) (b, _ []byte) {
			for i, at := range offsets {
				b = append(append(b, integer(uint64(16*len(offsets)+at), 8, false)...), integer(uint64(append(offsets, size)[i+1]-at), 8, false)...)
			}
			return b, nil
		}},
		{"after the records", checked, func(offsets []int, size int) (_, b []byte) {
			for _, at := range offsets {
				b = append(b, u32(4+at)...)
			}
			return []byte("LOG2"), append(b, u32(4+size)...)
		}},
	} {
		build := func(values [][]byte) []byte {
			var offsets []int
			var all []byte
			for _, v := range values {
				offsets = append(offsets, len(all))
				all = append(all, form.record(v)...)
			}
			before, after := form.table(offsets, len(all))
			return slices.Concat(before, all, after)
		}
		for _, size := range []int{150, 1500, 20_000} {
			var values [][]byte
			for i := range 5 {
				values = append(values, saved(t, size+100*i, i, "Ada Lovelace"))
			}
			p := Find(build(values), nil)
			require.NotNil(t, p, form.name)
			values[1] = saved(t, size+200, 1, "Adalbert the second of that name")
			require.Equal(t, build(values), testenv.Must(p.Write(values))(t), "%s, %d: %v", form.name, size, p)
		}
	}
}

// TestTilesAndHeights reads values before and after many numbers of the game's own, which are no damaged packets, and no checksums.
func TestTilesAndHeights(t *testing.T) {
	tiles, heights := []byte{64, 0, 0, 0, 48, 0, 0, 0}, integer(1024, 4, false)
	for i := range 3000 {
		tiles = append(tiles, byte(i*i/7%8))
	}
	for i := range 1024 {
		heights = append(heights, integer(uint64(math.Float32bits(float32(20*math.Sin(float64(i)/10)))), 4, false)...)
	}
	for _, test := range []struct {
		name          string
		before, after []byte
	}{
		{"tiles before", append([]byte("MAP1"), tiles...), nil},
		{"tiles after", nil, tiles},
		{"heights before", heights, nil},
		{"heights after", nil, heights},
		{"both", tiles, heights},
	} {
		for _, size := range []int{1500, 20_000} {
			build := func(name string) []byte {
				return slices.Concat(test.before, layout{"V"}.build(t, [][]byte{saved(t, size, 0, name)}, "plain"), test.after)
			}
			p := Find(build("Ada"), nil)
			require.NotNil(t, p, test.name)
			require.False(t, p.IsDamaged(), "%s: %v", test.name, p)
			require.Equal(t, saved(t, size, 0, "Ada"), p.Content(), test.name)
			require.True(t, p.IsProved() || len(test.before) > 0, test.name)
			got, err := p.Write([][]byte{saved(t, size, 0, "Adalbert")})
			if err != nil && test.name != "heights before" && test.name != "heights after" { // one of the tiles is equal to a size
				require.ErrorAs(t, err, new(*DoubtError), test.name)
				continue
			}
			require.NoError(t, err, "%s: %v", test.name, p)
			require.Equal(t, build("Adalbert"), got, test.name)
		}
	}
}

// TestParseBudget: a search that ends early finds all or nothing.
func TestParseBudget(t *testing.T) {
	var values [][]byte
	for i := range 5 {
		values = append(values, saved(t, 200+100*i, i, "Ada Lovelace"))
	}
	for _, mode := range []string{"plain", "zstd", "fastlz"} {
		b := layout{"m:LOG", "u32=9", "[", "sp4", "B", "crcp", "]", "md5a"}.build(t, values, mode)
		found := 0
		for left := int64(1); left < fixedWork; left += left/4 + 1 {
			s := newSearch(nil, len(b))
			s.used = s.all() - left
			if e := s.find(b, s.Formats, 0); e != nil {
				require.Equal(t, framed(values), e.Content(), "%s, %d", mode, left)
				found++
			} else {
				require.NotNil(t, s.ended)
			}
		}
		require.NotZero(t, found)
	}
}

// TestBounds: a search that takes too long finds nothing, and says where it ended.
func TestBounds(t *testing.T) {
	value := saved(t, 400, 1, "Ada Lovelace")
	pairs := bytes.Repeat(append(integer(27, 4, false), integer(8, 4, false)...), 1<<16)
	strings := make([]byte, 0, 1<<20)
	for n := 1 << 20; n > 8; n -= 8 {
		strings = append(append(strings, integer(4, 4, false)...), integer(uint64(n-8)/2, 4, false)...)
	}
	bomb := pack(t, make([]byte, 40<<20), "gzip")
	for _, test := range []struct {
		name   string
		before []byte
	}{
		{"nested values", pairs},
		{"overlapping values", strings},
		{"bombs", bytes.Repeat(bomb, 3)},
	} {
		o := &Options{}
		b := slices.Concat([]byte("SAVE"), test.before, value)
		require.Nil(t, Find(b, o), test.name)
		require.NotNil(t, o.Ended, test.name)
		require.Regexp(t, `ended at offset \d+, because it took too long; if there are bytes before a value, skip them$`, o.Ended.Error())
		require.Less(t, o.Ended.Offset, len(b)-len(value))
		shared := &Budget{}
		shared.Add(len(b))
		require.Nil(t, Find(b, &Options{Shared: shared}), test.name)
		require.Less(t, shared.used, shared.all()+4<<20, test.name) // the last step can exceed it
		require.Nil(t, Find(value, &Options{Shared: shared}), "what was ended stays so: %s", test.name)
		require.NotNil(t, Find(value, o), test.name)
		require.Nil(t, o.Ended, test.name)
	}
}

// TestNestedSizes writes values in nested records, headers and streams: right, or there is an error.
func TestNestedSizes(t *testing.T) {
	steps := []string{"sp4 B", "m:GAME sp4 crcp B", "u32=7 B", "[ sp4 crcp B ]", "[ sp4 B ]", "gzip"}
	first, other := saved(t, 1300, 0, "Ada"), saved(t, 1300, 0, "Adalbert the second of that name")
	var nest func(was, want []byte, names []string)
	nest = func(was, want []byte, names []string) {
		if len(names) > 0 {
			name := strings.Join(names, ", ")
			e := Find(was, nil)
			require.NotNil(t, e, name)
			values := e.Values()
			require.Equal(t, first, values[0], name)
			values[0] = other
			if got, err := e.Write(values); err != nil {
				require.ErrorAs(t, err, new(*DoubtError), name)
			} else {
				require.Equal(t, want, got, "%s: %v", name, e)
			}
		}
		for _, step := range steps {
			if len(names) == 3 || len(names) > 0 && names[len(names)-1] == step {
				continue
			}
			build := func(content []byte) []byte {
				if step == "gzip" {
					return pack(t, content, step)
				}
				return layout(strings.Fields(step)).build(t, [][]byte{content, was, was}, "plain")
			}
			nest(build(was), build(want), append(slices.Clone(names), step))
		}
	}
	nest(first, other, nil)
}

// TestLayoutsCut cuts every layout at random places: what remains is explained, or not, and a value that was whole is written
// again as it was.
func TestLayoutsCut(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for line := range strings.Lines(layouts) {
		tokens := strings.Fields(line)
		if len(tokens) == 0 {
			continue
		}
		var values [][]byte
		for i := range testenv.Must(strconv.Atoi(tokens[0]))(t) {
			values = append(values, saved(t, 40, i, "Ada Lovelace"))
		}
		whole := layout(tokens[1:]).build(t, values, "plain")
		for range testenv.Cases(10, 100) {
			b := whole[:r.IntN(len(whole))]
			if e := Find(b, nil); e != nil && e.Err == nil {
				again, err := e.Write(e.Values())
				require.NoError(t, err, "%s cut to %d: %v", line, len(b), e)
				require.Equal(t, b, again, "%s cut to %d: %v", line, len(b), e)
			}
		}
	}
}
