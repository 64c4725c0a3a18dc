package variant

import (
	"bytes"
	"encoding"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// tombstone is the key of a deleted entry.
type tombstone struct{}

// isDeleted reports whether key belongs to a deleted entry.
func isDeleted(key any) bool {
	_, deleted := key.(tombstone)
	return deleted
}

// fewEntries is the number of keys up to which comparing them one by one is faster than
// an index.
const fewEntries = 32

// unmoved are the positions of few entries, none deleted. They are only read.
var unmoved positions

// at returns the positions for reading.
func (d *Dictionary) at() *positions {
	if d.positions == nil {
		return &unmoved
	}
	return d.positions
}

// Len returns the number of pairs.
func (d *Dictionary) Len() int {
	if d == nil {
		return 0
	}
	return len(d.entries) - d.at().deleted
}

// Get returns the value of key and reports whether d contains the key.
func (d *Dictionary) Get(key any) (value any, ok bool) {
	if i := d.find(key); i >= 0 {
		return d.entries[i].Value, true
	}
	return nil, false
}

// Set sets the value of key. A new key is added at the end; an existing key keeps its
// position and its Go type.
func (d *Dictionary) Set(key, value any) {
	if i := d.find(key); i >= 0 {
		d.entries[i].Value = value
		return
	}
	d.add(key, value)
}

// setDecoded sets the value of a decoded key, as Set does, but always adds a key compared by
// content: Unmarshal never merges such keys.
func (d *Dictionary) setDecoded(key, value any) {
	i := -1
	if text, ok := key.(string); ok {
		i = d.findText(text)
	} else if k, ok := hashable(key); ok {
		i = d.findHashable(k)
	}
	if i >= 0 {
		d.entries[i].Value = value
		return
	}
	d.add(key, value)
}

// Delete removes key and reports whether d had the key.
func (d *Dictionary) Delete(key any) bool {
	i := d.find(key)
	if i < 0 {
		return false
	}
	if d.positions == nil {
		d.positions = new(positions)
	}
	p := d.positions
	if p.index != nil {
		if k, ok := hashable(d.entries[i].Key); ok {
			delete(p.index, k)
		}
	}
	d.entries[i] = Entry[any, any]{Key: tombstone{}}
	p.deleted++
	for p.first < len(d.entries) && isDeleted(d.entries[p.first].Key) {
		p.first++
	}
	if p.deleted > len(d.entries)/2 { // so that compact takes constant time on average
		d.compact()
	}
	return true
}

// All iterates over the pairs in order. The loop's body can set and delete keys: the loop
// yields the value of a key at the time when the key is reached, and no keys deleted or added
// since the loop began.
func (d *Dictionary) All() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		if d == nil {
			return
		}
		end := d.seq(len(d.entries))
		for next := d.seq(d.at().first); ; next++ {
			i := next
			if seqs := d.at().seqs; seqs != nil {
				i, _ = slices.BinarySearch(seqs, next)
				next = d.seq(i)
			}
			if next >= end {
				return
			}
			e := &d.entries[i]
			if !isDeleted(e.Key) && !yield(e.Key, e.Value) {
				return
			}
		}
	}
}

// seq returns the sequence number of entry i, or of the next entry to be added. All uses the
// number to find its position again after compact.
func (d *Dictionary) seq(i int) int {
	p := d.at()
	if i < len(p.seqs) {
		return p.seqs[i]
	}
	return i + p.removed
}

// compact removes deleted entries, and changes the indexes of the others.
func (d *Dictionary) compact() {
	seqs, entries := make([]int, 0, d.Len()), d.entries[:0]
	for i, e := range d.entries {
		if !isDeleted(e.Key) {
			seqs, entries = append(seqs, d.seq(i)), append(entries, e)
		}
	}
	clear(d.entries[len(entries):])
	*d.positions, d.entries = positions{seqs: seqs, removed: d.positions.removed + d.positions.deleted}, entries
	d.reindex()
}

// add adds a pair at the end.
func (d *Dictionary) add(key, value any) {
	if p := d.positions; p != nil && p.seqs != nil {
		p.seqs = append(p.seqs, d.seq(len(d.entries)))
	}
	d.entries = append(d.entries, Entry[any, any]{key, value})
	d.reindex()
}

// reindex adds the last entry to the index, or all entries to a new index.
func (d *Dictionary) reindex() {
	from := len(d.entries) - 1
	index := d.at().index
	if index == nil {
		if len(d.entries) <= fewEntries {
			return
		}
		if d.positions == nil {
			d.positions = new(positions)
		}
		index, from = make(map[any]int, 2*fewEntries), 0
		d.positions.index = index
	}
	for i := from; i < len(d.entries); i++ {
		if k, ok := hashable(d.entries[i].Key); ok {
			index[k] = i
		}
	}
}

// find returns the index of the entry of key, or -1 if there is none.
func (d *Dictionary) find(key any) int { return d.findBy(new(comparison), key) }

// findBy returns the index of the entry of key, or -1, as a part of comparison c: keys inside
// keys count as nested.
func (d *Dictionary) findBy(c *comparison, key any) int {
	if d == nil {
		return -1
	}
	if k, ok := hashable(key); ok {
		return d.findHashable(k)
	}
	for i := d.at().first; i < len(d.entries); i++ {
		if c.equal(d.entries[i].Key, key) {
			return i
		}
	}
	return -1
}

// findHashable returns the index of the entry of k, a result of hashable, or -1.
func (d *Dictionary) findHashable(k any) int {
	if text, ok := k.(string); ok {
		return d.findText(text)
	}
	if index := d.at().index; index != nil {
		if i, ok := index[k]; ok {
			return i
		}
		return -1
	}
	for i := range d.entries {
		if other, ok := hashable(d.entries[i].Key); ok && other == k {
			return i
		}
	}
	return -1
}

// findText returns the index of the entry of a string, or -1. Most keys are strings, and
// findText compares them without an interface.
func (d *Dictionary) findText(text string) int {
	if index := d.at().index; index != nil {
		if i, ok := index[text]; ok {
			return i
		}
		return -1
	}
	for i := range d.entries {
		switch s := d.entries[i].Key.(type) {
		case string:
			if s == text {
				return i
			}
		default:
			if other, ok := hashable(s); ok && other == any(text) {
				return i
			}
		}
	}
	return -1
}

// nan replaces every NaN in the result of hashable.
type nan struct{}

// hashable returns a value representing key in comparisons by == and in the index, or false for
// keys compared by content.
func hashable(key any) (k any, ok bool) {
	switch key := key.(type) {
	case nil, string, bool, int64, ObjectID, Signal, Vector2i, Vector3i, Vector4i, Rect2i:
		return key, true
	case NodePath:
		return NodePath(wire.CleanNodePath(string(key))), true
	case StringName:
		return string(key), true
	case float64:
		return hashableFloat(key), true
	case *Array, *Dictionary, *Object:
		return nil, normal(key) == nil
	case RID, Callable, tombstone:
		return nil, false
	}
	return hashableByKind(key)
}

// hashableByKind returns the result of hashable for math types, and for types never stored by
// Unmarshal in an any.
func hashableByKind(key any) (any, bool) {
	v := reflect.ValueOf(key)
	if own := ownTypeOf(v.Type()); own != nil {
		if own.math == nil {
			return nil, false
		}
		return normalMath(v)
	}
	switch k := v.Kind(); {
	case k == reflect.Pointer:
		return nil, false
	case reflect.PointerTo(v.Type()).Implements(textMarshalerType):
		text, err := addressable(v).Addr().Interface().(encoding.TextMarshaler).MarshalText()
		return string(text), err == nil
	case k == reflect.Bool:
		return v.Bool(), true
	case k == reflect.String:
		return v.String(), true
	case v.CanInt():
		return v.Int(), true
	case v.CanUint() && v.Uint() <= math.MaxInt64:
		return int64(v.Uint()), true
	case v.CanFloat():
		return hashableFloat(v.Float()), true
	}
	return nil, false
}

// hashableFloat returns the result of hashable for a float.
func hashableFloat(x float64) any {
	if x != x {
		return nan{}
	}
	return x + 0 // -0.0 + 0 is 0.0
}

// normalMath returns the result of hashable for a math type. By ==, 0.0 equals -0.0 already. A
// value with a NaN is replaced by its type and text.
func normalMath(v reflect.Value) (any, bool) {
	if !holdsNaN(v) {
		return v.Interface(), true
	}
	type withNaN struct {
		typ  reflect.Type
		text string
	}
	m := ownTypeOf(v.Type()).math
	c := make([]float64, m.n)
	m.load(variableOf(addressable(v)), c)
	for i := range c {
		c[i] += 0
	}
	return withNaN{v.Type(), fmt.Sprint(c)}, true
}

// holdsNaN reports whether a comparable value does not equal itself.
func holdsNaN(v reflect.Value) bool {
	same := v
	return !v.Equal(same)
}

// A comparison compares two keys by content.
type comparison struct {
	depth   int
	tooDeep bool // there is a value inside more than maxDepth others: all keys differ
}

// equalKeys reports whether a and b are the same key in a Dictionary of Godot 4.
func equalKeys(a, b any) bool { return new(comparison).equal(a, b) }

// equal reports whether a and b are equal keys, or equal values inside keys.
func (c *comparison) equal(a, b any) bool {
	k, ok := hashable(a)
	l, also := hashable(b)
	if ok || also {
		return ok && also && k == l
	}
	c.depth++
	c.tooDeep = c.tooDeep || c.depth > maxDepth
	equal := !c.tooDeep && c.equalContent(normal(a), normal(b))
	c.depth--
	return equal
}

// equalContent compares two unhashable keys.
func (c *comparison) equalContent(a, b any) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	switch a := a.(type) {
	case *Array:
		b := b.(*Array)
		return a == b || slices.EqualFunc(a.Values, b.Values, c.equal)
	case *Dictionary:
		return c.equalDictionaries(a, b.(*Dictionary))
	case *Object:
		b := b.(*Object)
		return a == b || a.Class == b.Class && slices.EqualFunc(a.Properties, b.Properties, c.equalProperties)
	case tombstone:
		return false
	case []float32, []float64, []Vector2, []Vector3, []Vector4, []Color:
		v, w := reflect.ValueOf(a), reflect.ValueOf(b)
		if v.Len() != w.Len() {
			return false
		}
		for i := range v.Len() {
			if !c.equal(v.Index(i).Interface(), w.Index(i).Interface()) {
				return false
			}
		}
		return true
	case []byte:
		return bytes.Equal(a, b.([]byte))
	case []int32:
		return slices.Equal(a, b.([]int32))
	case []int64:
		return slices.Equal(a, b.([]int64))
	case []string:
		return slices.Equal(a, b.([]string))
	case Image:
		b := b.(Image)
		return a.Format == b.Format && a.Mipmaps == b.Mipmaps && a.Width == b.Width && a.Height == b.Height && bytes.Equal(a.Data, b.Data)
	case InputEvent:
		b := b.(InputEvent)
		return a.Type == b.Type && a.Device == b.Device && bytes.Equal(a.Data, b.Data)
	case RID, Callable:
		return a == b
	}
	// Other Go types: the keys are equal if they are encoded as the same bytes.
	v, err := Marshal(a, contentOptions)
	if err != nil {
		return reflect.TypeOf(a).Comparable() && reflect.ValueOf(a).Comparable() && a == b
	}
	w, err := Marshal(b, contentOptions)
	return err == nil && bytes.Equal(v, w)
}

// equalDictionaries reports whether a and b have equal pairs, in any order.
func (c *comparison) equalDictionaries(a, b *Dictionary) bool {
	if a == b {
		return true
	}
	if a.Len() != b.Len() {
		return false
	}
	for k, v := range a.All() {
		i := b.findBy(c, k)
		if i < 0 || !c.equal(v, b.entries[i].Value) {
			return false
		}
	}
	return true
}

// equalProperties reports whether two properties have the same name and equal values.
func (c *comparison) equalProperties(a, b Property) bool {
	return a.Name == b.Name && c.equal(a.Value, b.Value)
}
