package variant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// changeText returns changes as text.
func changeText(a, b any) (lines []string) {
	for c := range Diff(a, b) {
		lines = append(lines, changeLine(c))
	}
	return lines
}

func changeLine(c Change) string {
	switch {
	case c.Added:
		return fmt.Sprint("+ ", c.NewPath, " ", c.New)
	case c.Removed:
		return fmt.Sprint("- ", c.OldPath, " ", c.Old)
	case c.OldPath != c.NewPath:
		return fmt.Sprint(c.OldPath, " -> ", c.NewPath, " ", c.Old, " ", c.New)
	}
	return fmt.Sprint(c.NewPath, " ", c.Old, " ", c.New)
}

func TestDiff(t *testing.T) {
	long := strings.Repeat("k", 2000)
	item := func(id int64, name string) any { return dict("id", id, "name", name, "hp", int64(5)) }
	for _, test := range []struct {
		name string
		a, b any
		want []string
	}{
		{"equal", dict("a", array(int64(1), 2.5)), dict("a", array(int64(1), 2.5)), nil},
		{"root", int64(1), "1", []string{"$ 1 1"}},
		{"type", dict("f", 5.0, "n", StringName("n")), dict("f", int64(5), "n", "n"), []string{"$.f 5 5", "$.n n n"}},
		{"zero", 0.0, math.Copysign(0, -1), []string{"$ 0 -0"}},
		{"nan", array(math.NaN(), Vector2{math.NaN(), 1}, []float32{float32(math.NaN())}), array(math.NaN(), Vector2{math.NaN(), 1}, []float32{float32(math.NaN())}), nil},
		{"order", dict("a", true, "b", nil), dict("b", nil, "a", true), nil},
		{"keys", dict("a", true, "b", nil), dict("b", nil, "c", false), []string{"- $.a true", "+ $.c false"}},
		{"type of key", dict("a", true), dict(StringName("a"), true), []string{"- $.a true", `+ $[&"a"] true`}},
		{"added nil", dict(), dict("a", nil), []string{"+ $.a <nil>"}},
		{"elements", array("a", "b", "c", "d"), array("a", "c", "x", "d"), []string{"- $[1] b", "+ $[2] x"}},
		{"append", array(), array(nil, nil), []string{"+ $[0] <nil>", "+ $[1] <nil>"}},
		{"nested", array(array("a", "b"), "c"), array(array("b"), "c"), []string{"- $[0][0] a"}},
		{"removed before a change", array(item(1, "a"), item(2, "b"), item(3, "c")), array(item(2, "B"), item(3, "c")), []string{"- $[0] " + fmt.Sprint(item(1, "a")), "$[1].name -> $[0].name b B"}},
		{"added before a change", array(item(2, "b")), array(item(1, "a"), item(2, "B")), []string{"+ $[0] " + fmt.Sprint(item(1, "a")), "$[0].name -> $[1].name b B"}},
		{"declared", &Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}}, array(), []string{"$ " + fmt.Sprint(&Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}}) + " " + fmt.Sprint(array())}},
		{"declared keys", &Dictionary{Key: gdwire.Elem{Type: gdwire.TypeInt}}, dict(), []string{"$ Dictionary[int, Variant]({}) {}"}},
		{"declared values", dict(), &Dictionary{Value: gdwire.Elem{Type: gdwire.TypeInt}}, []string{"$ {} Dictionary[Variant, int]({})"}},
		{"image", dict("i", Image{Width: 1}, "j", Image{}), dict("i", Image{Width: 2}, "j", Image{Data: []byte{}}), []string{"$.i " + fmt.Sprint(Image{Width: 1}, " ", Image{Width: 2})}},
		{"event", array(InputEvent{Device: 1}, InputEvent{Type: 1}), array(InputEvent{Device: 2}, InputEvent{Type: 1}), []string{"$[0] " + fmt.Sprint(InputEvent{Device: 1}, " ", InputEvent{Device: 2})}},
		{"empty", array([]int32(nil), []string(nil), []Color(nil)), array([]int32{}, []string{}, []Color{}), nil},
		{"empty of other types", array([]int32{}, RID(1), true), array([]int64{}, ObjectID(1), false), []string{"$[0] [] []", "$[1] " + fmt.Sprint(RID(1), " ", ObjectID(1)), "$[2] true false"}},
		{"quiet", Color{R: math.Float32frombits(0x7FC00001)}, Color{R: math.Float32frombits(0x7F800001)}, []string{"$ " + fmt.Sprint(Color{R: float32(math.NaN())}, " ", Color{R: float32(math.NaN())})}},
		{"moved", array("x", dict("l", array("a", "b"), "m", true)), array(dict("l", array("b", "c"), "m", true)), []string{"- $[0] x", "- $[1].l[0] a", "+ $[0].l[1] c"}},
		{"properties of one name", object("a", int64(1), "a", int64(2), "a", int64(3)), object("a", int64(0), "a", int64(4)), []string{"$.a 1 0", "$.value(1) 2 4", "- $.value(2) 3"}},
		{"order of properties of one name", object("a", int64(1), "b", nil, "a", int64(2)), object("a", int64(2), "a", int64(1), "b", nil), []string{"$.a 1 2", "$.value(2) -> $.value(1) 2 1"}},
		{"long name", object(long, int64(1)), object(long, int64(2)), []string{"$.value(0) 1 2"}},
		{"packed", []int32{1, 2}, []int32{1, 3}, []string{"$ [1 2] [1 3]"}},
		{"object", &Object{Class: "N", Properties: []Property{{"hp", int64(1)}, {"x", nil}}}, &Object{Class: "N", Properties: []Property{{"hp", int64(2)}}}, []string{"$.hp 1 2", "- $.x <nil>"}},
		{"class", array(&Object{Class: "N"}), array(&Object{Class: "M"}), []string{"$[0] " + fmt.Sprint(&Object{Class: "N"}) + " " + fmt.Sprint(&Object{Class: "M"})}},
		{"names", dict("a b", int64(1), int64(7), int64(1), 1.0, int64(1), nil, int64(1)), dict("a b", int64(2), int64(7), int64(2), 1.0, int64(2), nil, int64(2)),
			[]string{`$["a b"] 1 2`, "$[7] 1 2", "$[1.0] 1 2", "$[null] 1 2"}},
		{"components", dict(Vector2{float64(float32(0.1)), 1}, int64(1), Vector2{0.1, 1}, int64(1)), dict(Vector2{float64(float32(0.1)), 1}, int64(2), Vector2{0.1, 1}, int64(2)),
			[]string{"$.value(0) 1 2", "$[Vector2(0.1, 1.0)] 1 2"}},
		{"long and other keys", dict(long, int64(1), array("k"), int64(1)), dict(long, int64(2), array("k"), int64(2)), []string{"$.value(0) 1 2", "$.value(1) 1 2"}},
		{"by value", Array{Values: []any{int64(1)}}, *array(int64(2)), []string{"$[0] 1 2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, changeText(test.a, test.b))
			require.Empty(t, changeText(test.a, test.a))
			require.Empty(t, changeText(test.b, test.b))
		})
	}
}

func object(properties ...any) *Object {
	o := &Object{Class: "A"}
	for i := 0; i < len(properties); i += 2 {
		o.Properties = append(o.Properties, Property{properties[i].(string), properties[i+1]})
	}
	return o
}

// Values of other Go types are equal if their encodings are, or without one if they are identical.
func TestDiffOtherTypes(t *testing.T) {
	c, list := make(chan int), []func(){nil}
	for _, test := range []struct {
		a, b  any
		equal bool
	}{
		{1, 1, true}, {1, 2, false}, {1, int64(1), false}, {[]int{1}, []int{1}, true}, {[]int{1}, []int{2}, false},
		{ptr(1), ptr(1), true}, {simple{"a", 1}, simple{"a", 1}, true}, {simple{"a", 1}, simple{"a", 2}, false},
		{c, c, true}, {c, make(chan int), false}, {ptr(c), ptr(c), false}, {struct{ C chan int }{c}, struct{ C chan int }{c}, true},
		{list, list, false}, {(*Array)(nil), nil, true}, {Array{}, &Array{}, true}, {Dictionary{}, Object{}, false},
	} {
		require.Equal(t, test.equal, len(changeText(test.a, test.b)) == 0, "%v %v", test.a, test.b)
		if reflect.TypeOf(test.a) != reflect.TypeOf(list) {
			require.Equal(t, test.equal, len(changeText(array(test.a), array(test.b))) == 0, "%v %v", test.a, test.b)
		}
	}
}

// Arrays are aligned up to the bounds of the work for each of them, and beyond them compared by index.
func TestDiffBounds(t *testing.T) {
	items := func(n, from int64) *Array {
		a := &Array{}
		for i := range n {
			a.Values = append(a.Values, array(i+from, "x", -i-from))
		}
		return a
	}
	rename := func(a *Array) *Array {
		for i := range a.Values {
			a.Values[i].(*Array).Values[1] = "y"
		}
		return a
	}
	aligned := func(n, m int64) bool { // the second Array lacks the first elements, and all others differ
		for c := range Diff(items(n, 0), rename(items(m, n-m))) {
			return c.Removed
		}
		return false
	}
	require.True(t, aligned(128, 32))
	require.False(t, aligned(129, 32))
	require.False(t, aligned(128, 33))

	differing := func(n int64) int {
		a, b := &Array{Values: []any{"start"}}, &Array{Values: []any{"start"}}
		for i := range n {
			a.Values = append(a.Values, i, "between")
			b.Values = append(b.Values, "between", -1-i)
		}
		return len(changeText(a, b))
	}
	require.Equal(t, 1+maxDiffering, differing(maxDiffering), "the first is removed, the last is added")
	require.Equal(t, 2*(1+maxDiffering), differing(1+maxDiffering), "by index")
}

func TestDiffEndsWithLoop(t *testing.T) {
	a, b := dict("a", array(int64(1), int64(2)), "b", int64(1), "c", nil), dict("a", array(int64(3), int64(4)), "b", int64(2), "d", nil)
	for most := range 5 {
		n := 0
		for range Diff(a, b) {
			if n++; n > most {
				break
			}
		}
		require.Equal(t, most+1, n)
	}
}

// The work for hostile Arrays is bounded: so many steps for the longest common subsequence of these
// would be 10,000,000,000.
func TestDiffHostile(t *testing.T) {
	const n = 100_000
	ints := func(next func(i int) int) *Array {
		a := &Array{Values: make([]any, n)}
		for i := range a.Values {
			a.Values[i] = int64(next(i))
		}
		return a
	}
	random := rand.New(rand.NewPCG(1, 2))
	for name, test := range map[string]struct {
		a, b *Array
		most int // changes
	}{
		"nothing equal": {ints(func(i int) int { return i }), ints(func(i int) int { return -1 - i }), n},
		"few values":    {ints(func(int) int { return random.IntN(2) }), ints(func(int) int { return random.IntN(2) }), n},
		"reversed":      {ints(func(i int) int { return i }), ints(func(i int) int { return n - i }), n},
		"shifted":       {ints(func(i int) int { return i }), ints(func(i int) int { return i + 500 }), 1000},
		"turns":         {ints(func(i int) int { return i % 2 }), ints(func(i int) int { return (i + 1) % 2 }), 2},
	} {
		changes := 0
		for range Diff(test.a, test.b) {
			changes++
		}
		require.LessOrEqual(t, changes, test.most, name)
		require.NotZero(t, changes, name)
	}
	// Containers in containers are read once, not once for each level.
	deep := func(leaf any) any {
		v := leaf
		for range 5000 {
			v = array(v, "x")
		}
		return v
	}
	require.Len(t, changeText(deep(int64(1)), deep(int64(2))), 1)
}

// FuzzDiff compares two values that were read from bytes, each in a format.
func FuzzDiff(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	formats := gdwire.Formats()
	for range 50 {
		i, j := random.IntN(len(formats)), random.IntN(len(formats))
		a := encoded(f, randomTree(random, formats[i], 3), fuzzOptions(formats[i]))
		b := encoded(f, randomTree(random, formats[j], 3), fuzzOptions(formats[j]))
		f.Add(a, b, byte(i), byte(j))
		f.Add(a, a, byte(i), byte(i))
	}
	f.Fuzz(func(t *testing.T, first, second []byte, i, j byte) {
		o, p := fuzzOptions(formats[int(i)%len(formats)]), fuzzOptions(formats[int(j)%len(formats)])
		var a, again, b any
		if Unmarshal(first, &a, *o) != nil || Unmarshal(first, &again, *o) != nil || Unmarshal(second, &b, *p) != nil {
			return
		}
		requireChanges(t, a, again, slices.Collect(Diff(a, again)))
		requireChanges(t, a, b, slices.Collect(Diff(a, b)))
	})
}
