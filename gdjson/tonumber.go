package gdjson

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/gdwire/gdwire/internal/wire"
)

var le = binary.LittleEndian

// maxExact is 2^53: a float64 represents every integer up to 2^53 exactly.
const maxExact = 1 << 53

// appendInt64 appends x as a number, or as a string beyond maxExact, where the engine would round
// x, because its JSON numbers are float64.
func appendInt64(dst []byte, x int64) []byte {
	if -maxExact <= x && x <= maxExact {
		return strconv.AppendInt(dst, x, 10)
	}
	dst = append(dst, '"')
	dst = strconv.AppendInt(dst, x, 10)
	return append(dst, '"')
}

// The bits of the NaN that engines write.
const (
	nan64Bits = 0x7FF8 << 48
	signBit   = 1 << 63
	nanBits   = 1<<52 - 1 // payload
)

// appendReal appends the number with these float64 bits as an element of args:
// 1e99999 for infinity and null for NaN, as the engine writes them, and a string
// for any other NaN.
func appendReal(dst []byte, bits uint64) []byte {
	switch x := math.Float64frombits(bits); {
	case x-x == 0:
		return appendFloat(dst, x, 64)
	case x > 0:
		return append(dst, "1e99999"...)
	case x < 0:
		return append(dst, "-1e99999"...)
	case bits == nan64Bits:
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = appendNaN(dst, bits)
	return append(dst, '"')
}

// appendPlain appends a number for plain JSON: the shortest decimal that reads back
// as the same number in width bits, 32 or 64, and null for any NaN.
func appendPlain(dst []byte, x float64, width int) []byte {
	switch {
	case x-x == 0:
		return appendFloat(dst, x, width)
	case x != x:
		return append(dst, "null"...)
	}
	return appendReal(dst, math.Float64bits(x))
}

// appendText appends x as after "f:", and as in GDScript.
func appendText(dst []byte, x float64, width int) []byte {
	switch {
	case x-x == 0:
		return appendFloat(dst, x, width)
	case x != x:
		return appendNaN(dst, math.Float64bits(x))
	}
	dst, _ = wire.AppendNonFinite(dst, x)
	return dst
}

// appendNaN appends a NaN as in WebAssembly's text format: "nan" for the usual NaN, otherwise the
// sign and, after a colon, the payload.
func appendNaN(dst []byte, bits uint64) []byte {
	if bits&signBit != 0 {
		dst = append(dst, '-')
	}
	dst = append(dst, "nan"...)
	if bits&^signBit != nan64Bits {
		dst = append(dst, ":0x"...)
		dst = strconv.AppendUint(dst, bits&nanBits, 16)
	}
	return dst
}

// appendFloat appends the shortest decimal that reads back as the finite x, with a
// point or an exponent.
func appendFloat(dst []byte, x float64, width int) []byte {
	// Digits of an integer are faster: positions and sizes in games often are.
	if i := int64(x); float64(i) == x && -maxExact < i && i < maxExact && (i != 0 || !math.Signbit(x)) {
		return append(strconv.AppendInt(dst, i, 10), ".0"...)
	}
	return wire.AppendFloat(dst, x, width)
}
