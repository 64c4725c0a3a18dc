package gdwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

// errOf returns the error of a call that returns a value, too.
func errOf[V any](_ V, err error) error { return err }

// bytesOf returns its parts in wire order: an int as a u32, a string as its length,
// text and padding; other numbers and bytes as they are.
func bytesOf(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = le.AppendUint32(b, uint32(p))
		case uint32:
			b = le.AppendUint32(b, p)
		case uint64:
			b = le.AppendUint64(b, p)
		case float32:
			b = le.AppendUint32(b, math.Float32bits(p))
		case float64:
			b = le.AppendUint64(b, math.Float64bits(p))
		case string:
			b = le.AppendUint32(b, uint32(len(p)))
			b = append(b, p...)
			b = append(b, wire.Zeros(wire.Padding(uint32(len(p))))...)
		case []byte:
			b = append(b, p...)
		default:
			panic(fmt.Sprintf("bytesOf: %T", p))
		}
	}
	return b
}

// Type ids and header flags of Godot 4.
const (
	idNil        = 0
	idBool       = 1
	idInt        = 2
	idFloat      = 3
	idString     = 4
	idVector2    = 5
	idVector3    = 9
	idTransform  = 18
	idProjection = 19
	idName       = 21
	idPath       = 22
	idRID        = 23
	idObject     = 24
	idCallable   = 25
	idSignal     = 26
	idDict       = 27
	idArray      = 28
	idBytes      = 29
	idInts       = 30
	idLongs      = 31
	idFloats     = 32
	idDoubles    = 33
	idStrings    = 34
	idVectors2   = 35
	idVectors3   = 36
	idColors     = 37
	idVectors4   = 38

	bit16    = 1 << 16 // of a number
	typedBy  = 1 << 16 // of an Array's elements, a Dictionary's keys; times a containerKind
	valuesBy = 1 << 18 // of a Dictionary's values
)

// newPath and shared set bit 31 of a count.
func newPath(n uint32) uint32 { return n | newNodePathBit }

func shared(n uint32) uint32 { return n | sharedBit }

func str(s string) []byte { return bytesOf(idString, s) }

func integer(v int) []byte { return bytesOf(idInt, v) }

func reals(n int) (b []byte) {
	for i := range n {
		b = append(b, bytesOf(float32(i)+0.5)...)
	}
	return b
}

// longText is longer than the smallest read buffers, with runes of every length
// wherever a chunk may end.
const (
	longText = "ascii, än, €uro, 😀 and ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀."
	text16   = "sixteenä€😀"
	text32   = text16 + text16
)

// A sample is a packet of one or more values in the encoding of an Encoder.
type sample struct {
	name   string
	format Format
	packet []byte
}

func (s sample) options(maxChunk int) *DecoderOptions {
	return &DecoderOptions{Format: s.format, MaxChunk: maxChunk, AllowObjects: true}
}

// samples have every kind of value once and are short enough to be cut at every
// byte.
var samples = []sample{
	{"scalars", Godot4, bytesOf(idNil, idBool, 1, idInt, 7, idInt|bit16, uint64(1)<<40, idFloat, float32(1.5),
		idFloat|bit16, 0.1, idRID, uint64(9), idObject|bit16, uint64(5), idCallable)},
	{"math", Godot4, bytesOf(idVector2, reals(2), idTransform, reals(12), idVector3|bit16, 1.5, 2.5, 0.1)},
	{"wide math", Godot4, bytesOf(idProjection|bit16, bytes.Repeat(bytesOf(0.1), 16))},
	{"strings", Godot4, bytesOf(idString, "", idString, "abc", idName, longText, idString, text32)},
	{"path", Godot4, bytesOf(idPath, newPath(2), 1, nodePathAbsolute, "root", text32, "pos")},
	{"object", Godot4, bytesOf(idObject, "Node", 2, "name", idString, "Ada", "a property of more than 32 bytes", idArray, 1, idNil)},
	{"signal", Godot4, bytesOf(idSignal, strings.Repeat("signal", 30), uint64(8), idNil)},
	{"array", Godot4, bytesOf(idArray, 3, idArray, 1, idArray, 0, str("x"), integer(3))},
	{"typed array", Godot4, bytesOf(idArray|typedBy*int(containerScript), "res://thing.gd", 2, idNil, idObject|bit16, uint64(5))},
	{"dict", Godot4, bytesOf(idDict, 3, str(longText), idArray, 1, str(text32), integer(5), integer(6),
		idArray, 1, idNil, idDict, 1, str("k"), idNil)},
	{"typed dict", Godot4, bytesOf(idDict|typedBy*int(containerBuiltin)|valuesBy*int(containerClass), idString, "Node", 1, str("k"), idNil)},
	{"bytes", Godot4, bytesOf(idBytes, 39, []byte("012345678901234567890123456789012345678\x00"), idNil)},
	{"numbers", Godot4, bytesOf(idInts, 9, reals(9), idFloats, 5, reals(5), idInts, 0)},
	{"wide numbers", Godot4, bytesOf(idLongs, 3, uint64(1), uint64(2), uint64(3), idDoubles, 5, 0.1, 0.2, 0.3, 0.4, 0.5)},
	{"vectors", Godot4, bytesOf(idVectors2, 2, reals(4), idVectors3|bit16, 2, bytes.Repeat(bytesOf(0.5), 6))},
	{"four components", Godot4, bytesOf(idVectors4|bit16, 2, bytes.Repeat(bytesOf(0.5), 8), idColors, 3, reals(12))},
	{"packed strings", Godot4, bytesOf(idStrings, 4, "a\x00", "\x00", longText+"\x00", text16+"\x00")},
	{"image", Godot2, bytesOf(15, 1, 2, 3, 4, 21, []byte("0123456789abcdefghijk\x00\x00\x00"), 0)},
	{"event", Godot2, bytesOf(19, 1, 2, wire.EventHead+8, uint64(3), 19, 0, 0, wire.EventHead)},
	{"old path", Godot2, bytesOf(16, "root/node:property", 16, newPath(1), 0, nodePathProperty, "a", "b")},
	{"shared", Godot2, bytesOf(21, shared(1), 20, shared(1), 2, 1, 2, 2)},
	{"plain packed strings", Manual4, bytesOf(25, 3, "a", "", longText)},
}

func eachSample(t *testing.T, f func(t *testing.T, s sample)) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) { f(t, s) })
	}
}

// plain hides every method of a Reader but Read.
func plain(b []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(b)} }

// tokens reads all tokens and clones them.
func tokens(t testing.TB, d *Decoder) (all []Token) {
	t.Helper()
	for {
		tok, err := d.ReadToken()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, tok.Clone())
	}
}

// newDecoder returns a Decoder that is released when the test ends.
func newDecoder(t testing.TB, r io.Reader, o *DecoderOptions) *Decoder {
	d := NewDecoder(r, o)
	t.Cleanup(d.Release)
	return d
}

// newEncoder returns an Encoder that is closed when the test ends.
func newEncoder(t testing.TB, w io.Writer, o *EncoderOptions) *Encoder {
	e := NewEncoder(w, o)
	t.Cleanup(func() { e.Close() })
	return e
}

// readTo reads n tokens.
func readTo(t testing.TB, d *Decoder, n int) (last Token) {
	t.Helper()
	for range n {
		last = must(d.ReadToken())(t)
	}
	return last
}

// encoded returns the output of an Encoder on which write was called.
func encoded(t testing.TB, o *EncoderOptions, write func(e *Encoder)) []byte {
	t.Helper()
	var b bytes.Buffer
	e := NewEncoder(&b, o)
	write(e)
	require.NoError(t, e.Close())
	return b.Bytes()
}

// pipe returns a net.Pipe and a function that sends bytes through it. A Decoder
// that waits for more bytes than were sent fails at the deadline.
func pipe(t *testing.T) (r net.Conn, give func(b []byte)) {
	t.Helper()
	r, w := net.Pipe()
	t.Cleanup(func() { r.Close(); w.Close() })
	require.NoError(t, r.SetDeadline(time.Now().Add(20*time.Second)))
	pieces := make(chan []byte)
	t.Cleanup(func() { close(pieces) })
	go func() {
		for b := range pieces {
			w.Write(b)
		}
	}()
	return r, func(b []byte) { pieces <- b }
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// requireError expects an Error with that offset, path and reason.
func requireError(t testing.TB, err error, offset int, path string, reason error) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, e.Err, reason)
	require.EqualValues(t, offset, e.Offset, e)
	require.Equal(t, path, e.Path, e)
}

// limitsOf returns Limits with one field set to n and no other limits.
func limitsOf(name string, n int64) Limits {
	l := NoLimits
	switch name {
	case "Depth":
		l.Depth = int(n)
	case "Elements":
		l.Elements = n
	case "Values":
		l.Values = n
	case "StringBytes":
		l.StringBytes = n
	case "NameBytes":
		l.NameBytes = n
	case "PackedBytes":
		l.PackedBytes = n
	case "Bytes":
		l.Bytes = n
	}
	return l
}

// eachReader resets d to b by every Reset method.
func eachReader(d *Decoder, b []byte, f func(name string)) {
	d.Reset(plain(b))
	f("Reset")
	d.ResetN(plain(b), int64(len(b)))
	f("ResetN")
	d.ResetBytes(b)
	f("ResetBytes")
}

func readAll(d *Decoder) error {
	for {
		if _, err := d.ReadToken(); err != nil {
			return err
		}
	}
}

// nested returns a nil inside n arrays.
func nested(n int) []byte {
	return append(bytes.Repeat(bytesOf(idArray, 1), n), bytesOf(idNil)...)
}

// document contains tokens in every kind of location.
var document = bytesOf(idDict, 9,
	str("player"), idDict, 1, str("inventory"), idArray, 2, idNil, str("sword"),
	integer(5), integer(6),
	idArray, 1, integer(7), idArray, 1, integer(8),
	idDict, 1, str("k"), idNil, str("of a dictionary"),
	idPath, newPath(1), 1, 0, "a", "b", idStrings, 2, "p\x00", "q\x00",
	str("object"), idObject, "Node", 2, "name", str("Ada"), "next", idArray, 1, idNil,
	idName, "string name", idPath, newPath(1), 1, nodePathAbsolute, "x", "y",
	str("a key of more than thirty-two bytes"), idInts, 1, 7,
	str("\"quoted\"\n"), str(""),
)

var documentPaths = []string{
	`DictStart $`,
	`DictKey $.key(0)`,
	`StringChunk $.key(0)`,
	`DictStart $.player`,
	`DictKey $.player.key(0)`,
	`StringChunk $.player.key(0)`,
	`ArrayStart $.player.inventory`,
	`Nil $.player.inventory[0]`,
	`StringChunk $.player.inventory[1]`,
	`End $.player.inventory`,
	`End $.player`,
	`DictKey $.key(1)`,
	`Int32 $.key(1)`,
	`Int32 $[5]`,
	`DictKey $.key(2)`,
	`ArrayStart $.key(2)`,
	`Int32 $.key(2)[0]`,
	`End $.key(2)`,
	`ArrayStart $.value(2)`,
	`Int32 $.value(2)[0]`,
	`End $.value(2)`,
	`DictKey $.key(3)`,
	`DictStart $.key(3)`,
	`DictKey $.key(3).key(0)`,
	`StringChunk $.key(3).key(0)`,
	`Nil $.key(3).k`,
	`End $.key(3)`,
	`StringChunk $.value(3)`,
	`DictKey $.key(4)`,
	`NodePathStart $.key(4)`,
	`StringChunk $.key(4)[0]`,
	`StringChunk $.key(4)[1]`,
	`End $.key(4)`,
	`PackedStart $.value(4)`,
	`StringChunk $.value(4)[0]`,
	`StringChunk $.value(4)[1]`,
	`End $.value(4)`,
	`DictKey $.key(5)`,
	`StringChunk $.key(5)`,
	`ObjectStart $.object`,
	`Property $.object.name`,
	`StringChunk $.object.name`,
	`Property $.object.next`,
	`ArrayStart $.object.next`,
	`Nil $.object.next[0]`,
	`End $.object.next`,
	`End $.object`,
	`DictKey $.key(6)`,
	`StringChunk $.key(6)`,
	`NodePathStart $[&"string name"]`,
	`StringChunk $[&"string name"][0]`,
	`StringChunk $[&"string name"][1]`,
	`End $[&"string name"]`,
	`DictKey $.key(7)`,
	`StringChunk $.key(7)`,
	`PackedStart $["a key of more than thirty-two by…"]`,
	`Chunk $["a key of more than thirty-two by…"]`,
	`End $["a key of more than thirty-two by…"]`,
	`DictKey $.key(8)`,
	`StringChunk $.key(8)`,
	`StringChunk $["\"quoted\"\n"]`,
	`End $`,
}

// The results of a Decoder and the output of an Encoder must not depend on how the
// Reader or Writer cuts the bytes, nor on temporary errors. So every call is made
// at every token of every sample, with a Reader or Writer that fails at every
// byte, and must give the result that it gives without failures.

var errTemporary = errors.New("temporary")

// withRetries repeats a call after temporary errors of the Reader.
func withRetries(call func() error) error {
	for range 1 << 16 {
		err := call()
		if err != errTemporary && err != io.ErrShortWrite {
			return err
		}
	}
	panic("a call that never ends")
}

// skipWithRetries is SkipValue, continued after temporary errors as its documentation says.
func skipWithRetries(d *Decoder) error {
	depth := d.Depth()
	return withRetries(func() error {
		if d.Depth() > depth {
			return d.SkipTo(depth)
		}
		return d.SkipValue()
	})
}

// A faultyReader fails once, after at bytes; or, if every is set, returns one byte
// at a time and fails before each.
type faultyReader struct {
	b      []byte
	pos    int
	at     int
	every  bool
	joined bool // errors are returned with the bytes before them
	failed bool
}

func (r *faultyReader) Read(p []byte) (int, error) {
	b := r.b[r.pos:]
	switch {
	case r.every && !r.failed:
		r.failed = true
		return 0, errTemporary
	case r.every:
		b, r.failed = b[:min(1, len(b))], false
	case !r.failed:
		b = b[:r.at-r.pos]
		if len(p) >= len(b) && (len(b) == 0 || r.joined) {
			r.failed = true
			r.pos += len(b)
			return copy(p, b), errTemporary
		}
	}
	n := copy(p, b)
	r.pos += n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// eachFaultyReader calls f with each kind of faulty Reader of b.
func eachFaultyReader(b []byte, f func(name string, r io.Reader)) {
	f("byte by byte", &slowReader{b})
	f("failing before every byte", &faultyReader{b: b, every: true})
	for at := range len(b) + 1 {
		f("failing at "+strconv.Itoa(at), &faultyReader{b: b, at: at})
		f("failing with the bytes before "+strconv.Itoa(at), &faultyReader{b: b, at: at, joined: true})
	}
}

// A slowReader returns one byte at a time, the last one with io.EOF.
type slowReader struct{ b []byte }

func (r *slowReader) Read(p []byte) (int, error) {
	n := copy(p, r.b[:min(1, len(r.b))])
	if r.b = r.b[n:]; len(r.b) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// stride returns the step of a sweep, which is larger in short runs.
func stride() int {
	if !testenv.Full() || testenv.Race {
		return 7
	}
	return 1
}

// A faultyWriter fails once, after at bytes; or, if every is set, takes one byte
// and fails at every call.
type faultyWriter struct {
	b      []byte
	at     int // -1: never
	every  bool
	short  bool // returns a short count and no error
	failed bool
}

func (w *faultyWriter) Write(p []byte) (int, error) {
	n := len(p)
	switch {
	case w.every:
		n = min(1, n)
	case w.at >= 0 && !w.failed && len(w.b)+n > w.at:
		n = w.at - len(w.b)
		w.failed = true
	default:
		w.b = append(w.b, p...)
		return n, nil
	}
	w.b = append(w.b, p[:n]...)
	if w.short && n < len(p) {
		return n, nil
	}
	return n, errTemporary
}

// eachFaultyWriter calls f with each kind of faulty Writer for n bytes.
func eachFaultyWriter(n int, f func(name string, w *faultyWriter)) {
	f("failing at every byte", &faultyWriter{every: true})
	f("short at every byte", &faultyWriter{every: true, short: true})
	for at := range n {
		f("failing at "+strconv.Itoa(at), &faultyWriter{at: at})
		f("short at "+strconv.Itoa(at), &faultyWriter{at: at, short: true})
	}
}

// smallEncoder returns an Encoder with a buffer of size bytes.
func smallEncoder(w io.Writer, f Format, size int) *Encoder {
	return SmallEncoder(w, &EncoderOptions{Format: f}, size)
}

// SmallEncoder is smallEncoder for tests outside of the package.
func SmallEncoder(w io.Writer, o *EncoderOptions, size int) *Encoder {
	e := NewEncoder(w, o)
	e.buf = e.buf[:size:size]
	e.setLimit()
	e.updateFastPath()
	return e
}

// A step is a call on an Encoder.
type step func(e *Encoder) error

// A counter is a Writer that counts bytes, without other methods.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// A misuse is an invalid call.
type misuse struct {
	name string
	call step
	want error
}

// rejects expects an error of the call, and that e is as it was before.
// fails is rejects of a misuse whose name is the text of its error, after the offset.
func (m misuse) fails(t *testing.T, e *Encoder) {
	t.Helper()
	requireText(t, m.call(e), m.want, fmt.Sprintf("offset %d, %s", e.OutputOffset(), m.name))
	require.Error(t, e.ClearError())
	m.rejects(t, e)
}

func (m misuse) rejects(t *testing.T, e *Encoder) {
	t.Helper()
	offset, state, path := e.OutputOffset(), frames(e), string(e.AppendPath(nil))
	err := m.call(e)
	require.ErrorIs(t, err, m.want, m.name)
	var inner *Error
	require.ErrorAs(t, err, &inner, m.name)
	require.Equal(t, offset, inner.Offset, m.name)
	require.Equal(t, offset, e.OutputOffset(), "%s: it wrote something", m.name)
	require.Equal(t, state, frames(e), "%s: something was opened or closed", m.name)
	require.Equal(t, path, string(e.AppendPath(nil)), m.name)

	// The error stays until ClearError, which leaves everything as it was.
	require.Equal(t, err, e.WriteNil(), m.name)
	require.Equal(t, err, m.call(e), m.name)
	require.Equal(t, err, e.Flush(), m.name)
	require.Equal(t, err, e.Err(), m.name)
	require.Equal(t, err, e.ClearError(), m.name)
	require.NoError(t, e.Err(), m.name)
	require.NoError(t, e.ClearError(), m.name)
	require.Equal(t, offset, e.OutputOffset(), "%s: it wrote something", m.name)
	require.Equal(t, state, frames(e), "%s: something was opened or closed", m.name)
}

// frames returns the stack of an Encoder.
func frames(e *Encoder) (all []frame) {
	for i := range e.Depth() + 1 {
		all = append(all, *e.spill(i))
	}
	return all
}

// Calls that do not depend on the open containers.
var (
	writeNil   = step((*Encoder).WriteNil)
	end        = step((*Encoder).End)
	dictKey    = step(func(e *Encoder) error { return e.WriteToken(DictKey()) })
	stringX    = step(func(e *Encoder) error { return e.WriteString("x") })
	stringName = step(func(e *Encoder) error { return e.WriteStringName("x") })
	intSeven   = step(func(e *Encoder) error { return e.WriteInt(7) })
	raw        = step(func(e *Encoder) error { return e.WriteRaw(integer(7)) })
	property   = step(func(e *Encoder) error { return e.WriteProperty("p") })
	floats     = step(func(e *Encoder) error { return WritePacked(e, []float32{1, 2}) })
	emptyArray = step(func(e *Encoder) error { return e.BeginArray(0) })
)

func write(text string) step {
	return func(e *Encoder) error { _, err := e.Write([]byte(text)); return err }
}

func token(t Token) step { return func(e *Encoder) error { return e.WriteToken(t) } }

func array(n int) step { return func(e *Encoder) error { return e.BeginArray(n) } }

func dict(n int) step { return func(e *Encoder) error { return e.BeginDict(n) } }

func text(t Type, n int64) step { return func(e *Encoder) error { return e.BeginString(t, n) } }

func packedOf(t Type, n int64) step { return func(e *Encoder) error { return e.BeginPacked(t, n) } }

func typedArray(n int, elem Elem) step {
	return func(e *Encoder) error { return e.BeginTypedArray(n, elem) }
}

func typedDict(n int, k, v Elem) step {
	return func(e *Encoder) error { return e.BeginTypedDict(n, k, v) }
}

func path(names, subnames int) step {
	return func(e *Encoder) error { return e.BeginNodePath(names, subnames, false) }
}

// chunkOf returns a token as only a Decoder makes it: a chunk of a string of n
// bytes.
func chunkOf(t Type, n int, text string, last bool) Token {
	flags := tokenFlags(0)
	if last {
		flags = flagLast
	}
	return newToken(KindStringChunk, t, flags, uint64(n)).withPayload([]byte(text))
}

// elements returns a Chunk as a Decoder makes it.
func elements(t Type, u wire.Unit, n int, b []byte) Token {
	return newToken(KindChunk, t, tokenFlags(u), uint64(n)).withPayload(b)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// requireNoAllocs calls f once and expects that further calls allocate nothing. The count is that of the process, in which the
// runtime allocates now and then: it is taken again.
func requireNoAllocs(t *testing.T, f func()) {
	t.Helper()
	f()
	allocs := testing.AllocsPerRun(20, f)
	for range 10 {
		if allocs > 0 {
			allocs = testing.AllocsPerRun(20, f)
		}
	}
	require.Zero(t, allocs)
}

// readers returns functions that reset a Decoder to b, to be called repeatedly.
func readers(b []byte) map[string]func(d *Decoder) {
	r := bytes.NewReader(b)
	return map[string]func(d *Decoder){
		"Reset":      func(d *Decoder) { r.Reset(b); d.Reset(r) },
		"ResetN":     func(d *Decoder) { r.Reset(b); d.ResetN(r, int64(len(b))) },
		"ResetBytes": func(d *Decoder) { d.ResetBytes(b) },
	}
}

// check panics on an error other than io.EOF. The arguments of require would
// allocate.
func check(err error) {
	if err != nil && err != io.EOF {
		panic(err)
	}
}

// An inputError is input with an error, and the whole text of the error.
type inputError struct {
	name    string
	packet  []byte
	options DecoderOptions
	tokens  int                    // that are read before
	read    func(d *Decoder) error // if nil, all tokens are read
	is      error
	text    string // after "gdwire: "
}

func testInputErrors(t *testing.T, all []inputError) {
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			d := newDecoder(t, plain(c.packet), &c.options)
			readTo(t, d, c.tokens)
			if c.read == nil {
				c.read = readAll
			}
			requireText(t, c.read(d), c.is, c.text)
		})
	}
}

// requireText expects an Error with the given text that is the given error and no other.
func requireText(t *testing.T, err, is error, text string) {
	t.Helper()
	require.EqualError(t, err, "gdwire: "+text)
	var located *Error
	require.ErrorAs(t, err, &located)
	require.Equal(t, located.Err, errors.Unwrap(err))
	require.ErrorIs(t, err, is)
	for _, other := range []error{ErrLimit, ErrType, ErrFlags, ErrObject, ErrUTF8, ErrRange, ErrStrict, ErrCount, ErrMisplacedKey, ErrIncomplete, ErrClosed} {
		if other != is {
			require.NotErrorIs(t, err, other)
		}
	}
}

func copyToNowhere(d *Decoder) error {
	e := NewEncoder(io.Discard, &EncoderOptions{Format: d.options.Format, Depth: -1})
	defer e.Close()
	return CopyValue(e, d)
}

// joined describes the tokens of a packet, one a line, with the path and the
// offset after it. Chunks are joined, so that the result does not depend on the
// size of the read buffer.
func joined(d *Decoder) (lines []string, err error) {
	var data []byte
	for {
		t, err := d.ReadToken()
		if err != nil {
			return lines, err
		}
		data = append(data, t.Bytes()...)
		if d.want() == wantChunk && t.Kind() == KindChunk || t.Kind() == KindStringChunk && !t.Last() {
			continue
		}
		text := t.String()
		if t.Kind() == KindChunk || t.Kind() == KindStringChunk {
			text = fmt.Sprintf("%v %v %q", t.Kind(), t.Type(), data)
		}
		lines = append(lines, fmt.Sprintf("%d %s %s", d.InputOffset(), d.AppendPath(nil), text))
		data = data[:0]
	}
}

func afterData(t Token, _ *Decoder) bool {
	return t.Kind() == KindStringChunk || t.Kind() == KindImageStart || afterPacked(t, nil)
}

func afterPacked(t Token, _ *Decoder) bool {
	return (t.Kind() == KindPackedStart || t.Kind() == KindChunk) && packedReaders[t.Type()][0] != nil
}

func afterText(t Token, _ *Decoder) bool {
	return t.Kind() == KindStringChunk || t.Kind() == KindNodePathStart
}

// writeAll calls Write, which returns the number of bytes with and without an error.
func writeAll(p []byte) step {
	return func(e *Encoder) error {
		before := e.OutputOffset()
		n, err := e.Write(p)
		if e.OutputOffset() != before+int64(n) || err == nil && n < len(p) {
			return fmt.Errorf("Write returned %d of %d, and wrote %d", n, len(p), e.OutputOffset()-before)
		}
		return err
	}
}

// requireFinal makes calls that write want to w, which fails. The calls before wrote the
// start of want, and all later calls return the same error and write nothing, even though w
// recovered.
func requireFinal(t *testing.T, e *Encoder, w *faultyWriter, want []byte, calls []step, name string) {
	t.Helper()
	var first error
	written := 0
	for i, call := range append(slices.Clip(calls), (*Encoder).Flush, (*Encoder).ClearError, (*Encoder).Err, (*Encoder).Close) {
		err := call(e)
		if first == nil && err != nil {
			first, written = err, len(w.b)
		}
		if err != first || err != nil && err != errTemporary && err != io.ErrShortWrite {
			t.Fatalf("%s, call %d: %v after %v", name, i, err, first)
		}
	}
	if first == nil || len(w.b) != written || !w.every && written != w.at || !bytes.HasPrefix(want, w.b) {
		t.Fatalf("%s, %v: wrote\n%q\nand then\n%q\nof\n%q", name, first, w.b[:written], w.b[written:], want)
	}
}

// chunkWithNUL returns a chunk of a packed string of n bytes that may end in a
// NUL.
func chunkWithNUL(n int, text string, last bool) Token {
	flags := flagNUL
	if last {
		flags |= flagLast
	}
	return newToken(KindStringChunk, TypePackedStringArray, flags, uint64(n)).withPayload([]byte(text))
}
