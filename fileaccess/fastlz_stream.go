package fileaccess

import (
	"bufio"
	"encoding/binary"
	"io"

	"github.com/gdwire/gdwire/internal/checked"
)

// A fastlzReader reads the content of a stream of either level, and keeps as much of it as matches can reach.
type fastlzReader struct {
	in    *bufio.Reader
	level byte
	out   []byte // the latest bytes of the content
	read  int    // how many of these were read
	err   error  // after out

	// The incomplete operation.
	literals int
	length   int64 // of a match
	distance int
}

// fastlzKept is the maximum number of the latest bytes.
const fastlzKept = 256 << 10

func newFastLZReader(in *bufio.Reader) (*fastlzReader, error) {
	b, err := in.Peek(1)
	if err != nil {
		return nil, err
	}
	level, literals := b[0]>>5+1, int(b[0]&31)+1
	if level > 2 {
		return nil, errFastLZLevel
	}
	_, err = in.Discard(1)
	return &fastlzReader{in: in, level: level, literals: literals}, err
}

func (f *fastlzReader) Read(p []byte) (int, error) {
	for f.read == len(f.out) {
		if f.err != nil {
			return 0, f.err
		}
		f.makeRoom()
		f.err = f.fill()
	}
	n := copy(p, f.out[f.read:])
	f.read += n
	return n, nil
}

// makeRoom makes room after out, all of which was read.
func (f *fastlzReader) makeRoom() {
	if n := cap(f.out); n < fastlzKept {
		f.out = append(make([]byte, 0, max(2*n, 4<<10)), f.out...)
	} else if len(f.out) > fastlzFar {
		f.out = f.out[:copy(f.out, f.out[len(f.out)-fastlzFar:])]
		f.read = len(f.out)
	}
}

// fill decodes operations until out is full. It returns io.EOF after the last.
func (f *fastlzReader) fill() error {
	for len(f.out) < cap(f.out) {
		n := len(f.out)
		room := f.out[n:cap(f.out)]
		switch {
		case f.literals > 0:
			room = room[:min(f.literals, len(room))]
			if _, err := io.ReadFull(f.in, room); err != nil {
				return checked.NoEOF(err)
			}
			f.literals -= len(room)
		case f.length > 0:
			room = room[:min(f.length, int64(len(room)))]
			repeat(room, f.out[n-f.distance:])
			f.length -= int64(len(room))
		default:
			c, err := f.in.ReadByte()
			if err != nil {
				return err
			}
			if c < 32 {
				f.literals = int(c) + 1
			} else if err := f.match(c); err != nil {
				return checked.NoEOF(err)
			}
			continue
		}
		f.out = f.out[:n+len(room)]
	}
	return nil
}

// match reads a match with opcode c.
func (f *fastlzReader) match(c byte) error {
	var b byte
	var err error
	f.length = int64(c>>5) + 2
	for more := c>>5 == 7; more; more = f.level == 2 && b == 255 {
		if b, err = f.in.ReadByte(); err != nil {
			return err
		}
		f.length += int64(b)
	}
	if b, err = f.in.ReadByte(); err != nil {
		return err
	}
	f.distance = int(c&31)<<8 + int(b) + 1
	if f.level == 2 && f.distance == fastlzNear+1 {
		var far [2]byte
		if _, err := io.ReadFull(f.in, far[:]); err != nil {
			return err
		}
		f.distance += int(binary.BigEndian.Uint16(far[:]))
	}
	if f.distance > len(f.out) {
		return errFastLZDistance
	}
	return nil
}

// A fastlzWriter writes a stream of level 1, and compresses the content in parts: a part looks like the rest of
// a stream, because it begins with literals.
type fastlzWriter struct {
	w       io.Writer
	encoder fastlzEncoder
	part    []byte // of the content, not written yet
	out     []byte
	written bool // a part was written before
}

const fastlzPart = 64 << 10 // bytes of the content

func (f *fastlzWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if len(f.part) == fastlzPart {
			if err := f.flush(); err != nil {
				return n - len(p), err
			}
		}
		used := min(fastlzPart-len(f.part), len(p))
		f.part, p = append(f.part, p[:used]...), p[used:]
	}
	return n, nil
}

// flush writes a part.
func (f *fastlzWriter) flush() error {
	if f.written && len(f.part) < fastlzMin {
		f.out = appendLiterals(f.out[:0], f.part) // only a whole content is padded
	} else {
		f.out = f.encoder.encode(f.out[:0], f.part)
	}
	f.part, f.written = f.part[:0], true
	_, err := checked.Write(f.w, f.out)
	return err
}

func (f *fastlzWriter) Close() error { return f.flush() }
