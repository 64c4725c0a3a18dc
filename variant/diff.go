package variant

import (
	"hash/maphash"
	"iter"
	"math"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/paths"
)

// A Change is a difference between two values. Path has the syntax of [Get].
type Change struct {
	Path           string // in the new value, or in the old if the value was removed
	Old, New       any    // what the two values contain, not copies
	Added, Removed bool   // Old, or New, is nil because nothing is at the path
}

// Diff iterates over the differences between two values, as [Unmarshal] stores them in an any.
// Elements of Arrays are aligned: an element that was removed or added is one Change. Values of
// other types, declared types and packed arrays that differ are one Change each. A key of another
// type, such as a StringName in place of a String, is a pair removed and a pair added. The order
// of pairs is not compared, and NaNs are equal if their bits are.
//
// Diff takes time and memory proportional to the size of the values. Where more than 1,000 elements
// of an Array differ, it compares the elements between the first and the last of them by index.
func Diff(a, b any) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		d := differ{seed: maphash.MakeSeed(), digests: map[any]uint64{}, path: paths.AppendPacket(nil, 0), yield: yield}
		d.values(a, b)
	}
}

// A differ compares two values by digests, so that each container is read once, whatever its depth.
// Values with equal digests are taken to be equal: nobody can choose values of 64 equal bits,
// because the seed is random. Methods return false when the loop ends.
type differ struct {
	seed    maphash.Seed
	digests map[any]uint64 // of *Array, *Dictionary and *Object
	path    []byte
	depth   int // containers around the values that are compared
	yield   func(Change) bool
}

// values compares two values at the path.
func (d *differ) values(a, b any) bool {
	a, b = container(a), container(b)
	if d.digest(a) == d.digest(b) {
		return true
	}
	d.depth++
	defer func() { d.depth-- }()
	switch a := a.(type) {
	case *Array:
		if b, ok := b.(*Array); ok && a.Elem == b.Elem && d.depth <= maxDepth {
			return d.arrays(a.Values, b.Values)
		}
	case *Dictionary:
		if b, ok := b.(*Dictionary); ok && a.Key == b.Key && a.Value == b.Value && d.depth <= maxDepth {
			return d.members(d.pairs(a), d.pairs(b))
		}
	case *Object:
		if b, ok := b.(*Object); ok && a.Class == b.Class && d.depth <= maxDepth {
			return d.members(d.properties(a), d.properties(b))
		}
	}
	return d.yield(Change{Path: string(d.path), Old: a, New: b})
}

// container returns v, or a pointer to it if it is a container by value. A nil pointer is nil.
func container(v any) any {
	switch v := v.(type) {
	case Array:
		return &v
	case Dictionary:
		return &v
	case Object:
		return &v
	case *Array:
		if v == nil {
			return nil
		}
	case *Dictionary:
		if v == nil {
			return nil
		}
	case *Object:
		if v == nil {
			return nil
		}
	}
	return v
}

// child yields a change, or compares two values, at the path that step appends to.
func (d *differ) child(step func(dst []byte) []byte, c Change) bool {
	n := len(d.path)
	defer func() { d.path = d.path[:n] }()
	if d.path = step(d.path); c.Added || c.Removed {
		c.Path = string(d.path)
		return d.yield(c)
	}
	return d.values(c.Old, c.New)
}

// A member is a pair of a Dictionary or a property of an Object.
type member struct {
	memberID
	value any
	step  func(dst []byte) []byte // appends the step to value to a path
}

// A memberID tells the members of a container apart.
type memberID struct {
	key    uint64 // the digest of the key
	number int    // of members with an equal key before this one
}

// numbered sets the numbers of all members of a container.
func numbered(all []member) []member {
	seen := make(map[uint64]int, len(all))
	for i := range all {
		all[i].number = seen[all[i].key]
		seen[all[i].key]++
	}
	return all
}

// pairs returns the pairs of a Dictionary.
func (d *differ) pairs(v *Dictionary) []member {
	all := make([]member, 0, v.Len())
	for key, value := range v.All() {
		i := len(all)
		all = append(all, member{memberID: memberID{key: d.digest(key)}, value: value, step: func(dst []byte) []byte {
			if step, ok := keyStep(key); ok && all[i].number == 0 {
				return step.Append(dst)
			}
			return paths.AppendValueAt(dst, int64(i))
		}})
	}
	return numbered(all)
}

// properties returns the properties of an Object.
func (d *differ) properties(o *Object) []member {
	all := make([]member, 0, len(o.Properties))
	for _, p := range o.Properties {
		all = append(all, member{memberID: memberID{key: d.digest(p.Name)}, value: p.Value, step: func(dst []byte) []byte {
			step := paths.Step{Key: paths.Value{Type: gdwire.TypeString, Text: p.Name}}
			return step.Append(dst)
		}})
	}
	return numbered(all)
}

// members compares the members of two containers: first those of a, then those that b adds.
func (d *differ) members(a, b []member) bool {
	in := make(map[memberID]*member, len(b))
	for i := range b {
		in[b[i].memberID] = &b[i]
	}
	for i := range a {
		m := &a[i]
		other := in[m.memberID]
		delete(in, m.memberID)
		c := Change{Old: m.value, Removed: other == nil}
		step := m.step
		if other != nil {
			c.New, step = other.value, other.step
		}
		if !d.child(step, c) {
			return false
		}
	}
	for i := range b {
		m := &b[i]
		if in[m.memberID] != nil && !d.child(m.step, Change{New: m.value, Added: true}) {
			return false
		}
	}
	return true
}

// keyStep returns the step to the value of a key, or false if the key cannot be part of a path.
func keyStep(key any) (step paths.Step, ok bool) {
	switch key := key.(type) {
	case string:
		step.Key = paths.Value{Type: gdwire.TypeString, Text: key}
		return step, len(key) <= paths.MaxKey
	case int64:
		step.Key = paths.Value{Type: gdwire.TypeInt, Int: key}
		return step, true
	}
	o := contentOptions
	o.Encoder.DoubleReals = false
	data, err := Marshal(key, o)
	var narrow any
	if err == nil && (Unmarshal(data, &narrow, o) != nil || !equalKeys(key, narrow)) {
		data, err = Marshal(key, contentOptions) // components that 32 bits do not hold
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
	step, ok, err = paths.KeyStep(d, t, nil, func(*paths.NodePathReader, []byte) error { return nil })
	return step, ok && err == nil
}

// digest returns a number that is equal for equal values.
func (d *differ) digest(v any) uint64 {
	switch v := container(v).(type) {
	case int64:
		return d.mix(uint64(gdwire.TypeInt), uint64(v))
	case float64:
		return d.mix(uint64(gdwire.TypeFloat), math.Float64bits(v))
	case string:
		return d.mix(uint64(gdwire.TypeString), maphash.String(d.seed, v))
	case StringName:
		return d.mix(uint64(gdwire.TypeStringName), maphash.String(d.seed, string(v)))
	case *Array, *Dictionary, *Object:
		sum, ok := d.digests[v]
		if !ok {
			d.digests[v] = 0 // of a container inside itself
			if d.depth++; d.depth <= maxDepth {
				sum = d.content(v)
			}
			d.depth--
			d.digests[v] = sum
		}
		return sum
	default:
		if data, err := Marshal(v, contentOptions); err == nil {
			return maphash.Bytes(d.seed, data)
		}
		return 0
	}
}

// content returns the digest of a container.
func (d *differ) content(v any) (sum uint64) {
	switch v := v.(type) {
	case *Array:
		sum = maphash.Comparable(d.seed, v.Elem)
		for _, value := range v.Values {
			sum = d.mix(sum, d.digest(value))
		}
	case *Dictionary:
		for key, value := range v.All() {
			sum += d.mix(d.digest(key), d.digest(value)) // in any order
		}
		sum = d.mix(sum, maphash.Comparable(d.seed, [...]gdwire.Elem{v.Key, v.Value}))
	case *Object:
		for i := range v.Properties {
			p := &v.Properties[i]
			sum += d.mix(d.digest(p.Name), d.digest(p.Value))
		}
		sum = d.mix(sum, maphash.String(d.seed, v.Class))
	}
	return sum
}

// mix returns the digest of two digests.
func (d *differ) mix(x, y uint64) uint64 { return maphash.Comparable(d.seed, [...]uint64{x, y}) }
