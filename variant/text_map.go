package variant

import (
	"reflect"
	"slices"

	"github.com/gdwire/gdwire"
)

// A textMap encodes and decodes maps with keys of type string and values of one frequent type without
// methods. The results are those of makeReflectedMapEncoder and mapDecoder.decode, which take two to
// four times as many instructions.
type textMap interface {
	// encoder returns the function that encodes a t.
	encoder(t reflect.Type) encodeFunc
	// pairs returns the function that writes the pairs of a t after check has accepted their keys.
	pairs(t reflect.Type, check func(s *encoder, key string) error) pairsFunc
	// decoder returns the function that does what m.decode does.
	decoder(m *mapDecoder) func(s *decoder, v reflect.Value, n int) error
	// collector returns the function that does what c.collectInMap does.
	collector(c *structDecoder) collectFunc
}

// textMaps contains the textMaps, by the type of their values.
var textMaps map[reflect.Type]textMap

// anyMaps is the textMap of any, which encoder.tree uses, too.
var anyMaps textMapOf[any]

func init() { // the functions refer to plans
	textCollector = func(c *structDecoder) collectFunc {
		if m := textMapFor(c.info.embed.typ); m != nil {
			return m.collector(c)
		}
		return nil
	}
	textMaps = map[reflect.Type]textMap{
		anyType:                    &anyMaps,
		reflect.TypeFor[bool]():    &textMapOf[bool]{slot: 1, write: func(s *encoder, v bool) error { return s.e.WriteBool(v) }},
		reflect.TypeFor[int]():     &textMapOf[int]{slot: 2, write: func(s *encoder, v int) error { return s.e.WriteInt(int64(v)) }},
		reflect.TypeFor[int32]():   &textMapOf[int32]{slot: 3, write: func(s *encoder, v int32) error { return s.e.WriteInt(int64(v)) }},
		reflect.TypeFor[int64]():   &textMapOf[int64]{slot: 4, write: func(s *encoder, v int64) error { return s.e.WriteInt(v) }},
		reflect.TypeFor[float32](): &textMapOf[float32]{slot: 5, write: func(s *encoder, v float32) error { return s.e.WriteFloat(float64(v)) }},
		reflect.TypeFor[float64](): &textMapOf[float64]{slot: 6, write: func(s *encoder, v float64) error { return s.e.WriteFloat(v) }},
		stringType:                 &textMapOf[string]{slot: 7, write: func(s *encoder, v string) error { return s.e.WriteString(v) }},
	}
}

// textMapFor returns the textMap for t, a map, or nil if there is none.
func textMapFor(t reflect.Type) textMap {
	if t.Key() != stringType {
		return nil
	}
	return textMaps[t.Elem()]
}

// A textMapOf is the textMap for values of type T.
type textMapOf[T any] struct {
	slot  int // in encoder.sorted
	write func(*encoder, T) error
}

func (c *textMapOf[T]) encoder(t reflect.Type) encodeFunc {
	return func(s *encoder, x variable) error { return c.encode(s, *pointer[map[string]T](x), t) }
}

// encode writes m, whose type is t, as a Dictionary with sorted keys.
func (c *textMapOf[T]) encode(s *encoder, m map[string]T, t reflect.Type) error {
	if err := s.enter(t); err != nil {
		return err
	}
	n := len(m)
	if err := s.e.BeginDict(n); err != nil {
		return err
	}
	p := c.take(s)
	p.fill(m, n)
	err := c.writePairs(s, p, n, t)
	c.giveBack(s, p)
	if err != nil {
		return err
	}
	return s.leave()
}

func (c *textMapOf[T]) pairs(t reflect.Type, check func(s *encoder, key string) error) pairsFunc {
	return func(s *encoder, v reflect.Value) error {
		m := *pointer[map[string]T](variableOf(v))
		n := len(m)
		p := c.take(s)
		p.fill(m, n)
		err := p.check(s, check)
		if err == nil {
			err = c.writePairs(s, p, n, t)
		}
		c.giveBack(s, p)
		return err
	}
}

// take returns memory for the pairs of a map. Maps in it take other memory.
func (c *textMapOf[T]) take(s *encoder) *sortedPairs[T] {
	p, _ := s.sorted[c.slot].(*sortedPairs[T])
	if p == nil {
		p = new(sortedPairs[T])
	}
	s.sorted[c.slot] = p.next
	return p
}

// giveBack keeps the memory for the next map.
func (c *textMapOf[T]) giveBack(s *encoder, p *sortedPairs[T]) {
	if p.empty() {
		p.next, _ = s.sorted[c.slot].(*sortedPairs[T])
		s.sorted[c.slot] = p
	}
}

// writePairs writes p, the n pairs of a t.
func (c *textMapOf[T]) writePairs(s *encoder, p *sortedPairs[T], n int, t reflect.Type) error {
	if len(p.pairs) != n {
		return s.fail(t, gdwire.ErrCount) // another goroutine changed the map
	}
	for _, next := range p.order {
		pair := &p.pairs[next.at]
		if err := s.e.WriteString(pair.Key); err != nil {
			return err
		}
		if err := c.write(s, pair.Value); err != nil {
			return err
		}
	}
	return nil
}

func (c *textMapOf[T]) decoder(m *mapDecoder) func(s *decoder, v reflect.Value, n int) error {
	return func(s *decoder, v reflect.Value, n int) error {
		if v.Len() > 0 {
			return m.decode(s, v, n) // compares the keys with those of before
		}
		charged, err := m.makeMap(s, v, n)
		if err != nil {
			return err
		}
		to := *pointer[map[string]T](variableOf(v))
		pair := new(Entry[string, T])
		variables := reflect.ValueOf(pair).Elem()
		key, value := variableOf(variables.Field(0)), variableOf(variables.Field(1))
		for range n {
			if err := m.key(s, key); err != nil {
				return err
			}
			if charged, err = m.chargeEntries(s, len(to)+1, charged); err != nil {
				return err
			}
			if _, again := to[pair.Key]; again {
				return m.duplicateError(s, pair.Key)
			}
			if err := m.elem.do(s, value); err != nil {
				return err
			}
			to[pair.Key] = pair.Value
		}
		return nil
	}
}

func (c *textMapOf[T]) collector(d *structDecoder) collectFunc {
	return func(s *decoder, v reflect.Value, key string, seen map[string]struct{}) error {
		m := pointer[map[string]T](variableOf(v))
		value, _ := s.values[c.slot].(*mapValue[T])
		if s.values[c.slot] = nil; value == nil { // also in a value
			value = new(mapValue[T])
			value.at = variableOf(reflect.ValueOf(&value.v).Elem())
		}
		var had bool
		value.v, had = (*m)[key]
		if err := d.chargePair(s, v, key, len(*m), had, seen); err != nil {
			return err
		}
		if err := d.embed.do(s, value.at); err != nil {
			return err
		}
		if *m == nil {
			*m = map[string]T{}
		}
		(*m)[key] = value.v
		var zero T
		value.v = zero
		s.values[c.slot] = value
		return nil
	}
}

// A mapValue is a variable for a value of a map.
type mapValue[T any] struct {
	v  T
	at variable // v
}

// sortedPairs holds the pairs of a map while they are written.
type sortedPairs[T any] struct {
	pairs []Entry[string, T]
	order []sortedKey     // of pairs, by key
	next  *sortedPairs[T] // the next in encoder.sorted, or nil
}

// maxSorted is the largest number of pairs whose memory is used again.
const maxSorted = 1 << 11

// fill sets p to the n pairs of m. It compares keys by the eight bytes after what all of them begin
// with: -14 % of the instructions for a map of 1000 entries, -29 % of the time.
func (p *sortedPairs[T]) fill(m map[string]T, n int) {
	p.setOrder(p.setPairs(m, n))
	sortKeys(p.order, func(i int) string { return p.pairs[i].Key })
}

// setPairs sets the pairs of p and returns the length of what all keys begin with.
func (p *sortedPairs[T]) setPairs(m map[string]T, n int) (common int) {
	pairs := slices.Grow(p.pairs, n)
	for k, v := range m {
		if len(pairs) == 0 {
			common = len(k)
		} else if common > 0 {
			common = commonPrefix(pairs[0].Key, k, common)
		}
		pairs = append(pairs, Entry[string, T]{k, v})
	}
	p.pairs = pairs
	return common
}

// setOrder sets the order of p to that of its pairs. All keys begin with the same common bytes.
func (p *sortedPairs[T]) setOrder(common int) {
	pairs := p.pairs
	order := slices.Grow(p.order, 2*len(pairs))[:len(pairs)] // with room for sortMany
	for i := range order {
		order[i] = sortedKey{wordOf(pairs[i].Key[common:]), i}
	}
	p.order = order
}

// check calls check with the keys, in order.
func (p *sortedPairs[T]) check(s *encoder, check func(s *encoder, key string) error) error {
	for _, next := range p.order {
		if err := check(s, p.pairs[next.at].Key); err != nil {
			return err
		}
	}
	return nil
}

// empty removes the pairs, and reports whether the memory is small enough to be used again. It
// refers to no keys and values then.
func (p *sortedPairs[T]) empty() bool {
	clear(p.pairs)
	p.pairs, p.order = p.pairs[:0], p.order[:0]
	return cap(p.pairs) <= maxSorted
}

// makeMapDecoder returns the function that decodes a t, a map, from a Dictionary.
func (b decodePlanner) makeMapDecoder(t reflect.Type) (decodeFunc, error) {
	m, err := b.newMapDecoder(t)
	if err != nil {
		return nil, err
	}
	if text := textMapFor(t); text != nil {
		return m.reading(text.decoder(m)), nil
	}
	return m.reading(m.decode), nil
}

// makeMapEncoder returns the function that encodes a t, a map, as a Dictionary with sorted
// keys.
func (b encodePlanner) makeMapEncoder(t reflect.Type) (encodeFunc, error) {
	if m := textMapFor(t); m != nil {
		return m.encoder(t), nil
	}
	return b.makeReflectedMapEncoder(t)
}
