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
//	| written    | Unknown count      |              | MaxBuffered   |
//
//	buf[:n]      encoded values, and the starts of those that are open
//	hold         if held > 0: the count of the outermost open container of Unknown
//	             count. Bytes from here on are kept until its End sets the count;
//	             the buffer grows for them, up to MaxBuffered. After ResetBytes, hold
//	             is 0, so that all bytes are kept
//	buf[n:lim]   free for calls; lim is -1 while the fast path is off for all calls
//	written      the number of bytes written before buf[0]
//
// Fast path: a number, vector or string in an untyped Array or Dictionary within
// Depth. There, valueLim is lim minus the size of a short value; elsewhere it is
// negative (see setFast), so one comparison decides. Besides the buffer, only left
// changes, the number of values to come. nameLim is the same for names.
//
// Slow path: a call checks its position, its type and its value, encodes itself into
// bytes from room, and passes them to commit, or long data to emit. Only write calls the
// Writer. Then the call changes the nesting: it counts a value, opens a frame or closes
// one. An invalid call returns before commit and has no effect.
//
// An error of the Writer stays, and switches the fast path off, so that no call has to
// know what an earlier one has written.

// EncoderOptions configures an Encoder. The zero value selects [Godot4].
type EncoderOptions struct {
	// Format is the format of the output. nil selects Godot4.
	Format *Format
	// Depth is the maximum number of arrays, dictionaries and objects around a
	// value. 0 selects 1024, the limit of the engines; -1 disables the limit.
	Depth int
	// MaxBuffered is the maximum size in bytes of a container of [Unknown] count,
	// which the Encoder keeps in memory until its End. 0 selects 8 MiB; -1 disables
	// the limit.
	MaxBuffered int64
	// AllowInvalidUTF8 writes text without checking that it is UTF-8.
	AllowInvalidUTF8 bool
	// DoubleReals makes WriteReals and BeginPacked write components of 64 bits, as
	// engines with double precision do. It has no effect in Godot2 and Godot3.
	DoubleReals bool
}

// An Encoder writes values, from tokens or by typed calls. Create it with NewEncoder, or
// call Reset on a zero Encoder. It must not be used by several goroutines at the same
// time.
//
// The output is always a prefix of a valid encoding. An invalid call writes nothing and
// returns an [Error] that stays: all later calls return it, so a program can write
// without a check after each call and check the error of Close or Flush. Reset clears the
// error. ClearError clears it, too, so that a valid call can be made instead.
//
// An error of the Writer is returned unchanged and stays, too: until Reset, all calls
// return it, even if the Writer has recovered.
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
	held              int   // open containers of Unknown count, and one more after ResetBytes
	counts            []int // the positions in buf of the counts of these containers
	written           uint64
	w                 io.Writer
	buffer            *bytebufferpool.ByteBuffer

	// State of earlier calls.
	err       error   // returned by all later calls; ErrReleased after Release
	permanent bool    // ClearError does not clear err
	accepts   Type    // while CopyValue writes, the type that the container of the Decoder declares
	rune      [4]byte // the start of a rune that the next Write completes
	partial   int     // the number of its bytes, or of bytes of a partial element

	// The options, and fields derived from them.
	options  EncoderOptions
	forms    *[64][2]form // by type
	maxDepth int
	maxHeld  int // the most bytes from hold on

	spare [spareSize]byte // for calls that do not fit into the buffer
	raw   *Decoder        // of WriteRaw
}

// NewEncoder returns an Encoder that writes to w. If o is nil, it uses the zero
// EncoderOptions.
func NewEncoder(w io.Writer, o *EncoderOptions) *Encoder {
	e := new(Encoder)
	if o != nil {
		e.options = *o
	}
	e.Reset(w)
	return e
}

// Options returns the options of e. Format is never nil.
func (e *Encoder) Options() EncoderOptions {
	o := e.options
	if o.Format == nil {
		o.Format = Godot4
	}
	return o
}

// Reset discards the state of e, including bytes that were not flushed, and makes it
// write to w, starting at offset 0, with the same options.
func (e *Encoder) Reset(w io.Writer) {
	if e.buffer == nil {
		e.buffer = getBuffer(bufferSize)
		e.buf = e.buffer.B
	}
	e.maxHeld = heldLimit(&e.options)
	e.w, e.n, e.held, e.counts, e.written = w, 0, 0, e.counts[:0], 0
	e.reset()
}

// ResetBytes is Reset for output in memory, without a Writer: the Encoder appends to b, and
// Bytes returns the result. The size of containers of [Unknown] count is not limited.
func (e *Encoder) ResetBytes(b []byte) {
	e.Release()
	e.buf, e.n, e.written = b[:cap(b)], len(b), -uint64(len(b))
	e.hold, e.held, e.counts, e.maxHeld = 0, 1, e.counts[:0], math.MaxInt/2
	e.reset()
}

// Bytes returns the slice given to ResetBytes with the output appended. After Reset, it
// returns the bytes that are buffered. The slice is valid until the next call on e.
func (e *Encoder) Bytes() []byte { return e.buf[:e.n] }

// reset prepares for the first value, after the buffer has been set.
func (e *Encoder) reset() {
	o := &e.options
	if o.Format == nil {
		o.Format = Godot4
	}
	double := 0
	if o.DoubleReals {
		double = 1
	}
	e.forms = &o.Format.byType[double]
	e.maxDepth = int(min(limitDepth.or(int64(o.Depth)), math.MaxInt))
	e.init()
	e.partial, e.err, e.permanent = 0, nil, false
	e.setLim()
}

// Release returns the buffer to the pool. Bytes that were not flushed are lost. Until the
// next Reset, calls return [ErrReleased].
func (e *Encoder) Release() {
	e.close()
	e.err, e.permanent = ErrReleased, true
	e.w, e.buf = nil, nil
	e.n, e.lim, e.valueLim, e.nameLim, e.held, e.written = 0, 0, 0, 0, 0, 0
	if e.buffer != nil {
		putBuffer(e.buffer)
		e.buffer = nil
	}
}

// OutputOffset returns the number of bytes written or buffered since Reset.
func (e *Encoder) OutputOffset() int64 { return int64(e.written) + int64(e.n) }

// Depth returns the number of open containers, including NodePaths, packed arrays, Images
// and strings. It is 0 between top-level values.
func (e *Encoder) Depth() int { return e.depth }

// StackIndex describes the open container at level i, from 1, the outermost, to Depth().
// It returns the kind of its first token, the index of the latest element, pair, property
// or name, or -1 before the first, and the declared count, which can be [Unknown]. The
// index of packed data and of strings is -1.
//
// Level 0 contains all values: its kind is 0, its index that of the latest top-level
// value, and its count -1. For a level that is not open, StackIndex returns 0, -1, -1.
func (e *Encoder) StackIndex(i int) (kind Kind, index, count int64) { return e.stackIndex(i) }

// AppendPath appends the location of the latest value to dst, in the form of
// [Decoder.AppendPath]. An Encoder does not keep keys, so the value of the fourth key is
// .value(3).
func (e *Encoder) AppendPath(dst []byte) []byte {
	return e.appendPath(dst, false, nil)
}

// Flush writes the buffered bytes, except for those from an [Unknown] count of an open
// container on.
func (e *Encoder) Flush() error {
	if err := e.ready(); err != nil {
		return err
	}
	return e.flush()
}

// Close calls Flush. It returns [ErrIncomplete] if a value is not complete. It does not close
// the Writer, and more values can be written after it.
func (e *Encoder) Close() error {
	switch err := e.ready(); {
	case err != nil:
		return err
	case e.depth > 0:
		return e.fail(wrapf(ErrIncomplete, "%v without its End", e.top().kind))
	}
	return e.flush()
}
