package recognize

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"go/build"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
)

// full reports whether tests have their full sizes, which take minutes.
func full() bool { return os.Getenv("GDWIRE_FULL") != "" && !testing.Short() }

// A vector is a value that an engine wrote.
type vector struct {
	name   string
	format gdwire.Format
	bytes  []byte
}

var engines = map[string]gdwire.Format{
	"godot3.2.3": gdwire.Godot3, "godot4.3": gdwire.Godot4, "godot4.6": gdwire.Godot4,
	"godot4.7-dev": gdwire.Godot4, "godot4.7-dev-double": gdwire.Godot4,
}

func testdata(names ...string) string {
	return filepath.Join(append([]string{"..", "..", "..", "..", "testdata"}, names...)...)
}

func vectors(t *testing.T) (all []vector) {
	for folder, format := range engines {
		for _, v := range testenv.Must(suite.ValuesOf(strings.TrimPrefix(folder, "godot")))(t) {
			all = append(all, vector{folder + " " + v.Name, format, v.Hex})
		}
	}
	require.Greater(t, len(all), 400)
	return all
}

func frame(f Frame, packets ...[]byte) (b []byte) {
	for _, p := range packets {
		switch f {
		case U32:
			b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
		case U32BE:
			b = binary.BigEndian.AppendUint32(b, uint32(len(p)))
		}
		b = append(b, p...)
	}
	return b
}

// file recognizes b as a file.
func file(b []byte) Result {
	return Recognize(&Input{Head: b[:min(len(b), HeadSize)], Size: int64(len(b)), At: bytes.NewReader(b)})
}

// requireResult compares results by their flags.
func requireResult(t *testing.T, want, got Result, message ...any) {
	t.Helper()
	require.Equal(t, fmt.Sprint(want.Certainty, want.Readings, want.Name), fmt.Sprint(got.Certainty, got.Readings, got.Name), message...)
}

// An outcome says how a Result compares with the truth.
type outcome int

const (
	right outcome = iota // the reading
	same                 // another reading with the same values
	refused
	wrong
)

func judge(r Result, want Reading) outcome {
	if r.Certainty <= Ambiguous {
		return refused
	}
	for i, reading := range r.Readings {
		if reading == want {
			return []outcome{right, same}[min(i, 1)]
		}
	}
	return wrong
}

// wrapped returns all vectors in a frame.
type wrapped struct {
	name string
	want Reading
	b    []byte
}

func corpus(t *testing.T) (all []wrapped) {
	for _, v := range vectors(t) {
		for _, f := range []Frame{Bare, U32, U32BE} {
			all = append(all, wrapped{f.String() + " " + v.name, Reading{v.format, f}, frame(f, v.bytes)})
		}
	}
	return all
}

// A tally counts outcomes.
type tally [4]int

func (c *tally) String() string {
	return fmt.Sprintf("%d right, %d the same values, %d refused, %d wrong", c[right], c[same], c[refused], c[wrong])
}

// rate returns how many of a thousand outcomes were o.
func (c *tally) rate(o outcome) int {
	return 1000 * c[o] / (c[right] + c[same] + c[refused] + c[wrong])
}

// TestRecognizeVectors recognizes all that engines wrote: nothing that is called sure is
// wrong.
func TestRecognizeVectors(t *testing.T) {
	var counts [3]tally
	for _, w := range corpus(t) {
		got := file(w.b)
		o := judge(got, w.want)
		counts[w.want.Frame][o]++
		if o == wrong { // the String "" is also a framed null
			require.Equal(t, "0400000000000000", hex.EncodeToString(w.b), w.name)
		}
		if got.Certainty == Sure {
			require.Less(t, o, refused, w.name)
		}
		if o == refused { // AABB and Transform2D; Color and Plane; StringName and PackedInt32Array
			require.Contains(t, []byte{11, 14, 21}, bytes.TrimPrefix(w.b, w.b[:len(frame(w.want.Frame, nil))])[0], w.name)
			require.Equal(t, Ambiguous, got.Certainty)
		}
	}
	for f, c := range counts {
		t.Logf("%v: %v", Frame(f), &c)
	}
}

// TestPipe recognizes the same from a pipe, in pieces of any size.
func TestPipe(t *testing.T) {
	for i, w := range corpus(t) {
		want := file(w.b)
		pieces := []io.Reader{bytes.NewReader(w.b)}
		if w.want.Frame != Bare && (full() || i%40 == 0) { // the first 8 bytes of a bare value may be a packet
			pieces = append(pieces, iotest.OneByteReader(bytes.NewReader(w.b)))
		}
		for _, r := range pieces {
			in := Input{Size: -1}
			require.NoError(t, ReadPipe(r, &in))
			requireResult(t, want, Recognize(&in), w.name)
		}
		// A packet is recognized before the next arrives.
		if w.want.Frame == Bare || i%17 > 0 {
			continue
		}
		feed, pipe := io.Pipe()
		go pipe.Write(w.b)
		in := Input{Size: -1}
		require.NoError(t, ReadPipe(feed, &in))
		feed.Close()
		requireResult(t, want, Recognize(&in), w.name)
	}
	in := Input{Size: -1}
	require.ErrorContains(t, ReadPipe(iotest.ErrReader(errors.New("cable cut")), &in), "cable cut")

	// No more is read of a pipe than PipeSize bytes, even if they are not recognized.
	unknown := bytes.NewReader(bytes.Repeat([]byte{0xff}, PipeSize))
	in = Input{Size: -1}
	require.NoError(t, ReadPipe(io.MultiReader(unknown, iotest.ErrReader(errors.New("read too much"))), &in))
	require.Len(t, in.Head, PipeSize)
}

// TestFlippedBits changes one bit.
func TestFlippedBits(t *testing.T) {
	var c tally
	r := rand.New(rand.NewPCG(1, 2))
	for i, w := range corpus(t) {
		if !full() && i%3 > 0 {
			continue
		}
		for range 4 {
			b := bytes.Clone(w.b)
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			c[judge(file(b), w.want)]++
		}
	}
	t.Log(&c)
	require.Less(t, c.rate(wrong), 15)
	require.Less(t, c.rate(refused), 500)
}

// TestRecognizeCut ends the input anywhere.
func TestRecognizeCut(t *testing.T) {
	var c tally
	r := rand.New(rand.NewPCG(1, 2))
	for i, w := range corpus(t) {
		if !full() && i%3 > 0 {
			continue
		}
		for range 4 {
			b := w.b[:r.IntN(len(w.b))]
			got := file(b)
			c[judge(got, w.want)]++
			requireResult(t, got, Recognize(&Input{Head: b, Size: int64(len(b))}), "%x, all of which is in the head", b)
		}
	}
	t.Log(&c)
	require.Less(t, c.rate(wrong), 15)
}

// TestSaves recognizes files of several packets, and cuts them anywhere.
func TestSaves(t *testing.T) {
	var cuts tally
	for _, name := range []string{"godot3.2.3/put_var.bin", "godot3.2.3/store_var.bin", "godot4.3/put_var.bin", "godot4.7-dev/put_var.bin", "godot4.7-dev/store_var.bin"} {
		b := testenv.Must(os.ReadFile(testdata(name)))(t)
		want := Reading{engines[filepath.Dir(name)], U32}
		got := file(b)
		requireResult(t, Result{Certainty: Sure, Readings: []Reading{want}}, got, name)
		for cut := range b {
			if !full() && cut%16 > 0 {
				continue
			}
			o := judge(file(b[:cut]), want)
			require.False(t, o == wrong && cut >= minSure, "%s cut at %d %v", name, cut, file(b[:cut]).Readings)
			cuts[o]++
		}
	}
	t.Log(&cuts)
	for _, folder := range []string{"godot3.2.3", "godot4.7-dev"} {
		b := testenv.Must(os.ReadFile(testdata(folder, "put_var.bin")))(t)
		b[16] = 99 // the header of the second packet
		requireResult(t, Result{Certainty: Damaged, Readings: []Reading{{engines[folder], U32}}}, file(b))
	}
	cutsOfEach := testenv.Cases(20, 100)
	for _, folder := range []string{"godot3.2.3", "godot4.7-dev"} {
		b := testenv.Must(os.ReadFile(testdata(folder, "save_game_large.bin")))(t)
		for _, f := range []Frame{Bare, U32, U32BE} {
			want := Reading{engines[folder], f}
			save := frame(f, b)
			if f != Bare {
				save = frame(f, b, b)
			}
			requireResult(t, Result{Certainty: Sure, Readings: []Reading{want}}, file(save), folder)
			r := rand.New(rand.NewPCG(3, 4))
			for range cutsOfEach {
				cut := 200 + r.IntN(len(save)-200)
				got := file(save[:cut])
				requireResult(t, Result{Certainty: got.Certainty, Readings: []Reading{want}}, got, folder)
				require.NotEqual(t, Ambiguous, got.Certainty)
			}
		}
	}
}

func TestSmall(t *testing.T) {
	g4, g3, g2 := gdwire.Godot4, gdwire.Godot3, gdwire.Godot2
	for _, c := range []struct {
		name, hex string
		want      Result
	}{
		{"empty", "", Result{Certainty: Empty}},
		{"null", "00000000", Result{Probably, []Reading{{g4, Bare}, {g3, Bare}}, "", 0}},
		{"zeros", "0000000000000000", Result{Foreign, nil, "nothing but zeros", 0}},
		{"int", "0200000005000000", Result{Probably, []Reading{{g4, Bare}, {g3, Bare}}, "", 0}},
		{"framed int", "080000000200000005000000", Result{Probably, []Reading{{g4, U32}, {g3, U32}}, "", 0}},
		{"big-endian", "000000080200000005000000", Result{Probably, []Reading{{g4, U32BE}, {g3, U32BE}}, "", 0}},
		{"framed null or empty String", "0400000000000000", Result{Probably, []Reading{{g4, U32}, {g3, U32}}, "", 0}},
		{"StringName or PackedInt32Array", "1500000000000000", Result{Ambiguous, []Reading{{g4, Bare}, {g3, Bare}}, "", 0}},
		{"Plane or Color", "0e0000000000803f000000000000000000000040", Result{Ambiguous, []Reading{{g4, Bare}, {g3, Bare}}, "", 0}},
		{"Vector2i of denormals to Godot 3", "06000000" + "0100000002000000", Result{Probably, []Reading{{g4, Bare}}, "", 0}},
		{"several values", "0200000005000000" + "0200000006000000" + "0400000001000000" + "61000000", Result{Probably, []Reading{{g4, Bare}, {g3, Bare}}, "", 0}},
		{"InputEvent of Godot 2", "13000000" + "01000000" + "02000000" + "14000000" + "00000002" + "41000000", Result{Probably, []Reading{{g2, Bare}}, "", 0}},
		{"bool of 2", "0100000002000000", Result{Probably, []Reading{{g4, Bare}, {g3, Bare}}, "", 0}},
		{"damaged Dictionary of Godot 3, which starts as a Transform3D", "1200000008000000" + strings.Repeat("02000000010000000200000005000000", 3) + "63000000", Result{Damaged, []Reading{{g3, Bare}}, "", 0}},
		{"damaged Dictionary of few values", "1200000008000000" + "02000000010000000200000005000000" + "63000000", Result{}},
		{"Array of 20 bytes", "1c00000002000000" + "0200000005000000" + "00000000", Result{Probably, []Reading{{g4, Bare}}, "", 0}},
		{"Array of 24 bytes", "1c00000002000000" + "0200000005000000" + "0200000006000000", Result{Sure, []Reading{{g4, Bare}}, "", 0}},
		{"Dictionary of Godot 3.0, whose ints have 64 bits", "1200000001000000" + "040000000200000068700000" + "020001000700000000000000", Result{Sure, []Reading{{g3, Bare}}, "", 0}},
		{"small Array before zeros", "1c00000002000000" + "0200000005000000" + "0200000006000000" + "0000000000000000", Result{Damaged, []Reading{{g4, Bare}}, "", 0}},
		{"packets that both formats read, cut", strings.Repeat("080000000200000005000000", 3) + "08000000", Result{CutShort, []Reading{{g4, U32}, {g3, U32}}, "", 0}},
		{"several values, longer than the head", strings.Repeat("0200000005000000", HeadSize/8+1), Result{Probably, []Reading{{g4, Bare}, {g3, Bare}}, "", 0}},
		{"trailing bytes", "0c000000" + "0200000005000000" + "ffffffff", Result{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireResult(t, c.want, file(testenv.Must(hex.DecodeString(c.hex))(t)))
		})
	}
}

// TestEdges: a single value longer than the head ends where the input does, or it is none. A value of a container and a
// packet that may be cut are weighed with what is missing.
func TestEdges(t *testing.T) {
	const size = HeadSize + 4096
	header := func(kind byte, count int) []byte {
		return binary.LittleEndian.AppendUint32([]byte{kind, 0, 0, 0}, uint32(count))
	}
	fill := func(start []byte, c byte) []byte {
		return append(start, bytes.Repeat([]byte{c}, size-len(start))...)
	}
	for _, c := range []struct {
		name  string
		input func(more int) []byte // more is added to a count or length
		want  [3]Certainty          // for one less, the exact count, and one more
	}{
		{"String", func(n int) []byte { return fill(header(4, size-8+4*n), 'a') }, [3]Certainty{Unknown, Sure, Unknown}},
		{"PackedByteArray", func(n int) []byte { return fill(header(29, size-8+4*n), 1) }, [3]Certainty{Unknown, Sure, Unknown}},
		{"PackedInt64Array", func(n int) []byte { return fill(header(31, size/8-1+n), 1) }, [3]Certainty{Unknown, Sure, Unknown}},
		{"Array of nulls", func(n int) []byte { return fill(header(28, size/4-2+n), 0) }, [3]Certainty{Sure, Sure, CutShort}},
		{"framed PackedByteArray", func(n int) []byte {
			return fill(append(binary.LittleEndian.AppendUint32(nil, size-4), header(29, size-12+4*n)...), 1)
		}, [3]Certainty{Unknown, Sure, Unknown}},
		{"PackedByteArray that ends with the head", func(n int) []byte { return fill(header(29, size-8), 1)[:HeadSize+n] }, [3]Certainty{Unknown, Unknown, Unknown}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, want := range c.want {
				require.Equal(t, want, file(c.input(i-1)).Certainty, i-1)
			}
		})
	}
	head := fill(header(29, HeadSize-8), 1)
	require.Equal(t, Sure, file(head[:HeadSize]).Certainty)
	require.Equal(t, Unknown, file(head[:HeadSize-1]).Certainty)
	require.Equal(t, Unknown, file(head[:HeadSize+1]).Certainty)
}

// TestBudget: of packets that are compressed, a bounded number of bytes is read.
func TestBudget(t *testing.T) {
	calls := 0
	in := &Input{Head: bytes.Repeat([]byte{4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, HeadSize/8), Size: HeadSize, Frames: []Frame{U32}}
	in.Decompress = func([]byte, bool) (Decompressed, bool) {
		calls++
		return Decompressed{Content: make([]byte, HeadSize), Cut: true}, true
	}
	Recognize(in)
	require.Equal(t, maxUnpacked/HeadSize+1, calls)
}

// TestFixed reads formats and frames that the user chose.
func TestFixed(t *testing.T) {
	b := testenv.Must(hex.DecodeString("0e0000000000803f000000000000000000000040"))(t)
	in := Input{Head: b, Size: int64(len(b)), Formats: []gdwire.Format{gdwire.Godot3}}
	requireResult(t, Result{Certainty: Probably, Readings: []Reading{{gdwire.Godot3, Bare}}}, Recognize(&in))
	in.Formats, in.Frames = nil, []Frame{U32}
	requireResult(t, Result{}, Recognize(&in))
	in.Formats = []gdwire.Format{gdwire.Manual30}
	in.Frames = nil
	in.Head = frame(U32, []byte{19, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0})
	in.Size = int64(len(in.Head))
	requireResult(t, Result{Certainty: Probably, Readings: []Reading{{gdwire.Manual30, U32}}}, Recognize(&in))
}

// TestForeign reads files of other kinds.
func TestForeign(t *testing.T) {
	for start, want := range map[string]string{
		"RSRC\x00\x00\x00\x00":                "a resource of Godot (.res, .scn)",
		"GDPC\x02\x00\x00\x00":                "a package of Godot (.pck)",
		"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR": "a PNG image",
		"\x1f\x8b\x08\x00":                    "gzip data",
		"[player]\nname=1\n":                  "text",
		"[gd_scene load_steps=2 format=3]\n":  "text",
		"[a.b]\n":                             "text",
		"[ true, 1]":                          "text, perhaps JSON",
		"\ufeff\n[null]":                      "text, perhaps JSON",
		"[\"a\"]":                             "text, perhaps JSON",
		"[]\r\n":                              "text, perhaps JSON",
		"\"text\"":                            "text, perhaps JSON",
		"{\"a\": 1}":                          "text, perhaps JSON",
		"hello, Jürgen":                       "text",
		"GDSC\x04\x00\x00\x00":                "a compiled script or cached shader of Godot (.gdc, .cache)",
		"\xff\xfe{\x00}\x00":                  "text in UTF-16, perhaps JSON",
		"\x00\x00\x00\x00\x00":                "nothing but zeros",
	} {
		t.Run(fmt.Sprintf("%q", start), func(t *testing.T) {
			requireResult(t, Result{Certainty: Foreign, Name: want}, file([]byte(start)), start)
		})
	}
	for _, b := range []string{"\x01\x02\x03\x04\x05\x06\x07\x08", "hello, \xc3", "abcde\xe2\x82"} { // no text
		requireResult(t, Result{}, file([]byte(b)), b)
	}
	taken := 0
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		b := make([]byte, r.IntN(3000))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		if c := file(b).Certainty; c > Ambiguous {
			taken++
		}
	}
	require.Less(t, taken, 5)
}

func TestIsUTF16(t *testing.T) {
	for start, want := range map[string]bool{
		"\xff\xfea\x00": true, "\xfe\xff\x00a": true, // little-endian, big-endian
		"\xff\xfea\x00b": true, "\xfe\xff\x00ab": true,
		"\xff\xfea": false, "\xfe\xff\x00": false, // no whole character
		"\xff\xfea\x01": false, "\xfe\xff\x01a": false, // not ASCII
		"\xff\xfe\x00\x00": false, "\xfe\xff\x00\x00": false, // NUL
		"\xff\xfe\x00a": false, "\xfe\xffa\x00": false, // the mark of the other byte order
		"\xfe\xfea\x00": false, "\xff\xffa\x00": false, "\xfe\xfe\x00a": false, "\xff\xff\x00a": false,
	} {
		require.Equal(t, want, isUTF16([]byte(start)), "%q", start)
	}
}

// Numbers and texts that a game is not likely to have make a reading implausible, wherever they are.
func TestImplausible(t *testing.T) {
	packed := func(typ gdwire.Type, write func(*gdwire.Encoder) error) func(*gdwire.Encoder) error {
		return func(e *gdwire.Encoder) error {
			return cmp.Or(e.BeginPacked(typ, 1), write(e), e.End())
		}
	}
	text := func(s string) func(*gdwire.Encoder) error {
		return func(e *gdwire.Encoder) error { return e.WriteString(s) }
	}
	real := func(x float64) func(*gdwire.Encoder) error {
		return func(e *gdwire.Encoder) error { return e.WriteFloat(x) }
	}
	float32s := func(x float32) func(*gdwire.Encoder) error {
		return packed(gdwire.TypePackedFloat32Array, func(e *gdwire.Encoder) error { return gdwire.WritePacked(e, []float32{x}) })
	}
	float64s := func(x float64) func(*gdwire.Encoder) error {
		return packed(gdwire.TypePackedFloat64Array, func(e *gdwire.Encoder) error { return gdwire.WritePacked(e, []float64{x}) })
	}
	vectors := func(x, y float32) func(*gdwire.Encoder) error {
		return packed(gdwire.TypePackedVector2Array, func(e *gdwire.Encoder) error { return gdwire.WritePacked(e, [][2]float32{{x, y}}) })
	}
	for _, c := range []struct {
		name  string
		write func(*gdwire.Encoder) error
		want  float64
	}{
		{"text", text("a\tb\r\n"), headerBits}, {"control character", text("a\x01"), headerBits - improbable}, {"DEL", text("\x7f"), headerBits - improbable},
		{"float", real(1e15), headerBits}, {"zero", real(0), headerBits}, {"infinity", real(math.Inf(-1)), headerBits}, {"NaN", real(math.NaN()), headerBits},
		{"small float", real(-1e-13), headerBits - improbable}, {"large float", real(-2e15), headerBits - improbable},
		{"Vector2", func(e *gdwire.Encoder) error { return gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{1, 2}) }, headerBits},
		{"Vector2 with a small number", func(e *gdwire.Encoder) error {
			return gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{1, 1e-20})
		}, headerBits - improbable},
		{"float32", float32s(1), headerBits}, {"small float32", float32s(1e-20), headerBits - improbable},
		{"float64", float64s(1), headerBits}, {"small float64", float64s(1e-20), headerBits - improbable},
		{"vectors", vectors(1, 2), headerBits}, {"vectors with a small number", vectors(1, 1e-20), headerBits - improbable},
		{"int32", packed(gdwire.TypePackedInt32Array, func(e *gdwire.Encoder) error { return gdwire.WritePacked(e, []int32{1}) }), headerBits},
		{"int64", packed(gdwire.TypePackedInt64Array, func(e *gdwire.Encoder) error { return gdwire.WritePacked(e, []int64{1}) }), headerBits},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			e := gdwire.NewEncoder(&b, nil)
			require.NoError(t, c.write(e))
			require.NoError(t, e.Close())
			in := &Input{Head: b.Bytes(), Size: int64(b.Len())}
			got := in.try(Reading{gdwire.Godot4, Bare}, 0, manner{strict: true})
			require.Equal(t, whole, got.ending)
			require.Equal(t, c.want, got.bits)
		})
	}
}

func TestPlainHeader(t *testing.T) {
	for header, want := range map[uint32]bool{
		0: true, 2: true, 2 | 1<<16: true, 2 | 2<<16: false, 2 | 1<<8: false, 2 | 1<<24: false,
		28: true, 28 | 3<<16: true, 28 | 4<<16: false, 28 | 1<<8: false, // an Array
		27: true, 27 | 15<<16: true, 27 | 16<<16: false, 27 | 1<<8: false, // a Dictionary
		29: true, 29 | 1<<16: true, 29 | 2<<16: false,
	} {
		require.Equal(t, want, PlainHeader(binary.LittleEndian.AppendUint32(nil, header)), "%x", header)
	}
	require.False(t, PlainHeader([]byte{2, 0, 0}))
}

// TestPrograms recognizes no program of this machine as values.
func TestPrograms(t *testing.T) {
	var all []string
	for _, pattern := range []string{filepath.Join(build.Default.GOROOT, "pkg", "tool", "*", "*"), filepath.Join(build.Default.GOROOT, "src", "image", "testdata", "*"),
		filepath.Join(build.Default.GOROOT, "src", "archive", "*", "testdata", "*"), filepath.Join(build.Default.GOROOT, "src", "debug", "*", "testdata", "*"),
		filepath.Join(build.Default.GOROOT, "src", "compress", "*", "testdata", "*"), filepath.Join(build.Default.GOROOT, "src", "time", "testdata", "*")} {
		all = append(all, testenv.Must(filepath.Glob(pattern))(t)...)
	}
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // a folder
		}
		got := file(b)
		require.LessOrEqual(t, got.Certainty, Ambiguous, "%s: %v", name, got.Readings)
	}
}
