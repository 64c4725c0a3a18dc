package variant

import (
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
)

func init() {
	encodePlans.build = func(r *planner[encodeFunc], key planKey) (encodeFunc, error) {
		return encodePlanner{r}.makeEncoder(key)
	}
}

// makeEncoder returns the function that encodes the Go type of key. It depends on the methods
// of the type, on whether it is a type of this package, on the type= in key, or on its kind, in
// this order.
func (b encodePlanner) makeEncoder(key planKey) (encodeFunc, error) {
	t, wire := key.typ, key.wire
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		p := reflect.PointerTo(t)
		own := ownTypes[t]
		switch {
		case p.Implements(marshalerType) && wire != 0:
			return nil, tagError(t, wire) // the method chooses the type
		case p.Implements(marshalerType) && !key.isKey:
			return reflected(t, encodeMarshaler), checkMethod(t, marshalerType)
		case own != nil && (wire == 0 || wire == own.typ):
			return ownEncoders[t], nil
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
		return b.makeMapEncoder(t)
	case reflect.Struct:
		return b.makeStructEncoder(key)
	}
	return nil, fmt.Errorf("%v has no Variant type", t)
}

// makeTaggedEncoder returns the function that encodes a t as the type wire, the type= of a tag.
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
			return b.makeMapEncoder(t)
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
