package variant

import (
	"strings"
	"unicode"
)

// ignoredTag is the tag of a field neither encoded nor decoded.
const ignoredTag = "-"

// snakeCase returns the key for a Go field without a name in its tag, as Godot's
// String.to_snake_case does. A word begins at an upper-case letter after a lower-case letter, at
// an upper-case letter before a lower-case letter, at a digit after such a letter, and at a letter
// between a digit and a lower-case letter. Only 0 to 9 are digits.
func snakeCase(name string) string {
	r := []rune(name)
	var b strings.Builder
	for i, c := range r {
		if i > 0 && startsWord(r, i) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// startsWord reports whether a word begins at r[i], for i > 0.
func startsWord(r []rune, i int) bool {
	last, this := r[i-1], r[i]
	lowerNext := i+1 < len(r) && unicode.IsLower(r[i+1])
	switch {
	case isDigit(this):
		return unicode.IsUpper(last) || unicode.IsLower(last)
	case unicode.IsUpper(this):
		return unicode.IsLower(last) || lowerNext && (unicode.IsUpper(last) || isDigit(last))
	case unicode.IsLower(this):
		return lowerNext && isDigit(last)
	}
	return false
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
