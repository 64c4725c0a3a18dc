package variant

import (
	"encoding"
	"reflect"

	"github.com/gdwire/gdwire"
)

// A Marshaler encodes itself. MarshalVariant must write exactly one value, which can be
// a container. Its error ends the encoding of the whole value. It is not used for keys.
type Marshaler interface {
	MarshalVariant(e *gdwire.Encoder) error
}

// An Unmarshaler decodes itself. UnmarshalVariant must read exactly one value. It must
// copy the bytes of tokens that it keeps. Its error ends the decoding of the whole
// value. It is not used for keys.
//
// Errors of the Reader, and Errors in the input, are returned as they are. Any other error is
// wrapped in a [*TypeError] and a [*gdwire.Error] with the position. If it is an Error of the
// Decoder, such as ErrType from a typed read, the position remains the same. If it is an Error
// of another Decoder, because the method called Unmarshal for bytes that it read, both positions
// remain: the outer is the position of the method's value, and errors.As finds the inner in
// TypeError.Err.
type Unmarshaler interface {
	UnmarshalVariant(d *gdwire.Decoder) error
}

var (
	marshalerType       = reflect.TypeFor[Marshaler]()
	unmarshalerType     = reflect.TypeFor[Unmarshaler]()
	textMarshalerType   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
	anyType             = reflect.TypeFor[any]()
	stringType          = reflect.TypeFor[string]()
)

// hasMethods reports whether t declares methods that encode or decode it. Marshal then writes a
// list of t as an Array, because a method can write any value. Unmarshal reads no t from packed
// numbers or from the components of a math type, because a method can read only whole values.
func hasMethods(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(marshalerType) || p.Implements(unmarshalerType) ||
		p.Implements(textMarshalerType) || p.Implements(textUnmarshalerType)
}

// A position is the position of an Encoder or Decoder: its offset and depth, and the kind and
// index of the innermost open container.
type position struct {
	offset, index int64
	depth         int
	kind          gdwire.Kind
}

// isOneValueBefore reports whether exactly one value is between p and q. A value must be next at
// p. Inside a pair or property, the index does not change: it counts pairs.
func (p position) isOneValueBefore(q position) bool {
	step := int64(1)
	if p.kind == gdwire.KindDictStart || p.kind == gdwire.KindObjectStart {
		step = 0
	}
	return q.depth == p.depth && q.offset > p.offset && q.index == p.index+step
}
