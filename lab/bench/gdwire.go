package main

import (
	"io"
	"math"

	"github.com/gdwire/gdwire"
)

// readTokens reads to the end and returns the number of tokens.
func readTokens(d *gdwire.Decoder) int {
	n := 0
	for {
		_, err := d.ReadToken()
		if err == io.EOF {
			return n
		}
		check(err)
		n++
	}
}

// readValues reads all tokens with their values and returns their sum, as sumOf
// does.
func readValues(d *gdwire.Decoder) int {
	var reals [16]float64
	sum := 0
	for {
		t, err := d.ReadToken()
		if err == io.EOF {
			return sum
		}
		check(err)
		switch t.Kind() {
		case gdwire.KindDictKey, gdwire.KindEnd, gdwire.KindDictStart, gdwire.KindArrayStart,
			gdwire.KindNodePathStart, gdwire.KindPackedStart, gdwire.KindNil:
		case gdwire.KindStringChunk, gdwire.KindChunk:
			sum += len(t.Bytes())
		case gdwire.KindBool:
			if t.Bool() {
				sum++
			}
		case gdwire.KindInt32, gdwire.KindInt64:
			sum += int(t.Int())
		case gdwire.KindFloat32, gdwire.KindFloat64:
			sum += bitsOf(t.Float())
		default:
			for _, x := range t.AppendComponents(reals[:0]) {
				sum += bitsOf(x)
			}
		}
	}
}

// skip skips a value and returns its size.
func skip(d *gdwire.Decoder) int {
	check(d.SkipValue())
	return int(d.InputOffset())
}

// writeGodot writes the document by typed calls.
func (doc *document) writeGodot(e *gdwire.Encoder) {
	for i := range doc.steps {
		s := &doc.steps[i]
		switch s.op {
		case opNil:
			check(e.WriteNil())
		case opBool:
			check(e.WriteBool(s.bits == 1))
		case opInt:
			check(e.WriteInt(int64(s.bits)))
		case opFloat32, opFloat64:
			check(e.WriteFloat(math.Float64frombits(s.bits)))
		case opString, opKey:
			check(e.WriteString(s.text))
		case opReals:
			check(gdwire.WriteComponents(e, s.typ, doc.reals[s.bits:][:s.n]))
		case opBlob:
			check(e.BeginPacked(s.typ, int64(s.n)))
			must(e.Write(doc.blobs[s.bits]))
			check(e.End())
		case opDict:
			check(e.BeginDict(int(s.n)))
		case opArray:
			check(e.BeginArray(int(s.n)))
		case opPath:
			check(e.BeginNodePath(int(s.n), 0, s.bits == 1))
		case opStrings:
			check(e.BeginPacked(s.typ, int64(s.n)))
		case opEnd:
			check(e.End())
		}
	}
}
