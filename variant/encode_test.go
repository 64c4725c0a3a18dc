package variant

import (
	"bytes"
	"cmp"
	"errors"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// Values that are encoded as another type because of a type= tag.
func TestTypeTags(t *testing.T) {
	for _, c := range []struct {
		name  string
		value any
		wire  any // of the key a
		err   string
	}{
		{name: "int as float", value: tagged[int](",type=float", 5), wire: 5.0},
		{name: "uint as float", value: tagged[uint](",type=float", 5), wire: 5.0},
		{name: "float as float", value: tagged[float32](",type=float", 5), wire: 5.0},
		{name: "float as int", value: tagged[float64](",type=int", 5), wire: int64(5)},
		{name: "int as int", value: tagged[int8](",type=int", 5), wire: int64(5)},
		{name: "uint as int", value: tagged[uint8](",type=int", 5), wire: int64(5)},
		{name: "bool as bool", value: tagged[bool](",type=bool", true), wire: true},
		{name: "int that float cannot hold", value: tagged[int64](",type=float", 1<<53+1), err: "out of range"},
		{name: "uint that float cannot hold", value: tagged[uint64](",type=float", 1<<53+1), err: "out of range"},
		{name: "fraction as int", value: tagged[float64](",type=int", 5.5), err: "Go float64 (struct.A): out of range"},
		{name: "large float as int", value: tagged[float64](",type=int", 1e30), err: "out of range"},
		{name: "string as StringName", value: tagged[myString](",type=StringName", "a"), wire: StringName("a")},
		{name: "string as NodePath", value: tagged[string](",type=NodePath", "a/b"), wire: NodePath("a/b")},
		{name: "StringName as String", value: tagged[StringName](",type=String", "a"), wire: "a"},
		{name: "text as StringName", value: tagged[level](",type=StringName", 3), wire: StringName("level 3")},
		{name: "text that fails", value: struct{ A level }{-3}, err: "Go variant.level (struct.A): level below zero"},
		{name: "pointer", value: tagged[*vec4](",type=Plane", &vec4{0, 1, 0, 5}), wire: Plane{Vector3{0, 1, 0}, 5}},
		{name: "struct as Vector3", value: tagged[point](",type=Vector3", point{1, 2, 3}), wire: Vector3{1, 2, 3}},
		{name: "struct as Dictionary", value: tagged[simple](",type=Dictionary"), wire: dict("name", "", "max_hp", int64(0))},
		{name: "map as Dictionary", value: tagged[map[int]int](",type=Dictionary"), wire: dict()},
		{name: "six floats", value: tagged[[2][3]float64](",type=AABB", [2][3]float64{{1, 2, 3}, {4, 5, 6}}), wire: AABB{Vector3{1, 2, 3}, Vector3{4, 5, 6}}},
		{name: "four int32", value: tagged[[4]int32](",type=Rect2i", [4]int32{1, 2, 3, 4}), wire: Rect2i{Vector2i{1, 2}, Vector2i{3, 4}}},
		{name: "slice as Array", value: tagged[[]int32](",type=Array", []int32{1}), wire: array(int64(1))},
		{name: "vectors as Array", value: tagged[[3]float32](",type=Array", [3]float32{1, 2, 3}), wire: array(1.0, 2.0, 3.0)},
		{name: "ints as PackedInt32Array", value: tagged[[]int](",type=PackedInt32Array", []int{1, -1 << 31}), wire: []int32{1, -1 << 31}},
		{name: "ints that do not fit", value: tagged[[]int64](",type=PackedInt32Array", []int64{1 << 31}), err: "Go int64 (struct.A): out of range"},
		{name: "ints as PackedByteArray", value: tagged[[2]uint16](",type=PackedByteArray", [2]uint16{1, 255}), wire: []byte{1, 255}},
		{name: "ints that are no bytes", value: tagged[[]int](",type=PackedByteArray", []int{-1}), err: "out of range"},
		{name: "uints as PackedInt64Array", value: tagged[[]uint64](",type=PackedInt64Array", []uint64{1}), wire: []int64{1}},
		{name: "uints that do not fit", value: tagged[[]uint64](",type=PackedInt64Array", []uint64{1 << 63}), err: "out of range"},
		{name: "int32 as PackedInt64Array", value: tagged[[]int32](",type=PackedInt64Array", []int32{-1}), wire: []int64{-1}},
		{name: "structs as PackedVector3Array", value: tagged[[]point](",type=PackedVector3Array", []point{{1, 2, 3}}), wire: []Vector3{{1, 2, 3}}},
		{name: "floats as PackedFloat32Array", value: tagged[[]float64](",type=PackedFloat32Array", []float64{0.5}), wire: []float32{0.5}},
		{name: "floats that do not fit", value: tagged[[]float64](",type=PackedFloat32Array", []float64{1e300}), err: "Go []float64 (struct.A): element does not fit 32 bits"},
		{name: "vectors as PackedColorArray", value: tagged[[]vec4](",type=PackedColorArray", []vec4{{1, 2, 3, 4}}), wire: []Color{{1, 2, 3, 4}}},
		{name: "names as PackedStringArray", value: tagged[[]StringName](",type=PackedStringArray", []StringName{"a"}), wire: []string{"a"}},
		{name: "vectors as PackedVector2Array", value: tagged[[]Vector2](",type=PackedVector2Array", []Vector2{{1, 2}}), wire: []Vector2{{1, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Marshal(c.value)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				var at *gdwire.Error
				require.ErrorAs(t, err, &at)
				return
			}
			require.NoError(t, err)
			var got map[string]any
			require.NoError(t, Unmarshal(b, &got))
			requireSame(t, c.wire, got["a"])
			again := reflect.New(reflect.TypeOf(c.value))
			require.NoError(t, Unmarshal(b, again.Interface()))
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
		{name: "uint64", value: struct{ A uint64 }{1 << 63}, err: "gdwire: offset 20, $.a: Go uint64 (struct.A): out of range", is: gdwire.ErrRange},
		{name: "UTF-8", value: simple{Name: "\xff"}, err: "gdwire: offset 20, $.name: Go string (simple.Name): invalid UTF-8", is: gdwire.ErrUTF8},
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
		{name: "equal texts of keys", value: map[zeroText]int{1: 1, 2: 2}, err: "gdwire: offset 8, $.key(0): Go variant.zeroText: duplicate key \"", is: ErrDuplicateKey},
		{name: "string beside StringName", value: map[any]int{"a": 1, StringName("a"): 2}, err: "Go interface {}: duplicate key \"a\"", is: ErrDuplicateKey},
		{name: "string beside string kind", value: map[any]int{"a": 1, myString("a"): 2}, err: "duplicate key \"a\"", is: ErrDuplicateKey},
		{name: "int32 beside int64", value: map[any]int{int32(1): 1, int64(1): 2}, err: "duplicate key \"1\"", is: ErrDuplicateKey},
		{name: "0.0 beside -0.0", value: map[any]int{0.0: 1, float32(math.Copysign(0, -1)): 2}, err: "duplicate key", is: ErrDuplicateKey},
		{name: "equal Arrays as keys", value: map[any]int{array(1): 1, array(1): 2}, err: "duplicate key", is: ErrDuplicateKey},
		{name: "text beside string", value: map[any]int{level(1): 1, "level 1": 2}, err: "duplicate key", is: ErrDuplicateKey},
		{name: "equal pointers", value: map[any]int{new(1): 1, new(1): 2}, err: "duplicate key \"1\"", is: ErrDuplicateKey},
		{name: "NaNs as keys", value: map[float64]int{-1: 1, math.NaN(): 2, math.Float64frombits(0x7FF8000000000123): 3}, err: "gdwire: offset 8, $.key(0): Go float64: out of range: a map cannot find NaN", is: gdwire.ErrRange},
		{name: "NaN in a vector as a key", value: map[Vector2]int{{}: 1, {Y: math.NaN()}: 2}, err: "a map cannot find NaN", is: gdwire.ErrRange},
		{name: "NaN in an any as a key", value: map[any]int{0: 1, float32(math.NaN()): 2}, err: "a map cannot find NaN", is: gdwire.ErrRange},
		{name: "NaN as a key of a Dictionary", value: &Dictionary{entries: []Entry[any, any]{{math.NaN(), 1}}}},
		{name: "keys with errors", value: map[noText]int{3: 1, 1: 2, 2: 3}, err: "no text 1"},
		{name: "keys of types without encodings", value: map[any]int{[1]chan int{}: 1, make(chan int): 2, make(chan bool): 3}, err: "chan bool"},
		{name: "several equal keys", value: map[NodePath]int{"a/b": 1, "a//b": 2, "b": 3, "b/": 4}, err: `duplicate key "a//b"`, is: ErrDuplicateKey},
		{name: "several names", value: map[any]int{"b": 1, StringName("b"): 2, "a": 3, StringName("a"): 4, level(1): 5}, err: `duplicate key "a"`, is: ErrDuplicateKey},
		{name: "several known keys in map", value: struct {
			A, B int
			Rest map[string]int `gd:",embed"`
		}{Rest: map[string]int{"b": 1, "c": 2, "a": 3}}, err: `duplicate key "a", the name of struct.A`, is: ErrDuplicateKey},
		{name: "vectors that are rounded", value: map[Vector2]int{{X: 0.1}: 1, {X: 0.1 + 1e-12}: 2}, err: "duplicate key", is: ErrDuplicateKey},
		{name: "vectors in 64 bits", value: map[Vector2]int{{X: 0.1}: 1, {X: 0.1 + 1e-12}: 2}, options: &Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}}},
		{name: "equal NodePaths", value: map[NodePath]int{"a/b": 1, "a//b": 2}, err: "duplicate key", is: ErrDuplicateKey},
		{name: "NodePath beside string", value: map[any]int{NodePath("a"): 1, "a": 2}},
		{name: "int beside float", value: map[any]int{1: 1, 1.0: 2, true: 3}},
		{name: "path of a nested key", value: []any{map[any]int{ptr([]string{"a", "\xff"}): 2}}, err: "gdwire: offset 16, $[0].key(0): invalid UTF-8", is: gdwire.ErrUTF8},
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
		{name: "UTF-8 in a positional struct", value: struct {
			_ struct{} `gd:",array"`
			A string
		}{A: "\xff"}, err: "Go string (struct.A): invalid UTF-8", is: gdwire.ErrUTF8},
		{name: "UTF-8 in packed strings", value: tagged[[]string](",type=PackedStringArray", []string{"\xff"}), err: "invalid UTF-8", is: gdwire.ErrUTF8},
		{name: "value of an embedded Dictionary", value: extra{1, dict("a", uint64(1<<63))}, err: "out of range", is: gdwire.ErrRange},
		{name: "key of an embedded Dictionary", value: extra{1, dict("\xff", 1)}, err: "invalid UTF-8", is: gdwire.ErrUTF8},
		{name: "property's name", value: &Object{Class: "A", Properties: []Property{{"\xff", 1}}}, err: "invalid UTF-8", is: gdwire.ErrUTF8},
		{name: "property's value", value: &Object{Class: "A", Properties: []Property{{"a", "\xff"}}}, err: "invalid UTF-8", is: gdwire.ErrUTF8},
		{name: "Object without a class", value: &Object{Properties: []Property{{"a", 1}}}, err: "without a class", is: gdwire.ErrCount},
		{name: "typed Dictionary in Godot 3", value: &Dictionary{Key: gdwire.Elem{Type: gdwire.TypeInt}}, err: "typed", is: gdwire.ErrType, options: godot3},
		{name: "Image", value: Image{}, err: "Image", is: gdwire.ErrType},
		{name: "Signal as a key", value: map[Signal]int{{Name: "a"}: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Marshal(c.value, *cmp.Or(c.options, &defaultOptions))
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.err)
			for range 10 { // maps have no order
				require.EqualError(t, errOf(Marshal(c.value, *cmp.Or(c.options, &defaultOptions))), err.Error())
			}
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			var at *gdwire.Error
			require.ErrorAs(t, err, &at)
		})
	}
}

// No later call of Marshal writes to an earlier result, whatever the sizes, also with
// several goroutines: a small result after a large one once kept memory that the next large
// result was returned in.
func TestMarshalResultsAreNeverWrittenAgain(t *testing.T) {
	marshal := func(v any) []byte {
		return must(Marshal(v))(t)
	}
	for n := 65_750; n < 131_072; n += 250 {
		want := marshal(make([]byte, n))
		marshal([]byte{7})
		got := marshal(make([]byte, n))
		marshal("another value")
		require.True(t, bytes.Equal(want, got), n)
	}

	var tasks sync.WaitGroup
	for task := range 8 {
		tasks.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(task)))
			var results [][]byte
			var sums []uint64
			seed := maphash.MakeSeed()
			for range 300 {
				n := random.IntN(40)
				if random.IntN(2) == 0 {
					n = 60_000 + random.IntN(80_000)
				}
				b, err := Marshal(bytes.Repeat([]byte{byte(task)}, n))
				if !assert.NoError(t, err) {
					return
				}
				results, sums = append(results, b), append(sums, maphash.Bytes(seed, b))
			}
			for i, b := range results {
				assert.Equal(t, sums[i], maphash.Bytes(seed, b), "a result of %d bytes", len(b))
			}
		})
	}
	tasks.Wait()
}

// zeroText is the same text for all values.
type zeroText int

func (zeroText) MarshalText() ([]byte, error) { return []byte("same"), nil }

// A loop is a Marshaler that contains itself, inside a container or not.
type loop struct{ next *loop }

func (l *loop) MarshalVariant(e *gdwire.Encoder) error {
	return errors.Join(e.BeginArray(1), MarshalEncode(e, l.next), e.End())
}

func TestMarshalerInItself(t *testing.T) {
	l := &loop{}
	l.next = l
	require.ErrorIs(t, errOf(Marshal(l)), gdwire.ErrLimit)
	require.ErrorIs(t, errOf(Marshal(l, Options{Encoder: gdwire.EncoderOptions{Depth: -1}})), gdwire.ErrLimit)
}
