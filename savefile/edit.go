package savefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/base/options"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/save/outfile"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/gdwire/gdwire/variant"
)

// A File, opened, edited and saved.

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
	for p := range stack.Explained().Regions {
		f.Info.Around = append(f.Info.Around, Part{int64(p.Offset), int64(p.Size), p.What, p.Derived, p.Doubtful, p.Wrong})
	}
	err = f.check(o)
	if o.Repair {
		err = f.repair(err)
	}
	if d := f.Info.Damage; err == nil && d != nil && f.content != content && !stack.IsKnown() && !f.content.IsRecognized(o.known()) {
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
	so.Reading.Decoder = o.Decoder
	if so.Known.Frame {
		so.Reading.Frame = o.Lengths.frame()
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
	if err := stack.Explained().CheckNumbers(o.Keep, o.Derive); err != nil {
		return nil, fmt.Errorf("savefile: %w", err)
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

// WriteTo writes f as described by Info, and returns the number of bytes written. If Format and
// Lengths are unchanged, the content is written byte by byte; otherwise the values are encoded
// again. Encrypted files, and compressed files, are kept in memory until complete. Save does not
// keep them.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	c := &counter{w: w}
	err := f.write(c)
	return c.n, err
}

// A counter counts the bytes written to w.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// write writes f to w.
func (f *File) write(w io.Writer) error {
	info := f.Info.withDefaults()
	if !info.Lengths.valid() {
		return fmt.Errorf("savefile: unknown %v", info.Lengths)
	}
	if f.suspects && !f.options.IgnoreChecksums {
		if what := edit.Checksum(f.content, slices.Values(slices.Sorted(maps.Keys(f.paths)))); what != "" {
			return fmt.Errorf("savefile: %w: %s", ErrChecksum, what)
		}
	}
	err := damaged(f.stack.Contain(info.Container, info.Key).Write(w, func(w io.Writer) error {
		if info.Format != f.opened.Format || info.Lengths != f.opened.Lengths {
			return f.convert(w, &info)
		}
		_, err := io.Copy(w, io.NewSectionReader(f.content, 0, f.content.Size))
		return err
	}))
	if doubt := (*save.DoubtError)(nil); errors.As(err, &doubt) {
		return fmt.Errorf("savefile: %w; Options.Keep or Derive chooses", doubt)
	}
	return err
}

// convert writes the values in another format or with other lengths.
func (f *File) convert(w io.Writer, info *Info) error {
	again := gdwire.NewDecoder(nil, &f.content.Decoder)
	defer again.Release()
	eo := f.content.Encoder
	eo.Format, eo.DoubleReals = info.Format, f.opened.DoubleReals
	e := gdwire.NewEncoder(nil, &eo)
	defer func() { _ = e.Close() }()
	copyTo := func(w io.Writer, c *save.Converter, d *gdwire.Decoder) error {
		e.Reset(w)
		return cmp.Or(c.Copy(e, d), e.Flush())
	}
	report := new(save.Converter)
	if f.Lossy != nil {
		report.Lost = func(d *gdwire.Decoder, value, becomes string) { f.Lossy(lossAt(d, value, becomes)) }
	}
	frame := info.Lengths.frame()
	return f.content.Packets(save.Every, func(p *save.Packet) (bool, error) {
		d, c := p.Decoder, report
		if frame != save.Bare { // values are encoded twice, instead of in memory, but reported once
			if err := copyTo(io.Discard, report, d); err != nil {
				return false, err
			}
			b, err := appendLength(nil, frame, e.OutputOffset())
			if err == nil {
				_, err = w.Write(b)
			}
			if err != nil {
				return false, err
			}
			f.content.Place(again, p)
			d, c = again, &save.Converter{Lost: func(*gdwire.Decoder, string, string) {}}
		}
		if err := copyTo(w, c, d); err != nil {
			return false, err
		}
		return true, p.Finish(nil)
	})
}

// lossAt returns the Loss of the value that d just read, or of a part of the value.
func lossAt(d *gdwire.Decoder, value, becomes string) Loss {
	l := Loss{Value: value, Becomes: becomes}
	if at := (*gdwire.Error)(nil); errors.As(d.WrapError(gdwire.ErrType), &at) {
		l.Offset, l.Path = at.Offset, at.Path
	}
	return l
}

// An Edit is one change of a [File].
type Edit struct {
	op    edit.Op
	path  string
	value any
}

// Set sets the value at a path. If only the last step of the path leads to nothing and is a key, or
// [+] at the end of an array, Set adds the value. The value takes the type and declared types of the
// old value, unless the old value is nil: the int 2 becomes 2.0, and a string a StringName, and
// likewise integers in vectors, and the elements of Arrays, packed arrays and Dictionaries. A value
// that cannot take the type is an error wrapping [gdwire.ErrType]. A [variant.Raw] is written
// unchanged, and so can be of any type. An Array of its numbers replaces a vector or another math type,
// and a string such as "#ff8000" or "orange" a Color.
func Set(path string, value any) Edit { return Edit{edit.Put, path, value} }

// Delete removes an element, pair or property.
func Delete(path string) Edit { return Edit{edit.Delete, path, nil} }

// Edit changes values and keeps every other byte of the content; counts and lengths around them are
// corrected. Edits apply in order; if one fails, f is unchanged. Reading calls see the result, Save
// writes it. The memory for edits depends on the new values and not on the file.
//
// A path can lead to several values, which are all changed: items[*].hp in each element or pair, items[0:3] in the first three elements,
// and $*.hp in each value of the file.
//
// Many edits in one call take hardly longer than a single edit, unless they delete elements of
// arrays or use paths such as .value(3).
//
// If a file can be read in other formats or with other lengths about as well, edits must write the same bytes in all of
// them; otherwise Edit returns an [*AmbiguousError]. The reading of a damaged file is a guess: to edit a damaged file,
// set Format and Lengths in the Options of Open.
func (f *File) Edit(edits ...Edit) error {
	p, err := applied(f.content, edits)
	if ambiguous := (*save.AmbiguousError)(nil); errors.As(err, &ambiguous) {
		return f.ambiguous(ambiguous)
	}
	if errors.As(err, new(*save.GuessError)) {
		return fmt.Errorf("savefile: it is only probable that the file, which is damaged, is %v: to edit it, set Format and Lengths in the Options of Open", f.opened)
	}
	if err == nil {
		f.content, f.suspects = p.Content(), f.suspects || p.Suspects
		for _, at := range p.Also {
			f.paths[at] = true
		}
	}
	return err
}

// An AmbiguousError reports an edit of a file with several readings that fit about equally well, if the edit would
// write different bytes in each reading. Options.Decoder.Format and Lengths choose a reading.
type AmbiguousError struct {
	// Readings describes the file in each reading. They differ in Format or Lengths.
	Readings []Info
}

func (e *AmbiguousError) Error() string {
	var all []string
	for _, r := range e.Readings {
		all = append(all, r.String())
	}
	return "savefile: the file can be " + strings.Join(all, " or ") + ", in which the edit would write other bytes: set Format and Lengths in the Options of Open"
}

// ambiguous returns the AmbiguousError of an edit of f.
func (f *File) ambiguous(e *save.AmbiguousError) error {
	all := &AmbiguousError{}
	for _, r := range e.Readings {
		i := f.opened
		i.Format, i.Lengths = r.Format, lengthsOf(r.Frame)
		all.Readings = append(all.Readings, i)
	}
	return all
}

// applied returns the plan for edits of a content.
func applied(c *save.Content, edits []Edit) (*edit.Plan, error) {
	requests := make([]edit.Request, len(edits))
	for i, e := range edits {
		path, err := parsePath(e.path)
		if err != nil {
			return nil, err
		}
		requests[i] = edit.Request{Op: e.op, Path: path, Value: newValue(e.value)}
	}
	p, err := edit.Apply(c, requests)
	if err == nil {
		return p, nil
	}
	if d := damaged(err); d != err {
		return nil, d
	}
	if wrong := (*edit.TypeError)(nil); errors.As(err, &wrong) && wrong.In == "" {
		return nil, fmt.Errorf("savefile: %w; a variant.Raw sets another type", err)
	}
	return nil, notFound(err)
}

// newValue returns a Go value for an edit. The most frequent types are not encoded by reflection.
func newValue(v any) *edit.Value {
	exact := false
	switch v := v.(type) {
	case bool:
		plain := text.Value{Type: gdwire.TypeBool}
		if v {
			plain.Int = 1
		}
		return &edit.Value{Plain: &plain}
	case int:
		return &edit.Value{Plain: &text.Value{Type: gdwire.TypeInt, Int: int64(v)}}
	case string:
		if utf8.ValidString(v) {
			return &edit.Value{Plain: &text.Value{Type: gdwire.TypeString, Text: v}}
		}
	case variant.Raw, *variant.Raw:
		exact = true
	}
	return &edit.Value{Exact: exact, Encode: func(o gdwire.EncoderOptions) ([]byte, error) {
		return variant.Marshal(v, variant.Options{Encoder: o})
	}}
}

// Save writes f to the file of the given name: to a new file in the same folder, synced, and
// renamed when complete, so that a file of this name is replaced or unchanged. Save follows
// symbolic links; other hard links of the file keep the old content. On Unix, Save removes new files
// that killed programs left beside the same file. If f was opened by this name
// and another program changed the file since, Save returns an error wrapping [ErrChanged].
//
// The new file keeps the owner and permissions of the old, and on Linux access lists and extended
// attributes; where the system does not allow this, nobody gets more rights than before. On
// Windows, a file of more than 4 MiB cannot be replaced while f is open.
func (f *File) Save(name string) error {
	out, err := outfile.Create(name, outfile.IgnoreSignals)
	if err != nil {
		return err
	}
	own := f.stat != nil && out.Read(f.name, f.stat)
	err = f.write(out.File)
	stat, failed := out.Stat()
	if err = errors.Join(err, failed); err != nil {
		out.Abandon()
		return named(err, name)
	}
	if err := out.Commit(); err != nil {
		return err
	}
	if own {
		f.stat = stat
	}
	return nil
}

// EditPacket returns a packet without a length, as from NextRaw of package stream, with changed
// values. Every other byte stays, also after the value. Edits apply in order; see [File.Edit] for
// more about edits and errors. Options.Decoder contains the format, also for the new values, and the
// limits; other options have no effect.
//
// The caller owns the result. packet is not changed and not kept.
func EditPacket(packet []byte, edits []Edit, opts ...variant.Options) ([]byte, error) {
	c := save.NewPacket(packet, options.Of(opts, new(variant.Options)).Decoder)
	for _, e := range edits {
		if p, err := parsePath(e.path); err == nil && p.Packet != 0 {
			return nil, fmt.Errorf("savefile: %s is in another value, and a packet contains one", e.path)
		}
	}
	p, err := applied(c, edits)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(p.Content().Size))
	err = p.Content().CopyTo(&b)
	return b.Bytes(), err
}

// repair removes the damaged part. err is the known damage, or nil.
func (f *File) repair(err error) error {
	zeroed, failed := f.stack.ZerosAtEnd()
	if failed != nil {
		return failed
	}
	end := f.content.Size
	var known *DamageError
	if err != nil && !errors.As(err, &known) || errors.As(err, new(*save.StreamError)) {
		return err
	}
	_, isWhole := f.stack.Records()                                      // but for a record that is cut
	if known != nil && zeroed == 0 && save.IsContainerError(known.Err) { // the zeros are part of a container with a wrong checksum
		c, bad := edit.Repair(f.content, end)
		isWhole = isWhole || bad == nil && c == f.content
	}
	if isWhole || errors.As(err, new(*save.ConversionError)) {
		f.Info.Damage = known
		return nil
	}
	if left := (*save.LeftError)(nil); errors.As(err, &left) {
		c := f.stack.ContentOf(save.Block(left.Content), int64(len(left.Content)))
		if c, bad := edit.Correct(c, 0, save.ErrorIn(0, f.content.Size, left)); c != nil {
			f.content, f.Info.Damage = c, &DamageError{int64(left.Offset), bad}
			return nil
		}
	}
	var zeros *save.ZerosError
	if errors.As(err, &zeros) {
		end = min(end, roundUp(zeros.From))
		if at := (*gdwire.Error)(nil); errors.As(zeros.Err, &at) && at.Offset <= end {
			end = zeros.From // the word was changed
		}
	} else if from, failed := save.ZerosAtEnd(f.content, end); failed == nil && known != nil {
		if zeroed > 0 {
			end = max(end-zeroed, from)
		} else if from <= end-save.MinZeros {
			end = min(end, roundUp(from)) // zeros after damage replace lost bytes
		}
	}
	c, bad := edit.Repair(f.content, end)
	if bad == nil && c == f.content && f.stack.Values.IsDamaged() {
		c, bad = edit.Canonical(c)
	}
	if fixed := (*edit.CorrectedError)(nil); errors.As(bad, &fixed) {
		known = &DamageError{fixed.Err.Offset, bad}
	} else if known == nil {
		if bad = damaged(bad); bad == nil || !errors.As(bad, &known) {
			return bad
		}
	} else if at := (*gdwire.Error)(nil); errors.As(bad, &at) { // the first lost value
		cause := known.Err
		if e, ok := cause.(*gdwire.Error); ok {
			if cause = e.Err; errors.Is(at.Err, save.ErrNUL) { // before it
				cause, known.Offset = at.Err, at.Offset
			}
		}
		known.Err = &gdwire.Error{Offset: at.Offset, Path: at.Path, Err: cause}
	}
	if c == nil {
		return known
	}
	f.content, f.Info.Damage = c, known
	return nil
}

// roundUp rounds an offset up to a multiple of 4. Values consist of words of 4 bytes, and file systems lose
// whole blocks, so zeros in a word with another byte are its own.
func roundUp(offset int64) int64 { return (offset + 3) &^ 3 }
