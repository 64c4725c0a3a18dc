package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/bytebufferpool"

	"github.com/gdwire/gdwire/internal/testsize"
	"github.com/gdwire/gdwire/internal/wire"
)

// These tests are in this package because they replace the pool of buffers: a pooled buffer
// would hide what a call allocates.

// hugeSize returns the size of values of which only a buffer may be in memory.
func hugeSize() int64 {
	switch {
	case testsize.Race:
		return 64 << 20
	case !testsize.Full() || math.MaxInt == math.MaxInt32:
		return 256 << 20
	default:
		return 1 << 30
	}
}

// requireLittleMemory expects that f allocates little, even with an empty pool.
func requireLittleMemory(t *testing.T, f func()) {
	t.Helper()
	pool = bytebufferpool.Pool{}
	require.Less(t, allocated(f), maxMemory())
}

func TestHugeValuesAreRead(t *testing.T) {
	n := hugeSize()
	noLimits := Limits{Depth: -1, Elements: -1, Values: -1, StringBytes: -1, NameBytes: -1, PackedBytes: -1, Bytes: -1}
	text := func() io.Reader { return huge(bytesOf(idString, int(n)), 'x', n) }
	data := func() io.Reader { return huge(bytesOf(idBytes, int(n)), 0, n) }
	floats := func() io.Reader { return huge(bytesOf(idFloats, int(n/4)), 0, n) }
	vectors := func() io.Reader { return huge(bytesOf(idVectors4, int(n/16)), 0, n) }

	copyPayload := func(t *testing.T, d *Decoder, w io.Writer) {
		readTo(t, d, 1)
		got, err := io.Copy(w, d.Payload())
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	readTokens := func(t *testing.T, d *Decoder) {
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
	encoded := func(write func(t *testing.T, d *Decoder, e *Encoder)) func(t *testing.T, d *Decoder) {
		return func(t *testing.T, d *Decoder) {
			var out counter
			e := NewEncoder(&out, nil)
			defer e.Release()
			write(t, d, e)
			require.EqualValues(t, n+8, out)
		}
	}
	for _, c := range []struct {
		name string
		from func() io.Reader
		read func(t *testing.T, d *Decoder)
	}{
		{"a string's tokens", text, readTokens},
		{"a packed array's tokens", data, readTokens},
		{"skipping a string", text, func(t *testing.T, d *Decoder) { require.NoError(t, d.SkipValue()) }},
		{"skipping vectors", vectors, func(t *testing.T, d *Decoder) { require.NoError(t, d.SkipValue()) }},
		{"leaving a string", text, func(t *testing.T, d *Decoder) { readTo(t, d, 1); require.NoError(t, d.SkipTo(0)) }},
		{"io.Copy from a string", text, func(t *testing.T, d *Decoder) { copyPayload(t, d, io.Discard) }},
		{"io.Copy from a packed array", floats, func(t *testing.T, d *Decoder) { copyPayload(t, d, new(counter)) }},
		{"Payload.Read", data, func(t *testing.T, d *Decoder) {
			readTo(t, d, 1)
			got, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{d.Payload()}, make([]byte, 20<<10))
			require.NoError(t, err)
			require.Equal(t, n, got)
		}},
		{"ReadPacked", floats, func(t *testing.T, d *Decoder) { require.Equal(t, n/4, readPacked(t, d, make([]float32, 4<<10))) }},
		{"ReadPacked as another type", vectors, func(t *testing.T, d *Decoder) {
			require.Equal(t, n/16, readPacked(t, d, make([][4]float64, 512)))
		}},
		{"io.Copy to an Encoder", text, encoded(func(t *testing.T, d *Decoder, e *Encoder) {
			require.NoError(t, e.BeginString(TypeString, n))
			copyPayload(t, d, e)
			require.NoError(t, e.End())
		})},
		{"io.Copy of a packed array to an Encoder", vectors, encoded(func(t *testing.T, d *Decoder, e *Encoder) {
			require.NoError(t, e.BeginPacked(TypePackedVector4Array, n/16))
			copyPayload(t, d, e)
			require.NoError(t, e.End())
		})},
		{"CopyValue of a string", text, encoded(func(t *testing.T, d *Decoder, e *Encoder) { require.NoError(t, CopyValue(e, d)) })},
		{"CopyValue of a packed array", floats, encoded(func(t *testing.T, d *Decoder, e *Encoder) { require.NoError(t, CopyValue(e, d)) })},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireLittleMemory(t, func() {
				d := NewDecoder(c.from(), &DecoderOptions{Limits: noLimits})
				defer d.Release()
				c.read(t, d)
				require.NoError(t, d.SkipTo(0))
				_, err := d.ReadToken()
				require.Equal(t, io.EOF, err)
				require.GreaterOrEqual(t, d.InputOffset(), n)
			})
		})
	}
}

func TestHugeValuesAreWritten(t *testing.T) {
	n := hugeSize()
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
		write func(e *Encoder) error
	}{
		{"a string by Write", func(e *Encoder) error {
			if err := e.BeginString(TypeString, n); err != nil {
				return err
			}
			return repeat(len(page), func() error { _, err := e.Write(page); return err })
		}},
		{"bytes by small Writes", func(e *Encoder) error {
			if err := e.BeginPacked(TypePackedByteArray, n); err != nil {
				return err
			}
			return repeat(1<<10, func() error { _, err := e.Write(page[:1<<10]); return err })
		}},
		{"floats by WritePacked", func(e *Encoder) error {
			if err := e.BeginPacked(TypePackedFloat32Array, n/4); err != nil {
				return err
			}
			return repeat(4*len(floats), func() error { return WritePacked(e, floats) })
		}},
		{"doubles as floats by WritePacked", func(e *Encoder) error {
			if err := e.BeginPacked(TypePackedFloat32Array, n/4); err != nil {
				return err
			}
			return repeat(4*len(doubles), func() error { return WritePacked(e, doubles) })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireLittleMemory(t, func() {
				var out counter
				e := NewEncoder(&out, nil)
				defer e.Release()
				require.NoError(t, c.write(e))
				require.NoError(t, e.End())
				require.NoError(t, e.Close())
				require.EqualValues(t, n+8, out)
			})
		})
	}
}

// readPacked reads a packed array through dst and returns how many elements came.
func readPacked[T Packable](t *testing.T, d *Decoder, dst []T) (total int64) {
	t.Helper()
	readTo(t, d, 1)
	for {
		n, err := ReadPacked(d, dst)
		total += int64(n)
		if err == io.EOF {
			return total
		}
		require.NoError(t, err)
	}
}

// hugeLengths are the lengths and counts around which sums overflow ints of 32 bits.
var hugeLengths = []uint32{1<<30 - 9, 1<<30 - 1, 1 << 30, 1<<30 + 1, 1<<31 - 8, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 4, 1<<32 - 1}

// hugeHeads returns the starts of values that declare n bytes, elements or names.
func hugeHeads(n uint32) []sample {
	return []sample{
		{"String", Godot4, bytesOf(idString, n)},
		{"StringName", Godot4, bytesOf(idName, n)},
		{"PackedByteArray", Godot4, bytesOf(idBytes, n)},
		{"PackedInt64Array", Godot4, bytesOf(idLongs, n)},
		{"PackedVector4Array", Godot4, bytesOf(idVectors4|bit16, n)},
		{"PackedStringArray", Godot4, bytesOf(idStrings, n)},
		{"PackedStringArray of a string", Godot4, bytesOf(idStrings, 2, "a\x00", n)},
		{"PackedStringArray without NULs", Manual4, bytesOf(25, n)},
		{"PackedStringArray of a string without NUL", Manual4, bytesOf(25, 2, "a", n)},
		{"NodePath of names", Godot4, bytesOf(idPath, n|newNodePathBit, 1, 0, "a")},
		{"NodePath of sub-names", Godot4, bytesOf(idPath, newPath(1), n, 0, "a")},
		{"NodePath of many names in a manual's format", Manual4, bytesOf(15, n|newNodePathBit, n, 0, "a")},
		{"name in a NodePath", Godot4, bytesOf(idPath, newPath(2), 0, 0, "a", n)},
		{"NodePath as one string", Godot2, bytesOf(16, n&^newNodePathBit)},
		{"class", Godot4, bytesOf(idObject, n)},
		{"properties", Godot4, bytesOf(idObject, "Node", n)},
		{"property", Godot4, bytesOf(idObject, "Node", 1, n)},
		{"Signal", Godot4, bytesOf(idSignal, n)},
		{"class of elements", Godot4, bytesOf(idArray|typedBy*int(containerClass), n)},
		{"script of values", Godot4, bytesOf(idDict|typedBy*int(containerClass)|valuesBy*int(containerScript), "Node", n)},
		{"Array", Godot4, bytesOf(idArray, n)},
		{"Dictionary", Godot4, bytesOf(idDict, n)},
		{"shared Array", Godot2, bytesOf(21, n)},
		{"Image", Godot2, bytesOf(15, 1, 2, 3, 4, n)},
		{"InputEvent", Godot2, bytesOf(19, 1, 2, n)},
	}
}

// readHuge has the ways of reading the rest of the input.
var readHuge = map[string]func(d *Decoder) error{
	"ReadToken": readAll,
	"SkipValue": func(d *Decoder) error {
		for {
			if err := d.SkipValue(); err != nil {
				return err
			}
		}
	},
	"CopyValue": func(d *Decoder) error {
		e := NewEncoder(io.Discard, &EncoderOptions{Format: d.Options().Format})
		defer e.Release()
		for {
			if err := CopyValue(e, d); err != nil {
				return err
			}
		}
	},
	"AppendString": func(d *Decoder) error { _, err := d.AppendString(nil); return err },
	"AppendPacked": func(d *Decoder) error {
		_, err := AppendPacked[byte](d, nil)
		if errors.Is(err, ErrType) {
			_, err = AppendPacked[int64](d, nil)
		}
		if errors.Is(err, ErrType) {
			_, err = AppendPacked[[4]float64](d, nil)
		}
		return err
	},
	"ReadPacked": func(d *Decoder) error {
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		_, err := ReadPacked(d, make([]byte, 100))
		if errors.Is(err, ErrType) {
			_, err = ReadPacked(d, make([][4]float64, 100))
		}
		return err
	},
	"Payload": func(d *Decoder) error {
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, d.Payload())
		return err
	},
	"Elements": func(d *Decoder) error {
		for _, err := range d.Elements() {
			if err != nil {
				return err
			}
		}
		return io.EOF
	},
	"Fields": func(d *Decoder) error {
		for _, err := range d.Fields() {
			if err != nil {
				return err
			}
		}
		return io.EOF
	},
	"ReadNodePath": func(d *Decoder) error { _, err := d.ReadNodePath(); return err },
	"ReadSignal":   func(d *Decoder) error { _, _, err := d.ReadSignal(); return err },
}

// A length that the input does not have is an error, also if it is near the greatest
// int, and memory follows the bytes received.
func TestHugeLengths(t *testing.T) {
	arrays := map[*Format][]byte{Godot4: bytesOf(idArray, 1), Godot2: bytesOf(20, 1), Manual4: bytesOf(19, 1)}
	for name, read := range readHuge {
		t.Run(name, func(t *testing.T) {
			for _, n := range hugeLengths {
				for _, head := range hugeHeads(n) {
					array := arrays[head.format]
					longer := append(head.packet[:len(head.packet):len(head.packet)], make([]byte, 100)...)
					d := NewDecoder(nil, &DecoderOptions{Format: head.format, Limits: limitsOf("", 0), AllowObjects: true})
					for _, packet := range [][]byte{head.packet, longer, append(array, head.packet...), append(array, longer...)} {
						inArray := bytes.HasPrefix(packet, array) // where the fast path reads
						eachReader(d, packet, func(how string) {
							requireLittleMemory(t, func() {
								var err error
								if inArray {
									_, err = d.ReadToken()
								}
								if err == nil {
									err = read(d)
								}
								if !isCut(err) && (name == "ReadToken" && n < 1<<31 || !errors.As(err, new(*Error)) && err != nil && err != io.EOF) {
									t.Fatalf("%s of %d, %d bytes by %s: %v", head.name, n, len(packet), how, err)
								}
							})
						})
					}
					d.Release()
				}
			}
		})
	}
}

// isCut reports whether err is that of a length or count beyond the input's end, the
// limits or an int.
func isCut(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrLimit) || errors.Is(err, ErrRange)
}

// With the largest read buffer, lengths and two names of 1 GiB do not overflow an int.
// Most of the buffer is never written, so it takes no memory.
func TestHugeReadBuffer(t *testing.T) {
	if testsize.Race || !testsize.Full() && math.MaxInt > math.MaxInt32 {
		t.Skip("reads 1 GiB of memory")
	}
	defer runtime.GC() // or the next collection waits for twice as much, which 32 bits do not have
	d := NewDecoder(nil, &DecoderOptions{MaxChunk: math.MaxInt, Limits: limitsOf("", 0), AllowObjects: true})
	defer d.Release()
	head := bytesOf(idDict|typedBy*int(containerClass)|valuesBy*int(containerClass), maxName)
	pieces := []func(p []byte) int{
		func(p []byte) int { return copy(p, head) },
		func([]byte) int { return maxName }, // NULs
		func(p []byte) int { return copy(p, bytesOf(maxName)) },
	}
	d.Reset(readerFunc(func(p []byte) (int, error) {
		if len(pieces) == 0 {
			return 0, io.EOF
		}
		n := pieces[0](p)
		pieces = pieces[1:]
		return n, nil
	}))
	_, err := d.ReadToken()
	if math.MaxInt > math.MaxInt32 {
		requireError(t, err, len(head)+maxName+4, "$", io.ErrUnexpectedEOF)
	} else {
		requireError(t, err, len(head)+maxName, "$", ErrRange)
	}

	for _, n := range hugeLengths {
		for _, head := range hugeHeads(n) {
			if head.format != Godot4 {
				continue
			}
			for _, name := range []string{"ReadToken", "SkipValue", "CopyValue", "AppendString", "Payload"} {
				d.Reset(plain(head.packet))
				if err := readHuge[name](d); !isCut(err) && n < 1<<31 && !errors.Is(err, ErrType) {
					t.Fatalf("%s of %s of %d: %v", name, head.name, n, err)
				}
			}
		}
	}

	d.r, d.end = 0, 0
	n := len(d.buf) + 100
	d.grow(n)
	require.Len(t, d.buf, n)
}

// Each length that the format has can be begun, and End returns an error while content is
// missing.
func TestHugeLengthsAreBegun(t *testing.T) {
	for _, n := range append(hugeLengths, math.MaxInt32-1, 1) {
		n := int64(n)
		for _, c := range []struct {
			name   string
			format *Format
			most   int64
			begin  func(e *Encoder) error
		}{
			{"String", Godot4, math.MaxInt32, func(e *Encoder) error { return e.BeginString(TypeString, n) }},
			{"String", Manual4, math.MaxUint32, func(e *Encoder) error { return e.BeginString(TypeString, n) }},
			{"PackedByteArray", Godot4, math.MaxInt32, func(e *Encoder) error { return e.BeginPacked(TypePackedByteArray, n) }},
			{"PackedVector4Array", Godot4, math.MaxInt32, func(e *Encoder) error { return e.BeginPacked(TypePackedVector4Array, n) }},
			{"PackedStringArray", Manual4, math.MaxUint32, func(e *Encoder) error { return e.BeginPacked(TypePackedStringArray, n) }},
			{"Image", Godot2, math.MaxInt32, func(e *Encoder) error { return e.BeginImage(1, 2, 3, 4, n) }},
		} {
			t.Run(fmt.Sprintf("%s of %d in %v", c.name, n, c.format), func(t *testing.T) {
				var out bytes.Buffer
				e := NewEncoder(&out, &EncoderOptions{Format: c.format})
				err := c.begin(e)
				if n > c.most {
					require.ErrorIs(t, err, ErrRange)
					e.Release()
					return
				}
				require.NoError(t, err)
				require.ErrorIs(t, e.End(), ErrCount)
				require.ErrorIs(t, e.ClearError(), ErrCount)
				require.NoError(t, e.Flush())
				require.Equal(t, uint32(n), le.Uint32(out.Bytes()[out.Len()-4:]))
				e.Release()
			})
		}
	}
}

// Sizes of 4 GiB and more are not cut to 32 bits. Only the start of the memory is touched.
func TestHugePackedArraysAreSkipped(t *testing.T) {
	if math.MaxInt == math.MaxInt32 || testsize.Race { // which writes a shadow of all memory
		t.Skip()
	}
	b := sparse(t, 4<<30+64)
	for _, c := range []struct {
		id      int
		n, size int64
	}{
		{idBytes, 1<<32 - 1, 1},
		{idLongs, 1 << 29, 8},
		{idLongs, 1<<29 + 1, 8},
		{idVectors4, 1<<28 + 1, 16},
	} {
		head := copy(b, bytesOf(idArray, 1, c.id, uint32(c.n)))
		size := int64(head+wire.Padding(uint32(c.n*c.size))) + c.n*c.size
		for depth, skip := range []func(d *Decoder) error{
			(*Decoder).SkipValue,
			func(d *Decoder) error { readTo(t, d, 1); return d.SkipValue() },
		} {
			d := NewDecoder(nil, &DecoderOptions{Limits: limitsOf("", -1)})
			d.ResetBytes(b[:size])
			require.NoError(t, skip(d))
			require.EqualValues(t, size, d.InputOffset(), "%d × %d", c.n, c.size)
			require.Equal(t, depth, d.Depth())
			d.Release()
		}
	}
}
