package variant

import (
	"reflect"

	"github.com/gdwire/gdwire"
)

// encodeBool, encodeInt, encodeUint, encodeFloat and encodeString write a bool, number or string
// kind.
func encodeBool(s *encoder, x variable) error { return s.e.WriteBool(boolIn(x)) }

// integers contains functions for signed integers, by kind: the encoder, and the word of a key.
var integers = map[reflect.Kind]struct {
	encode encodeFunc
	word   func(variable) uint64
}{
	reflect.Int:   {encodeInt[int], intWord[int]},
	reflect.Int8:  {encodeInt[int8], intWord[int8]},
	reflect.Int16: {encodeInt[int16], intWord[int16]},
	reflect.Int32: {encodeInt[int32], intWord[int32]},
	reflect.Int64: {encodeInt[int64], intWord[int64]},
}

func intWord[T int | int8 | int16 | int32 | int64](x variable) uint64 {
	return uint64(intIn[T](x)) ^ 1<<63
}

// makeIntegerEncoder returns the function encoding a t, an integer of any kind, as an int.
func makeIntegerEncoder(t reflect.Type) encodeFunc {
	if kind, ok := integers[t.Kind()]; ok {
		return kind.encode
	}
	return reflected(t, encodeUint)
}

func encodeInt[T int | int8 | int16 | int32 | int64](s *encoder, x variable) error {
	return s.e.WriteInt(intIn[T](x))
}

func encodeUint(s *encoder, v reflect.Value) error {
	x := v.Uint()
	if x > 1<<63-1 {
		return s.fail(v.Type(), gdwire.ErrRange)
	}
	return s.e.WriteInt(int64(x))
}

func encodeFloat[T float32 | float64](s *encoder, x variable) error {
	return s.e.WriteFloat(floatIn[T](x))
}

// makeNumberEncoder returns the function encoding a t, a number, as the type wire, an int or
// float. A number changed by the conversion is an error.
func makeNumberEncoder(t reflect.Type, wire gdwire.Type) (encodeFunc, error) {
	isFloat := wire == gdwire.TypeFloat
	switch zero := reflect.Zero(t); {
	case isFloat && t.Kind() == reflect.Float32:
		return encodeFloat[float32], nil
	case isFloat && t.Kind() == reflect.Float64:
		return encodeFloat[float64], nil
	case !isFloat && (zero.CanInt() || zero.CanUint()):
		return makeIntegerEncoder(t), nil
	case isFloat && zero.CanInt():
		return reflected(t, func(s *encoder, v reflect.Value) error {
			x := float64(v.Int())
			if x >= 1<<63 || int64(x) != v.Int() {
				return s.fail(t, gdwire.ErrRange)
			}
			return s.e.WriteFloat(x)
		}), nil
	case isFloat && zero.CanUint():
		return reflected(t, func(s *encoder, v reflect.Value) error {
			x := float64(v.Uint())
			if x >= 1<<64 || uint64(x) != v.Uint() {
				return s.fail(t, gdwire.ErrRange)
			}
			return s.e.WriteFloat(x)
		}), nil
	case zero.CanFloat():
		return reflected(t, func(s *encoder, v reflect.Value) error {
			x := v.Float()
			if !(x >= -1<<63 && x < 1<<63) || float64(int64(x)) != x {
				return s.fail(t, gdwire.ErrRange)
			}
			return s.e.WriteInt(int64(x))
		}), nil
	}
	return nil, tagError(t, wire)
}

func encodeString(s *encoder, x variable) error { return s.e.WriteString(textIn(x)) }

// makeStringEncoder returns the function encoding a string kind as the type wire, a String,
// StringName or NodePath.
func makeStringEncoder(wire gdwire.Type) encodeFunc {
	return func(s *encoder, x variable) error { return s.textAs(wire, textIn(x)) }
}

// textAs writes text as the type wire. A StringName becomes a String in a format without it.
func (s *encoder) textAs(wire gdwire.Type, text string) error {
	switch {
	case wire == gdwire.TypeNodePath:
		return s.e.WriteNodePath(text)
	case wire == gdwire.TypeStringName && s.format.Has(wire):
		return s.e.WriteStringName(text)
	}
	return s.e.WriteString(text)
}

// isText reports whether text can be encoded as the given type= of a tag. 0 means no type=.
func isText(wire gdwire.Type) bool {
	switch wire {
	case 0, gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath:
		return true
	}
	return false
}
