package variant

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
)

// The methods below encode the types of this package. The Encoder returns an error for a type
// missing from the format.

func (s *encoder) stringName(v *StringName) error {
	return s.textAs(gdwire.TypeStringName, string(*v))
}

func (s *encoder) nodePath(v *NodePath) error { return s.e.WriteNodePath(string(*v)) }

func (s *encoder) rid(v *RID) error { return s.e.WriteRID(uint64(*v)) }

func (s *encoder) objectID(v *ObjectID) error {
	if *v == 0 {
		return s.e.WriteNil() // as engines encode null
	}
	return s.e.WriteObjectID(uint64(*v))
}

func (s *encoder) signal(v *Signal) error { return s.e.WriteSignal(v.Name, uint64(v.Object)) }

func (s *encoder) callable(*Callable) error { return s.e.WriteCallable() }

func (s *encoder) image(v *Image) error {
	if err := s.e.BeginImage(v.Format, v.Mipmaps, v.Width, v.Height, int64(len(v.Data))); err != nil {
		return err
	}
	if _, err := s.e.Write(v.Data); err != nil {
		return err
	}
	return s.e.End()
}

func (s *encoder) inputEvent(v *InputEvent) error {
	return s.e.WriteInputEvent(v.Type, v.Device, v.Data)
}

// raw writes the value in v, converted from any other format.
func (s *encoder) raw(v *Raw) error {
	from := cmp.Or(v.Format, gdwire.Godot4)
	switch {
	case len(v.Data) == 0 && v.Format == 0:
		return s.e.WriteNil()
	case from == s.format:
		return s.e.WriteRaw(v.Data)
	}
	d := v.decoder(s.e.Options())
	defer d.Release()
	if err := gdwire.CopyValue(s.e, d); err != nil {
		return s.fail(reflect.TypeFor[Raw](), err)
	}
	if n := int64(len(v.Data)) - d.InputOffset(); n > 0 {
		return s.fail(reflect.TypeFor[Raw](), fmt.Errorf("%d bytes after the value", n))
	}
	return nil
}

// makeTypedListEncoder returns the function encoding a t, a slice or array, as an Array with a declared type.
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

// declaredPlan returns the plan of t, the type of elements, keys or values, for their declared type, if any. If the
// values of a t have a type of their own, checked by the Encoder, the plan is the one without a type.
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

// declaresTypes reports whether containers have declared types in the format. In other formats, a
// container declared by a tag is written without types.
func (s *encoder) declaresTypes() bool { return s.format == gdwire.Godot4 }
