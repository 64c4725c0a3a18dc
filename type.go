package gdwire

import (
	"cmp"
	"strconv"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// A Type is a Variant type. Types have their names in Godot 4, for all formats. The
// zero Type is no type.
type Type uint8

// The types of Godot 4 in its order, then those of Godot 2 alone. Numbers never change. New types of
// engines are appended after TypePackedVector4Array.
const (
	TypeNil Type = iota + 1
	TypeBool
	TypeInt
	TypeFloat
	TypeString
	TypeVector2
	TypeVector2i
	TypeRect2
	TypeRect2i
	TypeVector3
	TypeVector3i
	TypeTransform2D
	TypeVector4
	TypeVector4i
	TypePlane
	TypeQuaternion
	TypeAABB
	TypeBasis
	TypeTransform3D
	TypeProjection
	TypeColor
	TypeStringName
	TypeNodePath
	TypeRID
	TypeObject
	TypeCallable
	TypeSignal
	TypeDictionary
	TypeArray
	TypePackedByteArray
	TypePackedInt32Array
	TypePackedInt64Array
	TypePackedFloat32Array
	TypePackedFloat64Array
	TypePackedStringArray
	TypePackedVector2Array
	TypePackedVector3Array
	TypePackedColorArray
	TypePackedVector4Array

	TypeImage      Type = 62
	TypeInputEvent Type = 63
)

// noType is the number of no type, and not a multiple of 64.
const noType Type = 255

// String returns the type's name in Godot 4, such as "int" or "Vector2".
func (t Type) String() string {
	if name := layouts[t].name; name != "" {
		return name
	}
	return "Type(" + strconv.Itoa(int(t)) + ")"
}

// Types returns all types in their order: those of Godot 4, then those of Godot 2 alone.
func Types() []Type {
	var all []Type
	for t := range Type(KindInt32) {
		if layouts[t].name != "" {
			all = append(all, t)
		}
	}
	return all
}

// Components returns the number of components of a math type, and whether they are
// integers. For other types it returns 0 and false.
func (t Type) Components() (n int, integers bool) {
	l := &layouts[t]
	return int(l.components), l.isMath() && l.units[0] == wire.Int32
}

// Element returns the type of the elements of a packed array: TypeInt, TypeFloat,
// TypeString, TypeColor or a vector, and 0 for other types.
func (t Type) Element() Type { return layouts[t].elem }

// ElementWidth returns the number of bits of an element of a packed array, or of each of its
// components: 8 for a PackedByteArray. The result is 32 for vectors and colors, although
// they can be encoded in 64 bits, see [Token.Width], and 0 for strings and other types.
func (t Type) ElementWidth() int {
	if t.Element() == 0 {
		return 0
	}
	return 8 * layouts[t].units[0].Size()
}

// A Kind is the kind of a token. The zero Kind is no kind, and the result of
// [Decoder.PeekKind] for an error.
type Kind uint8

// The kinds of values of one token have the number of their type.
const (
	KindNil         = Kind(TypeNil)
	KindBool        = Kind(TypeBool)
	KindVector2     = Kind(TypeVector2)
	KindVector2i    = Kind(TypeVector2i)
	KindRect2       = Kind(TypeRect2)
	KindRect2i      = Kind(TypeRect2i)
	KindVector3     = Kind(TypeVector3)
	KindVector3i    = Kind(TypeVector3i)
	KindTransform2D = Kind(TypeTransform2D)
	KindVector4     = Kind(TypeVector4)
	KindVector4i    = Kind(TypeVector4i)
	KindPlane       = Kind(TypePlane)
	KindQuaternion  = Kind(TypeQuaternion)
	KindAABB        = Kind(TypeAABB)
	KindBasis       = Kind(TypeBasis)
	KindTransform3D = Kind(TypeTransform3D)
	KindProjection  = Kind(TypeProjection)
	KindColor       = Kind(TypeColor)
	KindRID         = Kind(TypeRID)
	KindCallable    = Kind(TypeCallable)
	KindSignal      = Kind(TypeSignal)
	KindInputEvent  = Kind(TypeInputEvent)
)

// The kinds of numbers, by their encoded width, and of the parts of values of
// several tokens.
const (
	KindInt32         Kind = iota + 64 // an int encoded in 32 bits
	KindInt64                          // an int encoded in 64 bits
	KindFloat32                        // a float encoded in 32 bits
	KindFloat64                        // a float encoded in 64 bits
	KindStringChunk                    // text of a String, StringName, NodePath name or packed string
	KindNodePathStart                  // followed by StringChunks for names and sub-names, End
	KindObjectID                       // the instance id of an object; 0 is null
	KindObjectStart                    // followed by Property, value, …, End
	KindProperty                       // the name of a property; followed by its value
	KindDictStart                      // followed by DictKey, key, value, …, End
	KindDictKey                        // followed by a key and its value
	KindArrayStart                     // followed by elements, End
	KindPackedStart                    // followed by Chunks, or StringChunks of packed strings, End
	KindImageStart                     // followed by Chunks, End
	KindChunk                          // whole elements of a packed array, or bytes of an image
	KindEnd                            // the end of the innermost Start
	numKinds
)

// kindNames contains the names of the kinds with numbers other than those of types, and of
// KindBool: its type is named bool.
var kindNames = [256]string{
	KindInt32: "Int32", KindInt64: "Int64", KindFloat32: "Float32", KindFloat64: "Float64",
	KindBool:        "Bool",
	KindStringChunk: "StringChunk", KindNodePathStart: "NodePathStart",
	KindObjectID: "ObjectID", KindObjectStart: "ObjectStart", KindProperty: "Property",
	KindDictStart: "DictStart", KindDictKey: "DictKey", KindArrayStart: "ArrayStart",
	KindPackedStart: "PackedStart", KindImageStart: "ImageStart", KindChunk: "Chunk", KindEnd: "End",
}

// String returns the kind's name, such as "Vector2" or "ArrayStart".
func (k Kind) String() string {
	if name := cmp.Or(kindNames[k], layouts[k].name); name != "" {
		return name
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// layouts describes all types, with an entry for each number of a Type. A Type from a caller needs
// no check: the layout of an unknown type is zero.
//
// CONTRIBUTING.md says how to add a type.
var layouts = [256]layout{
	TypeNil:      {name: "Nil", shape: shapeWord},
	TypeBool:     {name: "bool", shape: shapeWord, n: 1, units: [2]wire.Unit{wire.Int32, wire.Int32}},
	TypeInt:      {name: "int", shape: shapeWord, class: classInt, n: 1, units: [2]wire.Unit{wire.Int32, wire.Int64}, kinds: [2]Kind{KindInt32, KindInt64}},
	TypeFloat:    {name: "float", shape: shapeWord, class: classFloat, n: 1, units: [2]wire.Unit{wire.Float32, wire.Float64}, kinds: [2]Kind{KindFloat32, KindFloat64}},
	TypeRID:      {name: "RID", shape: shapeWord, class: classRID, n: 1, units: [2]wire.Unit{wire.None, wire.Int64}},
	TypeObject:   {name: "Object", shape: shapeWord, class: classObject, n: 1, units: [2]wire.Unit{wire.None, wire.Int64}, kinds: [2]Kind{KindObjectID, KindObjectID}},
	TypeCallable: {name: "Callable", shape: shapeWord},

	TypeVector2:     mathLayout("Vector2", 2, classReal),
	TypeRect2:       mathLayout("Rect2", 4, classReal),
	TypeVector3:     mathLayout("Vector3", 3, classReal),
	TypeTransform2D: mathLayout("Transform2D", 6, classReal),
	TypeVector4:     mathLayout("Vector4", 4, classReal),
	TypePlane:       mathLayout("Plane", 4, classReal),
	TypeQuaternion:  mathLayout("Quaternion", 4, classReal),
	TypeAABB:        mathLayout("AABB", 6, classReal),
	TypeBasis:       mathLayout("Basis", 9, classReal),
	TypeTransform3D: mathLayout("Transform3D", 12, classReal),
	TypeProjection:  mathLayout("Projection", 16, classReal),
	TypeColor:       mathLayout("Color", 4, classColor),
	TypeVector2i:    mathLayout("Vector2i", 2, classInt32),
	TypeRect2i:      mathLayout("Rect2i", 4, classInt32),
	TypeVector3i:    mathLayout("Vector3i", 3, classInt32),
	TypeVector4i:    mathLayout("Vector4i", 4, classInt32),

	TypeString:     {name: "String", shape: shapeText, kinds: [2]Kind{KindStringChunk, KindStringChunk}},
	TypeStringName: {name: "StringName", shape: shapeText, kinds: [2]Kind{KindStringChunk, KindStringChunk}},
	TypeNodePath:   {name: "NodePath", shape: shapeNodePath, kinds: [2]Kind{KindNodePathStart, KindNodePathStart}},
	TypeSignal:     {name: "Signal", shape: shapeSignal},
	TypeDictionary: {name: "Dictionary", shape: shapeDict, kinds: [2]Kind{KindDictStart, KindDictStart}},
	TypeArray:      {name: "Array", shape: shapeArray, kinds: [2]Kind{KindArrayStart, KindArrayStart}},
	TypeImage:      {name: "Image", shape: shapeImage, n: 1, units: [2]wire.Unit{wire.Byte, wire.Byte}, kinds: [2]Kind{KindImageStart, KindImageStart}},
	TypeInputEvent: {name: "InputEvent", shape: shapeEvent},

	TypePackedByteArray:    packedLayout("PackedByteArray", TypeInt, 1, classNone, wire.Byte, wire.Byte),
	TypePackedInt32Array:   packedLayout("PackedInt32Array", TypeInt, 1, classNone, wire.Int32, wire.Int32),
	TypePackedInt64Array:   packedLayout("PackedInt64Array", TypeInt, 1, classNone, wire.Int64, wire.Int64),
	TypePackedFloat32Array: packedLayout("PackedFloat32Array", TypeFloat, 1, classNone, wire.Float32, wire.Float32),
	TypePackedFloat64Array: packedLayout("PackedFloat64Array", TypeFloat, 1, classNone, wire.Float64, wire.Float64),
	TypePackedStringArray:  {name: "PackedStringArray", elem: TypeString, shape: shapePackedStrings, kinds: [2]Kind{KindPackedStart, KindPackedStart}},
	TypePackedVector2Array: packedLayout("PackedVector2Array", TypeVector2, 2, classReal, wire.Float32, wire.Float64),
	TypePackedVector3Array: packedLayout("PackedVector3Array", TypeVector3, 3, classReal, wire.Float32, wire.Float64),
	TypePackedColorArray:   packedLayout("PackedColorArray", TypeColor, 4, classColor, wire.Float32, wire.Float64),
	TypePackedVector4Array: packedLayout("PackedVector4Array", TypeVector4, 4, classReal, wire.Float32, wire.Float64),
}

// A layout describes a type in all formats.
type layout struct {
	name  string
	shape shape
	elem  Type // of a packed array
	class widthClass
	n     uint8        // number of components; for packed arrays, of an element
	units [2]wire.Unit // of a component, narrow and wide
	kinds [2]Kind      // of the first token, narrow and wide; 0 is the kind with the type's number

	components uint8 // n for math types, otherwise 0; -0.7 % of tokens of 64 bytes with their values against shape and n
}

// isMath reports whether the type is a math type, a fixed number of components.
func (l *layout) isMath() bool { return l.components > 0 }

func mathLayout(name string, n uint8, c widthClass) layout {
	units := [2]wire.Unit{wire.Float32, wire.Float64}
	if c == classInt32 {
		units = [2]wire.Unit{wire.Int32, wire.Int32}
	}
	return layout{name: name, shape: shapeMath, class: c, n: n, units: units, components: n}
}

func packedLayout(name string, elem Type, n uint8, c widthClass, narrow, wide wire.Unit) layout {
	kinds := [2]Kind{KindPackedStart, KindPackedStart}
	return layout{name: name, shape: shapePacked, elem: elem, class: c, n: n, units: [2]wire.Unit{narrow, wide}, kinds: kinds}
}

// A shape is the structure of a payload, the bytes after a header.
type shape uint8

const (
	shapeNone     shape = iota // no type with this id
	shapeWord                  // a number of form.size bytes, at most 8
	shapeMath                  // form.size bytes of components
	shapeText                  // length, bytes, padding
	shapeNodePath              // two counts, flags, names
	shapeSignal                // name, object id
	shapeObject                // class, count, properties
	shapeDict                  // count, keys and values
	shapeArray                 // count, elements
	shapePacked                // count, numbers
	shapePackedStrings
	shapeImage
	shapeEvent
)

// A widthClass is a set of types of the same width in each format.
type widthClass uint8

const (
	classNone   widthClass = iota // one width in all formats
	classInt                      // int
	classFloat                    // float
	classReal                     // math types, and packed arrays of vectors
	classColor                    // Color: 32 bits in all engines
	classInt32                    // integer vectors
	classObject                   // Object: if flagged, a serialized object or an id; otherwise a header meaning null
	classRID
	numClasses
)

// content describes a value. A form contains the content of its values, and the frame of a
// container a copy, made in one step, because a content fits one word.
type content struct {
	kind  Kind      // of the first token, or StringChunk; 0 for the top level
	typ   Type      // of the value; for a string, of the value around it
	pairs uint8     // 1 for a container of pairs, otherwise 0
	elem  Type      // declared type of elements or keys; 0 for any
	unit  wire.Unit // of packed data and numbers
	size  uint8     // bytes of an element of packed data, or of a value of fixed size
	flags tokenFlags
}

// hasPairs is 1 for the kinds of Start tokens of containers of pairs.
var hasPairs = [128]uint8{KindDictStart: 1, KindObjectStart: 1}

// tokenFlags are the flags in Token.head. Frames also hold some of these flags: those deciding
// about the tokens after a Start token.
type tokenFlags uint16

const (
	flagUnit        tokenFlags = 7               // mask: the unit of numbers
	flagLast        tokenFlags = 1 << (iota + 2) // the last chunk of a string
	flagNUL                                      // Len includes a NUL; in a frame, an Encoder still writes one
	flagAbsolute                                 // a NodePath starts with a slash
	flagProperty                                 // the last sub-name of a NodePath comes from bit 1 of its flags
	flagOldNodePath                              // a NodePath is one string
	flagShared                                   // bit 31 of the count is set
	flagElem0                                    // two bits: the containerKind of elements or keys
	flagElem1
	flagValue0 // two bits: the containerKind of a dictionary's values
	flagValue1
	flagUnknown // the count is Unknown
	flagOffset0 // two bits: the offset of the payload in the token, see flagOffset
	flagOffset1

	elemShift   = 9
	valueShift  = 11
	offsetShift = 14
)

// flagOffset returns the flags, with values 0 to 3, for a payload at offset 0, 4, 8 or 16.
func flagOffset(offset int) tokenFlags { return tokenFlags(offset/4-offset/16) << offsetShift }

// tokenHead returns Token.head without a payload.
func tokenHead(k Kind, t Type, f tokenFlags) uint64 { return uint64(k) | uint64(t)<<8 | uint64(f)<<16 }

// Component is the set of Go types for the components of math types.
type Component interface {
	~int32 | ~float32 | ~float64
}

// isInt reports whether T is a type of integers.
func isInt[T Component]() bool { return T(1)/2 == 0 }
