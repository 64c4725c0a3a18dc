package fileaccess

import (
	"bytes"
	"io"
	"math"
	"reflect"
	"slices"
)

// Compress appends src to dst, compressed as PackedByteArray.compress(mode) does, and returns
// the extended slice. If src overlaps the capacity of dst, the result is new memory. The only error is that of a mode that engines do not write, which wraps
// [ErrMode].
//
// The result is one stream without a size; decompress of the engines needs len(src). FastLZ, the
// engines' default, fills fewer than 16 bytes up with zeros to 16. No bytes become no bytes.
func Compress(dst, src []byte, mode Mode) ([]byte, error) {
	codec := mode.codec()
	if codec == nil {
		return dst, errorf(0, ErrMode, "%v", mode)
	}
	if len(src) == 0 {
		return dst, nil
	}
	e, _ := codec.encoders.Get().(encoder)
	if e == nil {
		e = codec.encoder()
	}
	dst = e.encode(apart(dst, src), src)
	codec.encoders.Put(e)
	return dst, nil
}

// Decompress appends the content of src to dst and returns the extended slice. src is what
// PackedByteArray.compress(mode) returned, and nothing else. The size of the content need not be
// known, but for FastLZ: of fewer than 16 bytes it returns 16, the last of which are zeros. If src
// overlaps the capacity of dst, the result is new memory.
//
// maxSize is the maximum size in bytes of the content; 0 selects 256 MiB, and -1 disables the
// limit. More content is a [*LimitError]. Decompress never needs more memory than 1 MiB and the
// content; of content beyond maxSize, it counts the bytes without keeping them. An error is an
// [*Error] with an offset in src. dst is then returned with its length unchanged.
func Decompress(dst, src []byte, mode Mode, maxSize int64) ([]byte, error) {
	most := int64(math.MaxInt - len(dst))
	if maxSize > most || maxSize < 0 && math.MaxInt < math.MaxInt64 { // of a slice where an int has 32 bits
		maxSize = most
	}
	open := func() (*Reader, error) {
		return NewReader(bytes.NewReader(src), &Options{Raw: true, Mode: mode, Limits: Limits{Size: maxSize}})
	}
	r, err := open()
	if err != nil {
		return dst, err
	}
	start := len(dst)
	dst, err = appendSome(apart(dst, src), r, len(src))
	if err == io.EOF {
		return dst, nil
	}
	size := int64(len(dst) - start)
	if err == nil {
		var n int64
		n, err = io.Copy(io.Discard, r)
		size += n
	}
	if err != nil {
		return dst[:start], err
	}
	if r, err = open(); err != nil {
		return dst[:start], err
	}
	if end := start + int(size); end > cap(dst) {
		dst = append(make([]byte, 0, end), dst[:start]...) // slices.Grow could allocate twice as much
	}
	if _, err = io.ReadFull(r, dst[start:start+int(size)]); err != nil {
		return dst[:start], err
	}
	return dst[:start+int(size)], nil
}

// apart returns dst, without its capacity if src overlaps that: the two are read and written in turn.
func apart(dst, src []byte) []byte {
	to, from := reflect.ValueOf(dst).Pointer(), reflect.ValueOf(src).Pointer()
	if to < from+uintptr(len(src)) && from < to+uintptr(cap(dst)) {
		return slices.Clip(dst)
	}
	return dst
}

// onePass is the number of bytes of a content that Decompress keeps before it knows the size.
const onePass = 1 << 20

// appendSome appends up to onePass bytes of r to dst. It returns io.EOF if these are all. guess is a size to
// begin with.
func appendSome(dst []byte, r io.Reader, guess int) ([]byte, error) {
	dst = slices.Grow(dst, max(min(2*guess, onePass), fastlzMin))
	for end := len(dst) + onePass; len(dst) < end; {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, 1)
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), end)])
		if dst = dst[:len(dst)+n]; err != nil {
			return dst, err
		}
	}
	return dst, nil
}
