package variant

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// UnmarshalFirst decodes the value at the start of data, as [Unmarshal] does, and returns the
// bytes after it, for values that follow each other in memory. After an error it returns data.
func UnmarshalFirst(data []byte, v any, opts ...Options) (rest []byte, err error) {
	s := getDecoder()
	defer s.release()
	s.resetBytes(data, optionsOf(opts))
	if err := s.unmarshal(v); err != nil {
		return data, explain(err, data)
	}
	return data[s.d.InputOffset():], nil
}

// UnmarshalRead decodes the content of r up to io.EOF, which must be exactly one value, into the
// variable that v points to. To read the next value of a connection, use [UnmarshalDecode]:
// UnmarshalRead does not return while a connection stays open. If r is empty, it returns io.EOF.
//
// Options.Decoder.OneValue has no effect. After an error of the content, UnmarshalRead reads up to
// 1 MiB of r, if r can be a file with lengths, for the text of the error.
func UnmarshalRead(r io.Reader, v any, opts ...Options) error {
	o := *optionsOf(opts)
	o.Decoder.OneValue = false // which would hide the bytes after the value
	var g wire.Guess
	r = io.TeeReader(r, &g)
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

// Validate returns nil if data is one complete value and nothing else, and otherwise an
// error with the offset and path of the first fault. It checks what Unmarshal into an any checks,
// with the limits of [Options].Decoder but without MaxMemory, and allocates nothing.
func Validate(data []byte, opts ...Options) error {
	s := getDecoder()
	defer s.release()
	s.resetBytes(data, optionsOf(opts))
	err := s.d.SkipValue()
	if export.SkippedNodePath(s.d) {
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

// checkNames reads the names of the NodePath that starts with t.
func (s *decoder) checkNames(t gdwire.Token) error {
	if s.isSingleName(t) {
		return nil // the caller skips the name
	}
	names, subnames, _ := t.NodePath()
	for i := range names + subnames {
		offset := s.d.InputOffset()
		start, ok := s.scratch[:0], true // the start of the name, for the error
		for last := false; !last; {
			chunk, err := s.d.ReadToken()
			if err != nil {
				return err
			}
			ok = ok && isName(chunk.Bytes(), i >= names)
			start = append(start, chunk.Bytes()[:min(len(chunk.Bytes()), quotedBytes-len(start))]...)
			last = chunk.Last()
		}
		if s.scratch = start; !ok {
			return &gdwire.Error{Offset: offset, Path: string(s.d.AppendPath(nil)), Err: nameError(start)}
		}
	}
	return nil
}

// MarshalAppend appends the encoding of v to dst. After an error it returns dst. It can write to
// all of the capacity of dst, also after the encoding.
func MarshalAppend(dst []byte, v any, opts ...Options) ([]byte, error) {
	s := getEncoder()
	defer s.release()
	x := indirect(v)
	plan, err := s.recent.of(&encodePlans, x.Type())
	if err != nil {
		return dst, err
	}
	s.resetBytes(optionsOf(opts), dst)
	if err := s.marshal(plan, v, x); err != nil {
		return dst, s.withKeys(err)
	}
	return s.e.Bytes(), nil
}

// MarshalWrite writes the encoding of v to w. It keeps no more than a buffer of 16 KiB:
// after an error, the beginning of a value can have been written.
func MarshalWrite(w io.Writer, v any, opts ...Options) error {
	e := gdwire.NewEncoder(w, &optionsOf(opts).Encoder)
	return cmp.Or(MarshalEncode(e, v), e.Close())
}

// noValueError returns the error for data in memory without a value, which is not the end of a stream.
func noValueError() error { return &gdwire.Error{Path: "$", Err: io.ErrUnexpectedEOF} }

// atEnd returns an error if bytes of data follow the value that s read.
func (s *decoder) atEnd(data []byte) error {
	end := s.d.InputOffset()
	if end == int64(len(data)) {
		return nil
	}
	return bytesAfter(fmt.Sprintf("%d bytes after the value", int64(len(data))-end), end, s.d.Options().Strict)
}

// atEOF returns an error if bytes follow the value that d read from a Reader.
func atEOF(d *gdwire.Decoder) error {
	end := d.InputOffset()
	_, err := d.PeekType()
	if err == io.EOF {
		return nil
	}
	if _, invalid := err.(*gdwire.Error); err != nil && !invalid {
		return err // of the Reader
	}
	return bytesAfter("bytes after the value", end, d.Options().Strict)
}

// bytesAfter returns an Error with a text for bytes after a value, which ends at offset end. With
// Strict it is an ErrStrict, as if the Decoder had read on.
func bytesAfter(text string, end int64, strict bool) error {
	err := errors.New(text)
	if strict {
		err = &reason{gdwire.ErrStrict, text}
	}
	return &gdwire.Error{Offset: end, Path: "$", Err: err}
}

// maxReadOn is the number of bytes of a Reader that are read for a hint.
const maxReadOn = 1 << 20

// readOn reads r, which writes to g, to its end, and reports whether it reached the end. It ends
// earlier as soon as r returns nothing, or what was read cannot be the start of up to maxReadOn
// bytes of packets.
func readOn(r io.Reader, g *wire.Guess) bool {
	b := make([]byte, 4<<10)
	for g.Missing() <= maxReadOn-g.Size() {
		if n, err := r.Read(b); err != nil || n == 0 {
			return err == io.EOF
		}
	}
	return false
}

// withHint returns the Error err of an input, of which g saw the start or all. It adds a hint if
// the input seems to be no value but a file of another kind. The hint of the Decoder, which knows
// only the first four bytes, is replaced. A valid value that does not fit a Go variable inside the
// caller's variable gets no hint: a few short values begin with a number that could be a length.
func withHint(err *gdwire.Error, g *wire.Guess, all bool) error {
	hint := g.Hint(all)
	var inside *TypeError
	if hint == "" || err.Path != "$" && errors.As(err, &inside) {
		return err
	}
	text := strings.TrimSuffix(err.Err.Error(), wire.Hint(g.First()))
	return &gdwire.Error{Offset: err.Offset, Path: err.Path, Err: &reason{err.Err, text + hint}}
}

// explain returns err, an error of the value at the start of data, with a hint if there is one.
func explain(err error, data []byte) error {
	if err == io.EOF {
		return noValueError()
	}
	if at, ok := err.(*gdwire.Error); ok {
		return withHint(at, wire.GuessOf(data), true)
	}
	return err
}
