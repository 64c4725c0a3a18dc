package gdwire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/wire"
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
					d := newDecoder(t, r, nil)
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
	d := newDecoder(t, plain(bytesOf(idBool, 2)), nil)
	require.True(t, must(d.ReadBool())(t))
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
					d := newDecoder(t, &slowReader{test.packet}, &DecoderOptions{AllowObjects: true, MaxChunk: 16})
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
	d := newDecoder(t, plain(nil), nil)
	require.ErrorIs(t, d.ReadEnd(), ErrCall)
	require.Equal(t, io.EOF, d.ReadNil())
}

func TestTypedReadsOfStrings(t *testing.T) {
	d := NewDecoder(plain(bytesOf(idStrings, 3, "a\x00", longText+"\x00", "\x00", idPath, newPath(1), 1, 0, "n", "s", str("x"), str("y"))),
		&DecoderOptions{MaxChunk: 16})
	defer d.Release()
	readTo(t, d, 1)
	for _, want := range []string{"a", longText, ""} {
		require.Equal(t, want, must(d.ReadString())(t))
	}
	require.NoError(t, d.ReadEnd())
	readTo(t, d, 1)
	for _, want := range []string{"n", "s"} {
		require.Equal(t, want, must(d.ReadString())(t))
	}
	require.NoError(t, d.ReadEnd())
	for _, want := range []string{"x", "y"} { // one after the other
		require.Equal(t, want, string(must(d.AppendString(nil))(t)))
	}
}

// ReadComponents refuses slices of another length, types without components, and floats into integers.
func TestTypedReadsOfMathMisused(t *testing.T) {
	d := newDecoder(t, plain(bytesOf(idArray, 5, idVector2, reals(2), idNil, idNil, idNil, idNil)), nil)
	readTo(t, d, 1)
	require.ErrorIs(t, ReadComponents(d, TypeVector2, make([]float64, 3)), ErrCall)
	require.ErrorIs(t, ReadComponents(d, TypeVector2i, make([]float64, 2)), ErrType) // a Vector2 is next
	require.ErrorIs(t, ReadComponents[float64](d, 0, nil), ErrCall)
	require.ErrorIs(t, ReadComponents[int32](d, 200, nil), ErrCall)
	require.ErrorIs(t, ReadComponents(d, TypeVector2, make([]int32, 2)), ErrCall)
	require.ErrorIs(t, ReadComponents(d, TypeVector2i, make([]int32, 1)), ErrCall)
	c := make([]float64, 2)
	require.NoError(t, ReadComponents(d, TypeVector2, c))
	require.Equal(t, []float64{0.5, 1.5}, c)
}

// A type of 64 and more is none, although tables of types are indexed by its lowest bits.
func TestReadComponentsOfUnknownTypes(t *testing.T) {
	packet := bytesOf(idArray, 5, idVector2, reals(2), idNil, idNil, idNil, idNil)
	d := newDecoder(t, nil, nil)
	eachSlowReader(d, packet, func(reader string) {
		readTo(t, d, 1)
		for _, unknown := range []Type{TypeVector2 + 64, TypeVector2 + 128, TypeVector2 + 192} {
			require.ErrorIs(t, ReadComponents(d, unknown, make([]float64, 2)), ErrCall, reader)
			require.ErrorIs(t, ReadComponents(d, unknown, make([]float32, 2)), ErrCall, reader)
		}
		require.EqualValues(t, 8, d.InputOffset())
	})
}

// All reads of a Decoder without input return an error.
func TestReadComponentsBeforeReset(t *testing.T) {
	require.Equal(t, errNotReset, ReadComponents(new(Decoder), TypeVector2, make([]float64, 2)))
	require.Equal(t, errNotReset, ReadComponents(new(Decoder), TypeVector2, make([]float32, 2)))
	require.Equal(t, errNotReset, ReadComponents(new(Decoder), TypeVector2i, make([]int32, 2)))
}

// With Strict, a number in a form that engines never write is that error, which stays, whether or not
// it fits.
func TestStrictNumbersThatDoNotFit(t *testing.T) {
	d := newDecoder(t, nil, &DecoderOptions{Strict: true})
	for name, c := range map[string]struct {
		number []byte
		read   func(d *Decoder) error
	}{
		"int":   {bytesOf(idInt|bit16, uint64(300)), func(d *Decoder) error { _, err := ReadInteger[uint8](d); return err }},
		"float": {bytesOf(idFloat|bit16, 1.5), func(d *Decoder) error { _, err := d.ReadInt(); return err }},
	} {
		eachSlowReader(d, bytesOf(idArray, 1, c.number), func(reader string) {
			readTo(t, d, 1)
			err := c.read(d)
			require.ErrorIs(t, err, ErrStrict, "%s, %s", name, reader)
			require.Same(t, err, d.Err(), "%s, %s", name, reader)
		})
	}
}

// A number that does not fit ends the payload of the token before it, as every other call does.
func TestNumbersThatDoNotFitEndPayloads(t *testing.T) {
	for _, c := range []struct {
		number []byte
		read   func(d *Decoder) error
	}{
		{bytesOf(idFloat, float32(1.5)), func(d *Decoder) error { _, err := d.ReadInt(); return err }},
		{integer(-1), func(d *Decoder) error { _, err := ReadInteger[uint8](d); return err }},
		{bytesOf(idFloat|bit16, 1e300), func(d *Decoder) error { _, err := d.ReadFloat32(); return err }},
		{bytesOf(idInt|bit16, uint64(1)<<60+1), func(d *Decoder) error { _, err := d.ReadFloat(); return err }},
	} {
		d := NewDecoder(nil, nil)
		eachSlowReader(d, bytesOf(idArray, 3, str("ab"), c.number, str("next")), func(reader string) {
			readTo(t, d, 2)
			require.ErrorIs(t, c.read(d), ErrRange, reader)
			require.ErrorIs(t, errOf(d.AppendString(nil)), ErrType, reader)
		})
		d.Release()
	}
}

// A float and a packed array of one element are no math types, whatever the lengths are.
func TestReadComponentsOfOtherTypes(t *testing.T) {
	for typ, value := range map[Type][]byte{TypeFloat: bytesOf(idFloat, reals(1)), TypePackedFloat32Array: bytesOf(idFloats, 1, reals(1))} {
		packet := bytesOf(idArray, 5, value, idNil, idNil, idNil, idNil)
		for _, r := range []io.Reader{&slowReader{packet}, bytes.NewReader(packet)} {
			d := NewDecoder(r, nil)
			readTo(t, d, 1)
			require.ErrorIs(t, ReadComponents(d, typ, make([]float64, 1)), ErrCall)
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
		{"ReadNodePath of a long name", bytesOf(idPath, newPath(1), 0, 0, "123456789"), func(d *Decoder) error { _, err := d.ReadNodePath(); return err }},
		{"AppendString", bytesOf(idPath, newPath(1), 2, 0, "a", "b", "c"), func(d *Decoder) error { _, err := d.AppendString(nil); return err }},
		{"AppendPacked", bytesOf(idBytes, 3, of3), func(d *Decoder) error { _, err := AppendPacked[byte](d, nil); return err }},
	} {
		t.Run(row.name, func(t *testing.T) {
			packet := bytesOf(idArray, 2, row.value, idNil, make([]byte, fastSize))
			for _, limits := range []Limits{{Elements: 2, PackedBytes: 2, StringBytes: 8}, {Values: 4, PackedBytes: 2, StringBytes: 8}} {
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

// ReadEnd obeys an error and a loop that was left, where all elements were read.
func TestReadEndAfterAll(t *testing.T) {
	packet := bytesOf(idArray, 1, idDict, 1, str("a"), integer(1), make([]byte, fastSize))
	d := newDecoder(t, nil, nil)
	d.ResetBytes(packet)
	readTo(t, d, 1)
	for range d.Fields() {
		must(d.ReadInt())(t)
		break
	}
	require.NoError(t, d.ReadEnd())
	require.Zero(t, d.Depth(), "the End of the Array, after the Dictionary has been skipped")

	d.ResetBytes(bytesOf(idArray, 1, idArray, 0, make([]byte, fastSize)))
	readTo(t, d, 2)
	l := d.ahead()
	l.fail(0, ErrType)
	require.Same(t, d.failure(), d.ReadEnd())
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
			"ReadText":     func(d *Decoder) error { _, _, err := export{}.ReadText(d); return err },
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
	d := newDecoder(t, &faultyReader{b: packet, at: 8 + 8 + 8 + 20}, &DecoderOptions{MaxChunk: 16})
	readTo(t, d, 1)
	for range d.Elements() {
		require.Equal(t, errTemporary, errOf(d.ReadString()))
		break
	}
	require.Equal(t, "next", must(d.ReadString())(t))
}

// A math type can arrive in pieces that are longer than its header.
func TestReadComponentsInPieces(t *testing.T) {
	packet := bytesOf(idArray, 1, bytesOf(idTransform, reals(12)))
	d := NewDecoder(readerFunc(func(p []byte) (int, error) {
		n := copy(p, packet[:min(30, len(packet))])
		packet = packet[n:]
		return n, nil
	}), nil)
	defer d.Release()
	readTo(t, d, 1)
	var c [12]float64
	require.NoError(t, ReadComponents(d, TypeTransform3D, c[:]))
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
		require.NoError(t, withRetries(func() error { return ReadComponents(d, TypeVector3, v[:]) }), name)
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
		got := must(read(least))(t)
		require.Equal(t, wantLeast, got)
		got = must(read(most))(t)
		require.Equal(t, wantMost, got)
		if least > math.MinInt64 {
			require.ErrorIs(t, errOf(read(least-1)), ErrRange)
		}
		if most < math.MaxInt64 {
			require.ErrorIs(t, errOf(read(most+1)), ErrRange)
		}
	})
}

// Nothing but a string's text is allocated.
func TestTypedReadsAllocateNothing(t *testing.T) {
	if testenv.Race {
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
			for _, maxChunk := range []int{0, 16} {
				d := NewDecoder(nil, &DecoderOptions{MaxChunk: maxChunk})
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
					check(ReadComponents(d, TypeVector3, v[:]))
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
				require.Zero(t, testing.AllocsPerRun(100, read), "%s, %d", name, maxChunk)
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
			read: func(d *Decoder) error { return ReadComponents(d, TypeVector3, vector) }},
		{name: "no packed array", packet: integer(1), is: ErrType, text: "offset 0, $: got int, want packed array",
			read: func(d *Decoder) error { _, err := AppendPacked[byte](d, nil); return err }},
		{name: "integers of a type of floats", packet: integer(1), is: ErrCall, text: "offset 0, $: Vector2 has components of float32, not int32",
			read: func(d *Decoder) error { return ReadComponents(d, TypeVector2, make([]int32, 2)) }},
		{name: "reals of a number", packet: integer(1), is: ErrCall, text: "offset 0, $: int is not a math type",
			read: func(d *Decoder) error { return ReadComponents(d, TypeInt, vector) }},
		{name: "component that float32 does not hold", packet: bytesOf(idVector2|bit16, 1e300, 1.0), is: ErrRange, text: "offset 0, $: component 1e+300 does not fit float32",
			read: func(d *Decoder) error { return ReadComponents(d, TypeVector2, make([]float32, 2)) }},
		{name: "float that float32 does not hold", packet: bytesOf(idFloat|bit16, 1e300), is: ErrRange, text: "offset 0, $: float 1e+300 does not fit float32",
			read: func(d *Decoder) error { _, err := d.ReadFloat32(); return err }},
		{name: "too many components", packet: integer(1), is: ErrCall, text: "offset 0, $: Vector2 has 2 components, not 3",
			read: func(d *Decoder) error { return ReadComponents(d, TypeVector2, vector) }},
		{name: "ReadEnd at the top level", packet: integer(1), is: ErrCall, text: "offset 0, $: End without a matching Start",
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
	d := newDecoder(t, nil, nil)
	reset := func(x float64) { d.ResetBytes(bytesOf(idFloat|bit16, x)) }
	for _, x := range []float64{1 << 63, 3 << 62, 1<<64 - 2048} {
		reset(x)
		require.Equal(t, uint64(x), must(ReadInteger[uint64](d))(t))
		reset(x)
		require.ErrorIs(t, errOf(ReadInteger[int64](d)), ErrRange)
		require.ErrorIs(t, errOf(ReadInteger[uint32](d)), ErrRange)
		require.ErrorIs(t, errOf(ReadInteger[int8](d)), ErrRange)
	}
	for _, x := range []float64{1 << 64, -1, 1e300, math.Inf(1), math.NaN()} {
		reset(x)
		require.ErrorIs(t, errOf(ReadInteger[uint64](d)), ErrRange)
	}
}

// PeekType returns the type that typed reads find, also of keys, or their error, and consumes
// nothing.
func TestPeekType(t *testing.T) {
	for _, c := range []struct {
		name   string
		packet []byte
		tokens int // read before
		want   Type
		err    error
	}{
		{"top level", bytesOf(idVector2|bit16, 1.0, 1.0), 0, TypeVector2, nil},
		{"element", bytesOf(idArray, 1, integer(1)), 1, TypeInt, nil},
		{"DictKey", bytesOf(idDict, 1, str("a"), idNil), 1, TypeString, nil},
		{"key", bytesOf(idDict, 1, str("a"), idNil), 2, TypeString, nil},
		{"value", bytesOf(idDict, 1, str("a"), idNil), 3, TypeNil, nil},
		{"property", bytesOf(idObject, "Node", 1, "name", idNil), 1, 0, ErrType},
		{"value of a property", bytesOf(idObject, "Node", 1, "name", idNil), 2, TypeNil, nil},
		{"packed string", bytesOf(idStrings, 1, "n\x00"), 1, TypeString, nil},
		{"name", bytesOf(idPath, newPath(1), 0, 0, "n"), 1, TypeString, nil},
		{"packed data", bytesOf(idFloats, 1, reals(1)), 1, 0, ErrType},
		{"inside a String", str(longText), 1, 0, ErrType},
		{"End", bytesOf(idArray, 0), 1, 0, ErrCount},
		{"unknown id", bytesOf(idArray, 1, 99), 1, 0, ErrType},
		{"end of the input", nil, 0, 0, io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, memory := range []bool{false, true} {
				d := newDecoder(t, &slowReader{c.packet}, &DecoderOptions{AllowObjects: true, MaxChunk: 16})
				if memory && len(c.packet) > 0 { // with enough bytes for the fast path
					d.ResetBytes(append(c.packet[:len(c.packet):len(c.packet)], make([]byte, fastSize)...))
				}
				readTo(t, d, c.tokens)
				offset, kind := d.InputOffset(), d.PeekKind()
				typ, err := d.PeekType()
				require.Equal(t, c.want, typ)
				require.ErrorIs(t, err, c.err)
				require.Equal(t, offset, d.InputOffset())
				if d.Err() == nil {
					require.Equal(t, kind, d.PeekKind())
				}
			}
		})
	}
}

func TestReadText(t *testing.T) {
	keys := []string{"", "a", "name", "more than eight bytes", "Zoë", strings.Repeat("x", 32)}
	b := encoded(t, nil, func(e *Encoder) {
		require.NoError(t, e.BeginDict(2*len(keys)+3))
		for i, key := range keys {
			require.NoError(t, e.WriteString(key))
			require.NoError(t, e.WriteInt(int64(i)))
			require.NoError(t, e.WriteStringName(key))
			require.NoError(t, e.WriteInt(int64(i)))
		}
		require.NoError(t, e.WriteInt(7))
		require.NoError(t, e.WriteNil())
		require.NoError(t, e.WriteString(strings.Repeat("x", 33)))
		require.NoError(t, e.WriteNil())
		require.NoError(t, e.WriteNodePath("name"))
		require.NoError(t, e.WriteNil())
		require.NoError(t, e.End())
	})
	for name, r := range map[string]io.Reader{"whole": bytes.NewReader(b), "bytes": iotest.OneByteReader(bytes.NewReader(b)), "memory": nil} {
		t.Run(name, func(t *testing.T) {
			d := newDecoder(t, r, &DecoderOptions{MaxChunk: 32})
			if r == nil {
				d.ResetBytes(b)
			}
			require.Equal(t, 2*len(keys)+3, must(d.ReadDict())(t))
			for i, want := range keys {
				for range 2 {
					key, ok := testenv.Must2(export{}.ReadText(d))(t)
					require.True(t, ok)
					require.Equal(t, want, string(key))
					require.ErrorIs(t, errOf(d.AppendString(nil)), ErrType, "it does not go on with the key")
					require.EqualValues(t, i, must(d.ReadInt())(t))
					require.Contains(t, string(d.AppendPath(nil)), want)
				}
			}
			for _, want := range []error{nil, bufio.ErrBufferFull, nil} {
				offset := d.InputOffset()
				key, ok, err := export{}.ReadText(d)
				require.Equal(t, want, err)
				require.False(t, ok)
				require.NoError(t, d.Err())
				require.Empty(t, key)
				require.Equal(t, offset, d.InputOffset())
				require.Equal(t, KindDictKey, d.PeekKind())
				require.NoError(t, d.SkipValue())
				require.NoError(t, d.SkipValue())
			}
			_, ok, err := export{}.ReadText(d)
			require.False(t, ok)
			require.ErrorIs(t, err, ErrCount)
			require.NoError(t, d.ReadEnd())
			_, _, err = export{}.ReadText(d)
			if r != nil {
				require.Equal(t, io.EOF, err)
			}
		})
	}
}

func TestReadTextOfPackedStrings(t *testing.T) {
	texts := []string{"", "a", "Zoë", strings.Repeat("x", 32), strings.Repeat("y", 33), "last"}
	b := encoded(t, nil, func(e *Encoder) {
		require.NoError(t, e.BeginPacked(TypePackedStringArray, int64(len(texts))))
		for _, text := range texts {
			require.NoError(t, e.WriteString(text))
		}
		require.NoError(t, e.End())
	})
	for _, one := range []bool{true, false} {
		var r io.Reader = bytes.NewReader(b)
		if one {
			r = iotest.OneByteReader(r)
		}
		d := NewDecoder(r, &DecoderOptions{MaxChunk: 32})
		for i, err := range d.Elements() {
			require.NoError(t, err)
			text, ok, err := export{}.ReadText(d)
			require.Equal(t, len(texts[i]) < 33, ok)
			require.Equal(t, !ok, err == bufio.ErrBufferFull)
			if ok {
				require.Equal(t, texts[i], string(text))
			}
		}
		d.Release()
	}
}

// The input may end, or fail, anywhere in a key.
func TestReadTextCut(t *testing.T) {
	b := encoded(t, nil, func(e *Encoder) {
		require.NoError(t, e.BeginDict(1))
		require.NoError(t, e.WriteString("a key of some length"))
		require.NoError(t, e.WriteNil())
		require.NoError(t, e.End())
	})
	for cut := 8; cut < len(b)-4; cut++ {
		d := NewDecoder(bytes.NewReader(b[:cut]), nil)
		must(d.ReadDict())(t)
		_, ok, err := export{}.ReadText(d)
		require.False(t, ok)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		d.Release()
	}
}

// ReadText returns an error of the header before it waits for the length, as ReadToken does.
func TestReadTextInvalidHeader(t *testing.T) {
	tests := []struct {
		name    string
		header  []byte
		options DecoderOptions
	}{
		{"flags", bytesOf(idName | 1<<20), DecoderOptions{Strict: true}},
		{"too deep", bytesOf(idArray, 1, idArray, 1, idString), DecoderOptions{Limits: Limits{Depth: 1}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDecoder(t, plain(test.header), &test.options)
			for d.PeekKind() == KindArrayStart {
				readTo(t, d, 1)
			}
			_, ok, err := export{}.ReadText(d)
			require.False(t, ok)
			require.Error(t, err)
			d.Reset(plain(test.header))
			require.Equal(t, readAll(d), err)
		})
	}
}

// A typedValue is one value of a type.
type typedValue struct {
	name   string // the type; ObjectID for an object that is encoded as its id
	text   string // the result of a typed read
	double bool   // DoubleReals changes its width
	write  func(e *Encoder)
}

// typedValues contains a value of each type, in each of its widths.
var typedValues = slices.Concat([]typedValue{
	{name: "Nil", text: "nil", write: func(e *Encoder) { e.WriteNil() }},
	{name: "bool", text: "false", write: func(e *Encoder) { e.WriteBool(false) }},
	{name: "bool", text: "true", write: func(e *Encoder) { e.WriteBool(true) }},
	{name: "int", text: "7", write: func(e *Encoder) { e.WriteToken(Int32(7)) }},
	{name: "int", text: "-1", write: func(e *Encoder) { e.WriteToken(Int32(-1)) }},
	{name: "int", text: "9007199254740993", write: func(e *Encoder) { e.WriteToken(Int64(1<<53 + 1)) }},
	{name: "float", text: "0.5", write: func(e *Encoder) { e.WriteToken(Float32(0.5)) }},
	{name: "float", text: "255", write: func(e *Encoder) { e.WriteToken(Float32(255)) }},
	{name: "float", text: "0.1", write: func(e *Encoder) { e.WriteToken(Float64(0.1)) }},
	{name: "String", text: "text", write: func(e *Encoder) { e.WriteString("text") }},
	{name: "String", text: "", write: func(e *Encoder) { e.WriteString("") }},
	{name: "StringName", text: "a name", write: func(e *Encoder) { e.WriteStringName("a name") }},
	{name: "NodePath", text: "/a/b:c", write: func(e *Encoder) { e.WriteNodePath("/a/b:c") }},
	{name: "RID", text: "9", write: func(e *Encoder) { e.WriteRID(9) }},
	{name: "ObjectID", text: "5", write: func(e *Encoder) { e.WriteObjectID(5) }},
	{name: "ObjectID", text: "0", write: func(e *Encoder) { e.WriteObjectID(0) }},
	{name: "Object", write: func(e *Encoder) { e.BeginObject("Node", 1); e.WriteProperty("p"); e.WriteNil(); e.End() }},
	{name: "Callable", text: "nil", write: func(e *Encoder) { e.WriteCallable() }},
	{name: "Signal", text: "hit 8", write: func(e *Encoder) { e.WriteSignal("hit", 8) }},
	{name: "Array", text: "2", write: func(e *Encoder) { e.BeginArray(2); e.WriteNil(); e.WriteString("x"); e.End() }},
	{name: "Array", text: "0", write: func(e *Encoder) { e.BeginTypedArray(0, Elem{Type: TypeInt}); e.End() }},
	{name: "Array", text: "1", write: func(e *Encoder) { e.BeginTypedArray(1, Elem{Script: "res://a.gd"}); e.WriteObjectID(5); e.End() }},
	{name: "Dictionary", text: "1", write: func(e *Encoder) { e.BeginDict(1); e.WriteString("k"); e.WriteInt(2); e.End() }},
	{name: "Dictionary", text: "1", write: func(e *Encoder) {
		e.BeginTypedDict(1, Elem{Type: TypeString}, Elem{Class: "Node"})
		e.WriteString("k")
		e.WriteNil()
		e.End()
	}},
	{name: "PackedStringArray", text: "2", write: func(e *Encoder) {
		e.BeginPacked(TypePackedStringArray, 2)
		e.WriteString("a")
		e.WriteString("")
		e.End()
	}},
	{name: "Image", write: func(e *Encoder) { e.BeginImage(1, 0, 2, 1, 6); e.Write([]byte("pixels")); e.End() }},
	{name: "InputEvent", write: func(e *Encoder) { e.WriteInputEvent(6, 0, []byte{1, 0, 0, 0}) }},
	{name: "Vector3", text: "[-0 0 0]", double: true, write: func(e *Encoder) { WriteComponents(e, TypeVector3, []float64{math.Copysign(0, -1), 0, 0}) }}, // as the head of a NodePath
	packedValue(TypePackedByteArray, false, []byte{1, 2, 3}),
	packedValue(TypePackedInt32Array, false, []int32{1, -2}),
	packedValue(TypePackedInt64Array, false, []int64{1, -2}),
	packedValue(TypePackedFloat32Array, false, []float32{0.5, 1.5}),
	packedValue(TypePackedFloat64Array, false, []float64{0.5, 1.5}),
	packedValue(TypePackedVector2Array, true, [][2]float32{{0.5, 1.5}}),
	packedValue(TypePackedVector3Array, true, [][3]float32{{0.5, 1.5, 2.5}}),
	packedValue(TypePackedVector4Array, true, [][4]float32{{0.5, 1.5, 2.5, 3.5}}),
	packedValue(TypePackedColorArray, true, [][4]float32{{0.5, 1.5, 2.5, 3.5}}),
}, mathValues())

func packedValue[T Packable](typ Type, double bool, v []T) typedValue {
	return typedValue{typ.String(), fmt.Sprint(v), double, func(e *Encoder) {
		e.BeginPacked(typ, int64(len(v)))
		WritePacked(e, v)
		e.End()
	}}
}

func mathValues() (all []typedValue) {
	for _, t := range Types() {
		v := typedValue{name: t.String()}
		switch n := int(layouts[t].n); {
		case !layouts[t].isMath():
			continue
		case layouts[t].units[0] == wire.Int32:
			c := make([]int32, n)
			for i := range c {
				c[i] = int32(1-2*(i%2)) * int32(i+1)
			}
			v.text, v.write = fmt.Sprint(c), func(e *Encoder) { WriteComponents(e, t, c) }
		default:
			c := make([]float64, n)
			for i := range c {
				c[i] = float64(i) + 0.5
			}
			v.text, v.double, v.write = fmt.Sprint(c), true, func(e *Encoder) { WriteComponents(e, t, c) }
		}
		all = append(all, v)
	}
	return all
}

// A typedRead is a typed read, with the names of the typedValues that it accepts. At all
// others it returns ErrType.
type typedRead struct {
	name    string
	accepts string
	read    func(d *Decoder) (any, error)
	// holds reports whether the result of the call can be the number with that text.
	// If not, the call returns ErrRange.
	holds func(text string) bool
}

var typedReads = slices.Concat([]typedRead{
	{name: "ReadNil", accepts: "Nil", read: func(d *Decoder) (any, error) { return "nil", d.ReadNil() }},
	{name: "ReadBool", accepts: "bool", read: func(d *Decoder) (any, error) { return d.ReadBool() }},
	{name: "ReadInt", accepts: "int float", read: func(d *Decoder) (any, error) { return d.ReadInt() }, holds: fitsInt(64)},
	{name: "ReadInteger[int16]", accepts: "int float", read: func(d *Decoder) (any, error) { return ReadInteger[int16](d) }, holds: fitsInt(16)},
	{name: "ReadInteger[int64]", accepts: "int float", read: func(d *Decoder) (any, error) { return ReadInteger[int64](d) }, holds: fitsInt(64)},
	{name: "ReadInteger[uint8]", accepts: "int float", read: func(d *Decoder) (any, error) { return ReadInteger[uint8](d) }, holds: fitsUint(8)},
	{name: "ReadInteger[uint64]", accepts: "int float", read: func(d *Decoder) (any, error) { return ReadInteger[uint64](d) }, holds: fitsUint(64)},
	{name: "ReadFloat", accepts: "int float", read: func(d *Decoder) (any, error) { return d.ReadFloat() },
		holds: func(text string) bool { return text != "9007199254740993" }},
	{name: "ReadFloat32", accepts: "int float", read: func(d *Decoder) (any, error) { return d.ReadFloat32() },
		holds: func(text string) bool { return text != "9007199254740993" }},
	{name: "ReadString", accepts: "String StringName", read: func(d *Decoder) (any, error) { return d.ReadString() }},
	{name: "ReadText", accepts: "String StringName", read: func(d *Decoder) (any, error) {
		text, ok, err := export{}.ReadText(d)
		if err == bufio.ErrBufferFull {
			return d.ReadString()
		}
		if !ok && err == nil {
			return nil, errNoText
		}
		return string(text), err
	}},
	{name: "AppendString", accepts: "String StringName NodePath", read: func(d *Decoder) (any, error) {
		text, err := d.AppendString(nil)
		return string(text), err
	}},
	{name: "ReadNodePath", accepts: "NodePath", read: func(d *Decoder) (any, error) { return d.ReadNodePath() }},
	{name: "ReadRID", accepts: "RID", read: func(d *Decoder) (any, error) { return d.ReadRID() }},
	{name: "ReadObjectID", accepts: "ObjectID", read: func(d *Decoder) (any, error) { return d.ReadObjectID() }},
	{name: "ReadSignal", accepts: "Signal", read: func(d *Decoder) (any, error) {
		name, object, err := d.ReadSignal()
		return fmt.Sprint(name, " ", object), err
	}},
	{name: "ReadCallable", accepts: "Callable", read: func(d *Decoder) (any, error) { return "nil", d.ReadCallable() }},
	{name: "ReadArray", accepts: "Array", read: func(d *Decoder) (any, error) { return readItems(d, d.ReadArray, 1) }},
	{name: "ReadDict", accepts: "Dictionary", read: func(d *Decoder) (any, error) { return readItems(d, d.ReadDict, 2) }},
	{name: "Elements", accepts: "Array PackedStringArray PackedByteArray PackedInt32Array PackedInt64Array PackedFloat32Array " +
		"PackedFloat64Array PackedVector2Array PackedVector3Array PackedVector4Array PackedColorArray", read: loopElements},
	{name: "Fields", accepts: "Dictionary", read: func(d *Decoder) (any, error) { return iterations(d.Fields()) }},
	{name: "Pairs", accepts: "Dictionary", read: func(d *Decoder) (any, error) { return iterations(d.Pairs()) }},
	appendsPacked[byte]("PackedByteArray"),
	appendsPacked[int32]("PackedInt32Array PackedByteArray"),
	appendsPacked[int64]("PackedInt64Array PackedInt32Array PackedByteArray"),
	appendsPacked[float32]("PackedFloat32Array PackedFloat64Array"),
	appendsPacked[float64]("PackedFloat64Array PackedFloat32Array"),
	appendsPacked[[2]float32]("PackedVector2Array"),
	appendsPacked[[3]float64]("PackedVector3Array"),
	appendsPacked[[4]float32]("PackedVector4Array PackedColorArray"),
}, mathCalls())

// errNoText stands for the result of ReadText for a value that is no text.
var errNoText = errors.New("no text")

func fitsInt(bits int) func(text string) bool {
	return func(text string) bool { _, err := strconv.ParseInt(text, 10, bits); return err == nil }
}

func fitsUint(bits int) func(text string) bool {
	return func(text string) bool { _, err := strconv.ParseUint(text, 10, bits); return err == nil }
}

func iterations[T any](loop iter.Seq2[T, error]) (n int, err error) {
	for _, err := range loop {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// loopElements returns the elements of a packed array of numbers, and of other values their number.
func loopElements(d *Decoder) (any, error) {
	switch t, _ := d.PeekType(); t {
	case TypePackedByteArray:
		return packedElements[byte](d)
	case TypePackedInt32Array:
		return packedElements[int32](d)
	case TypePackedInt64Array:
		return packedElements[int64](d)
	case TypePackedFloat32Array, TypePackedFloat64Array:
		return packedElements[float64](d)
	case TypePackedVector2Array:
		return packedElements[[2]float32](d)
	case TypePackedVector3Array:
		return packedElements[[3]float64](d)
	case TypePackedVector4Array, TypePackedColorArray:
		return packedElements[[4]float32](d)
	}
	return iterations(d.Elements())
}

func packedElements[T Packable](d *Decoder) (all []T, err error) {
	for _, err := range d.Elements() {
		if err != nil {
			return all, err
		}
		var one [1]T
		if _, err := ReadPacked(d, one[:]); err != nil {
			return all, err
		}
		all = append(all, one[0])
	}
	return all, nil
}

func appendsPacked[T Packable](accepts string) typedRead {
	return typedRead{name: fmt.Sprintf("AppendPacked[%T]", *new(T)), accepts: accepts,
		read: func(d *Decoder) (any, error) { return AppendPacked[T](d, nil) }}
}

// components reads a value of math type t with n components of type T.
func components[T Component](t Type, n uint8) func(d *Decoder) (any, error) {
	return func(d *Decoder) (any, error) { v := make([]T, n); return v, ReadComponents(d, t, v) }
}

func mathCalls() (all []typedRead) {
	for _, t := range Types() {
		c := typedRead{accepts: t.String()}
		switch n := layouts[t].n; {
		case !layouts[t].isMath():
			continue
		case layouts[t].units[0] == wire.Int32:
			c.name = "ReadComponents of int32 " + c.accepts
			c.read = components[int32](t, n)
		default:
			c.name = "ReadComponents of float64 " + c.accepts
			c.read = components[float64](t, n)
			narrow := typedRead{name: "ReadComponents of float32 " + c.accepts, accepts: c.accepts}
			narrow.read = components[float32](t, n)
			all = append(all, narrow)
		}
		all = append(all, c)
	}
	return all
}

// want returns the error that the call returns at v, or nil.
func (c *typedRead) want(v *typedValue) error {
	switch {
	case !slices.Contains(strings.Fields(c.accepts), v.name) && c.name == "ReadText":
		return errNoText
	case !slices.Contains(strings.Fields(c.accepts), v.name):
		return ErrType
	case c.holds != nil && !c.holds(v.text):
		return ErrRange
	}
	return nil
}

// typedPlaces are the places of a value in a packet.
var typedPlaces = []struct {
	name   string
	before func(e *Encoder)
	after  func(e *Encoder)
	tokens int // before the value
	path   string
}{
	{"top level", func(*Encoder) {}, writesInt, 0, "$"},
	{"element", func(e *Encoder) { e.BeginArray(2) }, func(e *Encoder) { e.WriteInt(1); e.End() }, 1, "$[0]"},
	{"DictKey", func(e *Encoder) { e.BeginDict(1) }, func(e *Encoder) { e.WriteInt(1); e.End() }, 1, "$.key(0)"},
	{"key", func(e *Encoder) { e.BeginDict(1) }, func(e *Encoder) { e.WriteInt(1); e.End() }, 2, "$.key(0)"},
	{"value", func(e *Encoder) { e.BeginDict(1); e.WriteInt(5) }, func(e *Encoder) { e.End() }, 3, "$[5]"},
	{"property", func(e *Encoder) { e.BeginObject("Node", 1); e.WriteProperty("p") }, func(e *Encoder) { e.End() }, 2, "$.p"},
}

func writesInt(e *Encoder) { e.WriteInt(1) }

// Each typed read is tried at each type of each format in each place. It reads the value,
// or returns an error that consumes nothing and does not stay.
func TestTypedReadsOfEveryType(t *testing.T) {
	for _, f := range Formats() {
		for _, double := range []bool{false, true} {
			for _, strict := range []bool{false, true} {
				for _, memory := range []bool{false, true} {
					t.Run(fmt.Sprintf("%v/double %v/strict %v/memory %v", f, double, strict, memory), func(t *testing.T) {
						o := &DecoderOptions{Format: f, AllowObjects: true, DoubleReals: double, Strict: strict, MaxChunk: smallestChunk}
						if memory {
							o.MaxChunk = 0
						}
						testTypedReads(t, o, memory)
					})
				}
			}
		}
	}
}

// At an End, no typed read takes the value that follows the container.
func TestTypedReadsBeforeEnd(t *testing.T) {
	d := newDecoder(t, nil, &DecoderOptions{AllowObjects: true})
	var b bytes.Buffer
	e := NewEncoder(nil, nil)
	for i := range typedValues {
		v := &typedValues[i]
		b.Reset()
		e.Reset(&b)
		e.BeginArray(2)
		e.BeginArray(0)
		e.End()
		v.write(e)
		if e.End(); e.Close() != nil {
			continue // Godot4 does not have it
		}
		packet := append(b.Bytes(), make([]byte, fastSize)...)
		for _, call := range typedReads {
			d.ResetBytes(packet)
			readTo(t, d, 2)
			_, err := call.read(d)
			requireError(t, err, 16, "$[0]", ErrCount)
			require.NoError(t, d.ReadEnd(), call.name)
		}
	}
}

func testTypedReads(t *testing.T, o *DecoderOptions, memory bool) {
	d := newDecoder(t, nil, o)
	var b bytes.Buffer
	e := NewEncoder(nil, &EncoderOptions{Format: o.Format, DoubleReals: o.DoubleReals})
	tried := map[string]bool{}
	for i := range typedValues {
		v := &typedValues[i]
		if o.DoubleReals && !v.double {
			continue
		}
		for _, place := range typedPlaces {
			b.Reset()
			e.Reset(&b)
			place.before(e)
			start := e.OutputOffset()
			v.write(e)
			end := e.OutputOffset()
			place.after(e)
			if e.Close() != nil {
				continue // the format does not have the value, or no properties
			}
			packet := b.Bytes()
			reset := func() { d.Reset(&slowReader{packet}) }
			if memory {
				packet = append(packet, make([]byte, fastSize)...)
				reset = func() { d.ResetBytes(packet) }
			}
			a := typedAttempt{d: d, v: v, place: place.name, path: place.path, start: start, end: end}
			a.reset = func() { reset(); readTo(t, d, place.tokens) }
			a.reset()
			if o.Strict && errors.Is(d.SkipValue(), ErrStrict) {
				continue // id 0, or an id in a serialized object
			}
			tried[v.name] = true
			a.reset()
			a.kind, a.depth, a.offset = d.PeekKind(), d.Depth(), d.InputOffset()
			a.want = appendValue(nil, d)
			for j := i % stride(); j < len(typedReads); j += stride() {
				a.try(t, &typedReads[j], &typedReads[(j+1)%len(typedReads)])
			}
		}
	}
	for _, typ := range o.Format.data().types {
		require.True(t, tried[typ.String()] || o.DoubleReals || typ == TypeObject && o.Format.data().width[classObject] != flagged, typ)
	}
	require.True(t, tried["ObjectID"] || o.DoubleReals)
}

// A typedAttempt is a value in a packet at which typed reads are tried.
type typedAttempt struct {
	d     *Decoder
	reset func() // reads up to the value
	v     *typedValue
	place string
	path  string // of the value
	start int64
	end   int64

	// State before the value, and its tokens.
	kind   Kind
	depth  int
	offset int64
	want   []byte
}

// try makes a call and, if it is of another type than the value, a second one.
func (a *typedAttempt) try(t *testing.T, call, second *typedRead) {
	d, v := a.d, a.v
	a.reset()
	got, err := call.read(d)
	name := func() string { return fmt.Sprintf("%s of %s as %s: %v", call.name, v.name, a.place, err) }
	want := call.want(v)
	if want == nil {
		text := v.text
		if v.name == "RID" && d.options.Format != Godot4 {
			text = "0" // the id is not encoded
		}
		if err != nil || fmt.Sprint(got) != text {
			t.Fatal(name(), got)
		}
	} else {
		if e, ok := err.(*Error); want != errNoText && (!ok || e.Offset != a.start || e.Path != a.path) || !errors.Is(err, want) {
			t.Fatal(name())
		}
		if k := d.PeekKind(); k != a.kind || d.Depth() != a.depth || d.InputOffset() != a.offset {
			t.Fatal(name(), k, d.Depth(), d.InputOffset())
		}
		second.read(d)
		if d.InputOffset() == a.offset {
			require.Equal(t, a.want, appendValue(nil, d), name())
		}
	}
	if d.Depth() != a.depth || d.InputOffset() != a.end {
		t.Fatal(name(), d.Depth(), d.InputOffset())
	}
}

// appendValue appends the tokens of the next value.
func appendValue(dst []byte, d *Decoder) []byte {
	depth := d.Depth()
	for {
		t, err := d.ReadToken()
		if err != nil {
			return append(dst, err.Error()...)
		}
		dst = append(le.AppendUint64(append(dst, byte(t.Kind()), byte(t.Type())), t.bits), t.Bytes()...)
		if t.Kind() != KindDictKey && d.Depth() == depth {
			return dst
		}
	}
}

// A typed read needs no byte after the value, wherever it is, and only the header of a value
// of another type.
func TestTypedReadsDoNotWait(t *testing.T) {
	e := NewEncoder(nil, nil)
	d := newDecoder(t, nil, &DecoderOptions{AllowObjects: true})
	for i := range typedValues {
		v := &typedValues[i]
		for _, place := range typedPlaces {
			e.ResetBytes(nil)
			place.before(e)
			start := e.OutputOffset()
			v.write(e)
			end := e.OutputOffset()
			place.after(e)
			if e.Close() != nil {
				continue // Godot4 does not have it
			}
			for _, call := range typedReads {
				for _, step := range []int{1, 1 << 20} {
					sent := end
					if errors.Is(call.want(v), ErrType) {
						sent = start + 4
					}
					p := testenv.NewPeer(e.Bytes()[:sent:sent], step)
					d.Reset(p)
					readTo(t, d, place.tokens)
					if _, err := call.read(d); p.Waits() || errors.Is(err, testenv.ErrWaits) {
						t.Fatalf("%s of %s as %s: %v", call.name, v.name, place.name, err)
					}
				}
			}
		}
	}
}

// TestComponentsOfIntegers reads integer vectors into each type. A float32 cannot represent all of
// them, which consumes nothing.
func TestComponentsOfIntegers(t *testing.T) {
	for name, reset := range readers(bytesOf(idArray, 3, 6, 1, -2, 6, 1<<24+1, 2, 6, math.MinInt32, 1<<24)) {
		d := NewDecoder(nil, nil)
		reset(d)
		must(d.ReadArray())(t)
		ints, narrow, wide := make([]int32, 2), make([]float32, 2), make([]float64, 2)
		require.NoError(t, ReadComponents(d, TypeVector2i, ints), name)
		require.Equal(t, []int32{1, -2}, ints)
		at := d.InputOffset()
		require.EqualError(t, ReadComponents(d, TypeVector2i, narrow), "gdwire: offset 20, $[1]: component 1.6777217e+07 does not fit float32", name)
		require.Equal(t, []float32{0, 0}, narrow)
		require.Equal(t, at, d.InputOffset())
		require.NoError(t, ReadComponents(d, TypeVector2i, wide), name)
		require.Equal(t, []float64{1<<24 + 1, 2}, wide)
		require.NoError(t, ReadComponents(d, TypeVector2i, narrow), name)
		require.Equal(t, []float32{math.MinInt32, 1 << 24}, narrow)
		d.Release()
	}
}

// Components of named types, and of 32 bits, are written as those of float64.
func TestWriteComponents(t *testing.T) {
	type real float32
	write := func(f func(e *Encoder) error) []byte {
		var b bytes.Buffer
		e := NewEncoder(&b, nil)
		defer e.Close()
		require.NoError(t, e.BeginArray(1))
		require.NoError(t, f(e))
		require.NoError(t, e.End())
		require.NoError(t, e.Flush())
		return b.Bytes()
	}
	want := write(func(e *Encoder) error { return WriteComponents(e, TypeVector2, []float64{0.5, -3}) })
	require.Equal(t, want, write(func(e *Encoder) error { return WriteComponents(e, TypeVector2, []float32{0.5, -3}) }))
	require.Equal(t, want, write(func(e *Encoder) error { return WriteComponents(e, TypeVector2, []real{0.5, -3}) }))
	e := newEncoder(t, io.Discard, nil)
	require.ErrorIs(t, WriteComponents(e, TypeVector2, []int32{1, 2}), ErrCall)
	e.ClearError()
	require.ErrorIs(t, WriteComponents(e, TypeVector2i, []float32{1, 2}), ErrCall)
	e.ClearError()
	require.ErrorIs(t, WriteComponents(e, TypeVector2i, []int32{1}), ErrCall)
}
