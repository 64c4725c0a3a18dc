package variant

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

func TestGoLists(t *testing.T) {
	testGoTypes(t, []goType{
		{name: "[]byte", value: []byte{1, 2, 3}, wire: []byte{1, 2, 3}},
		{name: "[]int32", value: []int32{1, -2}, wire: []int32{1, -2}},
		{name: "[]int64", value: []int64{1, -2}, wire: []int64{1, -2}},
		{name: "[]float32", value: []float32{1, -2}, wire: []float32{1, -2}},
		{name: "[]float64", value: []float64{1, -2}, wire: []float64{1, -2}},
		{name: "[]string", value: []string{"a", "", "c"}, wire: []string{"a", "", "c"}},
		{name: "[]Vector2", value: []Vector2{{1, 2}}, wire: []Vector2{{1, 2}}},
		{name: "[]Vector3", value: []Vector3{{1, 2, 3}}, wire: []Vector3{{1, 2, 3}}},
		{name: "[]Vector4", value: []Vector4{{1, 2, 3, 4}}, wire: []Vector4{{1, 2, 3, 4}}},
		{name: "[]Color", value: []Color{{1, 2, 3, 4}}, wire: []Color{{1, 2, 3, 4}}},
		{name: "empty []Color", value: []Color{}, wire: []Color{}},
		{name: "named elements", value: []myFloat{1, 2}, wire: []float32{1, 2}},
		{name: "named strings", value: []myString{"a"}, wire: []string{"a"}},
		{name: "[]vec2", value: []vec2{{1, 2}, {3, 4}}, wire: []Vector2{{1, 2}, {3, 4}}},
		{name: "[]vec3", value: []vec3{{1, 2, 3}, {4, 5, 6}}, wire: []Vector3{{1, 2, 3}, {4, 5, 6}}},
		{name: "[]vec4", value: []vec4{{1, 2, 3, 4}}, wire: []Vector4{{1, 2, 3, 4}}},
		{name: "[]myUint", value: []myUint{1, 2}, wire: []byte{1, 2}},
		{name: "one Vector3", value: [1]Vector3{{1, 2, 3}}, wire: []Vector3{{1, 2, 3}}},
		{name: "array of Vector2", value: [2]Vector2{{1, 2}, {3, 4}}, wire: []Vector2{{1, 2}, {3, 4}}},
		{name: "array of Vector3", value: [3]Vector3{{1, 2, 3}, {}, {4, 5, 6}}, wire: []Vector3{{1, 2, 3}, {}, {4, 5, 6}}},
		{name: "array of four Vector3", value: [4]Vector3{{1, 2, 3}}, wire: []Vector3{{1, 2, 3}, {}, {}, {}}},
		{name: "array of Color", value: [3]Color{{1, 2, 3, 4}}, wire: []Color{{1, 2, 3, 4}, {}, {}}},
		{name: "array of Vector4", value: [4]Vector4{{1, 2, 3, 4}}, wire: []Vector4{{1, 2, 3, 4}, {}, {}, {}}},
		{name: "array of Vector3 in Godot 3", value: [2]Vector3{{1, 2, 3}}, wire: []Vector3{{1, 2, 3}, {}}, options: godot3},
		{name: "array of Basis", value: [1]Basis{{X: Vector3{1, 2, 3}}}, wire: array(Basis{X: Vector3{1, 2, 3}})},
		{name: "array of Rect2", value: [3]Rect2{{Size: Vector2{1, 2}}}, wire: array(Rect2{Size: Vector2{1, 2}}, Rect2{}, Rect2{})},
		{name: "array of Vector2i", value: [1]Vector2i{{1, 2}}, wire: array(Vector2i{1, 2})},
		{name: "array of arrays of Vector2", value: [2][1]Vector2{{{1, 2}}, {{3, 4}}}, wire: array([]Vector2{{1, 2}}, []Vector2{{3, 4}})},
		{name: "structs with Vector2", value: []struct{ A Vector2 }{{Vector2{1, 2}}}, wire: array(dict("a", Vector2{1, 2}))},
		{name: "byte array", value: [5]byte{1, 2}, wire: []byte{1, 2, 0, 0, 0}},
		{name: "string array", value: [2]string{"a", "b"}, wire: []string{"a", "b"}},
		{name: "[]StringName", value: []StringName{"a"}, wire: array(StringName("a"))},
		{name: "[]int", value: []int{1, 2}, wire: array(int64(1), int64(2))},
		{name: "[3]int", value: [3]int{1, 2, 3}, wire: array(int64(1), int64(2), int64(3))},
		{name: "[]bool", value: []bool{true}, wire: array(true)},
		{name: "[]any", value: []any{int64(1), "a", nil}, wire: array(int64(1), "a", nil)},
		{name: "[][]string", value: [][]string{{"a"}, {}}, wire: array([]string{"a"}, []string{})},
		{name: "[]*int", value: []*int{nil, ptr(3)}, wire: array(nil, int64(3))},
		{name: "[]Vector2i", value: []Vector2i{{1, 2}}, wire: array(Vector2i{1, 2})},
		{name: "empty slice", value: []int{}, wire: array()},
		{name: "Array", value: array(int64(1), array()), wire: array(int64(1), array())},
		{name: "typed Array", value: &Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}, Values: []any{int64(1)}},
			wire: &Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}, Values: []any{int64(1)}}},
		{name: "Array of a class", value: Array{Elem: gdwire.Elem{Type: gdwire.TypeObject, Class: "Node"}, Values: []any{nil}},
			wire: &Array{Elem: gdwire.Elem{Type: gdwire.TypeObject, Class: "Node"}, Values: []any{nil}}},
	})
}

// A field of an embedded nil pointer is nil in a positional struct.
func TestMarshalEmbeddedNilPointer(t *testing.T) {
	type pointers struct {
		_ struct{} `gd:",array"`
		*Shared
		B int
	}
	require.Equal(t, encoded(t, array(nil, 2), nil), encoded(t, pointers{B: 2}, nil))
}

// Without the struct that collects unknown keys, there are none.
func TestMarshalNilCollector(t *testing.T) {
	type Dict struct {
		Known int
		Rest  *Dictionary `gd:",embed"`
	}
	type Map struct {
		Rest map[string]int `gd:",embed"`
	}
	type ofDict struct {
		*Dict
		N int
	}
	type ofMap struct {
		*Map
		N int
	}
	testGoTypes(t, []goType{
		{name: "nil pointer to *Dictionary", value: ofDict{N: 1}, wire: dict("n", int64(1))},
		{name: "nil *Dictionary", value: ofDict{&Dict{}, 1}, wire: dict("known", int64(0), "n", int64(1))},
		{name: "*Dictionary", value: ofDict{&Dict{1, dict("x", int64(2))}, 3}, wire: dict("known", int64(1), "n", int64(3), "x", int64(2))},
		{name: "nil pointer to map", value: ofMap{N: 1}, wire: dict("n", int64(1))},
		{name: "map", value: ofMap{&Map{map[string]int{"x": 2}}, 3}, wire: dict("n", int64(3), "x", int64(2))},
	})
}
