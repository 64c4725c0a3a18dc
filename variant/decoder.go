package variant

import (
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
)

// decoder holds the state of one call of Unmarshal or UnmarshalDecode, and the parts kept by the
// pool for the next call.
type decoder struct {
	d             *gdwire.Decoder
	rejectUnknown bool  // Options.RejectUnknown
	maxMemory     int64 // Options.MaxMemory
	memoryLeft    int64 // the part of maxMemory not charged yet
	// reused contains the memory of the variables and slices filled by this call. The memory of the
	// argument is added only when another is: see reusedMemory.
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
	reals    [maxComponents]float64
	reals32  [maxComponents]float32
	ints     [maxComponents]int32
	scratch  []byte
	pathText internal.NodePathText
	textBlocks
	boxes     boxes
	keys      keyCache
	known     [maxKnownDepth]knownKeys // of Dictionaries, by depth
	rawCopier *rawCopier               // for Raw, created for the first one
	values    [textMapSlots]any        // for each textMapOf[T], nil or a zero *mapValue[T] not in use

	bytesDecoder *gdwire.Decoder // for Unmarshal
	bytesOptions gdwire.DecoderOptions
}

// textMapSlots is the number of textMaps.
const textMapSlots = 8

// A decodeFunc reads the next value into x, a variable of the plan's type.
type decodeFunc func(s *decoder, x variable) error

var decodePlans plans[decodeFunc]

// ownDecoders contains the functions for decoding the types of this package, listed in coders.go.
var ownDecoders = map[reflect.Type]decodeFunc{}

// A decodePlanner builds the plans for decoding.
type decodePlanner struct{ *planner[decodeFunc] }

var decoderPool = sync.Pool{New: func() any { return new(decoder) }}

func getDecoder() *decoder { return decoderPool.Get().(*decoder) }

// reset makes s read from d, with the options of a call.
func (s *decoder) reset(d *gdwire.Decoder, o *Options) {
	s.d, s.peekFirst = d, false
	s.begin(o)
}

// resetBytes makes s read from data, with a Decoder kept by the pool.
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

// Memory charged for values in an interface, in addition to the data they point to.
const (
	boxSize   = 16 // of an interface, and of the number or string header inside
	entrySize = 32 // of a Dictionary's entry
	indexSize = 64 // of a key in the index
)

// charge subtracts n bytes from the memory left, or returns an error if there is not enough.
func (s *decoder) charge(t reflect.Type, n int64) error {
	if n > s.memoryLeft {
		return s.memoryError(t, n)
	}
	s.memoryLeft -= n
	return nil
}

// allocatedOf returns the number of bytes that Go allocates for a variable of type t.
func allocatedOf(t reflect.Type) int64 { return allocated(int64(t.Size()), hasPointers(t)) }

// allocated returns the number of bytes that Go allocates for size bytes: the next size class or, for large
// memory, whole pages. Memory with pointers can have a header.
func allocated(size int64, pointers bool) int64 {
	const leastWithHeader, header, largest, page = 513, 8, 32<<10 - 8, 8 << 10
	if pointers && size >= leastWithHeader {
		size += header
	}
	if size > largest {
		return (size + page - 1) / page * page
	}
	return int64(cap(slices.Grow([]byte(nil), int(size))))
}

// hasPointers reports whether a t contains pointers.
func hasPointers(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k == reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return k < reflect.Bool || k > reflect.Complex128
	}
}

// memoryError returns the error for a value of n bytes, more than are left. It is a function of
// its own so that the compiler inlines charge.
func (s *decoder) memoryError(t reflect.Type, n int64) error {
	got := s.maxMemory - s.memoryLeft
	if got += n; got < 0 {
		got = math.MaxInt64
	}
	return s.fail(0, t, &gdwire.LimitError{Name: "MaxMemory", Got: got, Max: s.maxMemory})
}

// grow returns the next capacity of a slice with have of n elements of size bytes: at least
// twice as many, and never more than n. The first capacity follows the number of buffered
// bytes, so that memory grows with the bytes received.
func (s *decoder) grow(have, n int, size int64) int {
	arrived := int(min(int64(len(s.d.UnreadBuffer()))/max(size, 1), 1<<30))
	return have + min(n-have, max(have, 16-have, arrived-have)) // no sum exceeds n, so none overflows
}

// countOf returns the number of elements declared by t, at most the largest int: no slice can hold more.
func countOf(t gdwire.Token) int { return int(min(t.Len(), math.MaxInt)) }

// memory is the memory of a variable, or of a slice up to its capacity, by the addresses of start and end.
type memory struct {
	start, end uintptr
	slice      bool
}

// memoryAt returns the memory of size bytes referred to by v, a slice or pointer.
func memoryAt(v reflect.Value, size uintptr) memory {
	start := v.Pointer()
	return memory{start, start + size, v.Kind() == reflect.Slice}
}

func (m memory) overlaps(other memory) bool { return m.start < other.end && other.start < m.end }

// maxReused is the maximum number of variables and slices filled by one call in old memory.
// Further slices are allocated.
const maxReused = 16

// reusedMemory returns the memory of the variables and slices filled by this call. Most calls never
// need the memory of the argument.
func (s *decoder) reusedMemory() []memory {
	if s.argument.IsValid() {
		s.reused = append(s.reused, memoryAt(s.argument.Addr(), s.argument.Type().Size()))
		s.argument = reflect.Value{}
	}
	return s.reused
}

// follow makes v, a pointer to a variable of size bytes, nil if the variable overlaps the memory of a slice
// filled by this call. Otherwise the call reads into the variable, also if another pointer leads there.
func (s *decoder) follow(v reflect.Value, size uintptr) {
	m := memoryAt(v, size)
	if slices.ContainsFunc(s.reusedMemory(), func(other memory) bool { return other.slice && m.overlaps(other) }) {
		v.SetZero()
		return
	}
	if len(s.reused) < maxReused {
		s.reused = append(s.reused, m)
	}
}

// fail returns an Error with a TypeError for the value started by the latest token.
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

// nilOrTypeError reads a nil and makes v zero. For another value, of a type that does not fit v, it
// consumes nothing and returns an Error with a TypeError. cause is the error of a typed read, or
// nil if none was tried; errors of the Reader and of the input are returned as they are.
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
	switch cause = s.d.ReadNil(); { // this error contains the offset and path of the value
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

// decodeNil reads a nil and makes v zero, or reads nothing and returns false if another value
// is next. It is called only if s.peekFirst is set.
func (s *decoder) decodeNil(v reflect.Value) bool {
	if s.d.PeekKind() != gdwire.KindNil || s.d.ReadNil() != nil {
		return false
	}
	v.SetZero()
	return true
}

// enter increments the depth for the content of a t, and returns an error if the depth exceeds maxDepth.
func (s *decoder) enter(t reflect.Type) error {
	if s.depth++; s.depth > maxDepth {
		return s.depthError(t)
	}
	return nil
}

// depthError returns the error for a t nested too deeply.
func (s *decoder) depthError(t reflect.Type) error { return s.fail(0, t, depthError()) }

// leave decrements the depth after the content of a container, and reads the End.
func (s *decoder) leave() error {
	s.depth--
	return s.d.ReadEnd()
}

// payload reads the payload of the latest token, of n bytes, into memory that grows with the
// bytes received.
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

// A rawCopier, the Writer of its own Encoder, copies encoded values into the Data of a Raw.
type rawCopier struct {
	s *decoder
	e *gdwire.Encoder
	b []byte
}

// Write appends p to c.b, or returns an error if the memory for it exceeds Options.MaxMemory.
func (c *rawCopier) Write(p []byte) (int, error) {
	if need := len(c.b) + len(p); need > cap(c.b) {
		grown := max(need, 2*cap(c.b))
		if err := c.s.charge(reflect.TypeFor[Raw](), int64(grown-cap(c.b))); err != nil {
			return 0, err
		}
		c.b = append(make([]byte, 0, grown), c.b...)
	}
	c.b = append(c.b, p...)
	return len(p), nil
}
