package gdwire

import (
	"errors"
	"fmt"

	"github.com/gdwire/gdwire/internal/base/checked"
)

// Causes of an [Error]. Most are wrapped together with details, so test for them
// with [errors.Is].
var (
	// ErrLimit is wrapped by every LimitError, also by those of package
	// fileaccess.
	ErrLimit = checked.ErrLimit
	// ErrType is returned for an unknown type id, for values of another type than
	// declared, and for reads of another type than the next value (the sender chooses
	// the type).
	ErrType = errors.New("wrong type")
	// ErrCall is returned for a mistake in the program, independent of the input:
	//
	//   - a read or write of components with a type other than a math type, with another Go
	//     type, or with another number of components
	//   - ReadEnd and End without an open container
	//   - ReadPacked and AppendPacked after Payload has read a part of an element
	//   - BeginPacked and BeginString of a type other than a packed array or text
	//   - WritePacked of elements, and a chunk, that do not fit the open packed array or text
	//   - a value where a name of the open NodePath or PackedStringArray is expected
	//   - WriteToken of the zero Token
	//
	// Other errors of an Encoder are also about a call and its values: ErrCount, ErrMisplacedKey
	// and ErrIncomplete about its position, ErrType and ErrRange about values excluded by a
	// format or declared type.
	ErrCall = errors.New("invalid call")
	// ErrFlags is returned for header flags in a format without flags.
	ErrFlags = errors.New("header has flags")
	// ErrObject is returned for a serialized object if AllowObjects is not set.
	ErrObject = errors.New("serialized objects are not allowed")
	// ErrUTF8 is returned for invalid UTF-8, and by an Encoder also for a NUL in text.
	ErrUTF8 = errors.New("invalid UTF-8")
	// ErrRange is returned for a value that the format or the Go type cannot
	// represent.
	ErrRange = errors.New("out of range")
	// ErrStrict is returned by a strict Decoder for input that engines accept but
	// never write.
	ErrStrict = errors.New("not canonical")
	// ErrCount is returned for more or fewer elements than declared.
	ErrCount = errors.New("wrong count")
	// ErrMisplacedKey is returned for a key without a value, and for a DictKey where no key
	// is expected.
	ErrMisplacedKey = errors.New("misplaced key")
	// ErrIncomplete is returned for calls that need a complete value, such as Close inside
	// a container.
	ErrIncomplete = errors.New("unfinished value")
	// ErrClosed is returned by a Decoder after Release and an Encoder after Close, until Reset.
	ErrClosed = errors.New("gdwire: used after Close or Release")
)

// An Error describes invalid input of a Decoder or an invalid call on an Encoder.
// Errors of the Reader or Writer are returned unwrapped.
type Error struct {
	// Offset is a number of bytes since the last Reset. For a Decoder: the
	// position of the invalid header, length, count or text byte, or the end of
	// the input or of Limits.Bytes if too short. For an Encoder: the number of
	// bytes before the call.
	Offset int64
	// Path is the location of the value, in the form of [Decoder.AppendPath].
	Path string
	// Err is the cause: io.ErrUnexpectedEOF, a [LimitError] or an error
	// wrapping one of this package's errors.
	Err error
}

func (e *Error) Error() string {
	return fmt.Sprintf("gdwire: offset %d, %s: %v", e.Offset, e.Path, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// wrapf returns an error wrapping err, with a formatted text. fmt.Errorf with %w would add the
// text of err, a repetition: "wrong type" after "got int, want String".
func wrapf(err error, format string, args ...any) error { return &reason{err, "", format, args} }

// A reason is an error of wrapf: errors.Is finds err, and users see the text. It is formatted only
// then: searches for values see most errors, and took a third of their time to format them.
type reason struct {
	err            error
	prefix, format string
	args           []any // which do not change
}

func (r *reason) Error() string { return r.prefix + fmt.Sprintf(r.format, r.args...) }

func (r *reason) Unwrap() error { return r.err }

// errNotReset is the error of a zero Decoder or Encoder: no Error, because there is neither an
// offset nor a path, and not sticky, so Reset need not clear it.
var errNotReset = errors.New("gdwire: used before Reset")

// notCanonical returns the error for input accepted but never written by engines.
func notCanonical(format string, args ...any) error {
	return &reason{ErrStrict, "not canonical: ", format, args}
}
