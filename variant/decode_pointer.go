package variant

import (
	"reflect"

	"github.com/gdwire/gdwire"
)

// makePointerDecoder returns the function that decodes a t, a pointer. A nil makes the pointer
// nil. Other values are decoded into the variable that it points to, or into a new variable if
// it is nil.
func (b decodePlanner) makePointerDecoder(t reflect.Type, wire gdwire.Type) (decodeFunc, error) {
	if err := checkPointer(t); err != nil {
		return nil, err
	}
	elem, err := b.plan(t.Elem(), wire)
	size, counts := int64(t.Elem().Size()), pointerCounts(t)
	return reflected(t, func(s *decoder, v reflect.Value) error {
		typ, err := s.d.PeekType()
		switch {
		case err != nil:
			return err
		case typ == gdwire.TypeNil:
			v.SetZero()
			return s.d.ReadNil()
		}
		if !v.IsNil() {
			s.follow(v, t.Elem().Size())
		}
		if v.IsNil() {
			if err := s.charge(t, size); err != nil {
				return err
			}
			v.Set(reflect.New(t.Elem()))
		}
		if !counts {
			return elem.do(s, variableOf(v.Elem()))
		}
		if err := s.enter(t); err != nil {
			return err
		}
		err = elem.do(s, variableOf(v.Elem()))
		s.depth--
		return err
	}), err
}

// decodeAny reads the next value into x, an empty interface.
func decodeAny(s *decoder, x variable) error {
	v, err := s.any()
	if err == nil || isContainer(v) {
		*pointer[any](x) = v
	}
	return err
}

// decodeInterface decodes into the variable that the pointer in an interface with methods
// points to. If the interface holds no pointer, the type to decode into is unknown, which is an
// error. Elements, which are made zero first, hold none.
func decodeInterface(s *decoder, v reflect.Value) error {
	if p := v.Elem(); v.IsNil() || p.Kind() != reflect.Pointer || p.IsNil() {
		return s.nilOrTypeError(v, nil)
	}
	plan, err := decodePlans.of(v.Elem().Type())
	if err != nil {
		return err
	}
	p := reflect.New(v.Elem().Type()).Elem()
	p.Set(v.Elem())
	if err := plan.do(s, variableOf(p)); err != nil {
		return err
	}
	if p.IsNil() {
		v.SetZero()
	}
	return nil
}
