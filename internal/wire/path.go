package wire

import "strconv"

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
