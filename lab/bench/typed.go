package main

import (
	"bytes"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/tinylib/msgp/msgp"
)

// typedGroup compares typed reads with msgp's, for values of any shape and for the
// known shape of the saved game.
var typedGroup = group{
	name:    "typed reads",
	counted: true,
	about:   "Every value of the document: of any shape, and by code written for its shape, as generated code is.",
	setup: func(*stage) []contender {
		doc := game()
		return slices.Concat(
			oursReading(doc, "typed reads", doc.sum, new(typedWalk).value),
			oursReading(doc, "typed reads, known shape", doc.sum, new(typedWalk).save),
			oursReading(doc, "typed reads, known shape, Fields", doc.sum, new(typedWalk).saveFields),
			oursReading(doc, "tokens, values taken", doc.sum, readValues),
			msgpReading(doc),
			msgpKnown(doc),
		)
	},
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

// components contains the number of components of the math types, by kind.
var components = func() (n [64]int) {
	for t, k := range map[gdwire.Type]int{
		gdwire.TypeVector2: 2, gdwire.TypeVector3: 3, gdwire.TypeVector4: 4, gdwire.TypeColor: 4,
		gdwire.TypeQuaternion: 4, gdwire.TypeBasis: 9, gdwire.TypeTransform3D: 12,
	} {
		n[t] = k
	}
	return n
}()

// value reads a value of any shape.
func (w *typedWalk) value(d *gdwire.Decoder) int {
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
		return w.nodePath(d)
	case gdwire.KindDictStart:
		sum := 0
		for range must(d.ReadDict()) {
			sum += w.anyKey(d)
			sum += w.value(d)
		}
		check(d.ReadEnd())
		return sum
	case gdwire.KindArrayStart:
		sum := 0
		for range must(d.ReadArray()) {
			sum += w.value(d)
		}
		check(d.ReadEnd())
		return sum
	case gdwire.KindPackedStart:
		return w.packed(d)
	default:
		return w.math(d, gdwire.Type(k), components[k])
	}
}

// anyKey reads a key of any type.
func (w *typedWalk) anyKey(d *gdwire.Decoder) int {
	text, ok, err := export.ReadText(d)
	check(err)
	if ok {
		return len(text)
	}
	must(d.ReadToken()) // the DictKey, which PeekKind would report
	return w.value(d)
}

func (w *typedWalk) string(d *gdwire.Decoder) int { return len(w.readText(d)) }

// nodePath adds up the lengths of the names.
func (w *typedWalk) nodePath(d *gdwire.Decoder) int {
	w.text = must(d.AppendString(w.text[:0]))
	return len(w.text) - bytes.Count(w.text, []byte{'/'})
}

func (w *typedWalk) math(d *gdwire.Decoder, t gdwire.Type, n int) int {
	c := w.reals[:n]
	check(gdwire.ReadComponents(d, t, c))
	sum := 0
	for _, x := range c {
		sum += bitsOf(x)
	}
	return sum
}

// packed tells the packed types of the document apart by their token.
func (w *typedWalk) packed(d *gdwire.Decoder) int {
	switch start := must(d.ReadToken()); start.Type() {
	case gdwire.TypePackedByteArray:
		w.bytes = must(gdwire.AppendPacked(d, w.bytes[:0]))
		return len(w.bytes)
	case gdwire.TypePackedFloat32Array:
		w.floats = must(gdwire.AppendPacked(d, w.floats[:0]))
		return 4 * len(w.floats)
	default:
		return w.rest(d, start)
	}
}

// strings reads a PackedStringArray.
func (w *typedWalk) strings(d *gdwire.Decoder) int {
	return w.rest(d, must(d.ReadToken()))
}

// rest reads the strings of a PackedStringArray after its start.
func (w *typedWalk) rest(d *gdwire.Decoder, start gdwire.Token) int {
	sum := 0
	for range start.Len() {
		sum += w.string(d)
	}
	check(d.ReadEnd())
	return sum
}

// readText returns the next string or key, valid until the next call on the Decoder.
func (w *typedWalk) readText(d *gdwire.Decoder) []byte {
	text, ok, err := export.ReadText(d)
	check(err)
	if !ok {
		w.text = must(d.AppendString(w.text[:0]))
		text = w.text
	}
	return text
}

// save reads the saved game.
func (w *typedWalk) save(d *gdwire.Decoder) int {
	sum := 0
	for range must(d.ReadDict()) {
		key := w.readText(d)
		sum += len(key)
		switch string(key) {
		case "version", "seed":
			sum += int(must(d.ReadInt()))
		case "player":
			sum += w.player(d)
		case "map":
			w.bytes = must(gdwire.AppendPacked(d, w.bytes[:0]))
			sum += len(w.bytes)
		case "heights":
			w.floats = must(gdwire.AppendPacked(d, w.floats[:0]))
			sum += 4 * len(w.floats)
		}
	}
	check(d.ReadEnd())
	return sum
}

func (w *typedWalk) player(d *gdwire.Decoder) int {
	sum := 0
	for range must(d.ReadDict()) {
		key := w.readText(d)
		sum += len(key)
		switch string(key) {
		case "name":
			sum += w.string(d)
		case "transform":
			sum += w.math(d, gdwire.TypeTransform3D, 12)
		case "inventory":
			for range must(d.ReadArray()) {
				n := must(d.ReadDict())
				for range n {
					key := w.readText(d)
					sum += len(key) + w.item(d, key)
				}
				check(d.ReadEnd())
			}
			check(d.ReadEnd())
		}
	}
	check(d.ReadEnd())
	return sum
}

// item reads the field key of an item.
func (w *typedWalk) item(d *gdwire.Decoder, key []byte) int {
	switch string(key) {
	case "id":
		return int(must(d.ReadInt()))
	case "name":
		return w.string(d)
	case "weight":
		return bitsOf(must(d.ReadFloat()))
	case "pos":
		return w.math(d, gdwire.TypeVector3, 3)
	case "tags":
		return w.strings(d)
	case "color":
		return w.math(d, gdwire.TypeColor, 4)
	case "enabled":
		return sumOfBool(must(d.ReadBool()))
	case "parent":
		return w.nodePath(d)
	case "stats":
		sum := 0
		for range must(d.ReadDict()) {
			sum += len(w.readText(d)) + int(must(d.ReadInt()))
		}
		check(d.ReadEnd())
		return sum
	}
	check(d.SkipValue())
	return 0
}

// saveFields reads the saved game in loops over Fields.
func (w *typedWalk) saveFields(d *gdwire.Decoder) int {
	sum := 0
	for key, err := range d.Fields() {
		check(err)
		sum += len(key)
		switch string(key) {
		case "version", "seed":
			sum += int(must(d.ReadInt()))
		case "player":
			sum += w.playerFields(d)
		case "map":
			w.bytes = must(gdwire.AppendPacked(d, w.bytes[:0]))
			sum += len(w.bytes)
		case "heights":
			w.floats = must(gdwire.AppendPacked(d, w.floats[:0]))
			sum += 4 * len(w.floats)
		}
	}
	return sum
}

func (w *typedWalk) playerFields(d *gdwire.Decoder) int {
	sum := 0
	for key, err := range d.Fields() {
		check(err)
		sum += len(key)
		switch string(key) {
		case "name":
			sum += w.string(d)
		case "transform":
			sum += w.math(d, gdwire.TypeTransform3D, 12)
		case "inventory":
			for _, err := range d.Elements() {
				check(err)
				for key, err := range d.Fields() {
					check(err)
					sum += len(key)
					sum += w.item(d, key)
				}
			}
		}
	}
	return sum
}

func sumOfBool(v bool) int {
	if v {
		return 1
	}
	return 0
}

// msgpKnown reads the saved game by code for its shape.
func msgpKnown(doc *document) []contender {
	b := doc.msgp()
	r, p, m := msgp.NewReaderSize(nil, msgpBuffer), &plain{}, bytes.NewReader(nil)
	w := &msgpWalk{text: make([]byte, 0, 1<<10)}
	return []contender{
		{
			name: "msgp known shape, bytes.Reader", bytes: len(doc.godot), want: doc.sum,
			run: func() int {
				m.Reset(b)
				r.Reset(m)
				return w.save(r)
			},
		},
		{
			name: "msgp known shape, Reader", bytes: len(doc.godot), want: doc.sum,
			run: func() int {
				p.r.Reset(b)
				r.Reset(p)
				return w.save(r)
			},
		},
		{
			name: "msgp known shape, ReadXxxBytes", bytes: len(doc.godot), want: doc.sum,
			run: func() int {
				sum, _ := msgpSave(b)
				return sum
			},
		},
	}
}

// A msgpWalk is a typedWalk over a msgp.Reader.
type msgpWalk struct{ text []byte }

func (w *msgpWalk) string(r *msgp.Reader) int {
	w.text = must(r.ReadStringAsBytes(w.text[:0]))
	return len(w.text)
}

func (w *msgpWalk) strings(r *msgp.Reader) int {
	sum := 0
	for range must(r.ReadArrayHeader()) {
		sum += w.string(r)
	}
	return sum
}

func (w *msgpWalk) math(r *msgp.Reader) int {
	sum := 0
	for range must(r.ReadArrayHeader()) {
		sum += bitsOf(float64(must(r.ReadFloat32())))
	}
	return sum
}

// float reads a number that was written in as few bits as it fits.
func (w *msgpWalk) float(r *msgp.Reader) int {
	if must(r.NextType()) == msgp.Float32Type {
		return bitsOf(float64(must(r.ReadFloat32())))
	}
	return bitsOf(must(r.ReadFloat64()))
}

func (w *msgpWalk) save(r *msgp.Reader) int {
	sum := 0
	for range must(r.ReadMapHeader()) {
		key := must(r.ReadMapKeyPtr())
		sum += len(key)
		switch string(key) {
		case "version", "seed":
			sum += int(must(r.ReadInt64()))
		case "player":
			sum += w.player(r)
		case "map", "heights":
			w.text = must(r.ReadBytes(w.text[:0]))
			sum += len(w.text)
		}
	}
	return sum
}

func (w *msgpWalk) player(r *msgp.Reader) int {
	sum := 0
	for range must(r.ReadMapHeader()) {
		key := must(r.ReadMapKeyPtr())
		sum += len(key)
		switch string(key) {
		case "name":
			sum += w.string(r)
		case "transform":
			sum += w.math(r)
		case "inventory":
			for range must(r.ReadArrayHeader()) {
				for range must(r.ReadMapHeader()) {
					key := must(r.ReadMapKeyPtr())
					sum += len(key)
					sum += w.item(r, key)
				}
			}
		}
	}
	return sum
}

func (w *msgpWalk) item(r *msgp.Reader, key []byte) int {
	switch string(key) {
	case "id":
		return int(must(r.ReadInt64()))
	case "name":
		return w.string(r)
	case "weight":
		return w.float(r)
	case "pos", "color":
		return w.math(r)
	case "tags", "parent":
		return w.strings(r)
	case "enabled":
		return sumOfBool(must(r.ReadBool()))
	case "stats":
		sum := 0
		for range must(r.ReadMapHeader()) {
			sum += len(must(r.ReadMapKeyPtr()))
			sum += int(must(r.ReadInt64()))
		}
		return sum
	}
	check(r.Skip())
	return 0
}

// must2 is must for functions that also return the rest of their input.
func must2[T any](v T, rest []byte, err error) (T, []byte) {
	check(err)
	return v, rest
}

// msgpSave reads the saved game in memory and returns the bytes after it.
func msgpSave(b []byte) (sum int, rest []byte) {
	var key []byte
	n, b := must2(msgp.ReadMapHeaderBytes(b))
	for range n {
		key, b = must2(msgp.ReadMapKeyZC(b))
		sum += len(key)
		k := 0
		switch string(key) {
		case "version", "seed":
			k, b = msgpInt(b)
		case "player":
			k, b = msgpPlayer(b)
		case "map", "heights":
			var blob []byte
			blob, b = must2(msgp.ReadBytesZC(b))
			k = len(blob)
		}
		sum += k
	}
	return sum, b
}

func msgpInt(b []byte) (int, []byte) {
	v, b := must2(msgp.ReadInt64Bytes(b))
	return int(v), b
}

func msgpMath(b []byte) (sum int, rest []byte) {
	n, b := must2(msgp.ReadArrayHeaderBytes(b))
	for range n {
		var x float32
		x, b = must2(msgp.ReadFloat32Bytes(b))
		sum += bitsOf(float64(x))
	}
	return sum, b
}

func msgpPlayer(b []byte) (sum int, rest []byte) {
	var key []byte
	n, b := must2(msgp.ReadMapHeaderBytes(b))
	for range n {
		key, b = must2(msgp.ReadMapKeyZC(b))
		sum += len(key)
		k := 0
		switch string(key) {
		case "name":
			var text []byte
			text, b = must2(msgp.ReadStringZC(b))
			k = len(text)
		case "transform":
			k, b = msgpMath(b)
		case "inventory":
			var items, fields uint32
			items, b = must2(msgp.ReadArrayHeaderBytes(b))
			for range items {
				fields, b = must2(msgp.ReadMapHeaderBytes(b))
				for range fields {
					key, b = must2(msgp.ReadMapKeyZC(b))
					var v int
					v, b = msgpItem(b, key)
					k += len(key) + v
				}
			}
		}
		sum += k
	}
	return sum, b
}

func msgpItem(b, key []byte) (sum int, rest []byte) {
	switch string(key) {
	case "id":
		return msgpInt(b)
	case "name":
		text, b := must2(msgp.ReadStringZC(b))
		return len(text), b
	case "weight":
		if msgp.NextType(b) == msgp.Float32Type {
			x, b := must2(msgp.ReadFloat32Bytes(b))
			return bitsOf(float64(x)), b
		}
		x, b := must2(msgp.ReadFloat64Bytes(b))
		return bitsOf(x), b
	case "pos", "color":
		return msgpMath(b)
	case "tags", "parent":
		n, b := must2(msgp.ReadArrayHeaderBytes(b))
		for range n {
			var text []byte
			text, b = must2(msgp.ReadStringZC(b))
			sum += len(text)
		}
		return sum, b
	case "enabled":
		v, b := must2(msgp.ReadBoolBytes(b))
		return sumOfBool(v), b
	case "stats":
		var key []byte
		n, b := must2(msgp.ReadMapHeaderBytes(b))
		for range n {
			key, b = must2(msgp.ReadMapKeyZC(b))
			var v int
			v, b = msgpInt(b)
			sum += len(key) + v
		}
		return sum, b
	}
	rest, err := msgp.Skip(b)
	check(err)
	return 0, rest
}
