package variant

import "reflect"

// makePointerEncoder returns the function that encodes a pointer as the value it points to, or
// as nil.
func (b encodePlanner) makePointerEncoder(key planKey) (encodeFunc, error) {
	t := key.typ
	if err := checkPointer(t); err != nil {
		return nil, err
	}
	key.typ = t.Elem()
	elem, err := b.planOf(key)
	return pointerEncoder(t, elem), err
}

// pointerEncoder returns the function that encodes a t, a pointer to a value with a plan.
func pointerEncoder(t reflect.Type, elem *plan[encodeFunc]) encodeFunc {
	counts := pointerCounts(t)
	return reflected(t, func(s *encoder, v reflect.Value) error {
		switch {
		case v.IsNil():
			return s.e.WriteNil()
		case counts:
			return s.encodeNested(elem.do, v.Elem())
		}
		return elem.do(s, variableOf(v.Elem()))
	})
}

// makeInterfaceEncoder returns the function that encodes a t, an interface, as the value in it.
func makeInterfaceEncoder(t reflect.Type, isKey bool) encodeFunc {
	write := (*encoder).any
	if isKey {
		write = (*encoder).anyKey
	}
	if t.NumMethod() == 0 {
		return func(s *encoder, x variable) error { return write(s, *pointer[any](x)) }
	}
	return reflected(t, func(s *encoder, v reflect.Value) error {
		if v.IsNil() {
			return s.e.WriteNil()
		}
		return write(s, v.Elem().Interface())
	})
}
