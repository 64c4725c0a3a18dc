package gdjson

import (
	"bytes"
	"math"
	"strconv"

	"github.com/gdwire/gdwire"
)

// parseReal parses a JSON number as the nearest float64. 1e99999 is infinity. For any other number
// that is too large, parseReal returns infinity and an error.
func parseReal(b []byte) (float64, error) {
	if x, ok := parseShort(b); ok {
		return x, nil
	}
	x, err := strconv.ParseFloat(string(b), 64)
	if err == nil || isInfinity(b) {
		return x, nil
	}
	return x, export.Wrapf(gdwire.ErrRange, "%s does not fit a float", cut(b, 40))
}

// tens contains the powers of ten, all exact, by which parseShort divides.
var tens = [16]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseShort parses a JSON number of at most 15 digits and without an exponent, in a
// third of strconv's time. Most numbers are such. The result is the nearest float64,
// because parseShort divides once, and both operands are exact.
func parseShort(b []byte) (float64, bool) {
	digits := bytes.TrimPrefix(b, minus)
	if len(digits) > 16 {
		return 0, false
	}
	x, point := uint64(0), len(digits)
	for i, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			x = 10*x + uint64(c-'0')
		case c == '.':
			point = i + 1
		default:
			return 0, false
		}
	}
	if x >= 1e15 {
		return 0, false
	}
	y := float64(x) / tens[len(digits)-point]
	if len(digits) < len(b) {
		y = -y
	}
	return y, true
}

var minus = []byte("-")

// isInfinity reports whether b is 1e99999 or -1e99999, in any spelling used by tools.
func isInfinity(b []byte) bool {
	b = bytes.Replace(bytes.TrimPrefix(b, minus), []byte("+"), nil, 1)
	return bytes.EqualFold(b, []byte("1e99999"))
}

// parseInt parses an integer. Zeros after a decimal point are accepted, because the
// engine's JSON.stringify writes them after every number that JSON.parse read.
func parseInt(b []byte) (int64, error) {
	digits := b
	if i := bytes.IndexByte(b, '.'); i > 0 && len(bytes.Trim(b[i+1:], "0")) == 0 {
		digits = b[:i]
	}
	return parseDigits(digits, b)
}

// parseDigits parses the integer in b, of the given digits and sign.
func parseDigits(digits, b []byte) (int64, error) {
	if !isInteger(digits) {
		return 0, export.Wrapf(gdwire.ErrType, "%s is not an integer", quoted(b))
	}
	x, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0, export.Wrapf(gdwire.ErrRange, "%s does not fit 64 bits", cut(b, 40))
	}
	return x, nil
}

// isInteger reports whether b consists of digits, optionally after a minus sign.
func isInteger(b []byte) bool {
	b = bytes.TrimPrefix(b, minus)
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// parseFloat parses the text after "f:".
func parseFloat(b []byte) (float64, error) {
	switch string(b) {
	case "inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	}
	if x, ok := parseNaN(b); ok {
		return x, nil
	}
	x, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err != nil && x == 0, len(bytes.Trim(b, "0123456789.-+eE")) > 0:
		return 0, export.Wrapf(gdwire.ErrType, "%s is not a float", quoted(b))
	case err != nil:
		return x, export.Wrapf(gdwire.ErrRange, "%s does not fit a float", cut(b, 40))
	}
	return x, nil
}

// parseNaN parses a NaN as appendNaN writes it.
func parseNaN(b []byte) (float64, bool) {
	bits := uint64(nan64Bits)
	if bytes.HasPrefix(b, []byte("-")) {
		b = b[1:]
		bits |= signBit
	}
	payload, ok := bytes.CutPrefix(b, []byte("nan"))
	if !ok {
		return 0, false
	}
	if len(payload) > 0 {
		digits, ok := bytes.CutPrefix(payload, []byte(":0x"))
		x, err := strconv.ParseUint(string(digits), 16, 64)
		if !ok || err != nil || x == 0 || x > nanBits {
			return 0, false
		}
		bits = bits&signBit | 0x7FF<<52 | x
	}
	return math.Float64frombits(bits), true
}

// The functions below parse numbers as the engine does. The engine accepts any text.

// lenientInt parses the digits before the first point and ignores other characters:
// "0x10" is 10. Larger numbers become the largest or smallest int64, except that
// 9223372036854775808 and 9223372036854775809 wrap around.
func lenientInt(b []byte) int64 {
	if i := bytes.IndexByte(b, '.'); i >= 0 {
		b = b[:i]
	}
	x, sign := int64(0), int64(1)
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9' && x > math.MaxInt64/10:
			if sign < 0 {
				return math.MinInt64
			}
			return math.MaxInt64
		case '0' <= c && c <= '9':
			x = 10*x + int64(c-'0')
		case c == '-' && x == 0:
			sign = -sign
		}
	}
	return sign * x
}

// lenientFloat parses the number at the start of b. Without a number, lenientFloat returns 0, or -0
// after a minus sign.
func lenientFloat(b []byte) float64 {
	b = bytes.TrimLeft(b, " \t\n")
	unsigned := bytes.TrimPrefix(b, minus)
	if len(unsigned) == len(b) {
		unsigned = bytes.TrimPrefix(b, []byte("+"))
	}
	x, _ := strconv.ParseFloat(string(unsigned[:floatLen(unsigned)]), 64)
	if bytes.HasPrefix(b, minus) {
		return -x
	}
	return x
}

// floatLen returns the length of the decimal, without a sign, at the start of b.
func floatLen(b []byte) int {
	end := digits(b, 0)
	if end < len(b) && b[end] == '.' {
		if fraction := digits(b, end+1); fraction > 1 {
			end = fraction
		}
	}
	if end == 0 || end == len(b) || b[end]|0x20 != 'e' {
		return end
	}
	exponent := end + 1
	if exponent < len(b) && (b[exponent] == '+' || b[exponent] == '-') {
		exponent++
	}
	if last := digits(b, exponent); last > exponent {
		return last
	}
	return end
}

// saturate returns the int64 nearest to x.
func saturate(x float64) int64 {
	switch {
	case x != x:
		return 0
	case x >= 1<<63:
		return math.MaxInt64
	case x < -1<<63:
		return math.MinInt64
	}
	return int64(x)
}
