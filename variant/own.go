package variant

import (
	"reflect"

	"github.com/gdwire/gdwire"
)

// An ownType describes a Go type of this package that corresponds to a Variant type.
type ownType struct {
	typ    gdwire.Type
	math   *components // nil unless it is a math type
	encode encodeFunc
	decode decodeFunc
}

// ownTypes has the types of this package.
var ownTypes map[reflect.Type]*ownType

// mathByType has the math types of this package.
var mathByType = map[gdwire.Type]reflect.Type{}

func init() { // the functions refer to the table
	ownTypes = map[reflect.Type]*ownType{
		reflect.TypeFor[Vector2]():     ownMath[Vector2](gdwire.TypeVector2),
		reflect.TypeFor[Vector2i]():    ownMath[Vector2i](gdwire.TypeVector2i),
		reflect.TypeFor[Vector3]():     ownMath[Vector3](gdwire.TypeVector3),
		reflect.TypeFor[Vector3i]():    ownMath[Vector3i](gdwire.TypeVector3i),
		reflect.TypeFor[Vector4]():     ownMath[Vector4](gdwire.TypeVector4),
		reflect.TypeFor[Vector4i]():    ownMath[Vector4i](gdwire.TypeVector4i),
		reflect.TypeFor[Rect2]():       ownMath[Rect2](gdwire.TypeRect2),
		reflect.TypeFor[Rect2i]():      ownMath[Rect2i](gdwire.TypeRect2i),
		reflect.TypeFor[Plane]():       ownMath[Plane](gdwire.TypePlane),
		reflect.TypeFor[Quaternion]():  ownMath[Quaternion](gdwire.TypeQuaternion),
		reflect.TypeFor[AABB]():        ownMath[AABB](gdwire.TypeAABB),
		reflect.TypeFor[Transform2D](): ownMath[Transform2D](gdwire.TypeTransform2D),
		reflect.TypeFor[Basis]():       ownMath[Basis](gdwire.TypeBasis),
		reflect.TypeFor[Transform3D](): ownMath[Transform3D](gdwire.TypeTransform3D),
		reflect.TypeFor[Projection]():  ownMath[Projection](gdwire.TypeProjection),
		reflect.TypeFor[Color]():       ownMath[Color](gdwire.TypeColor),

		reflect.TypeFor[StringName](): own(gdwire.TypeStringName, (*encoder).stringName, (*decoder).stringName),
		reflect.TypeFor[NodePath]():   own(gdwire.TypeNodePath, (*encoder).nodePath, (*decoder).nodePath),
		reflect.TypeFor[RID]():        own(gdwire.TypeRID, (*encoder).rid, (*decoder).rid),
		reflect.TypeFor[ObjectID]():   own(gdwire.TypeObject, (*encoder).objectID, (*decoder).objectID),
		reflect.TypeFor[Signal]():     own(gdwire.TypeSignal, (*encoder).signal, (*decoder).signal),
		reflect.TypeFor[Callable]():   own(gdwire.TypeCallable, (*encoder).callable, (*decoder).callable),
		reflect.TypeFor[Object]():     own(gdwire.TypeObject, (*encoder).object, (*decoder).object),
		reflect.TypeFor[Image]():      own(gdwire.TypeImage, (*encoder).image, (*decoder).image),
		reflect.TypeFor[InputEvent](): own(gdwire.TypeInputEvent, (*encoder).inputEvent, (*decoder).inputEvent),
		reflect.TypeFor[Array]():      own(gdwire.TypeArray, (*encoder).array, (*decoder).array),
		reflect.TypeFor[Dictionary](): own(gdwire.TypeDictionary, (*encoder).dictionary, (*decoder).dictionary),
		reflect.TypeFor[Raw]():        own(0, (*encoder).raw, (*decoder).raw),
	}
	for t, own := range ownTypes {
		if own.math != nil {
			mathByType[own.typ] = t
		}
	}
}

// own returns the description of T, from functions that take a pointer to a T.
func own[T any](t gdwire.Type, encode func(*encoder, *T) error, decode func(*decoder, *T) error) *ownType {
	return &ownType{
		typ:    t,
		encode: func(s *encoder, x variable) error { return encode(s, at[T](x)) },
		decode: func(s *decoder, x variable) error { return decode(s, at[T](x)) },
	}
}

func ownMath[T any](t gdwire.Type) *ownType {
	m, _ := componentsOf(reflect.TypeFor[T]())
	return &ownType{typ: t, math: &m, encode: encodeMath(m, t), decode: decodeMath(m, t)}
}

// addressable returns v, or a copy of it that has an address.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}
