// Package wire reads and writes the parts of the format that need neither a Decoder nor an
// Encoder: text, padding, names of NodePaths, numbers, and the elements of packed arrays.
package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text as the wire stores it, as UTF-8, and the names of NodePaths.

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

// PlainLetters is PlainText for text without a NUL.
func PlainLetters(word uint64, n uint32) bool {
	// Adding 0x7F sets the highest bit of each byte of ASCII but 0.
	all := uint64(NotASCII) >> ((64 - 8*Padded(n)) & 63)
	letters := uint64(NotASCII) >> ((64 - 8*n) & 63)
	return word&all == 0 && (word+^uint64(NotASCII))&all == letters
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

// AppendIndex appends the step of a path to element n of an array: [3].
func AppendIndex(dst []byte, n int64) []byte { return appendStep(dst, "[", n, ']') }

// AppendKeyAt appends the step to the key of pair n: .key(3).
func AppendKeyAt(dst []byte, n int64) []byte { return appendStep(dst, ".key(", n, ')') }

// AppendValueAt appends the step to the value of pair n: .value(3).
func AppendValueAt(dst []byte, n int64) []byte { return appendStep(dst, ".value(", n, ')') }

func appendStep(dst []byte, before string, n int64, after byte) []byte {
	dst = append(dst, before...)
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, after)
}

// IsName reports whether a path contains the key s without quotes, as .name.
func IsName[S string | []byte](s S) bool { return len(s) > 0 && NameLen(s) == len(s) }

// NameLen returns the length of the name at the start of s: letters, underscores and, after the
// first character, digits.
func NameLen[S string | []byte](s S) int {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(s)
}

// NodePathNames goes through the names of a NodePath, joined in its text, such as
// "/root/Player:position:x", and tells whether they can be found again in the text.
type NodePathNames struct {
	names, next         int64 // without sub-names, and the index of the next name
	absolute, oneString bool
	inName              bool // the next chunk continues the latest name
}

// NamesOf returns the NodePathNames of a NodePath with this number of names before its sub-names.
// The single name of a NodePath in one string is its text.
func NamesOf(names int64, absolute, oneString bool) NodePathNames {
	return NodePathNames{names: names, absolute: absolute, oneString: oneString}
}

// Start returns the text before the first name.
func (n *NodePathNames) Start() string {
	if n.absolute {
		return "/"
	}
	return ""
}

// Next returns the separator before the next chunk of a name, or 0 for none. last tells whether
// the chunk ends the name. The error says why the name cannot be found again in the text.
func (n *NodePathNames) Next(chunk []byte, last bool) (separator byte, err error) {
	isSubname := n.next >= n.names
	switch {
	case n.inName:
	case isSubname:
		separator = ':'
	case n.next > 0:
		separator = '/'
	}
	if n.inName = !last; last {
		n.next++
	}
	if len(chunk) == 0 {
		return separator, n.nameError("empty NodePath name")
	}
	for _, c := range chunk {
		if c == ':' || c == '/' && !isSubname {
			return separator, n.nameError("NodePath name with '" + string(rune(c)) + "'")
		}
	}
	return separator, nil
}

// nameError returns an error with a text, unless the NodePath is one string.
func (n *NodePathNames) nameError(text string) error {
	if n.oneString {
		return nil
	}
	return errors.New(text)
}

// CleanNodePath returns the text of a NodePath without its unencoded parts: empty names and a colon at
// the end.
func CleanNodePath(text string) string {
	if !strings.Contains(text, "//") && !strings.Contains(text, "/:") && !strings.HasSuffix(text, "/") && !strings.HasSuffix(text, ":") {
		return text
	}
	names, subnames, _ := strings.Cut(text, ":")
	clean := strings.Join(strings.FieldsFunc(names, func(r rune) bool { return r == '/' }), "/")
	if strings.HasPrefix(names, "/") {
		clean = "/" + clean
	}
	if subnames = strings.TrimSuffix(subnames, ":"); subnames != "" {
		clean += ":" + subnames
	}
	return clean
}

const (
	// maxShortNames is the size of the longest text for PutNames.
	maxShortNames = 64
	// ShortNames is the maximum size of its encoded names, a single byte each, and of a word after them.
	ShortNames = 4*(maxShortNames+1) + 8
)

// PutNames puts the names and sub-names of a NodePath into b, from its text, in one pass, eight
// bytes at a time. It omits empty names, a slash at the start and a colon at the end, and returns the
// numbers of names and sub-names and their size in bytes. ok is false for a text that is long, is not
// ASCII, or contains a NUL or two colons in a row. Bytes of b after the names may be overwritten.
func PutNames(b *[ShortNames]byte, text string) (names, subnames uint32, size int, ok bool) {
	if len(text) > maxShortNames {
		return 0, 0, 0, false
	}
	from := 0
	if text != "" && text[0] == '/' {
		from = 1
	}
	var source [maxShortNames + 8]byte // the text, and colons after it, so that only a NUL is 0
	copy(source[:], text)
	le.PutUint64(source[len(text):], 0x0101010101010101*':')
	var counts [2]uint32 // of names and sub-names
	part := 0
	for from < len(text) { // from is after a separator
		to := size + 4
		var word, colons, ends uint64
		for {
			word = le.Uint64(source[from : from+8 : from+8])
			if NotPlain8(word)&NotASCII != 0 {
				return 0, 0, 0, false
			}
			colons = EqualBytes(word, ':')
			ends = colons
			if part == 0 {
				ends |= EqualBytes(word, '/')
			}
			if ends != 0 || len(text)-from <= 8 {
				break
			}
			le.PutUint64(b[to:to+8:to+8], word) // eight bytes of a longer name
			from, to = from+8, to+8
		}
		end := ends & -ends      // the highest bit of the separator
		rest := len(text) - from // the bytes of the name in word
		if end != 0 {
			rest = bits.TrailingZeros64(end) / 8
			word &= end>>7 - 1 // zeros in place of the separator and the bytes after it: the padding
		}
		le.PutUint64(b[to:to+8:to+8], word)
		from += rest + 1
		if length := to + rest - size - 4; length > 0 {
			le.PutUint32(b[size:size+4:size+4], uint32(length))
			size += 4 + int(Padded(uint32(length)))
			counts[part&1]++
		} else if part == 1 { // two colons in a row
			return 0, 0, 0, false
		}
		if colons&end != 0 { // sub-names follow
			part = 1
		}
	}
	return counts[0], counts[1], size, true
}
