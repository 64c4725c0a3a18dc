package gdwire

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
)

var le = binary.LittleEndian

// Packable is the set of Go types for elements of packed arrays: numbers, and arrays
// of numbers for vectors and colors.
type Packable interface {
	~byte | ~int32 | ~int64 | ~float32 | ~float64 |
		~[2]float32 | ~[3]float32 | ~[4]float32 | ~[2]float64 | ~[3]float64 | ~[4]float64
}

// unitOf returns the unit and the number of components of a T.
func unitOf[T Packable]() (unit, int) {
	switch any((*T)(nil)).(type) {
	case *byte:
		return unitByte, 1
	case *int32:
		return unitInt32, 1
	case *int64:
		return unitInt64, 1
	case *float32:
		return unitFloat32, 1
	case *float64:
		return unitFloat64, 1
	case *[2]float32:
		return unitFloat32, 2
	case *[3]float32:
		return unitFloat32, 3
	case *[4]float32:
		return unitFloat32, 4
	case *[2]float64:
		return unitFloat64, 2
	case *[3]float64:
		return unitFloat64, 3
	case *[4]float64:
		return unitFloat64, 4
	default:
		return unitOfNamed(reflect.TypeFor[T]())
	}
}

func unitOfNamed(t reflect.Type) (unit, int) {
	n := 1
	if t.Kind() == reflect.Array {
		t, n = t.Elem(), t.Len()
	}
	switch t.Kind() {
	case reflect.Uint8:
		return unitByte, n
	case reflect.Int32:
		return unitInt32, n
	case reflect.Int64:
		return unitInt64, n
	case reflect.Float32:
		return unitFloat32, n
	default:
		return unitFloat64, n
	}
}

// convertsTo reports whether numbers of u can be converted to v. Integers can become
// wider; floats can become wider or narrower.
func (u unit) convertsTo(v unit) bool {
	if u >= unitFloat32 {
		return v >= unitFloat32
	}
	return u <= v && v < unitFloat32
}

func (u unit) String() string {
	return [...]string{"nothing", "byte", "int32", "int64", "float32", "float64"}[u]
}

// asBytes returns the memory of s as bytes, if that is its encoding: if a T has the units of
// the encoded elements, and the machine their byte order.
func asBytes[T Packable](s []T, sameUnits bool) ([]byte, bool) {
	if !sameUnits {
		return nil, false
	}
	return memory(s)
}

// vectors is the set of arrays in Packable. The compiler generates code for each of
// them, in which the length, and all conditions on it, are constant.
type vectors[R float32 | float64] interface{ [2]R | [3]R | [4]R }

// The loops below convert elements if asBytes reports false. Those for 32 bits handle
// four elements in each iteration, because most of the time is the iteration itself.

// nth returns the i-th element of size bytes in b. It also sets the capacity, which
// saves most of the time of slicing.
func nth(b []byte, i, size int) []byte { return b[i*size : i*size+size : i*size+size] }

// decodePacked decodes len(dst) elements of u from b.
func decodePacked[T Packable](dst []T, b []byte, u unit) {
	if decodeSlice(dst, b, u) {
		return
	}
	_, n := unitOf[T]()
	eachUnnamed(dst, func(i int, numbers any) { decodeSlice(numbers, b[i*n*u.size():], u) })
}

// decodeSlice is decodePacked for a slice of an unnamed type. It reports false for
// slices of other types.
func decodeSlice(dst any, b []byte, u unit) bool {
	switch dst := dst.(type) {
	case []byte:
		copy(dst, b)
	case []int32:
		decodeInts(dst, b, u)
	case []int64:
		decodeInts(dst, b, u)
	case []float32:
		if u == unitFloat32 {
			n := decodeFours(dst, b)
			dst, b = dst[n:], b[4*n:]
		}
		decodeReals(dst, b, u)
	case []float64:
		decodeReals(dst, b, u)
	case [][2]float32:
		decodeVectors[float32](dst, b, u)
	case [][3]float32:
		decodeVectors[float32](dst, b, u)
	case [][4]float32:
		decodeVectors[float32](dst, b, u)
	case [][2]float64:
		decodeVectors[float64](dst, b, u)
	case [][3]float64:
		decodeVectors[float64](dst, b, u)
	case [][4]float64:
		decodeVectors[float64](dst, b, u)
	default:
		return false
	}
	return true
}

func decodeInts[T int32 | int64](dst []T, b []byte, u unit) {
	switch i := 0; u {
	case unitByte:
		for i, x := range b[:len(dst)] {
			dst[i] = T(x)
		}
	case unitInt32:
		for ; i <= len(dst)-4; i += 4 {
			d, s := (*[4]T)(dst[i:i+4:i+4]), b[4*i:4*i+16:4*i+16]
			d[0], d[1] = T(int32(le.Uint32(s))), T(int32(le.Uint32(s[4:])))
			d[2], d[3] = T(int32(le.Uint32(s[8:]))), T(int32(le.Uint32(s[12:])))
		}
		for ; i < len(dst); i++ {
			dst[i] = T(int32(le.Uint32(nth(b, i, 4))))
		}
	default:
		for i := range dst {
			dst[i] = T(le.Uint64(nth(b, i, 8)))
		}
	}
}

func decodeReals[R float32 | float64](dst []R, b []byte, u unit) {
	if u == unitFloat32 {
		for i := range dst {
			dst[i] = real32[R](nth(b, i, 4))
		}
	} else {
		for i := range dst {
			dst[i] = real64[R](nth(b, i, 8))
		}
	}
}

// decodeFours decodes as many groups of four elements as there are and returns the
// number of elements. It is not generic, because conversions, even to the same type,
// move numbers to another register.
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

func decodeVectors[R float32 | float64, V vectors[R]](dst []V, b []byte, u unit) {
	if u == unitFloat32 {
		for i := range dst {
			n := len(dst[i])
			s := nth(b, i, 4*n)
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
			s := nth(b, i, 8*n)
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

// encodePacked encodes src as elements of u at the start of b.
func encodePacked[T Packable](b []byte, src []T, u unit) {
	if encodeSlice(b, src, u) {
		return
	}
	_, n := unitOf[T]()
	eachUnnamed(src, func(i int, numbers any) { encodeSlice(b[i*n*u.size():], numbers, u) })
}

// encodeSlice is encodePacked for a slice of an unnamed type. It reports false for
// slices of other types.
func encodeSlice(b []byte, src any, u unit) bool {
	switch src := src.(type) {
	case []byte:
		encodeInts(b, src, u)
	case []int32:
		encodeInts(b, src, u)
	case []int64:
		encodeInts(b, src, u)
	case []float32:
		encodeReals(b, src, u)
	case []float64:
		encodeReals(b, src, u)
	case [][2]float32:
		encodeVectors[float32](b, src, u)
	case [][3]float32:
		encodeVectors[float32](b, src, u)
	case [][4]float32:
		encodeVectors[float32](b, src, u)
	case [][2]float64:
		encodeVectors[float64](b, src, u)
	case [][3]float64:
		encodeVectors[float64](b, src, u)
	case [][4]float64:
		encodeVectors[float64](b, src, u)
	default:
		return false
	}
	return true
}

func encodeInts[T byte | int32 | int64](b []byte, src []T, u unit) {
	switch i := 0; u {
	case unitByte:
		for i, x := range src {
			b[i] = byte(x)
		}
	case unitInt32:
		for ; i <= len(src)-4; i += 4 {
			d, s := b[4*i:4*i+16:4*i+16], (*[4]T)(src[i:i+4:i+4])
			le.PutUint32(d, uint32(s[0]))
			le.PutUint32(d[4:], uint32(s[1]))
			le.PutUint32(d[8:], uint32(s[2]))
			le.PutUint32(d[12:], uint32(s[3]))
		}
		for ; i < len(src); i++ {
			le.PutUint32(nth(b, i, 4), uint32(src[i]))
		}
	default:
		for i, x := range src {
			le.PutUint64(nth(b, i, 8), uint64(x))
		}
	}
}

func encodeReals[R float32 | float64](b []byte, src []R, u unit) {
	if u == unitFloat32 {
		i := 0
		for ; i <= len(src)-4; i += 4 {
			d, s := b[4*i:4*i+16:4*i+16], (*[4]R)(src[i:i+4:i+4])
			put32(d, s[0])
			put32(d[4:], s[1])
			put32(d[8:], s[2])
			put32(d[12:], s[3])
		}
		for ; i < len(src); i++ {
			put32(nth(b, i, 4), src[i])
		}
	} else {
		for i, x := range src {
			put64(nth(b, i, 8), x)
		}
	}
}

func put32[R float32 | float64](b []byte, x R) { le.PutUint32(b, math.Float32bits(float32(x))) }
func put64[R float32 | float64](b []byte, x R) { le.PutUint64(b, math.Float64bits(float64(x))) }

func encodeVectors[R float32 | float64, V vectors[R]](b []byte, src []V, u unit) {
	if u == unitFloat32 {
		for i := range src {
			n := len(src[i])
			s := nth(b, i, 4*n)
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
			s := nth(b, i, 8*n)
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

// overflows reports whether x is finite and becomes infinite in 32 bits.
func overflows(x float64) bool {
	const infinity = 0xFF << 23
	return math.Float32bits(float32(x))&^(1<<31) == infinity && math.Abs(x) <= math.MaxFloat64
}

// anyOverflows reports whether any component of src overflows.
func anyOverflows[T Packable](src []T) bool {
	if u, _ := unitOf[T](); u != unitFloat64 {
		return false
	}
	switch src := any(src).(type) {
	case []float64:
		return slices.ContainsFunc(src, overflows)
	case [][2]float64:
		return anyVectorOverflows(src)
	case [][3]float64:
		return anyVectorOverflows(src)
	case [][4]float64:
		return anyVectorOverflows(src)
	}
	found := false
	eachUnnamed(src, func(_ int, numbers any) {
		found = found || slices.ContainsFunc(numbers.([]float64), overflows)
	})
	return found
}

func anyVectorOverflows[V vectors[float64]](src []V) bool {
	for i := range src {
		for j := range len(src[i]) {
			if overflows(src[i][j]) {
				return true
			}
		}
	}
	return false
}

// narrowFloat converts the bits of a float64 to those of a float32 and reports whether
// that is the same number or the same NaN. It converts NaNs without arithmetic, which
// would make a signaling NaN quiet.
func narrowFloat(bits uint64) (uint32, bool) {
	if x := math.Float64frombits(bits); x == x {
		return math.Float32bits(float32(x)), float64(float32(x)) == x
	}
	const lost = 1<<29 - 1
	return uint32(bits>>32&(1<<31)) | 0x7F800000 | uint32(bits>>29&0x7FFFFF), bits&lost == 0
}

func fitsFloat32(bits uint64) bool {
	_, ok := narrowFloat(bits)
	return ok
}

// widenFloat converts the bits of a float32 to those of a float64, the inverse of
// narrowFloat.
func widenFloat(bits uint32) uint64 {
	if x := math.Float32frombits(bits); x == x {
		return math.Float64bits(float64(x))
	}
	return uint64(bits&(1<<31))<<32 | 0x7FF<<52 | uint64(bits&0x7FFFFF)<<29
}

// convertReals converts the numbers in b from one unit to the other and appends them
// to dst. It reports whether all keep their value.
func convertReals(dst, b []byte, from, to unit) ([]byte, bool) {
	same := true
	if from == unitFloat32 && to == unitFloat64 {
		for ; len(b) > 0; b = b[4:] {
			dst = le.AppendUint64(dst, widenFloat(le.Uint32(b)))
		}
	} else {
		for ; len(b) > 0; b = b[8:] {
			bits, ok := narrowFloat(le.Uint64(b))
			same = same && ok
			dst = le.AppendUint32(dst, bits)
		}
	}
	return dst, same
}
