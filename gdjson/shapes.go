package gdjson

import (
	"math/bits"

	"github.com/gdwire/gdwire"
)

// A shape describes the args of a type.
type shape struct {
	unit unit
	n    int // components of a math type, or of an element of a packed array
	math bool
	wire []int // the index of each arg in the binary format, if the order differs
}

// A unit is the kind of a number in args.
type unit uint8

const (
	unitNone unit = iota
	unitByte
	unitInt32
	unitInt64
	unitReal // float32 or float64, by the width of the token
	unitText // a plain string
)

// JSON lists a Basis by columns, the binary format by rows.
var (
	basisColumns       = []int{0, 3, 6, 1, 4, 7, 2, 5, 8}
	transform3DColumns = []int{0, 3, 6, 1, 4, 7, 2, 5, 8, 9, 10, 11}
)

// shapes contains the shapes of math types, packed arrays and Image.
var shapes = func() (all [256]shape) {
	for _, t := range gdwire.Types() {
		n, integers := t.Components()
		elem := t.Element()
		s := &all[t]
		switch s.n = max(n, 1); {
		case n > 0:
			s.math, s.unit = true, numberUnit(integers, 32)
		case elem == gdwire.TypeString:
			s.unit = unitText
		case elem != 0:
			if n, integers = elem.Components(); n > 0 {
				s.n = n
			}
			s.unit = numberUnit(integers || elem == gdwire.TypeInt, t.ElementWidth())
		case t == gdwire.TypeImage:
			s.unit = unitByte
		default:
			s.n = 0
		}
	}
	all[gdwire.TypeBasis].wire, all[gdwire.TypeTransform3D].wire = basisColumns, transform3DColumns
	return all
}()

// numberUnit returns the unit of numbers of the given width.
func numberUnit(integers bool, bits int) unit {
	switch {
	case !integers:
		return unitReal
	case bits == 8:
		return unitByte
	case bits == 32:
		return unitInt32
	}
	return unitInt64
}

// types contains the built-in types by name.
var types = func() map[string]gdwire.Type {
	m := make(map[string]gdwire.Type)
	for _, t := range gdwire.Types() {
		m[t.String()] = t
	}
	return m
}()

// declaredText returns the string for e in elem_type, key_type or value_type, as the
// engine writes it: the name of a built-in type, a class, or the res:// path of a
// script. ok is false if the engine would read the string as another of these three.
// member is the kind of e: builtin, class or script.
func declaredText(e gdwire.Elem) (member, text string, ok bool) {
	text = e.String()
	switch {
	case e.Script != "":
		return "script", text, isScript(text)
	case e.Class != "":
		return "class", text, !isScript(text) && !isBuiltin(text)
	default:
		return "builtin", text, isBuiltin(text)
	}
}

// isBuiltin reports whether the engine reads s as a built-in type. The engine reads "Object" as the
// class, not as the built-in type.
func isBuiltin(s string) bool {
	t, ok := types[s]
	return ok && t != gdwire.TypeObject
}

// isScript reports whether the engine reads s as the path of a script.
func isScript(s string) bool { return len(s) >= 6 && s[:6] == "res://" }

// A member identifies a member of native objects by its name.
type member uint8

const (
	memberType member = iota
	memberArgs
	memberProps
	memberElemType
	memberKeyType
	memberValueType
	memberID
	memberName
	memberObject
	memberFormat
	memberMipmaps
	memberWidth
	memberHeight
	memberEvent
	memberDevice
	memberData
	numMembers
)

var memberNames = [numMembers]string{
	"type", "args", "props", "elem_type", "key_type", "value_type", "id", "name", "object",
	"format", "mipmaps", "width", "height", "event", "device", "data",
}

func memberOf(name []byte) (member, bool) {
	for i, s := range memberNames {
		if s == string(name) {
			return member(i), true
		}
	}
	return 0, false
}

// members holds the members of an object and the positions of their values.
type members struct {
	set memberSet
	at  [numMembers]cursor
}

func (m *members) has(i member) bool { return m.set&(1<<i) != 0 }

type memberSet uint32

func setOf(all ...member) (s memberSet) {
	for _, m := range all {
		s |= 1 << m
	}
	return s
}

// first returns the name of the first member in s.
func (s memberSet) first() string { return memberNames[bits.TrailingZeros32(uint32(s))] }
