package variant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/text"
)

func TestMarshalJSON(t *testing.T) {
	for _, row := range []struct {
		value any
		want  string
	}{
		{dict("b", 1, "a", dict(), StringName("sn"), array(), NodePath("/a"), nil, 5, 1.5, nil, true, Vector2i{1, 2}, Vector2{1, 2.5}),
			`{"b":1,"a":{},"sn":[],"/a":null,"5":1.5,"null":true,"Vector2i(1, 2)":{"X":1,"Y":2.5}}`},
		{array(int64(1<<62), "<a>\"\n", []byte{0, 255}, []int32{1}, []any{2}, []any(nil), map[string]any{"b": 1, "a": array(3)}, map[string]any(nil), simple{Name: "s"}),
			`[4611686018427387904,"\u003ca\u003e\"\n","AP8=",[1],[2],null,{"a":[3],"b":1},null,{"Name":"s","MaxHP":0}]`},
		{&Object{Class: "Node", Properties: []Property{{"name", "a"}, {"list", array(1)}}}, `{"class":"Node","name":"a","list":[1]}`},
		{[]any{(*Dictionary)(nil), (*Array)(nil), (*Object)(nil)}, `[null,null,null]`},
		{array((*Dictionary)(nil), (*Array)(nil), (*Object)(nil), Raw{}), `[null,null,null,null]`},
		{array(*dict(1, 2), *array(3), Object{Class: "A"}, Raw{Data: encoded(t, dict("r", Vector2{1, 2}), nil)}), `[{"1":2},[3],{"class":"A"},{"r":{"X":1,"Y":2}}]`},
		{array(RID(5), ObjectID(6), Signal{"s", 7}, Callable{}), `[5,6,{"Name":"s","Object":7},{}]`},
	} {
		got, err := json.Marshal(row.value)
		require.NoError(t, err)
		require.Equal(t, row.want, string(got))
		if m, ok := row.value.(json.Marshaler); ok {
			got, err = m.MarshalJSON()
			require.NoError(t, err)
			require.JSONEq(t, row.want, string(got))
		}
	}
	for r := range rune(0x2100) { // any character
		text := "a" + string(r) + "b" + string([]byte{byte(r)})
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(map[string]any{text: []any{text, -int64(r)}}))
		require.Equal(t, want.String(), string(must(dict(text, array(text, -int64(r))).MarshalJSON())(t))+"\n")
		if r > 0 { // the text of a tree is that of its encoding
			d := dict("a"+string(r)+"b", array(string(r), int64(-r)))
			require.Equal(t, Raw{Data: encoded(t, d, nil)}.String(), d.String())
		}
	}
	self := array(1)
	self.Values = append(self.Values, self, self)
	for _, bad := range []any{array(math.NaN()), dict("a", []any{math.Inf(1)}), array(make(chan int)), self, array(Raw{Data: []byte{2}}), &Object{Properties: []Property{{"a", self}}},
		&Object{Properties: []Property{{"a", math.NaN()}, {"b", 1}}}, dict("m", map[string]any{"self": self}), array(Vector2{X: math.NaN()})} {
		require.Error(t, errOf(json.Marshal(bad)))
		require.Error(t, errOf(bad.(json.Marshaler).MarshalJSON()))
	}
	require.ErrorIs(t, errOf(json.Marshal(self)), gdwire.ErrLimit)
}

func TestLogged(t *testing.T) {
	var out bytes.Buffer
	l := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	l.Info("joined", "save", dict("name", "<Ada>", "pos", Vector2{1, 2}))
	require.Equal(t, `{"level":"INFO","msg":"joined","save":{"name":"<Ada>","pos":{"X":1,"Y":2}}}`+"\n", out.String())
}

func TestString(t *testing.T) {
	typed := &Array{Elem: gdwire.Elem{Type: gdwire.TypeStringName}, Values: []any{StringName("a"), nil}}
	for _, row := range []struct {
		value fmt.Stringer
		want  string
	}{
		{dict("name", "Ada", "pos", Vector2{1, 2.5}, "tags", &Array{Elem: gdwire.Elem{Type: gdwire.TypeStringName}, Values: []any{StringName("a")}}, "data", []byte{0, 255}),
			`{"name": "Ada", "pos": Vector2(1.0, 2.5), "tags": Array[StringName]([&"a"]), "data": PackedByteArray("00ff")}`},
		{&Dictionary{Key: gdwire.Elem{Type: gdwire.TypeInt}}, `Dictionary[int, Variant]({})`},
		{dict(1, 1.0, nil, true, Vector2i{1, 2}, array(), NodePath("/a:b"), StringName("é\n")), `{1: 1.0, null: true, Vector2i(1, 2): [], ^"/a:b": &"é\n"}`},
		{(*Dictionary)(nil), "null"},
		{(*Array)(nil), "null"},
		{(*Object)(nil), "null"},
		{typed, `Array[StringName]([&"a", null])`},
		{array(dict(), Dictionary{}, *typed, Object{Class: "A"}, []any{1}, (*Array)(nil), map[string]int{"b": 2, "a": 1}, simple{Name: "s"}),
			`[{}, {}, Array[StringName]([&"a", null]), Object("A", {}), [1], null, {"a": 1, "b": 2}, {"name": "s", "max_hp": 0}]`},
		{array([]int32{1, -2}, []int64{}, []float32{0.1}, []float64{0.1}, []string{"a"}, []Vector3{{0.1, float64(float32(0.1)), 3}}, []Color{{0.1, 0, 0, 1}}),
			`[PackedInt32Array([1, -2]), PackedInt64Array(), PackedFloat32Array([0.1]), PackedFloat64Array([0.1]), PackedStringArray(["a"]), ` +
				`PackedVector3Array([Vector3(0.1, 0.1, 3.0)]), PackedColorArray([Color(0.1, 0.0, 0.0, 1.0)])]`},
		{&Object{Class: "Node", Properties: []Property{{"name", "a"}, {"metadata/b", array(1)}}}, `Object("Node", {"name": "a", "metadata/b": [1]})`},
		{Vector2{0.1, math.Inf(-1)}, "Vector2(0.1, -inf)"},
		{Vector2{float64(float32(0.1)), 1.0 / 3}, "Vector2(0.1, 0.3333333333333333)"},
		{Vector2i{1, -2}, "Vector2i(1, -2)"},
		{Vector3{1, 2, math.NaN()}, "Vector3(1.0, 2.0, nan)"},
		{Vector3i{1, 2, 3}, "Vector3i(1, 2, 3)"},
		{Vector4{1, 2, 3, 4}, "Vector4(1.0, 2.0, 3.0, 4.0)"},
		{Vector4i{1, 2, 3, 4}, "Vector4i(1, 2, 3, 4)"},
		{Rect2{Vector2{1, 2}, Vector2{3, 4}}, "Rect2(1.0, 2.0, 3.0, 4.0)"},
		{Rect2i{Vector2i{1, 2}, Vector2i{3, 4}}, "Rect2i(1, 2, 3, 4)"},
		{Plane{Vector3{1, 2, 3}, 4}, "Plane(1.0, 2.0, 3.0, 4.0)"},
		{Quaternion{1, 2, 3, 4}, "Quaternion(1.0, 2.0, 3.0, 4.0)"},
		{AABB{Vector3{1, 2, 3}, Vector3{4, 5, 6}}, "AABB(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)"},
		{Transform2D{Vector2{1, 2}, Vector2{3, 4}, Vector2{5, 6}}, "Transform2D(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)"},
		{Basis{Vector3{1, 2, 3}, Vector3{4, 5, 6}, Vector3{7, 8, 9}}, "Basis(1.0, 4.0, 7.0, 2.0, 5.0, 8.0, 3.0, 6.0, 9.0)"},
		{Transform3D{Origin: Vector3{1, 2, 3}}, "Transform3D(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0)"},
		{Projection{X: Vector4{1, 2, 3, 4}}, "Projection(1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)"},
		{Color{0.1, 0.2, 0.3, 1}, "Color(0.1, 0.2, 0.3, 1.0)"},
		{RID(1 << 63), "RID(-9223372036854775808)"},
		{ObjectID(5), "ObjectID(5)"},
		{ObjectID(0), "null"},
		{Signal{"hit", 5}, `Signal("hit", 5)`},
		{Callable{}, "Callable()"},
		{Image{3, 0, 2, 1, []byte{0, 255}}, `Image(3, 0, 2, 1, "00ff")`},
		{InputEvent{1, 2, []byte{5}}, `InputEvent(1, 2, "05")`},
		{Raw{}, "null"},
		{Raw{Data: encoded(t, dict("a", []Vector2{{0.1, 2}}), nil)}, `{"a": PackedVector2Array([Vector2(0.1, 2.0)])}`},
		{Raw{Data: encoded(t, &Object{Class: "A"}, nil)}, `Object("A", {})`},
		{Raw{Format: gdwire.Godot3, Data: encoded(t, array(Vector2{0.1, 2}, "a"), godot3)}, `[Vector2(0.1, 2.0), "a"]`},
		{array("a\xff", NodePath("\x00")), `["a\xff", ^"\u0000"]`},
		{array(Raw{Data: []byte{2, 0, 0, 0}}), "[<gdwire: offset 4, $: unexpected EOF>]"},
		{dict("a", make(chan int), "b", 1), `{"a": <variant: chan int has no Variant type>, "b": 1}`},
		{dict("a", Raw{Data: []byte{28, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0}}), `{"a": <gdwire: offset 16, $[1]: unexpected EOF>}`},
	} {
		require.Equal(t, row.want, row.value.String(), "%T", row.value)
		require.Equal(t, row.want, fmt.Sprint(row.value))
	}
}

// Values that contain themselves are printed up to there, and values in many others up to a depth.
func TestStringEnds(t *testing.T) {
	a := array(1)
	a.Values = append(a.Values, a, a)
	require.Equal(t, "[1, …, …]", a.String())
	d := dict("a", 1)
	d.Set("self", dict("d", d))
	require.Equal(t, `{"a": 1, "self": {"d": …}}`, d.String())
	o := &Object{Class: "A"}
	o.Properties = []Property{{"o", array(o)}}
	require.Equal(t, `Object("A", {"o": […]})`, o.String())
	list := []any{1, nil}
	list[1] = list
	require.Equal(t, "[[1, …]]", array(list).String())
	m := map[string]any{}
	m["m"] = m
	require.Equal(t, "[…]", array(m).String())
	shared := array()
	require.Equal(t, "[[], [], [1], [1]]", array(shared, shared, list[:1], list[:1]).String())

	var deep any = 5
	for range text.MaxNesting + 1 {
		deep = array(deep)
	}
	want := strings.Repeat("[", text.MaxNesting) + "…" + strings.Repeat("]", text.MaxNesting)
	require.Equal(t, want, fmt.Sprint(deep))
	raw := Raw{Data: encoded(t, deep, &Options{Encoder: gdwire.EncoderOptions{Depth: -1}})}
	require.Equal(t, want, raw.String())
	require.Equal(t, "["+want[1:len(want)-1]+"]", array(raw).String())
	deep = []int32{1}
	for range text.MaxNesting {
		deep = array(deep)
	}
	require.Contains(t, fmt.Sprint(deep), "[PackedInt32Array([1])]")
}

// The text of any tree is parsed to the same bytes by the command.
func TestStringParses(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	payload := []byte{1, 0, 0, 0, 0, 0, 0xf8, 0x7f} // of math.NaN, which is not that of nan
	e := gdwire.NewEncoder(nil, nil)
	defer e.Close()
	for range testenv.Cases(3_000, 30_000) {
		b := encoded(t, randomTree(random, gdwire.Godot4, 5), fuzzOptions(gdwire.Godot4))
		v := readAs(t, b, fuzzOptions(gdwire.Godot4))
		if bytes.Contains(b, payload) {
			continue
		}
		for _, printed := range []any{array(v), array(Raw{Data: b})} {
			_, value := testenv.Must2(text.ParseLine(fmt.Sprintf("$.x = %v", printed)))(t)
			e.ResetBytes(nil)
			require.NoError(t, value.Write(e, false))
			require.True(t, bytes.Equal(encoded(t, array(v), nil), e.Bytes()), "%v", printed)
		}
	}
}

// Any key leads to its value by a path of Sprintf.
func TestPathsBySprintf(t *testing.T) {
	for _, key := range []any{
		"a", "", "Zoë \"q\"\n\x00\a\b\f\v\x7f\u202e\U000e0001\xff", "it's", `\`, StringName("a b"), NodePath("/root/A:b"), nil, true, 5, int64(-5), 1.5,
		Vector2i{1, -2}, Vector2{0.1, 2}, Vector2{float64(float32(0.1)), 2}, Color{0.1, 0.2, 0.3, 1}, Basis{X: Vector3{1, 2, 3}}, RID(5), ObjectID(7), ObjectID(1 << 63),
	} {
		d := dict("first", 0, key, "found")
		format := "d[%v]"
		switch key.(type) {
		case string:
			format = "d[%q]"
		case StringName:
			format = "d[&%q]"
		case NodePath:
			format = "d[^%q]"
		case nil:
			key = "null"
		}
		path := fmt.Sprintf(format, key)
		var v any = dict("d", d)
		got, err := Get(v, path)
		require.NoError(t, err, path)
		require.Equal(t, "found", got, path)
		require.NoError(t, Set(&v, path, "changed"))
		require.Equal(t, 2, d.Len())
	}
}
