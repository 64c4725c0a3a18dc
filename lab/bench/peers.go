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

// The codecs of others, token by token and as trees of any.

// msgpBuffer is the size of gdwire's read buffer.
const msgpBuffer = 16 << 10

// writeMsgp writes the document call by call.
func (doc *document) writeMsgp(w *msgp.Writer) {
	for i := range doc.steps {
		s := &doc.steps[i]
		switch s.op {
		case opNil:
			check(w.WriteNil())
		case opBool:
			check(w.WriteBool(s.bits == 1))
		case opInt:
			check(w.WriteInt64(int64(s.bits)))
		case opFloat32:
			check(w.WriteFloat32(float32(math.Float64frombits(s.bits))))
		case opFloat64:
			check(w.WriteFloat64(math.Float64frombits(s.bits)))
		case opString, opKey:
			check(w.WriteString(s.text))
		case opReals:
			check(w.WriteArrayHeader(uint32(s.n)))
			for _, x := range doc.singles[s.bits:][:s.n] {
				check(w.WriteFloat32(x))
			}
		case opBlob:
			check(w.WriteBytes(doc.blobs[s.bits]))
		case opDict:
			check(w.WriteMapHeader(uint32(s.n)))
		case opArray, opPath, opStrings:
			check(w.WriteArrayHeader(uint32(s.n)))
		case opEnd:
		}
	}
}

// msgp returns the document in MessagePack.
func (doc *document) msgp() []byte {
	var b bytes.Buffer
	w := msgp.NewWriter(&b)
	doc.writeMsgp(w)
	check(w.Flush())
	return b.Bytes()
}

// walkMsgp reads a value of any shape by the calls of generated code: keys without
// a copy, texts into a buffer that is reused. It returns the sum of the value, as
// sumOf does.
func walkMsgp(r *msgp.Reader, scratch *[]byte) (sum int) {
	switch t := must(r.NextType()); t {
	case msgp.MapType:
		for range must(r.ReadMapHeader()) {
			sum += len(must(r.ReadMapKeyPtr()))
			sum += walkMsgp(r, scratch)
		}
		return sum
	case msgp.ArrayType:
		for range must(r.ReadArrayHeader()) {
			sum += walkMsgp(r, scratch)
		}
		return sum
	case msgp.StrType:
		*scratch = must(r.ReadStringAsBytes((*scratch)[:0]))
		return len(*scratch)
	case msgp.BinType:
		*scratch = must(r.ReadBytes((*scratch)[:0]))
		return len(*scratch)
	case msgp.Float32Type:
		return bitsOf(float64(must(r.ReadFloat32())))
	case msgp.Float64Type:
		return bitsOf(must(r.ReadFloat64()))
	case msgp.IntType, msgp.UintType:
		return int(must(r.ReadInt64()))
	case msgp.BoolType:
		return sumOfBool(must(r.ReadBool()))
	case msgp.NilType:
		check(r.ReadNil())
		return 0
	default:
		panic(fmt.Sprintf("no walk over %v", t))
	}
}

// walkMsgpBytes is walkMsgp for bytes in memory, by functions that copy nothing.
// It also returns the bytes after the value.
func walkMsgpBytes(b []byte) (sum int, rest []byte) {
	switch t := msgp.NextType(b); t {
	case msgp.MapType:
		n, b := mustRest(msgp.ReadMapHeaderBytes(b))
		for range n {
			var key []byte
			key, b = mustRest(msgp.ReadMapKeyZC(b))
			var value int
			value, b = walkMsgpBytes(b)
			sum += len(key) + value
		}
		return sum, b
	case msgp.ArrayType:
		n, b := mustRest(msgp.ReadArrayHeaderBytes(b))
		for range n {
			var value int
			value, b = walkMsgpBytes(b)
			sum += value
		}
		return sum, b
	case msgp.StrType:
		text, b := mustRest(msgp.ReadStringZC(b))
		return len(text), b
	case msgp.BinType:
		blob, b := mustRest(msgp.ReadBytesZC(b))
		return len(blob), b
	case msgp.Float32Type:
		x, b := mustRest(msgp.ReadFloat32Bytes(b))
		return bitsOf(float64(x)), b
	case msgp.Float64Type:
		x, b := mustRest(msgp.ReadFloat64Bytes(b))
		return bitsOf(x), b
	case msgp.IntType, msgp.UintType:
		x, b := mustRest(msgp.ReadInt64Bytes(b))
		return int(x), b
	case msgp.BoolType:
		x, b := mustRest(msgp.ReadBoolBytes(b))
		return sumOfBool(x), b
	case msgp.NilType:
		return 0, must(msgp.ReadNilBytes(b))
	default:
		panic(fmt.Sprintf("no walk over %v", t))
	}
}

// mustRest is must for functions that also return the bytes after the value.
func mustRest[T any](v T, rest []byte, err error) (T, []byte) {
	check(err)
	return v, rest
}

func init() {
	for _, v := range []any{map[string]any{}, []any{}, []string{}, []float32{}, []byte{}} {
		gob.Register(v)
	}
}

// cborDecoder decodes into the cheapest maps.
var cborDecoder = must(cbor.DecOptions{DefaultMapType: reflect.TypeFor[map[string]any]()}.DecMode())

func (doc *document) cbor() []byte { return must(cbor.Marshal(doc.tree)) }

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
		asMsgp, asCBOR = doc.msgp(), doc.cbor()
		m              = bytes.NewReader(nil)
		asGob          bytes.Buffer
		r              = msgp.NewReaderSize(nil, msgpBuffer)
		d              = msgpack.NewDecoder(nil)
	)
	check(gob.NewEncoder(&asGob).Encode(&doc.tree))
	build := func(name string, f func() any) contender {
		var tree any
		c := peer(name, len(doc.godot), 0, func() int {
			tree = f()
			return 0
		})
		c.verify = func() error { return verifySum(tree, doc.sum) }
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
			m.Reset(asGob.Bytes())
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
