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

// into returns a contender that decodes b into a new T.
func into[T any](c codec, suffix string, b []byte, size, want int, result func(T) int) contender {
	return c.run(peer(c.name+suffix, size, want, func() int {
		var v T
		check(c.unmarshal(b, &v))
		return result(v)
	}))
}

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
	all := []contender{
		reading(x, "msgp, generated", must(v.MarshalMsg(nil)), kept, func(b []byte, v structValue) error {
			_, err := v.UnmarshalMsg(b)
			return err
		}),
	}
	for _, c := range codecs {
		all = append(all, c.run(reading(x, c.name, x.encoded(c), kept, func(b []byte, v structValue) error { return c.unmarshal(b, v) })))
	}
	if _, ok := v.(*savedWorld); ok {
		d := gdwire.NewDecoder(nil, nil)
		all = append(all, reading(x, "by hand", godot, kept, func(b []byte, v structValue) error {
			d.ResetBytes(b)
			v.(*savedWorld).read(d)
			return nil
		}).allocating())
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
	all := marshalings(codecs, "", size, v)
	if w, ok := v.(*savedWorld); ok {
		all = append(all, encoding("typed writes", size, w.write).allocating())
	}
	return append(all,
		encoding("variant.MarshalEncode", size, func(e *gdwire.Encoder) { check(variant.MarshalEncode(e, v)) }).allocating(),
		marshaling("msgp, generated", size, func() ([]byte, error) { return v.MarshalMsg(nil) }),
		marshaling("vtprotobuf, generated", size, v.message().MarshalVT),
	)
}

func intoAny(x structDocument) (all []contender) {
	for _, c := range codecs {
		all = append(all, into(c, "", x.encoded(c), len(x.document().godot), 1, func(v any) int { return sumOfBool(v != nil) }))
	}
	return all
}

// A structValue is the value of a document as structs, with the code of the codecs that use no
// reflection. The saved game is also read and written by hand.
type structValue interface {
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
