package gdjson

import "github.com/gdwire/gdwire"

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

// shapes has the shapes of math types, packed arrays and Image.
var shapes = [256]shape{
	gdwire.TypeVector2:     {unit: unitReal, n: 2, math: true},
	gdwire.TypeVector2i:    {unit: unitInt32, n: 2, math: true},
	gdwire.TypeRect2:       {unit: unitReal, n: 4, math: true},
	gdwire.TypeRect2i:      {unit: unitInt32, n: 4, math: true},
	gdwire.TypeVector3:     {unit: unitReal, n: 3, math: true},
	gdwire.TypeVector3i:    {unit: unitInt32, n: 3, math: true},
	gdwire.TypeTransform2D: {unit: unitReal, n: 6, math: true},
	gdwire.TypeVector4:     {unit: unitReal, n: 4, math: true},
	gdwire.TypeVector4i:    {unit: unitInt32, n: 4, math: true},
	gdwire.TypePlane:       {unit: unitReal, n: 4, math: true},
	gdwire.TypeQuaternion:  {unit: unitReal, n: 4, math: true},
	gdwire.TypeAABB:        {unit: unitReal, n: 6, math: true},
	gdwire.TypeBasis:       {unit: unitReal, n: 9, math: true, wire: basisColumns},
	gdwire.TypeTransform3D: {unit: unitReal, n: 12, math: true, wire: transform3DColumns},
	gdwire.TypeProjection:  {unit: unitReal, n: 16, math: true},
	gdwire.TypeColor:       {unit: unitReal, n: 4, math: true},

	gdwire.TypePackedByteArray:    {unit: unitByte, n: 1},
	gdwire.TypePackedInt32Array:   {unit: unitInt32, n: 1},
	gdwire.TypePackedInt64Array:   {unit: unitInt64, n: 1},
	gdwire.TypePackedFloat32Array: {unit: unitReal, n: 1},
	gdwire.TypePackedFloat64Array: {unit: unitReal, n: 1},
	gdwire.TypePackedStringArray:  {unit: unitText, n: 1},
	gdwire.TypePackedVector2Array: {unit: unitReal, n: 2},
	gdwire.TypePackedVector3Array: {unit: unitReal, n: 3},
	gdwire.TypePackedColorArray:   {unit: unitReal, n: 4},
	gdwire.TypePackedVector4Array: {unit: unitReal, n: 4},

	gdwire.TypeImage: {unit: unitByte, n: 1},
}

// types has the built-in types by name.
var types = func() map[string]gdwire.Type {
	m := make(map[string]gdwire.Type)
	for t := gdwire.TypeNil; t <= gdwire.TypeInputEvent; t++ {
		m[t.String()] = t
	}
	return m
}()

// declaredText returns the string for e in elem_type, key_type or value_type, as the
// engine writes it: the name of a built-in type, a class, or the res:// path of a
// script. ok is false if the engine would read the string as one of the other two.
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

// isBuiltin reports whether the engine reads s as a built-in type. "Object" is not
// one, because the engine reads it as the class.
func isBuiltin(s string) bool {
	t, ok := types[s]
	return ok && t != gdwire.TypeObject
}

// isScript reports whether the engine reads s as the path of a script.
func isScript(s string) bool { return len(s) >= 6 && s[:6] == "res://" }
