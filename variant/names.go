package variant

import (
	"strings"
	"unicode"
)

// snakeCase returns the name a Go field has on the wire unless its tag says
// otherwise: what Godot's String.to_snake_case makes of it. A word begins at an
// upper-case letter that follows a lower-case one, at one that a lower-case
// letter follows, at a digit that follows a letter, and at a letter between a
// digit and a lower-case letter.
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

// startsWord reports whether a word begins at r[i], i > 0.
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
