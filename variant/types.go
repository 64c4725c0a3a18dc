package variant

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"unicode"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/options"
)

// What the types of values are in Go: errors, options, names of fields, methods, and types.

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

// Options configures decoding and encoding. The zero value, like none, selects Godot4 with the
// default limits. Several Options are merged: a non-zero field, also of the options and Limits
// inside, replaces the field of earlier Options.
type Options struct {
	// Decoder configures Unmarshal. UnmarshalDecode, Elements and Entries use the
	// options of their Decoder instead.
	Decoder gdwire.DecoderOptions
	// Encoder configures Marshal. MarshalEncode uses the options of its Encoder
	// instead.
	Encoder gdwire.EncoderOptions
	// MaxMemory is the maximum size in bytes of the decoded values: capacities of slices, text,
	// entries of maps, values in interfaces. In Elements and Entries, the maximum applies to
	// each record. 0 selects 256 MiB, -1 disables the limit.
	MaxMemory int64
	// RejectUnknown makes unknown keys of structs an error, and elements beyond
	// the fields of a positional struct.
	RejectUnknown bool
}

const defaultMemory = 256 << 20

var defaultOptions Options

// optionsOf returns the merged Options of the variadic arguments of a function, or the zero value
// if there are none. The caller must not change the result.
func optionsOf(opts []Options) *Options { return options.Of(opts, &defaultOptions) }

// contentOptions selects a lossless encoding.
var contentOptions = Options{Encoder: gdwire.EncoderOptions{Depth: -1, AllowInvalidUTF8: true, DoubleReals: true}}

// ignoredTag is the tag of a field neither encoded nor decoded.
const ignoredTag = "-"

// snakeCase returns the key for a Go field without a name in its tag, as Godot's
// String.to_snake_case does. A word begins at an upper-case letter after a lower-case letter, at
// an upper-case letter before a lower-case letter, at a digit after such a letter, and at a letter
// between a digit and a lower-case letter. Only 0 to 9 are digits.
func snakeCase(name string) string {
	r := []rune(name)
	var b strings.Builder
	for i, c := range r {
		if i > 0 && startsWord(r, i) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// startsWord reports whether a word begins at r[i], for i > 0.
func startsWord(r []rune, i int) bool {
	last, this := r[i-1], r[i]
	lowerNext := i+1 < len(r) && unicode.IsLower(r[i+1])
	switch {
	case isDigit(this):
		return unicode.IsUpper(last) || unicode.IsLower(last)
	case unicode.IsUpper(this):
		return unicode.IsLower(last) || lowerNext && (unicode.IsUpper(last) || isDigit(last))
	case unicode.IsLower(this):
		return lowerNext && isDigit(last)
	}
	return false
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// A Marshaler encodes itself. MarshalVariant must write exactly one value, possibly a container. An error ends the
// encoding of the whole value. MarshalVariant is not used for keys.
type Marshaler interface {
	MarshalVariant(e *gdwire.Encoder) error
}

// An Unmarshaler decodes itself. UnmarshalVariant must read exactly one value, and copy the
// bytes of tokens to keep. An error ends the decoding of the whole value. UnmarshalVariant is
// not used for keys.
//
// Errors of the Reader, and Errors in the input, are returned as they are. Any other error is
// wrapped in a [*TypeError] and a [*gdwire.Error] with the position. An Error of the Decoder,
// such as ErrType from a typed read, keeps its position. With an Error of another Decoder,
// because the method called Unmarshal for bytes just read, both positions remain: the outer is
// the position of the method's value, and errors.As finds the inner in TypeError.Err.
type Unmarshaler interface {
	UnmarshalVariant(d *gdwire.Decoder) error
}

var (
	marshalerType       = reflect.TypeFor[Marshaler]()
	unmarshalerType     = reflect.TypeFor[Unmarshaler]()
	textMarshalerType   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
	anyType             = reflect.TypeFor[any]()
	stringType          = reflect.TypeFor[string]()
)

// hasMethods reports whether t declares methods for encoding or decoding. Marshal then writes a
// list of t as an Array, because a method can write any value. Unmarshal reads no t from packed
// numbers or from the components of a math type, because a method can read only whole values.
func hasMethods(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(marshalerType) || p.Implements(unmarshalerType) ||
		p.Implements(textMarshalerType) || p.Implements(textUnmarshalerType)
}

// methodFuncs contains the method of each interface, found by a constant: otherwise the linker keeps all methods of
// all types.
var methodFuncs = map[reflect.Type]func(reflect.Type) (reflect.Method, bool){
	marshalerType:       func(t reflect.Type) (reflect.Method, bool) { return t.MethodByName("MarshalVariant") },
	unmarshalerType:     func(t reflect.Type) (reflect.Method, bool) { return t.MethodByName("UnmarshalVariant") },
	textMarshalerType:   func(t reflect.Type) (reflect.Method, bool) { return t.MethodByName("MarshalText") },
	textUnmarshalerType: func(t reflect.Type) (reflect.Method, bool) { return t.MethodByName("UnmarshalText") },
}

// checkMethod returns an error if the method of an interface is promoted to t from an embedded type,
// and would leave out the other fields of t, or be called with a nil pointer.
func checkMethod(t, by reflect.Type) error {
	if t.Kind() != reflect.Struct {
		return nil
	}
	m, ok := methodFuncs[by](t)
	if !ok {
		m, _ = methodFuncs[by](reflect.PointerTo(t))
	}
	pc := m.Func.Pointer()
	if file, _ := runtime.FuncForPC(pc).FileLine(pc); file != "<autogenerated>" {
		return nil // t declares the method
	}
	var from reflect.Type
	other := ""
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Anonymous && from == nil && (f.Type.Implements(by) || reflect.PointerTo(f.Type).Implements(by)):
			from = f.Type
		case f.Tag.Get("gd") != ignoredTag && (f.IsExported() || f.Anonymous):
			other = f.Name
		}
	}
	const remedy = "give the field a name, or declare the method"
	switch {
	case from.Kind() == reflect.Pointer || from.Kind() == reflect.Interface:
		return fmt.Errorf("%v: %s of the embedded %v panics if that is nil: %s", t, m.Name, from, remedy)
	case other != "":
		return fmt.Errorf("%v: %s of the embedded %v leaves out %s: %s", t, m.Name, from, other, remedy)
	}
	return checkMethod(from, by)
}

// A position is the offset and depth of an Encoder or Decoder, and the kind and index of the
// innermost open container.
type position struct {
	offset, index int64
	depth         int
	kind          gdwire.Kind
}

// isOneValueBefore reports whether exactly one value is between p and q. A value must be next at
// p. Inside a pair or property, the index, a count of pairs, does not change.
func (p position) isOneValueBefore(q position) bool {
	step := int64(1)
	if p.kind == gdwire.KindDictStart || p.kind == gdwire.KindObjectStart {
		step = 0
	}
	return q.depth == p.depth && q.offset > p.offset && q.index == p.index+step
}

// The math types, with the fields of GDScript in the same order. Components are float64, for
// engines of both precisions, but float32 in a Color, as in all engines.
type (
	// Vector2 holds two floats.
	Vector2 struct{ X, Y float64 }
	// Vector2i holds two integers, in the format Godot4 only.
	Vector2i struct{ X, Y int32 }
	// Vector3 holds three floats.
	Vector3 struct{ X, Y, Z float64 }
	// Vector3i holds three integers, in the format Godot4 only.
	Vector3i struct{ X, Y, Z int32 }
	// Vector4 holds four floats, in the format Godot4 only.
	Vector4 struct{ X, Y, Z, W float64 }
	// Vector4i holds four integers, in the format Godot4 only.
	Vector4i struct{ X, Y, Z, W int32 }
	// Rect2 holds a rectangle's position and size.
	Rect2 struct{ Position, Size Vector2 }
	// Rect2i holds a rectangle's position and size in integers, in the format Godot4 only.
	Rect2i struct{ Position, Size Vector2i }
	// Plane holds a plane's normal and its distance from the origin.
	Plane struct {
		Normal Vector3
		D      float64
	}
	// Quaternion holds a rotation: a Quat in Godot 3.
	Quaternion struct{ X, Y, Z, W float64 }
	// AABB holds a box's position and size: a Rect3 in Godot 2.
	AABB struct{ Position, Size Vector3 }
	// Transform2D holds the two axes and the origin: a Matrix32 in Godot 2.
	Transform2D struct{ X, Y, Origin Vector2 }
	// Basis is a Basis. X, Y and Z are the axes, the columns of the matrix; the format encodes the rows.
	Basis struct{ X, Y, Z Vector3 }
	// Transform3D holds a basis and the origin: a Transform in Godot 3.
	Transform3D struct {
		Basis  Basis
		Origin Vector3
	}
	// Projection holds the four columns of a 4 × 4 matrix, in the format Godot4 only.
	Projection struct{ X, Y, Z, W Vector4 }
	// Color holds red, green, blue and alpha, mostly from 0 to 1.
	Color struct{ R, G, B, A float32 }
)

type (
	// StringName is a StringName, encoded as a String in formats other than Godot4.
	StringName string
	// NodePath is a NodePath as text, such as "/root/Player:position:x".
	NodePath string
	// RID is the id of an RID. Formats other than Godot4 do not encode the id.
	RID uint64
	// ObjectID is the instance id of an object. 0 is null, encoded by engines as nil.
	ObjectID uint64
	// Signal is the name and the object of a Signal.
	Signal struct {
		Name   string
		Object ObjectID
	}
	// Callable is a Callable, encoded without content.
	Callable struct{}
)

// Object is a serialized object: the name of the class and the properties in encoded order.
// Decoding requires [gdwire.DecoderOptions].AllowObjects.
type Object struct {
	Class      string
	Properties []Property
}

// Property is a property of an [Object].
type Property struct {
	Name  string
	Value any
}

// Image is an Image, a type of the format of Godot 2 only. Format is the engine's format of the
// pixels in Data.
type Image struct {
	Format, Mipmaps, Width, Height uint32
	Data                           []byte
}

// InputEvent is an InputEvent, a type of the format of Godot 2 only. Data contains the other
// fields, such as the modifiers and scancode of a key.
type InputEvent struct {
	Type, Device uint32
	Data         []byte
}

// Array is an Array, typed or not.
type Array struct {
	// Elem is the declared type of the elements, or the zero Elem.
	Elem gdwire.Elem
	// Values contains the elements. Unmarshal stores them as in an any; Marshal accepts every Go
	// type with an encoding.
	Values []any
}

// Raw is an encoded value of any type, to keep, compare, forward or decode later. Data
// is encoded in Format, or in Godot4 if Format is 0, in the way of
// [gdwire.CopyValue]. Encoding a Raw in another format converts it. The zero Raw is nil.
//
// In the format of a manual, components in Data have the width selected by DoubleReals
// of the Decoder or Encoder.
type Raw struct {
	Format gdwire.Format
	Data   []byte
}

// decoder returns a Decoder of r without limits, as an Encoder with options o would write the value.
func (r *Raw) decoder(o gdwire.EncoderOptions) *gdwire.Decoder {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{
		Format: r.Format, AllowObjects: true, AllowInvalidUTF8: o.AllowInvalidUTF8, DoubleReals: o.DoubleReals,
		Limits: gdwire.NoLimits,
	})
	d.ResetBytes(r.data())
	return d
}

// data returns Data or, for the zero Raw, the encoding of nil in every format.
func (r *Raw) data() []byte {
	if len(r.Data) == 0 && r.Format == 0 {
		return make([]byte, 4)
	}
	return r.Data
}

// Dictionary is a Dictionary, with pairs in the order in which keys were first set. The zero
// Dictionary is empty and ready to use. A Dictionary must not be copied after first use.
//
// Keys are equal as in Godot 4. A string, a StringName and a value of another string
// kind are the same key if they have the same text. NaN equals NaN, and 0.0 equals -0.0.
// The int 1, the float 1.0 and true are three keys, and so are a NodePath and the string
// with its text. Numbers can be of any Go kind.
//
// Keys that are Arrays, Dictionaries, packed arrays, RIDs, Callables and Objects are compared
// by content, in time proportional to the number of keys. Unmarshal never merges such keys,
// because a Dictionary of Godot 3 can have several with the same content. Keys of one other Go
// type are equal if they are encoded as the same bytes. Keys nested more than 10,000 levels
// deep, such as those containing themselves, equal only themselves.
type Dictionary struct {
	// Key and Value are the declared types of keys and values. They are the zero
	// Elem in an untyped Dictionary.
	Key, Value gdwire.Elem

	entries []Entry[any, any] // the key of a deleted entry is a tombstone
	// positions is nil until there are many entries or one is deleted: packets can contain millions of small
	// Dictionaries.
	positions *positions
}

// positions tell where the entries of a Dictionary are.
type positions struct {
	index   map[any]int // index in entries of hashable keys, or nil if there are few
	deleted int
	// first is the index of the first entry not deleted: a loop removing the oldest pair again
	// and again would otherwise pass all deleted entries each time.
	first int
	// seqs contains the sequence number of each entry: the number of pairs added before. It is
	// nil until compact removes entries: until then, the sequence number is the entry's index.
	seqs    []int
	removed int // the number of entries removed by compact
}

// Entry is a key and its value.
type Entry[K, V any] struct {
	Key   K
	Value V
}

// normal returns v in the form expected by code walking trees: an Array, Dictionary or Object
// by value becomes a pointer, and a nil pointer to one becomes nil. Other values remain.
func normal(v any) any {
	switch v {
	case (*Array)(nil), (*Dictionary)(nil), (*Object)(nil):
		return nil
	}
	switch v := v.(type) {
	case Array:
		return &v
	case Dictionary:
		return &v
	case Object:
		return &v
	}
	return v
}

// isContainer reports whether v, in normal form, contains other values.
func isContainer(v any) bool {
	switch v.(type) {
	case *Array, *Dictionary, *Object:
		return true
	}
	return false
}
