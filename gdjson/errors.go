package gdjson

import (
	"fmt"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// An Error describes invalid JSON and its position.
type Error struct {
	// Offset is the offset in bytes of the invalid JSON value, counted from the first byte read by
	// FromJSON. For text that is not JSON, Offset is the offset of the first invalid byte.
	Offset int64
	// Pointer is the location of the invalid JSON value. For text that is not JSON, Pointer is the
	// location of the innermost value around the error. The location is a JSON pointer (RFC 6901),
	// such as /args/0.
	Pointer string
	// Err is the cause: a wrapped error of gdwire such as [gdwire.ErrRange], a
	// [gdwire.LimitError], a [gdwire.Error] of the Encoder,
	// io.ErrUnexpectedEOF, or the error of package jsontext.
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

// cut returns b, shortened to at most n bytes and an ellipsis.
func cut(b []byte, n int) string {
	if len(b) <= n {
		return string(b)
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "…"
}

// quoted returns b for a message: quoted, and cut after 40 bytes.
func quoted(b []byte) string { return fmt.Sprintf("%q", cut(b, 40)) }
