package main

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/edit"
	"github.com/gdwire/gdwire/internal/input"
	"github.com/gdwire/gdwire/internal/recognize"
)

// openContent opens an input that is read several times. The caller closes it.
func (s *stdio) openContent(name string, o *options) (*edit.Content, io.Closer, error) {
	in, err := s.open(name, o)
	if err != nil {
		return nil, nil, err
	}
	r, size, err := in.Content(func() (*input.Source, error) { return s.openContainer(name, o) })
	if err != nil {
		return nil, nil, err
	}
	c := &edit.Content{ReaderAt: r, Size: size, Decoder: o.Decoder, Encoder: o.Encoder()}
	if o.Framed() {
		c.Order = lengthOrder(o.Frame)
	}
	return c, r, nil
}

// lengthOrder returns the byte order of the lengths in a frame.
func lengthOrder(f recognize.Frame) binary.ByteOrder {
	if f == recognize.U32BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// writeContainer calls write with a Writer for the content of the output. The output uses
// the same container as the input.
func (s *stdio) writeContainer(o *options, write func(io.Writer) error) error {
	if o.container == nil || o.container.Container == fileaccess.Plain {
		return write(s.out)
	}
	if o.container.Container == fileaccess.Encrypted && o.key == nil {
		if _, err := s.key("the output", o); err != nil {
			return err
		}
	}
	var out io.Writer = s.out
	if s.outFile != nil { // writing to a file needs constant memory
		out = s.outFile
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
