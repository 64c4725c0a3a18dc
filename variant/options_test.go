package variant

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

func TestTypeErrorMessages(t *testing.T) {
	number := reflect.TypeFor[int8]()
	for _, c := range []struct {
		name string
		err  TypeError
		want string
	}{
		{"wrong type", TypeError{Type: gdwire.TypeArray, Go: number, Err: gdwire.ErrType}, "Array into Go int8"},
		{"wrong type of a field", TypeError{Type: gdwire.TypeArray, Go: number, Field: "Player.HP", Err: gdwire.ErrType}, "Array into Go int8 (Player.HP)"},
		{"range", TypeError{Type: gdwire.TypeInt, Go: number, Err: gdwire.ErrRange}, "int into Go int8: out of range"},
		{"range of a field", TypeError{Type: gdwire.TypeInt, Go: number, Field: "Player.HP", Err: gdwire.ErrRange}, "int into Go int8 (Player.HP): out of range"},
		{"encoding", TypeError{Go: number, Err: gdwire.ErrUTF8}, "Go int8: invalid UTF-8"},
		{"wrapped wrong type", TypeError{Go: number, Err: fmt.Errorf("%w: key", gdwire.ErrType)}, "Go int8: wrong type: key"},
		{"duplicate key", TypeError{Go: number, Err: ErrDuplicateKey}, "Go int8: duplicate key"},
		{"unknown key", TypeError{Go: number, Err: ErrUnknownKey}, "Go int8: unknown key"},
		{"struct without a name", TypeError{Go: reflect.TypeFor[struct{ A, B int }](), Err: ErrMissingKey}, "Go struct: missing key"},
		{"depth", TypeError{Go: number, Err: depthError()}, "Go int8: value inside 10001 containers exceeds limit Depth (10000)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.EqualError(t, &c.err, c.want)
			require.Equal(t, c.err.Err, errors.Unwrap(&c.err))
		})
	}
}

// Calls merge several Options, and allocate nothing for one.
func TestSeveralOptions(t *testing.T) {
	require.Equal(t, &Options{}, optionsOf(nil))
	o := []Options{{MaxMemory: 5}}
	require.Same(t, &o[0], optionsOf(o))

	float := Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}
	double := Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}}
	want := encoded(t, Vector2{1, 2}, &float)
	b, err := Marshal(Vector2{1, 2}, Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot4}}, float, double, Options{})
	require.NoError(t, err)
	require.Equal(t, want, b, "Godot3 does not have 64 bits")
	b, err = Marshal(Vector2{1, 2}, double, Options{MaxMemory: 5})
	require.NoError(t, err)
	require.Equal(t, encoded(t, Vector2{1, 2}, &double), b)

	// The defaults of a program, and those of a call.
	defaults := Options{Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{Elements: 2}}, RejectUnknown: true}
	var list []int
	packet := encoded(t, []int{1, 2, 3}, nil)
	require.ErrorIs(t, Unmarshal(packet, &list, defaults, Options{Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{Depth: 1}}}), gdwire.ErrLimit)
	require.NoError(t, Unmarshal(packet, &list, defaults, Options{Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{Elements: -1}}}))
}

// Results of String.to_snake_case of Godot 4.6.
func TestSnakeCase(t *testing.T) {
	for name, want := range map[string]string{
		"HP":         "hp",
		"MaxHP":      "max_hp",
		"HTTPServer": "http_server",
		"Slot1":      "slot_1",
		"Slot9":      "slot_9",
		"Vector2i":   "vector_2i",
		"V2Pos":      "v_2_pos",
		"is3D":       "is_3d",
		"ItemUIDs":   "item_ui_ds",
		"A1B2":       "a_1b_2",
		"X":          "x",
		"already_ok": "already_ok",
		"Ärger2":     "ärger_2",
		"X名1":        "x名1", // only upper and lower case begin words
		"A٣":         "a٣",  // only 0 to 9 are digits
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, want, snakeCase(name))
		})
	}
}

func TestOwnTypes(t *testing.T) {
	var math []goType
	for typ, own := range ownTypes().math {
		v := reflect.New(own.typ).Elem()
		setComponents(v, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
		math = append(math, goType{name: fmt.Sprint(typ), value: v.Interface(), wire: v.Interface()})
	}
	testGoTypes(t, append(math, []goType{
		{name: "StringName", value: StringName("n"), wire: StringName("n")},
		{name: "NodePath", value: NodePath("/root/A:b:c"), wire: NodePath("/root/A:b:c")},
		{name: "RID", value: RID(77), wire: RID(77)},
		{name: "ObjectID", value: ObjectID(1 << 63), wire: ObjectID(1 << 63)},
		{name: "Signal", value: Signal{Name: "hit", Object: 3}, wire: Signal{Name: "hit", Object: 3}},
		{name: "Callable", value: Callable{}, wire: Callable{}},
		{name: "Object", value: &Object{Class: "Node", Properties: []Property{{"a", int64(1)}, {"b", nil}}},
			wire: &Object{Class: "Node", Properties: []Property{{"a", int64(1)}, {"b", nil}}}},
		{name: "Object without properties", value: Object{Class: "Node"}, wire: &Object{Class: "Node"}},
		{name: "Raw", value: Raw{Format: gdwire.Godot4, Data: []byte{2, 0, 0, 0, 5, 0, 0, 0}}, wire: int64(5)},
		{name: "StringName in Godot 3", value: StringName("a"), wire: "a", options: godot3},
		{name: "RID in Godot 3", value: RID(0), wire: RID(0), options: godot3},
		{name: "Image", value: Image{Format: 1, Mipmaps: 2, Width: 3, Height: 4, Data: []byte{5, 6}}, wire: Image{1, 2, 3, 4, []byte{5, 6}}, options: godot2},
		{name: "InputEvent", value: InputEvent{Type: 1, Device: 2, Data: []byte{1, 0, 0, 0, 2, 0, 0, 0}},
			wire: InputEvent{1, 2, []byte{1, 0, 0, 0, 2, 0, 0, 0}}, options: godot2},
	}...))
}

// Each math type has a Go type.
func TestVariantMathTypes(t *testing.T) {
	for _, typ := range gdwire.Types() {
		if n, _ := typ.Components(); n > 0 {
			require.NotNil(t, ownTypes().math[typ], "declare a type for %v in types.go and add it in coders.go", typ)
		}
	}
}
