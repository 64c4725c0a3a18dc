package variant

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// noValueError returns the error for data in memory without a value: not the end of a stream.
func noValueError() error { return &gdwire.Error{Path: "$", Err: io.ErrUnexpectedEOF} }

// atEnd returns an error if bytes of data follow the value read by s.
func (s *decoder) atEnd(data []byte) error {
	end := s.d.InputOffset()
	if end == int64(len(data)) {
		return nil
	}
	return bytesAfter(fmt.Sprintf("%d bytes after the value", int64(len(data))-end), end, s.d.Options().Strict)
}

// atEOF returns an error if bytes follow the value read by d from a Reader.
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

// bytesAfter returns an Error with a text for bytes after a value ending at offset end: with
// Strict an ErrStrict, as if the Decoder had read on.
func bytesAfter(text string, end int64, strict bool) error {
	err := errors.New(text)
	if strict {
		err = export.Wrapf(gdwire.ErrStrict, "%s", text)
	}
	return &gdwire.Error{Offset: end, Path: "$", Err: err}
}

// maxReadOn is the number of bytes read from a Reader for a hint.
const maxReadOn = 1 << 20

// readOn reads r, and thereby fills g, and reports whether it reached the end of r. It stops
// earlier as soon as r returns nothing, or the bytes read cannot be the start of up to maxReadOn
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

// withHint returns err, the Error of an input seen by g in part or whole. It adds a hint if the
// input seems to be no value but a file of another kind, in place of the hint of the Decoder,
// which knows only the first four bytes. A valid value that does not fit a Go variable inside the
// caller's variable gets no hint: a few short values begin with a possible length.
func withHint(err *gdwire.Error, g *wire.Guess, all bool) error {
	hint := g.Hint(all)
	if hint == "" || err.Path != "$" && isTypeError(err) {
		return err
	}
	text := strings.TrimSuffix(err.Err.Error(), wire.Hint(g.First()))
	return &gdwire.Error{Offset: err.Offset, Path: err.Path, Err: export.Wrapf(err.Err, "%s", text+hint)}
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
