package variant

import (
	"bytes"
	"iter"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
)

// A Change is a difference between two values.
type Change struct {
	// OldPath is the path by which [Get] finds Old in the old value, and NewPath the path of New in
	// the new value. The paths differ if values around were removed, added or moved. Without Old,
	// OldPath is the path of the container that gained New; without New, NewPath is the path of the
	// container that lost Old.
	OldPath, NewPath string
	Old, New         any  // parts of the two values, not copies
	Added, Removed   bool // there is no Old, or no New, and the field is nil
}

// Diff iterates over the differences between two values in the form stored by [Unmarshal] in an
// any. Elements of Arrays are aligned: an element removed or added is one Change. Differing
// values of other types, declared types and packed arrays are one Change each. A key of another
// type, such as a StringName in place of a String, is a pair removed and a pair added. The order
// of pairs is not compared, and NaNs are equal if their bits are. Values without an encoding
// equal only themselves.
//
// Diff takes time and memory proportional to the size of the values. Where more than 1,000 elements
// of an Array differ, the elements between the first and the last of them are compared by index.
func Diff(a, b any) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		root := text.AppendPacket(make([]byte, 0, pathSize), 0)
		d := differ{digester: newDigester(), yield: yield}
		if a, b = normal(a), normal(b); d.digest(a) != d.digest(b) {
			d.values(paths{root, append(make([]byte, 0, pathSize), root...)}, a, b)
		}
	}
}

// A differ compares two values by digests, so that each container is read once, at any depth.
// Methods return false when the loop ends.
type differ struct {
	digester
	yield func(Change) bool
}

// paths are the paths of two compared values. Paths with other last steps share their memory.
type paths struct{ old, new []byte }

// with returns the paths with another step each.
func (p paths) with(x, y text.Step) paths { return paths{x.Append(p.old), y.Append(p.new)} }

// pathSize is the size of paths without another allocation.
const pathSize = 256

// values compares two values that differ.
func (d *differ) values(at paths, a, b any) bool {
	a, b = normal(a), normal(b)
	d.depth++
	defer func() { d.depth-- }()
	if d.depth <= maxDepth {
		switch a := a.(type) {
		case *Array:
			if b, ok := b.(*Array); ok && a.Elem == b.Elem {
				return d.arrays(at, a.Values, b.Values)
			}
		case *Dictionary:
			if b, ok := b.(*Dictionary); ok && a.Key == b.Key && a.Value == b.Value {
				return d.members(at, d.pairs(a), d.pairs(b))
			}
		case *Object:
			if b, ok := b.(*Object); ok && a.Class == b.Class {
				return d.members(at, d.properties(a), d.properties(b))
			}
		}
	}
	return d.change(at, Change{Old: a, New: b})
}

// change yields a change.
func (d *differ) change(at paths, c Change) bool {
	c.OldPath = string(at.old)
	if c.NewPath = c.OldPath; !bytes.Equal(at.old, at.new) {
		c.NewPath = string(at.new)
	}
	return d.yield(c)
}

// removed yields the change for a value removed at step.
func (d *differ) removed(at paths, step text.Step, v any) bool {
	return d.change(paths{step.Append(at.old), at.new}, Change{Old: v, Removed: true})
}

// added yields the change for a value added at step.
func (d *differ) added(at paths, step text.Step, v any) bool {
	return d.change(paths{at.old, step.Append(at.new)}, Change{New: v, Added: true})
}

// arrays compares the elements of two Arrays.
func (d *differ) arrays(at paths, a, b []any) bool {
	x, y := d.all(a), d.all(b)
	i, j := 0, 0
	for _, m := range append(d.align(a, b, x, y), match{len(a), len(b)}) {
		for ; i < m.a; i++ {
			if !d.removed(at, intStep(int64(i)), a[i]) {
				return false
			}
		}
		for ; j < m.b; j++ {
			if !d.added(at, intStep(int64(j)), b[j]) {
				return false
			}
		}
		if i < len(a) && j < len(b) && x[i] != y[j] && !d.values(at.with(intStep(int64(i)), intStep(int64(j))), a[i], b[j]) {
			return false
		}
		i, j = i+1, j+1
	}
	return true
}

// A member is a pair of a Dictionary or a property of an Object.
type member struct {
	memberID
	in interface {
		keyStep(key any) (text.Step, bool)
	}
	key, value any
	index      int // in the container
}

// step returns the step for Get to the value of a member: by key, or by number if no step leads to the key.
func (m *member) step() text.Step {
	if m.number == 0 {
		if step, ok := m.in.keyStep(m.key); ok {
			return step
		}
	}
	return text.Step{Op: text.ValueAt, Index: int64(m.index)}
}

// pairs returns the pairs of a Dictionary.
func (d *differ) pairs(v *Dictionary) []member {
	var keys repeated
	all := make([]member, 0, v.Len())
	for key, value := range v.All() {
		all = append(all, member{keys.key(key, d.digest(key)), v, key, value, len(all)})
	}
	return all
}

// properties returns the properties of an Object.
func (d *differ) properties(o *Object) []member {
	var names repeated
	all := make([]member, 0, len(o.Properties))
	for i, p := range o.Properties {
		all = append(all, member{names.name(d.digest(p.Name)), o, p.Name, p.Value, i})
	}
	return all
}

// members compares the members of two containers: first those of a, then those only in b.
func (d *differ) members(at paths, a, b []member) bool {
	unmatched := make(map[memberID]*member, len(b))
	for i := range b {
		unmatched[b[i].memberID] = &b[i]
	}
	for i := range a {
		m := &a[i]
		other := unmatched[m.memberID]
		delete(unmatched, m.memberID)
		switch {
		case other == nil:
			if !d.removed(at, m.step(), m.value) {
				return false
			}
		case d.digest(m.value) != d.digest(other.value):
			if !d.values(at.with(m.step(), other.step()), m.value, other.value) {
				return false
			}
		}
	}
	for i := range b {
		m := &b[i]
		if unmatched[m.memberID] != nil && !d.added(at, m.step(), m.value) {
			return false
		}
	}
	return true
}

// textStep returns the step to the value of a String or to a property, or false if paths have none.
func textStep(key string) (text.Step, bool) {
	return text.Step{Key: text.Value{Type: gdwire.TypeString, Text: key}}, len(key) <= text.MaxKey
}

// intStep returns the step to an element, or to the value of an int.
func intStep(n int64) text.Step {
	return text.Step{Key: text.Value{Type: gdwire.TypeInt, Int: n}}
}

// keyStep returns the step to the property with a name, or false if there is none.
func (o *Object) keyStep(name any) (text.Step, bool) { return textStep(name.(string)) }

// keyStep returns the step to the value of a key, or false if there is none, or if the step would lead
// to another pair: paths show fewer digits of components of 32 bits.
func (v *Dictionary) keyStep(key any) (step text.Step, ok bool) {
	switch key := key.(type) {
	case string:
		return textStep(key)
	case int64:
		return intStep(key), true
	}
	o := contentOptions
	o.Encoder.DoubleReals = false
	data, err := Marshal(key, o)
	var narrow any
	if err == nil && (Unmarshal(data, &narrow, o) != nil || !equalKeys(key, narrow)) {
		data, err = Marshal(key, contentOptions) // components beyond 32 bits
	}
	if err != nil {
		return step, false
	}
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{AllowInvalidUTF8: true})
	defer d.Release()
	d.ResetBytes(data)
	t, err := d.ReadToken()
	if err != nil {
		return step, false
	}
	step, ok, err = text.KeyStep(d, t, nil, func(*text.NodePathReader, []byte) error { return nil })
	if !ok || err != nil {
		return step, false
	}
	read, err := parsePath(string(step.Append(nil)))
	if err != nil || len(read) != 1 {
		return step, false
	}
	found, ok := v.stepKey(&read[0].Key)
	return step, ok && equalKeys(key, found)
}
