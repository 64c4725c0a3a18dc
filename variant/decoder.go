package variant

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// The machine that decodes, and texts.

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
	guessed   uint // the number of names found by structDecoder.find without a guess
	depth     int  // of Go values: pointers count, too
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
	pairs     []*decodedPair           // for each type of maps, variables not in use, or nil
	filter    *keyFilter               // see takeFilter

	bytesDecoder *gdwire.Decoder // for Unmarshal
	bytesOptions gdwire.DecoderOptions
}

// A decodedPair holds the variables for a key and a value of a map.
type decodedPair struct {
	in             reflect.Value // the map, while pairs are read
	key, value     reflect.Value
	keyAt, valueAt variable // key and value
}

// A keyFilter finds most of the keys that a map does not contain, without a lookup: -20 % of a map of 1,000.
type keyFilter [128]uint64

// A keyFilter is used for no fewer keys, which are in one group of a map, and for no more: then 40 % need a lookup.
const (
	leastFiltered = 9
	mostFiltered  = 4096
)

// takeFilter returns a keyFilter for n keys of a map, or nil. The caller puts it back, unless decoding fails.
func (s *decoder) takeFilter(n int) (f *keyFilter) {
	if n < leastFiltered || n > mostFiltered {
		return nil
	}
	if f, s.filter = s.filter, nil; f == nil {
		return new(keyFilter)
	}
	*f = keyFilter{}
	return f
}

func (s *decoder) putFilter(f *keyFilter) {
	if f != nil {
		s.filter = f
	}
}

// add adds a key, and reports whether f may have contained the key.
func (f *keyFilter) add(key string) bool {
	var hash uint64 // of the first and last bytes, which differ in most keys
	if n := len(key); n >= 8 {
		hash = binary.LittleEndian.Uint64([]byte(key)) ^ bits.RotateLeft64(binary.LittleEndian.Uint64([]byte(key[n-8:])), 29) + uint64(n)
	} else {
		hash = wordOf(key) + uint64(n)
	}
	hash *= 0x9e3779b97f4a7c15 // the golden ratio
	word, bit := &f[hash>>57], uint64(1)<<(hash>>51&63)
	had := *word&bit != 0
	*word |= bit
	return had
}

// wordOf returns the first eight bytes of a text, or a shorter text with zeros after it. Texts with
// different words are in the order of the words.
func wordOf(text string) (word uint64) {
	if len(text) >= 8 {
		return uint64(text[7]) | uint64(text[6])<<8 | uint64(text[5])<<16 | uint64(text[4])<<24 |
			uint64(text[3])<<32 | uint64(text[2])<<40 | uint64(text[1])<<48 | uint64(text[0])<<56
	}
	switch n := len(text); {
	case n >= 4: // four bytes, and the last four without those in the first four
		first := uint32(text[3]) | uint32(text[2])<<8 | uint32(text[1])<<16 | uint32(text[0])<<24
		last := uint32(text[n-1]) | uint32(text[n-2])<<8 | uint32(text[n-3])<<16 | uint32(text[n-4])<<24
		return uint64(first)<<32 | uint64(last<<(8*uint(8-n)))
	case n > 0: // the first, the middle and the last byte, some of them the same
		return uint64(text[0])<<56 | uint64(text[n/2])<<(56-8*uint(n/2)) | uint64(text[n-1])<<(56-8*uint(n-1))
	}
	return 0
}

// A decodeFunc reads the next value into x, a variable of the plan's type.
type decodeFunc func(s *decoder, x variable) error

var decodePlans plans[decodeFunc]

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

	dictionarySize = 112 // of a Dictionary without its entries
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

// failLength returns the error for a value of length n, more than the maximum in the tag.
func (s *decoder) failLength(t gdwire.Type, g reflect.Type, n, most int) error {
	return s.fail(t, g, fmt.Errorf("%w: length %d, more than max=%d", gdwire.ErrRange, n, most))
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

// makeScalarDecoder returns the function decoding a t, a bool or number, with read. The function
// captures a single variable, and makeScalarDecoder must not be inlined, because the compiler
// inlines no calls in the closures of inlined functions: both are -2 % of Unmarshal into structs.
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

// A scalarDecoder holds the variables of the function of makeScalarDecoder.
type scalarDecoder[T any] struct {
	typ  reflect.Type
	read func(*gdwire.Decoder) (T, error)
}

// readInt reads an int on machines whose ints have 64 bits and hold every int64.
func readInt(d *gdwire.Decoder) (int, error) {
	x, err := d.ReadInt()
	return int(x), err
}

// makeStringDecoder returns the function decoding a t, a string kind, from text. See
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

// makeNodePathDecoder returns the function decoding a t, a string kind with type=NodePath, from
// text, and trying a NodePath first. See makeScalarDecoder for noinline.
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

// makeLimitedTextDecoder returns the function decoding a t, a string kind, from a text of at most this many bytes. Of a longer one, no more
// than a chunk is read.
func makeLimitedTextDecoder(t reflect.Type, most int) decodeFunc {
	return func(s *decoder, x variable) error {
		text, err := s.readAnyText(x, t, most)
		if err == nil {
			set(x, text)
		}
		return err
	}
}

// readText returns the next text, of any type, for x, a variable of type t, and tries the fast
// path for strings first. A nil makes x zero, and readText returns "".
func (s *decoder) readText(x variable, t reflect.Type) (string, error) {
	b, ok, err := export.ReadText(s.d)
	if !ok {
		if err != nil && err != bufio.ErrBufferFull {
			return "", err
		}
		return s.readAnyText(x, t, 0)
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
		return s.readAnyText(x, t, 0)
	}
	if err := s.charge(t, int64(len(b))); err != nil {
		return "", err
	}
	return s.newText(b), nil
}

// readAnyText reads text like readText, without a fast path. A text of more than most bytes, unless that is 0, is an error.
func (s *decoder) readAnyText(x variable, t reflect.Type, most int) (text string, err error) {
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
	n := countOf(tok)
	switch {
	case typ == gdwire.TypeNodePath: // whose length is that of all names
		text, err = s.nodePathText(tok, t)
		n = len(text)
	case most == 0 || n <= most:
		text, err = s.text(tok, t)
	}
	if err == nil && most > 0 && n > most {
		err = s.failLength(typ, t, n, most)
	}
	return text, err
}

// isTextType reports whether values of type t are text.
func isTextType(t gdwire.Type) bool {
	return t == gdwire.TypeString || t == gdwire.TypeStringName || t == gdwire.TypeNodePath
}

// text returns the text starting with chunk t.
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

// longText returns the next key of a struct or name of a NodePath, longer than a chunk, for a variable of type g.
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

// maxScratch is the maximum capacity in bytes of a scratch kept for the next value.
const maxScratch = 1 << 12

// nodePathText returns the NodePath starting with t as text. A name that cannot be read back
// from the text is an error.
func (s *decoder) nodePathText(t gdwire.Token, g reflect.Type) (string, error) {
	names, n := namesOf(t)
	b := append(s.scratch[:0], names.Start()...)
	for range n {
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
		separator, err := names.Next(name, true)
		if err != nil {
			return "", s.fail(gdwire.TypeNodePath, g, nameError(name))
		}
		if separator != 0 {
			b = append(b, separator)
		}
		b = append(b, name...)
	}
	if s.scratch = b; cap(b) > maxScratch {
		s.scratch = nil
	}
	return s.newText(b), s.d.ReadEnd()
}

// namesOf returns the names of the NodePath starting with t, and their number.
func namesOf(t gdwire.Token) (names wire.NodePathNames, n int64) {
	n, subnames, absolute := t.NodePath()
	return wire.NamesOf(n, absolute, export.IsOneString(t)), n + subnames
}

// nameError returns the error for a name of a NodePath that cannot be read back from its text.
func nameError(name []byte) error {
	return fmt.Errorf("%w: name %s", gdwire.ErrRange, quoted(string(name)))
}
