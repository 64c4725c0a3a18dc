package variant

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"

	"github.com/gdwire/gdwire"
)

// Dictionary holds pairs in the order in which their keys were first set. The zero
// Dictionary is empty and ready to use. It must not be copied after its first use.
// Methods that only read accept a nil Dictionary as an empty one.
//
// Keys are compared as in Godot 4. Text is one key as a string, StringName or other
// string kind, but another as a NodePath. Numbers may have any Go kind; the int 1,
// the float 1.0 and true are three keys. NaN equals NaN, and 0.0 equals -0.0.
//
// Keys that are Arrays, Dictionaries, packed arrays or RIDs are compared by content
// and one by one. Unmarshal never merges such keys, because a Dictionary of Godot 3
// can have several that look alike. An Object equals only itself.
type Dictionary struct {
	// Key and Value are what keys and values are declared to be, zero in a
	// Dictionary that is not typed.
	Key, Value gdwire.Elem

	entries []Entry[any, any] // the key of a deleted one is a tombstone
	index   map[any]int       // where the entry of a hashable key is; nil while there are few
	deleted int
}

// Entry is a key and its value.
type Entry[K, V any] struct {
	Key   K
	Value V
}

// tombstone is the key of a deleted entry.
type tombstone struct{}

// fewEntries is up to how many keys are compared one by one: no index is as fast.
const fewEntries = 32

// Len returns the number of pairs.
func (d *Dictionary) Len() int {
	if d == nil {
		return 0
	}
	return len(d.entries) - d.deleted
}

// Get returns the value of key, and whether there is one.
func (d *Dictionary) Get(key any) (value any, ok bool) {
	if i := d.find(key); i >= 0 {
		return d.entries[i].Value, true
	}
	return nil, false
}

// Set sets the value of key. A new key comes last; an old one keeps its place and
// its type.
func (d *Dictionary) Set(key, value any) {
	if i := d.find(key); i >= 0 {
		d.entries[i].Value = value
		return
	}
	d.add(key, value)
}

// put is Set for a key that was read: one of those that are never merged is new.
func (d *Dictionary) put(key, value any) {
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

// Delete removes key and reports whether it was there.
func (d *Dictionary) Delete(key any) bool {
	i := d.find(key)
	if i < 0 {
		return false
	}
	if d.index != nil {
		if k, ok := hashable(d.entries[i].Key); ok {
			delete(d.index, k)
		}
	}
	d.entries[i] = Entry[any, any]{Key: tombstone{}}
	d.deleted++
	if d.deleted > len(d.entries)/2 {
		d.compact()
	}
	return true
}

// All ranges over the pairs in order. The loop's body may set and delete keys;
// whether it then meets new ones is not defined.
func (d *Dictionary) All() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		if d == nil {
			return
		}
		for _, e := range d.entries {
			if _, gone := e.Key.(tombstone); !gone && !yield(e.Key, e.Value) {
				return
			}
		}
	}
}

// compact removes what was deleted.
func (d *Dictionary) compact() {
	// A new slice: All may be ranging over the old one.
	d.entries = slices.DeleteFunc(slices.Clone(d.entries), func(e Entry[any, any]) bool {
		_, gone := e.Key.(tombstone)
		return gone
	})
	d.deleted, d.index = 0, nil
	d.reindex()
}

// add adds a pair whose key is new or never merged.
func (d *Dictionary) add(key, value any) {
	d.entries = append(d.entries, Entry[any, any]{key, value})
	d.reindex()
}

// reindex adds to the index what it lacks.
func (d *Dictionary) reindex() {
	from := len(d.entries) - 1
	if d.index == nil {
		if len(d.entries) <= fewEntries {
			return
		}
		d.index, from = make(map[any]int, 2*fewEntries), 0
	}
	for i := from; i < len(d.entries); i++ {
		if k, ok := hashable(d.entries[i].Key); ok {
			d.index[k] = i
		}
	}
}

// find returns where the entry of key is, or -1.
func (d *Dictionary) find(key any) int {
	if d == nil {
		return -1
	}
	if k, ok := hashable(key); ok {
		return d.findHashable(k)
	}
	key = plainKey(key)
	return slices.IndexFunc(d.entries, func(e Entry[any, any]) bool { return equalContent(plainKey(e.Key), key) })
}

// findHashable is find for what hashable returned.
func (d *Dictionary) findHashable(k any) int {
	if text, ok := k.(string); ok {
		return d.findText(text)
	}
	if d.index != nil {
		if i, ok := d.index[k]; ok {
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

// findText is find for text.
func (d *Dictionary) findText(text string) int {
	if d.index != nil {
		if i, ok := d.index[text]; ok {
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

// nan stands for every NaN in what hashable returns.
type nan struct{}

// hashable returns what is == for equal keys, and false for keys that are never
// merged.
func hashable(key any) (k any, ok bool) {
	switch key := key.(type) {
	case nil, string, bool, int64, NodePath, ObjectID, Signal, Vector2i, Vector3i, Vector4i, Rect2i:
		return key, true
	case StringName:
		return string(key), true
	case float64:
		return hashableFloat(key), true
	case RID, Callable, tombstone, *Array, *Dictionary, *Object:
		return nil, false
	}
	return hashableKind(key)
}

// hashableKind is hashable for math types and other Go types.
func hashableKind(key any) (any, bool) {
	v := reflect.ValueOf(key)
	if own := ownTypes[v.Type()]; own != nil {
		if own.math == nil {
			return nil, false
		}
		return normalMath(v)
	}
	switch k := v.Kind(); {
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

func hashableFloat(x float64) any {
	if x != x {
		return nan{}
	}
	return x + 0 // -0.0 + 0 is 0.0
}

// normalMath returns a math value whose == is that of keys. == takes 0.0 and -0.0
// for equal already; what holds a NaN becomes its type and its text.
func normalMath(v reflect.Value) (any, bool) {
	if v.Equal(v) {
		return v.Interface(), true
	}
	type withNaN struct {
		typ  reflect.Type
		text string
	}
	m := ownTypes[v.Type()].math
	c := make([]float64, m.n)
	m.load(addressable(v), c)
	for i := range c {
		c[i] += 0
	}
	return withNaN{v.Type(), fmt.Sprint(c)}, true
}

// plainKey returns a key of any Go kind as Unmarshal would have read it.
func plainKey(key any) any {
	if k, ok := hashable(key); ok {
		return k
	}
	return key
}

// equalContent reports whether two keys that hashable has no answer for are equal.
func equalContent(a, b any) bool {
	switch a := a.(type) {
	case *Array:
		b, ok := b.(*Array)
		return ok && a != nil && b != nil && slices.EqualFunc(a.Values, b.Values, equalKeys)
	case *Dictionary:
		b, ok := b.(*Dictionary)
		return ok && equalDictionaries(a, b)
	case *Object:
		return a == b
	case tombstone:
		return false
	case []float32, []float64, []Vector2, []Vector3, []Vector4, []Color:
		v, w := reflect.ValueOf(a), reflect.ValueOf(b)
		if v.Type() != w.Type() || v.Len() != w.Len() {
			return false
		}
		for i := range v.Len() {
			if !equalKeys(v.Index(i).Interface(), w.Index(i).Interface()) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func equalDictionaries(a, b *Dictionary) bool {
	if a.Len() != b.Len() {
		return false
	}
	for k, v := range a.All() {
		if w, ok := b.Get(k); !ok || !equalKeys(v, w) {
			return false
		}
	}
	return true
}

// equalKeys reports whether a and b are one key in a Dictionary of Godot 4.
func equalKeys(a, b any) bool {
	k, ok := hashable(a)
	l, also := hashable(b)
	if ok && also {
		return k == l
	}
	return ok == also && equalContent(a, b)
}
