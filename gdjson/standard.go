package gdjson

import "slices"

// The engine's JSON.stringify escapes only some control characters, and writes U+000B
// as \v, which is not JSON and which the engine itself does not read. scan accepts
// both. For jsontext, standardize escapes them as JSON does.

// A shift says that standardize inserted grown bytes in all before what follows the
// original offset at.
type shift struct {
	at, grown int64
}

// standardize returns b as jsontext reads it: b itself unless a string in it has an
// unescaped control character or \v.
func standardize(b []byte) (std []byte, shifts []shift) {
	const hex = "0123456789abcdef"
	inside, from, grown := false, 0, int64(0)
	for i := 0; i < len(b); i++ {
		c, size := b[i], 1
		switch {
		case c == '"':
			inside = !inside
			continue
		case inside && c == '\\':
			i++
			if i == len(b) || b[i] != 'v' {
				continue
			}
			c, size = '\v', 2
		case !inside || c >= ' ':
			continue
		}
		std = append(append(std, b[from:i+1-size]...), '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		from = i + 1
		grown += int64(6 - size)
		shifts = append(shifts, shift{int64(i), grown})
	}
	if shifts == nil {
		return b, nil
	}
	return append(std, b[from:]...), shifts
}

// toStandard returns the offset in the standardized text of an offset in the original.
func toStandard(shifts []shift, offset int64) int64 {
	for _, s := range slices.Backward(shifts) {
		if s.at < offset {
			return offset + s.grown
		}
	}
	return offset
}

// fromStandard is the inverse of toStandard.
func fromStandard(shifts []shift, offset int64) int64 {
	for _, s := range slices.Backward(shifts) {
		if s.at+s.grown < offset {
			return offset - s.grown
		}
	}
	return offset
}
