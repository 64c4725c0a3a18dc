package edit

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// A Value is a new value of Go.
type Value struct {
	// Encode returns the encoding of the value.
	Encode func(gdwire.EncoderOptions) ([]byte, error)
	// Exact reports whether the value keeps its type, whatever the type of the old value is.
	Exact bool
}

// An operand is a new value: of a text, of Go, or a copy of a value in the content. In an encoded
// operand, a container is stored without content.
type operand struct {
	oldValue
	exact    bool   // keeps its type, even in a container of a declared type
	copied   bool   // is a value of the content
	encoding splice // without a place; empty for the value of a text
	format   gdwire.Format
	narrow   *Value // encodes the value again if the packet contains no math types of 64 bits, or nil
	failed   error  // because the format of the content does not know the value, unless converted
}

// A TypeError reports a new value of another type than the old value.
type TypeError struct {
	Path     string
	Old, New string // the types
	Such     string // the start of the old value, as an example of its type, or ""
	Text     string // the text of the new value, or ""
}

func (e *TypeError) Error() string {
	if e.Old == gdwire.TypeFloat.String() && e.New == gdwire.TypeInt.String() { // others are converted
		return e.Path + " is a float, which cannot hold this int"
	}
	return fmt.Sprintf("%s is of type %s and not %s", e.Path, e.Old, e.New)
}

// Unwrap returns gdwire.ErrType.
func (e *TypeError) Unwrap() error { return gdwire.ErrType }

// A ValueError reports a text that is no value.
type ValueError struct {
	Path string
	Old  string // the type of the old value
	Such string // the start of the old value, as an example of its type
	Err  *text.SyntaxError
}

func (e *ValueError) Error() string {
	switch e.Old {
	case gdwire.TypeNil.String():
		return e.Path + ": " + e.Err.Reason + e.quoted()
	case gdwire.TypeString.String(), gdwire.TypeStringName.String(), gdwire.TypeNodePath.String():
		return fmt.Sprintf("%s is of type %s: %s%s", e.Path, e.Old, e.Err.Reason, e.quoted())
	}
	such := ""
	if e.Such != "" {
		such = ", such as " + e.Such
	}
	return fmt.Sprintf("%s is of type %s%s: %s", e.Path, e.Old, such, e.Err.Reason)
}

// quoted returns how to write the text as a value, if it can be meant.
func (e *ValueError) quoted() string {
	if e.Err.Quoted == "" {
		return ""
	}
	return fmt.Sprintf("; text is in quotes: %s = %s", e.Path, e.Err.Quoted)
}

// Unwrap returns the error of the text.
func (e *ValueError) Unwrap() error { return e.Err }

// isEncoded reports whether v has an encoding.
func (v *operand) isEncoded() bool { return v.encoding.bytes != nil || v.encoding.size > 0 }

// isType reports whether v is a type, such as Array[int], and not a value.
func (v *operand) isType() bool { return v.Form == text.Declared && !v.isEncoded() }

// decoder returns a Decoder of a value of Go, encoded with math types of 64 bits.
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

// An Op is a kind of edit at the targets of a tree.
type Op uint8

// The kinds of edits.
const (
	Set    Op = iota // replace values
	Delete           // remove elements, pairs and properties
	Add              // add elements and pairs
	Put              // replace or add
)

// A Plan contains the splices for editing a content.
type Plan struct {
	Changes []Change // the first changes
	More    int      // the number of other changes

	content *save.Content // after the edit
}

// maxChanges is the maximum number of Changes in a Plan.
const maxChanges = 1000

// A Change describes a change for people.
type Change struct {
	Path string
	Text string // the new value, or "" if there is none
	Was  string // the old value, or ""
}

// An editedPacket is a packet with its splices.
type editedPacket struct {
	start, end int64
	splices    []splice
	grow       int64 // the number of bytes added by splices
}

// Content returns the edited content. The memory for the content depends on the new values.
func (p *Plan) Content() *save.Content { return p.content }

// WriteTo writes the edited content.
func (p *Plan) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, io.NewSectionReader(p.content, 0, p.content.Size))
}

// An ExistsError reports a path to add where there is a value already.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return "there is a value at " + e.Path }

// A RefusedError reports an edit after which engines would not read the packet.
type RefusedError struct{ err error }

func (e *RefusedError) Error() string {
	why := e.err.Error()
	if at := (*gdwire.Error)(nil); errors.As(e.err, &at) { // the offset is in no file
		why = at.Path + ": " + strings.TrimPrefix(at.Err.Error(), gdwire.ErrStrict.Error()+": ")
	}
	return "engines would not read the edited packet: " + why
}

// Unwrap returns the error of the packet.
func (e *RefusedError) Unwrap() error { return e.err }
