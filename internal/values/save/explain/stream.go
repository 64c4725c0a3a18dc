package explain

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/gdwire/gdwire/fileaccess"
)

// A packed is a stream, or an encrypted file: its bytes and its content.
type packed struct {
	Info            fileaccess.Info
	Packed, Content []byte
	key             *fileaccess.Key
	err             error // of a stream that is cut or damaged; Content is what can be read of it
}

// A StreamError reports a compressed part that is cut or damaged: values in it are not read.
type StreamError struct {
	Offset int
	Mode   fileaccess.Mode
	Err    error
}

func (e *StreamError) Error() string {
	return fmt.Sprintf("offset %d: a part compressed with %v is cut or damaged: %v", e.Offset, e.Mode, e.Err)
}

func (e *StreamError) Unwrap() error { return e.Err }

// At returns Offset.
func (e *StreamError) At() int { return e.Offset }

// raw returns the Info of a stream of PackedByteArray.compress.
func raw(mode fileaccess.Mode) fileaccess.Info {
	return fileaccess.Info{Container: fileaccess.Raw, Mode: mode, Size: -1}
}

// An unpacker decompresses streams, within a budget, each once.
type unpacker struct {
	*Budget
	ask     func(fileaccess.Info) (*fileaccess.Key, error) // for the key of encrypted files, or nil
	known   map[*byte]packed                               // by the first bytes; without Packed for bytes that are no stream
	texts   map[textKey][]byte                             // the contents of base64 text
	locked  error                                          // of an encrypted file
	damaged []*StreamError                                 // in the bytes that are searched
	whole   map[*byte]bool                                 // contents that are one value
	counted map[*byte]int                                  // where the last stream ends that counts, by the first byte around it

	gzip gzip.Reader
	zlib io.ReadCloser
	zstd *zstd.Decoder
	out  bytes.Buffer
}

func newUnpacker(b *Budget) *unpacker {
	return &unpacker{Budget: b, known: map[*byte]packed{}, texts: map[textKey][]byte{}, whole: map[*byte]bool{}, counted: map[*byte]int{}}
}

type textKey struct {
	first    *byte
	size     int
	encoding *base64.Encoding
}

// text returns the content of base64 text, or nil if b is none.
func (u *unpacker) text(e *base64.Encoding, b []byte) []byte {
	const perDigit = 12 // instructions
	key := textKey{&b[0], len(b), e}
	content, known := u.texts[key]
	if !known && u.take(perDigit*len(b)) {
		if all, err := e.AppendDecode(nil, b); err == nil {
			content = all
		}
		u.texts[key] = content
	}
	return content
}

// isStream reports whether b begins with a signature.
func isStream(b []byte) bool {
	const blocks = 2 // where the first block of zlib begins
	if len(b) < 8 {
		return false
	}
	switch b[0] {
	case 0x78:
		return binary.BigEndian.Uint16(b)%31 == 0 && isDeflate(b[blocks:])
	case 0x28:
		return string(b[:4]) == "\x28\xb5\x2f\xfd"
	case 0x1f:
		return string(b[:3]) == "\x1f\x8b\x08"
	case 'G':
		return string(b[:4]) == "GCPF" || string(b[:4]) == "GDEC"
	}
	return false
}

// isDeflate reports whether b can begin with a block of DEFLATE.
func isDeflate(b []byte) bool {
	const most = 29 // codes of lengths and of distances, less the least
	switch b[0] >> 1 & 3 {
	case 0:
		return binary.LittleEndian.Uint16(b[1:]) == ^binary.LittleEndian.Uint16(b[3:])
	case 1:
		return true
	case 2:
		return b[0]>>3 <= most && b[1]&31 <= most
	}
	return false
}

// stream returns the body with a signature at the start of b, up to the end of the body.
func (u *unpacker) stream(b []byte) (packed, bool) {
	if !isStream(b) {
		return packed{}, false
	}
	body, ok := u.known[&b[0]]
	if !ok {
		body = u.read(b)
		u.known[&b[0]] = body
	}
	return body, body.Packed != nil
}

// read is stream for bytes that are not known.
func (u *unpacker) read(b []byte) (body packed) {
	const start = 4000 // instructions of an attempt
	if !u.take(start) {
		return body
	}
	in := bytes.NewReader(b)
	var r io.Reader
	var err error
	switch b[0] {
	case 0x28:
		body.Info = raw(fileaccess.Zstd)
		end := zstdEnd(b)
		if end == 0 || end > len(b) {
			body.err = io.ErrUnexpectedEOF
			return body
		}
		in.Reset(b[:end])
		if u.zstd == nil {
			u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		}
		r, err = u.zstd, cmp.Or(err, u.zstd.Reset(in))
	case 0x1f:
		body.Info, r, err = raw(fileaccess.Gzip), &u.gzip, u.gzip.Reset(in)
		u.gzip.Multistream(false)
	case 0x78:
		if u.zlib == nil {
			u.zlib, err = zlib.NewReader(in)
		} else {
			err = u.zlib.(zlib.Resetter).Reset(in, nil)
		}
		body.Info, r = raw(fileaccess.Deflate), u.zlib
	default:
		r, err = u.file(in, &body)
	}
	if err == nil {
		body.Content, err = u.content(r)
	}
	switch end := int(in.Size()) - in.Len(); {
	case b[0] == 'G' && !u.take(end):
	case err == nil:
		body.Packed = b[:end:end]
	case string(b[:4]) == "GDEC" && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, fileaccess.ErrLimit): // and no other bytes
		u.locked = fmt.Errorf("an encrypted file in it cannot be read: %w", err)
	case b[0] != 'G' && u.ended == nil && !errors.Is(err, zstd.ErrUnknownDictionary) && !errors.Is(err, zstd.ErrWindowSizeExceeded):
		body.err = err
	}
	return body
}

// file opens the file of FileAccess at the start of in.
func (u *unpacker) file(in io.Reader, body *packed) (io.Reader, error) {
	o := &fileaccess.Options{Limits: fileaccess.Limits{Size: max(u.left()/perUnpacked, 1)}}
	if u.ask != nil {
		o.AskKey = func(info fileaccess.Info) (key *fileaccess.Key, err error) {
			body.key, err = u.ask(info)
			return body.key, err
		}
	}
	r, err := fileaccess.NewReader(in, o)
	if err == nil {
		body.Info = r.Info()
	}
	return r, err
}

// maxWindow is the largest window of Zstandard.
const maxWindow = 8 << 20

// perUnpacked is the number of instructions that a byte of a content takes.
const perUnpacked = 4

// content reads the content of a stream, up to an error.
func (u *unpacker) content(r io.Reader) ([]byte, error) {
	u.out.Reset()
	_, err := u.out.ReadFrom(io.LimitReader(r, u.left()/perUnpacked+1))
	if !u.take(perUnpacked * u.out.Len()) {
		return nil, u.ended
	}
	return bytes.Clone(u.out.Bytes()), err
}

// zstdEnd returns the size of the frame of Zstandard at the start of b, or 0 for a cut frame.
func zstdEnd(b []byte) int {
	var h zstd.Header
	if h.Decode(b) != nil {
		return 0
	}
	at := h.HeaderSize
	for last := false; !last; {
		if at+3 > len(b) {
			return 0
		}
		block := int(b[at]) | int(b[at+1])<<8 | int(b[at+2])<<16
		last = block&1 > 0
		size := block >> 3
		if block>>1&3 == 1 { // one byte, repeated
			size = 1
		}
		at += 3 + size
	}
	if h.HasCheckSum {
		at += 4
	}
	return at
}

// FastLZLevel2 is the size of the shortest content for which engines use level 2.
const FastLZLevel2 = 64 << 10

// An operation of FastLZ ends at the bytes of the stream, and of its content, so far.
type operation struct{ in, out int }

// fastlz returns the content of the stream of FastLZ at the start of b, up to an error or most bytes, and its operations.
func fastlz(b []byte, most int) (content []byte, all []operation) {
	const run = 32 // bytes copied from b by an operation; a shorter copy is followed by a match, or ends a part of a content packed in parts of 64 KiB
	const far = 31<<8 | 255
	level2, short := b[0]>>5 == 1, false
	for in, c := 1, int(b[0]&31); len(content) < most; in++ {
		if c < run {
			if short && len(content) < FastLZLevel2 || in+c+1 > len(b) {
				break
			}
			content, in, short = append(content, b[in:in+c+1]...), in+c+1, c+1 < run
		} else {
			n, distance := c>>5+2, c&31<<8
			for more := c>>5 == 7; more && in < len(b); in++ {
				n += int(b[in])
				more = level2 && b[in] == 255
			}
			if in >= len(b) {
				break
			}
			distance |= int(b[in])
			if in++; level2 && distance == far && in+2 <= len(b) {
				distance, in = far+int(binary.BigEndian.Uint16(b[in:])), in+2
			}
			if short = false; distance >= len(content) {
				break
			}
			for range n {
				content = append(content, content[len(content)-distance-1])
			}
		}
		if all = append(all, operation{in, len(content)}); in >= len(b) {
			break
		}
		c = int(b[in])
	}
	return content, all
}

// EndsEarly reports whether other bytes follow the stream with a signature at the start of b.
func EndsEarly(b []byte) bool {
	u := newUnpacker(&Budget{input: math.MaxInt32})
	s, ok := u.stream(b)
	return ok && len(s.Packed) < len(b)
}
