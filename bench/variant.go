package main

import (
	"bytes"
	"reflect"
	"sync"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
	json "github.com/go-json-experiment/json"
	"github.com/tinylib/msgp/msgp"
	"github.com/vmihailenco/msgpack/v5"
)

// variantGroups compare package variant with codecs of Go values, on the saved game
// as structs.
var variantGroups = []group{
	{
		name:    "into structs",
		counted: true,
		about:   "The document into new structs.",
		setup:   func(*stage) []contender { return intoStructs(false) },
	},
	{
		name:    "into structs, kept",
		counted: true,
		about:   "The document into structs whose memory is used again.",
		setup:   func(*stage) []contender { return intoStructs(true) },
	},
	{
		name:    "from structs",
		counted: true,
		about:   "The structs to bytes, or to a Writer.",
		setup:   func(*stage) []contender { return fromStructs() },
	},
	{
		name:    "into any",
		counted: true,
		about:   "The document into trees of any.",
		setup:   func(*stage) []contender { return intoAny() },
	},
	{
		name:  "records",
		about: "An Array of 3000 records at once, and one by one.",
		setup: func(*stage) []contender { return records() },
	},
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
		text: "variant.Marshal, of cbor.Marshal", limit: 0.6,
		measured: timeOf("from structs", "cbor.Marshal", "variant.Marshal"),
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

// world is the saved game, read once.
func world() *savedWorld {
	w := new(savedWorld)
	check(variant.Unmarshal(game().godot, w))
	return w
}

var worldSum = sync.OnceValue(func() int { return world().sum() })

// reading is a contender that decodes b into a world, a new one unless kept.
func reading(name string, b []byte, kept bool, decode func(b []byte, w *savedWorld) error) contender {
	w := new(savedWorld)
	return contender{
		name: name, bytes: len(game().godot), want: worldSum(),
		run: func() int {
			if !kept {
				w = new(savedWorld)
			}
			check(decode(b, w))
			return w.sum()
		},
	}
}

func intoStructs(kept bool) []contender {
	w := world()
	d := gdwire.NewDecoder(nil, nil)
	return []contender{
		reading("variant", game().godot, kept, func(b []byte, w *savedWorld) error { return variant.Unmarshal(b, w) }).allocating(),
		reading("by hand", game().godot, kept, func(b []byte, w *savedWorld) error {
			d.ResetBytes(b)
			return w.read(d)
		}).allocating(),
		reading("cbor", must(cbor.Marshal(w)), kept, func(b []byte, w *savedWorld) error { return cbor.Unmarshal(b, w) }),
		reading("msgpack", must(msgpack.Marshal(w)), kept, func(b []byte, w *savedWorld) error { return msgpack.Unmarshal(b, w) }),
		reading("json v2", must(json.Marshal(w)), kept, func(b []byte, w *savedWorld) error { return json.Unmarshal(b, w) }),
		reading("msgp, generated", must(w.MarshalMsg(nil)), kept, func(b []byte, w *savedWorld) error {
			_, err := w.UnmarshalMsg(b)
			return err
		}),
		reading("msgp.Reader, generated", must(w.MarshalMsg(nil)), kept, func(b []byte, w *savedWorld) error {
			return msgp.Decode(bytes.NewReader(b), w)
		}),
	}
}

func fromStructs() []contender {
	w := world()
	var to drain
	e := gdwire.NewEncoder(&to, nil)
	size := len(game().godot)
	bytesOf := func(name string, marshal func(v any) ([]byte, error)) contender {
		return contender{name: name, bytes: size, want: len(must(marshal(w))), run: func() int { return len(must(marshal(w))) }}
	}
	written := func(name string, write func() error) contender {
		return contender{name: name, bytes: size, want: size, run: func() int {
			to.n = 0
			e.Reset(&to)
			check(write())
			return to.n
		}}
	}
	return []contender{
		bytesOf("variant.Marshal", func(v any) ([]byte, error) { return variant.Marshal(v) }).allocating(),
		written("variant.MarshalEncode", func() error { return variant.MarshalEncode(e, w) }).allocating(),
		written("typed writes", func() error { return w.write(e) }).allocating(),
		bytesOf("cbor.Marshal", cbor.Marshal),
		bytesOf("msgpack.Marshal", msgpack.Marshal),
		bytesOf("json v2", func(v any) ([]byte, error) { return json.Marshal(v) }),
		bytesOf("msgp, generated", func(any) ([]byte, error) { return w.MarshalMsg(nil) }),
	}
}

func intoAny() []contender {
	size := len(game().godot)
	w := world()
	to := func(name string, b []byte, decode func(b []byte, v *any) error) contender {
		return contender{name: name, bytes: size, want: 1, run: func() int {
			var v any
			check(decode(b, &v))
			if v == nil {
				return 0
			}
			return 1
		}}
	}
	plainMaps := must(cbor.DecOptions{DefaultMapType: reflect.TypeFor[map[string]any]()}.DecMode())
	return []contender{
		to("variant", game().godot, func(b []byte, v *any) error { return variant.Unmarshal(b, v) }).allocating(),
		to("cbor", must(cbor.Marshal(w)), func(b []byte, v *any) error { return cbor.Unmarshal(b, v) }),
		to("cbor, map[string]any", must(cbor.Marshal(w)), func(b []byte, v *any) error { return plainMaps.Unmarshal(b, v) }),
		to("msgpack", must(msgpack.Marshal(w)), func(b []byte, v *any) error { return msgpack.Unmarshal(b, v) }),
		to("json v2", must(json.Marshal(w)), func(b []byte, v *any) error { return json.Unmarshal(b, v) }),
	}
}

func records() []contender {
	all := world().Player.Inventory
	b := must(variant.Marshal(all))
	d := gdwire.NewDecoder(nil, nil)
	return []contender{
		{name: "Unmarshal", bytes: len(b), want: len(all), run: func() int {
			var items []savedItem
			check(variant.Unmarshal(b, &items))
			return len(items)
		}},
		{name: "Elements", bytes: len(b), want: len(all), run: func() int {
			d.ResetBytes(b)
			n := 0
			for _, err := range variant.Elements[savedItem](d) {
				check(err)
				n++
			}
			return n
		}},
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
