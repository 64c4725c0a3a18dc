package save

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/checked"
	"github.com/gdwire/gdwire/internal/save/envelope"
)

// SourceOptions configures Input.Source.
type SourceOptions struct {
	Container  fileaccess.Options
	Skip       int64 // bytes of a header of the game: in the container, or before it
	KeepHeader bool  // keep these bytes
	Whole      bool  // bytes after a container are an error
	Packets    bool  // packets compressed by a script are opened, to edit their values
	// Keep and Derive contain offsets of numbers to keep, or to rewrite, that are doubtful as sizes.
	Keep, Derive []int64
}

// A Source is the content of an Input: after its header, and of its container.
type Source struct {
	*Input
	io.Reader                    // of the content
	Size      int64              // of the content in bytes, or -1 if not known
	Header    []byte             // the skipped bytes before the container, if KeepHeader is set
	Inside    []byte             // the same for those in the container
	Container fileaccess.Info    // around the content, or plain
	Key       *fileaccess.Key    // of an encrypted file
	Held      bool               // the content is in memory
	Err       error              // after a content in memory
	Envelope  *envelope.Envelope // written by a game around the content, or nil

	at     *io.SectionReader         // the content, or nil if read in order
	packed *io.SectionReader         // the file of a container, or nil if read in order
	again  func() (io.Reader, error) // opens the container again, or nil
	start  int64                     // the number of skipped bytes

	options SourceOptions
}

// Source opens the container if the input is compressed or encrypted, and skips a header in the content. A file that is
// no container can contain one after the header. Errors of the container contain the name of the input. Source asks for
// the key once. A content of up to MaxHeld bytes is held, but not the content of a pipe or of plain memory. The Source
// is used in place of the Input.
func (in *Input) Source(o *SourceOptions) (*Source, error) {
	s := &Source{Input: in, Reader: in.Reader, Size: in.Size, at: in.at}
	s.options = *o
	if o.Skip == 0 || !o.Container.Raw { // bytes compressed by a script follow the header
		if err := s.openContainer(o.Container); err != nil {
			return nil, err
		}
	}
	if o.Skip == 0 {
		return s, nil
	}
	if err := s.skip(o.Skip, o.KeepHeader); err != nil {
		return nil, err
	}
	if s.Container.IsPlain() {
		return s, s.openContainer(o.Container)
	}
	s.Header, s.Inside = nil, s.Header
	return s, nil
}

// A ShortError reports an input shorter than the header to skip.
type ShortError struct {
	name       string
	have, skip int64
}

func (e *ShortError) Error() string {
	return fmt.Sprintf("%s has %d bytes, and %d are to be skipped", e.name, e.have, e.skip)
}

// skip skips the first n bytes.
func (s *Source) skip(n int64, keep bool) error {
	var header bytes.Buffer
	kept := io.Discard
	if keep {
		kept = &header
	}
	skipped, err := io.CopyN(kept, s.Reader, n)
	if err == io.EOF {
		return &ShortError{cmp.Or(s.Name, "the file"), skipped, n}
	} else if err != nil {
		return err
	}
	s.Header, s.Size, s.start = header.Bytes(), max(s.Size-n, -1), n
	if s.at != nil {
		s.at = io.NewSectionReader(s.at, n, s.Size)
	}
	if again := s.again; again != nil {
		s.again = func() (io.Reader, error) {
			r, err := again()
			if err == nil {
				_, err = io.CopyN(io.Discard, r, n)
			}
			return r, err
		}
	}
	return nil
}

// openContainer makes s read the content of the container, if there is one, and holds a short
// content.
func (s *Source) openContainer(co fileaccess.Options) error {
	isRaw := co.Raw
	if !co.Raw {
		co.Mode, co.Raw = s.rawMode(co.Base64)
	}
	file := *s
	if err := s.openWith(co); err != nil {
		return err
	}
	if s.Err != nil && co.Raw && !isRaw && !co.Base64 && s.endsEarly() {
		co.Raw, *s = false, file // other bytes follow, so the file is no container
		s.rewind()
		if err := s.openWith(co); err != nil {
			return err
		}
	}
	isMemory := s.file == nil && s.at != nil
	if !s.Live && !isMemory && s.Size >= 0 && s.Size <= MaxHeld {
		s.hold()
	}
	return nil
}

// maxAround is the maximum size in bytes of a content searched for other bytes around values.
const maxAround = 64 << 20

// endsEarly reports whether bytes follow a stream with a signature at the start of a file.
func (s *Source) endsEarly() bool {
	if s.packed == nil || s.packed.Size() > maxAround {
		return false
	}
	b := make([]byte, s.packed.Size())
	if _, err := s.packed.ReadAt(b, 0); err != nil && err != io.EOF {
		return false
	}
	return envelope.EndsEarly(b)
}

// rawMode returns the mode of a stream of PackedByteArray.compress, if the first bytes show such a stream.
func (s *Source) rawMode(isBase64 bool) (fileaccess.Mode, bool) {
	if s.at != nil {
		r := io.Reader(io.NewSectionReader(s.at, 0, s.at.Size()))
		if isBase64 {
			r = base64.NewDecoder(base64.StdEncoding, r)
		}
		return rawMode(bufio.NewReaderSize(r, sniffBytes))
	}
	in := bufio.NewReaderSize(s.Reader, sniffBytes)
	s.Reader = in
	return rawMode(in)
}

// openWith makes s read the content of the container.
func (s *Source) openWith(co fileaccess.Options) error {
	s.Key = co.Key
	if ask := co.AskKey; ask != nil && co.Key == nil {
		co.AskKey = func(i fileaccess.Info) (key *fileaccess.Key, err error) {
			if s.Key == nil {
				s.Key, err = ask(i)
			}
			return s.Key, err
		}
	}
	content, err := newContentReader(s.Input, s.Reader, &co, s.options.Whole)
	if err != nil {
		return err
	}
	s.Reader, s.Container = content, content.info
	if s.Container.Container != fileaccess.Encrypted {
		s.Key = nil
	}
	if s.Container.IsPlain() {
		return nil
	}
	s.Size, s.packed, s.at = s.Container.Size, s.at, nil
	if s.packed != nil {
		s.again = func() (io.Reader, error) {
			return newContentReader(s.Input, io.NewSectionReader(s.packed, 0, s.packed.Size()), &co, s.options.Whole)
		}
	}
	if s.Size < 0 && s.again != nil { // the container does not tell
		s.Size, s.Err = s.End()
	}
	return nil
}

// hold reads the content into memory. An error follows the bytes before it.
func (s *Source) hold() {
	b, err := s.ReadAll()
	s.set(b)
	if s.Err = err; err != nil {
		s.Reader = io.MultiReader(s.Reader, checked.Failed{Err: err})
	}
}

// set makes s a Source of bytes in memory.
func (s *Source) set(b []byte) {
	s.at, s.Size, s.Held, s.Live = section(b), int64(len(b)), true, false
	s.rewind()
}

// section returns a Reader of bytes in memory.
func section(b []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b)))
}

// rewind makes s read the content from its start. rewind returns false for a content that can be read only once.
func (s *Source) rewind() bool {
	var err error
	switch {
	case s.at != nil:
		s.Reader = io.NewSectionReader(s.at, 0, s.at.Size())
	case s.again != nil:
		s.Reader, err = s.again()
	default:
		return false
	}
	return err == nil
}

// ReadAll reads the content into memory.
func (s *Source) ReadAll() ([]byte, error) {
	size := s.Size
	if !s.Container.IsPlain() {
		size = 0 // a container can declare more than it contains
	}
	return s.readAll(s.Reader, size)
}

// End returns the offset of the end of a content that is not held, after reading the content, and the error at
// the end.
func (s *Source) End() (int64, error) {
	if s.again == nil {
		return s.Size, nil
	}
	r, err := s.again()
	if err != nil {
		return 0, err
	}
	return io.Copy(io.Discard, r)
}

// ZerosAtEnd returns the number of zeros at the end of the file of a container.
func (s *Source) ZerosAtEnd() (int64, error) {
	if s.packed == nil {
		return 0, nil
	}
	from, err := ZerosAtEnd(s.packed, s.packed.Size())
	return s.packed.Size() - from, err
}

// Content returns the content as read by o, for reading several times: in memory, in its file, or in the
// container in a file, opened again each time. Only a pipe is first read into memory. The content is used
// until Close.
func (s *Source) Content(o *Reading) (*Content, error) {
	if s.at != nil {
		return NewContent(s.at, s.Size, o), nil
	}
	if s.again != nil && s.Size >= 0 {
		r := &rewinder{open: s.again}
		err := r.rewind()
		return NewContent(r, s.Size, o), err
	}
	data, err := s.ReadAll()
	return NewContent(bytes.NewReader(data), int64(len(data)), o), err
}
