// Package save opens saved games and recorded traffic, which are files or pipes, plain,
// compressed or encrypted, and reads the values in them.
package save

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save/edit"
)

// MaxInMemory is the maximum size in bytes of an input for ReadAll.
const MaxInMemory = 1 << 30

// A Source is an opened input: the content of a file or of its container.
type Source struct {
	io.Reader                 // of the content
	Name      string          // in messages, or ""
	Path      string          // of the file, or "" for standard input
	Info      os.FileInfo     // of a regular file, or nil
	Size      int64           // of the content in bytes, or -1 if it is not known
	Live      bool            // a pipe or terminal, which can send more at any time
	Container fileaccess.Info // after OpenContainer
	Key       *fileaccess.Key // of an encrypted file, after OpenContainer
	Header    []byte          // the bytes that Skip kept
	Whole     bool            // bytes after a container are an error
	Held      bool            // the content is in memory, after OpenContainer
	Err       error           // the error after a content that is in memory

	file    *os.File                  // nil if the input is not a file
	at      *io.SectionReader         // the rest of a file or, after OpenContainer, the content; nil if it is read in order
	raw     *io.SectionReader         // the file of a container, or nil
	again   func() (io.Reader, error) // opens the container again, or nil
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
		in.at = io.NewSectionReader(in.file, at, in.Size)
	}
	return in, nil
}

// File returns a Source of a regular file without a name, which is read from its start.
func File(f *os.File, info os.FileInfo) *Source {
	in := At(f, info.Size())
	in.file = f
	return in
}

// At returns a Source of size bytes of r, without a name. Close does nothing.
func At(r io.ReaderAt, size int64) *Source {
	at := io.NewSectionReader(r, 0, size)
	return &Source{Reader: io.NewSectionReader(r, 0, size), Size: size, at: at}
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
	if in.at != nil && err == nil {
		in.at = io.NewSectionReader(in.at, n, in.Size)
	}
	return err
}

// File returns the file and the offset at which the content starts, if the input is a regular
// file with plain content. For other inputs, such as standard input, it returns nil.
func (in *Source) File() (f *os.File, start int64) {
	if in.Path == "" || in.Info == nil || in.Container.Container != fileaccess.Plain {
		return nil, 0
	}
	return in.file, in.skipped
}

// ReadAll reads the content into memory.
func (in *Source) ReadAll() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxInMemory+1))
	if err == nil && len(data) > MaxInMemory {
		err = fmt.Errorf("%s is larger than 1 GiB, the limit in memory", in.Name)
	}
	return data, err
}

// Content returns the content as o reads it, which can be read several times: in memory, in its file, or in
// the container in a file, which is opened again. Only a pipe is read for that, into memory. The content is
// used until Close.
func (in *Source) Content(o *Reading) (*edit.Content, error) {
	c := &edit.Content{Size: in.Size, Order: o.Frame.Order(), Decoder: o.Decoder, Encoder: o.Encoder()}
	switch {
	case in.at != nil:
		c.ReaderAt = in.at
	case in.again != nil && in.Size >= 0:
		r, err := in.again()
		if err != nil {
			return nil, in.named(err)
		}
		c.ReaderAt = &rewinder{in: r, open: in.again}
	default:
		data, err := in.ReadAll()
		if err != nil {
			return nil, err
		}
		c.ReaderAt, c.Size = bytes.NewReader(data), int64(len(data))
	}
	return c, nil
}
