package save

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
)

// A ConversionError reports whole values in a file that a program took for text, and converted. The values are those before.
type ConversionError struct {
	Offset int // of the first byte that was converted
	What   string
}

func (e *ConversionError) Error() string {
	return fmt.Sprintf("offset %d: a program took the file for text: %s", e.Offset, e.What)
}

// At returns Offset.
func (e *ConversionError) At() int { return e.Offset }

// conversions are those that can be undone: undo returns nil for bytes that are no result of it.
var conversions = []struct {
	what string
	undo func(b []byte) []byte
}{
	{"a carriage return (0d) is before each line feed (0a)", withoutReturns},
	{"each byte from 80 on became two bytes of UTF-8", withoutUTF8},
}

func withoutReturns(b []byte) []byte {
	if n := bytes.Count(b, []byte("\n")); n == 0 || n != bytes.Count(b, []byte("\r\n")) {
		return nil
	}
	return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
}

func withoutUTF8(b []byte) []byte {
	if !utf8.Valid(b) {
		return nil
	}
	all := make([]byte, 0, len(b))
	for _, c := range string(b) {
		if c > 0xff {
			return nil
		}
		all = append(all, byte(c))
	}
	if len(all) == len(b) {
		return nil
	}
	return all
}

// A converted is a conversion of a file as text. To write the values undoes it.
type converted struct{ inside *Bytes }

func (l *converted) content() *Bytes { return l.inside }

func (l *converted) write(w io.Writer, fill func(io.Writer) error) error { return fill(w) }

// converted finds a conversion that hides values: of a file that is damaged otherwise, or of values alone that are explained
// worse as they are, as after a length that became a header.
func (s *search) converted(p *place) (*found, error) {
	v := p.best.Values
	if p.depth > 0 || s.Known.Format && s.Known.Frame || v.Certainty == recognize.Foreign {
		return nil, nil
	}
	isDamaged := !v.fits() || p.best.Err != nil
	f := s.undone(p)
	if f != nil {
		f.bits = p.best.bits + nearTie + 1
		f.accepts = func(inner *Stack) bool {
			isBetter := len(inner.layers) == 0 && inner.Values.Sure() && inner.bits > p.best.bits+headerBits
			return (isDamaged && inner.Values.fits() || isBetter) && inner.check(inner.Reading) == nil
		}
	}
	return f, nil
}

// undone returns the layer of a conversion, or nil.
func (s *search) undone(p *place) *found {
	const enough = 4 << 10
	if p.Live() {
		return nil
	}
	head := p.peek(enough)
	for len(head) > 0 && head[len(head)-1] >= utf8.RuneSelf { // perhaps a part of a character
		head = head[:len(head)-1]
	}
	for _, c := range conversions {
		if c.undo(head) == nil {
			continue
		}
		all := p.upTo(maxAround)
		if undone := c.undo(all); undone != nil {
			at := 0
			for at < len(undone) && all[at] == undone[at] {
				at++
			}
			return &found{layer: &converted{memory(undone, &ConversionError{at, c.what})}, all: true}
		}
	}
	return nil
}

// restored returns the values of a container that was converted, or nil.
func (s *search) restored(p *place) *found {
	if p.depth > 0 {
		return nil
	}
	f := s.undone(p)
	if f == nil {
		return nil
	}
	f.accepts = func(inner *Stack) bool { return inner.Values.fits() && inner.check(inner.Reading) == nil }
	st, err := s.inside(p, f)
	if st == nil || err != nil {
		return nil
	}
	inner, b := st.Bytes, *st.Bytes
	if b.Err = f.content().Err; b.at == nil {
		b.open = func() io.Reader { return io.MultiReader(inner.Reader(), checked.Failed{Err: b.Err}) }
	}
	st.Bytes, st.settled = &b, true // the container ends before the error
	return &found{values: st}
}
