package savefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/envelope"
)

// WriteTo writes f as described by Info, and returns the number of bytes written. If Format and
// Lengths are unchanged, the content is written byte by byte; otherwise the values are encoded
// again. Encrypted files, and compressed files, are kept in memory until complete. Save does not
// keep them.
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
	err := damaged(f.stack.Contain(info.Container, info.Key).Write(w, func(w io.Writer) error {
		if info.Format != f.opened.Format || info.Lengths != f.opened.Lengths {
			return f.convert(w, &info)
		}
		_, err := io.Copy(w, io.NewSectionReader(f.content, 0, f.content.Size))
		return err
	}))
	if doubt := (*envelope.DoubtError)(nil); errors.As(err, &doubt) {
		return fmt.Errorf("savefile: %w; Options.Keep or Derive chooses", doubt)
	}
	return err
}

// convert writes the values in another format or with other lengths.
func (f *File) convert(w io.Writer, info *Info) error {
	again := gdwire.NewDecoder(nil, &f.content.Decoder)
	defer again.Release()
	eo := f.content.Encoder
	eo.Format, eo.DoubleReals = info.Format, f.opened.DoubleReals
	e := gdwire.NewEncoder(nil, &eo)
	defer func() { _ = e.Close() }()
	frame := info.Lengths.frame()
	report := &save.Converter{Lost: f.lost()}
	write := report
	if frame != save.Bare { // values are encoded twice, instead of in memory, but reported once
		write = &save.Converter{Lost: func(*gdwire.Decoder, string, string) {}}
	}
	return f.content.Packets(save.Every, func(p *save.Packet) (bool, error) {
		d := p.Decoder
		if frame != save.Bare {
			if err := writeLength(w, frame, report, e, d); err != nil {
				return false, err
			}
			f.content.Place(again, p)
			d = again
		}
		e.Reset(w)
		if err := recode(write, e, d); err != nil {
			return false, err
		}
		return true, p.Finish(nil)
	})
}

// lost returns a function that calls Lossy, or nil if Lossy is nil.
func (f *File) lost() func(d *gdwire.Decoder, value, becomes string) {
	if f.Lossy == nil {
		return nil
	}
	return func(d *gdwire.Decoder, value, becomes string) { f.Lossy(lossAt(d, value, becomes)) }
}

// lossAt returns the Loss of the value that d just read, or of a part of the value.
func lossAt(d *gdwire.Decoder, value, becomes string) Loss {
	l := Loss{Value: value, Becomes: becomes}
	if at := (*gdwire.Error)(nil); errors.As(d.WrapError(gdwire.ErrType), &at) {
		l.Offset, l.Path = at.Offset, at.Path
	}
	return l
}

// writeLength encodes the next value and writes its length.
func writeLength(w io.Writer, frame save.Frame, c *save.Converter, e *gdwire.Encoder, d *gdwire.Decoder) error {
	e.Reset(io.Discard)
	if err := recode(c, e, d); err != nil {
		return err
	}
	b, err := appendLength(nil, frame, e.OutputOffset())
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// recode copies the next value to e, and flushes.
func recode(c *save.Converter, e *gdwire.Encoder, d *gdwire.Decoder) error {
	return cmp.Or(c.Copy(e, d), e.Flush())
}
