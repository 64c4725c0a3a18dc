package savefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/checked"
	"github.com/gdwire/gdwire/internal/options"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/outfile"
)

// Load decodes the file of the given name into the variable that v points to. The file must be one
// value:
//
//	var s Save
//	err := savefile.Load("user/save.dat", &s)
//
// Load is [Open], [File.Unmarshal] and [File.Close] in one call. Every error contains the name of the
// file.
func Load(name string, v any, opts ...Options) error {
	f, err := Open(name, options.Of(opts, nil))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Unmarshal(v); err != nil {
		return named(err, name)
	}
	return nil
}

// Open opens a saved game and recognizes its format, lengths and container. It reads a content of up to 4 MiB into
// memory, and of a larger content the container, at most the first 4 MiB and the lengths of the values. Close closes
// the file. Every error of Open contains the name of the file.
//
// For a file that is not recognized, or could be read in several ways, the error wraps [ErrUnknown]
// and lists the ways: set Options.Lengths and Options.Decoder.Format then. A damaged file is a
// [*DamageError], from Open or from the call that reads the damaged value.
func Open(name string, o *Options) (*File, error) {
	if stat, err := os.Stat(name); err != nil {
		return nil, err
	} else if !stat.Mode().IsRegular() { // opening a named pipe would wait for its writer
		return nil, &os.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	out, err := open(f, o)
	if err != nil {
		return nil, errors.Join(named(err, name), f.Close())
	}
	out.name = outfile.Absolute(name)
	return out, nil
}

// open opens a file. After an error the caller closes it.
func open(file *os.File, o *Options) (*File, error) {
	stat, err := file.Stat()
	if err != nil {
		return nil, err
	}
	f, held, err := readInput(save.File(file, stat), o)
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
	if size < 0 {
		return nil, fmt.Errorf("savefile: a size of %d bytes", size)
	}
	f, _, err := readInput(save.At(checked.ReaderAt{R: r}, size), o)
	return f, err
}

// readInput returns the File in an input, and reports whether the content is held in memory.
func readInput(in *save.Input, o *Options) (_ *File, held bool, err error) {
	if o == nil {
		o = new(Options)
	}
	if o.Lengths != 0 && !o.Lengths.valid() {
		return nil, false, fmt.Errorf("savefile: unknown %v", o.Lengths)
	}
	l := &loader{options: o}
	if err := l.openContainer(in); err != nil {
		return nil, false, err
	}
	if err := l.recognize(); err != nil {
		return nil, false, err
	}
	l.reading.Decoder.OneValue = false
	content, err := l.in.Content(&l.reading)
	if err != nil {
		return nil, false, damaged(err)
	}
	f := &File{Info: l.info, content: content, envelope: l.in.Envelope, header: l.in.Header, inside: l.in.Inside, guessed: l.suspect}
	err = l.check(f)
	if o.Repair {
		err = f.repair(err, l.zeroed)
	}
	if d := f.Info.Damage; err == nil && d != nil && !l.known && !f.content.IsRecognized(o.known()) {
		err = d // the rest is too short
	}
	if err != nil {
		return nil, false, err
	}
	f.Info.DoubleReals = f.content.IsDouble(save.MaxHeld)
	f.opened = f.Info
	return f, l.in.Held, nil
}

// known reports which of format and lengths need not be recognized.
func (o *Options) known() save.Known {
	return save.Known{Format: o.Decoder.Format != 0, Frame: o.Lengths != 0}
}

// A loader recognizes a file.
type loader struct {
	options *Options
	in      *save.Source
	reading save.Reading
	info    Info

	cut     *DamageError // of the container, or nil
	zeroed  int64        // bytes at the end of the content that may be zeros in place of others
	known   bool         // the options contain format and lengths
	suspect bool         // the recognized file is damaged
}

// check returns a DamageError if the file is damaged, as far as is known without reading the whole
// file. If the head of the file is already damaged, check reads up to the damage.
func (l *loader) check(f *File) error {
	if l.cut != nil {
		return l.cut
	}
	err := damaged(f.content.CheckZeros(l.known && !l.options.Repair))
	if err == nil {
		err = damaged(f.content.CheckLengths())
	}
	if err == nil && l.suspect {
		for _, e := range f.Values() {
			err = e // an error is the last
		}
	}
	return err
}

// openContainer finds the content of a file.
func (l *loader) openContainer(in *save.Input) (err error) {
	so := &save.SourceOptions{Container: l.options.Container, Skip: max(l.options.Skip, 0), KeepHeader: true, Whole: true, Packets: true, Keep: l.options.Keep, Derive: l.options.Derive}
	so.Container.MaxBuffered = cmp.Or(so.Container.MaxBuffered, save.MaxHeld)
	if l.in, err = in.Source(so); errors.As(err, new(*save.ShortError)) {
		return fmt.Errorf("savefile: %w", err)
	} else if err != nil {
		return damaged(err)
	}
	return l.checkContainer()
}

// checkContainer keeps the error at the end of the content, as far as is known without reading all of the content.
// Without any content, checkContainer returns the error.
func (l *loader) checkContainer() error {
	if l.options.Repair && !l.in.Held {
		l.in.Size, l.in.Err = l.in.End()
	}
	err := damaged(l.in.Err)
	if errors.As(err, &l.cut) && l.in.Size > 0 {
		if l.options.Repair && l.in.Container.Mode == fileaccess.FastLZ { // no checksum shows that the literals are wrong
			if l.zeroed, err = l.in.ZerosAtEnd(); l.in.Container.Container == fileaccess.Compressed {
				l.zeroed = max(l.zeroed-int64(len("GCPF")), 0)
			}
		} else {
			err = nil
		}
		return err // recognized as far as readable
	}
	return err
}

// recognize finds the format and lengths, unless the Options contain both. Recognizing can replace the content by
// another, with a container of its own.
func (l *loader) recognize() error {
	container := l.in.Container
	known := l.options.known()
	l.reading.Decoder = l.options.Decoder
	if known.Frame {
		l.reading.Frame = l.options.Lengths.frame()
	}
	l.info.Sure = known.Format && known.Frame
	if l.known = l.info.Sure; l.known {
		if err := l.in.FindContainer(&l.reading); err != nil {
			return damaged(err)
		}
	} else {
		r, err := l.in.Recognize(&l.reading, known)
		if err != nil {
			return damaged(err)
		}
		if why := r.Unknown(); why != nil {
			if r.IsEmpty() {
				return fmt.Errorf("savefile: %w: the file %w", ErrUnknown, why)
			}
			return fmt.Errorf("savefile: %w: the file %w%s", ErrUnknown, why, readings(r))
		}
		l.info.Sure, l.suspect = r.Sure(), r.IsDamaged() || r.IsCut()
	}
	l.info.Format, l.info.Lengths = l.reading.Decoder.Format, lengthsOf(l.reading.Frame)
	l.info.Container, l.info.Key = l.in.Container, l.in.Key
	if e := l.in.Envelope; e != nil {
		for p := range e.Parts {
			l.info.Around = append(l.info.Around, Part{int64(p.Offset), int64(p.Size), p.What, p.Derived, p.Doubtful, p.Wrong})
		}
		if l.cut == nil {
			errors.As(damaged(e.Err), &l.cut)
		}
	}
	if l.in.Container != container && l.in.Envelope == nil {
		return l.checkContainer()
	}
	return nil
}

// readings lists the formats and lengths of an input that can be read in several ways.
func readings(r *save.Recognition) string {
	var texts []string
	for _, r := range r.Readings {
		texts = append(texts, r.Format.String()+" with "+lengthsOf(r.Frame).String())
	}
	if len(texts) == 0 {
		return ""
	}
	return ", as " + strings.Join(texts, " or ")
}
