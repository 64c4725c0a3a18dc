package gdwire

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/testsize"
)

// readItems reads a container and skips what is in it.
func readItems(d *Decoder, start func() (int, error), values int) (int, error) {
	n, err := start()
	for range n * values {
		if err == nil {
			err = d.SkipValue()
		}
	}
	if err == nil {
		err = d.ReadEnd()
	}
	return n, err
}

// Numbers at the ends of the ranges of Go's types are read, or do not fit.
func TestTypedReadsOfNumbers(t *testing.T) {
	tests := []struct {
		name           string
		wire           []byte
		int, float, u8 any // result or error
		float32        any
	}{
		{"int", integer(7), int64(7), 7.0, uint8(7), float32(7)},
		{"negative int", bytesOf(idInt, uint32(0xFFFFFFFF)), int64(-1), -1.0, ErrRange, float32(-1)},
		{"256", integer(256), int64(256), 256.0, ErrRange, float32(256)},
		{"2^53+1", bytesOf(idInt|bit16, uint64(1<<53+1)), int64(1<<53 + 1), ErrRange, ErrRange, ErrRange},
		{"largest int", bytesOf(idInt|bit16, uint64(math.MaxInt64)), int64(math.MaxInt64), ErrRange, ErrRange, ErrRange},
		{"smallest int", bytesOf(idInt|bit16, uint64(1<<63)), int64(math.MinInt64), float64(-1 << 63), ErrRange, float32(-1 << 63)},
		{"float", bytesOf(idFloat, float32(1.5)), ErrRange, 1.5, ErrRange, float32(1.5)},
		{"whole float", bytesOf(idFloat|bit16, 255.0), int64(255), 255.0, uint8(255), float32(255)},
		{"2^63", bytesOf(idFloat|bit16, float64(1<<63)), ErrRange, float64(1 << 63), ErrRange, float32(1 << 63)},
		{"below -2^63", bytesOf(idFloat|bit16, -1.5*(1<<63)), ErrRange, -1.5 * (1 << 63), ErrRange, float32(-1.5 * (1 << 63))},
		{"infinity", bytesOf(idFloat, float32(math.Inf(1))), ErrRange, math.Inf(1), ErrRange, float32(math.Inf(1))},
		{"2^24+1", integer(1<<24 + 1), int64(1<<24 + 1), float64(1<<24 + 1), ErrRange, ErrRange},
		{"1e300", bytesOf(idFloat|bit16, 1e300), ErrRange, 1e300, ErrRange, ErrRange},
		{"rounded", bytesOf(idFloat|bit16, 0.1), ErrRange, 0.1, ErrRange, float32(0.1)},
		{"wide infinity", bytesOf(idFloat|bit16, math.Inf(-1)), ErrRange, math.Inf(-1), ErrRange, float32(math.Inf(-1))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			packet := bytesOf(idArray, 4, test.wire, idNil, idNil, idNil)
			for _, call := range []struct {
				want any
				read func(d *Decoder) (any, error)
			}{
				{test.int, func(d *Decoder) (any, error) { return d.ReadInt() }},
				{test.float, func(d *Decoder) (any, error) { return d.ReadFloat() }},
				{test.u8, func(d *Decoder) (any, error) { return ReadInteger[uint8](d) }},
				{test.float32, func(d *Decoder) (any, error) { return d.ReadFloat32() }},
			} {
				for _, r := range []io.Reader{&slowReader{packet}, bytes.NewReader(packet)} {
					d := NewDecoder(r, nil)
					defer d.Release()
					readTo(t, d, 1)
					got, err := call.read(d)
					if e, ok := call.want.(error); ok {
						requireError(t, err, 8, "$[0]", e)
					} else {
						require.NoError(t, err)
						require.Equal(t, call.want, got)
					}
				}
			}
		})
	}
}

func TestReadBoolOfTwo(t *testing.T) {
	d := NewDecoder(plain(bytesOf(idBool, 2)), nil)
	defer d.Release()
	got, err := d.ReadBool()
	require.NoError(t, err)
	require.True(t, got)
}

// Where no value is next, a typed read is an error that consumes nothing.
func TestTypedReadsMisplaced(t *testing.T) {
	texts := []string{"ReadString", "ReadText", "AppendString"}
	tests := []struct {
		name   string
		packet []byte
		tokens int
		want   error
		next   Kind
		fits   []string // calls that read what is next
	}{
		{"End", bytesOf(idArray, 1, idNil), 2, ErrCount, KindEnd, nil},
		{"End of a Dictionary", bytesOf(idDict, 0), 1, ErrCount, KindEnd, nil},
		{"End of a PackedStringArray", bytesOf(idStrings, 0), 1, ErrCount, KindEnd, nil},
		{"End of a NodePath", bytesOf(idPath, newPath(0), 0, 0), 1, ErrCount, KindEnd, texts[2:]},
		{"property", bytesOf(idObject, "Node", 1, "name", idNil), 1, ErrType, KindProperty, nil},
		{"name", bytesOf(idPath, newPath(1), 0, 0, "n"), 1, ErrType, KindStringChunk, texts},
		{"packed string", bytesOf(idStrings, 1, "n\x00"), 1, ErrType, KindStringChunk, texts},
		{"packed data", bytesOf(idFloats, 1, reals(1)), 1, ErrType, KindChunk, []string{"AppendPacked[float32]", "AppendPacked[float64]"}},
		{"inside a String", str(longText), 1, ErrType, KindStringChunk, texts[2:]},
	}
	for _, test := range tests {
		for _, call := range typedReads {
			if slices.Contains(test.fits, call.name) {
				continue
			}
			t.Run(test.name+"/"+call.name, func(t *testing.T) {
				for _, memory := range []bool{false, true} {
					d := NewDecoder(&slowReader{test.packet}, &DecoderOptions{AllowObjects: true, MaxChunk: 16})
					defer d.Release()
					if memory { // with enough bytes for the fast path
						d.ResetBytes(append(slices.Clone(test.packet), make([]byte, fastSize)...))
					}
					readTo(t, d, test.tokens)
					_, err := call.read(d)
					if err != errNoText {
						require.ErrorIs(t, err, test.want)
					}
					require.Equal(t, test.next, d.PeekKind())
					if test.next != KindEnd {
						require.ErrorIs(t, d.ReadEnd(), ErrCount)
					}
					require.NoError(t, d.SkipTo(0))
				}
			})
		}
	}
	d := NewDecoder(plain(nil), nil)
	defer d.Release()
	require.ErrorIs(t, d.ReadEnd(), ErrIncomplete)
	require.Equal(t, io.EOF, d.ReadNil())
}

func TestTypedReadsOfStrings(t *testing.T) {
	d := NewDecoder(plain(bytesOf(idStrings, 3, "a\x00", longText+"\x00", "\x00", idPath, newPath(1), 1, 0, "n", "s", str("x"), str("y"))),
		&DecoderOptions{MaxChunk: 16})
	defer d.Release()
	readTo(t, d, 1)
	for _, want := range []string{"a", longText, ""} {
		got, err := d.ReadString()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.NoError(t, d.ReadEnd())
	readTo(t, d, 1)
	for _, want := range []string{"n", "s"} {
		got, err := d.ReadString()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.NoError(t, d.ReadEnd())
	for _, want := range []string{"x", "y"} { // one after the other
		got, err := d.AppendString(nil)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

// ReadReals and ReadInts refuse slices of another length and types that have no
// such components.
func TestTypedReadsOfMathMisused(t *testing.T) {
	d := NewDecoder(plain(bytesOf(idArray, 5, idVector2, reals(2), idNil, idNil, idNil, idNil)), nil)
	defer d.Release()
	readTo(t, d, 1)
	require.ErrorIs(t, d.ReadReals(TypeVector2, make([]float64, 3)), ErrCount)
	require.ErrorIs(t, d.ReadReals(TypeVector2i, make([]float64, 2)), ErrType)
	require.ErrorIs(t, d.ReadReals(0, nil), ErrType)
	require.ErrorIs(t, d.ReadReals(200, nil), ErrType)
	require.ErrorIs(t, d.ReadInts(TypeVector2, make([]int32, 2)), ErrType)
	require.ErrorIs(t, d.ReadInts(TypeVector2i, make([]int32, 1)), ErrCount)
	c := make([]float64, 2)
	require.NoError(t, d.ReadReals(TypeVector2, c))
	require.Equal(t, []float64{0.5, 1.5}, c)
}

// A typed read is repeated after a temporary error at any byte.
// A float and a packed array of one element are no math types, whatever the lengths are.
func TestReadRealsOfOtherTypes(t *testing.T) {
	for typ, value := range map[Type][]byte{TypeFloat: bytesOf(idFloat, reals(1)), TypePackedFloat32Array: bytesOf(idFloats, 1, reals(1))} {
		packet := bytesOf(idArray, 5, value, idNil, idNil, idNil, idNil)
		for _, r := range []io.Reader{&slowReader{packet}, bytes.NewReader(packet)} {
			d := NewDecoder(r, nil)
			readTo(t, d, 1)
			require.ErrorIs(t, d.ReadReals(typ, make([]float64, 1)), ErrType)
			require.EqualValues(t, 8, d.InputOffset())
			d.Release()
		}
	}
}

// The limits apply to typed reads in memory and byte by byte.
func TestTypedReadsWithinLimits(t *testing.T) {
	of3 := []byte{3, 0, 0, 0}
	for _, row := range []struct {
		name  string
		value []byte
		read  func(d *Decoder) error
	}{
		{"ReadArray", bytesOf(idArray, 3, idNil, idNil, idNil), func(d *Decoder) error { _, err := d.ReadArray(); return err }},
		{"ReadDict", bytesOf(idDict, 3, idNil, idNil, idNil, idNil, idNil, idNil), func(d *Decoder) error { _, err := d.ReadDict(); return err }},
		{"Elements", bytesOf(idStrings, 3, "a\x00", "b\x00", "c\x00"), func(d *Decoder) error { _, err := iterations(d.Elements()); return err }},
		{"ReadNodePath", bytesOf(idPath, newPath(3), 0, 0, "a", "b", "c"), func(d *Decoder) error { _, err := d.ReadNodePath(); return err }},
		{"AppendString", bytesOf(idPath, newPath(1), 2, 0, "a", "b", "c"), func(d *Decoder) error { _, err := d.AppendString(nil); return err }},
		{"AppendPacked", bytesOf(idBytes, 3, of3), func(d *Decoder) error { _, err := AppendPacked[byte](d, nil); return err }},
	} {
		t.Run(row.name, func(t *testing.T) {
			packet := bytesOf(idArray, 2, row.value, idNil, make([]byte, fastSize))
			for _, limits := range []Limits{{Elements: 2, PackedBytes: 2}, {Values: 4, PackedBytes: 2}} {
				for _, r := range []io.Reader{&slowReader{packet}, bytes.NewReader(packet)} {
					d := NewDecoder(r, &DecoderOptions{Limits: limits})
					readTo(t, d, 1)
					require.ErrorIs(t, row.read(d), ErrLimit)
					d.Release()
				}
			}
		})
	}
}

// ReadEnd obeys an error and a loop that has been left, where all elements have been read.
func TestReadEndAfterAll(t *testing.T) {
	packet := bytesOf(idArray, 1, idDict, 1, str("a"), integer(1), make([]byte, fastSize))
	d := NewDecoder(nil, nil)
	defer d.Release()
	d.ResetBytes(packet)
	readTo(t, d, 1)
	for range d.Fields() {
		_, err := d.ReadInt()
		require.NoError(t, err)
		break
	}
	require.NoError(t, d.ReadEnd())
	require.Zero(t, d.Depth(), "the End of the Array, after the Dictionary has been skipped")

	d.ResetBytes(bytesOf(idArray, 1, idArray, 0, make([]byte, fastSize)))
	readTo(t, d, 2)
	fault := d.fail(0, ErrType)
	require.Equal(t, fault, d.ReadEnd())
}

// After an interrupted ReadString or ReadNodePath, no typed read returns the rest of the text.
// ReadToken, SkipValue and SkipTo go on.
func TestReadStringInterrupted(t *testing.T) {
	readString := func(d *Decoder) error { _, err := d.ReadString(); return err }
	readNodePath := func(d *Decoder) error { _, err := d.ReadNodePath(); return err }
	for _, c := range []struct {
		name   string
		packet []byte
		read   func(d *Decoder) error
	}{
		{"String", str(longText), readString},
		{"StringName", bytesOf(idName, longText), readString},
		{"NodePath", bytesOf(idPath, newPath(1), 0, 0, longText), readNodePath},
	} {
		packet := bytesOf(idArray, 2, c.packet, integer(7))
		begin := func(t *testing.T) *Decoder {
			d := NewDecoder(&faultyReader{b: packet, at: len(packet) - 8 - 12}, &DecoderOptions{MaxChunk: 16})
			readTo(t, d, 1)
			require.Equal(t, errTemporary, c.read(d))
			require.Greater(t, d.Depth(), 1)
			return d
		}
		for name, call := range map[string]func(d *Decoder) error{
			"ReadString":   readString,
			"ReadNodePath": readNodePath,
			"AppendString": func(d *Decoder) error { _, err := d.AppendString(nil); return err },
			"ReadText":     func(d *Decoder) error { _, _, err := d.ReadText(); return err },
			"ReadInt":      func(d *Decoder) error { _, err := d.ReadInt(); return err },
			"ReadNil":      (*Decoder).ReadNil,
			"Fields": func(d *Decoder) (err error) {
				for _, err = range d.Fields() {
				}
				return err
			},
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				for _, peek := range []bool{false, true} {
					d := begin(t)
					if peek {
						require.Equal(t, KindStringChunk, d.PeekKind())
					}
					offset := d.InputOffset()
					require.ErrorIs(t, call(d), ErrType)
					require.Equal(t, offset, d.InputOffset())
					require.NoError(t, d.SkipTo(1))
					require.EqualValues(t, 7, readTo(t, d, 1).Int())
					d.Release()
				}
			})
		}
		t.Run(c.name+"/ReadToken", func(t *testing.T) {
			d := begin(t)
			defer d.Release()
			require.Equal(t, KindStringChunk, readTo(t, d, 1).Kind())
			text, err := d.AppendString(nil) // continues the token
			require.NoError(t, err)
			require.True(t, strings.HasSuffix(longText, string(text)))
		})
	}
}

// A loop that is left after an interrupted ReadString skips the rest of the text.
func TestReadStringIsLeft(t *testing.T) {
	packet := bytesOf(idArray, 2, idArray, 1, str(longText), str("next"))
	d := NewDecoder(&faultyReader{b: packet, at: 8 + 8 + 8 + 20}, &DecoderOptions{MaxChunk: 16})
	defer d.Release()
	readTo(t, d, 1)
	for range d.Elements() {
		_, err := d.ReadString()
		require.Equal(t, errTemporary, err)
		break
	}
	text, err := d.ReadString()
	require.NoError(t, err)
	require.Equal(t, "next", text)
}

// A math type can arrive in pieces that are longer than its header.
func TestReadRealsInPieces(t *testing.T) {
	packet := bytesOf(idArray, 1, bytesOf(idTransform, reals(12)))
	d := NewDecoder(readerFunc(func(p []byte) (int, error) {
		n := copy(p, packet[:min(30, len(packet))])
		packet = packet[n:]
		return n, nil
	}), nil)
	defer d.Release()
	readTo(t, d, 1)
	var c [12]float64
	require.NoError(t, d.ReadReals(TypeTransform3D, c[:]))
	require.Equal(t, 11.5, c[11])
}

// ReadString checks names and packed strings, and reads them in pieces.
func TestReadStringOfNames(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       error
	}{
		{"long", longText, nil},
		{"not UTF-8", "\xff", ErrUTF8},
		{"not UTF-8 after 16 bytes", longText + "\xff", ErrUTF8},
	} {
		t.Run(row.name, func(t *testing.T) {
			packet := bytesOf(idStrings, 1, row.text+"\x00")
			for _, r := range []io.Reader{&slowReader{packet}, bytes.NewReader(packet)} {
				d := NewDecoder(r, &DecoderOptions{MaxChunk: 16})
				readTo(t, d, 1)
				text, err := d.ReadString()
				require.ErrorIs(t, err, row.want)
				if row.want == nil {
					require.Equal(t, row.text, text)
				}
				d.Release()
			}
		})
	}
}

func TestTypedReadsRepeated(t *testing.T) {
	packet := bytesOf(idArray, 7, str("pos"), idVector3, reals(3), str(longText), bytesOf(idName, text32),
		idPath, newPath(2), 1, 0, "a", longText, "b", idFloats, 5, reals(5), idStrings, 1, "c\x00")
	eachFaultyReader(packet, func(name string, r io.Reader) {
		d := NewDecoder(r, &DecoderOptions{MaxChunk: 16})
		defer d.Release()
		var text string
		// readText leaves a text of which a part is lost, and returns want for it.
		readText := func(read func() (string, error), want string) {
			depth := d.Depth()
			require.NoError(t, withRetries(func() (err error) {
				if d.Depth() > depth {
					text = want
					return d.SkipTo(depth)
				}
				text, err = read()
				return err
			}), name)
			require.Equal(t, want, text)
		}
		require.NoError(t, withRetries(func() error { _, err := d.ReadArray(); return err }), name)
		readText(d.ReadString, "pos")
		var v [3]float64
		require.NoError(t, withRetries(func() error { return d.ReadReals(TypeVector3, v[:]) }), name)
		require.Equal(t, [3]float64{0.5, 1.5, 2.5}, v)
		readText(d.ReadString, longText)
		readText(d.ReadString, text32)
		readText(d.ReadNodePath, "a/"+longText+":b")
		var floats []float32
		require.NoError(t, withRetries(func() (err error) { floats, err = AppendPacked(d, floats); return err }), name)
		require.Len(t, floats, 5)
		require.NoError(t, withRetries(func() error { _, err := d.ReadToken(); return err }), name)
		readText(d.ReadString, "c")
		require.NoError(t, withRetries(d.ReadEnd), name)
		require.NoError(t, withRetries(d.ReadEnd), name)
		require.EqualValues(t, len(packet), d.InputOffset())
	})
}

func TestReadInteger(t *testing.T) {
	testInteger(t, "int8", int64(math.MinInt8), math.MaxInt8, int8(math.MinInt8), math.MaxInt8)
	testInteger(t, "uint8", 0, math.MaxUint8, uint8(0), math.MaxUint8)
	testInteger(t, "int16", int64(math.MinInt16), math.MaxInt16, int16(math.MinInt16), math.MaxInt16)
	testInteger(t, "uint32", 0, math.MaxUint32, uint32(0), math.MaxUint32)
	testInteger(t, "int32", int64(math.MinInt32), math.MaxInt32, int32(math.MinInt32), math.MaxInt32)
	testInteger(t, "int64", int64(math.MinInt64), math.MaxInt64, int64(math.MinInt64), math.MaxInt64)
	testInteger(t, "uint64", 0, math.MaxInt64, uint64(0), math.MaxInt64)
	type level uint16
	testInteger(t, "a named type", 0, math.MaxUint16, level(0), math.MaxUint16)
}

// testInteger reads the numbers around the least and most that T holds.
func testInteger[T Integer](t *testing.T, name string, least, most int64, wantLeast, wantMost T) {
	t.Run(name, func(t *testing.T) {
		read := func(v int64) (T, error) {
			d := NewDecoder(nil, nil)
			defer d.Release()
			d.ResetBytes(bytesOf(idInt|bit16, uint64(v)))
			return ReadInteger[T](d)
		}
		got, err := read(least)
		require.NoError(t, err)
		require.Equal(t, wantLeast, got)
		got, err = read(most)
		require.NoError(t, err)
		require.Equal(t, wantMost, got)
		if least > math.MinInt64 {
			_, err = read(least - 1)
			require.ErrorIs(t, err, ErrRange)
		}
		if most < math.MaxInt64 {
			_, err = read(most + 1)
			require.ErrorIs(t, err, ErrRange)
		}
	})
}

// Nothing but a string's text is allocated.
func TestTypedReadsAllocateNothing(t *testing.T) {
	if testsize.Race {
		t.Skip("the race detector allocates")
	}
	packet := bytesOf(idArray, 10, idNil, idBool, 1, integer(7), idFloat|bit16, 0.5, str("text"), idVector3, reals(3),
		idPath, newPath(2), 1, 0, "a", "b", "c", idDict, 2, str("key"), integer(1), str(longText), integer(2),
		idArray, 2, idNil, idNil, idFloats, 3, reals(3))
	var text []byte
	var floats []float32
	for name, reset := range map[string]func(d *Decoder, r *bytes.Reader){
		"memory":   func(d *Decoder, r *bytes.Reader) { d.ResetBytes(packet) },
		"a Reader": func(d *Decoder, r *bytes.Reader) { r.Reset(packet); d.Reset(r) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, window := range []int{0, 16} {
				d := NewDecoder(nil, &DecoderOptions{MaxChunk: window})
				r := bytes.NewReader(nil)
				read := func() {
					reset(d, r)
					_, err := d.ReadArray()
					check := func(e error) {
						if err == nil {
							err = e
						}
					}
					check(d.ReadNil())
					_, e := d.ReadBool()
					check(e)
					_, e = ReadInteger[uint8](d)
					check(e)
					_, e = d.ReadFloat()
					check(e)
					text, e = d.AppendString(text[:0])
					check(e)
					var v [3]float64
					check(d.ReadReals(TypeVector3, v[:]))
					text, e = d.AppendString(text[:0])
					check(e)
					for key, e := range d.Fields() {
						check(e)
						if len(key) > 3 {
							_, e := d.ReadInt()
							check(e)
						}
					}
					for _, e := range d.Elements() {
						check(e)
					}
					floats, e = AppendPacked(d, floats[:0])
					check(e)
					check(d.ReadEnd())
					if err != nil {
						panic(err)
					}
				}
				read()
				require.Zero(t, testing.AllocsPerRun(100, read), "%s, %d", name, window)
				d.Release()
			}
		})
	}
}

func TestTypedReadErrors(t *testing.T) {
	vector := make([]float64, 3)
	testInputErrors(t, []inputError{
		{name: "integer that does not fit", packet: integer(300), is: ErrRange, text: "offset 0, $: int 300 does not fit uint8",
			read: func(d *Decoder) error { _, err := ReadInteger[uint8](d); return err }},
		{name: "float that does not fit", packet: bytesOf(idFloat, float32(1.5)), is: ErrRange, text: "offset 0, $: float 1.5 is not an integer",
			read: func(d *Decoder) error { _, err := d.ReadInt(); return err }},
		{name: "int that float64 does not hold", packet: bytesOf(idInt|bit16, uint64(1<<53+1)), is: ErrRange, text: "offset 0, $: int 9007199254740993 does not fit float64",
			read: func(d *Decoder) error { _, err := d.ReadFloat(); return err }},
		{name: "another type", packet: str("x"), is: ErrType, text: "offset 0, $: got String, want int",
			read: func(d *Decoder) error { _, err := d.ReadInt(); return err }},
		{name: "another math type", packet: integer(1), is: ErrType, text: "offset 0, $: got int, want Vector3",
			read: func(d *Decoder) error { return d.ReadReals(TypeVector3, vector) }},
		{name: "no packed array", packet: integer(1), is: ErrType, text: "offset 0, $: got int, want packed array",
			read: func(d *Decoder) error { _, err := AppendPacked[byte](d, nil); return err }},
		{name: "reals of a type without them", packet: integer(1), is: ErrType, text: "offset 0, $: Vector2i has components of int32, not float32",
			read: func(d *Decoder) error { return d.ReadReals(TypeVector2i, vector) }},
		{name: "reals of a number", packet: integer(1), is: ErrType, text: "offset 0, $: int is not a math type",
			read: func(d *Decoder) error { return d.ReadReals(TypeInt, vector) }},
		{name: "component that float32 does not hold", packet: bytesOf(idVector2|bit16, 1e300, 1.0), is: ErrRange, text: "offset 0, $: component 1e+300 does not fit float32",
			read: func(d *Decoder) error { return d.ReadReals32(TypeVector2, make([]float32, 2)) }},
		{name: "float that float32 does not hold", packet: bytesOf(idFloat|bit16, 1e300), is: ErrRange, text: "offset 0, $: float 1e+300 does not fit float32",
			read: func(d *Decoder) error { _, err := d.ReadFloat32(); return err }},
		{name: "too many components", packet: integer(1), is: ErrCount, text: "offset 0, $: Vector2 has 2 components, not 3",
			read: func(d *Decoder) error { return d.ReadReals(TypeVector2, vector) }},
		{name: "ReadEnd at the top level", packet: integer(1), is: ErrIncomplete, text: "offset 0, $: End without a matching Start",
			read: func(d *Decoder) error { return d.ReadEnd() }},
		{name: "ReadEnd before the last element", packet: bytesOf(idArray, 2, idNil, idNil), tokens: 2, is: ErrCount, text: "offset 12, $[1]: End after 1 of 2 elements",
			read: func(d *Decoder) error { return d.ReadEnd() }},
		{name: "ReadEnd before the last pair", packet: bytesOf(idDict, 2, idNil, idNil, idNil, idNil), tokens: 4, is: ErrCount, text: "offset 16, $.key(1): End after 1 of 2 pairs",
			read: func(d *Decoder) error { return d.ReadEnd() }},
		{name: "too many elements", packet: bytesOf(idArray, 1, idNil), tokens: 2, is: ErrCount, text: "offset 12, $: more elements than the declared 1",
			read: func(d *Decoder) error { return d.ReadNil() }},
		{name: "too many pairs", packet: bytesOf(idDict, 0), tokens: 1, is: ErrCount, text: "offset 8, $: more pairs than the declared 0",
			read: func(d *Decoder) error { return d.ReadNil() }},
		{name: "value in place of a property's name", packet: bytesOf(idObject, "Node", 1, "a", idNil), options: DecoderOptions{AllowObjects: true}, tokens: 1, is: ErrType, text: "offset 16, $.key(0): got the name of a property, want a value",
			read: func(d *Decoder) error { return d.ReadNil() }},
		{name: "value inside packed data", packet: bytesOf(idFloats, 1, reals(1)), tokens: 1, is: ErrType, text: "offset 8, $: got a part of a PackedFloat32Array, want a value",
			read: func(d *Decoder) error { return d.ReadNil() }},
	})
}

// Floats from 2^63 on fit unsigned integers of 64 bits only.
func TestReadIntegerLargeFloat(t *testing.T) {
	d := NewDecoder(nil, nil)
	defer d.Release()
	reset := func(x float64) { d.ResetBytes(bytesOf(idFloat|bit16, x)) }
	for _, x := range []float64{1 << 63, 3 << 62, 1<<64 - 2048} {
		reset(x)
		got, err := ReadInteger[uint64](d)
		require.NoError(t, err)
		require.Equal(t, uint64(x), got)
		reset(x)
		_, err = ReadInteger[int64](d)
		require.ErrorIs(t, err, ErrRange)
		_, err = ReadInteger[uint32](d)
		require.ErrorIs(t, err, ErrRange)
		_, err = ReadInteger[int8](d)
		require.ErrorIs(t, err, ErrRange)
	}
	for _, x := range []float64{1 << 64, -1, 1e300, math.Inf(1), math.NaN()} {
		reset(x)
		_, err := ReadInteger[uint64](d)
		require.ErrorIs(t, err, ErrRange)
	}
}
