package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/stream"
)

// A target holds the properties of the output that -to sets. nil keeps the property of the input.
type target struct {
	format    *gdwire.Format
	frame     *save.Frame
	container *fileaccess.Info
}

// containers maps the names in -to to containers.
var containers = map[string]fileaccess.Info{
	"plain":     {},
	"encrypted": {Container: fileaccess.Encrypted},
}

func init() {
	for m := fileaccess.FastLZ; m <= fileaccess.Gzip; m++ {
		containers[m.String()] = fileaccess.Info{Container: fileaccess.Compressed, Mode: m}
	}
}

// toFlag defines -to.
func toFlag(fs *flag.FlagSet, o *options) {
	fs.Func("to", "`PARTS` of the output, others as in the input: a format; none, u32 or u32be; plain, fastlz, deflate, zstd, gzip or encrypted. Compressed output is kept in memory until it is complete", func(s string) error {
		for part := range strings.SplitSeq(s, ",") {
			if err := o.to.add(strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		return nil
	})
}

// add adds a part of -to. A second part of the same kind is an error.
func (t *target) add(part string) error {
	if f := new(gdwire.Format); f.UnmarshalText([]byte(part)) == nil {
		return setOnce(&t.format, f, "format", part)
	}
	for _, f := range frames {
		if f.String() == part {
			return setOnce(&t.frame, &f, "length", part)
		}
	}
	info, ok := containers[part]
	if !ok {
		return fmt.Errorf("there is no %q", part)
	}
	return setOnce(&t.container, &info, "container", part)
}

// setOnce sets *dst, which must be nil.
func setOnce[T any](dst **T, v *T, kind, part string) error {
	if *dst != nil {
		return fmt.Errorf("%q is a second %s", part, kind)
	}
	*dst = v
	return nil
}

func recodeFlags(fs *flag.FlagSet, o *options) {
	editsFlags(fs, o)
	toFlag(fs, o)
}

func recodeCheck(o *options) error {
	o.writes, o.Filled, o.nonEmpty = true, true, true
	return nil
}

// writer returns the options for writing: the properties in o.to, and otherwise the properties
// of the input.
func (o *options) writer() *options {
	w := *o
	if o.to.format != nil {
		w.Decoder.Format = *o.to.format
	}
	if o.to.frame != nil {
		w.Frame = *o.to.frame
	}
	if o.to.container != nil {
		w.container = o.to.container
	}
	if c := w.container; c != nil && c.Container == fileaccess.Encrypted {
		info := *c
		if o.to.container != nil || o.to.format != nil {
			info.Layout = fileaccess.LayoutGodot4
			if f := w.Decoder.Format; f == gdwire.Godot3 || f == gdwire.Godot2 {
				info.Layout = fileaccess.LayoutGodot3
			}
		}
		w.container = &info
	}
	return &w
}

// recodeFile reads packets and writes them again.
func recodeFile(s *stdio, o *options) error {
	in, err := s.open(o.file(), o)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if err := checkEnd(in, o); err != nil {
		return err
	}
	w := o.writer()
	if _, err := s.out.Write(in.Header); err != nil {
		return err
	}
	if err := s.out.Flush(); err != nil { // writeContainer can write to outFile without this buffer
		return err
	}
	var n int64
	err = s.writeContainer(w, func(out io.Writer) error {
		err := s.showPackets(o.Packets(s.progress(in, in.Size)), newRecodePrinter(s, out, w).counting(&n), in.Live)
		if err == errBad && s.outFile != nil {
			return errBad // do not replace the file
		}
		return err
	})
	if err == nil && n == 0 {
		return errEmpty
	}
	return err
}

// newRecodePrinter returns a printer that re-encodes each packet to out. It drops invalid
// length-prefixed packets, and writes other invalid values up to the error. To a regular file
// without a container it writes packets without holding them in memory, because the lengths can
// be set later.
func newRecodePrinter(s *stdio, out io.Writer, o *options) printer {
	if o.Framed() {
		so := o.Stream()
		so.MaxPacket = -1 // a packet can grow by missing padding
		if s.outFile != nil && out == io.Writer(s.out) {
			w := stream.NewWriter(s.outFile, so)
			return printer{show: func(p *save.Packet) error {
				err := w.WriteThrough(func(e *gdwire.Encoder) error { return recode(e, p) })
				if failed := (*os.PathError)(nil); errors.As(err, &failed) && failed.Path == s.outFile.Name() {
					return outputError{err}
				}
				return err
			}}
		}
		w := stream.NewWriter(out, so)
		return printer{show: func(p *save.Packet) error {
			return w.WritePacket(func(e *gdwire.Encoder) error { return recode(e, p) })
		}}
	}
	eo := o.Encoder()
	e := gdwire.NewEncoder(out, &eo)
	return printer{show: func(p *save.Packet) error {
		return errors.Join(recode(e, p), e.Flush())
	}}
}

// recode re-encodes the value of a packet.
func recode(e *gdwire.Encoder, p *save.Packet) error {
	if p.Err != nil {
		return p.Err
	}
	err := gdwire.CopyValue(e, p.Decoder)
	if err != nil && err == e.Err() { // add the offset in the input
		err = p.FromStart(p.WrapError(reason(err)))
		p.Err = err
		return err
	}
	return p.Finish(err)
}
