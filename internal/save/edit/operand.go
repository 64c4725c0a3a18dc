package edit

import (
	"errors"
	"fmt"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/text"
)

// A Value is a new value of Go.
type Value struct {
	// Encode returns its encoding.
	Encode func(gdwire.EncoderOptions) ([]byte, error)
	// Exact reports whether it keeps its type, whatever the type of the old value is.
	Exact bool
}

// An operand is a new value: of a text, of Go, or a copy of one in the content. If it is encoded, a
// container is stored without content.
type operand struct {
	oldValue
	exact    bool   // it keeps its type, even in a container of a declared type
	copied   bool   // it is a value of the content
	encoding splice // without a place; empty for the value of a text
	format   gdwire.Format
	narrow   *Value // encodes it again if the packet does not contain math types of 64 bits, or nil
	failed   error  // the format of the content does not know it, unless it is converted
}

// A TypeError reports a new value of another type than the old value.
type TypeError struct {
	Path     string
	Old, New string // the types
}

func (e *TypeError) Error() string {
	if e.Old == gdwire.TypeFloat.String() && e.New == gdwire.TypeInt.String() { // others are converted
		return e.Path + " is a float, which cannot hold this int"
	}
	return fmt.Sprintf("%s is of type %s and not %s", e.Path, e.Old, e.New)
}

// Unwrap returns gdwire.ErrType.
func (e *TypeError) Unwrap() error { return gdwire.ErrType }

// isEncoded reports whether v has an encoding.
func (v *operand) isEncoded() bool { return v.encoding.bytes != nil || v.encoding.size > 0 }

// isType reports whether v is a type, such as Array[int], and not a value.
func (v *operand) isType() bool { return v.Form == text.Declared && !v.isEncoded() }

// decoder returns a Decoder of a value that Go has encoded with math types of 64 bits.
func (v *operand) decoder() *gdwire.Decoder {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{
		Format: v.format, AllowObjects: true, AllowInvalidUTF8: true, DoubleReals: true, Limits: gdwire.NoLimits,
	})
	d.ResetBytes(v.encoding.bytes)
	return d
}

// is reports whether v is the same value.
func (o *oldValue) is(v *operand) bool {
	return !o.cut && !v.cut && o.Form != text.Declared && v.Form != text.Declared && v.Items == nil && o.Value.String() == v.Value.String()
}

// reason returns the cause of an encoding error, without offset and path.
func reason(err error) error {
	if e := (*gdwire.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
