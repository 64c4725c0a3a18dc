package variant

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
)

// makePointerEncoder returns the function encoding a pointer as the value pointed to, or as nil.
func (b encodePlanner) makePointerEncoder(key planKey) (encodeFunc, error) {
	t := key.typ
	if err := checkPointer(t); err != nil {
		return nil, err
	}
	key.typ = t.Elem()
	elem, err := b.planOf(key)
	return pointerEncoder(t, elem), err
}

// pointerEncoder returns the function encoding a t, a pointer to a value with a plan.
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

// makeInterfaceEncoder returns the function encoding a t, an interface, as the value inside.
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

// encodeMarshaler calls the MarshalVariant of v and checks that exactly one value was written.
func encodeMarshaler(s *encoder, v reflect.Value) error {
	before := s.position()
	err := v.Addr().Interface().(Marshaler).MarshalVariant(s.e)
	if err == nil {
		err = s.e.Err()
	}
	if err != nil {
		if errors.As(err, new(*gdwire.Error)) || s.e.Err() == err {
			return err
		}
		return s.fail(v.Type(), err)
	}
	if s.e == s.bytesEncoder && s.e.OutputOffset() != int64(len(s.e.Bytes())-s.before) {
		return s.fail(v.Type(), errors.New("MarshalVariant must not reset the Encoder"))
	}
	if !before.isOneValueBefore(s.position()) {
		return s.fail(v.Type(), fmt.Errorf("%w: MarshalVariant must write exactly one value", gdwire.ErrCount))
	}
	return nil
}

// encoder returns a function writing the text as a type.
func (m *textMethod) encoder(typ gdwire.Type) encodeFunc {
	return func(s *encoder, x variable) error {
		t := s.methodText
		if s.methodText = (methodText{}); !t.isNext {
			t.text, t.err = m.text(s, x)
		}
		if t.err != nil {
			return s.fail(m.typ, t.err)
		}
		return s.textAs(typ, t.text)
	}
}
