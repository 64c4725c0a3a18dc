package text

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// A Value is the value in a line, or a key in a path.
type Value struct {
	Type gdwire.Type
	Form Form
	// Int is an int, 1 for true, the id of an RID, Object or Signal.
	Int int64
	// NoID reports whether an RID is without an id, as in formats other than Godot4.
	NoID bool
	// Numbers are a float, the components of a math type, or the leading
	// numbers of an Image or InputEvent.
	Numbers []float64
	// Single reports whether Numbers had 32 bits, and are printed with
	// fewer digits.
	Single bool
	// Short reports whether those Numbers that 32 bits can hold are printed as if they had 32.
	Short bool
	// Text is the text of a string or NodePath, the bytes of a PackedByteArray,
	// Image or InputEvent, the name of a Signal or of an Object's class.
	Text string
	// Key and Elem are the declared types of a Dictionary's keys, and of its
	// values or an Array's elements.
	Key, Elem gdwire.Elem
	// Items are the elements of a whole Array or packed array, or the keys of a Dictionary, or names
	// of an Object's properties, and the values, in turn. Parsed values contain them; FromToken returns containers
	// without items.
	Items []Value
	// Change is "+" or "-" if the value is added to the old value, or subtracted from it.
	Change string
	// Exact reports whether the value was written with its type, such as i:2.
	Exact bool
}

// A Form tells whether a Value is complete.
type Form uint8

// The forms of values.
const (
	Whole    Form = iota // a complete value
	Empty                // an empty container: [], {}, Array[int]([]), PackedInt32Array(), Object("Node", {})
	Declared             // a container's type without its content: Array[int], PackedInt32Array, Object("Node")
)

// signatures lists the arguments of values written as a call, one letter for each: r and i are real
// and integer components, u is a 32-bit number, d a 64-bit id, s a string, and x bytes in hexadecimal.
var signatures = func() map[gdwire.Type]string {
	all := map[gdwire.Type]string{
		gdwire.TypeRID: "d", gdwire.TypeObject: "d", gdwire.TypeCallable: "", gdwire.TypeSignal: "sd",
		gdwire.TypePackedByteArray: "x", gdwire.TypeImage: "uuuux", gdwire.TypeInputEvent: "uux",
	}
	for _, t := range gdwire.Types() {
		if n, integers := t.Components(); integers {
			all[t] = strings.Repeat("i", n)
		} else if n > 0 {
			all[t] = strings.Repeat("r", n)
		}
	}
	return all
}()

const (
	objectID = "ObjectID" // an Object as its id; a serialized one is Object("Class", {…})
	variant  = "Variant"  // any type, in the declaration of a Dictionary
)

// types contains the types by name.
var types = func() map[string]gdwire.Type {
	m := map[string]gdwire.Type{}
	for _, t := range gdwire.Types() {
		m[t.String()] = t
	}
	return m
}()

// IsKey reports whether the value can be written between brackets: is no container, packed
// array, Signal or Callable.
func (v *Value) IsKey() bool {
	if v.Form != Whole {
		return false
	}
	switch v.Type {
	case gdwire.TypeNil, gdwire.TypeBool, gdwire.TypeInt, gdwire.TypeFloat,
		gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath:
		return true
	case gdwire.TypeObject:
		return v.Items == nil // an id
	case gdwire.TypeRID:
		return !v.NoID
	}
	n, _ := v.Type.Components()
	return n > 0
}

// isContainerKey reports whether the value is an Array, a Dictionary or a packed array with its content. Paths are
// printed with the number of such a key, and read with the key, too.
func (v *Value) isContainerKey() bool {
	isContainer := v.Type == gdwire.TypeArray || v.Type == gdwire.TypeDictionary || v.Type.Element() != 0 && v.Type != gdwire.TypeImage
	return isContainer && v.Form != Declared
}

// isPathKey reports whether the value can be between brackets in a path that is read.
func (v *Value) isPathKey() bool { return v.IsKey() || v.isContainerKey() }

// String returns the value as text.
func (v Value) String() string { return string(v.Append(nil)) }

// Append appends the value as text.
func (v *Value) Append(dst []byte) []byte {
	if v.Form != Whole {
		return v.appendContainer(dst)
	}
	if v.Items != nil {
		return v.appendItems(dst)
	}
	switch v.Type {
	case gdwire.TypeNil:
		return append(dst, "null"...)
	case gdwire.TypeBool:
		return strconv.AppendBool(dst, v.Int != 0)
	case gdwire.TypeInt:
		return strconv.AppendInt(dst, v.Int, 10)
	case gdwire.TypeFloat:
		return v.appendReal(dst, v.Numbers[0])
	case gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath:
		return AppendQuoted(append(dst, Prefix(v.Type)...), v.Text)
	case gdwire.TypeObject:
		dst = append(dst, objectID...)
	default:
		dst = append(dst, v.Type.String()...)
	}
	return v.appendArguments(dst)
}

// Prefix returns the character before the quotes of a type of text.
func Prefix(t gdwire.Type) string {
	switch t {
	case gdwire.TypeStringName:
		return "&"
	case gdwire.TypeNodePath:
		return "^"
	}
	return ""
}

func (v *Value) signature() string {
	if v.NoID {
		return ""
	}
	return signatures[v.Type]
}

func (v *Value) appendArguments(dst []byte) []byte {
	dst = append(dst, '(')
	for i, arg := range v.signature() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		switch arg {
		case 'r':
			dst = v.appendReal(dst, v.Numbers[i])
		case 'i', 'u':
			dst = strconv.AppendInt(dst, int64(v.Numbers[i]), 10)
		case 'd':
			dst = strconv.AppendInt(dst, v.Int, 10)
		case 's':
			dst = AppendQuoted(dst, v.Text)
		case 'x':
			dst = append(dst, '"')
			dst = hex.AppendEncode(dst, []byte(v.Text))
			dst = append(dst, '"')
		}
	}
	return append(dst, ')')
}

func (v *Value) appendReal(dst []byte, x float64) []byte {
	if v.Single || v.Short && float64(float32(x)) == x {
		return AppendFloat32(dst, float32(x))
	}
	return AppendFloat(dst, x)
}

// AppendFloat appends nan, inf, -inf, or the shortest decimal that reads back as x, with a
// point or an exponent.
func AppendFloat(dst []byte, x float64) []byte { return appendFloat(dst, x, 64) }

// AppendFloat32 appends nan, inf, -inf, or the shortest decimal that rounds to x, as AppendFloat
// does.
func AppendFloat32(dst []byte, x float32) []byte { return appendFloat(dst, float64(x), 32) }

func appendFloat(dst []byte, x float64, bits int) []byte {
	if dst, ok := wire.AppendNonFinite(dst, x); ok {
		return dst
	}
	return wire.AppendFloat(dst, x, bits)
}

// appendContainer appends an empty container or a declaration.
func (v *Value) appendContainer(dst []byte) []byte {
	switch {
	case v.Form == Declared && v.isDeclared():
		return v.appendDeclared(dst)
	case v.Type.Element() != 0:
		return append(v.appendDeclared(dst), "()"...)
	}
	return v.AppendEnd(v.AppendStart(dst))
}

// appendItems appends a container with its content.
func (v *Value) appendItems(dst []byte) []byte {
	dst = v.AppendStart(dst)
	for i := range v.Items {
		if v.hasPairs() && i%2 == 1 {
			dst = append(dst, AfterKey...)
		} else {
			dst = AppendSeparator(dst, int64(i))
		}
		dst = v.Items[i].Append(dst)
	}
	return v.AppendEnd(dst)
}

// AfterKey is the text between a key or the name of a property and its value.
const AfterKey = ": "

// AppendSeparator appends the text before item or pair i of a container.
func AppendSeparator(dst []byte, i int64) []byte {
	if i > 0 {
		dst = append(dst, ", "...)
	}
	return dst
}

// hasPairs reports whether Items are keys or names, and values, in turn.
func (v *Value) hasPairs() bool {
	return v.Type == gdwire.TypeDictionary || v.Type == gdwire.TypeObject
}

// isDeclared reports whether a type is written before the items of a container.
func (v *Value) isDeclared() bool {
	return v.Type != gdwire.TypeArray && v.Type != gdwire.TypeDictionary || v.Key != (gdwire.Elem{}) || v.Elem != (gdwire.Elem{})
}

// appendDeclared appends the type of a container: Array[int] or Object("Node").
func (v *Value) appendDeclared(dst []byte) []byte {
	dst = append(dst, v.Type.String()...)
	switch v.Type {
	case gdwire.TypeObject:
		return append(AppendQuoted(append(dst, '('), v.Text), ')')
	case gdwire.TypeArray:
		return append(appendElem(append(dst, '['), v.Elem), ']')
	case gdwire.TypeDictionary:
		dst = appendElem(append(dst, '['), v.Key)
		return append(appendElem(append(dst, ", "...), v.Elem), ']')
	}
	return dst
}

// AppendStart appends the text before the items of a container: [ or Array[int]([.
func (v *Value) AppendStart(dst []byte) []byte {
	switch {
	case v.Type == gdwire.TypeObject:
		dst = v.appendDeclared(dst)
		dst = append(dst[:len(dst)-1], ", "...)
	case v.isDeclared():
		dst = append(v.appendDeclared(dst), '(')
	}
	if v.hasPairs() {
		return append(dst, '{')
	}
	return append(dst, '[')
}

// AppendEnd appends the text after the items of a container: ] or ]).
func (v *Value) AppendEnd(dst []byte) []byte {
	if v.hasPairs() {
		dst = append(dst, '}')
	} else {
		dst = append(dst, ']')
	}
	if v.isDeclared() {
		dst = append(dst, ')')
	}
	return dst
}

// appendElem appends a declared type: int, a class's name or a script's path.
func appendElem(dst []byte, e gdwire.Elem) []byte {
	switch name := e.String(); {
	case e == (gdwire.Elem{}):
		return append(dst, variant...)
	case e.Script != "":
		return AppendQuoted(dst, name)
	case e.Class != "" && (!wire.IsName(name) || name == variant || types[name] != 0):
		return AppendQuoted(append(dst, '&'), name)
	default:
		return append(dst, name...)
	}
}
