package main

import (
	"bytes"
	"fmt"
	"math"

	"github.com/tinylib/msgp/msgp"
)

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
