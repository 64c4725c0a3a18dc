package main

import (
	"errors"
	"io"
	"iter"
	"os"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

// A packet is one value to be read: a frame's, or the next of those that stand
// back to back.
type packet struct {
	*gdwire.Decoder       // stands at the value
	index, offset   int64 // which it is, and where its first byte is in the input
	connection      int64 // of listen, which connection that input is
	base            int64 // what the Decoder's offsets lack to count from the start of the input
	framed          bool
	size            int64 // of the frame
	err             error // what spoils it before it can be read
}

// tokens ranges over the tokens of the packet's value. An error ends it; its
// offset counts from the start of the input.
func (p *packet) tokens(yield func(gdwire.Token, error) bool) {
	if p.err != nil {
		yield(gdwire.Token{}, p.err)
		return
	}
	for t, err := range p.Tokens() {
		if !yield(t, p.fromStart(err)) || err != nil {
			return
		}
	}
	if p.framed { // then -strict wants nothing behind the value
		if _, err := p.ReadToken(); err != io.EOF {
			yield(gdwire.Token{}, p.fromStart(err))
		}
	}
}

// read is how far into the input the packet has been read.
func (p *packet) read() int64 { return p.base + p.InputOffset() }

// trailing is what the frame has behind the value that was read.
func (p *packet) trailing() int64 {
	if !p.framed {
		return 0
	}
	return p.size - p.InputOffset()
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
			p := &packet{Decoder: d, index: i, offset: d.InputOffset()}
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

// frames ranges over the packets that s reads.
func frames(s *stream.Reader, o *options) iter.Seq[*packet] {
	return func(yield func(*packet) bool) {
		one := o.decoder
		one.OneValue = true
		d := gdwire.NewDecoder(nil, &one)
		defer d.Release()
		var raw []byte
		last := int64(-1)
		for i := int64(0); ; i++ {
			var err error
			raw, err = s.NextRaw(raw[:0])
			at := s.PacketOffset()
			if err == io.EOF || err == io.ErrUnexpectedEOF && at == last {
				return // what is cut is the packet before, of which enough was said
			}
			last = at
			p := &packet{Decoder: d, index: i, offset: at, base: at, framed: true, size: s.PacketSize()}
			d.ResetBytes(raw)
			switch err {
			case nil:
			case io.ErrUnexpectedEOF:
				p.err = &gdwire.Error{Offset: s.InputOffset(), Path: "$", Err: err}
			default:
				p.err = p.fromStart(err)
			}
			if !yield(p) || err != nil && !stream.Skippable(err) {
				return
			}
		}
	}
}

// packets ranges over the packets in r.
func packets(r io.Reader, o *options) iter.Seq[*packet] {
	if o.framing.framed {
		return frames(stream.NewReader(r, o.stream()), o)
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
