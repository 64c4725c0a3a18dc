// Package input opens saved games and recorded traffic, which are files or pipes, plain,
// compressed or encrypted, and reads the values in them.
package input

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/recognize"
)

// MaxInMemory is the maximum size in bytes of an input for ReadAll.
const MaxInMemory = 1 << 30

// A Source is an opened input: the content of a file or of its container.
type Source struct {
	io.Reader
	Name      string          // in messages
	Path      string          // of the file, or "" for standard input
	Info      os.FileInfo     // of a regular file, or nil
	Size      int64           // of the content in bytes, or -1 if it is not known
	Live      bool            // a pipe or terminal, which can send more at any time
	Container fileaccess.Info // after OpenContainer
	Header    []byte          // the bytes that Skip kept
	Whole     bool            // bytes after a container are an error

	file    *os.File // nil if the input is not a file
	skipped int64
}

// IsStdin reports whether a name means standard input.
func IsStdin(name string) bool { return name == "" || name == "-" }

// DisplayName returns the name of an input in messages.
func DisplayName(name string) string {
	if IsStdin(name) {
		return "standard input"
	}
	return name
}

// Open opens the file of the given name, or stdin.
func Open(name string, stdin io.Reader) (*Source, error) {
	in := &Source{Name: DisplayName(name), Reader: stdin, Size: -1, Live: true}
	if IsStdin(name) {
		in.file, _ = stdin.(*os.File)
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		in.Reader, in.file, in.Path = f, f, name
	}
	if in.file == nil {
		return in, nil
	}
	i, err := in.file.Stat()
	switch {
	case err != nil:
	case i.IsDir():
		return nil, errors.Join(fmt.Errorf("%s is a folder", in.Name), in.Close())
	case i.Mode().IsRegular():
		at, _ := in.file.Seek(0, io.SeekCurrent) // others may have read a part of standard input
		in.Info, in.Size, in.Live = i, max(i.Size()-at, 0), false
	}
	return in, nil
}

// Close closes the file, unless it is standard input.
func (in *Source) Close() error {
	if in.Path == "" {
		return nil
	}
	return in.file.Close()
}

// Skip skips the first n bytes. It keeps them if keep is set.
func (in *Source) Skip(n int64, keep bool) error {
	var header bytes.Buffer
	kept := io.Discard
	if keep {
		kept = &header
	}
	skipped, err := io.CopyN(kept, in.Reader, n)
	if err == io.EOF {
		err = fmt.Errorf("%s has %d bytes, so -skip %d leaves nothing", in.Name, skipped, n)
	}
	in.Header, in.Size, in.skipped = header.Bytes(), max(in.Size-n, -1), skipped
	return err
}

// OpenContainer makes the Source read the content of the container, if the input is
// compressed or encrypted. Errors of the container contain the name of the input.
func (in *Source) OpenContainer(o *fileaccess.Options) error {
	r, err := fileaccess.NewReader(in.Reader, o)
	if err != nil {
		return in.named(err)
	}
	in.Container = r.Info()
	if in.Container.Container != fileaccess.Plain {
		in.Size = in.Container.Size
	}
	in.Reader = &namedReader{r: r, in: in, file: in.Reader, left: in.Container.Size}
	return nil
}

// A namedReader reads the content of a container.
type namedReader struct {
	r    io.Reader
	in   *Source
	file io.Reader
	left int64 // bytes of the content; negative if it is plain
}

func (c *namedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left == 0 && c.in.Whole && (err == nil || err == io.EOF) {
		c.left = -1
		err = c.end()
	}
	return n, c.in.named(err)
}

// end returns an error if bytes follow the container.
func (c *namedReader) end() error {
	var b [1]byte
	if _, err := io.ReadFull(c.r, b[:]); err != io.EOF {
		return err
	}
	if _, err := io.ReadFull(c.file, b[:]); err != io.EOF {
		return cmp.Or(err, fmt.Errorf("%s: bytes follow the content that is %v, and would be lost", c.in.Name, c.in.Container.Container))
	}
	return nil
}

// named adds the name of the input to an error of a container.
func (in *Source) named(err error) error {
	if IsContainerError(err) {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	return err
}

// IsContainerError reports whether err is about a compressed or encrypted file, for example
// because it ends early.
func IsContainerError(err error) bool {
	var e *fileaccess.Error
	return errors.As(err, &e)
}

// File returns the file and the offset at which the content starts, if the input is a regular
// file with plain content. For other inputs, such as standard input, it returns nil.
func (in *Source) File() (f *os.File, start int64) {
	if in.Path == "" || in.Info == nil || in.Container.Container != fileaccess.Plain {
		return nil, 0
	}
	return in.file, in.skipped
}

// Recognize recognizes the content, which can be read from its start after that. ri can contain
// the formats and frames to choose from; Recognize sets its other fields.
func (in *Source) Recognize(ri *recognize.Input) (recognize.Result, error) {
	ri.Size = in.Size
	if f, start := in.File(); f != nil {
		ri.At = io.NewSectionReader(f, start, in.Size)
	}
	err := recognize.ReadHead(in.Reader, ri, in.Live)
	switch {
	case IsContainerError(err) && len(ri.Head) > 0: // read the head, and then this error
		ri.Size = int64(len(ri.Head))
	case err != nil:
		return recognize.Result{}, err
	}
	in.Reader = io.MultiReader(bytes.NewReader(ri.Head), in.Reader)
	return recognize.Recognize(ri), nil
}

// ReadAll reads the content into memory.
func (in *Source) ReadAll() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxInMemory+1))
	if err == nil && len(data) > MaxInMemory {
		err = fmt.Errorf("%s is larger than 1 GiB, the limit in memory", in.Name)
	}
	return data, err
}

// A Content is the content of a Source, which can be read several times.
type Content interface {
	io.ReaderAt
	io.Closer
}

// Content returns the content of a plain file, of the container in a file, which reopen opens
// again, or of standard input, which is read into memory. The Source must not be used after
// that.
func (in *Source) Content(reopen func() (*Source, error)) (c Content, size int64, err error) {
	if f, start := in.File(); f != nil {
		return section{io.NewSectionReader(f, start, in.Size), in}, in.Size, nil
	}
	if in.Path != "" && in.Info != nil && in.Size >= 0 {
		return &rewinder{in: in, open: func() (io.ReadCloser, error) { return reopen() }}, in.Size, nil
	}
	data, err := in.ReadAll()
	if err != nil {
		return nil, 0, errors.Join(err, in.Close())
	}
	return section{bytes.NewReader(data), in}, int64(len(data)), nil
}

type section struct {
	io.ReaderAt
	io.Closer
}
