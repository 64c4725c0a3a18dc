package fileaccess

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/gdwire/gdwire/internal/base/checked"
)

// FastLZ in blocks and in streams, and after it the codecs of all modes.

// FastLZ is a byte-oriented LZ77. A stream is a list of operations. Each operation begins with
// an opcode c:
//
//	c < 32    c+1 literal bytes follow
//	c >= 32   a match: c>>5 is its length less 2, c&31 bits 8 to 12 of its
//	          distance; if c>>5 is 7, a byte follows that is added to the length;
//	          a byte follows with bits 0 to 7 of the distance
//
// The match begins distance+1 bytes back and may overlap its own output. The first opcode's
// upper three bits are the stream's level less 1 and its lower five always a literal run. Level
// 2 differs in two things: after a length byte of 255 another length byte follows; and if the
// distance is 8191, two more bytes, the upper byte first, are added to the distance.
//
// Compressed files hold level 1 alone. Engines use level 2 in
// PackedByteArray.compress, from 64 KiB.
const (
	fastlzFar      = fastlzNear + 1<<16 // the largest distance of level 2, and how far back a match can begin
	fastlzNear     = 1<<13 - 1          // the largest distance in 13 bits; marks longer distances in level 2
	fastlzMinMatch = 3
	fastlzMaxMatch = 2 + 7 + 255 // of level 1
	fastlzMaxRun   = 32          // of literals
	fastlzMin      = 16          // shorter blocks are padded with zeros to this
	fastlzTail     = 5           // engines need literals at the end
	fastlzRatio    = 7 + 255     // of level 2: each more byte of a length is 255
)

var (
	errFastLZLevel    = errors.New("fastlz: unknown level")
	errFastLZCut      = errors.New("fastlz: operation without its bytes")
	errFastLZDistance = errors.New("fastlz: match before the start")
)

// A fastlzDecoder decodes blocks of compressed files.
type fastlzDecoder struct{ short [fastlzMin]byte }

func (d *fastlzDecoder) decode(dst, block []byte) (n int, err error) {
	out := dst
	if len(dst) < fastlzMin {
		out = d.short[:]
	}
	n, err = fastlzDecode(out, block)
	if err == nil && n < len(dst) {
		err = errShort
	}
	if len(dst) < fastlzMin {
		n = copy(dst, out[:n])
	}
	return n, err
}

// fastlzDecode decodes a stream of either level into dst and returns the number of its bytes.
func fastlzDecode(dst, src []byte) (n int, err error) {
	if len(src) == 0 {
		return 0, errFastLZCut
	}
	level, run := src[0]>>5+1, int(src[0]&31)+1
	switch {
	case level > 2:
		return 0, errFastLZLevel
	case run > len(src)-1:
		return 0, errFastLZCut
	case run > len(dst):
		return 0, errLong
	}
	copy(dst, src[1:1+run])
	n, _, err = fastlzOperations(dst, run, src[1+run:], level)
	return n, err
}

// fastlzOperations decodes the operations in src after n bytes in dst. It returns the number of bytes in dst then, and how
// many of src it used: all, or those before an operation without its bytes, with a wrong distance or for which dst has no room.
func fastlzOperations(dst []byte, n int, src []byte, level byte) (end, used int, err error) {
	for i := 0; i < len(src); {
		c := src[i]
		i++
		if c < 32 {
			run := int(c) + 1
			switch {
			case run > len(src)-i:
				return n, i - 1, errFastLZCut
			case run > len(dst)-n:
				return n, i - 1, errLong
			}
			n += copy(dst[n:], src[i:i+run])
			i += run
		} else {
			length, distance, more := fastlzMatch(c, src[i:], level)
			switch {
			case more == 0:
				return n, i - 1, errFastLZCut
			case distance > n:
				return n, i - 1, errFastLZDistance
			case length > len(dst)-n:
				return n, i - 1, errLong
			}
			repeat(dst[n:n+length], dst[n-distance:n])
			n += length
			i += more
		}
	}
	return n, len(src), nil
}

// fastlzMatch returns length and distance of the match with opcode c and how many
// bytes of src belong to it, 0 if there are too few. The distance is how many bytes
// back the match begins.
func fastlzMatch(c byte, src []byte, level byte) (length, distance, used int) {
	length, distance = int(c>>5)+2, int(c&31)<<8
	more := c>>5 == 7
	for more {
		if used == len(src) {
			return 0, 0, 0
		}
		length += int(src[used])
		more = level == 2 && src[used] == 255
		used++
	}
	if used == len(src) {
		return 0, 0, 0
	}
	distance += int(src[used])
	used++
	if level == 2 && distance == fastlzNear {
		if len(src)-used < 2 {
			return 0, 0, 0
		}
		distance += int(binary.BigEndian.Uint16(src[used:]))
		used += 2
	}
	return length, distance + 1, used
}

// repeat fills dst with copies of pattern. dst directly follows pattern in memory.
func repeat(dst, pattern []byte) {
	for n := copy(dst, pattern); n < len(dst); {
		n += copy(dst[n:], dst[:n])
	}
}

// A fastlzEncoder encodes blocks of compressed files, at level 1.
type fastlzEncoder struct {
	// seen holds, by the hash of three bytes, 1 plus their latest offset.
	seen  [1 << fastlzHashBits]int32
	short [fastlzMin]byte
}

const fastlzHashBits = 12

func (e *fastlzEncoder) encode(dst, src []byte) []byte {
	if len(src) < fastlzMin {
		clear(e.short[copy(e.short[:], src):])
		src = e.short[:]
	}
	clear(e.seen[:])
	start := 0 // of the literals not written yet
	for i, end := 1, len(src)-fastlzTail; i+fastlzMinMatch <= end; {
		h := fastlzHash(src[i:])
		at := int(e.seen[h]) - 1
		e.seen[h] = int32(i) + 1
		length := 0
		if at >= 0 && i-at <= fastlzNear {
			length = common(src[at:], src[i:end])
		}
		if length < fastlzMinMatch {
			i++
			continue
		}
		dst = appendLiterals(dst, src[start:i])
		dst = appendMatch(dst, length, i-at)
		i += length
		start = i
	}
	return appendLiterals(dst, src[start:])
}

func fastlzHash(b []byte) uint32 {
	v := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	return v * 2654435769 >> (32 - fastlzHashBits)
}

// common returns the number of equal bytes at the start of a and b, which is not longer.
func common(a, b []byte) int {
	n := 0
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func appendLiterals(dst, b []byte) []byte {
	for len(b) > 0 {
		run := b[:min(len(b), fastlzMaxRun)]
		dst = append(append(dst, byte(len(run)-1)), run...)
		b = b[len(run):]
	}
	return dst
}

// appendMatch appends a match beginning distance bytes back. A match too long for one operation is split.
func appendMatch(dst []byte, length, distance int) []byte {
	distance--
	high, low := byte(distance>>8), byte(distance)
	for length > 0 {
		n := min(length, fastlzMaxMatch)
		if rest := length - n; rest > 0 && rest < fastlzMinMatch {
			n -= fastlzMinMatch // so that the rest is a match, too
		}
		if n < 9 {
			dst = append(dst, byte(n-2)<<5|high, low)
		} else {
			dst = append(dst, 7<<5|high, byte(n-9), low)
		}
		length -= n
	}
	return dst
}

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

// newFastLZReader returns a fastlzReader of in, which is not at its end.
func newFastLZReader(in *bufio.Reader) (*fastlzReader, error) {
	b, _ := in.Peek(1) // there is a byte
	level, literals := b[0]>>5+1, int(b[0]&31)+1
	if level > 2 {
		return nil, errFastLZLevel
	}
	_, err := in.Discard(1)
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
			// Whole operations of the buffer at once: in half of the time.
			b, _ := f.in.Peek(f.in.Buffered())
			n, used, _ := fastlzOperations(f.out[:cap(f.out)], n, b, f.level) // an error is found again below
			f.out = f.out[:n]
			if used > 0 {
				_, _ = f.in.Discard(used)
				continue
			}
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

// A Mode is a compression mode: FileAccess.CompressionMode of the engines.
type Mode uint32

// The modes. Brotli is only recognized, because no engine writes it.
const (
	FastLZ  Mode = iota // the engines' default
	Deflate             // a zlib stream
	Zstd
	Gzip
	Brotli
)

// String returns the mode's name in lower case, such as "zstd".
func (m Mode) String() string {
	if int64(m) < int64(len(codecs)) {
		return codecs[m].name
	}
	return fmt.Sprintf("mode %d", uint32(m))
}

// codec returns the codec of the mode's blocks, or nil if the mode is not supported.
func (m Mode) codec() *codec {
	if int64(m) < int64(len(codecs)) && codecs[m].decoder != nil {
		return &codecs[m]
	}
	return nil
}

// A codec creates a decoder and an encoder for all blocks of a file in a mode, and a reader and
// a writer of the mode's streams.
type codec struct {
	name string
	// ratio is the maximum number of bytes decoded from a byte of a block.
	ratio int64
	// begins reports whether a stream can begin with head; nil if it can begin with most bytes.
	begins   func(head []byte) bool
	decoder  func() decoder
	encoder  func() encoder
	encoders sync.Pool // of Compress
	// reader returns a reader of the content of in, with a maximum window in bytes. It reads no
	// byte after the end of the stream.
	reader func(in *bufio.Reader, window int64) (io.Reader, error)
	writer func(w io.Writer) io.WriteCloser
}

// A decoder fills dst with the content of block, which must have the length of dst. It returns the number of bytes
// decoded before an error.
type decoder interface {
	decode(dst, block []byte) (int, error)
}

// An encoder appends a block with the content src to dst.
type encoder interface {
	encode(dst, src []byte) []byte
}

var codecs = [...]codec{
	FastLZ: {
		name:    "fastlz",
		ratio:   fastlzRatio,
		decoder: func() decoder { return new(fastlzDecoder) },
		encoder: func() encoder { return new(fastlzEncoder) },
		reader:  func(in *bufio.Reader, _ int64) (io.Reader, error) { return newFastLZReader(in) },
		writer:  func(w io.Writer) io.WriteCloser { return &fastlzWriter{w: w} },
	},
	Deflate: {
		name:    "deflate",
		begins:  isZlib,
		ratio:   deflateRatio,
		decoder: func() decoder { return &streamDecoder{reset: resetZlib()} },
		encoder: func() encoder { return &streamEncoder{w: zlib.NewWriter(nil)} },
		reader:  func(in *bufio.Reader, _ int64) (io.Reader, error) { return resetZlib()(in) },
		writer:  func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	},
	Zstd: {
		name:    "zstd",
		begins:  func(head []byte) bool { return bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")) },
		ratio:   128 << 10 / 4, // a block of 128 KiB of the same byte takes 4 bytes
		decoder: func() decoder { return zstdDecoder{sharedZstdDecoder()} },
		encoder: func() encoder { return zstdEncoder{sharedZstdEncoder()} },
		reader:  zstdReader,
		writer:  zstdWriter,
	},
	Gzip: {
		name:    "gzip",
		begins:  func(head []byte) bool { return bytes.HasPrefix(head, []byte("\x1f\x8b\x08")) },
		ratio:   deflateRatio,
		decoder: func() decoder { return &streamDecoder{reset: resetGzip()} },
		encoder: func() encoder { return &streamEncoder{w: gzip.NewWriter(nil)} },
		reader:  func(in *bufio.Reader, _ int64) (io.Reader, error) { return resetGzip()(in) },
		writer:  func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	},
	Brotli: {name: "brotli"},
}

// isZlib reports whether head begins with a header of zlib for a window of 32 KiB, as engines write it.
func isZlib(head []byte) bool {
	return len(head) >= 2 && head[0] == 0x78 && binary.BigEndian.Uint16(head)%31 == 0
}

// deflateRatio is the maximum ratio of deflate: 258 bytes in two bits.
const deflateRatio = 1032

// A streamDecoder decodes blocks with a package that reads streams.
type streamDecoder struct {
	in    bytes.Reader
	reset func(in io.Reader) (io.Reader, error)
	probe [1]byte
}

// resetZlib returns a function returning a zlib reader of in, the same reader in each call,
// because a new one allocates a window of 32 KiB.
func resetZlib() func(io.Reader) (io.Reader, error) {
	var z io.ReadCloser
	return func(in io.Reader) (_ io.Reader, err error) {
		if z == nil {
			z, err = zlib.NewReader(in)
			return z, err
		}
		return z, z.(zlib.Resetter).Reset(in, nil)
	}
}

// resetGzip returns a function returning a gzip reader of in, the same in each call. The reader ends after the first
// member, the only one of an engine.
func resetGzip() func(io.Reader) (io.Reader, error) {
	var z gzip.Reader
	return func(in io.Reader) (io.Reader, error) {
		err := z.Reset(in)
		if err == nil {
			z.Multistream(false)
		}
		return &z, err
	}
}

func (d *streamDecoder) decode(dst, block []byte) (n int, err error) {
	d.in.Reset(block)
	r, err := d.reset(&d.in)
	if err != nil {
		return 0, err
	}
	if n, err = io.ReadFull(r, dst); err == io.EOF || err == io.ErrUnexpectedEOF {
		return n, errShort
	} else if err != nil {
		return n, err
	}
	// The checksum is verified by the read that returns io.EOF.
	if _, err := io.ReadFull(r, d.probe[:]); err == nil {
		return n, errLong
	} else if err != io.EOF {
		return n, err
	}
	if d.in.Len() > 0 {
		return n, errAfter
	}
	return n, nil
}

// A streamEncoder encodes blocks with a package that writes streams.
type streamEncoder struct {
	w interface {
		io.WriteCloser
		Reset(io.Writer)
	}
	out appender
}

func (e *streamEncoder) encode(dst, src []byte) []byte {
	e.out = dst
	e.w.Reset(&e.out)
	_, err := e.w.Write(src)
	if err := errors.Join(err, e.w.Close()); err != nil {
		panic(err) // an appender returns no errors
	}
	dst, e.out = e.out, nil
	return dst
}

// An appender is a Writer that appends to itself.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// The zstd package's DecodeAll and EncodeAll can be called from many goroutines and start none,
// so all files share one decoder and one encoder.
var (
	sharedZstdDecoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
		if err != nil {
			panic(err) // the options are right
		}
		return d
	})
	sharedZstdEncoder = sync.OnceValue(func() *zstd.Encoder {
		// Frames without a checksum and of an empty block, as engines write them.
		e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true),
			zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)), zstd.WithWindowSize(1<<20))
		if err != nil {
			panic(err) // the options are right
		}
		return e
	})
)

type zstdDecoder struct{ d *zstd.Decoder }

func (d zstdDecoder) decode(dst, block []byte) (int, error) {
	// The capacity is a limit on the decoded bytes: out is dst.
	out, err := d.d.DecodeAll(block, dst[:0:len(dst)])
	if err == nil && len(out) < len(dst) {
		err = errShort
	}
	return copy(dst, out), err // of an error, out may be other memory
}

type zstdEncoder struct{ e *zstd.Encoder }

func (e zstdEncoder) encode(dst, src []byte) []byte { return e.e.EncodeAll(src, dst) }

// zstdReader returns a reader that starts no goroutines, and so needs no Close.
func zstdReader(in *bufio.Reader, window int64) (io.Reader, error) {
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
}

// zstdWriter returns a writer that starts no goroutines.
func zstdWriter(w io.Writer) io.WriteCloser {
	e, err := zstd.NewWriter(w, zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // the options are right
	}
	return e
}
