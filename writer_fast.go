package gdwire

import (
	"math"
	"strings"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// A fastWriter holds the bytes and the nesting of an Encoder, and, to write values on the
// fast path, the tables of the format and the depth. Its short methods are inlined; the calls of the
// Encoder contain the rest of the fast path themselves: -10 % of encode against a method with a result
// for each of them.
type fastWriter struct {
	state
	sink

	// buf[:limit] if the fast path may write values, or names and packed strings, otherwise
	// buf[:0]. At most one of them is not empty; see updateFastPath.
	fastValues, fastNames []byte
	nameNUL               uint32 // the number of NULs after a name: 1 for the strings of engines' PackedStringArrays

	// Derived from the options by configure.
	format   *formatData
	forms    *[64][2]form // by type
	plain    bool         // whether these are the forms of Godot4 without DoubleReals, as package variant puts values
	maxDepth int
}

// configure derives the fields for the options of an Encoder.
func (w *fastWriter) configure(o *EncoderOptions) {
	w.format = o.Format.data()
	w.forms = &w.format.forms[bit(o.DoubleReals)&1].byType
	w.plain = w.format == &godot4 && !o.DoubleReals
	w.maxDepth = int(min(limitDepth.or(int64(o.Depth)), math.MaxInt))
}

// fast reports whether the fast path is on, a value may be next and the buffer provides room for size
// bytes. The caller puts a value into free, and calls put. Unlike endValues, put need not flush,
// because the fast path is off at the top level. The mask of n, here and elsewhere, is explained in
// format.go.
func (w *fastWriter) fast(size int) bool {
	return w.n&math.MaxInt <= len(w.fastValues)-size && w.remaining > 0
}

// free returns the bytes for the next value, after fast reported true for fastSize or more. The
// bytes after the value may be overwritten: the next value follows it.
func (w *fastWriter) free() *[fastSize]byte {
	return (*[fastSize]byte)(w.fastValues[w.n&math.MaxInt:])
}

// freeReals is free for a math type, after fast reported true for realsSize. Where the Encoder
// slices fastValues itself, the compiler does not see the check of the bounds in fast.
func (w *fastWriter) freeReals() *[realsSize]byte {
	return (*[realsSize]byte)(w.fastValues[w.n&math.MaxInt:])
}

// put appends and counts the value of n bytes that the caller put into free. Calls of advance and
// count, each marked by an instruction, would be 1.7 % of encode.
func (w *fastWriter) put(n int) {
	w.n += n
	w.remaining--
}

// updateFastPath switches the fast path on or off for the innermost container. It must be called after any
// change of the tested state. The fast path itself calls setFast when it begins and ends containers: -10 % of
// encode.
//
// The slow path checks the elements of typed containers, the names of properties, and the values
// beyond maxDepth. Names are not values, so neither applies to them.
func (w *fastWriter) updateFastPath() {
	if cap(w.fastValues) != cap(w.buf) { // reserve enlarged the buffer
		w.attach()
	}
	limit := max(w.limit, 0) // after stop, there is no fast path
	switch f := w.top(); {
	case f.isUntyped() && w.depth <= w.maxDepth:
		w.setFast(limit, 0, 0)
	case f.kind == KindNodePathStart, f.kind == KindPackedStart && f.size == 0:
		w.setFast(0, limit, w.format.nul(f.typ))
	default:
		w.setFast(0, 0, 0)
	}
}

// attach makes the fast path write to the sink's buffer, and switches it off.
func (w *fastWriter) attach() { w.fastValues, w.fastNames = w.buf[:0], w.buf[:0] }

// setFast lets the fast path write values up to the first limit, or names, each with nul NULs, up
// to the second. The slow path writes all values if both are 0.
func (w *fastWriter) setFast(values, names int, nul uint32) {
	w.fastValues = w.fastValues[:values]
	w.fastNames = w.fastNames[:names]
	w.nameNUL = nul
}

// follow updates the fast path, if it is on, after calls of the sink that can fail, change the limit or
// enlarge the buffer. Bytes never get into an old buffer, because n exceeds its length, but the fast
// path would stay off.
func (w *fastWriter) follow() {
	if len(w.fastValues)+len(w.fastNames) > 0 {
		w.updateFastPath()
	}
}

// stop makes err sticky, see sink.stop, and switches the fast path off, so that it need not check
// for an error.
func (w *fastWriter) stop(err error, permanent bool) error {
	_ = w.sink.stop(err, permanent)
	w.follow()
	return err
}

// release returns the buffer to the pool, see sink.release.
func (w *fastWriter) release() {
	w.sink.release()
	w.attach()
}

// endValues counts n written values, elements or bytes, and flushes a top-level value, because the
// receiver may wait for it.
func (w *fastWriter) endValues(n uint64) error {
	w.count(n)
	if w.depth > 0 {
		return nil
	}
	return w.flush()
}

// Package variant puts structs into the buffer by itself. Containers are opened late there, when another call
// writes a value in them.

// window returns the bytes for values, from n on, and how many containers can be nested in the next value, or -1
// if none may be next.
func (w *fastWriter) window() (b []byte, n, depth int) {
	b, depth = w.fastValues, w.maxDepth-w.depth
	if w.depth == 0 {
		b = w.buf[:max(w.limit, 0)]
	}
	if !w.plain || w.remaining == 0 {
		depth = -1
	}
	return b, w.n, depth
}

// putUpTo counts a value up to n.
func (w *fastWriter) putUpTo(n int) error {
	w.n = n
	return w.endValues(1)
}

// openLate opens a container after its start, and a part of its content, were put before n.
func (w *fastWriter) openLate(n int, t Type, count uint32, left uint64) {
	w.n = n
	form, stack, depth := &w.forms[t&63][0], w.stack, w.depth&math.MaxInt
	if depth > 0 && depth <= len(stack)-2 { // the fast path is on: -1 % of MarshalEncode
		frames := (*[2]frame)(stack[depth:])
		frames[1].init(&form.content, count)
		w.enter(&frames[0], uint64(form.pairs), left)
		return
	}
	w.push(&form.content, count, 0)
	w.setRemaining(left)
	w.updateFastPath()
}

// sync sets the position, and the number of values still to come in the innermost container.
func (w *fastWriter) sync(n int, left uint64) { w.n, w.remaining = n, left }

// rewind closes the containers down to depth, as if nothing of their value was written.
func (w *fastWriter) rewind(depth int) {
	if w.depth > depth {
		w.unwind(depth)
		if depth == 0 {
			w.setFast(0, 0, 0)
		}
	}
}

// appendTwoWords appends a text of at most 16 bytes on the fast path: a value with its header, or a
// name. first contains the first eight, last the last eight if there are more. It returns false after
// appending nothing. -2 % of encode, a group with few such texts.
func (w *fastWriter) appendTwoWords(header uint32, size int, first, last uint64) bool {
	const most = fastSize + 8
	n, length := w.n&math.MaxInt, uint32(size)+w.nameNUL // nameNUL is 0 outside of names
	last >>= uint(8*(16-size)) & 63                      // without the bytes already in first
	if values := w.fastValues; n <= len(values)-most {
		b := (*[most]byte)(values[n:])
		le.PutUint64(b[:], uint64(header)|uint64(length)<<32)
		le.PutUint64(b[8:], first)
		le.PutUint64(b[16:], last)
		w.n = n + 8 + int(wire.Padded(length))
		return true
	} else if names := w.fastNames; n <= len(names)-most {
		b := (*[most]byte)(names[n:])
		le.PutUint32(b[:], length)
		le.PutUint64(b[4:], first)
		le.PutUint64(b[12:], last)
		le.PutUint32(b[20:], 0)
		w.n = n + 4 + int(wire.Padded(length))
		return true
	}
	return false
}

// putName puts a name or packed string with this number of NULs into b, and returns its size. Without
// putName, packed strings of 17 bytes take 2.4 times as many instructions.
func putName[S string | []byte](b []byte, s S, nul uint32) int {
	length := uint32(len(s)) + nul
	le.PutUint32(b, length)
	le.PutUint32(b[4+len(s)&^3:], 0) // the NUL and the padding, before the text overwrites a part of them
	copy(b[4:], s)
	return 4 + int(wire.Padded(length))
}

// realsSize is the size of the longest value of 32-bit components, a Projection, with its
// header.
const realsSize = 4 + 16*4

// writeNodePath writes a NodePath from its text. In one pass, because most are short: -35 % of Marshal.
// The head is put after the names, counted on the way. It returns false if the slow path must write the
// NodePath, or make the error, and overwrite the bytes of PutNames.
func (w *fastWriter) writeNodePath(text string) bool {
	if !w.fast(fastSize + wire.ShortNames) {
		return false
	}
	b := w.fastValues[w.n&math.MaxInt:]
	names, subnames, size, ok := wire.PutNames((*[wire.ShortNames]byte)(b[fastSize:]), text)
	if ok {
		putNodePath(b, w.forms[TypeNodePath][0].header, names, subnames, isAbsolute(text))
		w.put(fastSize + size)
	}
	return ok
}

// isAbsolute returns the flags of a NodePath from its text.
func isAbsolute(text string) uint32 {
	return uint32(bit(strings.HasPrefix(text, "/"))) * nodePathAbsolute
}

// putNodePath puts the head of a NodePath into b.
func putNodePath(b []byte, header, names, subnames, flags uint32) {
	le.PutUint32(b, header)
	le.PutUint32(b[4:], names|newNodePathBit)
	le.PutUint32(b[8:], subnames)
	le.PutUint32(b[12:], flags)
}
