package variant

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
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

func TestTypeErrorsOfOwnTypes(t *testing.T) {
	testTypeErrors(t, []typeError{
		{name: "StringName", wire: []string{}, into: new(StringName), err: `offset 0, $: PackedStringArray into Go variant.StringName`, is: gdwire.ErrType},
		{name: "Quaternion into Color", wire: Quaternion{}, into: new(Color), err: `offset 0, $: Quaternion into Go variant.Color`, is: gdwire.ErrType},
		{name: "Vector3i", wire: Vector3{}, into: new(Vector3i), err: `offset 0, $: Vector3 into Go variant.Vector3i`, is: gdwire.ErrType},
		{name: "RID", wire: 1, into: new(RID), err: `offset 0, $: int into Go variant.RID`, is: gdwire.ErrType},
		{name: "ObjectID", wire: 1, into: new(ObjectID), err: `offset 0, $: int into Go variant.ObjectID`, is: gdwire.ErrType},
		{name: "Signal", wire: 1, into: new(Signal), err: `offset 0, $: int into Go variant.Signal`, is: gdwire.ErrType},
		{name: "Callable", wire: 1, into: new(Callable), err: `offset 0, $: int into Go variant.Callable`, is: gdwire.ErrType},
		{name: "Array", wire: 1, into: new(*Array), err: `offset 0, $: int into Go variant.Array`, is: gdwire.ErrType},
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

func TestUnmarshalIntoInterface(t *testing.T) {
	kept := &stringer{}
	var v fmt.Stringer = kept
	require.NoError(t, Unmarshal(encoded(t, dict("text", "a"), nil), &v))
	assert.Equal(t, "a", kept.Text)
	require.NoError(t, Unmarshal(encoded(t, nil, nil), &v))
	assert.Nil(t, v)
	var any any = kept
	require.NoError(t, Unmarshal(encoded(t, "b", nil), &any))
	assert.Equal(t, "b", any, "an any is replaced")
	assert.Equal(t, encoded(t, dict("value", dict("text", "a")), nil), must(Marshal(box[fmt.Stringer]{kept}))(t))
}

func TestUnmarshalIntoInterfaceErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		into fmt.Stringer
		wire any
	}{
		{"nil pointer", (*stringer)(nil), 1},
		{"another type", &stringer{}, dict("text", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.ErrorIs(t, Unmarshal(encoded(t, c.wire, nil), &c.into), gdwire.ErrType)
		})
	}
}

// An object without a class is nil.
func TestUnmarshalObjectWithoutClass(t *testing.T) {
	var v any = 1
	packet := []byte{24, 0, 0, 0, 0, 0, 0, 0}
	require.NoError(t, Unmarshal(packet, &v, Options{Decoder: gdwire.DecoderOptions{AllowObjects: true}}))
	require.Nil(t, v)
}

// A set of the key cache evicts a key only if it holds two others.
func TestKeyCacheSets(t *testing.T) {
	sets := map[int][]string{} // by the index of the first key that a cache was given
	for i := range 2000 {
		key := fmt.Sprint("key ", i)
		var k keyCache
		k.intern([]byte(key))
		for at := range k {
			if k[at] != nil {
				sets[at] = append(sets[at], key)
			}
		}
	}
	var k keyCache
	for at, all := range sets {
		if len(all) < 2 {
			continue
		}
		require.Zero(t, at%2)
		k.intern([]byte(all[0]))
		k.intern([]byte(all[1]))
		require.Equal(t, []any{all[1], all[0]}, k[at:at+2])
	}
}

// Dictionaries have the same keys and errors whichever keys the ones before them had.
func TestKnownKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	keys := []any{"a", "b", "id", "position", "a key of 17 bytes", "é", "", int64(1), nil, 1.5, StringName("a"), StringName("c"), NodePath("a"), Vector2{1, 2}}
	random := func(n int) (d *Dictionary, want []Entry[any, any]) {
		d = &Dictionary{}
		merged := &Dictionary{}
		at := r.IntN(3) // most Dictionaries begin with the same keys
		for i := range n {
			e := Entry[any, any]{keys[(at+i)%len(keys)], int64(i)}
			switch {
			case r.IntN(8) == 0:
				e.Key = keys[r.IntN(len(keys))]
			case i >= len(keys):
				e.Key = fmt.Sprint("key ", i)
			}
			d.entries = append(d.entries, e)
			merged.setDecoded(e.Key, e.Value)
		}
		return d, merged.entries
	}
	for range 200 {
		var all []any
		var want [][]Entry[any, any]
		for range 10 {
			d, entries := random(r.IntN(40))
			all, want = append(all, d), append(want, entries)
		}
		packet := encoded(t, all, nil)
		limit := Options{MaxMemory: 1 + r.Int64N(20_000)}
		var errs []string
		s := new(decoder)
		for range 2 { // the second time with the keys of the first
			s.resetBytes(packet, &Options{})
			for i, x := range must(s.any())(t).(*Array).Values {
				require.Equal(t, want[i], x.(*Dictionary).entries)
			}
		}
		for _, s := range []*decoder{s, new(decoder)} {
			s.resetBytes(packet, &limit)
			_, err := s.any()
			errs = append(errs, fmt.Sprint(err))
		}
		require.Equal(t, errs[0], errs[1])
	}
}

// Keys are known up to a depth, and no others are kept.
func TestKnownKeysOfNested(t *testing.T) {
	var v any = "end"
	for range 2 * maxKnownDepth {
		v = dict("a", 1, "next", v, "z", 2, strings.Repeat("long", 1000), nil)
	}
	packet := encoded(t, v, nil)
	s := new(decoder)
	for range 3 {
		s.resetBytes(packet, &Options{})
		require.Equal(t, packet, encoded(t, must(s.any())(t), nil))
	}
	for _, known := range s.known[1:] {
		require.Len(t, known.keys, 4)
		for i, want := range []any{"a", "next", "z", nil} {
			require.Equal(t, want, known.keys[i].key)
		}
	}
}

// After an error, an any holds the parts of containers that were decoded before it.
func TestPartsInAny(t *testing.T) {
	value := func(last ...any) any {
		object := &Object{Class: "A", Properties: []Property{{"first", 1}, {"second", array(append([]any{2}, last...)...)}}}
		return array(1, dict("a", array(2), "b", array(3, object)))
	}
	whole := encoded(t, value("text that is cut"), nil)
	want := value()
	var got any = "before"
	o := Options{Decoder: gdwire.DecoderOptions{AllowObjects: true}}
	require.Error(t, Unmarshal(whole[:len(whole)-4], &got, o))
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(got))
	var s struct{ A, B any }
	require.Error(t, Unmarshal(encoded(t, dict("a", 1, "b", value("text that is cut")), nil)[:len(whole)+20], &s, o))
	require.Equal(t, "1 "+fmt.Sprint(want), fmt.Sprint(s.A, " ", s.B))
	var collecting struct {
		Rest *Dictionary `gd:",embed"`
	}
	require.Error(t, Unmarshal(encoded(t, dict("a", 1, "b", value("text that is cut")), nil)[:len(whole)+20], &collecting, o))
	require.Equal(t, fmt.Sprint(dict("a", 1, "b", want)), fmt.Sprint(collecting.Rest))
}

// A signaling NaN of 32 bits, which no engine writes, becomes a quiet one of 64 bits in an any. In packed
// arrays and in a Raw it stays.
func TestSignalingNaN(t *testing.T) {
	nan := []byte{0x05, 0x00, 0xa0, 0x7f}
	float := append([]byte{3, 0, 0, 0}, nan...)
	quieted := binary.LittleEndian.AppendUint64([]byte{3, 0, 1, 0}, 0x7ffc0000a0000000)
	packed := append([]byte{32, 0, 0, 0, 1, 0, 0, 0}, nan...)
	for _, c := range []struct {
		in, want []byte
		to       any
	}{{float, quieted, new(any)}, {packed, packed, new(any)}, {packed, packed, new([]float32)}, {float, float, new(Raw)}} {
		require.NoError(t, Unmarshal(c.in, c.to))
		require.Equal(t, c.want, must(Marshal(c.to))(t), "%T", c.to)
	}
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

func TestTypeErrorsOfLists(t *testing.T) {
	testTypeErrors(t, []typeError{
		{name: "slice", wire: dict(), into: new([]int), err: `offset 0, $: Dictionary into Go []int`, is: gdwire.ErrType},
		{name: "packed slice", wire: []float32{1}, into: new([]int), err: `offset 0, $: PackedFloat32Array into Go []int`, is: gdwire.ErrType},
		{name: "packed bytes", wire: []float32{1}, into: new([]byte), err: `offset 0, $: PackedFloat32Array into Go []uint8`, is: gdwire.ErrType},
		{name: "packed structs", wire: []float32{1}, into: new([]simple), err: `offset 0, $: PackedFloat32Array into Go []variant.simple`, is: gdwire.ErrType},
		{name: "packed range", wire: []int32{1, 300}, into: new([]int8), err: `offset 12, $[1]: int into Go int8: 300 does not fit int8`, is: gdwire.ErrRange},
		{name: "packed negative", wire: []int32{-1}, into: new([]uint), err: `offset 8, $[0]: int into Go uint: -1 does not fit uint`, is: gdwire.ErrRange},
		{name: "packed floats", wire: []float64{0.1, 1e300}, into: new([]float32), err: `offset 16, $[1]: float into Go float32: 1e+300 does not fit float32`, is: gdwire.ErrRange},
		{name: "packed floats into an array", wire: []float64{0.1, -1e300}, into: new([2]myFloat), err: `offset 16, $[1]: float into Go variant.myFloat: -1e+300 does not fit float32`, is: gdwire.ErrRange},
		{name: "packed infinity", wire: []float64{math.Inf(1)}, into: new([]float32)},
		{name: "packed ids", wire: []int64{1}, into: new([]RID), err: `offset 0, $: PackedInt64Array into Go []variant.RID`, is: gdwire.ErrType},
		{name: "packed ids of objects", wire: []byte{1}, into: new([1]ObjectID), err: `offset 0, $: PackedByteArray into Go [1]variant.ObjectID`, is: gdwire.ErrType},
		{name: "packed string", wire: []string{"a"}, into: new([]int), err: `offset 8, $[0]: String into Go int`, is: gdwire.ErrType},
		{name: "array", wire: "a", into: new([2]int), err: `offset 0, $: String into Go [2]int`, is: gdwire.ErrType},
		{name: "array's length", wire: array(1), into: new([2]int), err: `offset 0, $: Array into Go [2]int: wrong count: 1 elements`, is: gdwire.ErrCount},
		{name: "packed array's length", wire: []byte{1}, into: new([2]byte), err: `offset 0, $: PackedByteArray into Go [2]uint8: wrong count: 1 elements`, is: gdwire.ErrCount},
		{name: "Vector3 into two", wire: Vector3{}, into: new(vec2), err: `offset 0, $: Vector3 into Go variant.vec2`, is: gdwire.ErrType},
		{name: "Vector3 into ints", wire: Vector3{}, into: new([3]int32), err: `offset 0, $: Vector3 into Go [3]int32`, is: gdwire.ErrType},
		{name: "Transform3D into Vector3s", wire: Transform3D{}, into: new([4]Vector3), err: `offset 0, $: Transform3D into Go [4]variant.Vector3`, is: gdwire.ErrType},
		{name: "Basis into Vector3s", wire: Basis{}, into: new([3]Vector3), err: `offset 0, $: Basis into Go [3]variant.Vector3`, is: gdwire.ErrType},
		{name: "Rect2 into Vector2s", wire: Rect2{}, into: new([2]Vector2), err: `offset 0, $: Rect2 into Go [2]variant.Vector2`, is: gdwire.ErrType},
		{name: "Vector2i into an array of one", wire: Vector2i{}, into: new([1]Vector2i), err: `offset 0, $: Vector2i into Go [1]variant.Vector2i`, is: gdwire.ErrType},
		{name: "PackedVector4Array into Vector2s", wire: []Vector4{{}}, into: new([][2]Vector2), err: `offset 0, $: PackedVector4Array into Go [][2]variant.Vector2`, is: gdwire.ErrType},
		{name: "packed floats into structs", wire: []float64{1}, into: new([]struct{ HP float64 }), err: `offset 0, $: PackedFloat64Array into Go []struct { HP float64 }`, is: gdwire.ErrType},
		{name: "packed floats into arrays", wire: []float32{1}, into: new([1][1]float32), err: `offset 0, $: PackedFloat32Array into Go [1][1]float32`, is: gdwire.ErrType},
		{name: "Vector3 into an ignored field", wire: Vector3{}, into: new(struct {
			X, Y float64
			Z    float64 `gd:"-"`
		}), err: "offset 0, $: Vector3 into Go struct", is: gdwire.ErrType},
		{name: "packed ints into elements with a method", wire: []int32{99}, into: new([]uvInt32), err: `offset 0, $: PackedInt32Array into Go []variant.uvInt32`, is: gdwire.ErrType},
		{name: "Vector3i into floats", wire: Vector3i{}, into: new(vec3), err: `offset 0, $: Vector3i into Go variant.vec3`, is: gdwire.ErrType},
	})
}

// A slice stays as it is if the count of a packed array is missing, or more than a limit.
func TestPackedWithoutCount(t *testing.T) {
	for _, c := range []struct{ wire, into, want any }{
		{[]byte{1, 2}, &[]byte{7}, &[]byte{7}},
		{[]byte{1, 2}, &[]int{7}, &[]int{7}},
		{[]int64{1, 2}, &[]int64{7}, &[]int64{7}},
		{[]float32{1, 2}, &[]float64{7}, &[]float64{7}},
		{[]Vector2{{}, {}}, &[]Vector2{{7, 7}}, &[]Vector2{{7, 7}}},
		{[]string{"a", "b"}, &[]string{"c"}, &[]string{"c"}},
		{[]string{"a", "b"}, &[]level{7}, &[]level{7}},
	} {
		t.Run(fmt.Sprintf("%T into %T", c.wire, c.into), func(t *testing.T) {
			b := encoded(t, c.wire, nil)
			require.ErrorIs(t, Unmarshal(b[:6], c.into), io.ErrUnexpectedEOF)
			require.Equal(t, c.want, c.into)
			limits := gdwire.Limits{Elements: 1, PackedBytes: 1}
			require.ErrorIs(t, Unmarshal(b, c.into, Options{Decoder: gdwire.DecoderOptions{Limits: limits}}), gdwire.ErrLimit)
			require.Equal(t, c.want, c.into)
		})
	}
}

// Components of 64 bits that a float32 cannot hold are errors, wherever they are.
func TestWideComponents(t *testing.T) {
	double := Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}}
	for _, c := range []struct {
		wire any
		into any
		err  string
	}{
		{Vector2{1e300, 0}, new(vec2), `gdwire: offset 0, $: Vector2 into Go variant.vec2: component 1e+300 does not fit float32`},
		{Vector3{0, 0, -1e39}, new(point), `gdwire: offset 0, $: Vector3 into Go variant.point: component -1e+39 does not fit float32`},
		{Basis{X: Vector3{X: 1e300}}, new([9]float32), `gdwire: offset 0, $: Basis into Go [9]float32: component 1e+300 does not fit float32`},
		{array(Vector2{}, Vector2{1, 1e300}), new([]vec2), `gdwire: offset 28, $[1]: Vector2 into Go variant.vec2: component 1e+300 does not fit float32`},
		{[]Vector2{{1, 2}, {1, 1e300}}, new([]vec2), `gdwire: offset 24, $[1]: Vector2 into Go variant.vec2: 1e+300 does not fit float32`},
		{[]Vector3{{1e300, 2, 3}}, new([]point), `gdwire: offset 8, $[0]: Vector3 into Go variant.point: 1e+300 does not fit float32`},
		{[]Vector4{{1, 2, 3, 1e300}}, new([1]vec4), `gdwire: offset 8, $[0]: Vector4 into Go variant.vec4: 1e+300 does not fit float32`},
		{Vector2{math.Inf(1), 0.1}, new(vec2), ""},
		{[]Vector2{{math.Inf(1), 0.1}}, new([]vec2), ""},
		{Vector2{1e300, 0}, new([2]float64), ""},
		{Vector2{1e300, 0}, new(any), ""},
		{[]Vector2{{1e300, 0}}, new([][2]float64), ""},
	} {
		t.Run(fmt.Sprintf("%v into %T", c.wire, c.into), func(t *testing.T) {
			err := Unmarshal(encoded(t, c.wire, &double), c.into)
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.err)
			require.ErrorIs(t, err, gdwire.ErrRange)
		})
	}
}

// After an error of MaxMemory, lists have the elements before it, texts included.
func TestListsBeyondMemory(t *testing.T) {
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = "text"
	}
	for _, wire := range []any{texts, array(slices.Repeat([]any{"text"}, 1000)...)} {
		d := gdwire.NewDecoder(iotest.OneByteReader(bytes.NewReader(encoded(t, wire, nil))), nil)
		var got []string
		require.ErrorIs(t, UnmarshalDecode(d, &got, Options{MaxMemory: 4000}), gdwire.ErrLimit)
		require.NotEmpty(t, got)
		require.Equal(t, texts[:len(got)], got)
	}
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

// An element of a packed array that does not fit is an error with its own offset and path.
func TestPackedElementsOutOfRange(t *testing.T) {
	ints := slices.Repeat([]int32{1}, 100)
	ints[70] = 300
	double := &Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}}
	for _, c := range []struct {
		wire, into any
		want       string
	}{
		{dict("a", ints), new(map[string][]int8), "offset 308, $.a[70]: int into Go int8: 300 does not fit int8"},
		{dict("a", ints), new(map[string][100]uint8), "offset 308, $.a[70]: int into Go uint8: 300 does not fit uint8"},
		{[]byte{1, 200}, new([]int8), "offset 9, $[1]: int into Go int8: 200 does not fit int8"},
		{[]Vector2{{1, 2}, {1e300, 2}}, new([][2]float32), "offset 24, $[1]: Vector2 into Go [2]float32: 1e+300 does not fit float32"},
	} {
		require.ErrorContains(t, Unmarshal(encoded(t, c.wire, double), c.into), c.want)
	}

	d := gdwire.NewDecoder(nil, nil)
	d.ResetBytes(encoded(t, array(ints, "next"), nil))
	must(d.ReadArray())(t)
	i := 0
	for _, err := range Elements[int8](d) {
		if i == 70 {
			require.EqualError(t, err, "gdwire: offset 296, $[0][70]: int into Go int8: 300 does not fit int8")
		} else {
			require.NoError(t, err)
		}
		i++
	}
	require.Equal(t, "next", must(d.ReadString())(t))
}

// A packed array in memory is read in one step where its elements fit the slice, with the results and errors of the steps
// that read it from a Reader.
func TestPackedInOneStep(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lists := []any{
		[]byte{1, 2, 3}, []int32{1, -2}, []int64{1 << 40}, []float32{0.5}, []float64{0.1, math.Inf(1)}, []string{"a", ""}, []byte{}, []int64{},
		[]Vector2{{1, 2}}, []Vector3{{1, 2, 3}}, []Vector4{{W: 1}}, []Color{{1, 0, 0, 1}}, [][2]float32{{3, 4}}, []int8{1}, []RID{1}, [2]int32{5, 6}, []any{int64(1)}, nil,
	}
	for _, v := range lists {
		for _, to := range lists[:len(lists)-1] {
			packet := encoded(t, dict("list", v, "in", dict("a", v), "end", int64(7)), &Options{Encoder: gdwire.EncoderOptions{DoubleReals: r.IntN(2) > 0}})
			typ := reflect.StructOf([]reflect.StructField{
				{Name: "List", Type: reflect.TypeOf(to), Tag: `gd:"list"`}, {Name: "In", Type: reflect.MapOf(stringType, reflect.TypeOf(to)), Tag: `gd:"in"`},
				{Name: "End", Type: anyType, Tag: `gd:"end"`},
			})
			for range 5 {
				o := Options{}
				if r.IntN(2) == 0 {
					o.MaxMemory = 1 + r.Int64N(600)
				}
				want, got := reflect.New(typ), reflect.New(typ)
				err := UnmarshalRead(&oneByteReader{packet}, want.Interface(), o)
				also := Unmarshal(packet, got.Interface(), o)
				require.Equal(t, fmt.Sprint(err), fmt.Sprint(also), "%T into %v, %v", v, typ, o.MaxMemory)
				require.Equal(t, want.Interface(), got.Interface(), "%T into %v", v, typ)
			}
		}
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
