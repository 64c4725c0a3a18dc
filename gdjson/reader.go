package gdjson

import (
	"errors"
	"math/bits"
	"sync"

	"github.com/gdwire/gdwire"
)

// What the args of each type consist of, and the reader that writes the value of a text to an Encoder.

// A shape describes the args of a type.
type shape struct {
	unit unit
	n    int // components of a math type, or of an element of a packed array
	math bool
	wire []int // the index of each arg in the binary format, if the order differs
}

// A unit is the kind of a number in args.
type unit uint8

const (
	unitNone unit = iota
	unitByte
	unitInt32
	unitInt64
	unitReal // float32 or float64, by the width of the token
	unitText // a plain string
)

// JSON lists a Basis by columns, the binary format by rows.
var (
	basisColumns       = []int{0, 3, 6, 1, 4, 7, 2, 5, 8}
	transform3DColumns = []int{0, 3, 6, 1, 4, 7, 2, 5, 8, 9, 10, 11}
)

// shapes contains the shapes of math types, packed arrays and Image.
var shapes = func() (all [256]shape) {
	for _, t := range gdwire.Types() {
		n, integers := t.Components()
		elem := t.Element()
		s := &all[t]
		switch s.n = max(n, 1); {
		case n > 0:
			s.math, s.unit = true, numberUnit(integers, 32)
		case elem == gdwire.TypeString:
			s.unit = unitText
		case elem != 0:
			if n, integers = elem.Components(); n > 0 {
				s.n = n
			}
			s.unit = numberUnit(integers || elem == gdwire.TypeInt, t.ElementWidth())
		case t == gdwire.TypeImage:
			s.unit = unitByte
		default:
			s.n = 0
		}
	}
	all[gdwire.TypeBasis].wire, all[gdwire.TypeTransform3D].wire = basisColumns, transform3DColumns
	return all
}()

// numberUnit returns the unit of numbers of the given width.
func numberUnit(integers bool, bits int) unit {
	switch {
	case !integers:
		return unitReal
	case bits == 8:
		return unitByte
	case bits == 32:
		return unitInt32
	}
	return unitInt64
}

// types contains the built-in types by name.
var types = func() map[string]gdwire.Type {
	m := make(map[string]gdwire.Type)
	for _, t := range gdwire.Types() {
		m[t.String()] = t
	}
	return m
}()

// declaredText returns the string for e in elem_type, key_type or value_type, as the
// engine writes it: the name of a built-in type, a class, or the res:// path of a
// script. ok is false if the engine would read the string as another of these three.
// member is the kind of e: builtin, class or script.
func declaredText(e gdwire.Elem) (member, text string, ok bool) {
	text = e.String()
	switch {
	case e.Script != "":
		return "script", text, isScript(text)
	case e.Class != "":
		return "class", text, !isScript(text) && !isBuiltin(text)
	default:
		return "builtin", text, isBuiltin(text)
	}
}

// isBuiltin reports whether the engine reads s as a built-in type. The engine reads "Object" as the
// class, not as the built-in type.
func isBuiltin(s string) bool {
	t, ok := types[s]
	return ok && t != gdwire.TypeObject
}

// isScript reports whether the engine reads s as the path of a script.
func isScript(s string) bool { return len(s) >= 6 && s[:6] == "res://" }

// A member identifies a member of native objects by its name.
type member uint8

const (
	memberType member = iota
	memberArgs
	memberProps
	memberElemType
	memberKeyType
	memberValueType
	memberID
	memberName
	memberObject
	memberFormat
	memberMipmaps
	memberWidth
	memberHeight
	memberEvent
	memberDevice
	memberData
	numMembers
)

var memberNames = [numMembers]string{
	"type", "args", "props", "elem_type", "key_type", "value_type", "id", "name", "object",
	"format", "mipmaps", "width", "height", "event", "device", "data",
}

func memberOf(name []byte) (member, bool) {
	for i, s := range memberNames {
		if s == string(name) {
			return member(i), true
		}
	}
	return 0, false
}

// members holds the members of an object and the positions of their values.
type members struct {
	set memberSet
	at  [numMembers]cursor
}

func (m *members) has(i member) bool { return m.set&(1<<i) != 0 }

type memberSet uint32

func setOf(all ...member) (s memberSet) {
	for _, m := range all {
		s |= 1 << m
	}
	return s
}

// first returns the name of the first member in s.
func (s memberSet) first() string { return memberNames[bits.TrailingZeros32(uint32(s))] }

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
