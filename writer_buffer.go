package gdwire

import (
	"io"
	"math"

	"github.com/valyala/bytebufferpool"

	"github.com/gdwire/gdwire/internal/base/checked"
)

// sink holds the output of an Encoder, see the picture in writer.go, independent of containers.
// Only its methods write its fields, except for n and spare.
//
// An Encoder checks a call before it appends anything, so appended bytes are final, and only
// the Writer can fail. Where bytes must be kept, reserve is called first, because the buffer must
// then hold everything up to the End.
//
// Where nothing is kept, the buffer does not grow: longer data passes through in parts or goes
// directly to the Writer.
type sink struct {
	buf      []byte
	n, limit int // limit is -1 after stop, so that nothing fits

	err       error // returned by all later calls; ErrClosed after release
	permanent bool  // only restart clears err: after Fail, release and errors of the Writer

	keep    int   // position in buf of the outermost Unknown count, or keepNothing; 0 after restartBytes
	counts  []int // positions in buf of the Unknown counts of open containers, the innermost last
	maxKept int   // maximum number of bytes from keep on
	written uint64
	w       io.Writer                  // nil after restartBytes
	buffer  *bytebufferpool.ByteBuffer // of the pool, with buf; nil after restartBytes, when buf is the caller's

	// A value of a math type, or an element split by the end of the buffer. A local array
	// would be allocated, because appendLong can pass the bytes to the Writer.
	spare [spareSize]byte
}

// spareSize is the size of the longest value of a math type, a Projection of 64 bits, with
// its header.
const spareSize = 4 + 16*8

// keepNothing is larger than any position, so that flush writes all of buf[:n].
const keepNothing = math.MaxInt

// restart discards the output and makes w the Writer. At most maxKept bytes are kept.
func (s *sink) restart(w io.Writer, maxKept int) {
	if s.buffer == nil { // otherwise the buffer of the earlier output, perhaps enlarged for kept bytes
		s.buffer = getBuffer(bufferSize)
		s.buf = s.buffer.B
	}
	s.w, s.n, s.written = w, 0, 0
	s.keep, s.counts, s.maxKept = keepNothing, s.counts[:0], maxKept
	s.resume()
}

// restartBytes discards the output and appends to b: first to its capacity, as append does. All
// bytes are kept, as after an Unknown count, so nothing is flushed and reserve enlarges the slice.
func (s *sink) restartBytes(b []byte) {
	s.release()
	s.buf = b[:cap(b)]
	s.n, s.written = len(b), -uint64(len(b))                     // so that OutputOffset is 0
	s.keep, s.counts, s.maxKept = 0, s.counts[:0], math.MaxInt/2 // so that twice the size fits an int
	s.resume()
}

// release returns the buffer to the pool, and refers to neither the buffer nor the Writer any more.
// The caller's slice remains, for Bytes.
func (s *sink) release() {
	_ = s.stop(ErrClosed, true)
	if s.buffer != nil {
		putBuffer(s.buffer)
		s.buffer, s.buf, s.w, s.n = nil, nil, nil, 0
	}
}

// forget drops the caller's slice after release.
func (s *sink) forget() { s.buf, s.n, s.written = nil, 0, 0 }

// stop makes err sticky and returns it. Until resume, nothing fits the buffer, so that the fast path
// need not check for an error of an earlier call.
func (s *sink) stop(err error, permanent bool) error {
	s.err, s.permanent = err, permanent
	s.limit = -1
	return err
}

// resume ends the effect of stop.
func (s *sink) resume() {
	s.err, s.permanent = nil, false
	s.limit = 0
	s.setLimit()
}

// setLimit sets limit, and must be called after a change of the buffer, keep or maxKept.
func (s *sink) setLimit() {
	if s.limit < 0 { // stopped
		return
	}
	s.limit = len(s.buf)
	if s.keeps() {
		s.limit = min(s.limit, s.keep+s.maxKept)
	}
}

// advance appends n bytes that the caller put at buf[s.n:].
func (s *sink) advance(n int) { s.n += n }

// appendPieces appends the bytes of a call: those before the payload, the payload, the only
// long piece, and those after it. With a LimitError, none of them are appended. It is a
// function because methods cannot have type parameters: converting a string would copy it.
func appendPieces[S string | []byte](s *sink, head []byte, body S, tail []byte) error {
	// A long body and an empty buffer are for appendLong, to write the body without copying it if
	// nothing precedes it.
	if len(body) <= s.limit-s.n-len(head)-len(tail) && (s.n > 0 || len(body) < len(s.buf)/2) {
		n := s.n + copy(s.buf[s.n:], head)
		n += copy(s.buf[n:], body)
		s.n = n + copy(s.buf[n:], tail)
		return nil
	}
	err := s.reserve(int64(len(head)) + int64(len(body)) + int64(len(tail))) // the only LimitError
	if err == nil {
		err = s.appendShort(head)
	}
	if err == nil {
		err = appendLong(s, body)
	}
	if err == nil {
		err = s.appendShort(tail)
	}
	return err
}

// The following functions test len(buf) and not limit: where limit is smaller, reserve made
// sure that all bytes fit.

// appendShort appends a piece. If the piece does not fit, appendShort flushes first, and
// splits only a piece longer than the buffer, so never before an Unknown count. It copies p
// and never passes p to the Writer, because then p, a variable of the caller, would be
// allocated: -17 % of writing a String of 64 bytes.
func (s *sink) appendShort(p []byte) error {
	for len(p) > 0 {
		if len(p) > len(s.buf)-s.n && s.n > 0 {
			if err := s.flush(); err != nil {
				return err
			}
		}
		n := copy(s.buf[s.n:], p)
		s.n += n
		p = p[n:]
	}
	return nil
}

// appendLong fills the buffer with a piece of any length. If the buffer is empty and no bytes are
// kept, a piece of at least half its size is written directly. A string cannot be written without
// a copy, because a Writer takes a slice.
func appendLong[S string | []byte](s *sink, p S) error {
	for len(p) > 0 {
		n := 0
		var err error
		if b, ok := any(p).([]byte); ok && s.n == 0 && !s.keeps() && len(b) >= len(s.buf)/2 {
			n, err = s.write(b)
		} else if s.n == len(s.buf) {
			err = s.flush()
		} else {
			n = copy(s.buf[s.n:], p)
			s.n += n
		}
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// appendElements appends n elements of size bytes, at most spareSize. encode puts m of them,
// from element i on, into b. With a LimitError, none of them are appended.
func (s *sink) appendElements(n, size int, encode func(b []byte, i, m int)) error {
	if err := s.reserve(int64(n) * int64(size)); err != nil {
		return err
	}
	for i := 0; i < n; {
		m := min((len(s.buf)-s.n)/size, n-i)
		if m > 0 { // as many as fit, encoded in place
			encode(s.buf[s.n:], i, m)
			s.n += m * size
		} else { // The next element is split by the end of the buffer.
			m = 1
			encode(s.spare[:], i, m)
			if err := appendLong(s, s.spare[:size]); err != nil {
				return err
			}
		}
		i += m
	}
	return nil
}

// flush writes the buffered bytes, except for kept ones, and removes written bytes from the
// buffer, also after an error of the Writer, so that OutputOffset does not count bytes twice.
func (s *sink) flush() error {
	end := min(s.n, s.keep)
	if end == 0 {
		return nil
	}
	n, err := s.write(s.buf[:end])
	if n == s.n { // all, unless counts are Unknown or the Writer fails
		s.n = 0
	} else {
		s.n = copy(s.buf, s.buf[n:s.n])
	}
	if s.keeps() {
		s.keep -= n
		for i := range s.counts {
			s.counts[i] -= n
		}
		s.setLimit()
	}
	return err
}

// write calls the Writer and checks the returned count. An error of the Writer is sticky. This
// is the only call of the Encoder's Writer, and not reached after ResetBytes, because all bytes
// are kept then.
func (s *sink) write(p []byte) (int, error) {
	n, err := checked.Write(s.w, p)
	s.written += uint64(n)
	if err != nil {
		_ = s.stop(err, true)
	}
	return n, err
}

// keeps reports whether bytes are kept.
func (s *sink) keeps() bool { return s.keep != keepNothing }

// keepCount keeps the last four bytes, the placeholder of an Unknown count, and the bytes
// after them until setCount. Inside a container of Unknown count, it only adds a count.
func (s *sink) keepCount() {
	at := s.n - 4
	s.counts = append(s.counts, at)
	s.keep = min(s.keep, at)
	s.setLimit()
}

// setCount sets the count of the innermost container of Unknown count. If this is
// also the outermost, its bytes need not be kept any longer.
func (s *sink) setCount(n uint32) {
	last := len(s.counts) - 1
	le.PutUint32(s.buf[s.counts[last]:], n)
	s.counts = s.counts[:last]
	if last == 0 && s.buffer != nil { // after ResetBytes, all bytes are kept until the next Reset
		s.keep = keepNothing
	}
	s.setLimit()
}

// reserve enlarges the buffer to keep n more bytes, or returns a LimitError if they exceed
// EncoderOptions.MaxBuffered. If no bytes are kept, reserve does nothing.
func (s *sink) reserve(n int64) error {
	if !s.keeps() {
		return nil
	}
	if err := s.checkKept(n); err != nil {
		return err
	}
	size := s.n + int(n) // checkKept bounds both
	if size <= len(s.buf) {
		return nil
	}
	// Twice the size, so that each byte is copied once on average, but no more than can be kept.
	// The old buffer is left to the garbage collector: after ResetBytes it is the caller's.
	buf := make([]byte, max(min(2*len(s.buf), s.keep+s.maxKept), size))
	copy(buf, s.buf[:s.n])
	s.buf = buf
	if s.buffer != nil { // release returns the larger one, unless too large
		s.buffer.B = buf
	}
	s.setLimit()
	return nil
}

// checkKept returns a LimitError if n more bytes would be too many to keep.
func (s *sink) checkKept(n int64) error {
	if n += int64(s.n - s.keep); n > int64(s.maxKept) {
		return &LimitError{Name: limitTable[limitBuffered].name, Got: n, Max: int64(s.maxKept)}
	}
	return nil
}
