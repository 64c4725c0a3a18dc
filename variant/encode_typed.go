package variant

import (
	"reflect"

	"github.com/gdwire/gdwire"
)

// makeTypedListEncoder returns the function that encodes a t, a slice or array, as an Array with a
// declared type.
func (b encodePlanner) makeTypedListEncoder(t reflect.Type, declared gdwire.Elem) (encodeFunc, error) {
	elem, err := b.declaredPlan(t.Elem(), declared, false)
	return reflected(t, func(s *encoder, v reflect.Value) error {
		var err error
		if s.declaresTypes() {
			err = s.e.BeginTypedArray(v.Len(), declared)
		} else {
			err = s.e.BeginArray(v.Len())
		}
		if err != nil {
			return err
		}
		if err := s.enter(t); err != nil {
			return err
		}
		for i := range v.Len() {
			if err := elem.do(s, variableOf(v.Index(i))); err != nil {
				return err
			}
		}
		return s.leave()
	}), err
}

// declaredPlan returns the plan of t, the type of elements, keys or values that are declared or not.
// It is the plan without a type if the values of a t have one of their own, which the Encoder checks.
func (b encodePlanner) declaredPlan(t reflect.Type, declared gdwire.Elem, isKey bool) (*plan[encodeFunc], error) {
	key := planKey{typ: t, wire: declared.Type, isKey: isKey}
	value := t // without pointers
	if t.Kind() == reflect.Pointer {
		if err := checkPointer(t); err != nil {
			return nil, err
		}
		for value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
	}
	if value.Kind() == reflect.Interface || value == reflect.TypeFor[Raw]() || reflect.PointerTo(value).Implements(marshalerType) {
		key.wire = 0
	}
	return b.planOf(key)
}

// declaresTypes reports whether containers have declared types in the format. In others, a container
// that a tag declares is written without types.
func (s *encoder) declaresTypes() bool { return s.format == gdwire.Godot4 }
