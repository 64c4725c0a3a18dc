package wire

import (
	"math"
	"reflect"
)

// A Unit is the type of an encoded number. The order counts: integers by their size, then floats.
type Unit uint8

// The units.
const (
	None Unit = iota
	Byte
	Int32
	Int64
	Float32
	Float64
)

var unitSizes = [...]uint8{Byte: 1, Int32: 4, Int64: 8, Float32: 4, Float64: 8}

// Size returns the number of bytes of a number.
func (u Unit) Size() int { return int(unitSizes[u]) }

// UnitOf returns the unit and the number of components of a T.
func UnitOf[T Element]() (Unit, int) {
	switch any((*T)(nil)).(type) {
	case *byte:
		return Byte, 1
	case *int32:
		return Int32, 1
	case *int64:
		return Int64, 1
	case *float32:
		return Float32, 1
	case *float64:
		return Float64, 1
	case *[2]float32:
		return Float32, 2
	case *[3]float32:
		return Float32, 3
	case *[4]float32:
		return Float32, 4
	case *[2]float64:
		return Float64, 2
	case *[3]float64:
		return Float64, 3
	case *[4]float64:
		return Float64, 4
	default:
		return unitOfNamed(reflect.TypeFor[T]())
	}
}

// unitOfNamed returns the unit and the number of components of a type defined by a program,
// such as a Vector3 with underlying type [3]float32.
func unitOfNamed(t reflect.Type) (Unit, int) {
	n := 1
	if t.Kind() == reflect.Array {
		t, n = t.Elem(), t.Len()
	}
	switch t.Kind() {
	case reflect.Uint8:
		return Byte, n
	case reflect.Int32:
		return Int32, n
	case reflect.Int64:
		return Int64, n
	case reflect.Float32:
		return Float32, n
	default:
		return Float64, n
	}
}

// ConvertsTo reports whether numbers of u can be converted to v. Integers can become
// wider; floats can become wider or narrower.
func (u Unit) ConvertsTo(v Unit) bool {
	if u >= Float32 {
		return v >= Float32
	}
	return u <= v && v < Float32
}

// String returns the name of the Go type.
func (u Unit) String() string {
	return [...]string{"nothing", "byte", "int32", "int64", "float32", "float64"}[u]
}

// Overflows reports whether x is finite and becomes infinite in 32 bits.
func Overflows(x float64) bool {
	const infinity = 0xFF << 23
	return math.Float32bits(float32(x))&^(1<<31) == infinity && math.Abs(x) <= math.MaxFloat64
}

// NarrowFloat converts the bits of a float64 to the bits of a float32 and reports whether
// these are the same number or the same NaN. NaNs are converted without arithmetic,
// because it would make a signaling NaN quiet.
func NarrowFloat(bits uint64) (uint32, bool) {
	if x := math.Float64frombits(bits); x == x {
		return math.Float32bits(float32(x)), float64(float32(x)) == x
	}
	const lost = 1<<29 - 1 // the bits of the payload of a NaN beyond 32 bits
	return uint32(bits>>32&(1<<31)) | 0x7F800000 | uint32(bits>>29&0x7FFFFF), bits&lost == 0
}

// FitsFloat32 reports whether NarrowFloat keeps the number or NaN with these bits.
func FitsFloat32(bits uint64) bool {
	_, ok := NarrowFloat(bits)
	return ok
}

// WidenFloat converts the bits of a float32 to the bits of a float64, the inverse of
// NarrowFloat.
func WidenFloat(bits uint32) uint64 {
	if x := math.Float32frombits(bits); x == x {
		return math.Float64bits(float64(x))
	}
	return uint64(bits&(1<<31))<<32 | 0x7FF<<52 | uint64(bits&0x7FFFFF)<<29
}

// ConvertReals converts the numbers in b from one unit to the other, appends them to
// dst and reports whether all keep their value.
func ConvertReals(dst, b []byte, from, to Unit) ([]byte, bool) {
	same := true
	if from == Float32 && to == Float64 {
		for ; len(b) > 0; b = b[4:] {
			dst = le.AppendUint64(dst, WidenFloat(le.Uint32(b)))
		}
	} else {
		for ; len(b) > 0; b = b[8:] {
			bits, ok := NarrowFloat(le.Uint64(b))
			same = same && ok
			dst = le.AppendUint32(dst, bits)
		}
	}
	return dst, same
}
