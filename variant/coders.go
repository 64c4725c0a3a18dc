package variant

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// A table of coders for each type, and guesses of types.

func init() { // the functions refer to the tables
	ownTypes = sync.OnceValue(makeOwnTypes)
	decodePlans.build = func(r *planner[decodeFunc], key planKey) (decodeFunc, error) {
		return decodePlanner{r}.makeDecoder(key)
	}
	encodePlans.build = func(r *planner[encodeFunc], key planKey) (encodeFunc, error) {
		return encodePlanner{r}.makeEncoder(key)
	}
}

// makeOwnTypes makes the table of the types of this package, and their coders.
func makeOwnTypes() *ownTable {
	all := &ownTable{map[reflect.Type]*ownType{}, map[gdwire.Type]*components{}}
	for _, t := range [...]reflect.Type{
		reflect.TypeFor[Vector2](), reflect.TypeFor[Vector2i](), reflect.TypeFor[Vector3](), reflect.TypeFor[Vector3i](),
		reflect.TypeFor[Vector4](), reflect.TypeFor[Vector4i](), reflect.TypeFor[Rect2](), reflect.TypeFor[Rect2i](),
		reflect.TypeFor[Plane](), reflect.TypeFor[Quaternion](), reflect.TypeFor[AABB](), reflect.TypeFor[Transform2D](),
		reflect.TypeFor[Basis](), reflect.TypeFor[Transform3D](), reflect.TypeFor[Projection](), reflect.TypeFor[Color](),
	} {
		m, _ := componentsOf(t)
		typ := typeNamed(t.Name())
		all.math[typ] = &m
		all.types[t] = &ownType{typ, &m}
		ownCoders[t] = coder{makeMathEncoder(m, typ), makeMathDecoder(m, typ)}
	}
	addOwn(all, gdwire.TypeStringName, (*encoder).stringName, (*decoder).stringName)
	addOwn(all, gdwire.TypeNodePath, (*encoder).nodePath, (*decoder).nodePath)
	addOwn(all, gdwire.TypeRID, (*encoder).rid, (*decoder).rid)
	addOwn(all, gdwire.TypeObject, (*encoder).objectID, (*decoder).objectID)
	addOwn(all, gdwire.TypeSignal, (*encoder).signal, (*decoder).signal)
	addOwn(all, gdwire.TypeCallable, (*encoder).callable, (*decoder).callable)
	addOwn(all, gdwire.TypeObject, (*encoder).object, (*decoder).object)
	addOwn(all, gdwire.TypeImage, (*encoder).image, (*decoder).image)
	addOwn(all, gdwire.TypeInputEvent, (*encoder).inputEvent, (*decoder).inputEvent)
	addOwn(all, gdwire.TypeArray, (*encoder).array, (*decoder).array)
	addOwn(all, gdwire.TypeDictionary, (*encoder).dictionary, (*decoder).dictionary)
	addOwn(all, 0, (*encoder).raw, (*decoder).raw)
	return all
}

// addOwn adds T to the types of this package, with functions to write and read a T.
func addOwn[T any](all *ownTable, typ gdwire.Type, encode func(*encoder, *T) error, decode func(*decoder, *T) error) {
	t := reflect.TypeFor[T]()
	all.types[t] = &ownType{typ: typ}
	ownCoders[t] = coder{
		func(s *encoder, x variable) error { return encode(s, pointer[T](x)) },
		func(s *decoder, x variable) error { return decode(s, pointer[T](x)) },
	}
}

// A coder contains the functions to encode and decode a type.
type coder struct {
	encode encodeFunc
	decode decodeFunc
}

// ownCoders contains the coders of the types of this package after the first call of ownTypes.
var ownCoders = map[reflect.Type]coder{}

// ownCoder returns the coder of t, without functions if t is no type of this package.
func ownCoder(t reflect.Type) coder {
	ownTypes()
	return ownCoders[t]
}

// makeDecoder returns the function to decode the Go type of key: by methods of the type, as a type
// of this package, or by its kind, in this order. If the Go type can hold values of other types than
// the type= in key, they are decoded, too, but can take longer.
func (b decodePlanner) makeDecoder(key planKey) (decodeFunc, error) {
	t := key.typ
	switch {
	case key.isKey:
		return b.makeKeyDecoder(t)
	case t.Kind() == reflect.Pointer:
		return b.makePointerDecoder(t, key.wire)
	case t.Kind() != reflect.Interface:
		p := reflect.PointerTo(t)
		switch own := ownCoder(t).decode; {
		case p.Implements(unmarshalerType):
			return reflected(t, decodeUnmarshaler), checkMethod(t, unmarshalerType)
		case own != nil && key.max == 0:
			return own, nil
		case p.Implements(textUnmarshalerType):
			return b.makeTextUnmarshalerDecoder(t), checkMethod(t, textUnmarshalerType)
		}
	}
	return b.makeDefaultDecoder(key)
}

// makeDefaultDecoder returns the function to decode the Go type of key by its kind, regardless of methods.
func (b decodePlanner) makeDefaultDecoder(key planKey) (decodeFunc, error) {
	switch t := key.typ; t.Kind() {
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
		switch {
		case key.max > 0:
			return makeLimitedTextDecoder(t, key.max), nil
		case key.wire == gdwire.TypeNodePath:
			return makeNodePathDecoder(t), nil
		}
		return makeStringDecoder(t), nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return decodeAny, nil
		}
		return reflected(t, decodeInterface), nil
	case reflect.Slice:
		return b.makeSliceDecoder(t, key.max)
	case reflect.Array:
		return b.makeArrayDecoder(t, key.wire)
	case reflect.Map:
		m, err := b.newMapDecoder(t, key.max)
		return m.decode, err
	case reflect.Struct:
		return b.makeStructDecoder(t)
	}
	return nil, fmt.Errorf("%v has no Variant type", key.typ)
}

// makeTextUnmarshalerDecoder returns the function to decode a t, a TextUnmarshaler.
// UnmarshalText decodes text; other values are decoded by the kind of t.
func (b decodePlanner) makeTextUnmarshalerDecoder(t reflect.Type) decodeFunc {
	kind, kindErr := b.try(func() (decodeFunc, error) { return b.makeDefaultDecoder(planKey{typ: t}) })
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

// makeKeyDecoder returns the function to decode keys of type t, without Unmarshaler.
func (b decodePlanner) makeKeyDecoder(t reflect.Type) (decodeFunc, error) {
	if err := checkKey(t, textUnmarshalerType); err != nil {
		return nil, err
	}
	switch own := ownCoder(t).decode; {
	case own != nil:
		return own, nil
	case t.Kind() == reflect.Interface:
		return reflected(t, decodeAnyKey), nil
	case reflect.PointerTo(t).Implements(textUnmarshalerType):
		return reflected(t, (*decoder).textKey), checkMethod(t, textUnmarshalerType)
	}
	return b.makeDefaultDecoder(planKey{typ: t})
}

// textKey reads a key into v, a TextUnmarshaler.
func (s *decoder) textKey(v reflect.Value) error {
	switch t, err := s.d.PeekType(); {
	case err != nil:
		return err
	case t == gdwire.TypeNil: // UnmarshalText cannot tell null from an empty text
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

// makeEncoder returns the function to encode the Go type of key: by methods of the type, as a type
// of this package, by the type= in key, or by its kind, in this order.
func (b encodePlanner) makeEncoder(key planKey) (encodeFunc, error) {
	t, wire := key.typ, key.wire
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		p := reflect.PointerTo(t)
		own := ownTypeOf(t)
		switch {
		case p.Implements(marshalerType) && wire != 0:
			return nil, tagError(t, wire) // the method chooses the type
		case p.Implements(marshalerType) && !key.isKey:
			return reflected(t, encodeMarshaler), checkMethod(t, marshalerType)
		case own != nil && (wire == 0 || wire == own.typ):
			return ownCoder(t).encode, nil
		case own != nil && own.math == nil && t.Kind() != reflect.String:
			return nil, tagError(t, wire)
		case own == nil && p.Implements(textMarshalerType) && isText(wire):
			return newTextMethod(t).encoder(wire), checkMethod(t, textMarshalerType)
		}
	}
	isList := t.Kind() == reflect.Slice || t.Kind() == reflect.Array
	if wire != 0 && t.Kind() != reflect.Pointer && !(isList && wire == gdwire.TypeArray) {
		return b.makeTaggedEncoder(t, wire)
	}
	switch t.Kind() {
	case reflect.Bool:
		return encodeBool, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return makeIntegerEncoder(t), nil
	case reflect.Float32:
		return encodeFloat[float32], nil
	case reflect.Float64:
		return encodeFloat[float64], nil
	case reflect.String:
		return encodeString, nil
	case reflect.Interface:
		return makeInterfaceEncoder(t, key.isKey), nil
	case reflect.Pointer:
		return b.makePointerEncoder(key)
	case reflect.Slice:
		return b.makeSliceEncoder(key)
	case reflect.Array:
		return b.makeArrayEncoder(key)
	case reflect.Map:
		return b.makeMapEncoder(t, &tag{})
	case reflect.Struct:
		return b.makeStructEncoder(key)
	}
	return nil, fmt.Errorf("%v has no Variant type", t)
}

// makeTaggedEncoder returns the function to encode a t as the type wire, the type= of a tag.
func (b encodePlanner) makeTaggedEncoder(t reflect.Type, wire gdwire.Type) (encodeFunc, error) {
	k := t.Kind()
	switch wire {
	case gdwire.TypeBool:
		if k == reflect.Bool {
			return encodeBool, nil
		}
	case gdwire.TypeInt, gdwire.TypeFloat:
		return makeNumberEncoder(t, wire)
	case gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath:
		if k == reflect.String {
			return makeStringEncoder(wire), nil
		}
	case gdwire.TypeDictionary:
		if k == reflect.Map {
			return b.makeMapEncoder(t, &tag{})
		}
		if k == reflect.Struct {
			return b.makeStructEncoder(planKey{typ: t, wire: wire})
		}
	default:
		if k == reflect.Slice || k == reflect.Array {
			if p, ok := packedTypes[wire]; ok {
				return b.makePackedEncoder(t, p)
			}
		}
		if m, ok := componentsOf(t); ok {
			for _, fits := range mathTypesOf(m) {
				if fits == wire {
					return makeMathEncoder(m, wire), nil
				}
			}
		}
	}
	return nil, tagError(t, wire)
}

// noValueError returns the error for data in memory without a value: not the end of a stream.
func noValueError() error { return &gdwire.Error{Path: "$", Err: io.ErrUnexpectedEOF} }

// atEnd returns an error if bytes of data follow the value read by s.
func (s *decoder) atEnd(data []byte) error {
	end := s.d.InputOffset()
	if end == int64(len(data)) {
		return nil
	}
	return bytesAfter(fmt.Sprintf("%d bytes after the value", int64(len(data))-end), end, s.d.Options().Strict)
}

// atEOF returns an error if bytes follow the value read by d from a Reader.
func atEOF(d *gdwire.Decoder) error {
	end := d.InputOffset()
	_, err := d.PeekType()
	if err == io.EOF {
		return nil
	}
	if _, invalid := err.(*gdwire.Error); err != nil && !invalid {
		return err // of the Reader
	}
	return bytesAfter("bytes after the value", end, d.Options().Strict)
}

// bytesAfter returns an Error with a text for bytes after a value ending at offset end: with
// Strict an ErrStrict, as if the Decoder had read on.
func bytesAfter(text string, end int64, strict bool) error {
	err := errors.New(text)
	if strict {
		err = export.Wrapf(gdwire.ErrStrict, "%s", text)
	}
	return &gdwire.Error{Offset: end, Path: "$", Err: err}
}

// maxReadOn is the number of bytes read from a Reader for a hint.
const maxReadOn = 1 << 20

// readOn reads r, and thereby fills g, and reports whether it reached the end of r. It stops
// earlier as soon as r returns nothing, or the bytes read cannot be the start of up to maxReadOn
// bytes of packets.
func readOn(r io.Reader, g *wire.Guess) bool {
	b := make([]byte, 4<<10)
	for g.Missing() <= maxReadOn-g.Size() {
		if n, err := r.Read(b); err != nil || n == 0 {
			return err == io.EOF
		}
	}
	return false
}

// withHint returns err, the Error of an input seen by g in part or whole. It adds a hint if the
// input seems to be no value but a file of another kind, in place of the hint of the Decoder,
// which knows only the first four bytes. A valid value that does not fit a Go variable inside the
// caller's variable gets no hint: a few short values begin with a possible length.
func withHint(err *gdwire.Error, g *wire.Guess, all bool) error {
	hint := g.Hint(all)
	if hint == "" || err.Path != "$" && isTypeError(err) {
		return err
	}
	text := strings.TrimSuffix(err.Err.Error(), wire.Hint(g.First()))
	return &gdwire.Error{Offset: err.Offset, Path: err.Path, Err: export.Wrapf(err.Err, "%s", text+hint)}
}

// explain returns err, an error of the value at the start of data, with a hint if there is one.
func explain(err error, data []byte) error {
	if err == io.EOF {
		return noValueError()
	}
	if at, ok := err.(*gdwire.Error); ok {
		return withHint(at, wire.GuessOf(data), true)
	}
	return err
}
