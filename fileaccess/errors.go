package fileaccess

import (
	"errors"
	"fmt"
)

// Reasons inside an [Error], or returned as they are where no input is at fault.
// Use [errors.Is]. A file that ends early is io.ErrUnexpectedEOF.
var (
	// ErrDamaged reports content that no engine wrote.
	ErrDamaged = errors.New("damaged file")
	// ErrPassword reports that decrypted content does not have the MD5 that the
	// file declares. Nothing in an encrypted file tells a wrong key from damage.
	ErrPassword = errors.New("wrong password or damaged file")
	// ErrNoKey reports an encrypted file or writer without a key. Another call
	// with a key can succeed.
	ErrNoKey = errors.New("fileaccess: an encrypted file needs a password or key")
	// ErrMode reports a compression mode that this package cannot read or write.
	ErrMode = errors.New("unsupported compression mode")
	// ErrLayout reports a Layout that is neither Godot3 nor Godot4.
	ErrLayout = errors.New("unknown layout")
	// ErrLimit is matched by every LimitError.
	ErrLimit = errors.New("limit exceeded")
	// ErrClosed is returned by Write after Close.
	ErrClosed = errors.New("fileaccess: write after Close")
)

// An Error reports an invalid file and the offset at fault. Errors of the
// underlying Reader or Writer are returned as they are.
type Error struct {
	// Offset in bytes from where reading began: of the field or compressed block
	// at fault, or the end of a file that ends early. When writing, the bytes
	// written before.
	Offset int64
	// Err is the reason: io.ErrUnexpectedEOF, a *LimitError, or an error that
	// wraps one of this package's.
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("fileaccess: offset %d: %v", e.Offset, e.Err) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// errorf returns an Error at offset whose reason is err with details.
func errorf(offset int64, err error, format string, args ...any) *Error {
	return &Error{offset, fmt.Errorf("%w: "+format, append([]any{err}, args...)...)}
}
