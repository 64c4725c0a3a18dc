package variant

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"math"
	"reflect"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/text"
)

// Differences between trees: digests, alignment of lists, and Diff.

// A digester computes digests: numbers that are equal for equal values and, but for a chance of one
// in 2^64, differ for others. Nobody can choose values with equal digests, because the seed is random.
//
// Values are equal if their Go types are the same and their contents are equal: floats with the same
// bits, the same text, equal elements in the same order, equal pairs or properties in any order. If
// several keys of a container are equal, the values of each number are compared: the first ones, the
// second ones and so on. Declared types and classes are part of the content. An empty slice equals a
// nil slice. Values of types never stored by Unmarshal in an any are equal if encoded as the same
// bytes. Values without an encoding, and containers inside themselves or inside more than maxDepth
// others, equal only themselves.
type digester struct {
	seed    maphash.Seed
	digests map[any]uint64 // of *Array, *Dictionary and *Object
	depth   int            // of the containers around a value
	buf     []byte         // of numbers
	unequal uint64         // the number of values not even equal to themselves
}

func newDigester() digester {
	return digester{seed: maphash.MakeSeed(), digests: map[any]uint64{}}
}

// digest returns the digest of a value.
func (d *digester) digest(v any) uint64 {
	switch v := normal(v).(type) {
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
			sum = maphash.Comparable(d.seed, v)
			d.digests[v] = sum // of a container inside itself
			if d.depth++; d.depth <= maxDepth {
				sum = d.content(v)
			}
			d.depth--
			d.digests[v] = sum
		}
		return sum
	case nil: // not below: the portable maphash panics for a nil interface
		return d.mix(uint64(gdwire.TypeNil), 0)
	default:
		return d.mix(maphash.Comparable(d.seed, reflect.TypeOf(v)), d.leaf(v))
	}
}

// content returns the digest of a container.
func (d *digester) content(v any) (sum uint64) {
	switch v := v.(type) {
	case *Array:
		sum = d.mix(uint64(gdwire.TypeArray), maphash.Comparable(d.seed, v.Elem))
		for _, value := range v.Values {
			sum = d.mix(sum, d.digest(value))
		}
	case *Dictionary:
		var keys repeated
		for key, value := range v.All() {
			sum += d.member(keys.key(key, d.digest(key)), value)
		}
		sum = d.mix(sum, d.mix(uint64(gdwire.TypeDictionary), maphash.Comparable(d.seed, [...]gdwire.Elem{v.Key, v.Value})))
	case *Object:
		var names repeated
		for i := range v.Properties {
			p := &v.Properties[i]
			sum += d.member(names.name(d.digest(p.Name)), p.Value)
		}
		sum = d.mix(sum, d.mix(uint64(gdwire.TypeObject), maphash.String(d.seed, v.Class)))
	}
	return sum
}

// A memberID tells the pairs of a Dictionary, or the properties of an Object, apart.
type memberID struct {
	key    uint64 // the digest of the key
	number int    // of members with an equal key before this one
}

// member returns the digest of a pair or property.
func (d *digester) member(id memberID, value any) uint64 {
	return d.mix(id.key+uint64(id.number), d.digest(value))
}

// A repeated counts the equal keys of a container.
type repeated struct{ seen map[uint64]int }

// key returns the memberID of a key of a Dictionary. Hashable keys are not counted: all of them differ.
func (r *repeated) key(key any, digest uint64) memberID {
	if _, ok := hashable(key); ok {
		return memberID{key: digest}
	}
	return r.name(digest)
}

// name returns the memberID of the name of a property.
func (r *repeated) name(digest uint64) memberID {
	if r.seen == nil {
		r.seen = map[uint64]int{}
	}
	number := r.seen[digest]
	r.seen[digest]++
	return memberID{digest, number}
}

// leaf returns the digest of a value without other values inside, apart from its type.
func (d *digester) leaf(v any) uint64 {
	switch v := v.(type) {
	case nil, Callable:
		return 0
	case NodePath:
		return maphash.String(d.seed, string(v))
	case Signal:
		return d.mix(maphash.String(d.seed, v.Name), uint64(v.Object))
	case []byte:
		return maphash.Bytes(d.seed, v)
	case []string:
		sum := uint64(0)
		for _, text := range v {
			sum = d.mix(sum, maphash.String(d.seed, text))
		}
		return sum
	case Color:
		return d.color(v)
	case []Color:
		sum := uint64(0)
		for _, c := range v {
			sum = d.mix(sum, d.color(c))
		}
		return sum
	case Image:
		return d.mix(maphash.Bytes(d.seed, v.Data), maphash.Comparable(d.seed, [...]uint32{v.Format, v.Mipmaps, v.Width, v.Height}))
	case InputEvent:
		return d.mix(maphash.Bytes(d.seed, v.Data), maphash.Comparable(d.seed, [...]uint32{v.Type, v.Device}))
	case bool, RID, ObjectID, Vector2, Vector2i, Vector3, Vector3i, Vector4, Vector4i, Rect2, Rect2i, Plane, Quaternion, AABB,
		Transform2D, Basis, Transform3D, Projection, []int32, []int64, []float32, []float64, []Vector2, []Vector3, []Vector4:
		d.buf, _ = binary.Append(d.buf[:0], binary.LittleEndian, v) // of fixed size
		return maphash.Bytes(d.seed, d.buf)
	}
	return d.other(v)
}

// color returns the digest of a Color. Package binary would make signaling NaNs quiet.
func (d *digester) color(c Color) uint64 {
	return maphash.Comparable(d.seed, [...]uint32{math.Float32bits(c.R), math.Float32bits(c.G), math.Float32bits(c.B), math.Float32bits(c.A)})
}

// other returns the digest of a value of a type never stored by Unmarshal in an any.
func (d *digester) other(v any) uint64 {
	if data, err := Marshal(v, contentOptions); err == nil {
		return maphash.Bytes(d.seed, data)
	}
	if reflect.ValueOf(v).Comparable() {
		return maphash.Comparable(d.seed, v)
	}
	d.unequal++
	return d.mix(d.unequal, 0)
}

// mix returns the digest of two digests.
func (d *digester) mix(x, y uint64) uint64 { return maphash.Comparable(d.seed, [...]uint64{x, y}) }

// The bounds of the work for each Array.
const (
	maxDiffering = 1000 // differing elements, of aligned Arrays
	maxCells     = 4096 // pairs of elements between two equal ones, compared by likeness
	maxLikeness  = 64   // elements or pairs of each, compared then
)

// A match is an element of the old Array and its successor in the new one.
type match struct{ a, b int }

// all returns the digests of values.
func (d *digester) all(values []any) []uint64 {
	sums := make([]uint64, len(values))
	for i, v := range values {
		sums[i] = d.digest(v)
	}
	return sums
}

// align returns the matches of elements of a and b, in order. The other elements were removed or
// added. x and y are the digests of a and b.
func (d *digester) align(a, b []any, x, y []uint64) (all []match) {
	start := 0
	for start < len(x) && start < len(y) && x[start] == y[start] {
		all = append(all, match{start, start})
		start++
	}
	end := 0
	for end < min(len(x), len(y))-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	from, to := match{start, start}, match{len(x) - end, len(y) - end}
	equal, ok := longestCommon(x[from.a:to.a], y[from.b:to.b])
	if ok {
		for _, m := range equal {
			m = match{m.a + start, m.b + start}
			all = append(d.alike(all, a, b, from, m), m)
			from = match{m.a + 1, m.b + 1}
		}
		all = d.alike(all, a, b, from, to)
	} else {
		all = byIndex(all, from, to)
	}
	for end > 0 {
		all = append(all, match{len(x) - end, len(y) - end})
		end--
	}
	return all
}

// byIndex matches the elements between from and to by their index.
func byIndex(all []match, from, to match) []match {
	for i := range min(to.a-from.a, to.b-from.b) {
		all = append(all, match{from.a + i, from.b + i})
	}
	return all
}

// longestCommon returns the longest common subsequence of x and y by the algorithm of Myers, or
// false if more elements differ than maxDiffering.
func longestCommon(x, y []uint64) (equal []match, ok bool) {
	// reach[d] contains, for each diagonal k = i-j from -d to d in steps of 2, the largest i
	// reached by d removed or added elements.
	var reach [][]int32
	for d := 0; d <= 2*maxDiffering; d++ { // a differing element is removed and added
		row := make([]int32, d+1)
		for k := -d; k <= d; k += 2 {
			i := 0
			if d > 0 {
				i, _ = before(reach[d-1], d, k)
			}
			for i < len(x) && i-k < len(y) && x[i] == y[i-k] {
				i++
			}
			row[(k+d)/2] = int32(i)
			if i >= len(x) && i-k >= len(y) {
				return back(append(reach, row), k), true
			}
		}
		reach = append(reach, row)
	}
	return nil, false
}

// before returns the largest i on diagonal k after d removed or added elements, before equal
// elements follow, and the previous diagonal of the way there. row is reach[d-1].
func before(row []int32, d, k int) (i, from int) {
	at := func(k int) int { return int(row[(k+d-1)/2]) }
	if k == -d || k < d && at(k-1) < at(k+1) {
		return at(k + 1), k + 1 // an element of y was added
	}
	return at(k-1) + 1, k - 1 // an element of x was removed
}

// back returns the equal elements on the way to the end of diagonal k, followed backwards.
func back(reach [][]int32, k int) (equal []match) {
	for d := len(reach) - 1; d >= 0; d-- {
		start, from := 0, 0
		if d > 0 {
			start, from = before(reach[d-1], d, k)
		}
		for i := int(reach[d][(k+d)/2]); i > start; i-- {
			equal = append(equal, match{i - 1, i - 1 - k})
		}
		k = from
	}
	slices.Reverse(equal)
	return equal
}

// alike matches the elements between from and to, none of them equal, so that the matched
// elements are alike in as many parts as possible.
func (d *digester) alike(all []match, a, b []any, from, to match) []match {
	n, m := to.a-from.a, to.b-from.b
	if n <= 0 || m <= 0 || n == 1 && m == 1 || n*m > maxCells {
		return byIndex(all, from, to)
	}
	x, y := d.parts(a[from.a:to.a]), d.parts(b[from.b:to.b])
	pair := func(i, j int) int { return 1 + likeness(x[i], y[j]) }
	// best[i][j] is the largest number of parts alike in matches from i and j on.
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+pair(i, j))
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch best[i][j] {
		case best[i+1][j+1] + pair(i, j):
			all = append(all, match{from.a + i, from.b + j})
			i, j = i+1, j+1
		case best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return all
}

// parts returns digests of the first elements, pairs or properties of each value.
func (d *digester) parts(values []any) [][]uint64 {
	all := make([][]uint64, len(values))
	for i, v := range values {
		switch v := normal(v).(type) {
		case *Array:
			all[i] = d.all(v.Values[:min(len(v.Values), maxLikeness)])
		case *Dictionary:
			for key, value := range v.All() {
				if len(all[i]) == maxLikeness {
					break
				}
				all[i] = append(all[i], d.mix(d.digest(key), d.digest(value)))
			}
		case *Object:
			for _, p := range v.Properties[:min(len(v.Properties), maxLikeness)] {
				all[i] = append(all[i], d.mix(d.digest(p.Name), d.digest(p.Value)))
			}
		}
	}
	return all
}

// likeness returns how many parts are equal at the same index.
func likeness(x, y []uint64) (n int) {
	for i := range min(len(x), len(y)) {
		if x[i] == y[i] {
			n++
		}
	}
	return n
}

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
