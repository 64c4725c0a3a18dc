package explain

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"io"

	"github.com/gdwire/gdwire/fileaccess"
)

// A packed is a stream: its bytes and its content.
type packed struct {
	Info            fileaccess.Info
	Packed, Content []byte
}

// raw returns the Info of a stream of PackedByteArray.compress.
func raw(mode fileaccess.Mode) fileaccess.Info {
	return fileaccess.Info{Container: fileaccess.Raw, Mode: mode, Size: -1}
}

// stream returns the body with a signature at the start of b, up to the end of the body. Its content has up to most
// bytes.
func stream(b []byte, most int64) (body packed, ok bool) {
	end := 0
	switch {
	case len(b) < 8:
		return body, false
	case bytes.HasPrefix(b, []byte("\x28\xb5\x2f\xfd")):
		body.Info, end = raw(fileaccess.Zstd), zstdEnd(b)
	case bytes.HasPrefix(b, []byte("\x1f\x8b\x08")):
		body.Info = raw(fileaccess.Gzip)
		in := bytes.NewReader(b)
		if r, err := gzip.NewReader(in); err == nil {
			r.Multistream(false)
			body.Content, end = inflate(r, in, most)
		}
	case b[0] == 0x78 && binary.BigEndian.Uint16(b)%31 == 0:
		body.Info = raw(fileaccess.Deflate)
		in := bytes.NewReader(b)
		if r, err := zlib.NewReader(in); err == nil {
			body.Content, end = inflate(r, in, most)
		}
	case bytes.HasPrefix(b, []byte("GCPF")):
		end = gcpfEnd(b)
	}
	if end <= 0 || end > len(b) {
		return body, false
	}
	body.Packed = b[:end:end]
	if body.Content != nil {
		return body, true
	}
	r, err := fileaccess.NewReader(bytes.NewReader(body.Packed), &fileaccess.Options{
		Raw: body.Info.Container == fileaccess.Raw, Mode: body.Info.Mode, Limits: fileaccess.Limits{Size: max(most, 1)},
	})
	if err != nil {
		return body, false
	}
	body.Info = r.Info()
	body.Content, err = io.ReadAll(r)
	return body, err == nil
}

// inflate returns the content of r and the size of the stream in its input, or 0 for a stream that is damaged
// or too large.
func inflate(r io.Reader, in *bytes.Reader, most int64) ([]byte, int) {
	content, err := io.ReadAll(io.LimitReader(r, max(most, 0)+1))
	if err != nil || int64(len(content)) > most {
		return nil, 0
	}
	return content, int(in.Size()) - in.Len()
}

// zstdEnd returns the size of the frame of Zstandard at the start of b, or 0 for a cut frame.
func zstdEnd(b []byte) int {
	const magic, windowSize = 4, 1
	descriptor := b[magic]
	single, checksum := descriptor&0x20 > 0, descriptor&4 > 0
	at := magic + 1 + [...]int{0, 1, 2, 4}[descriptor&3] // of a dictionary
	if single {
		at += [...]int{1, 2, 4, 8}[descriptor>>6]
	} else {
		at += windowSize + [...]int{0, 2, 4, 8}[descriptor>>6]
	}
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
	if checksum {
		at += 4
	}
	return at
}

// gcpfEnd returns the size of the file of FileAccess.open_compressed at the start of b, or 0 for a cut
// file.
func gcpfEnd(b []byte) int {
	const head = 16
	if len(b) < head {
		return 0
	}
	block, total := int(binary.LittleEndian.Uint32(b[8:])), int(binary.LittleEndian.Uint32(b[12:]))
	if block == 0 || total/block >= (len(b)-head)/4 {
		return 0
	}
	end := head
	for i := range total/block + 1 {
		end += 4 + int(binary.LittleEndian.Uint32(b[head+4*i:]))
	}
	return end + len("GCPF")
}

// FastLZLevel2 is the size of the shortest content for which engines use level 2.
const FastLZLevel2 = 64 << 10

// fastlzEnds calls visit after each operation of the stream of FastLZ at the start of b, with the bytes of the stream
// and of its content so far, until visit returns false.
func fastlzEnds(b []byte, visit func(in, out int) bool) {
	const most = 32 // bytes copied from b by an operation; a shorter copy is followed by a match, or ends a part of a content packed in parts of 64 KiB
	level2 := b[0]>>5 == 1
	out, short := 0, false
	for in, c := 1, int(b[0]&31); ; in++ {
		if c < most {
			if short && out < FastLZLevel2 {
				return
			}
			in, out, short = in+c+1, out+c+1, c+1 < most
		} else {
			short = false
			n := c>>5 + 2
			for more := c>>5 == 7; more && in < len(b); in++ {
				n += int(b[in])
				more = level2 && b[in] == 255
			}
			if in < len(b) && level2 && c&31 == 31 && b[in] == 255 {
				in += 2
			}
			in, out = in+1, out+n
		}
		if in > len(b) || !visit(in, out) || in == len(b) {
			return
		}
		c = int(b[in])
	}
}

// EndsEarly reports whether other bytes follow the stream with a signature at the start of b.
func EndsEarly(b []byte) bool {
	s, ok := stream(b, 1<<40)
	return ok && len(s.Packed) < len(b)
}
