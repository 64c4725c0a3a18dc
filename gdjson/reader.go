package gdjson

import (
	"errors"
	"sync"

	"github.com/gdwire/gdwire"
)

// A reader converts the value of a text and writes the result to an Encoder.
type reader struct {
	text    text
	at      cursor // of the next value
	e       *gdwire.Encoder
	o       Options
	err     error     // the first one, after which e accepts no calls
	scratch []byte    // an unescaped string
	latest  form      // of the previous object
	objects []*object // in which the next value is, up to open; convert would allocate each
	open    int
	batch   batch
}

// batch holds the elements of one call of gdwire.WritePacked.
type batch struct {
	bytes    [256]byte
	ints     [256]int32
	longs    [256]int64
	reals    [256]float64
	vectors2 [128][2]float64
	vectors3 [85][3]float64
	vectors4 [64][4]float64
}

// A form describes the native objects of one type: their members and the method that converts
// them.
type form struct {
	name               string
	typ                gdwire.Type
	convert            func(*reader, *object)
	required, optional memberSet // besides "type"
}

// An object is a native object during reading.
type object struct {
	members
	form
	offset int // where the object begins
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// release returns r to the pool, without the memory of a large value.
func (r *reader) release() {
	r.e, r.err, r.open = nil, nil, 0
	r.text.discard()
	if cap(r.scratch) > 1<<20 || len(r.objects) > 1<<10 {
		r.scratch, r.objects = nil, nil
	}
	readers.Put(r)
}

// refused is the error of the Encoder after an error of the text. The Encoder finds no path for it:
// a lenient reader can ignore many errors.
var refused = &gdwire.Error{Err: errors.New("invalid JSON")}

// fail makes err, unless it is nil, the error of r, with the offset of a value. The Encoder then refuses
// all calls, so later calls write nothing. FromJSON adds the pointer to a returned error: finding a
// pointer takes time proportional to the text.
func (r *reader) fail(offset int, err error) {
	if err != nil && r.err == nil {
		r.err = &Error{Offset: int64(offset), Err: err}
		_ = export.Refuse(r.e, refused)
	}
}

// failf is fail with a cause made by wrapf.
func (r *reader) failf(offset int, cause error, format string, args ...any) {
	r.fail(offset, export.Wrapf(cause, format, args...))
}

// wrote makes err, the Encoder's error for a value, the error of r, with the offset of the value. An
// error of the Writer gets no offset.
func (r *reader) wrote(offset int, err error) {
	if err == nil || r.err != nil {
		return
	}
	if g, ok := err.(*gdwire.Error); ok {
		err = &Error{Offset: int64(offset), Err: g}
	}
	r.err = err
}

// peek returns the first byte of the next value.
func (r *reader) peek() byte { return r.text.json[r.at.pos] }

// enter moves to the first element or name in the next value, an object or array.
func (r *reader) enter() node {
	n := r.text.nodes[r.at.node]
	r.at.node++
	r.at.pos = skipSpace(r.text.json, r.at.pos+1)
	return n
}

// separate moves from the end of an element or member to the next element or member, or to the
// closing bracket.
func (r *reader) separate() {
	b, i := r.text.json, r.at.pos
	if b[i] <= ' ' {
		i = skipSpace(b, i)
	}
	if b[i] == ',' {
		i++
	}
	if b[i] <= ' ' {
		i = skipSpace(b, i)
	}
	r.at.pos = i
}

// leave moves to the end of n.
func (r *reader) leave(n node) { r.at = cursor{int(n.end), int(n.next)} }

// skip moves to the end of the next value.
func (r *reader) skip() {
	switch r.peek() {
	case '{', '[':
		r.leave(r.text.nodes[r.at.node])
	case '"':
		r.at.pos, _ = stringEnd(r.text.json, r.at.pos)
	default:
		r.at.pos = literalEnd(r.text.json, r.at.pos)
	}
}

// literal reads a number, null, true or false, and returns a number as in JSON, valid until the
// next call.
func (r *reader) literal() []byte {
	end := literalEnd(r.text.json, r.at.pos)
	b := r.text.json[r.at.pos:end]
	r.at.pos = end
	if r.o.Lenient {
		r.scratch, b = standardNumber(r.scratch, b)
	}
	return b
}

// string reads a string and returns the content, valid until the next call.
func (r *reader) string() []byte {
	from := r.at.pos
	end, escaped := stringEnd(r.text.json, from)
	r.at.pos = end
	if !escaped {
		return r.text.json[from+1 : end-1]
	}
	r.scratch = appendUnquoted(r.scratch[:0], r.text.json[from+1:end-1])
	return r.scratch
}

// name reads a member's name and moves to the member's value.
func (r *reader) name() []byte {
	name := r.string()
	i := skipSpace(r.text.json, r.at.pos)
	r.at.pos = skipSpace(r.text.json, i+1) // after the colon
	return name
}

// scalar writes null, true or false.
func (r *reader) scalar() {
	at, c := r.at.pos, r.peek()
	r.at.pos = literalEnd(r.text.json, at)
	if c == 'n' {
		r.wrote(at, r.e.WriteNil())
	} else {
		r.wrote(at, r.e.WriteBool(c == 't'))
	}
}

// end writes the End of the container n that began at offset.
func (r *reader) end(offset int, n node) {
	r.leave(n)
	r.wrote(offset, r.e.End())
}

// enterArray moves to the first element of a member that must be an array and returns the number of
// elements. A lenient reader treats other values as empty arrays, as the engine does.
func (r *reader) enterArray(o *object, m member) int {
	r.at = o.at[m]
	if r.peek() == '[' {
		return int(r.enter().count)
	}
	if !r.o.Lenient {
		r.failf(r.at.pos, gdwire.ErrType, "%q is not an array", memberNames[m])
	}
	return 0
}
