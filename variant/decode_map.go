package variant

import (
	"fmt"
	"math/bits"
	"reflect"
	"sync/atomic"

	"github.com/gdwire/gdwire"
)

// mapSizes contains the sizes of Go's allocations for a map: a header, and tables of groups of eight slots
// with a control byte for each. A map of up to eight entries consists of a single group. In a
// larger map, the number of slots is a power of two, and at most seven of eight are used. Keys and
// values of more than 128 bytes are allocated apart. Unmarshal charges these sizes, because 4 bytes
// of input can become an entry.
type mapSizes struct {
	slot, apart, value int64
	groups             [8]int64 // 1, 2, … 128 groups
}

const (
	mapHeader  = 48
	mapTable   = 40 // besides up to tableSlots
	tableSlots = 1024
	groupSlots = 8
	maxInSlot  = 128
)

func mapSizesOf(t reflect.Type) (m mapSizes) {
	m.value = int64(t.Elem().Size())
	var align int64
	for _, t := range [...]reflect.Type{t.Key(), t.Elem()} {
		size, n := int64(t.Size()), int64(t.Align())
		if size > maxInSlot {
			m.apart += allocatedOf(t)
			size, n = pointerSize, pointerSize
		}
		m.slot = (m.slot+n-1)/n*n + size
		align = max(align, n)
	}
	if t.Elem().Size() == 0 {
		m.slot++ // so that a pointer to the value is inside the slot
	}
	m.slot = (m.slot + align - 1) / align * align
	for i := range m.groups {
		m.groups[i] = allocated((8+groupSlots*m.slot)<<i, m.apart > 0 || hasPointers(t.Key()) || hasPointers(t.Elem()))
	}
	return m
}

// bytes returns the number of bytes occupied by a map with n entries.
func (m *mapSizes) bytes(n int) int64 {
	switch {
	case n == 0:
		return mapHeader
	case n <= groupSlots:
		return mapHeader + m.groups[0] + int64(n)*m.apart
	}
	slots := bits.Len64((uint64(n)*8+6)/7 - 1) // a power of two
	tables := int64(1) << max(slots-10, 0)
	return mapHeader + tables*(mapTable+m.groups[min(slots-3, 7)]) + int64(n)*m.apart
}

// room returns the most entries of a map that occupies as many bytes as one with n entries.
func (m *mapSizes) room(n int) int {
	switch {
	case n == 0 || m.apart > 0:
		return n
	case n <= groupSlots:
		return groupSlots
	}
	return 7 << bits.Len64((uint64(n)*8+6)/7-1) / 8
}

// added returns the number of bytes added to a map with n entries by another one.
func (m *mapSizes) added(n int) int64 {
	if n > 0 && n < groupSlots {
		return m.apart
	}
	return m.bytes(n+1) - m.bytes(n)
}

// A mapDecoder reads the pairs of maps.
type mapDecoder struct {
	typ   reflect.Type
	vars  variableType // typ
	sizes mapSizes
	key   decodeFunc
	text  reflect.Type // the type of keys of a string kind that are read as text, or nil
	elem  *plan[decodeFunc]
	max   int // of max=, or 0
	slot  int // in decoder.pairs
	// Whether the variables for a key and a value are made zero for each pair, and whether a map can refuse a key. Both are
	// left out where they change nothing: -30 % of a map of named types.
	clearsKey, clearsElem, checksKey bool
	hasText                          bool // keys are of a string kind
	keepsPair                        bool // the variables are small, and no method can keep their address
	mapAccess                             // or zero
}

// mapTypes is the number of types of maps, and the index of the latest in encoder.pairs or decoder.pairs.
var mapTypes atomic.Int32

// takePair returns the variables for pairs. Maps in values take others. The caller puts them back, unless decoding fails.
func (m *mapDecoder) takePair(s *decoder) *decodedPair {
	if m.slot >= len(s.pairs) {
		s.pairs = append(s.pairs, make([]*decodedPair, m.slot+1-len(s.pairs))...)
	}
	p := s.pairs[m.slot]
	if s.pairs[m.slot] = nil; p == nil {
		p = new(decodedPair)
	}
	if !p.key.IsValid() {
		p.key, p.value = reflect.New(m.typ.Key()).Elem(), reflect.New(m.typ.Elem()).Elem()
		p.keyAt, p.valueAt = variableOf(p.key), variableOf(p.value)
	}
	return p
}

// putPair puts p back for the next map.
func (m *mapDecoder) putPair(s *decoder, p *decodedPair) {
	if m.keepsPair {
		p.in = reflect.Value{}
		p.key.SetZero()
		p.value.SetZero()
	} else {
		*p = decodedPair{}
	}
	s.pairs[m.slot] = p
}

// newMapDecoder returns the mapDecoder for t, and for at most this many pairs unless most is 0.
func (b decodePlanner) newMapDecoder(t reflect.Type, most int) (*mapDecoder, error) {
	key, err := b.planOf(planKey{typ: t.Key(), isKey: true})
	if err != nil {
		return nil, err
	}
	elem, err := b.plan(t.Elem(), 0)
	m := &mapDecoder{
		typ: t, vars: variableTypeOf(t), sizes: mapSizesOf(t), key: key.do, elem: elem, max: most, slot: int(mapTypes.Add(1)),
		clearsKey: keepsOld(t.Key()), clearsElem: keepsOld(t.Elem()), checksKey: !isExact(t.Key()), hasText: t.Key().Kind() == reflect.String,
		keepsPair: hasNoMethods(t.Key()) && hasNoMethods(t.Elem()) && t.Key().Size()+t.Elem().Size() <= maxScratch, mapAccess: accessTo(t),
	}
	if own := ownTypeOf(t.Key()); m.hasText && (own == nil && !m.clearsKey || own != nil && own.typ == gdwire.TypeStringName) {
		m.text = t.Key()
	}
	return m, err
}

// isExact reports whether every t equals itself: a text, bool or integer, or a math type of integers.
func isExact(t reflect.Type) bool {
	m, isMath := componentsOf(t)
	return t.Kind() <= reflect.Uintptr || t.Kind() == reflect.String || isMath && m.leaf == reflect.Int32
}

// decode reads the pairs of a Dictionary into the map x. Entries of x with other keys remain.
func (m *mapDecoder) decode(s *decoder, x variable) error {
	v := m.vars.value(x)
	if s.peekFirst && s.decodeNil(v) {
		return nil
	}
	n, err := s.d.ReadDict()
	if err != nil {
		return s.nilOrTypeError(v, err)
	}
	if m.max > 0 && n > m.max {
		return s.failLength(gdwire.TypeDictionary, m.typ, n, m.max)
	}
	if err := s.enter(m.typ); err != nil {
		return err
	}
	isEmpty := v.Len() == 0
	room, err := m.makeMap(s, v, n)
	if err != nil {
		return err
	}
	p := m.takePair(s)
	p.in = v
	if isEmpty {
		err = m.fill(s, x, p, n, room)
	} else {
		err = m.update(s, v, p, n, room)
	}
	if err != nil {
		return err
	}
	m.putPair(s, p)
	return s.leave()
}

// fill reads n pairs into the map x, which is empty and charged for room entries.
func (m *mapDecoder) fill(s *decoder, x variable, p *decodedPair, n, room int) (err error) {
	var filter *keyFilter
	if m.hasText {
		filter = s.takeFilter(n)
	}
	read, assign, from, to := m.elem.do, m.set, p.keyAt, p.valueAt
	for i := range n {
		if m.text != nil { // without two calls: -2 % of a map of texts
			text, err := s.readText(from, m.text)
			if err != nil {
				return err
			}
			set(from, text)
		} else if err := m.readKey(s, p); err != nil {
			return err
		}
		if i >= room {
			if room, err = m.chargeEntries(s, i, room); err != nil {
				return err
			}
		}
		if (filter == nil || filter.add(textIn(from))) && m.contains(x, p) {
			return m.duplicateError(s, fmt.Sprint(p.key))
		}
		if err := read(s, to); err != nil {
			return err
		}
		if assign != nil {
			assign(x, from, to)
		} else {
			m.setPair(p)
		}
	}
	s.putFilter(filter)
	return nil
}

// contains reports whether the map x contains the key of p.
func (m *mapDecoder) contains(x variable, p *decodedPair) bool {
	if m.get != nil {
		return m.get(x, p.keyAt, p.valueAt)
	}
	return isDuplicate(p.in, p.key)
}

// setPair does for any map what mapAccess.set does for a frequent one.
func (m *mapDecoder) setPair(p *decodedPair) {
	p.in.SetMapIndex(p.key, p.value)
	if m.clearsElem {
		p.value.SetZero()
	}
}

// update reads n pairs into v, which is charged for room entries. For a key already in v, the value is read into a copy of
// the existing value.
func (m *mapDecoder) update(s *decoder, v reflect.Value, p *decodedPair, n, room int) (err error) {
	seen := reflect.MakeMap(reflect.MapOf(m.typ.Key(), reflect.TypeFor[struct{}]()))
	for range n {
		if err := m.readKey(s, p); err != nil {
			return err
		}
		if i := v.Len(); i >= room {
			if room, err = m.chargeEntries(s, i, room); err != nil {
				return err
			}
		}
		if m.clearsElem {
			p.value.SetZero()
		}
		if old := v.MapIndex(p.key); old.IsValid() {
			p.value.Set(old)
		}
		if isDuplicate(seen, p.key) {
			return m.duplicateError(s, fmt.Sprint(p.key))
		}
		if err := m.elem.do(s, p.valueAt); err != nil {
			return err
		}
		v.SetMapIndex(p.key, p.value)
		seen.SetMapIndex(p.key, reflect.ValueOf(struct{}{})) // no larger than v, already charged
	}
	return nil
}

// readKey reads the key of p.
func (m *mapDecoder) readKey(s *decoder, p *decodedPair) error {
	if m.clearsKey {
		p.key.SetZero()
	}
	if err := m.key(s, p.keyAt); err != nil || !m.checksKey {
		return err
	}
	return m.checkKey(s, p.key)
}

// makeMap makes a map for a nil v, and returns how many entries are charged for.
func (m *mapDecoder) makeMap(s *decoder, v reflect.Value, n int) (room int, err error) {
	room = v.Len()
	if v.IsNil() {
		room = s.grow(0, n, m.sizes.slot+m.sizes.apart)
		if room <= groupSlots {
			room = 0 // allocated with the first entry
		}
		if err := s.charge(m.typ, m.sizes.bytes(room)); err != nil {
			return room, err
		}
		v.Set(reflect.MakeMapWithSize(m.typ, room))
	}
	// The variables for the key and the value. Maps inside them charge their own.
	return m.sizes.room(room), s.charge(m.typ, int64(m.typ.Key().Size()+m.typ.Elem().Size()))
}

// chargeEntries charges for an entry added to a map with n entries, of which room are charged for, and
// returns the new room.
func (m *mapDecoder) chargeEntries(s *decoder, n, room int) (int, error) {
	return m.sizes.room(n + 1), s.charge(m.typ, m.sizes.bytes(n+1)-m.sizes.bytes(room))
}

// duplicateError returns the error for a key read before.
func (m *mapDecoder) duplicateError(s *decoder, key string) error {
	return s.fail(gdwire.TypeDictionary, m.typ, fmt.Errorf("%w %s", ErrDuplicateKey, quoted(key)))
}

// checkKey returns an error for a key that a map cannot compare.
func (m *mapDecoder) checkKey(s *decoder, key reflect.Value) error {
	if key.Kind() == reflect.Interface {
		if x := key.Interface(); isContainer(x) {
			return s.fail(0, m.typ.Key(), fmt.Errorf("%w: a map cannot compare %T", gdwire.ErrType, x))
		}
		if !key.IsNil() && !key.Elem().Comparable() {
			return s.fail(0, m.typ.Key(), fmt.Errorf("%w: a map cannot compare %v", gdwire.ErrType, key.Elem().Type()))
		}
	}
	if holdsNaN(key) {
		return s.fail(0, m.typ.Key(), nanError())
	}
	return nil
}

// nanError returns the error for a key that holds a NaN.
func nanError() error { return fmt.Errorf("%w: a map cannot find NaN", gdwire.ErrRange) }

// isDuplicate reports whether key is in v. A string and a StringName with the same text are the same key.
func isDuplicate(v, key reflect.Value) bool {
	if v.MapIndex(key).IsValid() {
		return true
	}
	if key.Kind() != reflect.Interface {
		return false
	}
	switch text := key.Interface().(type) {
	case string:
		return v.MapIndex(reflect.ValueOf(StringName(text))).IsValid()
	case StringName:
		return v.MapIndex(reflect.ValueOf(string(text))).IsValid()
	}
	return false
}

// A mapAccess accesses maps of a frequent type without reflection, with a third to half of the instructions.
type mapAccess struct {
	// pairs sets the slices keys and values to the keys and values of m.
	pairs func(m, keys, values variable)
	// get sets value to the value of a key and returns true, or returns false if m does not contain the key.
	get func(m, key, value variable) bool
	// set sets the value of a key, and makes the variable of the value zero: its memory is now the map's.
	set func(m, key, value variable)
}

// accessTo returns the mapAccess for t, or the zero mapAccess.
func accessTo(t reflect.Type) mapAccess {
	elem := reflect.New(t.Elem()).Interface()
	switch reflect.New(t.Key()).Interface().(type) {
	case *string:
		return textAccess[string](elem)
	case *StringName:
		return textAccess[StringName](elem)
	case *int:
		return keyAccess[int](elem)
	case *int32:
		return keyAccess[int32](elem)
	case *int64:
		return keyAccess[int64](elem)
	}
	return mapAccess{}
}

// textAccess returns the mapAccess for maps with texts of type K as keys.
func textAccess[K ~string](elem any) mapAccess {
	switch elem.(type) {
	case *int32:
		return accessOf[K, int32]()
	case *float32:
		return accessOf[K, float32]()
	case *[]byte:
		return accessOf[K, []byte]()
	case *[]int64:
		return accessOf[K, []int64]()
	case *[]string:
		return accessOf[K, []string]()
	case *[]any:
		return accessOf[K, []any]()
	case *map[string]any:
		return accessOf[K, map[string]any]()
	}
	return keyAccess[K](elem)
}

// keyAccess returns the mapAccess for maps with keys of type K and scalars or any.
func keyAccess[K comparable](elem any) mapAccess {
	switch elem.(type) {
	case *bool:
		return accessOf[K, bool]()
	case *int:
		return accessOf[K, int]()
	case *int64:
		return accessOf[K, int64]()
	case *float64:
		return accessOf[K, float64]()
	case *string:
		return accessOf[K, string]()
	case *any:
		return accessOf[K, any]()
	}
	return mapAccess{}
}

//go:noinline
func accessOf[K comparable, V any]() mapAccess {
	return mapAccess{
		pairs: func(m, keys, values variable) {
			from := *pointer[map[K]V](m)
			k, v := resized[K](keys, len(from)), resized[V](values, len(from))
			i := 0
			for key, value := range from {
				if i >= len(k) || i >= len(v) {
					break // never, unless the program changes the map
				}
				k[i], v[i] = key, value
				i++
			}
		},
		get: func(m, key, value variable) bool {
			v, ok := (*pointer[map[K]V](m))[*pointer[K](key)]
			if ok {
				*pointer[V](value) = v
			}
			return ok
		},
		set: func(m, key, value variable) {
			v := pointer[V](value)
			(*pointer[map[K]V](m))[*pointer[K](key)] = *v
			*v = *new(V)
		},
	}
}

// resized makes the slice x n elements long, and returns it. Its elements are zero.
func resized[T any](x variable, n int) []T {
	all := pointer[[]T](x)
	if n > cap(*all) {
		*all = make([]T, n)
	}
	*all = (*all)[:n]
	return *all
}
