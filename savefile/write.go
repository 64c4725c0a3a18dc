package savefile

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
)

// WriteTo writes f as Info describes it, and returns the number of bytes written. If Format and
// Lengths are those of the file that was read, the content is written byte by byte; otherwise the
// values are encoded again. Encrypted files, and compressed files, are kept in memory until they
// are complete; Save keeps only compressed files.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	c := &counter{w: w}
	err := f.write(c)
	return c.n, err
}

// A counter counts the bytes written to w.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// write writes f to w.
func (f *File) write(w io.Writer) error {
	info := f.Info.withDefaults()
	if !info.Lengths.valid() {
		return fmt.Errorf("savefile: unknown %v", info.Lengths)
	}
	return damaged(save.WriteContainer(w, info.Container, info.Key, func(w io.Writer) error {
		if info.Format != f.opened.Format || info.Lengths != f.opened.Lengths {
			return f.convert(w, &info)
		}
		_, err := io.Copy(w, io.NewSectionReader(f.content, 0, f.content.Size))
		return err
	}))
}

// convert writes the values in another format or with other lengths.
func (f *File) convert(w io.Writer, info *Info) error {
	again := gdwire.NewDecoder(nil, &f.content.Decoder)
	defer again.Release()
	eo := f.content.Encoder
	eo.Format, eo.DoubleReals = info.Format, f.opened.DoubleReals
	e := gdwire.NewEncoder(nil, &eo)
	defer func() { _ = e.Close() }()
	order := info.Lengths.order()
	return f.content.Packets(save.Every, func(p *save.Packet) (bool, error) {
		d := p.Decoder
		if order != nil { // encoded twice, instead of in memory
			if err := writeLength(w, order, e, d); err != nil {
				return false, err
			}
			f.content.Place(again, p)
			d = again
		}
		e.Reset(w)
		if err := recode(e, d); err != nil {
			return false, err
		}
		return true, p.Finish(nil)
	})
}

// writeLength writes the length of the next value, which it encodes.
func writeLength(w io.Writer, order binary.ByteOrder, e *gdwire.Encoder, d *gdwire.Decoder) error {
	e.Reset(io.Discard)
	if err := recode(e, d); err != nil {
		return err
	}
	b, err := appendLength(nil, order, e.OutputOffset())
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// recode copies the next value. An error of e, such as a type that the format does not have, contains
// the offset and path in f.
func recode(e *gdwire.Encoder, d *gdwire.Decoder) error {
	err := gdwire.CopyValue(e, d)
	if at, ok := err.(*gdwire.Error); ok && err == e.Err() {
		return &convertError{d.WrapError(at.Err)}
	}
	return cmp.Or(err, e.Flush())
}
