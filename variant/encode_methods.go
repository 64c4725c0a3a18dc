package variant

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
)

// encodeMarshaler calls the MarshalVariant of v and checks that it wrote exactly one value.
func encodeMarshaler(s *encoder, v reflect.Value) error {
	before := s.position()
	err := v.Addr().Interface().(Marshaler).MarshalVariant(s.e)
	if err == nil {
		err = s.e.Err()
	}
	if err != nil {
		var known *gdwire.Error
		if errors.As(err, &known) || s.e.Err() == err {
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

// encoder returns a function that writes the text as a type.
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
