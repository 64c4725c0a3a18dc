package fileaccess

import (
	"io"
	"os"

	"github.com/gdwire/gdwire/internal/checked"
)

// A sticky holds the error returned by all later calls of a Writer.
type sticky struct{ err error }

// write writes b to w, unless there is an error.
func (s *sticky) write(w io.Writer, b []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = checked.Write(w, b)
	}
	return n, s.err
}

// close calls finish, unless there is an error or finish was called.
func (s *sticky) close(finish func() error) error {
	if s.err == nil {
		s.err = finish()
		if s.err == nil {
			s.err = ErrClosed
		}
	}
	if s.err == ErrClosed {
		return nil
	}
	return s.err
}

// A file is what Writers need of an *os.File to write it out of order.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Seeker
}

// fileOf returns w if it is a file, or nil. A type that embeds an *os.File has its methods, but perhaps a Write of its own, which
// encrypts or counts the bytes, so it is none.
func fileOf(w io.Writer) file {
	if f, ok := w.(*os.File); ok && !appends(f) {
		return f
	}
	return nil
}

// writeAll writes all pieces, one after the other.
func writeAll(w io.Writer, pieces ...[]byte) error {
	for _, p := range pieces {
		if _, err := checked.Write(w, p); err != nil {
			return err
		}
	}
	return nil
}

// A plainWriter writes a Plain file. As with the other files, errors stay.
type plainWriter struct {
	w io.Writer
	sticky
}

func (p *plainWriter) Write(b []byte) (int, error) { return p.write(p.w, b) }

func (p *plainWriter) Close() error { return p.close(func() error { return nil }) }
