package main

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"fmt"
	"io"
	"math"
	"reflect"

	"github.com/fxamacker/cbor/v2"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tinylib/msgp/msgp"
	"github.com/vmihailenco/msgpack/v5"
)

func init() {
	for _, v := range []any{map[string]any{}, []any{}, []string{}, []float32{}, []byte{}} {
		gob.Register(v)
	}
}

// cborDecoder decodes into the cheapest maps.
var cborDecoder = must(cbor.DecOptions{DefaultMapType: reflect.TypeFor[map[string]any]()}.DecMode())

func (doc *document) cbor() []byte { return must(cbor.Marshal(doc.tree)) }

func (doc *document) gob() []byte {
	var b bytes.Buffer
	check(gob.NewEncoder(&b).Encode(&doc.tree))
	return b.Bytes()
}

func (doc *document) json() []byte {
	var b bytes.Buffer
	doc.writeJSON(jsontext.NewEncoder(&b))
	return b.Bytes()
}

// writeJSON writes the document token by token.
func (doc *document) writeJSON(e *jsontext.Encoder) {
	for i := range doc.steps {
		s := &doc.steps[i]
		t := jsontext.Null
		switch s.op {
		case opNil:
		case opBool:
			t = jsontext.Bool(s.bits == 1)
		case opInt:
			t = jsontext.Int(int64(s.bits))
		case opFloat32, opFloat64:
			t = jsontext.Float(math.Float64frombits(s.bits))
		case opString, opKey:
			t = jsontext.String(s.text)
		case opReals:
			check(e.WriteToken(jsontext.BeginArray))
			for _, x := range doc.reals[s.bits:][:s.n] {
				check(e.WriteToken(jsontext.Float(x)))
			}
			t = jsontext.EndArray
		case opBlob:
			t = jsontext.String(base64.StdEncoding.EncodeToString(doc.blobs[s.bits]))
		case opDict:
			t = jsontext.BeginObject
		case opArray, opPath, opStrings:
			t = jsontext.BeginArray
		case opEnd:
			t = jsontext.EndArray
			if op(s.bits) == opDict {
				t = jsontext.EndObject
			}
		}
		check(e.WriteToken(t))
	}
}

// jsonReading reads the document's tokens and returns the number of leaves. jsontext reads a bytes.Buffer without
// copying.
func jsonReading(doc *document) contender {
	b := doc.json()
	var m bytes.Buffer
	d := jsontext.NewDecoder(&m)
	return peer("jsontext ReadToken", len(doc.godot), doc.leaves, func() (n int) {
		m = *bytes.NewBuffer(b)
		d.Reset(&m)
		for {
			t, err := d.ReadToken()
			if err == io.EOF {
				return n
			}
			check(err)
			switch t.Kind() {
			case '{', '}', '[', ']':
			default:
				n++
			}
		}
	})
}

// builders decode the document into a tree of any.
func builders(doc *document) []contender {
	var (
		asMsgp, asCBOR, asGob = doc.msgp(), doc.cbor(), doc.gob()
		m                     = bytes.NewReader(nil)
		r                     = msgp.NewReaderSize(nil, msgpBuffer)
		d                     = msgpack.NewDecoder(nil)
	)
	build := func(name string, f func() any) contender {
		var tree any
		c := peer(name, len(doc.godot), 0, func() int {
			tree = f()
			return 0
		})
		c.verify = func() error {
			if got := sumOf(tree); got != doc.sum {
				return fmt.Errorf("sum of the tree is %d, not %d", got, doc.sum)
			}
			return nil
		}
		return c
	}
	return []contender{
		build("msgp ReadIntf", func() any {
			m.Reset(asMsgp)
			r.Reset(m)
			return must(r.ReadIntf())
		}),
		build("cbor Unmarshal", func() (v any) {
			check(cborDecoder.Unmarshal(asCBOR, &v))
			return v
		}),
		build("msgpack DecodeInterface", func() any {
			m.Reset(asMsgp)
			d.Reset(m)
			return must(d.DecodeInterface())
		}),
		build("gob Decode", func() (v any) {
			m.Reset(asGob)
			check(gob.NewDecoder(m).Decode(&v))
			return v
		}),
	}
}

// writers write the document to a Writer: jsontext by tokens, the others from the
// tree.
func writers(doc *document) []contender {
	var to drain
	j := jsontext.NewEncoder(&to)
	m := msgpack.NewEncoder(nil)
	write := func(name string, want int, f func()) contender {
		return peer(name, len(doc.godot), want, func() int {
			to.n = 0
			f()
			return to.n
		})
	}
	m.Reset(&to)
	m.UseCompactInts(true)
	check(m.Encode(doc.tree))
	return []contender{
		write("jsontext WriteToken", len(doc.json()), func() {
			j.Reset(&to)
			doc.writeJSON(j)
		}),
		write("cbor Marshal", len(doc.cbor()), func() {
			must(to.Write(must(cbor.Marshal(doc.tree))))
		}),
		write("msgpack Encode", to.n, func() {
			m.Reset(&to)
			m.UseCompactInts(true)
			check(m.Encode(doc.tree))
		}),
		peer("gob Encode", len(doc.godot), 1, func() int {
			to.n = 0
			check(gob.NewEncoder(&to).Encode(&doc.tree))
			return sumOfBool(to.n > 0) // the size depends on the order of maps, which is random
		}),
	}
}
