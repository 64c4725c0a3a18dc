package variant

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
)

// export contains the calls of package gdwire for this module.
var export = gdwire.Internal.Export(&internal.AllowInternalUse)

// Causes of a [TypeError], in addition to those of package gdwire.
var (
	// ErrDuplicateKey is returned for a key already in a struct or map.
	ErrDuplicateKey = errors.New("duplicate key")
	// ErrUnknownKey is returned for a key or element without a field in a struct.
	ErrUnknownKey = errors.New("unknown key")
	// ErrMissingKey is returned for the missing key or element of a field with the option required.
	ErrMissingKey = errors.New("missing key")
)

// A TypeError describes a value that does not fit its Go variable, or a Go value that cannot be
// encoded, and is wrapped in a [gdwire.Error] with the position.
type TypeError struct {
	// Type is the type of the encoded value, or 0 in encoding and if the error is not about one value.
	Type gdwire.Type
	// Go is the type of the Go variable.
	Go reflect.Type
	// Field is the struct field that contains the variable, such as "Player.HP",
	// or "" if there is none.
	Field string
	// Err is the cause: gdwire.ErrType for a wrong type, an error wrapping gdwire.ErrRange for
	// a number, a *gdwire.LimitError for Options.MaxMemory, an error wrapping ErrDuplicateKey,
	// ErrUnknownKey or ErrMissingKey, or the error of a method of the Go type.
	Err error
}

func (e *TypeError) Error() string {
	text := fmt.Sprintf("Go %v", e.Go)
	if e.Go != nil && e.Go.Kind() == reflect.Struct && e.Go.Name() == "" {
		text = "Go struct" // without all its fields and tags
	}
	if e.Type != 0 {
		text = e.Type.String() + " into " + text
	}
	if e.Field != "" {
		text += " (" + e.Field + ")"
	}
	if e.Err == gdwire.ErrType {
		return text
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *TypeError) Unwrap() error { return e.Err }

// withField sets the field of a TypeError in err, unless a nested struct did, and returns err.
func withField(err error, field string) error {
	if t, ok := errors.AsType[*TypeError](err); ok && t.Field == "" {
		t.Field = field
	}
	return err
}

// isTypeError reports whether err concerns a single value, so that reading can continue after this value.
func isTypeError(err error) bool { return errors.As(err, new(*TypeError)) }

// maxDepth is the maximum nesting of Go values, including pointers.
// Deeper values are assumed to contain themselves.
const maxDepth = 10000

// depthError returns the cause of an error for a value nested too deeply.
func depthError() error {
	return &gdwire.LimitError{Name: "Depth", Got: maxDepth + 1, Max: maxDepth}
}

// rangeError returns the error for a number that a t cannot hold.
func rangeError(number any, t reflect.Type) error {
	return export.Wrapf(gdwire.ErrRange, "%v does not fit %v", number, t)
}

// quotedBytes is the maximum number of bytes of a name in a message.
const quotedBytes = 64

// quoted returns a name for a message: quoted, and cut after quotedBytes.
func quoted(name string) string {
	if len(name) > quotedBytes {
		name = name[:quotedBytes]
	}
	return strconv.Quote(name)
}
