package gdwire

import (
	"errors"
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// How an Encoder writes.
//
// The buffer holds the part of the output not yet passed to the Writer:
//
//	offset 0
//	|
//	…  [ encoded | kept until an Unknown count is known | free | beyond MaxBuffered ]
//	   |         |                                      |      |
//	   buf[0]    keep                                   n      limit
//
// A call puts bytes at buf[n:] and increases n. The encoded bytes go to the Writer when the
// buffer is full, when a top-level value is complete, and on Flush. While no count is Unknown,
// nothing is kept. After ResetBytes, buf is the caller's slice, and all bytes are kept.
//
// The fast path writes numbers, vectors, texts and NodePaths, and begins and ends Arrays,
// Dictionaries, NodePaths and PackedStringArrays, inside an untyped Array or Dictionary within
// Depth. There, fastValues is the buffer up to limit, and elsewhere empty (see fastWriter.updateFastPath), so one
// comparison decides. Besides the buffer, a value changes only remaining, the number of values to come. fastNames is
// the same for names of NodePaths and packed strings. After an error both are empty, so the fast path does not check
// for one.
//
// The slow path writes everything else, and finds all errors. A call checks its position and type
// with begin, then its value, encodes the value and calls writeValue, writeBytes or writeStart.
// They pass all bytes to the sink at once, so that an invalid call, or a LimitError for bytes to be
// kept, leaves none of them. Then they change the nesting: count a value, or open a frame. End does
// the same with the bytes after the data of a string or packed array, and closes the frame.
//
// The sink keeps the first error of its Writer or of an invalid call. The error is sticky, so no
// call needs to know what an earlier call wrote.
//
// The files, in the order in which they explain each other:
//
//	writer_buffer.go     the bytes, and the calls of the Writer
//	state.go             the open containers, as in a Decoder
//	format.go            the tables of types, for both
//	writer_fast.go       where both meet: values that the fast path writes into the buffer
//	writer.go            Reset, Flush, errors, and the code that all calls share
//	writer_typed.go      values
//	writer_container.go  containers, strings in pieces, packed data and their End; tokens of any format, and
//	                     values that are already encoded

// An Encoder writes values, from tokens or by typed calls. Create it with NewEncoder, or
// call Reset on a zero Encoder. It must not be used by several goroutines at the same
// time.
//
// The output is always a prefix of a valid encoding. An invalid call writes nothing and
// returns a sticky [Error]: all later calls return it, so a program can write without a
// check after each call and check the error of Close or Flush. Reset clears the error,
// and so does ClearError, so that a valid call can be made instead.
//
// An error of the Writer is returned unchanged and is also sticky: until Reset, all
// calls return it, even if the Writer recovered.
//
// An Encoder buffers its output, and writes when the buffer is full, when a top-level
// value is complete, and on Flush. Close ends the output; Reset begins another.
type Encoder struct {
	fastWriter

	// State of earlier calls.
	accepts Type             // while CopyValue writes, the type declared by the container of the Decoder
	copies  bool             // CopyValue writes, and keeps a NUL in a text
	partial int              // number of bytes of an element left incomplete by Write
	rune    wire.PartialRune // the rune left incomplete by Write

	// The options, and fields derived from them.
	options EncoderOptions
	double  int // 1 if DoubleReals is set, otherwise 0: the index of the form of math types

	raw *Decoder // of WriteRaw, kept for its next call
}

// NewEncoder returns an Encoder writing to w, with the zero EncoderOptions if o
// is nil.
func NewEncoder(w io.Writer, o *EncoderOptions) *Encoder {
	e := new(Encoder)
	if o != nil {
		e.options = *o
	}
	e.Reset(w)
	return e
}

// Options returns the options of e. Format is never 0.
func (e *Encoder) Options() EncoderOptions {
	o := e.options
	if o.Format == 0 {
		o.Format = Godot4
	}
	return o
}

// Reset discards the state of e, including unflushed bytes, and makes e write to w,
// starting at offset 0, with the same options.
func (e *Encoder) Reset(w io.Writer) {
	// A half, so that the sum of keep and the size fits an int of 32 bits.
	e.restart(w, int(min(limitBuffered.or(e.options.MaxBuffered), math.MaxInt/2)))
	e.reset()
}

// ResetBytes discards the state of e as Reset does, and makes e append to b instead of writing to a Writer. Bytes
// returns the result, also after Close. e can write to the whole capacity of b, also after the output, so the memory of
// later arguments must not overlap it. The size of containers of [Unknown] count is not limited.
func (e *Encoder) ResetBytes(b []byte) {
	e.restartBytes(b)
	e.reset()
}

// Bytes returns the slice given to ResetBytes with the output appended. After Reset, Bytes
// returns the buffered bytes. The slice is valid until the next call on e that writes.
func (e *Encoder) Bytes() []byte { return e.buf[:e.n] }

// reset prepares for the first value, after a reset of the bytes.
func (e *Encoder) reset() {
	o := &e.options
	if e.format == nil { // the first time
		if o.Format == 0 {
			o.Format = Godot4
		}
		e.double = bit(o.DoubleReals)
		e.configure(o)
	}
	e.init()
	e.attach()
	e.partial, e.rune = 0, wire.PartialRune{}
	if e.format == &unknownFormat {
		_ = e.Fail(unknownFormatError(o.Format))
	}
}

// OutputOffset returns the number of bytes written or buffered since Reset.
func (e *Encoder) OutputOffset() int64 { return int64(e.written) + int64(e.n) }

// Depth returns the number of open containers, including NodePaths, packed arrays, Images
// and strings, and 0 between top-level values.
func (e *Encoder) Depth() int { return e.depth }

// StackIndex describes the open container at level i, from 1, the outermost, to Depth():
// the kind of its first token, the index of the latest element, pair, property or name,
// or -1 before the first, and the declared count, which can be [Unknown]. The index of
// packed data and of strings is -1.
//
// Level 0 contains all values: its kind is 0, its index belongs to the latest top-level
// value, and its count is -1. For other levels, StackIndex returns 0, -1, -1.
func (e *Encoder) StackIndex(i int) (kind Kind, index, count int64) { return e.stackIndex(i) }

// AppendPath appends the location of the latest value to dst, in the form of
// [Decoder.AppendPath]. An Encoder does not keep keys, so the value of the fourth key is
// .value(3).
func (e *Encoder) AppendPath(dst []byte) []byte { return e.appendPath(dst, false, noKey) }

// Flush writes the buffered bytes, except for those from an [Unknown] count of an open
// container on.
func (e *Encoder) Flush() error {
	if err := e.Err(); err != nil {
		return err
	}
	err := e.flush()
	e.follow()
	return err
}

// Close flushes, and returns the buffer to the pool. After an error, Close returns that error,
// and inside a value [ErrIncomplete]; buffered bytes are then lost instead of flushed. Close does
// not close the Writer.
//
// Until the next Reset, Close returns nil and all other calls return [ErrClosed].
func (e *Encoder) Close() error {
	err := e.Err()
	switch {
	case err == ErrClosed:
		return nil
	case err != nil:
	case e.depth > 0:
		err = e.fail(wrapf(ErrIncomplete, "%v without its End", e.top().kind))
	default:
		err = e.flush()
	}
	e.close()
	e.release()
	return err
}

// forget closes e and drops the slice of ResetBytes.
func (e *Encoder) forget() {
	e.close()
	e.release()
	e.sink.forget()
	e.attach()
}

// Err returns the current error of all calls: nil, an [Error], an error of the Writer, or
// [ErrClosed].
func (e *Encoder) Err() error {
	if e.err == nil && e.stack == nil { // Close can drop the stack, but leaves an error
		return errNotReset
	}
	return e.err
}

// ClearError returns and clears the error of an invalid call. The call wrote nothing, so a
// valid call can be made instead. ClearError does not clear an error of Fail or of the
// Writer.
func (e *Encoder) ClearError() error {
	err := e.Err()
	if e.err != nil && !e.permanent {
		e.resume() // first, because updateFastPath does nothing after stop
		e.updateFastPath()
	}
	return err
}

// Fail makes err sticky until Reset, also after ClearError, for code that cannot complete a
// value. Fail wraps err in an [Error] with offset and path, unless err is or wraps an Error,
// and returns the sticky error. Fail(nil) does nothing.
func (e *Encoder) Fail(err error) error { return e.failWith(err, true) }

// failWith makes err, in an Error, the error of e. If permanent is set, ClearError does not clear it.
func (e *Encoder) failWith(err error, permanent bool) error {
	if first := e.Err(); err == nil || e.permanent || first == errNotReset {
		return first
	}
	_ = e.ClearError() // fail would return the error of an invalid call instead of err
	if located := new(Error); !errors.As(err, &located) {
		err = e.fail(err)
	}
	return e.stop(err, permanent)
}

// fail returns the sticky error: the first one, or otherwise err in an Error with the offset and
// path of the next value, that of the current call, because an invalid call writes nothing.
func (e *Encoder) fail(err error) error {
	if first := e.Err(); first != nil {
		e.follow() // an error of the Writer
		return first
	}
	return e.stop(&Error{Offset: e.OutputOffset(), Path: string(e.appendPath(nil, true, noKey)), Err: err}, false)
}

// begin checks that a value of type t may be next and returns its forms. Calls on the slow
// path begin with it, and have written nothing if begin returns an error.
func (e *Encoder) begin(t Type) (*[2]form, error) {
	// Where the fast path is on, there is no error, the container is untyped and the depth is
	// within the limit. Only the count and the types of the format are left to check: -18 % of WriteComponents of int32.
	if e.fast(fastSize) {
		if forms := &e.forms[t&63]; forms[0].typ == t {
			return forms, nil
		}
	}
	if err := e.Err(); err != nil {
		return nil, err
	}
	if w := e.want(); w > lastValue && w != wantDictKey { // typed calls may omit the DictKey
		return nil, e.fail(e.unexpected(t))
	}
	forms := &e.forms[t&63]
	if forms[0].typ != t { // as formatData.has
		return nil, e.fail(wrapf(ErrType, "%v has no %v", e.format, t))
	}
	if e.depth > e.maxDepth {
		return nil, e.fail(&LimitError{Name: limitTable[limitDepth].name, Got: int64(e.depth), Max: int64(e.maxDepth)})
	}
	// CopyValue copies elements of other types, if the Decoder's container declares the same type.
	if elem := e.declared(); elem != e.accepts && !e.admits(t) {
		return nil, e.fail(wrapf(ErrType, "%v in a container of %v", t, elem))
	}
	return forms, nil
}

// writeValue writes a whole value or name in pieces.
func writeValue[S string | []byte](e *Encoder, head []byte, body S, tail []byte) error {
	if err := appendPieces(&e.sink, head, body, tail); err != nil {
		return e.fail(err)
	}
	e.follow()
	return e.endValues(1)
}

// writeBytes writes p, n values, elements of packed data, or bytes of a string. Most data
// fits the buffer and needs none of the checks for pieces: -40 % of WriteComponents of int32, -6 % of
// WritePacked. Data that does not fit, or finds an empty buffer, may be written without a copy. A
// number or vector is never split between two calls of the Writer.
func (e *Encoder) writeBytes(p []byte, n uint64) error {
	if e.n > 0 && len(p) <= e.limit-e.n {
		e.advance(copy(e.buf[e.n:], p))
		return e.endValues(n)
	}
	var head []byte // is not split
	if len(p) <= spareSize {
		head, p = p, nil
	}
	if err := appendPieces(&e.sink, head, p, nil); err != nil {
		return e.fail(err)
	}
	e.follow()
	return e.endValues(n)
}

// open opens a container with frame f, after its head was written. An Unknown count
// is always the last four bytes of the head.
func (e *Encoder) open(f *frame) {
	e.push(&f.content, f.count, 0).setNames(f.names, f.flags)
	if f.has(flagUnknown) {
		e.setRemaining(unknownRemaining)
		e.keepCount() // before anything can flush the head
	}
	e.updateFastPath()
}

// writeStart writes the head of a container in pieces and opens the container with frame f.
func writeStart[S string | []byte](e *Encoder, f *frame, head []byte, body S, tail []byte) error {
	if err := appendPieces(&e.sink, head, body, tail); err != nil {
		return e.fail(err)
	}
	e.open(f)
	return nil
}
