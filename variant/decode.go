package variant

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"sync"

	"github.com/gdwire/gdwire"
)

// Unmarshal decodes the value that data starts with into what v points to. Bytes
// after the value are ignored; with Strict they are an error.
//
// After an error, what v points to holds what was read before it.
func Unmarshal(data []byte, v any, o *Options) error {
	o = o.orDefault()
	s := getDecoder()
	defer s.release()
	s.onBytes(data, o)
	err := s.top(v)
	if err == io.EOF {
		return &gdwire.Error{Path: "$", Err: io.ErrUnexpectedEOF}
	}
	if err == nil && o.Decoder.Strict {
		if _, err = s.d.ReadToken(); err == io.EOF {
			return nil
		}
	}
	return err
}

// UnmarshalDecode decodes the next value of d, wherever that is, into what v points
// to. Format and limits are those of d. Where d has no more values it returns
// io.EOF.
//
// After an error d may be inside the value; [gdwire.Decoder.SkipTo] goes on after
// it. A read error cannot be resumed.
func UnmarshalDecode(d *gdwire.Decoder, v any, o *Options) error {
	s := getDecoder()
	defer s.release()
	s.on(d, o.orDefault())
	return s.top(v)
}

// decoder is a Decoder and what one call to Unmarshal needs beside it.
type decoder struct {
	d       *gdwire.Decoder
	options gdwire.DecoderOptions // of d
	reject  bool                  // unknown keys
	most    int64                 // Options.Memory
	memory  int64                 // what is left of it
	// replace: the variable is an element of a slice that is used again. What it
	// held goes, though slices in it keep their memory.
	replace bool
	// careful: a typed read met a nil, so each looks first whether it is one. An
	// Error for each of a million nils would take long.
	careful bool
	depth   int
	reals   [maxComponents]float64
	ints    [maxComponents]int32
	scratch []byte
	keys    knownKeys
	copier  *copier // for Raw, made when the first is met

	own        *gdwire.Decoder // for Unmarshal
	ownOptions gdwire.DecoderOptions
}

var decoderPool = sync.Pool{New: func() any { return new(decoder) }}

func getDecoder() *decoder { return decoderPool.Get().(*decoder) }

// on makes d the Decoder to read from.
func (s *decoder) on(d *gdwire.Decoder, o *Options) {
	s.d, s.options = d, d.Options()
	s.begin(o)
}

// maxScratch is up to how many bytes scratch may have to be kept.
const maxScratch = 1 << 12

// onBytes makes the Decoder to read from one of data.
func (s *decoder) onBytes(data []byte, o *Options) {
	if s.own == nil || s.ownOptions != o.Decoder {
		s.own, s.ownOptions = gdwire.NewDecoder(nil, &o.Decoder), o.Decoder
	}
	s.own.ResetBytes(data)
	s.on(s.own, o)
}

// begin prepares for a value.
func (s *decoder) begin(o *Options) {
	s.reject, s.most = o.RejectUnknown, o.Memory
	switch {
	case s.most == 0:
		s.most = defaultMemory
	case s.most < 0:
		s.most = math.MaxInt64
	}
	s.memory, s.replace, s.careful, s.depth = s.most, false, false, 0
}

// release gives back what a call took.
func (s *decoder) release() {
	if s.copier != nil {
		s.copier.e.Release()
		s.copier = nil
	}
	if s.d == s.own && s.own != nil {
		s.own.Release()
	}
	s.d = nil
	decoderPool.Put(s)
}

// top reads the value for what v points to.
func (s *decoder) top(v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("variant: Unmarshal into %T, which is no pointer to a variable", v)
	}
	if v, ok := v.(*any); ok {
		x, err := s.any()
		if err == nil {
			*v = x
		}
		return err
	}
	decode, err := decodePlans.of(p.Type().Elem())
	if err != nil {
		return err
	}
	return decode(s, p.Elem())
}

// charge takes n bytes from the memory that is left.
func (s *decoder) charge(t reflect.Type, n int64) error {
	if n <= s.memory {
		s.memory -= n
		return nil
	}
	got := s.most - s.memory
	if got += n; got < 0 {
		got = math.MaxInt64
	}
	return s.fail(0, t, &gdwire.LimitError{Name: "Memory", Got: got, Max: s.most})
}

// fail makes an Error of a reason not to keep the value whose first token was the
// latest.
func (s *decoder) fail(t gdwire.Type, g reflect.Type, reason error) error {
	return s.d.WrapError(&TypeError{Type: t, Go: g, Err: reason})
}

// token reads the first token of the next value.
func (s *decoder) token() (gdwire.Token, error) {
	t, err := s.d.ReadToken()
	if err == nil && t.Kind() == gdwire.KindDictKey {
		t, err = s.d.ReadToken()
	}
	return t, err
}

// mistyped is called where a typed read met another type, or a number that is out
// of range. A nil makes the variable zero.
func (s *decoder) mistyped(v reflect.Value, cause error) error {
	s.careful = true
	t, err := s.token()
	if err != nil {
		return err
	}
	return s.mismatch(t, v, cause)
}

// mismatch is mistyped for a value whose first token has been read.
func (s *decoder) mismatch(t gdwire.Token, v reflect.Value, cause error) error {
	if t.Kind() == gdwire.KindNil {
		v.SetZero()
		return nil
	}
	reason := gdwire.ErrType
	if errors.Is(cause, gdwire.ErrRange) {
		reason = gdwire.ErrRange
	}
	return s.fail(t.Type(), v.Type(), reason)
}

// tookNil reports whether a nil came next, which makes the variable zero. It looks
// only where there was one before.
func (s *decoder) tookNil(v reflect.Value) bool {
	if !s.careful || s.d.PeekKind() != gdwire.KindNil || s.d.ReadNil() != nil {
		return false
	}
	v.SetZero()
	return true
}

// deeper counts a level of nesting.
func (s *decoder) deeper(t reflect.Type) error {
	if s.depth++; s.depth > maxDepth {
		return s.fail(0, t, depthError())
	}
	return nil
}

// A decodeFunc reads the next value into v, which can be set.
type decodeFunc func(s *decoder, v reflect.Value) error

var decodePlans plans[decodeFunc]

func init() {
	decodePlans.make = func(r *planner[decodeFunc], key planKey) (decodeFunc, error) {
		return decodePlanner{r}.build(key.typ)
	}
}

// A decodePlanner makes the plans for reading.
type decodePlanner struct{ *planner[decodeFunc] }

// build makes a type's plan: by its methods, if it is a type of this package, by
// its kind.
func (b decodePlanner) build(t reflect.Type) (decodeFunc, error) {
	if t.Kind() == reflect.Pointer {
		return b.pointer(t)
	}
	if t.Kind() != reflect.Interface {
		p := reflect.PointerTo(t)
		switch own := ownTypes[t]; {
		case p.Implements(unmarshalerType):
			return decodeUnmarshaler, nil
		case own != nil:
			return own.decode, nil
		case p.Implements(textUnmarshalerType):
			return b.text(t), nil
		}
	}
	return b.kind(t)
}

// kind makes the plan of a type by its kind.
func (b decodePlanner) kind(t reflect.Type) (decodeFunc, error) {
	switch t.Kind() {
	case reflect.Bool:
		return decodeBool, nil
	case reflect.Int:
		if t.Size() == 8 {
			return decodeInt64, nil
		}
		return decodeInt[int], nil
	case reflect.Int8:
		return decodeInt[int8], nil
	case reflect.Int16:
		return decodeInt[int16], nil
	case reflect.Int32:
		return decodeInt[int32], nil
	case reflect.Int64:
		return decodeInt64, nil
	case reflect.Uint:
		return decodeUint[uint], nil
	case reflect.Uint8:
		return decodeUint[uint8], nil
	case reflect.Uint16:
		return decodeUint[uint16], nil
	case reflect.Uint32:
		return decodeUint[uint32], nil
	case reflect.Uint64:
		return decodeUint[uint64], nil
	case reflect.Uintptr:
		return decodeUint[uintptr], nil
	case reflect.Float32, reflect.Float64:
		return decodeFloat, nil
	case reflect.String:
		return decodeString, nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return decodeAny, nil
		}
		return decodeInterface, nil
	case reflect.Slice:
		return b.slice(t)
	case reflect.Array:
		return b.array(t)
	case reflect.Map:
		return b.dict(t)
	case reflect.Struct:
		return b.record(t)
	}
	return nil, fmt.Errorf("%v has no Variant type", t)
}

func decodeBool(s *decoder, v reflect.Value) error {
	if s.tookNil(v) {
		return nil
	}
	x, err := s.d.ReadBool()
	if err != nil {
		return s.mistyped(v, err)
	}
	v.SetBool(x)
	return nil
}

func decodeInt64(s *decoder, v reflect.Value) error {
	if s.tookNil(v) {
		return nil
	}
	x, err := s.d.ReadInt()
	if err != nil {
		return s.mistyped(v, err)
	}
	v.SetInt(x)
	return nil
}

func decodeInt[T gdwire.Integer](s *decoder, v reflect.Value) error {
	if s.tookNil(v) {
		return nil
	}
	x, err := gdwire.ReadInteger[T](s.d)
	if err != nil {
		return s.mistyped(v, err)
	}
	v.SetInt(int64(x))
	return nil
}

func decodeUint[T gdwire.Integer](s *decoder, v reflect.Value) error {
	if s.tookNil(v) {
		return nil
	}
	x, err := gdwire.ReadInteger[T](s.d)
	if err != nil {
		return s.mistyped(v, err)
	}
	v.SetUint(uint64(x))
	return nil
}

func decodeFloat(s *decoder, v reflect.Value) error {
	if s.tookNil(v) {
		return nil
	}
	x, err := s.d.ReadFloat()
	if err != nil {
		return s.mistyped(v, err)
	}
	if v.OverflowFloat(x) {
		return s.fail(gdwire.TypeFloat, v.Type(), gdwire.ErrRange)
	}
	v.SetFloat(x)
	return nil
}

func decodeString(s *decoder, v reflect.Value) error {
	text, err := s.readText(v)
	if err == nil {
		v.SetString(text)
	}
	return err
}

// readText reads text of any type for v; of nil it is empty.
func (s *decoder) readText(v reflect.Value) (string, error) {
	b, ok, err := s.d.ReadText()
	if err != nil {
		return "", err
	}
	if ok {
		if err := s.charge(v.Type(), int64(len(b))); err != nil {
			return "", err
		}
		return string(b), nil
	}
	t, err := s.token()
	if err != nil {
		return "", err
	}
	switch t.Kind() {
	case gdwire.KindStringChunk:
		return s.text(t, v.Type())
	case gdwire.KindNodePathStart:
		return s.path(t, v.Type())
	}
	return "", s.mismatch(t, v, nil)
}

// text returns the text that starts with chunk t.
func (s *decoder) text(t gdwire.Token, g reflect.Type) (string, error) {
	if err := s.charge(g, t.Len()); err != nil {
		return "", err
	}
	if t.Last() {
		return t.Text(), nil
	}
	b, err := s.d.AppendString(nil)
	return string(b), err
}

// path returns the NodePath that starts with t as text. Names that the text would
// not mean again are an error.
func (s *decoder) path(t gdwire.Token, g reflect.Type) (string, error) {
	names, subnames, absolute := t.Path()
	// The form that is one string has its separators in a name.
	single := names == 1 && subnames == 0 && !absolute && !s.isNewPath()
	b := s.scratch[:0]
	if absolute {
		b = append(b, '/')
	}
	for i := range names + subnames {
		from := len(b)
		switch {
		case i >= names:
			b = append(b, ':')
			from++
		case i > 0:
			b = append(b, '/')
			from++
		}
		chunk, err := s.d.ReadToken()
		if err != nil {
			return "", err
		}
		if err := s.charge(g, chunk.Len()); err != nil {
			return "", err
		}
		if chunk.Last() {
			b = append(b, chunk.Bytes()...)
		} else if b, err = s.d.AppendString(b); err != nil {
			return "", err
		}
		if !single && !isName(b[from:], i >= names) {
			return "", s.fail(gdwire.TypeNodePath, g, fmt.Errorf("%w: name %s", gdwire.ErrRange, quoted(string(b[from:]))))
		}
	}
	if s.scratch = b; cap(b) > maxScratch {
		s.scratch = nil
	}
	return string(b), s.d.ReadEnd()
}

// isNewPath reports whether NodePaths have the form of several names only.
func (s *decoder) isNewPath() bool {
	f := s.options.Format
	return f == nil || f == gdwire.Godot4 || f == gdwire.Godot3
}

// isName reports whether a name of a NodePath is one in its text as well.
func isName(name []byte, subname bool) bool {
	for _, c := range name {
		if c == ':' || c == '/' && !subname {
			return false
		}
	}
	return len(name) > 0
}

// text makes the plan of a TextUnmarshaler: text is its matter, everything else
// that of its kind.
func (b decodePlanner) text(t reflect.Type) decodeFunc {
	kind, kindErr := b.kind(t)
	return func(s *decoder, v reflect.Value) error {
		if s.d.PeekKind() == gdwire.KindDictKey {
			return s.unmarshalText(v) // keys are text or not at all
		}
		if k := s.d.PeekKind(); k != gdwire.KindStringChunk && k != gdwire.KindNodePathStart {
			if kindErr != nil {
				return s.mistyped(v, nil)
			}
			return kind(s, v)
		}
		return s.unmarshalText(v)
	}
}

func (s *decoder) unmarshalText(v reflect.Value) error {
	text, err := s.readText(v)
	if err != nil {
		return err
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
		return s.fail(gdwire.TypeString, v.Type(), err)
	}
	return nil
}

// decodeUnmarshaler lets a type read itself, and checks that it read one value.
func decodeUnmarshaler(s *decoder, v reflect.Value) error {
	if s.d.PeekKind() == 0 {
		_, err := s.d.ReadToken() // the error, or io.EOF
		return err
	}
	before := s.position()
	err := v.Addr().Interface().(Unmarshaler).UnmarshalVariant(s.d)
	if err != nil {
		var known *TypeError
		if errors.As(err, &known) || s.failed() {
			return err
		}
		return s.fail(0, v.Type(), err)
	}
	if !before.isOneBefore(s.position()) {
		return s.fail(0, v.Type(), fmt.Errorf("%w: UnmarshalVariant has to read exactly one value", gdwire.ErrCount))
	}
	return nil
}

// failed reports whether the Decoder cannot go on.
func (s *decoder) failed() bool {
	return s.d.PeekKind() == 0
}

func (s *decoder) position() position {
	p := position{offset: s.d.InputOffset(), depth: s.d.Depth()}
	p.kind, p.index, _ = s.d.StackIndex(p.depth)
	return p
}

// pointer makes the plan of a pointer: nil for nil, or else a variable for what it
// points to.
func (b decodePlanner) pointer(t reflect.Type) (decodeFunc, error) {
	if err := checkPointer(t); err != nil {
		return nil, err
	}
	elem, err := b.plan(t.Elem(), 0)
	size := int64(t.Elem().Size())
	return func(s *decoder, v reflect.Value) error {
		if s.d.PeekKind() == gdwire.KindNil {
			v.SetZero()
			return s.d.ReadNil()
		}
		if v.IsNil() || s.replace { // others may have the old pointer
			if err := s.charge(t, size); err != nil {
				return err
			}
			v.Set(reflect.New(t.Elem()))
		}
		if err := s.deeper(t); err != nil {
			return err
		}
		err := elem.do(s, v.Elem())
		s.depth--
		return err
	}, err
}

func decodeAny(s *decoder, v reflect.Value) error {
	x, err := s.any()
	switch {
	case err != nil:
		return err
	case x == nil:
		v.SetZero()
	default:
		v.Set(reflect.ValueOf(x))
	}
	return nil
}

// decodeInterface reads into what an interface with methods holds a pointer to;
// nothing says which type to make.
func decodeInterface(s *decoder, v reflect.Value) error {
	if p := v.Elem(); v.IsNil() || p.Kind() != reflect.Pointer || p.IsNil() {
		return s.mistyped(v, nil)
	}
	decode, err := decodePlans.of(v.Elem().Type())
	if err != nil {
		return err
	}
	p := reflect.New(v.Elem().Type()).Elem()
	p.Set(v.Elem())
	if err := decode(s, p); err != nil {
		return err
	}
	if p.IsNil() {
		v.SetZero()
	}
	return nil
}
