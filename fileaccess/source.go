package fileaccess

import (
	"io"

	"github.com/gdwire/gdwire/internal/checked"
)

// A source counts the bytes read from r.
type source struct {
	r   io.Reader
	n   int64
	err error // of the latest Read
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
