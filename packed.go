package gdwire

import (
	"encoding/binary"
	"math"
)

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
			dst[i] = T(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
	default:
		for i := range dst {
			dst[i] = T(int64(binary.LittleEndian.Uint64(b[8*i:])))
		}
	}
}

// decodeReals returns how many bytes it read.
func decodeReals[T float32 | float64](dst []T, b []byte, u unit) int {
	if u == unitFloat32 {
		b = b[:4*len(dst)]
		for i := range dst {
			dst[i] = T(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	} else {
		b = b[:8*len(dst)]
		for i := range dst {
			dst[i] = T(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
	}
	return len(b)
}

// appendPacked appends src to b as elements of u, as many as fit its capacity
// if fit is set, and returns how many. A real that only u's width makes infinite
// ends it with ErrRange.
func appendPacked[T Packable](b []byte, src []T, u unit) ([]byte, error) {
	ok := true
	switch src := any(src).(type) {
	case []byte:
		b = appendInts(b, src, u)
	case []int32:
		b = appendInts(b, src, u)
	case []int64:
		b = appendInts(b, src, u)
	case []float32:
		b, ok = appendReals(b, src, u)
	case []float64:
		b, ok = appendReals(b, src, u)
	case [][2]float32:
		for i := 0; i < len(src) && ok; i++ {
			b, ok = appendReals(b, src[i][:], u)
		}
	case [][3]float32:
		for i := 0; i < len(src) && ok; i++ {
			b, ok = appendReals(b, src[i][:], u)
		}
	case [][4]float32:
		for i := 0; i < len(src) && ok; i++ {
			b, ok = appendReals(b, src[i][:], u)
		}
	case [][2]float64:
		for i := 0; i < len(src) && ok; i++ {
			b, ok = appendReals(b, src[i][:], u)
		}
	case [][3]float64:
		for i := 0; i < len(src) && ok; i++ {
			b, ok = appendReals(b, src[i][:], u)
		}
	case [][4]float64:
		for i := 0; i < len(src) && ok; i++ {
			b, ok = appendReals(b, src[i][:], u)
		}
	}
	if !ok {
		return b, ErrRange
	}
	return b, nil
}

func appendInts[T byte | int32 | int64](b []byte, src []T, u unit) []byte {
	switch u {
	case unitByte:
		for _, x := range src {
			b = append(b, byte(x))
		}
	case unitInt32:
		for _, x := range src {
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		}
	default:
		for _, x := range src {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	}
	return b
}

func appendReals[T float32 | float64](b []byte, src []T, u unit) ([]byte, bool) {
	for _, x := range src {
		if u == unitFloat64 {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(x)))
			continue
		}
		f := float32(x)
		if math.IsInf(float64(f), 0) && !math.IsInf(float64(x), 0) {
			return b, false
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b, true
}
