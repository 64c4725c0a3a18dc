package variant

import (
	"github.com/gdwire/gdwire"
)

// The math types, with the fields of GDScript in the same order. Components are float64, for
// engines of both precisions, but float32 in a Color, as in all engines.
type (
	// Vector2 holds two floats.
	Vector2 struct{ X, Y float64 }
	// Vector2i holds two integers, in the format Godot4 only.
	Vector2i struct{ X, Y int32 }
	// Vector3 holds three floats.
	Vector3 struct{ X, Y, Z float64 }
	// Vector3i holds three integers, in the format Godot4 only.
	Vector3i struct{ X, Y, Z int32 }
	// Vector4 holds four floats, in the format Godot4 only.
	Vector4 struct{ X, Y, Z, W float64 }
	// Vector4i holds four integers, in the format Godot4 only.
	Vector4i struct{ X, Y, Z, W int32 }
	// Rect2 holds a rectangle's position and size.
	Rect2 struct{ Position, Size Vector2 }
	// Rect2i holds a rectangle's position and size in integers, in the format Godot4 only.
	Rect2i struct{ Position, Size Vector2i }
	// Plane holds a plane's normal and its distance from the origin.
	Plane struct {
		Normal Vector3
		D      float64
	}
	// Quaternion holds a rotation: a Quat in Godot 3.
	Quaternion struct{ X, Y, Z, W float64 }
	// AABB holds a box's position and size: a Rect3 in Godot 2.
	AABB struct{ Position, Size Vector3 }
	// Transform2D holds the two axes and the origin: a Matrix32 in Godot 2.
	Transform2D struct{ X, Y, Origin Vector2 }
	// Basis is a Basis. X, Y and Z are the axes, the columns of the matrix; the format encodes the rows.
	Basis struct{ X, Y, Z Vector3 }
	// Transform3D holds a basis and the origin: a Transform in Godot 3.
	Transform3D struct {
		Basis  Basis
		Origin Vector3
	}
	// Projection holds the four columns of a 4 × 4 matrix, in the format Godot4 only.
	Projection struct{ X, Y, Z, W Vector4 }
	// Color holds red, green, blue and alpha, mostly from 0 to 1.
	Color struct{ R, G, B, A float32 }
)

type (
	// StringName is a StringName, encoded as a String in formats other than Godot4.
	StringName string
	// NodePath is a NodePath as text, such as "/root/Player:position:x".
	NodePath string
	// RID is the id of an RID. Formats other than Godot4 do not encode the id.
	RID uint64
	// ObjectID is the instance id of an object. 0 is null, encoded by engines as nil.
	ObjectID uint64
	// Signal is the name and the object of a Signal.
	Signal struct {
		Name   string
		Object ObjectID
	}
	// Callable is a Callable, encoded without content.
	Callable struct{}
)

// Object is a serialized object: the name of the class and the properties in encoded order.
// Decoding requires [gdwire.DecoderOptions].AllowObjects.
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
	// Values contains the elements. Unmarshal stores them as in an any; Marshal accepts every Go
	// type with an encoding.
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

// decoder returns a Decoder of r without limits, as an Encoder with options o would write the value.
func (r *Raw) decoder(o gdwire.EncoderOptions) *gdwire.Decoder {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{
		Format: r.Format, AllowObjects: true, AllowInvalidUTF8: o.AllowInvalidUTF8, DoubleReals: o.DoubleReals,
		Limits: gdwire.NoLimits,
	})
	d.ResetBytes(r.data())
	return d
}

// data returns Data or, for the zero Raw, the encoding of nil in every format.
func (r *Raw) data() []byte {
	if len(r.Data) == 0 && r.Format == 0 {
		return make([]byte, 4)
	}
	return r.Data
}

// Dictionary is a Dictionary, with pairs in the order in which keys were first set. The zero
// Dictionary is empty and ready to use. A Dictionary must not be copied after first use.
//
// Keys are equal as in Godot 4. A string, a StringName and a value of another string
// kind are the same key if they have the same text. NaN equals NaN, and 0.0 equals -0.0.
// The int 1, the float 1.0 and true are three keys, and so are a NodePath and the string
// with its text. Numbers can be of any Go kind.
//
// Keys that are Arrays, Dictionaries, packed arrays, RIDs, Callables and Objects are compared
// by content, in time proportional to the number of keys. Unmarshal never merges such keys,
// because a Dictionary of Godot 3 can have several with the same content. Keys of one other Go
// type are equal if they are encoded as the same bytes. Keys nested more than 10,000 levels
// deep, such as those containing themselves, equal only themselves.
type Dictionary struct {
	// Key and Value are the declared types of keys and values. They are the zero
	// Elem in an untyped Dictionary.
	Key, Value gdwire.Elem

	entries []Entry[any, any] // the key of a deleted entry is a tombstone
	index   map[any]int       // index in entries of hashable keys, or nil if there are few
	deleted int
	// first is the index of the first entry not deleted: a loop removing the oldest pair again
	// and again would otherwise pass all deleted entries each time.
	first int
	// seqs contains the sequence number of each entry: the number of pairs added before. It is
	// nil until compact removes entries: until then, the sequence number is the entry's index.
	seqs    []int
	removed int // the number of entries removed by compact
}

// Entry is a key and its value.
type Entry[K, V any] struct {
	Key   K
	Value V
}

// normal returns v in the form expected by code walking trees: an Array, Dictionary or Object
// by value becomes a pointer, and a nil pointer to one becomes nil. Other values remain.
func normal(v any) any {
	switch v {
	case (*Array)(nil), (*Dictionary)(nil), (*Object)(nil):
		return nil
	}
	switch v := v.(type) {
	case Array:
		return &v
	case Dictionary:
		return &v
	case Object:
		return &v
	}
	return v
}

// isContainer reports whether v, in normal form, contains other values.
func isContainer(v any) bool {
	switch v.(type) {
	case *Array, *Dictionary, *Object:
		return true
	}
	return false
}
