package variant

import (
	"fmt"
	"math/bits"
	"reflect"

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
	sizes mapSizes
	key   decodeFunc
	elem  *plan[decodeFunc]
	max   int // of max=, or 0
	// Whether the variables for a key and a value are made zero for each pair, and whether a map can refuse a key. Both are
	// left out where they change nothing: -30 % of a map of named types.
	clearsKey, clearsElem, checksKey bool
	hasText                          bool // keys are of a string kind
}

// newMapDecoder returns the mapDecoder for t, and for at most this many pairs unless most is 0.
func (b decodePlanner) newMapDecoder(t reflect.Type, most int) (*mapDecoder, error) {
	key, err := b.planOf(planKey{typ: t.Key(), isKey: true})
	if err != nil {
		return nil, err
	}
	elem, err := b.plan(t.Elem(), 0)
	return &mapDecoder{t, mapSizesOf(t), key.do, elem, most, keepsOld(t.Key()), keepsOld(t.Elem()), !isExact(t.Key()), t.Key().Kind() == reflect.String}, err
}

// isExact reports whether every t equals itself: a text, bool or integer, or a math type of integers.
func isExact(t reflect.Type) bool {
	m, isMath := componentsOf(t)
	return t.Kind() <= reflect.Uintptr || t.Kind() == reflect.String || isMath && m.leaf == reflect.Int32
}

// reading returns the function decoding a map by a call of decode to read n pairs into v.
func (m *mapDecoder) reading(decode func(s *decoder, v reflect.Value, n int) error) decodeFunc {
	return reflected(m.typ, func(s *decoder, v reflect.Value) error {
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
		if err := decode(s, v, n); err != nil {
			return err
		}
		return s.leave()
	})
}

// decode reads n pairs into v. Entries of v with other keys remain. For a key already in v, the
// value is read into a copy of the existing value.
func (m *mapDecoder) decode(s *decoder, v reflect.Value, n int) error {
	room, err := m.makeMap(s, v, n)
	if err != nil {
		return err
	}
	var seen reflect.Value // the keys read so far, if v had entries before
	had := v.Len()
	if had > 0 {
		seen = reflect.MakeMap(reflect.MapOf(m.typ.Key(), reflect.TypeFor[struct{}]()))
	}
	key := reflect.New(m.typ.Key()).Elem()
	elem := reflect.New(m.typ.Elem()).Elem()
	from, to := variableOf(key), variableOf(elem)
	var filter *keyFilter
	if m.hasText {
		filter = s.takeFilter(n)
	}
	for i := range n {
		if m.clearsKey {
			key.SetZero()
		}
		if m.clearsElem {
			elem.SetZero()
		}
		if err := m.key(s, from); err != nil {
			return err
		}
		if m.checksKey {
			if err := m.checkKey(s, key); err != nil {
				return err
			}
		}
		if had > 0 {
			i = v.Len()
		}
		if i >= room {
			if room, err = m.chargeEntries(s, i, room); err != nil {
				return err
			}
		}
		if had > 0 {
			if old := v.MapIndex(key); old.IsValid() {
				elem.Set(old)
			}
		}
		if (filter == nil || filter.add(textIn(from))) && m.isDuplicate(v, seen, key) {
			return m.duplicateError(s, fmt.Sprint(key))
		}
		if err := m.elem.do(s, to); err != nil {
			return err
		}
		v.SetMapIndex(key, elem)
		if had > 0 {
			seen.SetMapIndex(key, reflect.ValueOf(struct{}{})) // no larger than v, already charged
		}
	}
	s.putFilter(filter)
	return nil
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

// isDuplicate reports whether key was read before: it is in seen, or in v if seen is the zero
// Value. A string and a StringName with the same text are the same key.
func (m *mapDecoder) isDuplicate(v, seen, key reflect.Value) bool {
	if seen.IsValid() {
		v = seen
	}
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
