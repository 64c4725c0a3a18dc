package save

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save/envelope"
)

// A contentReader reads the content of a container. Its errors stay.
type contentReader struct {
	r     io.Reader
	in    *Input
	file  io.Reader
	info  fileaccess.Info
	whole bool
	left  int64 // bytes of the content; negative for a plain content
	err   error
}

// newContentReader opens the container in r, if r is a container. If whole is set, bytes after a container are an
// error.
func newContentReader(in *Input, r io.Reader, o *fileaccess.Options, whole bool) (*contentReader, error) {
	content, err := fileaccess.NewReader(r, o)
	if err != nil {
		return nil, in.named(err)
	}
	info := content.Info()
	plain := io.Reader(content)
	if info.Container == fileaccess.Raw && info.Mode == fileaccess.FastLZ {
		plain = withoutFill(content)
	}
	return &contentReader{r: plain, in: in, file: r, info: info, whole: whole, left: info.Size}, nil
}

func (c *contentReader) Read(p []byte) (n int, err error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err = c.r.Read(p)
	if c.left -= int64(n); c.left == 0 && c.whole && (err == nil || err == io.EOF) {
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
		after := fmt.Errorf("%w: bytes follow the content that is %v, and would be lost", fileaccess.ErrDamaged, c.info.Container)
		return cmp.Or(err, error(&fileaccess.Error{Offset: at, Err: after}))
	}
	return nil
}

// named adds the name of the input to an error of a container.
func (in *Input) named(err error) error {
	if in.Name != "" && IsContainerError(err) {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	return err
}

// IsContainerError reports whether err is about a compressed or encrypted file, for example because
// the file ends early.
func IsContainerError(err error) bool {
	var e *fileaccess.Error
	return errors.As(err, &e)
}

// writeBuffer is the number of bytes written to a container at once.
const writeBuffer = 64 << 10

// WriteContainer writes a container to w and calls write with a Writer for its content. If e is not nil, the content in
// the container is inside e.
func WriteContainer(w io.Writer, e *envelope.Envelope, info fileaccess.Info, key *fileaccess.Key, write func(io.Writer) error) error {
	out, err := fileaccess.NewWriter(w, info, key)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(out, writeBuffer)
	if e == nil {
		err = write(b)
	} else {
		var content bytes.Buffer
		var all []byte
		if err = write(&content); err == nil {
			all, err = e.Write(content.Bytes())
		}
		if err == nil {
			_, err = b.Write(all)
		}
	}
	if err != nil {
		return err
	}
	return cmp.Or(b.Flush(), out.Close())
}
