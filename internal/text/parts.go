package text

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gdwire/gdwire"
)

// A Part is a value without a header of its own: an element of a packed array, a
// component of a math type, or several such as the position of a Rect2.
type Part struct {
	In     gdwire.Type // the type of the packed array or value around the value
	Value  Value
	Bits   int   // of each number; 0 for a String
	Offset int64 // of the first byte
	Size   int64 // in bytes
}

// A component is a part of a math type, by its name in GDScript.
type component struct {
	name  string
	first int // the first number
	typ   gdwire.Type
}

// numbers returns a component of type t for each name: the first number, the second, and so on.
func numbers(t gdwire.Type, names ...string) (all []component) {
	for i, name := range names {
		all = append(all, component{name, i, t})
	}
	return all
}

// components contains the components with consecutive numbers in the encoding.
var components = map[gdwire.Type][]component{
	gdwire.TypeVector2:     numbers(gdwire.TypeFloat, "x", "y"),
	gdwire.TypeVector2i:    numbers(gdwire.TypeInt, "x", "y"),
	gdwire.TypeVector3:     numbers(gdwire.TypeFloat, "x", "y", "z"),
	gdwire.TypeVector3i:    numbers(gdwire.TypeInt, "x", "y", "z"),
	gdwire.TypeVector4:     numbers(gdwire.TypeFloat, "x", "y", "z", "w"),
	gdwire.TypeVector4i:    numbers(gdwire.TypeInt, "x", "y", "z", "w"),
	gdwire.TypeQuaternion:  numbers(gdwire.TypeFloat, "x", "y", "z", "w"),
	gdwire.TypeColor:       numbers(gdwire.TypeFloat, "r", "g", "b", "a"),
	gdwire.TypePlane:       append(numbers(gdwire.TypeFloat, "x", "y", "z", "d"), component{"normal", 0, gdwire.TypeVector3}),
	gdwire.TypeRect2:       {{"position", 0, gdwire.TypeVector2}, {"size", 2, gdwire.TypeVector2}},
	gdwire.TypeRect2i:      {{"position", 0, gdwire.TypeVector2i}, {"size", 2, gdwire.TypeVector2i}},
	gdwire.TypeAABB:        {{"position", 0, gdwire.TypeVector3}, {"size", 3, gdwire.TypeVector3}},
	gdwire.TypeTransform2D: {{"x", 0, gdwire.TypeVector2}, {"y", 2, gdwire.TypeVector2}, {"origin", 4, gdwire.TypeVector2}},
	gdwire.TypeTransform3D: {{"basis", 0, gdwire.TypeBasis}, {"origin", 9, gdwire.TypeVector3}},
	gdwire.TypeProjection: {
		{"x", 0, gdwire.TypeVector4}, {"y", 4, gdwire.TypeVector4}, {"z", 8, gdwire.TypeVector4}, {"w", 12, gdwire.TypeVector4},
	},
}

// Component returns the component with this name, or false if there is none.
func (p *Part) Component(name string) (Part, bool) {
	for _, c := range components[p.Value.Type] {
		if c.name != name {
			continue
		}
		n, _ := c.typ.Components()
		n = max(n, 1)
		of := p.Value.Numbers[c.first : c.first+n : c.first+n]
		part := Part{
			In: p.Value.Type, Bits: p.Bits, Value: Value{Type: c.typ, Numbers: of, Single: p.Value.Single},
			Offset: p.Offset + int64(c.first*p.Bits/8), Size: int64(n * p.Bits / 8),
		}
		if c.typ == gdwire.TypeInt {
			part.Value.Int, part.Value.Numbers = int64(of[0]), nil
		}
		return part, true
	}
	return Part{}, false
}

// mathPart returns the components of a math type as a part. end is the offset after the last byte.
func mathPart(t gdwire.Token, end int64) Part {
	v := FromToken(t, nil)
	bits := t.Width()
	size := int64(len(v.Numbers) * bits / 8)
	return Part{In: v.Type, Value: v, Bits: bits, Offset: end - size, Size: size}
}

// Element returns an element of a packed array, with numbers appended to numbers. b is the
// encoding, and t the Chunk, of the element.
func Element(t gdwire.Token, b []byte, numbers []float64) Value {
	v := Value{Type: t.Type().Element()}
	switch t.Type() {
	case gdwire.TypePackedByteArray, gdwire.TypeImage:
		v.Type, v.Int = gdwire.TypeInt, int64(b[0])
		return v
	case gdwire.TypePackedInt32Array:
		v.Int = int64(int32(binary.LittleEndian.Uint32(b)))
		return v
	case gdwire.TypePackedInt64Array:
		v.Int = int64(binary.LittleEndian.Uint64(b))
		return v
	}
	if v.Single = t.Width() == 32; v.Single {
		for ; len(b) >= 4; b = b[4:] {
			numbers = append(numbers, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
	} else {
		for ; len(b) >= 8; b = b[8:] {
			numbers = append(numbers, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	}
	v.Numbers = numbers
	return v
}

// Append appends the encoding of v, a value of the part's type.
func (p *Part) Append(dst []byte, v *Value) ([]byte, error) {
	order, tooLarge := binary.LittleEndian, false
	switch {
	case v.Type == gdwire.TypeInt && p.Bits == 8:
		tooLarge = v.Int>>8 != 0
		dst = append(dst, byte(v.Int))
	case v.Type == gdwire.TypeInt && p.Bits == 32:
		tooLarge = v.Int != int64(int32(v.Int))
		dst = order.AppendUint32(dst, uint32(v.Int))
	case v.Type == gdwire.TypeInt:
		dst = order.AppendUint64(dst, uint64(v.Int))
	}
	_, integers := v.Type.Components()
	for _, x := range v.Numbers {
		switch {
		case integers:
			dst = order.AppendUint32(dst, uint32(int32(x)))
		case p.Bits == 64:
			dst = order.AppendUint64(dst, math.Float64bits(x))
		default:
			tooLarge = tooLarge || math.IsInf(float64(float32(x)), 0) && !math.IsInf(x, 0)
			dst = order.AppendUint32(dst, math.Float32bits(float32(x)))
		}
	}
	if tooLarge {
		return dst, fmt.Errorf("%v does not fit a %v", v, p.In)
	}
	return dst, nil
}
