package open

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
)

// NewCheckPrinter returns the constructor of a Printer validating packets. The Printer shows a line of JSON for each
// packet, or a summary.
func NewCheckPrinter(lines bool) NewPrinter {
	return func(s *shell.Stdio, in *Input) Printer {
		if lines {
			e := json.NewEncoder(s.Out)
			e.SetEscapeHTML(false)
			z := &save.Zeros{}
			return Printer{Show: func(p *save.Packet) error { return showVerdict(e, p, z, in.origin(s)) }, zeros: z, checks: true}
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
	if at, n := in.Secret(); n > 0 {
		r.Around += fmt.Sprintf("; %d bytes at %d look like a checksum that cannot be computed", n, at)
	}
	return r
}

type good struct {
	Trailing int64 `json:"trailing"`
}

type fault struct {
	Error string `json:"error"`
	At    int64  `json:"at"`
	Path  string `json:"path"`
}

// showVerdict reads a packet and writes its verdict to e.
func showVerdict(e *json.Encoder, p *save.Packet, z *save.Zeros, from *origin) error {
	v := verdict{origin: from, Connection: p.Connection, Index: p.Index, Offset: p.Offset, Skipped: fmt.Sprintf("%x", p.Skipped)}
	if p.Packed != nil {
		v.Compressed = p.Packed.ModeName()
	}
	err := readAll(p, z, nil)
	if err == nil {
		v.OK, v.Bytes, v.good = true, p.ValueSize(), &good{p.Trailing()}
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
		if see != nil {
			see(t)
		}
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
	errors          []error // the first maxErrors errors
	zeros           save.Zeros
}

// maxErrors is the maximum number of errors in a summary.
const maxErrors = 10

// add reads a packet and counts its values.
func (c *summary) add(p *save.Packet) error {
	err := readAll(p, &c.zeros, func(t gdwire.Token) { c.count(p, t) })
	if err == nil {
		c.good++
		c.bytes += p.ValueSize()
		c.trailing += p.Trailing()
		return nil
	}
	c.bad++
	c.bytes += newFault(p, err).At - p.Offset
	if len(c.errors) < maxErrors {
		c.errors = append(c.errors, err)
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
		}
	}
	c.row("nesting", humanize.Comma(int64(c.depth)))
	c.row("speed", humanize.Bytes(uint64(float64(c.bytes)/max(took.Seconds(), 1e-9)))+"/s")
	c.rows("types", c.typeCounts())
	c.rows("errors", c.errorTexts())
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
	for _, err := range c.errors[:min(len(c.errors), 1)] {
		fmt.Fprintf(c.Out, "; %s", strings.TrimPrefix(ErrorText(err), "gdwire: "))
	}
	if c.bad > 1 {
		fmt.Fprintf(c.Out, ", and %s more errors", humanize.Comma(c.bad-1))
	}
	fmt.Fprintln(c.Out)
}

// typeCounts returns the number of values of each type, the highest number first.
func (c *summary) typeCounts() (lines []string) {
	var types []gdwire.Type
	for t, n := range c.types {
		if n > 0 {
			types = append(types, gdwire.Type(t))
		}
	}
	slices.SortStableFunc(types, func(a, b gdwire.Type) int { return cmp.Compare(c.types[b], c.types[a]) })
	width := 0
	for _, t := range types {
		n := humanize.Comma(c.types[t])
		width = max(width, len(n)) // the first number is the widest
		lines = append(lines, fmt.Sprintf("%*s  %s", width, n, c.Colors.Open.Sprint(t)))
	}
	return lines
}

func (c *summary) errorTexts() (lines []string) {
	for _, err := range c.errors {
		lines = append(lines, c.Colors.Bad.Sprint(strings.TrimPrefix(ErrorText(err), "gdwire: ")))
	}
	if more := c.bad - int64(len(c.errors)); more > 0 {
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
