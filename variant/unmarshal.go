package variant

import (
	"fmt"
	"io"
	"reflect"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/checked"
	"github.com/gdwire/gdwire/internal/reals"
	"github.com/gdwire/gdwire/internal/wire"
)

// Unmarshal decodes data, which must be exactly one value, into the variable pointed to by v. For
// a value followed by other bytes, use [UnmarshalFirst]; for the content of a file with lengths,
// package savefile. Afterwards, the variable refers to no part of data. Memory already in the
// variable is filled again and must not overlap data.
//
// After an error, the variable holds the parts decoded before, or the whole value if the error is
// about bytes after the value. An any holds the parts of a container.
func Unmarshal(data []byte, v any, opts ...Options) error {
	s := getDecoder()
	defer s.release()
	s.resetBytes(data, optionsOf(opts))
	err := s.unmarshal(v)
	if err == nil {
		err = s.atEnd(data)
	}
	if err != nil {
		return explain(err, data)
	}
	return nil
}

// UnmarshalFirst decodes the first of several consecutive values in memory, at the start of
// data, as [Unmarshal] does. It returns the bytes after the value, or data after an error.
func UnmarshalFirst(data []byte, v any, opts ...Options) (rest []byte, err error) {
	s := getDecoder()
	defer s.release()
	s.resetBytes(data, optionsOf(opts))
	if err := s.unmarshal(v); err != nil {
		return data, explain(err, data)
	}
	return data[s.d.InputOffset():], nil
}

// UnmarshalRead decodes the content of r up to io.EOF, which must be exactly one value, into the variable pointed
// to by v. To read the next value of a connection, use [UnmarshalDecode]: UnmarshalRead does not return while a
// connection stays open. If r is empty, the error is io.EOF.
//
// Options.Decoder.OneValue has no effect. After an error of the content, UnmarshalRead reads up to
// 1 MiB of r, if r can be a file with lengths, for the text of the error.
func UnmarshalRead(r io.Reader, v any, opts ...Options) error {
	o := *optionsOf(opts)
	o.Decoder.OneValue = false // true would hide the bytes after the value
	var g wire.Guess
	r = io.TeeReader(checked.Reader{R: r}, &g)
	d := gdwire.NewDecoder(r, &o.Decoder)
	defer d.Release()
	err := UnmarshalDecode(d, v, o)
	if err == nil {
		err = atEOF(d)
	}
	if at, ok := err.(*gdwire.Error); ok {
		return withHint(at, &g, readOn(r, &g))
	}
	return err
}

// UnmarshalDecode decodes the next value of d, also inside a container, into the variable
// pointed to by v, with the options of d. At the end of the input, the error is io.EOF.
//
// Where no value is next, UnmarshalDecode returns an error and consumes nothing:
// [gdwire.ErrCount] at an End, and [gdwire.ErrType] at the name of a property or inside a packed
// array. Nothing is consumed either if the value itself is of the wrong type or out of range.
// After other errors, such as for an element of an Array or packed array, d can be inside the
// value; use [gdwire.Decoder.SkipTo] to continue after the value. UnmarshalDecode cannot be
// repeated after an error of the Reader.
func UnmarshalDecode(d *gdwire.Decoder, v any, opts ...Options) error {
	s := getDecoder() // not released if a method panics
	s.reset(d, optionsOf(opts))
	err := s.unmarshal(v)
	s.release()
	return err
}

// Unmarshal decodes r into the variable pointed to by v, as the function Unmarshal does.
// [Options].Decoder.Format has no effect: r.Format applies.
func (r Raw) Unmarshal(v any, opts ...Options) error {
	o := *optionsOf(opts)
	o.Decoder.Format = r.Format
	return Unmarshal(r.data(), v, o)
}

// DoubleReals reports whether r contains a math type, or an array of vectors, with components of 64
// bits, as engines of double precision write them. An any does not keep this width: encode the
// value with the same Encoder.DoubleReals, because otherwise components are rounded to 32 bits.
//
//	var r variant.Raw
//	err := variant.Unmarshal(data, &r)
//	…
//	err = r.Unmarshal(&v)
//	…
//	o := gdwire.EncoderOptions{DoubleReals: r.DoubleReals()}
//	data, err = variant.Marshal(v, variant.Options{Encoder: o})
//
// DoubleReals reads r up to the first such value, or up to an error, and returns false in the
// formats of manuals: their encoding does not tell.
func (r Raw) DoubleReals() bool {
	d := r.decoder(gdwire.EncoderOptions{AllowInvalidUTF8: true})
	defer d.Release()
	w, _ := reals.Read(d)
	return w == reals.Double
}

// unmarshal reads the next value into the variable pointed to by v.
func (s *decoder) unmarshal(v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("variant: Unmarshal into %T, which is not a pointer to a variable", v)
	}
	if s.d.Depth() > 0 { // otherwise a value is next, or the end of the input
		if _, err := s.d.PeekType(); err != nil {
			return err
		}
	}
	if v, ok := v.(*any); ok {
		x, err := s.any()
		if err == nil || isContainer(x) {
			*v = x
		}
		return err
	}
	x := p.Elem()
	plan, err := s.recent.of(&decodePlans, x.Type())
	if err != nil {
		return err
	}
	s.argument = x
	return plan.do(s, variableOf(x))
}

// Validate returns nil if data is one complete value and nothing else, and otherwise an error
// with the offset and path of the first fault. The checks are those of Unmarshal into an any,
// with the limits of [Options].Decoder but without MaxMemory; nothing is allocated.
func Validate(data []byte, opts ...Options) error {
	s := getDecoder()
	defer s.release()
	s.resetBytes(data, optionsOf(opts))
	export.WatchNodePaths(s.d)
	err := s.d.SkipValue()
	if !export.OnlyPlainNodePaths(s.d) {
		s.d.ResetBytes(data)
		err = s.skipChecked()
	}
	switch err {
	case nil:
		return s.atEnd(data)
	case io.EOF:
		return noValueError()
	}
	return err
}

// skipChecked skips the next value as SkipValue does, but a NodePath that cannot become text is an
// error, as in nodePathText.
func (s *decoder) skipChecked() error {
	for {
		t, err := s.d.ReadToken()
		if err == nil {
			switch t.Kind() {
			case gdwire.KindNodePathStart:
				err = s.checkNames(t)
			case gdwire.KindPackedStart:
				err = s.d.SkipTo(s.d.Depth() - 1)
			}
		}
		if err != nil || s.d.Depth() == 0 {
			return err
		}
	}
}

// checkNames reads the names of the NodePath starting with t.
func (s *decoder) checkNames(t gdwire.Token) error {
	names, n := namesOf(t)
	for range n {
		offset := s.d.InputOffset()
		start, ok := s.scratch[:0], true // the start of the name, for the error
		for last := false; !last; {
			chunk, err := s.d.ReadToken()
			if err != nil {
				return err
			}
			_, err = names.Next(chunk.Bytes(), chunk.Last())
			ok = ok && err == nil
			start = append(start, chunk.Bytes()[:min(len(chunk.Bytes()), quotedBytes-len(start))]...)
			last = chunk.Last()
		}
		if s.scratch = start; !ok {
			return &gdwire.Error{Offset: offset, Path: string(s.d.AppendPath(nil)), Err: nameError(start)}
		}
	}
	return nil
}
