package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"sync"

	"github.com/gdwire/gdwire"
)

// savedGame is the file of the document that all formats are compared on, relative
// to bench/.
const savedGame = "../../testdata/godot4.7-dev/save_game_large.bin"

// A document is one value in the format of every contender.
//
// It is translated to the nearest types: dictionaries to maps with string keys,
// NodePaths and packed strings to arrays of strings, math types to arrays of
// 32-bit floats, other packed arrays to byte strings, or base64 in formats without
// them.
type document struct {
	godot []byte
	steps []step // the calls that write it, in any format

	// Data that steps refer to.
	reals   []float64
	singles []float32 // the same
	blobs   [][]byte

	tree any // of map[string]any, []any, []string, []float32, []byte and scalars

	tokens int // of gdwire, DictKey markers included
	leaves int // keys, strings, numbers, components, bools and byte strings
	sum    int // of all leaves; see sumOf
}

// A step is one call on an encoder. It is small, because all encoders pay for
// reading it.
type step struct {
	op   op
	typ  gdwire.Type
	n    int32  // elements, pairs, names or components that follow
	bits uint64 // a number's bits, or an index into a slice of the document
	text string
}

type op uint8

const (
	opReals op = iota // n of the reals from bits
	opNil
	opBool
	opInt
	opFloat32
	opFloat64
	opString
	opKey     // text
	opBlob    // blobs[bits], a packed array of n elements
	opDict    // n keys and values
	opArray   // n values
	opPath    // n strings; absolute if bits are 1
	opStrings // n strings
	opEnd     // of the op in bits
)

// ops are the ops of tokens, before their content is looked at. That of math types is opReals.
var ops = map[gdwire.Kind]op{
	gdwire.KindNil: opNil, gdwire.KindBool: opBool, gdwire.KindInt32: opInt, gdwire.KindInt64: opInt,
	gdwire.KindFloat32: opFloat32, gdwire.KindFloat64: opFloat64, gdwire.KindStringChunk: opString, gdwire.KindDictKey: opKey,
	gdwire.KindDictStart: opDict, gdwire.KindArrayStart: opArray, gdwire.KindNodePathStart: opPath, gdwire.KindPackedStart: opBlob,
	gdwire.KindEnd: opEnd,
}

// translate returns the document of a value that Godot encoded.
func translate(godot []byte) *document {
	doc := &document{godot: godot}
	d := gdwire.NewDecoder(nil, nil)
	defer d.Release()
	d.ResetBytes(godot)
	// Equal keys and names are the same string, as in programs.
	interned := map[string]string{}
	intern := func(b []byte) string {
		s, ok := interned[string(b)]
		if !ok {
			s = string(b)
			interned[s] = s
		}
		return s
	}
	var open []op
	key := false
	for {
		t, err := d.ReadToken()
		if err == io.EOF {
			break
		}
		check(err)
		doc.tokens++
		s := step{op: ops[t.Kind()], typ: t.Type(), n: int32(t.Len())}
		switch s.op {
		case opBool:
			s.bits = uint64(sumOfBool(t.Bool()))
		case opInt:
			s.bits = uint64(t.Int())
		case opFloat32, opFloat64:
			s.bits = math.Float64bits(t.Float())
		case opKey:
			key = true
			continue
		case opString:
			if !t.Last() {
				panic("string in several chunks")
			}
			s.text = intern(t.Bytes())
			if key {
				s.op, key = opKey, false
			}
		case opPath:
			names, subnames, absolute := t.NodePath()
			if subnames != 0 {
				panic("NodePath with sub-names")
			}
			s.n, s.bits = int32(names), uint64(sumOfBool(absolute))
		case opBlob:
			if t.Type() == gdwire.TypePackedStringArray {
				s.op = opStrings
				break
			}
			s.bits = uint64(len(doc.blobs))
			doc.blobs = append(doc.blobs, must(io.ReadAll(d.Payload())))
			doc.tokens += 2 // Chunk and End, which Payload read
		case opEnd:
			s = step{op: opEnd, bits: uint64(open[len(open)-1])}
			open = open[:len(open)-1]
		case opReals:
			if t.Components() == 0 {
				panic(fmt.Sprintf("no translation of %v", t))
			}
			s.n, s.bits = int32(t.Components()), uint64(len(doc.reals))
			doc.reals = t.AppendComponents(doc.reals)
		}
		if key {
			panic("key that is no string")
		}
		if s.op >= opDict && s.op < opEnd {
			open = append(open, s.op)
		}
		if s.op > opReals && s.op < opDict {
			doc.leaves++
		}
		doc.steps = append(doc.steps, s)
	}
	for _, x := range doc.reals {
		doc.singles = append(doc.singles, float32(x))
	}
	doc.leaves += len(doc.reals)
	rest := doc.steps
	doc.tree = doc.build(&rest)
	doc.sum = sumOf(doc.tree)
	return doc
}

// build returns the tree of the first value of steps and advances steps past it.
func (doc *document) build(steps *[]step) any {
	s := (*steps)[0]
	*steps = (*steps)[1:]
	switch s.op {
	case opBool:
		return s.bits == 1
	case opInt:
		return int64(s.bits)
	case opFloat32:
		return float32(math.Float64frombits(s.bits))
	case opFloat64:
		return math.Float64frombits(s.bits)
	case opString, opKey:
		return s.text
	case opReals:
		return doc.singles[s.bits:][:s.n:s.n]
	case opBlob:
		return doc.blobs[s.bits]
	case opDict:
		m := make(map[string]any, s.n)
		for range s.n {
			key := doc.build(steps).(string)
			m[key] = doc.build(steps)
		}
		*steps = (*steps)[1:]
		return m
	case opArray:
		a := make([]any, s.n)
		for i := range a {
			a[i] = doc.build(steps)
		}
		*steps = (*steps)[1:]
		return a
	case opPath, opStrings:
		a := make([]string, s.n)
		for i := range a {
			a[i] = doc.build(steps).(string)
		}
		*steps = (*steps)[1:]
		return a
	}
	return nil
}

// sumOf adds up all leaves of a tree: integers, the bits of floats as float64, the
// lengths of texts and byte strings, 1 for true. Every contender that reads tokens
// or values returns the same sum, which shows that all read the same document.
func sumOf(v any) (sum int) {
	switch v := reflect.ValueOf(v); v.Kind() {
	case reflect.Invalid: // nil
	case reflect.Bool:
		return sumOfBool(v.Bool())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return int(v.Int())
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return int(v.Uint())
	case reflect.Float32, reflect.Float64:
		return bitsOf(v.Float())
	case reflect.String:
		return v.Len()
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len()
		}
		for i := range v.Len() {
			sum += sumOf(v.Index(i).Interface())
		}
	case reflect.Map:
		for k, x := range v.Seq2() {
			sum += sumOf(k.Interface()) + sumOf(x.Interface())
		}
	default:
		panic(fmt.Sprintf("%v in a tree", v.Type()))
	}
	return sum
}

func bitsOf(x float64) int { return int(math.Float64bits(x)) }

// game is the saved game, translated once.
var game = sync.OnceValue(func() *document { return translate(must(os.ReadFile(savedGame))) })

// plain is an io.Reader without other methods, as a connection is.
type plain struct{ r bytes.Reader }

func (p *plain) Read(b []byte) (int, error) { return p.r.Read(b) }

// A drain is an io.Writer without other methods that counts bytes.
type drain struct{ n int }

func (d *drain) Write(b []byte) (int, error) {
	d.n += len(b)
	return len(b), nil
}
