package variant

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

func TestUnmarshalIntoLists(t *testing.T) {
	testInto(t, []intoCase{
		{name: "nil into slice", wire: nil, want: []int(nil)},
		{name: "nil into array", wire: nil, want: [2]int{}},
		{name: "Vector3 into struct", wire: Vector3{1, 2, 3}, want: point{1, 2, 3}},
		{name: "Color into array", wire: Color{1, 2, 3, 4}, want: vec4{1, 2, 3, 4}},
		{name: "Quaternion into array", wire: Quaternion{1, 2, 3, 4}, want: [4]float64{1, 2, 3, 4}},
		{name: "Basis into rows", wire: Basis{X: Vector3{1, 4, 7}, Y: Vector3{2, 5, 8}, Z: Vector3{3, 6, 9}}, want: [3]vec3{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}},
		{name: "Rect2i into array", wire: Rect2i{Vector2i{1, 2}, Vector2i{3, 4}}, want: [4]int32{1, 2, 3, 4}},
		{name: "Rect2i into struct", wire: Rect2i{Vector2i{1, 2}, Vector2i{3, 4}}, want: struct{ A, B ivec2 }{ivec2{1, 2}, ivec2{3, 4}}},
		{name: "PackedVector3Array into structs", wire: []Vector3{{1, 2, 3}, {4, 5, 6}}, want: []point{{1, 2, 3}, {4, 5, 6}}},
		{name: "PackedVector2Array into float32", wire: []Vector2{{1, 2}}, want: []vec2{{1, 2}}},
		{name: "PackedVector2Array into [1]", wire: []Vector2{{1, 2}}, want: [1]vec2{{1, 2}}},
		{name: "PackedColorArray into float64", wire: []Color{{1, 2, 3, 4}}, want: [][4]float64{{1, 2, 3, 4}}},
		{name: "PackedInt32Array into []int64", wire: []int32{1, -2}, want: []int64{1, -2}},
		{name: "PackedInt32Array into []int", wire: []int32{1, -2}, want: []int{1, -2}},
		{name: "PackedInt64Array into []int8", wire: []int64{1, -128}, want: []int8{1, -128}},
		{name: "PackedInt64Array into []uint16", wire: []int64{1, 65535}, want: []uint16{1, 65535}},
		{name: "PackedByteArray into []int", wire: []byte{1, 255}, want: []int{1, 255}},
		{name: "PackedByteArray into [2]int", wire: []byte{1, 255}, want: [2]int{1, 255}},
		{name: "PackedByteArray into [2]int32", wire: []byte{1, 255}, want: [2]int32{1, 255}},
		{name: "long PackedInt32Array into []int", wire: make([]int32, 1000), want: make([]int, 1000)},
		{name: "PackedFloat32Array into []float64", wire: []float32{1, 0.5}, want: []float64{1, 0.5}},
		{name: "PackedFloat64Array into [2]float32", wire: []float64{1, 0.5}, want: [2]float32{1, 0.5}},
		{name: "PackedStringArray into []any", wire: []string{"a"}, want: []any{"a"}},
		{name: "PackedStringArray into []*string", wire: []string{"a"}, want: []*string{ptr("a")}},
		{name: "PackedStringArray into []level", wire: []string{"level 5"}, want: []level{5}},
		{name: "empty PackedStringArray", wire: []string{}, want: []string{}},
		{name: "empty PackedInt64Array into []int", wire: []int64{}, want: []int{}},
		{name: "Array into []byte", wire: array(1, 2), want: []byte{1, 2}},
		{name: "Array into []Vector3", wire: array(Vector3{1, 2, 3}), want: []Vector3{{1, 2, 3}}},
		{name: "Array into vector", wire: array(1, 2.5), want: vec2{1, 2.5}},
	})
}

func TestTypeErrorsOfLists(t *testing.T) {
	testTypeErrors(t, []typeError{
		{name: "slice", wire: dict(), into: new([]int), err: `offset 0, $: Dictionary into Go []int`, is: gdwire.ErrType},
		{name: "packed slice", wire: []float32{1}, into: new([]int), err: `offset 0, $: PackedFloat32Array into Go []int`, is: gdwire.ErrType},
		{name: "packed bytes", wire: []float32{1}, into: new([]byte), err: `offset 0, $: PackedFloat32Array into Go []uint8`, is: gdwire.ErrType},
		{name: "packed structs", wire: []float32{1}, into: new([]simple), err: `offset 0, $: PackedFloat32Array into Go []variant.simple`, is: gdwire.ErrType},
		{name: "packed range", wire: []int32{1, 300}, into: new([]int8), err: `offset 12, $[1]: int into Go int8: 300 does not fit int8`, is: gdwire.ErrRange},
		{name: "packed negative", wire: []int32{-1}, into: new([]uint), err: `offset 8, $[0]: int into Go uint: -1 does not fit uint`, is: gdwire.ErrRange},
		{name: "packed floats", wire: []float64{0.1, 1e300}, into: new([]float32), err: `offset 16, $[1]: float into Go float32: 1e+300 does not fit float32`, is: gdwire.ErrRange},
		{name: "packed floats into an array", wire: []float64{0.1, -1e300}, into: new([2]myFloat), err: `offset 16, $[1]: float into Go variant.myFloat: -1e+300 does not fit float32`, is: gdwire.ErrRange},
		{name: "packed infinity", wire: []float64{math.Inf(1)}, into: new([]float32)},
		{name: "packed ids", wire: []int64{1}, into: new([]RID), err: `offset 0, $: PackedInt64Array into Go []variant.RID`, is: gdwire.ErrType},
		{name: "packed ids of objects", wire: []byte{1}, into: new([1]ObjectID), err: `offset 0, $: PackedByteArray into Go [1]variant.ObjectID`, is: gdwire.ErrType},
		{name: "packed string", wire: []string{"a"}, into: new([]int), err: `offset 8, $[0]: String into Go int`, is: gdwire.ErrType},
		{name: "array", wire: "a", into: new([2]int), err: `offset 0, $: String into Go [2]int`, is: gdwire.ErrType},
		{name: "array's length", wire: array(1), into: new([2]int), err: `offset 0, $: Array into Go [2]int: wrong count: 1 elements`, is: gdwire.ErrCount},
		{name: "packed array's length", wire: []byte{1}, into: new([2]byte), err: `offset 0, $: PackedByteArray into Go [2]uint8: wrong count: 1 elements`, is: gdwire.ErrCount},
		{name: "Vector3 into two", wire: Vector3{}, into: new(vec2), err: `offset 0, $: Vector3 into Go variant.vec2`, is: gdwire.ErrType},
		{name: "Vector3 into ints", wire: Vector3{}, into: new([3]int32), err: `offset 0, $: Vector3 into Go [3]int32`, is: gdwire.ErrType},
		{name: "Transform3D into Vector3s", wire: Transform3D{}, into: new([4]Vector3), err: `offset 0, $: Transform3D into Go [4]variant.Vector3`, is: gdwire.ErrType},
		{name: "Basis into Vector3s", wire: Basis{}, into: new([3]Vector3), err: `offset 0, $: Basis into Go [3]variant.Vector3`, is: gdwire.ErrType},
		{name: "Rect2 into Vector2s", wire: Rect2{}, into: new([2]Vector2), err: `offset 0, $: Rect2 into Go [2]variant.Vector2`, is: gdwire.ErrType},
		{name: "Vector2i into an array of one", wire: Vector2i{}, into: new([1]Vector2i), err: `offset 0, $: Vector2i into Go [1]variant.Vector2i`, is: gdwire.ErrType},
		{name: "PackedVector4Array into Vector2s", wire: []Vector4{{}}, into: new([][2]Vector2), err: `offset 0, $: PackedVector4Array into Go [][2]variant.Vector2`, is: gdwire.ErrType},
		{name: "packed floats into structs", wire: []float64{1}, into: new([]struct{ HP float64 }), err: `offset 0, $: PackedFloat64Array into Go []struct { HP float64 }`, is: gdwire.ErrType},
		{name: "packed floats into arrays", wire: []float32{1}, into: new([1][1]float32), err: `offset 0, $: PackedFloat32Array into Go [1][1]float32`, is: gdwire.ErrType},
		{name: "Vector3 into an ignored field", wire: Vector3{}, into: new(struct {
			X, Y float64
			Z    float64 `gd:"-"`
		}), err: "offset 0, $: Vector3 into Go struct", is: gdwire.ErrType},
		{name: "packed ints into elements with a method", wire: []int32{99}, into: new([]uvInt32), err: `offset 0, $: PackedInt32Array into Go []variant.uvInt32`, is: gdwire.ErrType},
		{name: "Vector3i into floats", wire: Vector3i{}, into: new(vec3), err: `offset 0, $: Vector3i into Go variant.vec3`, is: gdwire.ErrType},
	})
}

// A slice stays as it is if the count of a packed array is missing, or more than a limit.
func TestPackedWithoutCount(t *testing.T) {
	for _, c := range []struct{ wire, into, want any }{
		{[]byte{1, 2}, &[]byte{7}, &[]byte{7}},
		{[]byte{1, 2}, &[]int{7}, &[]int{7}},
		{[]int64{1, 2}, &[]int64{7}, &[]int64{7}},
		{[]float32{1, 2}, &[]float64{7}, &[]float64{7}},
		{[]Vector2{{}, {}}, &[]Vector2{{7, 7}}, &[]Vector2{{7, 7}}},
		{[]string{"a", "b"}, &[]string{"c"}, &[]string{"c"}},
		{[]string{"a", "b"}, &[]level{7}, &[]level{7}},
	} {
		t.Run(fmt.Sprintf("%T into %T", c.wire, c.into), func(t *testing.T) {
			b := encoded(t, c.wire, nil)
			require.ErrorIs(t, Unmarshal(b[:6], c.into), io.ErrUnexpectedEOF)
			require.Equal(t, c.want, c.into)
			limits := gdwire.Limits{Elements: 1, PackedBytes: 1}
			require.ErrorIs(t, Unmarshal(b, c.into, Options{Decoder: gdwire.DecoderOptions{Limits: limits}}), gdwire.ErrLimit)
			require.Equal(t, c.want, c.into)
		})
	}
}

// Components of 64 bits that a float32 cannot hold are errors, wherever they are.
func TestWideComponents(t *testing.T) {
	double := Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}}
	for _, c := range []struct {
		wire any
		into any
		err  string
	}{
		{Vector2{1e300, 0}, new(vec2), `gdwire: offset 0, $: Vector2 into Go variant.vec2: component 1e+300 does not fit float32`},
		{Vector3{0, 0, -1e39}, new(point), `gdwire: offset 0, $: Vector3 into Go variant.point: component -1e+39 does not fit float32`},
		{Basis{X: Vector3{X: 1e300}}, new([9]float32), `gdwire: offset 0, $: Basis into Go [9]float32: component 1e+300 does not fit float32`},
		{array(Vector2{}, Vector2{1, 1e300}), new([]vec2), `gdwire: offset 28, $[1]: Vector2 into Go variant.vec2: component 1e+300 does not fit float32`},
		{[]Vector2{{1, 2}, {1, 1e300}}, new([]vec2), `gdwire: offset 24, $[1]: Vector2 into Go variant.vec2: 1e+300 does not fit float32`},
		{[]Vector3{{1e300, 2, 3}}, new([]point), `gdwire: offset 8, $[0]: Vector3 into Go variant.point: 1e+300 does not fit float32`},
		{[]Vector4{{1, 2, 3, 1e300}}, new([1]vec4), `gdwire: offset 8, $[0]: Vector4 into Go variant.vec4: 1e+300 does not fit float32`},
		{Vector2{math.Inf(1), 0.1}, new(vec2), ""},
		{[]Vector2{{math.Inf(1), 0.1}}, new([]vec2), ""},
		{Vector2{1e300, 0}, new([2]float64), ""},
		{Vector2{1e300, 0}, new(any), ""},
		{[]Vector2{{1e300, 0}}, new([][2]float64), ""},
	} {
		t.Run(fmt.Sprintf("%v into %T", c.wire, c.into), func(t *testing.T) {
			err := Unmarshal(encoded(t, c.wire, &double), c.into)
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.err)
			require.ErrorIs(t, err, gdwire.ErrRange)
		})
	}
}

// After an error of MaxMemory, lists have the elements before it, texts included.
func TestListsBeyondMemory(t *testing.T) {
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = "text"
	}
	for _, wire := range []any{texts, array(slices.Repeat([]any{"text"}, 1000)...)} {
		d := gdwire.NewDecoder(iotest.OneByteReader(bytes.NewReader(encoded(t, wire, nil))), nil)
		var got []string
		require.ErrorIs(t, UnmarshalDecode(d, &got, Options{MaxMemory: 4000}), gdwire.ErrLimit)
		require.NotEmpty(t, got)
		require.Equal(t, texts[:len(got)], got)
	}
}

// A string of a packed array is no value, so a Raw cannot hold it.
func TestPackedStringsIntoRaw(t *testing.T) {
	for _, v := range []any{new([]Raw), new([2]Raw), new([]*Raw)} {
		err := Unmarshal(encoded(t, []string{"a", "b"}, nil), v)
		var wrong *TypeError
		require.ErrorAs(t, err, &wrong, "%T: %v", v, err)
		require.ErrorIs(t, err, gdwire.ErrType)
		require.ErrorContains(t, err, "offset 8, $[0]: String into Go variant.Raw")
	}
}

// An element of a packed array that does not fit is an error with its own offset and path.
func TestPackedElementsOutOfRange(t *testing.T) {
	ints := slices.Repeat([]int32{1}, 100)
	ints[70] = 300
	double := &Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}}
	for _, c := range []struct {
		wire, into any
		want       string
	}{
		{dict("a", ints), new(map[string][]int8), "offset 308, $.a[70]: int into Go int8: 300 does not fit int8"},
		{dict("a", ints), new(map[string][100]uint8), "offset 308, $.a[70]: int into Go uint8: 300 does not fit uint8"},
		{[]byte{1, 200}, new([]int8), "offset 9, $[1]: int into Go int8: 200 does not fit int8"},
		{[]Vector2{{1, 2}, {1e300, 2}}, new([][2]float32), "offset 24, $[1]: Vector2 into Go [2]float32: 1e+300 does not fit float32"},
	} {
		require.ErrorContains(t, Unmarshal(encoded(t, c.wire, double), c.into), c.want)
	}

	d := gdwire.NewDecoder(nil, nil)
	d.ResetBytes(encoded(t, array(ints, "next"), nil))
	must(d.ReadArray())(t)
	i := 0
	for _, err := range Elements[int8](d) {
		if i == 70 {
			require.EqualError(t, err, "gdwire: offset 296, $[0][70]: int into Go int8: 300 does not fit int8")
		} else {
			require.NoError(t, err)
		}
		i++
	}
	text, err := d.ReadString()
	require.NoError(t, err)
	require.Equal(t, "next", text)
}
