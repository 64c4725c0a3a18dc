package gdjson

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/gdwire/gdwire"
)

// FromJSON reads one JSON value from r, up to the end of r, and writes the value to e.
//
// Counts precede content in the binary format, so FromJSON holds the text in memory,
// at most [gdwire.EncoderOptions].MaxBuffered bytes, and an index of 12 bytes for each
// object and array. Longer text is a [gdwire.LimitError]. FromJSON reads the bytes of a
// [bytes.Buffer] in place, without copying them, so nothing must write to the Buffer before
// FromJSON returns.
//
// Invalid JSON, and a value that e cannot write, is an [Error]. If FromJSON wrote nothing, e is
// unchanged and remains usable. Otherwise the error stays in e, as after [gdwire.Encoder.Fail]; an
// error of e's Writer stays, too. An error of r is returned unchanged.
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
	if p.o.Plain {
		p.plain()
	} else {
		p.native()
	}
	if fault, ok := p.err.(*Error); ok {
		fault.Pointer = p.text.pointer(fault.Offset)
	}
	if e.OutputOffset() == start {
		_ = e.ClearError() // p.err, if it is not nil
	} else {
		_ = e.Fail(p.err) // with the Encoder's offset and path
	}
	return p.err
}

// defaultMaxBuffered is the limit if EncoderOptions.MaxBuffered is 0.
const defaultMaxBuffered = 8 << 20

// ToJSON writes the next value of d to w as JSON, without a newline after the value. At the end of
// the input, ToJSON returns io.EOF and writes nothing.
//
// It holds one token and a few KiB of text, for values of any size. After an error of d or w, the
// output is incomplete and ToJSON cannot be resumed. For a NodePath or text that JSON cannot
// represent, the error is a [gdwire.Error] wrapping [gdwire.ErrRange] or [gdwire.ErrUTF8].
func ToJSON(w io.Writer, d *gdwire.Decoder, opts ...Options) error {
	o := optionsOf(opts)
	if err := atValue(d); err != nil {
		return err
	}
	p := getWriter(w, d, o)
	defer p.release()
	write := (*writer).native
	if p.plainJSON {
		write = (*writer).plain
	}
	err := p.value(write)
	p.flush()
	return cmp.Or(err, p.err)
}

// atValue returns an error unless a value is next in d, and consumes a DictKey token before a key.
func atValue(d *gdwire.Decoder) error {
	if depth := d.Depth(); depth > 0 {
		switch k, _, _ := d.StackIndex(depth); k {
		case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart:
		default:
			return d.WrapError(fmt.Errorf("%w: ToJSON inside a %v", gdwire.ErrType, k))
		}
	}
	switch k := d.PeekKind(); k {
	case gdwire.KindEnd:
		return d.WrapError(fmt.Errorf("%w: ToJSON where an End is next", gdwire.ErrCount))
	case gdwire.KindProperty:
		return d.WrapError(fmt.Errorf("%w: ToJSON where a property's name is next", gdwire.ErrType))
	case gdwire.KindDictKey:
		_, err := d.ReadToken()
		return err
	}
	return nil
}
