package variant

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestComponentsOf(t *testing.T) {
	type number float64
	for _, c := range []struct {
		name  string
		value any
		n     int // 0 if the type cannot hold a math type
		leaf  reflect.Kind
	}{
		{"array", [3]float32{}, 3, reflect.Float32},
		{"array of a named type", [2]number{}, 2, reflect.Float64},
		{"array of arrays", [4][4]float64{}, 16, reflect.Float64},
		{"struct", point{}, 3, reflect.Float32},
		{"struct of int32", struct{ X, Y int32 }{}, 2, reflect.Int32},
		{"nested structs", struct{ Position, Size struct{ X, Y float64 } }{}, 4, reflect.Float64},
		{"array and field", struct {
			Normal [3]float32
			D      float32
		}{}, 4, reflect.Float32},
		{"empty array", [0]float32{}, 0, 0},
		{"empty struct", struct{}{}, 0, 0},
		{"17 components", [17]float32{}, 0, 0},
		{"17 components in a struct", struct {
			A [16]float32
			B float32
		}{}, 0, 0},
		{"two kinds", struct {
			X float32
			Y float64
		}{}, 0, 0},
		{"field that is not exported", struct{ X, y float32 }{}, 0, 0},
		{"ignored field", struct {
			X float32
			Y float32 `gd:"-"`
		}{}, 0, 0},
		{"math type", Basis{}, 9, reflect.Float64},
		{"struct of math types", struct{ A, B Vector3 }{}, 6, reflect.Float64},
		{"array of math types", [1]Vector3{}, 0, 0},
		{"array of math types in a struct", struct{ A [2]Vector3 }{}, 0, 0},
		{"methods", mvArray{}, 3, reflect.Float32},
		{"array of numbers with methods", [3]utFloat32{}, 0, 0},
		{"field with methods", struct{ X, Y uvFloat64 }{}, 0, 0},
		{"other numbers", [2]int64{}, 0, 0},
		{"slice", []float32{}, 0, 0},
		{"pointer", &point{}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := componentsOf(reflect.TypeOf(c.value))
			require.Equal(t, c.n > 0, ok)
			if ok {
				require.Equal(t, c.n, got.n)
				require.Equal(t, c.leaf, got.leaf)
			}
		})
	}
}

// A Basis is encoded by rows also in a struct with the components of a Transform3D.
func TestNestedBasis(t *testing.T) {
	type transform struct {
		Basis  Basis
		Origin [3]float64
	}
	c, ok := componentsOf(reflect.TypeFor[transform]())
	require.True(t, ok)
	require.Equal(t, append(slices.Clone(basisOrder), 9, 10, 11), c.order)
	basis := Basis{Vector3{1, 2, 3}, Vector3{4, 5, 6}, Vector3{7, 8, 9}}
	want := Transform3D{basis, Vector3{10, 11, 12}}
	type fields struct {
		T transform `gd:",type=Transform3D"`
	}
	b := encoded(t, fields{transform{basis, [3]float64{10, 11, 12}}}, nil)
	require.Equal(t, encoded(t, dict("t", want), nil), b)
	var got fields
	require.NoError(t, Unmarshal(b, &got))
	require.Equal(t, transform{basis, [3]float64{10, 11, 12}}, got.T)
	var list []transform
	require.NoError(t, Unmarshal(encoded(t, array(want), nil), &list))
	require.Equal(t, []transform{got.T}, list)
}
