package save

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math/bits"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save/explain"
	"github.com/gdwire/gdwire/internal/save/recognize"
)

type (
	// A Part is a part of the bytes around values.
	Part = explain.Region
	// A CutError reports a record that is cut.
	CutError = explain.CutError
	// A LengthError reports the wrong length of a whole value.
	LengthError = explain.LengthError
	// A DoubtError reports a number to write that is perhaps no size.
	DoubtError = explain.DoubtError
)

// An around is what a game wrote around values: a header, a trailer, or records.
type around struct {
	*explain.Parse
	inside *Bytes
}

// content returns the values, or the records after lengths of 32 bits.
func (l *around) content() *Bytes { return l.inside }

// write writes the values with their sizes and checksums. The content is kept in memory.
func (l *around) write(w io.Writer, fill func(io.Writer) error) error {
	var content bytes.Buffer
	if err := fill(&content); err != nil {
		return err
	}
	all, err := l.WriteContent(content.Bytes())
	if err == nil {
		_, err = w.Write(all)
	}
	return err
}

// around finds what a game wrote around values.
func (s *search) around(p *place) (*found, error) {
	v := p.best.Values
	if s.Skip > 0 || p.records || s.Known.Format && s.Known.Frame || v.Other != nil || v.Certainty == recognize.Foreign && !v.mayHold() {
		return nil, nil
	}
	all := v.Head
	if !v.Whole {
		all = p.upTo(maxAround)
	}
	if all == nil {
		return nil, nil
	}
	eo := &explain.Options{Keep: offsets(s.Keep), Derive: offsets(s.Derive)}
	if s.Known.Format {
		eo.Formats = []gdwire.Format{s.Reading(p.Size).Decoder.Format}
	}
	e := explain.Find(all, eo)
	isDamaged := v.IsDamaged() || v.IsCut() || v.Certainty == recognize.Ambiguous
	switch {
	case e == nil, len(e.Parts) == 1, v.IsJSON() && len(e.Values()) == 1, e.IsPlain() && v.Unknown() == nil && !errors.As(e.Err, new(*LengthError)):
		return nil, nil
	case e.IsDamaged() && e.Err == nil, v.Unknown() == nil && e.EndsInZeros(MinZeros), isDamaged && e.Start() == lengthSize && (e.Parts[0].Kind != explain.Fact || len(e.Parts[0].Bytes) < lengthSize) && isLength(all), isDamaged && !e.IsProved() && e.Trailer() == nil && !isVersion(e):
		return nil, nil // damage explains any bytes
	case v.Unknown() == nil && !isDamaged && p.best.hasValueAt(all, e.Start()):
		return nil, nil // these are values of the value
	}
	f := &found{layer: &around{e, memory(e.Content(), cmp.Or(p.Err, e.Err))}, bits: e.Saving, all: true, format: &e.Format, records: len(e.Values()) > 1}
	if isDamaged || len(v.Readings) > 0 && v.Readings[0].Frame == Bare && e.Sure() && 4*e.Own() <= len(all) { // damage has its price in the explanation
		f.bits = max(f.bits, p.best.bits+nearTie+1)
	}
	return f, nil
}

// hasValueAt reports whether a value begins at an offset of the content in the first value that is read.
func (st *Stack) hasValueAt(all []byte, at int) bool {
	first := 0
	if st.Framed() {
		first = lengthSize
	}
	if at <= first || at >= len(all) {
		return false
	}
	d := st.NewDecoder()
	defer d.Release()
	d.ResetBytes(all[first:])
	isInside := false // of a text or a packed array
	for int(d.InputOffset()) < at-first {
		t, err := d.ReadToken()
		if err != nil || d.Depth() == 0 {
			return false
		}
		isInside = t.Kind() == gdwire.KindStringChunk && !t.Last() || t.Kind() == gdwire.KindPackedStart || t.Kind() == gdwire.KindChunk
	}
	return int(d.InputOffset()) == at-first && !isInside
}

func offsets(all []int64) (out []int) {
	for _, at := range all {
		out = append(out, int(at))
	}
	return out
}

// isVersion reports whether there is nothing but a number of 32 bits before a value.
func isVersion(e *explain.Parse) bool {
	return len(e.Parts) == 2 && e.Parts[0].Kind == explain.Own && len(e.Parts[0].Bytes) == lengthSize
}

// isLength reports whether a content begins with the number of all bytes after it, but for a bit or two.
func isLength(all []byte) bool {
	const wrong = 2 // bits
	n := uint32(len(all) - lengthSize)
	return len(all) > lengthSize && (bits.OnesCount32(n^U32.Order().Uint32(all)) <= wrong || bits.OnesCount32(n^U32BE.Order().Uint32(all)) <= wrong)
}

// Around describes what is around the values, apart from containers and a skipped header, or returns "".
func (st *Stack) Around() string {
	var all []string
	for _, l := range st.layers {
		switch l := l.(type) {
		case *around:
			all = append(all, l.String())
		case *quoted:
			all = append(all, "in base64 in JSON")
		}
	}
	return strings.Join(all, ", and there ")
}

// Hidden returns the number of bytes around the values, in layers other than containers and a skipped header.
func (st *Stack) Hidden() (n int64) {
	for _, l := range st.layers {
		switch l := l.(type) {
		case *around:
			n += int64(l.Around())
		case *quoted:
			n += int64(len(l.before) + len(l.after))
		}
	}
	return n
}

// Parts iterates over the parts of the outermost bytes around the values, in a container.
func (st *Stack) Parts(yield func(Part) bool) {
	for _, l := range st.layers {
		switch l := l.(type) {
		case *around:
			l.Regions(yield)
			return
		case *quoted:
			end := len(l.after)
			_ = yield(Part{Size: len(l.before), What: "header"}) && yield(Part{Offset: l.size - end, Size: end, What: "trailer"})
			return
		}
	}
}

// explained returns the outermost of what a game wrote around values, or nil.
func (st *Stack) explained() *explain.Parse {
	for _, l := range st.layers {
		if a, ok := l.(*around); ok {
			return a.Parse
		}
	}
	return nil
}

// Secret returns the offset and size of bytes around the values that look like a checksum but cannot be computed, or 0, 0.
func (st *Stack) Secret() (offset, size int) {
	if e := st.explained(); e != nil {
		return e.Secret()
	}
	return 0, 0
}

// Records returns the number of records that the values are in, or 0, and reports whether another follows that is cut.
func (st *Stack) Records() (n int, cut bool) {
	e := st.explained()
	if e == nil {
		return 0, false
	}
	if n = len(e.Values()); n < 2 && e.Err == nil {
		return 0, false
	}
	return n, e.Err != nil
}
