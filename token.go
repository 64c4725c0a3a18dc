package gdwire

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A Type is a Variant type, under the name it has in Godot 4 whatever the
// format. The zero Type is none.
type Type uint8

// The types, in Godot 4's order, then those that only Godot 2 has.
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
	TypeImage
	TypeInputEvent
	numTypes
)

// String returns the type's name as Godot 4 spells it: "int", "Vector2".
func (t Type) String() string {
	if t == 0 || t >= numTypes {
		return "Type(" + strconv.Itoa(int(t)) + ")"
	}
	return layouts[t].name
}

// A Kind says what a token is. The zero Kind is none: [Decoder.PeekKind] gives
// it when it meets an error.
type Kind uint8

// The kinds of values that are one token have their type's number.
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

// Numbers, whose kind has their width on the wire, and the parts of values that
// are several tokens.
const (
	KindInt32         Kind = iota + 64
	KindInt64              // an int that stands in 64 bits
	KindFloat32            // a float that stands in 32 bits
	KindFloat64            // a float that stands in 64 bits
	KindStringChunk        // text of a String, StringName, path name or packed string
	KindNodePathStart      // then its names and sub-names as StringChunks, End
	KindObjectID           // an object as its instance id; 0 is null
	KindObjectStart        // then Property and value, …, End
	KindProperty           // a property's name; its value follows
	KindDictStart          // then DictKey, key, value, …, End
	KindDictKey            // a key follows, then its value
	KindArrayStart         // then its elements, End
	KindPackedStart        // then Chunks, or StringChunks of packed strings, End
	KindImageStart         // then Chunks, End
	KindChunk              // whole elements of a packed array, bytes of an image
	KindEnd                // ends what the last open Start began
	numKinds
)

var kindNames = [numKinds]string{
	KindInt32: "Int32", KindInt64: "Int64", KindFloat32: "Float32", KindFloat64: "Float64",
	KindBool:        "Bool",
	KindStringChunk: "StringChunk", KindNodePathStart: "NodePathStart",
	KindObjectID: "ObjectID", KindObjectStart: "ObjectStart", KindProperty: "Property",
	KindDictStart: "DictStart", KindDictKey: "DictKey", KindArrayStart: "ArrayStart",
	KindPackedStart: "PackedStart", KindImageStart: "ImageStart", KindChunk: "Chunk", KindEnd: "End",
}

// String returns the kind's name: "Vector2", "ArrayStart".
func (k Kind) String() string {
	switch {
	case k < numKinds && kindNames[k] != "":
		return kindNames[k]
	case k != 0 && k < Kind(numTypes):
		return layouts[k].name
	default:
		return "Kind(" + strconv.Itoa(int(k)) + ")"
	}
}

// Unknown is the count of a container, string or packed array whose end will
// show how long it was. Only an Encoder takes it.
const Unknown = -1

// A Token is one step through a value, as [Decoder.ReadToken] gives and
// [Encoder.WriteToken] takes it.
//
// Numbers, counts and ids stand in the token itself. Text, names, components
// and chunks stay in the Decoder's window: [Token.Bytes] and what is made from
// it panic once the Decoder has been called again, be it Reset or Release.
// [Token.Clone] makes a token that stays.
//
// What a token is was the sender's choice, so no method panics for being asked
// of the wrong kind: it gives a zero then.
type Token struct {
	// head is kind, type, flags and payload length. Four words in four fields
	// are what still travels in registers.
	head uint64
	bits uint64  // the number's bits, the id or the count
	win  *window // the buffer with the payload
	pos  uint64  // win.token as long as the payload is there
}

// tokenFlags are what else a token remembers of the wire.
type tokenFlags uint16

const (
	flagUnit     tokenFlags = 7               // the unit of numbers
	flagLast     tokenFlags = 1 << (iota + 2) // the last chunk of a string
	flagNUL                                   // Len counts a NUL
	flagAbsolute                              // of a NodePath: it starts with a slash
	flagProperty                              // the last sub-name is bit 1's property
	flagOldPath                               // one string
	flagShared                                // bit 31 of the count
	flagElem0                                 // two bits: the container kind of elements or keys
	flagElem1
	flagValue0 // two bits: the container kind of a dictionary's values
	flagValue1
	flagUnknown // the count is Unknown
	flagOffset0 // two bits: where the payload starts in the token's bytes
	flagOffset1

	elemShift   = 9
	valueShift  = 11
	offsetShift = 14
)

// flagOffset returns the flags for a payload that starts at offset 0, 4, 8 or 16.
func flagOffset(offset int) tokenFlags {
	return tokenFlags(offset/4-offset/16) << offsetShift
}

func newToken(k Kind, t Type, f tokenFlags, bits uint64) Token {
	return Token{head: uint64(k) | uint64(t)<<8 | uint64(f)<<16, bits: bits}
}

// at makes n bytes at offset in the bytes of w's latest token its payload.
func (t Token) at(w *window, offset, n int) Token {
	t.head |= uint64(n)<<32 | uint64(flagOffset(offset))<<16
	t.win, t.pos = w, w.token
	return t
}

// withPayload gives a token a payload of its own.
func (t Token) withPayload(p []byte) Token {
	return t.at(&window{buf: p}, 0, len(p))
}

func (t Token) flags() tokenFlags { return tokenFlags(t.head >> 16) }

func (t Token) has(f tokenFlags) bool { return t.flags()&f != 0 }

func (t Token) unit() unit { return unit(t.flags() & flagUnit) }

func (t Token) payloadLen() int { return int(t.head >> 32) }

// offset returns where the payload starts in the token's bytes.
func (t Token) offset() uint64 { return 2 << (t.flags() >> offsetShift) &^ 3 }

func (t Token) elemKind() containerKind { return containerKind(t.flags() >> elemShift & 3) }

func (t Token) valueKind() containerKind {
	return containerKind(t.flags() >> valueShift & 3)
}

// Kind returns what the token is.
func (t Token) Kind() Kind { return Kind(t.head) }

// Type returns the type of the value that the token is, or is part of: of a
// StringChunk String, StringName, NodePath or PackedStringArray, of a Chunk the
// array's, of Property TypeObject. DictKey is TypeDictionary's, End belongs to
// what it ends.
func (t Token) Type() Type { return Type(t.head >> 8) }

// Clone returns a token that does not depend on the Decoder any more.
func (t Token) Clone() Token {
	if t.payloadLen() == 0 {
		t.win, t.pos = nil, 0
		return t
	}
	p := slices.Clone(t.Bytes())
	t.head &= 1<<32 - 1 - 3<<(16+offsetShift)
	return t.withPayload(p)
}

// Bytes returns the token's payload where it stands: the text of a StringChunk,
// the name of a Property, Signal or ObjectStart's class, the elements of a Chunk
// or the components of a maths type in little-endian, the data of an InputEvent.
// It must not be modified, and is valid until the next call on the Decoder.
func (t Token) Bytes() []byte {
	n := t.payloadLen()
	if n == 0 {
		return nil
	}
	if t.win.token != t.pos {
		panic("gdwire: token used after the next call on its Decoder; Clone it to keep it")
	}
	i := t.pos/2 - t.win.base + t.offset()
	return t.win.buf[i : i+uint64(n) : i+uint64(n)]
}

// Text returns a copy of [Token.Bytes] as a string: a chunk's text, a property's,
// signal's or class's name.
func (t Token) Text() string { return string(t.Bytes()) }

// Len returns how much the value holds: the elements of an array or packed
// array, the pairs of a dictionary, the properties of an object, the names and
// sub-names of a NodePath, the bytes of an image's data, and in every chunk of a
// string the bytes of the whole. Of a Chunk it is the elements in it. It can be
// [Unknown] only in tokens that were made for an Encoder.
//
// Of a packed string in several chunks it counts the NUL that engines write
// behind each: whether it was there, only the last chunk can tell.
func (t Token) Len() int64 {
	switch t.Kind() {
	case KindNodePathStart:
		return int64(t.bits&math.MaxUint32 + t.bits>>32)
	case KindStringChunk, KindObjectStart, KindDictStart, KindArrayStart, KindPackedStart, KindImageStart, KindChunk:
		return int64(t.bits)
	}
	return 0
}

// Last reports whether this chunk is the last of its string.
func (t Token) Last() bool { return t.Kind() == KindStringChunk && t.has(flagLast) }

// Bool returns the value of a Bool.
func (t Token) Bool() bool { return t.Kind() == KindBool && t.bits != 0 }

// Int returns an int, or a float without its fraction, as near as an int64 can
// be to it.
func (t Token) Int() int64 {
	switch t.Kind() {
	case KindInt32:
		return int64(int32(t.bits))
	case KindInt64:
		return int64(t.bits)
	case KindFloat32, KindFloat64:
		switch x := t.Float(); {
		case x != x:
			return 0
		case x >= 1<<63:
			return math.MaxInt64
		case x < -1<<63:
			return math.MinInt64
		default:
			return int64(x)
		}
	}
	return 0
}

// Float returns a float, or an int as the nearest float64.
func (t Token) Float() float64 {
	switch t.Kind() {
	case KindFloat32:
		return float64(math.Float32frombits(uint32(t.bits)))
	case KindFloat64:
		return math.Float64frombits(t.bits)
	case KindInt32, KindInt64:
		return float64(t.Int())
	}
	return 0
}

// ID returns the id of an ObjectID or an RID, or of the object a Signal belongs
// to. Formats before Godot 4 have no RIDs: 0.
func (t Token) ID() uint64 {
	switch t.Kind() {
	case KindObjectID, KindRID, KindSignal:
		return t.bits
	}
	return 0
}

// Width returns how many bits a number or component has on the wire: of an int,
// float or maths type, of a PackedStart and its Chunks. 0 if there are none.
func (t Token) Width() int { return t.unit().size() * 8 }

// Path returns how many names and sub-names follow a NodePathStart, and whether
// the path is absolute. A path in the form that predates Godot 3 is one name
// that holds it all.
func (t Token) Path() (names, subnames int64, absolute bool) {
	if t.Kind() != KindNodePathStart {
		return 0, 0, false
	}
	return int64(t.bits & math.MaxUint32), int64(t.bits >> 32), t.has(flagAbsolute)
}

// Image returns what an ImageStart says of its data.
func (t Token) Image() (format, mipmaps, width, height uint32) {
	if t.Kind() != KindImageStart {
		return
	}
	b := t.Bytes()

	return le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
}

// Event returns the type and device of an InputEvent; its data are [Token.Bytes].
func (t Token) Event() (event, device uint32) {
	if t.Kind() != KindInputEvent {
		return
	}
	return uint32(t.bits), uint32(t.bits >> 32)
}

// Components returns how many components a maths type has, 0 of any other kind.
func (t Token) Components() int {
	if k := t.Kind(); k < Kind(numTypes) && layouts[k].maths() {
		return int(layouts[k].n)
	}
	return 0
}

// Real returns component i of a maths type in wire order, the integer vectors'
// too, and 0 if there is no such component.
func (t Token) Real(i int) float64 {
	if uint(i) >= uint(t.Components()) {
		return 0
	}
	b := t.Bytes()
	return component(b[i*t.unit().size():], t.unit())
}

// component reads the number at the start of b.
func component(b []byte, u unit) float64 {
	switch u {
	case unitInt32:
		return float64(int32(le.Uint32(b)))
	case unitFloat32:
		return float64(math.Float32frombits(le.Uint32(b)))
	default:
		return math.Float64frombits(le.Uint64(b))
	}
}

// AppendReals appends the components of a maths type in wire order, such as the
// three rows of a Basis.
func (t Token) AppendReals(dst []float64) []float64 {
	for i := range t.Components() {
		dst = append(dst, t.Real(i))
	}
	return dst
}

// Vector2 returns the components of a Vector2 or Vector2i.
func (t Token) Vector2() (v [2]float64) {
	t.vector(v[:])
	return v
}

// Vector3 returns the components of a Vector3 or Vector3i.
func (t Token) Vector3() (v [3]float64) {
	t.vector(v[:])
	return v
}

// Vector4 returns the components of any type that has four: Vector4, Vector4i,
// Rect2, Rect2i, Plane, Quaternion and Color.
func (t Token) Vector4() (v [4]float64) {
	t.vector(v[:])
	return v
}

func (t Token) vector(v []float64) {
	if t.Components() == len(v) {
		t.AppendReals(v[:0])
	}
}

// Elem returns what an ArrayStart's elements or a DictStart's values are
// declared to be.
func (t Token) Elem() Elem {
	switch t.Kind() {
	case KindArrayStart:
		e, _ := readElem(t.Bytes(), t.elemKind())
		return e
	case KindDictStart:
		b := t.Bytes()
		_, n := readElem(b, t.elemKind())
		e, _ := readElem(b[n:], t.valueKind())
		return e
	}
	return Elem{}
}

// KeyElem returns what a DictStart's keys are declared to be.
func (t Token) KeyElem() Elem {
	if t.Kind() != KindDictStart {
		return Elem{}
	}
	e, _ := readElem(t.Bytes(), t.elemKind())
	return e
}

// String describes the token on one line for a person.
func (t Token) String() string {
	k := t.Kind()
	switch k {
	case 0, KindNil, KindCallable, KindDictKey, KindEnd:
		return k.String()
	case KindBool:
		return fmt.Sprint("Bool ", t.Bool())
	case KindInt32, KindInt64:
		return fmt.Sprint(k, " ", t.Int())
	case KindFloat32, KindFloat64:
		return fmt.Sprint(k, " ", t.Float())
	case KindRID, KindObjectID:
		return fmt.Sprint(k, " ", int64(t.ID()))
	case KindStringChunk:
		s := fmt.Sprintf("StringChunk %v %q", t.Type(), t.Bytes())
		if !t.Last() {
			s += fmt.Sprintf(" of %d bytes", t.Len())
		}
		return s
	case KindProperty:
		return fmt.Sprintf("Property %q", t.Bytes())
	case KindSignal:
		return fmt.Sprintf("Signal %q %d", t.Bytes(), int64(t.ID()))
	case KindObjectStart:
		return fmt.Sprintf("ObjectStart %q %d", t.Bytes(), t.Len())
	case KindNodePathStart:
		names, subnames, absolute := t.Path()
		s := fmt.Sprintf("NodePathStart %d:%d", names, subnames)
		if absolute {
			s += " absolute"
		}
		return s
	case KindArrayStart:
		return fmt.Sprint(k, " ", t.Len(), typed(t.Elem()))
	case KindDictStart:
		return fmt.Sprint(k, " ", t.Len(), typed(t.KeyElem(), t.Elem()))
	case KindPackedStart:
		return fmt.Sprint(k, " ", t.Type(), " ", t.Len())
	case KindChunk:
		return fmt.Sprintf("Chunk %v %d: %x", t.Type(), t.Len(), t.Bytes())
	case KindImageStart:
		f, m, w, h := t.Image()
		return fmt.Sprintf("ImageStart format %d, mipmaps %d, %dx%d, %d bytes", f, m, w, h, t.Len())
	case KindInputEvent:
		e, d := t.Event()
		return fmt.Sprintf("InputEvent type %d, device %d: %x", e, d, t.Bytes())
	default:
		return fmt.Sprint(k, t.AppendReals(nil))
	}
}

// typed writes declared types as GDScript does: [String, int], empty if none is.
func typed(elems ...Elem) string {
	s, found := "[", false
	for i, e := range elems {
		if i > 0 {
			s += ", "
		}
		if e == (Elem{}) {
			s += "Variant"
		} else {
			name := strconv.Quote(e.String()) // a class's name is the sender's choice
			s += name[1 : len(name)-1]
			found = true
		}
	}
	if !found {
		return ""
	}
	return " " + s + "]"
}
