package save

import (
	"bytes"
	"cmp"
	"io"
	"math/bits"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save/envelope"
	"github.com/gdwire/gdwire/internal/save/recognize"
)

type (
	// A Part is a part of the bytes around values.
	Part = envelope.Part
	// A CutError reports a record that is cut.
	CutError = envelope.CutError
	// A DoubtError reports a number to write that is perhaps no size.
	DoubtError = envelope.DoubtError
)

const fastlzLevel2 = envelope.FastLZLevel2

var endsEarly = envelope.EndsEarly

// An around is what a game wrote around values: a header, a trailer, or records.
type around struct {
	*envelope.Envelope
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
	all, err := l.Write(content.Bytes())
	if err == nil {
		_, err = w.Write(all)
	}
	return err
}

// around finds what a game wrote around values.
func (s *search) around(p *place) (*found, error) {
	v := p.best.Values
	if s.Skip > 0 || p.records || v.Certainty == recognize.Foreign && !v.mayHold() {
		return nil, nil
	}
	all := v.Head
	if !v.Whole {
		all = p.upTo(maxAround)
	}
	if all == nil {
		return nil, nil
	}
	eo := &envelope.Options{Decoder: s.Reading(p.Size).Decoder, Content: p.depth > 0, Keep: s.Keep, Derive: s.Derive}
	if s.Known.Format {
		eo.Formats = []gdwire.Format{eo.Decoder.Format}
	}
	e := envelope.Find(all, eo)
	isDamaged := v.IsDamaged() || v.IsCut() || v.Certainty == recognize.Ambiguous
	if e == nil || e.ArePackets() || isDamaged && !e.IsProved() && !isVersion(e) {
		return nil, nil // damage explains any bytes
	}
	f := &found{layer: &around{e, memory(e.Content(), cmp.Or(p.Err, e.Err))}, bits: e.Bits + e.Small, all: true, records: len(e.Bodies) > 1}
	f.accepts = func(inner *Stack) bool {
		return inner.Values.Certainty >= recognize.Ambiguous && !inner.Values.IsDamaged() && !inner.Values.IsCut()
	}
	return f, nil
}

// isVersion reports whether there is nothing but a number of 32 bits before a value, and this number is not a damaged
// length.
func isVersion(e *envelope.Envelope) bool {
	if len(e.Bodies) > 1 || len(e.Gaps[0]) != lengthSize || len(e.Gaps[1]) > 0 {
		return false
	}
	const wrong = 2 // bits
	n := uint32(len(e.Bodies[0].Packed))
	for _, f := range []Frame{U32, U32BE} {
		if bits.OnesCount32(n^f.Order().Uint32(e.Gaps[0])) <= wrong {
			return false
		}
	}
	return true
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
			for _, gap := range l.Gaps {
				n += int64(len(gap))
			}
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
			l.Parts(yield)
			return
		case *quoted:
			end := len(l.after)
			_ = yield(Part{Size: len(l.before), What: "header"}) && yield(Part{Offset: l.size - end, Size: end, What: "trailer"})
			return
		}
	}
}

// envelope returns the outermost of what a game wrote around values, or nil.
func (st *Stack) envelope() *envelope.Envelope {
	for _, l := range st.layers {
		if a, ok := l.(*around); ok {
			return a.Envelope
		}
	}
	return nil
}

// Secret returns the offset and size of bytes around the values that look like a checksum but cannot be computed, or 0, 0.
func (st *Stack) Secret() (offset, size int) {
	if e := st.envelope(); e != nil {
		return e.Secret()
	}
	return 0, 0
}

// Records returns the number of records that the values are in, or 0, and reports whether another follows that is cut.
func (st *Stack) Records() (n int, cut bool) {
	e := st.envelope()
	if e == nil || len(e.Bodies) < 2 && e.Err == nil {
		return 0, false
	}
	return len(e.Bodies), e.Err != nil
}
