package gdwire

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gdwire/gdwire/internal/wire"
)

// A Type is a Variant type. Types have their names in Godot 4, for all formats. The
// zero Type is no type.
type Type uint8

// The types of Godot 4 in its order, then those of Godot 2 alone.
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

// String returns the type's name in Godot 4, such as "int" or "Vector2".
func (t Type) String() string {
	if name := layouts[t].name; name != "" {
		return name
	}
	return "Type(" + strconv.Itoa(int(t)) + ")"
}

// Types returns all types in their order: those of Godot 4, then those of Godot 2 alone.
func Types() []Type {
	all := make([]Type, 0, numTypes-1)
	for t := TypeNil; t < numTypes; t++ {
		all = append(all, t)
	}
	return all
}

// Components returns the number of components of a math type, and whether they are
// integers. It returns 0 and false for other types.
func (t Type) Components() (n int, integers bool) {
	l := &layouts[t]
	return int(l.components), l.isMath() && l.units[0] == wire.Int32
}

// Element returns the type of the elements of a packed array: TypeInt, TypeFloat,
// TypeString, TypeColor or a vector. It returns 0 for other types.
func (t Type) Element() Type { return layouts[t].elem }

// ElementWidth returns the number of bits of an element of a packed array, or of each of its
// components: 8 for a PackedByteArray. Vectors and colors have 32 bits here, but can be
// encoded in 64, see [Token.Width]. It returns 0 for strings and other types.
func (t Type) ElementWidth() int {
	if t.Element() == 0 {
		return 0
	}
	return 8 * layouts[t].units[0].Size()
}

// A Kind is the kind of a token. The zero Kind is no kind; [Decoder.PeekKind] returns
// it for an error.
type Kind uint8

// The kinds of values that are one token have the number of their type.
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

// The kinds of numbers, by their encoded width, and of the parts of values that are
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

// kindNames contains the names of the kinds whose numbers are not those of types, and of KindBool,
// whose type is named bool.
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

// Unknown is the count of a container, string or packed array whose length is not
// known at its start. Only an Encoder accepts it.
const Unknown = -1

// A Token is one element of an encoded value: a number, a chunk of text, or the start
// or end of a container. [Decoder.ReadToken] returns Tokens, and [Encoder.WriteToken]
// writes them.
//
// A Token holds numbers, counts and ids. Text, names, components and chunks are its
// payload, which remains in the Decoder's buffer. [Token.Bytes], and all methods that
// read the payload, panic after the next call on the Decoder, including Reset and
// Release. [Token.Clone] returns a Token that stays valid.
//
// Methods return the zero value for Tokens of other kinds instead of panicking,
// because the sender chooses the kind.
type Token struct {
	// head holds the kind in bits 0 to 7, the type in 8 to 15, flags in 16 to 31
	// and the length of the payload in 32 to 63. A Token is four words long,
	// because the compiler passes no more in registers.
	head uint64
	bits uint64       // the number's bits, the id or the count
	src  *tokenSource // the buffer with the payload
	pos  mark         // equals src.mark while the payload is valid
}

// tokenFlags are the flags in Token.head. Frames have some of them, too: those that decide about
// what follows a Start token.
type tokenFlags uint16

const (
	flagUnit        tokenFlags = 7               // mask: the unit of numbers
	flagLast        tokenFlags = 1 << (iota + 2) // the last chunk of a string
	flagNUL                                      // Len includes a NUL
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

// flagOffset returns the flags for a payload that starts at offset 0, 4, 8 or 16. They have the
// values 0 to 3.
func flagOffset(offset int) tokenFlags {
	return tokenFlags(offset/4-offset/16) << offsetShift
}

func newToken(k Kind, t Type, f tokenFlags, bits uint64) Token {
	return Token{head: uint64(k) | uint64(t)<<8 | uint64(f)<<16, bits: bits}
}

// at returns t with a payload of n bytes, which are at offset in w's latest token.
func (t Token) at(w *tokenSource, offset, n int) Token {
	t.head |= uint64(n)<<32 | uint64(flagOffset(offset))<<16
	t.src, t.pos = w, w.mark
	return t
}

// withPayload returns t with payload p, which stays valid, because no Decoder moves the mark of its
// tokenSource.
func (t Token) withPayload(p []byte) Token {
	return t.at(&tokenSource{buf: p}, 0, len(p))
}

func (t Token) flags() tokenFlags { return tokenFlags(t.head >> 16) }

func (t Token) has(f tokenFlags) bool { return t.flags()&f != 0 }

func (t Token) unit() wire.Unit { return wire.Unit(t.flags() & flagUnit) }

func (t Token) payloadLen() int { return int(t.head >> 32) }

// offset returns the offset of the payload in the encoded token, the inverse of
// flagOffset.
func (t Token) offset() uint64 { return 2 << (t.flags() >> offsetShift) &^ 3 }

func (t Token) elemKind() containerKind { return containerKind(t.flags() >> elemShift & 3) }

func (t Token) valueKind() containerKind {
	return containerKind(t.flags() >> valueShift & 3)
}

// Kind returns the kind of the token.
func (t Token) Kind() Kind { return Kind(t.head) }

// Type returns the type of the value that the token is or is part of. For a
// StringChunk it is String, StringName, NodePath or PackedStringArray; for a Chunk, the
// type of the array or Image; for a Property, Object; for a DictKey, Dictionary; for an
// End, the type of the container that ends.
func (t Token) Type() Type { return Type(t.head >> 8) }

// Clone returns a copy of the token that does not depend on the Decoder. It copies the
// payload.
func (t Token) Clone() Token {
	if t.payloadLen() == 0 { // nothing to copy; without src, the copy does not keep the buffer in memory
		t.src, t.pos = nil, 0
		return t
	}
	p := slices.Clone(t.Bytes())
	t.head &= 1<<32 - 1 - 3<<(16+offsetShift) // without length and offset, which withPayload adds
	return t.withPayload(p)
}

// Bytes returns the token's payload without copying it: the text of a StringChunk, the
// name of a Property or Signal, the class of an ObjectStart, the elements of a Chunk or
// the components of a math type in little-endian order, or the data of an InputEvent.
// The caller must not modify the slice. It is valid until the next call on the Decoder.
func (t Token) Bytes() []byte {
	n := t.payloadLen()
	if n == 0 {
		return nil
	}
	if t.src.mark != t.pos { // positions never repeat, so no later token gets the same mark
		panic("gdwire: token used after the next call on its Decoder; Clone it to keep it")
	}
	i := t.pos.pos() - t.src.base + t.offset()
	return t.src.buf[i : i+uint64(n) : i+uint64(n)]
}

// Text returns [Token.Bytes] as a string: the text of a StringChunk, the name of a
// Property or Signal, or the class of an ObjectStart.
func (t Token) Text() string { return string(t.Bytes()) }

// Len returns the number of elements of an ArrayStart or PackedStart, of pairs of a
// DictStart, of properties of an ObjectStart, of names and sub-names of a NodePathStart,
// and of bytes of an ImageStart. For a Chunk it returns the number of elements in the
// chunk, and for a StringChunk the number of bytes in the whole string. It is [Unknown]
// only in tokens that were created for an Encoder.
//
// For a packed string split into several chunks, Len includes the terminating NUL that
// engines write, because only the last chunk shows whether there is one.
func (t Token) Len() int64 {
	switch t.Kind() {
	case KindNodePathStart:
		return int64(t.bits&math.MaxUint32 + t.bits>>32)
	case KindStringChunk, KindObjectStart, KindDictStart, KindArrayStart, KindPackedStart, KindImageStart, KindChunk:
		return int64(t.bits)
	}
	return 0
}

// Last reports whether the token is the last StringChunk of its string.
func (t Token) Last() bool { return t.Kind() == KindStringChunk && t.has(flagLast) }

// Bool returns the value of a Bool.
func (t Token) Bool() bool { return t.Kind() == KindBool && t.bits != 0 }

// Int returns the value of an int. For a float it returns the value without its
// fraction, limited to the range of int64, and 0 for NaN.
func (t Token) Int() int64 {
	switch t.Kind() {
	case KindInt32:
		return int64(int32(t.bits))
	case KindInt64:
		return int64(t.bits)
	case KindFloat32, KindFloat64:
		switch x := t.Float(); { // what Go's conversion gives for these depends on the processor
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

// Float returns the value of a float, or the float64 nearest to an int.
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

// ID returns the id of an ObjectID or RID, or of the object of a Signal. The id of an
// RID is 0 in formats before Godot 4, which do not encode it.
func (t Token) ID() uint64 {
	switch t.Kind() {
	case KindObjectID, KindRID, KindSignal:
		return t.bits
	}
	return 0
}

// Width returns the number of encoded bits of an int, a float, a component of a math
// type, or a component of an element of a PackedStart or Chunk. It returns 0 for tokens
// without numbers.
func (t Token) Width() int { return t.unit().Size() * 8 }

// NodePath returns the numbers of names and sub-names of a NodePathStart, and whether the
// NodePath is absolute. In the form before Godot 3, a NodePath is one string, which
// counts as its only name.
func (t Token) NodePath() (names, subnames int64, absolute bool) {
	if t.Kind() != KindNodePathStart {
		return 0, 0, false
	}
	return int64(t.bits & math.MaxUint32), int64(t.bits >> 32), t.has(flagAbsolute)
}

// Image returns the format, the number of mipmaps, and the width and height in pixels
// of an ImageStart.
func (t Token) Image() (format, mipmaps, width, height uint32) {
	if t.Kind() != KindImageStart {
		return
	}
	b := t.Bytes()
	return le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
}

// Event returns the type and the device of an InputEvent. [Token.Bytes] returns its
// data.
func (t Token) Event() (event, device uint32) {
	if t.Kind() != KindInputEvent {
		return
	}
	return uint32(t.bits), uint32(t.bits >> 32)
}

// Components returns the number of components of a math type, and 0 for other kinds.
func (t Token) Components() int {
	return int(layouts[t.Kind()].components) // the kinds of math types have the numbers of their types
}

// Real returns component i of a math type, including integer vectors, in encoded order:
// a Basis is encoded by rows. It returns 0 if there is no such component.
func (t Token) Real(i int) float64 {
	if uint(i) >= uint(t.Components()) {
		return 0
	}
	b := t.Bytes()
	return wire.Float(b[i*t.unit().Size():], t.unit())
}

// AppendReals appends the components of a math type to dst in encoded order, such as
// the three rows of a Basis.
func (t Token) AppendReals(dst []float64) []float64 {
	n := t.Components()
	if n == 0 {
		return dst
	}
	b, at := t.Bytes(), len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	if u := t.unit(); u == wire.Float32 { // inlined: -3 % of the tokens of 64 bytes with their values
		wire.WidenFloats(dst[at:], b)
	} else {
		wire.Floats(dst[at:], b, u)
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

// Vector4 returns the components of a Vector4, Vector4i, Rect2, Rect2i, Plane,
// Quaternion or Color.
func (t Token) Vector4() (v [4]float64) {
	t.vector(v[:])
	return v
}

func (t Token) vector(v []float64) {
	if t.Components() == len(v) {
		t.AppendReals(v[:0])
	}
}

// Elem returns the declared type of an ArrayStart's elements or a DictStart's values.
func (t Token) Elem() Elem {
	switch t.Kind() {
	case KindArrayStart:
		e, _ := readElem(t.Bytes(), t.elemKind())
		return e
	case KindDictStart: // the declared type of the keys comes first
		b := t.Bytes()
		_, n := readElem(b, t.elemKind())
		e, _ := readElem(b[n:], t.valueKind())
		return e
	}
	return Elem{}
}

// KeyElem returns the declared type of a DictStart's keys.
func (t Token) KeyElem() Elem {
	if t.Kind() != KindDictStart {
		return Elem{}
	}
	e, _ := readElem(t.Bytes(), t.elemKind())
	return e
}

// String returns a description of the token on one line, for messages.
func (t Token) String() string {
	k := t.Kind()
	if t.payloadLen() > 0 && t.src.mark != t.pos { // messages must not panic
		return k.String() + " (stale)"
	}
	switch k {
	case 0, KindNil, KindCallable, KindDictKey, KindEnd:
		return k.String()
	case KindBool:
		return fmt.Sprint("Bool ", t.Bool())
	case KindInt32, KindInt64, KindFloat32, KindFloat64:
		return fmt.Sprint(k, " ", t.number())
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
		names, subnames, absolute := t.NodePath()
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

// typed returns declared types in the form of GDScript, such as " [String, int]", or ""
// if no type is declared.
func typed(elems ...Elem) string {
	s, found := "[", false
	for i, e := range elems {
		if i > 0 {
			s += ", "
		}
		if e == (Elem{}) {
			s += "Variant"
		} else {
			name := strconv.Quote(e.String()) // the sender chooses the names of classes
			s += name[1 : len(name)-1]
			found = true
		}
	}
	if !found {
		return ""
	}
	return " " + s + "]"
}

// number returns the value of an int or float, for messages.
func (t Token) number() any {
	if t.Type() == TypeInt {
		return t.Int()
	}
	return t.Float()
}
