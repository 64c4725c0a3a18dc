package variant

import (
	"bufio"
	"encoding"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/wire"
)

// Unmarshal decodes data, which must be exactly one value, into the variable that v points to. For
// a value that other bytes follow, use [UnmarshalFirst]; for the content of a file with lengths,
// package savefile. The variable refers to no part of data.
//
// After an error, the variable holds the parts that were decoded before it, all of the value if the
// error is that bytes follow it. An any holds the parts of a container.
func Unmarshal(data []byte, v any, opts ...Options) error {
	s := getDecoder()
	defer s.release()
	s.resetBytes(data, optionsOf(opts))
	err := s.unmarshal(v)
	if err == nil {
		err = s.atEnd(data)
	}
	if err != nil {
		return explain(err, data)
	}
	return nil
}

// UnmarshalDecode decodes the next value of d, also inside a container, into the
// variable that v points to. It uses the options of d. At the end of the input it
// returns io.EOF.
//
// Where no value is next, it returns an error and consumes nothing: [gdwire.ErrCount] at an
// End, and [gdwire.ErrType] at the name of a property or inside a packed array. It also
// consumes nothing if the value itself is of the wrong type or out of range. After other errors,
// also after one of an element of an Array or packed array, d can be inside the value; use
// [gdwire.Decoder.SkipTo] to continue after it. UnmarshalDecode cannot be repeated after an error
// of the Reader.
func UnmarshalDecode(d *gdwire.Decoder, v any, opts ...Options) error {
	s := getDecoder() // not released if a method panics
	s.reset(d, optionsOf(opts))
	err := s.unmarshal(v)
	s.release()
	return err
}

// decoder holds the state of one call of Unmarshal or UnmarshalDecode, and what the pool keeps for
// the next call.
type decoder struct {
	d             *gdwire.Decoder
	rejectUnknown bool  // Options.RejectUnknown
	maxMemory     int64 // Options.MaxMemory
	memoryLeft    int64 // the part of maxMemory that is not charged yet
	// reused contains the memory of variables and slices that this call reads into, but for that of
	// its argument until another is added: see reusedMemory.
	reused   []memory
	argument reflect.Value // of unmarshal, or the zero Value
	// peekFirst is set after a typed read failed, usually because of a nil. From then on, the type
	// of the next value is checked before a typed read: an Error for each of a million nils takes
	// long.
	peekFirst bool
	depth     int // of Go values: pointers count, too
	recent    recent[decodeFunc]
	// Scratch memory: the components of a math type, and the text of a NodePath, on the slow
	// path and on the fast path.
	reals         [maxComponents]float64
	reals32       [maxComponents]float32
	ints          [maxComponents]int32
	scratch       []byte
	pathText      internal.NodePathText
	textBlock     *[textBlockSize]byte // the latest block of short texts
	textBlockLeft int                  // the bytes at its end that no string uses
	boxes         boxes
	keys          keyCache
	known         [maxKnownDepth]knownKeys // of Dictionaries, by depth
	rawCopier     *rawCopier               // for Raw, created for the first one

	bytesDecoder *gdwire.Decoder // for Unmarshal
	bytesOptions gdwire.DecoderOptions
}

// export contains the calls of package gdwire for this module.
var export = gdwire.Internal.Export(&internal.AllowInternalUse)

var decoderPool = sync.Pool{New: func() any { return new(decoder) }}

func getDecoder() *decoder { return decoderPool.Get().(*decoder) }

// reset makes s read from d, with the options of a call.
func (s *decoder) reset(d *gdwire.Decoder, o *Options) {
	s.d, s.peekFirst = d, false
	s.begin(o)
}

// Texts of up to maxSharedText bytes share blocks of textBlockSize bytes: see newText.
const (
	maxSharedText = 32
	textBlockSize = 128
)

// maxScratch is the maximum capacity in bytes with which scratch is kept for the next value.
const maxScratch = 1 << 12

// resetBytes makes s read from data, with a Decoder that the pool keeps.
func (s *decoder) resetBytes(data []byte, o *Options) {
	if s.bytesDecoder == nil || s.bytesOptions != o.Decoder {
		s.bytesDecoder, s.bytesOptions = gdwire.NewDecoder(nil, &o.Decoder), o.Decoder
	}
	s.bytesDecoder.ResetBytes(data)
	s.reset(s.bytesDecoder, o)
}

// begin prepares s for a top-level value, or for an element of Elements or Entries: MaxMemory
// applies to each of these.
func (s *decoder) begin(o *Options) {
	s.rejectUnknown, s.maxMemory = o.RejectUnknown, o.MaxMemory
	switch {
	case s.maxMemory == 0:
		s.maxMemory = defaultMemory
	case s.maxMemory < 0:
		s.maxMemory = math.MaxInt64
	}
	s.memoryLeft, s.reused, s.argument, s.depth = s.maxMemory, s.reused[:0], reflect.Value{}, 0
}

// release returns s to the pool.
func (s *decoder) release() {
	if s.rawCopier != nil {
		_ = s.rawCopier.e.Close()
		s.rawCopier = nil
	}
	if s.d == s.bytesDecoder && s.bytesDecoder != nil {
		s.bytesDecoder.Release()
	}
	s.d, s.argument = nil, reflect.Value{}
	decoderPool.Put(s)
}

// unmarshal reads the next value into the variable that v points to.
func (s *decoder) unmarshal(v any) error {
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
		if err == nil || holdsPart(x) {
			*v = x
		}
		return err
	}
	x := p.Elem()
	plan, err := s.recent.of(&decodePlans, x.Type())
	if err != nil {
		return err
	}
	s.argument = x
	return plan.do(s, variableOf(x))
}

// charge subtracts n bytes from the memory that is left. It returns an error if there is
// not enough.
func (s *decoder) charge(t reflect.Type, n int64) error {
	if n > s.memoryLeft {
		return s.memoryError(t, n)
	}
	s.memoryLeft -= n
	return nil
}

// memoryError returns the error for a value that needs n bytes more than are left. It is not in
// charge, so that the compiler inlines charge.
func (s *decoder) memoryError(t reflect.Type, n int64) error {
	got := s.maxMemory - s.memoryLeft
	if got += n; got < 0 {
		got = math.MaxInt64
	}
	return s.fail(0, t, &gdwire.LimitError{Name: "MaxMemory", Got: got, Max: s.maxMemory})
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

// nilOrTypeError handles a value whose type v cannot hold. If the next value is nil, it reads
// it, makes v zero, and returns nil. Otherwise it consumes nothing and returns an Error with a
// TypeError. cause is the error of a typed read, or nil if none was tried; errors of the Reader
// and of the input are returned as they are.
func (s *decoder) nilOrTypeError(v reflect.Value, cause error) error {
	s.peekFirst = true
	var at *gdwire.Error
	if cause != nil && (!errors.As(cause, &at) || s.d.Err() != nil) {
		return cause // of the Reader or the input
	}
	reason := gdwire.ErrType
	if errors.Is(cause, gdwire.ErrRange) {
		reason = at.Err
	}
	switch cause = s.d.ReadNil(); { // its error contains the offset and path of the value
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

// A reason is an error with a text of its own. It wraps err without showing its text.
type reason struct {
	err  error
	text string
}

func (r *reason) Error() string { return r.text }

// Unwrap returns the error that r wraps.
func (r *reason) Unwrap() error { return r.err }

// decodeNil reads a nil into v, which becomes zero. If the next value is not nil, it reads
// nothing and returns false. It is only called if s.peekFirst is set.
func (s *decoder) decodeNil(v reflect.Value) bool {
	if s.d.PeekKind() != gdwire.KindNil || s.d.ReadNil() != nil {
		return false
	}
	v.SetZero()
	return true
}

// enter increments the depth for the content of a t. It returns an error if the depth exceeds
// maxDepth.
func (s *decoder) enter(t reflect.Type) error {
	if s.depth++; s.depth > maxDepth {
		return s.depthError(t)
	}
	return nil
}

// depthError returns the error for a t that is nested too deeply.
func (s *decoder) depthError(t reflect.Type) error { return s.fail(0, t, depthError()) }

// leave decrements the depth after the content of a container, and reads the End.
func (s *decoder) leave() error {
	s.depth--
	return s.d.ReadEnd()
}

// A decodeFunc reads the next value into x, a variable of the plan's type.
type decodeFunc func(s *decoder, x variable) error

// reflected returns a decodeFunc or encodeFunc that calls do with the variable, of type t, as a
// reflect.Value.
func reflected[S any](t reflect.Type, do func(s S, v reflect.Value) error) func(S, variable) error {
	return func(s S, x variable) error { return do(s, valueOf(x, t)) }
}

var decodePlans plans[decodeFunc]

func init() {
	decodePlans.build = func(r *planner[decodeFunc], key planKey) (decodeFunc, error) {
		return decodePlanner{r}.makeDecoder(key.typ, key.wire)
	}
}

// A decodePlanner builds the plans for decoding.
type decodePlanner struct{ *planner[decodeFunc] }

// makeDecoder returns the function that decodes a t. It depends on the methods of t, on whether
// t is a type of this package, or on its kind, in this order. wire is the type= of the
// field's tag, or 0. Values of other types that a t can hold are decoded, too, but can take
// longer.
func (b decodePlanner) makeDecoder(t reflect.Type, wire gdwire.Type) (decodeFunc, error) {
	if t.Kind() == reflect.Pointer {
		return b.makePointerDecoder(t, wire)
	}
	if t.Kind() != reflect.Interface {
		p := reflect.PointerTo(t)
		switch own := ownTypes[t]; {
		case p.Implements(unmarshalerType):
			return reflected(t, decodeUnmarshaler), nil
		case own != nil:
			return own.decode, nil
		case p.Implements(textUnmarshalerType):
			return b.makeTextUnmarshalerDecoder(t), nil
		}
	}
	return b.makeDefaultDecoder(t, wire)
}

// makeDefaultDecoder returns the function that decodes a t by its kind, regardless of methods.
func (b decodePlanner) makeDefaultDecoder(t reflect.Type, wire gdwire.Type) (decodeFunc, error) {
	switch t.Kind() {
	case reflect.Bool:
		return makeScalarDecoder(t, (*gdwire.Decoder).ReadBool), nil
	case reflect.Int:
		if t.Size() == 8 {
			return makeScalarDecoder(t, readInt), nil
		}
		return makeScalarDecoder(t, gdwire.ReadInteger[int]), nil
	case reflect.Int8:
		return makeScalarDecoder(t, gdwire.ReadInteger[int8]), nil
	case reflect.Int16:
		return makeScalarDecoder(t, gdwire.ReadInteger[int16]), nil
	case reflect.Int32:
		return makeScalarDecoder(t, gdwire.ReadInteger[int32]), nil
	case reflect.Int64:
		return makeScalarDecoder(t, (*gdwire.Decoder).ReadInt), nil
	case reflect.Uint:
		return makeScalarDecoder(t, gdwire.ReadInteger[uint]), nil
	case reflect.Uint8:
		return makeScalarDecoder(t, gdwire.ReadInteger[uint8]), nil
	case reflect.Uint16:
		return makeScalarDecoder(t, gdwire.ReadInteger[uint16]), nil
	case reflect.Uint32:
		return makeScalarDecoder(t, gdwire.ReadInteger[uint32]), nil
	case reflect.Uint64:
		return makeScalarDecoder(t, gdwire.ReadInteger[uint64]), nil
	case reflect.Uintptr:
		return makeScalarDecoder(t, gdwire.ReadInteger[uintptr]), nil
	case reflect.Float32:
		return makeScalarDecoder(t, (*gdwire.Decoder).ReadFloat32), nil
	case reflect.Float64:
		return makeScalarDecoder(t, (*gdwire.Decoder).ReadFloat), nil
	case reflect.String:
		if wire == gdwire.TypeNodePath {
			return makeNodePathDecoder(t), nil
		}
		return makeStringDecoder(t), nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return decodeAny, nil
		}
		return reflected(t, decodeInterface), nil
	case reflect.Slice:
		return b.makeSliceDecoder(t)
	case reflect.Array:
		return b.makeArrayDecoder(t, wire)
	case reflect.Map:
		return b.makeMapDecoder(t)
	case reflect.Struct:
		return b.makeStructDecoder(t)
	}
	return nil, fmt.Errorf("%v has no Variant type", t)
}

// makeScalarDecoder returns the function that decodes a t, a bool or number, with read. The
// function captures a single variable, and makeScalarDecoder must not be inlined, because the
// compiler inlines no calls in the closures of inlined functions: both are -2 % of Unmarshal
// into structs.
//
//go:noinline
func makeScalarDecoder[T any](t reflect.Type, read func(*gdwire.Decoder) (T, error)) decodeFunc {
	c := &scalarDecoder[T]{t, read}
	return func(s *decoder, x variable) error {
		if s.peekFirst && s.decodeNil(valueOf(x, c.typ)) {
			return nil
		}
		v, err := c.read(s.d)
		if err != nil {
			return s.nilOrTypeError(valueOf(x, c.typ), err)
		}
		set(x, v)
		return nil
	}
}

// A scalarDecoder holds what the function of makeScalarDecoder needs.
type scalarDecoder[T any] struct {
	typ  reflect.Type
	read func(*gdwire.Decoder) (T, error)
}

// readInt reads an int on machines whose ints have 64 bits and hold every int64.
func readInt(d *gdwire.Decoder) (int, error) {
	x, err := d.ReadInt()
	return int(x), err
}

// makeStringDecoder returns the function that decodes a t, a string kind, from text. See
// makeScalarDecoder for noinline.
//
//go:noinline
func makeStringDecoder(t reflect.Type) decodeFunc {
	return func(s *decoder, x variable) error {
		text, err := s.readText(x, t)
		if err == nil {
			set(x, text)
		}
		return err
	}
}

// makeNodePathDecoder returns the function that decodes a t, a string kind with type=NodePath,
// from text. It expects a NodePath. See makeScalarDecoder for noinline.
//
//go:noinline
func makeNodePathDecoder(t reflect.Type) decodeFunc {
	return func(s *decoder, x variable) error {
		text, err := s.readNodePath(x, t)
		if err == nil {
			set(x, text)
		}
		return err
	}
}

// readText reads text of any type for x, a variable of type t, and returns it. It first tries
// the fast path for strings. A nil makes x zero, and readText returns "".
func (s *decoder) readText(x variable, t reflect.Type) (string, error) {
	b, ok, err := export.ReadText(s.d)
	if !ok {
		if err != nil && err != bufio.ErrBufferFull {
			return "", err
		}
		return s.readAnyText(x, t)
	}
	if err := s.charge(t, int64(len(b))); err != nil {
		return "", err
	}
	return s.newText(b), nil
}

// readNodePath reads text like readText, but first tries the fast path for NodePaths.
func (s *decoder) readNodePath(x variable, t reflect.Type) (string, error) {
	b := export.ReadNodePath(s.d, &s.pathText)
	if b == nil {
		return s.readAnyText(x, t)
	}
	if err := s.charge(t, int64(len(b))); err != nil {
		return "", err
	}
	return s.newText(b), nil
}

// readAnyText reads text like readText, without a fast path.
func (s *decoder) readAnyText(x variable, t reflect.Type) (string, error) {
	typ, err := s.d.PeekType()
	switch {
	case err != nil:
		return "", err
	case !isTextType(typ):
		return "", s.nilOrTypeError(valueOf(x, t), nil)
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
	return wire.String(b), err // no copy: b is not written again
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
			return b, ignoreEOF(err)
		}
		m, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+m]
		if err != nil {
			return b, ignoreEOF(err)
		}
	}
}

// ignoreEOF returns nil for the io.EOF at the end of a payload.
func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// nodePathText returns the NodePath that starts with t as text. A name that cannot be
// read back from the text is an error.
func (s *decoder) nodePathText(t gdwire.Token, g reflect.Type) (string, error) {
	names, subnames, absolute := t.NodePath()
	single := s.isSingleName(t)
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
		name, _, err := export.ReadText(s.d)
		if err == bufio.ErrBufferFull {
			name, err = s.longText(g)
		}
		if err != nil {
			return "", err
		}
		if err := s.charge(g, int64(len(name))); err != nil {
			return "", err
		}
		if !single && !isName(name, i >= names) {
			return "", s.fail(gdwire.TypeNodePath, g, nameError(name))
		}
		b = append(b, name...)
	}
	if s.scratch = b; cap(b) > maxScratch {
		s.scratch = nil
	}
	return s.newText(b), s.d.ReadEnd()
}

// longText returns the next key of a struct or name of a NodePath, which is longer than a chunk, for a
// variable of type g.
func (s *decoder) longText(g reflect.Type) ([]byte, error) {
	chunk, err := s.d.ReadToken()
	if err != nil {
		return nil, err
	}
	if chunk.Len() > s.memoryLeft {
		return nil, s.charge(g, chunk.Len())
	}
	return s.d.AppendString(nil)
}

// isSingleName reports whether the NodePath that starts with t can have the form of one string, in
// formats that allow it. It is then a single name, which can contain separators.
func (s *decoder) isSingleName(t gdwire.Token) bool {
	names, subnames, absolute := t.NodePath()
	f := s.d.Options().Format
	return names == 1 && subnames == 0 && !absolute && f != 0 && f != gdwire.Godot4 && f != gdwire.Godot3
}

// nameError returns the error for a name of a NodePath that cannot be read back from its text.
func nameError(name []byte) error {
	return fmt.Errorf("%w: name %s", gdwire.ErrRange, quoted(string(name)))
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

// makeTextUnmarshalerDecoder returns the function that decodes a t, a TextUnmarshaler.
// UnmarshalText decodes text; other values are decoded by the kind of t.
func (b decodePlanner) makeTextUnmarshalerDecoder(t reflect.Type) decodeFunc {
	kind, kindErr := b.try(func() (decodeFunc, error) { return b.makeDefaultDecoder(t, 0) })
	return func(s *decoder, x variable) error {
		typ, err := s.d.PeekType()
		switch {
		case err != nil:
			return err
		case isTextType(typ):
			return s.unmarshalText(valueOf(x, t))
		case kindErr != nil:
			return s.nilOrTypeError(valueOf(x, t), nil)
		}
		return kind(s, x)
	}
}

// unmarshalText reads text and calls the UnmarshalText of v.
func (s *decoder) unmarshalText(v reflect.Value) error {
	text, err := s.readText(variableOf(v), v.Type())
	if err != nil {
		return err
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
		return s.fail(gdwire.TypeString, v.Type(), err)
	}
	return nil
}

// decodeUnmarshaler calls the UnmarshalVariant of v and checks that it read exactly one value.
func decodeUnmarshaler(s *decoder, v reflect.Value) error {
	typ, err := s.d.PeekType()
	if err != nil {
		return err
	}
	before := s.position()
	if s.d.PeekKind() == gdwire.KindDictKey {
		before.index++ // the key of the next pair
	}
	if err := v.Addr().Interface().(Unmarshaler).UnmarshalVariant(s.d); err != nil {
		return s.methodError(v, typ, before, err)
	}
	if !before.isOneValueBefore(s.position()) {
		return s.failMethod(before, typ, v.Type(), fmt.Errorf("%w: UnmarshalVariant must read exactly one value", gdwire.ErrCount))
	}
	return nil
}

// methodError returns the error for v after its method returned err. It reads nothing, because the
// sender may have sent no more than the method read.
func (s *decoder) methodError(v reflect.Value, typ gdwire.Type, before position, err error) error {
	last := export.LastError(s.d)
	if last == nil || !errors.Is(err, last) {
		return s.failMethod(before, typ, v.Type(), err)
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

// failMethod returns an Error with a TypeError for a method that was called when a value of type
// t was next, at the position before. If the method read exactly one value, or nothing, the error
// is at the value; otherwise it is at the latest token.
func (s *decoder) failMethod(before position, t gdwire.Type, g reflect.Type, reason error) error {
	after := s.position()
	err := s.d.WrapError(nil)
	if after.offset == before.offset {
		err = s.d.ReadEnd() // an error at the value, which is not an End
	}
	var at *gdwire.Error
	if !errors.As(err, &at) {
		return err
	}
	if before.isOneValueBefore(after) {
		at.Offset = before.offset
	}
	at.Err = &TypeError{Type: t, Go: g, Err: reason}
	return at
}

// position returns the position of s.d.
func (s *decoder) position() position {
	p := position{offset: s.d.InputOffset(), depth: s.d.Depth()}
	p.kind, p.index, _ = s.d.StackIndex(p.depth)
	return p
}

// makePointerDecoder returns the function that decodes a t, a pointer. A nil makes the pointer
// nil. Other values are decoded into the variable that it points to, or into a new variable if
// it is nil.
func (b decodePlanner) makePointerDecoder(t reflect.Type, wire gdwire.Type) (decodeFunc, error) {
	if err := checkPointer(t); err != nil {
		return nil, err
	}
	elem, err := b.plan(t.Elem(), wire)
	size, counts := int64(t.Elem().Size()), pointerCounts(t)
	return reflected(t, func(s *decoder, v reflect.Value) error {
		typ, err := s.d.PeekType()
		switch {
		case err != nil:
			return err
		case typ == gdwire.TypeNil:
			v.SetZero()
			return s.d.ReadNil()
		}
		if !v.IsNil() {
			s.follow(v, t.Elem().Size())
		}
		if v.IsNil() {
			if err := s.charge(t, size); err != nil {
				return err
			}
			v.Set(reflect.New(t.Elem()))
		}
		if !counts {
			return elem.do(s, variableOf(v.Elem()))
		}
		if err := s.enter(t); err != nil {
			return err
		}
		err = elem.do(s, variableOf(v.Elem()))
		s.depth--
		return err
	}), err
}

// decodeAny reads the next value into x, an empty interface.
func decodeAny(s *decoder, x variable) error {
	v, err := s.any()
	if err == nil || holdsPart(v) {
		*pointer[any](x) = v
	}
	return err
}

// decodeInterface decodes into the variable that the pointer in an interface with methods
// points to. If the interface holds no pointer, the type to decode into is unknown, which is an
// error. Elements, which are made zero first, hold none.
func decodeInterface(s *decoder, v reflect.Value) error {
	if p := v.Elem(); v.IsNil() || p.Kind() != reflect.Pointer || p.IsNil() {
		return s.nilOrTypeError(v, nil)
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
