package gdjson

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gdwire/gdwire/internal/hook"
)

func init() {
	hook.StandardJSON = func(text []byte, lenient bool) []byte { return appendJSON(nil, text, lenient) }
}

// standardNumber returns the number b, which the engine accepts, as JSON: with a digit
// before the point, and without further zeros there and a point without digits. If this
// changes it, the result is in scratch.
func standardNumber(scratch, b []byte) (_, std []byte) {
	unsigned := bytes.TrimPrefix(b, minus)
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

// appendUnquoted appends the content of a string that scan accepted.
func appendUnquoted(dst, s []byte) []byte {
	dst = slices.Grow(dst, len(s))
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		s = s[i:]
		n := escapeLen(s)
		switch c := s[1]; {
		case c != 'u':
			dst = append(dst, escapes[c])
		case n == 6:
			dst = utf8.AppendRune(dst, rune(hex4(s)))
		default:
			dst = utf8.AppendRune(dst, utf16.DecodeRune(rune(hex4(s)), rune(hex4(s[6:]))))
		}
		s = s[n:]
	}
}

// escapes contains the characters for escape sequences of one letter.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// appendJSON appends text and replaces the engine's deviations from JSON by as many bytes
// of JSON: those that JSON.stringify writes, or if lenient is set, those that JSON.parse
// accepts. The result is JSON if the text is accepted, and otherwise invalid at the same
// offset.
func appendJSON(dst, text []byte, lenient bool) []byte {
	from := len(dst)
	dst = append(dst, text...)
	b := dst[from:]
	last := byte(0) // the latest byte that is not white space
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
	return dst
}

// replaceInString replaces the deviations from JSON in the string with the content at i. It
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

// replaceNumber replaces the number that begins at i by JSON. It returns the offset of the last
// byte of the number.
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

// exponentEnd returns the end of the exponent at i, or i if there is none. Without it, digits
// of an exponent would begin a number.
func exponentEnd(b []byte, i int) int {
	if i == len(b) || b[i]|0x20 != 'e' {
		return i
	}
	if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	return digits(b, i)
}
