package wire

import (
	"errors"
	"math/bits"
	"strconv"
	"strings"
)

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
