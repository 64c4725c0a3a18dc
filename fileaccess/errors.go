package fileaccess

import (
	"errors"
	"fmt"

	"github.com/gdwire/gdwire/internal/checked"
)

// Causes of an [Error], and errors of calls. Test for them with [errors.Is]. A file that
// ends early is io.ErrUnexpectedEOF.
var (
	// ErrDamaged reports content that no engine wrote.
	ErrDamaged = errors.New("damaged file")
	// ErrPassword reports decrypted content with another MD5 than the one in the file. The key
	// is wrong or the file is damaged.
	ErrPassword = errors.New("wrong password or damaged file")
	// ErrNoKey reports an encrypted file or writer without a key. Another call
	// with a key can succeed.
	ErrNoKey = errors.New("fileaccess: an encrypted file needs a password or key")
	// ErrMode reports a compression mode that this package cannot read or write.
	ErrMode = errors.New("unsupported compression mode")
	// ErrContainer reports a Container other than the constants.
	ErrContainer = errors.New("unknown container")
	// ErrLayout reports a Layout other than LayoutGodot3 and LayoutGodot4.
	ErrLayout = errors.New("unknown layout")
	// ErrLimit is wrapped by every LimitError, also those of package gdwire.
	ErrLimit = checked.ErrLimit
	// ErrClosed is returned by Write after Close.
	ErrClosed = errors.New("fileaccess: write after Close")
)

// Errors of the codecs.
var (
	errLong  = errors.New("more content than declared")
	errShort = errors.New("less content than declared")
	errAfter = errors.New("bytes after the compressed content")
)

// An Error describes an invalid file. Errors of the underlying Reader or Writer are
// returned unchanged.
type Error struct {
	// Offset is a number of bytes since the start of reading: the position of the invalid field
	// or compressed block, or the end of a truncated file. For a writer it is the number of
	// bytes written before.
	Offset int64
	// Err is the cause: io.ErrUnexpectedEOF, a *LimitError, or an error wrapping one of this
	// package's errors.
	Err error
}

func (e *Error) Error() string {
	if e.Err == ErrPassword { // no place in the file tells why
		return "fileaccess: " + e.Err.Error()
	}
	return fmt.Sprintf("fileaccess: offset %d: %v", e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// errorf returns an Error with the given offset, caused by err with a formatted message.
func errorf(offset int64, err error, format string, args ...any) *Error {
	return &Error{offset, fmt.Errorf("%w: "+format, append([]any{err}, args...)...)}
}
