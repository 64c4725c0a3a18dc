package gdjson

import (
	"cmp"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
)

// ToJSON writes the next value of d to w as JSON, without a newline after it.
// At the end of the input it returns io.EOF and writes nothing.
//
// It holds one token and a few KiB of text, for values of any size. After an error
// of d or w, the output is incomplete and ToJSON cannot be resumed. For a NodePath
// or text that JSON cannot represent, the error is a [gdwire.Error] that wraps
// [gdwire.ErrRange] or [gdwire.ErrUTF8].
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

// atValue returns an error unless a value is next in d. It consumes a DictKey token
// before a key.
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
