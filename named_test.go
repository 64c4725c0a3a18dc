package gdwire

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

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
		d := NewDecoder(&slowReader{b}, &DecoderOptions{WindowSize: 16})
		defer d.Release()
		got, err := AppendPacked[T](d, nil)
		require.NoError(t, err)
		require.Equal(t, src, got)
		d.ResetBytes(b)
		readTo(t, d, 1)
		clear(got)
		n, err := ReadPacked(d, got)
		require.NoError(t, err)
		require.Equal(t, len(src), n)
		require.Equal(t, src, got)
		d.ResetBytes(b)
		other, err := AppendPacked[U](d, nil)
		require.NoError(t, err)
		require.Equal(t, same, other)
	})
}

func TestNamedPackableOverflow(t *testing.T) {
	e := NewEncoder(nil, nil)
	defer e.Release()
	require.NoError(t, e.BeginPacked(TypePackedVector2Array, 2))
	require.ErrorIs(t, WritePacked(e, []dvec2{{1, 2}, {3, math.MaxFloat64}}), ErrRange)
}
