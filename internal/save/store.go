package save

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire/internal/checked"
)

// A Store is a content for several goroutines to read at any offset and time: in memory, or in its file.
type Store struct {
	Size int64
	Data []byte      // the whole content, or nil
	File io.ReaderAt // if Data is nil

	changed func() error // returns an error once the file changed
}

// InMemory returns a Store of bytes in memory.
func InMemory(data []byte) *Store { return &Store{Size: int64(len(data)), Data: data} }

// Store returns the content as a Store, after reading a content of up to most bytes into memory, and any
// compressed or encrypted content or pipe. The file is used until Close.
func (s *Source) Store(most int64) (*Store, error) {
	file := s.file
	if s.Path == "" || s.Info == nil || s.Envelope != nil || !s.Container.IsPlain() {
		return s.inMemory()
	}
	opened, err := file.Stat()
	if err != nil {
		return nil, err
	}
	size := opened.Size() - s.start
	at := io.NewSectionReader(file, s.start, size)
	if size <= most {
		data := make([]byte, size)
		if _, err := at.ReadAt(data, 0); err != nil && err != io.EOF {
			return nil, err
		}
		return InMemory(data), nil
	}
	return &Store{Size: size, File: at, changed: func() error {
		now, err := file.Stat()
		if err == nil && (now.Size() != opened.Size() || !now.ModTime().Equal(opened.ModTime())) {
			err = ErrFileChanged
		}
		return err
	}}, nil
}

// inMemory reads the content into memory. The content of a container in a file takes no more memory than its size. A
// compressed content is read twice for this, because the declared size may be wrong.
func (s *Source) inMemory() (*Store, error) {
	if s.again == nil || s.Held {
		data, err := s.ReadAll()
		return InMemory(data), err
	}
	size, err := s.Size, s.Err
	if err == nil && size > s.packed.Size() {
		size, err = s.End()
	}
	if err = cmp.Or(err, s.checkInMemory(size)); err != nil {
		return nil, err
	}
	data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead)) // the end is found without growing
	_, err = data.ReadFrom(s.Reader)
	return InMemory(data.Bytes()), err
}

// Edited returns the Store of an edited content that reads from s. A content of up to most bytes is read into
// memory.
func (s *Store) Edited(c *Content, most int64) (*Store, error) {
	if c.Size > most {
		return &Store{Size: c.Size, File: c, changed: s.changed}, nil
	}
	data := make([]byte, c.Size)
	if _, err := io.ReadFull(io.NewSectionReader(c, 0, c.Size), data); err != nil {
		return nil, err
	}
	return InMemory(data), nil
}

// ErrFileChanged is the error of a Store after a change of its file.
var ErrFileChanged = errors.New("the file has changed")

// Check returns ErrFileChanged once the file of the Store changed.
func (s *Store) Check() error {
	if s.Data != nil || s.changed == nil {
		return nil
	}
	return s.changed()
}

// ReaderAt returns a reader of the content.
func (s *Store) ReaderAt() io.ReaderAt {
	if s.Data != nil {
		return bytes.NewReader(s.Data)
	}
	return s.File
}

// Bytes returns up to n bytes from an offset on. They must not be changed.
func (s *Store) Bytes(at int64, n int) ([]byte, error) {
	if at < 0 || at > s.Size {
		return nil, fmt.Errorf("there is no offset %d", at)
	}
	n = int(min(int64(n), s.Size-at))
	if s.Data != nil {
		return s.Data[at : at+int64(n)], nil
	}
	b := make([]byte, n)
	_, err := s.File.ReadAt(b, at)
	return b, checked.NoEOF(err)
}
