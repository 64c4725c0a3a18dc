package fileaccess

import (
	"bytes"
	"errors"
	"io"
)

// A Container is one of the ways in which FileAccess stores bytes in a file.
type Container uint8

const (
	// Plain files hold the bytes themselves.
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

// An Info describes a file, so that [NewWriter] can make another like it.
type Info struct {
	Container Container
	// Mode of a Compressed file.
	Mode Mode
	// BlockSize of a Compressed file: the bytes in each block but the last,
	// before compression. 0 means 4096 to a writer.
	BlockSize int
	// Layout of an Encrypted file.
	Layout Layout
	// Size in bytes of the content of a Compressed or Encrypted file, as it
	// declares; -1 for a Plain one. Writers ignore it.
	Size int64
	// Verified reports that the whole content of an Encrypted file had the right
	// MD5 before NewReader returned. Writers ignore it.
	Verified bool
}

// Options say how [NewReader] reads a file. The zero Options, or nil, read plain
// and compressed files with the default Limits.
type Options struct {
	// Key opens an encrypted file. See [PasswordKey].
	Key *Key
	// AskKey is called for the key if the file is encrypted and Key is nil. An
	// error that it returns is returned by NewReader.
	AskKey func(Info) (*Key, error)
	// Limits on the file's declared sizes.
	Limits Limits
	// Buffered is how many bytes of an encrypted file's content NewReader reads
	// and keeps until their MD5 is known to be right. Longer content is read
	// twice if the Reader is an io.Seeker, and otherwise returned before it is
	// verified. 0 means 8 MiB, -1 no limit: then no byte is ever returned
	// unverified.
	Buffered int64
}

const defaultBuffered = 8 << 20

// A Reader reads the content of a file. It is an io.Reader; errors stay. It holds
// nothing that needs closing.
type Reader struct {
	r    io.Reader
	info Info
}

// NewReader recognizes a file by its first four bytes and returns a Reader of its
// content. A file that begins otherwise, or is shorter, is Plain, as Info reports.
//
// It reads the header, of a compressed file also the sizes of its blocks, and of
// an encrypted file everything if Options.Buffered or seeking allows, so that a
// wrong password is an [ErrPassword] here. Of longer encrypted input that cannot
// seek, Read returns ErrPassword in place of io.EOF.
//
// No byte after the end of the container is read from r. Content that is itself a
// container is returned as it is; a second NewReader around the first opens it.
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

// Info describes the file.
func (r *Reader) Info() Info { return r.info }

// Read reads the content. At its end it returns io.EOF if all of the file was
// there and right.
func (r *Reader) Read(p []byte) (int, error) { return r.r.Read(p) }

// A source counts the bytes read from r.
type source struct {
	r io.Reader
	n int64
}

// Read reads at least one byte or returns an error, and checks the count that r returns.
func (s *source) Read(p []byte) (int, error) {
	for range maxEmptyReads {
		n, err := s.r.Read(p)
		if n < 0 || n > len(p) {
			return 0, errBadRead
		}
		s.n += int64(n)
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

const maxEmptyReads = 100

var errBadRead = errors.New("fileaccess: reader returned an impossible count")

// readFull fills p.
func (s *source) readFull(p []byte) error {
	_, err := io.ReadFull(s, p)
	return s.cut(err)
}

// readN reads n bytes. It allocates as they arrive.
func (s *source) readN(n int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(s, n))
	if err == nil && int64(len(b)) < n {
		err = io.EOF
	}
	return b, s.cut(err)
}

// cut returns err, but for the end of the input an Error that tells its offset.
func (s *source) cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &Error{s.n, io.ErrUnexpectedEOF}
	}
	return err
}
