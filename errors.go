package gdwire

import (
	"errors"
	"fmt"
)

// What can be wrong with bytes, or with a call on an Encoder. They come inside
// an [Error] or wrapped in one of these with more words: use [errors.Is].
var (
	// ErrLimit is what every LimitError is.
	ErrLimit = errors.New("limit exceeded")
	// ErrType: a type id the format does not have, on the wire or as a
	// container's declared type; or a call that does not go with the type at hand.
	ErrType = errors.New("wrong type")
	// ErrFlags: flags in a format that has none.
	ErrFlags = errors.New("header has flags")
	// ErrObject: an object in full, and they are not allowed.
	ErrObject = errors.New("object in full is not allowed")
	// ErrUTF8: a string is not UTF-8.
	ErrUTF8 = errors.New("invalid UTF-8")
	// ErrRange: a number that its place on the wire cannot hold.
	ErrRange = errors.New("out of range")
	// ErrStrict: what engines read, but never write.
	ErrStrict = errors.New("not canonical")
	// ErrCount: more or less than was announced.
	ErrCount = errors.New("wrong count")
	// ErrKey: a key without a value, or a marker where no key comes.
	ErrKey = errors.New("misplaced key")
	// ErrOpen: something still has to be finished, or nothing is open.
	ErrOpen = errors.New("unfinished value")
	// ErrReleased: the Decoder or Encoder has been given back and not been Reset.
	ErrReleased = errors.New("gdwire: used after Release")
)

// An Error is everything that can be wrong with the bytes a Decoder reads, and
// with what an Encoder is asked to write. Errors of the Reader or Writer itself
// are not wrapped in it.
type Error struct {
	// Offset in bytes from where the Decoder or Encoder was last Reset. When
	// reading, the first byte of the header, length or count at fault; where the
	// input ends early, its end; of bad UTF-8 the bad byte. When writing, how
	// many bytes went before.
	Offset int64
	// Path of the value at fault, as [Decoder.AppendPath] describes it.
	Path string
	// Err is the reason: io.ErrUnexpectedEOF, a LimitError or something that is
	// one of this package's errors.
	Err error
}

func (e *Error) Error() string {
	return fmt.Sprintf("gdwire: offset %d, %s: %v", e.Offset, e.Path, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// because gives err a reason.
func because(err error, format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{err}, args...)...)
}

var (
	errNotReset = errors.New("gdwire: used before Reset")
	errBadRead  = errors.New("gdwire: reader returned an impossible count")
	errBadWrite = errors.New("gdwire: writer returned an impossible count")
)
