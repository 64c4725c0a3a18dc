package variant

import (
	"math"
	"reflect"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// What is charged for a map is what Go allocates for it, and at most twice as much.
func TestMapSizes(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("the sizes are those of 64 bits")
	}
	for _, m := range []any{map[int]int{}, map[int8]bool{}, map[string]string{}, map[any]any{}, map[int][16]float64{}, map[int][200]byte{}, map[[3]string]struct{}{}} {
		typ := reflect.TypeOf(m)
		sizes := mapSizesOf(typ)
		for _, n := range []int{1, 8, 9, 14, 15, 100, 896, 897, 5000} {
			got := int64(math.MaxInt64)
			for range 3 { // others allocate, too
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				v := reflect.MakeMapWithSize(typ, n)
				key, elem := reflect.New(typ.Key()).Elem(), reflect.New(typ.Elem()).Elem()
				if n <= groupSlots {
					v.SetMapIndex(key, elem)
				}
				runtime.ReadMemStats(&after)
				got = min(got, int64(after.TotalAlloc-before.TotalAlloc)-int64(typ.Key().Size()+typ.Elem().Size()))
			}
			charged := sizes.bytes(n)
			if sizes.apart > 0 { // not allocated yet
				charged -= int64(n) * sizes.apart
			}
			assert.LessOrEqual(t, got, charged*5/4+512, "%v of %d", typ, n)
			assert.LessOrEqual(t, charged, got*2+512, "%v of %d", typ, n)
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
