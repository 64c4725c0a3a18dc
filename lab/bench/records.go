package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// recordGroups measure calls of package variant for each record.
var recordGroups = []group{
	counted("small records in", smallRecordsIn),
	counted("small records out", smallRecordsOut),
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
	decoding := into(codecs[0], ".Unmarshal, "+name, must(variant.Marshal(records)), size, recordCount, func(all []T) int { return len(all) })
	return append(marshalings(codecs[:1], ", "+name, size, records), decoding)
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
