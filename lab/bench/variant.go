package main

import (
	jsonv1 "encoding/json"
	"slices"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
	json "github.com/go-json-experiment/json"
	"github.com/vmihailenco/msgpack/v5"
)

// variantGroups compare package variant with codecs of Go values, on each document as structs.
var variantGroups = slices.Concat(structGroups(savedStructs), structGroups(dialogStructs))

// structGroups returns the groups of a document.
func structGroups(x structDocument) []group {
	return []group{
		{
			name:    "into structs" + x.suffix,
			counted: true,
			setup:   func(*stage) []contender { return intoStructs(x, false) },
		},
		{
			name:    "into structs, kept" + x.suffix,
			counted: true,
			setup:   func(*stage) []contender { return intoStructs(x, true) },
		},
		{
			name:    "from structs" + x.suffix,
			counted: true,
			setup:   func(*stage) []contender { return fromStructs(x) },
		},
		{
			name:    "into any" + x.suffix,
			counted: true,
			setup:   func(*stage) []contender { return intoAny(x) },
		},
	}
}

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
	}
	if !kept {
		empty := x.empty().message().ProtoReflect().Type()
		b := must(v.message().MarshalVT())
		all = append(all, contender{name: "vtprotobuf, generated", bytes: len(godot), want: v.sum(), run: func() int {
			m := empty.New().Interface().(message)
			check(m.UnmarshalVT(b))
			return m.sum()
		}})
	}
	return all
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
