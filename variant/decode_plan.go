package variant

import (
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
)

func init() {
	decodePlans.build = func(r *planner[decodeFunc], key planKey) (decodeFunc, error) {
		return decodePlanner{r}.makeDecoder(key)
	}
}

// makeDecoder returns the function that decodes the Go type of key. It depends on the methods of
// the type, on whether it is a type of this package, or on its kind, in this order. Values of other
// types than the type= in key that the Go type can hold are decoded, too, but can take longer.
func (b decodePlanner) makeDecoder(key planKey) (decodeFunc, error) {
	t := key.typ
	switch {
	case key.isKey:
		return b.makeKeyDecoder(t)
	case t.Kind() == reflect.Pointer:
		return b.makePointerDecoder(t, key.wire)
	case t.Kind() != reflect.Interface:
		p := reflect.PointerTo(t)
		switch own := ownDecoders[t]; {
		case p.Implements(unmarshalerType):
			return reflected(t, decodeUnmarshaler), checkMethod(t, unmarshalerType)
		case own != nil:
			return own, nil
		case p.Implements(textUnmarshalerType):
			return b.makeTextUnmarshalerDecoder(t), checkMethod(t, textUnmarshalerType)
		}
	}
	return b.makeDefaultDecoder(t, key.wire)
}

// makeDefaultDecoder returns the function that decodes a t by its kind, regardless of methods.
func (b decodePlanner) makeDefaultDecoder(t reflect.Type, wire gdwire.Type) (decodeFunc, error) {
	switch t.Kind() {
	case reflect.Bool:
		return makeScalarDecoder(t, (*gdwire.Decoder).ReadBool), nil
	case reflect.Int:
		if t.Size() == 8 {
			return makeScalarDecoder(t, readInt), nil
		}
		return makeScalarDecoder(t, gdwire.ReadInteger[int]), nil
	case reflect.Int8:
		return makeScalarDecoder(t, gdwire.ReadInteger[int8]), nil
	case reflect.Int16:
		return makeScalarDecoder(t, gdwire.ReadInteger[int16]), nil
	case reflect.Int32:
		return makeScalarDecoder(t, gdwire.ReadInteger[int32]), nil
	case reflect.Int64:
		return makeScalarDecoder(t, (*gdwire.Decoder).ReadInt), nil
	case reflect.Uint:
		return makeScalarDecoder(t, gdwire.ReadInteger[uint]), nil
	case reflect.Uint8:
		return makeScalarDecoder(t, gdwire.ReadInteger[uint8]), nil
	case reflect.Uint16:
		return makeScalarDecoder(t, gdwire.ReadInteger[uint16]), nil
	case reflect.Uint32:
		return makeScalarDecoder(t, gdwire.ReadInteger[uint32]), nil
	case reflect.Uint64:
		return makeScalarDecoder(t, gdwire.ReadInteger[uint64]), nil
	case reflect.Uintptr:
		return makeScalarDecoder(t, gdwire.ReadInteger[uintptr]), nil
	case reflect.Float32:
		return makeScalarDecoder(t, (*gdwire.Decoder).ReadFloat32), nil
	case reflect.Float64:
		return makeScalarDecoder(t, (*gdwire.Decoder).ReadFloat), nil
	case reflect.String:
		if wire == gdwire.TypeNodePath {
			return makeNodePathDecoder(t), nil
		}
		return makeStringDecoder(t), nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return decodeAny, nil
		}
		return reflected(t, decodeInterface), nil
	case reflect.Slice:
		return b.makeSliceDecoder(t)
	case reflect.Array:
		return b.makeArrayDecoder(t, wire)
	case reflect.Map:
		return b.makeMapDecoder(t)
	case reflect.Struct:
		return b.makeStructDecoder(t)
	}
	return nil, fmt.Errorf("%v has no Variant type", t)
}

// makeTextUnmarshalerDecoder returns the function that decodes a t, a TextUnmarshaler.
// UnmarshalText decodes text; other values are decoded by the kind of t.
func (b decodePlanner) makeTextUnmarshalerDecoder(t reflect.Type) decodeFunc {
	kind, kindErr := b.try(func() (decodeFunc, error) { return b.makeDefaultDecoder(t, 0) })
	return func(s *decoder, x variable) error {
		typ, err := s.d.PeekType()
		switch {
		case err != nil:
			return err
		case isTextType(typ):
			return s.unmarshalText(valueOf(x, t))
		case kindErr != nil:
			return s.nilOrTypeError(valueOf(x, t), nil)
		}
		return kind(s, x)
	}
}

// makeKeyDecoder returns the function that decodes keys of type t. It does not use Unmarshaler.
func (b decodePlanner) makeKeyDecoder(t reflect.Type) (decodeFunc, error) {
	if err := checkKey(t, textUnmarshalerType); err != nil {
		return nil, err
	}
	switch own := ownDecoders[t]; {
	case own != nil:
		return own, nil
	case t.Kind() == reflect.Interface:
		return reflected(t, decodeAnyKey), nil
	case reflect.PointerTo(t).Implements(textUnmarshalerType):
		return reflected(t, (*decoder).textKey), checkMethod(t, textUnmarshalerType)
	}
	return b.makeDefaultDecoder(t, 0)
}

// textKey reads a key into v, a TextUnmarshaler.
func (s *decoder) textKey(v reflect.Value) error {
	switch t, err := s.d.PeekType(); {
	case err != nil:
		return err
	case t == gdwire.TypeNil: // UnmarshalText cannot tell it from an empty text
		v.SetZero()
		return s.d.ReadNil()
	}
	return s.unmarshalText(v)
}

// decodeAnyKey reads a key into v, a zero interface.
func decodeAnyKey(s *decoder, v reflect.Value) error {
	x, err := s.anyKey()
	if err == nil && x != nil {
		v.Set(reflect.ValueOf(x))
	}
	return err
}
