package gdjson

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gdwire/gdwire"
)

// An Error says where JSON cannot be read, and why.
type Error struct {
	// Offset in bytes of the JSON value at fault, from where FromJSON began to
	// read; for text that is not JSON, of the first byte at fault.
	Offset int64
	// Pointer to the JSON value at fault, or for text that is not JSON to the
	// innermost value around it.
	Pointer jsontext.Pointer
	// Err is the reason: one of gdwire's errors with more words, such as
	// [gdwire.ErrRange], a [gdwire.LimitError], a [gdwire.Error] of the Encoder,
	// io.ErrUnexpectedEOF, or what jsontext finds wrong with the text.
	Err error
}

func (e *Error) Error() string {
	cause := e.Err
	if g, ok := cause.(*gdwire.Error); ok {
		cause = g.Err
	}
	return fmt.Sprintf("gdjson: offset %d, %q: %v", e.Offset, cut([]byte(e.Pointer), 200), cause)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// wrapf gives cause more words.
func wrapf(cause error, format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{cause}, args...)...)
}

// cut returns the first n bytes of b, and an ellipsis in place of the rest.
func cut(b []byte, n int) string {
	if len(b) <= n {
		return string(b)
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "…"
}

// quoted shows text in a message.
func quoted(b []byte) string { return fmt.Sprintf("%q", cut(b, 40)) }

// syntaxError makes an Error of what jsontext finds wrong with text.
func syntaxError(text []byte, err error) error {
	var s *jsontext.SyntacticError
	if !errors.As(err, &s) {
		return &Error{Offset: int64(len(text)), Err: err}
	}
	cause := s.Err
	if i := s.ByteOffset; i < int64(len(text)) {
		if r, n := utf8.DecodeRune(text[i:]); r == utf8.RuneError && n == 1 {
			cause = gdwire.ErrUTF8
		}
	}
	return &Error{Offset: s.ByteOffset, Pointer: s.JSONPointer, Err: cause}
}
