package gdwire

import (
	"cmp"

	"github.com/gdwire/gdwire/internal/wire"
)

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
