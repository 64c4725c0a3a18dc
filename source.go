package gdwire

import (
	"io"
	"math"

	"github.com/valyala/bytebufferpool"

	"github.com/gdwire/gdwire/internal/checked"
)

// source has the bytes that a Decoder reads. It does not depend on containers, and alone
// writes its fields.
//
//	buf[:r]       consumed; the last bytes are kept for paths
//	buf[r:limit]    read, not consumed
//	buf[limit:end]  read, beyond Limits.Bytes
//	buf[end:]     free
//
// 0 ≤ r ≤ limit ≤ end ≤ len(buf). A position is a number of bytes since the creation of the
// Decoder. Reset and Release do not set it back, so positions never repeat: a stale token or
// loop is found by comparing positions, and nothing has to be cleared.
type source struct {
	tokenSource

	// buf[:limit] if the fast path may read values there, or names and packed strings,
	// otherwise nil. At most one of them is set; see fastPath.startFast.
	fastValues, fastNames []byte
	nameNUL               uint32 // the number of NULs that engines write after each of these names

	r, limit, end int
	src           io.Reader // nil after ResetBytes
	srcErr        error     // returned by src together with bytes; returned after them
	buffer        *bytebufferpool.ByteBuffer

	origin     uint64 // the position of offset 0
	valueStart uint64 // the position of the top-level value
	valueEnd   uint64 // its maximum end, by Limits.Bytes or inputEnd
	inputEnd   uint64 // the position of the end of the input, or MaxUint64 if its length was not given
}

// tokenSource has the buffer with the payload of the latest token. Tokens refer to it.
type tokenSource struct {
	buf  []byte
	base uint64 // the position of buf[0]
	mark mark
}

// A mark identifies the latest token. It is the position of its first byte, and payloadBit if
// the token has a payload that is valid. DictKey and End, which consume nothing, have none.
type mark uint64

const payloadBit mark = 1 << 63

// markAt returns the mark of a token with a payload that begins at pos.
func markAt(pos uint64) mark { return mark(pos) | payloadBit }

// pos returns the position of the token.
func (m mark) pos() uint64 { return uint64(m &^ payloadBit) }

// tokenPos returns the position of the latest token.
func (s *tokenSource) tokenPos() uint64 { return s.mark.pos() }

// hasPayload reports whether the payload of the latest token is valid.
func (s *tokenSource) hasPayload() bool { return s.mark&payloadBit != 0 }

// markToken makes a token with a payload that begins at pos the latest.
func (s *tokenSource) markToken(pos uint64) { s.mark = markAt(pos) }

// markEmpty makes a token without a payload that begins at pos the latest.
func (s *tokenSource) markEmpty(pos uint64) { s.mark = mark(pos) }

// drop invalidates the payload of the latest token.
func (s *tokenSource) drop() { s.mark &^= payloadBit }

// keep makes the payload of the latest token valid, after a call that has marked it as empty. The
// functions that typed reads and ReadToken share mark tokens as empty, because typed reads return
// none; only ReadToken calls keep.
func (s *tokenSource) keep() { s.mark |= payloadBit }

// pos returns the position of the first byte that is not consumed.
func (s *source) pos() uint64 { return s.base + uint64(s.r) }

// hasFast reports whether the fast path can read the next value: whether a header and 12 bytes
// after it are buffered. left is state.remaining. A condition apart from peekFast is -1 % of
// typed reads against one call that returns nil.
func (s *source) hasFast(left uint64) bool {
	return s.r&math.MaxInt <= len(s.fastValues)-fastSize && left > 0
}

// peekFast returns the first bytes of the next value, after hasFast has reported true. The mask,
// which changes no position, shows the compiler that r is not negative: -0.6 % of typed reads.
func (s *source) peekFast() *[fastSize]byte {
	return (*[fastSize]byte)(s.fastValues[s.r&math.MaxInt:])
}

// pass consumes the bytes up to r, a token with a payload that begins at pos.
func (s *source) pass(r int, pos uint64) { s.r, s.mark = r, mark(pos)|payloadBit }

// passEmpty consumes the bytes up to r, a token that begins at pos and has no payload, or whose
// payload no Token refers to.
func (s *source) passEmpty(r int, pos uint64) { s.r, s.mark = r, mark(pos) }

// setPos consumes the bytes up to r, for a loop that keeps r in a local variable and marks the latest
// token at its end.
func (s *source) setPos(r int) { s.r = r }

// consume consumes n bytes.
func (s *source) consume(n int) { s.r += n }

// restart discards the input and all positions in it. The next input is buf[:end] and then
// what r returns. With a Reader, buf is nil: fetch takes a buffer from the pool.
func (s *source) restart(r io.Reader, buf []byte, end int) {
	// An End can have the position after the last byte, so the first new position is larger. Tokens
	// and loops of the previous input then differ from all new ones in their positions.
	s.base += uint64(s.end) + 1
	s.origin = s.base
	s.markEmpty(s.base)
	s.r, s.limit, s.end = 0, end, end
	s.buf, s.src, s.srcErr = buf, r, nil
	s.inputEnd = math.MaxUint64
}

// release returns the buffer to the pool.
func (s *source) release() {
	if s.buffer != nil {
		putBuffer(s.buffer)
		s.buffer = nil
	}
}

// endAt sets the position of the end of the input.
func (s *source) endAt(pos uint64) { s.inputEnd = pos }

// startValue makes pos the start of the top-level value, which has at most this number of bytes.
func (s *source) startValue(most uint64) {
	s.valueStart = s.pos()
	s.valueEnd = min(s.inputEnd, s.valueStart+most)
	s.limit = s.readable()
}

// readable returns limit: end, or the end of Limits.Bytes. Before the first value, valueEnd is
// less than base; the difference then wraps to a large number, so that end decides.
func (s *source) readable() int { return int(min(uint64(s.end), s.valueEnd-s.base)) }

// setLimit sets limit, and the bytes of the fast path to the same.
func (s *source) setLimit() {
	s.limit = s.readable()
	if s.fastValues != nil {
		s.fastValues = s.buf[:s.limit]
	} else if s.fastNames != nil {
		s.fastNames = s.buf[:s.limit]
	}
}

// stopFast makes the slow path read what follows.
func (s *source) stopFast() { s.fastValues, s.fastNames = nil, nil }

// readValuesFast lets the fast path read values.
func (s *source) readValuesFast() { s.fastValues, s.fastNames = s.buf[:s.limit], nil }

// readNamesFast lets the fast path read names and packed strings.
func (s *source) readNamesFast(nul uint32) {
	s.fastValues, s.fastNames, s.nameNUL = nil, s.buf[:s.limit], nul
}

// fetch reads until at least n bytes are buffered after r. It returns the Reader's error,
// or io.EOF at the end of the input, and keeps the bytes read before it. size is the size of a
// new buffer.
func (s *source) fetch(n, size int) (err error) {
	if s.src == nil { // all bytes in memory are in buf from the start
		return io.EOF
	}
	if s.buffer == nil {
		s.buffer = getBuffer(size)
	}
	if s.buf == nil { // after restart
		s.buf = s.buffer.B
	}
	if from := s.unneeded(n); from > 0 {
		s.end = copy(s.buf, s.buf[from:s.end])
		s.base += uint64(from)
		s.r = history
	}
	for err == nil && s.end-s.r < n {
		if s.end == len(s.buf) { // only when all of it has been filled, see grow
			s.grow(n)
		}
		var m int
		m, err = s.read(s.buf[s.end:])
		s.end += m
	}
	s.setLimit() // also after an error: the same call continues with the bytes before it
	return err
}

// read reads from src into p, up to inputEnd. It returns bytes or an error. If src returns
// both, read returns the error in the next call.
func (s *source) read(p []byte) (int, error) {
	if err := s.srcErr; err != nil {
		s.srcErr = nil
		return 0, err
	}
	// The bytes after inputEnd are not part of the input: on a connection, the next message
	// follows.
	if left := s.inputEnd - s.base - uint64(s.end); uint64(len(p)) > left {
		if left == 0 {
			return 0, io.EOF
		}
		p = p[:left]
	}
	n, err := checked.Read(s.src, p)
	if n > 0 { // the bytes can complete a token, which then must be returned before the error
		s.srcErr = err
		err = nil
	}
	return n, err
}

// unneeded returns the number of bytes that fetch(n) removes from the start of the buffer, or
// 0. It removes those before the history if that frees at least a quarter of the buffer, or
// if n bytes do not fit otherwise. A Reader that returns few bytes at a time therefore does not
// make fetch move the buffer for each of them. Memory of the caller is never moved.
func (s *source) unneeded(n int) int {
	from := s.r - history
	if s.src == nil || from <= 0 || from < len(s.buf)/4 && len(s.buf)-s.r >= n {
		return 0
	}
	return from
}

// grow enlarges the buffer to hold n bytes after r, at most doubling it, so that memory
// follows the bytes received and not a declared length.
func (s *source) grow(n int) {
	size := s.r + n
	if size-len(s.buf) > len(s.buf) { // 2*len(s.buf) itself may not be an int
		size = 2 * len(s.buf)
	}
	s.buf = append(make([]byte, 0, size), s.buf[:s.end]...)[:size]
	s.buffer.B = s.buf
}

// readDirect reads whole elements of size bytes from src into p, and returns the number of bytes
// in p. The caller has copied the first n of them from the buffer and has consumed all of it. If
// src fails inside an element, readDirect moves the bytes of that element to the buffer. If once
// is set, it returns as soon as it has elements.
func (s *source) readDirect(p []byte, n, size int, once bool) (int, error) {
	s.base += uint64(s.end) // the buffer is empty, and has no history for paths: see saveKeys
	s.r, s.end = 0, 0
	var err error
	for n < len(p) && err == nil {
		var m int
		m, err = s.read(p[n:])
		n += m
		s.base += uint64(m)
		if once && n%size == 0 {
			break
		}
	}
	split := n % size // bytes of an incomplete element, which the next read continues
	n -= split
	s.base -= uint64(split)
	s.end = copy(s.buf, p[n:n+split])
	s.setLimit()
	return n, err
}
