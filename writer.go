package gdwire

import (
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
// What it lets out may be unfinished, never wrong: a call that does not fit is an
// [Error], writes nothing, and another can be made in its place. An error of the
// Writer is handed on as it is, and the same call has to be made again; what the
// Writer took of it is not written twice.
//
// It holds back what it can, and writes when its buffer is full, when a
// top-level value is complete, and on Flush.
type Encoder struct {
	state
	w    io.Writer
	buf  []byte
	n    int // buf[:n] is to be written
	held int // open containers of Unknown count: nothing behind hold is written
	hold int // where the outermost of them starts

	written uint64 // bytes that the Writer took
	redo    redo
	rune    [4]byte // the start of a rune that the next Write completes
	partial int     // how much of it is there; or of an element of packed data

	scratch  [8]byte
	options  EncoderOptions
	rows     *[64]row
	maxDepth int
	buffer   *bytebufferpool.ByteBuffer
	raw      *Decoder
}

// redo is the call that an error of the Writer interrupted: it comes again.
type redo struct {
	pending bool
	taken   int     // bytes of it that need not be taken again
	total   int     // bytes in all
	head    [8]byte // the first of them, to know it by
}

// bufferSize is what an Encoder collects before it writes.
const bufferSize = 16 << 10

// NewEncoder returns an Encoder that writes to w. Options of nil are defaults.
func NewEncoder(w io.Writer, o *EncoderOptions) *Encoder {
	e := new(Encoder)
	if o != nil {
		e.options = *o
	}
	e.Reset(w)
	return e
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
	e.rows = &o.Format.rows[double]
	e.maxDepth = int(min(limitDepth.or(int64(o.Depth)), math.MaxInt))
	if e.buffer == nil {
		e.buffer = getBuffer(bufferSize)
		e.buf = e.buffer.B
	}
	e.reset()
	e.w, e.n, e.held, e.partial, e.written = w, 0, 0, 0, 0
	e.redo = redo{}
}

// Release gives the buffer back to the pool, with what was not flushed. Until
// the next Reset every call returns [ErrReleased].
func (e *Encoder) Release() {
	e.shut()
	e.w, e.buf, e.n, e.written = nil, nil, 0, 0
	if e.buffer != nil {
		putBuffer(e.buffer)
		e.buffer = nil
	}
}

// released reports whether there is nothing to write to, nor ever was.
func (e *Encoder) released() bool { return e.current().want == wantNothing }

// Depth, StackIndex and AppendPath tell where it stands, as a Decoder's do.

// OutputOffset returns how many bytes were written or are held back since Reset.
func (e *Encoder) OutputOffset() int64 { return int64(e.written) + int64(e.n) }

// Flush writes what is held back, but for what stands behind the count of an
// open container of [Unknown] size.
func (e *Encoder) Flush() error {
	if e.released() {
		return ErrReleased
	}
	return e.flush()
}

// Close flushes. It is [ErrOpen] if a value is not complete. It does not close
// the Writer, and writing can go on.
func (e *Encoder) Close() error {
	if e.released() {
		return ErrReleased
	}
	if e.Depth() > 0 {
		return e.fail(because(ErrOpen, "%v without its End", e.top.kind))
	}
	if e.redo.pending {
		return e.fail(errInterrupted)
	}
	return e.flush()
}

// fail makes an Error for the call under way.
func (e *Encoder) fail(err error) error {
	if e.released() {
		return ErrReleased
	}
	none := func(int) ([]byte, bool) { return nil, false }
	return &Error{Offset: e.OutputOffset(), Path: string(e.appendPath(nil, true, none)), Err: err}
}

// AppendPath appends where the latest value stands, as [Decoder.AppendPath]
// does; keys are not remembered here, so values are .value(3).
func (e *Encoder) AppendPath(dst []byte) []byte {
	return e.appendPath(dst, false, func(int) ([]byte, bool) { return nil, false })
}

// flush writes what may be written.
func (e *Encoder) flush() error {
	most := e.n
	if e.held > 0 {
		most = e.hold
	}
	if most == 0 {
		return nil
	}
	n, err := e.write(e.buf[:most])
	e.n = copy(e.buf, e.buf[n:e.n])
	if e.held > 0 {
		e.moved(n)
	}
	return err
}

// moved notes that the buffer's content moved n bytes to the front.
func (e *Encoder) moved(n int) {
	e.hold -= n
	for i := range e.Depth() + 1 {
		if f := e.frame(i); f.has(flagUnknown) {
			f.mark -= uint64(n)
		}
	}
}

// write is the Writer's Write, which is not trusted.
func (e *Encoder) write(p []byte) (int, error) {
	n, err := e.w.Write(p)
	if n < 0 || n > len(p) {
		return 0, errBadWrite
	}
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	e.written += uint64(n)
	return n, err
}

// room returns at least n bytes behind what is held back, for commit to take.
func (e *Encoder) room(n int) ([]byte, error) {
	if free := e.buf[e.n:]; len(free) >= n && !e.redo.pending {
		return free, nil
	}
	return e.makeRoom(n)
}

func (e *Encoder) makeRoom(n int) ([]byte, error) {
	if e.held == 0 || e.hold > 0 {
		if err := e.flush(); err != nil {
			return nil, err
		}
	}
	if len(e.buf)-e.n < n {
		buf := make([]byte, max(2*len(e.buf), e.n+n))
		copy(buf, e.buf[:e.n])
		e.buf, e.buffer.B = buf, buf
	}
	return e.buf[e.n:], nil
}

// buffered asks whether size bytes may be kept behind an Unknown count.
func (e *Encoder) buffered(size int) error {
	most := limitBuffered.or(e.options.Buffered)
	if int64(size) <= most {
		return nil
	}
	return e.fail(&LimitError{Name: limitTable[limitBuffered].name, Got: int64(size), Max: most})
}

// hoard asks it of n more, if there is such a count.
func (e *Encoder) hoard(n int) error {
	if e.held == 0 {
		return nil
	}
	return e.buffered(e.n - e.hold + n)
}

// commit takes the n bytes of a call that were put where room said. If they
// complete a top-level value, all is flushed before the call is over.
func (e *Encoder) commit(n int, final bool) error {
	if !final && !e.redo.pending && e.held == 0 {
		e.n += n
		return nil
	}
	if err := e.hoard(n); err != nil {
		return err
	}
	b := e.buf[e.n : e.n+n]
	if err := e.again(n, b); err != nil {
		return err
	}
	if !e.redo.pending {
		e.n += n
	}
	return e.settle(final)
}

// again notes the call under way, or compares it with the interrupted one.
func (e *Encoder) again(total int, head []byte) error {
	r := redo{total: total}
	copy(r.head[:], head)
	if !e.redo.pending {
		e.redo = r
	} else if r.total != e.redo.total || r.head != e.redo.head {
		return e.fail(errInterrupted)
	}
	return nil
}

// settle ends a call of which all bytes have been taken.
func (e *Encoder) settle(final bool) error {
	if final {
		if err := e.flush(); err != nil {
			e.redo.taken, e.redo.pending = e.redo.total, true
			return err
		}
	}
	e.redo.pending = false
	return nil
}

// emit takes a call's bytes: head, text or data, and as many zeros.
func emit[S string | []byte](e *Encoder, head []byte, body S, tail int, final bool) error {
	total := len(head) + len(body) + tail
	if total > len(e.buf) && e.held == 0 {
		return emitLong(e, head, body, tail, final)
	}
	if err := e.hoard(total); err != nil {
		return err
	}
	b, err := e.room(total)
	if err != nil {
		return err
	}
	n := copy(b, head)
	n += copy(b[n:], body)
	n += copy(b[n:], zeros[:tail])
	return e.commit(n, final)
}

// emitLong is emit for more than the buffer holds. The Writer may fail between
// any two bytes of it.
func emitLong[S string | []byte](e *Encoder, head []byte, body S, tail int, final bool) error {
	var first [16]byte
	n := copy(first[:], head)
	n += copy(first[n:], body)
	if err := e.again(len(head)+len(body)+tail, first[:min(n, 8)]); err != nil {
		return err
	}
	skip := e.redo.taken
	err := drain(e, head, &skip)
	if err == nil {
		err = drain(e, body, &skip)
	}
	if err == nil {
		err = drain(e, zeros[:tail], &skip)
	}
	if err != nil {
		e.redo.pending = e.redo.taken > 0
		return err
	}
	return e.settle(final)
}

// drain takes p but for the first skip bytes of it.
func drain[S string | []byte](e *Encoder, p S, skip *int) error {
	n := min(*skip, len(p))
	*skip -= n
	for n < len(p) {
		if b, ok := any(p).([]byte); ok && e.n == 0 && len(b)-n >= len(e.buf) {
			m, err := e.write(b[n:])
			n += m
			e.redo.taken += m
			if err != nil {
				return err
			}
			continue
		}
		m := copy(e.buf[e.n:], p[n:])
		e.n += m
		n += m
		e.redo.taken += m
		if e.n == len(e.buf) {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin asks whether a value of that type may come next.
func (e *Encoder) begin(t Type) (*row, error) {
	f := e.current()
	if f.want > lastValue && f.want != wantDictKey || f.want == wantNothing {
		return nil, e.misplaced(t)
	}
	if !e.options.Format.Has(t) {
		return nil, e.fail(because(ErrType, "%v is none of %v's", t, e.options.Format))
	}
	if depth := e.Depth(); depth > e.maxDepth {
		return nil, e.fail(&LimitError{Name: limitTable[limitDepth].name, Got: int64(depth), Max: int64(e.maxDepth)})
	}
	if f.elem != 0 && !f.admits(t) {
		return nil, e.fail(because(ErrType, "%v in a container of %v", t, f.elem))
	}
	return &e.rows[e.options.Format.id[t]-1], nil
}

// misplaced says what should have come instead.
func (e *Encoder) misplaced(what any) error {
	f := e.top
	switch f.want {
	case wantNothing:
		return ErrReleased
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

// final reports whether a value that comes now, if it is whole, completes a
// top-level one.
func (e *Encoder) final() bool { return e.Depth() == 0 }

// came notes that a value has come: a key, if its marker was left out.
func (e *Encoder) came() {
	if e.top.want == wantDictKey {
		e.step()
	}
	e.step()
}

// open notes that a value begins and f is open around what follows. Its count is
// what was taken before the last behind bytes.
func (e *Encoder) open(f *frame, behind int) {
	if e.top.want == wantDictKey {
		e.step()
	}
	top := e.push(f.kind, f.typ, f.count)
	top.names, top.elem, top.unit, top.size, top.flags = f.names, f.elem, f.unit, f.size, f.flags
	if f.kind == KindPackedStart && f.size == 0 && top.left > 0 {
		top.want = wantName
	}
	if f.has(flagUnknown) {
		top.left, top.count, top.want = math.MaxUint32, math.MaxUint32, top.first()
		top.mark = uint64(e.n - behind - 4)
		if e.held++; e.held == 1 {
			e.hold = e.n - behind - 4
		}
	}
	e.partial = 0
}

// declare puts the count n of what f is into f. Engines take every count as
// 32 bits with a sign.
func (e *Encoder) declare(n int64, f *frame) error {
	most := int64(math.MaxInt32)
	if !e.options.Format.engine && firstWant[f.kind] != wantElem && firstWant[f.kind] != wantDictKey {
		most = math.MaxUint32
	}
	if f.kind == KindStringChunk {
		most -= int64(f.names)
	}
	switch {
	case n == Unknown:
		f.flags |= flagUnknown
	case n < 0 || n > most:
		return e.fail(because(ErrRange, "count of %d", n))
	default:
		f.left, f.count = uint32(n), uint32(n)
	}
	return nil
}

// End ends what a Begin call or Start token opened.
func (e *Encoder) End() error {
	f := e.current()
	unknown := f.has(flagUnknown)
	switch {
	case f.want == wantNothing:
		return ErrReleased
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

// close ends the innermost frame behind text, if it is a string, and nul NULs.
func (e *Encoder) close(text []byte, nul uint32) error {
	f := e.top
	n, tail := f.count-f.left+uint32(len(text)), 0
	switch {
	case f.kind == KindStringChunk:
		n += nul
		tail = int(nul) + padding(n)
	case f.unit == unitByte:
		tail = padding(n)
	}
	if f.has(flagUnknown) && !e.redo.pending {
		if err := e.hoard(len(text) + tail); err != nil {
			return err
		}
		if _, err := e.room(len(text) + tail); err != nil {
			return err
		}
		le.PutUint32(e.buf[f.mark:], n)
		e.held--
	}
	if err := emit(e, nil, text, tail, e.Depth() == 1); err != nil {
		return err
	}
	e.partial = 0
	e.pop()
	return nil
}

// convert takes src as elements of what is open.
func convert[T Packable](e *Encoder, src []T) error {
	u := e.top.unit
	if u == unitFloat32 && anyOverflows(src) {
		return e.fail(because(ErrRange, "element in 32 bits"))
	}
	return e.inPieces(len(src), int(e.top.size), func(b []byte, i, n int) {
		appendPacked(b[:0], src[i:i+n], u)
	})
}

// inPieces takes total elements of size bytes, as many at a time as there is
// room for: put puts n of them, from i on, into b.
func (e *Encoder) inPieces(total, size int, put func(b []byte, i, n int)) error {
	first := min(total, 1) * size
	if e.held > 0 {
		first = total * size
		if err := e.hoard(first); err != nil {
			return err
		}
	}
	b, err := e.room(first)
	if err != nil {
		return err
	}
	put(b, 0, min(total, 1))
	if err := e.again(total*size, b[:min(first, 8)]); err != nil {
		return err
	}
	for i := e.redo.taken / size; i < total; {
		b, err := e.room(size)
		if err != nil {
			e.redo.pending = e.redo.taken > 0
			return err
		}
		n := min(len(b)/size, total-i)
		put(b, i, n)
		i += n
		e.n += n * size
		e.redo.taken += n * size
	}
	e.redo.pending = false
	return nil
}
