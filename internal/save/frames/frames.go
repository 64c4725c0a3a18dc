// Package frames reads the packets of recorded traffic and of connections: a stream.Reader or Conn gives packets after their
// lengths, of which some can be compressed, and whose format the first packets decide.
package frames

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"math"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/recognize"
	"github.com/gdwire/gdwire/stream"
)

const (
	lengthSize = 4 // of a length in bytes
	headerSize = 4 // of the shortest value
	bufferSize = 32 << 10
)

// Options returns the options for length-prefixed packets.
func Options(o *save.Reading) *stream.Options {
	return &stream.Options{
		MaxPacket: o.MaxPacket, BigEndianLength: o.Frame == recognize.U32BE,
		Decoder: o.Decoder, Encoder: o.Encoder(),
	}
}

// A framer reads length-prefixed packets.
type framer struct {
	Source
	next    func() (*gdwire.Decoder, error)
	packed  *save.Unpacked // the latest packet if compressed, or nil
	raw     []byte         // the latest packet if next reads whole packets
	skipped []byte         // its start, not read
	offset  func() int64   // the number of bytes read
	gate    *gate          // nil if next reads whole packets
	filled  bool           // bytes after the value of a packet are an error
}

// A Source is a reader of length-prefixed packets, of a *stream.Reader or a *stream.Conn.
type Source interface {
	Next() (*gdwire.Decoder, error)
	NextRaw(dst []byte) ([]byte, error)
	PacketOffset() int64
	PacketSize() int64
}

// newFramer returns a framer that reads packets in parts. Packets may be larger than memory, except those with a
// header that no engine writes, because they can be compressed.
func newFramer(r io.Reader, o *save.Reading) *framer {
	in := bufio.NewReaderSize(r, bufferSize)
	g := &gate{r: in, remaining: math.MaxInt64}
	s := stream.NewReader(g, Options(o))
	f := &framer{Source: s, offset: s.InputOffset, gate: g, filled: o.Filled}
	d := o.NewDecoder()
	var raw []byte
	f.next = func() (_ *gdwire.Decoder, err error) {
		f.packed = nil
		d.ResetBytes(nil)
		if err := f.Rest(s.PacketOffset() + s.PacketSize()); err != nil {
			return nil, err
		}
		if !f.mayBePacked(in, o) {
			return s.Next()
		}
		if raw, err = s.NextRaw(raw[:0]); err != nil {
			return nil, err
		}
		u := o.Unpack(raw)
		f.use(&u)
		d.ResetBytes(u.Value)
		return d, nil
	}
	return f
}

// mayBePacked reports whether the next packet in the input of the gate can be compressed. The gate ends after the
// packet, so that nothing is read ahead of the next call.
func (f *framer) mayBePacked(in *bufio.Reader, o *save.Reading) bool {
	f.gate.remaining = math.MaxInt64
	head, err := in.Peek(lengthSize)
	if err != nil {
		return false // Next returns this error
	}
	n := int64(o.Frame.Order().Uint32(head))
	f.gate.remaining = lengthSize + n
	if n < headerSize || n > o.UnpackLimit() {
		return false
	}
	head, err = in.Peek(lengthSize + headerSize)
	return err == nil && !recognize.PlainHeader(head[lengthSize:])
}

// use notes the latest packet if compressed.
func (f *framer) use(u *save.Unpacked) {
	if u.Compressed {
		f.packed = u
	}
}

// newWholeFramer returns a framer that returns packets after receiving them completely. The first
// packet readable in only one of the candidate formats decides the format.
func newWholeFramer(s Source, o *save.Reading) *framer {
	d, format := o.NewDecoder(), o.Decoder.Format
	f := &framer{Source: s, filled: o.Filled}
	f.offset = func() int64 { return s.PacketOffset() + int64(len(f.raw)) }
	f.next = func() (_ *gdwire.Decoder, err error) {
		f.packed = nil
		d.ResetBytes(nil) // s may drop the memory of the packet
		f.raw, err = s.NextRaw(f.raw[:0])
		f.skipped = o.Skipped(f.raw)
		u := save.Unpacked{Value: f.raw[len(f.skipped):]}
		switch {
		case err != nil:
		case !recognize.PlainHeader(u.Value):
			u = o.Unpack(f.raw)
			f.use(&u)
		case o.Candidates != nil:
			o.DecideFormat(u.Value)
		}
		if format != o.Decoder.Format {
			d, format = o.NewDecoder(), o.Decoder.Format
		}
		d.ResetBytes(u.Value)
		return d, err
	}
	return f
}

// packets iterates over the packets.
func (f *framer) packets(yield func(*save.Packet) bool) {
	none := gdwire.NewDecoder(nil, nil)
	last := int64(-1)
	for i := int64(0); ; i++ {
		d, err := f.next()
		at := f.PacketOffset()
		if err == io.EOF || err == io.ErrUnexpectedEOF && at == last {
			return // the previous packet was truncated, as already reported
		}
		if err != nil {
			d = none
		}
		last = at
		at += int64(len(f.skipped))
		p := &save.Packet{Decoder: d, Index: i, Offset: at, Base: at, End: at, Frames: f, Size: last + f.PacketSize() - at, Packed: f.packed, Raw: f.raw, Skipped: f.skipped}
		switch {
		case p.Packed == nil:
		case p.Packed.Err != nil:
			err = p.Packed.Err
		default:
			p.Base = 0
		}
		p.SetError(err)
		if !yield(p) || p.Err != nil && !stream.Skippable(p.Err) {
			return
		}
	}
}

// Rest reads the rest of the packet up to offset end, without waiting for the next packet. The
// packet's Decoder is invalid afterwards.
func (f *framer) Rest(end int64) error {
	if f.gate == nil || f.InputOffset() >= end {
		return nil
	}
	f.gate.remaining = end - f.InputOffset()
	_, err := f.Next() // skips the rest, then fails at the gate or at the end of the input
	f.gate.remaining = math.MaxInt64
	if err == errClosed || err == io.EOF {
		return nil
	}
	return err
}

// InputOffset returns the number of bytes read.
func (f *framer) InputOffset() int64 { return f.offset() }

// Skippable reports whether packets follow after an error.
func (f *framer) Skippable(err error) bool { return stream.Skippable(err) }

// Filled reports whether bytes after the value of a packet are an error.
func (f *framer) Filled() bool { return f.filled }

// A gate is a Reader of the next remaining bytes of r.
type gate struct {
	r         io.Reader
	remaining int64
}

var errClosed = errors.New("no more for now")

func (g *gate) Read(p []byte) (int, error) {
	if g.remaining == 0 {
		return 0, errClosed
	}
	n, err := g.r.Read(p[:min(int64(len(p)), g.remaining)])
	g.remaining -= int64(n)
	return n, err
}

// Packets iterates over the packets in r.
func Packets(o *save.Reading, r io.Reader) iter.Seq[*save.Packet] {
	switch {
	case o.Candidates != nil:
		return Whole(o, stream.NewReader(r, Options(o)))
	case o.Framed():
		return newFramer(r, o).packets
	}
	return save.Values(r, &o.Decoder)
}

// Whole iterates over the length-prefixed packets read by s, each after being received
// completely. The first packet readable in only one of the Candidates decides the format.
func Whole(o *save.Reading, s Source) iter.Seq[*save.Packet] {
	return newWholeFramer(s, o).packets
}
