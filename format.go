package gdwire

import "slices"

// A Format is the wire as one family of engines, or one manual, has it: which
// ids its types have and how wide its numbers are. It is data; there is no code
// that belongs to one format only. Formats may be used by any number of
// goroutines.
type Format struct {
	name string
	// types in the order of their wire ids.
	types []Type
	// idMask is the part of a header that is the type id. Bits 16 and up are
	// flags if it leaves them out.
	idMask uint32
	// width of each class of number.
	width [numClasses]width
	// engine: written by engines, which end packed strings in NUL and take a
	// negative count of packed strings or properties for none.
	engine bool
	// ids: an Object is an id behind bit 16 or else its class and properties.
	// Without it an Object is a header alone, meaning null.
	ids bool
	// nullObject: an empty class name is null to everyone, not only to those
	// who allow objects.
	nullObject bool
	// typed: arrays and dictionaries may declare what they hold.
	typed bool
	// shared: bit 31 of a count means something, and is kept.
	shared bool
	// oldPath: a NodePath may be one string.
	oldPath bool
	// property: bit 1 of a NodePath's flags announces one more sub-name.
	// keepProperty: it is written, too.
	property, keepProperty bool
	// dirty: writers leave padding undefined.
	dirty bool
	// bare types may lack their padding at the very end of a packet.
	bare []Type

	// What the above comes to, without and with DoubleReals: a row for each wire
	// id, and the same rows by type.
	rows, byType [2][64]row
}

// The formats there are. Redot and Xogot speak Godot4; Mole describes Godot2.
//
// The manuals' formats are what a program written from that page reads and
// writes. No engine speaks them.
var (
	// Godot4 is what Godot 4.0 to 4.7 and its relatives speak.
	Godot4 = newFormat(godot4)
	// Godot3 is what Godot 3.x speaks.
	Godot3 = newFormat(godot3)
	// Godot2 is what Godot 2.x speaks.
	Godot2 = newFormat(godot2)
	// Manual4 is the type table printed in the 4.x manuals of Redot and Xogot.
	Manual4 = newFormat(manual4)
	// Manual3 is the 3.x manual: int always has 64 bits, float always 32.
	Manual3 = newFormat(manual3)
	// Manual30 is the 3.0 manual: int and float always have 32 bits.
	Manual30 = newFormat(manual30)
)

// What tells them apart.
var (
	godot4 = Format{
		name: "godot4", types: godot4Types, idMask: 0xFF,
		width:  [numClasses]width{classInt: flagged, classFloat: flagged, classReal: flagged, classRID: wide},
		engine: true, ids: true, typed: true, property: true,
		bare: []Type{TypePackedByteArray},
	}
	godot3 = Format{
		name: "godot3", types: godot3Types, idMask: 0xFF,
		width:  [numClasses]width{classInt: flagged, classFloat: flagged},
		engine: true, ids: true, property: true,
		bare: []Type{TypePackedByteArray},
	}
	godot2 = Format{
		name: "godot2", types: godot2Types, idMask: 0xFFFFFFFF,
		engine: true, shared: true, oldPath: true, property: true, keepProperty: true, dirty: true,
		bare: []Type{TypeString, TypePackedByteArray, TypeImage},
	}
	manual4 = Format{
		name: "manual4", types: manual4Types, idMask: 0xFFFF,
		width: [numClasses]width{classInt: flagged, classFloat: flagged},
		ids:   true, nullObject: true, oldPath: true,
	}
	manual3 = Format{
		name: "manual3", types: godot3Types, idMask: 0xFFFFFFFF,
		width:   [numClasses]width{classInt: wide},
		oldPath: true,
	}
	manual30 = Format{
		name: "manual30", types: godot3Types, idMask: 0xFFFFFFFF,
		oldPath: true,
	}
)

var formats = []*Format{Godot4, Godot3, Godot2, Manual4, Manual3, Manual30}

// Formats returns all formats, [Godot4] first.
func Formats() []*Format { return slices.Clone(formats) }

// FormatByName returns the format whose String is name, nil if there is none.
func FormatByName(name string) *Format {
	for _, f := range formats {
		if f.name == name {
			return f
		}
	}
	return nil
}

// String returns the format's name: godot4, godot3, godot2, manual4, manual3
// or manual30.
func (f *Format) String() string { return f.name }

// Has reports whether the format has type t.
func (f *Format) Has(t Type) bool { return t < numTypes && f.byType[0][t][0].typ != 0 }

// mayLackPadding reports whether engines read a t without its padding where
// nothing follows.
func (f *Format) mayLackPadding(t Type) bool { return slices.Contains(f.bare, t) }

// typeOf returns the type with that wire id, or 0.
func (f *Format) typeOf(id uint32) Type {
	if id < uint32(len(f.types)) {
		return f.types[id]
	}
	return 0
}

// The types of each format in the order of their ids.
var (
	godot4Types = []Type{
		TypeNil, TypeBool, TypeInt, TypeFloat, TypeString,
		TypeVector2, TypeVector2i, TypeRect2, TypeRect2i, TypeVector3, TypeVector3i, TypeTransform2D,
		TypeVector4, TypeVector4i, TypePlane, TypeQuaternion, TypeAABB, TypeBasis, TypeTransform3D, TypeProjection,
		TypeColor, TypeStringName, TypeNodePath, TypeRID, TypeObject, TypeCallable, TypeSignal,
		TypeDictionary, TypeArray, TypePackedByteArray, TypePackedInt32Array, TypePackedInt64Array,
		TypePackedFloat32Array, TypePackedFloat64Array, TypePackedStringArray,
		TypePackedVector2Array, TypePackedVector3Array, TypePackedColorArray, TypePackedVector4Array,
	}
	manual4Types = []Type{
		TypeNil, TypeBool, TypeInt, TypeFloat, TypeString,
		TypeVector2, TypeRect2, TypeVector3, TypeTransform2D, TypePlane, TypeQuaternion, TypeAABB, TypeBasis, TypeTransform3D,
		TypeColor, TypeNodePath, TypeRID, TypeObject,
		TypeDictionary, TypeArray, TypePackedByteArray, TypePackedInt32Array, TypePackedInt64Array,
		TypePackedFloat32Array, TypePackedFloat64Array, TypePackedStringArray,
		TypePackedVector2Array, TypePackedVector3Array, TypePackedColorArray,
	}
	godot3Types = []Type{
		TypeNil, TypeBool, TypeInt, TypeFloat, TypeString,
		TypeVector2, TypeRect2, TypeVector3, TypeTransform2D, TypePlane, TypeQuaternion, TypeAABB, TypeBasis, TypeTransform3D,
		TypeColor, TypeNodePath, TypeRID, TypeObject,
		TypeDictionary, TypeArray, TypePackedByteArray, TypePackedInt32Array,
		TypePackedFloat32Array, TypePackedStringArray,
		TypePackedVector2Array, TypePackedVector3Array, TypePackedColorArray,
	}
	godot2Types = []Type{
		TypeNil, TypeBool, TypeInt, TypeFloat, TypeString,
		TypeVector2, TypeRect2, TypeVector3, TypeTransform2D, TypePlane, TypeQuaternion, TypeAABB, TypeBasis, TypeTransform3D,
		TypeColor, TypeImage, TypeNodePath, TypeRID, TypeObject, TypeInputEvent,
		TypeDictionary, TypeArray, TypePackedByteArray, TypePackedInt32Array,
		TypePackedFloat32Array, TypePackedStringArray,
		TypePackedVector2Array, TypePackedVector3Array, TypePackedColorArray,
	}
)

// layouts says what every type consists of, in whatever format has it. A new
// type of the engines is a constant in token.go, a row here and its place in
// the list of its format's types.
var layouts = [numTypes]layout{
	TypeNil:      {name: "Nil", shape: shapeWord},
	TypeBool:     {name: "bool", shape: shapeWord, n: 1, units: [2]unit{unitInt32, unitInt32}},
	TypeInt:      {name: "int", shape: shapeWord, class: classInt, n: 1, units: [2]unit{unitInt32, unitInt64}, kinds: [2]Kind{KindInt32, KindInt64}},
	TypeFloat:    {name: "float", shape: shapeWord, class: classFloat, n: 1, units: [2]unit{unitFloat32, unitFloat64}, kinds: [2]Kind{KindFloat32, KindFloat64}},
	TypeRID:      {name: "RID", shape: shapeWord, class: classRID, n: 1, units: [2]unit{unitNone, unitInt64}},
	TypeCallable: {name: "Callable", shape: shapeWord},

	TypeVector2:     maths("Vector2", 2, classReal),
	TypeRect2:       maths("Rect2", 4, classReal),
	TypeVector3:     maths("Vector3", 3, classReal),
	TypeTransform2D: maths("Transform2D", 6, classReal),
	TypeVector4:     maths("Vector4", 4, classReal),
	TypePlane:       maths("Plane", 4, classReal),
	TypeQuaternion:  maths("Quaternion", 4, classReal),
	TypeAABB:        maths("AABB", 6, classReal),
	TypeBasis:       maths("Basis", 9, classReal),
	TypeTransform3D: maths("Transform3D", 12, classReal),
	TypeProjection:  maths("Projection", 16, classReal),
	TypeColor:       maths("Color", 4, classColor),
	TypeVector2i:    maths("Vector2i", 2, classInt32),
	TypeRect2i:      maths("Rect2i", 4, classInt32),
	TypeVector3i:    maths("Vector3i", 3, classInt32),
	TypeVector4i:    maths("Vector4i", 4, classInt32),

	TypeString:     {name: "String", shape: shapeText, kinds: [2]Kind{KindStringChunk, KindStringChunk}},
	TypeStringName: {name: "StringName", shape: shapeText, kinds: [2]Kind{KindStringChunk, KindStringChunk}},
	TypeNodePath:   {name: "NodePath", shape: shapePath, kinds: [2]Kind{KindNodePathStart, KindNodePathStart}},
	TypeSignal:     {name: "Signal", shape: shapeSignal, kinds: [2]Kind{KindSignal, KindSignal}},
	TypeObject:     {name: "Object", shape: shapeObject, kinds: [2]Kind{KindObjectStart, KindObjectID}},
	TypeDictionary: {name: "Dictionary", shape: shapeDict, kinds: [2]Kind{KindDictStart, KindDictStart}},
	TypeArray:      {name: "Array", shape: shapeArray, kinds: [2]Kind{KindArrayStart, KindArrayStart}},
	TypeImage:      {name: "Image", shape: shapeImage, n: 1, units: [2]unit{unitByte, unitByte}, kinds: [2]Kind{KindImageStart, KindImageStart}},
	TypeInputEvent: {name: "InputEvent", shape: shapeEvent, kinds: [2]Kind{KindInputEvent, KindInputEvent}},

	TypePackedByteArray:    packed("PackedByteArray", 1, unitByte, unitByte, classNone),
	TypePackedInt32Array:   packed("PackedInt32Array", 1, unitInt32, unitInt32, classNone),
	TypePackedInt64Array:   packed("PackedInt64Array", 1, unitInt64, unitInt64, classNone),
	TypePackedFloat32Array: packed("PackedFloat32Array", 1, unitFloat32, unitFloat32, classNone),
	TypePackedFloat64Array: packed("PackedFloat64Array", 1, unitFloat64, unitFloat64, classNone),
	TypePackedStringArray:  {name: "PackedStringArray", shape: shapePackedStrings, kinds: [2]Kind{KindPackedStart, KindPackedStart}},
	TypePackedVector2Array: packed("PackedVector2Array", 2, unitFloat32, unitFloat64, classReal),
	TypePackedVector3Array: packed("PackedVector3Array", 3, unitFloat32, unitFloat64, classReal),
	TypePackedColorArray:   packed("PackedColorArray", 4, unitFloat32, unitFloat64, classColor),
	TypePackedVector4Array: packed("PackedVector4Array", 4, unitFloat32, unitFloat64, classReal),
}

// A layout is what a type consists of in every format.
type layout struct {
	name  string
	shape shape
	class class
	n     uint8   // components, of an element where it is packed
	units [2]unit // what a component is, narrow and wide
	kinds [2]Kind // of the first token, narrow and wide; 0: the type's own
}

// maths reports whether the type is a fixed number of components.
func (l *layout) maths() bool {
	return l.shape == shapeMaths
}

func maths(name string, n uint8, c class) layout {
	units := [2]unit{unitFloat32, unitFloat64}
	if c == classInt32 {
		units = [2]unit{unitInt32, unitInt32}
	}
	return layout{name: name, shape: shapeMaths, class: c, n: n, units: units}
}

func packed(name string, n uint8, narrow, wide unit, c class) layout {
	return layout{name: name, shape: shapePacked, class: c, n: n,
		units: [2]unit{narrow, wide}, kinds: [2]Kind{KindPackedStart, KindPackedStart}}
}

// A shape is how a payload is built.
type shape uint8

const (
	shapeNone   shape = iota // an id without a type
	shapeWord                // as many bytes as the table says, 8 at most
	shapeMaths               // the same, but components
	shapeText                // length, bytes, padding
	shapePath                // two counts, flags, names
	shapeSignal              // name, object id
	shapeObject              // class, count, properties
	shapeDict                // count, keys and values
	shapeArray               // count, elements
	shapePacked              // count, numbers
	shapePackedStrings
	shapeImage
	shapeEvent
)

// A class is a set of types whose width a format decides together.
type class uint8

const (
	classNone  class = iota // always as it is
	classInt                // int
	classFloat              // float
	classReal               // maths types and the elements of packed ones
	classColor              // the same, but engines never widen it
	classInt32              // integer vectors
	classRID
	numClasses
)

// A width is how a format tells wide from narrow.
type width uint8

const (
	narrow  width = iota
	wide          // always
	flagged       // where bit 16 of the header says so
)

// A unit is what a component is on the wire.
type unit uint8

const (
	unitNone unit = iota
	unitByte
	unitInt32
	unitInt64
	unitFloat32
	unitFloat64
)

var unitSizes = [...]uint8{unitByte: 1, unitInt32: 4, unitInt64: 8, unitFloat32: 4, unitFloat64: 8}

func (u unit) size() int { return int(unitSizes[u]) }

// A row is a type in a format, without and with bit 16 in its header: what
// Decoder and Encoder go by.
type row [2]form

// A form is a type's payload at one width.
type form struct {
	head   uint64 // of its token
	mask   uint64 // those bits of the eight bytes behind the header that are its word
	header uint32 // in front of it
	flags  uint16 // the header's bits 16 and up that mean something
	typ    Type   // 0: the format has no such id
	kind   Kind
	shape  shape
	unit   unit
	size   uint8 // bytes of a fixed payload, or of one packed element
}

const wideFlag = 1 // bit 16, as form.flags and tokens have it

func newFormat(f Format) *Format {
	for double := range f.rows {
		for id, t := range f.types {
			r := f.row(t, uint32(id), double == 1)
			f.rows[double][id], f.byType[double][t] = r, r
		}
	}
	return &f
}

func (f *Format) row(t Type, id uint32, double bool) (r row) {
	l := &layouts[t]
	w := f.width[l.class]
	// The manuals' double-precision builds mark nothing and widen colours too.
	if double && !f.engine && (l.class == classReal || l.class == classColor) {
		w = wide
	}
	flags := uint16(0)
	switch {
	case w == flagged || t == TypeObject && f.ids:
		flags = wideFlag
	case t == TypeArray && f.typed:
		flags = 3
	case t == TypeDictionary && f.typed:
		flags = 3 | 3<<2
	}
	for bit := range r {
		i := 0
		if w == wide || w == flagged && bit == 1 {
			i = 1
		}
		u := l.units[i]
		r[bit] = form{typ: t, kind: l.kinds[i], shape: l.shape, unit: u, size: l.n * unitSizes[u]}
		if t == TypeObject && !f.ids {
			r[bit] = form{typ: t, kind: KindObjectID, shape: shapeWord}
		} else if t == TypeObject && bit == 1 {
			r[bit] = form{typ: t, kind: KindObjectID, shape: shapeWord, unit: unitInt64, size: 8}
		}
		r[bit].complete(id, flags, uint32(bit))
	}
	return r
}

// complete adds what follows from the rest.
func (f *form) complete(id uint32, flags uint16, bit uint32) {
	if f.kind == 0 {
		f.kind = Kind(f.typ)
	}
	f.header, f.flags = id, flags
	if f.shape != shapeArray && f.shape != shapeDict { // their bit 16 says that a type is declared
		f.header |= bit & uint32(flags) << 16
	}
	f.head = newToken(f.kind, f.typ, tokenFlags(f.unit), 0).head
	switch f.shape {
	case shapeWord:
		f.mask = 1<<(8*f.size) - 1
	case shapeMaths:
		f.head |= uint64(f.size)<<32 | uint64(flagOffset(4))<<16
	case shapeText:
		f.head |= uint64(flagLast|flagOffset(8)) << 16
	}
}
