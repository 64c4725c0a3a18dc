package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"reflect"
	"sync"
	"unique"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/tagged"
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

// translate returns the document of a value that Godot encoded.
func translate(godot []byte) *document {
	d := gdwire.NewDecoder(nil, nil)
	defer d.Release()
	d.ResetBytes(godot)
	doc := &document{godot: godot, tokens: readTokens(d)}
	d.ResetBytes(godot)
	v := must((&tagged.Reader{Decoder: d}).Value())
	doc.tree = doc.add(&v)
	doc.sum = sumOf(doc.tree)
	return doc
}

// add adds the steps of a value, and returns its tree.
func (doc *document) add(v *tagged.Value) any {
	typ := tagged.TypeByName[v.Type]
	switch v.Type {
	case "Nil":
		doc.step(step{op: opNil})
		return nil
	case "bool":
		doc.step(step{op: opBool, bits: v.Bits})
		return v.Bits == 1
	case "int":
		doc.step(step{op: opInt, bits: v.Bits})
		return int64(v.Bits)
	case "float":
		x := math.Float64frombits(v.Bits)
		if v.Wide {
			doc.step(step{op: opFloat64, bits: v.Bits})
			return x
		}
		doc.step(step{op: opFloat32, bits: v.Bits})
		return float32(x)
	case "String":
		return doc.text(opString, v.Text)
	case "NodePath":
		if len(v.Subnames) > 0 {
			panic("NodePath with sub-names")
		}
		return doc.texts(step{op: opPath, bits: uint64(sumOfBool(v.Absolute))}, v.Names)
	case "PackedStringArray":
		return doc.texts(step{op: opStrings, typ: typ}, v.Names)
	case "PackedByteArray", "PackedFloat32Array":
		blob := v.Encoding()
		doc.step(step{op: opBlob, typ: typ, n: int32(len(v.Data) + len(v.Numbers)), bits: uint64(len(doc.blobs))})
		doc.blobs = append(doc.blobs, blob)
		return blob
	case "Dictionary":
		m := make(map[string]any, len(v.Items)/2)
		doc.step(step{op: opDict, n: int32(len(v.Items) / 2)})
		for i := 0; i < len(v.Items); i += 2 {
			if v.Items[i].Type != "String" {
				panic("key that is no string")
			}
			key := doc.text(opKey, v.Items[i].Text)
			m[key] = doc.add(&v.Items[i+1])
		}
		doc.step(step{op: opEnd, bits: uint64(opDict)})
		return m
	case "Array":
		a := make([]any, len(v.Items))
		doc.step(step{op: opArray, n: int32(len(v.Items))})
		for i := range v.Items {
			a[i] = doc.add(&v.Items[i])
		}
		doc.step(step{op: opEnd, bits: uint64(opArray)})
		return a
	}
	if n, integers := typ.Components(); n == 0 || integers {
		panic("no translation of " + v.Type)
	}
	from := len(doc.reals)
	doc.step(step{op: opReals, typ: typ, n: int32(len(v.Numbers)), bits: uint64(from)})
	for _, bits := range v.Numbers {
		x := math.Float64frombits(bits)
		doc.reals, doc.singles = append(doc.reals, x), append(doc.singles, float32(x))
	}
	doc.leaves += len(v.Numbers)
	return doc.singles[from:len(doc.singles):len(doc.singles)]
}

func (doc *document) step(s step) {
	if s.op > opReals && s.op < opDict {
		doc.leaves++
	}
	doc.steps = append(doc.steps, s)
}

// text adds the step of a text. Equal texts are the same string, as in programs.
func (doc *document) text(o op, text string) string {
	text = unique.Make(text).Value()
	doc.step(step{op: o, text: text})
	return text
}

// texts adds the steps of texts in a container.
func (doc *document) texts(begin step, all []string) []string {
	begin.n = int32(len(all))
	doc.step(begin)
	a := make([]string, len(all))
	for i := range all {
		a[i] = doc.text(opString, all[i])
	}
	doc.step(step{op: opEnd, bits: uint64(begin.op)})
	return a
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
