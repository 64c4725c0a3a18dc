package gdwire

// An Elem is what the elements of a typed Array, or the keys or values of a
// typed Dictionary, are declared to be. The zero Elem declares nothing.
type Elem struct {
	// Type is a built-in type; TypeObject where Class or Script is set.
	Type Type
	// Class is the name of an engine's class.
	Class string
	// Script is the res:// path of a script; Class is ignored then.
	Script string
}

// String returns the name of the type, class or script.
func (e Elem) String() string {
	switch e.kind() {
	case containerScript:
		return e.Script
	case containerClass:
		return e.Class
	case containerBuiltin:
		return e.Type.String()
	}
	return ""
}

// A containerKind is how an Elem stands on the wire.
type containerKind uint8

const (
	containerUntyped containerKind = iota
	containerBuiltin               // u32 type id
	containerClass                 // its name
	containerScript                // its path
)

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

// typ returns the type that what is declared must have, 0 for any.
func (e Elem) typ() Type {
	if e.kind() >= containerClass {
		return TypeObject
	}
	return e.Type
}

// declaredElem reads what stands at the start of b: the type that is asked for,
// the class's or script's name, and how many bytes it is. Only Godot 4 has typed
// containers, so its ids are meant.
func declaredElem(b []byte, k containerKind) (t Type, name []byte, size int) {
	if k == containerUntyped {
		return 0, nil, 0
	}
	n := le.Uint32(b)
	if k == containerBuiltin {
		return Godot4.typeOf(n), nil, 4
	}
	return TypeObject, b[4 : 4+n], 4 + int(padded(n))
}

// readElem returns the same as an Elem.
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

// appendElem appends what readElem reads.
func appendElem(b []byte, e Elem) []byte {
	switch k := e.kind(); k {
	case containerBuiltin:
		id := uint32(0) // declares nothing, and no Encoder lets it pass
		if Godot4.Has(e.Type) {
			id = Godot4.byType[0][e.Type][0].header
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
	return append(b, zeros[:padding(uint32(len(name)))]...)
}
