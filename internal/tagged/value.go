// Package tagged holds whole values in memory, with all details of a packet. Values are read and written
// by the calls of package gdwire, and as JSON with every type, in the form of the vectors of spec/vectors and
// spec/conform.
package tagged

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
)

var le = binary.LittleEndian

// A Value is a whole Variant in memory, for comparisons, with bits instead of numbers
// so that no NaN is changed.
type Value struct {
	Type     string   // the name in Godot 4; an object is ObjectID or Object
	Wide     bool     // numbers take 64 bits on the wire
	Bits     uint64   // a bool, an int, a float's bits as a float64; an id
	Text     string   // a string, a Signal's name, an Object's class
	Data     []byte   // of a PackedByteArray, Image or InputEvent
	Numbers  []uint64 // of math and packed types as int64 or float64; the header of an Image or InputEvent
	Absolute bool
	Names    []string // of a NodePath, an Object's properties, the strings of a PackedStringArray
	Subnames []string
	Key      Declared // of a Dictionary
	Elem     Declared
	Items    []Value // elements; key, value, key, value; the values of properties
}

// Declared is the element type of a typed container.
type Declared struct {
	Kind int // 1 built-in, 2 class, 3 script
	Name string
}

// TypeByName contains all types.
var TypeByName = func() map[string]gdwire.Type {
	m := map[string]gdwire.Type{}
	for _, t := range gdwire.Types() {
		m[t.String()] = t
	}
	return m
}()

// Plain returns v without the details of its encoding.
func (v Value) Plain() Value { return v.changed(func(v *Value) { v.Wide = false }) }

// changed returns a copy of v with each value changed by change.
func (v Value) changed(change func(*Value)) Value {
	change(&v)
	items := v.Items
	v.Items = nil
	for _, item := range items {
		v.Items = append(v.Items, item.changed(change))
	}
	return v
}

// AnyNaN returns v with all NaNs replaced by the same NaN.
func (v Value) AnyNaN() Value {
	one := func(bits uint64) uint64 {
		if x := math.Float64frombits(bits); x != x {
			return math.Float64bits(math.NaN())
		}
		return bits
	}
	return v.changed(func(v *Value) {
		if v.Type == "float" {
			v.Bits = one(v.Bits)
		}
		if !isInts(v.Type) && v.Numbers != nil {
			v.Numbers = AsNumbers(v.Numbers, one)
		}
	})
}

// Holds reports whether f holds for v or an inner value.
func (v *Value) Holds(f func(*Value) bool) bool {
	return f(v) || slices.ContainsFunc(v.Items, func(item Value) bool { return item.Holds(f) })
}

// Path returns a NodePath as engines print it.
func (v *Value) Path() string {
	s := strings.Join(v.Names, "/")
	if v.Absolute {
		s = "/" + s
	}
	for _, name := range v.Subnames {
		s += ":" + name
	}
	return s
}

// DeclaredType returns the declared type of item i.
func (v *Value) DeclaredType(i int) string {
	d := v.Elem
	if v.Type == "Dictionary" {
		if d = v.Key; i%2 == 1 {
			return ""
		}
	}
	if d.Kind > 1 {
		return "Object"
	}
	return d.Name
}

// ChangeTexts changes the strings of v.
func (v *Value) ChangeTexts(change func(string) string) bool {
	changed := false
	do := func(s *string) {
		if t := change(*s); t != *s {
			*s, changed = t, true
		}
	}
	do(&v.Text)
	for _, names := range [][]string{v.Names, v.Subnames} {
		for i := range names {
			do(&names[i])
		}
	}
	return changed
}

// HasNUL reports whether a text of v contains a NUL.
func HasNUL(v *Value) bool {
	all := slices.Concat([]string{v.Text, v.Key.Name, v.Elem.Name}, v.Names, v.Subnames)
	return slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "\x00") })
}

// HasWrongTypes reports whether an element or key is of another type than declared.
func HasWrongTypes(v *Value) bool {
	for i := range v.Items {
		item, must := &v.Items[i], v.DeclaredType(i)
		if must != "" && item.Type != must && (must != "Object" || item.Type != "ObjectID" && item.Type != "Nil") {
			return true
		}
	}
	return false
}

// FloatBits returns the value of a Float32 as the bits of a float64. Token.Float may
// quiet a signaling NaN, so the bits of a NaN are taken from the encoded token.
func FloatBits(t gdwire.Token) uint64 {
	if x := t.Float(); x == x {
		return math.Float64bits(x)
	}
	var b bytes.Buffer
	if err := gdwire.NewEncoder(&b, nil).WriteToken(t); err != nil {
		panic(err)
	}
	return Widened(le.Uint32(b.Bytes()[4:]))
}

// Widened converts the bits of a float32 to the bits of a float64. A NaN keeps its
// sign and payload.
func Widened(bits uint32) uint64 {
	if x := math.Float32frombits(bits); x == x {
		return math.Float64bits(float64(x))
	}
	return uint64(bits>>31)<<63 | 0x7FF<<52 | uint64(bits&(1<<23-1))<<29
}

// isInts reports whether the numbers of a type are integers.
func isInts(typ string) bool {
	return strings.HasSuffix(typ, "i") || strings.HasPrefix(typ, "PackedInt")
}

// Numbers reads the components of a math type or the elements of a packed array.
func Numbers(typ string, b []byte, wide bool) (all []uint64) {
	size := 4
	if wide {
		size = 8
	}
	for ; len(b) >= size; b = b[size:] {
		switch {
		case wide:
			all = append(all, le.Uint64(b))
		case isInts(typ):
			all = append(all, uint64(int64(int32(le.Uint32(b)))))
		default:
			all = append(all, Widened(le.Uint32(b)))
		}
	}
	return all
}

// ToInt32 converts an element of Value.Numbers, for AsNumbers.
func ToInt32(bits uint64) int32 { return int32(bits) }

// Narrowed converts the bits of a float64 to the bits of a float32, as the inverse of Widened.
func Narrowed(bits uint64) uint32 {
	if x := math.Float64frombits(bits); x == x {
		return math.Float32bits(float32(x))
	}
	return uint32(bits>>63)<<31 | 0xFF<<23 | uint32(bits>>29)&(1<<23-1)
}

// AsNumbers converts numbers, such as the elements of Value.Numbers.
func AsNumbers[F, T any](from []F, as func(F) T) []T {
	all := make([]T, len(from))
	for i, x := range from {
		all[i] = as(x)
	}
	return all
}

// Grouped converts groups of n floats.
func Grouped[T any](bits []uint64, n int, group func([]float64) T) (all []T) {
	x := AsNumbers(bits, math.Float64frombits)
	for ; len(x) > 0; x = x[n:] {
		all = append(all, group(x))
	}
	return all
}
