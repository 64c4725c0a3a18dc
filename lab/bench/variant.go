package main

import (
	jsonv1 "encoding/json"
	"slices"
	"sync"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
	json "github.com/go-json-experiment/json"
	"github.com/tinylib/msgp/msgp"
	"github.com/vmihailenco/msgpack/v5"
)

// variantGroups compare package variant with codecs of Go values, on each document as structs.
var variantGroups = slices.Concat(structGroups(savedStructs), structGroups(dialogStructs))

// structGroups returns the groups of a document.
func structGroups(x structDocument) []group {
	return []group{
		counted("into structs"+x.suffix, func() []contender { return intoStructs(x, false) }),
		counted("into structs, kept"+x.suffix, func() []contender { return intoStructs(x, true) }),
		counted("from structs"+x.suffix, func() []contender { return fromStructs(x) }),
		counted("into any"+x.suffix, func() []contender { return intoAny(x) }),
	}
}

// reading is a contender that decodes b into the structs of x, new ones unless kept.
func reading(x structDocument, name string, b []byte, kept bool, decode func(b []byte, v structValue) error) contender {
	v := x.empty()
	return peer(name, len(x.document().godot), x.filled().sum(), func() int {
		if !kept {
			v = x.empty()
		}
		check(decode(b, v))
		return v.sum()
	})
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
	}
	if !kept {
		empty := x.empty().message().ProtoReflect().Type()
		b := must(v.message().MarshalVT())
		all = append(all, peer("vtprotobuf, generated", len(godot), v.sum(), func() int {
			m := empty.New().Interface().(message)
			check(m.UnmarshalVT(b))
			return m.sum()
		}))
	}
	return all
}

func fromStructs(x structDocument) []contender {
	v := x.filled()
	size := len(x.document().godot)
	return []contender{
		marshaling("variant.Marshal", size, func() ([]byte, error) { return variant.Marshal(v) }).allocating(),
		encoding("variant.MarshalEncode", size, func(e *gdwire.Encoder) { check(variant.MarshalEncode(e, v)) }).allocating(),
		encoding("typed writes", size, v.write).allocating(),
		marshaling("cbor.Marshal", size, func() ([]byte, error) { return cbor.Marshal(v) }),
		marshaling("msgpack.Marshal", size, func() ([]byte, error) { return msgpack.Marshal(v) }),
		marshaling("json v2", size, func() ([]byte, error) { return json.Marshal(v) }),
		marshaling("json v1", size, func() ([]byte, error) { return jsonv1.Marshal(v) }),
		marshaling("msgp, generated", size, func() ([]byte, error) { return v.MarshalMsg(nil) }),
		marshaling("vtprotobuf, generated", size, v.message().MarshalVT),
	}
}

func intoAny(x structDocument) []contender {
	godot := x.document().godot
	v := x.filled()
	to := func(name string, b []byte, decode func(b []byte, v *any) error) contender {
		return peer(name, len(godot), 1, func() int {
			var v any
			check(decode(b, &v))
			return sumOfBool(v != nil)
		})
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

// A structValue is the value of a document as structs, with the code of the codecs that use no
// reflection.
type structValue interface {
	read(d *gdwire.Decoder) error
	write(e *gdwire.Encoder)
	message() message
	sum() int // tells whether all have read the same
	msgp.Marshaler
	msgp.Unmarshaler
}

// A structDocument is a document whose structs are known.
type structDocument struct {
	suffix   string // of the names of its groups
	document func() *document
	empty    func() structValue
	filled   func() structValue // the same ones each time
}

var savedStructs = structDocument{
	document: game,
	empty:    func() structValue { return new(savedWorld) },
	filled:   sync.OnceValue(func() structValue { return world() }),
}

var dialogStructs = structDocument{
	suffix:   ", dialog",
	document: dialog,
	empty:    func() structValue { return new(dialogLine) },
	filled:   sync.OnceValue(func() structValue { return newDialog() }),
}

// world returns the saved game.
func world() *savedWorld {
	w := new(savedWorld)
	check(variant.Unmarshal(game().godot, w))
	return w
}
