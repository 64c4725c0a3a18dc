package recognize

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// bothFormats are the formats of the saves.
var bothFormats = []gdwire.Format{gdwire.Godot4, gdwire.Godot3}

// saves makes random saved games.
type saves struct {
	*rand.Rand
	format gdwire.Format
	odd    bool // with floats and texts that are rarely seen
	e      *gdwire.Encoder
}

// savesOf returns number i of saves in turn, and the reading of files of them.
func savesOf(r *rand.Rand, i int) (*saves, Reading) {
	s := &saves{Rand: r, format: bothFormats[i%2], odd: i&2 > 0}
	return s, Reading{s.format, []Frame{Bare, U32, U32BE}[i/4%3]}
}

// value writes a random value with up to depth containers inside each other.
func (s *saves) value(depth int) {
	if depth > 0 && s.IntN(3) == 0 {
		s.container(depth)
		return
	}
	e := s.e
	switch s.IntN(14) {
	case 0:
		e.WriteNil()
	case 1:
		e.WriteBool(s.IntN(2) == 1)
	case 2, 3:
		e.WriteInt(s.integer())
	case 4, 5:
		e.WriteFloat(s.real())
	case 6, 7:
		e.WriteString(s.text())
	case 8:
		gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{s.real32(), s.real32()})
	case 9:
		gdwire.WriteComponents(e, gdwire.TypeVector3, []float64{s.real32(), s.real32(), s.real32()})
	case 10:
		gdwire.WriteComponents(e, gdwire.TypeColor, []float64{s.real32(), 0, 0.5, 1})
	case 11:
		e.WriteNodePath("/root/" + string('A'+rune(s.IntN(26))) + ":hp")
	case 12:
		n := s.Int64N(12)
		e.BeginPacked(gdwire.TypePackedByteArray, n)
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(s.Uint32())
		}
		gdwire.WritePacked(e, b)
		e.End()
	case 13:
		n := s.Int64N(12)
		e.BeginPacked(gdwire.TypePackedFloat32Array, n)
		f := make([]float32, n)
		for i := range f {
			f[i] = float32(s.real32())
		}
		gdwire.WritePacked(e, f)
		e.End()
	}
}

// container writes a Dictionary with String keys or an Array.
func (s *saves) container(depth int) {
	n := s.IntN(9)
	if s.IntN(2) == 0 {
		s.e.BeginArray(n)
		for range n {
			s.value(depth - 1)
		}
	} else {
		s.e.BeginDict(n)
		for range n {
			s.e.WriteString(s.text())
			s.value(depth - 1)
		}
	}
	s.e.End()
}

func (s *saves) integer() int64 {
	switch s.IntN(3) {
	case 0:
		return s.Int64N(100)
	case 1:
		return int64(int32(s.Uint32()))
	}
	return int64(s.Uint64()) >> s.IntN(64)
}

func (s *saves) real() float64 {
	if s.odd && s.IntN(4) == 0 {
		return []float64{math.Sin(math.Pi), 1e20, 1e-300, math.Float64frombits(s.Uint64()), float64(math.Float32frombits(s.Uint32())), math.NaN(), math.Copysign(0, -1), 5e-324}[s.IntN(8)]
	}
	switch s.IntN(3) {
	case 0:
		return float64(s.IntN(2000)-1000) / 8
	case 1:
		return s.NormFloat64()
	}
	return []float64{0, 0.1, 1, math.Inf(1)}[s.IntN(4)]
}

func (s *saves) real32() float64 { return float64(float32(s.real())) }

func (s *saves) text() string {
	letters := []rune("abcdefghij_ABC 012äß中🎮")
	if s.odd {
		letters = append(letters, '\x1b', '\n', '"', '\x01')
	}
	b := make([]rune, s.IntN(14))
	for i := range b {
		b[i] = letters[s.IntN(len(letters))]
	}
	return string(b)
}

// top returns a random Dictionary or Array in bytes.
func (s *saves) top(t *testing.T, depth int) []byte {
	var b bytes.Buffer
	s.e = gdwire.NewEncoder(&b, &gdwire.EncoderOptions{Format: s.format})
	s.container(depth)
	require.NoError(t, s.e.Close())
	return b.Bytes()
}

// framed returns a save of one or several packets, and of least to 64 KiB.
func (s *saves) framed(t *testing.T) (all []byte) {
	size := 1 << (10 + s.IntN(6))
	for packets := 1 + s.IntN(4)*s.IntN(2); packets > 0 || len(all) < 1<<10; packets-- {
		var b bytes.Buffer
		s.e = gdwire.NewEncoder(&b, &gdwire.EncoderOptions{Format: s.format, MaxBuffered: 1 << 20})
		s.e.BeginDict(gdwire.Unknown)
		for s.e.OutputOffset() < int64(size) {
			s.e.WriteString(s.text())
			s.value(4)
			require.NoError(t, s.e.Err())
		}
		s.e.End()
		require.NoError(t, s.e.Close())
		if len(all)+b.Len() > 60<<10 {
			break
		}
		all = append(all, frame(U32, b.Bytes())...)
	}
	return all
}

// readable reports whether each packet of a framed file can be read and is filled by its
// value, as check reports.
func readable(b []byte, format gdwire.Format) bool {
	for len(b) > 0 {
		if len(b) < lengthSize || U32.length(b) > uint32(len(b)-lengthSize) {
			return false
		}
		n := lengthSize + int(U32.length(b))
		d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: format, OneValue: true})
		d.ResetBytes(b[lengthSize:n])
		if err := d.SkipValue(); err != nil || int(d.InputOffset()) < n-lengthSize {
			return false
		}
		b = b[n:]
	}
	return true
}

// TestDamagedSaves flips one bit of framed saves. They are never read without an error in
// another format than before.
func TestDamagedSaves(t *testing.T) {
	files, flips := 10, 25
	if full() {
		files = 200
	}
	r := rand.New(rand.NewPCG(7, 8))
	var results [Sure + 1]int
	passed, total := 0, 0
	for i := range files {
		s := &saves{Rand: r, format: bothFormats[i%2], odd: i&2 > 0}
		save := s.framed(t)
		want := Reading{s.format, U32}
		requireResult(t, Result{Certainty: Sure, Readings: []Reading{want}}, file(save), i)
		for range flips {
			b := bytes.Clone(save)
			at := r.IntN(8 * len(b))
			b[at/8] ^= 1 << (at % 8)
			got := file(b)
			results[got.Certainty]++
			total++
			if got.Certainty > Ambiguous && judge(got, want) == wrong && (got.Readings[0].Frame != U32 || readable(b, got.Readings[0].Format)) {
				passed++
				t.Logf("save %d, bit %d: %v %v", i, at, got.Certainty, got.Readings)
			}
		}
	}
	t.Logf("%d flips: %d unknown, %d ambiguous, %d damaged, %d cut short, %d probable, %d sure; %d in another format without an error",
		total, results[Unknown], results[Ambiguous], results[Damaged], results[CutShort], results[Probably], results[Sure], passed)
	require.LessOrEqual(t, 1000*passed, total)
}

// TestDamagedStart overwrites a byte near the start of saves of 1 to 60 KiB: few are not recognized, hardly any as
// another reading.
func TestDamagedStart(t *testing.T) {
	files := testenv.Cases(60, 500)
	r := rand.New(rand.NewPCG(71, 72))
	var c tally
	for i := range files {
		s, want := savesOf(r, i)
		save := s.framed(t)
		save = frame(want.Frame, save[lengthSize:][:U32.length(save)])
		for range 20 {
			b := bytes.Clone(save)
			b[r.IntN(256)] = byte(r.Uint32())
			c[judge(file(b), want)]++
		}
	}
	t.Log(&c)
	require.Less(t, c.rate(refused), 100)
	require.Less(t, c.rate(wrong), 5)
}

// TestRecognizeRandomValues recognizes random Dictionaries and Arrays of 24 bytes and more: sure results
// are right, and few are not sure.
func TestRecognizeRandomValues(t *testing.T) {
	n := testenv.Cases(2000, 50_000)
	r := rand.New(rand.NewPCG(9, 10))
	blocked := 0
	for i := 0; i < n; {
		s := &saves{Rand: r, format: bothFormats[i%2], odd: i&2 > 0}
		b := s.top(t, 1+r.IntN(4))
		if len(b) < minSure {
			continue
		}
		i++
		want := Reading{s.format, []Frame{Bare, U32, U32BE}[r.IntN(3)]}
		got := file(frame(want.Frame, b))
		if got.Certainty < Sure {
			blocked++
			continue
		}
		require.Contains(t, got.Readings, want, "%x", b)
	}
	t.Logf("%d of %d are not sure", blocked, n)
	require.LessOrEqual(t, 200*blocked, n)
}

// TestDenormal: a math type with a denormal component, which any bytes can be, is never sure; a container
// with one can be.
func TestDenormal(t *testing.T) {
	encoded := func(inArray, double bool, x float64) []byte {
		var b bytes.Buffer
		e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{DoubleReals: double})
		if inArray {
			require.NoError(t, e.BeginArray(1))
		}
		c := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1, x, 2, 3}
		require.NoError(t, gdwire.WriteComponents(e, gdwire.TypeTransform3D, c))
		if inArray {
			require.NoError(t, e.End())
		}
		require.NoError(t, e.Close())
		return b.Bytes()
	}
	const denormal = 1e-40
	require.Equal(t, Sure, file(encoded(false, false, 1)).Certainty)
	require.Equal(t, Probably, file(encoded(false, false, denormal)).Certainty)
	require.Equal(t, Sure, file(encoded(true, false, denormal)).Certainty)
	require.Equal(t, Sure, file(frame(U32, encoded(false, false, denormal))).Certainty)
	require.Equal(t, Sure, file(encoded(false, true, 1e-200)).Certainty)
	require.Equal(t, Probably, file(encoded(false, true, 1e-310)).Certainty)
}

// TestLongText: chunks after the first of a text have no header.
func TestLongText(t *testing.T) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	require.NoError(t, e.BeginArray(1))
	require.NoError(t, e.WriteString(strings.Repeat("text ", 8<<10)))
	require.NoError(t, e.End())
	require.NoError(t, e.Close())
	requireResult(t, Result{Certainty: Sure, Readings: []Reading{{gdwire.Godot4, Bare}}}, file(b.Bytes()))
	requireResult(t, Result{Certainty: CutShort, Readings: []Reading{{gdwire.Godot4, U32}}}, file(frame(U32, b.Bytes(), b.Bytes())[:b.Len()+20<<10]))
}

// TestZeros: zeros after a value, and a Dictionary with the key null twice, are damage; the nulls of an
// Array are not.
func TestZeros(t *testing.T) {
	const n = 40
	write := func(write func(e *gdwire.Encoder)) []byte {
		var b bytes.Buffer
		e := gdwire.NewEncoder(&b, nil)
		write(e)
		require.NoError(t, e.Close())
		return b.Bytes()
	}
	slots := write(func(e *gdwire.Encoder) {
		e.BeginDict(2)
		e.WriteString("a name of the save")
		e.WriteInt(1)
		e.WriteString("slots")
		e.BeginArray(n)
		for range n {
			e.WriteNil()
		}
		e.End()
		e.End()
	})
	keys := write(func(e *gdwire.Encoder) {
		e.BeginDict(n)
		e.WriteString("a name of the save")
		e.WriteInt(1)
		for range n - 1 {
			e.WriteNil()
			e.WriteNil()
		}
		e.End()
	})
	one := write(func(e *gdwire.Encoder) {
		e.BeginArray(2)
		for range 2 {
			e.BeginDict(2)
			e.WriteNil()
			e.WriteString("a name of the save")
			e.WriteString("slots")
			e.WriteInt(n)
			e.End()
		}
		e.End()
	})
	require.Equal(t, Sure, file(one).Certainty, "each Dictionary has one key null")
	nulls := append(bytes.Clone(slots), make([]byte, 4*n)...)
	for _, f := range []Frame{Bare, U32, U32BE} {
		require.Equal(t, Sure, file(frame(f, slots)).Certainty, f)
		require.Equal(t, Damaged, file(frame(f, keys)).Certainty, f)
	}
	require.Equal(t, Damaged, file(nulls).Certainty)
	require.Equal(t, Damaged, file(append(nulls, 0, 0)).Certainty)
	numbers := write(func(e *gdwire.Encoder) { // with more evidence in its rest
		e.BeginArray(5 * n)
		for i := range 5 * n {
			if i < n+10 {
				e.WriteString(strings.Repeat("a long text ", 9))
			} else {
				e.WriteInt(int64(i))
			}
		}
		e.End()
	})
	for _, zeros := range []int{0, 1, 2, 3, 4, 16, 500} {
		want := Result{Certainty: Damaged, Readings: []Reading{{gdwire.Godot4, U32}}}
		if zeros == 0 {
			want.Certainty = Sure
		}
		requireResult(t, want, file(append(frame(U32, numbers), make([]byte, zeros)...)), zeros)
	}
	twice := append(bytes.Clone(slots), slots...)
	require.Equal(t, Probably, file(append(twice, 0, 0, 0, 0)).Certainty, "two values and a null")
}

// A longSave reads a save whose bytes after the start are 0xff.
type longSave struct {
	start []byte
	size  int64
}

func (s *longSave) ReadAt(b []byte, at int64) (int, error) {
	n := int(min(int64(len(b)), max(s.size-at, 0)))
	for i := range n {
		b[i] = 0xff
	}
	if at < int64(len(s.start)) {
		copy(b[:n], s.start[at:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// recognizeLong recognizes a save of size bytes, which are 0xff after start.
func recognizeLong(t *testing.T, start []byte, size int64) Result {
	t.Helper()
	in := &Input{Head: make([]byte, min(HeadSize, size)), Size: size, At: &longSave{start, size}}
	testenv.Must(in.At.ReadAt(in.Head, 0))(t)
	return Recognize(in)
}

// long returns the start of a Dictionary of size bytes. What follows are bytes of a PackedByteArray.
func (s *saves) long(t *testing.T, size int64) []byte {
	var b, all bytes.Buffer
	s.e = gdwire.NewEncoder(&b, &gdwire.EncoderOptions{Format: s.format})
	pairs := 1
	for s.e.OutputOffset() < min(HeadSize, size/2) {
		s.e.WriteString(fmt.Sprint("key", pairs))
		s.value(3)
		require.NoError(t, s.e.Flush())
		pairs++
	}
	s.e.WriteString("fill")
	const headers = 16 // of the Dictionary and the PackedByteArray
	fill := size - s.e.OutputOffset() - headers
	if fill < 0 {
		return s.long(t, size) // the last value was long
	}
	s.e.BeginPacked(gdwire.TypePackedByteArray, fill)
	require.NoError(t, s.e.Flush())
	d := gdwire.NewEncoder(&all, &gdwire.EncoderOptions{Format: s.format})
	d.BeginDict(pairs)
	require.NoError(t, d.Flush())
	return append(all.Bytes(), b.Bytes()...)
}

// longFramed returns what long does, after a length if the frame has one, and the size with it.
func (s *saves) longFramed(t *testing.T, f Frame, size int64) ([]byte, int64) {
	b := s.long(t, size)
	if f == Bare {
		return b, size
	}
	length := make([]byte, lengthSize)
	f.Order().PutUint32(length, uint32(size))
	return append(length, b...), size + lengthSize
}

// TestCutForms cuts saves of 1 KiB to 64 MiB of each format and frame, of one packet and of several. As long
// as 1/16 is left, the frame and format are recognized, or are among several, and others are not.
func TestCutForms(t *testing.T) {
	n := testenv.Cases(120, 3_000)
	r := rand.New(rand.NewPCG(51, 52))
	var counts [Sure + 1]int
	for i := range n {
		s, want := savesOf(r, i)
		size := int64(1<<10*math.Exp2(r.Float64()*16)) &^ 3
		if r.IntN(3) == 0 { // its bytes in the other order are also a plausible length
			size &^= 0xff
		}
		b, size := s.longFramed(t, want.Frame, size)
		if want.Frame != Bare && r.IntN(3) == 0 {
			first := frame(want.Frame, s.top(t, 3))
			b = append(first, b...)
			size += int64(len(first))
		}
		least := max(size/16, 512)
		cut := least + r.Int64N(size-least)
		got := recognizeLong(t, b, cut)
		counts[got.Certainty]++
		if got.Certainty == Ambiguous {
			require.Contains(t, got.Readings, want)
			continue
		}
		require.GreaterOrEqual(t, got.Certainty, Damaged, "%v, %d of %d bytes: %v", want, cut, size, got)
		require.NotEqual(t, wrong, judge(got, want), "%v, %d of %d bytes: %v", want, cut, size, got)
		require.Equal(t, want.Frame, got.Readings[0].Frame, "%v, %d of %d bytes: %v", want, cut, size, got)
	}
	t.Logf("of %d saves: %d ambiguous, %d cut short, %d probable, %d sure", n, counts[Ambiguous], counts[CutShort], counts[Probably], counts[Sure])
	require.Less(t, 8*counts[Ambiguous], n) // where lengths are multiples of 256
}

// TestDamageForms overwrites bytes of saves of 1 KiB to 64 MiB of each format and frame, as a disk does. The
// frame and format are recognized, or are among several, or nothing is.
func TestDamageForms(t *testing.T) {
	n := testenv.Cases(120, 8_000)
	r := rand.New(rand.NewPCG(81, 82))
	var counts [Sure + 1]int
	for i := range n {
		s, want := savesOf(r, i)
		size := int64(1<<10*math.Exp2(r.Float64()*16)) &^ 3
		b, size := s.longFramed(t, want.Frame, size)
		at := 16 + r.IntN(len(b)-16)
		for j := at; j < min(len(b), at+1<<r.IntN(13)); j++ {
			b[j] = byte(r.Uint32())
		}
		got := recognizeLong(t, b, size)
		counts[got.Certainty]++
		require.NotEqual(t, wrong, judge(got, want), "%v, %d bytes from %d: %v", want, size, at, got)
	}
	t.Logf("of %d saves: %d not recognized, %d damaged, %d cut short, %d probable, %d sure", n, counts[Unknown], counts[Damaged], counts[CutShort], counts[Probably], counts[Sure])
	require.Less(t, 50*counts[Unknown], n)
}

// TestConverted: saves that were decoded and encoded as text are never read as other values, and texts with U+FFFD are
// no sign of that.
func TestConverted(t *testing.T) {
	n := testenv.Cases(300, 10_000)
	r := rand.New(rand.NewPCG(91, 92))
	var counts [Sure + 1]int
	for i := range n {
		s, want := savesOf(r, i)
		save := frame(want.Frame, s.framed(t)[lengthSize:])
		for _, b := range [][]byte{save, save[:len(save)*3/4]} {
			if utf8.Valid(b) {
				continue
			}
			got := file([]byte(string([]rune(string(b)))))
			counts[got.Certainty]++
			require.LessOrEqual(t, got.Certainty, Ambiguous, "%v %v", want, got.Readings)
		}
	}
	t.Log(counts)
	for _, text := range []string{"\ufffd", "a \ufffd", "\ufffd\ufffd..."} {
		b := binary.LittleEndian.AppendUint32([]byte{4, 0, 0, 0}, uint32(len(text)))
		b = append(b, text...)
		b = append(b, make([]byte, -len(b)&3)...)
		array := append([]byte{28, 0, 0, 0, 9, 0, 0, 0}, bytes.Repeat(b, 9)...)
		for cut := range b {
			require.False(t, isConverted(array[:len(array)-cut]), "%q cut by %d", text, cut)
		}
		b[4] = byte(len(strings.TrimRight(text, ".")) - 1)
		require.True(t, isConverted(b), "%q", text)
	}
}
