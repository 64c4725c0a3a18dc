package save

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
)

// The maximum sizes in bytes of a content in memory. One limit would not do: a content that can stay in its file is
// held if holding is cheap, the page also holds bytes no longer in the file, and a pipe leaves no choice.
const (
	// MaxHeld limits a content read into memory although it could be read again, so that the content
	// does not change with its file. Reading a save takes 24 MiB in all, including the content.
	MaxHeld = 4 << 20
	// MaxVersion limits each version of a file kept and compared by the page.
	MaxVersion = 64 << 20
	// MaxInMemory limits a content that can be read only once. A larger one is an error.
	MaxInMemory = 1 << 30
)

// An Input is a file, a pipe or memory, before its container is opened.
type Input struct {
	io.Reader
	Name string      // in messages, or ""
	Path string      // of the file, or "" for standard input
	Info os.FileInfo // of a regular file, or nil
	Size int64       // in bytes, or -1 if not known
	Live bool        // a pipe or terminal, where more can arrive at any time

	file *os.File          // nil if the input is no file
	at   *io.SectionReader // the whole input, or nil if read in order
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
func Open(name string, stdin io.Reader) (*Input, error) {
	in := &Input{Name: DisplayName(name), Reader: stdin, Size: -1, Live: true}
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

// File returns an Input of a regular file without a name, read from the start.
func File(f *os.File, info os.FileInfo) *Input {
	in := At(f, info.Size())
	in.file = f
	return in
}

// At returns an Input of size bytes of r, without a name. Close does nothing.
func At(r io.ReaderAt, size int64) *Input {
	at := io.NewSectionReader(r, 0, size)
	return &Input{Reader: io.NewSectionReader(r, 0, size), Size: size, at: at}
}

// Close closes the file, unless the file is standard input.
func (in *Input) Close() error {
	if in.Path == "" {
		return nil
	}
	return in.file.Close()
}

// ReadAll reads the input into memory.
func (in *Input) ReadAll() ([]byte, error) { return in.readAll(in.Reader, in.Size) }

// readAll reads all of r. A size that is not negative is the expected number of bytes.
func (in *Input) readAll(r io.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(max(size, 0), MaxVersion)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(r, MaxInMemory+1))
	return b.Bytes(), cmp.Or(err, in.checkInMemory(int64(b.Len())))
}

// checkInMemory returns an error if a content is too large for memory.
func (in *Input) checkInMemory(size int64) error {
	if size > MaxInMemory {
		return fmt.Errorf("%s is larger than 1 GiB, the limit in memory", in.Name)
	}
	return nil
}
