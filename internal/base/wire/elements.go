package wire

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// Numbers, the units of packed arrays, and their elements.

// Float returns the number of unit Int32, Float32 or Float64 at the start of b.
func Float(b []byte, u Unit) float64 {
	switch u {
	case Int32:
		return float64(int32(le.Uint32(b)))
	case Float32:
		return float64(math.Float32frombits(le.Uint32(b)))
	default:
		return math.Float64frombits(le.Uint64(b))
	}
}

// Floats decodes len(dst) numbers of unit u, as Float does.
func Floats(dst []float64, b []byte, u Unit) {
	for i := range dst {
		dst[i] = Float(b[i*u.Size():], u)
	}
}

// WidenFloats decodes len(dst) floats of 32 bits.
func WidenFloats(dst []float64, b []byte) {
	for i := range dst {
		dst[i] = float64(math.Float32frombits(le.Uint32(Nth(b, i, 4))))
	}
}

// NarrowFloats puts src, at most 16 floats, into b in 32 bits, and reports whether all are finite
// and fit, in one test after the loop. The mask saves the checks of bounds.
func NarrowFloats[T ~int32 | ~float32 | ~float64](b *[16 * 4]byte, src []T) bool {
	const infinite = 0xFF << 23
	carry := uint32(0) // bit 31 is the carry out of the exponent of an infinity or NaN
	for i, x := range src {
		bits := math.Float32bits(float32(x))
		carry |= bits&infinite + 1<<23
		le.PutUint32(b[4*(i&15):], bits)
	}
	return carry>>31 == 0
}

// PutFloat puts x into b in unit u, Float32 or Float64, and returns false if x overflows.
func PutFloat(b []byte, x float64, u Unit) bool {
	if u == Float64 {
		le.PutUint64(b, math.Float64bits(x))
		return true
	}
	le.PutUint32(b, math.Float32bits(float32(x)))
	return !Overflows(x)
}

// AppendNonFinite appends nan, inf or -inf, and reports whether x is one of these.
func AppendNonFinite(dst []byte, x float64) ([]byte, bool) {
	switch {
	case x != x:
		return append(dst, "nan"...), true
	case math.IsInf(x, 1):
		return append(dst, "inf"...), true
	case math.IsInf(x, -1):
		return append(dst, "-inf"...), true
	}
	return dst, false
}

// AppendFloat appends the shortest decimal that reads back as the finite x in 32 or 64 bits,
// with a point or an exponent.
func AppendFloat(dst []byte, x float64, bits int) []byte {
	// Larger numbers would end in insignificant zeros.
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, x, 'e', -1, bits)
	}
	dst = strconv.AppendFloat(dst, x, 'f', -1, bits)
	if x == math.Trunc(x) {
		dst = append(dst, ".0"...)
	}
	return dst
}

// AppendNumber appends the number of unit u at the start of b as text. A float is written with a
// dot or an exponent.
func AppendNumber(dst, b []byte, u Unit) []byte {
	switch u {
	case Int32:
		return strconv.AppendInt(dst, int64(int32(le.Uint32(b))), 10)
	case Int64:
		return strconv.AppendInt(dst, int64(le.Uint64(b)), 10)
	}
	x := Float(b, u)
	if dst, ok := AppendNonFinite(dst, x); ok {
		return dst
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, x, 'g', -1, 64)
	if bytes.ContainsAny(dst[start:], ".e") {
		return dst
	}
	return append(dst, ".0"...)
}

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

// Overflows reports whether x is finite and becomes infinite in 32 bits. It compares the bits of x, without the sign: a
// conversion took twice as long.
func Overflows(x float64) bool {
	const least, infinity = 0x47EFFFFFF << 29, 0x7FF << 53 // of 0x1.ffffffp127, the least float rounded up
	return math.Float64bits(x)<<1-least < infinity-least
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

// EventHead is the number of bytes of an InputEvent before its data: type, device and length.
const EventHead = 12

// eventData contains the number of data bytes of each type of InputEvent: a key (modifiers and
// scancode), mouse button, joystick motion (axis and value), joystick button, touch and action.
var eventData = [...]int{1: 8, 3: 4, joystickMotion: 8, 5: 4, 6: 4, 8: 0}

const joystickMotion = 4

// EventSize returns the number of data bytes of an InputEvent of Godot 2, of the rest bytes after its
// length field. Engines go by the type and ignore further bytes.
func EventSize(event, rest uint32) int {
	switch {
	case event == joystickMotion && rest == 4: // the oldest engines write only the axis
		return 4
	case event < uint32(len(eventData)):
		return eventData[event]
	}
	return 0
}

// Element is the set gdwire.Packable of Go types for elements of packed arrays.
type Element interface {
	~byte | ~int32 | ~int64 | ~float32 | ~float64 |
		~[2]float32 | ~[3]float32 | ~[4]float32 | ~[2]float64 | ~[3]float64 | ~[4]float64
}

// AsBytes returns the memory of s as bytes, if this is the encoding of s: if a T consists of
// the units of the encoded elements, and the machine uses their byte order.
func AsBytes[T Element](s []T, sameUnits bool) ([]byte, bool) {
	if !sameUnits {
		return nil, false
	}
	return memory(s)
}

// vectors is the set of arrays in Element. The compiler generates code for each of them,
// with a constant length n and constant conditions on n. An index such as 2%n is then a
// constant within the array, also in code never reached by shorter arrays.
type vectors[R float32 | float64] interface{ [2]R | [3]R | [4]R }

// The loops below convert elements if AsBytes reports false. Those for 32 bits handle
// four elements in each iteration, because most of the time is the iteration itself.

// Nth returns the i-th element of size bytes in b. Setting the capacity, too, saves
// most of the time of slicing.
func Nth(b []byte, i, size int) []byte { return b[i*size : i*size+size : i*size+size] }

// Decode decodes len(dst) elements of u from b.
func Decode[T Element](dst []T, b []byte, u Unit) {
	want, _ := UnitOf[T]()
	if p, ok := AsBytes(dst, u == want); ok {
		copy(p, b)
		return
	}
	convertAll(dst, b, u, false)
}

// Encode encodes src as elements of u at the start of b.
func Encode[T Element](b []byte, src []T, u Unit) { convertAll(src, b, u, true) }

// convertAll decodes the elements of s from b, or encodes them at its start.
func convertAll[T Element](s []T, b []byte, u Unit, encode bool) {
	if convert(s, b, u, encode) {
		return
	}
	// A type defined by a program, as its numbers.
	_, n := UnitOf[T]()
	eachUnnamed(s, func(i int, numbers any) { convert(numbers, b[i*n*u.Size():], u, encode) })
}

// convert decodes or encodes a slice of an unnamed type. It reports false for slices of other types.
func convert(s any, b []byte, u Unit, encode bool) bool {
	switch s := s.(type) {
	case []byte:
		if encode {
			encodeInts(b, s, u)
		} else {
			copy(s, b)
		}
	case []int32:
		convertInts(s, b, u, encode)
	case []int64:
		convertInts(s, b, u, encode)
	case []float32:
		if u == Float32 && !encode {
			n := decodeFours(s, b)
			s, b = s[n:], b[4*n:]
		}
		convertReals(s, b, u, encode)
	case []float64:
		convertReals(s, b, u, encode)
	case [][2]float32:
		convertVectors[float32](s, b, u, encode)
	case [][3]float32:
		convertVectors[float32](s, b, u, encode)
	case [][4]float32:
		convertVectors[float32](s, b, u, encode)
	case [][2]float64:
		convertVectors[float64](s, b, u, encode)
	case [][3]float64:
		convertVectors[float64](s, b, u, encode)
	case [][4]float64:
		convertVectors[float64](s, b, u, encode)
	default:
		return false
	}
	return true
}

func convertInts[T int32 | int64](s []T, b []byte, u Unit, encode bool) {
	if encode {
		encodeInts(b, s, u)
	} else {
		decodeInts(s, b, u)
	}
}

func convertReals[R float32 | float64](s []R, b []byte, u Unit, encode bool) {
	if encode {
		encodeReals(b, s, u)
	} else {
		decodeReals(s, b, u)
	}
}

func convertVectors[R float32 | float64, V vectors[R]](s []V, b []byte, u Unit, encode bool) {
	if encode {
		encodeVectors[R](b, s, u)
	} else {
		decodeVectors[R](s, b, u)
	}
}

func decodeInts[T int32 | int64](dst []T, b []byte, u Unit) {
	switch i := 0; u {
	case Byte:
		for i, x := range b[:len(dst)] {
			dst[i] = T(x)
		}
	case Int32:
		for ; i <= len(dst)-4; i += 4 {
			d, s := (*[4]T)(dst[i:i+4:i+4]), b[4*i:4*i+16:4*i+16]
			d[0], d[1] = T(int32(le.Uint32(s))), T(int32(le.Uint32(s[4:])))
			d[2], d[3] = T(int32(le.Uint32(s[8:]))), T(int32(le.Uint32(s[12:])))
		}
		for ; i < len(dst); i++ {
			dst[i] = T(int32(le.Uint32(Nth(b, i, 4))))
		}
	default:
		for i := range dst {
			dst[i] = T(le.Uint64(Nth(b, i, 8)))
		}
	}
}

func decodeReals[R float32 | float64](dst []R, b []byte, u Unit) {
	if u == Float32 {
		for i := range dst {
			dst[i] = real32[R](Nth(b, i, 4))
		}
	} else {
		for i := range dst {
			dst[i] = real64[R](Nth(b, i, 8))
		}
	}
}

// decodeFours decodes all whole groups of four elements and returns the number of
// elements. It is not generic, because conversions, even to the same type, move
// numbers to another register.
func decodeFours(dst []float32, b []byte) (i int) {
	for ; i <= len(dst)-4; i += 4 {
		d, s := (*[4]float32)(dst[i:i+4:i+4]), b[4*i:4*i+16:4*i+16]
		d[0] = math.Float32frombits(le.Uint32(s))
		d[1] = math.Float32frombits(le.Uint32(s[4:]))
		d[2] = math.Float32frombits(le.Uint32(s[8:]))
		d[3] = math.Float32frombits(le.Uint32(s[12:]))
	}
	return i
}

func decodeVectors[R float32 | float64, V vectors[R]](dst []V, b []byte, u Unit) {
	if u == Float32 {
		for i := range dst {
			n := len(dst[i])
			s := Nth(b, i, 4*n)
			dst[i][0], dst[i][1] = real32[R](s), real32[R](s[4:])
			if n > 2 {
				dst[i][2%n] = real32[R](s[8:])
			}
			if n > 3 {
				dst[i][3%n] = real32[R](s[12:])
			}
		}
	} else {
		for i := range dst {
			n := len(dst[i])
			s := Nth(b, i, 8*n)
			dst[i][0], dst[i][1] = real64[R](s), real64[R](s[8:])
			if n > 2 {
				dst[i][2%n] = real64[R](s[16:])
			}
			if n > 3 {
				dst[i][3%n] = real64[R](s[24:])
			}
		}
	}
}

func real32[R float32 | float64](b []byte) R { return R(math.Float32frombits(le.Uint32(b))) }
func real64[R float32 | float64](b []byte) R { return R(math.Float64frombits(le.Uint64(b))) }

func encodeInts[T byte | int32 | int64](b []byte, src []T, u Unit) {
	switch i := 0; u {
	case Byte:
		for i, x := range src {
			b[i] = byte(x)
		}
	case Int32:
		for ; i <= len(src)-4; i += 4 {
			d, s := b[4*i:4*i+16:4*i+16], (*[4]T)(src[i:i+4:i+4])
			le.PutUint32(d, uint32(s[0]))
			le.PutUint32(d[4:], uint32(s[1]))
			le.PutUint32(d[8:], uint32(s[2]))
			le.PutUint32(d[12:], uint32(s[3]))
		}
		for ; i < len(src); i++ {
			le.PutUint32(Nth(b, i, 4), uint32(src[i]))
		}
	default:
		for i, x := range src {
			le.PutUint64(Nth(b, i, 8), uint64(x))
		}
	}
}

func encodeReals[R float32 | float64](b []byte, src []R, u Unit) {
	if u == Float32 {
		i := 0
		for ; i <= len(src)-4; i += 4 {
			d, s := b[4*i:4*i+16:4*i+16], (*[4]R)(src[i:i+4:i+4])
			put32(d, s[0])
			put32(d[4:], s[1])
			put32(d[8:], s[2])
			put32(d[12:], s[3])
		}
		for ; i < len(src); i++ {
			put32(Nth(b, i, 4), src[i])
		}
	} else {
		for i, x := range src {
			put64(Nth(b, i, 8), x)
		}
	}
}

func put32[R float32 | float64](b []byte, x R) { le.PutUint32(b, math.Float32bits(float32(x))) }
func put64[R float32 | float64](b []byte, x R) { le.PutUint64(b, math.Float64bits(float64(x))) }

func encodeVectors[R float32 | float64, V vectors[R]](b []byte, src []V, u Unit) {
	if u == Float32 {
		for i := range src {
			n := len(src[i])
			s := Nth(b, i, 4*n)
			put32(s, src[i][0])
			put32(s[4:], src[i][1])
			if n > 2 {
				put32(s[8:], src[i][2%n])
			}
			if n > 3 {
				put32(s[12:], src[i][3%n])
			}
		}
	} else {
		for i := range src {
			n := len(src[i])
			s := Nth(b, i, 8*n)
			put64(s, src[i][0])
			put64(s[8:], src[i][1])
			if n > 2 {
				put64(s[16:], src[i][2%n])
			}
			if n > 3 {
				put64(s[24:], src[i][3%n])
			}
		}
	}
}

// AnyOverflows reports whether any component of src overflows. Only floats of 64 bits can.
func AnyOverflows[T Element](src []T) bool {
	if u, _ := UnitOf[T](); u != Float64 {
		return false
	}
	switch src := any(src).(type) {
	case []float64:
		return slices.ContainsFunc(src, Overflows)
	case [][2]float64:
		return anyVectorOverflows(src)
	case [][3]float64:
		return anyVectorOverflows(src)
	case [][4]float64:
		return anyVectorOverflows(src)
	}
	found := false
	eachUnnamed(src, func(_ int, numbers any) {
		found = found || slices.ContainsFunc(numbers.([]float64), Overflows)
	})
	return found
}

func anyVectorOverflows[V vectors[float64]](src []V) bool {
	for i := range src {
		v := src[i]
		if n := len(v); Overflows(v[0]) || Overflows(v[1]) || n > 2 && Overflows(v[2%n]) || n > 3 && Overflows(v[3%n]) {
			return true
		}
	}
	return false
}
