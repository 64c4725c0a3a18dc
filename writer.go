package gdwire

import (
	"io"
	"math"

	"github.com/valyala/bytebufferpool"
)

// An Encoder writes into one buffer, which it passes to the Writer when it is full,
// when a top-level value is complete, and on Flush:
//
//	0            hold                 n              lim       len(buf)
//	|------------|--------------------|--------------|------------|
//	| to be      | kept: follows an   | free         | beyond     |
//	| written    | Unknown count      |              | Buffered   |
//
//	buf[:n]      calls that are complete, and the start of an interrupted one
//	hold         if held > 0: the count of the outermost open container of Unknown
//	             count. Bytes from here on are kept until its End sets the count;
//	             the buffer grows for them, up to Buffered
//	buf[n:lim]   what calls may fill; lim is -1 while the fast path is off for all
//	written      bytes that the Writer took before buf[0]
//
// Fast path: a number, vector or string in an untyped Array or Dictionary that is
// not too deep. valueLim is lim less the size of a short value there and negative
// everywhere else (setFast), so one comparison decides, and left, the count of values
// to come, is all the state that changes. nameLim is the same for names.
//
// Slow path: a call checks its place, its type and its value, encodes itself into
// bytes that room returns, and passes them to commit; what is long goes to emit in
// pieces. Only commit and emit call the Writer. Then the call changes the nesting:
// it counts a value, opens a frame or closes one. A call that is invalid returns
// before commit and has no effect.
//
// Retry: if the Writer fails, the call has no effect on the nesting, and retry notes
// a hash of it and how many of its bytes were buffered or written. The program makes
// it again; it takes the same steps, the hash is compared, and emit skips those bytes.

// EncoderOptions configure an Encoder. The zero value writes [Godot4].
type EncoderOptions struct {
	// Format is the format to write. nil: Godot4.
	Format *Format
	// Depth limits how many arrays, dictionaries and objects may be around a
	// value. 0: 1024, the limit of the engines; -1: no limit.
	Depth int
	// Buffered limits the bytes of a container of [Unknown] count, with all that it
	// contains: they are kept until its End. 0: 8 MiB; -1: no limit.
	Buffered int64
	// AnyUTF8 writes text without checking that it is UTF-8.
	AnyUTF8 bool
	// DoubleReals makes WriteReals and BeginPacked write components of 64 bits, as
	// engines built with double precision do. Godot 2 and 3 have none.
	DoubleReals bool
}

// An Encoder writes values from tokens or typed calls. NewEncoder returns one, and
// Reset makes a zero one ready. Only one goroutine may use it at a time.
//
// Its output is always a prefix of a valid encoding. A call that is invalid writes
// nothing and returns an [Error] that stays: every later call returns it, too, so
// that a program may write without a check after each call and look at the error
// of Close or Flush. Reset clears it, and Recover, which lets the call be made
// differently.
//
// An error of the Writer is returned as it is. Then the same call has to be made
// again; it goes on after the bytes that were taken. Another call is an Error.
//
// An Encoder buffers its output. It writes when its buffer is full, when a
// top-level value is complete, and on Flush.
type Encoder struct {
	state

	// The output, see above.
	buf    []byte
	n, lim int
	// lim - fastSize where values, or names of a NodePath and packed strings, take
	// the fast path, otherwise negative: setFast.
	valueLim, nameLim int
	nameNUL           uint32 // 1 in a PackedStringArray of engines, whose strings end in NUL
	hold              int
	held              int // open containers of Unknown count
	written           uint64
	w                 io.Writer
	buffer            *bytebufferpool.ByteBuffer

	// What calls leave for the next.
	err       error   // returned by every call; ErrReleased after Release
	permanent bool    // Recover does not clear it
	copying   bool    // CopyValue is the caller
	accepts   Type    // and its container declares this type
	rune      [4]byte // the start of a rune that the next Write completes
	partial   int     // how much of it there is, or of an element of packed data
	retry     retry

	// The options, and what they come to.
	options  EncoderOptions
	rows     *[64]row // by type
	maxDepth int
	maxHeld  int // the most bytes from hold on

	spare [spareSize]byte // for calls that do not fit into the buffer
	raw   *Decoder        // of WriteRaw
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

// Reset makes the Encoder write to w with the same options, at offset 0. Bytes that
// were not flushed are lost.
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
	e.maxHeld = heldLimit(o)
	e.init()
	e.w, e.n, e.held, e.partial, e.written = w, 0, 0, 0, 0
	e.err, e.permanent, e.retry = nil, false, retry{}
	e.setLim()
}

// Release returns the buffer to the pool; bytes that were not flushed are lost.
// Until the next Reset every call returns [ErrReleased].
func (e *Encoder) Release() {
	e.close()
	e.err, e.permanent, e.retry = ErrReleased, true, retry{}
	e.w, e.buf = nil, nil
	e.n, e.lim, e.valueLim, e.nameLim, e.held, e.written = 0, 0, 0, 0, 0, 0
	if e.buffer != nil {
		putBuffer(e.buffer)
		e.buffer = nil
	}
}

// OutputOffset returns how many bytes were written or buffered since Reset.
func (e *Encoder) OutputOffset() int64 { return int64(e.written) + int64(e.n) }

// Depth returns the number of open containers, NodePaths, packed arrays and
// strings. It is 0 between top-level values.
func (e *Encoder) Depth() int { return e.depth }

// StackIndex describes what is open at level i, from 1, the outermost, to Depth():
// the kind of token that opened it, the index of the latest element, pair, property
// or name (-1 before the first, and in packed data and strings), and the declared
// count, which can be [Unknown].
//
// At level 0 kind is 0, index that of the latest top-level value, and count -1. For
// other levels index and count are -1.
func (e *Encoder) StackIndex(i int) (kind Kind, index, count int64) { return e.stackIndex(i) }

// AppendPath appends the path of the latest value, as [Decoder.AppendPath] does, to
// dst. An Encoder does not keep keys: their values are .value(3).
func (e *Encoder) AppendPath(dst []byte) []byte {
	return e.appendPath(dst, false, nil)
}

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
	case e.depth > 0:
		return e.fail(because(ErrOpen, "%v without its End", e.top().kind))
	case e.retry.err != nil:
		return e.fail(nil)
	}
	return e.flush()
}
