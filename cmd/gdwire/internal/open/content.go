package open

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/values/leaves"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/text"
)

// Inputs recognized, shown, checked, written again and completed.

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
			frameText(r.Other.Frame), save.ContainerText(info), o.Decoder.Format, choose)
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
		name, key := cmp.Or(in.Path, "FILE"), ""
		if info.Container == fileaccess.Encrypted {
			key = o.Keys.Line()
		}
		return fmt.Errorf("%s is %s%s; gdwire unwrap%s %s -o %s writes it, and, edited, gdwire wrap -backup%[4]s -like %[5]s %[6]s -o %[5]s writes it back",
			in.Name, contained(&info), r.Name, key, text.Operand(name), text.Operand(name+".txt"))
	case !info.IsPlain():
		return fmt.Errorf("%s%s, %w; gdwire unwrap writes its content", in.Name, save.ContainerText(info), why)
	default:
		then := ""
		prefix, isIndex := strings.CutSuffix(in.Path, record.IndexName(""))
		switch {
		case r.IsConverted():
		case isIndex:
			then = "; the packets are in " + record.FileName(prefix, 1, record.FromClient) + " and others"
		case r.IsJSON():
			then = "; gdwire encode makes values of JSON"
		case r.Name == "text" && o.Writes:
			then = "; a text editor changes it"
		case r.Name != "": // of another program: no choice makes values of it
		case r.Header > 0:
			then = fmt.Sprintf("; -skip %d skips them", r.Header)
		default:
			then = choose
		}
		return fmt.Errorf("%s %w%s", in.Name, why, then)
	}
	in.Recognized = true
	in.Filled = true // engines write no bytes after a value, so the file is damaged
	how := r.How()
	what := fmt.Sprintf("%s%v, %s%s%s", how, r.Readings[0].Format, frameText(in.Frame), save.ContainerText(info), r.Ended())
	if around := in.Around(); around != "" {
		what += ", " + around
	}
	s.Damaged = s.Damaged || r.IsDamaged()
	if in.Guess() != nil {
		in.Unsure = shell.Choicef("%s is %s; to write it, confirm this with %v", in.Name, what, r.Readings[0])
	}
	if o.Writes && r.IsCutShort() {
		return fmt.Errorf("%s is %s; gdwire repair %s -o NEW writes what can be read", in.Name, what, text.Operand(cmp.Or(in.Path, "FILE")))
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

// readings returns a line with the start of the first value, and the readings that begin so.
func readings(r *save.Recognition, as save.Reading) string {
	var flags, values []string
	for _, reading := range r.Readings {
		value := r.Preview(as.As(reading))
		if i := slices.Index(values, value); i >= 0 {
			flags[i] += " or " + reading.String()
			continue
		}
		flags, values = append(flags, reading.String()), append(values, value)
	}
	text := ""
	for i, value := range values {
		text += "\n  " + flags[i] + ": " + value
	}
	return text
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
	case errors.As(err, new(*save.ConversionError)):
		err = fmt.Errorf("%s: %w; gdwire repair undoes this", in.Name, err)
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
	s.Damaged = s.Damaged || in.Size == 0 && !in.Live()
	v := newPrinter(s, in)
	r := in.Reader()
	if quiet := v.end != nil; quiet || !s.IsTerminal {
		r = s.Progress(r, in.Size)
	}
	v.Damage = in.CheckEnd
	if v.zeros != nil && in.Recognized {
		tail := &save.Tail{}
		r = io.TeeReader(r, tail)
		v.Damage = func() error { // zeros can be read as values
			if !in.Live() {
				_, _ = io.Copy(io.Discard, r)
			}
			return in.Explain(v.zeros.End(*tail, in.Framed()))
		}
	}
	if v.checks {
		damage := v.Damage
		v.Damage = func() error { return cmp.Or(damage(), errors.Join(append(in.Faults(), in.CheckWhole())...)) }
	}
	err = Show(s, in.Packets(r), v, in.Live())
	if err == nil && v.checks && in.Recognized {
		if odd := in.odd(); odd != nil {
			s.Infof("all values of %s can be read, but no engine writes them so: %s", in.Name, strings.TrimPrefix(odd.Error(), "gdwire: "))
		}
	}
	if n := in.Hidden(); n > 0 && !v.checks && !s.MessagesShown() { // or the message about the format says it
		s.Infof("%s: bytes not shown, around the values: %s; gdwire check names them", in.Name, humanize.Comma(n))
	}
	return err
}

// odd returns the first error of the values of a file if they are read strictly, or nil. A large file is not read again.
func (in *Input) odd() error {
	if in.Decoder.Strict || in.Live() || in.Size > save.MaxInMemory {
		return nil
	}
	c, err := in.Content()
	if err != nil {
		return nil
	}
	c.Decoder.Strict = true
	err = c.Packets(save.Every, func(p *save.Packet) (bool, error) { return true, p.Finish(nil) })
	if !errors.Is(err, gdwire.ErrStrict) {
		return nil
	}
	return err
}

// NewCheckPrinter returns the constructor of a Printer validating packets. The Printer shows a line of JSON for each
// packet, or a summary.
func NewCheckPrinter(lines bool) NewPrinter {
	return func(s *shell.Stdio, in *Input) Printer {
		if lines {
			e := json.NewEncoder(s.Out)
			e.SetEscapeHTML(false)
			z, inside := &save.Zeros{}, &insides{}
			return Printer{Show: func(p *save.Packet) error { return showVerdict(e, p, z, inside, in.origin(s)) }, zeros: z, checks: true}
		}
		c := &summary{Stdio: s, in: in, start: time.Now(), noun: "values"}
		if in.Framed() {
			c.noun = "packets"
		}
		return Printer{Show: c.add, end: c.write, zeros: &c.zeros, checks: true}
	}
}

// A verdict is a line of check -json.
type verdict struct {
	Connection int64  `json:"connection,omitempty"`
	Index      int64  `json:"index"`
	Offset     int64  `json:"offset"`
	OK         bool   `json:"ok"`
	Bytes      int64  `json:"bytes"`
	Skipped    string `json:"skipped,omitempty"`    // the bytes before the value, as hex
	Compressed string `json:"compressed,omitempty"` // the mode of a packet compressed by a script
	*good
	*fault
	*origin
}

// An origin is the recognized format, frame and container.
type origin struct {
	File      string `json:"file,omitempty"`
	Format    string `json:"format"`
	Frame     string `json:"frame"`
	Container string `json:"container"`
	Around    string `json:"around,omitempty"` // a description of the bytes around the values
}

// origin returns the recognized format, frame and container, or nil if flags choose the
// format and frame.
func (in *Input) origin(s *shell.Stdio) *origin {
	if !in.Recognized {
		return nil
	}
	r := &origin{Format: in.Decoder.Format.String(), Frame: in.Frame.String(), Container: in.Container().String()}
	if s.Several {
		r.File = in.Operand
	}
	r.Around = in.Around()
	if at, n := in.Explained().Secret(); n > 0 {
		r.Around += "; " + save.SecretText(at, n)
	}
	return r
}

type good struct {
	Trailing int64    `json:"trailing"`
	Inside   []string `json:"inside,omitempty"` // descriptions of the values in bytes
}

type fault struct {
	Error string `json:"error"`
	At    int64  `json:"at"`
	Path  string `json:"path"`
}

// showVerdict reads a packet and writes its verdict to e.
func showVerdict(e *json.Encoder, p *save.Packet, z *save.Zeros, inside *insides, from *origin) error {
	v := verdict{origin: from, Connection: p.Connection, Index: p.Index, Offset: p.Offset, Skipped: fmt.Sprintf("%x", p.Skipped)}
	if p.Packed != nil {
		v.Compressed = p.Packed.ModeName()
	}
	inside.n, inside.lines, inside.path = 0, nil, nil
	err := readAll(p, z, func(t gdwire.Token) { inside.token(p, t) })
	if err == nil {
		v.OK, v.Bytes, v.good = true, p.ValueSize(), &good{p.Trailing(), inside.lines}
		return e.Encode(v)
	}
	f := newFault(p, err)
	v.Bytes, v.fault = f.At-p.Offset, &f
	if err := e.Encode(v); err != nil {
		return err
	}
	return shell.ErrBad
}

// readAll reads the value of a packet, notes it in z, and calls see for each token.
func readAll(p *save.Packet, z *save.Zeros, see func(gdwire.Token)) error {
	if p.Packed != nil { // no compressed packet contains zeros in place of the end of a file
		z = &save.Zeros{}
	}
	z.Value(p.Decoder, p.Offset)
	for t, err := range p.AllTokens {
		if err == nil {
			err = z.Token(p.Decoder, t, p.ReadOffset())
		}
		if save.IsContainerError(err) {
			return err // not caused by zeros
		}
		if err != nil && p.Framed() && p.Size == 0 { // the input did not end here
			z.Error(&gdwire.Error{Offset: p.Offset, Path: "$", Err: errors.New("a length without a value")})
		}
		if err != nil {
			z.Error(err)
			return err
		}
		see(t)
	}
	z.Good(p.End)
	return nil
}

// newFault returns an error with the offset and path in the packet.
func newFault(p *save.Packet, err error) fault {
	f := fault{Error: err.Error(), At: p.End, Path: "$"}
	if e := (*gdwire.Error)(nil); errors.As(err, &e) {
		f.At, f.Path = e.Offset, e.Path
	}
	return f
}

// A summary contains the counts printed by check.
type summary struct {
	*shell.Stdio
	in              *Input
	noun            string // values or packets
	start           time.Time
	good, bad       int64
	bytes, trailing int64
	depth           int
	types           [256]int64
	errors          []string // the texts of the first maxErrors errors
	zeros           save.Zeros
	inside          insides
}

// The insides of PackedByteArrays are the values in their bytes.
type insides struct {
	opener explain.Opener
	array  []byte // read so far
	path   []byte // of the array, or nil
	n      int64
	lines  []string // about the first maxErrors of n
}

// token follows a token of a packet.
func (i *insides) token(p *save.Packet, t gdwire.Token) {
	switch k := t.Kind(); {
	case k == gdwire.KindPackedStart && t.Type() == gdwire.TypePackedByteArray && t.Len() <= leaves.MaxBytes:
		i.array, i.path = i.array[:0], p.AppendPath(nil)
	case i.path == nil:
	case k == gdwire.KindChunk:
		i.array = append(i.array, t.Bytes()...)
	case k == gdwire.KindEnd:
		i.end(i.opener.Open(i.array, p.Options().Format))
		i.path = nil
	}
}

// end describes the values in the array, unless there are none.
func (i *insides) end(parse *explain.Parse) {
	if parse == nil {
		return
	}
	if i.n++; i.n > maxErrors {
		return
	}
	line := string(text.AppendInside(i.path, 0)) + ": a value"
	if n := len(parse.Values()); n > 1 {
		line = fmt.Sprintf("%s: %d values", i.path, n)
	}
	if around := parse.String(); around != "" {
		line += ", " + around
	}
	i.lines = append(i.lines, line)
}

// maxErrors is the maximum number of errors in a summary, and of arrays with values in their bytes.
const maxErrors = 10

// add reads a packet and counts its values.
func (c *summary) add(p *save.Packet) error {
	err := readAll(p, &c.zeros, func(t gdwire.Token) {
		c.inside.token(p, t)
		c.count(p, t)
	})
	if err == nil {
		c.good++
		c.bytes += p.ValueSize()
		c.trailing += p.Trailing()
		return nil
	}
	c.bad++
	c.bytes += newFault(p, err).At - p.Offset
	if len(c.errors) < maxErrors {
		text := strings.TrimPrefix(ErrorText(err), "gdwire: ")
		if c.in.Around() != "" {
			text = save.OfValues(err, text)
		}
		c.errors = append(c.errors, text)
	}
	return shell.ErrBad
}

// count counts a token if it starts a value.
func (c *summary) count(p *save.Packet, t gdwire.Token) {
	switch t.Kind() {
	case gdwire.KindDictKey, gdwire.KindProperty, gdwire.KindChunk, gdwire.KindEnd:
		return
	case gdwire.KindStringChunk:
		if !t.Last() || t.Type() != gdwire.TypeString && t.Type() != gdwire.TypeStringName { // a name or packed string
			return
		}
	case gdwire.KindDictStart, gdwire.KindArrayStart, gdwire.KindObjectStart:
		c.depth = max(c.depth, p.Depth())
	}
	c.types[t.Type()]++
}

// write writes the summary.
func (c *summary) write(damage error) {
	if c.Several {
		c.line(c.bad == 0 && damage == nil)
		return
	}
	took := time.Since(c.start)
	bad := c.Colors.Plain
	if c.bad > 0 {
		bad = c.Colors.Bad
	}
	c.row(c.noun, c.Colors.Good.Sprint(humanize.Comma(c.good), " good")+", "+bad.Sprint(humanize.Comma(c.bad), " bad"))
	bytes := humanize.Comma(c.bytes)
	if c.trailing > 0 {
		bytes += ", and " + humanize.Comma(c.trailing) + " after values"
	}
	c.row("bytes", bytes)
	if from := c.in.origin(c.Stdio); from != nil { // at the end, because any packet can decide the format
		c.row("format", from.Format+", frame "+from.Frame+", "+from.Container)
		if from.Around != "" {
			c.row("around", from.Around)
			if kept := c.in.Explained().Kept(); len(kept) > 0 {
				c.row("kept", strings.Join(firstOf(kept, int64(len(kept))), ", "))
			}
		}
	}
	c.row("nesting", humanize.Comma(int64(c.depth)))
	c.row("speed", humanize.Bytes(uint64(float64(c.bytes)/max(took.Seconds(), 1e-9)))+"/s")
	c.rows("types", c.typeCounts())
	c.rows("in bytes", firstOf(c.inside.lines, c.inside.n))
	for i, text := range c.errors {
		c.errors[i] = c.Colors.Bad.Sprint(text)
	}
	c.rows("errors", firstOf(c.errors, c.bad))
}

// line writes the summary of one of several files.
func (c *summary) line(good bool) {
	text := c.Colors.Good.Sprint("good")
	if !good {
		text = c.Colors.Bad.Sprint("bad ")
	}
	name := shell.Printable(c.in.Operand)
	noun := c.noun
	if c.good == 1 {
		noun = strings.TrimSuffix(noun, "s")
	}
	fmt.Fprintf(c.Out, "%s  %s: %s %s, %s bytes", text, name, humanize.Comma(c.good), noun, humanize.Comma(c.bytes))
	if from := c.in.origin(c.Stdio); from != nil {
		fmt.Fprintf(c.Out, ", %s, frame %s, %s", from.Format, from.Frame, from.Container)
	}
	for _, text := range c.errors[:min(len(c.errors), 1)] {
		fmt.Fprintf(c.Out, "; %s", text)
	}
	if c.bad > 1 {
		fmt.Fprintf(c.Out, ", and %s more errors", humanize.Comma(c.bad-1))
	}
	fmt.Fprintln(c.Out)
}

// typeCounts returns the number of values of each type, the highest number first.
func (c *summary) typeCounts() (lines []string) {
	types := slices.DeleteFunc(gdwire.Types(), func(t gdwire.Type) bool { return c.types[t] == 0 })
	slices.SortStableFunc(types, func(a, b gdwire.Type) int { return cmp.Compare(c.types[b], c.types[a]) })
	width := 0
	for _, t := range types {
		n := humanize.Comma(c.types[t])
		width = max(width, len(n)) // the first number is the widest
		lines = append(lines, fmt.Sprintf("%*s  %s", width, n, c.Colors.Open.Sprint(t)))
	}
	return lines
}

// firstOf returns the first lines of n in all.
func firstOf(lines []string, n int64) []string {
	lines = lines[:min(len(lines), maxErrors)]
	if more := n - int64(len(lines)); more > 0 {
		lines = append(lines, "and "+humanize.Comma(more)+" more")
	}
	return lines
}

// rows writes lines under a heading.
func (c *summary) rows(name string, lines []string) {
	for i, line := range lines {
		if i == 0 {
			fmt.Fprintln(c.Out)
		} else {
			name = ""
		}
		c.row(name, line)
	}
}

func (c *summary) row(name, text string) {
	fmt.Fprintf(c.Out, "%s  %s\n", c.Colors.Dim.Sprintf("%8s", name), text)
}

// maxCompletionLines is the maximum number of lines of flat read for a completion.
const maxCompletionLines = 200_000

// errEnough ends a Printer after the lines needed.
var errEnough = errors.New("enough")

// CompletePath returns the paths in a file with the prefix word, up to their next step. If word starts without
// $, so do the paths of the first value.
func CompletePath(name, word string) []string {
	found := map[string]bool{}
	dollar := strings.HasPrefix(word, "$")
	lines := 0
	w := &shell.LineWriter{Line: func(line string) error {
		if lines++; lines > maxCompletionLines {
			return errEnough
		}
		path, _, _ := text.CutLine(line, nil)
		for n := range len(path.Steps) {
			at := text.Path{Packet: path.Packet, Steps: path.Steps[:n+1]}.String()
			if path.Packet == 0 && !dollar {
				at = strings.TrimPrefix(at[1:], ".")
			}
			if isLast := n == len(path.Steps)-1; strings.HasPrefix(at, word) && (isLast || len(at) > len(word)) {
				found[at] = true
				break
			}
		}
		return nil
	}}
	in, err := save.OpenInput(name, nil)
	if err != nil {
		return nil
	}
	_ = in.Close()
	s, o := shell.Capture(w), &Flags{}
	o.Decoder.AllowObjects = true
	_ = o.ShowFile(s, name, NewFlatPrinter) // values after an error are not completed
	_ = s.Out.Flush()
	return slices.Sorted(maps.Keys(found))
}
