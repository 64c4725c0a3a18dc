package savefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
	stack, err := o.open(in)
	if err != nil {
		return nil, err
	}
	content, err := stack.Content()
	if err != nil {
		return nil, damaged(err)
	}
	content.Decoder.OneValue = false
	f := &File{content: content, stack: stack, paths: map[string]bool{}, options: *o}
	f.Info = Info{
		Sure: stack.IsKnown() || stack.Values.Sure(), Format: stack.Decoder.Format, Lengths: lengthsOf(stack.Frame),
		Container: stack.Container(), Key: stack.Key(),
	}
	for p := range stack.Parts {
		f.Info.Around = append(f.Info.Around, Part{int64(p.Offset), int64(p.Size), p.What, p.Derived, p.Doubtful, p.Wrong})
	}
	err = f.check(o)
	if o.Repair {
		err = f.repair(err)
	}
	if d := f.Info.Damage; err == nil && d != nil && !stack.IsKnown() && !f.content.IsRecognized(o.known()) {
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

// open returns an input with values. A damaged container is read as far as possible.
func (o *Options) open(in *save.Input) (*save.Stack, error) {
	so := &save.OpenOptions{Container: o.Container, Skip: o.Skip, Whole: true, Packets: true, Keep: o.Keep, Derive: o.Derive, Known: o.known()}
	so.Container.MaxBuffered = cmp.Or(o.Container.MaxBuffered, save.MaxHeld)
	so.Reading = func(int64) save.Reading {
		r := save.Reading{Decoder: o.Decoder}
		if so.Known.Frame {
			r.Frame = o.Lengths.frame()
		}
		return r
	}
	stack, err := in.Open(so)
	if errors.As(err, new(*save.ShortError)) {
		return nil, fmt.Errorf("savefile: %w", err)
	} else if err != nil {
		return nil, damaged(err)
	}
	if o.Repair {
		stack.ReadEnd()
	}
	if err := damaged(stack.Err); err != nil && (stack.Size == 0 || !errors.As(err, new(*DamageError))) {
		return nil, err
	}
	switch why := stack.Values.Unknown(); {
	case why == nil, stack.IsKnown():
	case stack.Values.IsEmpty():
		return nil, fmt.Errorf("savefile: %w: the file %w", ErrUnknown, why)
	default:
		return nil, fmt.Errorf("savefile: %w: the file %w%s", ErrUnknown, why, readings(stack.Values))
	}
	return stack, nil
}

// check returns a DamageError if the file is damaged, as far as is known without reading the whole
// file. If the head of the file is already damaged, check reads up to the damage.
func (f *File) check(o *Options) error {
	if f.stack.Err != nil {
		return damaged(f.stack.Err)
	}
	err := cmp.Or(f.content.CheckZeros(f.stack.IsKnown() && !o.Repair), f.content.CheckLengths())
	if err == nil && f.stack.Guess() != nil {
		for _, e := range f.Values() {
			err = e // an error is the last
		}
	}
	return damaged(err)
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
