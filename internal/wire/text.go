// Package wire reads and writes the parts of the format that need neither a Decoder nor an
// Encoder: text, padding, names of NodePaths, numbers, and the elements of packed arrays.
package wire

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

var le = binary.LittleEndian

// NotASCII is a mask of the zero bits in eight bytes of ASCII.
const NotASCII = 0x8080808080808080

// ShortText returns the size of a length field n, its text and padding, if the text is one to eight
// bytes long and starts word, and the bytes of the text and of its padding in word are ASCII.
// Otherwise it returns 0. Two branches are faster than loading a mask by length.
func ShortText(n uint32, word uint64) int {
	switch {
	case n-1 < 4 && uint32(word)&(NotASCII>>32) == 0:
		return 8
	case n-1 < 8 && word&NotASCII == 0:
		return 12
	}
	return 0
}

// PlainText reports whether word starts with n bytes of ASCII, 1 to 8, and a padding
// of zeros. The shift removes the bytes after the padding, and both tests are one mask.
func PlainText(word uint64, n uint32) bool {
	return word<<((64-8*Padded(n))&63)&notPlain[n&3] == 0
}

// notPlain contains the zero bits of a word that ends with ASCII and padding, by the length of the
// text modulo 4.
var notPlain = [4]uint64{
	NotASCII, NotASCII | 0xFFFFFF<<40, NotASCII | 0xFFFF<<48, NotASCII | 0xFF<<56,
}

// HasNUL reports whether a NUL is among the first n bytes of word, 1 to 8, all ASCII.
func HasNUL(word uint64, n uint32) bool {
	text := uint64(1)<<(8*n) - 1
	return EqualBytes(word&text|^text&0x0101010101010101, 0) != 0
}

// EqualBytes returns a word with the highest bit set in each byte where word, all ASCII,
// contains c.
func EqualBytes(word uint64, c byte) uint64 {
	const ones = 0x0101010101010101
	// A byte of the exclusive or is 0 where word contains c, and at most 0x7F elsewhere. Adding 0x7F
	// sets its highest bit unless the byte is 0, and never carries into the next byte.
	return ^((word ^ ones*uint64(c)) + 0x7F*ones) & (0x80 * ones)
}

// InvalidAt returns the offset of the first byte of p that is not valid UTF-8.
func InvalidAt(p []byte) int {
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

// Short returns the first eight bytes of s as a little-endian number, with zeros after
// the end of s. The loads overlap if s is shorter, so that a few branches are enough for all lengths.
func Short[S string | []byte](s S) uint64 {
	switch n := len(s); {
	case n >= 8:
		return Load64(s)
	case n >= 4:
		return uint64(Load32(s)) | uint64(Load32(s[n-4:]))<<(8*(n-4))
	case n > 0:
		return uint64(s[0]) | uint64(s[n/2])<<(n/2*8) | uint64(s[n-1])<<((n-1)*8)
	}
	return 0
}

// Load64 returns the first eight bytes of s as a little-endian number.
func Load64[S string | []byte](s S) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Load32 returns the first four bytes of s as a little-endian number.
func Load32[S string | []byte](s S) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// WholeRunes returns the largest n, up to most, at which b can be cut without
// splitting a rune. Invalid UTF-8 can be cut anywhere.
func WholeRunes(b []byte, most int) int {
	for n := most; n > 0 && n > most-utf8.UTFMax; n-- { // back to the start of the last rune
		if utf8.RuneStart(b[n-1]) {
			if utf8.FullRune(b[n-1 : most]) {
				return most
			}
			return n - 1
		}
	}
	return most
}

// AppendText appends s for use between double quotes, with unprintable characters
// escaped as in GDScript, and bytes other than UTF-8 as \xNN.
func AppendText[T string | []byte](dst []byte, s T) []byte {
	plain := 0 // offset up to which s was appended
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
		if r >= utf8.RuneSelf && strconv.IsPrint(r) && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		dst = append(dst, s[plain:i]...)
		dst = appendEscape(dst, r, s[i], size)
		i += size
		plain = i
	}
	return append(dst, s[plain:]...)
}

func appendEscape(dst []byte, r rune, first byte, size int) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', first)
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r == utf8.RuneError && size == 1:
		return fmt.Appendf(dst, `\x%02x`, first)
	case r < 0x10000:
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	high, low := utf16.EncodeRune(r) // \U takes six digits in GDScript, and eight elsewhere
	return fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
}

// AppendQuoted appends text in double quotes, cut after at most n bytes, and then with an
// ellipsis.
func AppendQuoted(dst, text []byte, n int) []byte {
	cut := len(text) > n
	if cut {
		text = text[:WholeRunes(text, n)]
	}
	dst = AppendText(append(dst, '"'), text)
	if cut {
		dst = append(dst, "…"...)
	}
	return append(dst, '"')
}

// A PartialRune is the start of a rune at the end of text, 0 to 3 bytes.
type PartialRune struct {
	b [utf8.UTFMax]byte
	n int
}

// Len returns the number of bytes.
func (r PartialRune) Len() int { return r.n }

// Next returns the PartialRune at the end of p, the text after r, or false if the text is
// not UTF-8.
func (r PartialRune) Next(p []byte) (PartialRune, bool) {
	if before := r.n; before > 0 {
		r.n += copy(r.b[before:], p)   // at most the rune, and perhaps bytes of the next
		if !utf8.FullRune(r.b[:r.n]) { // p is too short
			return r, true
		}
		c, size := utf8.DecodeRune(r.b[:r.n])
		if c == utf8.RuneError && size == 1 {
			return r, false
		}
		p = p[size-before:]
	}
	whole := WholeRunes(p, len(p))
	r.n = copy(r.b[:], p[whole:])
	return r, utf8.Valid(p[:whole])
}

// Padding returns the number of bytes that pad n bytes to a multiple of 4.
func Padding(n uint32) int { return int(-n & 3) }

// Padded returns n rounded up to a multiple of 4.
func Padded(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }

var zeros [4]byte

// Zeros returns n bytes of padding, at most 4.
func Zeros(n int) []byte { return zeros[:n] }
