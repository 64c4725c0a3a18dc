package variant

import (
	"net/netip"
	"testing"
)

func TestGoMaps(t *testing.T) {
	testGoTypes(t, []goType{
		{name: "Dictionary", value: dict("b", int64(1), "a", nil), wire: dict("b", int64(1), "a", nil)},
		{name: "map", value: map[string]int{"b": 2, "a": 1}, wire: dict("a", int64(1), "b", int64(2))},
		{name: "map of named strings", value: map[myString]bool{"b": true, "a": false}, wire: dict("a", false, "b", true)},
		{name: "map of StringName", value: map[StringName]int{"a": 1}, wire: dict(StringName("a"), int64(1))},
		{name: "map of NodePath", value: map[NodePath]int{"a/b": 1}, wire: dict(NodePath("a/b"), int64(1))},
		{name: "map of ints", value: map[myInt]int{10: 1, 9: 2, -1: 3}, wire: dict(int64(-1), int64(3), int64(9), int64(2), int64(10), int64(1))},
		{name: "map of uints", value: map[uint16]int{300: 1, 2: 2}, wire: dict(int64(2), int64(2), int64(300), int64(1))},
		{name: "map of floats", value: map[float64]int{1.5: 1, -2: 2}, wire: dict(-2.0, int64(2), 1.5, int64(1))},
		{name: "map of bools", value: map[bool]int{true: 1, false: 2}, wire: dict(false, int64(2), true, int64(1))},
		{name: "map of Vector2i", value: map[Vector2i]string{{2, 1}: "b", {1, 2}: "a"}, wire: dict(Vector2i{1, 2}, "a", Vector2i{2, 1}, "b")},
		{name: "map of [2]int32", value: map[ivec2]string{{1, 2}: "a"}, wire: dict(Vector2i{1, 2}, "a")},
		{name: "map of text", value: map[level]int{2: 1, 1: 2}, wire: dict("level 1", int64(2), "level 2", int64(1))},
		{name: "map of addresses", value: map[netip.Addr]int{netip.MustParseAddr("::1"): 1}, wire: dict("::1", int64(1))},
		{name: "map of any", value: map[any]int{"a": 1, int64(2): 2}, wire: dict(int64(2), int64(2), "a", int64(1))},
		{name: "map of maps", value: map[string]map[string]int{"a": {}}, wire: dict("a", dict())},
	})
}
