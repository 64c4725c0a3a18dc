package gdjson

import (
	"io"
	"math"

	"github.com/gdwire/gdwire"
)

// FromJSON reads one JSON value from r, up to the end of r, and writes it to e.
//
// Counts precede content in the binary format, so FromJSON holds the text in memory,
// at most [gdwire.EncoderOptions].MaxBuffered bytes, and an index of 12 bytes for each
// object and array. Longer text is a [gdwire.LimitError]. FromJSON reads the bytes of a
// [bytes.Buffer] in place, without copying them, so nothing must write to the Buffer before
// FromJSON returns.
//
// Invalid JSON, and a value that e cannot write, is an [Error]. If FromJSON wrote
// nothing, e is unchanged and remains usable. Otherwise the error stays
// in e, as after [gdwire.Encoder.Fail]; an error of e's Writer stays, too. An error
// of r is returned unchanged.
func FromJSON(e *gdwire.Encoder, r io.Reader, opts ...Options) error {
	o := optionsOf(opts)
	if err := e.Err(); err != nil {
		return err
	}
	p := readers.Get().(*reader)
	defer p.release()
	p.e, p.o = e, *o
	most := e.Options().MaxBuffered
	switch {
	case most < 0:
		most = math.MaxInt64
	case most == 0:
		most = defaultMaxBuffered
	}
	// readMembers checks the names in native objects, where every member is known.
	unique := p.o.Plain && !p.o.Lenient
	if err := p.text.read(r, most, unique, p.o.Lenient); err != nil {
		return err
	}
	start := e.OutputOffset()
	p.at = cursor{pos: skipSpace(p.text.json, 0)}
	var err error
	if p.o.Plain {
		err = p.plain()
	} else {
		err = p.native()
	}
	if fault, ok := err.(*Error); ok {
		fault.Pointer = p.text.pointer(fault.Offset)
	}
	switch {
	case err == nil:
	case e.OutputOffset() == start:
		_ = e.ClearError() // err
	default:
		_ = e.Fail(err) // err, with the Encoder's offset and path
	}
	return err
}

// defaultMaxBuffered is the limit if EncoderOptions.MaxBuffered is 0.
const defaultMaxBuffered = 8 << 20
