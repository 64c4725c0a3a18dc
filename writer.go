package gdwire

import (
	"errors"
	"io"
	"math"

	"github.com/valyala/bytebufferpool"
)

// EncoderOptions say how to write. The zero value is [Godot4].
type EncoderOptions struct {
	// Format is what the bytes shall be in. nil: Godot4.
	Format *Format
	// Depth is how many arrays, dictionaries and objects may stand around a
	// value. 0: 1024, beyond which engines do not read; -1: no limit.
	Depth int
	// Buffered is how many bytes a container of [Unknown] count, and all in it,
	// may take: they are kept until its End. 0: 8 MiB; -1: no limit.
	Buffered int64
	// AnyUTF8 writes text without asking whether it is UTF-8.
	AnyUTF8 bool
	// DoubleReals: WriteReals and BeginPacked make components of 64 bits, as an
	// engine does that was built with double precision. In Godot 2 and 3 there are
	// none.
	DoubleReals bool
}

// An Encoder writes values from tokens or typed calls. It is made by NewEncoder,
// or a zero one made ready by Reset; one goroutine may use it at a time.
//
// Its output is always a prefix of a valid encoding. A call that is invalid writes
// nothing and returns an [Error] that stays: every later call returns it, too, so
// that a program may write without a check after each call and look at the error
// of Close or Flush. Reset clears it, and Recover, which lets the call be made
// differently.
//
// An error of the Writer is returned as it is, and the same call has to be made
// again; the bytes of it that the Writer took are not written twice.
//
// An Encoder buffers its output. It writes when its buffer is full, when a
// top-level value is complete, and on Flush.
type Encoder struct {
	state
	w    io.Writer
	buf  []byte
	n    int // buf[:n] is to be written
	lim  int // buf[n:lim] may be filled
	held int // open containers of Unknown count: nothing after hold is written
	hold int // where the count of the outermost of them is

	err       error // returned by every call; ErrReleased after Release
	permanent bool  // Recover does not clear it

	written uint64 // bytes that the Writer took
	retry   retry
	copying bool    // CopyValue is the caller
	accepts Type    // and copies elements of a container that declares this type
	rune    [4]byte // the start of a rune that the next Write completes
	partial int     // how much of it is there; or of an element of packed data

	spare    [spareSize]byte
	maxHeld  int
	options  EncoderOptions
	rows     *[64]row // by type
	maxDepth int
	buffer   *bytebufferpool.ByteBuffer
	raw      *Decoder
}

// NewEncoder returns an Encoder that writes to w. Options of nil are defaults.
func NewEncoder(w io.Writer, o *EncoderOptions) *Encoder {
	e := new(Encoder)
	if o != nil {
		e.options = *o
	}
	e.Reset(w)
	return e
}

// Options returns the options that NewEncoder was given. Format is never nil.
func (e *Encoder) Options() EncoderOptions {
	o := e.options
	if o.Format == nil {
		o.Format = Godot4
	}
	return o
}

// Reset starts afresh with w and the same options. What was not flushed is lost.
func (e *Encoder) Reset(w io.Writer) {
	o := &e.options
	if o.Format == nil {
		o.Format = Godot4
	}
	double := 0
	if o.DoubleReals {
		double = 1
	}
	e.rows = &o.Format.byType[double]
	e.maxDepth = int(min(limitDepth.or(int64(o.Depth)), math.MaxInt))
	if e.buffer == nil {
		e.buffer = getBuffer(bufferSize)
		e.buf = e.buffer.B
	}
	e.reset()
	e.w, e.n, e.held, e.partial, e.written = w, 0, 0, 0, 0
	e.retry = retry{}
	e.maxHeld = heldLimit(o)
	e.err, e.permanent = nil, false
	e.limitBuffer()
}

// Release gives the buffer back to the pool, with what was not flushed. Until
// the next Reset every call returns [ErrReleased].
func (e *Encoder) Release() {
	e.shut()
	e.err, e.permanent = ErrReleased, true
	e.w, e.buf, e.n, e.lim, e.held, e.written = nil, nil, 0, 0, 0, 0
	if e.buffer != nil {
		putBuffer(e.buffer)
		e.buffer = nil
	}
}

// Depth, StackIndex and AppendPath tell where it stands, as a Decoder's do.

// OutputOffset returns how many bytes were written or are held back since Reset.
func (e *Encoder) OutputOffset() int64 { return int64(e.written) + int64(e.n) }

// Flush writes what is buffered, except for bytes that follow the count of an
// open container of [Unknown] size. While a call is interrupted Flush returns the
// error of the Writer that interrupted it, even if it has written all.
func (e *Encoder) Flush() error {
	if err := e.ready(); err != nil {
		return err
	}
	if err := e.flush(); err != nil {
		return err
	}
	return e.retry.err
}

// Close flushes. It returns [ErrOpen] if a value is not complete. It does not
// close the Writer, and the next value can follow.
func (e *Encoder) Close() error {
	switch err := e.ready(); {
	case err != nil:
		return err
	case e.Depth() > 0:
		return e.fail(because(ErrOpen, "%v without its End", e.top.kind))
	case e.retry.err != nil:
		return e.fail(nil)
	}
	return e.flush()
}

// Err returns the error that every call returns: nil, an [Error], or
// [ErrReleased].
func (e *Encoder) Err() error { return e.ready() }

// Recover returns the error of the latest call and clears it. The call wrote
// nothing, and another can be made in its place. Recover does not clear an error
// of Fail, and returns nil for an error of the Writer, which does not stay.
func (e *Encoder) Recover() error {
	err := e.ready()
	if err != nil && !e.permanent {
		e.err = nil
		e.limitBuffer()
	}
	return err
}

// Fail makes err, in an [Error] with offset and path, an error that stays until
// Reset and that Recover does not clear. It is for code that finds in the middle
// of a value that it can't complete it. An err that is or wraps an Error stays as
// it is. Fail returns the error that stays; an err of nil changes nothing.
func (e *Encoder) Fail(err error) error {
	if err == nil || e.permanent {
		return e.ready()
	}
	if e.ready() == errNotReset {
		return errNotReset
	}
	if located := new(Error); !errors.As(err, &located) {
		err = e.locate(err)
	}
	e.permanent = true
	return e.keep(err)
}

// ready returns the error that stays.
func (e *Encoder) ready() error {
	if e.err == nil && e.top == nil {
		return errNotReset
	}
	return e.err
}

// fail returns the error that stays, which err becomes if there is none yet.
func (e *Encoder) fail(err error) error {
	if kept := e.ready(); kept != nil {
		return kept
	}
	if e.retry.err != nil { // The same call would be valid.
		err = e.errInterrupted()
	}
	return e.keep(e.locate(err))
}

// keep makes err the error that stays.
func (e *Encoder) keep(err error) error {
	e.err = err
	e.limitBuffer()
	return err
}

// locate gives err the offset and path of the call under way.
func (e *Encoder) locate(err error) error {
	none := func(int) ([]byte, bool) { return nil, false }
	return &Error{Offset: e.OutputOffset(), Path: string(e.appendPath(nil, true, none)), Err: err}
}

// AppendPath appends where the latest value stands, as [Decoder.AppendPath]
// does; keys are not remembered here, so values are .value(3).
func (e *Encoder) AppendPath(dst []byte) []byte {
	return e.appendPath(dst, false, func(int) ([]byte, bool) { return nil, false })
}

// begin asks whether a value of that type may come next.
func (e *Encoder) begin(t Type) (*row, error) {
	if e.straight(0) {
		if row := &e.rows[t&63]; row[0].typ == t {
			return row, nil
		}
	}
	if err := e.ready(); err != nil {
		return nil, err
	}
	f := e.top
	if f.want > lastValue && f.want != wantDictKey {
		return nil, e.misplaced(t)
	}
	if !e.options.Format.Has(t) {
		return nil, e.fail(because(ErrType, "%v is none of %v's", t, e.options.Format))
	}
	if depth := e.Depth(); depth > e.maxDepth {
		return nil, e.fail(&LimitError{Name: limitTable[limitDepth].name, Got: int64(depth), Max: int64(e.maxDepth)})
	}
	if f.elem != 0 && f.elem != e.accepts && !f.admits(t) {
		return nil, e.fail(because(ErrType, "%v in a container of %v", t, f.elem))
	}
	return &e.rows[t], nil
}

// misplaced returns an error that says what should have come instead.
func (e *Encoder) misplaced(what any) error {
	if err := e.ready(); err != nil {
		return err
	}
	switch f := e.top; f.want {
	case wantEnd:
		return e.fail(because(ErrCount, "%v after the %d announced", what, f.count))
	case wantProperty:
		return e.fail(because(ErrKey, "%v where a property's name comes", what))
	case wantName:
		return e.fail(because(ErrType, "%v where a string of a %v comes", what, f.typ))
	case wantText, wantChunk:
		return e.fail(because(ErrOpen, "%v inside a %v", what, f.typ))
	default:
		return e.fail(because(ErrKey, "%v where a value comes", what))
	}
}

// open pushes f. Its Unknown count is the latest four bytes.
func (e *Encoder) open(f *frame) {
	top := e.push(f.kind, f.typ, f.count)
	top.names, top.elem, top.unit, top.size, top.flags = f.names, f.elem, f.unit, f.size, f.flags
	if f.kind == KindPackedStart && f.size == 0 && top.left > 0 {
		top.want = wantName
	}
	if f.has(flagUnknown) {
		top.left, top.count, top.want = math.MaxUint32, math.MaxUint32, top.first()
		top.mark = uint64(e.n - 4)
		if e.held++; e.held == 1 {
			e.hold = e.n - 4
			e.limitBuffer()
		}
	}
	e.partial = 0
}

// declare puts the count n of what f is into f. Engines take every count as
// 32 bits with a sign.
func (e *Encoder) declare(n int64, f *frame) error {
	if n == Unknown {
		f.flags |= flagUnknown
		return nil
	}
	if n < 0 || n > e.maxCount(f) {
		return e.fail(because(ErrRange, "count of %d", n))
	}
	f.left, f.count = uint32(n), uint32(n)
	return nil
}

// maxCount is the largest count of what f is.
func (e *Encoder) maxCount(f *frame) int64 {
	most := int64(math.MaxInt32)
	if w := firstWant[f.kind]; !e.options.Format.engine && w != wantElem && w != wantDictKey {
		most = math.MaxUint32
	}
	if f.kind == KindStringChunk {
		most -= int64(f.names)
	}
	return most
}

// End ends what a Begin call or Start token opened.
func (e *Encoder) End() error {
	if e.depth > 1 && e.lim > 0 {
		if f := e.top; f.want == wantEnd && f.unit != unitByte && f.kind != KindStringChunk {
			e.pop() // Fast path: End has no bytes.
			return nil
		}
	}
	if err := e.ready(); err != nil {
		return err
	}
	f := e.top
	unknown := f.has(flagUnknown)
	switch {
	case f.kind == 0:
		return e.fail(because(ErrOpen, "End and nothing is open"))
	case f.want == wantKey || f.want == wantValue || f.want == wantField:
		return e.fail(because(ErrKey, "End behind a key without its value"))
	case !unknown && f.left > 0:
		return e.fail(because(ErrCount, "End after %d of %d", f.count-f.left, f.count))
	case e.partial > 0 && f.kind == KindStringChunk:
		return e.fail(because(ErrUTF8, "End inside a rune"))
	case e.partial > 0:
		return e.fail(because(ErrCount, "End inside an element"))
	}
	return e.close(nil, f.names)
}

// close ends the innermost frame after text, if it is a string, and nul NULs.
func (e *Encoder) close(text []byte, nul uint32) error {
	f := e.top
	n := f.count - f.left + uint32(len(text))
	if f.has(flagUnknown) && int64(n) > e.maxCount(f) {
		return e.fail(because(ErrRange, "count of %d", n))
	}
	tail := 0
	switch {
	case f.kind == KindStringChunk:
		n += nul
		tail = int(nul) + padding(n)
	case f.unit == unitByte:
		tail = padding(n)
	}
	if f.has(flagUnknown) && e.retry.err == nil {
		if err := e.checkHeld(int64(len(text) + tail)); err != nil {
			return err
		}
		le.PutUint32(e.buf[f.mark:], n)
		e.held--
		e.limitBuffer()
	}
	if err := emit(e, opEnd, nil, text, zeros[:tail]); err != nil {
		return err
	}
	e.partial = 0
	e.pop()
	return nil
}
