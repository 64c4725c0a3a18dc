package variant

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

func TestGoMaps(t *testing.T) {
	testGoTypes(t, []goType{
		{name: "Dictionary", value: dict("b", int64(1), "a", nil), wire: dict("b", int64(1), "a", nil)},
		{name: "map", value: map[string]int{"b": 2, "a": 1}, wire: dict("a", int64(1), "b", int64(2))},
		{name: "map of named strings", value: map[myString]bool{"b": true, "a": false}, wire: dict("a", false, "b", true)},
		{name: "map of StringName", value: map[StringName]int{"a": 1}, wire: dict(StringName("a"), int64(1))},
		{name: "map of NodePath", value: map[NodePath]int{"a/b": 1}, wire: dict(NodePath("a/b"), int64(1))},
		{name: "map of ints", value: map[myInt]int{10: 1, 9: 2, -1: 3}, wire: dict(int64(-1), int64(3), int64(9), int64(2), int64(10), int64(1))},
		{name: "map of uints", value: map[uint16]int{300: 1, 2: 2}, wire: dict(int64(2), int64(2), int64(300), int64(1))},
		{name: "map of floats", value: map[float64]int{1.5: 1, -2: 2}, wire: dict(-2.0, int64(2), 1.5, int64(1))},
		{name: "map of bools", value: map[bool]int{true: 1, false: 2}, wire: dict(false, int64(2), true, int64(1))},
		{name: "map of Vector2i", value: map[Vector2i]string{{2, 1}: "b", {1, 2}: "a"}, wire: dict(Vector2i{1, 2}, "a", Vector2i{2, 1}, "b")},
		{name: "map of [2]int32", value: map[ivec2]string{{1, 2}: "a"}, wire: dict(Vector2i{1, 2}, "a")},
		{name: "map of text", value: map[level]int{2: 1, 1: 2}, wire: dict("level 1", int64(2), "level 2", int64(1))},
		{name: "map of addresses", value: map[netip.Addr]int{netip.MustParseAddr("::1"): 1}, wire: dict("::1", int64(1))},
		{name: "map of any", value: map[any]int{"a": 1, int64(2): 2}, wire: dict(int64(2), int64(2), "a", int64(1))},
		{name: "map of maps", value: map[string]map[string]int{"a": {}}, wire: dict("a", dict())},
	})
}

// TestPackedInContainers: a packed array in a container is encoded as its tokens are, also at the end of the buffer.
func TestPackedInContainers(t *testing.T) {
	for _, o := range []gdwire.EncoderOptions{{}, {DoubleReals: true}, {Format: gdwire.Godot3}, {Format: gdwire.Manual4, DoubleReals: true}} {
		for n := range 70 {
			for _, v := range []any{
				make([]byte, n), make([]int32, n), make([]int64, n), make([]float32, n), make([]float64, n), make([]Vector2, n),
				make([][3]float64, n), make([]Color, n), make([]int8, n), &[5]byte{1, 2, 3, 4, 5},
			} {
				v := []any{v, map[string]any{"v": v}}
				b := encoded(t, v, &Options{Encoder: o})
				var again bytes.Buffer
				e := gdwire.NewEncoder(&again, &o)
				for token, err := range gdwire.NewDecoder(bytes.NewReader(b), &gdwire.DecoderOptions{Format: o.Format, DoubleReals: o.DoubleReals, Strict: true}).Tokens() {
					require.NoError(t, err)
					require.NoError(t, e.WriteToken(token))
				}
				require.NoError(t, e.Close())
				require.Equal(t, again.Bytes(), b, "%T of %d", v, n)
			}
		}
	}
}

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

// changing is a type whose IsZero alternates.
type changing struct {
	calls *int `gd:"-"`
}

func (c changing) IsZero() bool {
	*c.calls++
	return *c.calls%2 == 0
}

type pointerZero struct{ N int }

func (p *pointerZero) IsZero() bool { return p.N == 1 }

func TestOmitZero(t *testing.T) {
	calls := 0
	c := changing{&calls}
	type fields struct {
		A changing     `gd:",omitzero"`
		B changing     `gd:",omitzero"`
		C *changing    `gd:",omitzero"`
		D pointerZero  `gd:",omitzero"`
		E *pointerZero `gd:",omitzero"`
		F time.Time    `gd:",omitzero"`
		G [2]int       `gd:",omitzero"`
		H any          `gd:",omitzero"`
		I *Dictionary  `gd:",embed"`
	}
	b, err := Marshal(&fields{A: c, B: c, D: pointerZero{1}, E: &pointerZero{1}})
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, Unmarshal(b, &got))
	require.Len(t, got, 1)
	require.Contains(t, got, "a")
	require.Equal(t, 2, calls, "each is asked once")

	var many struct {
		A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, D0, D1, D2, D3, D4, D5, D6, D7, D8, D9, E0, E1, E2, E3, E4, E5, E6, E7, E8, E9, F0, F1, F2, F3, F4, F5, F6, F7, F8, F9, G0, G1, G2, G3, G4, G5, G6, G7, G8, G9, H0, H1, H2, H3, H4, H5, H6, H7, H8, H9, I0, I1, I2, I3, I4, I5, I6, I7, I8, I9, J0, J1, J2, J3, J4, J5, J6, J7, J8, J9, K0, K1, K2, K3, K4, K5, K6, K7, K8, K9, L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, M0, M1, M2, M3, M4, M5, M6, M7, M8, M9 int
		Last                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   int `gd:",omitzero"`
	}
	many.A0, many.M9 = 3, 5
	b, err = Marshal(many)
	require.NoError(t, err)
	again := many
	again.A0, again.Last = 1, 1
	list := []any{&again}
	_ = list
	require.NoError(t, Unmarshal(b, &again))
	again.Last = 0
	require.Equal(t, many, again)
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
