package variant

import (
	"reflect"

	"github.com/gdwire/gdwire"
)

// The methods below decode the types of this package. A nil makes the variable zero, and a value
// of another type is an error, with two exceptions: a StringName or NodePath takes text of any
// type, and a Raw takes any value.

func (s *decoder) stringName(v *StringName) error {
	text, err := s.readText(variableOf(reflect.ValueOf(v).Elem()), reflect.TypeFor[StringName]())
	if err == nil {
		*v = StringName(text)
	}
	return err
}

func (s *decoder) nodePath(v *NodePath) error {
	text, err := s.readNodePath(variableOf(reflect.ValueOf(v).Elem()), reflect.TypeFor[NodePath]())
	if err == nil {
		*v = NodePath(text)
	}
	return err
}

func (s *decoder) rid(v *RID) error {
	id, err := s.d.ReadRID()
	if err != nil {
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), err)
	}
	*v = RID(id)
	return nil
}

func (s *decoder) objectID(v *ObjectID) error {
	id, err := s.d.ReadObjectID()
	if err != nil {
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), err)
	}
	*v = ObjectID(id)
	return nil
}

func (s *decoder) callable(v *Callable) error {
	if err := s.d.ReadCallable(); err != nil {
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), err)
	}
	return nil
}

func (s *decoder) signal(v *Signal) error {
	name, id, err := s.d.ReadSignal()
	if err != nil {
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), err)
	}
	*v = Signal{name, ObjectID(id)}
	return s.charge(reflect.TypeFor[Signal](), int64(len(name)))
}

// readStart reads the first token of a value of type t, for v. It returns false after an error,
// and after making v zero for a nil.
func (s *decoder) readStart(v reflect.Value, t gdwire.Type) (tok gdwire.Token, ok bool, err error) {
	switch next, err := s.d.PeekType(); {
	case err != nil:
		return tok, false, err
	case next != t:
		return tok, false, s.nilOrTypeError(v, nil)
	}
	tok, err = s.token()
	return tok, err == nil, err
}

func (s *decoder) array(v *Array) error {
	t, ok, err := s.readStart(reflect.ValueOf(v).Elem(), gdwire.TypeArray)
	if !ok {
		return err
	}
	return s.fillArray(v, t)
}

func (s *decoder) dictionary(v *Dictionary) error {
	t, ok, err := s.readStart(reflect.ValueOf(v).Elem(), gdwire.TypeDictionary)
	if !ok {
		return err
	}
	return s.fillDictionary(v, t)
}

func (s *decoder) object(v *Object) error {
	if s.d.PeekKind() == gdwire.KindObjectID {
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), nil)
	}
	t, ok, err := s.readStart(reflect.ValueOf(v).Elem(), gdwire.TypeObject)
	switch {
	case !ok:
		return err
	case t.Kind() != gdwire.KindObjectStart: // a key
		return s.fail(gdwire.TypeObject, reflect.TypeFor[Object](), gdwire.ErrType)
	}
	return s.fillObject(v, t)
}

func (s *decoder) image(v *Image) error {
	t, ok, err := s.readStart(reflect.ValueOf(v).Elem(), gdwire.TypeImage)
	if !ok {
		return err
	}
	*v, err = s.readImage(t)
	return err
}

func (s *decoder) inputEvent(v *InputEvent) error {
	t, ok, err := s.readStart(reflect.ValueOf(v).Elem(), gdwire.TypeInputEvent)
	if !ok {
		return err
	}
	*v, err = s.readInputEvent(t)
	return err
}

// raw copies the next value into v, in the format of the Decoder. MaxMemory limits the copy; the
// Decoder checks all other limits.
func (s *decoder) raw(v *Raw) error {
	if kind, _, _ := s.d.StackIndex(s.d.Depth()); kind == gdwire.KindPackedStart { // no value, but a string without a header is next
		return s.nilOrTypeError(reflect.ValueOf(v).Elem(), nil)
	}
	if s.rawCopier == nil {
		c, o := &rawCopier{s: s}, s.d.Options()
		c.e = gdwire.NewEncoder(c, &gdwire.EncoderOptions{
			Format: o.Format, Depth: -1, AllowInvalidUTF8: true, DoubleReals: o.DoubleReals,
		})
		s.rawCopier = c
	}
	c := s.rawCopier
	c.e.Reset(c)
	c.b = nil                                 // the previous Raw keeps its bytes
	if s.d.PeekKind() == gdwire.KindDictKey { // CopyValue would copy the token, too
		if _, err := s.d.ReadToken(); err != nil {
			return err
		}
	}
	if err := gdwire.CopyValue(c.e, s.d); err != nil {
		return err
	}
	if err := c.e.Flush(); err != nil {
		return err
	}
	*v = Raw{Format: c.e.Options().Format, Data: c.b}
	return nil
}
