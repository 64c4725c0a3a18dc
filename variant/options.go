package variant

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/options"
)

// Options configures decoding and encoding. The zero value, like none, selects Godot4 with the
// default limits. Several are merged: a field that is not zero, also of the options and Limits in
// them, replaces that of earlier Options.
type Options struct {
	// Decoder configures Unmarshal. UnmarshalDecode, Elements and Entries use the
	// options of their Decoder instead.
	Decoder gdwire.DecoderOptions
	// Encoder configures Marshal. MarshalEncode uses the options of its Encoder
	// instead.
	Encoder gdwire.EncoderOptions
	// MaxMemory is the maximum size in bytes of the decoded values: capacities of
	// slices, text, entries of maps, values in interfaces. Elements and Entries
	// apply it to each record. 0 selects 256 MiB, -1 disables the limit.
	MaxMemory int64
	// RejectUnknown makes unknown keys of structs an error, and elements beyond
	// the fields of a positional struct.
	RejectUnknown bool
}

const defaultMemory = 256 << 20

var defaultOptions Options

// optionsOf returns the merged Options of the variadic arguments of a function, or the zero value
// if there are none. The caller must not change the result.
func optionsOf(opts []Options) *Options {
	switch len(opts) {
	case 0:
		return &defaultOptions
	case 1:
		return &opts[0]
	}
	return options.Merge(opts)
}

// A Marshaler encodes itself. MarshalVariant must write exactly one value, which can be
// a container. Its error ends the encoding of the whole value. It is not used for keys.
type Marshaler interface {
	MarshalVariant(e *gdwire.Encoder) error
}

// An Unmarshaler decodes itself. UnmarshalVariant must read exactly one value. It must
// copy the bytes of tokens that it keeps. Its error ends the decoding of the whole
// value. It is not used for keys.
//
// Errors of the Reader, and Errors in the input, are returned as they are. Any other error is
// wrapped in a [*TypeError] and a [*gdwire.Error] with the position. If it is an Error of the
// Decoder, such as ErrType from a typed read, the position remains the same. If it is an Error
// of another Decoder, because the method called Unmarshal for bytes that it read, both positions
// remain: the outer is the position of the method's value, and errors.As finds the inner in
// TypeError.Err.
type Unmarshaler interface {
	UnmarshalVariant(d *gdwire.Decoder) error
}

// Causes of a [TypeError], in addition to those of package gdwire.
var (
	// ErrDuplicateKey is returned for a key that is already in a struct or map.
	ErrDuplicateKey = errors.New("duplicate key")
	// ErrUnknownKey is returned for a key or element without a field in a struct.
	ErrUnknownKey = errors.New("unknown key")
)

// A TypeError describes a value that its Go variable cannot hold, or a Go value that
// cannot be encoded. It is wrapped in a [gdwire.Error] with the position.
type TypeError struct {
	// Type is the type of the encoded value. It is 0 in encoding, and if the error
	// is not about one value.
	Type gdwire.Type
	// Go is the type of the Go variable.
	Go reflect.Type
	// Field is the struct field that contains the variable, such as "Player.HP",
	// or "" if there is none.
	Field string
	// Err is the cause: gdwire.ErrType for a type that does not fit, an error that
	// wraps gdwire.ErrRange for a number, a *gdwire.LimitError for
	// Options.MaxMemory, an error that wraps ErrDuplicateKey or ErrUnknownKey, or
	// the error of a method of the Go type.
	Err error
}

func (e *TypeError) Error() string {
	text := fmt.Sprintf("Go %v", e.Go)
	if e.Type != 0 {
		text = fmt.Sprintf("%v into Go %v", e.Type, e.Go)
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

// withField returns err. If it wraps a TypeError, it sets the field, unless a nested struct set it.
func withField(err error, field string) error {
	var t *TypeError
	if errors.As(err, &t) && t.Field == "" {
		t.Field = field
	}
	return err
}

// maxDepth is the maximum nesting of Go values, including pointers.
// Deeper values are assumed to contain themselves.
const maxDepth = 10000

// depthError returns the cause of an error for a value that is nested too deeply.
func depthError() error {
	return &gdwire.LimitError{Name: "Depth", Got: maxDepth + 1, Max: maxDepth}
}
