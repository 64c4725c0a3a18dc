package variant

import (
	"encoding"
	"errors"
	"reflect"
	"strings"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// encoder holds the state of one call of Marshal or MarshalEncode, and the parts kept by the pool
// for the next call.
type encoder struct {
	e      *gdwire.Encoder
	format gdwire.Format // of e
	blocks bool          // whether blocks can write to e: see encode_block.go
	depth  int
	recent recent[encodeFunc]
	values recent[encodeFunc] // of values in an any
	keys   recent[encodeFunc] // of keys in an any
	reals  [maxComponents]float64
	ints   [maxComponents]int32

	scratch    []byte     // for a textMethod
	methodText methodText // of a method called by a block that could not put the text: not called again

	anyMap map[string]any // the next in a tree, or nil
	pairs  []*mapPairs    // for each type of maps, a list of those not in use

	bytesEncoder *gdwire.Encoder // for Marshal
	before       int             // bytes of the result before the value
	bytesOptions gdwire.EncoderOptions
	buf          []byte // memory for the next small result, or nil
}

// mapPairs holds the pairs of a map while they are written.
type mapPairs struct {
	keyList, valueList reflect.Value // slices
	keysAt, valuesAt   variable      // keyList and valueList
	keys, values       variable      // their elements, for elemAt
	order              []sortedKey   // of the pairs
	texts              []string      // of the keys, if mapKeys has a function for them
	next               *mapPairs     // in encoder.pairs, or nil
}

// A sortedKey is the key of the pair at an index, with the word by which most keys are compared.
type sortedKey struct {
	word uint64
	at   int
}

// An encodeFunc writes x, a variable of the plan's type.
type encodeFunc func(s *encoder, x variable) error

var encodePlans plans[encodeFunc]

// A fieldEncoder encodes a field of a struct with the plan of its type.
type fieldEncoder struct {
	name string
	key  internal.Key // the name
	fieldLocation
	plan  *plan[encodeFunc]
	omits func(x variable) bool // or nil
	*field
}

// A textMethod returns the texts of a type with MarshalText. If the type also has AppendText, and embeds
// nothing that could provide only one of the two, AppendText is called instead: -20 % of structs with times.
type textMethod struct {
	typ     reflect.Type
	vars    variableType // typ
	appends bool
}

func newTextMethod(t reflect.Type) *textMethod {
	m := &textMethod{typ: t, vars: variableTypeOf(t), appends: reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextAppender]())}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			m.appends = m.appends && !t.Field(i).Anonymous
		}
	}
	return m
}

// A methodText is the result of a textMethod.
type methodText struct {
	text   string
	err    error
	isNext bool
}

// text calls the method for x. The text is valid until the next call.
func (m *textMethod) text(s *encoder, x variable) (string, error) {
	v := m.vars.pointer(x)
	if !m.appends {
		b, err := v.(encoding.TextMarshaler).MarshalText()
		return wire.String(b), err // no copy: b is not written before the last use
	}
	b, err := v.(encoding.TextAppender).AppendText(s.scratch[:0])
	if cap(b) <= maxScratch {
		s.scratch = b
	}
	return wire.String(b), err
}

// key returns the text of a key.
func (m *textMethod) key(s *encoder, key variable) (string, error) {
	text, err := m.text(s, key)
	if err != nil {
		return "", s.fail(m.typ, err)
	}
	return strings.Clone(text), nil
}

// An encodePlanner builds the plans for encoding.
type encodePlanner struct{ *planner[encodeFunc] }

// maxKept is the size in bytes of the largest copied result: see result.
const maxKept = 64 << 10

// leastBuffer is the capacity in bytes of the smallest memory for results.
const leastBuffer = 512

var encoderPool = sync.Pool{New: func() any { return &encoder{keys: recent[encodeFunc]{isKey: true}} }}

func getEncoder() *encoder { return encoderPool.Get().(*encoder) }

// reset makes s write to e.
func (s *encoder) reset(e *gdwire.Encoder) {
	o := e.Options()
	s.e, s.format, s.depth, s.blocks = e, o.Format, e.Depth(), o.Format == gdwire.Godot4 && !o.DoubleReals
}

// resetBytes makes s append to buf, with an Encoder kept by the pool.
func (s *encoder) resetBytes(o *Options, buf []byte) {
	if s.bytesEncoder == nil || s.bytesOptions != o.Encoder {
		s.bytesEncoder, s.bytesOptions = gdwire.NewEncoder(nil, &o.Encoder), o.Encoder
	}
	s.bytesEncoder.ResetBytes(buf)
	s.before = len(buf)
	s.reset(s.bytesEncoder)
}

// release returns s to the pool.
func (s *encoder) release() {
	if s.e == s.bytesEncoder && s.bytesEncoder != nil {
		export.Forget(s.bytesEncoder)
	}
	s.e, s.anyMap = nil, nil
	encoderPool.Put(s)
}

// position returns the position of s.e.
func (s *encoder) position() position {
	p := position{offset: s.e.OutputOffset(), depth: s.e.Depth()}
	p.kind, p.index, _ = s.e.StackIndex(p.depth)
	return p
}

// fail makes the Encoder fail with a TypeError at the next value, and returns the error. After a
// part of the value was written, marshal makes the error stay.
func (s *encoder) fail(t reflect.Type, err error) error {
	return s.refuse(&TypeError{Go: t, Err: err})
}

// refuse makes err the error of the Encoder, until ClearError.
func (s *encoder) refuse(err error) error { return export.Refuse(s.e, err) }

// withField returns err, an error in field f, with the Go type and name of the field. An error
// of the Writer remains unchanged.
func (s *encoder) withField(err error, f *field) error {
	at, ok := errors.AsType[*gdwire.Error](err)
	if !ok {
		return err // an error of the Writer
	}
	if isTypeError(err) {
		return withField(err, f.goName)
	}
	return &gdwire.Error{Offset: at.Offset, Path: at.Path, Err: &TypeError{Go: f.typ, Field: f.goName, Err: at.Err}}
}

// enter increments the depth for the content of a t, and returns an error if the depth exceeds maxDepth.
func (s *encoder) enter(t reflect.Type) error {
	if s.depth++; s.depth > maxDepth {
		return s.depthError(t)
	}
	return nil
}

// depthError returns the error for a t nested too deeply.
func (s *encoder) depthError(t reflect.Type) error { return s.fail(t, depthError()) }

// leave decrements the depth after the content of a container, and writes the End.
func (s *encoder) leave() error {
	s.depth--
	return s.e.End()
}

// encodeNested writes v, the variable of a pointer, one level deeper than the pointer, or returns
// an error if the depth exceeds maxDepth. Containers themselves count the level of their content.
func (s *encoder) encodeNested(encode encodeFunc, v reflect.Value) error {
	if err := s.enter(v.Type()); err != nil {
		return err
	}
	err := encode(s, variableOf(v))
	s.depth--
	return err
}

// encodeIn writes x, the value in v, or a copy of x unless the plan is readOnly: -25 % of the
// time of a small struct.
func (s *encoder) encodeIn(plan *plan[encodeFunc], v any, x reflect.Value) error {
	in, ok := variableIn(v)
	if !ok || !plan.readOnly {
		return plan.do(s, variableOf(addressable(x)))
	}
	return plan.do(s, in)
}
