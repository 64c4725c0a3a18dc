package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// The exit statuses.
const (
	StatusGood  = 0
	StatusBad   = 1 // bad input, or a file that cannot be opened, read or written
	StatusUsage = 2 // an invalid command line, or a missing flag or password
)

// ErrBad reports invalid input after the details were shown.
var ErrBad = errors.New("bad input")

// A usageError reports an invalid command line.
type usageError struct {
	error
	print func(io.Writer) error // prints the usage
}

// A ChoiceError reports a lack of flags or a password to go on.
type ChoiceError struct{ error }

// Choicef returns a ChoiceError.
func Choicef(format string, args ...any) error { return ChoiceError{fmt.Errorf(format, args...)} }

// A PartError is the error of an input after its first bytes were written.
type PartError struct {
	Err   error
	Bytes int64
}

func (e *PartError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *PartError) Unwrap() error { return e.Err }

// Prefixed adds the name of the file to an error.
func Prefixed(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

// named returns err with the name of its file, unless its text contains the name.
func named(name string, err error) error {
	if strings.Contains(err.Error(), name) {
		return err
	}
	return Prefixed(name, err)
}
