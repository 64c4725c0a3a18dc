package variant

import "github.com/gdwire/gdwire"

// The math types have the fields of GDScript in its order. Components are float64
// whatever precision the engine was built with; those of a Color are float32, as in
// every engine. Marshal writes float64 components in 32 bits, rounded, unless
// [gdwire.EncoderOptions].DoubleReals is set.
type (
	// Vector2 holds two floats.
	Vector2 struct{ X, Y float64 }
	// Vector2i holds two integers. Formats before Godot 4 do not have it.
	Vector2i struct{ X, Y int32 }
	// Vector3 holds three floats.
	Vector3 struct{ X, Y, Z float64 }
	// Vector3i holds three integers. Formats before Godot 4 do not have it.
	Vector3i struct{ X, Y, Z int32 }
	// Vector4 holds four floats. Formats before Godot 4 do not have it.
	Vector4 struct{ X, Y, Z, W float64 }
	// Vector4i holds four integers. Formats before Godot 4 do not have it.
	Vector4i struct{ X, Y, Z, W int32 }
	// Rect2 holds a rectangle's position and size.
	Rect2 struct{ Position, Size Vector2 }
	// Rect2i holds a rectangle's position and size in integers. Formats before
	// Godot 4 do not have it.
	Rect2i struct{ Position, Size Vector2i }
	// Plane holds a plane's normal and its distance from the origin.
	Plane struct {
		Normal Vector3
		D      float64
	}
	// Quaternion holds a rotation. Godot 3 calls it Quat.
	Quaternion struct{ X, Y, Z, W float64 }
	// AABB holds a box's position and size. Godot 2 calls it Rect3.
	AABB struct{ Position, Size Vector3 }
	// Transform2D holds the two axes and the origin. Godot 2 calls it Matrix32.
	Transform2D struct{ X, Y, Origin Vector2 }
	// Basis holds the three axes, which are the columns of the matrix. The wire
	// has its rows. Godot 2 calls it Matrix3.
	Basis struct{ X, Y, Z Vector3 }
	// Transform3D holds a basis and the origin. Godot 3 calls it Transform.
	Transform3D struct {
		Basis  Basis
		Origin Vector3
	}
	// Projection holds the four columns of a 4 × 4 matrix. Formats before Godot 4
	// do not have it.
	Projection struct{ X, Y, Z, W Vector4 }
	// Color holds red, green, blue and alpha, mostly from 0 to 1.
	Color struct{ R, G, B, A float32 }
)

type (
	// StringName is an interned string of the engine. Formats before Godot 4 do
	// not have it: there it is written as a String.
	StringName string
	// NodePath is the text of a path as engines write it, "/root/Player:position:x".
	NodePath string
	// RID is the id of a resource, which only Godot 4 has on the wire: the others
	// read 0, and write none.
	RID uint64
	// ObjectID is an object as its instance id. 0 is null, which engines write as
	// nil.
	ObjectID uint64
	// Signal is a signal's name and the object that has it.
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

// Array is an Array, typed or not: a sender that declares types does not change
// which Go type a program meets.
type Array struct {
	// Elem is what the elements are declared to be, zero if nothing is declared.
	Elem gdwire.Elem
	// Values are the elements, as Unmarshal puts them into an any, or of any Go
	// type that can be written.
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
