package fileaccess

import (
	"bytes"
	"io"
)

// A Reader reads the content of a file. Errors stay. It need not be closed.
type Reader struct {
	r    io.Reader
	info Info
	err  error
}

// NewReader recognizes a file by its first four bytes and returns a Reader of its content.
// A file that begins with other bytes, or is shorter, is Plain; see Info. With Options.Raw, it
// returns a Reader of a stream that PackedByteArray.compress returned, in constant memory.
//
// It reads the header, and the sizes of all blocks of a compressed file. It reads all of an
// encrypted file if Options.MaxBuffered or seeking permits, and then returns [ErrPassword] for
// a wrong password. For longer encrypted input that cannot seek, Read returns ErrPassword
// instead of io.EOF.
//
// NewReader reads no byte after the end of the container from r; a Raw stream is all of r. Content that is itself a
// container is not opened; pass the Reader to another NewReader to open it.
func NewReader(r io.Reader, o *Options) (*Reader, error) {
	if o == nil {
		o = new(Options)
	}
	src := &source{r: r}
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
		src = &source{r: bytes.NewReader(file)}
		if err != nil {
			src.r = io.MultiReader(src.r, &failed{err})
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

// failed is a Reader that returns an error.
type failed struct{ err error }

func (f *failed) Read([]byte) (int, error) { return 0, f.err }

// openFile opens a file by its first bytes.
func openFile(src *source, o *Options) (io.Reader, Info, error) {
	magic := make([]byte, magicBytes)
	n, err := io.ReadFull(src, magic)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, Info{}, err
	}
	switch string(magic[:n]) {
	case magicCompressed:
		return openCompressed(src, o)
	case magicEncrypted:
		return openEncrypted(src, o)
	}
	return io.MultiReader(bytes.NewReader(magic[:n]), src), Info{Size: -1}, nil
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
