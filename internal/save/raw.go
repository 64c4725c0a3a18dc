package save

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
)

// sniffBytes is the number of bytes needed to distinguish a zlib stream from values.
const sniffBytes = 4 << 10

// rawMode returns the mode of a stream of PackedByteArray.compress, if the first bytes show such a stream. It
// reads no more than needed into the buffer of in, which holds sniffBytes.
func rawMode(in *bufio.Reader) (_ fileaccess.Mode, ok bool) {
	if b, _ := in.Peek(1); len(b) == 0 || bytes.IndexByte([]byte("\x1f\x28\x78"), b[0]) < 0 {
		return 0, false
	}
	b, _ := in.Peek(4)
	switch {
	case bytes.HasPrefix(b, []byte("\x1f\x8b\x08")):
		return fileaccess.Gzip, true
	case bytes.HasPrefix(b, []byte("\x28\xb5\x2f\xfd")):
		return fileaccess.Zstd, true
	case len(b) == 4 && b[0] == 0x78 && binary.BigEndian.Uint16(b)%31 == 0 && isZlib(in):
		return fileaccess.Deflate, true
	}
	return 0, false
}

// isZlib reports whether a stream with a header of zlib can be decompressed. Packets with a length can begin
// with the same bytes.
func isZlib(in *bufio.Reader) bool {
	r, err := fileaccess.NewReader(&peeker{in: in}, &fileaccess.Options{Raw: true, Mode: fileaccess.Deflate})
	if err != nil {
		return false
	}
	const enough = 64 // bytes of the content
	n, err := io.ReadFull(r, make([]byte, enough))
	switch {
	case err == nil, err == io.EOF:
		return true
	case errors.As(err, new(*fileaccess.Error)): // a cut stream
		return errors.Is(err, io.ErrUnexpectedEOF) && n >= minPacket
	}
	return err == io.ErrUnexpectedEOF // of ReadFull: the content is shorter
}

// A peeker reads the buffered bytes of a bufio.Reader, and more into its buffer as long as there is
// room.
type peeker struct {
	in *bufio.Reader
	n  int // bytes read
}

func (p *peeker) Read(b []byte) (int, error) {
	got, err := p.in.Peek(p.n + 1)
	if len(got) <= p.n {
		return 0, err
	}
	got, _ = p.in.Peek(p.in.Buffered())
	n := copy(b, got[p.n:])
	p.n += n
	return n, nil
}

// fastlzFilled is the size to which engines fill up a shorter content with zeros before FastLZ.
const fastlzFilled = 16

// withoutFill returns a Reader of the content of a FastLZ stream without the zeros filling up a shorter value.
func withoutFill(content io.Reader) io.Reader {
	in := bufio.NewReader(content)
	b, err := in.Peek(fastlzFilled + 1)
	if err != io.EOF || len(b) != fastlzFilled {
		return in
	}
	return bytes.NewReader(b[:valueEnd(b, []gdwire.Format{gdwire.Godot4, gdwire.Godot3}, []Frame{Bare, U32, U32BE})])
}

// valueEnd returns the end of the first value in b, in one of the formats and frames, if only zeros follow, and
// otherwise the length of b.
func valueEnd(b []byte, formats []gdwire.Format, frames []Frame) int {
	for _, format := range formats {
		d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: format, Strict: true, AllowObjects: true})
		defer d.Release()
		for _, frame := range frames {
			start, order := 0, frame.Order()
			if order != nil {
				start = lengthSize
			}
			d.ResetBytes(b[start:])
			err := d.SkipValue()
			end := start + int(d.InputOffset())
			if order != nil && int64(order.Uint32(b)) != int64(end-start) {
				continue
			}
			if err == nil && len(bytes.Trim(b[end:], "\x00")) == 0 {
				return end
			}
		}
	}
	return len(b)
}
