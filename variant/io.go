package variant

import (
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
)

// UnmarshalFirst decodes the value at the start of data, as [Unmarshal] does, and returns the
// bytes after it, for values that follow each other in memory. After an error it returns data.
func UnmarshalFirst(data []byte, v any, opts ...Options) (rest []byte, err error) {
	o := optionsOf(opts)
	s := getDecoder()
	defer s.release()
	s.resetBytes(data, o)
	if err := unexpectedEOF(s.unmarshal(v)); err != nil {
		return data, err
	}
	return data[s.d.InputOffset():], nil
}

// UnmarshalRead decodes the first value of r into the variable that v points to. It can
// read more of r than the value: to read several values, create one [gdwire.Decoder] and
// call [UnmarshalDecode] for each. If r is empty, it returns io.EOF.
//
// It returns as soon as the value has arrived. With Strict it reads r to its end, and
// bytes after the value are an error.
func UnmarshalRead(r io.Reader, v any, opts ...Options) error {
	o := optionsOf(opts)
	d := gdwire.NewDecoder(r, &o.Decoder)
	defer d.Release()
	if err := UnmarshalDecode(d, v, *o); err != nil || !o.Decoder.Strict {
		return err
	}
	return atEnd(d)
}

// Validate returns nil if data is one complete value and nothing else, and otherwise an
// error with the offset and path of the first fault. It checks what Unmarshal checks,
// with the limits of [Options].Decoder, and allocates nothing.
func Validate(data []byte, opts ...Options) error {
	s := getDecoder()
	defer s.release()
	s.resetBytes(data, optionsOf(opts))
	if err := unexpectedEOF(s.d.SkipValue()); err != nil {
		return err
	}
	if end := s.d.InputOffset(); end < int64(len(data)) {
		return &gdwire.Error{Offset: end, Path: "$", Err: fmt.Errorf("%d bytes after the value", int64(len(data))-end)}
	}
	return nil
}

// MarshalAppend appends the encoding of v to dst. After an error it returns dst.
func MarshalAppend(dst []byte, v any, opts ...Options) ([]byte, error) {
	s := getEncoder()
	defer s.release()
	x := indirect(v)
	plan, err := s.recent.of(&encodePlans, x.Type())
	if err != nil {
		return dst, err
	}
	s.resetBytes(optionsOf(opts), dst)
	if err := s.marshal(plan, x); err != nil {
		return dst, err
	}
	return s.e.Bytes(), nil
}

// MarshalWrite writes the encoding of v to w. It keeps no more than a buffer of 16 KiB:
// after an error, the beginning of a value can have been written.
func MarshalWrite(w io.Writer, v any, opts ...Options) error {
	e := gdwire.NewEncoder(w, &optionsOf(opts).Encoder)
	defer e.Release()
	if err := MarshalEncode(e, v); err != nil {
		return err
	}
	return e.Close()
}

// unexpectedEOF returns err, or for io.EOF an Error: data in memory without a value is not
// the end of a stream.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return &gdwire.Error{Path: "$", Err: io.ErrUnexpectedEOF}
	}
	return err
}

// atEnd returns an error if bytes follow the value that d has read.
func atEnd(d *gdwire.Decoder) error {
	switch _, err := d.ReadToken(); err {
	case io.EOF:
		return nil
	case nil: // from a Reader, where another value could follow
		return d.WrapError(fmt.Errorf("%w: bytes after the value", gdwire.ErrStrict))
	default:
		return err
	}
}
