package variant

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Decoding into used variables: slices are reused, pointers and maps in them are new, and
// fields without a key keep their values, except in elements.
func TestMemoryKept(t *testing.T) {
	type item struct {
		Name   string
		Tags   []string
		Next   *int
		Counts map[string]int
		Rest   *Dictionary `gd:",embed"`
		Any    any
		Time   level
		Made   celsius
		Inner  simple
	}
	old := []item{
		{Name: "old", Tags: make([]string, 3, 10), Next: ptr(1), Counts: map[string]int{"a": 1}, Rest: dict("z", 1), Any: 5, Time: 3, Made: celsius{5}, Inner: simple{"in", 4}},
		{Name: "gone"},
	}
	next, counts := old[0].Next, old[0].Counts
	items := old
	b := encoded(t, array(dict("next", 2, "counts", dict("b", 2), "tags", []string{"x"}, "inner", dict("max_hp", 6))), nil)
	require.NoError(t, Unmarshal(b, &items, nil))
	require.Equal(t, []item{{Next: ptr(2), Counts: map[string]int{"b": 2}, Tags: []string{"x"}, Inner: simple{MaxHP: 6}}}, items)
	assert.Same(t, &old[0], &items[0])
	assert.Equal(t, 10, cap(items[0].Tags))
	assert.Equal(t, 1, *next)
	assert.Equal(t, map[string]int{"a": 1}, counts)

	one := item{Name: "kept", Counts: map[string]int{"a": 1}, Next: ptr(1)}
	next = one.Next
	b = encoded(t, dict("counts", dict("b", 2), "next", 7), nil)
	require.NoError(t, Unmarshal(b, &one, nil))
	require.Equal(t, item{Name: "kept", Counts: map[string]int{"a": 1, "b": 2}, Next: ptr(7)}, one)
	assert.Same(t, next, one.Next)

	nodes := map[string]node{"a": {Value: 1, Left: &node{Value: 5}}}
	require.NoError(t, Unmarshal(encoded(t, dict("a", dict("value", 2)), nil), &nodes, nil))
	require.Equal(t, map[string]node{"a": {Value: 2, Left: &node{Value: 5}}}, nodes, "entries are merged")
}

// Fields of embedded structs are found also if these are not exported.
func TestUnmarshalEmbeddedUnexported(t *testing.T) {
	var v struct {
		simple
		stringer
		int
	}
	require.NoError(t, Unmarshal(encoded(t, dict("name", "n", "text", "t"), nil), &v, nil))
	require.Equal(t, "n", v.Name)
}
