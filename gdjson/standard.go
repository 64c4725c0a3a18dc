package gdjson

import (
	"bytes"
	"slices"
)

// The engine's JSON is not quite JSON. JSON.stringify writes most control characters
// in strings as they are, and U+000B as \v, which JSON.parse does not accept. Beyond
// JSON, JSON.parse accepts a comma after the last element or member, any control
// character as white space, and numbers such as 01, 1. and -.5.

// A shift says that the bytes after offset at of a text are grown bytes further on in
// the standardized text.
type shift struct {
	at, grown int64
}

// A standardizer converts a text to standard JSON.
type standardizer struct {
	text   []byte
	std    []byte // text[:done], converted
	done   int
	shifts []shift
}

// standardize converts the JSON that the engine writes, and if lenient is set the JSON
// that it reads, to standard JSON. It returns text itself if there is nothing to
// convert. Text that is not JSON either way stays so.
func standardize(text []byte, lenient bool) (std []byte, shifts []shift) {
	s := standardizer{text: text}
	last := byte(0) // the latest byte that is not white space
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			i = s.string(i + 1)
		case !lenient:
		case c < ' ' && c != '\t' && c != '\n' && c != '\r':
			s.replace(i, i+1, " ")
		case c == ',':
			next := skipSpace(text, i+1)
			if next < len(text) && (text[next] == ']' || text[next] == '}') && last != '[' && last != '{' && last != ',' {
				s.replace(i, i+1, " ")
			}
		case c == '-' || '0' <= c && c <= '9':
			i = s.number(i)
		}
		if i < len(text) && text[i] > ' ' {
			last = text[i]
		}
	}
	if s.std == nil {
		return text, nil
	}
	return append(s.std, text[s.done:]...), s.shifts
}

// replace replaces text[from:to].
func (s *standardizer) replace(from, to int, by string) {
	s.std = append(append(s.std, s.text[s.done:from]...), by...)
	s.done = to
	if grown := int64(len(s.std) - to); len(s.shifts) == 0 && grown != 0 || len(s.shifts) > 0 && grown != s.shifts[len(s.shifts)-1].grown {
		s.shifts = append(s.shifts, shift{int64(to - 1), grown})
	}
}

// string converts the string whose content begins at i, and returns the offset of its
// end.
func (s *standardizer) string(i int) int {
	const hex = "0123456789abcdef"
	for ; i < len(s.text) && s.text[i] != '"'; i++ {
		c, from := s.text[i], i
		if c == '\\' {
			if i++; i == len(s.text) || s.text[i] != 'v' {
				continue
			}
			c = '\v'
		}
		if c < ' ' {
			s.replace(from, i+1, `\u00`+hex[c>>4:c>>4+1]+hex[c&15:c&15+1])
		}
	}
	return i
}

// number converts the number that begins at i, but for its exponent, and returns the
// offset of its last byte.
func (s *standardizer) number(i int) int {
	start := i
	if s.text[i] == '-' {
		i++
	}
	point := digits(s.text, i)
	whole, end := s.text[i:point], point
	var fraction []byte
	if point < len(s.text) && s.text[point] == '.' {
		end = digits(s.text, point+1)
		fraction = s.text[point+1 : end]
	}
	if len(whole)+len(fraction) == 0 {
		return start
	}
	std := append([]byte(nil), s.text[start:i]...)
	if whole = bytes.TrimLeft(whole, "0"); len(whole) == 0 {
		whole = []byte("0")
	}
	std = append(std, whole...)
	if len(fraction) > 0 {
		std = append(append(std, '.'), fraction...)
	}
	if !bytes.Equal(std, s.text[start:end]) {
		s.replace(start, end, string(std))
	}
	return end - 1
}

// fromStandard returns the offset in the text of an offset in the standardized text.
func fromStandard(shifts []shift, offset int64) int64 {
	for _, s := range slices.Backward(shifts) {
		if s.at+s.grown < offset {
			return offset - s.grown
		}
	}
	return offset
}
