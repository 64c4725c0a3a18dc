package edit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/reals"
	"github.com/gdwire/gdwire/internal/text"
)

// export contains the calls of package gdwire for this module.
var export = gdwire.Internal.Export(&internal.AllowInternalUse)

// A Content is an input to edit: packets after their lengths, or values that follow each other,
// which are packets without a length.
type Content struct {
	io.ReaderAt
	Size    int64
	Order   binary.ByteOrder // of the lengths; nil if there are none
	Decoder gdwire.DecoderOptions
	Encoder gdwire.EncoderOptions // DoubleReals is for a content without math types that tell

	origin *Content     // before all edits, or nil if there were none
	width  *reals.Width // of the first packet with real components, if that is known
}

// A Packet is the location of a packet.
type Packet struct {
	Index      int64
	Start, End int64 // without the length
	Length     int64 // that is declared, or 0
}

// Finish reads what d has not read of the packet, and returns an error if bytes follow its value.
func (p *Packet) Finish(d *gdwire.Decoder) error {
	var err error
	if d.InputOffset() == p.Start {
		if err = d.SkipValue(); err == io.EOF { // a packet without a value
			err = p.wrap(p.Start, errEmpty)
		}
	} else if err = d.SkipTo(0); err == io.EOF {
		err = nil
	}
	if err != nil {
		return err
	}
	if n := p.End - d.InputOffset(); n > 0 {
		return p.wrap(d.InputOffset(), fmt.Errorf("%d bytes after the value", n))
	}
	return nil
}

// wrap returns an error in the packet.
func (p *Packet) wrap(offset int64, err error) error {
	return &gdwire.Error{Offset: offset, Path: string(text.AppendPacket(nil, p.Index)), Err: err}
}

const (
	// lengthSize is the size of a length in bytes.
	lengthSize = 4
	// minPacket is the size of the shortest value, null.
	minPacket = 4
)

// errEmpty is the error of a packet that is too short for a value.
var errEmpty = errors.New("a length without a value")

// Every accepts all packets.
func Every(int64) bool { return true }

// CheckLengths returns an error if the lengths do not end at the end of the content, or if there is
// one of no value.
func (c *Content) CheckLengths() error {
	if c.Order == nil {
		return nil
	}
	next := Packet{}
	for p, err := range c.lengths {
		switch n := p.End - p.Start; {
		case err != nil:
			return err
		case p.End > c.Size:
			return p.wrap(c.Size, io.ErrUnexpectedEOF)
		case n < minPacket:
			return p.wrap(p.Start-lengthSize, errEmpty)
		}
		next = Packet{Index: p.Index + 1, Start: p.End}
	}
	if next.Start < c.Size {
		return next.wrap(c.Size, io.ErrUnexpectedEOF)
	}
	return nil
}

// from returns a function that accepts the packets, after their lengths, that end after an offset, and those
// from the first length of no value on.
func (c *Content) from(offset int64) func(index int64) bool {
	first := int64(0)
	for p, err := range c.lengths {
		if err != nil || p.End > offset || p.End-p.Start < minPacket {
			break
		}
		first = p.Index + 1
	}
	return func(index int64) bool { return index >= first }
}

// first returns the content before all edits.
func (c *Content) first() *Content {
	if c.origin == nil {
		return c
	}
	return c.origin
}

// Reals returns the width of the real components in the first packet that starts in the first most bytes and
// contains some. It reads no further than a packet with an error.
func (c *Content) Reals(most int64) (w reals.Width) {
	objects := *c
	objects.Decoder.AllowObjects = true
	objects.Size = min(c.Size, most)
	_ = objects.Packets(Every, func(_ Packet, d *gdwire.Decoder) (bool, error) {
		var err error
		if w, err = reals.Read(d); err != nil || w != reals.Unknown {
			return false, err
		}
		return true, nil
	})
	return w
}

// Packets calls yield for each wanted packet, until it returns false or an error. The Decoder is
// at the start of the packet, and yield can read it. The End of a packet without a length is 0,
// because it is not known yet.
func (c *Content) Packets(wanted func(index int64) bool, yield func(p Packet, d *gdwire.Decoder) (bool, error)) error {
	if c.Order == nil {
		return c.values(wanted, yield)
	}
	do := c.Decoder
	do.OneValue = true
	d := gdwire.NewDecoder(nil, &do)
	defer d.Release()
	for p, err := range c.lengths {
		if err != nil {
			return err
		}
		if !wanted(p.Index) {
			continue
		}
		p.Length, p.End = p.End-p.Start, min(p.End, c.Size)
		c.Place(d, p)
		if goOn, err := yield(p, d); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// lengths iterates over the packets after their lengths. The End of the last packet can be after the
// end of the content.
func (c *Content) lengths(yield func(Packet, error) bool) {
	w := window{r: c.ReaderAt, size: c.Size}
	p := Packet{}
	for at := int64(0); c.Size-at >= lengthSize; p.Index++ {
		b, err := w.bytes(at, lengthSize)
		if err == nil {
			p.Start = at + lengthSize
			p.End = p.Start + int64(c.Order.Uint32(b))
			at = p.End
		}
		if !yield(p, err) || err != nil {
			return
		}
	}
}

// Place makes d read a packet. Offsets are those in the content, and paths start with the number of the
// packet.
func (c *Content) Place(d *gdwire.Decoder, p Packet) {
	if p.End == 0 {
		p.End = c.Size
	}
	d.Reset(io.NewSectionReader(c.ReaderAt, p.Start, p.End-p.Start))
	export.Place(d, p.Start, p.Index)
}

// values calls yield for each value.
func (c *Content) values(wanted func(index int64) bool, yield func(p Packet, d *gdwire.Decoder) (bool, error)) error {
	d := gdwire.NewDecoder(io.NewSectionReader(c.ReaderAt, 0, c.Size), &c.Decoder)
	defer d.Release()
	for p := (Packet{}); ; p.Index++ {
		if d.PeekKind() == 0 {
			_, err := d.ReadToken()
			if err == io.EOF {
				return nil
			}
			return err
		}
		p.Start = d.InputOffset()
		export.Place(d, 0, p.Index)
		if !wanted(p.Index) {
			if err := d.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if goOn, err := yield(p, d); err != nil || !goOn {
			return err
		}
	}
}

// A window keeps the latest bytes of a ReaderAt in memory.
type window struct {
	r     io.ReaderAt
	size  int64
	start int64
	buf   []byte
}

// bytes returns n bytes at an offset. They are valid until the next call.
func (w *window) bytes(at int64, n int) ([]byte, error) {
	if at < w.start || at+int64(n) > w.start+int64(len(w.buf)) {
		if w.buf == nil {
			w.buf = make([]byte, windowSize)
		}
		w.buf = w.buf[:min(int64(cap(w.buf)), w.size-at)]
		w.start = at
		if read, err := w.r.ReadAt(w.buf, at); read < len(w.buf) {
			w.buf = w.buf[:0]
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return w.buf[at-w.start:][:n], nil
}

const windowSize = 32 << 10
