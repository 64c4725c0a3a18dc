package main

import (
	"bytes"
	"slices"

	"github.com/gdwire/gdwire"
)

// typedGroup compares typed reads of values of any shape with msgp's.
var typedGroup = counted("typed reads", func() []contender {
	doc := game()
	return slices.Concat(
		oursReading(doc.godot, "typed reads", doc.sum, new(typedWalk).value),
		msgpReading(doc),
	)
})

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
	for _, t := range gdwire.Types() {
		n[t], _ = t.Components()
	}
	return n
}()

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
		return w.nodePath(d)
	case gdwire.KindDictStart:
		for range must(d.ReadDict()) {
			sum += w.anyKey(d)
			sum += w.value(d)
		}
	case gdwire.KindArrayStart:
		for range must(d.ReadArray()) {
			sum += w.value(d)
		}
	case gdwire.KindPackedStart:
		return w.packed(d)
	default:
		return w.math(d, gdwire.Type(k), components[k])
	}
	check(d.ReadEnd())
	return sum
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

// nodePath adds up the lengths of the names.
func (w *typedWalk) nodePath(d *gdwire.Decoder) int {
	w.text = must(d.AppendString(w.text[:0]))
	return len(w.text) - bytes.Count(w.text, []byte{'/'})
}

func (w *typedWalk) math(d *gdwire.Decoder, t gdwire.Type, n int) (sum int) {
	c := w.reals[:n]
	check(gdwire.ReadComponents(d, t, c))
	for _, x := range c {
		sum += bitsOf(x)
	}
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
