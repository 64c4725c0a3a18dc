package wire

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"
)

// Valid reports whether s is UTF-8. The loads overlap, so that a few branches are enough for short
// ASCII of all lengths.
func Valid[S string | []byte](s S) bool {
	n := len(s)
	var some uint64 // the bits of all words loaded by the branch
	switch {
	case n > 64:
		if (Load64(s)|Load64(s[n-8:]))&NotASCII == 0 {
			return validLong(s)
		}
		some = NotASCII
	case n > 32:
		some = Load64(s) | Load64(s[8:]) | Load64(s[16:]) | Load64(s[24:]) |
			Load64(s[n-32:]) | Load64(s[n-24:]) | Load64(s[n-16:]) | Load64(s[n-8:])
	case n > 16:
		some = Load64(s) | Load64(s[8:]) | Load64(s[n-16:]) | Load64(s[n-8:])
	case n > 8:
		some = Load64(s) | Load64(s[n-8:])
	default:
		w := Short(s)
		return w&NotASCII == 0 || ValidShort(w, uint32(n))
	}
	return some&NotASCII == 0 || validWords(s, n-8, Load64(s[n-8:]))
}

// validLong does the same for long text, probably ASCII, where package utf8 takes less time.
func validLong[S string | []byte](s S) bool {
	switch s := any(s).(type) {
	case string:
		return utf8.ValidString(s)
	case []byte:
		return utf8.Valid(s)
	}
	return false
}

// IsASCII reports whether p, of 9 to 32 bytes, is ASCII: as Valid, but without a call.
func IsASCII(p []byte) bool {
	n := len(p)
	all := le.Uint64(p) | le.Uint64(p[n-8:])
	if n > 16 {
		all |= le.Uint64(p[8:]) | le.Uint64(p[n-16:])
	}
	return all&NotASCII == 0
}

// ValidShort reports whether the first n bytes of w, 1 to 8, are UTF-8. Without ValidShort, a
// non-ASCII text of four bytes takes 26 % more instructions of ReadText.
func ValidShort(w uint64, n uint32) bool {
	unused := (64 - 8*n) & 63
	w = w << unused >> unused
	return NotSimple(w) == 0 || validWords("", 0, w)
}

// NotSimple returns 0 if w, a text of up to 8 bytes and zeros, is UTF-8 without runes of four bytes and without those
// starting with E0 or ED, because some bytes are invalid after these two. The compiler can inline NotSimple: -23 % of
// WriteString of such texts.
func NotSimple(w uint64) uint64 {
	const each = 0x0101010101010101
	// The highest bits of a byte tell how many bytes follow. These have the bits 10.
	high := w & NotASCII
	lead := high & (w << 1)
	three := lead & (w << 2)
	follow, nibble := lead|three<<8, w&(0x0F*each)
	// Bits of bytes that follow no lead or are missing after one, of C0 and C1 (overlong), and of E0 and ED. One test
	// of all is -3 % of ReadText of such texts.
	return (high ^ lead ^ follow<<8) | follow>>56 | three&(w<<3) |
		(lead^three)&^(w&(0x1E*each)+0x7F*each) |
		three&^((nibble+0x7F*each)&(nibble^(0x0D*each)+0x7F*each))
}

// ones contains, by the length of a text of up to 8 bytes, a word of as many bytes of 1.
var ones = [16]uint64{
	0, 0x01, 0x0101, 0x010101, 0x01010101, 0x0101010101, 0x010101010101, 0x01010101010101, 0x0101010101010101,
}

// NotPlain returns w, the first n bytes of a text, 0 to 8, with the highest bit of a byte set if any of
// them is not ASCII or a NUL: subtracting 1 from a byte of 0 sets this bit.
func NotPlain(w uint64, n int) uint64 { return w | (w - ones[n&15]) }

// NotPlain8 does the same for eight bytes.
func NotPlain8(w uint64) uint64 { return w | (w - 0x0101010101010101) }

// ValidText reports whether s is UTF-8 without a NUL. Up to 64 bytes, one pass finds both, as in Valid.
func ValidText[S string | []byte](s S) bool {
	n := len(s)
	var some uint64 // the bits of all words loaded by the branch
	switch {
	case n > 64:
		return Valid(s) && !ContainsNUL(s)
	case n > 32:
		some = NotPlain8(Load64(s)) | NotPlain8(Load64(s[8:])) | NotPlain8(Load64(s[16:])) | NotPlain8(Load64(s[24:])) |
			NotPlain8(Load64(s[n-32:])) | NotPlain8(Load64(s[n-24:])) | NotPlain8(Load64(s[n-16:])) | NotPlain8(Load64(s[n-8:]))
	case n > 16:
		some = NotPlain8(Load64(s)) | NotPlain8(Load64(s[8:])) | NotPlain8(Load64(s[n-16:])) | NotPlain8(Load64(s[n-8:]))
	case n > 8:
		some = NotPlain8(Load64(s)) | NotPlain8(Load64(s[n-8:]))
	default:
		w := Short(s)
		return NotPlain(w, n)&NotASCII == 0 || ValidShortText(w, uint32(n))
	}
	return some&NotASCII == 0 || validOther(s)
}

// validOther does the same for 9 to 64 bytes other than ASCII. Words instead of ContainsNUL are
// -2 to -8 % of WriteString.
func validOther[S string | []byte](s S) bool {
	n := len(s)
	last := Load64(s[n-8:])
	nul := nulBits(Load64(s)) | nulBits(last)
	if n > 16 {
		nul |= nulBits(Load64(s[8:])) | nulBits(Load64(s[n-16:]))
	}
	if n > 32 {
		nul |= nulBits(Load64(s[16:])) | nulBits(Load64(s[24:])) | nulBits(Load64(s[n-32:])) | nulBits(Load64(s[n-24:]))
	}
	return nul&NotASCII == 0 && validWords(s, n-8, last)
}

// nulBits returns a word with the highest bits of all bytes 0 if w contains no NUL.
func nulBits(w uint64) uint64 { return (w - 0x0101010101010101) &^ w }

// ValidShortText reports whether the first n bytes of w, 1 to 8, are UTF-8 without a NUL.
func ValidShortText(w uint64, n uint32) bool {
	return (w-ones[n&15])&^w&NotASCII == 0 && ValidShort(w, n)
}

// ContainsNUL reports whether s contains a NUL.
func ContainsNUL[S string | []byte](s S) bool {
	switch s := any(s).(type) {
	case string:
		return strings.IndexByte(s, 0) >= 0
	case []byte:
		return bytes.IndexByte(s, 0) >= 0
	}
	return false
}

// validWords reports whether the first n bytes of s, and the last eight after them, are UTF-8. It
// examines eight bytes at a time. Long text other than ASCII takes 0.4 to 0.85 of the time of package
// utf8, runes of four bytes as much. The positions grow by constants in branches, so that no load waits
// for the size of the rune before; a computed size takes twice as long.
func validWords[S string | []byte](s S, n int, last uint64) bool {
	const (
		twoMask, two     = 0xC0E0, 0x80C0 // the bits shared by all runes of two bytes
		threeMask, three = 0xC0C0F0, 0x8080E0
		fourMask, four   = 0xC0C0C0F8, 0x808080F0

		pair = 1 | 1<<16       // of two runes of two bytes
		all  = pair | pair<<32 // of four
	)
	for i := 0; ; {
		w := last
		if i &= math.MaxInt; i < n {
			w = Load64(s[i : i+8])
		} else {
			w >>= 8 * uint(i-n)
		}
		switch {
		case w&NotASCII == 0:
			if i += 8; i >= n+8 {
				return true
			}
		case w&threeMask == three:
			next := w >> 24
			switch {
			case w&0x200F == 0 || w&0x200F == 0x200D: // overlong, or a surrogate
				return false
			case next&threeMask == three && next&0x200F != 0 && next&0x200F != 0x200D:
				i += 6
			default:
				i += 3
			}
		case w&twoMask == two && w&0x1E != 0: // otherwise overlong
			switch {
			case w&(twoMask*all) == two*all && (w&(0x1E*all)+0x7F*all)&(0x80*all) == 0x80*all:
				i += 8
			case w&(twoMask*pair) == two*pair && w&(0x1E<<16) != 0:
				i += 4
			default:
				i += 2
			}
		case w&0x80 == 0:
			switch {
			case w&0x8000 != 0:
				i++
			case w&0x800000 != 0:
				i += 2
			default:
				i += 3
			}
		case w&fourMask == four && w&7<<2|w>>12&3-1 < 16: // otherwise overlong, or beyond U+10FFFF
			i += 4
		default:
			return false
		}
	}
}
