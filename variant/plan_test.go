package variant

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGoTypes(t *testing.T) {
	small, nan := float64(float32(0.1)), math.NaN()
	testGoTypes(t, []goType{
		{name: "nil", value: nil, wire: nil},
		{name: "nil pointer", value: (*int)(nil), wire: nil},
		{name: "bool", value: true, wire: true},
		{name: "named bool", value: myBool(true), wire: true},
		{name: "int", value: -5, wire: int64(-5)},
		{name: "int8", value: int8(-128), wire: int64(-128)},
		{name: "int16", value: myInt(300), wire: int64(300)},
		{name: "int32", value: int32(math.MinInt32), wire: int64(math.MinInt32)},
		{name: "int64", value: int64(math.MaxInt64), wire: int64(math.MaxInt64)},
		{name: "uint", value: uint(7), wire: int64(7)},
		{name: "uint8", value: myUint(255), wire: int64(255)},
		{name: "uint16", value: uint16(65535), wire: int64(65535)},
		{name: "uint32", value: uint32(math.MaxUint32), wire: int64(math.MaxUint32)},
		{name: "uint64", value: uint64(math.MaxInt64), wire: int64(math.MaxInt64)},
		{name: "uintptr", value: uintptr(9), wire: int64(9)},
		{name: "float32", value: myFloat(0.1), wire: small},
		{name: "float64", value: 0.1, wire: 0.1},
		{name: "NaN", value: nan, wire: nan},
		{name: "string", value: "Zoë", wire: "Zoë"},
		{name: "empty string", value: "", wire: ""},
		{name: "named string", value: myString("x"), wire: "x"},

		{name: "[2]float32", value: vec2{1, 2}, wire: Vector2{1, 2}},
		{name: "[3]float64", value: vec3{1, 2, 3}, wire: Vector3{1, 2, 3}},
		{name: "[2]int32", value: ivec2{1, 2}, wire: Vector2i{1, 2}},
		{name: "[3]int32", value: [3]int32{1, 2, 3}, wire: Vector3i{1, 2, 3}},
		{name: "[9]float32", value: [9]float32{1, 2, 3, 4, 5, 6, 7, 8, 9},
			wire: Basis{X: Vector3{1, 4, 7}, Y: Vector3{2, 5, 8}, Z: Vector3{3, 6, 9}}},
		{name: "[3][3]float32", value: [3][3]float32{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}},
			wire: Basis{X: Vector3{1, 4, 7}, Y: Vector3{2, 5, 8}, Z: Vector3{3, 6, 9}}},
		{name: "[12]float64", value: [12]float64{11: 5}, wire: Transform3D{Origin: Vector3{Z: 5}}},
		{name: "[16]float64", value: [16]float64{15: 5}, wire: Projection{W: Vector4{W: 5}}},
		{name: "struct of floats", value: point{1, 2, 3}, wire: dict("x", 1.0, "y", 2.0, "z", 3.0)},

		{name: "struct", value: simple{"a", 3}, wire: dict("name", "a", "max_hp", int64(3))},
		{name: "all tags", value: player{Base: Base{ID: 1}, Name: "Ada", Color: vec4{1, 1, 1, 1}, Friends: []player{}},
			wire: dict("id", int64(1), "title", "", "name", "Ada", "tint", Color{1, 1, 1, 1}, "friends", array(),
				"class", StringName(""), "a,b", int64(0))},
		{name: "embedded pointer", value: player{Shared: &Shared{"x"}, HP: 5, Speed: 1, Friends: []player{}, Best: &player{Friends: []player{}}},
			wire: dict("id", int64(0), "title", "", "note", "x", "name", "", "hp", int64(5), "tint", Color{}, "speed", 1.0, "friends", array(),
				"best", dict("id", int64(0), "title", "", "name", "", "tint", Color{}, "friends", array(), "class", StringName(""), "a,b", int64(0)),
				"class", StringName(""), "a,b", int64(0))},
		{name: "positional", value: row{X: 1, Y: 2, Name: "n"}, wire: array(int64(1), int64(2), "n")},
		{name: "unknown keys", value: extra{1, dict("z", int64(1), int64(2), "two")}, wire: dict("known", int64(1), "z", int64(1), int64(2), "two")},
		{name: "unknown keys in a map", value: extraMap{1, map[string]int{"z": 1, "y": 2}}, wire: dict("known", int64(1), "y", int64(2), "z", int64(1))},
		{name: "recursive", value: node{1, &node{Value: 2, Nodes: map[string]node{}}, nil, map[string]node{"a": {Nodes: map[string]node{}}}},
			wire: dict("value", int64(1), "left", dict("value", int64(2), "nodes", dict()), "nodes", dict("a", dict("value", int64(0), "nodes", dict())))},
		{name: "generic", value: box[[]int]{[]int{1}}, wire: dict("value", array(int64(1)))},
		{name: "generic any", value: box[any]{1.5}, wire: dict("value", 1.5)},
		{name: "pointers", value: ptr(ptr(3)), wire: int64(3)},
		{name: "Marshaler", value: celsius{20}, wire: dict("celsius", 20.0)},
		{name: "Marshalers", value: map[string]celsius{"a": {20}}, wire: dict("a", dict("celsius", 20.0))},
		{name: "text", value: level(3), wire: "level 3"},
		{name: "texts", value: []level{3}, wire: array("level 3")},
		{name: "time", value: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), wire: "2026-01-02T03:04:05Z"},

		{name: "[]int64 in Godot 3", value: []int64{1, 1 << 40}, wire: array(int64(1), int64(1<<40)), options: godot3},
		{name: "[]float64 in Godot 3", value: []float64{0.1}, wire: array(0.1), options: godot3},
	})
}

func TestTypesWithoutVariant(t *testing.T) {
	for _, c := range []struct {
		name  string
		value any // a pointer, for Unmarshal as well
		err   string
	}{
		{"embedded map", &struct {
			Rest map[string]chan int `gd:",embed"`
		}{}, "struct.Rest: chan int has no Variant type"},
		{"map", &map[int]chan int{}, "chan int has no Variant type"},
		{"slice", &[]chan int{}, "chan int has no Variant type"},
		{"array", &[2]chan int{}, "chan int has no Variant type"},
		{"interface", ptr[fmt.Stringer](&badStringer{}), "no Variant type"},
		{"key", &map[*Array]int{}, "cannot be a key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Marshal(c.value)
			require.ErrorContains(t, err, c.err)
			require.ErrorContains(t, Unmarshal(encoded(t, dict(), nil), c.value), c.err)
		})
	}
}
