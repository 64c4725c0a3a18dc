package fileaccess

import (
	"encoding/binary"
	"errors"
)

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

func (d *fastlzDecoder) decode(dst, block []byte) error {
	out := dst
	if len(dst) < fastlzMin {
		out = d.short[:]
	}
	n, err := fastlzDecode(out, block)
	if err != nil {
		return err
	}
	if n < len(dst) {
		return errShort
	}
	if len(dst) < fastlzMin {
		copy(dst, out)
	}
	return nil
}

// fastlzDecode decodes a stream of either level into dst and returns the number of its bytes.
func fastlzDecode(dst, src []byte) (n int, err error) {
	if len(src) == 0 {
		return 0, errFastLZCut
	}
	level := src[0]>>5 + 1
	if level > 2 {
		return 0, errFastLZLevel
	}
	for c, i := src[0]&31, 1; ; i++ {
		if c < 32 {
			run := int(c) + 1
			switch {
			case run > len(src)-i:
				return n, errFastLZCut
			case run > len(dst)-n:
				return n, errLong
			}
			n += copy(dst[n:], src[i:i+run])
			i += run
		} else {
			length, distance, used := fastlzMatch(c, src[i:], level)
			switch {
			case used == 0:
				return n, errFastLZCut
			case distance > n:
				return n, errFastLZDistance
			case length > len(dst)-n:
				return n, errLong
			}
			repeat(dst[n:n+length], dst[n-distance:n])
			n += length
			i += used
		}
		if i >= len(src) {
			return n, nil
		}
		c = src[i]
	}
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
