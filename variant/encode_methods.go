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

// makeTextMarshalerEncoder returns a function that writes the text of a TextMarshaler as the
// type wire.
func makeTextMarshalerEncoder(wire gdwire.Type) func(*encoder, reflect.Value) error {
	return func(s *encoder, v reflect.Value) error {
		text, err := marshalText(s, v)
		if err != nil {
			return err
		}
		return s.textAs(wire, text)
	}
}
