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

// AppendNumber appends the number of unit u at the start of b as text. A float has a dot or an
// exponent.
func AppendNumber(dst, b []byte, u Unit) []byte {
	switch u {
	case Int32:
		return strconv.AppendInt(dst, int64(int32(le.Uint32(b))), 10)
	case Int64:
		return strconv.AppendInt(dst, int64(le.Uint64(b)), 10)
	}
	x := Float(b, u)
	switch {
	case x != x:
		return append(dst, "nan"...)
	case math.IsInf(x, 1):
		return append(dst, "inf"...)
	case math.IsInf(x, -1):
		return append(dst, "-inf"...)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, x, 'g', -1, 64)
	if bytes.ContainsAny(dst[start:], ".e") {
		return dst
	}
	return append(dst, ".0"...)
}
