package main

import (
	"bytes"
	jsonv1 "encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
	json "github.com/go-json-experiment/json"
	"github.com/tinylib/msgp/msgp"
	"github.com/vmihailenco/msgpack/v5"
)

// Package variant beside codecs of Go values: structs, maps, small records, and shapes that no document has.

// A codec encodes and decodes Go values by reflection.
type codec struct {
	name, call string // call is the name of contenders that encode
	marshal    func(v any) ([]byte, error)
	unmarshal  func(b []byte, v any) error
}

// codecs are package variant and its peers.
var codecs = []codec{
	{"variant", "variant.Marshal", func(v any) ([]byte, error) { return variant.Marshal(v) }, func(b []byte, v any) error { return variant.Unmarshal(b, v) }},
	{"cbor", "cbor.Marshal", cbor.Marshal, cbor.Unmarshal},
	{"msgpack", "msgpack.Marshal", msgpack.Marshal, msgpack.Unmarshal},
	{"json v2", "json v2", func(v any) ([]byte, error) { return json.Marshal(v) }, func(b []byte, v any) error { return json.Unmarshal(b, v) }},
	{"json v1", "json v1", jsonv1.Marshal, jsonv1.Unmarshal},
}

// run returns c as a contender of gdwire, which may allocate, if it runs package variant.
func (c codec) run(by contender) contender {
	if c.name == "variant" {
		return by.allocating()
	}
	return by
}

// marshalings returns contenders that encode v.
func marshalings(codecs []codec, suffix string, size int, v any) (all []contender) {
	for _, c := range codecs {
		all = append(all, c.run(marshaling(c.call+suffix, size, func() ([]byte, error) { return c.marshal(v) })))
	}
	return all
}

// unmarshaling returns a contender that decodes b into a new t.
func unmarshaling(c codec, suffix string, b []byte, size int, t reflect.Type) contender {
	var v reflect.Value
	by := peer(c.name+suffix, size, size, func() int {
		v = reflect.New(t)
		check(c.unmarshal(b, v.Interface()))
		return size
	})
	by.verify = func() error {
		if v.Elem().IsZero() {
			return errors.New("nothing was read")
		}
		return nil
	}
	return c.run(by)
}

// unmarshalings returns contenders that decode v into a new t.
func unmarshalings(codecs []codec, suffix string, v any, t reflect.Type) (all []contender) {
	size := len(must(variant.Marshal(v)))
	for _, c := range codecs {
		all = append(all, unmarshaling(c, suffix, must(c.marshal(v)), size, t))
	}
	return all
}

// variantGroups compare package variant with codecs of Go values, on each document as structs.
var variantGroups = slices.Concat(structGroups(savedStructs), structGroups(dialogStructs))

// structGroups returns the groups of a document.
func structGroups(x structDocument) []group {
	return []group{
		counted("into structs"+x.suffix, func() []contender { return intoStructs(x, false) }),
		counted("into structs, kept"+x.suffix, func() []contender { return intoStructs(x, true) }),
		counted("from structs"+x.suffix, func() []contender { return fromStructs(x) }),
		counted("into any"+x.suffix, func() (all []contender) {
			for _, c := range codecs {
				all = append(all, unmarshaling(c, "", x.encoded(c), len(x.document().godot), reflect.TypeFor[any]()))
			}
			return all
		}),
	}
}

// reading is a contender that decodes b into what empty returns: each time, unless kept.
func (x *structDocument) reading(name string, b []byte, kept bool, empty func() any, decode func(b []byte, v any) error) contender {
	v := empty()
	c := peer(name, len(x.document().godot), 0, func() int {
		if !kept {
			v = empty()
		}
		check(decode(b, v))
		return 0
	})
	c.verify = func() error { return verifySum(v, sumOf(x.filled())) }
	return c
}

func intoStructs(x structDocument, kept bool) (all []contender) {
	empty := func() any { return x.empty() }
	all = append(all, x.reading("msgp, generated", must(x.filled().MarshalMsg(nil)), kept, empty, func(b []byte, v any) error {
		_, err := v.(msgp.Unmarshaler).UnmarshalMsg(b)
		return err
	}))
	for _, c := range codecs {
		all = append(all, c.run(x.reading(c.name, x.encoded(c), kept, empty, c.unmarshal)))
	}
	if !kept {
		all = append(all, x.reading("vtprotobuf, generated", must(x.filledMessage().MarshalVT()), false,
			func() any { return x.message() }, func(b []byte, v any) error { return v.(message).UnmarshalVT(b) }))
	}
	return all
}

func fromStructs(x structDocument) []contender {
	v := x.filled()
	size := len(x.document().godot)
	return append(marshalings(codecs, "", size, v),
		encoding("variant.MarshalEncode", size, func(e *gdwire.Encoder) { check(variant.MarshalEncode(e, v)) }).allocating(),
		marshaling("msgp, generated", size, func() ([]byte, error) { return v.MarshalMsg(nil) }),
		marshaling("vtprotobuf, generated", size, x.filledMessage().MarshalVT),
	)
}

// A structValue is the value of a document as structs, with the generated code of msgp.
type structValue interface {
	msgp.Marshaler
	msgp.Unmarshaler
}

// A structDocument is a document whose structs are known.
type structDocument struct {
	suffix   string // of the names of its groups
	document func() *document
	empty    func() structValue
	filled   func() structValue // the same ones each time
	message  func() message     // empty
}

// filledMessage returns the document for protobuf: fields of the same names in JSON.
func (x *structDocument) filledMessage() message {
	m := x.message()
	check(jsonv1.Unmarshal(must(jsonv1.Marshal(x.filled())), m))
	return m
}

// encoded returns the document of x as c encodes it.
func (x *structDocument) encoded(c codec) []byte {
	if c.name == "variant" {
		return x.document().godot
	}
	return must(c.marshal(x.filled()))
}

var savedStructs = structDocument{
	document: game,
	empty:    func() structValue { return new(savedWorld) },
	filled: sync.OnceValue(func() structValue {
		w := new(savedWorld)
		check(variant.Unmarshal(game().godot, w))
		return w
	}),
	message: func() message { return new(WorldMessage) },
}

var dialogStructs = structDocument{
	suffix:   ", dialog",
	document: dialog,
	empty:    func() structValue { return new(dialogLine) },
	filled:   sync.OnceValue(func() structValue { return newDialog() }),
	message:  func() message { return new(LineMessage) },
}

// mapGroups compare package variant with codecs of Go values, on what programs without structs
// send. variant sorts the keys, and cbor if it is told to.
var mapGroups = []group{
	counted("maps and trees out", func() []contender {
		return slices.Concat(
			marshalings(append(codecs[:4:4], sortedCBOR), ", tree", len(must(variant.Marshal(mapTree()))), mapTree()),
			writingShape(", map[string]int64", countMap(), nil)[:1],
			writingShape(", map[string][]int64", mapOf(func(i int) (string, []int64) { return itemName(i), []int64{1, 2, 3} }), nil)[:1],
			writingShape(", map[int]string", mapOf(func(i int) (int, string) { return i * 7919, "Ada Lovelace" }), nil)[:1],
			writingShape(", map[int64]bool", mapOf(func(i int) (int64, bool) { return int64(i * 7919), i%2 == 0 }), nil)[:1],
		)
	}),
	counted("maps and trees in", func() []contender {
		return slices.Concat(
			unmarshalings(codecs[:1], ", tree", mapTree(), reflect.TypeFor[map[string]any]()),
			unmarshalings(codecs[:4], ", tree into any", mapTree(), reflect.TypeFor[any]()),
			unmarshalings(codecs[:1], ", map[string]int64", countMap(), reflect.TypeFor[map[string]int64]()),
			unmarshalings(codecs[:1], ", map[string]any", mapOf(func(i int) (string, any) { return itemName(i), int64(i) }), reflect.TypeFor[map[string]any]()),
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
	return mapOf(func(i int) (string, int64) { return itemName(i), int64(i) })
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

// recordGroups measure calls of package variant for each record.
var recordGroups = []group{
	counted("small records in", smallRecordsIn).of(recordCount),
	counted("small records out", smallRecordsOut).of(recordCount),
	counted("records beside blocks", recordsBesideBlocks),
}

// A smallRecord is what a peer may send in every frame.
type smallRecord struct {
	ID    int64      `json:"id" msgpack:"id"`
	Name  string     `json:"name" msgpack:"name"`
	Pos   [3]float32 `json:"pos" msgpack:"pos"`
	Alive bool       `json:"alive" msgpack:"alive"`
}

// recordCount is the number of small records.
const recordCount = 1000

func smallRecords() []smallRecord {
	all := make([]smallRecord, recordCount)
	for i := range all {
		all[i] = smallRecord{int64(i), fmt.Sprint("player_", i), [3]float32{float32(i), 0, 0.5}, i%2 == 0}
	}
	return all
}

// sum tells whether all have read the same.
func (r *smallRecord) sum() int { return int(r.ID) + len(r.Name) + int(r.Pos[0]) + sumOfBool(r.Alive) }

// smallRecordsIn returns contenders that read all records into one that is kept.
func smallRecordsIn() []contender {
	all := smallRecords()
	array := must(variant.Marshal(all))
	var following []byte // for cbor, which returns the bytes after a record
	want := 0
	for i := range all {
		want += all[i].sum()
		following = append(following, must(cbor.Marshal(&all[i]))...)
	}
	d := gdwire.NewDecoder(nil, nil)
	return []contender{
		ours("Elements", len(array), want, func() int {
			d.ResetBytes(array)
			sum := 0
			for r, err := range variant.Elements[smallRecord](d) {
				check(err)
				sum += r.sum()
			}
			return sum
		}).allocating(),
		ours("UnmarshalDecode", len(array), want, func() int {
			d.ResetBytes(array)
			var r smallRecord
			sum := 0
			for range must(d.ReadArray()) {
				check(variant.UnmarshalDecode(d, &r))
				sum += r.sum()
			}
			check(d.ReadEnd())
			return sum
		}).allocating(),
		peer("cbor.UnmarshalFirst", len(array), want, func() int {
			var r smallRecord
			sum := 0
			for rest := following; len(rest) > 0; sum += r.sum() {
				rest = must(cbor.UnmarshalFirst(rest, &r))
			}
			return sum
		}),
	}
}

// smallRecordsOut returns contenders that write each record.
func smallRecordsOut() []contender {
	all := smallRecords()
	size := 0
	for i := range all {
		size += len(must(variant.Marshal(&all[i])))
	}
	var contenders []contender
	contend := func(c codec, suffix string, of func(r *smallRecord) any) {
		run := func() int {
			sum := 0
			for i := range all {
				sum += len(must(c.marshal(of(&all[i]))))
			}
			return sum
		}
		contenders = append(contenders, c.run(peer(c.call+suffix, size, run(), run)))
	}
	contend(codecs[0], "", func(r *smallRecord) any { return r })
	for _, c := range codecs[:4] {
		contend(c, ", by value", func(r *smallRecord) any { return *r })
	}
	return append(contenders, encoding("variant.MarshalEncode", size, func(e *gdwire.Encoder) {
		for i := range all {
			check(variant.MarshalEncode(e, &all[i]))
		}
	}).allocating())
}

type (
	plainRecord struct {
		ID, HP, Level int64
		Name          string
		Speed         float64
		Alive         bool
	}
	baseRecord struct {
		ID, HP int64
		Name   string
	}
	embeddedRecord struct {
		baseRecord
		Level int64
		Speed float64
		Alive bool
	}
	omittedRecord struct {
		ID    int64   `gd:",omitzero" json:",omitzero"`
		HP    int64   `gd:",omitzero" json:",omitzero"`
		Level int64   `gd:",omitzero" json:",omitzero"`
		Name  string  `gd:",omitzero" json:",omitzero"`
		Speed float64 `gd:",omitzero" json:",omitzero"`
		Alive bool    `gd:",omitzero" json:",omitzero"`
	}
	enumRecord struct {
		ID, HP int64
		Name   string
		Class  enum
		Speed  float64
		Race   enum
	}
	timeRecord struct {
		ID, HP int64
		Name   string
		Since  time.Time
		Speed  float64
		Until  time.Time
	}
	embedRecord struct {
		ID, HP int64
		Name   string
		Speed  float64
		Alive  bool
		Rest   map[string]any `gd:",embed" json:",embed"`
	}
	enum uint8
)

var enumNames = []string{"none", "engineer", "human"}

func (e enum) MarshalText() ([]byte, error) { return []byte(enumNames[e]), nil }

func (e *enum) UnmarshalText(b []byte) error {
	*e = enum(slices.Index(enumNames, string(b)))
	return nil
}

func recordsBesideBlocks() []contender {
	base, plain := baseRecord{7, 80, "Ada Lovelace"}, plainRecord{7, 80, 12, "Ada Lovelace", 1.5, true}
	since := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	all := slices.Concat(
		recordsOf("plain", plain),
		recordsOf("embedded", embeddedRecord{base, 12, 1.5, true}),
		recordsOf("omitzero", omittedRecord(plain)),
		recordsOf("MarshalText", enumRecord{7, 80, "Ada Lovelace", 1, 1.5, 2}),
		recordsOf("time.Time", timeRecord{7, 80, "Ada Lovelace", since, 1.5, since}),
		recordsOf("embed", embedRecord{7, 80, "Ada Lovelace", 1.5, true, map[string]any{"luck": 3, "guild": "red"}}),
	)
	messages := []any{&plain, &base, &smallRecord{Name: "Ada"}}
	return append(all, ours("variant.Marshal, types in turn", 150, 3, func() int {
		for _, m := range messages {
			must(variant.Marshal(m))
		}
		return len(messages)
	}).allocating())
}

// recordsOf returns contenders that encode and decode recordCount records.
func recordsOf[T any](name string, one T) []contender {
	records := slices.Repeat([]T{one}, recordCount)
	size := len(must(variant.Marshal(records)))
	return append(marshalings(codecs[:1], ", "+name, size, records), unmarshalings(codecs[:1], ".Unmarshal, "+name, records, reflect.TypeFor[[]T]())...)
}

// fieldGroup measures structs by the types of their fields: those that package variant writes without calls,
// and those for which it needs some.
var fieldGroup = counted("fields out", fieldsOut)

type (
	oneInt   struct{ A int64 }
	sixInts  struct{ A, B, C, D, E, F int64 }
	anys     struct{ A, B, C, D, E, F any }
	pointers struct{ A, B, C, D, E, F *int64 }
	byteses  struct{ A, B, C []byte }
	maps12   struct{ A, B map[string]int64 }
	halfAny  struct {
		A int64
		B any
		C string
		D any
		E float64
		F any
	}
	deepAny struct{ List []anys }
)

// fieldCount is the number of structs of each kind.
const fieldCount = 1000

func fieldsOut() []contender {
	n := int64(7)
	text := any("a text")
	return []contender{
		fieldsOf("1 int", oneInt{1}),
		fieldsOf("6 ints", sixInts{1, 2, 3, 4, 5, 6}),
		fieldsOf("6 any", anys{n, text, 0.5, n, text, true}),
		fieldsOf("6 pointers", pointers{&n, &n, &n, nil, &n, nil}),
		fieldsOf("3 []byte", byteses{[]byte{1}, []byte("bytes"), nil}),
		fieldsOf("2 maps", maps12{map[string]int64{"a": 1}, nil}),
		fieldsOf("3 of 6 any", halfAny{1, n, "text", text, 0.5, nil}),
		fieldsOf("lists of any", deepAny{[]anys{{A: n}, {A: text}}}),
	}
}

// fieldsOf returns a contender that writes a list of x.
func fieldsOf[T any](name string, x T) contender {
	all := slices.Repeat([]T{x}, fieldCount)
	size := len(must(variant.Marshal(all)))
	return encoding("variant.MarshalEncode, "+name, size, func(e *gdwire.Encoder) { check(variant.MarshalEncode(e, all)) }).allocating()
}

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
