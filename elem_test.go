package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/wire"
)

func TestElem(t *testing.T) {
	for _, c := range []struct {
		name    string
		elem    Elem
		text    string
		typ     Type
		encoded []byte
		decoded Elem
	}{
		{"untyped", Elem{}, "", 0, nil, Elem{}},
		{"built-in", Elem{Type: TypeInt}, "int", TypeInt, bytesOf(idInt), Elem{Type: TypeInt}},
		{"Object", Elem{Type: TypeObject}, "Object", TypeObject, bytesOf(idObject), Elem{Type: TypeObject}},
		{"class", Elem{Class: "Node3D"}, "Node3D", TypeObject, bytesOf("Node3D"), Elem{Type: TypeObject, Class: "Node3D"}},
		{"script", Elem{Script: "res://a.gd"}, "res://a.gd", TypeObject, bytesOf("res://a.gd"), Elem{Type: TypeObject, Script: "res://a.gd"}},
		{"script of a class", Elem{Class: "Node", Script: "res://a"}, "res://a", TypeObject, bytesOf("res://a"), Elem{Type: TypeObject, Script: "res://a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.text, c.elem.String())
			require.Equal(t, c.typ, c.elem.typ())
			require.Equal(t, c.encoded, appendElem(nil, c.elem))
			got, size := readElem(append(c.encoded, "more"...), c.elem.kind())
			require.Equal(t, c.decoded, got)
			require.Equal(t, len(c.encoded), size)
		})
	}
}

// A declared type that Godot 4 does not have is an error.
func TestElemOfNoType(t *testing.T) {
	for _, c := range []struct {
		name string
		elem Elem
		want error
	}{
		{"Nil", Elem{Type: TypeNil}, ErrType},
		{"Image", Elem{Type: TypeImage}, ErrType},
		{"InputEvent", Elem{Type: TypeInputEvent}, ErrType},
		{"unknown", Elem{Type: 99}, ErrType},
		{"class that is not UTF-8", Elem{Class: "\xff"}, ErrUTF8},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := NewEncoder(io.Discard, nil)
			for _, m := range []misuse{
				{"ArrayStart", token(ArrayStart(0, c.elem)), c.want},
				{"BeginTypedArray", typedArray(0, c.elem), c.want},
				{"DictStart", token(DictStart(0, Elem{}, c.elem)), c.want},
			} {
				m.rejects(t, e)
			}
			require.NoError(t, e.Close())
		})
	}
}

// elementsOf returns n elements that every type can hold.
func elementsOf[T Packable](n int) []T {
	s := make([]T, n)
	x := 0
	next := func() float64 { x++; return float64(x % 100) }
	for i := range s {
		switch p := any(&s[i]).(type) {
		case *byte:
			*p = byte(next())
		case *int32:
			*p = int32(next())
		case *int64:
			*p = int64(next())
		case *float32:
			*p = float32(next())
		case *float64:
			*p = next()
		case *[2]float32:
			*p = [2]float32{float32(next()), float32(next())}
		case *[3]float32:
			*p = [3]float32{float32(next()), float32(next()), float32(next())}
		case *[4]float32:
			*p = [4]float32{float32(next()), float32(next()), float32(next()), float32(next())}
		case *[2]float64:
			*p = [2]float64{next(), next()}
		case *[3]float64:
			*p = [3]float64{next(), next(), next()}
		case *[4]float64:
			*p = [4]float64{next(), next(), next(), next()}
		}
	}
	return s
}

// Every packed array can be read into and written from exactly the element types
// that can hold it, whether bytes are copied or converted.
func TestElements(t *testing.T) {
	testElements[byte](t, TypePackedByteArray, TypePackedInt32Array, TypePackedInt64Array)
	testElements[int32](t, TypePackedInt32Array, TypePackedInt64Array)
	testElements[int64](t, TypePackedInt64Array)
	testElements[float32](t, TypePackedFloat32Array, TypePackedFloat64Array)
	testElements[float64](t, TypePackedFloat64Array, TypePackedFloat32Array)
	testElements[[2]float32](t, TypePackedVector2Array)
	testElements[[2]float64](t, TypePackedVector2Array)
	testElements[[3]float32](t, TypePackedVector3Array)
	testElements[[3]float64](t, TypePackedVector3Array)
	testElements[[4]float32](t, TypePackedVector4Array, TypePackedColorArray)
	testElements[[4]float64](t, TypePackedVector4Array, TypePackedColorArray)
}

var packedTypes = []Type{
	TypePackedByteArray, TypePackedInt32Array, TypePackedInt64Array, TypePackedFloat32Array, TypePackedFloat64Array,
	TypePackedVector2Array, TypePackedVector3Array, TypePackedColorArray, TypePackedVector4Array,
}

// testElements writes slices of T as each type that can hold them and reads them
// back into a T where that loses nothing.
func testElements[T Packable](t *testing.T, writable ...Type) {
	const n = 41
	src := elementsOf[T](n)
	t.Run(fmt.Sprintf("%T", src), func(t *testing.T) {
		for _, typ := range packedTypes {
			for _, double := range []bool{false, true} {
				var b bytes.Buffer
				e := newEncoder(t, &b, &EncoderOptions{DoubleReals: double})
				require.NoError(t, e.BeginPacked(typ, n))
				err := WritePacked(e, src)
				var can bool
				for _, w := range writable {
					can = can || w == typ
				}
				if !can {
					require.ErrorIs(t, err, ErrCall, "%v", typ)
					continue
				}
				require.NoError(t, err, "%v", typ)
				require.NoError(t, e.End())

				for _, maxChunk := range []int{smallestChunk, 64, DefaultMaxChunk} {
					d := newDecoder(t, nil, &DecoderOptions{MaxChunk: maxChunk})
					d.Reset(plain(b.Bytes()))
					narrower := readTo(t, d, 1).unit() > unitOfAlone[T]() && unitOfAlone[T]() < wire.Float32
					got, err := AppendPacked[T](d, nil)
					if narrower {
						require.ErrorIs(t, err, ErrType, "%v", typ)
						continue
					}
					require.NoError(t, err)
					require.Equal(t, src, got, "%v, maxChunk %d", typ, maxChunk)

					// In pieces, starting in the middle, with chunks in between.
					d.Reset(plain(b.Bytes()))
					readTo(t, d, 1)
					pieces := make([]T, n+1)
					for at, step := 0, 1; at < n; at, step = at+step, step%5+1 {
						require.Equal(t, min(step, n-at), must(ReadPacked(d, pieces[at:min(at+step, n)]))(t))
					}
					m, err := ReadPacked(d, pieces[n:])
					require.Zero(t, m)
					require.Equal(t, io.EOF, err)
					require.Equal(t, src, pieces[:n])

					d.Reset(plain(b.Bytes()))
					readTo(t, d, 1)
					chunk := readTo(t, d, 1)
					got = must(AppendPacked[T](d, nil))(t)
					require.Equal(t, src, got, "the chunk of %d just read comes, too", chunk.Len())
					require.Zero(t, d.Depth())
				}
			}
		}
	})
}

func unitOfAlone[T Packable]() wire.Unit {
	u, _ := wire.UnitOf[T]()
	return u
}

// Elements of the same unit keep their bits, including those of a signaling NaN,
// in arrays of any length.
func TestElementsKeepTheirBits(t *testing.T) {
	testBits[int32](t, TypePackedInt32Array)
	testBits[int64](t, TypePackedInt64Array)
	testBits[float32](t, TypePackedFloat32Array)
	testBits[float64](t, TypePackedFloat64Array)
	testBits[[2]float32](t, TypePackedVector2Array)
	testBits[[3]float32](t, TypePackedVector3Array)
	testBits[[4]float32](t, TypePackedVector4Array)
}

func testBits[T Packable](t *testing.T, typ Type) {
	u, components := wire.UnitOf[T]()
	for n := range 10 {
		var data []byte
		for i := range n * components {
			if u.Size() == 4 {
				data = le.AppendUint32(data, 0x7F800001+uint32(i))
			} else {
				data = le.AppendUint64(data, 0x7FF0000000000001+uint64(i)<<32)
			}
		}
		want := encoded(t, nil, func(e *Encoder) {
			require.NoError(t, e.BeginPacked(typ, int64(n)))
			require.NoError(t, errors.Join(errOf(e.Write(data)), e.End()))
		})
		d := newDecoder(t, plain(want), nil)
		readTo(t, d, 1)
		elements := must(AppendPacked[T](d, nil))(t)
		require.Equal(t, want, encoded(t, nil, func(e *Encoder) {
			require.NoError(t, errors.Join(e.BeginPacked(typ, int64(n)), WritePacked(e, elements), e.End()))
		}), "%T, %d", elements, n)
	}
}

// Types as math libraries have them.
type (
	vec2  [2]float32
	vec3  [3]float32
	vec4  [4]float32
	dvec2 [2]float64
	dvec3 [3]float64
	dvec4 [4]float64
	octet byte
	word  int32
	long  int64
	half  float32
	full  float64
)

func TestNamedPackable(t *testing.T) {
	testNamed(t, TypePackedVector2Array, []vec2{{1, 2}, {3, 4}}, [][2]float64{{1, 2}, {3, 4}})
	testNamed(t, TypePackedVector3Array, []vec3{{1, 2, 3}, {4, 5, 6}}, [][3]float64{{1, 2, 3}, {4, 5, 6}})
	testNamed(t, TypePackedVector4Array, []vec4{{1, 2, 3, 4}}, [][4]float32{{1, 2, 3, 4}})
	testNamed(t, TypePackedVector2Array, []dvec2{{1, 2}}, [][2]float32{{1, 2}})
	testNamed(t, TypePackedVector3Array, []dvec3{{1, 2, 3}, {4, 5, 6}}, [][3]float32{{1, 2, 3}, {4, 5, 6}})
	testNamed(t, TypePackedVector4Array, []dvec4{{1, 2, 3, 4}}, [][4]float64{{1, 2, 3, 4}})
	testNamed(t, TypePackedColorArray, []dvec4{{1, 2, 3, 4}, {5, 6, 7, 8}}, [][4]float32{{1, 2, 3, 4}, {5, 6, 7, 8}})
	testNamed(t, TypePackedByteArray, []octet{1, 2, 3}, []byte{1, 2, 3})
	testNamed(t, TypePackedInt32Array, []word{1, -2, 3}, []int32{1, -2, 3})
	testNamed(t, TypePackedInt64Array, []long{1, -2}, []int64{1, -2})
	testNamed(t, TypePackedFloat32Array, []half{1, -2}, []float64{1, -2})
	testNamed(t, TypePackedFloat64Array, []full{1, -2}, []float32{1, -2})
	testNamed(t, TypePackedFloat32Array, []full{1, -2}, []float32{1, -2})
}

// testNamed writes src as T and reads it again, then as U, a type of the same
// shape.
func testNamed[T, U Packable](t *testing.T, typ Type, src []T, same []U) {
	t.Run(typ.String(), func(t *testing.T) {
		b := encoded(t, nil, func(e *Encoder) {
			require.NoError(t, e.BeginPacked(typ, int64(len(src))))
			require.NoError(t, WritePacked(e, src))
			require.NoError(t, e.End())
		})
		d := newDecoder(t, &slowReader{b}, &DecoderOptions{MaxChunk: 16})
		got := must(AppendPacked[T](d, nil))(t)
		require.Equal(t, src, got)
		d.ResetBytes(b)
		readTo(t, d, 1)
		clear(got)
		require.Equal(t, len(src), must(ReadPacked(d, got))(t))
		require.Equal(t, src, got)
		d.ResetBytes(b)
		require.Equal(t, same, must(AppendPacked[U](d, nil))(t))
	})
}

func TestNamedPackableOverflow(t *testing.T) {
	e := newEncoder(t, nil, nil)
	require.NoError(t, e.BeginPacked(TypePackedVector2Array, 2))
	require.ErrorIs(t, WritePacked(e, []dvec2{{1, 2}, {3, math.MaxFloat64}}), ErrRange)
}

// A float that becomes infinite in 32 bits is found at every place of a vector, and no other.
func TestOverflows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, least := range []float64{0, 1, math.MaxFloat32, 0x1.ffffffp127, 0x1p128, math.MaxFloat64, math.Inf(1)} {
		for ulps := range int64(9) {
			x := math.Float64frombits(max(math.Float64bits(least), 4) + uint64(ulps) - 4)
			if r.IntN(2) > 0 {
				x = -x
			}
			want := math.IsInf(float64(float32(x)), 0) && !math.IsInf(x, 0)
			require.Equal(t, want, wire.Overflows(x), "%x", x)
			var two [3][2]float64
			var three [3][3]float64
			var four [3][4]float64
			i := r.IntN(3)
			two[i][r.IntN(2)], three[i][r.IntN(3)], four[i][r.IntN(4)] = x, x, x
			require.Equal(t, []bool{want, want, want}, []bool{wire.AnyOverflows(two[:]), wire.AnyOverflows(three[:]), wire.AnyOverflows(four[:])}, "%x", x)
		}
	}
}

// A declared type with an id that the format does not have is an error with this id, always.
func TestElemOfUnknownID(t *testing.T) {
	for _, id := range []uint32{uint32(len(godot4Types)), 99, 1 << 31} {
		for _, packet := range [][]byte{
			bytesOf(uint32(idArray|1<<16), id, 0),
			bytesOf(uint32(idDict|1<<16), id, 0),
			bytesOf(uint32(idDict|1<<18), id, 0),
		} {
			d := NewDecoder(plain(packet), nil)
			_, err := d.ReadToken()
			requireError(t, err, 4, "$", ErrType)
			require.ErrorContains(t, err, fmt.Sprintf("elements of unknown godot4 type id %d", id))
			d.Release()
		}
	}
}
