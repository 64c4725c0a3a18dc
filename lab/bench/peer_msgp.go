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
func walkMsgp(r *msgp.Reader, scratch *[]byte) int {
	t, err := r.NextType()
	check(err)
	switch t {
	case msgp.MapType:
		n, err := r.ReadMapHeader()
		check(err)
		sum := 0
		for range n {
			key, err := r.ReadMapKeyPtr()
			check(err)
			sum += len(key)
			sum += walkMsgp(r, scratch)
		}
		return sum
	case msgp.ArrayType:
		n, err := r.ReadArrayHeader()
		check(err)
		sum := 0
		for range n {
			sum += walkMsgp(r, scratch)
		}
		return sum
	case msgp.StrType:
		*scratch, err = r.ReadStringAsBytes((*scratch)[:0])
		check(err)
		return len(*scratch)
	case msgp.BinType:
		*scratch, err = r.ReadBytes((*scratch)[:0])
		check(err)
		return len(*scratch)
	case msgp.Float32Type:
		x, err := r.ReadFloat32()
		check(err)
		return bitsOf(float64(x))
	case msgp.Float64Type:
		x, err := r.ReadFloat64()
		check(err)
		return bitsOf(x)
	case msgp.IntType, msgp.UintType:
		x, err := r.ReadInt64()
		check(err)
		return int(x)
	case msgp.BoolType:
		x, err := r.ReadBool()
		check(err)
		if x {
			return 1
		}
		return 0
	case msgp.NilType:
		check(r.ReadNil())
		return 0
	}
	panic(fmt.Sprintf("no walk over %v", t))
}

// walkMsgpBytes is walkMsgp for bytes in memory, by functions that copy nothing.
// It also returns the bytes after the value.
func walkMsgpBytes(b []byte) (int, []byte) {
	var err error
	switch t := msgp.NextType(b); t {
	case msgp.MapType:
		var n uint32
		n, b, err = msgp.ReadMapHeaderBytes(b)
		check(err)
		sum := 0
		for range n {
			var key []byte
			key, b, err = msgp.ReadMapKeyZC(b)
			check(err)
			var value int
			value, b = walkMsgpBytes(b)
			sum += len(key) + value
		}
		return sum, b
	case msgp.ArrayType:
		var n uint32
		n, b, err = msgp.ReadArrayHeaderBytes(b)
		check(err)
		sum := 0
		for range n {
			var value int
			value, b = walkMsgpBytes(b)
			sum += value
		}
		return sum, b
	case msgp.StrType:
		text, b, err := msgp.ReadStringZC(b)
		check(err)
		return len(text), b
	case msgp.BinType:
		blob, b, err := msgp.ReadBytesZC(b)
		check(err)
		return len(blob), b
	case msgp.Float32Type:
		x, b, err := msgp.ReadFloat32Bytes(b)
		check(err)
		return bitsOf(float64(x)), b
	case msgp.Float64Type:
		x, b, err := msgp.ReadFloat64Bytes(b)
		check(err)
		return bitsOf(x), b
	case msgp.IntType, msgp.UintType:
		x, b, err := msgp.ReadInt64Bytes(b)
		check(err)
		return int(x), b
	case msgp.BoolType:
		x, b, err := msgp.ReadBoolBytes(b)
		check(err)
		if x {
			return 1, b
		}
		return 0, b
	case msgp.NilType:
		b, err = msgp.ReadNilBytes(b)
		check(err)
		return 0, b
	default:
		panic(fmt.Sprintf("no walk over %v", t))
	}
}
