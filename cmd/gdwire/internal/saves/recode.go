package saves

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/stream"
)

// Recode defines the flags of recode.
func Recode(f *shell.Flags) shell.Action {
	r := &recoder{open: open.Flags{Writes: true, Filled: true, NonEmpty: true}}
	r.open.ReadFlags(f, false)
	f.EditFlags()
	r.to.flag(f)
	f.BoolVar(&r.lossy, "lossy", false, "convert values that the format of the output does not have, by the table above, and show what is lost")
	return shell.Action{File: r.run}
}

// A recoder writes values again.
type recoder struct {
	open  open.Flags
	to    target
	lossy bool
}

// run reads packets and writes them again.
func (r *recoder) run(s *shell.Stdio, name string) error {
	in, err := r.open.Open(s, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if err := in.CheckEnd(); err != nil {
		return err
	}
	content := s.Progress(in, in.Source.Size)
	if len(in.Rivals) > 0 {
		c, err := in.Content(&in.Reading)
		if err == nil {
			err = in.Choice(c.Agree(func(c *save.Content, out io.Writer) error { return r.recodeAs(in, c, out) }))
		}
		if err != nil {
			return err
		}
		content = io.NewSectionReader(c, 0, c.Size)
	}
	w := r.outputOf(in, in.Reading)
	c := newConverter(r.lossy)
	var n int64
	err = r.open.Rewrite(s, in, w.container, w.key, func(out io.Writer) error {
		err := open.Show(s, in.Packets(content), newRecodePrinter(s, out, &w, c).Counting(&n), in.Live)
		if err == shell.ErrBad && s.OutFile != nil {
			return shell.ErrBad // do not replace the file
		}
		return err
	})
	if err == nil && n == 0 {
		return errEmpty
	}
	c.note(s, err)
	return err
}

// outputOf returns how an input is written that as says how to read.
func (r *recoder) outputOf(in *open.Input, as save.Reading) output {
	return r.to.apply(output{Reading: as, container: in.Container, key: in.Key})
}

// recodeAs writes the content of an input again, in one of its readings, and the errors of its packets.
func (r *recoder) recodeAs(in *open.Input, c *save.Content, out io.Writer) error {
	as := in.As(c.Reading())
	w := r.outputOf(in, as)
	fmt.Fprint(out, w.container.Layout) // that of encrypted files depends on the format
	v := newRecodePrinter(shell.Capture(io.Discard), out, &w, newConverter(r.lossy))
	for p := range as.Packets(io.NewSectionReader(c, 0, c.Size)) {
		if err := v.Show(p); err != nil {
			fmt.Fprint(out, err)
		}
	}
	return nil
}

// newRecodePrinter returns a printer that re-encodes each packet to out. It drops invalid
// length-prefixed packets, and writes other invalid values up to the error. To a regular file
// without a container it writes packets without holding them in memory, because the lengths can
// be set later.
func newRecodePrinter(s *shell.Stdio, out io.Writer, o *output, c *converter) open.Printer {
	if o.Framed() {
		so := o.Stream()
		so.MaxPacket = -1 // a packet can grow by missing padding
		if s.OutFile != nil && out == io.Writer(s.Out) {
			w := stream.NewWriter(s.OutFile, so)
			return open.Printer{Show: func(p *save.Packet) error {
				if p.Packed != nil {
					return c.recodePacked(w, o, p)
				}
				err := w.WriteThrough(func(e *gdwire.Encoder) error { return c.recode(e, p) })
				if failed := (*os.PathError)(nil); errors.As(err, &failed) && failed.Path == s.OutFile.Name() {
					return open.OutputError{Err: err}
				}
				return err
			}}
		}
		w := stream.NewWriter(out, so)
		return open.Printer{Show: func(p *save.Packet) error {
			if p.Packed != nil {
				return c.recodePacked(w, o, p)
			}
			return w.WritePacket(func(e *gdwire.Encoder) error { return c.recode(e, p) })
		}}
	}
	eo := o.Encoder()
	e := gdwire.NewEncoder(out, &eo)
	return open.Printer{Show: func(p *save.Packet) error {
		return cmp.Or(c.recode(e, p), e.Flush()) // after an invalid call, both are its error
	}}
}

// recodePacked re-encodes the value of a packet that is compressed, and compresses it again.
func (c *converter) recodePacked(w *stream.Writer, o *output, p *save.Packet) error {
	var value bytes.Buffer
	eo := o.Encoder()
	e := gdwire.NewEncoder(&value, &eo)
	if err := cmp.Or(c.recode(e, p), e.Close()); err != nil {
		return err
	}
	return w.WriteRaw(p.Packed.Pack(value.Bytes()))
}
