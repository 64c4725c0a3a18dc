package main

import (
	"fmt"
	"slices"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// mapGroups compare package variant with codecs of Go values, on what programs without structs
// send. variant sorts the keys, and cbor if it is told to.
var mapGroups = []group{
	counted("maps and trees out", func() []contender {
		return slices.Concat(
			writingMap("tree", mapTree()),
			writingMap("map[string]int64", countMap()),
			writingMap("map[string][]int64", mapOf(func(i int) (string, []int64) { return fmt.Sprint("player_", i*7919), []int64{1, 2, 3} })),
			writingMap("map[int]string", mapOf(func(i int) (int, string) { return i * 7919, "Ada Lovelace" })),
			writingMap("map[int64]bool", mapOf(func(i int) (int64, bool) { return int64(i * 7919), i%2 == 0 })),
		)
	}),
	counted("maps and trees in", func() []contender {
		return slices.Concat(
			readingMap[map[string]any]("tree", mapTree()),
			readingMap[any]("tree into any", mapTree()),
			readingMap[map[string]int64]("map[string]int64", countMap()),
			readingMap[map[string]any]("map[string]any", mapOf(func(i int) (string, any) { return fmt.Sprint("player_", i*7919), int64(i) })),
		)
	}),
}

// mapTree returns a record as a program without structs builds it: two maps and a list with 12
// leaves.
func mapTree() map[string]any {
	return map[string]any{
		"id":       int64(7),
		"name":     "Ada Lovelace",
		"alive":    true,
		"health":   87.5,
		"level":    int64(12),
		"luck":     int64(-3),
		"class":    "engineer",
		"position": map[string]any{"x": 1.5, "y": 0.0, "z": -3.25},
		"tags":     []any{"human", "winged"},
	}
}

// mapEntries is the number of entries of the maps that are no trees.
const mapEntries = 1000

func countMap() map[string]int64 {
	return mapOf(func(i int) (string, int64) { return fmt.Sprint("player_", i*7919), int64(i) })
}

// mapOf returns a map of mapEntries entries.
func mapOf[K comparable, V any](entry func(i int) (K, V)) map[K]V {
	m := map[K]V{}
	for i := range mapEntries {
		k, v := entry(i)
		m[k] = v
	}
	return m
}

// sortedCBOR is cbor with the option to sort keys.
var sortedCBOR = codec{call: "cbor, sorted", marshal: must(cbor.EncOptions{Sort: cbor.SortBytewiseLexical}.EncMode()).Marshal}

// writingMap returns contenders that encode v.
func writingMap(name string, v any) []contender {
	size := len(must(variant.Marshal(v)))
	write := func(e *gdwire.Encoder) { check(variant.MarshalEncode(e, v)) }
	return append(marshalings(append(codecs[:4:4], sortedCBOR), ", "+name, size, v), encoding("variant.MarshalEncode, "+name, size, write).allocating())
}

// readingMap returns contenders that decode the encoding of v into a new T.
func readingMap[T any](name string, v any) (all []contender) {
	size := len(must(variant.Marshal(v)))
	for _, c := range codecs[:4] {
		all = append(all, into(c, ", "+name, must(c.marshal(v)), size, size, func(T) int { return size }))
	}
	return all
}
