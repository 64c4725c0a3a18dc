package variant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

func TestDictionary(t *testing.T) {
	var d Dictionary
	assert.Zero(t, d.Len())
	assert.False(t, d.Delete("a"))
	_, ok := d.Get("a")
	assert.False(t, ok)
	for i := range 100 {
		d.Set(fmt.Sprint(i), i)
	}
	d.Set("5", "five")
	require.Equal(t, 100, d.Len())
	for i := range 100 {
		if i%3 != 0 {
			require.True(t, d.Delete(fmt.Sprint(i)))
			require.False(t, d.Delete(fmt.Sprint(i)))
		}
	}
	require.Equal(t, 34, d.Len())
	d.Set("1", "again")
	var keys []any
	for k, v := range d.All() {
		keys = append(keys, k)
		got, ok := d.Get(k)
		require.True(t, ok)
		require.Equal(t, v, got)
	}
	require.Len(t, keys, 35)
	require.Equal(t, []any{"0", "3", "6"}, keys[:3])
	require.Equal(t, "1", keys[34], "a deleted key comes last when it is set again")
	for range d.All() {
		break
	}
	for k := range d.All() { // the body may change it
		d.Delete(k)
		d.Set(k, 1)
		if d.Len() != 35 {
			break
		}
		if k == "99" {
			break
		}
	}
	require.Equal(t, 35, d.Len())

	var none *Dictionary
	assert.Zero(t, none.Len())
	_, ok = none.Get("a")
	assert.False(t, ok)
	for range none.All() {
		t.Fail()
	}
}

// A Dictionary whose keys come and go stays small.
func TestDictionaryCompacts(t *testing.T) {
	var d Dictionary
	for i := range 10_000 {
		d.Set(i, i)
		d.Delete(i - 10)
	}
	require.Equal(t, 10, d.Len())
	require.Less(t, len(d.entries), 40)
}

// Keys that are equal and keys that are not, in small and in large Dictionaries.
func TestDictionaryKeys(t *testing.T) {
	nan, otherNaN := math.NaN(), math.Float64frombits(0xFFF8000000000123)
	zero := math.Copysign(0, -1)
	for _, c := range []struct {
		a, b any
		same bool
	}{
		{"a", "a", true}, {"a", StringName("a"), true}, {"a", myString("a"), true}, {"a", NodePath("a"), false}, {"a", "b", false},
		{1, int64(1), true}, {uint8(1), int16(1), true}, {1, 1.0, false}, {1, true, false}, {float32(1), 1.0, true}, {myInt(1), 1, true},
		{nil, nil, true}, {nil, 0, false}, {true, myBool(true), true}, {true, false, false},
		{0.0, zero, true}, {nan, otherNaN, true}, {nan, 1.0, false},
		{Vector2{1, 2}, Vector2{1, 2}, true}, {Vector2{1, 2}, Vector2i{1, 2}, false}, {Vector2{zero, 0}, Vector2{}, true},
		{Vector2{nan, 0}, Vector2{otherNaN, zero}, true}, {Vector2{nan, 0}, Vector2{0, nan}, false}, {Vector2{nan, 0}, Vector2{nan, 1}, false},
		{Color{1, 2, 3, 4}, Color{1, 2, 3, 4}, true}, {Color{R: float32(nan)}, Color{R: float32(otherNaN)}, true}, {Color{R: float32(nan)}, Vector4{X: nan}, false},
		{Transform3D{Origin: Vector3{X: nan}}, Transform3D{Origin: Vector3{X: nan}}, true},
		{Signal{"a", 1}, Signal{"a", 1}, true}, {ObjectID(1), ObjectID(1), true}, {ObjectID(1), 1, false}, {ObjectID(1), RID(1), false},
		{RID(1), RID(1), true}, {RID(1), RID(2), false}, {Callable{}, Callable{}, true},
		{array(1), array(int64(1)), true}, {array(1), array(1.0), false}, {array(array()), array(array()), true}, {array(), nil, false},
		{array(nan), array(nan), true}, {array(RID(1)), array(RID(1)), true},
		{dict("a", 1, "b", 2), dict("b", 2, "a", 1), true}, {dict("a", 1), dict("a", 2), false}, {dict("a", 1), dict(), false}, {dict(), dict("a", 1), false}, {dict(), array(), false},
		{[]byte{1}, []byte{1}, true}, {[]byte{1}, []int32{1}, false}, {[]string{"a"}, []string{"a"}, true},
		{[]float64{nan}, []float64{nan}, true}, {[]float64{1}, []float64{1, 2}, false}, {[]Vector2{{1, 2}}, []Vector2{{1, zero + 2}}, true}, {[]float32{1}, []float64{1}, false},
		{[]Color{{1, 2, 3, 4}}, []Color{{1, 2, 3, 5}}, false},
		{&Object{}, &Object{}, true}, {&Object{Class: "A"}, &Object{Class: "B"}, false}, {&Object{}, nil, false}, {(*Object)(nil), &Object{}, false},
		{&Object{Properties: []Property{{"a", int64(1)}}}, &Object{Properties: []Property{{"a", 1}}}, true},
		{&Object{Properties: []Property{{"a", 1}}}, &Object{Properties: []Property{{"a", 2}}}, false},
		{&Object{Properties: []Property{{"a", 1}}}, &Object{Properties: []Property{{"b", 1}}}, false},
		{NodePath("a//b:"), NodePath("a/b"), true}, {NodePath("/a"), NodePath("a"), false}, {NodePath("/"), NodePath(""), false}, {NodePath("a/:b"), NodePath("a:b"), true},
		{level(2), "level 2", true}, {level(2), 2, false}, {level(-1), level(-1), true},
		{[]int{1}, []int{1}, true}, {[]int{1}, []int{2}, false}, {map[string]int{"a": 1}, map[string]int{"a": 1}, true}, {ptr(1), ptr(1), true},
		{simple{"a", 1}, simple{"a", 1}, true}, {simple{"a", 1}, simple{"a", 2}, false}, {[2]string{"a"}, [2]string{"a"}, true},
		{(*Array)(nil), nil, true}, {(*Object)(nil), (*Dictionary)(nil), true}, {Array{Values: []any{1}}, array(1), true}, {*dict("a", 1), dict("a", 1), true}, {Object{Class: "A"}, &Object{Class: "A"}, true},
		{array((*Array)(nil)), array(nil), true}, {(*Array)(nil), array(), false}, {(*Dictionary)(nil), dict(), false}, {array(dict(array(1), 2)), array(dict(array(int8(1)), 2)), true},
		{struct{ C chan int }{}, struct{ C chan int }{}, true}, {Image{Width: 1}, Image{Width: 1}, true}, {Image{Width: 1}, Image{Height: 1}, false}, {Image{Format: 1}, Image{Mipmaps: 1}, false}, {Image{}, Image{Data: []byte{}}, true}, {Image{}, Image{Data: []byte{0}}, false},
		{InputEvent{Type: 1}, InputEvent{Type: 1, Data: []byte{}}, true}, {InputEvent{Type: 1}, InputEvent{Device: 1}, false}, {InputEvent{Type: 1}, InputEvent{Type: 1, Data: []byte{1}}, false},
		{[]byte(nil), []byte{}, true}, {[]int32(nil), []int32{}, true}, {[]int64(nil), []int64{}, true}, {[]string(nil), []string{}, true}, {[]Color(nil), []Color{}, true},
		{[]int32{1}, []int32{2}, false}, {[]int64{1}, []int64{2}, false}, {[]string{"a"}, []string{"b"}, false}, {[]byte{1}, []byte{2}, false}, {uint64(1 << 63), uint64(1 << 63), true},
	} {
		for _, others := range []int{0, 1, 20, 40} { // 40 have an index
			t.Run(fmt.Sprintf("%T %v, %T %v, %d", c.a, c.a, c.b, c.b, others), func(t *testing.T) {
				d := &Dictionary{}
				for i := range others {
					d.Set(fmt.Sprint("other", i), i)
				}
				d.Set(c.a, "a")
				d.Set(c.b, "b")
				if c.same {
					require.Equal(t, others+1, d.Len())
				} else {
					require.Equal(t, others+2, d.Len())
				}
				got, ok := d.Get(c.b)
				require.True(t, ok)
				require.Equal(t, "b", got)
				require.True(t, d.Delete(c.b))
			})
		}
	}
}

// A Dictionary is compared with a list of pairs while the body of a loop over it sets and
// deletes keys.
func TestDictionaryAll(t *testing.T) {
	seeds := uint64(2000)
	if !testenv.Full() {
		seeds /= 10
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 0))
		d, model := &Dictionary{}, []Entry[any, any]{}
		var added []any
		change := func() {
			for range random.IntN(30) {
				k := random.IntN(40)
				at := slices.IndexFunc(model, func(e Entry[any, any]) bool { return e.Key == k })
				if random.IntN(5) < 3 {
					require.Equal(t, at >= 0, d.Delete(k))
					if at >= 0 {
						model = slices.Delete(slices.Clone(model), at, at+1)
					}
					continue
				}
				d.Set(k, random.Int())
				v, _ := d.Get(k)
				if model = slices.Clone(model); at >= 0 {
					model[at].Value = v
				} else {
					model = append(model, Entry[any, any]{k, v})
					added = append(added, k)
				}
			}
		}
		for range 10 {
			change()
		}
		first := model
		added = nil // since the loop began, so that it does not yield them
		var got []any
		for k, v := range d.All() {
			at := slices.IndexFunc(model, func(e Entry[any, any]) bool { return e.Key == k })
			require.GreaterOrEqual(t, at, 0, "seed %d: deleted key %v", seed, k)
			require.Equal(t, model[at].Value, v, "seed %d: old value of %v", seed, k)
			require.NotContains(t, added, k)
			require.NotContains(t, got, k)
			got = append(got, k)
			change()
		}
		for _, e := range first { // each key that was there all the time
			if _, kept := d.Get(e.Key); kept && !slices.Contains(added, e.Key) {
				require.Contains(t, got, e.Key, "seed %d", seed)
			}
		}
		var keys []Entry[any, any]
		for k, v := range d.All() {
			keys = append(keys, Entry[any, any]{k, v})
		}
		require.True(t, slices.Equal(model, keys), "seed %d: %v, %v", seed, model, keys)
	}
}

// Deleting the first pair again and again takes time proportional to the number of pairs: All and
// find pass no entry that was deleted at the front, and compact moves few.
func TestDictionaryDeleteFirst(t *testing.T) {
	const pairs = 1000
	for name, key := range map[string]func(i int) any{
		"int": func(i int) any { return int64(i) },
		"RID": func(i int) any { return RID(i) }, // compared by content
	} {
		t.Run(name, func(t *testing.T) {
			d := &Dictionary{}
			for i := range pairs {
				d.Set(key(i), i)
			}
			compacted := 0
			for i := range pairs {
				if i%4 == 0 { // a queue that is also filled
					d.Set(key(pairs+i), i)
				}
				front := d.entries[:d.at().first]
				passed := 0
				for j := range front {
					front[j].Key = countedKey{&passed}
				}
				for k := range d.All() {
					require.Equal(t, key(i), k)
					require.Equal(t, d.at().first, d.find(k))
					break
				}
				require.Zero(t, passed)
				for j := range front {
					front[j].Key = tombstone{}
				}
				entries, removed := len(d.entries), d.at().removed
				require.True(t, d.Delete(key(i)))
				if d.at().removed > removed {
					compacted += entries
				}
			}
			require.Equal(t, pairs/4, d.Len())
			require.LessOrEqual(t, compacted, 4*pairs)
		})
	}
}

// A packet can contain millions of small Dictionaries, so each takes little.
func TestDictionarySize(t *testing.T) {
	require.LessOrEqual(t, allocatedOf(reflect.TypeFor[Dictionary]()), int64(dictionarySize))
	d := &Dictionary{}
	for i := range fewEntries {
		d.Set(i, i)
	}
	require.Nil(t, d.positions)
}

// A countedKey counts how often it is compared.
type countedKey struct{ compared *int }

func (k countedKey) MarshalText() ([]byte, error) {
	*k.compared++
	return nil, nil
}

// Values that contain themselves, in all ways in which a Go value can, are neither
// compared nor encoded for ever.
func TestCycles(t *testing.T) {
	cyclicMap := func() any { m := map[any]int{}; m[&m] = 1; return m }
	cyclicKeys := func() any { d := &Dictionary{}; d.add(d, 1); return d }
	cyclicArray := func() any { a := &Array{}; a.Values = []any{a, a}; return a }
	cyclicObject := func() any { o := &Object{Class: "A"}; o.Properties = []Property{{"a", o}, {"b", o}}; return o }
	cyclicValue := func() any { d := &Dictionary{}; d.add("a", d); return d }
	cyclicPointer := func() any { n := &node{}; n.Left, n.Right = n, n; return n }
	cyclicList := func() any { l := []any{nil, nil}; l[0], l[1] = l, l; return l }
	keyOfKey := func() any {
		d, o := &Dictionary{}, &Object{Class: "A"}
		d.add(array(o), 1)
		o.Properties = []Property{{"a", map[any]any{d: 1}}}
		return d
	}
	for name, f := range map[string]func() any{
		"map": cyclicMap, "keys": cyclicKeys, "Array": cyclicArray, "Object": cyclicObject,
		"Dictionary": cyclicValue, "pointer": cyclicPointer, "slice": cyclicList, "keys of keys": keyOfKey,
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, errOf(Marshal(f())), gdwire.ErrLimit)
			require.ErrorIs(t, errOf(Marshal(f(), Options{Encoder: gdwire.EncoderOptions{Depth: -1}})), gdwire.ErrLimit)
			require.ErrorIs(t, errOf(Marshal(map[any]any{ptr(f()): 1})), gdwire.ErrLimit)
			v, d := f(), &Dictionary{}
			if !reflect.TypeOf(v).Comparable() {
				v = &v
			}
			d.Set(v, 1)
			got, ok := d.Get(v)
			require.True(t, ok)
			require.Equal(t, 1, got)
			d.Set(f(), 2) // equal to a part of itself
			require.ErrorIs(t, errOf(Marshal(d)), gdwire.ErrLimit)
			d.Delete(f())
		})
	}
}
