package fileaccess

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/gdwire/gdwire/internal/checked"
)

// A source counts the bytes read from r.
type source struct {
	r      io.Reader
	seeker io.Seeker // r, if it can be read again, or nil
	n      int64
	err    error // of the latest Read
}

// newSource returns a source of r. Only Readers of the standard library are read again: a type that embeds one has its Seek, but
// perhaps a Read of its own, which buffers or counts the bytes.
func newSource(r io.Reader) *source {
	switch s := r.(type) {
	case *os.File:
		return &source{r: r, seeker: s}
	case *bytes.Reader:
		return &source{r: r, seeker: s}
	case *strings.Reader:
		return &source{r: r, seeker: s}
	case *io.SectionReader:
		return &source{r: r, seeker: s}
	}
	return &source{r: r}
}

// size returns the number of bytes from the start of reading to the end, or -1 if not known.
func (s *source) size() (int64, error) {
	if s.seeker == nil {
		return -1, nil
	}
	pos, err := s.seeker.Seek(0, io.SeekCurrent)
	if err != nil { // an *os.File that is a pipe
		return -1, nil
	}
	end, err := s.seeker.Seek(0, io.SeekEnd)
	if err != nil {
		return -1, nil
	}
	_, err = s.seeker.Seek(pos, io.SeekStart)
	return s.n + end - pos, err
}

// Read reads at least one byte or returns an error.
func (s *source) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := checked.Read(s.r, p)
	s.n, s.err = s.n+int64(n), err
	return n, err
}

// readFull fills p.
func (s *source) readFull(p []byte) error {
	_, err := io.ReadFull(s, p)
	return s.cut(err)
}

// readN reads n bytes, into memory that grows with the bytes received.
func (s *source) readN(n int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(s, n))
	if err == nil && int64(len(b)) < n {
		err = io.EOF
	}
	return b, s.cut(err)
}

// cut returns err, but for the end of the input an Error with the offset.
func (s *source) cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &Error{s.n, io.ErrUnexpectedEOF}
	}
	return err
}

// readAhead is the number of compressed bytes read at once.
const readAhead = 32 << 10
