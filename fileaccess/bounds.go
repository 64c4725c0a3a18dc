package fileaccess

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/gdwire/gdwire/internal/base/checked"
)

// What bounds and checks all files: errors and limits, and the counts that Readers and Writers return.

// Causes of an [Error], and errors of calls. Test for them with [errors.Is]. A file that
// ends early is io.ErrUnexpectedEOF.
var (
	// ErrDamaged reports content that no engine wrote.
	ErrDamaged = errors.New("damaged file")
	// ErrPassword reports decrypted content with another MD5 than the one in the file. The key
	// is wrong or the file is damaged.
	ErrPassword = errors.New("wrong password or damaged file")
	// ErrNoKey reports an encrypted file or writer without a key. Another call
	// with a key can succeed.
	ErrNoKey = errors.New("fileaccess: an encrypted file needs a password or key")
	// ErrMode reports a compression mode that this package cannot read or write.
	ErrMode = errors.New("unsupported compression mode")
	// ErrContainer reports a Container other than the constants.
	ErrContainer = errors.New("unknown container")
	// ErrLayout reports a Layout other than LayoutGodot3 and LayoutGodot4.
	ErrLayout = errors.New("unknown layout")
	// ErrLimit is wrapped by every LimitError, also those of package gdwire.
	ErrLimit = checked.ErrLimit
	// ErrClosed is returned by Write after Close.
	ErrClosed = errors.New("fileaccess: write after Close")
)

// Errors of the codecs.
var (
	errLong  = errors.New("more content than declared")
	errShort = errors.New("less content than declared")
	errAfter = errors.New("bytes after the compressed content")
)

// An Error describes an invalid file. Errors of the underlying Reader or Writer are
// returned unchanged.
type Error struct {
	// Offset is a number of bytes since the start of reading: the position of the invalid field
	// or compressed block, or the end of a truncated file. For a writer it is the number of
	// bytes written before.
	Offset int64
	// Err is the cause: io.ErrUnexpectedEOF, a *LimitError, or an error wrapping one of this
	// package's errors.
	Err error
}

func (e *Error) Error() string {
	if e.Err == ErrPassword { // no place in the file tells why
		return "fileaccess: " + e.Err.Error()
	}
	return fmt.Sprintf("fileaccess: offset %d: %v", e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// errorf returns an Error with the given offset, caused by err with a formatted message.
func errorf(offset int64, err error, format string, args ...any) *Error {
	return &Error{offset, fmt.Errorf("%w: "+format, append([]any{err}, args...)...)}
}

// Limits bounds the files accepted by a Reader. In each field, 0 selects the default and -1
// disables the limit. A number in the file is checked before anything is read or allocated for
// it. A file exceeding a limit is a [LimitError].
type Limits struct {
	// Size is the maximum size in bytes of the content of a compressed or
	// encrypted file. Default: 256 MiB.
	Size int64
	// BlockSize is the maximum size in bytes of a block of a compressed file before compression. After it, a block can
	// be longer by 1/32 and 64 bytes. Engines write blocks of 4096 bytes. Default: 1 MiB; at most 1 GiB, even if disabled.
	BlockSize int64
	// Blocks is the maximum number of blocks of a compressed file. Each block needs 4 bytes of
	// memory. Default: 1<<20, 4 GiB in blocks of 4096 bytes; at most 1<<28, even if disabled.
	Blocks int64
}

// A limit identifies a field of Limits.
type limit uint8

const (
	limitSize limit = iota
	limitBlockSize
	limitBlocks
	numLimits
)

// maxBuffered bounds the memory for blocks and their sizes if limits are disabled, so that
// lengths fit an int on all machines.
const maxBuffered = 1 << 30

// sizeBytes is the size of the compressed size of a block.
const sizeBytes = 4

// limitTable contains the names of the limits, the texts for a size or count in errors, the
// defaults, and the greatest values.
var limitTable = [numLimits]struct {
	name, text    string
	standard, max int64
}{
	limitSize:      {"Size", "content of %d bytes", 256 << 20, math.MaxInt64 - 1<<10},
	limitBlockSize: {"BlockSize", "block of %d bytes", 1 << 20, maxBuffered},
	limitBlocks:    {"Blocks", "file of %d blocks", 1 << 20, maxBuffered / sizeBytes},
}

// bounds stores the Limits with defaults in place of zeros.
type bounds [numLimits]int64

// bounds returns the Limits with defaults in place of zeros.
func (l Limits) bounds() (b bounds) {
	for i, v := range [...]int64{limitSize: l.Size, limitBlockSize: l.BlockSize, limitBlocks: l.Blocks} {
		switch {
		case v < 0:
			v = math.MaxInt64
		case v == 0:
			v = limitTable[i].standard
		}
		b[i] = min(v, limitTable[i].max)
	}
	return b
}

// check returns an Error at offset if got exceeds the limit.
func (b *bounds) check(l limit, got uint64, offset int64) error {
	if got <= uint64(b[l]) {
		return nil
	}
	return &Error{offset, &LimitError{Name: limitTable[l].name, Got: int64(min(got, math.MaxInt64)), Max: b[l]}}
}

// A LimitError reports a file exceeding one of the [Limits], or content too long for a
// compressed file, and wraps [ErrLimit].
type LimitError struct {
	Name string // name of the field of Limits
	Got  int64  // declared by the file
	Max  int64  // allowed by the limit
}

func (e *LimitError) Error() string {
	text := "%d"
	for _, l := range &limitTable {
		if l.name == e.Name {
			text = l.text
		}
	}
	return fmt.Sprintf(text+" exceeds limit %s (%d)", e.Got, e.Name, e.Max)
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }

// A source counts the bytes read from r.
type source struct {
	r      io.Reader
	seeker io.Seeker // r, if it can be read again, or nil
	n      int64
	err    error // of the latest Read
}

// newSource returns a source of r. Only Readers of the standard library are read again: a type that embeds one has its Seek, but
// perhaps a Read of its own, which buffers or counts the bytes.
func newSource(r io.Reader) *source {
	switch s := r.(type) {
	case *os.File:
		return &source{r: r, seeker: s}
	case *bytes.Reader:
		return &source{r: r, seeker: s}
	case *strings.Reader:
		return &source{r: r, seeker: s}
	case *io.SectionReader:
		return &source{r: r, seeker: s}
	}
	return &source{r: r}
}

// size returns the number of bytes from the start of reading to the end, or -1 if not known.
func (s *source) size() (int64, error) {
	if s.seeker == nil {
		return -1, nil
	}
	pos, err := s.seeker.Seek(0, io.SeekCurrent)
	if err != nil { // an *os.File that is a pipe
		return -1, nil
	}
	end, err := s.seeker.Seek(0, io.SeekEnd)
	if err != nil {
		return -1, nil
	}
	_, err = s.seeker.Seek(pos, io.SeekStart)
	return s.n + end - pos, err
}

// Read reads at least one byte or returns an error.
func (s *source) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := checked.Read(s.r, p)
	s.n, s.err = s.n+int64(n), err
	return n, err
}

// readFull fills p.
func (s *source) readFull(p []byte) error {
	_, err := io.ReadFull(s, p)
	return s.cut(err)
}

// readN reads n bytes, into memory that grows with the bytes received.
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

// readAhead is the number of compressed bytes read at once.
const readAhead = 32 << 10

// A sticky holds the error returned by all later calls of a Writer.
type sticky struct{ err error }

// write writes b to w, unless there is an error.
func (s *sticky) write(w io.Writer, b []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = checked.Write(w, b)
	}
	return n, s.err
}

// close calls finish, unless there is an error or finish was called.
func (s *sticky) close(finish func() error) error {
	if s.err == nil {
		s.err = finish()
		if s.err == nil {
			s.err = ErrClosed
		}
	}
	if s.err == ErrClosed {
		return nil
	}
	return s.err
}

// A file is what Writers need of an *os.File to write it out of order.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Seeker
}

// fileOf returns w if it is a file, or nil. A type that embeds an *os.File has its methods, but perhaps a Write of its own, which
// encrypts or counts the bytes, so it is none.
func fileOf(w io.Writer) file {
	if f, ok := w.(*os.File); ok && !appends(f) {
		return f
	}
	return nil
}

// writeAll writes all pieces, one after the other.
func writeAll(w io.Writer, pieces ...[]byte) error {
	for _, p := range pieces {
		if _, err := checked.Write(w, p); err != nil {
			return err
		}
	}
	return nil
}

// A plainWriter writes a Plain file. As with the other files, errors stay.
type plainWriter struct {
	w io.Writer
	sticky
}

func (p *plainWriter) Write(b []byte) (int, error) { return p.write(p.w, b) }

func (p *plainWriter) Close() error { return p.close(func() error { return nil }) }
