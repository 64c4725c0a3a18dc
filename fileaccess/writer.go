package fileaccess

import (
	"io"

	"github.com/gdwire/gdwire/internal/checked"
)

// NewWriter returns a Writer of a file of the kind that info describes: plain, compressed,
// or encrypted with key. Close completes the file and does not close w.
func NewWriter(w io.Writer, info Info, key *Key) (io.WriteCloser, error) {
	var out io.WriteCloser
	var err error
	switch info.Container {
	case Plain:
		out = &plainWriter{w: w}
	case Compressed:
		out, err = NewCompressedWriter(w, info.Mode, info.BlockSize)
	case Encrypted:
		out, err = NewEncryptedWriter(w, info.Layout, key)
	default:
		err = errorf(0, ErrContainer, "%d", info.Container)
	}
	if err != nil {
		return nil, err // not a nil pointer in an interface
	}
	return out, nil
}

// A plainWriter writes a Plain file. As those of the other files, its errors stay.
type plainWriter struct {
	w io.Writer
	sticky
}

func (p *plainWriter) Write(b []byte) (n int, err error) {
	if p.err == nil {
		n, p.err = checked.Write(p.w, b)
	}
	return n, p.err
}

func (p *plainWriter) Close() error { return p.close(func() error { return nil }) }
