package variant

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
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
		return fmt.Sprint("+ ", c.Path, " ", c.New)
	case c.Removed:
		return fmt.Sprint("- ", c.Path, " ", c.Old)
	}
	return fmt.Sprint(c.Path, " ", c.Old, " ", c.New)
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
		{"removed before a change", array(item(1, "a"), item(2, "b"), item(3, "c")), array(item(2, "B"), item(3, "c")), []string{"- $[0] " + fmt.Sprint(item(1, "a")), "$[0].name b B"}},
		{"added before a change", array(item(2, "b")), array(item(1, "a"), item(2, "B")), []string{"+ $[0] " + fmt.Sprint(item(1, "a")), "$[1].name b B"}},
		{"declared", &Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}}, array(), []string{"$ " + fmt.Sprint(&Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}}) + " " + fmt.Sprint(array())}},
		{"packed", []int32{1, 2}, []int32{1, 3}, []string{"$ [1 2] [1 3]"}},
		{"object", &Object{Class: "N", Properties: []Property{{"hp", int64(1)}, {"x", nil}}}, &Object{Class: "N", Properties: []Property{{"hp", int64(2)}}}, []string{"$.hp 1 2", "- $.x <nil>"}},
		{"class", array(&Object{Class: "N"}), array(&Object{Class: "M"}), []string{"$[0] " + fmt.Sprint(&Object{Class: "N"}) + " " + fmt.Sprint(&Object{Class: "M"})}},
		{"names", dict("a b", int64(1), int64(7), int64(1), 1.0, int64(1), nil, int64(1)), dict("a b", int64(2), int64(7), int64(2), 1.0, int64(2), nil, int64(2)),
			[]string{`$["a b"] 1 2`, "$[7] 1 2", "$[1.0] 1 2", "$[null] 1 2"}},
		{"components", dict(Vector2{float64(float32(0.1)), 1}, int64(1), Vector2{0.1, 1}, int64(1)), dict(Vector2{float64(float32(0.1)), 1}, int64(2), Vector2{0.1, 1}, int64(2)),
			[]string{"$[Vector2(0.1, 1.0)] 1 2", "$[Vector2(0.1, 1.0)] 1 2"}},
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

// A container that contains itself ends.
func TestDiffCycle(t *testing.T) {
	a, b := array(int64(1)), array(int64(2))
	a.Values, b.Values = append(a.Values, a), append(b.Values, b)
	n := 0
	for range Diff(a, b) {
		if n++; n == 3 {
			break
		}
	}
	require.NotZero(t, n)
	require.Empty(t, changeText(a, a))
}

// The paths of edits are those that Diff finds.
func TestDiffEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	next := int64(0)
	leaf := func() any {
		next++
		return []any{next, float64(next) + 0.5, fmt.Sprint("text ", next), []int32{int32(next)}, Vector3{X: float64(next)}}[random.IntN(5)]
	}
	record := func() *Dictionary { return dict("id", leaf(), "hp", leaf(), "tags", array(leaf(), leaf())) }
	// Each edit changes a section and returns the path of the change.
	edits := []func(s *Dictionary, items *Array, i int) string{
		func(_ *Dictionary, items *Array, i int) string {
			items.Values[i].(*Dictionary).Set("hp", leaf())
			return fmt.Sprintf(".items[%d].hp", i)
		},
		func(_ *Dictionary, items *Array, i int) string {
			items.Values = slices.Delete(items.Values, i, i+1)
			return fmt.Sprintf(".items[%d]", i)
		},
		func(_ *Dictionary, items *Array, i int) string {
			items.Values = slices.Insert(items.Values, i, any(record()))
			return fmt.Sprintf(".items[%d]", i)
		},
		func(s *Dictionary, _ *Array, _ int) string { s.Delete("name"); return ".name" },
		func(s *Dictionary, _ *Array, _ int) string {
			key := next
			s.Set(key, leaf())
			return fmt.Sprintf("[%d]", key)
		},
		func(_ *Dictionary, items *Array, i int) string {
			items.Values[i].(*Dictionary).Set("new", nil)
			return fmt.Sprintf(".items[%d].new", i)
		},
	}
	for range 1000 / 4 {
		whole := &Dictionary{}
		for i := range 4 {
			items := array()
			for range 1 + random.IntN(20) {
				items.Values = append(items.Values, record())
			}
			whole.Set(fmt.Sprint("s", i), dict("name", leaf(), "items", items))
		}
		a, b := roundTrip(t, whole), roundTrip(t, whole)
		require.Empty(t, changeText(a, b))
		var want, got []string
		for name, section := range b.(*Dictionary).All() {
			s := section.(*Dictionary)
			v, _ := s.Get("items")
			items := v.(*Array)
			want = append(want, "$."+name.(string)+edits[random.IntN(len(edits))](s, items, random.IntN(len(items.Values))))
		}
		for c := range Diff(a, b) {
			got = append(got, c.Path)
		}
		require.Equal(t, want, got)
	}
}

// roundTrip returns v as Unmarshal stores it in an any.
func roundTrip(t testing.TB, v any) (result any) {
	data, err := Marshal(v, contentOptions)
	require.NoError(t, err)
	o := contentOptions
	o.Decoder.AllowObjects, o.Decoder.AllowInvalidUTF8, o.Decoder.Limits.Depth = true, true, -1
	require.NoError(t, Unmarshal(data, &result, o))
	return result
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

// FuzzDiff compares two values that were read from bytes. What is said to be in the new value is
// where the path leads.
func FuzzDiff(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	o := *fuzzOptions(gdwire.Godot4)
	for range 50 {
		a, err := Marshal(randomValue(random, 4), o)
		require.NoError(f, err)
		b, err := Marshal(randomValue(random, 4), o)
		require.NoError(f, err)
		f.Add(a, b)
		f.Add(a, a)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var a, again, b any
		if Unmarshal(first, &a, o) != nil || Unmarshal(first, &again, o) != nil || Unmarshal(second, &b, o) != nil {
			return
		}
		require.Empty(t, changeText(a, again))
		d := differ{seed: maphash.MakeSeed(), digests: map[any]uint64{}}
		n := 0
		for c := range Diff(a, b) {
			n++
			require.False(t, c.Added && c.Removed)
			if c.Removed || hasObject(b) { // names of properties can be equal
				continue
			}
			got, err := Get(b, c.Path)
			require.NoError(t, err)
			require.Equal(t, d.digest(c.New), d.digest(got), c.Path)
		}
		if n == 0 {
			require.True(t, equalKeys(a, b) || hasObject(a), "%#v\n%#v", a, b)
		}
	})
}
