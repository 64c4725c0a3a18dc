package fileaccess

import (
	"bytes"
	"io"

	"github.com/gdwire/gdwire/internal/checked"
)

// A Container is a way in which FileAccess stores bytes in a file.
type Container uint8

const (
	// Plain files contain the bytes unchanged.
	Plain Container = iota
	// Compressed files begin with "GCPF": FileAccess.open_compressed.
	Compressed
	// Encrypted files begin with "GDEC": FileAccess.open_encrypted and
	// open_encrypted_with_pass.
	Encrypted
)

// String returns "plain", "compressed" or "encrypted".
func (c Container) String() string {
	switch c {
	case Compressed:
		return "compressed"
	case Encrypted:
		return "encrypted"
	default:
		return "plain"
	}
}

const (
	magicCompressed = "GCPF"
	magicEncrypted  = "GDEC"
	magicBytes      = 4
)

// An Info describes a file, so that [NewWriter] can write another of the same kind.
type Info struct {
	Container Container
	// Mode is the compression mode of a Compressed file.
	Mode Mode
	// BlockSize is the number of bytes before compression in each block of a
	// Compressed file, except for the last. For a writer, 0 means 4096.
	BlockSize int
	// Layout is the layout of an Encrypted file.
	Layout Layout
	// Size is the declared size in bytes of the content of a Compressed or
	// Encrypted file, and -1 for a Plain file. Writers ignore it.
	Size int64
	// Verified reports whether NewReader verified the MD5 of the content of an
	// Encrypted file. Writers ignore it.
	Verified bool
}

// Options configures [NewReader]. The zero value, like nil, is for plain and compressed
// files, with the default Limits.
type Options struct {
	// Key opens an encrypted file. See [PasswordKey].
	Key *Key
	// AskKey, if set, returns the key. It is called if the file is encrypted and
	// Key is nil. NewReader returns its error.
	AskKey func(Info) (*Key, error)
	// Limits bounds the file's declared sizes.
	Limits Limits
	// MaxBuffered is the maximum size in bytes of encrypted content that NewReader
	// keeps in memory to verify it. Longer content is read twice if the Reader is
	// an io.Seeker, and otherwise returned before it is verified. 0 selects 8 MiB.
	// -1 disables the limit, so that all content is verified first.
	MaxBuffered int64
}

const defaultBuffered = 8 << 20

// A Reader reads the content of a file. Errors stay. It need not be closed.
type Reader struct {
	r    io.Reader
	info Info
}

// NewReader recognizes a file by its first four bytes and returns a Reader of its content.
// A file that begins with other bytes, or is shorter, is Plain; see Info.
//
// It reads the header, and the sizes of all blocks of a compressed file. It reads all of an
// encrypted file if Options.MaxBuffered or seeking permits, and then returns [ErrPassword] for
// a wrong password. For longer encrypted input that cannot seek, Read returns ErrPassword
// instead of io.EOF.
//
// NewReader reads no byte after the end of the container from r. Content that is itself a
// container is not opened; pass the Reader to another NewReader to open it.
func NewReader(r io.Reader, o *Options) (*Reader, error) {
	if o == nil {
		o = new(Options)
	}
	src := &source{r: r}
	magic := make([]byte, magicBytes)
	n, err := io.ReadFull(src, magic)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	out := new(Reader)
	switch string(magic[:n]) {
	case magicCompressed:
		out.r, out.info, err = openCompressed(src, o)
	case magicEncrypted:
		out.r, out.info, err = openEncrypted(src, o)
	default:
		out.r, out.info, err = io.MultiReader(bytes.NewReader(magic[:n]), r), Info{Size: -1}, nil
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Info returns a description of the file.
func (r *Reader) Info() Info { return r.info }

// Read reads the content. It returns io.EOF at the end of a complete and valid file.
func (r *Reader) Read(p []byte) (int, error) { return r.r.Read(p) }

// A source counts the bytes read from r.
type source struct {
	r io.Reader
	n int64
}

// Read reads at least one byte or returns an error.
func (s *source) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := checked.Read(s.r, p)
	s.n += int64(n)
	return n, err
}

// readFull fills p.
func (s *source) readFull(p []byte) error {
	_, err := io.ReadFull(s, p)
	return s.cut(err)
}

// readN reads n bytes. Its memory grows with the bytes received.
func (s *source) readN(n int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(s, n))
	if err == nil && int64(len(b)) < n {
		err = io.EOF
	}
	return b, s.cut(err)
}

// cut returns err, but for the end of the input an Error with the offset.
func (s *source) cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &Error{s.n, io.ErrUnexpectedEOF}
	}
	return err
}
