package variant

import (
	"bytes"
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
)

// dict is build for a map, which is encoded as a Dictionary with sorted keys.
func (b encodePlanner) dict(t reflect.Type) (encodeFunc, error) {
	key, err := b.key(t.Key())
	if err != nil {
		return nil, err
	}
	elem, err := b.plan(t.Elem(), 0)
	return reflected(t, func(s *encoder, v reflect.Value) error {
		if s.depth++; s.depth > maxDepth {
			return s.fail(t, depthError())
		}
		if err := s.e.BeginDict(v.Len()); err != nil {
			return err
		}
		if err := s.sortedPairs(v, elem, func(k reflect.Value) error { return key(s, variableOf(k)) }); err != nil {
			return err
		}
		s.depth--
		return s.e.End()
	}), err
}

// key returns the function that encodes keys of type t. It does not use Marshaler.
func (b encodePlanner) key(t reflect.Type) (encodeFunc, error) {
	if err := checkKey(t); err != nil {
		return nil, err
	}
	switch own := ownTypes[t]; {
	case own != nil:
		return own.encode, nil
	case t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(textMarshalerType):
		return reflected(t, encodeText(0)), nil
	case t.Kind() == reflect.Bool:
		return encodeBool, nil
	case t.Kind() == reflect.String:
		return encodeString, nil
	case t.Kind() == reflect.Interface:
		return reflected(t, encodeInterface), nil
	case t.Kind() == reflect.Array:
		return b.list(t, 0)
	case t.Kind() == reflect.Float32:
		return encodeFloat[float32], nil
	case t.Kind() == reflect.Float64:
		return encodeFloat[float64], nil
	}
	return encodeInteger(t), nil
}

// checkKey returns an error if t cannot be the type of a map's keys.
func checkKey(t reflect.Type) error {
	if own := ownTypes[t]; own != nil {
		if own.math != nil || t.Comparable() && t != reflect.TypeFor[Dictionary]() && t != reflect.TypeFor[Array]() {
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
	if p := reflect.PointerTo(t); p.Implements(textMarshalerType) || p.Implements(textUnmarshalerType) {
		return nil
	}
	return fmt.Errorf("%v cannot be a key", t)
}

// sortedPairs writes the pairs of a map, sorted by keys: numbers and text by value, other
// keys by their encoding.
func (s *encoder) sortedPairs(m reflect.Value, elem *plan[encodeFunc], writeKey func(reflect.Value) error) error {
	n := m.Len()
	keys := reflect.MakeSlice(reflect.SliceOf(m.Type().Key()), n, n)
	values := reflect.MakeSlice(reflect.SliceOf(m.Type().Elem()), n, n)
	order := make([]int, n)
	pairs := m.MapRange()
	for i := range order {
		if !pairs.Next() {
			return s.fail(m.Type(), gdwire.ErrCount) // another goroutine has changed the map
		}
		keys.Index(i).SetIterKey(pairs)
		values.Index(i).SetIterValue(pairs)
		order[i] = i
	}
	if err := s.sortKeys(keys, order); err != nil {
		return err
	}
	for _, i := range order {
		if err := writeKey(keys.Index(i)); err != nil {
			return err
		}
		if err := elem.do(s, variableOf(values.Index(i))); err != nil {
			return err
		}
	}
	return nil
}

// sortKeys sorts order, which has indexes of keys.
func (s *encoder) sortKeys(keys reflect.Value, order []int) error {
	t := keys.Type().Elem()
	k := reflect.Zero(t)
	switch {
	case ownTypes[t] == nil && t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(textMarshalerType):
		texts := make([]string, len(order))
		for i := range texts {
			text, err := keys.Index(i).Addr().Interface().(encoding.TextMarshaler).MarshalText()
			if err != nil {
				return s.fail(t, err)
			}
			texts[i] = string(text)
		}
		slices.SortFunc(order, func(i, j int) int { return strings.Compare(texts[i], texts[j]) })
	case t.Kind() == reflect.String:
		slices.SortFunc(order, func(i, j int) int { return strings.Compare(keys.Index(i).String(), keys.Index(j).String()) })
	case k.CanInt():
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(keys.Index(i).Int(), keys.Index(j).Int()) })
	case k.CanUint():
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(keys.Index(i).Uint(), keys.Index(j).Uint()) })
	case k.CanFloat():
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(keys.Index(i).Float(), keys.Index(j).Float()) })
	default:
		encoded := make([][]byte, len(order))
		for i := range encoded {
			b, err := Marshal(keys.Index(i).Addr().Interface(), Options{Encoder: s.options})
			if err != nil {
				return s.fail(t, err)
			}
			encoded[i] = b
		}
		slices.SortFunc(order, func(i, j int) int { return bytes.Compare(encoded[i], encoded[j]) })
	}
	return nil
}
