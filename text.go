package gdwire

import "unicode/utf8"

// notASCII are the bits that are zero in eight bytes of ASCII.
const notASCII = 0x8080808080808080

// validText is utf8.Valid, without the call for what is short and ASCII.
func validText(p []byte) bool {
	n, bits := len(p), uint64(0)
	switch {
	case n > 32:
		return utf8.Valid(p)
	case n >= 8:
		for i := 0; i < n-8; i += 8 {
			bits |= le.Uint64(p[i:])
		}
		bits |= le.Uint64(p[n-8:])
	case n >= 4:
		bits = uint64(le.Uint32(p) | le.Uint32(p[n-4:]))
	default:
		for _, c := range p {
			bits |= uint64(c)
		}
	}
	return bits&notASCII == 0 || utf8.Valid(p)
}

// invalidText returns where p stops being UTF-8.
func invalidText(p []byte) int {
	i := 0
	for i < len(p) {
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return i
}

// valid is validText for text of a caller.
func valid[S string | []byte](s S) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if (s[i]|s[i+1]|s[i+2]|s[i+3]|s[i+4]|s[i+5]|s[i+6]|s[i+7])&utf8.RuneSelf != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			switch s := any(s[i:]).(type) {
			case string:
				return utf8.ValidString(s)
			case []byte:
				return utf8.Valid(s)
			}
		}
	}
	return true
}

// wholeRunes returns the largest n up to most at which b may be cut without
// splitting a rune. Bytes that are no UTF-8 can be cut anywhere.
func wholeRunes(b []byte, most int) int {
	for n := most; n > 0 && n > most-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n-1]) {
			if utf8.FullRune(b[n-1 : most]) {
				return most
			}
			return n - 1
		}
	}
	return most
}

// padding returns how many bytes follow n bytes to make a multiple of 4.
func padding(n uint32) int { return int(-n & 3) }

// padded returns n and its padding.
func padded(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }

var zeros [4]byte
