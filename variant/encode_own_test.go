package variant

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

func TestRawConverts(t *testing.T) {
	b := encoded(t, dict("a", Vector3{1, 2, 3}), godot3)
	var raw Raw
	require.NoError(t, Unmarshal(b, &raw, *godot3))
	require.Equal(t, gdwire.Godot3, raw.Format)
	require.Equal(t, encoded(t, dict("a", Vector3{1, 2, 3}), nil), encoded(t, raw, nil))
	require.Equal(t, encoded(t, nil, nil), encoded(t, Raw{}, nil))
	require.Equal(t, encoded(t, 5, nil), encoded(t, Raw{Data: encoded(t, 5, nil)}, nil))
	var list []Raw
	require.NoError(t, Unmarshal(encoded(t, array(1, "a", array(2)), nil), &list))
	require.Equal(t, encoded(t, array(2), nil), list[2].Data)
	var keyed struct{ Data map[string]Raw }
	require.NoError(t, Unmarshal(encoded(t, dict("data", dict("x", 5)), nil), &keyed))
	require.Equal(t, encoded(t, 5, nil), keyed.Data["x"].Data)
}

// The pool does not keep the slice of a caller in memory.
func TestMarshalForgetsTheSlice(t *testing.T) {
	s := new(encoder)
	s.resetBytes(new(Options), make([]byte, 0, 100))
	require.NoError(t, s.e.WriteInt(7))
	kept := s.e
	s.release()
	require.Nil(t, kept.Bytes())
	require.Equal(t, gdwire.ErrClosed, kept.WriteInt(7))
}

// Containers whose types a tag declares, as the command prints them.
func TestVariantTypedTags(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
		err   string
	}{
		{value: tagged[[]int64](",type=Array[int]", []int64{1, 2}), want: "Array[int]([1, 2])"},
		{value: tagged[[]int64](",type=Array[int]"), want: "Array[int]([])"},
		{value: tagged[[2]int8](",type=Array[float]", [2]int8{1, 2}), want: "Array[float]([1.0, 2.0])"},
		{value: tagged[[]byte](",type=Array[int]", []byte{1}), want: "Array[int]([1])"},
		{value: tagged[*[]string](",type=Array[StringName]", &[]string{"a"}), want: `Array[StringName]([&"a"])`},
		{value: tagged[*[]string](",type=Array[StringName]"), want: "null"},
		{value: tagged[[]myString](",type=Array[NodePath]", []myString{"a/b"}), want: `Array[NodePath]([^"a/b"])`},
		{value: tagged[[]level](",type=Array[String]", []level{3}), want: `Array[String](["level 3"])`},
		{value: tagged[[][]int32](",type=Array[PackedInt32Array]", [][]int32{{1}}), want: "Array[PackedInt32Array]([PackedInt32Array([1])])"},
		{value: tagged[[][]int32](",type=Array[Array]", [][]int32{{1}}), want: "Array[Array]([[1]])"},
		{value: tagged[[]simple](",type=Array[Dictionary]", []simple{{Name: "a"}}), want: `Array[Dictionary]([{"name": "a", "max_hp": 0}])`},
		{value: tagged[[]vec2](",type=Array[Vector2]", []vec2{{1, 2}}), want: "Array[Vector2]([Vector2(1.0, 2.0)])"},
		{value: tagged[[][4]float32](",type=Array[Color]", [][4]float32{{1, 2, 3, 4}}), want: "Array[Color]([Color(1.0, 2.0, 3.0, 4.0)])"},
		{value: tagged[[]ObjectID](",type=Array[Node2D]", []ObjectID{5, 0}), want: "Array[Node2D]([ObjectID(5), null])"},
		{value: tagged[[]*Object](",type=Array['res://a.gd']", []*Object{{Class: "Node"}, nil}), want: `Array["res://a.gd"]([Object("Node", {}), null])`},
		{value: tagged[[]any](",type=Array[int]", []any{1, int8(2)}), want: "Array[int]([1, 2])"},
		{value: tagged[[]*any](",type=Array[int]", []*any{new(any(1))}), want: "Array[int]([1])"},
		{value: tagged[[]Raw](",type=Array[int]", []Raw{{Data: []byte{2, 0, 0, 0, 5, 0, 0, 0}}}), want: "Array[int]([5])"},
		{value: tagged[[]*celsius](",type=Array[Dictionary]", []*celsius{{1}}), want: `Array[Dictionary]([{"celsius": 1.0}])`},
		{value: tagged[[]celsius](",type=Array[Dictionary]", []celsius{{1}}), want: `Array[Dictionary]([{"celsius": 1.0}])`},
		{value: tagged[map[string]int64](",type=Dictionary[StringName, int]", map[string]int64{"b": 1, "a": 2}), want: `Dictionary[StringName, int]({&"a": 2, &"b": 1})`},
		{value: tagged[map[string]any](",type=Dictionary[String, Variant]", map[string]any{"b": 1.5}), want: `Dictionary[String, Variant]({"b": 1.5})`},
		{value: tagged[map[int]string](",type=Dictionary[float, NodePath]", map[int]string{10: "a", 9: "b"}), want: `Dictionary[float, NodePath]({9.0: ^"b", 10.0: ^"a"})`},
		{value: tagged[map[level]int](",type=Dictionary[StringName, int]", map[level]int{1: 2}), want: `Dictionary[StringName, int]({&"level 1": 2})`},
		{value: tagged[map[level]int](",type=Dictionary[int, int]", map[level]int{10: 1, 9: 2}), want: `Dictionary[int, int]({9: 2, 10: 1})`},
		{value: struct {
			A map[Vector2i][]string `gd:",type=Dictionary[Vector2i, PackedStringArray]"`
		}{map[Vector2i][]string{{1, 2}: {"a"}}}, want: `Dictionary[Vector2i, PackedStringArray]({Vector2i(1, 2): PackedStringArray(["a"])})`},
		{value: tagged[map[any]int](",type=Dictionary[String, int]", map[any]int{"a": 1}), want: `Dictionary[String, int]({"a": 1})`},
		{value: struct {
			_ struct{} `gd:",array"`
			A []int64  `gd:",type=Array[int]"`
		}{A: []int64{1}}, want: "Array[int]([1])"},

		{value: tagged[[]any](",type=Array[int]", []any{1, "a"}), err: "[1]: Go []interface {} (struct.A): String in a container of int"},
		{value: tagged[map[any]int](",type=Dictionary[String, int]", map[any]int{1: 1}), err: ".key(0): Go map[interface {}]int (struct.A): int in a container of String"},
		{value: tagged[[]string](",type=Array[int]"), err: "variant: struct.A: type=int does not fit Go string"},
		{value: tagged[int](",type=Array[int]"), err: "variant: struct.A: type=Array[int] does not fit Go int"},
		{value: tagged[map[string]int](",type=Array[int]"), err: "type=Array[int] does not fit Go map[string]int"},
		{value: tagged[[]int](",type=Dictionary[Variant, Node]"), err: "type=Dictionary[Variant, Node] does not fit Go []int"},
		{value: tagged[*Array](",type=Array[int]"), err: "type=Array[int] does not fit Go variant.Array"},
		{value: tagged[celsius](",type=Array[int]"), err: "type=Array[int] does not fit Go variant.celsius"},
		{value: tagged[map[string]int](",type=Dictionary[int, int]"), err: "type=int does not fit Go string"},
		{value: tagged[map[string]int](",type=Dictionary[String, String]"), err: "type=String does not fit Go int"},
		{value: tagged[[]int64](",type=Array[float]", []int64{1<<53 + 1}), err: "[0]: Go int64 (struct.A): out of range"},
	} {
		t.Run(fmt.Sprintf("%T", c.value), func(t *testing.T) {
			b, err := Marshal(c.value)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			var v any
			require.NoError(t, Unmarshal(b, &v, Options{Decoder: gdwire.DecoderOptions{AllowObjects: true}}))
			if l, ok := v.(*Array); ok {
				v = l.Values[0]
			} else if v, err = Get(v, "a"); err != nil {
				t.Fatal(err)
			}
			require.Equal(t, c.want, array(v).String()[1:len(c.want)+1])
		})
	}
}

// What a tag declares is read as without the tag, and untyped in formats without declared types.
func TestTypedTagsOfFormats(t *testing.T) {
	type save struct {
		Scores []int64          `gd:",type=Array[int]"`
		Names  []string         `gd:",type=Array[StringName]"`
		Ids    map[string]int64 `gd:",type=Dictionary[StringName, int]"`
		Point  [2]float64       `gd:",type=Array[float]"`
	}
	v := save{[]int64{1, 2}, []string{"a"}, map[string]int64{"b": 3}, [2]float64{4, 5}}
	for _, f := range gdwire.Formats() {
		e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{Format: f})
		e.ResetBytes(nil)
		s := encoder{format: f}
		require.Equal(t, e.BeginTypedArray(0, gdwire.Elem{Type: gdwire.TypeInt}) == nil, s.declaresTypes(), "%v", f)
		_ = e.Close()
		o := Options{Encoder: gdwire.EncoderOptions{Format: f}, Decoder: gdwire.DecoderOptions{Format: f}}
		b := must(Marshal(v, o))(t)
		var got save
		require.NoError(t, Unmarshal(b, &got, o))
		require.Equal(t, v, got)
	}
	plain := dict("scores", []int64{1, 2}, "names", []string{"a"}, "ids", dict("b", 3), "point", []float64{4, 5})
	var got save
	require.NoError(t, Unmarshal(encoded(t, plain, nil), &got))
	require.Equal(t, save{v.Scores, v.Names, v.Ids, v.Point}, got)
}
