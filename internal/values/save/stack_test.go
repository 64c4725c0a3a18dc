package save

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
	"github.com/gdwire/gdwire/variant"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

// errOf returns the error of a call that returns a value, too.
func errOf[V any](_ V, err error) error { return err }

// save is a length-prefixed Dictionary of Godot 4.
const save = "\x1c\x00\x00\x00\x1b\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00hp\x00\x00\x02\x00\x00\x00\x0a\x00\x00\x00"

// zstd returns content in a compressed file.
func zstd(t *testing.T, content string) string {
	var b bytes.Buffer
	w := must(fileaccess.NewWriter(&b, fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}, nil))(t)
	must(io.WriteString(w, content))(t)
	require.NoError(t, w.Close())
	return b.String()
}

// open opens content after a header of 8 bytes: as a file, as a file that is standard input
// and was read up to the header, or as a pipe.
func open(t *testing.T, how, content string) *Stack {
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte("read\x00HEADER01"+content), 0o600))
	f, err := os.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	var in *Input
	switch how {
	case "file":
		require.NoError(t, os.WriteFile(name, []byte("HEADER01"+content), 0o600))
		in, err = OpenInput(name, nil)
	case "standard input":
		must(f.Seek(5, io.SeekStart))(t)
		in, err = OpenInput("-", f)
	case "pipe":
		in, err = OpenInput("", strings.NewReader("HEADER01"+content))
	}
	require.NoError(t, err)
	t.Cleanup(func() { in.Close() })
	return must(in.Open(&OpenOptions{Skip: 8}))(t)
}

// Each kind of input is recognized, and its content can be read several times.
func TestSource(t *testing.T) {
	packets := strings.Repeat(save, 5000)
	for _, how := range []string{"file", "standard input", "pipe"} {
		for container, data := range map[string]string{"plain": packets, "zstd": zstd(t, packets)} {
			t.Run(how+" "+container, func(t *testing.T) {
				in := open(t, how, data)
				require.Equal(t, how == "pipe", in.Live())
				if how == "pipe" && container == "plain" {
					require.EqualValues(t, -1, in.Size)
				} else {
					require.EqualValues(t, len(packets), in.Size)
				}
				store := must(in.Store(10))(t)
				require.Equal(t, how == "file" && container == "plain", store.Data == nil)
				requireStored(t, packets, store)
				in = open(t, how, data)
				require.Equal(t, recognize.Sure, in.Values.Certainty)
				require.Equal(t, []recognize.Reading{{Format: gdwire.Godot4, Frame: recognize.U32}}, in.Values.Readings[:1])
				require.Equal(t, U32, in.Frame)
				var all bytes.Buffer
				require.NoError(t, in.Write(&all, func(w io.Writer) error { return nil }))
				require.Contains(t, all.String(), "HEADER01")
				c := must(in.Content())(t)
				require.EqualValues(t, len(packets), c.Size)
				for range 2 {
					got := must(io.ReadAll(io.NewSectionReader(c, 0, c.Size)))(t)
					require.True(t, packets == string(got))
				}
				require.NoError(t, in.Close())
			})
		}
	}
}

// requireStored: any bytes of a Store can be read.
func requireStored(t *testing.T, want string, s *Store) {
	t.Helper()
	require.EqualValues(t, len(want), s.Size)
	all := must(io.ReadAll(io.NewSectionReader(s.ReaderAt(), 0, s.Size)))(t)
	require.True(t, want == string(all))
	b := must(s.Bytes(4, 8))(t)
	require.Equal(t, want[4:12], string(b))
	b = must(s.Bytes(s.Size-3, 8))(t)
	require.Equal(t, want[len(want)-3:], string(b))
	for _, at := range []int64{-1, s.Size + 1} {
		require.EqualError(t, errOf(s.Bytes(at, 1)), fmt.Sprint("there is no offset ", at))
	}
	require.NoError(t, s.Check())
}

// TestStoreChanged: a Store in its file notices a change of the file, and one in memory does not change.
func TestStoreChanged(t *testing.T) {
	for _, most := range []int64{0, 100} {
		name := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(name, []byte(save), 0o600))
		in := must(OpenInput(name, nil))(t)
		t.Cleanup(func() { _ = in.Close() })
		source := must(in.Open(&OpenOptions{}))(t)
		s := must(source.Store(most))(t)
		require.NoError(t, os.Truncate(name, 8))
		if most > 0 {
			requireStored(t, save, s)
			continue
		}
		require.ErrorIs(t, s.Check(), ErrFileChanged)
		require.ErrorIs(t, errOf(s.Bytes(4, 8)), io.ErrUnexpectedEOF)
	}
}

func TestSourceErrors(t *testing.T) {
	require.ErrorIs(t, errOf(OpenInput(filepath.Join(t.TempDir(), "missing"), nil)), os.ErrNotExist)
	dir := t.TempDir()
	require.EqualError(t, errOf(OpenInput(dir, nil)), dir+" is a folder; its files are "+dir+"/*")

	in := must(OpenInput("", strings.NewReader("12345")))(t)
	require.EqualError(t, errOf(in.Open(&OpenOptions{Skip: 8})), "standard input has 5 bytes, and 8 are to be skipped")

	cable := errors.New("cable cut")
	in = must(OpenInput("", io.MultiReader(strings.NewReader(save[:10]), &failing{cable})))(t)
	require.Equal(t, cable, errOf(in.Open(&OpenOptions{})))

	// What is left of a cut container is recognized and read, and then its error.
	cut := zstd(t, strings.Repeat(save, 10_000))
	in = must(OpenInput("", strings.NewReader(cut[:len(cut)-10])))(t)
	s := must(in.Open(&OpenOptions{}))(t)
	got, err := s.ReadAll()
	require.True(t, IsContainerError(err))
	require.ErrorContains(t, err, "standard input: fileaccess: offset")
	require.True(t, bytes.HasPrefix(got, []byte(save+save)))

	in = must(OpenInput("", strings.NewReader(cut[:340])))(t)
	require.ErrorContains(t, errOf(in.Open(&OpenOptions{})), ": unexpected EOF: the file is cut before any of its content can be read")

	in, err = OpenInput("", strings.NewReader("GDEC")) // without a key
	require.NoError(t, err)
	require.ErrorContains(t, errOf(in.Open(&OpenOptions{})), "standard input: ")
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// TestIsDouble: the header of a component of 64 bits is found at each offset, also after the head by which values are recognized.
func TestIsDouble(t *testing.T) {
	for n := windowSize - 72; n < windowSize+8; n += 4 {
		for i := range 4 {
			double, head := i&1 > 0, i>>1*recognize.HeadSize
			var b bytes.Buffer
			e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{DoubleReals: double})
			require.NoError(t, e.BeginArray(4))
			require.NoError(t, e.WriteString(strings.Repeat("b", head)))
			require.NoError(t, e.WriteString(strings.Repeat("a", n)))
			require.NoError(t, e.WriteNodePath("a/b:c"))
			require.NoError(t, gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{1, 2}))
			require.NoError(t, e.End())
			require.NoError(t, e.Close())
			s := must(At(bytes.NewReader(b.Bytes()), int64(b.Len())).Open(&OpenOptions{}))(t)
			require.False(t, s.narrow && double, n)
			c := must(s.Content())(t)
			c.narrow = c.narrow && head > 0 // at each offset, mayBeDouble looks for the header
			require.Equal(t, double, c.IsDouble(MaxHeld), n)
		}
	}
}

// A rewinder reads any part, and opens the source again only for a large step back.
func TestRewinder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 3*keptBytes+5)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	opened := 0
	open := func() io.Reader {
		opened++
		return bytes.NewReader(data)
	}
	w := &rewinder{in: open(), open: open}
	read := func(at int64, n int) {
		p := make([]byte, n)
		got, err := w.ReadAt(p, at)
		want := data[min(at, int64(len(data))):min(int(at)+n, len(data))]
		require.True(t, bytes.Equal(want, p[:got]))
		if got < n {
			require.Equal(t, io.EOF, err)
		} else {
			require.NoError(t, err)
		}
	}
	const back = 64 << 10
	for at := int64(back); at < int64(len(data)); at += 10_000 {
		read(at, 20_000)
		read(at-back, 100)
	}
	require.Equal(t, 1, opened)
	for range 300 {
		read(int64(r.IntN(len(data)+10)), r.IntN(2*keptBytes))
	}
	require.Less(t, opened, 300)
	require.Greater(t, opened, 10)
}

// FuzzRival reads plain saves of texts and bytes that hold saves, or NULs. What seems to be around values in them is part of a value.
func FuzzRival(f *testing.F) {
	inner := must(variant.Marshal(map[string]any{"name": "Ada", "items": []any{1, "axe"}}))(f)
	sized := append(binary.LittleEndian.AppendUint32(nil, uint32(len(inner))), inner...)
	for _, b := range [][]byte{inner, sized, bytes.Repeat([]byte{0}, 100), append([]byte("SAVE"), sized...), bytes.Repeat(sized, 3), []byte("a text")} {
		for kind := range byte(6) {
			f.Add(b, kind)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, kind byte) {
		text := string(bytes.ToValidUTF8(bytes.ReplaceAll(b, []byte{0}, []byte(" ")), nil))
		v := []any{b, []any{b}, map[string]any{"data": b}, text, []any{text, b}, map[string]any{text: b}}[kind%6]
		value := must(variant.Marshal(v))(t)
		for _, content := range [][]byte{value, append(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value...)} {
			s, err := At(bytes.NewReader(content), int64(len(content))).Open(&OpenOptions{Whole: true})
			if err == nil { // not for what is compressed
				require.Empty(t, s.Around(), "%T", v)
			}
		}
	})
}

// TestHeaderOfText: a header of letters and a byte is found before values alone, and before values after their lengths.
func TestHeaderOfText(t *testing.T) {
	value := must(variant.Marshal(map[string]any{"name": "Ada Lovelace", "city": "London"}))(t)
	packet := append(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value...)
	for _, values := range [][]byte{bytes.Repeat(value, 2), bytes.Repeat(packet, 2), append(bytes.Repeat(value, 2), 1, 2, 3)} {
		b := append([]byte("SAVE\x07"), values...)
		s := must(At(bytes.NewReader(b), int64(len(b))).Open(&OpenOptions{Whole: true}))(t)
		require.Equal(t, bytes.Repeat(packet, 2), must(s.ReadAll())(t))
	}
}

// TestOneValue: one value is found after letters, before a number, and in base64url, although damaged packets could begin so.
func TestOneValue(t *testing.T) {
	ints := must(variant.Marshal([]any{9, 0, 3, []byte{1, 2, 3, 4, 5}}))(t)
	value := must(variant.Marshal(map[string]any{"name": "Ada", "gold": 120, "hp": 88.5, "pos": variant.Vector2{X: 3, Y: 4}, "note": "???>>>"}))(t)
	for name, c := range map[string]struct{ content, value []byte }{
		"letters":            {append([]byte("CHNK"), ints...), ints},
		"letters and a time": {binary.LittleEndian.AppendUint64(append([]byte("SAVE"), value...), 1764334800), value},
		"base64url":          {[]byte(base64.RawURLEncoding.EncodeToString(append([]byte("SAVE\x07"), value...))), value},
		"base64url alone":    {[]byte(base64.URLEncoding.EncodeToString(value)), value},
	} {
		s := must(At(bytes.NewReader(c.content), int64(len(c.content))).Open(&OpenOptions{Whole: true}))(t)
		require.NoError(t, s.Values.Unknown(), name)
		require.Equal(t, c.value, must(s.ReadAll())(t), name)
	}
}

// TestPipeWaits: a pipe is recognized by its first packet, without waiting for more, and then read from its start.
func TestPipeWaits(t *testing.T) {
	r, w := io.Pipe()
	go func() { _, _ = w.Write([]byte(save)) }()
	in := must(OpenInput("", r))(t)
	s := must(in.Open(&OpenOptions{}))(t)
	require.True(t, s.Live())
	require.Equal(t, U32, s.Frame)
	go func() { _ = errors.Join(errOf(w.Write([]byte(save))), w.Close()) }()
	all := must(io.ReadAll(s.Reader()))(t)
	require.Equal(t, save+save, string(all))
}

// nestings contains layers, each written around bytes.
var nestings = map[string]func(t *testing.T, b []byte) []byte{
	"base64": func(_ *testing.T, b []byte) []byte { return []byte(base64.StdEncoding.EncodeToString(b)) },
	"JSON": func(_ *testing.T, b []byte) []byte {
		return fmt.Appendf(nil, "{\n\t\"version\": 3,\n\t\"data\": %q\n}", base64.StdEncoding.EncodeToString(b))
	},
	"header": func(_ *testing.T, b []byte) []byte {
		h := binary.LittleEndian.AppendUint32([]byte("GAME"), uint32(len(b)))
		return append(binary.LittleEndian.AppendUint32(h, crc32.ChecksumIEEE(b)), b...)
	},
	"gzip": func(t *testing.T, b []byte) []byte {
		return contained(t, fileaccess.Info{Container: fileaccess.Raw, Mode: fileaccess.Gzip}, b)
	},
	"zstd": func(t *testing.T, b []byte) []byte {
		return contained(t, fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}, b)
	},
	"encrypted": func(t *testing.T, b []byte) []byte {
		return contained(t, fileaccess.Info{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot4}, b)
	},
}

func contained(t *testing.T, info fileaccess.Info, b []byte) []byte {
	var out bytes.Buffer
	w := must(fileaccess.NewWriter(&out, info, fileaccess.PasswordKey("pw")))(t)
	must(w.Write(b))(t)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// TestNestedLayers opens values in up to three layers in any order, asks for the key once, and writes them with other values, as
// the game would. After a header, text and encrypted files are not found.
func TestNestedLayers(t *testing.T) {
	var values [2][]byte
	for i, name := range []string{"Ada", "Adalbert the second of that name"} {
		values[i] = must(variant.Marshal(map[string]any{"name": name, "hp": 100, "items": []any{1, "axe", 2.5}}))(t)
	}
	all, right := 0, 0
	var nest func(name string, v [2][]byte, depth int)
	nest = func(name string, v [2][]byte, depth int) {
		for layer, write := range nestings {
			outer := [2][]byte{write(t, v[0]), write(t, v[1])}
			asked := 0
			ask := func(fileaccess.Info) (*fileaccess.Key, error) { asked++; return fileaccess.PasswordKey("pw"), nil }
			o := &OpenOptions{Container: fileaccess.Options{AskKey: ask}}
			s, err := At(bytes.NewReader(outer[0]), int64(len(outer[0]))).Open(o)
			require.LessOrEqual(t, asked, 1)
			all++
			if err == nil && s.Values.fits() {
				require.Equal(t, values[0], must(s.ReadAll())(t), layer+" "+name)
				var out bytes.Buffer
				if err = s.Write(&out, func(w io.Writer) error { return errOf(w.Write(values[1])) }); !errors.As(err, new(*DoubtError)) {
					require.NoError(t, err)
					got := out.Bytes()
					if !strings.Contains(layer+name, "encrypted") { // with another IV
						require.Equal(t, outer[1], got, layer+" "+name)
					}
					s = must(At(bytes.NewReader(got), int64(len(got))).Open(o))(t)
					require.Equal(t, values[1], must(s.ReadAll())(t))
					right++
				}
			}
			if depth < 3 {
				nest(layer+" "+name, outer, depth+1)
			}
		}
	}
	nest("", values, 1)
	require.Equal(t, 258, all)
	require.GreaterOrEqual(t, right, 226)
}

// TestHeaderAndTrailer: a value without a length is found between a header that is no length and bytes that follow.
func TestHeaderAndTrailer(t *testing.T) {
	value := must(variant.Marshal(map[string]any{"name": "Ada", "hp": 100, "items": []any{1, "axe", 2.5}}))(t)
	for _, header := range []string{"SAVE", "\x03\x00\x00\x00", "\x00\x00\x00\x07", "SAVE\x02\x00\x00\x00"} {
		for _, trailer := range []string{"\x11\x00\x00\x00", "\n", "\x50\xbb\x29\x69\x00\x00\x00\x00", "v1.2\n"} {
			b := []byte(header + string(value) + trailer)
			s := must(At(bytes.NewReader(b), int64(len(b))).Open(&OpenOptions{}))(t)
			require.True(t, s.Values.fits(), "%q %q", header, trailer)
			require.Equal(t, value, must(s.ReadAll())(t), "%q %q", header, trailer)
		}
	}
	text := string(words(68)) + `{"map":"` + strings.Repeat("a", 58) + `"}`
	image := string(words(300)) + "\x89PNG\r\n\x1a\n" + strings.Repeat("\x91\x05\xfe", 97) + "."
	for _, around := range [][2]string{{text, ""}, {image, ""}, {image + text, "\n"}, {"", "\x10\x0e\x00\x00" + image}} { // and are no damaged packets
		b := []byte(around[0] + string(framed(value)) + around[1])
		s := must(At(bytes.NewReader(b), int64(len(b))).Open(&OpenOptions{}))(t)
		require.True(t, s.Values.fits(), "%q", around)
		require.Equal(t, value, must(s.ReadAll())(t), "%q", around)
	}
	stream := append(must(fileaccess.Compress(nil, value, fileaccess.FastLZ))(t), "\x07v1.2.3.4"...) // 8 letters of FastLZ, too
	require.False(t, must(At(bytes.NewReader(stream), int64(len(stream))).Open(&OpenOptions{}))(t).Values.fits())
	stream = must(fileaccess.Compress(nil, value, fileaccess.Deflate))(t)
	b := slices.Concat(words(uint32(len(stream))^0x48), stream) // and a version before a stream is no damaged length
	s := must(At(bytes.NewReader(b), int64(len(b))).Open(&OpenOptions{}))(t)
	require.True(t, s.Values.fits())
	require.Equal(t, value, must(s.ReadAll())(t))
}

// TestFirstValue: a value after a header is found although something else follows it, and in foreign files there is none.
func TestFirstValue(t *testing.T) {
	value := gdwiretest.Encode(t, map[string]any{"gold": 5, "name": "Ada"})
	const header = 256
	for n := range header + 1 {
		at, size, typ := explain.First(slices.Concat(bytes.Repeat([]byte{0xfe}, n), value, []byte("something else")), true)
		require.Equal(t, n < header, typ != 0, n)
		if typ != 0 {
			require.Equal(t, []any{n, len(value), gdwire.TypeDictionary}, []any{at, size, typ})
		}
	}
	long := gdwiretest.Encode(t, map[string]any{"name": "Ada", "list": slices.Repeat([]string{"a text"}, 10_000)})
	at, size, typ := explain.First(append([]byte("abc"), long[:recognize.HeadSize]...), false)
	require.Equal(t, []any{3, 0, gdwire.TypeDictionary}, []any{at, size, typ})
	for _, foreign := range [][]byte{gdwiretest.Encode(t, []int{1, 2, 3, 4}), make([]byte, 100), []byte("a text that is longer than a value"), value[:len(value)-9]} {
		_, _, typ := explain.First(append(foreign, 0xfe), true)
		require.Zero(t, typ, "%x", foreign)
	}
}

// TestSmallFile: packets in a stream that is much smaller than they are, after a header, are found.
func TestSmallFile(t *testing.T) {
	packet := must(variant.Marshal(map[string]any{"name": "Ada", "hp": 100, "items": slices.Repeat([]any{map[string]any{"id": 1, "label": "item"}}, 800)}))(t)
	content := must(fileaccess.Compress(nil, slices.Repeat(framed(packet), 20), fileaccess.Zstd))(t)
	b := slices.Concat([]byte("SAVE"), words(1, uint32(len(content))), content)
	s := must(At(bytes.NewReader(b), int64(len(b))).Open(&OpenOptions{}))(t)
	require.True(t, s.Values.fits())
	require.Equal(t, slices.Repeat(framed(packet), 20), must(s.ReadAll())(t))
}

// TestCutPacket: the values in a packet that is cut are no records.
func TestCutPacket(t *testing.T) {
	scores, rooms := map[string]int{}, map[any]any{}
	for i := range 40 {
		scores[fmt.Sprint("score_", i)], rooms[i] = i*100, map[string]any{"open": i%2 > 0, "loot": i * 17}
	}
	for _, value := range []any{scores, rooms, map[string]any{"x": nil, "inventory": make([]any, 40), "room": rooms}, slices.Repeat([]any{"word", "words"}, 40)} {
		b := framed(must(variant.Marshal(value))(t))
		for n := 8; n < min(400, len(b)); n += 5 {
			st := must(At(bytes.NewReader(b), int64(n)).Open(&OpenOptions{}))(t)
			require.False(t, st.Values.fits() && st.check(st.Reading) == nil, "%v: %d: %s", value, n, st.Around())
		}
	}
}

// TestQuotedRecords: of records of JSON with base64, whose sizes and checksums are not found, no other values are written. The
// checksum is no number or time.
func TestQuotedRecords(t *testing.T) {
	var values [2][]byte
	for i, name := range []string{"Ada", "Adalbert the second of that name"} {
		values[i] = must(variant.Marshal(map[string]any{"name": name, "hp": 100, "items": []any{1, "axe", 2.5}}))(t)
	}
	record := []byte("{\n\t\"data\": \"" + base64.StdEncoding.EncodeToString(values[0]) + "\",\n\t\"name\": \"slot 2\"\n}")
	record = slices.Concat(words(uint32(len(record)), crc32.ChecksumIEEE(record)), record)
	b := slices.Repeat(record, 3)
	s := must(At(bytes.NewReader(b), int64(len(b))).Open(&OpenOptions{}))(t)
	content := must(s.ReadAll())(t)
	require.Equal(t, slices.Repeat(framed(values[0]), 3), content)
	other := slices.Concat(framed(values[1]), content[len(content)/3:])
	require.ErrorAs(t, s.Write(io.Discard, func(w io.Writer) error { return errOf(w.Write(other)) }), new(*DoubtError))
}

// TestDamageBehindHeaders: a value that no function of engines reads is damaged, whatever is before and after it, and not the whole
// values in it. Where the start of the value or its last bytes are lost, a game's own bytes look alike.
func TestDamageBehindHeaders(t *testing.T) {
	var items []any
	for i := range 12 {
		items = append(items, map[string]any{"id": fmt.Sprint("item_", i*37), "count": i * 3, "worn": i%3 == 0, "pos": variant.Vector2{X: 3.5 * float64(i), Y: 4}})
	}
	value := must(variant.Marshal(map[string]any{
		"version": 3, "player": map[string]any{"name": "Ada Lovelace", "gold": 120, "hp": 88.5}, "items": items,
		"seen": map[any]any{1: true, 2: false}, "note": "some words of a longer text", "map": []int32{1, 2, 3, 4},
	}))(t)
	u32 := func(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }
	u64 := func(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
	n, step := len(value), 83
	if testenv.Full() {
		step = 7
	}
	framed := slices.Concat(u32(n), value)
	sum, crc := md5.Sum(framed), u32(int(crc32.ChecksumIEEE(framed)))
	for name, around := range map[string][2][]byte{
		"alone":                    {},
		"length":                   {u32(n)},
		"size of 64 bits":          {u64(n)},
		"magic, version":           {slices.Concat([]byte("SAVE"), u32(3))},
		"magic, version, length":   {slices.Concat([]byte("SAVE"), u32(3), u32(n))},
		"magic, size, MD5, length": {slices.Concat([]byte("SAVE"), u32(2), u64(n+4), sum[:], u32(n))},
		"magic, CRC-32, length":    {slices.Concat([]byte("GAME"), crc, u32(n))},
		"length; CRC-32":           {u32(n), crc},
	} {
		for _, damage := range []struct {
			name   string
			hidden int // at most
			do     func(b []byte, k int) []byte
		}{
			{"a bit", 1, func(b []byte, k int) []byte { b[k] ^= 1 << (k % 8); return b }},
			{"a byte", 1, func(b []byte, k int) []byte { b[k] = byte(k*37 + 128); return b }},
			{"eight bytes", 2, func(b []byte, k int) []byte { copy(b[k:], bytes.Repeat([]byte{0xff}, 8)); return b }},
			{"deleted", 2, func(b []byte, k int) []byte { return slices.Delete(b, k, min(k+4, len(b))) }},
			{"other bytes", 3, func(b []byte, k int) []byte { return slices.Insert(b, k, 0x93, 0xa7, 0x5c, 0xee) }},
			{"line end", 3, func(b []byte, k int) []byte { return slices.Insert(b, k, '\r') }},
			{"zeros", 0, func(b []byte, k int) []byte { clear(b[k:]); return b }},
		} {
			hidden := 0
			for k := 0; k < n; k += step {
				b := damage.do(slices.Clone(value), k)
				d := gdwire.NewDecoder(bytes.NewReader(b), nil)
				if d.SkipValue() == nil && d.InputOffset() == int64(len(b)) {
					continue // the value is another
				}
				all := slices.Concat(around[0], b, around[1])
				st := must(At(bytes.NewReader(all), int64(len(all))).Open(&OpenOptions{}))(t)
				if st.Values.Certainty >= recognize.Probably && st.Err == nil && must(st.Content())(t).CheckZeros(false) == nil && must(st.Content())(t).checkValues() == nil {
					hidden++
				}
			}
			require.LessOrEqual(t, hidden, damage.hidden, "%s: %s", name, damage.name)
		}
	}
}

// TestLargeDamage: what is behind damage is no row of records, however much it is.
func TestLargeDamage(t *testing.T) {
	var items []any
	for i := range 3000 {
		items = append(items, map[string]any{"id": i, "name": fmt.Sprint("item ", i)})
	}
	value := must(variant.Marshal(map[string]any{"gold": 5, "items": items}))(t)
	for _, at := range []int{0, 4, 20, len(value) / 2 &^ 3, len(value)/2&^3 + 4, len(value) - 20} {
		damaged := slices.Clone(value)
		damaged[at] = 0xee
		all := slices.Concat([]byte("SAVE\x02\x00\x00\x00"), binary.LittleEndian.AppendUint32(nil, uint32(len(value))), damaged)
		st := must(At(bytes.NewReader(all), int64(len(all))).Open(&OpenOptions{}))(t)
		require.Equal(t, "after a header of 12 bytes (size at 8, which is written anew)", st.Around(), at)
		require.False(t, st.Values.fits(), at)
		require.Error(t, must(st.Content())(t).checkValues(), at)
	}
	for _, header := range []string{"SAVE\x01\x02\x03", "SAVE\x02\x00\x00\x00"} {
		cut := slices.Concat([]byte(header), binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value[:len(value)-99])
		st := must(At(bytes.NewReader(cut), int64(len(cut))).Open(&OpenOptions{}))(t)
		require.Equal(t, recognize.CutShort, st.Values.Certainty, header)
	}
	const most = 2 << 20 // bytes of memory
	large := must(variant.Marshal(map[string]any{"items": items, "map": make([]byte, 2*MaxHeld)}))(t)
	large = slices.Concat([]byte("SAVE\x02\x00\x00\x00"), binary.LittleEndian.AppendUint32(nil, uint32(len(large))), large[:len(large)-99])
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	st := must(At(bytes.NewReader(large), int64(len(large))).Open(&OpenOptions{}))(t)
	runtime.ReadMemStats(&after)
	require.Equal(t, "after a header of 12 bytes (size at 8, which is written anew)", st.Around())
	require.Equal(t, recognize.CutShort, st.Values.Certainty)
	require.EqualValues(t, len(large)-12, st.Size)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most))
}

// TestLengthBehindHeader: a wrong length behind a header is damage, and the right one agrees with sizes and checksums around it. Nor is
// what a wrong count leaves behind a value another value.
func TestLengthBehindHeader(t *testing.T) {
	value := must(variant.Marshal(map[string]any{"name": "Ada Lovelace", "gold": 120, "list": []any{"one two", 5}}))(t)
	framed := slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value)
	sum := md5.Sum(framed)
	all := slices.Concat([]byte("SAVE\x02\x00\x00\x00"), binary.LittleEndian.AppendUint64(nil, uint64(len(framed))), sum[:], framed)
	for _, test := range []struct {
		at   int
		xor  byte
		want string
	}{
		{32, 1, "offset 32: the length is 105 and the value has 104 bytes: get_var reads null"},
		{40, 1, "offset 108: the value ends 32 bytes before its length says: a length or count in it is damaged"},
	} {
		damaged := slices.Clone(all)
		damaged[test.at] ^= test.xor
		st := must(At(bytes.NewReader(damaged), int64(len(damaged))).Open(&OpenOptions{}))(t)
		require.EqualError(t, st.Err, test.want)
		if test.at == 32 {
			var out bytes.Buffer
			require.NoError(t, st.Write(&out, func(w io.Writer) error { return errOf(w.Write(value)) }))
			require.Equal(t, all, out.Bytes())
		}
	}
}

// TestConvertedStart: bytes can be the start of what a conversion makes of them.
func TestConvertedStart(t *testing.T) {
	for _, b := range []string{"\xc3\x83", "\xc3\x83\xc2\x83", "\xc3\x83\xc2\x83\xc3\x82\xc2\x83", "\r\n", "\r\n\r\n"} {
		st := must(At(strings.NewReader(b), int64(len(b))).Open(&OpenOptions{}))(t)
		require.Error(t, st.Values.Unknown(), "%x", b)
	}
}

// TestConversions: what a program did to a save that it took for text is undone, and damage.
func TestConversions(t *testing.T) {
	value := must(variant.Marshal(map[string]any{"name": "Löve\nlace", "gold": 10, "hp": 200, "list": []any{10, 13, 266}}))(t)
	framed := slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value)
	ten := map[string]any{}
	for i := range 10 {
		ten[fmt.Sprint("key_", i)] = i
	}
	keys := gdwiretest.Encode(t, ten)
	keys = slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(keys))), keys)
	sum := md5.Sum(framed)
	returns := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) }
	encoded := func(b []byte) (all []byte) {
		for _, c := range b {
			all = utf8.AppendRune(all, rune(c))
		}
		return all
	}
	utf16 := func(b []byte) (all []byte) {
		for _, c := range b {
			all = append(all, c, 0)
		}
		return all
	}
	plus := base64.StdEncoding.AppendEncode(nil, []byte(zstd(t, strings.Repeat(string(framed), 2)))) // with + in it
	require.Contains(t, string(plus), "+")
	for _, test := range []struct {
		name    string
		b       []byte
		convert func([]byte) []byte
		at      int // of the first byte that is converted
	}{
		{"a value", value, returns, 24},
		{"packets", slices.Concat(framed, framed), returns, 28},
		{"a header with a checksum", slices.Concat([]byte("SAVE"), sum[:], framed), returns, 48},
		{"records of keys, after their number", keys, returns, 8},
		{"in UTF-8", value, encoded, 44},
		{"a length in UTF-8, a header", keys, encoded, 0},
		{"packets in UTF-8", slices.Concat(framed, framed), encoded, 48},
		{"compressed, in UTF-8", []byte(zstd(t, string(value))), encoded, 21},
		{"with a byte order mark, in UTF-8", framed, func(b []byte) []byte { return append([]byte("\ufeff"), encoded(b)...) }, 0},
		{"a header with a checksum in UTF-16", slices.Concat([]byte("SAVE"), sum[:], framed), utf16, 1},
		{"compressed, in UTF-16 with a byte order mark", []byte(zstd(t, string(value))), func(b []byte) []byte { return append([]byte("\xff\xfe"), utf16(b)...) }, 0},
		{"base64 with spaces", plus, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("+"), []byte(" ")) }, bytes.IndexByte(plus, '+')},
	} {
		all := test.convert(test.b)
		st := must(At(bytes.NewReader(all), int64(len(all))).Open(&OpenOptions{}))(t)
		var damage *ConversionError
		require.ErrorAs(t, st.Err, &damage, test.name)
		require.Equal(t, test.at, damage.Offset, test.name)
		var out bytes.Buffer
		require.NoError(t, st.Write(&out, func(w io.Writer) error {
			c := must(st.Content())(t)
			_, err := io.Copy(w, io.NewSectionReader(c, 0, c.Size))
			return err
		}))
		require.Equal(t, test.b, out.Bytes(), test.name)
		for _, other := range [][]byte{test.b, append(all, "\n\xff"...)} { // no conversion, and with a byte that contradicts it
			st, err := At(bytes.NewReader(other), int64(len(other))).Open(&OpenOptions{})
			if err == nil { // the container is damaged
				err = st.Err
			}
			require.False(t, errors.As(err, &damage), test.name)
		}
	}
}
