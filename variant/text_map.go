package variant

import (
	"reflect"
)

// A textMap decodes maps with keys of type string and values of one frequent type without methods. The
// results are the same as of mapDecoder.decode, with a quarter to half of the instructions.
type textMap interface {
	// decoder returns a function equivalent to m.decode.
	decoder(m *mapDecoder) func(s *decoder, v reflect.Value, n int) error
	// collector returns a function equivalent to c.collectInMap.
	collector(c *structDecoder) collectFunc
}

// textMaps contains the textMaps, by the type of their values.
var textMaps map[reflect.Type]textMap

func init() { // the functions refer to plans
	textCollector = func(c *structDecoder) collectFunc {
		if m := textMapFor(c.info.embed.typ); m != nil {
			return m.collector(c)
		}
		return nil
	}
	textMaps = map[reflect.Type]textMap{
		anyType:                    &textMapOf[any]{slot: 0},
		reflect.TypeFor[bool]():    &textMapOf[bool]{slot: 1},
		reflect.TypeFor[int]():     &textMapOf[int]{slot: 2},
		reflect.TypeFor[int32]():   &textMapOf[int32]{slot: 3},
		reflect.TypeFor[int64]():   &textMapOf[int64]{slot: 4},
		reflect.TypeFor[float32](): &textMapOf[float32]{slot: 5},
		reflect.TypeFor[float64](): &textMapOf[float64]{slot: 6},
		stringType:                 &textMapOf[string]{slot: 7},
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
	slot int // in decoder.values
}

func (c *textMapOf[T]) decoder(m *mapDecoder) func(s *decoder, v reflect.Value, n int) error {
	return func(s *decoder, v reflect.Value, n int) error {
		if v.Len() > 0 {
			return m.decode(s, v, n) // compares with the earlier keys
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
	return func(s *decoder, x variable, key string, seen map[string]struct{}) error {
		m := pointer[map[string]T](x)
		value, _ := s.values[c.slot].(*mapValue[T])
		if s.values[c.slot] = nil; value == nil { // at first, or in a value
			value = new(mapValue[T])
			value.at = variableOf(reflect.ValueOf(&value.v).Elem())
		}
		var had bool
		value.v, had = (*m)[key]
		if err := d.chargePair(s, *m == nil, key, len(*m), had, seen); err != nil {
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

// makeMapDecoder returns the function to decode a t, a map, from a Dictionary.
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
