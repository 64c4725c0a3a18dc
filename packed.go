package gdwire

import (
	"encoding/binary"
	"math"
	"slices"
)

var le = binary.LittleEndian

// Packable are the Go types whose slices packed arrays are read into and written
// from: numbers, and arrays of them for vectors and colours.
type Packable interface {
	byte | int32 | int64 | float32 | float64 |
		[2]float32 | [3]float32 | [4]float32 | [2]float64 | [3]float64 | [4]float64
}

// unitOf returns what a T consists of.
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
	default:
		return unitFloat64, 4
	}
}

// convertsTo reports whether a number that is a u can be handed on as a v:
// integers widen, reals do both.
func (u unit) convertsTo(v unit) bool {
	if u >= unitFloat32 {
		return v >= unitFloat32
	}
	return u <= v && v < unitFloat32
}

func (u unit) String() string {
	return [...]string{"nothing", "byte", "int32", "int64", "float32", "float64"}[u]
}

// asBytes returns the memory of s, if that looks as elements of u on the wire do.
func asBytes[T Packable](s []T, u unit) ([]byte, bool) {
	if v, _ := unitOf[T](); u != v {
		return nil, false
	}
	return memory(s)
}

// decodePacked reads len(dst) elements of u from b.
func decodePacked[T Packable](dst []T, b []byte, u unit) {
	switch dst := any(dst).(type) {
	case []byte:
		copy(dst, b)
	case []int32:
		decodeInts(dst, b, u)
	case []int64:
		decodeInts(dst, b, u)
	case []float32:
		decodeReals(dst, b, u)
	case []float64:
		decodeReals(dst, b, u)
	case [][2]float32:
		for i := range dst {
			b = b[decodeReals(dst[i][:], b, u):]
		}
	case [][3]float32:
		for i := range dst {
			b = b[decodeReals(dst[i][:], b, u):]
		}
	case [][4]float32:
		for i := range dst {
			b = b[decodeReals(dst[i][:], b, u):]
		}
	case [][2]float64:
		for i := range dst {
			b = b[decodeReals(dst[i][:], b, u):]
		}
	case [][3]float64:
		for i := range dst {
			b = b[decodeReals(dst[i][:], b, u):]
		}
	case [][4]float64:
		for i := range dst {
			b = b[decodeReals(dst[i][:], b, u):]
		}
	}
}

func decodeInts[T int32 | int64](dst []T, b []byte, u unit) {
	switch u {
	case unitByte:
		for i := range dst {
			dst[i] = T(b[i])
		}
	case unitInt32:
		for i := range dst {
			dst[i] = T(int32(le.Uint32(b[4*i:])))
		}
	default:
		for i := range dst {
			dst[i] = T(int64(le.Uint64(b[8*i:])))
		}
	}
}

// decodeReals returns how many bytes it read.
func decodeReals[T float32 | float64](dst []T, b []byte, u unit) int {
	if u == unitFloat32 {
		b = b[:4*len(dst)]
		for i := range dst {
			dst[i] = T(math.Float32frombits(le.Uint32(b[4*i:])))
		}
	} else {
		b = b[:8*len(dst)]
		for i := range dst {
			dst[i] = T(math.Float64frombits(le.Uint64(b[8*i:])))
		}
	}
	return len(b)
}

// appendPacked appends src to b as elements of u.
func appendPacked[T Packable](b []byte, src []T, u unit) []byte {
	switch src := any(src).(type) {
	case []byte:
		return appendInts(b, src, u)
	case []int32:
		return appendInts(b, src, u)
	case []int64:
		return appendInts(b, src, u)
	case []float32:
		return appendReals(b, src, u)
	case []float64:
		return appendReals(b, src, u)
	case [][2]float32:
		for i := range src {
			b = appendReals(b, src[i][:], u)
		}
	case [][3]float32:
		for i := range src {
			b = appendReals(b, src[i][:], u)
		}
	case [][4]float32:
		for i := range src {
			b = appendReals(b, src[i][:], u)
		}
	case [][2]float64:
		for i := range src {
			b = appendReals(b, src[i][:], u)
		}
	case [][3]float64:
		for i := range src {
			b = appendReals(b, src[i][:], u)
		}
	case [][4]float64:
		for i := range src {
			b = appendReals(b, src[i][:], u)
		}
	}
	return b
}

func appendInts[T byte | int32 | int64](b []byte, src []T, u unit) []byte {
	switch u {
	case unitByte:
		for _, x := range src {
			b = append(b, byte(x))
		}
	case unitInt32:
		for _, x := range src {
			b = le.AppendUint32(b, uint32(x))
		}
	default:
		for _, x := range src {
			b = le.AppendUint64(b, uint64(x))
		}
	}
	return b
}

func appendReals[T float32 | float64](b []byte, src []T, u unit) []byte {
	if u == unitFloat64 {
		for _, x := range src {
			b = le.AppendUint64(b, math.Float64bits(float64(x)))
		}
	} else {
		for _, x := range src {
			b = le.AppendUint32(b, math.Float32bits(float32(x)))
		}
	}
	return b
}

// overflows reports whether x is finite and would not be in 32 bits.
func overflows(x float64) bool {
	const infinity = 0xFF << 23
	return math.Float32bits(float32(x))&^(1<<31) == infinity && math.Abs(x) <= math.MaxFloat64
}

// anyOverflows asks it of all that is wider than that.
func anyOverflows[T Packable](src []T) bool {
	switch src := any(src).(type) {
	case []float64:
		return slices.ContainsFunc(src, overflows)
	case [][2]float64:
		return slices.ContainsFunc(src, func(v [2]float64) bool { return slices.ContainsFunc(v[:], overflows) })
	case [][3]float64:
		return slices.ContainsFunc(src, func(v [3]float64) bool { return slices.ContainsFunc(v[:], overflows) })
	case [][4]float64:
		return slices.ContainsFunc(src, func(v [4]float64) bool { return slices.ContainsFunc(v[:], overflows) })
	}
	return false
}

// narrowFloat returns a float64's bits as a float32's, if it is the same number
// or the same NaN. No arithmetic touches it, which would quiet a NaN.
func narrowFloat(bits uint64) (uint32, bool) {
	if x := math.Float64frombits(bits); x == x {
		return math.Float32bits(float32(x)), float64(float32(x)) == x
	}
	const lost = 1<<29 - 1
	return uint32(bits>>32&(1<<31)) | 0x7F800000 | uint32(bits>>29&0x7FFFFF), bits&lost == 0 && bits>>29&0x7FFFFF != 0
}

func fitsFloat32(bits uint64) bool {
	_, ok := narrowFloat(bits)
	return ok
}

// widenFloat is the way back.
func widenFloat(bits uint32) uint64 {
	if x := math.Float32frombits(bits); x == x {
		return math.Float64bits(float64(x))
	}
	return uint64(bits&(1<<31))<<32 | 0x7FF<<52 | uint64(bits&0x7FFFFF)<<29
}

// convertReals appends the reals in b, which are from, as to. It reports whether
// all kept their value.
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
