package gdwire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"math"
	"math/big"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// TestTypedReadsOfNumbers reads numbers around the ends of ranges as each of Go's types: they fit exactly, or nothing is consumed.
func TestTypedReadsOfNumbers(t *testing.T) {
	var packets [][]byte
	for _, x := range []int64{0, 7, math.MinInt8, math.MaxUint8, math.MinInt16, math.MaxUint16, 1 << 24, math.MinInt32, math.MaxUint32, 1 << 53, math.MaxInt64 - 1, math.MinInt64 + 1} {
		for _, x := range []int64{x - 1, x, x + 1, x/2 - 1, x / 2, x/2 + 1} {
			packets = append(packets, bytesOf(idInt|bit16, uint64(x)), integer(int(int32(x))))
		}
	}
	for _, x := range []float64{1.5, 0.1, -1, 255, 1 << 63, -1 << 63, -1.5 * (1 << 63), 3 << 62, 1<<64 - 2048, 1 << 64, 1e300, math.Inf(1), math.Inf(-1), math.NaN()} {
		packets = append(packets, bytesOf(idFloat|bit16, x), bytesOf(idFloat, float32(x)))
	}
	for _, packet := range packets {
		tok := must(newDecoder(t, plain(packet), nil).ReadToken())(t)
		x := tok.Float()
		fits, fits32 := true, !math.IsInf(float64(float32(x)), 0) || math.IsInf(x, 0) // floats are rounded
		if tok.Type() == TypeInt {
			x = float64(tok.Int())
			fits = x < 1<<63 && int64(x) == tok.Int()
			fits32 = fits && float64(float32(x)) == x
		}
		requireNumber(t, packet, fits, x, (*Decoder).ReadFloat)
		requireNumber(t, packet, fits32, float32(x), (*Decoder).ReadFloat32)
		requireInteger[int8](t, packet, tok)
		requireInteger[uint8](t, packet, tok)
		requireInteger[int16](t, packet, tok)
		requireInteger[level](t, packet, tok)
		requireInteger[int32](t, packet, tok)
		requireInteger[uint32](t, packet, tok)
		requireInteger[int64](t, packet, tok)
		requireInteger[uint64](t, packet, tok)
	}
}

type level uint16

// requireInteger reads a number as an integer.
func requireInteger[T Integer](t *testing.T, packet []byte, tok Token) {
	t.Helper()
	x := new(big.Float).SetInt64(tok.Int())
	if tok.Type() == TypeFloat {
		if x = nil; tok.Float() == tok.Float() {
			x = big.NewFloat(tok.Float())
		}
	}
	var want T
	fits := false
	if x != nil && x.IsInt() {
		i, _ := x.Int(nil)
		want = T(i.Uint64())
		if i.Sign() < 0 {
			want = T(i.Int64())
		}
		got, _ := new(big.Int).SetString(fmt.Sprint(want), 10)
		fits = got.Cmp(i) == 0
	}
	requireNumber(t, packet, fits, want, ReadInteger[T])
}

// requireNumber makes a call before a number that fits, or does not.
func requireNumber[T any](t *testing.T, number []byte, fits bool, want T, read func(*Decoder) (T, error)) {
	t.Helper()
	packet := bytesOf(idArray, 2, number, idNil, idNil, idNil)
	for _, r := range []io.Reader{&slowReader{packet}, bytes.NewReader(packet)} {
		d := newDecoder(t, r, nil)
		readTo(t, d, 1)
		got, err := read(d)
		if !fits {
			requireError(t, err, 8, "$[0]", ErrRange)
			require.EqualValues(t, 8, d.InputOffset())
			continue
		}
		require.NoError(t, err, "%x", number)
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), "%x", number) // also of NaN
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

func iterations[T any](loop iter.Seq2[T, error]) (n int, err error) {
	for _, err := range loop {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
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
