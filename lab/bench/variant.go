package main

import (
	"bytes"
	jsonv1 "encoding/json"
	"slices"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
	json "github.com/go-json-experiment/json"
	"github.com/tinylib/msgp/msgp"
	"github.com/vmihailenco/msgpack/v5"
	"google.golang.org/protobuf/proto"
)

// variantGroups compare package variant with codecs of Go values, on each document as structs.
var variantGroups = slices.Concat(structGroups(savedStructs), structGroups(dialogStructs))

// structGroups returns the groups of a document.
func structGroups(x structDocument) []group {
	return []group{
		{
			name:    "into structs" + x.suffix,
			counted: true,
			about:   "The document into new structs.",
			setup:   func(*stage) []contender { return intoStructs(x, false) },
		},
		{
			name:    "into structs, kept" + x.suffix,
			counted: true,
			about:   "The document into structs whose memory is used again.",
			setup:   func(*stage) []contender { return intoStructs(x, true) },
		},
		{
			name:    "from structs" + x.suffix,
			counted: true,
			about:   "The structs to bytes, or to a Writer.",
			setup:   func(*stage) []contender { return fromStructs(x) },
		},
		{
			name:    "into any" + x.suffix,
			counted: true,
			about:   "The document into trees of any.",
			setup:   func(*stage) []contender { return intoAny(x) },
		},
	}
}

// variantGoals contains the goals of package variant.
var variantGoals = []goal{
	{
		text: "variant into structs, of cbor", limit: 0.3,
		measured: timeOf("into structs", "cbor", "variant"),
	},
	{
		text: "variant into structs whose memory is kept, of by hand", limit: 1.6,
		measured: timeOf("into structs, kept", "by hand", "variant"),
	},
	{
		text: "variant.Marshal, of cbor.Marshal", limit: 0.6, aim: true, // 0.35 in instructions
		measured: timeOf("from structs", "cbor.Marshal", "variant.Marshal"),
	},
	{
		text: "variant.Marshal of a small struct by value, of cbor.Marshal", limit: 1, aim: true, // 1.0 to 1.1 before blocks, and 0.81 in instructions
		measured: timeOf("small records out", "cbor.Marshal, by value", "variant.Marshal, by value"),
	},
	{
		text: "variant.MarshalEncode, of typed writes", limit: 1.4,
		measured: timeOf("from structs", "typed writes", "variant.MarshalEncode"),
	},
	{
		text: "variant into any, of cbor", limit: 0.5,
		measured: timeOf("into any", "cbor", "variant"),
	},
	{
		text: "variant into any, of msgpack", limit: 0.8,
		measured: timeOf("into any", "msgpack", "variant"),
	},
	{
		text: "variant.Elements, of Unmarshal", limit: 1.1,
		measured: timeOf("records", "Unmarshal", "Elements"),
	},
	{text: "variant, 10 MB of 1 MB", limit: 10.5, measured: growthOf("^" + valueGrowth)},
}

// valueGrowth begins the names of the groups of valueGrowthGroups.
const valueGrowth = "growth of values"

// reading is a contender that decodes b into the structs of x, new ones unless kept.
func reading(x structDocument, name string, b []byte, kept bool, decode func(b []byte, v structValue) error) contender {
	v := x.empty()
	return contender{
		name: name, bytes: len(x.document().godot), want: x.filled().sum(),
		run: func() int {
			if !kept {
				v = x.empty()
			}
			check(decode(b, v))
			return v.sum()
		},
	}
}

func intoStructs(x structDocument, kept bool) []contender {
	v := x.filled()
	godot := x.document().godot
	d := gdwire.NewDecoder(nil, nil)
	all := []contender{
		reading(x, "variant", godot, kept, func(b []byte, v structValue) error { return variant.Unmarshal(b, v) }).allocating(),
		reading(x, "by hand", godot, kept, func(b []byte, v structValue) error {
			d.ResetBytes(b)
			return v.read(d)
		}).allocating(),
		reading(x, "cbor", must(cbor.Marshal(v)), kept, func(b []byte, v structValue) error { return cbor.Unmarshal(b, v) }),
		reading(x, "msgpack", must(msgpack.Marshal(v)), kept, func(b []byte, v structValue) error { return msgpack.Unmarshal(b, v) }),
		reading(x, "json v2", must(json.Marshal(v)), kept, func(b []byte, v structValue) error { return json.Unmarshal(b, v) }),
		reading(x, "json v1", must(jsonv1.Marshal(v)), kept, func(b []byte, v structValue) error { return jsonv1.Unmarshal(b, v) }),
		reading(x, "msgp, generated", must(v.MarshalMsg(nil)), kept, func(b []byte, v structValue) error {
			_, err := v.UnmarshalMsg(b)
			return err
		}),
		reading(x, "msgp.Reader, generated", must(v.MarshalMsg(nil)), kept, func(b []byte, v structValue) error {
			return msgp.Decode(bytes.NewReader(b), v)
		}),
	}
	if !kept {
		all = append(all, intoMessages(x)...)
	}
	return all
}

// intoMessages returns contenders that decode into new messages of protobuf.
func intoMessages(x structDocument) []contender {
	empty := x.empty().message().ProtoReflect().Type()
	b := must(x.filled().message().MarshalVT())
	into := func(name string, decode func(m message) error) contender {
		return contender{name: name, bytes: len(x.document().godot), want: x.filled().sum(), run: func() int {
			m := empty.New().Interface().(message)
			check(decode(m))
			return m.sum()
		}}
	}
	return []contender{
		into("protobuf, generated", func(m message) error { return proto.Unmarshal(b, m) }),
		into("vtprotobuf, generated", func(m message) error { return m.UnmarshalVT(b) }),
	}
}

func fromStructs(x structDocument) []contender {
	v := x.filled()
	m := v.message()
	var to drain
	e := gdwire.NewEncoder(&to, nil)
	size := len(x.document().godot)
	bytesOf := func(name string, marshal func() ([]byte, error)) contender {
		return contender{name: name, bytes: size, want: len(must(marshal())), run: func() int { return len(must(marshal())) }}
	}
	written := func(name string, write func()) contender {
		return contender{name: name, bytes: size, want: size, run: func() int {
			to.n = 0
			e.Reset(&to)
			write()
			check(e.Flush())
			return to.n
		}}
	}
	return []contender{
		bytesOf("variant.Marshal", func() ([]byte, error) { return variant.Marshal(v) }).allocating(),
		written("variant.MarshalEncode", func() { check(variant.MarshalEncode(e, v)) }).allocating(),
		written("typed writes", func() { v.write(e) }).allocating(),
		bytesOf("cbor.Marshal", func() ([]byte, error) { return cbor.Marshal(v) }),
		bytesOf("msgpack.Marshal", func() ([]byte, error) { return msgpack.Marshal(v) }),
		bytesOf("json v2", func() ([]byte, error) { return json.Marshal(v) }),
		bytesOf("json v1", func() ([]byte, error) { return jsonv1.Marshal(v) }),
		bytesOf("msgp, generated", func() ([]byte, error) { return v.MarshalMsg(nil) }),
		bytesOf("protobuf, generated", func() ([]byte, error) { return proto.Marshal(m) }),
		bytesOf("vtprotobuf, generated", m.MarshalVT),
	}
}

func intoAny(x structDocument) []contender {
	godot := x.document().godot
	v := x.filled()
	to := func(name string, b []byte, decode func(b []byte, v *any) error) contender {
		return contender{name: name, bytes: len(godot), want: 1, run: func() int {
			var v any
			check(decode(b, &v))
			if v == nil {
				return 0
			}
			return 1
		}}
	}
	return []contender{
		to("variant", godot, func(b []byte, v *any) error { return variant.Unmarshal(b, v) }).allocating(),
		to("cbor", must(cbor.Marshal(v)), func(b []byte, v *any) error { return cbor.Unmarshal(b, v) }),
		to("cbor, map[string]any", must(cbor.Marshal(v)), func(b []byte, v *any) error { return cborDecoder.Unmarshal(b, v) }),
		to("msgpack", must(msgpack.Marshal(v)), func(b []byte, v *any) error { return msgpack.Unmarshal(b, v) }),
		to("json v2", must(json.Marshal(v)), func(b []byte, v *any) error { return json.Unmarshal(b, v) }),
		to("json v1", must(jsonv1.Marshal(v)), func(b []byte, v *any) error { return jsonv1.Unmarshal(b, v) }),
	}
}

// valueGrowthGroups compare ten values of 1 MB with one of 10 MB, as growthGroup does. Each
// way is a group, so that the collector does not mark the values of the others.
func valueGrowthGroups() (all []group) {
	for _, way := range []struct {
		name string
		run  func(w *savedWorld, b []byte) (result any, n int)
	}{
		{"into structs", func(_ *savedWorld, b []byte) (any, int) {
			w := new(savedWorld)
			check(variant.Unmarshal(b, w))
			return w, w.sum()
		}},
		{"from structs", func(w *savedWorld, _ []byte) (any, int) {
			b := must(variant.Marshal(w))
			return b, len(b)
		}},
		{"into any", func(_ *savedWorld, b []byte) (any, int) {
			var v any
			check(variant.Unmarshal(b, &v))
			return v, v.(*variant.Dictionary).Len()
		}},
	} {
		all = append(all, group{
			name:  valueGrowth + ", " + way.name,
			about: "The document as ten values, and 30,000 items in one value.",
			setup: func(*stage) []contender { return tenTimes(way.run) },
		})
	}
	return all
}

// tenTimes returns contenders that run with ten values and with one. All results of a
// run are kept until its end.
func tenTimes(run func(w *savedWorld, b []byte) (result any, n int)) []contender {
	var ones [10]*savedWorld
	ten := world()
	ten.Player.Inventory = nil
	for i := range ones {
		ones[i] = world()
		ten.Player.Inventory = append(ten.Player.Inventory, ones[i].Player.Inventory...)
	}
	small, large := must(variant.Marshal(ones[0])), must(variant.Marshal(ten))
	encoded := bytes.Repeat(small, len(ones))
	_, nSmall := run(ones[0], small)
	_, nLarge := run(ten, large)
	var kept [10]any
	return []contender{
		{
			name: "10 × 1 MB", bytes: len(encoded), want: len(ones) * nSmall,
			run: func() (sum int) {
				clear(kept[:])
				for i, w := range ones {
					var n int
					kept[i], n = run(w, encoded[i*len(small):][:len(small)])
					sum += n
				}
				return sum
			},
		},
		{
			name: "1 × 10 MB", bytes: len(large), want: nLarge,
			run: func() (n int) {
				clear(kept[:])
				kept[0], n = run(ten, large)
				return n
			},
		},
	}
}
