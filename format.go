package gdwire

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// le is the byte order of all formats.
var le = binary.LittleEndian

// The tables in this file describe all formats. A value starts with a header of 32
// bits. In Godot 4, the header of a Vector3 with components of 64 bits is 0x00010009:
//
//	0x00010009 & godot4.idMask   9, the type id
//	godot4.types[9]              TypeVector3
//	0x00010009 >> 16             1, the flags: bit 16 is set
//
//	layouts[TypeVector3]         3 components, float32 or float64, class classReal
//	godot4.width[classReal]      flagged: bit 16 selects 64 bits
//	formIndex(0x00010009)        64 + 9: the forms with bit 16 follow those without it
//	godot4.forms[0].byHeader[73] TypeVector3, KindVector3, unit float64, size 24 bytes
//
// A layout, in type.go, describes a type in all formats, and a formatData how one family of engines
// encodes the types. makeForms combines them to a form for each type id and both values of bit 16.
// Decoder and Encoder use only forms.

// A Format identifies the encoding of one family of engines, or of one manual: the ids of
// its types and the widths of its numbers. 0 selects the default, [Godot4]. The first call
// on a Decoder or Encoder with an unlisted number returns an [Error]. Numbers never
// change.
type Format uint8

// The supported formats. Redot and Xogot use Godot4; the manual of Mole describes
// Godot2.
//
// The formats of manuals are those of programs written from the manual. No engine
// uses them.
const (
	// Godot4 is the format of Godot 4.0 to 4.7 and its relatives.
	Godot4 Format = iota + 1
	// Godot3 is the format of Godot 3.x.
	Godot3
	// Godot2 is the format of Godot 2.x.
	Godot2
	// Manual4 is the format in the 4.x manuals of Redot and Xogot.
	Manual4
	// Manual3 is the format in the 3.x manual: an int is 64 bits wide and a float 32.
	Manual3
	// Manual30 is the format in the 3.0 manual: int and float have 32 bits.
	Manual30

	numFormats
)

// Formats returns all formats: those of engines, [Godot4] first, and then those of manuals.
func Formats() []Format { return []Format{Godot4, Godot3, Godot2, Manual4, Manual3, Manual30} }

// Has reports whether the format includes type t.
func (f Format) Has(t Type) bool { return f.data().has(t) }

// String returns the format's name: godot4, godot3, godot2, manual4, manual3
// or manual30. For 0, String returns the name of the default, and for an unknown number a text
// such as Format(200).
func (f Format) String() string {
	if data := f.data(); data != &unknownFormat {
		return data.name
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// MarshalText returns the result of String, or an error for an unknown number.
func (f Format) MarshalText() ([]byte, error) {
	if f.data() == &unknownFormat {
		return nil, fmt.Errorf("gdwire: unknown format %d", uint8(f))
	}
	return []byte(f.String()), nil
}

// UnmarshalText sets f to the format of the given name, so that [flag.TextVar] and encoding/json
// accept the names of String. For any other text, UnmarshalText returns an error listing the names
// and leaves f unchanged.
func (f *Format) UnmarshalText(text []byte) error {
	names := make([]string, 0, numFormats)
	for _, known := range Formats() {
		if known.String() == string(text) {
			*f = known
			return nil
		}
		names = append(names, known.String())
	}
	return fmt.Errorf("gdwire: unknown format %q, not one of %s", text, strings.Join(names, ", "))
}

// formats contains the descriptions of the known numbers: Godot4 for 0.
var formats = [...]*formatData{
	0: &godot4, Godot4: &godot4, Godot3: &godot3, Godot2: &godot2, Manual4: &manual4, Manual3: &manual3, Manual30: &manual30,
}

// unknownFormat contains no types. All calls on its Decoders and Encoders return an error.
var unknownFormat formatData

// data returns the description of the format. It is read-only.
func (f Format) data() *formatData {
	data := &unknownFormat
	if int(f) < len(formats) {
		data = formats[f]
	}
	data.once.Do(data.makeForms)
	return data
}

// unknownFormatError returns the cause of that error.
func unknownFormatError(f Format) error {
	return wrapf(ErrRange, "unknown format %d", uint8(f))
}

// A formatData describes a format.
type formatData struct {
	name string
	// types contains the types in the order of their ids.
	types []Type
	// idMask selects the bits of the type id in a header. If they are at most
	// 16, bits 16 to 31 are flags.
	idMask uint32
	// width contains the width of each class of numbers.
	width [numClasses]width
	// engine is set for the formats of engines: packed strings end in a NUL, and
	// a negative count of packed strings or properties means 0.
	engine bool
	// nullObject is set if a serialized object without a class name means null even
	// if AllowObjects is not set.
	nullObject bool
	// typed is set if arrays and dictionaries can declare types.
	typed bool
	// shared is set if bit 31 of a count is a flag, to be kept.
	shared bool
	// oldNodePath is set if a NodePath can be one string.
	oldNodePath bool
	// property is set if bit 1 of a NodePath's flags adds one sub-name, and
	// keepProperty if the bit is also written.
	property, keepProperty bool
	// wideInts is set if early engines write all ints in 64 bits.
	wideInts bool
	// garbagePadding is set if engines leave the content of padding undefined.
	garbagePadding bool
	// optionalPadding contains the types with padding that can be missing at the end of a packet.
	optionalPadding []Type

	// forms holds the forms with DoubleReals at index 1, and those without it at index 0. makeForms
	// computes them from the fields above, when the format is first used.
	forms *[2]formTable
	once  sync.Once // of makeForms
}

// A formTable holds the forms of a format.
//
// Here and elsewhere, a mask without effect on valid indices, as in
// byType[t&63][wide&1], hasPairs[k&127] or a shift by n&63, shows the compiler the range
// and so saves a check.
type formTable struct {
	byHeader [numForms]form // by formIndex; at offset 0, so that its address need not be computed
	byType   [64][2]form    // the same forms: without bit 16 in the header, and with it
	idMask   uint32         // a copy from the formatData

	// headers holds the headers of bools and numbers, by kind, or noHeader. Typed reads compare
	// with them: -1.8 % of typed reads of known shape against finding the form.
	headers [numKinds]uint64
	sizes   fixedSizes
	// steps is for measure: as sizes, but stepArray and stepDict for containers, and 0 for math types of 64 bits.
	steps [numForms]uint8

	// floats holds the sizes of math types with components of float32, by type, or noFloats.
	floats [256]uint8
}

// noFloats is the size of no math type.
const noFloats = 255

const numForms = 128

// noHeader differs from all headers, which have 32 bits.
const noHeader = 1 << 32

// formIndex returns the index of the form for header h: the type id, and 64 more with bit
// 16. The form belongs to h only if form.header equals h.
func formIndex(h uint32) uint32 { return h&63 | h>>10&64 }

// formBits are the bits of a header used by formIndex.
const formBits = 63 | wideFlag<<16

// find returns the form of header h, and whether the flags of h are only those of the form. The
// fast path reads only such values.
//
// The headers of all forms have no bits but those of formIndex, so one mask is enough for them.
func (table *formTable) find(h uint32) (*form, bool) {
	form := &table.byHeader[(h|h>>10)&(numForms-1)]
	return form, form.header == h
}

// lookup returns the form of header h with any flags, or nil if the format does not include
// the type.
func (table *formTable) lookup(h uint32) *form {
	if form := &table.byHeader[formIndex(h)]; h&table.idMask < numForms/2 && form.typ != 0 {
		return form
	}
	return nil
}

// formAt returns the form of the value at r in buf and its first bytes, or nil.
func (table *formTable) formAt(buf []byte, r int) (f *form, b *[fastSize]byte) {
	if r <= len(buf)-fastSize {
		b = (*[fastSize]byte)(buf[r:])
		if form, ok := table.find(le.Uint32(b[:])); ok {
			f = form
		}
	}
	return
}

// fixedSizes holds the sizes of numbers and math types by formIndex, and 0 for other values: -6 % of
// SkipValue against finding the form.
type fixedSizes [numForms]uint8

// of returns the size of a value with header h.
func (sizes *fixedSizes) of(h uint32) int {
	if h&^formBits != 0 {
		return 0
	}
	return int(sizes[(h|h>>10)&(numForms-1)])
}

// The steps of containers are larger than all sizes, by the number of values in a pair or element.
const (
	stepArray = 254
	stepDict  = 255
)

// fastSize is the number of bytes loaded by the fast path for a value: a header and a number, or a
// header, a length and up to eight bytes of text. Values in fewer bytes, at the end of the buffer,
// are for lastForm or the slow path.
const fastSize = 16

const (
	// stringHeader is the header of a String in every format.
	stringHeader = 4
	// stringHead is the head of its form.
	stringHead = uint64(KindStringChunk) | uint64(TypeString)<<8 | uint64(flagLast|2<<offsetShift)<<16
)

// keyBytes is the number of bytes loaded by readKey and stored by writeKey.
const keyBytes = 8 + internal.MaxKey

// The properties of each format.
var (
	godot4 = formatData{
		name: "godot4", types: godot4Types, idMask: 0xFF,
		width:  [numClasses]width{classInt: flagged, classFloat: flagged, classReal: flagged, classObject: flagged, classRID: wide},
		engine: true, typed: true, property: true,
		optionalPadding: []Type{TypePackedByteArray},
	}
	godot3 = formatData{
		name: "godot3", types: godot3Types, idMask: 0xFF,
		width:  [numClasses]width{classInt: flagged, classFloat: flagged, classObject: flagged},
		engine: true, property: true, wideInts: true,
		optionalPadding: []Type{TypePackedByteArray},
	}
	godot2 = formatData{
		name: "godot2", types: godot2Types, idMask: 0xFFFFFFFF,
		engine: true, shared: true, oldNodePath: true, property: true, keepProperty: true, garbagePadding: true,
		optionalPadding: []Type{TypeString, TypePackedByteArray, TypeImage},
	}
	manual4 = formatData{
		name: "manual4", types: manual4Types, idMask: 0xFFFF,
		width:      [numClasses]width{classInt: flagged, classFloat: flagged, classObject: flagged},
		nullObject: true, oldNodePath: true,
	}
	manual3 = formatData{
		name: "manual3", types: godot3Types, idMask: 0xFFFFFFFF,
		width:       [numClasses]width{classInt: wide},
		oldNodePath: true,
	}
	manual30 = formatData{
		name: "manual30", types: godot3Types, idMask: 0xFFFFFFFF,
		oldNodePath: true,
	}
)

// has reports whether the format includes type t.
func (f *formatData) has(t Type) bool { return f.forms[0].byType[t&63][0].typ == t }

// String returns the name, for errors.
func (f *formatData) String() string { return f.name }

// mayLackPadding reports whether engines accept a t without its padding at the end of
// a packet.
func (f *formatData) mayLackPadding(t Type) bool { return slices.Contains(f.optionalPadding, t) }

// nul returns the number of NULs, 0 or 1, that engines write after each string of a t.
func (f *formatData) nul(t Type) uint32 {
	if t == TypePackedStringArray && f.engine {
		return 1
	}
	return 0
}

// typeOf returns the type with the given id, or 0 if there is none.
func (f *formatData) typeOf(id uint32) Type {
	if id < uint32(len(f.types)) {
		return f.types[id]
	}
	return 0
}

// The types of each format, in the order of their ids.
var (
	godot4Types = []Type{
		TypeNil, TypeBool, TypeInt, TypeFloat, TypeString,
		TypeVector2, TypeVector2i, TypeRect2, TypeRect2i, TypeVector3, TypeVector3i, TypeTransform2D, TypeVector4, TypeVector4i,
		TypePlane, TypeQuaternion, TypeAABB, TypeBasis, TypeTransform3D, TypeProjection,
		TypeColor, TypeStringName, TypeNodePath, TypeRID, TypeObject, TypeCallable, TypeSignal, TypeDictionary, TypeArray,
		TypePackedByteArray, TypePackedInt32Array, TypePackedInt64Array, TypePackedFloat32Array, TypePackedFloat64Array,
		TypePackedStringArray, TypePackedVector2Array, TypePackedVector3Array, TypePackedColorArray, TypePackedVector4Array,
	}
	manual4Types = []Type{
		TypeNil, TypeBool, TypeInt, TypeFloat, TypeString,
		TypeVector2, TypeRect2, TypeVector3, TypeTransform2D, TypePlane, TypeQuaternion, TypeAABB, TypeBasis, TypeTransform3D,
		TypeColor, TypeNodePath, TypeRID, TypeObject, TypeDictionary, TypeArray,
		TypePackedByteArray, TypePackedInt32Array, TypePackedInt64Array, TypePackedFloat32Array, TypePackedFloat64Array,
		TypePackedStringArray, TypePackedVector2Array, TypePackedVector3Array, TypePackedColorArray,
	}
	godot3Types = []Type{
		TypeNil, TypeBool, TypeInt, TypeFloat, TypeString,
		TypeVector2, TypeRect2, TypeVector3, TypeTransform2D, TypePlane, TypeQuaternion, TypeAABB, TypeBasis, TypeTransform3D,
		TypeColor, TypeNodePath, TypeRID, TypeObject, TypeDictionary, TypeArray,
		TypePackedByteArray, TypePackedInt32Array, TypePackedFloat32Array,
		TypePackedStringArray, TypePackedVector2Array, TypePackedVector3Array, TypePackedColorArray,
	}
	godot2Types = []Type{
		TypeNil, TypeBool, TypeInt, TypeFloat, TypeString,
		TypeVector2, TypeRect2, TypeVector3, TypeTransform2D, TypePlane, TypeQuaternion, TypeAABB, TypeBasis, TypeTransform3D,
		TypeColor, TypeImage, TypeNodePath, TypeRID, TypeObject, TypeInputEvent, TypeDictionary, TypeArray,
		TypePackedByteArray, TypePackedInt32Array, TypePackedFloat32Array,
		TypePackedStringArray, TypePackedVector2Array, TypePackedVector3Array, TypePackedColorArray,
	}
)

// A width decides between the narrow and the wide unit of a layout.
type width uint8

const (
	narrow width = iota
	wide
	flagged // wide if bit 16 of the header is set
)

// A form describes how a format encodes a type at one width.
type form struct {
	head        uint64 // Token.head of its first token
	mask        uint64 // selects the number of a shapeWord in the eight bytes after the header
	header      uint32 // the header, without the flags of declared types
	headerFlags uint16 // the flags allowed in the header, bit 16 of the header first
	shape       shape
	content     // typ is 0 if the id is unknown in the format
}

// wideFlag is bit 16 of a header, in form.headerFlags.
const wideFlag = 1

// makeForms computes the forms.
func (f *formatData) makeForms() {
	f.forms = new([2]formTable)
	for double := range f.forms {
		table := &f.forms[double]
		table.idMask = f.idMask
		table.byType[0][0].typ = noType // Type 0 is none, see Encoder.begin.
		for k := range table.headers {
			table.headers[k] = noHeader
		}
		for t := range table.floats {
			table.floats[t] = noFloats
		}
		for id, t := range f.types {
			r := f.newForms(t, uint32(id), double == 1)
			table.byType[t] = r
			if r[0].shape == shapeMath && r[0].unit == wire.Float32 {
				table.floats[t] = r[0].size
			}
			for bit, form := range r {
				table.byHeader[id+bit*numForms/2] = form
				table.headers[form.kind] = uint64(form.header)
				i := formIndex(form.header)
				if form.shape <= shapeMath {
					table.sizes[i] = 4 + form.size
				}
				switch {
				case form.shape == shapeArray:
					table.steps[i] = stepArray
				case form.shape == shapeDict:
					table.steps[i] = stepDict
				case form.shape != shapeMath || form.header < wideFlag<<16:
					table.steps[i] = table.sizes[i]
				}
			}
		}
	}
}

func (f *formatData) newForms(t Type, id uint32, double bool) (r [2]form) {
	l := &layouts[t]
	w := f.width[l.class]
	// In the manuals, double-precision builds set no flag, and their colors are wide.
	if double && !f.engine && (l.class == classReal || l.class == classColor) {
		w = wide
	}
	flags := uint16(0)
	switch {
	case w == flagged:
		flags = wideFlag
	case t == TypeArray && f.typed:
		flags = 3
	case t == TypeDictionary && f.typed:
		flags = 3 | 3<<2
	}
	for bit := range r {
		i := bit
		if w != flagged { // bit 16 says nothing
			i = int(w)
		}
		u := l.units[i]
		r[bit] = form{shape: l.shape, content: content{typ: t, kind: l.kinds[i], unit: u, size: l.n * uint8(u.Size())}}
		if l.class == classObject && w == flagged && bit == 0 { // the only type with two shapes
			r[bit] = form{shape: shapeObject, content: content{typ: t, kind: KindObjectStart}}
		}
		r[bit].complete(id, flags, uint32(bit))
	}
	return r
}

// complete sets the fields derived from the others.
func (f *form) complete(id uint32, flags uint16, bit uint32) {
	if f.kind == 0 {
		f.kind = Kind(f.typ)
	}
	f.header, f.headerFlags, f.pairs = id, flags, hasPairs[f.kind&127]
	if f.shape != shapeArray && f.shape != shapeDict { // where bit 16 declares a type
		f.header |= bit & uint32(flags) << 16
	}
	f.head = tokenHead(f.kind, f.typ, tokenFlags(f.unit))
	switch f.shape {
	case shapeWord:
		f.mask = 1<<(8*f.size) - 1 // for a size of 8, the shift gives 0 and the mask is all ones
	case shapeMath:
		f.head |= uint64(f.size)<<32 | uint64(flagOffset(4))<<16
	case shapeText:
		f.head |= uint64(flagLast|flagOffset(8)) << 16
	}
}

// put puts a header and a word into b; the size of the word is f.size.
func (f *form) put(b *[fastSize]byte, word uint64) {
	le.PutUint32(b[:], f.header)
	le.PutUint64(b[4:], word)
}

// canonicalNumber returns an error unless the number of a form is encoded in the fewest bits, a
// bool is 0 or 1, and an object's id is not 0.
func (f *formatData) canonicalNumber(form *form, bits uint64) error {
	flagged := f.width[layouts[form.typ].class] == flagged
	narrow, wide := math.Float32frombits(uint32(bits)), math.Float64frombits(bits)
	// An engine writes a float in 32 bits if the value stays the same. It compares by ==, so a NaN,
	// equal to nothing, is written in 64 bits.
	switch k := form.kind; {
	case k == KindBool && bits > 1:
		return notCanonical("bool of %d", bits)
	case k == KindInt64 && flagged && !f.wideInts && int64(bits) == int64(int32(bits)):
		return notCanonical("int %d in 64 bits", int64(bits))
	case k == KindFloat32 && flagged && f.engine && narrow != narrow:
		return notCanonical("NaN in 32 bits")
	case k == KindFloat64 && flagged && wide == float64(float32(wide)):
		return notCanonical("float %v in 64 bits", wide)
	case k == KindObjectID && form.size == 8 && bits == 0:
		return notCanonical("object id 0")
	}
	return nil
}

// Bits of a NodePath: newNodePathBit is in its first word, the others are in its flags.
const (
	newNodePathBit   = 1 << 31
	nodePathAbsolute = 1 << 0
	nodePathProperty = 1 << 1
)

// sharedBit is bit 31 of an array's or dictionary's count. Godot 2 keeps it with the value; other
// engines ignore it.
const sharedBit = 1 << 31

// strictSeen is the set of alternatives seen by Strict in a top-level value. An engine
// uses only one of two alternatives in a value: math types of 32 or of 64 bits, and
// serialized objects or ids. Each class occupies two bits.
type strictSeen uint32

// both adds the alternative of a value of type t with header h, and reports whether both were seen.
func (s *strictSeen) both(f *formatData, t Type, h uint32) bool {
	c := layouts[t].class
	if f.width[c] != flagged || c != classReal && c != classObject {
		return false
	}
	*s |= 1 << (h >> 16 & 1) << (2 * c)
	return *s>>(2*c)&3 == 3
}

func isNumber(f *form) bool { return f.typ == TypeInt || f.typ == TypeFloat }

func isText(f *form) bool { return f.shape == shapeText }

func isPacked(f *form) bool { return f.shape == shapePacked }

func isTextOrNodePath(f *form) bool { return f.shape == shapeText || f.shape == shapeNodePath }

// bit returns 1 for true: as the encoding of a bool, or as an index of forms.
func bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

// An Elem is the declared type of the elements of a typed Array, or of the keys or
// values of a typed Dictionary. The zero Elem declares no type. More fields may be added, so use
// keyed literals. Elems are compared with ==.
type Elem struct {
	// Type is a built-in type, or TypeObject if Class or Script is set.
	Type Type
	// Class is the name of an engine's class.
	Class string
	// Script is the res:// path of a script. If Script is set, Class is ignored.
	Script string
}

// String returns the name of the type, class or script.
func (e Elem) String() string {
	name := cmp.Or(e.Script, e.Class)
	if name == "" && e.Type != 0 {
		return e.Type.String()
	}
	return name
}

// A containerKind is the encoding of an Elem, as in the flags of a header.
type containerKind uint8

const (
	containerUntyped containerKind = iota
	containerBuiltin               // type id of 32 bits
	containerClass                 // name of a class
	containerScript                // path of a script
)

// kind returns how e is encoded. A script is more special than a class, and a class than a type.
func (e Elem) kind() containerKind {
	switch {
	case e.Script != "":
		return containerScript
	case e.Class != "":
		return containerClass
	case e.Type != 0:
		return containerBuiltin
	}
	return containerUntyped
}

// typ returns the type of the values, or 0 for any: TypeObject for a class or script.
func (e Elem) typ() Type {
	if e.kind() >= containerClass {
		return TypeObject
	}
	return e.Type
}

// declaredElem decodes the declared type at the start of b, checked by a Decoder or made by
// appendElem, and returns the built-in type, the name of the class or script as a part of b, and
// the number of bytes. The ids are those of Godot 4, the only format with typed containers.
func declaredElem(b []byte, k containerKind) (t Type, name []byte, size int) {
	if k == containerUntyped {
		return 0, nil, 0
	}
	n := le.Uint32(b)
	if k == containerBuiltin {
		return Godot4.data().typeOf(n), nil, 4
	}
	return TypeObject, b[4 : 4+n], 4 + int(wire.Padded(n))
}

// readElem decodes the declared type at the start of b to an Elem, and also returns
// the number of bytes.
func readElem(b []byte, k containerKind) (Elem, int) {
	t, name, size := declaredElem(b, k)
	e := Elem{Type: t}
	switch k {
	case containerClass:
		e.Class = string(name)
	case containerScript:
		e.Script = string(name)
	}
	return e, size
}

// appendElem appends the encoding of e, the inverse of readElem.
func appendElem(b []byte, e Elem) []byte {
	switch k := e.kind(); k {
	case containerBuiltin:
		id := uint32(0) // invalid: ArrayStart returns no error, so the Encoder refuses it
		if Godot4.Has(e.Type) {
			id = Godot4.data().forms[0].byType[e.Type][0].header
		}
		b = le.AppendUint32(b, id)
	case containerClass, containerScript:
		b = appendName(b, e.String())
	}
	return b
}

// appendName appends the length of a name, the name and its padding.
func appendName(b []byte, name string) []byte {
	b = le.AppendUint32(b, uint32(len(name)))
	b = append(b, name...)
	return append(b, wire.Zeros(wire.Padding(uint32(len(name))))...)
}

// Packable is the set of Go types for elements of packed arrays: numbers, and arrays
// of numbers for vectors and colors.
type Packable interface {
	~byte | ~int32 | ~int64 | ~float32 | ~float64 |
		~[2]float32 | ~[3]float32 | ~[4]float32 | ~[2]float64 | ~[3]float64 | ~[4]float64
}

// units describes the components of an element of a packed array.
type units struct {
	unit wire.Unit
	n    uint8
}

func (u units) size() int { return u.unit.Size() * int(u.n) }

// typeUnits returns the units of a T.
func typeUnits[T Packable]() units {
	u, n := wire.UnitOf[T]()
	return units{u, uint8(n)}
}

// units returns the units of the elements of packed data.
func (c *content) units() units { return units{c.unit, layouts[c.typ].n} }

func (u units) convertTo(v units) bool { return u.n == v.n && u.unit.ConvertsTo(v.unit) }

func (u units) mismatch(v units) error {
	return wrapf(ErrType, "got elements of %d × %v, want %d × %v", u.n, u.unit, v.n, v.unit)
}
