package open

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
)

// Open opens and recognizes the input of the given name.
func (o *Flags) Open(s *shell.Stdio, name string) (*Input, error) {
	stack, err := o.OpenStack(s, name)
	if err != nil {
		return nil, err
	}
	in := &Input{Stack: stack, Operand: name, infof: s.Infof}
	in.Filled = o.Filled
	if known := o.Known(); !known.Format || !known.Frame {
		err = o.decide(s, in, stack.Values)
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// decide accepts the best reading, or returns an error that says why it is not good enough.
func (o *Flags) decide(s *shell.Stdio, in *Input, r *save.Recognition) error {
	info := in.Container()
	const choose = "; to read it anyway, choose -format and -frame"
	if r.Other != nil {
		return shell.Choicef("%s is %v, %s%s, and not %v; recode -to %[5]v converts it%s", in.Name, r.Other.Format,
			frameText(r.Other.Frame), ContainerText(&info), o.Decoder.Format, choose)
	}
	switch why := r.Unknown(); {
	case why == nil:
	case r.IsEmpty():
		if !o.NonEmpty {
			s.Infof("%s is empty", in.Name)
		}
		in.Decoder.Format = cmp.Or(in.Decoder.Format, gdwire.Godot4)
		return nil
	case len(r.Readings) > 1:
		return shell.Choicef("%s %w; choose one:%s", in.Name, why, readings(r, in.Reading))
	case !info.IsPlain() && r.Name != "":
		return fmt.Errorf("%s is %s%s; gdwire unwrap writes it", in.Name, contained(&info), r.Name)
	case !info.IsPlain():
		return fmt.Errorf("%s%s, %w; gdwire unwrap writes its content", in.Name, ContainerText(&info), why)
	case r.IsConverted():
		return fmt.Errorf("%s %w", in.Name, why)
	case r.IsJSON():
		return fmt.Errorf("%s %w; gdwire encode makes values of JSON%s", in.Name, why, choose)
	case r.Header > 0:
		return fmt.Errorf("%s %w; -skip %d skips them", in.Name, why, r.Header)
	default:
		return fmt.Errorf("%s %w%s", in.Name, why, choose)
	}
	in.Recognized = true
	in.Filled = true // engines write no bytes after a value, so the file is damaged
	how := r.How()
	what := fmt.Sprintf("%s%v, %s%s", how, r.Readings[0].Format, frameText(in.Frame), ContainerText(&info))
	if around := in.Around(); around != "" {
		what += ", " + around
	}
	s.Damaged = s.Damaged || r.IsDamaged()
	if in.Guess() != nil {
		in.Unsure = shell.Choicef("%s is %s; to write it, confirm this with %v", in.Name, what, r.Readings[0])
	}
	if o.Writes && in.Unsure != nil {
		return in.Unsure
	}
	if s.MessagesShown() || how != "" {
		s.Infof("%s is %s", in.Name, what)
	}
	return nil
}

// Choice returns err. If the readings of the input lead to different output, the user must choose one.
func (in *Input) Choice(err error) error {
	if ambiguous := (*save.AmbiguousError)(nil); errors.As(err, &ambiguous) {
		return shell.Choicef("%s %w", in.Name, ambiguous)
	}
	return err
}

// readings returns a line for each reading, with the first line of flat.
func readings(r *save.Recognition, as save.Reading) string {
	var b strings.Builder
	for _, reading := range r.Readings {
		fmt.Fprintf(&b, "\n  %v: %s", reading, firstLine(r.Head, as.As(reading)))
	}
	return b.String()
}

// firstLine returns the first line of flat.
func firstLine(head []byte, as save.Reading) string {
	var out bytes.Buffer
	s := shell.Capture(&out)
	v := NewFlatPrinter(s, nil)
	for p := range Packets(&as, bytes.NewReader(head)) {
		_ = v.Show(p) // an invalid value is shown up to its error
		break
	}
	_ = s.Out.Flush()
	line, _, _ := strings.Cut(out.String(), "\n")
	const most = 100
	return shell.Cut(line, most)
}

// frameText describes a frame.
func frameText(f save.Frame) string {
	if f == save.Bare {
		return "values without length (-frame none)"
	}
	return "packets with length (-frame " + f.String() + ")"
}

// contained describes a container before the name of its content.
func contained(info *fileaccess.Info) (text string) {
	if info.Base64.Text {
		text = "base64 of "
	}
	switch info.Container {
	case fileaccess.Compressed, fileaccess.Raw:
		text += info.Mode.String() + "-compressed "
	case fileaccess.Encrypted:
		text += "encrypted "
	}
	return text
}

// ContainerText describes a container, after a comma.
func ContainerText(info *fileaccess.Info) (text string) {
	switch info.Container {
	case fileaccess.Compressed:
		text = ", compressed with " + info.Mode.String()
	case fileaccess.Raw:
		text = ", compressed with " + info.Mode.String() + " as by a script"
	case fileaccess.Encrypted:
		text = ", encrypted as by " + info.Layout.String()
		if info.Layout == fileaccess.LayoutGodot3 {
			text = ", encrypted as by godot2 and godot3"
		}
	}
	if info.Base64.Text {
		text += ", in base64"
	}
	return text
}

// OpenContent opens an input to be read several times.
func (o *Flags) OpenContent(s *shell.Stdio, name string) (*Input, *save.Content, error) {
	in, err := o.Open(s, name)
	if err != nil {
		return nil, nil, err
	}
	c, err := in.Content()
	switch err = cmp.Or(err, in.Err); {
	case errors.As(err, new(*save.CutError)):
		err = fmt.Errorf("%s: %w; gdwire repair writes the whole records", in.Name, err)
	case errors.As(err, new(*save.LengthError)):
		err = fmt.Errorf("%s: %w; gdwire repair corrects the length", in.Name, err)
	}
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, c, nil
}

// Rewrite calls write with a Writer for the values of the output, inside the layers of an opened save, with another
// container. key is the key of an encrypted input, or nil.
func (o *Flags) Rewrite(s *shell.Stdio, stack *save.Stack, info fileaccess.Info, key *fileaccess.Key, write func(io.Writer) error) error {
	if info.Container == fileaccess.Encrypted && key == nil {
		var err error
		if key, err = o.Keys.Key(s, "the output"); err != nil {
			return err
		}
	}
	stack = stack.Contain(info, key)
	if stack.IsPlain() {
		return stack.Write(s.Out, func(w io.Writer) error { return cmp.Or(s.Out.Flush(), write(w)) }) // write can use OutFile
	}
	if s.OutFile != nil { // writing to a file needs constant memory
		return WithChoice(stack.Write(s.OutFile, write))
	}
	var file shell.TempFile // in which these containers are written in constant memory, too
	defer file.Close()
	isHeaderLast := info.Container == fileaccess.Compressed || info.Container == fileaccess.Encrypted
	if !isHeaderLast || info.Base64.Text || file.Create() != nil {
		return WithChoice(stack.Write(s.Out, write))
	}
	err := WithChoice(stack.Write(file.File, write))
	if err == nil {
		_, err = io.Copy(s.Out, io.NewSectionReader(file, 0, math.MaxInt64))
	}
	return err
}

// WithChoice returns err. If err reports a doubtful number, the user must choose.
func WithChoice(err error) error {
	if doubt := (*save.DoubtError)(nil); errors.As(err, &doubt) {
		return shell.Choicef("%w; -keep %d keeps it, and -derive %[2]d writes it anew", doubt, doubt.Offset)
	}
	return err
}

// ShowFile shows the packets of the file of the given name.
func (o *Flags) ShowFile(s *shell.Stdio, name string, newPrinter NewPrinter) error {
	in, err := o.Open(s, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	v := newPrinter(s, in)
	r := in.Reader()
	if quiet := v.end != nil; quiet || !s.IsTerminal {
		r = s.Progress(r, in.Size)
	}
	v.Damage = in.CheckEnd
	if v.zeros != nil && in.Recognized {
		tail := &tailReader{r: r}
		v.Damage = func() error { return tail.zeros(v.zeros, in) }
		r = tail
	}
	if v.checks {
		damage := v.Damage
		v.Damage = func() error { return cmp.Or(damage(), errors.Join(in.Faults()...)) }
	}
	err = Show(s, in.Packets(r), v, in.Live())
	if n := in.Hidden(); n > 0 && !v.checks && !s.MessagesShown() { // or the message about the format says it
		s.Infof("%s: bytes not shown, around the values: %s; gdwire check names them", in.Name, humanize.Comma(n))
	}
	return err
}

// A tailReader finds the zeros at the end of the input.
type tailReader struct {
	r    io.Reader
	n    int64
	from int64 // the offset of the zeros
}

func (t *tailReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if used := len(bytes.TrimRight(p[:n], "\x00")); used > 0 {
		t.from = t.n + int64(used)
	}
	t.n += int64(n)
	return n, err
}

// zeros reads the bytes after an invalid value, and returns an error if zeros were read as values.
func (t *tailReader) zeros(z *save.Zeros, in *Input) error {
	if !in.Live() {
		_, _ = io.Copy(io.Discard, t)
	}
	if t.n-t.from < save.MinZeros {
		return nil
	}
	return zerosError(z.End(t.from, in.Framed()), in.Name)
}
