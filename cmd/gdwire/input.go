package main

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"math"
	"os"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

// A packet is one value to be read: a frame's, or the next of those that stand
// back to back.
type packet struct {
	*gdwire.Decoder       // stands at the value, and is void when all tokens have been read
	index, offset   int64 // which it is, and where its first byte is in the input
	connection      int64 // of listen, which connection that input is
	base            int64 // what the Decoder's offsets lack to count from the start of the input
	end             int64 // where in the input its value ended, or stopped being good
	frames          *framer
	size            int64 // of the frame
	err             error // what is wrong with it: known at once, or of a frame once its tokens have been read
}

// framed reports whether the packet is a frame.
func (p *packet) framed() bool { return p.frames != nil }

// tokens ranges over the tokens of the packet's value. An error ends it; its
// offset counts from the start of the input.
func (p *packet) tokens(yield func(gdwire.Token, error) bool) {
	err := p.err
	if err == nil {
		var t gdwire.Token
		for t, err = range p.Tokens() {
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

// finish returns what is wrong with a packet whose value has been read up to err.
// A frame that is cut is wrong as a whole, whatever is in it.
func (p *packet) finish(err error) error {
	if !p.framed() {
		p.end = p.read()
		return err
	}
	if err == nil { // then -strict wants nothing behind the value
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
	p.spoil(err)
	return p.err
}

// spoil makes err what is wrong with a frame.
func (p *packet) spoil(err error) {
	if err == io.ErrUnexpectedEOF { // and nothing else: it is cut
		p.err = &gdwire.Error{Offset: p.frames.InputOffset(), Path: "$", Err: err}
		return
	}
	p.err = p.fromStart(err)
}

// read is how far into the input the packet has been read.
func (p *packet) read() int64 { return p.base + p.InputOffset() }

// trailing is what the frame has behind the value that was read.
func (p *packet) trailing() int64 {
	if !p.framed() {
		return 0
	}
	return p.offset + p.size - p.end
}

// fromStart lets the offset of an error count from the start of the input.
func (p *packet) fromStart(err error) error {
	if e := (*gdwire.Error)(nil); p.base > 0 && errors.As(err, &e) {
		return &gdwire.Error{Offset: p.base + e.Offset, Path: e.Path, Err: e.Err}
	}
	return err
}

// values ranges over the values that stand back to back in r. Behind one that is
// bad there are no more.
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

// A framer reads packets that stand behind their length.
type framer struct {
	*stream.Reader
	next func() (*gdwire.Decoder, error)
	gate *gate // nil: next reads packets whole
}

// newFramer returns a framer that reads packets as they come: they need not fit
// in memory.
func newFramer(r io.Reader, o *options) *framer {
	g := &gate{r: r, left: math.MaxInt64}
	s := stream.NewReader(g, o.stream())
	return &framer{s, s.Next, g}
}

// newWholeFramer returns a framer that reads each packet whole before it hands it
// out, so that nobody has to wait for more of it.
func newWholeFramer(s *stream.Reader, o *options) *framer {
	one := o.decoder
	one.OneValue = true
	d := gdwire.NewDecoder(nil, &one)
	var raw []byte
	return &framer{Reader: s, next: func() (_ *gdwire.Decoder, err error) {
		raw, err = s.NextRaw(raw[:0])
		d.ResetBytes(raw)
		return d, err
	}}
}

// packets ranges over the packets.
func (f *framer) packets(yield func(*packet) bool) {
	none := gdwire.NewDecoder(nil, nil)
	last := int64(-1)
	for i := int64(0); ; i++ {
		d, err := f.next()
		at := f.PacketOffset()
		if err == io.EOF || err == io.ErrUnexpectedEOF && at == last {
			return // what is cut is the packet before, of which enough was said
		}
		if err != nil {
			d = none
		}
		last = at
		p := &packet{Decoder: d, index: i, offset: at, base: at, end: at, frames: f, size: f.PacketSize()}
		p.spoil(err)
		if !yield(p) || p.err != nil && !stream.Skippable(p.err) {
			return
		}
	}
}

// rest reads what is left of the packet, which ends at end, and makes its Decoder
// void. Nothing behind it is waited for.
func (f *framer) rest(end int64) error {
	if f.gate == nil || f.InputOffset() >= end {
		return nil
	}
	f.gate.left = end - f.InputOffset()
	_, err := f.Next() // drops it, and finds the gate shut or the input at its end
	f.gate.left = math.MaxInt64
	if err == errShut || err == io.EOF {
		return nil
	}
	return err
}

// A gate lets so many bytes pass.
type gate struct {
	r    io.Reader
	left int64
}

var errShut = errors.New("no more for now")

func (g *gate) Read(p []byte) (int, error) {
	if g.left == 0 {
		return 0, errShut
	}
	n, err := g.r.Read(p[:min(int64(len(p)), g.left)])
	g.left -= int64(n)
	return n, err
}

// packets ranges over the packets in r.
func packets(r io.Reader, o *options) iter.Seq[*packet] {
	if o.framing.framed {
		return newFramer(r, o).packets
	}
	return values(r, o)
}

// open opens the file of that name, or standard input, and says how long it is
// if it is a regular file, else -1.
func open(name string, stdin io.Reader) (r io.ReadCloser, size int64, err error) {
	r = io.NopCloser(stdin)
	f, ok := stdin.(*os.File)
	if name != "" && name != "-" {
		if f, err = os.Open(name); err != nil {
			return nil, 0, err
		}
		r, ok = f, true
	}
	if ok {
		if i, err := f.Stat(); err == nil && i.Mode().IsRegular() {
			return r, i.Size(), nil
		}
	}
	return r, -1, nil
}
