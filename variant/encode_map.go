package variant

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// A pairsFunc writes the pairs of a map, sorted by keys. Two keys that are encoded as
// the same value are an error.
type pairsFunc func(s *encoder, m reflect.Value) error

// makeReflectedMapEncoder returns the function of makeMapEncoder for any map.
func (b encodePlanner) makeReflectedMapEncoder(t reflect.Type) (encodeFunc, error) {
	return b.makeTypedMapEncoder(t, &tag{})
}

// makeTypedMapEncoder returns the function that encodes a t, a map, as a Dictionary with the declared
// types of a tag.
func (b encodePlanner) makeTypedMapEncoder(t reflect.Type, tag *tag) (encodeFunc, error) {
	elem, err := b.declaredPlan(t.Elem(), tag.elem, false)
	if err != nil {
		return nil, err
	}
	pairs, err := b.makePairsEncoder(t.Key(), tag.key, elem)
	isTyped, key, value := tag.isTyped(), tag.key, tag.elem
	return reflected(t, func(s *encoder, v reflect.Value) error {
		if err := s.enter(t); err != nil {
			return err
		}
		var err error
		if isTyped && s.declaresTypes() {
			err = s.e.BeginTypedDict(v.Len(), key, value)
		} else {
			err = s.e.BeginDict(v.Len())
		}
		if err != nil {
			return err
		}
		if err := pairs(s, v); err != nil {
			return err
		}
		return s.leave()
	}), err
}

// makePairsEncoder returns the function that writes the pairs of a map with keys of type t, which are
// declared or not. Numbers and text are sorted by value, other keys by their encoding.
func (b encodePlanner) makePairsEncoder(t reflect.Type, declared gdwire.Elem, elem *plan[encodeFunc]) (pairsFunc, error) {
	if err := checkKey(t, textMarshalerType); err != nil {
		return nil, err
	}
	key, err := b.declaredPlan(t, declared, true)
	if err != nil {
		return nil, err
	}
	switch zero := reflect.Zero(t); {
	case t.Kind() != reflect.Interface && ownTypes[t] == nil && reflect.PointerTo(t).Implements(textMarshalerType) && isText(declared.Type):
		return makeSortedPairsEncoder(elem, marshalText, func(s *encoder, _ reflect.Value, text string) error { return s.textAs(declared.Type, text) }), nil
	case t == reflect.TypeFor[NodePath](), t.Kind() == reflect.String && declared.Type == gdwire.TypeNodePath:
		return makeSortedPairsEncoder(elem, valueFunc(func(v reflect.Value) string { return wire.CleanNodePath(v.String()) }), writeFunc[string](key)), nil
	case t.Kind() == reflect.String:
		return makeSortedPairsEncoder(elem, valueFunc(reflect.Value.String), writeFunc[string](key)), nil
	case t.Kind() == reflect.Interface:
		return makeSortedPairsEncoder(elem, encodedKey(key), writeEncoded, checkDistinct), nil
	case ownTypes[t] == nil && zero.CanInt():
		return makeSortedPairsEncoder(elem, valueFunc(reflect.Value.Int), writeFunc[int64](key)), nil
	case ownTypes[t] == nil && zero.CanUint():
		return makeSortedPairsEncoder(elem, valueFunc(reflect.Value.Uint), writeFunc[uint64](key)), nil
	case zero.CanFloat():
		return makeSortedPairsEncoder(elem, valueFunc(reflect.Value.Float), writeFunc[float64](key)), nil
	}
	return makeSortedPairsEncoder(elem, encodedKey(key), writeEncoded), nil
}

// makeSortedPairsEncoder returns a function that writes the pairs of a map. sortKey returns the
// value by which a key is sorted. It must be equal for keys that are encoded as the same value,
// and only for these. write writes a key. The checks are called with all keys.
func makeSortedPairsEncoder[T cmp.Ordered](
	elem *plan[encodeFunc], sortKey func(*encoder, reflect.Value) (T, error),
	write func(*encoder, reflect.Value, T) error, checks ...func(*encoder, reflect.Value) error,
) pairsFunc {
	type keyAt struct {
		key T
		at  int
	}
	return func(s *encoder, m reflect.Value) error {
		n := m.Len()
		keys := reflect.MakeSlice(reflect.SliceOf(m.Type().Key()), n, n)
		values := reflect.MakeSlice(reflect.SliceOf(m.Type().Elem()), n, n)
		order := make([]keyAt, n)
		pairs := m.MapRange()
		for i := range order {
			if !pairs.Next() {
				return s.fail(m.Type(), gdwire.ErrCount) // another goroutine changed the map
			}
			keys.Index(i).SetIterKey(pairs)
			values.Index(i).SetIterValue(pairs)
			key, err := sortKey(s, keys.Index(i))
			if err != nil {
				return err
			}
			order[i] = keyAt{key, i}
		}
		slices.SortFunc(order, func(a, b keyAt) int { return cmp.Compare(a.key, b.key) })
		for i := 1; i < n; i++ {
			if cmp.Compare(order[i-1].key, order[i].key) == 0 {
				return s.duplicateError(keys.Index(order[i].at))
			}
		}
		for _, check := range checks {
			if err := check(s, keys); err != nil {
				return err
			}
		}
		for _, k := range order {
			if err := write(s, keys.Index(k.at), k.key); err != nil {
				return err
			}
			if err := elem.do(s, variableOf(values.Index(k.at))); err != nil {
				return err
			}
		}
		return nil
	}
}

// duplicateError makes the Encoder fail with the error for a key that equals another key.
func (s *encoder) duplicateError(key reflect.Value) error {
	typ := key.Type()
	isReference := func() bool { return key.Kind() == reflect.Pointer || key.Kind() == reflect.Interface }
	for isReference() && !key.IsNil() && !key.Type().Implements(reflect.TypeFor[fmt.Stringer]()) { // not its address
		key = key.Elem()
	}
	return s.fail(typ, fmt.Errorf("%w %s", ErrDuplicateKey, quoted(fmt.Sprint(key))))
}

// checkDistinct returns an error if two keys in interfaces are equal but encoded as different
// bytes, such as a string and a StringName with the same text.
func checkDistinct(s *encoder, keys reflect.Value) error {
	seen := make(map[any]struct{}, keys.Len())
	for i := range keys.Len() {
		k, ok := hashable(keys.Index(i).Interface())
		if _, again := seen[k]; ok && again {
			return s.duplicateError(keys.Index(i))
		}
		if ok {
			seen[k] = struct{}{}
		}
	}
	return nil
}

// valueFunc returns a sortKey for makeSortedPairsEncoder that sorts keys by value.
func valueFunc[T any](value func(reflect.Value) T) func(*encoder, reflect.Value) (T, error) {
	return func(_ *encoder, key reflect.Value) (T, error) { return value(key), nil }
}

// writeFunc returns a write for makeSortedPairsEncoder that encodes keys with a plan.
func writeFunc[T any](key *plan[encodeFunc]) func(*encoder, reflect.Value, T) error {
	return func(s *encoder, k reflect.Value, _ T) error { return key.do(s, variableOf(k)) }
}

// encodedKey returns a sortKey for makeSortedPairsEncoder that sorts keys by their encoding.
// writeEncoded then writes the encoding. A key can contain maps whose keys contain maps: to
// encode each key twice would take time exponential in their nesting.
func encodedKey(plan *plan[encodeFunc]) func(*encoder, reflect.Value) (string, error) {
	return func(s *encoder, key reflect.Value) (string, error) {
		inner := getEncoder()
		defer inner.release()
		inner.resetBytes(&Options{Encoder: s.e.Options()}, inner.buf[:0])
		inner.depth = s.depth
		err := plan.do(inner, variableOf(key))
		b := inner.e.Bytes()
		if cap(b) <= 2*maxKept {
			inner.buf = b[:0]
		}
		if err != nil {
			if at, ok := err.(*gdwire.Error); ok {
				err = at.Err // the offset and path of the map replace those in the key
			}
			return "", s.refuse(err)
		}
		return string(b), nil
	}
}

// writeEncoded writes a key that encodedKey encoded.
func writeEncoded(s *encoder, _ reflect.Value, encoded string) error {
	return s.e.WriteRaw([]byte(encoded))
}
