package variant

import "github.com/gdwire/gdwire"

// The math types, with fields and order as in GDScript. Components are float64
// whatever precision the engine was built with; those of a Color are float32, as
// in every engine.
type (
	// Vector2 is a Vector2.
	Vector2 struct{ X, Y float64 }
	// Vector2i is a Vector2i.
	Vector2i struct{ X, Y int32 }
	// Vector3 is a Vector3.
	Vector3 struct{ X, Y, Z float64 }
	// Vector3i is a Vector3i.
	Vector3i struct{ X, Y, Z int32 }
	// Vector4 is a Vector4.
	Vector4 struct{ X, Y, Z, W float64 }
	// Vector4i is a Vector4i.
	Vector4i struct{ X, Y, Z, W int32 }
	// Rect2 is a Rect2.
	Rect2 struct{ Position, Size Vector2 }
	// Rect2i is a Rect2i.
	Rect2i struct{ Position, Size Vector2i }
	// Plane is a Plane.
	Plane struct {
		Normal Vector3
		D      float64
	}
	// Quaternion is a Quaternion, Quat in Godot 3.
	Quaternion struct{ X, Y, Z, W float64 }
	// AABB is an AABB.
	AABB struct{ Position, Size Vector3 }
	// Transform2D is a Transform2D: its axes and its origin.
	Transform2D struct{ X, Y, Origin Vector2 }
	// Basis is a Basis. X, Y and Z are its axes, which are the columns of the
	// matrix; the wire has its rows.
	Basis struct{ X, Y, Z Vector3 }
	// Transform3D is a Transform3D, Transform in Godot 3.
	Transform3D struct {
		Basis  Basis
		Origin Vector3
	}
	// Projection is a Projection: its four columns.
	Projection struct{ X, Y, Z, W Vector4 }
	// Color is a Color.
	Color struct{ R, G, B, A float32 }
)

type (
	// StringName is a StringName, which formats before Godot 4 do not have: there
	// it is written as a String.
	StringName string
	// NodePath is a NodePath as engines write it, "/root/Player:position:x".
	NodePath string
	// RID is an RID. Only Godot 4 writes its id.
	RID uint64
	// ObjectID is an object as its instance id. 0 is null, which engines write as
	// nil.
	ObjectID uint64
	// Signal is a Signal: its name and the object that has it.
	Signal struct {
		Name   string
		Object ObjectID
	}
	// Callable is a Callable, which is always empty on the wire.
	Callable struct{}
)

// Object is a serialized object: the name of its class and its properties in the
// order of the wire. Reading one takes [gdwire.DecoderOptions].AllowObjects.
type Object struct {
	Class      string
	Properties []Property
}

// Property is a property of an [Object].
type Property struct {
	Name  string
	Value any
}

// Image is an Image, which only Godot 2 has on the wire. Data is laid out as the
// engine's Format says.
type Image struct {
	Format, Mipmaps, Width, Height uint32
	Data                           []byte
}

// InputEvent is an InputEvent, which only Godot 2 has on the wire. Data is what
// follows type and device, such as a key's modifiers and scancode.
type InputEvent struct {
	Type, Device uint32
	Data         []byte
}

// Array is an Array. Elem is what its elements are declared to be, zero in an
// Array that is not typed.
type Array struct {
	Elem   gdwire.Elem
	Values []any
}

// Raw is a value of any type, encoded: bytes to keep, compare, forward or decode
// later. Data is encoded in Format, nil meaning Godot4, as [gdwire.CopyValue]
// encodes it: in the form engines write, except for what the format leaves open.
// Written in another format it is converted. The zero Raw is nil.
//
// In a manual's format the components of Data are as wide as DoubleReals says on
// both sides.
type Raw struct {
	Format *gdwire.Format
	Data   []byte
}
