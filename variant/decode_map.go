package variant

import (
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
)

// mapEntrySize is what an entry of a map is charged with.
func mapEntrySize(t reflect.Type) int64 {
	return int64(t.Key().Size()+t.Elem().Size()) + 16
}

// dict makes the plan of a map.
func (b decodePlanner) dict(t reflect.Type) (decodeFunc, error) {
	key, err := b.key(t.Key())
	if err != nil {
		return nil, err
	}
	elem, err := b.plan(t.Elem(), 0)
	return func(s *decoder, v reflect.Value) error {
		tok, err := s.token()
		switch {
		case err != nil:
			return err
		case tok.Kind() != gdwire.KindDictStart:
			return s.mismatch(tok, v, nil)
		}
		if err := s.deeper(t); err != nil {
			return err
		}
		m := mapDecoder{s: s, typ: t, key: key, elem: elem.do, replace: s.replace}
		if err := m.decode(v, int(tok.Len())); err != nil {
			return err
		}
		s.replace = m.replace
		s.depth--
		return s.d.ReadEnd()
	}, err
}

// A mapDecoder reads the pairs of a map.
type mapDecoder struct {
	s         *decoder
	typ       reflect.Type
	key, elem decodeFunc
	replace   bool
}

// decode reads n pairs into v. Entries that are there already stay, and what their
// keys come with is read into a copy of their values.
func (m *mapDecoder) decode(v reflect.Value, n int) error {
	size := mapEntrySize(m.typ)
	if v.IsNil() || m.replace { // others may have the old map
		v.Set(reflect.MakeMapWithSize(m.typ, m.s.grow(0, n, size)))
	}
	m.s.replace = false
	var seen reflect.Value // the keys that were read, where v has others
	if v.Len() > 0 {
		seen = reflect.MakeMap(reflect.MapOf(m.typ.Key(), reflect.TypeFor[struct{}]()))
	}
	key := reflect.New(m.typ.Key()).Elem()
	elem := reflect.New(m.typ.Elem()).Elem()
	for range n {
		key.SetZero()
		elem.SetZero()
		if err := m.readKey(key); err != nil {
			return err
		}
		if err := m.s.charge(m.typ, size); err != nil {
			return err
		}
		if seen.IsValid() {
			if old := v.MapIndex(key); old.IsValid() {
				elem.Set(old)
			}
		}
		if m.isDuplicate(v, seen, key) {
			return m.s.fail(gdwire.TypeDictionary, m.typ, fmt.Errorf("%w %s", ErrDuplicateKey, quoted(fmt.Sprint(key))))
		}
		if err := m.elem(m.s, elem); err != nil {
			return err
		}
		v.SetMapIndex(key, elem)
		if seen.IsValid() {
			seen.SetMapIndex(key, reflect.ValueOf(struct{}{}))
		}
	}
	return nil
}

// readKey reads a key, which a map has to find again.
func (m *mapDecoder) readKey(key reflect.Value) error {
	if err := m.key(m.s, key); err != nil {
		return err
	}
	if key.Kind() == reflect.Interface {
		switch x := key.Interface().(type) {
		case *Array, *Dictionary, *Object:
			return m.s.fail(0, m.typ.Key(), fmt.Errorf("%w: a map cannot compare %T", gdwire.ErrType, x))
		}
		if !key.IsNil() && !key.Elem().Comparable() {
			return m.s.fail(0, m.typ.Key(), fmt.Errorf("%w: a map cannot compare %v", gdwire.ErrType, key.Elem().Type()))
		}
	}
	if !key.Equal(key) {
		return m.s.fail(0, m.typ.Key(), fmt.Errorf("%w: a map cannot find NaN", gdwire.ErrRange))
	}
	return nil
}

// isDuplicate reports whether a key has been read before. Text is one key as string
// and as StringName.
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

// key returns how keys of that type are read: a type that reads itself is not asked
// to.
func (b decodePlanner) key(t reflect.Type) (decodeFunc, error) {
	if err := checkKey(t); err != nil {
		return nil, err
	}
	switch own := ownTypes[t]; {
	case own != nil:
		return own.decode, nil
	case t.Kind() == reflect.Interface:
		return decodeAnyKey, nil
	case reflect.PointerTo(t).Implements(textUnmarshalerType):
		return (*decoder).textKey, nil
	}
	return b.kind(t)
}

func decodeAnyKey(s *decoder, v reflect.Value) error {
	x, err := s.anyKey()
	if err == nil && x != nil {
		v.Set(reflect.ValueOf(x))
	}
	return err
}

func (s *decoder) textKey(v reflect.Value) error { return s.unmarshalText(v) }
