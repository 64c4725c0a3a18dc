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

// A plan holds the function that encodes or decodes a Go type: F is encodeFunc or
// decodeFunc. The function calls those in the plans of the types that the type contains. It
// refers to plans and not to functions, because do is not set yet while the plan of a type
// that contains itself is built.
type plan[F any] struct {
	do       F
	err      error        // why the type cannot be encoded or decoded
	readOnly bool         // see isReadOnly
	parts    any          // what blocks need: of a struct, []*fieldEncoder, and of an Array the plan of its elements
	step     any          // a *blockStep, or nil: see encode_block.go
	sizeHint atomic.Int64 // the size of the latest result of Marshal if that was large, for the next result; otherwise 0
}

// A planKey identifies a plan: a Go type, the Variant type in its tag, and whether the plan is
// for keys, which do not use Marshaler.
type planKey struct {
	typ   reflect.Type
	wire  gdwire.Type // 0 without type=
	isKey bool
}

// plans caches the plans of all types that were used. build makes the function of a plan. finish, if it is not nil,
// can replace the functions of new plans that are complete, before others see them.
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

// recent holds the plans of types that were used of late. It saves a sixth of the time of a small value, which the
// lookup in plans takes.
type recent[F any] struct {
	latest recentPlan[F] // of the type that was used last
	all    [8]recentPlan[F]
	next   uint8 // the index in all of that which is replaced next
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

// other returns the plan of t, which is not that of the previous call. It is apart, so that the compiler inlines of.
func (r *recent[F]) other(c *plans[F], t reflect.Type) (*plan[F], error) {
	id := idOf(t)
	for i := range r.all {
		if r.all[i].typ == id {
			r.latest = r.all[i]
			return r.latest.plan, nil
		}
	}
	p, err := c.of(t)
	if err != nil {
		return nil, err
	}
	r.latest = recentPlan[F]{id, p}
	r.all[r.next%uint8(len(r.all))] = r.latest
	r.next++
	return p, nil
}

// A planner builds the plans of a type and of the types that it contains. They are in pending
// until all of them are complete: other goroutines must not find a plan without a function.
type planner[F any] struct {
	plans   *plans[F]
	pending map[planKey]*plan[F]
}

// plan returns the plan of t, with type=wire in its tag, or 0.
func (r *planner[F]) plan(t reflect.Type, wire gdwire.Type) (*plan[F], error) {
	return r.planOf(planKey{typ: t, wire: wire})
}

// planOf returns the plan for key. Its error names the type or field that is invalid.
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

// try calls build, whose error the caller tolerates. After an error, it drops the plans that build
// added: they have no function, or refer to a plan without one.
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

// isReadOnly reports whether no method can get the address of a t, or of a part of it, while it is
// encoded. A t must be larger than a pointer: smaller types can be in an interface without an address.
func isReadOnly(t reflect.Type) bool { return t.Size() > pointerSize && hasNoMethods(t) }

// hasNoMethods reports whether neither t nor a type of its fields or elements has methods, but for
// those of types of this package, which do not write.
func hasNoMethods(t reflect.Type) bool {
	switch {
	case ownTypes[t] != nil:
		return true
	case reflect.PointerTo(t).NumMethod() > 0:
		return false
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
// TextMarshaler or TextUnmarshaler, which keys of other types must implement.
func checkKey(t, text reflect.Type) error {
	if own := ownTypes[t]; own != nil {
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

// pointerCounts reports whether a t, a pointer, counts as a level of nesting: one to an Array, Dictionary
// or Object does not, since these count themselves, by value and by pointer.
func pointerCounts(t reflect.Type) bool { return ownTypes[t.Elem()] == nil }

// knownKeys contains the first keys of an earlier Dictionary at a depth. As long as the keys of the
// next Dictionary there are the same, each is found by a comparison of words, and needs no search for
// an equal key before it, because all of them differ: -30 % of Unmarshal into any.
type knownKeys struct {
	keys   []knownKey
	misses int // the number of Dictionaries with other keys since these were found
}

// A knownKey is one of knownKeys. It is never found if the key is not a short string.
type knownKey struct {
	key     any // or nil
	encoded internal.Key
}

const (
	maxKnownDepth = 32         // of Dictionaries with knownKeys
	maxKnownKeys  = fewEntries // so that a Dictionary of known keys has no index
	maxMisses     = 4          // then other keys replace knownKeys, which takes as long as they save
)

// learn adds key i of a Dictionary to known, if the keys before it are those in known. It returns nil
// if known contains other keys from there on, for the rest of the Dictionary.
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
		next.key = nil // which can be long
	}
	known.keys, known.misses = append(known.keys[:i], next), 0
	return known
}

// A keyCache holds recent keys, as strings in interfaces. Neighboring Dictionaries often have the
// same keys, which then are not allocated again. Two neighboring indexes are a set, which holds two
// keys: with sets of one key, the large saved game, in which two keys of each record have the same
// set, takes 4 % longer.
type keyCache [128]any

// text returns b as a string.
func (k *keyCache) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return k.intern(b).(string)
}

// intern returns b, which must not be empty, as a string in an interface.
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
