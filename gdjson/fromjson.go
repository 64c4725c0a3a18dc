package gdjson

import (
	"io"
	"math"
	"sync"

	"github.com/gdwire/gdwire"
)

// FromJSON reads one JSON value from r, up to the end of r, and writes it to e.
//
// Counts precede content in the binary format, so FromJSON holds the text in memory,
// at most [gdwire.EncoderOptions].MaxBuffered bytes, and an index of 12 bytes for each
// object and array. Longer text is a [gdwire.LimitError]. FromJSON reads the bytes of a
// [bytes.Buffer] in place, without copying them, so nothing must write to the Buffer before
// FromJSON returns.
//
// Invalid JSON, and a value that e cannot write, is an [Error]. If FromJSON wrote
// nothing, e is unchanged and remains usable. Otherwise the error stays
// in e, as after [gdwire.Encoder.Fail]; an error of e's Writer stays, too. An error
// of r is returned unchanged.
func FromJSON(e *gdwire.Encoder, r io.Reader, opts ...Options) error {
	o := optionsOf(opts)
	if err := e.Err(); err != nil {
		return err
	}
	p := readers.Get().(*reader)
	defer p.release()
	p.e, p.o = e, *o
	most := e.Options().MaxBuffered
	switch {
	case most < 0:
		most = math.MaxInt64
	case most == 0:
		most = defaultMaxBuffered
	}
	// readMembers checks the names in native objects, where every member is known.
	unique := p.o.Plain && !p.o.Lenient
	if err := p.text.read(r, most, unique, p.o.Lenient); err != nil {
		return err
	}
	start := e.OutputOffset()
	p.at = cursor{pos: skipSpace(p.text.json, 0)}
	var err error
	if p.o.Plain {
		err = p.plain()
	} else {
		err = p.native()
	}
	if fault, ok := err.(*Error); ok {
		fault.Pointer = p.text.pointer(fault.Offset)
	}
	switch {
	case err == nil:
	case e.OutputOffset() == start:
		_ = e.ClearError() // err
	default:
		_ = e.Fail(err) // err, with the Encoder's offset and path
	}
	return err
}

// defaultMaxBuffered is the limit if EncoderOptions.MaxBuffered is 0.
const defaultMaxBuffered = 8 << 20

// A reader converts the value of a text and writes it to an Encoder.
type reader struct {
	text    text
	at      cursor // of the next value
	e       *gdwire.Encoder
	o       Options
	scratch []byte // an unescaped string
	latest  form   // of the previous object
	batch   batch
}

// A cursor is a position in a text: the offset of a value and the index of the
// first node at or after this offset.
type cursor struct {
	pos, node int
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

// errorAt returns an Error for the value at an offset. FromJSON adds the pointer to
// the error that it returns: finding a pointer takes time proportional to the text,
// and a lenient reader can ignore many errors.
func (r *reader) errorAt(offset int, err error) error {
	return &Error{Offset: int64(offset), Err: err}
}

// failf returns an Error for the value at an offset, with a cause that wrapf makes.
func (r *reader) failf(offset int, cause error, format string, args ...any) error {
	return r.errorAt(offset, wrapf(cause, format, args...))
}

// wrote adds the offset of a value to the error that the Encoder returned for it.
// An error of the Writer is returned unchanged.
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

// literal reads a number, null, true or false. It returns a number as in JSON, valid until
// the next call.
func (r *reader) literal() []byte {
	end := literalEnd(r.text.json, r.at.pos)
	b := r.text.json[r.at.pos:end]
	r.at.pos = end
	if r.o.Lenient {
		r.scratch, b = standardNumber(r.scratch, b)
	}
	return b
}

// string reads a string and returns its content, valid until the next call.
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

// name reads a member's name and moves to its value.
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
