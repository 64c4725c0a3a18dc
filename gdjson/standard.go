package gdjson

import (
	"bytes"
	"slices"
)

// standardJSON returns a copy of text with each deviation from JSON replaced by as many bytes of
// JSON: deviations written by JSON.stringify, or if lenient is set, accepted by JSON.parse. The
// result is JSON if the text is accepted, and otherwise invalid at the same offset. Characters of
// strings and digits can differ.
func standardJSON(text []byte, lenient bool) []byte {
	b := bytes.Clone(text)
	last := byte(0) // the latest byte other than white space
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			i = replaceInString(b, i+1)
		case !lenient:
		case c < ' ' && c != '\t' && c != '\n' && c != '\r':
			b[i] = ' '
		case c == ',':
			next := skipSpace(b, i+1)
			if next < len(b) && (b[next] == ']' || b[next] == '}') && last != '[' && last != '{' && last != ',' {
				b[i] = ' '
			}
		case c == '-' || '0' <= c && c <= '9':
			i = replaceNumber(b, i)
		}
		if i < len(b) && b[i] > ' ' {
			last = b[i]
		}
	}
	return b
}

// replaceInString replaces the deviations from JSON in the string with the content at i, and
// returns the offset of the closing quote.
func replaceInString(b []byte, i int) int {
	for ; i < len(b) && b[i] != '"'; i++ {
		if b[i] < ' ' {
			b[i] = ' '
		}
		if b[i] == '\\' {
			if i++; i < len(b) && b[i] == 'v' {
				b[i] = 't'
			}
		}
	}
	return i
}

// replaceNumber replaces the number at i by JSON, and returns the offset of the last byte of the
// number.
func replaceNumber(b []byte, i int) int {
	start := i
	if b[i] == '-' {
		i++
	}
	end := digits(b, i)
	if end < len(b) && b[end] == '.' {
		end = digits(b, end+1)
	}
	number := b[i:end]
	switch {
	case len(bytes.Trim(number, ".")) == 0: // not a number
		return start
	case end < len(b) && b[end] == '.': // nor this
		return end
	}
	if _, std := standardNumber(nil, number); len(std) != len(number) {
		for j := range number {
			number[j] = '1'
		}
	}
	return exponentEnd(b, end) - 1
}

// exponentEnd returns the end of the exponent at i, or i if there is none. If the exponent were not
// skipped, its digits would begin a number.
func exponentEnd(b []byte, i int) int {
	if i == len(b) || b[i]|0x20 != 'e' {
		return i
	}
	if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	return digits(b, i)
}

// standardNumber returns the number b, as accepted by the engine, as JSON: with a digit before the
// point, and without further zeros there and a point without digits. A changed number is in
// scratch.
func standardNumber(scratch, b []byte) (_, std []byte) {
	unsigned := bytes.TrimPrefix(b, []byte("-"))
	point := digits(unsigned, 0)
	whole, rest := unsigned[:point], unsigned[point:]
	trimmed := bytes.TrimLeft(whole, "0")
	if len(trimmed) == 0 && (len(whole) > 0 || bytes.HasPrefix(rest, []byte("."))) {
		trimmed = []byte("0")
	}
	noFraction := bytes.HasPrefix(rest, []byte(".")) && digits(rest, 1) == 1
	if len(trimmed) == len(whole) && !noFraction {
		return scratch, b
	}
	if noFraction {
		rest = rest[1:]
	}
	scratch = slices.Grow(scratch[:0], len(b)+1)
	scratch = append(scratch, b[:len(b)-len(unsigned)]...)
	scratch = append(append(scratch, trimmed...), rest...)
	return scratch, scratch
}

// digits returns the offset after the digits at i.
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' < 10 {
		i++
	}
	return i
}

// skipSpace returns the offset after the white space at i, if there is any. Control characters are
// white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	return i
}
