package wire

import (
	"math"
	"slices"
)

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
		for j := range len(src[i]) {
			if Overflows(src[i][j]) {
				return true
			}
		}
	}
	return false
}
