package fileaccess

import (
	"bytes"
	"io"
	"math"
	"reflect"
	"slices"

	"github.com/gdwire/gdwire/internal/base/checked"
)

// A Reader reads the content of a file, and need not be closed. Errors stay.
type Reader struct {
	r    io.Reader
	info Info
	err  error
}

// NewReader recognizes a file by its first four bytes and returns a Reader of its content. A
// file that begins with other bytes, or is shorter, is Plain; see Info. With Options.Raw, NewReader
// returns a Reader of a stream of PackedByteArray.compress, in constant memory.
//
// NewReader reads the header, and the sizes of all blocks of a compressed file. It reads all of
// an encrypted file if Options.MaxBuffered permits or r can be read twice, and then returns [ErrPassword]
// for a wrong password. Otherwise Read returns ErrPassword instead of io.EOF. Readers that are read twice are
// [*os.File], [*bytes.Reader], [*strings.Reader] and [*io.SectionReader], and no types that embed them.
//
// NewReader reads no byte after the end of the container from r; a Raw stream is all of r. A container inside
// the content is not opened; pass the Reader to another NewReader for this.
func NewReader(r io.Reader, o *Options) (*Reader, error) {
	if o == nil {
		o = new(Options)
	}
	return newReader(newSource(r), o)
}

func newReader(src *source, o *Options) (*Reader, error) {
	open := openRaw
	if !o.Raw {
		open = openFile
	}
	var file []byte
	var form Base64
	if o.Base64 {
		var err error
		limits := o.Limits.bounds()
		if file, form, err = decodeBase64(src, &limits); err != nil && len(file) == 0 {
			return nil, err
		}
		src = newSource(bytes.NewReader(file))
		if err != nil {
			src = newSource(io.MultiReader(src.r, checked.Failed{Err: err}))
		}
	}
	content, info, err := open(src, o)
	if err != nil {
		return nil, err
	}
	if info.Base64 = form; form.Text && info.Container == Plain {
		info.Size = int64(len(file))
	}
	return &Reader{r: content, info: info}, nil
}

// openFile opens a file by its first bytes.
func openFile(src *source, o *Options) (io.Reader, Info, error) {
	magic := make([]byte, magicBytes)
	n, err := io.ReadFull(src, magic)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, Info{}, err
	}
	switch Detect(magic[:n]).Container {
	case Compressed:
		return openCompressed(src, o)
	case Encrypted:
		return openEncrypted(src, o)
	}
	return io.MultiReader(bytes.NewReader(magic[:n]), src), Info{Size: -1}, nil
}

// Detect returns what a file is that begins with head, as far as its first 4 bytes tell: the Container, and the Mode of a Raw
// stream. Of Deflate they are a guess, because one of 8,000 random files begins like it. FastLZ and base64 text, which have no
// signature, are Plain.
func Detect(head []byte) Info {
	info := Info{Size: -1}
	switch {
	case bytes.HasPrefix(head, []byte(magicCompressed)):
		info.Container = Compressed
	case bytes.HasPrefix(head, []byte(magicEncrypted)):
		info.Container = Encrypted
	default:
		for m := range codecs {
			if begins := codecs[m].begins; begins != nil && begins(head) {
				info.Container, info.Mode = Raw, Mode(m)
			}
		}
	}
	return info
}

// Info returns a description of the file.
func (r *Reader) Info() Info { return r.info }

// Read reads the content. It returns io.EOF at the end of a complete and valid file.
func (r *Reader) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	n, r.err = r.r.Read(p)
	return n, r.err
}

// NewWriter returns a Writer of a file of the kind described by info: plain, compressed, encrypted with key, or
// a raw stream, and in base64 text if info.Base64 says so. Close completes the file and does not close w.
func NewWriter(w io.Writer, info Info, key *Key) (io.WriteCloser, error) {
	var out io.WriteCloser
	var err error
	switch container := info.Container; {
	case info.Base64.Text:
		text := newTextWriter(w, info.Base64)
		info.Base64 = Base64{}
		text.file, err = NewWriter(text.encoder, info, key)
		out = text
	case container == Plain:
		out = &plainWriter{w: w}
	case container == Compressed:
		out, err = NewCompressedWriter(w, info.Mode, info.BlockSize)
	case container == Encrypted:
		out, err = NewEncryptedWriter(w, info.Layout, key)
	case container == Raw:
		out, err = newRawWriter(w, info.Mode)
	default:
		err = errorf(0, ErrContainer, "%d", info.Container)
	}
	if err != nil {
		return nil, err // not a nil pointer in an interface
	}
	return out, nil
}

// Compress appends src to dst, compressed as PackedByteArray.compress(mode) does, and returns the extended
// slice. If src overlaps the capacity of dst, the result is new memory. The only error is for a mode not
// written by engines, and wraps [ErrMode].
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

// Decompress appends the content of src to dst and returns the extended slice. src is a result of
// PackedByteArray.compress(mode) and nothing else. The size of the content need not be known, but
// for FastLZ: fewer than 16 bytes are returned as 16, the last ones zeros. If src overlaps the
// capacity of dst, the result is new memory.
//
// maxSize is the maximum size in bytes of the content; 0 selects 256 MiB, and -1 disables the
// limit. More content is a [*LimitError]. Decompress never needs more memory than 1 MiB and the
// content; of content beyond maxSize, it counts the bytes without keeping them. An error is an
// [*Error] with an offset in src. dst is then returned with its length unchanged.
func Decompress(dst, src []byte, mode Mode, maxSize int64) ([]byte, error) {
	most := int64(math.MaxInt - len(dst))
	if maxSize > most || maxSize < 0 && math.MaxInt < math.MaxInt64 { // of a slice with ints of 32 bits
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

// apart returns dst, clipped if src overlaps its capacity: src is read and dst written in turn.
func apart(dst, src []byte) []byte {
	to, from := reflect.ValueOf(dst).Pointer(), reflect.ValueOf(src).Pointer()
	if to < from+uintptr(len(src)) && from < to+uintptr(cap(dst)) {
		return slices.Clip(dst)
	}
	return dst
}

// onePass is the number of bytes of a content kept by Decompress before the size is known.
const onePass = 1 << 20

// appendSome appends up to onePass bytes of r to dst, and returns io.EOF if these are all. guess is a size
// to begin with.
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
