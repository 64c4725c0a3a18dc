package input

import "io"

// Rewind returns a Content of what open returns, which can be read only from its start. It is opened
// again for offsets before the latest 256 KiB, which are kept.
func Rewind(open func() (io.ReadCloser, error)) (Content, error) {
	in, err := open()
	return &rewinder{in: in, open: open}, err
}

type rewinder struct {
	in     io.ReadCloser
	open   func() (io.ReadCloser, error)
	at     int64  // the offset after the latest bytes
	latest []byte // up to keptBytes
}

// keptBytes is the number of latest bytes that are kept. Readers that read in order, such as an
// edit with splices, step back by less.
const keptBytes = 256 << 10

func (r *rewinder) ReadAt(p []byte, off int64) (n int, err error) {
	for err == nil && n < len(p) {
		at := off + int64(n)
		if start := r.at - int64(len(r.latest)); at < start {
			err = r.rewind()
		} else if at < r.at {
			n += copy(p[n:], r.latest[at-start:])
		} else {
			err = r.read()
		}
	}
	return n, err
}

// read reads more of the Source.
func (r *rewinder) read() error {
	if r.latest == nil {
		r.latest = make([]byte, 0, keptBytes)
	}
	if len(r.latest) == cap(r.latest) {
		half := len(r.latest) / 2
		r.latest = r.latest[:copy(r.latest, r.latest[half:])]
	}
	free := r.latest[len(r.latest):cap(r.latest)]
	n, err := r.in.Read(free)
	r.latest = r.latest[:len(r.latest)+n]
	r.at += int64(n)
	if n > 0 {
		return nil
	}
	return err
}

// rewind opens the Source again.
func (r *rewinder) rewind() error {
	in, err := r.open()
	if err != nil {
		return err
	}
	err = r.in.Close()
	r.in, r.at, r.latest = in, 0, r.latest[:0]
	return err
}

func (r *rewinder) Close() error { return r.in.Close() }
