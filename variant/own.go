package variant

import (
	"reflect"

	"github.com/gdwire/gdwire"
)

func init() { // the functions refer to the tables
	addOwnMath[Vector2](gdwire.TypeVector2)
	addOwnMath[Vector2i](gdwire.TypeVector2i)
	addOwnMath[Vector3](gdwire.TypeVector3)
	addOwnMath[Vector3i](gdwire.TypeVector3i)
	addOwnMath[Vector4](gdwire.TypeVector4)
	addOwnMath[Vector4i](gdwire.TypeVector4i)
	addOwnMath[Rect2](gdwire.TypeRect2)
	addOwnMath[Rect2i](gdwire.TypeRect2i)
	addOwnMath[Plane](gdwire.TypePlane)
	addOwnMath[Quaternion](gdwire.TypeQuaternion)
	addOwnMath[AABB](gdwire.TypeAABB)
	addOwnMath[Transform2D](gdwire.TypeTransform2D)
	addOwnMath[Basis](gdwire.TypeBasis)
	addOwnMath[Transform3D](gdwire.TypeTransform3D)
	addOwnMath[Projection](gdwire.TypeProjection)
	addOwnMath[Color](gdwire.TypeColor)

	addOwn(gdwire.TypeStringName, (*encoder).stringName, (*decoder).stringName)
	addOwn(gdwire.TypeNodePath, (*encoder).nodePath, (*decoder).nodePath)
	addOwn(gdwire.TypeRID, (*encoder).rid, (*decoder).rid)
	addOwn(gdwire.TypeObject, (*encoder).objectID, (*decoder).objectID)
	addOwn(gdwire.TypeSignal, (*encoder).signal, (*decoder).signal)
	addOwn(gdwire.TypeCallable, (*encoder).callable, (*decoder).callable)
	addOwn(gdwire.TypeObject, (*encoder).object, (*decoder).object)
	addOwn(gdwire.TypeImage, (*encoder).image, (*decoder).image)
	addOwn(gdwire.TypeInputEvent, (*encoder).inputEvent, (*decoder).inputEvent)
	addOwn(gdwire.TypeArray, (*encoder).array, (*decoder).array)
	addOwn(gdwire.TypeDictionary, (*encoder).dictionary, (*decoder).dictionary)
	addOwn(0, (*encoder).raw, (*decoder).raw)
}

// addOwn adds T to the types of this package, with functions that write and read a T.
func addOwn[T any](typ gdwire.Type, encode func(*encoder, *T) error, decode func(*decoder, *T) error) {
	t := reflect.TypeFor[T]()
	ownTypes[t] = &ownType{typ: typ}
	ownEncoders[t] = func(s *encoder, x variable) error { return encode(s, pointer[T](x)) }
	ownDecoders[t] = func(s *decoder, x variable) error { return decode(s, pointer[T](x)) }
}

// addOwnMath adds T, a math type, to the types of this package.
func addOwnMath[T any](typ gdwire.Type) {
	t := reflect.TypeFor[T]()
	m, _ := componentsOf(t)
	ownTypes[t], mathByType[typ] = &ownType{typ, &m}, t
	ownEncoders[t], ownDecoders[t] = makeMathEncoder(m, typ), makeMathDecoder(m, typ)
}
