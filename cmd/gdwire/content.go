package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/edit"
	"github.com/gdwire/gdwire/internal/recognize"
)

// maxInMemory is the maximum size of JSON, and of an input that can be read only once.
const maxInMemory = 1 << 30

// content opens an input that is read several times: a file, the content of a container,
// which is opened again, or a pipe, which is read into memory.
func (s *screen) content(name string, o *options) (*edit.Content, io.Closer, error) {
	in, err := s.open(name, o)
	if err != nil {
		return nil, nil, err
	}
	c := &edit.Content{Size: in.size, Decoder: o.decoder, Encoder: o.encoder()}
	if o.framed() {
		c.Order = lengthOrder(o.frame)
	}
	f, ok := in.file.(*os.File)
	switch {
	case ok && in.info != nil && o.container.Container == fileaccess.Plain:
		c.ReaderAt = io.NewSectionReader(f, o.skip, in.size)
		return c, in, nil
	case ok && in.info != nil && in.size >= 0:
		r := &rewinder{in: in, open: func() (*source, error) { return s.openContainer(name, o) }}
		c.ReaderAt = r
		return c, r, nil
	}
	data, err := in.readAll()
	c.ReaderAt, c.Size = bytes.NewReader(data), int64(len(data))
	return c, in, err
}

// readAll reads the content into memory.
func (in *source) readAll() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxInMemory+1))
	if err == nil && len(data) > maxInMemory {
		err = fmt.Errorf("%s is larger than 1 GiB, the limit in memory", in.name)
	}
	return data, err
}

func lengthOrder(f recognize.Frame) binary.ByteOrder {
	if f == recognize.U32BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// A rewinder is a ReaderAt for a source that can be read only from its start. It opens the
// source again for offsets before the latest bytes, which it keeps.
type rewinder struct {
	in     *source
	open   func() (*source, error)
	at     int64  // the offset after the latest bytes
	latest []byte // up to keptBytes
}

// keptBytes is larger than the steps back of those who read in order.
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

// read reads more of the source.
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

// rewind opens the source again.
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

// seal writes content in the same container as the input.
func (s *screen) seal(o *options, write func(io.Writer) error) error {
	if o.container == nil || o.container.Container == fileaccess.Plain {
		return write(s.out)
	}
	if o.container.Container == fileaccess.Encrypted && o.key == nil {
		if _, err := s.key("the output", o); err != nil {
			return err
		}
	}
	var out io.Writer = s.out
	if s.file != nil { // writing to a file needs constant memory
		out = s.file
	}
	w, err := fileaccess.NewWriter(out, *o.container, o.key)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(w, outBuffer)
	if err := write(buffered); err != nil {
		return err
	}
	return cmp.Or(buffered.Flush(), w.Close())
}
