package variant

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/hook"
	"github.com/gdwire/gdwire/internal/wire"
)

// Unmarshal decodes the value at the start of data into the variable that v points to.
// It ignores bytes after the value; with Strict they are an error. The variable refers to
// no part of data.
//
// After an error, the variable has the parts that were decoded before it.
func Unmarshal(data []byte, v any, opts ...Options) error {
	o := only(opts)
	s := getDecoder()
	defer s.release()
	s.onBytes(data, o)
	if err := unexpectedEOF(s.top(v)); err != nil {
		return hinted(err, data)
	}
	if o.Decoder.Strict {
		return atEnd(s.d)
	}
	return nil
}

// hinted returns err, with a hint if data is a packet after its length: many lengths are also
// headers of a type, usually of another than the one expected.
func hinted(err error, data []byte) error {
	var at *gdwire.Error
	var wrong *TypeError
	if errors.As(err, &at) && at.Offset == 0 && errors.As(err, &wrong) && wrong.Err == gdwire.ErrType &&
		len(data) > 4 && int64(binary.LittleEndian.Uint32(data)) == int64(len(data)-4) {
		wrong.Err = fmt.Errorf("%w; the data begins with its length: see package stream", gdwire.ErrType)
	}
	return err
}

// UnmarshalDecode decodes the next value of d, also inside a container, into the
// variable that v points to. It uses the options of d. At the end of the input it
// returns io.EOF.
//
// Where no value is next, it returns an error and consumes nothing: [gdwire.ErrCount] at an
// End, and [gdwire.ErrType] at the name of a property or inside a packed array. It also
// consumes nothing if the value itself has the wrong type or is out of range. After other
// errors, d can be inside the value; use [gdwire.Decoder.SkipTo] to continue after it.
// UnmarshalDecode cannot be repeated after an error of the Reader.
func UnmarshalDecode(d *gdwire.Decoder, v any, opts ...Options) error {
	s := getDecoder()
	defer s.release()
	s.on(d, only(opts))
	return s.top(v)
}

// decoder is a Decoder and the state of one call of Unmarshal or UnmarshalDecode.
type decoder struct {
	d       *gdwire.Decoder
	options gdwire.DecoderOptions // of d
	reject  bool                  // Options.RejectUnknown
	most    int64                 // Options.MaxMemory
	double  *bool                 // Options.FoundDoubleReals
	memory  int64                 // the rest of it
	// replace is set if the variable is an element of a reused slice, or of an array. Its
	// old value is replaced, but slices in it keep their memory.
	replace bool
	// careful is set after a typed read has failed because of a nil. Typed reads then
	// check for nil first, because an Error for each of a million nils takes long.
	careful   bool
	depth     int
	recent    recent[decodeFunc]
	reals     [maxComponents]float64
	singles   [maxComponents]float32
	ints      [maxComponents]int32
	scratch   []byte
	pathText  hook.NodePathText
	texts     *[textBlock]byte // the latest block of short texts
	textsLeft int              // the bytes at its end that no string uses
	keys      knownKeys
	copier    *copier // for Raw, created for the first one

	own        *gdwire.Decoder // for Unmarshal
	ownOptions gdwire.DecoderOptions
}

var decoderPool = sync.Pool{New: func() any { return new(decoder) }}

func getDecoder() *decoder { return decoderPool.Get().(*decoder) }

// on lets s read from d.
func (s *decoder) on(d *gdwire.Decoder, o *Options) {
	s.d, s.options = d, d.Options()
	s.begin(o)
}

// Texts of up to maxShared bytes share blocks of textBlock bytes: see newText.
const (
	maxShared = 32
	textBlock = 128
)

// maxScratch is up to how many bytes scratch may have to be kept.
const maxScratch = 1 << 12

// onBytes lets s read from data.
func (s *decoder) onBytes(data []byte, o *Options) {
	if s.own == nil || s.ownOptions != o.Decoder {
		s.own, s.ownOptions = gdwire.NewDecoder(nil, &o.Decoder), o.Decoder
	}
	s.own.ResetBytes(data)
	s.on(s.own, o)
}

// begin prepares s for a new top-level value.
func (s *decoder) begin(o *Options) {
	s.reject, s.most, s.double = o.RejectUnknown, o.MaxMemory, o.FoundDoubleReals
	switch {
	case s.most == 0:
		s.most = defaultMemory
	case s.most < 0:
		s.most = math.MaxInt64
	}
	s.memory, s.replace, s.careful, s.depth = s.most, false, false, 0
}

// release returns s to the pool.
func (s *decoder) release() {
	if s.copier != nil {
		s.copier.e.Release()
		s.copier = nil
	}
	if s.d == s.own && s.own != nil {
		s.own.Release()
	}
	s.d, s.double = nil, nil
	decoderPool.Put(s)
}

// top reads a value into the variable that v points to.
func (s *decoder) top(v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("variant: Unmarshal into %T, which is not a pointer to a variable", v)
	}
	if s.d.Depth() > 0 { // otherwise a value is next, or the end of the input
		if _, err := s.d.PeekType(); err != nil {
			return err
		}
	}
	if v, ok := v.(*any); ok {
		x, err := s.any()
		if err == nil {
			*v = x
		}
		return err
	}
	plan, err := s.recent.of(&decodePlans, p.Type().Elem())
	if err != nil {
		return err
	}
	return plan.do(s, variableOf(p.Elem()))
}

// charge subtracts n bytes from the memory that is left. It returns an error if there is
// not enough.
func (s *decoder) charge(t reflect.Type, n int64) error {
	if n > s.memory {
		return s.memoryError(t, n)
	}
	s.memory -= n
	return nil
}

func (s *decoder) memoryError(t reflect.Type, n int64) error {
	got := s.most - s.memory
	if got += n; got < 0 {
		got = math.MaxInt64
	}
	return s.fail(0, t, &gdwire.LimitError{Name: "MaxMemory", Got: got, Max: s.most})
}

// fail returns an Error with a TypeError for the value that the latest token starts.
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

// mistyped returns the error for the next value, which v cannot hold. cause is the error of a
// typed read, or nil for a value of another type. mistyped consumes nothing, except for a
// nil, for which it makes v zero.
func (s *decoder) mistyped(v reflect.Value, cause error) error {
	s.careful = true
	var at *gdwire.Error
	if cause != nil && (!errors.As(cause, &at) || s.d.Err() != nil) {
		return cause // of the Reader or the input
	}
	reason := gdwire.ErrType
	if errors.Is(cause, gdwire.ErrRange) {
		reason = at.Err
	}
	switch cause = s.d.ReadNil(); {
	case cause == nil:
		v.SetZero()
		return nil
	case !errors.As(cause, &at) || s.d.Err() != nil:
		return cause
	}
	t, err := s.d.PeekType()
	if err != nil {
		return err
	}
	at.Err = &TypeError{Type: t, Go: v.Type(), Err: reason}
	return at
}

// rangeError returns the error for a number that a t cannot hold.
func rangeError(number any, t reflect.Type) error {
	return &reason{gdwire.ErrRange, fmt.Sprintf("%v does not fit %v", number, t)}
}

// A reason is an error with a text instead of that of the error that it wraps.
type reason struct {
	err  error
	text string
}

func (r *reason) Error() string { return r.text }

// Unwrap returns the error that r wraps.
func (r *reason) Unwrap() error { return r.err }

// tookNil reports whether it has read a nil and made the variable zero. It is only called
// if s.careful is set.
func (s *decoder) tookNil(v reflect.Value) bool {
	if s.d.PeekKind() != gdwire.KindNil || s.d.ReadNil() != nil {
		return false
	}
	v.SetZero()
	return true
}

// deeper increments the depth and returns an error if it exceeds maxDepth.
func (s *decoder) deeper(t reflect.Type) error {
	if s.depth++; s.depth > maxDepth {
		return s.depthError(t)
	}
	return nil
}

func (s *decoder) depthError(t reflect.Type) error { return s.fail(0, t, depthError()) }

// end decrements the depth and reads the End.
func (s *decoder) end() error {
	s.depth--
	return s.d.ReadEnd()
}

// A decodeFunc reads the next value into x, a variable of the plan's type. Unless it returns
// an error, it leaves s.replace unchanged.
type decodeFunc func(s *decoder, x variable) error

// reflected returns the decodeFunc or encodeFunc that calls do with a variable of type t.
func reflected[S any](t reflect.Type, do func(s S, v reflect.Value) error) func(S, variable) error {
	return func(s S, x variable) error { return do(s, valueOf(x, t)) }
}

var decodePlans plans[decodeFunc]

func init() {
	decodePlans.make = func(r *planner[decodeFunc], key planKey) (decodeFunc, error) {
		return decodePlanner{r}.build(key.typ, key.wire)
	}
}

// A decodePlanner builds the plans for decoding.
type decodePlanner struct{ *planner[decodeFunc] }

// build returns the function that decodes a t. It depends on the methods of t, on whether
// t is a type of this package, or on its kind, in this order. wire is the type= of the
// field's tag, or 0. A value of another type is decoded, too, but takes longer.
func (b decodePlanner) build(t reflect.Type, wire gdwire.Type) (decodeFunc, error) {
	if t.Kind() == reflect.Pointer {
		return b.pointer(t, wire)
	}
	if t.Kind() != reflect.Interface {
		p := reflect.PointerTo(t)
		switch own := ownTypes[t]; {
		case p.Implements(unmarshalerType):
			return reflected(t, decodeUnmarshaler), nil
		case own != nil:
			return own.decode, nil
		case p.Implements(textUnmarshalerType):
			return b.text(t), nil
		}
	}
	return b.kind(t, wire)
}

// kind is build for a type without methods that is not a type of this package.
func (b decodePlanner) kind(t reflect.Type, wire gdwire.Type) (decodeFunc, error) {
	switch t.Kind() {
	case reflect.Bool:
		return scalar(t, (*gdwire.Decoder).ReadBool), nil
	case reflect.Int:
		if t.Size() == 8 {
			return scalar(t, readInt), nil
		}
		return scalar(t, gdwire.ReadInteger[int]), nil
	case reflect.Int8:
		return scalar(t, gdwire.ReadInteger[int8]), nil
	case reflect.Int16:
		return scalar(t, gdwire.ReadInteger[int16]), nil
	case reflect.Int32:
		return scalar(t, gdwire.ReadInteger[int32]), nil
	case reflect.Int64:
		return scalar(t, (*gdwire.Decoder).ReadInt), nil
	case reflect.Uint:
		return scalar(t, gdwire.ReadInteger[uint]), nil
	case reflect.Uint8:
		return scalar(t, gdwire.ReadInteger[uint8]), nil
	case reflect.Uint16:
		return scalar(t, gdwire.ReadInteger[uint16]), nil
	case reflect.Uint32:
		return scalar(t, gdwire.ReadInteger[uint32]), nil
	case reflect.Uint64:
		return scalar(t, gdwire.ReadInteger[uint64]), nil
	case reflect.Uintptr:
		return scalar(t, gdwire.ReadInteger[uintptr]), nil
	case reflect.Float32:
		return scalar(t, (*gdwire.Decoder).ReadFloat32), nil
	case reflect.Float64:
		return scalar(t, (*gdwire.Decoder).ReadFloat), nil
	case reflect.String:
		if wire == gdwire.TypeNodePath {
			return decodeNodePath(t), nil
		}
		return decodeString(t), nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return reflected(t, decodeAny), nil
		}
		return reflected(t, decodeInterface), nil
	case reflect.Slice:
		return b.slice(t)
	case reflect.Array:
		return b.array(t, wire)
	case reflect.Map:
		return b.dict(t)
	case reflect.Struct:
		return b.record(t)
	}
	return nil, fmt.Errorf("%v has no Variant type", t)
}

// scalar is build for a bool or number, from the typed read for its kind. It captures one
// variable, and its caller must not inline it, because the compiler inlines no calls in the
// closures of inlined functions: both are -2 % of Unmarshal into structs.
//
//go:noinline
func scalar[T any](t reflect.Type, read func(*gdwire.Decoder) (T, error)) decodeFunc {
	c := &scalarDecoder[T]{t, read}
	return func(s *decoder, x variable) error {
		if s.careful && s.tookNil(valueOf(x, c.typ)) {
			return nil
		}
		v, err := c.read(s.d)
		if err != nil {
			return s.mistyped(valueOf(x, c.typ), err)
		}
		set(x, v)
		return nil
	}
}

// A scalarDecoder is what scalar captures.
type scalarDecoder[T any] struct {
	typ  reflect.Type
	read func(*gdwire.Decoder) (T, error)
}

// readInt is ReadInt for an int of 64 bits.
func readInt(d *gdwire.Decoder) (int, error) {
	x, err := d.ReadInt()
	return int(x), err
}

// decodeString is build for a string. See scalar for noinline.
//
//go:noinline
func decodeString(t reflect.Type) decodeFunc {
	return func(s *decoder, x variable) error {
		text, err := s.readText(x, t)
		if err == nil {
			set(x, text)
		}
		return err
	}
}

// decodeNodePath is decodeString for a field with type=NodePath. See scalar for noinline.
//
//go:noinline
func decodeNodePath(t reflect.Type) decodeFunc {
	return func(s *decoder, x variable) error {
		text, err := s.readNodePath(x, t)
		if err == nil {
			set(x, text)
		}
		return err
	}
}

// readText reads text of any type for x, a variable of type t. For a nil it returns "".
func (s *decoder) readText(x variable, t reflect.Type) (string, error) {
	b, ok, err := s.d.ReadText()
	if !ok {
		if err != nil {
			return "", err
		}
		return s.readAnyText(x, t)
	}
	if err := s.charge(t, int64(len(b))); err != nil {
		return "", err
	}
	return s.newText(b), nil
}

// readNodePath is readText for a variable into which mostly NodePaths are read.
func (s *decoder) readNodePath(x variable, t reflect.Type) (string, error) {
	b := hook.ReadNodePath(s.d, &s.pathText)
	if b == nil {
		return s.readAnyText(x, t)
	}
	if err := s.charge(t, int64(len(b))); err != nil {
		return "", err
	}
	return s.newText(b), nil
}

// readAnyText is readText without the fast path for strings.
func (s *decoder) readAnyText(x variable, t reflect.Type) (string, error) {
	typ, err := s.d.PeekType()
	switch {
	case err != nil:
		return "", err
	case !isTextType(typ):
		return "", s.mistyped(valueOf(x, t), nil)
	}
	tok, err := s.token()
	if err != nil {
		return "", err
	}
	if typ == gdwire.TypeNodePath {
		return s.nodePathText(tok, t)
	}
	return s.text(tok, t)
}

// isTextType reports whether values of type t are text.
func isTextType(t gdwire.Type) bool {
	return t == gdwire.TypeString || t == gdwire.TypeStringName || t == gdwire.TypeNodePath
}

// text returns the text that starts with chunk t.
func (s *decoder) text(t gdwire.Token, g reflect.Type) (string, error) {
	if err := s.charge(g, t.Len()); err != nil {
		return "", err
	}
	if t.Last() {
		return s.newText(t.Bytes()), nil
	}
	b, err := s.payload(countOf(t))
	return wire.String(b), err // which is never written again
}

// payload reads the payload of the latest token, of n bytes. Its memory grows with the bytes
// received, up to n.
func (s *decoder) payload(n int) ([]byte, error) {
	r := s.d.Payload()
	var b []byte
	for {
		if len(b) == cap(b) && len(b) < n {
			b = append(make([]byte, 0, s.grow(len(b), n, 1)), b...)
		}
		if len(b) == cap(b) { // consume the End
			_, err := io.CopyN(io.Discard, r, 1)
			return b, noEOF(err)
		}
		m, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+m]
		if err != nil {
			return b, noEOF(err)
		}
	}
}

// noEOF returns nil for the io.EOF at the end of a payload.
func noEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// nodePathText returns the NodePath that starts with t as text. A name that cannot be
// read back from the text is an error.
func (s *decoder) nodePathText(t gdwire.Token, g reflect.Type) (string, error) {
	names, subnames, absolute := t.NodePath()
	// In the form of one string, the name contains the separators.
	single := names == 1 && subnames == 0 && !absolute && !s.hasNewNodePaths()
	b := s.scratch[:0]
	if absolute {
		b = append(b, '/')
	}
	for i := range names + subnames {
		if i >= names {
			b = append(b, ':')
		} else if i > 0 {
			b = append(b, '/')
		}
		name, ok, err := s.d.ReadText()
		if !ok && err == nil {
			name, err = s.longName(g)
		}
		if err != nil {
			return "", err
		}
		if err := s.charge(g, int64(len(name))); err != nil {
			return "", err
		}
		if !single && !isName(name, i >= names) {
			return "", s.fail(gdwire.TypeNodePath, g, fmt.Errorf("%w: name %s", gdwire.ErrRange, quoted(string(name))))
		}
		b = append(b, name...)
	}
	if s.scratch = b; cap(b) > maxScratch {
		s.scratch = nil
	}
	return s.newText(b), s.d.ReadEnd()
}

// longName returns the next name of a NodePath, which does not fit the read buffer.
func (s *decoder) longName(g reflect.Type) ([]byte, error) {
	chunk, err := s.d.ReadToken()
	if err != nil {
		return nil, err
	}
	if chunk.Len() > s.memory {
		return nil, s.charge(g, chunk.Len())
	}
	return s.d.AppendString(nil)
}

// hasNewNodePaths reports whether the format has no NodePaths in the form of one string.
func (s *decoder) hasNewNodePaths() bool {
	f := s.options.Format
	return f == nil || f == gdwire.Godot4 || f == gdwire.Godot3
}

// isName reports whether a name of a NodePath can be read back from the NodePath's text.
func isName(name []byte, subname bool) bool {
	for _, c := range name {
		if c == ':' || c == '/' && !subname {
			return false
		}
	}
	return len(name) > 0
}

// text is build for a TextUnmarshaler. UnmarshalText decodes text, and the kind of the
// type decides for other values.
func (b decodePlanner) text(t reflect.Type) decodeFunc {
	kind, kindErr := b.kind(t, 0)
	return func(s *decoder, x variable) error {
		typ, err := s.d.PeekType()
		switch {
		case err != nil:
			return err
		case isTextType(typ):
			return s.unmarshalText(valueOf(x, t))
		case kindErr != nil:
			return s.mistyped(valueOf(x, t), nil)
		}
		return kind(s, x)
	}
}

func (s *decoder) unmarshalText(v reflect.Value) error {
	text, err := s.readText(variableOf(v), v.Type())
	if err != nil {
		return err
	}
	if s.replace {
		v.SetZero()
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
		return s.fail(gdwire.TypeString, v.Type(), err)
	}
	return nil
}

// decodeUnmarshaler calls UnmarshalVariant and checks that it has read one value.
func decodeUnmarshaler(s *decoder, v reflect.Value) error {
	typ, err := s.d.PeekType()
	if err != nil {
		return err
	}
	before := s.position()
	if s.d.PeekKind() == gdwire.KindDictKey {
		before.index++ // the key of the next pair
	}
	if s.replace {
		v.SetZero()
	}
	if err := v.Addr().Interface().(Unmarshaler).UnmarshalVariant(s.d); err != nil {
		return s.methodError(v, typ, before, err)
	}
	if !before.isOneBefore(s.position()) {
		return s.failSince(before, typ, v.Type(), fmt.Errorf("%w: UnmarshalVariant must read exactly one value", gdwire.ErrCount))
	}
	return nil
}

// methodError returns the error for v after its method has returned err. It reads nothing,
// because the sender may have sent no more than the method has read.
func (s *decoder) methodError(v reflect.Value, typ gdwire.Type, before position, err error) error {
	last := s.d.LastError()
	if last == nil || !errors.Is(err, last) {
		return s.failSince(before, typ, v.Type(), err)
	}
	var at *gdwire.Error
	if !errors.As(last, &at) || s.d.Err() != nil || isTypeError(err) {
		return err // of the Reader or the input, or about a value in v
	}
	if err == last {
		at.Err = &TypeError{Go: v.Type(), Err: at.Err}
		return at
	}
	return &gdwire.Error{Offset: at.Offset, Path: at.Path, Err: &TypeError{Go: v.Type(), Err: err}}
}

// failSince is fail for a method that was called before a value of type t. The location is that
// of the value if the method has read all of it, or nothing; otherwise that of the latest token.
func (s *decoder) failSince(before position, t gdwire.Type, g reflect.Type, reason error) error {
	after := s.position()
	err := s.d.WrapError(nil)
	if after.offset == before.offset {
		err = s.d.ReadEnd() // an error at the value, which is not an End
	}
	var at *gdwire.Error
	if !errors.As(err, &at) {
		return err
	}
	if before.isOneBefore(after) {
		at.Offset = before.offset
	}
	at.Err = &TypeError{Type: t, Go: g, Err: reason}
	return at
}

func (s *decoder) position() position {
	p := position{offset: s.d.InputOffset(), depth: s.d.Depth()}
	p.kind, p.index, _ = s.d.StackIndex(p.depth)
	return p
}

// pointer is build for a pointer. A nil makes it nil; other values are decoded into the
// variable that it points to, or into a new one.
func (b decodePlanner) pointer(t reflect.Type, wire gdwire.Type) (decodeFunc, error) {
	if err := checkPointer(t); err != nil {
		return nil, err
	}
	elem, err := b.plan(t.Elem(), wire)
	size := int64(t.Elem().Size())
	return reflected(t, func(s *decoder, v reflect.Value) error {
		typ, err := s.d.PeekType()
		switch {
		case err != nil:
			return err
		case typ == gdwire.TypeNil:
			v.SetZero()
			return s.d.ReadNil()
		}
		if v.IsNil() || s.replace { // the program can have kept the old pointer
			if err := s.charge(t, size); err != nil {
				return err
			}
			v.Set(reflect.New(t.Elem()))
		}
		if err := s.deeper(t); err != nil {
			return err
		}
		err = elem.do(s, variableOf(v.Elem()))
		s.depth--
		return err
	}), err
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

// decodeInterface decodes into the variable that the pointer in an interface with methods
// points to. If the interface holds no pointer, its type is unknown, which is an error, also
// for used elements, which are zero first.
func decodeInterface(s *decoder, v reflect.Value) error {
	if s.replace {
		v.SetZero()
	}
	if p := v.Elem(); v.IsNil() || p.Kind() != reflect.Pointer || p.IsNil() {
		return s.mistyped(v, nil)
	}
	plan, err := decodePlans.of(v.Elem().Type())
	if err != nil {
		return err
	}
	p := reflect.New(v.Elem().Type()).Elem()
	p.Set(v.Elem())
	if err := plan.do(s, variableOf(p)); err != nil {
		return err
	}
	if p.IsNil() {
		v.SetZero()
	}
	return nil
}
