package gdwire

import (
	"cmp"
	"io"
	"math"

	"github.com/valyala/bytebufferpool"

	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// An input is the source of the bytes of a window. Only the slow path, with an input and a window, reads.
type input struct {
	src    io.Reader                  // nil after ResetBytes
	srcErr error                      // returned by src together with bytes; returned after them
	buffer *bytebufferpool.ByteBuffer // buf of the window, or nil for memory of the caller
}

// setReader makes r the Reader of the next input.
func (i *input) setReader(r io.Reader) { i.src, i.srcErr = r, nil }

// release returns the buffer to the pool.
func (i *input) release() {
	if i.buffer != nil {
		putBuffer(i.buffer)
		i.buffer = nil
	}
}

// A slowPath holds the state of a lookahead: the fast path, with the bytes and the nesting of both,
// and the options. It reads from the Reader, but knows nothing of earlier calls and makes no [Error]:
// it reports faults.
type slowPath struct {
	fastPath
	input
	fault   fault      // of the current lookahead
	saved   *savedKeys // the latest keys of the open containers that have left the buffer, or nil
	options DecoderOptions
}

// setOptions sets the options, before the first reset.
func (s *slowPath) setOptions(o *DecoderOptions) {
	if o != nil {
		s.options = *o
	}
}

// configure completes the options and derives the fields of the fast path from them.
func (s *slowPath) configure() {
	o := &s.options
	o.Format = cmp.Or(o.Format, Godot4)
	o.MaxChunk = cmp.Or(o.MaxChunk, DefaultMaxChunk)
	s.fastPath.configure(o)
}

// A fault is the reason why a lookahead cannot read a token. Without a kind there is no fault, and
// the other fields mean nothing.
type fault struct {
	err  error
	at   int // of a fault in the input or the call: bytes after the start of the token
	kind faultKind
}

type faultKind uint8

const (
	noFault  faultKind = iota
	inInput            // a sticky Error
	inCall             // an Error for this call only: the call does not read values such as the next
	ofReader           // an error of the Reader; the call can be repeated
	atEnd              // io.EOF, before a top-level value
)

// setFault sets the fault of a bulk read without a lookahead, or clears a fault.
func (s *slowPath) setFault(f fault) { s.fault = f }

// readFault returns the fault after the Reader returned err. io.EOF inside a value is
// io.ErrUnexpectedEOF.
func (s *slowPath) readFault(err error) fault {
	if err != io.EOF {
		return fault{err: err, kind: ofReader}
	}
	remaining := s.end - s.r                                       // bytes of an incomplete token
	short := s.inputEnd != math.MaxUint64 && s.pos() != s.inputEnd // of the given length
	if s.depth > 0 || remaining > 0 || short {
		return fault{io.ErrUnexpectedEOF, remaining, inInput}
	}
	return fault{err: err, kind: atEnd}
}

// restart discards the input and all positions in it. The next input is buf[:end] and then
// the bytes of r. With a Reader, buf is nil: fetch takes a buffer from the pool.
func (s *slowPath) restart(r io.Reader, buf []byte, end int) {
	s.window.restart(buf, end)
	s.setReader(r)
}

// fetch reads until at least n bytes are buffered after r. It returns the Reader's error, or io.EOF
// at the end of the input, and keeps the bytes read before. Keys are saved when they leave the
// buffer, because a path can need them as long as their containers are open.
func (s *slowPath) fetch(n int) (err error) {
	if s.src == nil { // all bytes in memory are in buf from the start
		return io.EOF
	}
	if s.buffer == nil {
		s.buffer = getBuffer(s.maxChunk + history + headroom)
	}
	if s.buf == nil { // after restart
		s.setBuffer(s.buffer.B)
	}
	if from := s.unneeded(n); from > 0 {
		s.makeRoom(from)
	}
	for err == nil && s.end-s.r < n {
		if s.end == len(s.buf) { // only when the buffer is full, see grow
			s.grow(n)
		}
		var m int
		m, err = s.read(s.buf[s.end:], n-(s.end-s.r))
		s.fill(m)
	}
	if s.strict {
		s.stopFast() // the fast path must not read the new bytes before startStrict checked them
	}
	s.setLimit() // also after an error: the same call continues with the bytes before it
	return err
}

// read reads at least this number of bytes from src into p, less at inputEnd, or returns the error before. If src
// returns bytes and an error, read returns the error in the next call.
func (s *slowPath) read(p []byte, least int) (n int, err error) {
	if err := s.srcErr; err != nil {
		s.srcErr = nil
		return 0, err
	}
	// The bytes after inputEnd are not part of the input: on a connection, the next message
	// follows.
	if remaining := s.inputEnd - s.base - uint64(s.end); uint64(len(p)) > remaining {
		if remaining == 0 {
			return 0, io.EOF
		}
		p = p[:remaining]
	}
	least = min(least, len(p))
	for {
		m, err := s.src.Read(p[n:]) // in place: -20 % of bytes that come one by one
		if uint(m) > uint(len(p)-n) {
			m, err = 0, checked.ErrRead
		} else if m == 0 && err == nil {
			m, err = checked.Read(s.src, p[n:])
		}
		if n += m; err != nil {
			if n > 0 { // the bytes can complete a token, to be returned before the error
				s.srcErr, err = err, nil
			}
			return n, err
		}
		if n >= least {
			return n, nil
		}
	}
}

// await reads the rest of the next value, if the fast path reads such values. Whatever the Reader returns at a time, await
// looks at the value only when bytes that tell its size have arrived. It returns false if the value is not whole then. An
// error of the Reader is left to the slow path, which reads again.
func (s *slowPath) await() bool {
	n := s.needed()
	if n <= s.end-s.r || s.strict {
		return false
	}
	if from := s.unneeded(n); from > 0 {
		s.makeRoom(from)
	}
	for s.end-s.r < n {
		m, err := s.read(s.buf[s.end:], n-(s.end-s.r))
		if s.fill(m); err != nil {
			s.srcErr = err
			break
		}
		n = s.needed()
	}
	s.setLimit()
	return s.end-s.r >= n
}

// needed returns the number of bytes of the next value, as far as those in the buffer tell, or 0 for a value that the slow
// path checks before it waits for the rest.
func (s *slowPath) needed() int {
	size, r, buf := 4, s.r&math.MaxInt, s.buf
	n := s.end - r
	if n >= 4 && r <= len(buf)-8 {
		switch form, ok := s.forms.find(le.Uint32(buf[r:])); {
		case !ok:
			return 0
		case form.shape == shapeText && n >= 8:
			length := le.Uint32(buf[r+4:])
			if int64(length) > int64(s.maxWhole) {
				return 0
			}
			size = 8 + int(wire.Padded(length))
		case form.shape == shapeText || form.shape == shapeArray || form.shape == shapeDict:
			size = 8
		case form.shape <= shapeMath:
			size = 4 + int(form.size)
		default:
			return 0
		}
	}
	if r+size > len(buf) || s.pos()+uint64(size) > s.valueEnd {
		return 0
	}
	return size
}

// unneeded returns the number of bytes for fetch(n) to remove from the start of the buffer, or
// 0: the bytes before the history if removing them frees at least a quarter of the buffer, or
// if n bytes do not fit otherwise. If a Reader returns few bytes at a time, fetch therefore
// does not move the buffer for each of them. Memory of the caller is never moved.
func (s *slowPath) unneeded(n int) int {
	from := s.r - history
	if s.src == nil || from <= 0 || from < len(s.buf)/4 && len(s.buf)-s.r >= n {
		return 0
	}
	return from
}

// makeRoom removes the bytes before from, and saves the keys among them.
func (s *slowPath) makeRoom(from int) {
	s.saveKeys(s.base + uint64(from))
	s.shift(from)
}

// grow enlarges the buffer to hold n bytes after r, at most doubling it, so that memory
// follows the bytes received and not a declared length.
func (s *slowPath) grow(n int) {
	size := s.r + n
	if size-len(s.buf) > len(s.buf) { // 2*len(s.buf) itself may not be an int
		size = 2 * len(s.buf)
	}
	s.setBuffer(append(make([]byte, 0, size), s.buf[:s.end]...)[:size])
	s.buffer.B = s.buf
}

// readDirect reads whole elements of size bytes from src into p, and returns the number of bytes
// in p. The caller copied the first n of them from the buffer and left it empty. If src fails
// inside an element, readDirect moves the bytes of that element to the buffer. If once is set,
// readDirect returns after the first elements.
func (s *slowPath) readDirect(p []byte, n, size int, once bool) (int, error) {
	s.bypass(0) // the buffer is empty, and keeps no history for paths: see saveKeys
	var err error
	for n < len(p) && err == nil {
		var m int
		m, err = s.read(p[n:], 1)
		n += m
		s.bypass(m)
		if once && n%size == 0 {
			break
		}
	}
	split := n % size // bytes of an incomplete element, continued by the next read
	n -= split
	s.unread(p[n : n+split])
	s.setLimit()
	return n, err
}

// A savedKey holds a copy of a key after its bytes have left the buffer, in an array, so that the
// saved keys of all depths are one allocation.
type savedKey struct {
	data [maxKey + 1]byte
	n    uint8
	typ  Type
}

// savedKeys holds a key for each frame of a stack.
type savedKeys []savedKey

// at returns the key of frame i of a stack of n frames.
func (k *savedKeys) at(i, n int) *savedKey {
	if len(*k) <= i {
		*k = append(make([]savedKey, 0, n), *k...)[:n]
	}
	return &(*k)[i]
}

// saveKeys saves the keys starting before pos, because these bytes are about to leave the buffer,
// down to the first frame with a key that left the buffer before: the keys of outer frames start
// earlier. Most keys are never saved: their containers end while they are in the history.
func (s *slowPath) saveKeys(pos uint64) {
	for i := s.depth; i > 0; i-- {
		f := s.spill(i)
		if f.keyPos < s.base {
			return
		}
		if f.keyPos >= pos || f.pairs == 0 { // without pairs, keyPos is the start of the container
			continue
		}
		if s.saved == nil {
			s.saved = new(savedKeys)
		}
		typ, data := s.key(i)
		k := s.saved.at(i, len(s.stack))
		k.n, k.typ = uint8(copy(k.data[:], data)), typ
	}
}

// dropKeys frees the memory of saved keys, for Release.
func (s *slowPath) dropKeys() { s.saved = nil }

// key returns the type of the latest key or property of frame i, String for a property, and its
// bytes: at most maxKey+1 bytes of the text, or the payload of a value of fixed size. The type is 0
// for a key not shown in paths. key decodes the key again from the buffer: reading a key stores only
// its position.
func (s *slowPath) key(i int) (Type, []byte) {
	f := s.spill(i)
	if f.keyPos < s.base { // saveKeys saw it leave
		k := &(*s.saved)[i]
		return k.typ, k.data[:k.n]
	}
	b := s.buf[f.keyPos-s.base : s.end]
	typ := TypeString
	if f.kind == KindDictStart { // a property is a name without a header
		form := s.forms.lookup(le.Uint32(b))
		b = b[4:]
		switch {
		case form != nil && form.shape == shapeText:
			typ = form.typ
		// The types up to Color are numbers and vectors; an id or a matrix would not help a reader.
		case form != nil && form.shape <= shapeMath && form.typ <= TypeColor && form.size <= maxKey:
			return form.typ, b[:form.size]
		default:
			return 0, nil
		}
	}
	n := le.Uint32(b)
	b = b[4:]
	return typ, b[:min(uint64(n), uint64(len(b)), maxKey+1)]
}
