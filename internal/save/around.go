package save

import (
	"bytes"
	"cmp"
	"io"
	"math/bits"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save/envelope"
	"github.com/gdwire/gdwire/internal/save/recognize"
)

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
