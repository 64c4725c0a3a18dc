package variant

import (
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
)

// fieldPlan returns the plan of a field. A plan with declared types is that of the field alone.
func (b encodePlanner) fieldPlan(f *field) (*plan[encodeFunc], error) {
	if !f.isTyped() {
		return b.plan(f.typ, f.wire)
	}
	do, err := b.makeTypedEncoder(f.typ, &f.tag)
	return &plan[encodeFunc]{do: do}, err
}

// makeTypedEncoder returns the function that encodes a t as an Array or Dictionary with the declared
// types of a tag.
func (b encodePlanner) makeTypedEncoder(t reflect.Type, tag *tag) (encodeFunc, error) {
	k := t.Kind()
	switch isOwn := ownTypes[t] != nil || reflect.PointerTo(t).Implements(marshalerType); {
	case isOwn:
	case k == reflect.Pointer:
		if err := checkPointer(t); err != nil {
			return nil, err
		}
		do, err := b.makeTypedEncoder(t.Elem(), tag)
		return pointerEncoder(t, &plan[encodeFunc]{do: do}), err
	case tag.wire == gdwire.TypeArray && (k == reflect.Slice || k == reflect.Array):
		return b.makeTypedListEncoder(t, tag.elem)
	case tag.wire == gdwire.TypeDictionary && k == reflect.Map:
		return b.makeTypedMapEncoder(t, tag)
	}
	return nil, tag.error(t)
}

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
		if s.depth++; s.depth > maxDepth {
			return s.fail(t, depthError())
		}
		for i := range v.Len() {
			if err := elem.do(s, variableOf(v.Index(i))); err != nil {
				return err
			}
		}
		s.depth--
		return s.e.End()
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

// error returns the error for a type= that a t cannot be encoded as.
func (t *tag) error(g reflect.Type) error {
	return fmt.Errorf("type=%s does not fit Go %v", t.typeText(), g)
}
