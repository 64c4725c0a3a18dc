package variant

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"

	"github.com/gdwire/gdwire"
)

// Dictionary is a Dictionary, with pairs in the order in which their keys were first
// set. The zero Dictionary is empty and ready to use. It must not be copied after first
// use.
//
// Keys are equal as in Godot 4. A string, a StringName and a value of another string
// kind are the same key if they have the same text. NaN equals NaN, and 0.0 equals -0.0.
// The int 1, the float 1.0 and true are three keys, and so are a NodePath and the string
// with its text. Numbers can be of any Go kind.
//
// Keys that are Arrays, Dictionaries, packed arrays, RIDs, Callables and Objects are
// compared by content, which takes time proportional to the number of keys. Unmarshal
// never merges such keys, because a Dictionary of Godot 3 can have several with the same
// content.
type Dictionary struct {
	// Key and Value are the declared types of keys and values. They are the zero
	// Elem in an untyped Dictionary.
	Key, Value gdwire.Elem

	entries []Entry[any, any] // a deleted entry has a tombstone as its key
	index   map[any]int       // index in entries of hashable keys, or nil if there are few
	deleted int
}

// Entry is a key and its value.
type Entry[K, V any] struct {
	Key   K
	Value V
}

// tombstone is the key of a deleted entry.
type tombstone struct{}

// fewEntries is the number of keys up to which comparing them one by one is faster than
// an index.
const fewEntries = 32

// Len returns the number of pairs.
func (d *Dictionary) Len() int {
	if d == nil {
		return 0
	}
	return len(d.entries) - d.deleted
}

// Get returns the value of key and reports whether d has the key.
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

// put is Set for a decoded key. It always adds a key that is compared by content.
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

// Delete removes key and reports whether d had the key.
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

// All iterates over the pairs in order. The loop's body can set and delete keys. It is
// not defined whether the loop yields pairs that are added meanwhile.
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

// compact removes deleted entries.
func (d *Dictionary) compact() {
	// Use a new slice, because All can be iterating over the old one.
	d.entries = slices.DeleteFunc(slices.Clone(d.entries), func(e Entry[any, any]) bool {
		_, gone := e.Key.(tombstone)
		return gone
	})
	d.deleted, d.index = 0, nil
	d.reindex()
}

// add adds a pair at the end.
func (d *Dictionary) add(key, value any) {
	d.entries = append(d.entries, Entry[any, any]{key, value})
	d.reindex()
}

// reindex adds the last entry to the index, or all entries to a new index.
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

// find returns the index of the entry of key, or -1 if there is none.
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

// findHashable is find for a key that hashable returned.
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

// findText is find for a string.
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

// nan replaces every NaN in the result of hashable.
type nan struct{}

// hashable returns a value that is equal by == for equal keys. It returns false for keys
// that are compared by content.
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

// normalMath is hashable for a math type. By ==, 0.0 equals -0.0 already. A value with a
// NaN is replaced by its type and its text.
func normalMath(v reflect.Value) (any, bool) {
	if !holdsNaN(v) {
		return v.Interface(), true
	}
	type withNaN struct {
		typ  reflect.Type
		text string
	}
	m := ownTypes[v.Type()].math
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

// plainKey returns a key of any Go kind in the type that Unmarshal would use.
func plainKey(key any) any {
	if k, ok := hashable(key); ok {
		return k
	}
	return key
}

// equalContent reports whether two keys that are not hashable are equal.
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

// equalKeys reports whether a and b are the same key in a Dictionary of Godot 4.
func equalKeys(a, b any) bool {
	k, ok := hashable(a)
	l, also := hashable(b)
	if ok && also {
		return k == l
	}
	return ok == also && equalContent(a, b)
}
