package gdjson

import (
	"sync"

	"github.com/gdwire/gdwire"
)

// A reader converts the value of a text and writes the result to an Encoder.
type reader struct {
	text    text
	at      cursor // of the next value
	e       *gdwire.Encoder
	o       Options
	scratch []byte // an unescaped string
	latest  form   // of the previous object
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

var readers = sync.Pool{New: func() any { return new(reader) }}

// release returns r to the pool, without the memory of a large value.
func (r *reader) release() {
	r.e = nil
	r.text.discard()
	if cap(r.scratch) > 1<<20 {
		r.scratch = nil
	}
	readers.Put(r)
}

// errorAt returns an Error for the value at an offset. FromJSON adds the pointer to a returned
// error: finding a pointer takes time proportional to the text, and a lenient reader can ignore
// many errors.
func (r *reader) errorAt(offset int, err error) error {
	return &Error{Offset: int64(offset), Err: err}
}

// failf returns an Error for the value at an offset, with a cause made by wrapf.
func (r *reader) failf(offset int, cause error, format string, args ...any) error {
	return r.errorAt(offset, export.Wrapf(cause, format, args...))
}

// wrote adds the offset of a value to the Encoder's error for the value. An error of the Writer is
// returned unchanged.
func (r *reader) wrote(offset int, err error) error {
	if g, ok := err.(*gdwire.Error); ok {
		return r.errorAt(offset, g)
	}
	return err
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
func (r *reader) scalar() error {
	at := r.at.pos
	switch r.peek() {
	case 'n':
		r.at.pos += len("null")
		return r.wrote(at, r.e.WriteNil())
	case 't':
		r.at.pos += len("true")
		return r.wrote(at, r.e.WriteBool(true))
	default:
		r.at.pos += len("false")
		return r.wrote(at, r.e.WriteBool(false))
	}
}

// end writes the End of the container n that began at offset.
func (r *reader) end(offset int, n node) error {
	r.leave(n)
	return r.wrote(offset, r.e.End())
}

// enterArray moves to the first element of a member that must be an array and returns the number of
// elements. A lenient reader treats other values as empty arrays, as the engine does.
func (r *reader) enterArray(o *object, m member) (int, error) {
	r.at = o.at[m]
	switch {
	case r.peek() == '[':
		return int(r.enter().count), nil
	case r.o.Lenient:
		return 0, nil
	}
	return 0, r.failf(r.at.pos, gdwire.ErrType, "%q is not an array", memberNames[m])
}
