package variant_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// tree returns a tree as Unmarshal stores it in an any.
func tree(t testing.TB) any {
	var d variant.Dictionary
	for key, v := range map[any]any{
		"player": map[string]any{"hp": 10, "pos": variant.Vector2{X: 1, Y: 2}, "at": variant.Transform2D{Origin: variant.Vector2{Y: 5}}},
		"list":   []any{1, "two", []any{3.5}}, "ints": []int32{7, 8}, "a key": true, variant.StringName("sn"): "x",
		7: "seven", 1.5: "real", true: "yes", nil: "nothing", variant.Vector2i{X: 1, Y: 2}: "cell", variant.NodePath("/a"): "path",
		variant.Color{R: 1}: "red",
	} {
		d.Set(key, v)
	}
	var v any
	require.NoError(t, variant.Unmarshal(gdwiretest.Encode(t, &d), &v))
	return v
}

func TestVariantGet(t *testing.T) {
	v := tree(t)
	for path, want := range map[string]any{
		"player.hp": int64(10), "$.player.hp": int64(10), "player.pos.y": 2.0, "player.at.origin.y": 5.0, "list[1]": "two", "list[2][0]": 3.5,
		"ints[1]": int32(8), `["a key"]`: true, "sn": "x", `[&"sn"]`: "x", "[7]": "seven", "[1.5]": "real", "[true]": "yes", "[null]": "nothing",
		"[Vector2i(1, 2)]": "cell", `[^"/a"]`: "path", "[Color(1, 0, 0, 0)]": "red",
	} {
		got, err := variant.Get(v, path)
		require.NoError(t, err, path)
		require.Equal(t, want, got, path)
	}
	require.Equal(t, v, testenv.Must(variant.Get(v, "$"))(t))
	for path, text := range map[string]string{
		"player.mana": "variant: $.player.mana: not found", "list[3]": "variant: $.list[3]: not found", "list[-1]": "variant: $.list[-1]: not found",
		"player.hp.x": "variant: $.player.hp.x: not found", "player.pos.z": "variant: $.player.pos.z: not found", "[8].x": "variant: $[8]: not found",
		"player.key(9)": "variant: $.player.key(9): not found", "ints.x": "variant: $.ints.x: not found",
	} {
		_, err := variant.Get(v, path)
		require.ErrorIs(t, err, variant.ErrNotFound, path)
		require.EqualError(t, err, text)
	}
	for _, path := range []string{"a..b", "$2.a", "[", "[1"} {
		_, err := variant.Get(v, path)
		require.Error(t, err, path)
		require.NotErrorIs(t, err, variant.ErrNotFound)
	}
	node := &variant.Object{Class: "Node", Properties: []variant.Property{{Name: "hp", Value: 5}}}
	require.Equal(t, 5, testenv.Must(variant.Get(map[string]any{"n": node}, "n.hp"))(t))
	twice := &variant.Object{Properties: []variant.Property{{Name: "hp", Value: 5}, {Name: "hp", Value: 6}}}
	for path, want := range map[string]any{"hp": 5, "$.value(0)": 5, "$.value(1)": 6, "$.key(1)": "hp"} {
		require.Equal(t, want, testenv.Must(variant.Get(twice, path))(t), path)
	}
	for _, path := range []string{"$.value(2)", "$.key(2)"} {
		_, err := variant.Get(twice, path)
		require.ErrorIs(t, err, variant.ErrNotFound, path)
	}
	var pair variant.Dictionary
	pair.Set("k", "v")
	for path, want := range map[string]string{"key(0)": "k", ".value(0)": "v"} {
		require.Equal(t, want, testenv.Must(variant.Get(&pair, "$."+trimDot(path)))(t))
	}
}

func trimDot(s string) string {
	if s[0] == '.' {
		return s[1:]
	}
	return s
}

func TestVariantSet(t *testing.T) {
	v := tree(t)
	for path, value := range map[string]any{
		"player.hp": 99, "player.mana": "new", "player.pos.y": 2.5, "player.at.origin.x": 1.5, "list[2][0]": nil, "ints[1]": int32(5), "[7]": "eight", "[8]": 8,
	} {
		require.NoError(t, variant.Set(&v, path, value), path)
		require.Equal(t, value, testenv.Must(variant.Get(v, path))(t), path)
	}
	require.Equal(t, variant.Vector2{X: 1, Y: 2.5}, testenv.Must(variant.Get(v, "player.pos"))(t))
	require.NoError(t, variant.Set(&v, "ints[0]", 3), "an int fits an int32")
	require.NoError(t, variant.Set(&v, "player.pos.x", 4))
	for path, value := range map[string]any{
		"list[3]": 1, "no.such.key": 1, "player.hp.x": 1, "player.pos.z": 1.0, "player[+]": 1, "list[+]": 1,
	} {
		require.ErrorIs(t, variant.Set(&v, path, value), variant.ErrNotFound, path)
	}
	require.NoError(t, variant.Set(&v, "$", 5))
	require.Equal(t, 5, v)
	v = map[string]any{"a": 1}
	require.NoError(t, variant.Set(&v, "b", nil))
	require.Equal(t, map[string]any{"a": 1, "b": nil}, v)
	v = &variant.Object{Properties: []variant.Property{{Name: "hp", Value: 1}}}
	require.NoError(t, variant.Set(&v, "hp", 2))
	require.ErrorIs(t, variant.Set(&v, "mp", 2), variant.ErrNotFound)
	require.NoError(t, variant.Set(&v, "$.value(0)", 3))
	require.Equal(t, &variant.Object{Properties: []variant.Property{{Name: "hp", Value: 3}}}, v)
	for _, path := range []string{"$.value(1)", "$.key(0)", "$.key(1)"} {
		require.ErrorIs(t, variant.Set(&v, path, 1), variant.ErrNotFound, path)
	}
	d := &variant.Dictionary{}
	for i := range 8 {
		d.Set(variant.RID(i), i)
	}
	d.Delete(variant.RID(1)) // whose place stays empty
	d.Delete(variant.RID(4))
	v = d
	for path, key := range map[string]variant.RID{"$.value(0)": 0, "$.value(1)": 2, "$.value(2)": 3, "$.value(3)": 5, "$.value(5)": 7} {
		require.NoError(t, variant.Set(&v, path, path))
		value, _ := d.Get(key)
		require.Equal(t, path, value)
	}
	for _, path := range []string{"$.value(6)", "$.value(7)", "$.key(0)"} {
		require.ErrorIs(t, variant.Set(&v, path, 1), variant.ErrNotFound, path)
	}
	v = (*variant.Dictionary)(nil)
	require.ErrorIs(t, variant.Set(&v, "$.value(0)", 1), variant.ErrNotFound)
	var nothing any
	require.ErrorIs(t, variant.Set(&nothing, "a", 1), variant.ErrNotFound)
	require.Error(t, variant.Set(&nothing, "[", 1))
}

// A value that the place cannot hold is another error than a path that leads nowhere.
func TestSetWrongTypes(t *testing.T) {
	v := tree(t)
	for _, c := range []struct {
		path  string
		value any
		is    error
		text  string
	}{
		{"ints[0]", int64(1) << 40, gdwire.ErrRange, "variant: $.ints[0]: 1099511627776 does not fit int32"},
		{"ints[1]", "text", gdwire.ErrType, "variant: $.ints[1]: Go string into Go int32"},
		{"ints[1]", nil, gdwire.ErrType, "variant: $.ints[1]: nil into Go int32"},
		{"player.pos.x", "text", gdwire.ErrType, "variant: $.player.pos.x: Go string into Go float64"},
		{"color.r", 1e300, gdwire.ErrRange, "variant: $.color.r: 1e+300 does not fit float32"},
	} {
		require.NoError(t, variant.Set(&v, "color", variant.Color{}))
		err := variant.Set(&v, c.path, c.value)
		require.ErrorIs(t, err, c.is)
		require.NotErrorIs(t, err, variant.ErrNotFound)
		require.EqualError(t, err, c.text)
	}
	require.NoError(t, variant.Set(&v, "color.r", 0.1), "it is rounded")
	require.NoError(t, variant.Set(&v, "color.g", math.Inf(1)))
	require.Equal(t, variant.Color{R: 0.1, G: float32(math.Inf(1))}, testenv.Must(variant.Get(v, "color"))(t))
}

// Containers that are nil pointers lead nowhere, and those without a pointer are containers, too.
func TestGetSetContainers(t *testing.T) {
	for _, nothing := range []any{(*variant.Dictionary)(nil), (*variant.Array)(nil), (*variant.Object)(nil), map[string]int(nil), (*int)(nil)} {
		for _, path := range []string{"a", "[0]", "$.key(0)", "[+]"} {
			_, err := variant.Get(nothing, path)
			require.ErrorIs(t, err, variant.ErrNotFound, "%T %s", nothing, path)
			v := nothing
			require.ErrorIs(t, variant.Set(&v, path, 1), variant.ErrNotFound, "%T %s", nothing, path)
		}
	}
	var d variant.Dictionary
	d.Set("a", 1)
	for path, whole := range map[string]any{
		"a": d, "[0]": variant.Array{Values: []any{1}}, "p": variant.Object{Properties: []variant.Property{{Name: "p", Value: 1}}},
		"plane.x": map[string]any{"plane": variant.Plane{Normal: variant.Vector3{X: 1}}},
	} {
		got, err := variant.Get(whole, path)
		require.NoError(t, err, path)
		require.EqualValues(t, 1, got, path)
		_, err = variant.Get(whole, "entries")
		require.ErrorIs(t, err, variant.ErrNotFound)
		require.NoError(t, variant.Set(&whole, path, 2), path)
		got, err = variant.Get(whole, path)
		require.NoError(t, err, path)
		require.EqualValues(t, 2, got, path)
	}
	v := any(d)
	require.NoError(t, variant.Set(&v, "new", 3))
	require.IsType(t, d, v)
	require.Equal(t, 3, testenv.Must(variant.Get(v, "new"))(t))
	v = &d
	_, err := variant.Get(v, "[+]")
	require.ErrorIs(t, err, variant.ErrNotFound)
	require.ErrorIs(t, variant.Set(&v, "[+]", 5), variant.ErrNotFound)
	signal := any(variant.Signal{Name: "s"})
	_, err = variant.Get(signal, "name")
	require.ErrorIs(t, err, variant.ErrNotFound)
}

// Values of a saved game are read and changed without a struct for it.
func ExampleGet() {
	packet, err := variant.Marshal(map[string]any{"player": map[string]any{
		"inventory": []any{map[string]any{"name": "sword", "pos": variant.Vector2{X: 1, Y: 2}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var save any
	if err := variant.Unmarshal(packet, &save); err != nil {
		fmt.Println(err)
		return
	}
	name, err := variant.Get(save, "player.inventory[0].name")
	fmt.Println(name, err)
	if err := variant.Set(&save, "player.inventory[0].pos.x", 5); err != nil {
		fmt.Println(err)
		return
	}
	pos, err := variant.Get(save, "player.inventory[0].pos")
	fmt.Println(pos, err)
	_, err = variant.Get(save, "player.inventory[1]")
	fmt.Println(err)
	// Output:
	// sword <nil>
	// Vector2(5.0, 2.0) <nil>
	// variant: $.player.inventory[1]: not found
}

// Sprintf makes a path of any key: with %q of text, and with %v of other types.
func ExampleGet_anyKey() {
	var players, grid, save variant.Dictionary
	players.Set("Zoë [admin]", map[string]any{"hp": 90})
	grid.Set(variant.Vector2i{X: 1, Y: 2}, "wall")
	save.Set("players", &players)
	save.Set("grid", &grid)
	fmt.Println(&save)
	fmt.Println(variant.Get(&save, fmt.Sprintf("players[%q].hp", "Zoë [admin]")))
	fmt.Println(variant.Get(&save, fmt.Sprintf("grid[%v]", variant.Vector2i{X: 1, Y: 2})))
	// Output:
	// {"players": {"Zoë [admin]": {"hp": 90}}, "grid": {Vector2i(1, 2): "wall"}}
	// 90 <nil>
	// wall <nil>
}

// Set replaces a value, adds a key, and keeps the types of components.
func ExampleSet() {
	var save any = &variant.Dictionary{}
	for _, edit := range []struct {
		path  string
		value any
	}{{"pos", variant.Vector2{X: 1, Y: 2}}, {"pos.x", 5}, {"name", "Ada"}, {"friends[0]", "Bob"}} {
		if err := variant.Set(&save, edit.path, edit.value); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(save)
	// Output:
	// variant: $.friends: not found
	// {"pos": Vector2(5.0, 2.0), "name": "Ada"}
}
