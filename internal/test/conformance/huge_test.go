package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// endless is a Reader of the same byte without end.
type endless byte

var pages = map[endless][]byte{'x': bytes.Repeat([]byte{'x'}, 64<<10), 0: make([]byte, 64<<10)}

func (c endless) Read(p []byte) (int, error) { return copy(p, pages[c]), nil }

// huge returns a Reader of a header and count, in the notation of model.Build, and n bytes.
func huge(t *testing.T, head string, c endless, n int64) io.Reader {
	return io.MultiReader(bytes.NewReader(model.Build(t, gdwire.Godot4, head)), io.LimitReader(c, n))
}

// A length is a Writer that counts bytes and has no other method.
type length int64

func (l *length) Write(p []byte) (int, error) {
	*l += length(len(p))
	return len(p), nil
}

// readTo reads n tokens.
func readTo(t *testing.T, d *gdwire.Decoder, n int) {
	t.Helper()
	for range n {
		must(d.ReadToken())(t)
	}
}

// hugeSize returns the size of values of which only a buffer may be in memory.
func hugeSize() int64 {
	switch {
	case testenv.Race:
		return 64 << 20
	case !testenv.Full() || math.MaxInt == math.MaxInt32:
		return 256 << 20
	default:
		return 1 << 30
	}
}

// requireLittleMemory expects that f allocates little. The pool must be empty.
func requireLittleMemory(t *testing.T, f func()) {
	t.Helper()
	require.Less(t, testenv.Allocated(f), testenv.MaxMemory())
}

func TestHugeValuesAreRead(t *testing.T) {
	n := hugeSize()
	withoutPool(t)
	from := func(head string, count int64, c endless) func(t *testing.T) io.Reader {
		return func(t *testing.T) io.Reader { return huge(t, head+model.U32(uint32(count)), c, n) }
	}
	text := from("<String>", n, 'x')
	data := from("<PackedByteArray>", n, 0)
	floats := from("<PackedFloat32Array>", n/4, 0)
	vectors := from("<PackedVector4Array>", n/16, 0)

	copyPayload := func(t *testing.T, d *gdwire.Decoder, w io.Writer) {
		readTo(t, d, 1)
		require.Equal(t, n, must(io.Copy(w, d.Payload()))(t))
	}
	readTokens := func(t *testing.T, d *gdwire.Decoder) {
		got := int64(0)
		for {
			tok, err := d.ReadToken()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got += int64(len(tok.Bytes()))
		}
		require.Equal(t, n, got)
	}
	encoded := func(write func(t *testing.T, d *gdwire.Decoder, e *gdwire.Encoder)) func(t *testing.T, d *gdwire.Decoder) {
		return func(t *testing.T, d *gdwire.Decoder) {
			var out length
			e := gdwire.NewEncoder(&out, nil)
			write(t, d, e)
			require.EqualValues(t, n+8, out)
		}
	}
	for _, c := range []struct {
		name string
		from func(t *testing.T) io.Reader
		read func(t *testing.T, d *gdwire.Decoder)
	}{
		{"a string's tokens", text, readTokens},
		{"a packed array's tokens", data, readTokens},
		{"skipping a string", text, func(t *testing.T, d *gdwire.Decoder) { require.NoError(t, d.SkipValue()) }},
		{"skipping vectors", vectors, func(t *testing.T, d *gdwire.Decoder) { require.NoError(t, d.SkipValue()) }},
		{"leaving a string", text, func(t *testing.T, d *gdwire.Decoder) { readTo(t, d, 1); require.NoError(t, d.SkipTo(0)) }},
		{"io.Copy from a string", text, func(t *testing.T, d *gdwire.Decoder) { copyPayload(t, d, io.Discard) }},
		{"io.Copy from a packed array", floats, func(t *testing.T, d *gdwire.Decoder) { copyPayload(t, d, new(length)) }},
		{"Payload.Read", data, func(t *testing.T, d *gdwire.Decoder) {
			readTo(t, d, 1)
			got := must(io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{d.Payload()}, make([]byte, 20<<10)))(t)
			require.Equal(t, n, got)
		}},
		{"ReadPacked", floats, func(t *testing.T, d *gdwire.Decoder) { require.Equal(t, n/4, readPacked(t, d, make([]float32, 4<<10))) }},
		{"ReadPacked as another type", vectors, func(t *testing.T, d *gdwire.Decoder) {
			require.Equal(t, n/16, readPacked(t, d, make([][4]float64, 512)))
		}},
		{"io.Copy to an Encoder", text, encoded(func(t *testing.T, d *gdwire.Decoder, e *gdwire.Encoder) {
			require.NoError(t, e.BeginString(gdwire.TypeString, n))
			copyPayload(t, d, e)
			require.NoError(t, e.End())
		})},
		{"io.Copy of a packed array to an Encoder", vectors, encoded(func(t *testing.T, d *gdwire.Decoder, e *gdwire.Encoder) {
			require.NoError(t, e.BeginPacked(gdwire.TypePackedVector4Array, n/16))
			copyPayload(t, d, e)
			require.NoError(t, e.End())
		})},
		{"CopyValue of a string", text, encoded(func(t *testing.T, d *gdwire.Decoder, e *gdwire.Encoder) { require.NoError(t, gdwire.CopyValue(e, d)) })},
		{"CopyValue of a packed array", floats, encoded(func(t *testing.T, d *gdwire.Decoder, e *gdwire.Encoder) { require.NoError(t, gdwire.CopyValue(e, d)) })},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.from(t)
			requireLittleMemory(t, func() {
				d := gdwire.NewDecoder(r, &gdwire.DecoderOptions{Limits: gdwire.NoLimits})
				c.read(t, d)
				require.NoError(t, d.SkipTo(0))
				require.Equal(t, io.EOF, errOf(d.ReadToken()))
				require.GreaterOrEqual(t, d.InputOffset(), n)
			})
		})
	}
}

func TestHugeValuesAreWritten(t *testing.T) {
	n := hugeSize()
	withoutPool(t)
	page := bytes.Repeat([]byte{'x'}, 32<<10)
	floats := make([]float32, 4<<10)
	doubles := make([]float64, 2<<10)
	repeat := func(size int, f func() error) error {
		for done := int64(0); done < n; done += int64(size) {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range []struct {
		name  string
		write func(e *gdwire.Encoder) error
	}{
		{"a string by Write", func(e *gdwire.Encoder) error {
			if err := e.BeginString(gdwire.TypeString, n); err != nil {
				return err
			}
			return repeat(len(page), func() error { _, err := e.Write(page); return err })
		}},
		{"bytes by small Writes", func(e *gdwire.Encoder) error {
			if err := e.BeginPacked(gdwire.TypePackedByteArray, n); err != nil {
				return err
			}
			return repeat(1<<10, func() error { _, err := e.Write(page[:1<<10]); return err })
		}},
		{"floats by WritePacked", func(e *gdwire.Encoder) error {
			if err := e.BeginPacked(gdwire.TypePackedFloat32Array, n/4); err != nil {
				return err
			}
			return repeat(4*len(floats), func() error { return gdwire.WritePacked(e, floats) })
		}},
		{"doubles as floats by WritePacked", func(e *gdwire.Encoder) error {
			if err := e.BeginPacked(gdwire.TypePackedFloat32Array, n/4); err != nil {
				return err
			}
			return repeat(4*len(doubles), func() error { return gdwire.WritePacked(e, doubles) })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireLittleMemory(t, func() {
				var out length
				e := gdwire.NewEncoder(&out, nil)
				require.NoError(t, c.write(e))
				require.NoError(t, e.End())
				require.NoError(t, e.Flush())
				require.EqualValues(t, n+8, out)
			})
		})
	}
}

// readPacked reads a packed array through dst and returns how many elements came.
func readPacked[T gdwire.Packable](t *testing.T, d *gdwire.Decoder, dst []T) (total int64) {
	t.Helper()
	readTo(t, d, 1)
	for {
		n, err := gdwire.ReadPacked(d, dst)
		total += int64(n)
		if err == io.EOF {
			return total
		}
		require.NoError(t, err)
	}
}

// hugeLengths are the lengths and counts around which sums overflow ints of 32 bits.
var hugeLengths = []uint32{1<<30 - 9, 1<<30 - 1, 1 << 30, 1<<30 + 1, 1<<31 - 8, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 4, 1<<32 - 1}

// A hugeHead is the start of a value, in the notation of model.Build.
type hugeHead struct {
	name   string
	format gdwire.Format
	text   string
}

// hugeHeads returns the starts of values that declare n bytes, elements or names.
func hugeHeads(n uint32) []hugeHead {
	count, names, a, node := model.U32(n), model.U32(n|1<<31), model.Text("a"), model.Text("Node")
	return []hugeHead{
		{"String", gdwire.Godot4, "<String>" + count},
		{"StringName", gdwire.Godot4, "<StringName>" + count},
		{"PackedByteArray", gdwire.Godot4, "<PackedByteArray>" + count},
		{"PackedInt64Array", gdwire.Godot4, "<PackedInt64Array>" + count},
		{"PackedVector4Array", gdwire.Godot4, "<PackedVector4Array+1>" + count},
		{"PackedStringArray", gdwire.Godot4, "<PackedStringArray>" + count},
		{"PackedStringArray of a string", gdwire.Godot4, "<PackedStringArray> 02000000 02000000 61000000" + count},
		{"PackedStringArray without NULs", gdwire.Manual4, "<PackedStringArray>" + count},
		{"PackedStringArray of a string without NUL", gdwire.Manual4, "<PackedStringArray> 02000000" + a + count},
		{"NodePath of names", gdwire.Godot4, "<NodePath>" + names + " 01000000 00000000" + a},
		{"NodePath of sub-names", gdwire.Godot4, "<NodePath> 01000080" + count + " 00000000" + a},
		{"NodePath of many names in a manual's format", gdwire.Manual4, "<NodePath>" + names + count + " 00000000" + a},
		{"name in a NodePath", gdwire.Godot4, "<NodePath> 02000080 00000000 00000000" + a + count},
		{"NodePath as one string", gdwire.Godot2, "<NodePath>" + model.U32(n&^(1<<31))},
		{"class", gdwire.Godot4, "<Object>" + count},
		{"properties", gdwire.Godot4, "<Object>" + node + count},
		{"property", gdwire.Godot4, "<Object>" + node + " 01000000" + count},
		{"Signal", gdwire.Godot4, "<Signal>" + count},
		{"class of elements", gdwire.Godot4, "<Array+2>" + count},
		{"script of values", gdwire.Godot4, "<Dictionary+14>" + node + count},
		{"Array", gdwire.Godot4, "<Array>" + count},
		{"Dictionary", gdwire.Godot4, "<Dictionary>" + count},
		{"shared Array", gdwire.Godot2, "<Array>" + count},
		{"Image", gdwire.Godot2, "<Image>" + model.U32(1, 2, 3, 4, n)},
		{"InputEvent", gdwire.Godot2, "<InputEvent>" + model.U32(1, 2, n)},
	}
}

// readHuge contains the ways of reading the rest of the input.
var readHuge = map[string]func(d *gdwire.Decoder) error{
	"ReadToken": func(d *gdwire.Decoder) error {
		for {
			if _, err := d.ReadToken(); err != nil {
				return err
			}
		}
	},
	"SkipValue": func(d *gdwire.Decoder) error {
		for {
			if err := d.SkipValue(); err != nil {
				return err
			}
		}
	},
	"CopyValue": func(d *gdwire.Decoder) error {
		e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{Format: d.Options().Format})
		for {
			if err := gdwire.CopyValue(e, d); err != nil {
				return err
			}
		}
	},
	"AppendString": func(d *gdwire.Decoder) error { _, err := d.AppendString(nil); return err },
	"AppendPacked": func(d *gdwire.Decoder) error {
		_, err := gdwire.AppendPacked[byte](d, nil)
		if errors.Is(err, gdwire.ErrType) {
			_, err = gdwire.AppendPacked[int64](d, nil)
		}
		if errors.Is(err, gdwire.ErrType) {
			_, err = gdwire.AppendPacked[[4]float64](d, nil)
		}
		return err
	},
	"ReadPacked": func(d *gdwire.Decoder) error {
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		_, err := gdwire.ReadPacked(d, make([]byte, 100))
		if errors.Is(err, gdwire.ErrType) {
			_, err = gdwire.ReadPacked(d, make([][4]float64, 100))
		}
		return err
	},
	"Payload": func(d *gdwire.Decoder) error {
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, d.Payload())
		return err
	},
	"Elements": func(d *gdwire.Decoder) error {
		for _, err := range d.Elements() {
			if err != nil {
				return err
			}
		}
		return io.EOF
	},
	"Fields": func(d *gdwire.Decoder) error {
		for _, err := range d.Fields() {
			if err != nil {
				return err
			}
		}
		return io.EOF
	},
	"ReadNodePath": func(d *gdwire.Decoder) error { _, err := d.ReadNodePath(); return err },
	"ReadSignal":   func(d *gdwire.Decoder) error { _, _, err := d.ReadSignal(); return err },
}

// A length that the input does not have is an error, also if it is near the greatest
// int, and memory follows the bytes received.
func TestHugeLengths(t *testing.T) {
	withoutPool(t)
	for name, read := range readHuge {
		t.Run(name, func(t *testing.T) {
			for i, n := range hugeLengths {
				for j, head := range hugeHeads(n) {
					if (i+j)%testenv.Cases(3, 1) > 0 {
						continue
					}
					array := model.Build(t, head.format, "<Array> 01000000")
					short := model.Build(t, head.format, head.text)
					longer := slices.Concat(short, make([]byte, 100))
					d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: head.format, Limits: gdwire.NoLimits, AllowObjects: true})
					for _, packet := range [][]byte{short, longer, slices.Concat(array, short), slices.Concat(array, longer)} {
						inArray := bytes.HasPrefix(packet, array) // where the fast path reads
						for how, reset := range map[string]func(){
							"Reset":      func() { d.Reset(plain(packet)) },
							"ResetN":     func() { d.ResetN(plain(packet), int64(len(packet))) },
							"ResetBytes": func() { d.ResetBytes(packet) },
						} {
							reset()
							requireLittleMemory(t, func() {
								var err error
								if inArray {
									_, err = d.ReadToken()
								}
								if err == nil {
									err = read(d)
								}
								if !isCut(err) && (name == "ReadToken" && n < 1<<31 || !errors.As(err, new(*gdwire.Error)) && err != nil && err != io.EOF) {
									t.Fatalf("%s of %d, %d bytes by %s: %v", head.name, n, len(packet), how, err)
								}
							})
						}
					}
				}
			}
		})
	}
}

// isCut reports whether err is that of a length or count beyond the input's end, the
// limits or an int.
func isCut(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gdwire.ErrLimit) || errors.Is(err, gdwire.ErrRange)
}

// With the largest read buffer, lengths and two names of 1 GiB do not overflow an int.
// Most of the buffer is never written, so it takes no memory.
func TestHugeReadBuffer(t *testing.T) {
	if testenv.Race || !testenv.Full() && math.MaxInt > math.MaxInt32 {
		t.Skip("reads 1 GiB of memory")
	}
	defer runtime.GC() // or the next collection waits for twice as much, which 32 bits do not have
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{MaxChunk: math.MaxInt, Limits: gdwire.NoLimits, AllowObjects: true})
	defer d.Release()
	const maxName = 1 << 30 // the maximum of Limits.NameBytes
	head := model.Build(t, gdwire.Godot4, "<Dictionary+10>"+model.U32(maxName))
	d.Reset(&hugeName{
		func(p []byte) int { return copy(p, head) },
		func([]byte) int { return maxName }, // NULs
		func(p []byte) int { return copy(p, head[4:]) },
	})
	_, err := d.ReadToken()
	var fault *gdwire.Error
	require.ErrorAs(t, err, &fault)
	if math.MaxInt > math.MaxInt32 {
		require.Equal(t, gdwire.Error{Offset: int64(len(head) + maxName + 4), Path: "$", Err: io.ErrUnexpectedEOF}, *fault)
	} else {
		require.ErrorIs(t, err, gdwire.ErrRange)
		require.EqualValues(t, len(head)+maxName, fault.Offset)
	}

	for _, n := range hugeLengths {
		for _, head := range hugeHeads(n) {
			if head.format != gdwire.Godot4 {
				continue
			}
			for _, name := range []string{"ReadToken", "SkipValue", "CopyValue", "AppendString", "Payload"} {
				d.Reset(plain(model.Build(t, head.format, head.text)))
				if err := readHuge[name](d); !isCut(err) && n < 1<<31 && !errors.Is(err, gdwire.ErrType) {
					t.Fatalf("%s of %s of %d: %v", name, head.name, n, err)
				}
			}
		}
	}
}

// A hugeName is a Reader whose calls each return what a function puts at the start of their
// buffer.
type hugeName []func(p []byte) int

func (r *hugeName) Read(p []byte) (int, error) {
	if len(*r) == 0 {
		return 0, io.EOF
	}
	n := (*r)[0](p)
	*r = (*r)[1:]
	return n, nil
}

// Each length of the format can be begun, and End returns an error while content is missing.
func TestHugeLengthsAreBegun(t *testing.T) {
	for _, n := range append(hugeLengths, math.MaxInt32-1, 1) {
		n := int64(n)
		for _, c := range []struct {
			name   string
			format gdwire.Format
			most   int64
			begin  func(e *gdwire.Encoder) error
		}{
			{"String", gdwire.Godot4, math.MaxInt32, func(e *gdwire.Encoder) error { return e.BeginString(gdwire.TypeString, n) }},
			{"String", gdwire.Manual4, math.MaxUint32, func(e *gdwire.Encoder) error { return e.BeginString(gdwire.TypeString, n) }},
			{"PackedByteArray", gdwire.Godot4, math.MaxInt32, func(e *gdwire.Encoder) error { return e.BeginPacked(gdwire.TypePackedByteArray, n) }},
			{"PackedVector4Array", gdwire.Godot4, math.MaxInt32, func(e *gdwire.Encoder) error { return e.BeginPacked(gdwire.TypePackedVector4Array, n) }},
			{"PackedStringArray", gdwire.Manual4, math.MaxUint32, func(e *gdwire.Encoder) error { return e.BeginPacked(gdwire.TypePackedStringArray, n) }},
			{"Image", gdwire.Godot2, math.MaxInt32, func(e *gdwire.Encoder) error { return e.BeginImage(1, 2, 3, 4, n) }},
		} {
			t.Run(fmt.Sprintf("%s of %d in %v", c.name, n, c.format), func(t *testing.T) {
				var out bytes.Buffer
				e := gdwire.NewEncoder(&out, &gdwire.EncoderOptions{Format: c.format})
				err := c.begin(e)
				if n > c.most {
					require.ErrorIs(t, err, gdwire.ErrRange)
					e.Close()
					return
				}
				require.NoError(t, err)
				require.ErrorIs(t, e.End(), gdwire.ErrCount)
				require.ErrorIs(t, e.ClearError(), gdwire.ErrCount)
				require.NoError(t, e.Flush())
				require.Equal(t, uint32(n), le.Uint32(out.Bytes()[out.Len()-4:]))
				e.Close()
			})
		}
	}
}

// Sizes of 4 GiB and more are not cut to 32 bits. Only the start of the memory is touched.
func TestHugePackedArraysAreSkipped(t *testing.T) {
	if math.MaxInt == math.MaxInt32 || testenv.Race { // which writes a shadow of all memory
		t.Skip()
	}
	b := sparse(t, 4<<30+64)
	for _, c := range []struct {
		head    string
		n, size int64
	}{
		{"<PackedByteArray>", 1<<32 - 1, 1},
		{"<PackedInt64Array>", 1 << 29, 8},
		{"<PackedInt64Array>", 1<<29 + 1, 8},
		{"<PackedVector4Array>", 1<<28 + 1, 16},
	} {
		head := copy(b, model.Build(t, gdwire.Godot4, "<Array> 01000000"+c.head+model.U32(uint32(c.n))))
		size := int64(head) + (c.n*c.size+3)&^3
		for depth, skip := range []func(d *gdwire.Decoder) error{
			(*gdwire.Decoder).SkipValue,
			func(d *gdwire.Decoder) error { readTo(t, d, 1); return d.SkipValue() },
		} {
			d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Limits: gdwire.NoLimits})
			d.ResetBytes(b[:size])
			require.NoError(t, skip(d))
			require.EqualValues(t, size, d.InputOffset(), "%d × %d", c.n, c.size)
			require.Equal(t, depth, d.Depth())
			d.Release()
		}
	}
}

// A String of 2 GiB or more is ErrRange in a container, too. Untouched memory costs nothing.
func TestHugeStringsAreNotWritten(t *testing.T) {
	if math.MaxInt == math.MaxInt32 || testenv.Race { // which needs memory
		t.Skip()
	}
	const maxText = 1<<31 - 2 // the longest that engines read with a NUL
	sizes := []int64{maxText + 1, maxText + 2, 1<<32 + 20}
	b := sparse(t, sizes[2])
	e := new(gdwire.Encoder)
	defer e.Close()
	e.ResetBytes(b[:0])
	require.NoError(t, e.BeginArray(1))
	for _, size := range sizes {
		err := e.WriteString(unsafe.String(&b[0], size))
		require.ErrorIs(t, err, gdwire.ErrRange)
		require.EqualError(t, err, fmt.Sprintf("gdwire: offset 8, $[0]: string of %d bytes is too long", size))
		require.Error(t, e.ClearError())
	}
}
