package variant

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// Equal keys in one encoded Dictionary, which Marshal never writes.
func TestDuplicateKeys(t *testing.T) {
	pairs := func(pairs ...any) []byte {
		d := &Dictionary{}
		for i := 0; i < len(pairs); i += 2 {
			d.entries = append(d.entries, Entry[any, any]{pairs[i], pairs[i+1]})
		}
		return encoded(t, d, nil)
	}
	var many, long []any
	for i := range 21 {
		many = append(many, strconv.Itoa((i+7)%20), i)
		long = append(long, fmt.Sprintf("%010d", (i+7)%20), i)
	}
	for _, c := range []struct {
		name string
		wire []byte
		into any
		err  string
	}{
		{name: "struct", wire: pairs("name", "a", StringName("name"), "b"), into: new(simple), err: `offset 32, $.key(1): Dictionary into Go variant.simple: duplicate key "name"`},
		{name: "map", wire: pairs("a", 1, "a", 2), into: new(map[string]int), err: `offset 28, $.key(1): Dictionary into Go map[string]int: duplicate key "a"`},
		{name: "used map", wire: pairs("a", 1, "a", 2), into: &map[string]int{"a": 5}, err: `offset 28, $.key(1): Dictionary into Go map[string]int: duplicate key "a"`},
		{name: "names in map", wire: pairs("a", 1, StringName("a"), 2), into: new(map[any]int), err: `offset 28, $.key(1): Dictionary into Go map[interface {}]int: duplicate key "a"`},
		{name: "names the other way", wire: pairs(StringName("a"), 1, "a", 2), into: new(map[any]int), err: `offset 28, $.key(1): Dictionary into Go map[interface {}]int: duplicate key "a"`},
		{name: "zeros", wire: pairs(0.0, 1, math.Copysign(0, -1), 2), into: new(map[float32]int), err: `offset 24, $.key(1): Dictionary into Go map[float32]int: duplicate key "-0"`},
		{name: "embedded map", wire: pairs("x", 1, "x", 2), into: new(extraMap), err: `offset 28, $.key(1): Dictionary into Go map[string]int (extraMap.Rest): duplicate key "x"`},
		{name: "used embedded map", wire: pairs("x", 1, "x", 2), into: &extraMap{Rest: map[string]int{"x": 5}}, err: `offset 28, $.key(1): Dictionary into Go map[string]int (extraMap.Rest): duplicate key "x"`},
		{name: "many", wire: pairs(many...), into: new(map[string]int8), err: `offset 408, $.key(20): Dictionary into Go map[string]int8: duplicate key "7"`},
		{name: "many of int", wire: pairs(many...), into: new(map[string]int), err: `offset 408, $.key(20): Dictionary into Go map[string]int: duplicate key "7"`},
		{name: "many used", wire: pairs(many...), into: &map[myString]int{"7": 7}, err: `offset 408, $.key(20): Dictionary into Go map[variant.myString]int: duplicate key "7"`},
		{name: "many long", wire: pairs(long...), into: new(map[string]int), err: `offset 568, $.key(20): Dictionary into Go map[string]int: duplicate key "0000000007"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Unmarshal(c.wire, c.into)
			require.EqualError(t, err, "gdwire: "+c.err)
			require.ErrorIs(t, err, ErrDuplicateKey)
		})
	}
	var d Dictionary
	require.NoError(t, Unmarshal(pairs("a", 1, "b", 2, StringName("a"), 3, math.NaN(), 4, math.NaN(), 5), &d))
	assert.Equal(t, 3, d.Len())
	assert.Equal(t, []Entry[any, any]{{"a", int64(3)}, {"b", int64(2)}}, d.entries[:2])
	var kept extra
	require.NoError(t, Unmarshal(pairs("x", 1, "x", 2, array(), 3, array(), 4), &kept))
	assert.Equal(t, 3, kept.Rest.Len(), "arrays are never merged")
	value, _ := kept.Rest.Get("x")
	assert.Equal(t, int64(2), value)
}

// What is charged for a map is what Go allocates.
func TestMapSizes(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("the sizes are those of 64 bits")
	}
	type texts struct {
		_    [888]byte
		Text string
	}
	for _, m := range []any{
		map[int]int{}, map[int16]bool{}, map[string]string{}, map[int]struct{}{}, map[int][3]int{}, map[int][16]float64{}, map[int][200]byte{},
		map[int][100]int{}, map[int]texts{}, map[int][5000]int{}, map[[200]int16]string{},
	} {
		typ := reflect.TypeOf(m)
		sizes, text := mapSizesOf(typ), strings.Repeat("k", 5000)
		for _, n := range []int{0, 1, 7, 8, 9, 14, 15, 100, 896, 897, 5000} {
			got := int64(math.MaxInt64)
			for range 3 { // others allocate, too
				key, elem := reflect.New(typ.Key()).Elem(), reflect.New(typ.Elem()).Elem()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				v := reflect.MakeMapWithSize(typ, n)
				for i := range n {
					switch number := key; key.Kind() {
					case reflect.String:
						key.SetString(text[:i])
					case reflect.Array:
						number = key.Index(0)
						fallthrough
					default:
						number.SetInt(int64(i))
					}
					v.SetMapIndex(key, elem)
				}
				runtime.ReadMemStats(&after)
				got = min(got, int64(after.TotalAlloc-before.TotalAlloc))
			}
			assert.InDelta(t, sizes.bytes(n), got, 64+float64(got)/16, "%v of %d", typ, n)
		}
	}
}

// A nil key is the zero value, as a nil anywhere.
func TestNilKeys(t *testing.T) {
	b := encoded(t, dict(nil, 1), nil)
	var times map[time.Time]int
	require.NoError(t, Unmarshal(b, &times))
	require.Equal(t, map[time.Time]int{{}: 1}, times)
	var levels map[level]int
	require.NoError(t, Unmarshal(b, &levels))
	require.Equal(t, map[level]int{0: 1}, levels)
	var texts map[string]int
	require.NoError(t, Unmarshal(b, &texts))
	require.Equal(t, map[string]int{"": 1}, texts)
	require.ErrorContains(t, Unmarshal(encoded(t, dict("", 1), nil), &times), "parsing time")
}

func TestUnmarshalIntoOwnTypes(t *testing.T) {
	testInto(t, []intoCase{
		{name: "nil into Vector3", wire: nil, want: Vector3{}},
		{name: "nil into Vector3i", wire: nil, want: Vector3i{}},
		{name: "nil into Signal", wire: nil, want: Signal{}},
		{name: "nil into RID", wire: nil, want: RID(0)},
		{name: "nil into ObjectID", wire: nil, want: ObjectID(0)},
		{name: "nil into Callable", wire: nil, want: Callable{}},
		{name: "nil into StringName", wire: nil, want: StringName("")},
		{name: "nil into NodePath", wire: nil, want: NodePath("")},
		{name: "nil into Array", wire: nil, want: Array{}},
		{name: "nil into Dictionary", wire: nil, want: Dictionary{}},
		{name: "nil into Object", wire: nil, want: Object{}},
		{name: "nil into Image", wire: nil, want: Image{}},
		{name: "nil into InputEvent", wire: nil, want: InputEvent{}},
		{name: "String into StringName", wire: "a", want: StringName("a")},
		{name: "String into NodePath", wire: "a", want: NodePath("a")},
	})
}

// The pool does not keep the data of a caller in memory.
func TestUnmarshalForgetsTheData(t *testing.T) {
	s := new(decoder)
	s.resetBytes(encoded(t, 7, nil), new(Options))
	var v int
	require.NoError(t, s.unmarshal(&v))
	kept := s.d
	s.release()
	require.Equal(t, gdwire.ErrClosed, kept.Err())
	require.Empty(t, kept.UnreadBuffer())
}

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
		{name: "times of Godot", wire: array("2026-01-02T03:04:05", "2026-01-02 03:04:05", "2026-01-02T03:04:05Z"), want: slices.Repeat([]time.Time{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, 3)},
		{name: "Array into []byte", wire: array(1, 2), want: []byte{1, 2}},
		{name: "Array into []Vector3", wire: array(Vector3{1, 2, 3}), want: []Vector3{{1, 2, 3}}},
		{name: "Array into vector", wire: array(1, 2.5), want: vec2{1, 2.5}},
	})
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

// Values of a map share no memory, and keys and values keep nothing of those before, whatever their types.
func TestMapsOfAnyTypes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	raw := func(v any) Raw { return Raw{Data: encoded(t, v, nil)} }
	maps := []any{
		map[string]Raw{"a": raw(1), "b": raw("text"), "c": raw(2)}, map[myString]Array{"a": *array(1), "b": *array("text")},
		map[StringName]Dictionary{"a": *dict(1, 2), "b": *dict(3, 4)}, map[any]*[]int64{1: {1}, "a": {2}, 0.5: {3}},
	}
	for _, k := range []any{"", myString(""), StringName(""), int8(0), uint64(0), myBool(false), 0.5, Vector2{}, Vector2i{}, [2]int32{}, [3]int32{}} {
		for _, v := range []any{[]byte{}, []int64{}, [2][]byte{}, "", mvText(""), myBool(false), uint8(0), Vector3{}, new(int), map[string]int64{}} {
			maps = append(maps, randomMap(r, reflect.MapOf(reflect.TypeOf(k), reflect.TypeOf(v)), 20).Interface())
		}
	}
	for _, m := range maps {
		want, err := Marshal(m)
		if errors.Is(err, gdwire.ErrRange) {
			continue // an integer
		}
		require.NoError(t, err)
		got := reflect.New(reflect.TypeOf(m))
		require.NoError(t, Unmarshal(want, got.Interface()), "%T", m)
		require.Equal(t, want, encoded(t, got.Interface(), nil), "%T", m)
		if _, isMath := componentsOf(reflect.TypeOf(m).Key()); isMath && reflect.TypeOf(m).Key().Kind() != reflect.Float64 {
			var tree any
			require.NoError(t, Unmarshal(want, &tree))
			var last []byte
			for k := range tree.(*Dictionary).All() { // in the order of the encodings
				key := encoded(t, k, nil)
				require.Negative(t, bytes.Compare(last, key), "%T", m)
				last = key
			}
		}
	}
}
