package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"sync"
	"unique"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/tagged"
	"github.com/gdwire/gdwire/variant"
	"github.com/tinylib/msgp/msgp"
)

// The documents, in the format of each codec, and the groups that compare formats on them; reads by
// typed calls.

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

// sumOf adds up all leaves of a tree or of structs: integers, the bits of floats as float64, the
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
	case reflect.Pointer:
		return sumOf(v.Elem().Interface())
	case reflect.Struct:
		for f, x := range v.Fields() {
			if f.IsExported() {
				sum += sumOf(x.Interface())
			}
		}
	case reflect.Slice, reflect.Array:
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

// verifySum returns an error if the leaves of v have another sum.
func verifySum(v any, want int) error {
	if got := sumOf(v); got != want {
		return fmt.Errorf("the sum is %d, not %d", got, want)
	}
	return nil
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

// typedGroup measures typed reads: of values of any shape, and of a known one.
var typedGroup = counted("typed reads", func() []contender {
	doc := game()
	return append(oursReading(doc.godot, "typed reads", doc.sum, new(typedWalk).value), readingItems())
})

// readingItems returns a contender that reads the items of the saved game, whose shape it knows.
func readingItems() contender {
	all := savedStructs.filled().(*savedWorld).Player.Inventory
	b := must(variant.Marshal(all))
	var it savedItem
	return oursReading(b, "typed reads of known shape", len(all), func(d *gdwire.Decoder) (n int) {
		for n = range must(d.ReadArray()) {
			it.read(d)
		}
		check(d.ReadEnd())
		return n + 1
	})[0].allocating()
}

// A typedWalk reads the document by typed calls. Strings are read without a copy, as
// msgp's walks read keys, and in memory all strings; arrays are appended to slices that
// are reused. All its methods return the sum of the values, as
// sumOf does.
type typedWalk struct {
	text   []byte
	bytes  []byte
	floats []float32
	reals  [16]float64
}

// value reads a value of any shape.
func (w *typedWalk) value(d *gdwire.Decoder) (sum int) {
	switch k := d.PeekKind(); k {
	case gdwire.KindNil:
		check(d.ReadNil())
		return 0
	case gdwire.KindBool:
		return sumOfBool(must(d.ReadBool()))
	case gdwire.KindInt32, gdwire.KindInt64:
		return int(must(d.ReadInt()))
	case gdwire.KindFloat32, gdwire.KindFloat64:
		return bitsOf(must(d.ReadFloat()))
	case gdwire.KindStringChunk:
		return w.string(d)
	case gdwire.KindNodePathStart:
		w.text = must(d.AppendString(w.text[:0]))
		return len(w.text) - bytes.Count(w.text, []byte{'/'})
	case gdwire.KindDictStart:
		for range must(d.ReadDict()) {
			sum += w.string(d) // the key
			sum += w.value(d)
		}
	case gdwire.KindArrayStart:
		for range must(d.ReadArray()) {
			sum += w.value(d)
		}
	case gdwire.KindPackedStart:
		return w.packed(d)
	default:
		n, _ := gdwire.Type(k).Components()
		check(gdwire.ReadComponents(d, gdwire.Type(k), w.reals[:n]))
		for _, x := range w.reals[:n] {
			sum += bitsOf(x)
		}
		return sum
	}
	check(d.ReadEnd())
	return sum
}

// packed tells the packed types of the document apart by their token.
func (w *typedWalk) packed(d *gdwire.Decoder) (sum int) {
	switch start := must(d.ReadToken()); start.Type() {
	case gdwire.TypePackedByteArray:
		w.bytes = must(gdwire.AppendPacked(d, w.bytes[:0]))
		return len(w.bytes)
	case gdwire.TypePackedFloat32Array:
		w.floats = must(gdwire.AppendPacked(d, w.floats[:0]))
		return 4 * len(w.floats)
	default: // strings
		for range start.Len() {
			sum += w.string(d)
		}
		check(d.ReadEnd())
		return sum
	}
}

// string returns the length of the next string or key.
func (w *typedWalk) string(d *gdwire.Decoder) int {
	text, ok, err := export.ReadText(d)
	check(err)
	if !ok {
		w.text = must(d.AppendString(w.text[:0]))
		text = w.text
	}
	return len(text)
}

func sumOfBool(v bool) int {
	if v {
		return 1
	}
	return 0
}

// documentGroups compare formats on each document.
var documentGroups = slices.Concat(groupsOf("", game), groupsOf(", dialog", dialog))

// groupsOf returns the groups of a document, with a suffix to their names.
func groupsOf(suffix string, load func() *document) (all []group) {
	for _, g := range []struct {
		name       string
		contenders func(doc *document) []contender
	}{
		{"tokens", func(doc *document) []contender { return append(walks(doc), jsonReading(doc)) }},
		{"skip", func(doc *document) []contender {
			return append(oursReading(doc.godot, "SkipValue", len(doc.godot), skip), doc.wellformed(), msgpSkipping(doc))
		}},
		{"build", func(doc *document) []contender {
			return append(builders(doc), oursReading(doc.godot, "tokens, values taken", doc.sum, readValues)[0])
		}},
		{"encode", func(doc *document) []contender { return append(writers(doc), ourWriting(doc), msgpWriting(doc)) }},
		{"copy", func(doc *document) []contender {
			return append(oursReading(doc.godot, "CopyValue", len(doc.godot), copier()), oursReading(doc.godot, "tokens", doc.tokens, readTokens)...)
		}},
	} {
		all = append(all, group{name: g.name + suffix, counted: g.name != "build", setup: func(*stage) []contender { return g.contenders(load()) }})
	}
	return all
}

// walks returns contenders that read all tokens or values of a document.
func walks(doc *document) []contender {
	return slices.Concat(
		oursReading(doc.godot, "tokens", doc.tokens, readTokens),
		oursReading(doc.godot, "tokens, values taken", doc.sum, readValues),
		msgpReading(doc),
	)
}

// copier returns a function that copies a value and returns its size.
func copier() func(*gdwire.Decoder) int {
	var to drain
	e := gdwire.NewEncoder(&to, nil)
	return func(d *gdwire.Decoder) int {
		to.n = 0
		e.Reset(&to)
		check(gdwire.CopyValue(e, d))
		return to.n
	}
}

// oursReading returns contenders that read a value from memory and from a Reader.
func oursReading(godot []byte, name string, want int, read func(*gdwire.Decoder) int) []contender {
	d, p := gdwire.NewDecoder(nil, nil), &plain{}
	return []contender{
		ours("gdwire "+name+", bytes", len(godot), want, func() int {
			d.ResetBytes(godot)
			return read(d)
		}),
		ours("gdwire "+name+", Reader", len(godot), want, func() int {
			p.r.Reset(godot)
			d.Reset(p)
			return read(d)
		}),
	}
}

// msgpReading returns contenders that walk over the document with msgp.
func msgpReading(doc *document) []contender {
	b := doc.msgp()
	r, p, m := msgp.NewReaderSize(nil, msgpBuffer), &plain{}, bytes.NewReader(nil)
	scratch := make([]byte, 0, 1<<10)
	return []contender{
		peer("msgp walk, bytes.Reader", len(doc.godot), doc.sum, func() int {
			m.Reset(b)
			r.Reset(m)
			return walkMsgp(r, &scratch)
		}),
		peer("msgp walk, Reader", len(doc.godot), doc.sum, func() int {
			p.r.Reset(b)
			r.Reset(p)
			return walkMsgp(r, &scratch)
		}),
		peer("msgp walk, ReadXxxBytes", len(doc.godot), doc.sum, func() int {
			sum, _ := walkMsgpBytes(b)
			return sum
		}),
	}
}

func msgpSkipping(doc *document) contender {
	b := doc.msgp()
	r, p := msgp.NewReaderSize(nil, msgpBuffer), &plain{}
	return peer("msgp Skip, Reader", len(doc.godot), 0, func() int {
		p.r.Reset(b)
		r.Reset(p)
		check(r.Skip())
		return p.r.Len()
	})
}

// wellformed returns a contender that checks the document with cbor.
func (doc *document) wellformed() contender {
	b := doc.cbor()
	return peer("cbor Wellformed", len(doc.godot), 0, func() int {
		check(cbor.Wellformed(b))
		return 0
	})
}

func ourWriting(doc *document) contender {
	return encoding("gdwire", len(doc.godot), doc.writeGodot)
}

func msgpWriting(doc *document) contender {
	var to drain
	w := msgp.NewWriterSize(&to, msgpBuffer)
	return peer("msgp", len(doc.godot), len(doc.msgp()), func() int {
		to.n = 0
		w.Reset(&to)
		doc.writeMsgp(w)
		check(w.Flush())
		return to.n
	})
}
