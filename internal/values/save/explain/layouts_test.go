package explain

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// A layout is what a game writes, as tokens: B is a body, V a body after a length of 32 bits, L a line of base64, and
// [ ] are around those of a record. m:TEXT is text, p:TEXT a text after its length, l:TEXT a line; u32=1 a number, and U32=1 a
// big-endian one; f32=1.5 a float; rnd16 random bytes; png an image after its size; cnt4 the number of records; idx4 that of a record, tim4 and tim8 its
// time. sX4 is a size in 4 bytes: sc4 of the content, sp4 of the body, sr4 of what follows, sn4 of what follows the next token,
// st4 of all, sa4 of all before; SX4 is big-endian. A checksum, such as md5, crc, or CRC in big-endian, is of the same letters. h, H, s and l before
// these are its forms: hexadecimal, upper case, after a length, and a line. z is of all, with the checksum as zeros.
type layout []string

func (l layout) build(tb testing.TB, values [][]byte, mode string) []byte {
	start, end := slices.Index(l, "["), slices.Index(l, "]")
	if start < 0 {
		return record(tb, l, values[0], mode, 0, 1)
	}
	var out []byte
	for i, v := range values {
		out = append(out, record(tb, l[start+1:end], v, mode, i, len(values))...)
	}
	head := append(slices.Clone(l[:start]), "\x00"+string(out))
	return record(tb, append(head, l[end+1:]...), nil, "plain", 0, len(values))
}

var modes = map[string]fileaccess.Mode{"zstd": fileaccess.Zstd, "gzip": fileaccess.Gzip, "zlib": fileaccess.Deflate, "fastlz": fileaccess.FastLZ}

// pack compresses b as gdwire writes it: as a stream.
func pack(tb testing.TB, b []byte, mode string) []byte {
	if mode == "plain" {
		return b
	}
	var out bytes.Buffer
	w := testenv.Must(fileaccess.NewWriter(&out, raw(modes[mode]), nil))(tb)
	_, err := w.Write(b)
	require.NoError(tb, err)
	require.NoError(tb, w.Close())
	return out.Bytes()
}

func integer(n uint64, w int, big bool) []byte {
	b := binary.LittleEndian.AppendUint64(nil, n)[:w]
	if big {
		slices.Reverse(b)
	}
	return b
}

// checksum splits the token of a checksum.
func checksum(token string) (s *sum, f Form, form byte, of byte, ok bool) {
	for name, title := range map[string]string{"crc": "CRC-32", "adl": "Adler-32", "md5": "MD5", "sha1": "SHA-1", "sha256": "SHA-256", "god": "hash()", "fnv": "FNV-1a"} {
		rest, found := strings.CutPrefix(strings.ToLower(token), name)
		if !found || len(rest) != 1 && len(rest) != 2 {
			continue
		}
		rest = token[len(name):]
		s = sums[slices.IndexFunc(sums, func(s *sum) bool { return s.name == title })]
		f = Form{Width: s.size, Big: token[0] < 'a' || s.size > mostDigest}
		if len(rest) == 2 {
			f.Text, form = 'x', rest[0]
			if form == 'H' {
				f.Text = 'X'
			}
		}
		return s, f, form, rest[len(rest)-1], true
	}
	return nil, f, 0, 0, false
}

// size splits the token of a size.
func size(t string) (of byte, w int, big, ok bool) {
	if len(t) != 3 || t[0]|0x20 != 's' || !strings.Contains("cprnta", t[1:2]) || t[2] < '1' || t[2] > '8' {
		return 0, 0, false, false
	}
	return t[1], int(t[2] - '0'), t[0] == 'S', true
}

// record writes tokens around one body.
func record(tb testing.TB, tokens []string, content []byte, mode string, i, all int) []byte {
	packed := pack(tb, content, mode)
	body := packed
	parts := make([][]byte, len(tokens))
	at := 0
	text := func(s string) []byte { return append(integer(uint64(len(s)), 4, false), s...) }
	sumOf := func(s *sum, f Form, form byte, b []byte) []byte {
		d := f.digest(s.of(b))
		switch form {
		case 's':
			return text(string(d))
		case 'l':
			return append(d, '\n')
		}
		return d
	}
	for k, t := range tokens {
		name, arg, _ := strings.Cut(t, "=")
		n, _ := strconv.ParseUint(arg, 10, 64)
		random := rand.New(rand.NewPCG(99, uint64(i)))
		switch {
		case t == "B":
			parts[k], at = body, k
		case t == "V":
			body = append(integer(uint64(len(packed)), 4, false), packed...)
			parts[k], at = body, k
		case t == "L":
			body = []byte(base64.StdEncoding.EncodeToString(packed))
			parts[k], at = append(slices.Clone(body), '\n'), k
		case t[0] == 0: // records
			body = []byte(t[1:])
			parts[k], at = body, k
		case t[1] == ':':
			parts[k] = map[byte]func(string) []byte{'m': func(s string) []byte { return []byte(s) }, 'l': func(s string) []byte { return []byte(s + "\n") }, 'p': text}[t[0]](t[2:])
		case name == "f32":
			x := testenv.Must(strconv.ParseFloat(arg, 32))(tb)
			parts[k] = integer(uint64(math.Float32bits(float32(x)+float32(i))), 4, false)
		case arg != "" && name[0]|0x20 == 'u':
			w := testenv.Must(strconv.Atoi(name[1:]))(tb)
			parts[k] = integer(n, w/8, name[0] == 'U')
		case t == "tim4":
			parts[k] = integer(uint64(1000+i*i*37+i*16), 4, false)
		case t == "tim8":
			parts[k] = integer(math.Float64bits(1732550400.25+float64(i)*0.37), 8, false)
		case t == "png":
			parts[k] = text("\x89PNG\r\n\x1a\n" + string(binary.BigEndian.AppendUint64(nil, random.Uint64())) + strings.Repeat("\x00\x00\x01\xf4\x91", 50))
		case t == "idx4":
			parts[k] = integer(uint64(i), 4, false)
		case t == "cnt4":
			parts[k] = integer(uint64(all), 4, false)
		case strings.HasPrefix(t, "rnd"):
			w := testenv.Must(strconv.Atoi(t[3:]))(tb)
			for range w {
				parts[k] = append(parts[k], byte(random.Uint32()))
			}
		default:
			if _, w, _, ok := size(t); ok {
				parts[k] = make([]byte, w)
				break
			}
			s, f, form, _, ok := checksum(t)
			require.True(tb, ok, "token %s", t)
			parts[k] = sumOf(s, f, form, nil)
		}
	}
	of := func(what byte, k int) []byte {
		switch what {
		case 'c':
			return content
		case 'p':
			return body
		case 'r':
			return bytes.Join(parts[k+1:], nil)
		case 'n':
			return bytes.Join(parts[k+2:], nil)
		case 'a':
			return bytes.Join(parts[:k], nil)
		}
		return bytes.Join(parts, nil) // t and z
	}
	for k, t := range tokens {
		if what, w, big, ok := size(t); ok {
			parts[k] = integer(uint64(len(of(what, k))), w, big)
		}
	}
	sum := func(k int) {
		if s, f, form, what, ok := checksum(tokens[k]); ok {
			clear(parts[k])
			parts[k] = sumOf(s, f, form, of(what, k))
		}
	}
	for k := len(tokens) - 1; k >= 0; k-- {
		if k < at {
			sum(k)
		}
	}
	for k := at; k < len(tokens); k++ {
		sum(k)
	}
	return bytes.Join(parts, nil)
}

// saved returns the bytes of a value of about n bytes.
func saved(tb testing.TB, n, seed int, name string) []byte {
	type item struct {
		ID    int
		Label string
		Speed float64
	}
	type doc struct {
		Name  string
		HP    int
		Pos   variant.Vector2
		Items []item
	}
	var v any = map[string]any{"name": name}
	if n >= 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		d := doc{Name: name, HP: 100 + seed, Pos: variant.Vector2{X: 12.5, Y: -3}}
		for range (n - 92) / 100 {
			d.Items = append(d.Items, item{r.IntN(100000), "item " + strconv.Itoa(r.IntN(50)), r.Float64() * 10})
		}
		v = d
	}
	b := testenv.Must(variant.Marshal(v))(tb)
	return b
}

// framed returns packets after their lengths, or one value.
func framed(values [][]byte) (content []byte) {
	if len(values) == 1 {
		return values[0]
	}
	for _, v := range values {
		content = append(content, append(integer(uint64(len(v)), 4, false), v...)...)
	}
	return content
}

// layouts contains layouts of games, most from public reports: the number of records, and tokens.
const layouts = `
1 u32=1 V
1 u32=2 V
1 u32=4 V
1 u32=9 V
1 m:SAVE B
1 m:GSAV u32=3 B
1 m:SAVE u32=1 sc4 B
1 sc4 B
1 sc8 B
1 Sc4 B
1 sp4 B
1 m:RPL1 sc4 sp4 B
1 m:SAV1 sp4 crcp B
1 crcp B
1 m:DATA CRCc B
1 md5p B
1 m:GAME u16=2 sha256c B
1 sha1hp B
1 md5p V
1 sha256lp B
1 B md5hp
1 B crca
1 m:SG01 B sha256a
1 p:user u64=1732550400 V
1 rnd16 B
1 m:SALT rnd32 B
1 l:v1.2 L
4 [ L ]
5 l:replay [ L ]
6 [ sp2 B ]
6 [ sp8 B ]
6 [ u8=3 sp4 B ]
6 [ tim4 sp4 B ]
5 [ sp4 sha256p B ]
5 m:REPL cnt4 [ sp4 crcp B ]
4 [ B crcp ]
4 [ crcp B ]
1 B sp4 crca
1 m:HEAD st4 B
1 st4 crcr B
1 Sr4 u32=7 B
1 m:AB u16=1 Sp2 B md5a
1 p:MyGame u32=3 sp4 sha256sp B
1 crcz sp4 B
1 m:ZIPD u32=2 st8 adlc B
1 f32=1.5 U32=2 V
1 md5Hc sc4 B
1 md5r crcr sp4 B
1 m:TAIL B crcp m:END!
1 m:SAVE u32=1 sr4 crcr B
1 B sp4 m:TAIL
1 rnd8 sp4 B
1 crchp B
1 m:ABC u8=1 sc4 sha1p B
5 [ tim8 sp4 B ]
5 [ idx4 Sp4 B ]
5 [ sp4 B crca ]
5 [ st4 B ]
5 [ sp4 B u32=7 ]
5 m:LOG1 u32=1 cnt4 [ tim4 u8=2 sp2 B ] crca
5 m:R sp4 crcp [ idx4 sp4 B ]
5 [ sp4 crcp B sp4 ]
5 [ st2 u16=4 B ]
4 cnt4 [ V ]
4 [ f32=0.5 V ]
2 m:TWOB [ sp4 B ]
3 U32=3 [ Sp4 md5p B ]
5 [ md5hp l: L ]
4 p:log [ B crca ]
1 m:WRLD sp4 godp B
1 B fnvp
1 m:SAVE V u16=1 u16=200 u32=7
1 V u64=1764334800
1 m:EXHIBIT V
1 p:slot_1 u32=3 V m:END
1 m:SAV p:slot3 V l:v1.2
1 u32=3 V rnd32
1 m:GAME sn4 crcr u32=7 V
4 cnt4 [ u8=9 md5p V ]
1 p:slot3 sp2 V md5a
1 m:GAME V u64=5 u8=1
5 cnt4 [ sp4 B ] u32=12
5 [ V ] u32=9
5 m:SAVE [ sp4 crcp B ] u32=9
1 md5p V u32=500 u64=5
1 u16=7 u64=5 u8=1 V u32=500 u8=1
1 png V
1 m:SAVE sp4 B u32=3600 png
1 m:GAME png sp4 crcp B png
3 u32=7 [ png V ]
5 crcp [ u8=3 sr4 md5p B u8=1 ]
5 crcp [ sr2 B ] m:RPL1
1 p:world_one crcr U32=1 l:v1.2 V
8 m:WRLD sp4 [ tim4 st4 crcp V ] crca u64=5
6 u32=812 [ sp2 B ] u32=800 u8=3 u32=797 rnd12
1 u8=255 u16=65535 u32=12345678 u64=9876543210 f32=3.14 u64=4613303441197561744 V
`

// sizes returns the sizes of contents in tests.
func sizes() []int {
	if testenv.Full() {
		return []int{40, 150, 1500, 20_000, 200_000}
	}
	return []int{40, 150, 1500, 70_000}
}

// TestLayoutsOfGames finds each layout in all compressions and sizes, with the values that were saved, and writes what a game
// writes with other values, or says that it does not know.
func TestLayoutsOfGames(t *testing.T) {
	all, doubtful, lines := 0, 0, 0
	for line := range strings.Lines(layouts) {
		lines++
		if tokens := strings.Fields(line); len(tokens) > 0 {
			n := testenv.Must(strconv.Atoi(tokens[0]))(t)
			t.Run(strings.TrimSpace(line), func(t *testing.T) {
				for i, mode := range []string{"plain", "zstd", "gzip", "zlib", "fastlz"} {
					for j, size := range sizes() {
						if (lines+i+j)%14 > 0 && !testenv.Full() {
							continue
						}
						edits, doubts := checkLayout(t, tokens[1:], mode, n, size)
						all, doubtful = all+edits, doubtful+doubts
					}
				}
			})
		}
	}
	t.Logf("%d of %d edits are doubtful", doubtful, all)
	require.Less(t, doubtful, all*3/100)
}

// TestNumbersNearValue: the size of a file of which only the last bits differ from the length of the value is no wrong length, and
// 500 and 5 after a value are not the length and the start of a Vector2 that is cut.
func TestNumbersNearValue(t *testing.T) {
	checkLayout(t, strings.Fields("m:HEAD st4 B"), "plain", 1, 20_000)
	checkLayout(t, strings.Fields("md5p V u32=500 u64=5"), "plain", 1, 40)
}

// TestLayoutsInDoubt writes layouts whose sizes have another meaning until a record grows: right, or there is an error.
func TestLayoutsInDoubt(t *testing.T) {
	for _, line := range []string{"5 [ u32=70 sp2 sha256p B ]", "1 Sp2 sc4 sha256p V md5p", "1 Sp2 sc4 V"} {
		tokens := strings.Fields(line)
		n := testenv.Must(strconv.Atoi(tokens[0]))(t)
		for _, mode := range []string{"plain", "zstd", "gzip", "zlib", "fastlz"} {
			edits, doubtful := 0, 0
			for _, size := range []int{60, 100, 300, 800, 2000, 4000} {
				all, refused := checkLayout(t, tokens[1:], mode, n, size)
				edits, doubtful = edits+all, doubtful+refused
			}
			require.Less(t, doubtful, edits, "%s, %s", line, mode)
		}
	}
}

// checkLayout writes values of about a size together in a layout, and edits them. It returns the number of edits, and how many
// of them are refused.
func checkLayout(t *testing.T, l layout, mode string, n, size int) (edits, doubtful int) {
	each := size/n + 40*min(n-1, 1)
	if each > 40_000 && slices.ContainsFunc(l, func(t string) bool { return t[0]|0x20 == 's' && t[len(t)-1] == '2' }) {
		return 0, 0 // the lengths would not fit
	}
	var values [][]byte
	for i := range n {
		values = append(values, saved(t, each, i, "Ada Lovelace"))
	}
	whole := l.build(t, values, mode)
	e := Find(whole, nil)
	if least := 150; e == nil && size < least && mode == "plain" { // a small bare value far from both ends is no evidence
		return 1, 1
	}
	require.NotNil(t, e, "%s, %d", mode, size)
	require.Equal(t, framed(values), e.Content(), "%s, %d: %v", mode, size, e)
	again := testenv.Must(e.Write(e.Values()))(t)
	require.Equal(t, whole, again)
	for _, to := range []string{"Adalbert the second of that name", "Ada", "Ada Lovelacf"} {
		changed := slices.Clone(values)
		i := min(1, n-1)
		changed[i] = saved(t, each, i, to)
		got, err := e.Write(changed)
		if edits++; err != nil {
			require.ErrorAs(t, err, new(*DoubtError))
			require.Nil(t, got) // no part is written
			t.Logf("%s, %d: %v: %v", mode, size, err, e)
			doubtful++
			continue
		}
		if want := l.build(t, changed, mode); !bytes.Equal(want, got) {
			require.Failf(t, "wrong", "%s, %d, %s: %v\n%.120x\n%.120x", mode, size, to, e, got, want)
		}
	}
	return edits, doubtful
}

// TestTraps finds what is easily taken for something else.
func TestTraps(t *testing.T) {
	value := saved(t, 0, 0, "Ada")
	long := saved(t, 1500, 0, "Ada")
	packed := testenv.Must(fileaccess.Compress(nil, saved(t, 200_000, 0, "Ada"), fileaccess.Zstd))(t)
	list, err := variant.Marshal([]any{strings.Repeat("x", 57*4-16), map[string]any{"name": "Ada"}}) // the second begins a line
	require.NoError(t, err)
	text := []byte(base64.StdEncoding.EncodeToString(list))
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	hundred := saved(t, 0, 0, strings.Repeat("x", 72))
	require.Len(t, hundred, 100)
	small := pack(t, hundred, "zstd")
	u32 := func(n int) []byte { return integer(uint64(n), 4, false) }
	sized := func(b []byte) []byte { return append(u32(len(b)), b...) }
	tiles, words := make([]int32, 3000), make([]any, 900)
	for i := range tiles {
		tiles[i] = int32(i * i % 40)
	}
	for i := range words {
		words[i] = []any{"item " + strconv.Itoa(i), i, float64(i)}[i%3]
	}
	table := testenv.Must(variant.Marshal(map[string]any{"name": "Ada", "tiles": tiles}))(t)
	old := testenv.Must(variant.Marshal(words, variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}))(t)
	var level []byte
	for _, v := range []any{map[string]any{"name": "Ada", "list": words[:24], "player": map[string]any{"hp": 73, "name": "Ada", "bag": words[24:30]}}, []any{map[string]int{"x": 1, "y": 2, "id": 4}}, []any{}} {
		level = append(level, sized(testenv.Must(variant.Marshal(v, variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}))(t))...)
	}
	level = append([]byte("LVL\x01"), level...) // 560 bytes: 2 is the type of a number
	for _, trap := range []struct {
		name  string
		input []byte
		want  string // "" if there is none
		doubt int    // the offset of a doubtful number, or -1
	}{
		{"T1: the last letter of a name is the size", join([]byte("SAVE"), make([]byte, 4), saved(t, 0, 0, strings.Repeat("x", 'E'-32))), "after a header of 8 bytes (perhaps size at 3, which is written anew)", 3},
		{"T1: a text of as many letters as the values have bytes", join(sized([]byte(strings.Repeat("n", len(value)))), value), "after a header of 36 bytes", -1},
		{"T2: a version that is equal to the size", join(u32(100), sized(hundred)), "after a header of 8 bytes (perhaps size at 0, size at 4; both are written anew)", 0},
		{"T2: a version that is equal to another size", join(u32(len(small)+4), []byte("SAVE"), sized(small)), "after a header of 12 bytes (perhaps size at 0, perhaps size at 8; both are written anew), compressed with zstd", 0},
		{"T3: overlapping numbers", join([]byte{0, 0, 0, byte(len(value)), 0, 0, 0, 0}, value), "after a header of 8 bytes (size at 0, which is written anew)", -1},
		{"T4: a stream of FastLZ before a checksum", layout{"B", "md5a"}.build(t, [][]byte{long}, "fastlz"), "before a trailer of 16 bytes (MD5 at 445, which is written anew), compressed with fastlz", -1},
		{"T4: a float before a value", join([]byte{0, 0, 0xc0, 0x3f}, sized(saved(t, 0, 0, ""))), "after a header of 8 bytes (size at 4, which is written anew)", -1},
		{"T5: checksums after the values", layout{"[", "B", "crcp", "]"}.build(t, [][]byte{value, long, value, value}, "plain"), "in 4 records (CRC-32 at 32, which is written anew)", -1},
		{"T5: checksums before the values", layout{"[", "crcp", "B", "]"}.build(t, [][]byte{value, long, value, value}, "plain"), "in 4 records (CRC-32 at 0, which is written anew)", -1},
		{"records between a header and a trailer", layout{"m:LOG", "u32=9", "[", "sp4", "B", "crcp", "]", "md5a"}.build(t, [][]byte{value, long, value, value}, "plain"), "in 4 records (size at 0, CRC-32 at 36; both are written anew), after a header of 7 bytes, before a trailer of 16 bytes (MD5 at 1467, which is written anew)", -1},
		{"T6: a checksum of the length, too", layout{"md5p", "V"}.build(t, [][]byte{value}, "plain"), "after a header of 20 bytes (MD5 at 0, size at 16; both are written anew)", -1},
		{"T8: wrapped base64", bytes.Join(slices.Collect(slices.Chunk(text, 76)), []byte("\n")), "", -1},
		{"T8: a small value between others", join(u32(1), sized(value), []byte{9, 9}, u32(8), u32(2), u32(5), []byte{7}, sized(value), sized(value)), "in 4 records (size at 0, which is written anew), after a header of 4 bytes", -1},
		{"a size before a stream of Godot 3, part of which is a value of Godot 4", join(integer(uint64(len(level)), 8, false), pack(t, level, "zstd")), "after a header of 8 bytes (size of the content at 0, which is written anew), compressed with zstd, and in it in 3 records (size at 0, which is written anew), after a header of 4 bytes", -1},
		{"T9: a stream that was compressed at once", join(u32(7), packed), "after a header of 4 bytes, compressed with zstd", -1},
		{"T11: a trailer of a size and a checksum of it, too", layout{"B", "sp4", "crca"}.build(t, [][]byte{long}, "plain"), "before a trailer of 8 bytes (size at 1332, CRC-32 at 1336; both are written anew)", -1},
		{"T11: checksums of lengths and equal values", layout{"[", "u8=9", "md5p", "V", "]"}.build(t, [][]byte{value, value, value, value}, "zstd"), "in 4 records (MD5 at 1, size at 17; both are written anew), compressed with zstd", -1},
		{"T2: a size between a name and a length", layout{"p:slot3", "sp2", "V", "md5a"}.build(t, [][]byte{hundred}, "plain"), "after a header of 15 bytes (perhaps size at 9, size at 11; both are written anew), before a trailer of 16 bytes (MD5 at 115, which is written anew)", 9},
		{"lengths of 8 bits that are one number", bytes.Repeat(join([]byte{byte(len(value))}, value), 5), "in 5 records (size at 0, which is written anew)", -1},
		{"T2: base64 before a length that is a letter", bytes.Repeat(append(u32(112), base64.StdEncoding.EncodeToString(saved(t, 0, 0, strings.Repeat("x", 54)))...), 3), "in 3 records (size at 0, which is written anew), in base64", -1},
		{"a stream in a stream of FastLZ", join(u32(7), pack(t, pack(t, long, "zstd"), "fastlz")), "after a header of 4 bytes, compressed with fastlz", -1},
		{"a size of 16 bits that is two letters", layout{"st8", "sr2", "V"}.build(t, [][]byte{saved(t, 0, 0, strings.Repeat("x", 11_080))}, "plain"), "after a header of 14 bytes (size at 0, perhaps size at 8, size at 10; all are written anew)", 8},
		{"a time that is equal to one size", layout{"[", "tim4", "sp4", "B", "]"}.build(t, [][]byte{long, value, saved(t, 0, 0, strings.Repeat("x", 1152))}, "plain"), "in 3 records (size at 4, which is written anew)", -1},
		{"a table of numbers that are headers", join(u32(1), table), "after a header of 4 bytes", -1},
		{"elements that are values of Godot 4, too", join([]byte("SAVE"), sized(old), []byte{7}, sized(old), []byte{7}, sized(old)), "in 3 records (size at 1, which is written anew), after a header of 3 bytes", -1},
		{"a line with the name of a checksum of all before it", fmt.Appendf(nil, "GAME\n%s\nsha256=%x\r\n", long, sha256.Sum256(join([]byte("GAME\n"), long))), "after a header of 5 bytes, before a trailer of 74 bytes (SHA-256 at 1345, which is written anew)", -1},
		{"values alone", value, "", -1},
		{"values after zeros", join(make([]byte, 2000), value), "", -1},
		{"text", []byte("[section]\nkey=\"dmFsdWU=\"\n"), "", -1},
	} {
		e := Find(trap.input, nil)
		if trap.want == "" {
			require.True(t, e == nil || e.IsPlain(), trap.name)
			continue
		}
		require.NotNil(t, e, trap.name)
		require.Equal(t, trap.want, e.String(), trap.name)
		if trap.doubt >= 0 {
			_, err := e.Write(slices.Repeat([][]byte{long}, len(e.Values())))
			require.ErrorContains(t, err, "at offset "+strconv.Itoa(trap.doubt)+" is a size, or something else", trap.name)
		}
	}
}

// TestDamagedPacketsAround damages packets at each byte. Few values are hidden in what seems to be a game's own bytes: where nothing
// is left of a packet, or of the first one.
func TestDamagedPacketsAround(t *testing.T) {
	var values [][]byte
	for _, v := range []any{7, "Ada Lovelace", 1.5, true, variant.Vector2{X: 1, Y: -2}, []any{1, "two"}, map[string]any{"hp": 3}} {
		values = append(values, testenv.Must(variant.Marshal(v))(t))
	}
	for _, damage := range []struct {
		name   string
		hidden int
		do     func(b []byte, k int) []byte
	}{
		{"a bit", 2, func(b []byte, k int) []byte { b[k] ^= 1 << (k % 8); return b }},
		{"a byte", 1, func(b []byte, k int) []byte { b[k] = byte(k * 37); return b }},
		{"eight bytes", 18, func(b []byte, k int) []byte { copy(b[k:], bytes.Repeat([]byte{0xff}, 8)); return b }},
		{"deleted", 14, func(b []byte, k int) []byte { return slices.Delete(b, k, min(k+4, len(b))) }},
		{"other bytes", 10, func(b []byte, k int) []byte { return slices.Insert(b, k, 0x93, 0xa7, 0x5c, 0xee) }},
	} {
		hidden, all := 0, framed(values)
		for k := range all {
			e := Find(damage.do(slices.Clone(all), k), nil)
			if e != nil && !e.IsPlain() && !e.IsDamaged() && e.Err == nil && len(e.Values()) < len(values) && e.Sure() && len(e.doubts()) == 0 {
				hidden++
			}
		}
		require.LessOrEqual(t, hidden, damage.hidden, damage.name)
	}
}

// TestForeignFiles finds nothing in the files of the machine.
func TestForeignFiles(t *testing.T) {
	most := testenv.Cases(200, 10_000)
	found, read := 0, 0
	for _, root := range []string{"/usr/lib", "/usr/share", "/usr/local", "/etc"} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || strings.Contains(path, "/gdwire/") {
				return nil
			}
			if read++; read%testenv.Cases(len(root), 3) != 0 {
				return nil
			}
			b, err := os.ReadFile(path)
			if err != nil || len(b) > 1<<20 {
				return nil
			}
			if e := Find(b, nil); e != nil {
				found++
				t.Errorf("%s: %s", path, e)
			}
			if read > most {
				return fs.SkipAll
			}
			return nil
		})
		most += most
	}
	require.Zero(t, found)
	t.Log(read)
}
