package variant

import (
	"fmt"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
)

// A plan holds the function to encode or decode a Go type: F is encodeFunc or
// decodeFunc. The function calls the functions in the plans of inner types. It refers to
// plans and not to functions, because do is not set yet while the plan of a type that
// contains itself is built.
type plan[F any] struct {
	do       F
	err      error        // why the type cannot be encoded or decoded
	readOnly bool         // see isReadOnly
	parts    any          // for blocks: []*fieldEncoder of a struct, or the plan of the elements of an Array
	step     any          // a *blockStep, or nil: see encode_block.go
	sizeHint atomic.Int64 // the size of the latest result of Marshal if large, for the next result; otherwise 0
}

// A planKey identifies a plan: a Go type, the Variant type and the maximum length in its tag, and whether
// the plan is for keys, without Marshaler.
type planKey struct {
	typ   reflect.Type
	wire  gdwire.Type // 0 without type=
	max   int         // 0 without max=
	isKey bool
}

// plans caches the plans of all types used. build makes the function of a plan. finish, if not nil, can replace the
// functions of new plans once all are complete, before others see them.
type plans[F any] struct {
	all    sync.Map // of *plan[F] by planKey
	build  func(*planner[F], planKey) (F, error)
	finish func(*planner[F])
}

// of returns the plan of t, without a tag.
func (c *plans[F]) of(t reflect.Type) (*plan[F], error) { return c.ofKey(planKey{typ: t}) }

// ofKey returns the plan for key. Several goroutines can build the same plan at the same
// time; any of the results can be used. Errors are cached, too.
func (c *plans[F]) ofKey(key planKey) (*plan[F], error) {
	if p, ok := c.all.Load(key); ok {
		p := p.(*plan[F])
		return p, p.err
	}
	r := planner[F]{c, map[planKey]*plan[F]{}}
	p, err := r.planOf(key)
	if err != nil {
		// Drop the other plans of r, which can refer to a failed plan.
		p = &plan[F]{err: fmt.Errorf("variant: %w", err)}
		c.all.Store(key, p)
		return p, p.err
	}
	if c.finish != nil {
		c.finish(&r)
	}
	for key, p := range r.pending {
		c.all.LoadOrStore(key, p)
	}
	return p, nil
}

// recent holds the plans of recently used types, to save the lookup in plans: a sixth of the time of a small value.
type recent[F any] struct {
	latest recentPlan[F] // of the latest type
	all    [8]recentPlan[F]
	next   uint8 // the index in all to replace next
	isKey  bool  // whether the plans are for keys
}

type recentPlan[F any] struct {
	typ  typeID
	plan *plan[F]
}

// of returns the plan of t, from c if it is not recent.
func (r *recent[F]) of(c *plans[F], t reflect.Type) (*plan[F], error) {
	if idOf(t) == r.latest.typ {
		return r.latest.plan, nil
	}
	return r.other(c, t)
}

// other returns the plan of t, a type other than in the previous call. A separate function lets the compiler inline of.
func (r *recent[F]) other(c *plans[F], t reflect.Type) (*plan[F], error) {
	id := idOf(t)
	for i := range r.all {
		if r.all[i].typ == id {
			r.latest = r.all[i]
			return r.latest.plan, nil
		}
	}
	p, err := c.ofKey(planKey{typ: t, isKey: r.isKey})
	if err != nil {
		return nil, err
	}
	r.latest = recentPlan[F]{id, p}
	r.all[r.next%uint8(len(r.all))] = r.latest
	r.next++
	return p, nil
}

// A planner builds the plans of a type and of its inner types. The plans are in pending
// until all of them are complete: other goroutines must not find a plan without a function.
type planner[F any] struct {
	plans   *plans[F]
	pending map[planKey]*plan[F]
}

// plan returns the plan of t, with type=wire in its tag, or 0.
func (r *planner[F]) plan(t reflect.Type, wire gdwire.Type) (*plan[F], error) {
	return r.planOf(planKey{typ: t, wire: wire})
}

// planOf returns the plan for key. The error names the invalid type or field.
func (r *planner[F]) planOf(key planKey) (*plan[F], error) {
	if p, ok := r.pending[key]; ok {
		return p, nil
	}
	if p, ok := r.plans.all.Load(key); ok && p.(*plan[F]).err == nil {
		return p.(*plan[F]), nil
	}
	p := &plan[F]{readOnly: isReadOnly(key.typ)}
	r.pending[key] = p
	var err error
	p.do, err = r.plans.build(r, key)
	return p, err
}

// try calls build for a caller that tolerates an error. After an error, try drops the plans added
// by build: they have no function, or refer to a plan without one.
func (r *planner[F]) try(build func() (F, error)) (F, error) {
	before := maps.Clone(r.pending)
	do, err := build()
	if err != nil {
		r.pending = before
	}
	return do, err
}

// checkPointer returns an error for a pointer type that never leads to another type,
// such as type p *p.
func checkPointer(t reflect.Type) error {
	e := t
	for range 100 {
		if e = e.Elem(); e.Kind() != reflect.Pointer {
			return nil
		}
	}
	return fmt.Errorf("%v points only to pointers", t)
}

// reflected returns a decodeFunc or encodeFunc that calls do with the variable, of type t, as a
// reflect.Value.
func reflected[S any](t reflect.Type, do func(s S, v reflect.Value) error) func(S, variable) error {
	vars := variableTypeOf(t)
	return func(s S, x variable) error { return do(s, vars.value(x)) }
}

// pointerSize is the size of a pointer in bytes, at most.
const pointerSize = 8

// isReadOnly reports whether no method can get the address of a t, or of a part of it, during
// encoding. A type as small as a pointer can be in an interface without an address, if it contains one.
func isReadOnly(t reflect.Type) bool {
	return (t.Size() > pointerSize || !hasPointers(t)) && hasNoMethods(t)
}

// hasNoMethods reports whether t and the types of its fields and elements are without methods. Types
// of this package count as such, because their methods do not write.
func hasNoMethods(t reflect.Type) bool {
	switch {
	case reflect.PointerTo(t).NumMethod() > 0:
		return ownTypeOf(t) != nil
	case t.Kind() == reflect.Array:
		return hasNoMethods(t.Elem())
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if !hasNoMethods(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}

// checkKey returns an error if t cannot be the type of a map's keys. text is the type
// TextMarshaler or TextUnmarshaler, to be implemented by keys of other types.
func checkKey(t, text reflect.Type) error {
	if own := ownTypeOf(t); own != nil {
		if t.Comparable() {
			return nil
		}
		return fmt.Errorf("%v cannot be a key", t)
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64:
		return nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return nil
		}
	case reflect.Array:
		if m, ok := componentsOf(t); ok && len(mathTypesOf(m)) > 0 {
			return nil
		}
	}
	if t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(text) {
		return nil
	}
	return fmt.Errorf("%v cannot be a key", t)
}

// pointerCounts reports whether a t, a pointer, counts as a level of nesting. A pointer to an Array,
// Dictionary or Object does not, because these count themselves, by value and by pointer.
func pointerCounts(t reflect.Type) bool { return ownTypeOf(t.Elem()) == nil }

// knownKeys contains the first keys of an earlier Dictionary at a depth. As long as the keys of the
// next Dictionary there are the same, each is found by a comparison of words, without a search for
// an earlier equal key, because all of them differ: -30 % of Unmarshal into any.
type knownKeys struct {
	keys   []knownKey
	misses int // the number of Dictionaries with other keys since these were found
}

// A knownKey is one of knownKeys, found only if the key is a short string.
type knownKey struct {
	key     any // or nil
	encoded internal.Key
}

const (
	maxKnownDepth = 32         // of Dictionaries with knownKeys
	maxKnownKeys  = fewEntries // so that a Dictionary of known keys has no index
	maxMisses     = 4          // then other keys replace knownKeys; replacing takes as long as they save
)

// learn adds key i of a Dictionary to known, if the earlier keys equal the keys in known. If known contains
// other keys from there on, learn returns nil, for the rest of the Dictionary.
func (known *knownKeys) learn(i int, key any) *knownKeys {
	if known == nil || i >= maxKnownKeys {
		return known
	}
	if i < len(known.keys) {
		if known.misses++; known.misses < maxMisses {
			return nil
		}
	}
	text, _ := key.(string)
	next := knownKey{key, export.NewKey(text)}
	if next.encoded.Len == 0 {
		next.key = nil // the key can be long
	}
	known.keys, known.misses = append(known.keys[:i], next), 0
	return known
}

// A keyCache holds recent keys, as strings in interfaces, so that the same keys in neighboring
// Dictionaries are allocated once. Two neighboring indexes are a set of two keys: with sets of one
// key, the large saved game takes 4 % longer, because two keys of each record share a set.
type keyCache [128]any

// text returns b as a string.
func (k *keyCache) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return k.intern(b).(string)
}

// intern returns b as a string in an interface. b must not be empty.
func (k *keyCache) intern(b []byte) any {
	n := uint(len(b))
	if n > 32 {
		return string(b)
	}
	i := (uint(b[0])*31 + uint(b[n/2])*13 + uint(b[n-1])*7 + n*3) % uint(len(k)) &^ 1
	first, second := &k[i], &k[i+1]
	if text, ok := (*first).(string); ok && text == string(b) {
		return *first
	}
	if text, ok := (*second).(string); ok && text == string(b) {
		return *second
	}
	*first, *second = string(b), *first
	return *first
}

// hasPointers reports whether values of t contain pointers.
func hasPointers(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k == reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return k < reflect.Bool || k > reflect.Complex128
	}
}
