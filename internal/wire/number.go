package wire

import (
	"bytes"
	"math"
	"strconv"
)

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
