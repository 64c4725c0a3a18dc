package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
	"github.com/tinylib/msgp/msgp"
)

// Shapes of Go values that no document has, beside the best peer.

// shapeGroups compare package variant with cbor, which writes the nearest Go types: arrays for math types, strings for StringNames.
var shapeGroups = []group{
	counted("shapes in", func() []contender {
		wide, few := fieldNames(200), fieldNames(20)
		shuffled := slices.Clone(wide)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		reversed := slices.Clone(few)
		slices.Reverse(reversed)
		var some []string
		for i := 0; i < len(few); i += 2 {
			some = append(some, few[i])
		}
		return slices.Concat(
			readingShape(", 200 fields in order", filled(wide), structOf(wide)),
			readingShape(", 200 fields in another order", filled(shuffled), structOf(wide)),
			readingShape(", 20 fields reversed", filled(reversed), structOf(few)),
			readingShape(", every other of 20 fields missing", filled(some), structOf(few)),
			readingShape(", structs of small packed arrays", smallPacked(), reflect.TypeFor[[]packedRecord]()),
			unmarshalings([]codec{strict}, ", Strict, structs of small packed arrays", smallPacked(), reflect.TypeFor[[]packedRecord]()),
		)
	}),
	counted("byte by byte", func() []contender {
		doc := translate(must(variant.Marshal(saveOf(6))))
		d, r, p, b := gdwire.NewDecoder(nil, nil), msgp.NewReaderSize(nil, msgpBuffer), new(bytewise), doc.msgp()
		return []contender{
			ours("gdwire tokens", len(doc.godot), doc.tokens, func() int {
				p.Reset(doc.godot)
				d.Reset(p)
				return readTokens(d)
			}),
			peer("msgp Skip", len(b), 0, func() int {
				p.Reset(b)
				r.Reset(p)
				check(r.Skip())
				return p.Len()
			}),
		}
	}),
	counted("shapes out", func() []contender {
		return slices.Concat(
			writingShape(", any of 200 Vector3", listOf(200, variant.Vector3{X: 1, Y: 2.5}), listOf(200, [3]float64{1, 2.5})),
			writingShape(", any of 200 Vector2i", listOf(200, variant.Vector2i{X: 1, Y: 2}), listOf(200, [2]int32{1, 2})),
			writingShape(", any of 200 StringName", listOf(200, variant.StringName("idle")), listOf(200, "idle")),
			writingShape(", 10000 Vector2", make([]variant.Vector2, 10000), make([][2]float64, 10000))[:1],
			writingShape(", 10000 vectors of float32", make([][2]float32, 10000), make([][2]float32, 10000))[:1],
		)
	}),
}

// strict is package variant with Strict.
var strict = codec{"variant", "", codecs[0].marshal, func(b []byte, v any) error {
	return variant.Unmarshal(b, v, variant.Options{Decoder: gdwire.DecoderOptions{Strict: true}})
}}

// A bytewise Reader returns one byte at a time.
type bytewise struct{ bytes.Reader }

func (r *bytewise) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(len(b), 1)]) }

// mapShapeGroups compare maps of other types than mapGroups.
var mapShapeGroups = []group{
	counted("maps of other types in", func() []contender {
		return slices.Concat(
			readingShape(", map[Vector2i]int64", tiles(), reflect.TypeFor[map[variant.Vector2i]int64]())[:1],
			readingShape(", map[[2]int32]int64", cborTiles(), reflect.TypeFor[map[[2]int32]int64]()),
			readingShape(", map[string][]byte", mapOf(blobEntry), reflect.TypeFor[map[string][]byte]()),
			readingShape(", map[StringName]int64", countMap(), reflect.TypeFor[map[variant.StringName]int64]()),
			readingShape(", map[string]uint8", mapOf(func(i int) (string, uint8) { return itemName(i), uint8(i) }), reflect.TypeFor[map[string]uint8]()),
			readingShape(", map of named types", mapOf(func(i int) (string, bool) { return itemName(i), i%2 == 0 }), reflect.TypeFor[map[itemID]isOwned]()),
		)
	}),
	counted("maps of other types out", func() []contender {
		named := mapOf(func(i int) (variant.StringName, int64) { return variant.StringName(itemName(i)), int64(i) })
		return slices.Concat(
			writingShape(", map[Vector2i]int64", tiles(), cborTiles()),
			writingShape(", map[StringName]int64", named, countMap()),
			writingShape(", map[string][]byte", mapOf(blobEntry), mapOf(blobEntry)),
			writingShape(", map[string][]int64 of named types", mapOf(func(i int) (itemID, itemScores) { return itemID(itemName(i)), itemScores{1, 2, int64(i)} }), nil)[:1],
			writingShape(", map[string]*struct", mapOf(func(i int) (string, *savedStats) { return itemName(i), &savedStats{int64(i), 2} }), nil)[:1],
		)
	}),
}

type (
	itemID     string
	isOwned    bool
	itemScores []int64
	// A packedRecord contains packed arrays of a few elements.
	packedRecord struct {
		Bytes  []byte
		Ints   []int32
		Floats []float32
	}
)

func itemName(i int) string { return fmt.Sprint("player_", i*7919) }

func blobEntry(i int) (string, []byte) { return itemName(i), []byte{1, 2, byte(i)} }

// fieldNames returns names of n fields.
func fieldNames(n int) (names []string) {
	words := []string{"Health", "Armor", "Gold", "Level", "Speed", "Mana", "Kills", "Quest", "Score", "Stamina"}
	for i := range n {
		names = append(names, fmt.Sprintf("%s_%d", words[i%len(words)], i/len(words)))
	}
	return names
}

// structOf returns a struct type with int64 fields of these names, in this order.
func structOf(names []string) reflect.Type {
	var fields []reflect.StructField
	for _, name := range names {
		key := strings.ToLower(name)
		fields = append(fields, reflect.StructField{Name: name, Type: reflect.TypeFor[int64](), Tag: reflect.StructTag(fmt.Sprintf("gd:%q cbor:%q", key, key))})
	}
	return reflect.StructOf(fields)
}

// filled returns a struct with fields of these names.
func filled(names []string) any {
	v := reflect.New(structOf(names)).Elem()
	for i := range names {
		v.Field(i).SetInt(int64(i * 1000))
	}
	return v.Interface()
}

func smallPacked() []packedRecord {
	all := make([]packedRecord, 100)
	for i := range all {
		all[i] = packedRecord{[]byte{1, 2, 3, 4, 5, 6, 7, byte(i)}, []int32{1, 2, int32(i)}, []float32{1, 2.5, float32(i)}}
	}
	return all
}

// listOf returns n times v.
func listOf(n int, v any) []any { return slices.Repeat([]any{v}, n) }

// tiles returns the cells of a tile map.
func tiles() map[variant.Vector2i]int64 {
	return mapOf(func(i int) (variant.Vector2i, int64) {
		return variant.Vector2i{X: int32(i % 31), Y: int32(i / 31)}, int64(i)
	})
}

func cborTiles() map[[2]int32]int64 {
	return mapOf(func(i int) ([2]int32, int64) { return [2]int32{int32(i % 31), int32(i / 31)}, int64(i) })
}

// readingShape returns contenders that decode v into a new t.
func readingShape(suffix string, v any, t reflect.Type) []contender {
	return unmarshalings(codecs[:2], suffix, v, t)
}

// writingShape returns contenders that encode v, and the peer's value: to sorted keys if it is a map.
func writingShape(suffix string, v, peers any) []contender {
	size := len(must(variant.Marshal(v)))
	other := codecs[1]
	if reflect.TypeOf(v).Kind() == reflect.Map {
		other = sortedCBOR
	}
	return append(marshalings(codecs[:1], suffix, size, v), marshalings([]codec{other}, suffix, size, peers)...)
}
