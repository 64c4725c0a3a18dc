package variant

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
)

// Options say how to read and write. Nil means the zero value: Godot4 with the
// default limits.
type Options struct {
	// Decoder is for Unmarshal. UnmarshalDecode, Elements and Entries go by the
	// options of their Decoder.
	Decoder gdwire.DecoderOptions
	// Encoder is for Marshal. MarshalEncode goes by the options of its Encoder.
	Encoder gdwire.EncoderOptions
	// Memory is how many bytes what is read may take in memory: capacities of
	// slices, text, entries of maps, values in interfaces. Elements and Entries
	// count each record on its own. 0: 256 MiB; -1: no limit.
	Memory int64
	// RejectUnknown makes a key that no field of a struct has an error, and an
	// element beyond the fields of a positional struct.
	RejectUnknown bool
}

const defaultMemory = 256 << 20

// orDefault returns o, or the zero value where it is nil.
func (o *Options) orDefault() *Options {
	if o == nil {
		return &Options{}
	}
	return o
}

// A Marshaler writes itself to e: exactly one value, which may be a container. Its
// error ends the encoding and stays in e. Calls of MarshalEncode inside it have
// Options of their own. A Marshaler is not asked to write keys.
type Marshaler interface {
	MarshalVariant(e *gdwire.Encoder) error
}

// An Unmarshaler reads itself from d: exactly one value, the next one, of whatever
// type; a nil too. Its error ends the decoding. Calls of UnmarshalDecode inside it
// have Options of their own. An Unmarshaler is not asked to read keys.
type Unmarshaler interface {
	UnmarshalVariant(d *gdwire.Decoder) error
}

// Reasons that a [TypeError] can have, beside those of package gdwire.
var (
	// ErrDuplicateKey reports a key that a struct or map already has.
	ErrDuplicateKey = errors.New("duplicate key")
	// ErrUnknownKey reports a key or element that a struct has no field for.
	ErrUnknownKey = errors.New("unknown key")
)

// A TypeError reports a value that its Go variable cannot hold, or a Go value that
// cannot be written. A [gdwire.Error] around it says where.
type TypeError struct {
	// Type is the type on the wire, 0 when writing.
	Type gdwire.Type
	// Go is the type of the Go variable.
	Go reflect.Type
	// Field is the struct field it is in, such as "Player.HP", empty if in none.
	Field string
	// Err is the reason: gdwire.ErrType for a type that does not fit,
	// gdwire.ErrRange for a number, a *gdwire.LimitError for Options.Memory,
	// ErrDuplicateKey, ErrUnknownKey, or what a method of the Go type returned.
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

// inField adds the field to an error that has none yet.
func inField(err error, field string) error {
	var t *TypeError
	if errors.As(err, &t) && t.Field == "" {
		t.Field = field
	}
	return err
}

// maxDepth is how deep Go values may be nested, pointers and interfaces counted:
// beyond it a value is taken to contain itself.
const maxDepth = 10000

func depthError() error {
	return &gdwire.LimitError{Name: "Depth", Got: maxDepth + 1, Max: maxDepth}
}
