package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/recognize"
	"github.com/gdwire/gdwire/stream"
)

// A packet is one value of the input: a length-prefixed packet, or one of several values
// that follow each other.
type packet struct {
	*gdwire.Decoder       // reads the value; it is invalid when all tokens have been read
	index, offset   int64 // its number, and the offset of its first byte in the input
	connection      int64 // the number of the connection, of listen
	base            int64 // offset of the Decoder's input in the input
	end             int64 // the offset of the end of its value, or of the first invalid byte
	frames          *framer
	size            int64 // its length, if it is length-prefixed
	odd             int64 // the sum of the lengths of InputEvents modulo 4
	err             error // set at the start, or after the tokens of a length-prefixed packet
}

// framed reports whether the packet is length-prefixed.
func (p *packet) framed() bool { return p.frames != nil }

// tokens iterates over the tokens of the packet's value. It ends after an error, whose
// offset is relative to the start of the input.
func (p *packet) tokens(yield func(gdwire.Token, error) bool) {
	err := p.err
	if err == nil {
		var t gdwire.Token
		at := p.InputOffset()
		for t, err = range p.Tokens() {
			if t.Kind() == gdwire.KindInputEvent {
				p.odd += (p.InputOffset() - at) & 3
			}
			at = p.InputOffset()
			if err == nil && !yield(t, nil) {
				return
			}
		}
		err = p.finish(err)
	}
	if err != nil {
		yield(gdwire.Token{}, err)
	}
}

// finish returns the error of a packet whose value has been read up to err. A truncated
// length-prefixed packet is invalid even if its value is complete.
func (p *packet) finish(err error) error {
	if !p.framed() {
		p.end = p.read()
		return err
	}
	if err == nil { // with -strict, bytes after the value are an error
		if _, err = p.ReadToken(); err == io.EOF {
			err = nil
		}
	}
	end := p.read()
	if err == nil || stream.Skippable(err) {
		err = cmp.Or(p.frames.rest(p.offset+p.size), err)
	}
	if err == nil || stream.Skippable(err) {
		p.end = end
	}
	if n := p.trailing(); err == nil && n > 0 && p.frames.filled {
		err = &gdwire.Error{Offset: end - p.base, Path: "$", Err: fmt.Errorf("%d bytes follow the value in its packet", n)}
	}
	p.setError(err)
	return p.err
}

// setError sets the error of a length-prefixed packet.
func (p *packet) setError(err error) {
	if err == io.ErrUnexpectedEOF { // not wrapped: the input ends inside the packet
		p.err = &gdwire.Error{Offset: p.frames.InputOffset(), Path: "$", Err: err}
		return
	}
	p.err = p.fromStart(err)
}

// read returns the offset up to which the input has been read.
func (p *packet) read() int64 { return p.base + p.InputOffset() }

// trailing returns the number of bytes after the value in its packet.
func (p *packet) trailing() int64 {
	if !p.framed() {
		return 0
	}
	return p.offset + p.size - p.end
}

// fromStart makes the offset of an error relative to the start of the input.
func (p *packet) fromStart(err error) error {
	if e := (*gdwire.Error)(nil); p.base > 0 && errors.As(err, &e) {
		return &gdwire.Error{Offset: p.base + e.Offset, Path: e.Path, Err: e.Err}
	}
	return err
}

// values iterates over the values in r, up to the first invalid one.
func values(r io.Reader, o *options) iter.Seq[*packet] {
	return func(yield func(*packet) bool) {
		d := gdwire.NewDecoder(r, &o.decoder)
		defer d.Release()
		for i := int64(0); ; i++ {
			p := &packet{Decoder: d, index: i, offset: d.InputOffset(), end: d.InputOffset()}
			if d.PeekKind() == 0 {
				if _, p.err = d.ReadToken(); p.err == io.EOF {
					return
				}
			}
			if !yield(p) {
				return
			}
		}
	}
}

// A framer reads length-prefixed packets.
type framer struct {
	*stream.Reader
	next   func() (*gdwire.Decoder, error)
	gate   *gate // nil if next reads whole packets
	filled bool  // bytes after the value of a packet are an error
}

// newFramer returns a framer that reads packets in parts, so that they need not fit in
// memory.
func newFramer(r io.Reader, o *options) *framer {
	g := &gate{r: r, left: math.MaxInt64}
	s := stream.NewReader(g, o.stream())
	return &framer{s, s.Next, g, o.filled}
}

// newWholeFramer returns a framer that returns packets after it has received them
// completely. The first packet that only one of the candidate formats can read decides
// the format.
func newWholeFramer(s *stream.Reader, o *options) *framer {
	d := wholeDecoder(o)
	var raw []byte
	return &framer{Reader: s, filled: o.filled, next: func() (_ *gdwire.Decoder, err error) {
		raw, err = s.NextRaw(raw[:0])
		if err == nil && o.candidates != nil && o.settle(raw) {
			d = wholeDecoder(o)
		}
		d.ResetBytes(raw)
		return d, err
	}}
}

func wholeDecoder(o *options) *gdwire.Decoder {
	one := o.decoder
	one.OneValue = true
	return gdwire.NewDecoder(nil, &one)
}

// maxUndecided is the maximum number of packets that are read in all candidate formats.
const maxUndecided = 1 << 12

// settle reports whether the packet decides on one of the candidate formats. The first one
// is taken if too many packets do not.
func (o *options) settle(packet []byte) bool {
	if o.sameInAll(packet) {
		return false
	}
	if o.undecided++; o.undecided > maxUndecided {
		o.candidates = nil // the Decoder has the first one
		return false
	}
	r := recognize.Recognize(&recognize.Input{
		Head: packet, Size: int64(len(packet)), Decoder: o.decoder,
		Formats: o.candidates, Frames: []recognize.Frame{recognize.Bare},
	})
	if r.Certainty < recognize.Probably || len(r.Readings) != 1 {
		return false
	}
	o.decoder.Format, o.candidates = r.Readings[0].Format, nil
	return true
}

// sameInAll reports whether a packet is a null, bool, number, String or Vector2, as which
// all candidate formats read it. Godot 2 has no flag for numbers of 64 bits.
func (o *options) sameInAll(packet []byte) bool {
	const vector2, wide = 5, 1
	return len(packet) >= 4 && packet[0] <= vector2 && packet[1] == 0 && packet[3] == 0 &&
		(packet[2] == 0 || packet[2] == wide && !slices.Contains(o.candidates, gdwire.Godot2))
}

// packets iterates over the packets.
func (f *framer) packets(yield func(*packet) bool) {
	none := gdwire.NewDecoder(nil, nil)
	last := int64(-1)
	for i := int64(0); ; i++ {
		d, err := f.next()
		at := f.PacketOffset()
		if err == io.EOF || err == io.ErrUnexpectedEOF && at == last {
			return // the previous packet was truncated, which has been reported
		}
		if err != nil {
			d = none
		}
		last = at
		p := &packet{Decoder: d, index: i, offset: at, base: at, end: at, frames: f, size: f.PacketSize()}
		p.setError(err)
		if !yield(p) || p.err != nil && !stream.Skippable(p.err) {
			return
		}
	}
}

// rest reads the rest of the packet, which ends at end. It does not wait for the
// next packet. The packet's Decoder is invalid after it.
func (f *framer) rest(end int64) error {
	if f.gate == nil || f.InputOffset() >= end {
		return nil
	}
	f.gate.left = end - f.InputOffset()
	_, err := f.Next() // skips the rest, then fails at the gate or at the end of the input
	f.gate.left = math.MaxInt64
	if err == errClosed || err == io.EOF {
		return nil
	}
	return err
}

// A gate is a Reader of the next left bytes of r.
type gate struct {
	r    io.Reader
	left int64
}

var errClosed = errors.New("no more for now")

func (g *gate) Read(p []byte) (int, error) {
	if g.left == 0 {
		return 0, errClosed
	}
	n, err := g.r.Read(p[:min(int64(len(p)), g.left)])
	g.left -= int64(n)
	return n, err
}

// packets iterates over the packets in r.
func packets(r io.Reader, o *options) iter.Seq[*packet] {
	switch {
	case o.candidates != nil:
		return newWholeFramer(stream.NewReader(r, o.stream()), o).packets
	case o.framed():
		return newFramer(r, o).packets
	}
	return values(r, o)
}
