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
	f, err := readInput(save.File(file, stat), o)
	if err != nil {
		return nil, err
	}
	f.stat = stat
	if f.stack.Held {
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
	return readInput(save.At(checked.ReaderAt{R: r}, size), o)
}

// readInput returns the File in an input.
func readInput(in *save.Input, o *Options) (*File, error) {
	if o == nil {
		o = new(Options)
	}
	if o.Lengths != 0 && !o.Lengths.valid() {
		return nil, fmt.Errorf("savefile: unknown %v", o.Lengths)
	}
	l := &loader{options: o}
	if err := l.open(in); err != nil {
		return nil, err
	}
	content, err := l.stack.Content()
	if err != nil {
		return nil, damaged(err)
	}
	content.Decoder.OneValue = false
	f := &File{Info: l.info, content: content, stack: l.stack}
	err = l.check(f)
	if o.Repair {
		err = f.repair(err, l.zeroed)
	}
	if d := f.Info.Damage; err == nil && d != nil && !l.known && !f.content.IsRecognized(o.known()) {
		err = d // the rest is too short
	}
	if err != nil {
		return nil, err
	}
	f.Info.DoubleReals = f.content.IsDouble(save.MaxHeld)
	f.opened = f.Info
	return f, nil
}

// known reports which of format and lengths need not be recognized.
func (o *Options) known() save.Known {
	return save.Known{Format: o.Decoder.Format != 0, Frame: o.Lengths != 0}
}

// A loader recognizes a file.
type loader struct {
	options *Options
	stack   *save.Stack
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

// open finds the layers and the values of a file.
func (l *loader) open(in *save.Input) (err error) {
	o := &save.OpenOptions{
		Container: l.options.Container, Skip: l.options.Skip, Whole: true, Packets: true,
		Keep: l.options.Keep, Derive: l.options.Derive, Known: l.options.known(),
	}
	o.Container.MaxBuffered = cmp.Or(o.Container.MaxBuffered, save.MaxHeld)
	o.Reading = func(int64) save.Reading {
		r := save.Reading{Decoder: l.options.Decoder}
		if o.Known.Frame {
			r.Frame = l.options.Lengths.frame()
		}
		return r
	}
	if l.stack, err = in.Open(o); errors.As(err, new(*save.ShortError)) {
		return fmt.Errorf("savefile: %w", err)
	} else if err != nil {
		return damaged(err)
	}
	if err := l.checkLayers(); err != nil {
		return err
	}
	r := l.stack.Values
	l.known = o.Known.Format && o.Known.Frame
	if why := r.Unknown(); why != nil && !l.known {
		if r.IsEmpty() {
			return fmt.Errorf("savefile: %w: the file %w", ErrUnknown, why)
		}
		return fmt.Errorf("savefile: %w: the file %w%s", ErrUnknown, why, readings(r))
	}
	l.suspect = !l.known && (r.IsDamaged() || r.IsCut())
	l.info = Info{
		Sure: l.known || r.Sure(), Format: l.stack.Decoder.Format, Lengths: lengthsOf(l.stack.Frame),
		Container: l.stack.Container(), Key: l.stack.Key(),
	}
	if e := l.stack.Envelope(); e != nil {
		for p := range e.Parts {
			l.info.Around = append(l.info.Around, Part{int64(p.Offset), int64(p.Size), p.What, p.Derived, p.Doubtful, p.Wrong})
		}
	}
	return nil
}

// checkLayers keeps the error at the end of the content, as far as is known without reading all of the content.
// Without any content, checkLayers returns the error.
func (l *loader) checkLayers() error {
	if l.options.Repair {
		l.stack.ReadEnd()
	}
	err := damaged(l.stack.Err)
	if !errors.As(err, &l.cut) || l.stack.Size == 0 {
		return err
	}
	if info := l.stack.Container(); l.options.Repair && info.Mode == fileaccess.FastLZ && !info.IsPlain() { // no checksum shows that the literals are wrong
		if l.zeroed, err = l.stack.ZerosAtEnd(); info.Container == fileaccess.Compressed {
			l.zeroed = max(l.zeroed-int64(len("GCPF")), 0)
		}
		return err
	}
	return nil // recognized as far as readable
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
