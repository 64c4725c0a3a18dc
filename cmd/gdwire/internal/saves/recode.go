package saves

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/stream"
)

// lengths contains the Lengths of package savefile for each frame.
var lengths = map[save.Frame]savefile.Lengths{
	save.Bare: savefile.NoLengths, save.U32: savefile.LittleEndian, save.U32BE: savefile.BigEndian,
}

// Repair defines the flags of repair.
func Repair(f *shell.Flags) shell.Action {
	var o open.Flags
	o.WriteFlags(f, true)
	o.HeaderFlags(f)
	f.OutputFlag()
	return shell.Action{
		Check: func() error {
			if f.Output == "" {
				return errors.New("repair writes another file: use -o NEW")
			}
			return nil
		},
		Run: func(s *shell.Stdio) error { return repair(s, &o, f.File()) },
	}
}

// repair writes the part of a damaged save before the damage, and says where the rest begins.
func repair(s *shell.Stdio, o *open.Flags, name string) error {
	in, err := open.File(s, name, false)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	f, size, err := openDamaged(s, o, in)
	unknown := (*save.UnknownError)(nil)
	switch {
	case size == 0 && err != nil:
		return fmt.Errorf("%s is empty", in.Name)
	case errors.As(err, &unknown) && !unknown.Final:
		return fmt.Errorf("%s %w; to repair it anyway, choose -format and -frame", in.Name, unknown)
	case err != nil:
		return err
	}
	defer func() { _ = f.Close() }()
	if f.Info.Damage == nil {
		s.Unchanged = true
		for _, p := range f.Info.Around {
			if p.Wrong {
				s.Infof("the %s at offset %d is not that of its values, which are whole; set writes it with others", p.What, p.Offset)
			}
		}
		s.Infof("%s is not damaged; nothing was written", in.Name)
		return nil
	}
	n, err := f.WriteTo(s.Out)
	if err != nil {
		return open.WithChoice(err)
	}
	s.NoteAtEnd("%s is %v", in.Name, f.Info)
	reason := strings.TrimPrefix(f.Info.Damage.Err.Error(), "gdwire: ")
	if errors.As(f.Info.Damage, new(*save.LengthError)) {
		s.NoteAtEnd("corrected the length; %s", reason)
	} else {
		s.NoteAtEnd("lost: everything from offset %s on; %s", humanize.Comma(f.Info.Damage.Offset), reason)
	}
	s.NoteAtEnd("wrote %s bytes of %s", humanize.Comma(n), humanize.Comma(size))
	return nil
}

// openDamaged opens a save up to the damage, and returns the size of the file. A pipe is read into memory.
func openDamaged(s *shell.Stdio, o *open.Flags, in *save.Input) (f *savefile.File, size int64, err error) {
	reading := o.Reading(math.MaxInt64) // no memory depends on limits, and too large a count is damage
	so := &savefile.Options{Decoder: reading.Decoder, Repair: true, Container: o.Container(s, in), Skip: o.Skip, Keep: o.Keep, Derive: o.Derive}
	if o.Known().Frame {
		so.Lengths = lengths[o.Frame]
	}
	if in.Info != nil && in.Path != "" {
		f, err = savefile.Open(in.Path, so)
		return f, in.Size, err
	}
	data, err := in.ReadAll()
	if err == nil {
		if f, err = savefile.Read(bytes.NewReader(data), int64(len(data)), so); err != nil {
			err = shell.Prefixed(in.Name, err)
		}
	}
	return f, int64(len(data)), err
}

// PrintLosses prints what -lossy does.
func PrintLosses(w io.Writer) {
	fmt.Fprintf(w, "Values that the format of the output does not have are an error. With -lossy, Godot 3 gets:\n\n")
	for _, c := range save.Counterparts {
		fmt.Fprintf(w, "  %s\t%s\n", c.Value, c.Becomes)
	}
	fmt.Fprint(w, `
Reals of 64 bits in vectors are rounded to 32, and integers of more than 24 bits where they become reals. At the
end, each kind of loss is shown with its number and the path of the first. Of two keys that become equal, Godot 3 reads the
last.

`)
}

// A loss is a kind of loss.
type loss struct {
	what  string // "a StringName became a String"
	path  string // of the first value
	count int64
}

// A converter writes packets in the format of the output.
type converter struct {
	save.Converter
	packet *save.Packet
	losses []*loss // in the order of the first of each kind
	spool  spool
}

// newConverter returns a converter that collects losses if lossy is set.
func newConverter(lossy bool) *converter {
	c := new(converter)
	if lossy {
		c.Lost = func(d *gdwire.Decoder, value, becomes string) { c.add(d, value+" became "+becomes) }
	}
	c.Renamed = func(d *gdwire.Decoder, class, name string) {
		c.add(d, fmt.Sprintf("an object of class %s stays one: Godot 4 calls the class %s, and does not read a value with the object", class, name))
	}
	return c
}

// add counts a loss.
func (c *converter) add(d *gdwire.Decoder, what string) {
	for _, l := range c.losses { // at most a few dozens
		if l.what == what {
			l.count++
			return
		}
	}
	c.losses = append(c.losses, &loss{what, c.path(string(d.AppendPath(nil))), 1})
}

// note shows the losses when the output is complete, or now after an error.
func (c *converter) note(s *shell.Stdio, err error) {
	show := s.NoteAtEnd
	if err != nil {
		show = s.Logf
	}
	if s.IsQuiet() {
		return
	}
	for _, l := range c.losses {
		if l.count == 1 {
			show("%s: %s", l.path, l.what)
		} else {
			show("%s: %s, and %s more", l.path, l.what, humanize.Comma(l.count-1))
		}
	}
}

// recode re-encodes the value of a packet.
func (c *converter) recode(e *gdwire.Encoder, p *save.Packet) error {
	if p.Err != nil {
		return p.Err
	}
	c.packet = p
	err := c.Copy(e, p.Decoder)
	if at := (*gdwire.Error)(nil); errors.As(err, new(*save.ConvertError)) && errors.As(p.FromStart(err), &at) {
		p.Err = &gdwire.Error{Offset: at.Offset, Path: c.path(at.Path), Err: at.Err}
		return p.Err
	}
	return p.Finish(err)
}

// path converts a path of the Decoder to a path in the file: $2.hp in packet 2.
func (c *converter) path(path string) string {
	return string(text.AppendPacket(nil, c.packet.Index)) + strings.TrimPrefix(path, "$")
}

// Recode defines the flags of recode.
func Recode(f *shell.Flags) shell.Action {
	r := &recoder{open: open.Flags{Writes: true, Filled: true, NonEmpty: true}}
	r.open.EditFlags(f)
	f.EditFlags()
	r.to.flag(f)
	f.BoolVar(&r.lossy, "lossy", false, "convert values that the format of the output does not have, by the table above, and show what is lost")
	return shell.Action{File: r.run}
}

// A recoder writes values again.
type recoder struct {
	open  open.Flags
	to    target
	lossy bool
}

// run reads packets and writes them again.
func (r *recoder) run(s *shell.Stdio, name string) error {
	in, err := r.open.Open(s, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if err := in.CheckEnd(); err != nil {
		return err
	}
	content := s.Progress(in.Reader(), in.Size)
	if len(in.Rivals) > 0 {
		c, err := in.Content()
		if err == nil {
			err = in.Choice(c.Agree(func(c *save.Content, out io.Writer) error { return r.recodeAs(in, c, out) }))
		}
		if err != nil {
			return err
		}
		content = io.NewSectionReader(c, 0, c.Size)
	}
	w := r.outputOf(in, in.Reading)
	if n, _ := in.Records(); n > 1 && w.Frame != in.Frame {
		return fmt.Errorf("%s contains %d records of the game's own, which -to %v cannot be: gdwire unwrap writes their values after lengths, without what is around them", in.Name, n, w.Frame)
	}
	c := newConverter(r.lossy)
	defer c.spool.file.Close()
	var n int64
	err = r.open.Rewrite(s, in.Stack, w.container, w.key, func(out io.Writer) error {
		err := open.Show(s, in.Packets(content), newRecodePrinter(s, out, &w, c).Counting(&n), in.Live())
		if err == shell.ErrBad && s.OutFile != nil {
			return shell.ErrBad // do not replace the file
		}
		return err
	})
	if err == nil && n == 0 {
		return errEmpty
	}
	c.note(s, err)
	return err
}

// outputOf returns the output for an input read as in as.
func (r *recoder) outputOf(in *open.Input, as save.Reading) output {
	return r.to.apply(output{Reading: as, container: in.Container(), key: in.Key()})
}

// recodeAs writes the content of an input again, in one of its readings, and the errors of its packets.
func (r *recoder) recodeAs(in *open.Input, c *save.Content, out io.Writer) error {
	as := in.As(c.Reading())
	w := r.outputOf(in, as)
	fmt.Fprint(out, w.container.Layout) // the layout of encrypted files depends on the format
	converter := newConverter(r.lossy)
	defer converter.spool.file.Close()
	v := newRecodePrinter(shell.Capture(io.Discard), out, &w, converter)
	for p := range open.Packets(&as, io.NewSectionReader(c, 0, c.Size)) {
		if err := v.Show(p); err != nil {
			fmt.Fprint(out, err)
		}
	}
	return nil
}

// newRecodePrinter returns a Printer that re-encodes each packet to out, drops invalid
// length-prefixed packets, and writes other invalid values up to the error. In a regular file
// without a container, packets are written at once, because the lengths can be set later. Other packets are
// held in a spool.
func newRecodePrinter(s *shell.Stdio, out io.Writer, o *output, c *converter) open.Printer {
	if o.Framed() {
		so := open.StreamOptions(&o.Reading)
		so.MaxPacket = -1 // a packet can grow by missing padding
		if s.OutFile != nil && out == io.Writer(s.Out) {
			w := stream.NewWriter(s.OutFile, so)
			return open.Printer{Show: func(p *save.Packet) error {
				if p.Packed != nil {
					return c.recodePacked(w, o, p)
				}
				err := w.WriteThrough(func(e *gdwire.Encoder) error { return c.recode(e, p) })
				if failed := (*os.PathError)(nil); errors.As(err, &failed) && failed.Path == s.OutFile.Name() {
					return open.OutputError{Err: err}
				}
				return err
			}}
		}
		w := stream.NewWriter(out, so)
		eo := o.Encoder()
		e := gdwire.NewEncoder(nil, &eo)
		return open.Printer{Show: func(p *save.Packet) error {
			if p.Packed != nil {
				return c.recodePacked(w, o, p)
			}
			c.spool.empty()
			e.Reset(&c.spool)
			if err := cmp.Or(c.recode(e, p), e.Close()); err != nil {
				return err
			}
			return c.spool.copyTo(out, o.Frame.Order())
		}}
	}
	eo := o.Encoder()
	e := gdwire.NewEncoder(out, &eo)
	return open.Printer{Show: func(p *save.Packet) error {
		return cmp.Or(c.recode(e, p), e.Flush()) // after an invalid call, both are its error
	}}
}

// recodePacked re-encodes the value of a compressed packet, and compresses it again.
func (c *converter) recodePacked(w *stream.Writer, o *output, p *save.Packet) error {
	var value bytes.Buffer
	eo := o.Encoder()
	e := gdwire.NewEncoder(&value, &eo)
	if err := cmp.Or(c.recode(e, p), e.Close()); err != nil {
		return err
	}
	return w.WriteRaw(p.Packed.Pack(value.Bytes()))
}

// A spool holds a packet until its length is known: the start in memory, and the rest in a temporary file.
type spool struct {
	held []byte // after space for the length
	file shell.TempFile
	size int64 // of the content of file
}

const heldSize = 256 << 10 // bytes of a packet in memory

// empty starts a packet.
func (s *spool) empty() { s.held, s.size = append(s.held[:0], 0, 0, 0, 0), 0 }

func (s *spool) Write(p []byte) (int, error) {
	n := min(len(p), max(heldSize-len(s.held), 0))
	s.held = append(s.held, p[:n]...)
	if n == len(p) {
		return n, nil
	}
	if err := s.file.Create(); err != nil {
		return n, err
	}
	more, err := s.file.WriteAt(p[n:], s.size)
	s.size += int64(more)
	return n + more, err
}

// copyTo writes the packet after its length.
func (s *spool) copyTo(w io.Writer, order binary.ByteOrder) error {
	const lengthSize = 4
	size := int64(len(s.held)) - lengthSize + s.size
	if size > math.MaxUint32 {
		return &gdwire.Error{Path: "$", Err: fmt.Errorf("%w: packet of %d bytes", gdwire.ErrLimit, size)}
	}
	order.PutUint32(s.held, uint32(size))
	_, err := w.Write(s.held)
	if err == nil && s.size > 0 {
		_, err = io.Copy(w, io.NewSectionReader(s.file, 0, s.size))
	}
	return err
}
