package gdjson

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// The first steps of reading JSON: the index of a text, the numbers in it, its deviations from the
// standard, and tokens.

// A text is the JSON of one value and an index of its objects and arrays. The index holds the
// counts that the Encoder needs before the content, and lets the reader skip a member in constant
// time, because "type" may follow "args". Conversion therefore takes time proportional to the text
// for any nesting and any order of members.
type text struct {
	json    []byte
	own     []byte // memory of json, unless the source is a bytes.Buffer
	lenient bool   // accept the engine's deviations from JSON
	nodes   []node
}

// A node is an object or array. Nodes are in the order of their starts.
type node struct {
	end   uint32 // offset after its last byte; of an open node, the offset of the start
	next  uint32 // index of the first node after its end; of an open node, of the parent
	count uint32 // elements or members
}

const (
	// maxText is the greatest length of a text, because nodes hold offsets of 32
	// bits.
	maxText = math.MaxUint32 - 1
	// noNode is the parent of the top-level value.
	noNode = math.MaxUint32
	// maxDepth is the greatest number of open nodes, as in jsontext.
	maxDepth = 10_000
)

// A cursor is a position in a text: the offset of a value and the index of the
// first node at or after this offset.
type cursor struct {
	pos, node int
}

var le = binary.LittleEndian

// maxExact is 2^53: a float64 represents every integer up to 2^53 exactly.
const maxExact = 1 << 53

// appendInt64 appends x as a number, or as a string beyond maxExact, where the engine would round
// x, because its JSON numbers are float64.
func appendInt64(dst []byte, x int64) []byte {
	if -maxExact <= x && x <= maxExact {
		return strconv.AppendInt(dst, x, 10)
	}
	dst = append(dst, '"')
	dst = strconv.AppendInt(dst, x, 10)
	return append(dst, '"')
}

// The bits of the NaN that engines write.
const (
	nan64Bits = 0x7FF8 << 48
	signBit   = 1 << 63
	nanBits   = 1<<52 - 1 // payload
)

// appendReal appends the number with these float64 bits as an element of args:
// 1e99999 for infinity and null for NaN, as the engine writes them, and a string
// for any other NaN.
func appendReal(dst []byte, bits uint64) []byte {
	switch x := math.Float64frombits(bits); {
	case x-x == 0:
		return appendFloat(dst, x, 64)
	case x > 0:
		return append(dst, "1e99999"...)
	case x < 0:
		return append(dst, "-1e99999"...)
	case bits == nan64Bits:
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = appendNaN(dst, bits)
	return append(dst, '"')
}

// appendPlain appends a number for plain JSON: the shortest decimal that reads back
// as the same number in width bits, 32 or 64, and null for any NaN.
func appendPlain(dst []byte, x float64, width int) []byte {
	switch {
	case x-x == 0:
		return appendFloat(dst, x, width)
	case x != x:
		return append(dst, "null"...)
	}
	return appendReal(dst, math.Float64bits(x))
}

// appendText appends x as after "f:", and as in GDScript.
func appendText(dst []byte, x float64, width int) []byte {
	switch {
	case x-x == 0:
		return appendFloat(dst, x, width)
	case x != x:
		return appendNaN(dst, math.Float64bits(x))
	}
	dst, _ = wire.AppendNonFinite(dst, x)
	return dst
}

// appendNaN appends a NaN as in WebAssembly's text format: "nan" for the usual NaN, otherwise the
// sign and, after a colon, the payload.
func appendNaN(dst []byte, bits uint64) []byte {
	if bits&signBit != 0 {
		dst = append(dst, '-')
	}
	dst = append(dst, "nan"...)
	if bits&^signBit != nan64Bits {
		dst = append(dst, ":0x"...)
		dst = strconv.AppendUint(dst, bits&nanBits, 16)
	}
	return dst
}

// appendFloat appends the shortest decimal that reads back as the finite x, with a
// point or an exponent.
func appendFloat(dst []byte, x float64, width int) []byte {
	// Digits of an integer are faster: positions and sizes in games often are.
	if i := int64(x); float64(i) == x && -maxExact < i && i < maxExact && (i != 0 || !math.Signbit(x)) {
		return append(strconv.AppendInt(dst, i, 10), ".0"...)
	}
	return wire.AppendFloat(dst, x, width)
}

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

// The engine's JSON is not quite JSON. JSON.stringify writes most control characters in strings
// unescaped, and U+000B as \v, although JSON.parse does not accept \v. Beyond JSON, JSON.parse
// accepts a comma after the last element or member, any control character as white space, and
// numbers such as 01, 1. and -.5.

// scan finds the nodes of t.json and reports whether t.json is one value of JSON as the engine
// writes JSON, or if t.lenient is set, reads JSON. Otherwise scan accepts the same texts as
// jsontext, as a fuzz target verifies, in a third of the time. scan returns no error: syntaxError
// gets the error from jsontext.
func (t *text) scan() bool {
	b, i, ok := t.json, 0, true
	top, depth := uint32(noNode), 0 // the innermost open node
	t.nodes = t.nodes[:0]
	control := whiteSpace(t.lenient)
	for {
		// A value is next.
		if i = space(b, i, control); i == len(b) {
			return false
		}
		switch c := b[i]; c {
		case '{', '[':
			if depth++; depth > maxDepth {
				return false
			}
			t.nodes = append(t.nodes, node{end: uint32(i), next: top})
			top = uint32(len(t.nodes) - 1)
			i = space(b, i+1, control)
			if i < len(b) && b[i] == c+2 { // the closing bracket
				break
			}
			t.nodes[top].count = 1
			if c == '{' {
				if i, ok = scanName(b, i, control); !ok {
					return false
				}
			}
			continue
		case '"':
			i, ok = scanString(b, i)
		case 'n', 't', 'f':
			i, ok = scanWord(b, i)
		default:
			i, ok = t.scanNumber(i)
		}
		// A comma is next, or closing brackets.
		for ; ; i++ {
			i = space(b, i, control)
			if !ok || top == noNode {
				return ok && i == len(b)
			}
			if i == len(b) {
				return false
			}
			n := &t.nodes[top]
			if b[i] == ',' && n.count > 0 {
				if t.lenient {
					if next := skipSpace(b, i+1); next < len(b) && b[next] == b[n.end]+2 {
						continue // a comma after the last element or member
					}
				}
				n.count++
				break
			}
			if b[i] != b[n.end]+2 {
				return false
			}
			n.end, n.next, top = uint32(i+1), uint32(len(t.nodes)), n.next
			depth--
		}
		i++
		if b[t.nodes[top].end] == '{' {
			if i, ok = scanName(b, space(b, i, control), control); !ok {
				return false
			}
		}
	}
}

// The functions below scan the syntax element at offset i of b. They return the offset after the
// element and whether the element is valid. Otherwise the offset is meaningless.

// whiteSpace returns the character below which every character is white space: 0 for JSON.
func whiteSpace(lenient bool) byte {
	if lenient {
		return ' '
	}
	return 0
}

// space skips the white space of JSON and all characters below control, if there are any.
func space(b []byte, i int, control byte) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r' || b[i] < control) {
		i++
	}
	return i
}

// scanName scans a member's name and the colon.
func scanName(b []byte, i int, control byte) (int, bool) {
	if i == len(b) || b[i] != '"' {
		return i, false
	}
	i, ok := scanString(b, i)
	if !ok {
		return i, false
	}
	i = space(b, i, control)
	return i + 1, i < len(b) && b[i] == ':'
}

// To test eight bytes at a time: ones times a byte repeats the byte in all eight, and highs is the
// highest bit of each.
const ones, highs = 0x0101010101010101, 0x8080808080808080

// scanString scans a string, eight bytes at a time if they are ASCII without quotes and
// backslashes.
func scanString(b []byte, i int) (int, bool) {
	start, ascii := i, true
	for i++; ; i++ {
		for i+8 <= len(b) {
			x := le.Uint64(b[i:])
			quote, slash := x^'"'*ones, x^'\\'*ones
			found := (x | (quote-ones)&^quote | (slash-ones)&^slash) & highs
			i += bits.TrailingZeros64(found) / 8
			if found != 0 {
				break
			}
		}
		if i >= len(b) {
			return i, false
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, ascii || utf8.Valid(b[start:i])
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return i, false
			}
			i += n - 1
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
}

// escapeLen returns the length of the escape sequence or surrogate pair at the start of b, or 0 for
// an invalid sequence.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't', 'v':
		return 2
	case 'u':
		switch r := hex4(b); {
		case r < 0 || 0xDC00 <= r && r < 0xE000:
			return 0
		case r < 0xD800 || r >= 0xE000:
			return 6
		case hex4(b[6:])&^0x3FF == 0xDC00:
			return 12
		}
	}
	return 0
}

// hex4 returns the number in the \uXXXX at the start of b, and -1 if there is none.
func hex4(b []byte) int {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	x := 0
	for _, c := range b[2:6] {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if digit < 0 || c < '0' {
			return -1
		}
		x = 16*x + digit
	}
	return x
}

// scanWord scans null, true or false.
func scanWord(b []byte, i int) (int, bool) {
	for _, word := range [...]string{"null", "true", "false"} {
		if bytes.HasPrefix(b[i:], []byte(word)) {
			return i + len(word), true
		}
	}
	return i, false
}

// scanNumber scans a number.
func (t *text) scanNumber(i int) (int, bool) {
	b, start := t.json, i
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	i = digits(b, i)
	whole := i - first
	if !t.lenient && (whole == 0 || b[first] == '0' && whole > 1) {
		return i, false
	}
	if i < len(b) && b[i] == '.' {
		first = i + 1
		if i = digits(b, first); i == first && (!t.lenient || whole == 0) {
			return i, false
		}
	}
	if t.lenient && whole == 0 && (i == first || b[start] != '-') { // neither -.5 nor a digit
		return i, false
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		first = i
		if i = digits(b, i); i == first {
			return i, false
		}
	}
	return i, true
}

// The functions below do the same in text that scan found valid.

// literalEnd returns the offset after the number, null, true or false at i.
func literalEnd(b []byte, i int) int {
	for i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != ']' && b[i] != '}' {
		i++
	}
	return i
}

// stringEnd returns the offset after the string at i, and whether the string contains escape
// sequences.
func stringEnd(b []byte, i int) (end int, escaped bool) {
	for i++; ; i++ {
		for i+8 <= len(b) {
			x := le.Uint64(b[i:])
			quote, slash := x^'"'*ones, x^'\\'*ones
			found := ((quote-ones)&^quote | (slash-ones)&^slash) & highs
			i += bits.TrailingZeros64(found) / 8
			if found != 0 {
				break
			}
		}
		switch b[i] {
		case '"':
			return i + 1, escaped
		case '\\':
			escaped = true
			i++
		}
	}
}

// appendUnquoted appends the content of a string accepted by scan.
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
