package variant

import (
	"strings"
	"unicode"
)

// snakeCase returns the key for a Go field without a name in its tag. It does what Godot's
// String.to_snake_case does. A word begins at an upper-case letter after a lower-case letter, at
// an upper-case letter before a lower-case letter, at a digit after a letter, and at a letter
// between a digit and a lower-case letter.
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
	case unicode.IsDigit(this):
		return unicode.IsLetter(last)
	case unicode.IsUpper(this):
		return unicode.IsLower(last) || lowerNext && (unicode.IsUpper(last) || unicode.IsDigit(last))
	case unicode.IsLower(this):
		return lowerNext && unicode.IsDigit(last)
	}
	return false
}
