// Package reals tells how many bits the real components in a packet have. Engines of double
// precision write math types with 64 bits, others with 32. The first packet with such a value
// tells both apart; a Color and a vector of integers have 32 bits in either, and tell nothing.
package reals

import (
	"cmp"

	"github.com/gdwire/gdwire"
)

// A Width is the number of bits of the real components in a packet.
type Width uint8

// The widths.
const (
	Unknown Width = 0 // no such components
	Single  Width = 32
	Double  Width = 64 // of one component at least
)

// Differ reports whether the width of t, a math type or packed array, is that of the engine.
func Differ(t gdwire.Type) bool {
	t = cmp.Or(t.Element(), t)
	n, integers := t.Components()
	return n > 0 && !integers && t != gdwire.TypeColor
}

// Of returns the Width shown by a token, also of an array without elements.
func Of(t gdwire.Token) Width {
	if Differ(t.Type()) && (t.Components() > 0 || t.Kind() == gdwire.KindPackedStart) {
		return Width(t.Width())
	}
	return Unknown
}

// Read reads the next value, up to the first component of 64 bits or an error, and returns the
// Width of the part read.
func Read(d *gdwire.Decoder) (w Width, err error) {
	for t, err := range d.Tokens() {
		if err != nil {
			return w, err
		}
		if w = max(w, Of(t)); w == Double {
			break
		}
	}
	return w, nil
}
