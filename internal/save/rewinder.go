package save

import "io"

// A rewinder reads any part of the Reader returned by open, although such a Reader can be read only from the
// start. The latest 256 KiB are kept; for earlier offsets, open is called again.
type rewinder struct {
	in     io.Reader
	open   func() (io.Reader, error)
	at     int64  // the offset after the latest bytes
	latest []byte // up to keptBytes
	err    error  // after the latest bytes
}

// keptBytes is the number of latest bytes to keep. Reading in order, as an edit with splices does,
// steps back by less.
const keptBytes = 256 << 10

// ReadAt also returns an error received with its last bytes, because no other call would.
func (r *rewinder) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		if start := r.at - int64(len(r.latest)); at < start {
			err = r.rewind()
		} else if at < r.at {
			n += copy(p[n:], r.latest[at-start:])
			continue
		} else if err = r.err; err == nil {
			r.read()
		}
		if err != nil {
			return n, err
		}
	}
	if r.err != io.EOF && off+int64(n) == r.at {
		err = r.err
	}
	return n, err
}

// read reads more of the content.
func (r *rewinder) read() {
	if r.latest == nil {
		r.latest = make([]byte, 0, keptBytes)
	}
	if len(r.latest) == cap(r.latest) {
		half := len(r.latest) / 2
		r.latest = r.latest[:copy(r.latest, r.latest[half:])]
	}
	var n int
	n, r.err = r.in.Read(r.latest[len(r.latest):cap(r.latest)])
	r.latest = r.latest[:len(r.latest)+n]
	r.at += int64(n)
}

// rewind opens the content again.
func (r *rewinder) rewind() error {
	in, err := r.open()
	if err == nil {
		r.in, r.at, r.latest, r.err = in, 0, r.latest[:0], nil
	}
	return err
}
