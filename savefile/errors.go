package savefile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/edit"
	"github.com/gdwire/gdwire/internal/save/envelope"
	"github.com/gdwire/gdwire/internal/save/outfile"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/variant"
)

// A DamageError reports that a file cannot be read from Offset on. Info.Damage contains it after a
// repair.
type DamageError struct {
	// Offset is a number of bytes in the content; if Err wraps a [*fileaccess.Error], in the file.
	Offset int64
	// Err is the cause, such as a [*gdwire.Error] with the path of the damaged value, or
	// io.ErrUnexpectedEOF.
	Err error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("savefile: damaged at offset %d: %v", e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *DamageError) Unwrap() error { return e.Err }

// Errors of Open and Save. Test for them with errors.Is.
var (
	// ErrUnknown is returned for a file that is not recognized, or could be read in several ways. With
	// Lengths and Decoder.Format in the Options, nothing needs to be recognized.
	ErrUnknown = errors.New("not recognized")
	// ErrChanged is returned by Save if another program changed the file.
	ErrChanged = outfile.ErrChanged
)

// A notFoundError is the error for a path that leads to nothing.
type notFoundError struct{ error }

func (e *notFoundError) Unwrap() error { return variant.ErrNotFound }

// notFound returns err with the name of this package, wrapping variant.ErrNotFound if err reports that
// there is no value at a path.
func notFound(err error) error {
	named := fmt.Errorf("savefile: %w", err)
	if errors.As(err, new(*text.NotFoundError)) {
		return &notFoundError{named}
	}
	return named
}

// damaged returns err, or a DamageError if err reports a damaged content or container.
func damaged(err error) error {
	var at *gdwire.Error
	var in *fileaccess.Error
	var zeros *save.ZerosError
	var cut *envelope.CutError
	switch {
	case err == nil, errors.As(err, new(*DamageError)):
	case errors.As(err, &zeros):
		return &DamageError{zeros.From, err}
	case errors.Is(err, gdwire.ErrLimit), errors.Is(err, gdwire.ErrObject), errors.Is(err, gdwire.ErrCall):
	case errors.Is(err, fileaccess.ErrPassword), errors.Is(err, fileaccess.ErrMode):
	case errors.As(err, new(*edit.RefusedError)): // the edit is wrong, not the file
	case errors.As(err, new(*save.ConvertError)), errors.As(err, new(*variant.TypeError)): // the value is valid and the variable of another type
	case errors.As(err, &at):
		return &DamageError{at.Offset, err}
	case errors.As(err, &in):
		return &DamageError{in.Offset, err}
	case errors.As(err, &cut):
		return &DamageError{int64(cut.Offset), err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &DamageError{0, err}
	}
	return err
}

// named returns an error with the name of its file.
func named(err error, name string) error {
	if errors.As(err, new(*os.PathError)) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
