package gdwire

import (
	"io"

	"github.com/valyala/bytebufferpool"

	"github.com/gdwire/gdwire/internal/checked"
)

// An input is where the bytes of a window come from. Only the slow path, in which both meet, reads.
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

// restart discards the input and all positions in it. The next input is buf[:end] and then
// what r returns. With a Reader, buf is nil: fetch takes a buffer from the pool.
func (s *slowPath) restart(r io.Reader, buf []byte, end int) {
	s.window.restart(buf, end)
	s.setReader(r)
}

// fetch reads until at least n bytes are buffered after r. It returns the Reader's error,
// or io.EOF at the end of the input, and keeps the bytes read before it. It saves the keys that leave
// the buffer, because a path can need them as long as their containers are open.
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
		s.saveKeys(s.base + uint64(from))
		s.shift(from)
	}
	for err == nil && s.end-s.r < n {
		if s.end == len(s.buf) { // only when all of it is filled, see grow
			s.grow(n)
		}
		var m int
		m, err = s.read(s.buf[s.end:])
		s.fill(m)
	}
	s.setLimit() // also after an error: the same call continues with the bytes before it
	return err
}

// read reads from src into p, up to inputEnd. It returns bytes or an error. If src returns
// both, read returns the error in the next call.
func (s *slowPath) read(p []byte) (int, error) {
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
func (s *slowPath) unneeded(n int) int {
	from := s.r - history
	if s.src == nil || from <= 0 || from < len(s.buf)/4 && len(s.buf)-s.r >= n {
		return 0
	}
	return from
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
// in p. The caller copied the first n of them from the buffer, which is now empty. If src fails
// inside an element, readDirect moves the bytes of that element to the buffer. If once is set, it
// returns after the first elements.
func (s *slowPath) readDirect(p []byte, n, size int, once bool) (int, error) {
	s.bypass(0) // the buffer is empty, and keeps no history for paths: see saveKeys
	var err error
	for n < len(p) && err == nil {
		var m int
		m, err = s.read(p[n:])
		n += m
		s.bypass(m)
		if once && n%size == 0 {
			break
		}
	}
	split := n % size // bytes of an incomplete element, which the next read continues
	n -= split
	s.unread(p[n : n+split])
	s.setLimit()
	return n, err
}
