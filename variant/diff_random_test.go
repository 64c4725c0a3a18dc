package variant

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/text"
)

// randomLeaves returns a random value of each type without other values in it.
var randomLeaves = map[gdwire.Type]func(r *rand.Rand) any{
	gdwire.TypeNil:        func(*rand.Rand) any { return nil },
	gdwire.TypeBool:       func(r *rand.Rand) any { return r.IntN(2) == 0 },
	gdwire.TypeInt:        func(r *rand.Rand) any { return int64(r.IntN(5)-2) << (r.IntN(4) / 3 * 34) },
	gdwire.TypeFloat:      func(r *rand.Rand) any { return component(r) },
	gdwire.TypeString:     func(r *rand.Rand) any { return diffText(r) },
	gdwire.TypeStringName: func(r *rand.Rand) any { return StringName(diffText(r)) },
	gdwire.TypeNodePath: func(r *rand.Rand) any {
		return NodePath([]string{"", "/", "a", "/a/b", "a:b", "/root/A:b:c", "é"}[r.IntN(7)])
	},
	gdwire.TypeRID:      func(r *rand.Rand) any { return RID(r.IntN(3)) << (r.IntN(4) / 3 * 34) },
	gdwire.TypeObject:   func(r *rand.Rand) any { return ObjectID(1 + r.IntN(3)) },
	gdwire.TypeSignal:   func(r *rand.Rand) any { return Signal{diffText(r), ObjectID(r.IntN(3))} },
	gdwire.TypeCallable: func(*rand.Rand) any { return Callable{} },
	gdwire.TypeImage:    func(r *rand.Rand) any { return Image{smallNumber(r), 0, smallNumber(r), smallNumber(r), diffBytes(r)} },
	gdwire.TypeInputEvent: func(r *rand.Rand) any {
		return InputEvent{smallNumber(r), smallNumber(r), slices.Repeat([]byte{byte(r.IntN(3))}, 32)}
	},
	gdwire.TypePackedByteArray:    func(r *rand.Rand) any { return diffBytes(r) },
	gdwire.TypePackedStringArray:  randomSlice(func(r *rand.Rand) string { return diffText(r) }),
	gdwire.TypePackedInt32Array:   randomSlice(func(r *rand.Rand) int32 { return int32(smallNumber(r)) }),
	gdwire.TypePackedInt64Array:   randomSlice(func(r *rand.Rand) int64 { return int64(smallNumber(r)) << 32 }),
	gdwire.TypePackedFloat32Array: randomSlice(func(r *rand.Rand) float32 { return float32(component(r)) }),
	gdwire.TypePackedFloat64Array: randomSlice(component),
	gdwire.TypePackedVector2Array: randomSlice(randomMath[Vector2]),
	gdwire.TypePackedVector3Array: randomSlice(randomMath[Vector3]),
	gdwire.TypePackedVector4Array: randomSlice(randomMath[Vector4]),
	gdwire.TypePackedColorArray:   randomSlice(randomMath[Color]),
}

func smallNumber(r *rand.Rand) uint32 { return r.Uint32N(3) }

// component returns a float that 32 bits hold, or not.
func component(r *rand.Rand) float64 {
	return []float64{0, math.Copysign(0, -1), 1, 0.1, float64(float32(0.1)), math.NaN(), math.Inf(-1), 1e30, 0.5}[r.IntN(9)]
}

func diffText(r *rand.Rand) string {
	return []string{"", "a", "b", "hp", "a b", "\"\n", "é", "…", "1", "a…"}[r.IntN(10)]
}

func diffBytes(r *rand.Rand) []byte { return slices.Repeat([]byte{byte(r.IntN(3))}, 4*r.IntN(3)) }

func randomSlice[T any](elem func(r *rand.Rand) T) func(r *rand.Rand) any {
	return func(r *rand.Rand) any {
		all := []T{}
		for range r.IntN(3) {
			all = append(all, elem(r))
		}
		return all
	}
}

// randomMath returns a math type with random components.
func randomMath[T any](r *rand.Rand) T {
	return randomComponents(r, reflect.TypeFor[T]()).Interface().(T)
}

func randomComponents(r *rand.Rand, t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			v.Field(i).Set(randomComponents(r, v.Field(i).Type()))
		}
	case reflect.Int32:
		v.SetInt(int64(smallNumber(r)))
	default:
		v.SetFloat(component(r))
	}
	return v
}

// leavesOf returns the types of a format of which randomLeaf returns values.
func leavesOf(f gdwire.Format) (all []gdwire.Type) {
	for _, t := range gdwire.Types() {
		leaf := t != gdwire.TypeArray && t != gdwire.TypeDictionary && (t != gdwire.TypeObject || encodes(f, ObjectID(1)))
		if f.Has(t) && leaf {
			all = append(all, t)
		}
	}
	return all
}

// encodes reports whether a format has an encoding of v.
func encodes(f gdwire.Format, v any) bool {
	_, err := Marshal(v, *fuzzOptions(f))
	return err == nil
}

func randomLeaf(r *rand.Rand, f gdwire.Format) any {
	all := leavesOf(f)
	t := all[r.IntN(len(all))]
	if math := ownTypes().math[t]; math != nil {
		return randomComponents(r, math.typ).Interface()
	}
	leaf := randomLeaves[t]
	if leaf == nil {
		return nil // as TestRandomLeaves says
	}
	if v := leaf(r); encodes(f, v) {
		return v
	}
	return nil // a number that needs more bits
}

// randomTree returns a random tree of the types of a format.
func randomTree(r *rand.Rand, f gdwire.Format, depth int) any {
	n := r.IntN(5)
	switch {
	case depth <= 0 || n == 0:
		return randomLeaf(r, f)
	case n == 1 && encodes(f, &Object{}):
		o := &Object{Class: []string{"A", "B"}[r.IntN(2)]}
		for range r.IntN(4) {
			o.Properties = append(o.Properties, Property{[]string{"a", "b", "a b"}[r.IntN(3)], randomTree(r, f, depth-1)})
		}
		return o
	case n <= 3:
		a := &Array{}
		for range r.IntN(5) {
			a.Values = append(a.Values, randomTree(r, f, depth-1))
		}
		return a
	}
	d := &Dictionary{}
	for range r.IntN(6) {
		d.setDecoded(randomKey(r, f, depth-1), randomTree(r, f, depth-1))
	}
	return d
}

func randomKey(r *rand.Rand, f gdwire.Format, depth int) any {
	if r.IntN(2) == 0 {
		return diffText(r)
	}
	if r.IntN(20) == 0 {
		return strings.Repeat("k", text.MaxKey+r.IntN(2))
	}
	return randomTree(r, f, min(depth, 1))
}

// change changes a random value in a tree, or the order of pairs, which is no change.
func change(r *rand.Rand, f gdwire.Format, v any, depth int) any {
	stop := r.IntN(3) == 0
	switch v := v.(type) {
	case *Array:
		v.Elem = gdwire.Elem{}
		n := len(v.Values)
		switch i := r.IntN(n + 1); {
		case !stop && i < n:
			v.Values[i] = change(r, f, v.Values[i], depth-1)
		case r.IntN(3) == 0:
			v.Values = slices.Insert(v.Values, i, randomTree(r, f, depth))
		case i < n && r.IntN(2) == 0:
			v.Values = slices.Delete(v.Values, i, i+1)
		case i < n: // moved
			moved := v.Values[i]
			v.Values = slices.Insert(slices.Delete(v.Values, i, i+1), r.IntN(n), moved)
		case f == gdwire.Godot4 && n == 0:
			v.Elem = gdwire.Elem{Type: gdwire.TypeInt}
		}
		return v
	case *Dictionary:
		v.Key = gdwire.Elem{}
		i := r.IntN(len(v.entries) + 1)
		switch n := len(v.entries); {
		case !stop && i < n:
			v.entries[i].Value = change(r, f, v.entries[i].Value, depth-1)
		case i == n && n == 0 && f == gdwire.Godot4:
			v.Key = gdwire.Elem{Type: gdwire.TypeInt}
		case i == n || r.IntN(3) == 0:
			v.setDecoded(randomKey(r, f, 1), randomTree(r, f, depth))
		case r.IntN(2) == 0:
			*v = *dictionaryOf(slices.Delete(v.entries, i, i+1))
		default:
			r.Shuffle(n, func(i, j int) { v.entries[i], v.entries[j] = v.entries[j], v.entries[i] })
			*v = *dictionaryOf(v.entries)
		}
		return v
	case *Object:
		i := r.IntN(len(v.Properties) + 1)
		switch n := len(v.Properties); {
		case !stop && i < n:
			v.Properties[i].Value = change(r, f, v.Properties[i].Value, depth-1)
		case i == n:
			v.Class = "C"
		case r.IntN(3) == 0:
			v.Properties = slices.Insert(v.Properties, i, Property{"a", randomTree(r, f, depth)})
		case r.IntN(2) == 0:
			v.Properties = slices.Delete(v.Properties, i, i+1)
		default:
			r.Shuffle(n, func(i, j int) { v.Properties[i], v.Properties[j] = v.Properties[j], v.Properties[i] })
		}
		return v
	}
	return randomTree(r, f, depth)
}

// dictionaryOf returns a Dictionary with these pairs, as Unmarshal reads them.
func dictionaryOf(all []Entry[any, any]) *Dictionary {
	d := &Dictionary{}
	for _, e := range slices.Clone(all) {
		d.setDecoded(e.Key, e.Value)
	}
	return d
}

// same reports whether two trees are equal, pair by pair.
func same(a, b any) bool {
	switch a := a.(type) {
	case *Array:
		b, ok := b.(*Array)
		return ok && a.Elem == b.Elem && slices.EqualFunc(a.Values, b.Values, same)
	case *Dictionary:
		b, ok := b.(*Dictionary)
		return ok && a.Key == b.Key && a.Value == b.Value && sameMembers(membersOf(a), membersOf(b))
	case *Object:
		b, ok := b.(*Object)
		return ok && a.Class == b.Class && sameMembers(membersOf(a), membersOf(b))
	}
	return sameBits(reflect.ValueOf(a), reflect.ValueOf(b))
}

// membersOf returns the pairs or properties of a container.
func membersOf(v any) (all []Entry[any, any]) {
	switch v := v.(type) {
	case *Dictionary:
		for key, value := range v.All() {
			all = append(all, Entry[any, any]{key, value})
		}
	case *Object:
		for _, p := range v.Properties {
			all = append(all, Entry[any, any]{p.Name, p.Value})
		}
	}
	return all
}

func sameMembers(a, b []Entry[any, any]) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		j := memberAt(b, a[i].Key, numberOf(a, i))
		if j < 0 || !same(a[i].Value, b[j].Value) {
			return false
		}
	}
	return true
}

// numberOf returns the number of keys equal to that of member i before it.
func numberOf(all []Entry[any, any], i int) (n int) {
	for _, e := range all[:i] {
		if same(e.Key, all[i].Key) {
			n++
		}
	}
	return n
}

// memberAt returns the index of the member with a key and number, or -1.
func memberAt(all []Entry[any, any], key any, number int) int {
	for i, e := range all {
		if same(e.Key, key) {
			if number == 0 {
				return i
			}
			number--
		}
	}
	return -1
}

// sameBits reports whether two leaves have the same type and bits.
func sameBits(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return !a.IsValid() && !b.IsValid()
	}
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameBits(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if !sameBits(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

// requireChanges checks the changes from a to b: there are none exactly if a and b are equal, their
// paths lead to what they contain, and they make b of a copy of a, which becomes b.
func requireChanges(t testing.TB, a, b any, changes []Change) {
	t.Helper()
	require.Equal(t, same(a, b), len(changes) == 0, "%v\n%v", a, b)
	at := map[[2]string]bool{}
	for _, c := range changes {
		require.False(t, c.Added && c.Removed)
		require.False(t, at[[2]string{c.OldPath, c.NewPath}] && !c.Added && !c.Removed, "two changes at %s", c.OldPath)
		at[[2]string{c.OldPath, c.NewPath}] = true
		old, err := Get(a, c.OldPath)
		require.NoError(t, err, "%+v in %v", c, a)
		value, err := Get(b, c.NewPath)
		require.NoError(t, err, "%+v in %v", c, b)
		if !c.Added {
			require.True(t, same(c.Old, old), "%+v: %v", c, old)
		}
		if !c.Removed {
			require.True(t, same(c.New, value), "%+v: %v", c, value)
		}
		if !c.Added && !c.Removed {
			require.False(t, same(old, value), "%+v", c)
		}
	}
	require.True(t, same(apply(a, b, changes), b), "%v\n%v\n%+v", a, b, changes)
}

// apply makes the changes that lead from a to b in a, and returns the result.
func apply(a, b any, changes []Change) any {
	for _, c := range changes {
		if way := wayTo(a, c.OldPath); c.Added || c.Removed {
			continue
		} else if len(way) == 0 {
			a = c.New
		} else {
			setMember(way[len(way)-1], c.New)
		}
	}
	for _, c := range slices.Backward(changes) { // so that the paths of those before it stay right
		if c.Removed {
			way := wayTo(a, c.OldPath)
			deleteMember(way[len(way)-1])
		}
	}
	for _, c := range changes {
		if !c.Added {
			continue
		}
		in := a
		way := wayTo(b, c.NewPath)
		last := way[len(way)-1]
		for _, at := range way[:len(way)-1] {
			in = memberLike(in, at)
		}
		addMember(in, last, c.New)
	}
	return a
}

// A waypoint is a member of a container.
type waypoint struct {
	in any
	i  int
}

// wayTo returns the waypoints of a path.
func wayTo(v any, path string) (all []waypoint) {
	p, err := text.Parse(path)
	if err != nil {
		panic(err)
	}
	for _, step := range p.Steps {
		i := int(step.Index)
		if a, ok := v.(*Array); ok {
			i = int(step.Key.Int)
			all, v = append(all, waypoint{v, i}), a.Values[i]
			continue
		}
		members := membersOf(v)
		if step.Op == text.Child {
			key := any(step.Key.Text)
			if d, ok := v.(*Dictionary); ok {
				key, _ = d.stepKey(&step.Key)
			}
			i = slices.IndexFunc(members, func(e Entry[any, any]) bool { return equalKeys(e.Key, key) })
		}
		all, v = append(all, waypoint{v, i}), members[i].Value
	}
	return all
}

// memberLike returns the value of the member of a container that is at a waypoint in another tree.
func memberLike(in any, at waypoint) any {
	if a, ok := in.(*Array); ok {
		return a.Values[at.i]
	}
	members, others := membersOf(in), membersOf(at.in)
	return members[memberAt(members, others[at.i].Key, numberOf(others, at.i))].Value
}

func setMember(at waypoint, value any) {
	switch v := at.in.(type) {
	case *Array:
		v.Values[at.i] = value
	case *Dictionary:
		v.entries[at.i].Value = value
	case *Object:
		v.Properties[at.i].Value = value
	}
}

func deleteMember(at waypoint) {
	switch v := at.in.(type) {
	case *Array:
		v.Values = slices.Delete(v.Values, at.i, at.i+1)
	case *Dictionary:
		key, value := v.Key, v.Value
		*v = *dictionaryOf(slices.Delete(v.entries, at.i, at.i+1))
		v.Key, v.Value = key, value
	case *Object:
		v.Properties = slices.Delete(v.Properties, at.i, at.i+1)
	}
}

func addMember(in any, at waypoint, value any) {
	switch v := in.(type) {
	case *Array:
		v.Values = slices.Insert(v.Values, at.i, value)
	case *Dictionary:
		v.add(membersOf(at.in)[at.i].Key, value)
	case *Object:
		v.Properties = append(v.Properties, Property{membersOf(at.in)[at.i].Key.(string), value})
	}
}

// Each type of each format has random values.
func TestRandomLeaves(t *testing.T) {
	for _, typ := range slices.Sorted(maps.Keys(randomLeaves)) {
		require.Nil(t, ownTypes().math[typ], typ)
	}
	for _, f := range gdwire.Formats() {
		for _, typ := range leavesOf(f) {
			require.True(t, randomLeaves[typ] != nil || ownTypes().math[typ] != nil, "randomLeaves needs a function for %v of %v", typ, f)
		}
	}
}

// Diff finds what was changed in trees of all types of every format, and nothing else. The trees were
// encoded and decoded, as those of two saves, and now and then in two formats.
func TestDiffRandom(t *testing.T) {
	trees := testenv.Cases(300, 6_000)
	if n, err := strconv.Atoi(os.Getenv("GDWIRE_TREES")); err == nil { // of each format
		trees = n
	}
	for _, f := range gdwire.Formats() {
		t.Run(f.String(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(f), 46))
			o := fuzzOptions(f)
			equal := 0
			for i := range trees {
				data := encoded(t, randomTree(r, f, 4), o)
				a, again, b := readAs(t, data, o), readAs(t, data, o), readAs(t, data, o)
				for range r.IntN(4) {
					b = change(r, f, b, 2)
				}
				if p := fuzzOptions(gdwire.Formats()[r.IntN(6)]); r.IntN(4) == 0 {
					if other, err := Marshal(b, *p); err == nil { // of types that both formats have
						b = readAs(t, other, p)
					}
				} else {
					b = readAs(t, encoded(t, b, o), o)
				}
				changes := slices.Collect(Diff(a, b))
				if len(changes) == 0 {
					equal++
				}
				requireChanges(t, again, b, changes)
				if t.Failed() {
					t.Fatal("tree ", i)
				}
			}
			require.NotZero(t, equal)
			require.Less(t, equal, trees*2/3)
		})
	}
}

func readAs(t testing.TB, data []byte, o *Options) (v any) {
	unlimited := *o
	unlimited.MaxMemory = -1
	require.NoError(t, Unmarshal(data, &v, unlimited))
	return v
}
