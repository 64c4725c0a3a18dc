package savefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/edit"
	"github.com/gdwire/gdwire/internal/input"
	"github.com/gdwire/gdwire/internal/recognize"
)

// maxHeld is the maximum size in bytes of a content that is held in memory.
const maxHeld = 4 << 20

// Open opens a saved game and recognizes what it is. It reads a content of up to 4 MiB into memory, and
// of a larger one the container, the first 64 KiB and the lengths of the values. Close closes the file.
//
// A file that is not recognized, or that could be read in several ways, is an error that wraps
// [ErrUnknown] and says which: set Options.Lengths and Options.Decoder.Format then. A damaged file is
// a [*DamageError], from Open or from the call that reads the damaged value.
func Open(name string, o *Options) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	out, err := open(f, o)
	if err != nil {
		return nil, errors.Join(named(err, name), f.Close())
	}
	out.name = name
	return out, nil
}

// named returns an error with the name of its file.
func named(err error, name string) error {
	if failed := (*os.PathError)(nil); errors.As(err, &failed) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// open opens a file. After an error the caller closes it.
func open(file *os.File, o *Options) (*File, error) {
	stat, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, &os.PathError{Op: "open", Path: file.Name(), Err: errors.New("not a regular file")}
	}
	var r io.ReaderAt = file
	size := stat.Size()
	held := size <= maxHeld
	if held { // then the content does not change with the file
		b, err := io.ReadAll(io.NewSectionReader(r, 0, size))
		if err != nil {
			return nil, err
		}
		r, size = bytes.NewReader(b), int64(len(b))
	}
	f, err := Read(r, size, o)
	if err != nil {
		return nil, err
	}
	f.stat = stat
	if held {
		return f, file.Close()
	}
	f.file = file
	return f, nil
}

// Read is like [Open] for size bytes of r, such as an upload in memory. r must not change.
func Read(r io.ReaderAt, size int64, o *Options) (*File, error) {
	if o == nil {
		o = new(Options)
	}
	if o.Lengths != 0 && !o.Lengths.valid() {
		return nil, fmt.Errorf("savefile: unknown %v", o.Lengths)
	}
	l := &loader{options: o, decoder: o.Decoder}
	if err := l.openContainer(r, size); err != nil {
		return nil, err
	}
	if err := l.recognize(); err != nil {
		return nil, err
	}
	f := &File{Info: l.info}
	f.content = l.content(f)
	err := l.check(f)
	if o.Repair {
		err = f.repair(err)
	}
	if err != nil {
		return nil, err
	}
	f.Info.DoubleReals = o.Decoder.DoubleReals || f.content.HasDoubleReals(recognize.HeadSize)
	f.content.Encoder.DoubleReals = f.Info.DoubleReals
	f.opened = f.Info
	return f, nil
}

// A loader finds out what a file is.
type loader struct {
	options *Options
	decoder gdwire.DecoderOptions
	info    Info

	r    io.ReaderAt // the content
	size int64
	cut  *DamageError // of the container, or nil

	known   bool // the options contain format and lengths
	suspect bool // what was recognized is damaged
}

// check returns a DamageError if the file is damaged, as far as that is known without reading all of
// it. If the head of the file already is, it reads up to the damage.
func (l *loader) check(f *File) error {
	if l.cut != nil {
		return l.cut
	}
	err := damaged(f.content.CheckZeros(l.known && !l.options.Repair))
	if err == nil {
		err = damaged(f.content.CheckLengths())
	}
	if err == nil && l.suspect {
		for _, err = range f.Values() {
			if err != nil {
				break
			}
		}
	}
	return err
}

// openContainer finds the content of a file.
func (l *loader) openContainer(file io.ReaderAt, size int64) error {
	co := l.options.Container
	co.MaxBuffered = cmp.Or(co.MaxBuffered, maxHeld)
	l.info.Key = co.Key
	if ask := co.AskKey; ask != nil && co.Key == nil {
		co.AskKey = func(i fileaccess.Info) (*fileaccess.Key, error) {
			if l.info.Key == nil { // the file can be opened several times
				key, err := ask(i)
				if err != nil {
					return nil, err
				}
				l.info.Key = key
			}
			return l.info.Key, nil
		}
	}
	reopen := func() (*fileaccess.Reader, *io.SectionReader, error) {
		in := io.NewSectionReader(file, 0, size)
		r, err := fileaccess.NewReader(in, &co)
		return r, in, err
	}
	r, in, err := reopen()
	if err != nil {
		return damaged(err)
	}
	l.info.Container = r.Info()
	switch {
	case r.Info().Container == fileaccess.Plain:
		l.info.Key = nil
		l.r, l.size = file, size
		return nil
	case r.Info().Container == fileaccess.Compressed:
		l.info.Key = nil
	}
	if r.Info().Size > maxHeld {
		l.size = r.Info().Size
		l.r, err = input.Rewind(func() (io.ReadCloser, error) {
			r, _, err := reopen()
			return io.NopCloser(r), err
		})
		if err == nil && l.options.Repair {
			err = l.findEnd()
		}
		return damaged(err)
	}
	b, err := io.ReadAll(r)
	if err == nil {
		if at, _ := in.Seek(0, io.SeekCurrent); at < size {
			err = &fileaccess.Error{Offset: at, Err: fmt.Errorf("%w: %d bytes after its end", fileaccess.ErrDamaged, size-at)}
		}
	}
	l.r, l.size = bytes.NewReader(b), int64(len(b))
	return l.end(err)
}

// end notes that the content ends with an error of the container, or returns the error.
func (l *loader) end(err error) error {
	if err = damaged(err); errors.As(err, &l.cut) && l.size > 0 {
		return nil // recognized as far as it can be read
	}
	return err
}

// findEnd finds where a content that is not held ends.
func (l *loader) findEnd() error {
	n, err := io.Copy(io.Discard, io.NewSectionReader(l.r, 0, l.size))
	if err != nil {
		l.size = n
	}
	return l.end(err)
}

// recognize finds the format and lengths, unless the Options contain both.
func (l *loader) recognize() error {
	l.info.Format, l.info.Lengths = l.decoder.Format, l.options.Lengths
	l.known = l.info.Format != 0 && l.info.Lengths != 0
	if l.info.Sure = l.known; l.known {
		return nil
	}
	in := recognize.Input{Size: l.size, At: l.r, Decoder: l.decoder}
	if l.info.Format != 0 {
		in.Formats = []gdwire.Format{l.info.Format}
	}
	if l.info.Lengths != 0 {
		in.Frames = []recognize.Frame{lengths[l.info.Lengths].frame}
	}
	in.Head = make([]byte, min(l.size, recognize.HeadSize))
	if n, err := l.r.ReadAt(in.Head, 0); n < len(in.Head) {
		return damaged(cmp.Or(err, io.ErrUnexpectedEOF))
	}
	r := recognize.Recognize(&in)
	var text string
	switch r.Certainty {
	case recognize.Empty:
		text = "the file is empty"
	case recognize.Foreign:
		text = "it is " + strings.ReplaceAll(r.Name, " for gdwire encode", "")
	case recognize.Unknown:
		text = "no values of Godot"
	case recognize.Ambiguous:
		text = "it can be read as " + readings(r.Readings)
	default:
		best := r.Readings[0]
		l.info.Format, l.info.Lengths = best.Format, lengthsOf(best.Frame)
		l.info.Sure = r.Certainty == recognize.Sure && len(r.Readings) == 1
		l.suspect = r.Certainty < recognize.Probably
		return nil
	}
	return fmt.Errorf("savefile: %w: %s; set Format and Lengths in the Options to read it anyway", ErrUnknown, text)
}

// readings lists the formats and lengths of readings.
func readings(all []recognize.Reading) string {
	var texts []string
	for _, r := range all {
		texts = append(texts, r.Format.String()+" with "+lengthsOf(r.Frame).String())
	}
	return strings.Join(texts, " or ")
}

// content returns the content as f reads it.
func (l *loader) content(f *File) *edit.Content {
	do := l.decoder
	do.Format, do.OneValue = f.Info.Format, false
	return &edit.Content{
		ReaderAt: l.r, Size: l.size, Order: lengths[f.Info.Lengths].order, Decoder: do,
		Encoder: gdwire.EncoderOptions{Format: do.Format, AllowInvalidUTF8: do.AllowInvalidUTF8, Depth: -1},
	}
}
