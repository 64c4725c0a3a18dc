package saves

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"runtime"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/values/compare"
	"github.com/gdwire/gdwire/internal/values/reals"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/stream"
)

// lengths contains the Lengths of package savefile for each frame.
var lengths = map[save.Frame]savefile.Lengths{
	save.Bare: savefile.NoLengths, save.U32: savefile.LittleEndian, save.U32BE: savefile.BigEndian,
}

const secret = "checksum with a secret" // the What of a Part of package savefile

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
	case errors.As(err, &unknown) && unknown.Final:
		return fmt.Errorf("%s %w", in.Name, unknown)
	case unknown != nil:
		return fmt.Errorf("%s %w; to repair it anyway, choose -format and -frame", in.Name, unknown)
	case err != nil:
		return err
	}
	defer func() { _ = f.Close() }()
	if f.Info.Damage == nil {
		s.Unchanged = true
		for _, p := range f.Info.Around {
			switch {
			case p.Wrong:
				s.Infof("the %s at offset %d is not that of its values, which are whole; set writes it with others", p.What, p.Offset)
			case p.What == secret:
				s.Infof("%s", save.SecretText(int(p.Offset), int(p.Size)))
			}
		}
		s.Infof("all values of %s can be read; nothing was written", in.Name)
		return nil
	}
	var corrected *edit.CorrectedError
	isCorrected := errors.As(f.Info.Damage, &corrected)
	if errors.Is(f.Info.Damage, gdwire.ErrStrict) && !isCorrected {
		s.Unchanged, s.Damaged = true, true
		s.Infof("all values of %s can be read, but no engine writes them so, and nothing was written: %v", in.Name, f.Info.Damage.Err)
		return nil
	}
	var sum *savefile.Part // perhaps
	out, all := io.Writer(s.Out), new(bytes.Buffer)
	for i := range f.Info.Around {
		if p := &f.Info.Around[i]; p.What == secret {
			sum, out = p, io.MultiWriter(s.Out, all)
		}
	}
	n, err := f.WriteTo(out)
	if err != nil {
		return open.WithChoice(err)
	}
	s.NoteAtEnd("%s is %v", in.Name, f.Info)
	reason := strings.TrimPrefix(f.Info.Damage.Err.Error(), "gdwire: ")
	if len(f.Info.Around) > 0 {
		reason = save.OfValues(f.Info.Damage, reason)
	}
	switch {
	case errors.As(f.Info.Damage, new(*save.LengthError)):
		s.NoteAtEnd("corrected the length; %s", reason)
	case errors.As(f.Info.Damage, new(*save.ConversionError)):
		s.NoteAtEnd("undid a conversion, nothing is lost; %s", reason)
	case isCorrected && len(corrected.Others) > 0:
		s.NoteAtEnd("lost: perhaps the type of a value or the place of values, and nothing else; %s", reason)
	case isCorrected:
		s.NoteAtEnd("lost: nothing but what is corrected; %s", reason)
	case n == size && f.Info.Container.IsPlain():
		s.NoteAtEnd("lost: nothing, unless the file is cut; a count is corrected, and values after it can be in another place; %s", reason)
	case save.IsContainerError(f.Info.Damage) && !errors.As(f.Info.Damage, new(*gdwire.Error)):
		s.NoteAtEnd("lost: nothing, unless more values followed; a value can be changed; %s", reason)
	case len(f.Info.Around) > 0 && save.IsDamage(f.Info.Damage.Err):
		s.NoteAtEnd("lost: everything from offset %s of the values on; %s", humanize.Comma(f.Info.Damage.Offset), reason)
	default:
		from, in := "offset "+humanize.Comma(f.Info.Damage.Offset), (*gdwire.Error)(nil)
		if errors.As(f.Info.Damage, &in) && in.Path != "" { // whose end is missed at the end of the file
			from = in.Path
		}
		s.NoteAtEnd("lost: everything from %s on; %s", from, reason)
	}
	s.NoteAtEnd("wrote %s bytes of %s", humanize.Comma(n), humanize.Comma(size))
	if sum == nil {
		return nil
	}
	text := save.SecretText(int(sum.Offset), int(sum.Size)) + "; the game may refuse it"
	if again, err := savefile.Read(bytes.NewReader(all.Bytes()), n, &savefile.Options{Container: fileaccess.Options{Key: f.Info.Key}}); err == nil {
		for _, p := range again.Info.Around {
			if p.Offset == sum.Offset && p.Derived && !p.Doubtful {
				text = fmt.Sprintf("the %s at offset %d is that of the repaired file, which is as the game wrote it", p.What, p.Offset)
			}
		}
	}
	s.NoteAtEnd("%s", text)
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
	r.open.EditFlags(f, false)
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
	eo := o.Encoder()
	if !o.Framed() {
		e := gdwire.NewEncoder(out, &eo)
		return open.Printer{Show: func(p *save.Packet) error {
			return cmp.Or(c.recode(e, p), e.Flush()) // after an invalid call, both are its error
		}}
	}
	so := open.StreamOptions(&o.Reading)
	so.MaxPacket = -1 // a packet can grow by missing padding
	isFile := s.OutFile != nil && out == io.Writer(s.Out)
	if isFile {
		out = s.OutFile
	}
	w, e := stream.NewWriter(out, so), gdwire.NewEncoder(nil, &eo)
	return open.Printer{Show: func(p *save.Packet) error {
		switch {
		case p.Packed != nil:
			return c.recodePacked(w, o, p)
		case isFile:
			err := w.WriteThrough(func(e *gdwire.Encoder) error { return c.recode(e, p) })
			if failed := (*os.PathError)(nil); errors.As(err, &failed) && failed.Path == s.OutFile.Name() {
				return open.OutputError{Err: err}
			}
			return err
		}
		c.spool.empty()
		e.Reset(&c.spool)
		if err := cmp.Or(c.recode(e, p), e.Close()); err != nil {
			return err
		}
		return c.spool.copyTo(out, o.Frame.Order())
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

// Encode defines the flags of encode.
func Encode(f *shell.Flags) shell.Action {
	e := &jsonEncoder{open: open.Flags{Writes: true}}
	e.open.WriteFlags(f, false)
	f.SaveFlag()
	e.to.flag(f)
	f.StringVar(&e.like, "like", "", "write the same format, frame, container and number of values as in `FILE`")
	f.BoolVar(&e.json.Plain, "plain", false, "the input is plain JSON")
	f.BoolVar(&e.json.Lenient, "lenient", false, "read what the engine's JSON.to_native reads")
	return shell.Action{Check: e.check, Run: func(s *shell.Stdio) error { return e.run(s, f.File()) }}
}

// A jsonEncoder makes values of JSON.
type jsonEncoder struct {
	open open.Flags
	to   target
	like string
	json gdjson.Options

	liked *open.Input   // the file of -like, or nil
	all   *save.Content // the content of liked
	old   int           // the number of its values
	output
}

func (e *jsonEncoder) check() error {
	switch {
	case e.like != "" && e.json.Plain:
		return fmt.Errorf("-plain does not go with -like: plain JSON has lost the types, %s", e.instead())
	case e.like != "" && e.to != target{}:
		return errors.New("-like and -to both select the format, frame or container: choose one")
	}
	return nil
}

// instead returns how to edit the file of -like, whose types plain JSON does not have.
func (e *jsonEncoder) instead() string {
	name := text.Operand(e.like)
	return fmt.Sprintf("which gdwire set -i 'PATH = VALUE' %s keeps; -like is for what gdwire json %[1]s writes, edited", name)
}

// hasFrame reports whether flags select the frame of the values.
func (e *jsonEncoder) hasFrame() bool { return e.open.Known().Frame || e.to.frame != nil }

// run converts JSON to values.
func (e *jsonEncoder) run(s *shell.Stdio, name string) error {
	if e.like != "" {
		if err := e.loadLike(s); err != nil {
			return err
		}
	} else {
		e.output = e.to.apply(output{Reading: e.open.Reading(-1), stack: new(save.Stack)})
		e.Decoder.Format = cmp.Or(e.Decoder.Format, gdwire.Godot4)
	}
	values, err := e.values(s, name)
	if err != nil {
		return err
	}
	switch n := len(values); {
	case n == 0:
		return errEmpty
	case e.like != "" && n != e.old:
		return fmt.Errorf("not the same number of values: %s has %d, the input %d; nothing was written", e.like, e.old, n)
	case e.like == "" && n > 1 && !e.hasFrame():
		return shell.Choicef("the input has %d values; with -frame u32 each follows its length, as store_var and put_var write them", n)
	}
	if e.like != "" {
		if err := e.showChanges(s, values); err != nil {
			return err
		}
	} else if !e.Framed() && !e.hasFrame() {
		s.Infof("this is what bytes_to_var reads; get_var needs -frame u32")
	}
	return e.open.Rewrite(s, e.stack, e.container, e.key, func(w io.Writer) error { return e.write(w, values) })
}

// loadLike reads the values of the file of -like, and sets the output to its format, frame
// and container. Bytes lost in JSON are an error.
func (e *jsonEncoder) loadLike(s *shell.Stdio) error {
	in, err := e.open.Open(s, e.like)
	if err != nil {
		return err
	}
	data, err := in.ReadAll()
	if err = errors.Join(err, in.Close()); err != nil {
		return err
	}
	as := in.Reading
	as.Decoder.AllowObjects = true
	c := save.NewContent(bytes.NewReader(data), int64(len(data)), &as)
	used := int64(0)
	if err := in.CheckZeros(c); err != nil {
		return err
	}
	err = c.Packets(save.Every, func(p *save.Packet) (bool, error) {
		width, err := reals.Read(p.Decoder)
		if err == nil {
			err = p.SkipTo(0)
		}
		if err != nil && err != io.EOF {
			return false, err
		}
		end := p.InputOffset()
		if in.Framed() && end < p.Limit() {
			return false, fmt.Errorf("%d bytes follow the value of packet %d, which JSON would lose", p.Limit()-end, p.Index)
		}
		used = end
		in.Decoder.DoubleReals = in.Decoder.DoubleReals || width == reals.Double
		e.old++
		return true, nil
	})
	if err != nil {
		return shell.Prefixed(e.like, err)
	}
	if used < c.Size {
		return fmt.Errorf("%s: %d bytes follow the last packet", e.like, c.Size-used)
	}
	e.output = output{Reading: in.Reading, container: in.Container(), key: in.Key(), stack: in.Stack}
	e.liked, e.all = in, c
	return nil
}

// values returns the encoded values of the input.
func (e *jsonEncoder) values(s *shell.Stdio, name string) (all []*encoded, err error) {
	in, err := open.File(s, name, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	jo := e.json
	jo.AllowObjects = e.Decoder.AllowObjects
	input := bufio.NewReader(shell.DecodeText(in.Reader()))
	if head, _ := input.Peek(4); bytes.IndexByte(head, 0) >= 0 { // a length or header
		return nil, fmt.Errorf("%s is not JSON", in.Name)
	}
	values, end := bufio.NewScanner(input), int64(0)
	values.Buffer(nil, save.MaxInMemory)
	split := gdjson.SplitValues(jo)
	values.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, value, err := split(data, atEOF)
		if end += int64(n); end > save.MaxInMemory {
			err = bufio.ErrTooLong
		}
		return n, value, err
	})
	for values.Scan() {
		v := values.Bytes()
		start := end - int64(len(v))
		if len(v) > largeText {
			runtime.GC() // values moved the text to larger and larger memory; the encoded value can use the old
		}
		b, err := e.encode(v, &jo)
		if err == nil && e.like != "" {
			if err := e.all.Agree(func(c *save.Content, w io.Writer) error { return e.encodeAs(c, w, v, &jo) }); err != nil {
				return nil, e.liked.Choice(err)
			}
		}
		if err != nil {
			return nil, shell.Prefixed(in.Name, explainScript(e.explainPlain(shiftedJSON(err, start)), v, start))
		}
		all = append(all, b)
	}
	if err := values.Err(); err == bufio.ErrTooLong {
		return nil, fmt.Errorf("%s is longer than 1 GiB", in.Name)
	} else if err != nil {
		return nil, shell.Prefixed(in.Name, err)
	}
	return all, nil
}

// explainPlain adds the flag for plain JSON to an error typical of plain JSON read as native JSON, and the commands for values that the format
// does not have.
func (e *jsonEncoder) explainPlain(err error) error {
	if strings.Contains(err.Error(), e.Decoder.Format.String()+" has no ") {
		return fmt.Errorf("%w; gdwire encode -format godot4 writes it, and gdwire recode -to %v -lossy converts that", err, e.Decoder.Format)
	}
	switch {
	case e.json.Plain || !errors.Is(err, gdwire.ErrType) && !errors.Is(err, gdwire.ErrMisplacedKey):
		return err
	case e.like != "":
		return fmt.Errorf("%w; plain JSON has lost the types, %s", err, e.instead())
	}
	return fmt.Errorf("%w; for plain JSON, choose -plain", err)
}

// script matches the start of a value of GDScript that is no JSON, as var_to_str writes.
var script = regexp.MustCompile(`^([A-Z]\w*[(\[]|[&^]")`)

// explainScript adds what the text is to an error at a value of GDScript. The text starts at an offset of the input.
func explainScript(err error, text []byte, start int64) error {
	at := (*gdjson.Error)(nil)
	if !errors.As(err, &at) || at.Offset < start || at.Offset-start > int64(len(text)) || !script.Match(text[at.Offset-start:]) {
		return err
	}
	return fmt.Errorf("%w; this is no JSON but text as var_to_str writes: read it with str_to_var in Godot and save it with store_var, or let Godot write JSON with JSON.from_native", err)
}

// shiftedJSON makes the offset of an error relative to the start of the input.
func shiftedJSON(err error, by int64) error {
	if e := (*gdjson.Error)(nil); errors.As(err, &e) {
		return &gdjson.Error{Offset: e.Offset + by, Pointer: e.Pointer, Err: e.Err}
	}
	return err
}

// largeText is the minimum length in bytes of text worth a garbage collection.
const largeText = 4 << 20

// An encoded value is in pieces, so that a large value is never copied into larger memory.
type encoded struct {
	pieces [][]byte
	size   int64
}

// maxPiece is the size in bytes of the pieces of a large value.
const maxPiece = 1 << 20

// Write appends b. Pieces grow with the value, up to maxPiece.
func (v *encoded) Write(b []byte) (int, error) {
	n := len(b)
	v.size += int64(n)
	for len(b) > 0 {
		last := len(v.pieces) - 1
		if last < 0 || len(v.pieces[last]) == cap(v.pieces[last]) {
			v.pieces = append(v.pieces, make([]byte, 0, min(max(v.size, int64(n)), maxPiece)))
			last++
		}
		piece := &v.pieces[last]
		part := min(len(b), cap(*piece)-len(*piece))
		*piece = append(*piece, b[:part]...)
		b = b[part:]
	}
	return n, nil
}

// encode returns a value encoded from JSON.
func (e *jsonEncoder) encode(text []byte, jo *gdjson.Options) (*encoded, error) {
	v := &encoded{}
	eo := e.Encoder()
	eo.MaxBuffered = save.MaxInMemory
	w := gdwire.NewEncoder(v, &eo)
	err := cmp.Or(gdjson.FromJSON(w, bytes.NewBuffer(text), *jo), w.Close())
	return v, err
}

// encodeAs writes a value encoded from JSON, in another reading of the file of -like.
func (e *jsonEncoder) encodeAs(c *save.Content, w io.Writer, text []byte, jo *gdjson.Options) error {
	as := *e
	as.Reading = e.As(c.Reading())
	v, err := as.encode(text, jo)
	return cmp.Or(err, as.write(w, []*encoded{v}))
}

// write writes values, with their lengths if the output is framed.
func (e *jsonEncoder) write(w io.Writer, values []*encoded) error {
	for _, v := range values {
		pieces := v.pieces
		if e.Framed() {
			if v.size > math.MaxUint32 {
				return &stream.PacketTooLongError{Size: v.size, Max: math.MaxUint32}
			}
			pieces = append([][]byte{e.Frame.Order().AppendUint32(nil, uint32(v.size))}, pieces...)
		}
		for _, piece := range pieces {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
	}
	return nil
}

// showChanges shows the first of the values that differ from those of the file of -like.
func (e *jsonEncoder) showChanges(s *shell.Stdio, values []*encoded) error {
	if s.IsQuiet() {
		return nil
	}
	var written bytes.Buffer
	if err := e.write(&written, values); err != nil {
		return err
	}
	as := e.Reading
	as.Decoder.AllowObjects = true
	var files [2]*compare.File
	for i, c := range []*save.Content{e.all, save.NewContent(bytes.NewReader(written.Bytes()), int64(written.Len()), &as)} {
		files[i] = &compare.File{ReaderAt: c, Size: c.Size, Reading: &as, Packets: compare.Packets(c)}
	}
	const most = 20 // lines
	n := 0
	c := compare.Comparer{Show: (*compare.File).Text, Differ: func(d *compare.Difference) error {
		if n++; n <= most {
			s.Logf("%s", changeText(d.Path, shell.Cut(string(d.Old), shell.PlainWidth), shell.Cut(string(d.New), shell.PlainWidth)))
		}
		return nil
	}}
	err := c.Compare(files[0], files[1])
	switch {
	case err != nil:
	case n > most:
		s.Logf("and %d more", n-most)
	case n == 0 && !e.container.IsPlain():
		s.Logf("no value changed; the bytes of the file can differ, because they are compressed or encrypted anew")
	case n == 0:
		s.Logf("no value changed")
	}
	return err
}
