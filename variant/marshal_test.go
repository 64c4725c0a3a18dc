package variant

import (
	"bytes"
	"errors"
	"math"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/stretchr/testify/require"
)

// Types as in programs.
type (
	myBool   bool
	myInt    int16
	myUint   uint8
	myFloat  float32
	myString string
	vec2     [2]float32
	vec3     [3]float64
	vec4     [4]float32
	ivec2    [2]int32
	point    struct{ X, Y, Z float32 }

	simple struct {
		Name  string
		MaxHP int
	}
	Base struct {
		ID    int
		Title string
	}
	Shared struct{ Note string }
	player struct {
		Base
		*Shared
		Name    string  `gd:"name"`
		HP      int32   `gd:",omitzero"`
		Color   vec4    `gd:"tint,type=Color"`
		Speed   float64 `gd:",omitzero"`
		Hidden  string  `gd:"-"`
		Friends []player
		Best    *player `gd:",omitzero"`
		Class   string  `gd:",type=StringName"`
		Weird   int     `gd:"'a,b'"`
	}
	row struct {
		_    struct{} `gd:",array"`
		X, Y int
		Name string
	}
	extra struct {
		Known int
		Rest  *Dictionary `gd:",embed"`
	}
	extraMap struct {
		Known int
		Rest  map[string]int `gd:",embed"`
	}
	node struct {
		Value int
		Left  *node `gd:",omitzero"`
		Right *node `gd:",omitzero"`
		Nodes map[string]node
	}
	box[T any] struct{ Value T }

	// level is encoded as text if it has a name, and otherwise as a number.
	level int
	// celsius encodes and decodes itself.
	celsius struct{ degrees float64 }
)

var (
	_ Marshaler   = (*celsius)(nil)
	_ Unmarshaler = (*celsius)(nil)
)

func (l level) MarshalText() ([]byte, error) {
	if l < 0 {
		return nil, errors.New("level below zero")
	}
	return []byte("level " + strconv.Itoa(int(l))), nil
}

func (l *level) UnmarshalText(b []byte) error {
	text, ok := strings.CutPrefix(string(b), "level ")
	n, err := strconv.Atoi(text)
	if *l = level(n); !ok || n < 0 {
		return errors.New("no level")
	}
	return err
}

func (c *celsius) MarshalVariant(e *gdwire.Encoder) error {
	return errors.Join(e.BeginDict(1), e.WriteString("celsius"), e.WriteFloat(c.degrees), e.End())
}

func (c *celsius) UnmarshalVariant(d *gdwire.Decoder) error {
	for key, err := range d.Fields() {
		if err != nil {
			return err
		}
		if string(key) == "celsius" {
			if c.degrees, err = d.ReadFloat(); err != nil {
				return err
			}
		}
	}
	return nil
}

func dict(pairs ...any) *Dictionary {
	d := &Dictionary{}
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i], pairs[i+1])
	}
	return d
}

func array(values ...any) *Array { return &Array{Values: values} }

func ptr[T any](v T) *T { return &v }

// godot3 selects the format of Godot 3.
var godot3 = &Options{
	Decoder: gdwire.DecoderOptions{Format: gdwire.Godot3},
	Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3},
}

var godot2 = &Options{
	Decoder: gdwire.DecoderOptions{Format: gdwire.Godot2},
	Encoder: gdwire.EncoderOptions{Format: gdwire.Godot2},
}

// Each value is encoded, and decoded into an any and into its own type.
func TestGoTypes(t *testing.T) {
	small, nan := float64(float32(0.1)), math.NaN()
	for _, c := range []struct {
		name    string
		value   any
		wire    any // the value decoded into an any
		options *Options
	}{
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
		{name: "StringName", value: StringName("n"), wire: StringName("n")},
		{name: "NodePath", value: NodePath("/root/A:b:c"), wire: NodePath("/root/A:b:c")},
		{name: "RID", value: RID(77), wire: RID(77)},
		{name: "ObjectID", value: ObjectID(1 << 63), wire: ObjectID(1 << 63)},
		{name: "Signal", value: Signal{Name: "hit", Object: 3}, wire: Signal{Name: "hit", Object: 3}},
		{name: "Callable", value: Callable{}, wire: Callable{}},
		{name: "Object", value: &Object{Class: "Node", Properties: []Property{{"a", int64(1)}, {"b", nil}}},
			wire: &Object{Class: "Node", Properties: []Property{{"a", int64(1)}, {"b", nil}}}},
		{name: "Object without properties", value: Object{Class: "Node"}, wire: &Object{Class: "Node"}},

		{name: "Vector2", value: Vector2{1, 2}, wire: Vector2{1, 2}},
		{name: "Vector2i", value: Vector2i{-1, 2}, wire: Vector2i{-1, 2}},
		{name: "Vector3", value: Vector3{1, 2, 3}, wire: Vector3{1, 2, 3}},
		{name: "Vector3i", value: Vector3i{1, 2, 3}, wire: Vector3i{1, 2, 3}},
		{name: "Vector4", value: Vector4{1, 2, 3, 4}, wire: Vector4{1, 2, 3, 4}},
		{name: "Vector4i", value: Vector4i{1, 2, 3, 4}, wire: Vector4i{1, 2, 3, 4}},
		{name: "Rect2", value: Rect2{Size: Vector2{3, 4}}, wire: Rect2{Size: Vector2{3, 4}}},
		{name: "Rect2i", value: Rect2i{Size: Vector2i{3, 4}}, wire: Rect2i{Size: Vector2i{3, 4}}},
		{name: "Plane", value: Plane{Normal: Vector3{0, 1, 0}, D: 5}, wire: Plane{Vector3{0, 1, 0}, 5}},
		{name: "Quaternion", value: Quaternion{1, 2, 3, 4}, wire: Quaternion{1, 2, 3, 4}},
		{name: "AABB", value: AABB{Size: Vector3{1, 2, 3}}, wire: AABB{Size: Vector3{1, 2, 3}}},
		{name: "Transform2D", value: Transform2D{Origin: Vector2{1, 2}}, wire: Transform2D{Origin: Vector2{1, 2}}},
		{name: "Basis", value: Basis{X: Vector3{1, 2, 3}, Y: Vector3{4, 5, 6}, Z: Vector3{7, 8, 9}},
			wire: Basis{X: Vector3{1, 2, 3}, Y: Vector3{4, 5, 6}, Z: Vector3{7, 8, 9}}},
		{name: "Transform3D", value: Transform3D{Basis: Basis{X: Vector3{1, 2, 3}}, Origin: Vector3{4, 5, 6}},
			wire: Transform3D{Basis: Basis{X: Vector3{1, 2, 3}}, Origin: Vector3{4, 5, 6}}},
		{name: "Projection", value: Projection{W: Vector4{1, 2, 3, 4}}, wire: Projection{W: Vector4{1, 2, 3, 4}}},
		{name: "Color", value: Color{1, 0.5, 0.25, 1}, wire: Color{1, 0.5, 0.25, 1}},
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
		{name: "Raw", value: Raw{Format: gdwire.Godot4, Data: []byte{2, 0, 0, 0, 5, 0, 0, 0}}, wire: int64(5)},

		{name: "StringName in Godot 3", value: StringName("a"), wire: "a", options: godot3},
		{name: "RID in Godot 3", value: RID(0), wire: RID(0), options: godot3},
		{name: "[]int64 in Godot 3", value: []int64{1, 1 << 40}, wire: array(int64(1), int64(1<<40)), options: godot3},
		{name: "[]float64 in Godot 3", value: []float64{0.1}, wire: array(0.1), options: godot3},
		{name: "Image", value: Image{Format: 1, Mipmaps: 2, Width: 3, Height: 4, Data: []byte{5, 6}}, wire: Image{1, 2, 3, 4, []byte{5, 6}}, options: godot2},
		{name: "InputEvent", value: InputEvent{Type: 1, Device: 2, Data: []byte{1, 0, 0, 0, 2, 0, 0, 0}},
			wire: InputEvent{1, 2, []byte{1, 0, 0, 0, 2, 0, 0, 0}}, options: godot2},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &Options{}
			if c.options != nil {
				*o = *c.options
			}
			o.Decoder.AllowObjects = true
			b, err := Marshal(c.value, o)
			require.NoError(t, err)
			var got any
			require.NoError(t, Unmarshal(b, &got, o))
			requireSame(t, c.wire, got)
			if c.value == nil {
				return
			}
			again := reflect.New(reflect.TypeOf(c.value))
			require.NoError(t, Unmarshal(b, again.Interface(), o))
			requireSame(t, c.value, again.Elem().Interface())
			// The same inside an interface, with a pointer, and into used memory.
			boxed, err := Marshal(&[]any{c.value}, o)
			require.NoError(t, err)
			list := reflect.New(reflect.SliceOf(again.Type()))
			for range 2 {
				require.NoError(t, Unmarshal(boxed, list.Interface(), o))
				if v := list.Elem().Index(0); !v.IsNil() {
					requireSame(t, c.value, v.Elem().Interface())
				}
			}
		})
	}
}

// requireSame is require.Equal for values that can contain NaN and indexes.
func requireSame(t testing.TB, want, got any) {
	t.Helper()
	if x, ok := want.(float64); ok && x != x {
		require.True(t, math.IsNaN(got.(float64)))
		return
	}
	w, err := Marshal(want, nil)
	if err == nil {
		g, err := Marshal(got, nil)
		require.NoError(t, err)
		require.Equal(t, w, g, "%#v", got)
	}
	require.Equal(t, reflect.TypeOf(want), reflect.TypeOf(got))
	require.True(t, reflect.DeepEqual(want, got), "%#v\n%#v", want, got)
}

// Values that are encoded as another type because of a type= tag.
func TestTypeTags(t *testing.T) {
	for _, c := range []struct {
		name  string
		value any
		wire  any // of the key a
		err   string
	}{
		{name: "int as float", value: struct {
			A int `gd:",type=float"`
		}{5}, wire: 5.0},
		{name: "uint as float", value: struct {
			A uint `gd:",type=float"`
		}{5}, wire: 5.0},
		{name: "float as float", value: struct {
			A float32 `gd:",type=float"`
		}{5}, wire: 5.0},
		{name: "float as int", value: struct {
			A float64 `gd:",type=int"`
		}{5}, wire: int64(5)},
		{name: "int as int", value: struct {
			A int8 `gd:",type=int"`
		}{5}, wire: int64(5)},
		{name: "uint as int", value: struct {
			A uint8 `gd:",type=int"`
		}{5}, wire: int64(5)},
		{name: "bool as bool", value: struct {
			A bool `gd:",type=bool"`
		}{true}, wire: true},
		{name: "int that float cannot hold", value: struct {
			A int64 `gd:",type=float"`
		}{1<<53 + 1}, err: "out of range"},
		{name: "uint that float cannot hold", value: struct {
			A uint64 `gd:",type=float"`
		}{1<<53 + 1}, err: "out of range"},
		{name: "fraction as int", value: struct {
			A float64 `gd:",type=int"`
		}{5.5}, err: "Go float64 (struct.A): out of range"},
		{name: "large float as int", value: struct {
			A float64 `gd:",type=int"`
		}{1e30}, err: "out of range"},
		{name: "string as StringName", value: struct {
			A myString `gd:",type=StringName"`
		}{"a"}, wire: StringName("a")},
		{name: "string as NodePath", value: struct {
			A string `gd:",type=NodePath"`
		}{"a/b"}, wire: NodePath("a/b")},
		{name: "StringName as String", value: struct {
			A StringName `gd:",type=String"`
		}{"a"}, wire: "a"},
		{name: "text as StringName", value: struct {
			A level `gd:",type=StringName"`
		}{3}, wire: StringName("level 3")},
		{name: "text that fails", value: struct{ A level }{-3}, err: "Go variant.level (struct.A): level below zero"},
		{name: "pointer", value: struct {
			A *vec4 `gd:",type=Plane"`
		}{&vec4{0, 1, 0, 5}}, wire: Plane{Vector3{0, 1, 0}, 5}},
		{name: "struct as Vector3", value: struct {
			A point `gd:",type=Vector3"`
		}{point{1, 2, 3}}, wire: Vector3{1, 2, 3}},
		{name: "struct as Dictionary", value: struct {
			A simple `gd:",type=Dictionary"`
		}{}, wire: dict("name", "", "max_hp", int64(0))},
		{name: "map as Dictionary", value: struct {
			A map[int]int `gd:",type=Dictionary"`
		}{}, wire: dict()},
		{name: "six floats", value: struct {
			A [2][3]float64 `gd:",type=AABB"`
		}{[2][3]float64{{1, 2, 3}, {4, 5, 6}}}, wire: AABB{Vector3{1, 2, 3}, Vector3{4, 5, 6}}},
		{name: "four int32", value: struct {
			A [4]int32 `gd:",type=Rect2i"`
		}{[4]int32{1, 2, 3, 4}}, wire: Rect2i{Vector2i{1, 2}, Vector2i{3, 4}}},
		{name: "slice as Array", value: struct {
			A []int32 `gd:",type=Array"`
		}{[]int32{1}}, wire: array(int64(1))},
		{name: "vectors as Array", value: struct {
			A [3]float32 `gd:",type=Array"`
		}{[3]float32{1, 2, 3}}, wire: array(1.0, 2.0, 3.0)},
		{name: "ints as PackedInt32Array", value: struct {
			A []int `gd:",type=PackedInt32Array"`
		}{[]int{1, -1 << 31}}, wire: []int32{1, -1 << 31}},
		{name: "ints that do not fit", value: struct {
			A []int64 `gd:",type=PackedInt32Array"`
		}{[]int64{1 << 31}}, err: "Go int64 (struct.A): out of range"},
		{name: "ints as PackedByteArray", value: struct {
			A [2]uint16 `gd:",type=PackedByteArray"`
		}{[2]uint16{1, 255}}, wire: []byte{1, 255}},
		{name: "ints that are no bytes", value: struct {
			A []int `gd:",type=PackedByteArray"`
		}{[]int{-1}}, err: "out of range"},
		{name: "uints as PackedInt64Array", value: struct {
			A []uint64 `gd:",type=PackedInt64Array"`
		}{[]uint64{1}}, wire: []int64{1}},
		{name: "uints that do not fit", value: struct {
			A []uint64 `gd:",type=PackedInt64Array"`
		}{[]uint64{1 << 63}}, err: "out of range"},
		{name: "int32 as PackedInt64Array", value: struct {
			A []int32 `gd:",type=PackedInt64Array"`
		}{[]int32{-1}}, wire: []int64{-1}},
		{name: "structs as PackedVector3Array", value: struct {
			A []point `gd:",type=PackedVector3Array"`
		}{[]point{{1, 2, 3}}}, wire: []Vector3{{1, 2, 3}}},
		{name: "floats as PackedFloat32Array", value: struct {
			A []float64 `gd:",type=PackedFloat32Array"`
		}{[]float64{0.5}}, wire: []float32{0.5}},
		{name: "floats that do not fit", value: struct {
			A []float64 `gd:",type=PackedFloat32Array"`
		}{[]float64{1e300}}, err: "Go []float64 (struct.A): element does not fit 32 bits"},
		{name: "vectors as PackedColorArray", value: struct {
			A []vec4 `gd:",type=PackedColorArray"`
		}{[]vec4{{1, 2, 3, 4}}}, wire: []Color{{1, 2, 3, 4}}},
		{name: "names as PackedStringArray", value: struct {
			A []StringName `gd:",type=PackedStringArray"`
		}{[]StringName{"a"}}, wire: []string{"a"}},
		{name: "vectors as PackedVector2Array", value: struct {
			A []Vector2 `gd:",type=PackedVector2Array"`
		}{[]Vector2{{1, 2}}}, wire: []Vector2{{1, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Marshal(c.value, nil)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				var at *gdwire.Error
				require.ErrorAs(t, err, &at)
				return
			}
			require.NoError(t, err)
			var got map[string]any
			require.NoError(t, Unmarshal(b, &got, nil))
			requireSame(t, c.wire, got["a"])
			again := reflect.New(reflect.TypeOf(c.value))
			require.NoError(t, Unmarshal(b, again.Interface(), nil))
			if c.name != "map as Dictionary" {
				requireSame(t, c.value, again.Elem().Interface())
			}
		})
	}
}

// Values that cannot be encoded although their types are valid.
func TestMarshalErrors(t *testing.T) {
	cyclicSlice := []any{nil}
	cyclicSlice[0] = cyclicSlice
	cyclicMap := map[string]any{}
	cyclicMap["a"] = cyclicMap
	cyclicNode := &node{}
	cyclicNode.Left = cyclicNode
	var cyclicAny any
	cyclicAny = &cyclicAny
	cyclicArray := array(nil)
	cyclicArray.Values[0] = cyclicArray
	cyclicObject := &Object{Class: "a", Properties: []Property{{Name: "a"}}}
	cyclicObject.Properties[0].Value = cyclicObject
	deep := &Options{Encoder: gdwire.EncoderOptions{Depth: -1}}
	for _, c := range []struct {
		name    string
		value   any
		err     string
		is      error
		options *Options
	}{
		{name: "uint64", value: struct{ A uint64 }{1 << 63}, err: "gdwire: offset 20, $.value(0): Go uint64 (struct.A): out of range", is: gdwire.ErrRange},
		{name: "UTF-8", value: simple{Name: "\xff"}, err: "gdwire: offset 20, $.value(0): Go string (simple.Name): invalid UTF-8", is: gdwire.ErrUTF8},
		{name: "type in an interface", value: []any{make(chan int)}, err: "gdwire: offset 8, $[0]: variant: chan int has no Variant type"},
		{name: "float in 32 bits", value: 0.1, err: "32 bits", is: gdwire.ErrRange, options: godot2},
		{name: "vector in 32 bits", value: struct{ Pos Vector2 }{Vector2{X: 1e300}}, err: "Go variant.Vector2 (struct.Pos): 1e+300 does not fit 32 bits", is: gdwire.ErrRange},
		{name: "NodePath", value: NodePath("a::b"), err: "NodePath with two colons in a row", is: gdwire.ErrRange},
		{name: "type that Godot 3 lacks", value: Vector2i{}, err: "Vector2i", is: gdwire.ErrType, options: godot3},
		{name: "vectors that Godot 3 lacks", value: []vec4{{}}, err: "it needs a tag", options: godot3},
		{name: "typed Array in Godot 3", value: &Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}}, err: "typed", is: gdwire.ErrType, options: godot3},
		{name: "element of a typed Array", value: &Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}, Values: []any{"a"}}, err: "String", is: gdwire.ErrType},
		{name: "known key collected", value: extra{1, dict("known", 2)}, err: `Go *variant.Dictionary (extra.Rest): duplicate key "known", the name of extra.Known`, is: ErrDuplicateKey},
		{name: "known StringName collected", value: extra{1, dict(StringName("known"), 2)}, err: `duplicate key "known"`, is: ErrDuplicateKey},
		{name: "known key in map", value: extraMap{1, map[string]int{"known": 2}}, err: `Go map[string]int (extraMap.Rest): duplicate key "known", the name of extraMap.Known`, is: ErrDuplicateKey},
		{name: "text key", value: map[level]int{-1: 1}, err: "level below zero"},
		{name: "key in an interface", value: map[any]int{struct{}{}: 1, make(chan int): 2}, err: "chan int has no Variant type"},
		{name: "Raw", value: Raw{Format: gdwire.Godot3, Data: []byte{255, 0, 0, 0}}, err: "id 255", is: gdwire.ErrType},
		{name: "Raw of the same format", value: Raw{Format: gdwire.Godot4, Data: []byte{255, 0, 0, 0}}, err: "id 255", is: gdwire.ErrType},
		{name: "Raw of two values", value: Raw{Format: gdwire.Godot3, Data: make([]byte, 8)}, err: "4 bytes after the value"},
		{name: "empty Raw with a format", value: Raw{Format: gdwire.Godot3}, err: "EOF"},
		{name: "cyclic slice", value: cyclicSlice, err: "limit", is: gdwire.ErrLimit},
		{name: "cyclic map", value: cyclicMap, err: "limit", is: gdwire.ErrLimit},
		{name: "cyclic struct", value: cyclicNode, err: "limit", is: gdwire.ErrLimit},
		{name: "cyclic Array", value: cyclicArray, err: "limit", is: gdwire.ErrLimit},
		{name: "deep cyclic slice", value: cyclicSlice, err: "limit", is: gdwire.ErrLimit, options: deep},
		{name: "deep cyclic map", value: cyclicMap, err: "limit", is: gdwire.ErrLimit, options: deep},
		{name: "deep cyclic struct", value: cyclicNode, err: "limit", is: gdwire.ErrLimit, options: deep},
		{name: "deep cyclic Array", value: cyclicArray, err: "limit", is: gdwire.ErrLimit, options: deep},
		{name: "deep cyclic Object", value: cyclicObject, err: "limit", is: gdwire.ErrLimit, options: deep},
		{name: "cyclic pointer", value: cyclicAny, err: "limit", is: gdwire.ErrLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Marshal(c.value, c.options)
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.err)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			var at *gdwire.Error
			require.ErrorAs(t, err, &at)
		})
	}
}

// MarshalEncode writes at any position, and an error inside a value stays in the Encoder.
func TestMarshalEncode(t *testing.T) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	require.NoError(t, e.BeginArray(3))
	require.NoError(t, MarshalEncode(e, simple{"a", 1}, nil))
	require.ErrorContains(t, MarshalEncode(e, make(chan int), nil), "no Variant type")
	require.NoError(t, e.Err(), "a type that cannot be written writes nothing")
	require.NoError(t, MarshalEncode(e, 5, nil))
	err := MarshalEncode(e, map[string]any{"a": 1, "b": uint64(1 << 63)}, nil)
	require.ErrorIs(t, err, gdwire.ErrRange)
	require.Equal(t, err, e.Err())
	require.Equal(t, err, e.Recover())
	require.Equal(t, err, e.WriteNil())
	require.Equal(t, err, e.Close())

	e.Reset(&failingWriter{})
	err = MarshalEncode(e, make([]byte, 1<<20), nil)
	require.Equal(t, errDisk, err)
	require.ErrorIs(t, e.WriteNil(), errDisk)
	e.Release()
	require.ErrorIs(t, MarshalEncode(e, 1, nil), gdwire.ErrReleased)
}

var errDisk = errors.New("disk full")

type failingWriter struct{}

func (*failingWriter) Write(p []byte) (int, error) { return 0, errDisk }

// changing is a type whose IsZero alternates.
type changing struct{ calls *int }

func (c changing) IsZero() bool {
	*c.calls++
	return *c.calls%2 == 0
}

type pointerZero struct{ n int }

func (p *pointerZero) IsZero() bool { return p.n == 1 }

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
	b, err := Marshal(&fields{A: c, B: c, D: pointerZero{1}, E: &pointerZero{1}}, nil)
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, Unmarshal(b, &got, nil))
	require.Len(t, got, 1)
	require.Contains(t, got, "a")
	require.Equal(t, 2, calls, "each is asked once")

	var many struct {
		A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, D0, D1, D2, D3, D4, D5, D6, D7, D8, D9, E0, E1, E2, E3, E4, E5, E6, E7, E8, E9, F0, F1, F2, F3, F4, F5, F6, F7, F8, F9, G0, G1, G2, G3, G4, G5, G6, G7, G8, G9, H0, H1, H2, H3, H4, H5, H6, H7, H8, H9, I0, I1, I2, I3, I4, I5, I6, I7, I8, I9, J0, J1, J2, J3, J4, J5, J6, J7, J8, J9, K0, K1, K2, K3, K4, K5, K6, K7, K8, K9, L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, M0, M1, M2, M3, M4, M5, M6, M7, M8, M9 int
		Last                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   int `gd:",omitzero"`
	}
	many.A0, many.M9 = 3, 5
	b, err = Marshal(many, nil)
	require.NoError(t, err)
	again := many
	again.A0, again.Last = 1, 1
	list := []any{&again}
	_ = list
	require.NoError(t, Unmarshal(b, &again, nil))
	again.Last = 0
	require.Equal(t, many, again)
}

func TestRawConverts(t *testing.T) {
	b := encoded(t, dict("a", Vector3{1, 2, 3}), godot3)
	var raw Raw
	require.NoError(t, Unmarshal(b, &raw, godot3))
	require.Equal(t, gdwire.Godot3, raw.Format)
	require.Equal(t, encoded(t, dict("a", Vector3{1, 2, 3}), nil), encoded(t, raw, nil))
	require.Equal(t, encoded(t, nil, nil), encoded(t, Raw{}, nil))
	require.Equal(t, encoded(t, 5, nil), encoded(t, Raw{Data: encoded(t, 5, nil)}, nil))
	var list []Raw
	require.NoError(t, Unmarshal(encoded(t, array(1, "a", array(2)), nil), &list, nil))
	require.Equal(t, encoded(t, array(2), nil), list[2].Data)
	var keyed struct{ Data map[string]Raw }
	require.NoError(t, Unmarshal(encoded(t, dict("data", dict("x", 5)), nil), &keyed, nil))
	require.Equal(t, encoded(t, 5, nil), keyed.Data["x"].Data)
}
