package model

import (
	"bytes"
	"math"
	"strings"

	"github.com/gdwire/gdwire"
)

// FloatBits returns the value of a Float32 as the bits of a float64. Token.Float may
// quiet a signaling NaN, so the bits of a NaN are taken from the encoded token.
func FloatBits(t gdwire.Token) uint64 {
	if x := t.Float(); x == x {
		return math.Float64bits(x)
	}
	var b bytes.Buffer
	if err := gdwire.NewEncoder(&b, nil).WriteToken(t); err != nil {
		panic(err)
	}
	return Widened(le.Uint32(b.Bytes()[4:]))
}

// Widened converts the bits of a float32 to the bits of a float64. A NaN keeps its
// sign and payload.
func Widened(bits uint32) uint64 {
	if x := math.Float32frombits(bits); x == x {
		return math.Float64bits(float64(x))
	}
	return uint64(bits>>31)<<63 | 0x7FF<<52 | uint64(bits&(1<<23-1))<<29
}

// isInts reports whether the numbers of a type are integers.
func isInts(typ string) bool {
	return strings.HasSuffix(typ, "i") || strings.HasPrefix(typ, "PackedInt")
}

// Numbers reads the components of a math type or the elements of a packed array.
func Numbers(typ string, b []byte, wide bool) (all []uint64) {
	size := 4
	if wide {
		size = 8
	}
	for ; len(b) >= size; b = b[size:] {
		switch {
		case wide:
			all = append(all, le.Uint64(b))
		case isInts(typ):
			all = append(all, uint64(int64(int32(le.Uint32(b)))))
		default:
			all = append(all, Widened(le.Uint32(b)))
		}
	}
	return all
}

// ToInt32 converts an element of Value.Numbers, as AsNumbers needs it.
func ToInt32(bits uint64) int32 { return int32(bits) }

// Narrowed converts the bits of a float64 to the bits of a float32. It is the inverse of Widened.
func Narrowed(bits uint64) uint32 {
	if x := math.Float64frombits(bits); x == x {
		return math.Float32bits(float32(x))
	}
	return uint32(bits>>63)<<31 | 0xFF<<23 | uint32(bits>>29)&(1<<23-1)
}

// AsNumbers converts numbers, such as the elements of Value.Numbers.
func AsNumbers[F, T any](from []F, as func(F) T) []T {
	all := make([]T, len(from))
	for i, x := range from {
		all[i] = as(x)
	}
	return all
}

// Grouped converts groups of n floats.
func Grouped[T any](bits []uint64, n int, group func([]float64) T) (all []T) {
	x := AsNumbers(bits, math.Float64frombits)
	for ; len(x) > 0; x = x[n:] {
		all = append(all, group(x))
	}
	return all
}
