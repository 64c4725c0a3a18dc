package save

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save/edit"
)

// MaxHeld is the maximum size in bytes of a content that is held in memory, so that it does not change
// with its file.
const MaxHeld = 4 << 20

// OpenContainer makes the Source read the content of the container, if the input is
// compressed or encrypted. Errors of the container contain the name of the input. It asks for the key
// once. A content of up to MaxHeld bytes is held, but for that of a pipe, and of plain memory.
func (in *Source) OpenContainer(o *fileaccess.Options) error {
	co := *o
	in.Key = co.Key
	if ask := co.AskKey; ask != nil && co.Key == nil {
		co.AskKey = func(i fileaccess.Info) (key *fileaccess.Key, err error) {
			if in.Key == nil {
				in.Key, err = ask(i)
			}
			return in.Key, err
		}
	}
	r, err := in.openContainer(in.Reader, &co)
	if err != nil {
		return in.named(err)
	}
	if in.Container.Container != fileaccess.Encrypted {
		in.Key = nil
	}
	if in.Container.Container != fileaccess.Plain {
		in.Size = in.Container.Size
		in.raw = in.at
		if file := in.at; file != nil {
			in.at, in.again = nil, func() (io.Reader, error) {
				return in.openContainer(io.NewSectionReader(file, 0, file.Size()), &co)
			}
		}
	}
	in.Reader = r
	isMemory := in.file == nil && in.at != nil
	if !in.Live && !isMemory && in.Size >= 0 && in.Size <= MaxHeld {
		in.hold()
	}
	return nil
}

// openContainer opens the container in r, if it is one.
func (in *Source) openContainer(r io.Reader, o *fileaccess.Options) (io.Reader, error) {
	content, err := fileaccess.NewReader(r, o)
	if err != nil {
		return nil, err
	}
	in.Container = content.Info()
	return &contentReader{r: content, in: in, file: r, left: in.Container.Size}, nil
}

// hold reads the content into memory. An error follows the bytes before it.
func (in *Source) hold() {
	b, err := io.ReadAll(in.Reader)
	held := bytes.NewReader(b)
	in.at, in.Size, in.Held, in.Err = io.NewSectionReader(held, 0, held.Size()), held.Size(), true, err
	in.Reader = held
	if err != nil {
		in.Reader = io.MultiReader(held, &failed{err})
	}
}

// ZerosAtEnd returns the number of zeros at the end of the file of a container.
func (in *Source) ZerosAtEnd() (int64, error) {
	if in.raw == nil {
		return 0, nil
	}
	from, err := edit.ZerosAtEnd(in.raw, in.raw.Size())
	return in.raw.Size() - from, err
}

// End returns the offset of the end of a content that is not held, which it reads up to its end, and the error
// there.
func (in *Source) End() (int64, error) {
	if in.again == nil {
		return in.Size, nil
	}
	r, err := in.again()
	if err != nil {
		return 0, in.named(err)
	}
	n, err := io.Copy(io.Discard, r)
	return n, err
}

// failed is a Reader that returns an error.
type failed struct{ err error }

func (f *failed) Read([]byte) (int, error) { return 0, f.err }

// A contentReader reads the content of a container. Its errors stay.
type contentReader struct {
	r    io.Reader
	in   *Source
	file io.Reader
	left int64 // bytes of the content; negative if it is plain
	err  error
}

func (c *contentReader) Read(p []byte) (n int, err error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err = c.r.Read(p)
	if c.left -= int64(n); c.left == 0 && c.in.Whole && (err == nil || err == io.EOF) {
		c.left = -1
		err = c.end()
	}
	c.err = c.in.named(err)
	return n, c.err
}

// end returns an error if bytes follow the container.
func (c *contentReader) end() error {
	var b [1]byte
	if _, err := io.ReadFull(c.r, b[:]); err != io.EOF {
		return err
	}
	at := int64(0)
	if file, ok := c.file.(io.Seeker); ok {
		at, _ = file.Seek(0, io.SeekCurrent)
	}
	if _, err := io.ReadFull(c.file, b[:]); err != io.EOF {
		after := fmt.Errorf("%w: bytes follow the content that is %v, and would be lost", fileaccess.ErrDamaged, c.in.Container.Container)
		return cmp.Or(err, error(&fileaccess.Error{Offset: at, Err: after}))
	}
	return nil
}

// named adds the name of the input to an error of a container.
func (in *Source) named(err error) error {
	if in.Name != "" && IsContainerError(err) {
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

// writeBuffer is the number of bytes that are written to a container at once.
const writeBuffer = 64 << 10

// WriteContainer calls write with a Writer for the content of a container, which it writes to w.
func WriteContainer(w io.Writer, info fileaccess.Info, key *fileaccess.Key, write func(io.Writer) error) error {
	out, err := fileaccess.NewWriter(w, info, key)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(out, writeBuffer)
	if err := write(b); err != nil {
		return err
	}
	return cmp.Or(b.Flush(), out.Close())
}
