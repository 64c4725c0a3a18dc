package recognize

import (
	"bytes"
	"errors"
	"io"

	"github.com/gdwire/gdwire"
)

// A Scanner reads single values anywhere in bytes, and weighs them as Recognize does. A Scanner accepts only values as
// engines write them.
type Scanner struct{ d *gdwire.Decoder }

// NewScanner returns a Scanner for values of a format. The format and limits of o, Strict and AllowObjects are ignored.
func NewScanner(format gdwire.Format, o gdwire.DecoderOptions) *Scanner {
	o.Format, o.Strict, o.AllowObjects, o.OneValue, o.Limits = format, true, true, false, gdwire.NoLimits
	return &Scanner{gdwire.NewDecoder(nil, &o)}
}

// Close releases the Scanner.
func (s *Scanner) Close() { s.d.Release() }

// A Found is a value.
type Found struct {
	Size  int     // in bytes
	Bits  float64 // of evidence, if zeros and small numbers are common
	Small float64 // the evidence in these, if the bytes are known to be values
	Text  bool    // contains text
}

// smallInt is the bound of integers that are as common in other bytes as zeros.
const smallInt = 1 << 16

// Size returns the size of the value at the start of b, or 0 if there is none.
func (s *Scanner) Size(b []byte) int {
	if !PlainHeader(b) {
		return 0
	}
	s.d.ResetBytes(b)
	if s.d.SkipValue() != nil {
		return 0
	}
	return int(s.d.InputOffset())
}

// IsCut reports whether b is the start of a value.
func (s *Scanner) IsCut(b []byte) bool {
	if !PlainHeader(b) {
		return false
	}
	s.d.ResetBytes(b)
	return errors.Is(s.d.SkipValue(), io.ErrUnexpectedEOF)
}

// Value returns the value at the start of b. Nulls, texts with NULs, and Dictionaries with the key null twice do not
// count as values. read is the number of bytes read for this.
func (s *Scanner) Value(b []byte) (v Found, read int, ok bool) {
	const types = 40
	if !PlainHeader(b) || b[0] == 0 || b[0] >= types {
		return v, 0, false
	}
	s.d.ResetBytes(b)
	r := valueReader{content: &content{}, Decoder: s.d}
	at := 0 // the offset of the next token
	for token, err := range s.d.Tokens() {
		if err != nil {
			return v, int(s.d.InputOffset()), false
		}
		r.token(token)
		if r.hasHeader && !PlainHeader(b[at:]) {
			return v, at, false
		}
		if r.hasHeader && isSmall(token) {
			v.Small += headerBits - smallBits
		}
		if k := token.Kind(); k == gdwire.KindStringChunk || k == gdwire.KindProperty {
			if bytes.IndexByte(token.Bytes(), 0) >= 0 {
				return v, at, false
			}
			v.Text = v.Text || len(token.Bytes()) > 0
		}
		at = int(s.d.InputOffset())
	}
	v.Size, v.Bits = at, r.bits-v.Small-nullKey*float64(r.nullKeys)
	return v, at, r.nullKeys < 2
}

// isSmall reports whether the header of a value is little evidence, because zeros and small numbers are common in any
// bytes.
func isSmall(t gdwire.Token) bool {
	switch t.Kind() {
	case gdwire.KindBool:
		return true
	case gdwire.KindInt32, gdwire.KindInt64:
		return t.Int() < smallInt && t.Int() > -smallInt
	case gdwire.KindFloat32, gdwire.KindFloat64:
		return t.Float() == 0
	case gdwire.KindStringChunk, gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindPackedStart:
		return t.Len() == 0
	}
	return false
}

// A Part is the first value in an input not understood as a whole.
type Part struct {
	Offset, Size int // in bytes; Size is 0 for a value longer than the start of the input
	Type         gdwire.Type
}

// partBits is the evidence needed for a Part: three headers, so that foreign files contain none.
const partBits = 3 * headerBits

// FindPart returns the first value with much evidence at the start of the input.
func FindPart(in *Input) (part Part, ok bool) {
	for _, format := range []gdwire.Format{gdwire.Godot4, gdwire.Godot3} {
		s := NewScanner(format, in.Decoder)
		for n := 0; n < maxHeader && n+minSure <= len(in.Head) && !(ok && n >= part.Offset); n++ {
			v, read, found := s.Value(in.Head[n:])
			if found && v.Text && v.Bits >= partBits || !found && !in.whole() && read > len(in.Head)/2 {
				part, ok = Part{Offset: n, Size: v.Size}, true
				s.d.ResetBytes(in.Head[n:])
				part.Type, _ = s.d.PeekType()
			}
		}
		s.Close()
	}
	return part, ok
}
