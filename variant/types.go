package variant

import (
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/reals"
)

// The math types, with the fields of GDScript in its order. Components are float64, for
// engines of both precisions. Those of a Color are float32, as in all engines.
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
	// Basis is a Basis. X, Y and Z are its axes, which are the columns of the
	// matrix; the format encodes its rows.
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
	// StringName is a StringName. In formats before Godot 4, which do not have the
	// type, it is encoded as a String.
	StringName string
	// NodePath is a NodePath as text, such as "/root/Player:position:x".
	NodePath string
	// RID is the id of an RID. Formats before Godot 4 do not encode it.
	RID uint64
	// ObjectID is the instance id of an object. 0 is null, which engines encode as
	// nil.
	ObjectID uint64
	// Signal is a Signal: its name and its object.
	Signal struct {
		Name   string
		Object ObjectID
	}
	// Callable is a Callable, which is encoded without content.
	Callable struct{}
)

// Object is a serialized object: the name of its class and its properties in encoded
// order. Decoding requires [gdwire.DecoderOptions].AllowObjects.
type Object struct {
	Class      string
	Properties []Property
}

// Property is a property of an [Object].
type Property struct {
	Name  string
	Value any
}

// Image is an Image, a type of the format of Godot 2 only. Format is the engine's format of the
// pixels in Data.
type Image struct {
	Format, Mipmaps, Width, Height uint32
	Data                           []byte
}

// InputEvent is an InputEvent, a type of the format of Godot 2 only. Data contains the other
// fields, such as the modifiers and scancode of a key.
type InputEvent struct {
	Type, Device uint32
	Data         []byte
}

// Array is an Array, typed or not.
type Array struct {
	// Elem is the declared type of the elements, or the zero Elem.
	Elem gdwire.Elem
	// Values contains the elements. Unmarshal stores them as in an any; Marshal accepts any Go type
	// that can be encoded.
	Values []any
}

// Raw is an encoded value of any type, to keep, compare, forward or decode later. Data
// is encoded in Format, or in Godot4 if Format is 0, in the way of
// [gdwire.CopyValue]. Encoding a Raw in another format converts it. The zero Raw is nil.
//
// In the format of a manual, components in Data have the width selected by DoubleReals
// of the Decoder or Encoder.
type Raw struct {
	Format gdwire.Format
	Data   []byte
}

// Unmarshal decodes r into the variable that v points to, as the function Unmarshal does.
// [Options].Decoder.Format has no effect: r has its own.
func (r Raw) Unmarshal(v any, opts ...Options) error {
	o := *optionsOf(opts)
	o.Decoder.Format = r.Format
	return Unmarshal(r.data(), v, o)
}

// DoubleReals reports whether r contains a math type, or an array of vectors, with components of 64
// bits, as engines of double precision write them. An any does not keep this width: encode its
// value with the same Encoder.DoubleReals, which otherwise rounds components to 32 bits.
//
//	var r variant.Raw
//	err := variant.Unmarshal(data, &r)
//	…
//	err = r.Unmarshal(&v)
//	…
//	o := gdwire.EncoderOptions{DoubleReals: r.DoubleReals()}
//	data, err = variant.Marshal(v, variant.Options{Encoder: o})
//
// DoubleReals reads r up to the first such value, or up to an error. It returns false in the
// formats of manuals, whose encoding does not tell.
func (r Raw) DoubleReals() bool {
	d := r.decoder(gdwire.EncoderOptions{AllowInvalidUTF8: true})
	defer d.Release()
	w, _ := reals.Read(d)
	return w == reals.Double
}

// decoder returns a Decoder without limits that reads r as an Encoder with options o would write it.
func (r *Raw) decoder(o gdwire.EncoderOptions) *gdwire.Decoder {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{
		Format: r.Format, AllowObjects: true, AllowInvalidUTF8: o.AllowInvalidUTF8, DoubleReals: o.DoubleReals,
		Limits: gdwire.NoLimits,
	})
	d.ResetBytes(r.data())
	return d
}

// data returns Data, or that of the zero Raw: nil, in every format.
func (r *Raw) data() []byte {
	if len(r.Data) == 0 && r.Format == 0 {
		return make([]byte, 4)
	}
	return r.Data
}
