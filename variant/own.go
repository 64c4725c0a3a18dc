package variant

import (
	"reflect"

	"github.com/gdwire/gdwire"
)

// An ownType describes a Go type of this package that corresponds to a Variant type. Unlike
// the types of programs, it is encoded and decoded without regard to its kind.
type ownType struct {
	typ    gdwire.Type
	math   *components // nil unless it is a math type
	encode encodeFunc
	decode decodeFunc
}

// ownTypes contains the types of this package.
var ownTypes map[reflect.Type]*ownType

// mathByType contains the math types of this package.
var mathByType = map[gdwire.Type]reflect.Type{}

func init() { // the functions refer to the table
	ownTypes = map[reflect.Type]*ownType{
		reflect.TypeFor[Vector2]():     newOwnMathType[Vector2](gdwire.TypeVector2),
		reflect.TypeFor[Vector2i]():    newOwnMathType[Vector2i](gdwire.TypeVector2i),
		reflect.TypeFor[Vector3]():     newOwnMathType[Vector3](gdwire.TypeVector3),
		reflect.TypeFor[Vector3i]():    newOwnMathType[Vector3i](gdwire.TypeVector3i),
		reflect.TypeFor[Vector4]():     newOwnMathType[Vector4](gdwire.TypeVector4),
		reflect.TypeFor[Vector4i]():    newOwnMathType[Vector4i](gdwire.TypeVector4i),
		reflect.TypeFor[Rect2]():       newOwnMathType[Rect2](gdwire.TypeRect2),
		reflect.TypeFor[Rect2i]():      newOwnMathType[Rect2i](gdwire.TypeRect2i),
		reflect.TypeFor[Plane]():       newOwnMathType[Plane](gdwire.TypePlane),
		reflect.TypeFor[Quaternion]():  newOwnMathType[Quaternion](gdwire.TypeQuaternion),
		reflect.TypeFor[AABB]():        newOwnMathType[AABB](gdwire.TypeAABB),
		reflect.TypeFor[Transform2D](): newOwnMathType[Transform2D](gdwire.TypeTransform2D),
		reflect.TypeFor[Basis]():       newOwnMathType[Basis](gdwire.TypeBasis),
		reflect.TypeFor[Transform3D](): newOwnMathType[Transform3D](gdwire.TypeTransform3D),
		reflect.TypeFor[Projection]():  newOwnMathType[Projection](gdwire.TypeProjection),
		reflect.TypeFor[Color]():       newOwnMathType[Color](gdwire.TypeColor),

		reflect.TypeFor[StringName](): newOwnType(gdwire.TypeStringName, (*encoder).stringName, (*decoder).stringName),
		reflect.TypeFor[NodePath]():   newOwnType(gdwire.TypeNodePath, (*encoder).nodePath, (*decoder).nodePath),
		reflect.TypeFor[RID]():        newOwnType(gdwire.TypeRID, (*encoder).rid, (*decoder).rid),
		reflect.TypeFor[ObjectID]():   newOwnType(gdwire.TypeObject, (*encoder).objectID, (*decoder).objectID),
		reflect.TypeFor[Signal]():     newOwnType(gdwire.TypeSignal, (*encoder).signal, (*decoder).signal),
		reflect.TypeFor[Callable]():   newOwnType(gdwire.TypeCallable, (*encoder).callable, (*decoder).callable),
		reflect.TypeFor[Object]():     newOwnType(gdwire.TypeObject, (*encoder).object, (*decoder).object),
		reflect.TypeFor[Image]():      newOwnType(gdwire.TypeImage, (*encoder).image, (*decoder).image),
		reflect.TypeFor[InputEvent](): newOwnType(gdwire.TypeInputEvent, (*encoder).inputEvent, (*decoder).inputEvent),
		reflect.TypeFor[Array]():      newOwnType(gdwire.TypeArray, (*encoder).array, (*decoder).array),
		reflect.TypeFor[Dictionary](): newOwnType(gdwire.TypeDictionary, (*encoder).dictionary, (*decoder).dictionary),
		reflect.TypeFor[Raw]():        newOwnType(0, (*encoder).raw, (*decoder).raw),
	}
	for t, own := range ownTypes {
		if own.math != nil {
			mathByType[own.typ] = t
		}
	}
	for _, t := range gdwire.Types() {
		if n, _ := t.Components(); n > 0 && mathByType[t] == nil {
			panic("variant: declare a type for " + t.String() + " in types.go and add it to ownTypes")
		}
	}
}

// newOwnType returns the ownType of T, from functions that write and read a T.
func newOwnType[T any](t gdwire.Type, encode func(*encoder, *T) error, decode func(*decoder, *T) error) *ownType {
	return &ownType{
		typ:    t,
		encode: func(s *encoder, x variable) error { return encode(s, pointer[T](x)) },
		decode: func(s *decoder, x variable) error { return decode(s, pointer[T](x)) },
	}
}

// newOwnMathType returns the ownType of T, a math type.
func newOwnMathType[T any](t gdwire.Type) *ownType {
	m, _ := componentsOf(reflect.TypeFor[T]())
	return &ownType{typ: t, math: &m, encode: makeMathEncoder(m, t), decode: makeMathDecoder(m, t)}
}

// addressable returns v, or an addressable copy of it.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}

// pointerCounts reports whether a t, a pointer, counts as a level of nesting: one to an Array, Dictionary
// or Object does not, since these count themselves, by value and by pointer.
func pointerCounts(t reflect.Type) bool { return ownTypes[t.Elem()] == nil }
