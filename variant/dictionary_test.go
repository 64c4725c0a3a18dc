package variant

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		{dict("a", 1, "b", 2), dict("b", 2, "a", 1), true}, {dict("a", 1), dict("a", 2), false}, {dict("a", 1), dict(), false}, {dict(), array(), false},
		{[]byte{1}, []byte{1}, true}, {[]byte{1}, []int32{1}, false}, {[]string{"a"}, []string{"a"}, true},
		{[]float64{nan}, []float64{nan}, true}, {[]float64{1}, []float64{1, 2}, false}, {[]Vector2{{1, 2}}, []Vector2{{1, zero + 2}}, true}, {[]float32{1}, []float64{1}, false},
		{[]Color{{1, 2, 3, 4}}, []Color{{1, 2, 3, 5}}, false},
		{&Object{}, &Object{}, false}, {Image{Width: 1}, Image{Width: 1}, true}, {uint64(1 << 63), uint64(1 << 63), true},
	} {
		for _, others := range []int{0, 1, 20} {
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

// A Dictionary with two keys {}, which Godot 3 can write, is decoded and encoded
// unchanged.
func TestDictionaryKeepsEqualContainers(t *testing.T) {
	d := &Dictionary{}
	for i := range 12 {
		d.add(&Dictionary{}, i)
		d.add(RID(0), i)
	}
	b := encoded(t, d, godot3)
	var got any
	require.NoError(t, Unmarshal(b, &got, *godot3))
	assert.Equal(t, 24, got.(*Dictionary).Len())
	assert.Equal(t, b, encoded(t, got, godot3))
	v, ok := got.(*Dictionary).Get(&Dictionary{})
	assert.True(t, ok)
	assert.Equal(t, int64(0), v)
}
